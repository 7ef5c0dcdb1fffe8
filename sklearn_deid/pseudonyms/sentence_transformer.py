"""What transformers of sentences share on the scikit-learn side: words in, no tables out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from ..exceptions import SequenceError
from ..sequences import TokenSequences, check_sequences


class SentenceTransformer(TransformerMixin, BaseEstimator):
    """Base of the transformers whose X is a sequence of sentences, each a sequence of words.

    A sentence is no row of a table: its length varies. So ``set_output`` refuses data frames, and the tags say that the
    input is not two-dimensional.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # scikit-learn would wrap `transform` of every class with names of features, and make a table of its result.
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)

    def set_output(self, *, transform: str | None = None) -> Any:
        """Leave the container as it is; data frames are refused.

        Parameters
        ----------
        transform : {"default"} or None, default=None
            Both change nothing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a data frame is asked for ("pandas", "polars").
        """
        if transform not in (None, "default"):
            raise ValueError(
                f"The 'transform' parameter of {type(self).__name__}.set_output must be 'default' or None. Got "
                f"{transform!r} instead. Sentences differ in length and do not fit into a data frame: set the output "
                "of the steps after it."
            )
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []  # words become words, or vectors of float32
        return tags

    def _words(self, X: Any) -> TokenSequences:
        """X, checked to be sentences of words."""
        X = check_sequences(X)
        if isinstance(X, TokenSequences):
            return X
        if len(X.data):
            raise SequenceError(f"{type(self).__name__} reads words; X holds vectors.")
        return TokenSequences(np.empty(0, dtype=object), X.offsets)
