"""`NotePriorTagger`: a tagger that needs more evidence in a note that has little PHI elsewhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._compat import HasMethods, Interval, StrOptions, check_constraints, unfitted_if_failed
from ..exceptions import SequenceError
from ..sequences import RaggedArray, check_sequences
from .held_out import check_no_threshold, fit_on, training_data
from .marginals import MarginalTagger, PhiMarginals, marginal_parts

_SHARES = Interval(Real, 0, 1, closed="neither")
_STEPS = 50  # of the iteration; the estimates fall in each step and change little after 20
_FLOOR = 1e-9  # of probabilities whose odds are taken


class NotePriorTagger(MarginalTagger, BaseEstimator):
    """Lower the probabilities of PHI in sentences of a note whose other sentences seem to have little PHI.

    A tagger that reads single sentences expects PHI as often as in its training sentences. Many notes have less PHI: in
    a long note without any name, a doubtful name is most often the name of a test or a drug. For each sentence, this
    tagger estimates the share of the other sentences of the note that have PHI. If the share is below the share in the
    training sentences, the tagger lowers the probabilities of PHI in the sentence. If the tagger is sure that a
    sentence has PHI, the probabilities hardly change. Probabilities in a note of one sentence do not change.

    Parameters
    ----------
    estimator : estimator, default=DeidTagger()
        Tagger with ``predict_proba``, or a pipeline that ends with such a tagger.
    share : float in (0, 1) or "auto", default="auto"
        Share of sentences with PHI that the tagger expects. "auto" is the share of sentences with PHI in y. If the
        tagger is already fitted, pass the share of sentences with PHI in the training data of the tagger.
    strength : float > 0, default=4.0
        Number of sentences with the expected share that are added to each note, as a prior. With a larger number, short
        notes change less.
    lowest : float in (0, 1), default=0.05
        Lower limit of the estimated share of sentences with PHI of a note.

    Attributes
    ----------
    estimator_ : fitted estimator
        Fitted tagger.
    share_ : float
        The expected share.
    classes_ : ndarray of str
        IOB2 tags, in the order of the columns of `predict_proba`.

    See Also
    --------
    RecallTunedTagger : Chooses a bias for all words; can wrap this estimator.
    WordBiasTagger : Needs more evidence for ordinary words.

    Notes
    -----
    Probabilities of PHI never rise. X must hold the document of each sentence (``X.documents``), which
    `NoteDeidentifier` provides; sentences without documents do not change. The share of a note is the EM estimate of
    the prior probability of PHI (Saerens et al. 2002), computed without the sentence itself.

    References
    ----------
    Saerens, Latinne & Decaestecker (2002), Adjusting the outputs of a classifier to new a priori probabilities,
    Neural Computation 14, section 2.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, NotePriorTagger, TokenSequences
    >>> X = [["Mr", "Alder", "was", "seen"], ["No", "pain"]] * 20
    >>> y = [["O", "B-PATIENT", "O", "O"], ["O", "O"]] * 20
    >>> tagger = DeidTagger(hidden_size=16, batch_size=60, max_epochs=10, lr=0.01, random_state=0)
    >>> model = NotePriorTagger(tagger).fit(X, y)
    >>> note = TokenSequences.from_rows(X[:2]).with_documents([0, 0])
    >>> model.share_, model.predict(note)[0]
    (0.5, ['O', 'B-PATIENT', 'O', 'O'])
    """

    _parameter_constraints: dict[str, list] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "share": [_SHARES, StrOptions({"auto"})],
        "strength": [Interval(Real, 0, None, closed="neither")],
        "lowest": [_SHARES],
    }

    def __init__(
        self, estimator: Any = None, *, share: Any = "auto", strength: float = 4.0, lowest: float = 0.05
    ) -> None:
        self.estimator, self.share, self.strength, self.lowest = estimator, share, strength, lowest

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> NotePriorTagger:
        """Train the tagger.

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
            If X and y do not match, or if X is empty and ``share`` is "auto".
        ValueError
            If the tagger is a `RecallTunedTagger`: its threshold would have no effect.
        """
        X, tags, patients = training_data(self, X, y, groups)
        check_no_threshold(self, self.estimator)
        if not len(X) and self.share == "auto":
            # With a share of NaN, all tags would be "O".
            raise SequenceError("X holds no sentence that shows the share of sentences with PHI: give 'share'.")
        with unfitted_if_failed(self):
            self.estimator_ = fit_on(self.estimator, X, tags, patients)
            share = np.mean([any(tag != "O" for tag in row) for row in tags]) if self.share == "auto" else self.share
            # With a share of 0 or 1, the odds would be zero or infinite.
            self.share_ = float(np.clip(share, 0.01, 0.99))
            self._know_labels(self.estimator_.classes_)
        return self

    def _parts(self, X: Any) -> Iterator[PhiMarginals]:
        """Yield corrected marginals, some thousand tokens at a time."""
        check_is_fitted(self)
        # Parameters may have changed since `fit`. With a strength of NaN, all tags would be "O".
        check_constraints(self)
        X = check_sequences(X)
        parts = marginal_parts(self.estimator_, X, self._labels)
        if X.documents is None:
            yield from parts
            return
        # The whole note must be read first. Single precision, as in the marginals of taggers, takes half of the memory.
        kept = deque((part.data.astype(np.float32), part.offsets) for part in parts)
        likely = np.concatenate([np.zeros(0), *(likeliest(*part) for part in kept)])
        factor = prior_factors(likely, X.documents, self.share_, self.strength, self.lowest)
        start = 0
        while kept:
            data, offsets = kept.popleft()  # a corrected part takes the memory of this one
            stop = start + len(offsets) - 1
            found = data.astype(float)
            total = found.sum(axis=1)
            found[:, 1:] *= np.repeat(factor[start:stop], np.diff(offsets))[:, None]
            # A tagger whose probabilities do not add up to 1 keeps its sums.
            found[:, 0] = np.maximum(total - found[:, 1:].sum(axis=1), 0)
            yield PhiMarginals(self._labels, found, offsets)
            start = stop


def likeliest(data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Largest probability of PHI of the tokens of each sentence; 0 for an empty sentence.

    Examples
    --------
    >>> likeliest(np.array([[0.9, 0.1], [0.5, 0.5], [0.8, 0.2]]), np.array([0, 2, 2, 3])).tolist()
    [0.5, 0.0, 0.2]
    """
    phi = RaggedArray(data[:, 1:].sum(axis=1, dtype=float), offsets)
    return np.array([row.max(initial=0.0) for row in phi])


