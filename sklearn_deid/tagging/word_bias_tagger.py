"""`WordBiasTagger`: a tagger that needs more evidence to tag an ordinary word as PHI."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._compat import HasMethods, Interval, check_constraints, unfitted_if_failed
from ..exceptions import SequenceError
from ..sequences import check_sequences
from .held_out import check_no_threshold, fit_on, training_data
from .marginals import MarginalTagger, PhiMarginals, marginal_parts
from .word_levels import WordLevels
from .word_set import WordSet

#: Words with or without levels.
Words = Collection[str] | Mapping[str, int] | WordSet | WordLevels
_MOST = 50.0  # of the bias of a word


class WordBiasTagger(MarginalTagger, BaseEstimator):
    """Shift the log odds of PHI of listed words.

    A tagger that was trained on few texts may tag an ordinary word with a capital as a name ("Consent obtained."). With
    a list of such words and a negative bias, the tagger needs more evidence to tag a listed word. Words that are also
    names should not be in the list. Give words that are rarely names a higher level than other words: the bias is added
    once for each level.

    Parameters
    ----------
    estimator : estimator, default=DeidTagger()
        Tagger of words with ``predict_proba``, or a pipeline that ends with such a tagger.
    words : collection of str, mapping of str to int, WordSet or WordLevels, default=()
        Words, or words with levels from 0 to 8. Casing is ignored. In a collection without levels, all words have level
        one. Anyone with a saved model can test whether a word is in the list: use a public list, never the words of
        notes.
    bias : float, default=-1.0
        Number that is added to the log odds of PHI of each of these words, once for each level. The total change of a
        word is at most 50 in either direction.

    Attributes
    ----------
    estimator_ : fitted estimator
        Fitted tagger.
    word_levels_ : WordLevels
        The words and their levels.
    classes_ : ndarray of str
        IOB2 tags, in the order of the columns of `predict_proba`.

    See Also
    --------
    RecallTunedTagger : Chooses a bias for all words; can wrap this estimator.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, WordBiasTagger
    >>> X = [["Mr", "Alder", "was", "seen"], ["No", "pain"]] * 20
    >>> y = [["O", "B-PATIENT", "O", "O"], ["O", "O"]] * 20
    >>> tagger = DeidTagger(hidden_size=16, batch_size=60, max_epochs=10, lr=0.01, random_state=0)
    >>> WordBiasTagger(tagger, words=["alder"], bias=-20).fit(X, y).predict(X)[0]
    ['O', 'O', 'O', 'O']
    """

    _parameter_constraints: dict[str, list] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "words": ["array-like", set, frozenset, Mapping, WordSet, WordLevels],
        "bias": [Interval(Real, -50, 50, closed="both")],
    }

    def __init__(self, estimator: Any = None, *, words: Words = (), bias: float = -1.0) -> None:
        self.estimator, self.words, self.bias = estimator, words, bias

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> WordBiasTagger:
        """Train the tagger.

        Parameters
        ----------
        X : sequence of n sentences or `TokenSequences`
            Sentences as lists of tokens.
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
            self.word_levels_ = levels_of(self.words)
            self.estimator_ = fit_on(self.estimator, X, tags, patients)
            self._know_labels(self.estimator_.classes_)
        return self

    def _parts(self, X: Any) -> Iterator[PhiMarginals]:
        """Yield shifted marginals, some thousand tokens at a time, because a long note needs much memory."""
        check_is_fitted(self)
        check_constraints(self)  # parameters may have changed since `fit`
        X = check_sequences(X)
        if not all(isinstance(word, str) for word in X.data):
            raise SequenceError("WordBiasTagger reads words, not vectors of tokens.")
        level = {word: self.word_levels_[word] for word in dict.fromkeys(X.data)}
        start = 0
        for part in marginal_parts(self.estimator_, X, self._labels):
            words = X.data[start : start + len(part.data)]
            bias = np.clip(self.bias * np.array([level[word] for word in words], dtype=float), -_MOST, _MOST)
            yield PhiMarginals(self._labels, shifted(part.data, bias), part.offsets)
            start += len(words)


def levels_of(words: Words) -> WordLevels:
    """Return the levels of words; the words may have any form that `WordBiasTagger` accepts.

    Examples
    --------
    >>> levels_of(["rod"])["Rod"], levels_of({"rod": 2})["Rod"]
    (1, 2)
    """
    if isinstance(words, WordLevels):
        return words
    if isinstance(words, WordSet):
        return WordLevels([words])
    return WordLevels.of(words if isinstance(words, Mapping) else dict.fromkeys(words, 1))


def shifted(probabilities: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Probabilities of O (first column) and of PHI tags, after the bias of each token is added to the log odds of PHI.

    Examples
    --------
    >>> shifted(np.array([[0.5, 0.3, 0.2], [0.5, 0.5, 0.0]]), np.array([np.log(0.25), 0])).round(2).tolist()
    [[0.8, 0.12, 0.08], [0.5, 0.5, 0.0]]
    """
    odds = np.ones_like(probabilities)
    odds[:, 1:] = np.exp(bias)[:, None]
    weighed = probabilities * odds
    # A tagger whose probabilities do not add up to 1 keeps its sums.
    total, own = weighed.sum(axis=1, keepdims=True), probabilities.sum(axis=1, keepdims=True)
    changed = (bias != 0)[:, None] & (total > 0)
    return weighed * np.where(changed, own / np.maximum(total, np.finfo(float).tiny), 1.0)


def word_bias_state(model: WordBiasTagger) -> dict[str, Any]:
    """State of a fitted tagger, without the labels and the wrapped tagger."""
    return {"bias": model.bias, "words": model.word_levels_.to_state()}


def word_bias_built(tagger: Any, state: Mapping[str, Any]) -> WordBiasTagger:
    """Build the tagger. `load_tagger` converts errors of missing or wrong entries to a `BundleError`."""
    words = WordLevels.from_state(state["words"])
    model = WordBiasTagger(tagger, words=words, bias=state["bias"])
    model.word_levels_ = words
    return model
