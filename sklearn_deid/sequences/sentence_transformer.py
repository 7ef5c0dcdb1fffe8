"""Base class of transformers of sentences: a scikit-learn interface that accepts words and returns no tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from ..exceptions import SequenceError
from .checks import check_sequences
from .token_sequences import TokenSequences


class SentenceTransformer(TransformerMixin, BaseEstimator):
    """Base of the transformers whose X is a sequence of sentences, each a sequence of words.

    A sentence is not a row of a table, since its length varies. Therefore ``set_output`` refuses data frames, and the
    scikit-learn tags declare that the input is not two-dimensional.
    """

    random_state: Any  # a parameter of every subclass
    _needs_tags = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # By default, scikit-learn wraps `transform` of every class, and makes a table with feature names of its result.
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)

    def set_output(self, *, transform: str | None = None) -> Any:
        """Accept the default container of `transform`, and refuse data frames.

        Parameters
        ----------
        transform : {"default"} or None, default=None
            Container of the output. Both allowed values leave the output unchanged.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If ``transform`` names a data frame ("pandas", "polars").
        """
        # A data frame needs rows of equal length, and sentences have different lengths.
        if transform not in (None, "default"):
            raise ValueError(
                f"The 'transform' parameter of {type(self).__name__}.set_output must be 'default' or None. Got "
                f"{transform!r} instead. Sentences differ in length and do not fit into a data frame: set the output "
                "of the steps after it."
            )
        return self

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of a token: "token" for a word, or one name for each number of its vector.

        Parameters
        ----------
        input_features : None
            Not used. The parameter exists for compatibility with scikit-learn.

        Returns
        -------
        ndarray of shape (n_columns,), dtype object
        """
        return np.array(self._column_names(), dtype=object)

    def _column_names(self) -> list[str]:
        return ["token"]

    def _vector_names(self, dim: int, casing: Sequence[str]) -> list[str]:
        """Names of the ``dim`` numbers of a vector and of the casing classes that follow the vector."""
        return [f"{type(self).__name__.lower()}{i}" for i in range(dim)] + [f"casing_{name}" for name in casing]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        tags.target_tags.required = self._needs_tags
        tags.non_deterministic = self.random_state is None
        tags.transformer_tags.preserves_dtype = []  # words become words, or vectors of float32
        return tags

    def _words(self, X: Any) -> TokenSequences:
        """Check that X contains sentences of words, and return them."""
        X = check_sequences(X)
        if isinstance(X, TokenSequences):
            return X
        if len(X.data):
            raise SequenceError(f"{type(self).__name__} reads words. X holds vectors.")
        return TokenSequences(np.empty(0, dtype=object), X.offsets)
