"""`LabelLineTagger`: a tagger that reads the value on a line together with the label on the line before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._compat import HasMethods, unfitted_if_failed
from ..sequences import TokenSequences, check_sequences
from .held_out import check_no_threshold, fit_on, training_data
from .label_lines import labels_above
from .marginals import MarginalTagger, PhiMarginals, marginal_parts


class LabelLineTagger(MarginalTagger, BaseEstimator):
    r"""Read the value on a line together with the label on the line before, as in forms: "Attending:" above a name.

    A tagger that reads single sentences does not see to which label such a value belongs. This tagger puts the tokens
    of the label in front of the sentence, and leaves their tags out of the result. A label is a line that begins with a
    capital, has no digits, and ends in a colon behind at most six words and signs. Other sentences do not change.

    Parameters
    ----------
    estimator : estimator, default=DeidTagger()
        Tagger with ``predict_proba`` that reads single sentences, or a pipeline that ends with such a tagger.

    Attributes
    ----------
    estimator_ : fitted estimator
        Fitted tagger.
    classes_ : ndarray of str
        IOB2 tags, in the order of the columns of `predict_proba`.

    See Also
    --------
    NotePriorTagger : Needs more evidence in a note that has little PHI.
    RuleTagger : Finds numbers, dates and ages below their labels.

    Notes
    -----
    X must hold the document of each sentence (``X.documents``), which `NoteDeidentifier` provides; sentences without
    documents, and sentences of vectors, do not change.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, LabelLineTagger, TokenSequences
    >>> X = [["Seen", "by", ":", "Alder"], ["Sent", "to", ":", "Alder"]] * 20
    >>> y = [["O", "O", "O", "B-DOCTOR"], ["O", "O", "O", "B-HOSPITAL"]] * 20
    >>> tagger = DeidTagger(hidden_size=16, batch_size=60, max_epochs=15, lr=0.02, random_state=0)
    >>> model = LabelLineTagger(tagger).fit(X, y)
    >>> note = TokenSequences.from_rows([["Seen", "by", ":"], ["Alder"], ["Sent", "to", ":"], ["Alder"]])
    >>> model.predict(note.with_documents([0, 0, 0, 0])).tolist()
    [['O', 'O', 'O'], ['B-DOCTOR'], ['O', 'O', 'O'], ['B-HOSPITAL']]
    """

    _parameter_constraints: dict[str, list] = {"estimator": [HasMethods(["fit", "predict_proba"]), None]}

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> LabelLineTagger:
        """Train the tagger on the sentences as they are.

        Parameters
        ----------
        X : sequence of n sentences, `TokenSequences` or `TokenVectors`
            Sentences as lists of tokens, or as arrays of token vectors.
        y : sequence of n tag sequences
            IOB2 tags. Each tag sequence is as long as its sentence.
        groups : array-like of shape (n,), optional
            Patient of each sentence, for a tagger that accepts groups.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If X and y do not match.
        ValueError
            If the tagger is a `RecallTunedTagger`: its threshold would have no effect.
        """
        X, tags, patients = training_data(self, X, y, groups)
        check_no_threshold(self, self.estimator)
        with unfitted_if_failed(self):
            self.estimator_ = fit_on(self.estimator, X, tags, patients)
            self._know_labels(self.estimator_.classes_)
        return self

    def _parts(self, X: Any) -> Iterator[PhiMarginals]:
        """Yield the marginals of the sentences, some thousand tokens at a time."""
        check_is_fitted(self)
        X = check_sequences(X)
        labels = list(labels_above(X)) if isinstance(X, TokenSequences) else []
        if not any(labels):
            yield from marginal_parts(self.estimator_, X, self._labels)
            return
        rows = TokenSequences.from_rows([*label, *row] for label, row in zip(labels, X, strict=True))
        counts = np.array([len(label) for label in labels])
        first = 0
        for part in marginal_parts(self.estimator_, rows.with_documents(X.documents, X.patients), self._labels):
            n_before = counts[first : first + len(part.offsets) - 1]
            first += len(n_before)
            # Number of each token in its sentence.
            place = np.arange(len(part.data)) - np.repeat(part.offsets[:-1], np.diff(part.offsets))
            is_kept = place >= np.repeat(n_before, np.diff(part.offsets))
            offsets = np.concatenate([[0], np.cumsum(np.diff(part.offsets) - n_before)])
            yield PhiMarginals(self._labels, part.data[is_kept], offsets)