def prior_factors(
    likely: np.ndarray, documents: np.ndarray, share: float, strength: float, lowest: float
) -> np.ndarray:
    """Factor, at most 1, by which the probabilities of PHI of each sentence change.

    Parameters
    ----------
    likely : ndarray of shape (n,)
        Probability that a sentence has PHI, at the expected share.
    documents : ndarray of shape (n,)
        Note of each sentence.
    share, strength, lowest : float
        As for `NotePriorTagger`.

    Examples
    --------
    >>> for elsewhere in (1.0, 0.0):
    ...     print(prior_factors(np.array([0.3, *[elsewhere] * 9]), np.zeros(10), 0.4, 4, 0.02)[0].round(2))
    1.0
    0.28
    """
    _, note = np.unique(documents, return_inverse=True)
    before = np.clip(likely, _FLOOR, 1 - _FLOOR)
    odds, expected = before / (1 - before), share / (1 - share)
    others = np.bincount(note)[note] - 1 if len(note) else np.zeros(0)
    now = before
    for _ in range(_STEPS):
        elsewhere = np.bincount(note, weights=now)[note] - now if len(note) else now
        found = np.maximum((strength * share + elsewhere) / (strength + others), min(lowest, share))
        moved = odds * np.minimum(found / (1 - found) / expected, 1.0)
        now = moved / (1 + moved)
    return now / before


def note_prior_state(model: NotePriorTagger) -> dict[str, Any]:
    """State of a fitted tagger, without the labels and the wrapped tagger."""
    return {"share": model.share_, "strength": float(model.strength), "lowest": float(model.lowest)}


def note_prior_built(tagger: Any, state: Mapping[str, Any]) -> NotePriorTagger:
    """Build the tagger. `load_tagger` converts errors of missing or wrong entries to a `BundleError`."""
    model = NotePriorTagger(tagger, share=state["share"], strength=state["strength"], lowest=state["lowest"])
    model.share_ = float(model.share)
    return model
