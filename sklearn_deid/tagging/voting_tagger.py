"""`VotingTagger`: soft voting of several taggers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from .._compat import NamedEstimators, unfitted_if_failed
from ..sequences import check_sequences
from .held_out import check_no_threshold, fit_whole, training_data
from .marginals import MarginalTagger, PhiMarginals, read_marginals


class VotingTagger(MarginalTagger, NamedEstimators):
    """Tag with the mean marginal probabilities of several taggers.

    The estimator corresponds to `VotingClassifier` of scikit-learn with soft voting, but tags sequences. `predict`
    returns the legal tag sequence with the largest product of mean marginals.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and taggers (or pipelines that end with a tagger). The predicted tags of a tagger without
        ``predict_proba``, such as a `RuleTagger`, have probability 1. ``set_params(name="drop")`` leaves a tagger out.
    weights : sequence of float or None, default=None
        Weight of each tagger, at least 0. None gives all taggers the same weight.
    n_jobs : int or None, default=None
        Number of taggers that are trained in parallel.

    Attributes
    ----------
    estimators_ : list of fitted estimators
        Fitted taggers, without dropped taggers.
    named_estimators_ : Bunch
        Fitted taggers by name.
    classes_ : ndarray of str
        IOB2 tags, in the order of the columns of `predict_proba`.

    See Also
    --------
    RecallTunedTagger : Tunes the decision threshold of a tagger, such as this estimator. A `VotingTagger` refuses a
        `RecallTunedTagger`.
    HybridTagger : Combines a tagger with rules.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, VotingTagger
    >>> X = [["Mr", "Alder", "was", "seen"], ["No", "pain"]] * 8
    >>> y = [["O", "B-PATIENT", "O", "O"], ["O", "O"]] * 8
    >>> small = {"hidden_size": 16, "batch_size": 20, "lr": 0.01, "max_epochs": 15}
    >>> seeds = [(f"seed{i}", DeidTagger(**small, random_state=i)) for i in range(2)]
    >>> VotingTagger(seeds).fit(X, y).predict(X)[0]
    ['O', 'B-PATIENT', 'O', 'O']
    """

    _parameter_constraints: dict[str, list] = {
        "estimators": [list],
        "weights": ["array-like", None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        *,
        weights: Sequence[float] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> VotingTagger:
        """Train all taggers.

        Parameters
        ----------
        X : sequence of n sentences, `TokenSequences` or `TokenVectors`
            Sentences as lists of tokens, or as arrays of token vectors.
        y : sequence of n tag sequences
            IOB2 tags. Each tag sequence is as long as its sentence.
        groups : array-like of shape (n,), optional
            Patient of each sentence, for taggers with a ``groups`` parameter.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If X and y do not match.
        ValueError
            If names or weights are not valid, all taggers are dropped, or a tagger is a `RecallTunedTagger`: the vote
            uses only probabilities, so that its threshold would have no effect.
        """
        X, tags, patients = training_data(self, X, y, groups)
        kept = self._kept()
        for name, estimator in kept:
            check_no_threshold(self, estimator, f"The tagger {name!r}")
        with unfitted_if_failed(self):
            jobs = Parallel(n_jobs=self.n_jobs)
            self.estimators_ = jobs(delayed(fit_whole)(estimator, X, tags, patients) for _, estimator in kept)
            self.named_estimators_ = Bunch(**dict(zip((name for name, _ in kept), self.estimators_, strict=True)))
            # Taggers may know labels that y does not hold, for example the labels of rules.
            self._know_labels(tags.data, *(getattr(one, "classes_", ()) for one in self.estimators_))
        return self

    def _parts(self, X: Any) -> Iterator[PhiMarginals]:
        """Weighted mean of the marginals of all taggers."""
        check_is_fitted(self, "estimators_")
        X = check_sequences(X)
        taggers, weights = self._voters(), self._weights()
        # shape: (n_tokens, n_classes)
        total = np.zeros((len(X.data), 1 + 2 * len(self._labels)))
        # The marginals of one tagger at a time are in memory.
        for tagger, weight in zip(taggers.values(), weights / weights.sum(), strict=True):
            total += weight * read_marginals(tagger, X, self._labels).data
        yield PhiMarginals(self._labels, total, X.offsets)

    def _voters(self) -> dict[str, Any]:
        """Fitted taggers by name, without taggers that were dropped after the training."""
        names = [name for name, _ in self._kept()]
        if not self.named_estimators_.keys() >= set(names):
            raise NotFittedError("The taggers of this VotingTagger have changed: call fit again.")
        return {name: self.named_estimators_[name] for name in names}

    def _kept(self) -> list[tuple[str, Any]]:
        """Check names, weights and taggers, and return the taggers that are not dropped."""
        if not self.estimators or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in self.estimators):
            raise ValueError(
                "The 'estimators' parameter of VotingTagger must be a list of at least one pair (name, estimator)."
            )
        self._validate_names([name for name, _ in self.estimators])
        self._weights()
        kept = [(name, estimator) for name, estimator in self.estimators if not _is_dropped(estimator)]
        if not kept:
            raise ValueError("All taggers of VotingTagger are dropped; at least one is needed.")
        for name, estimator in kept:
            if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
                raise ValueError(f"The tagger {name!r} of VotingTagger has no fit and predict.")
        return kept

    def _weights(self) -> np.ndarray:
        """Weights of the taggers that are not dropped, shape (n_kept,)."""
        # shape: (n_estimators,), with a weight for dropped taggers, too
        weights = np.ones(len(self.estimators)) if self.weights is None else np.asarray(self.weights, dtype=float)
        kept = np.array([not _is_dropped(estimator) for _, estimator in self.estimators], dtype=bool)
        if weights.shape != kept.shape or (weights < 0).any() or not np.isfinite(weights).all():
            raise ValueError(
                f"The 'weights' parameter of VotingTagger must hold {len(kept)} numbers of at least 0, one for each "
                "tagger."
            )
        if kept.any() and not weights[kept].sum():
            raise ValueError("The 'weights' parameter of VotingTagger must not be 0 for all taggers.")
        return weights[kept]


def _is_dropped(estimator: Any) -> bool:
    return isinstance(estimator, str) and estimator == "drop"
