"""`TemperatureScaledTagger`: calibrate the probabilities of a tagger."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._compat import HasMethods, unfitted_if_failed
from ..exceptions import SequenceError
from ..sequences import TokenSequences, check_sequences, check_tags, object_rows
from ..text import repair_tags
from .held_out import PLAN_CONSTRAINTS, HeldOut, HoldOutPlan, marginals_on_held_out, training_data
from .marginals import MarginalTagger, PhiMarginals, columns_of, marginal_parts


class TemperatureScaledTagger(MarginalTagger, BaseEstimator):
    """Calibrate the probabilities of a tagger with one temperature, chosen on held-out patients.

    The estimator raises the marginal probabilities to the power ``1 / temperature_`` and normalises the result. A
    temperature above 1 means that the tagger was overconfident, a temperature below 1 that the tagger was
    underconfident. The predicted tags do not change. The estimator corresponds to `CalibratedClassifierCV` of
    scikit-learn with ``method="temperature"``.

    Parameters
    ----------
    estimator : estimator, default=DeidTagger()
        Tagger with ``predict_proba``, or a pipeline that ends with such a tagger.
    cv : float in (0, 1), int, splitter or "prefit", default=0.25
        How patients are held out, as in `RecallTunedTagger`.
    refit : bool, default=False
        Whether to train the tagger again on all patients after the temperature is chosen. Required with several folds.
    n_jobs : int or None, default=None
        Number of taggers that are trained at the same time: the taggers of the folds, and the final tagger of
        ``refit``.
    random_state : int, RandomState or None, default=None
        Random seed of the choice of held-out patients.

    Attributes
    ----------
    estimator_ : fitted estimator
        Fitted tagger.
    temperature_ : float
        Temperature with the smallest mean negative log likelihood of the gold tags of held-out tokens.
    classes_ : ndarray of str
        IOB2 tags, in the order of the columns of `predict_proba`.

    See Also
    --------
    metrics.expected_calibration_error : Measures how far probabilities are from observed frequencies.
    plotting.ReliabilityDisplay : Plots probabilities against observed frequencies.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger (2017), On calibration of modern neural networks, ICML, section 4.2.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, TemperatureScaledTagger
    >>> X = [["Mr", "Alder", "was", "seen"], ["No", "pain"]] * 20
    >>> y = [["O", "B-PATIENT", "O", "O"], ["O", "O"]] * 20
    >>> tagger = DeidTagger(hidden_size=16, batch_size=60, max_epochs=10, lr=0.01, random_state=0)
    >>> scaled = TemperatureScaledTagger(tagger, random_state=0).fit(X, y)
    >>> scaled.predict(X)[0]
    ['O', 'B-PATIENT', 'O', 'O']
    """

    #: `fit` measures held-out patients, whose annotation must be gold.
    needs_gold = True
    _parameter_constraints: dict[str, list] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        **PLAN_CONSTRAINTS,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        cv: Any = 0.25,
        refit: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.cv, self.refit, self.n_jobs, self.random_state = cv, refit, n_jobs, random_state

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> TemperatureScaledTagger:
        """Train the tagger on some patients and choose the temperature on the other patients.

        Parameters
        ----------
        X : sequence of n sentences, `TokenSequences` or `TokenVectors`
            Sentences as lists of tokens, or as arrays of token vectors.
        y : sequence of n tag sequences
            IOB2 tags. Each tag sequence is as long as its sentence.
        groups : array-like of shape (n,), optional
            Patient of each sentence.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If X and y do not match, there are too few patients to hold some out, or held-out patients have no PHI.
        """
        X, tags, patients = training_data(self, X, y, groups)
        plan = HoldOutPlan(self.cv, self.refit, self.n_jobs, self.random_state)
        with unfitted_if_failed(self):
            self.estimator_, held = marginals_on_held_out(self.estimator, X, tags, patients, plan)
            self.temperature_ = _best_temperature(held)
            self._know_labels(self.estimator_.classes_)
        return self

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Tag sentences. The tags are the same as the tags of the wrapped tagger.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`
            Sentences to tag.
        return_confidence : bool, default=False
            Whether to also return the scaled probability of the label at each tagged token, and of O at each other
            token.

        Returns
        -------
        y : ndarray of shape (n,), dtype object
            One list of legal IOB2 tags for each sentence.
        confidence : ndarray of shape (n,), dtype object
            One float array for each sentence. Returned only with ``return_confidence=True``.
        """
        check_is_fitted(self)
        X = check_sequences(X)
        tags = check_tags(self.estimator_.predict(X), X)
        tags = TokenSequences.from_rows(repair_tags(row) for row in tags)
        if not return_confidence:
            return object_rows(tags)
        marginals = np.concatenate([np.zeros((0, len(self.classes_))), *(part.data for part in self._parts(X))])
        return object_rows(tags), object_rows(PhiMarginals(self._labels, marginals, X.offsets).of_tags(tags))

    def _parts(self, X: Any) -> Iterator[PhiMarginals]:
        """Yield scaled marginals, some thousand tokens at a time."""
        check_is_fitted(self)
        for part in marginal_parts(self.estimator_, check_sequences(X), self._labels):
            yield PhiMarginals(self._labels, _scaled(part.data, self.temperature_), part.offsets)


def _scaled(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    # A power of 1 / T equals the division of the logs by T. Shape: (n_tokens, n_classes)
    powers = _with_floor(probabilities) ** (1 / temperature)
    return powers / powers.sum(axis=1, keepdims=True)


def _with_floor(probabilities: np.ndarray) -> np.ndarray:
    # float32 marginals can underflow to 0, and the log of 0 would make the loss infinite.
    return np.maximum(probabilities, float(np.finfo(np.float32).tiny))


def _best_temperature(held: HeldOut) -> float:
    """Temperature between 0.05 and 20 with the smallest negative log likelihood."""
    # shape: (n_tokens,)
    gold = columns_of(held.tags.data, held.marginals.labels)
    # Without PHI, a very low temperature would be the best, and every span would have a confidence of about 1.
    if not gold.any():  # column 0 is "O"
        kind = "PHI" if len(gold) else "token"
        raise SequenceError(f"The held-out sentences hold no {kind}, from which a temperature could be chosen.")
    # shape: (n_tokens, n_classes)
    logs = np.log(_with_floor(held.marginals.data))
    own = logs[np.arange(len(gold)), gold]

    # Mean of log(sum_k p_k ** power) - power * log(p_gold), with the largest log taken out of the sum for stability.
    def loss(log_temperature: float) -> float:
        power = float(np.exp(-log_temperature))
        top = logs.max(axis=1)
        norm = np.log(np.exp(power * (logs - top[:, None])).sum(axis=1))
        return float((norm + power * (top - own)).mean())

    # The search runs over the logarithm, so that T and 1 / T are treated alike.
    found: Any = minimize_scalar(loss, bounds=(np.log(0.05), np.log(20.0)), method="bounded")
    return float(np.exp(found.x))
