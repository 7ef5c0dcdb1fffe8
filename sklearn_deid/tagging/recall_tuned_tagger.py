"""`RecallTunedTagger`: a tagger that finds as much as was asked for."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._compat import HasMethods, Interval, StrOptions, check_constraints
from ..metrics import missed_patient_threshold, recall_threshold
from ..sequences import RaggedArray, check_groups, check_sequences, check_tags, object_rows
from .held_out import (
    PLAN_CONSTRAINTS,
    DecisionReport,
    HeldOut,
    HoldOutPlan,
    direct_identifiers,
    fit_on,
    gold_items,
    labels_in,
    marginals_on_held_out,
    measure_decision,
    patient_scores,
    threshold_of,
)
from .marginals import TokenTagger, read_marginals, tag_columns
from .note_deidentifier import default_tagger

# Beyond this probability of PHI the tagger's own decision is not made stricter.
_OWN_DECISION = 0.5


class RecallTunedTagger(TokenTagger, BaseEstimator):
    """Tag as many tokens as it takes to reach a recall, and no more.

    Around any tagger with ``predict_proba``. A token is tagged if its probability of PHI (of any label) is not below a
    threshold, which is chosen on patients that the tagger did not see; its label is the most probable one. In the
    manner of scikit-learn's `TunedThresholdClassifierCV`, or of its `FixedThresholdClassifier` with ``decision_bias``.

    Parameters
    ----------
    estimator : estimator, default=DeidTagger()
        Tagger, or a pipeline that ends with one.
    target_recall : float in (0, 1) or None, default=0.99
        Share of PHI to find on other patients. Of the thresholds that reach it, the highest is taken: the one with the
        least loss of precision. A bias below 0 is never chosen.
    max_missed_patients : float in (0, 1) or None, default=None
        Bound on the probability that, of a new patient, at least one token of a direct identifier is not tagged. With
        a target too, both hold. See Notes for what is guaranteed.
    decision_bias : float or None, default=None
        Take this bias instead of choosing one: added to the log odds of PHI at every token, so that positive values
        tag more. Nothing is held out then, and target and bound are not looked at.
    confidence : float in (0.5, 1) or None, default=0.95
        Margin of ``target_recall``: the one-sided lower confidence bound of the recall, over the draw of held-out
        patients, must reach it. None takes the recall on the held-out patients as it is; other patients then fall short
        of the target about half of the time.
    level : {"token", "span"}, default="token"
        Whether recall counts tokens, or spans all of whose tokens are tagged.
    binary : bool, default=True
        Whether PHI counts as found under whatever label. With False an item with another label is missed, and a target
        may be out of reach.
    direct_labels : collection of str, "auto" or None, default="auto"
        Direct identifiers, for ``max_missed_patients``. "auto" means names, contacts, identifiers, streets and
        relatives of the i2b2 2014 and MEDDOCAN schemes and every label that neither has; None means all labels.
    cv : float in (0, 1), int, splitter or "prefit", default=0.25
        Share of the patients that is held out; number of folds of patients; a scikit-learn splitter; or, with
        ``"prefit"``, a fitted estimator that is not trained again, and X is all held out (it must be of other patients
        than those it was trained on). To clone a prefit one, wrap it in scikit-learn's `FrozenEstimator`.
    refit : bool, default=False
        Whether the tagger is trained again on all patients; needed with several folds. The threshold then belongs to
        other taggers than the one that is used, and the guarantee is one of experience only.
    n_jobs : int or None, default=None
        Folds trained at the same time.
    random_state : int, RandomState or None, default=None
        Chooses who is held out.

    Attributes
    ----------
    estimator_ : fitted estimator
    classes_ : ndarray of str
        IOB2 tags, the columns of `predict_proba`.
    decision_bias_ : float
    threshold_ : float
        ``1 / (1 + exp(decision_bias_))``: the probability of PHI from which on a token is tagged.
    report_ : DecisionReport or None
        Recall, precision and patients with a miss on the held-out patients, with 95 % intervals. They are the patients
        that the threshold was chosen on; None if none were held out.

    Notes
    -----
    *Recall.* With probability ``confidence`` over the draw of the held-out patients, the expected recall of the tagger
    on patients from the same source is at least the target (Bates et al. 2021). The bound is an approximation that
    gets better with the number of patients; see `metrics.recall_threshold`.

    *Patients.* If the held-out patients and a new one are exchangeable, the probability that a direct identifier of the
    new one is missed is at most ``max_missed_patients``: exact in finite samples, whatever the tagger (Angelopoulos et
    al. 2022). It is a mean over draws of held-out patients, not a promise for each draw, and says nothing about
    patients of another hospital. It holds for ``refit=False`` and one held-out set, and needs ``groups``.

    See Also
    --------
    VotingTagger : The mean of several taggers, which can be tuned by this.
    HybridTagger : Adds rules to this.

    References
    ----------
    Bates, Angelopoulos, Lei, Malik & Jordan (2021), Distribution-free, risk-controlling prediction sets, J. ACM.
    Angelopoulos, Bates, Fisch, Lei & Schuster (2022), Conformal risk control, arXiv:2208.02814.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, RecallTunedTagger
    >>> X = [["Mr", "Alder", "was", "seen"], ["No", "pain"]] * 40
    >>> y = [["O", "B-PATIENT", "O", "O"], ["O", "O"]] * 40
    >>> tagger = DeidTagger(hidden_size=16, batch_size=60, max_epochs=15, lr=0.01, random_state=0)
    >>> tuned = RecallTunedTagger(tagger, target_recall=0.6, random_state=0).fit(X, y)
    >>> tuned.decision_bias_, tuned.report_.recall.value
    (0.0, 1.0)
    """

    _parameter_constraints: dict[str, list] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "target_recall": [Interval(Real, 0, 1, closed="neither"), None],
        "max_missed_patients": [Interval(Real, 0, 1, closed="neither"), None],
        "decision_bias": [Interval(Real, None, None, closed="neither"), None],
        "confidence": [Interval(Real, 0.5, 1, closed="neither"), None],
        "level": [StrOptions({"token", "span"})],
        "binary": ["boolean"],
        "direct_labels": [StrOptions({"auto"}), "array-like", set, frozenset, None],
        **PLAN_CONSTRAINTS,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        target_recall: float | None = 0.99,
        max_missed_patients: float | None = None,
        decision_bias: float | None = None,
        confidence: float | None = 0.95,
        level: str = "token",
        binary: bool = True,
        direct_labels: Collection[str] | str | None = "auto",
        cv: Any = 0.25,
        refit: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.target_recall, self.max_missed_patients = target_recall, max_missed_patients
        self.decision_bias, self.confidence = decision_bias, confidence
        self.level, self.binary, self.direct_labels = level, binary, direct_labels
        self.cv, self.refit, self.n_jobs, self.random_state = cv, refit, n_jobs, random_state

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> RecallTunedTagger:
        """Train the tagger on some patients and choose the threshold on the others.

        Parameters
        ----------
        X : sequence of n sentences, `TokenSequences` or `TokenVectors`
        y : sequence of n tag sequences
        groups : array-like of shape (n,), optional
            Patient of each sentence. Without it every sentence counts as a patient of its own, which is too
            optimistic where a patient has several, and not allowed with ``max_missed_patients``.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If X and y do not match, or there are too few patients to hold some out.
        ValueError
            If there are too few held-out patients for what is asked, with how many it takes.
        """
        check_constraints(self)
        X = check_sequences(X)
        tags = check_tags(y, X)
        patients = check_groups(groups, len(X))
        self._check_aim(patients)
        self.report_: DecisionReport | None = None
        estimator = default_tagger() if self.estimator is None else self.estimator
        if self.decision_bias is not None and not isinstance(self.cv, str):
            self.estimator_ = fit_on(estimator, X, tags, patients)
            self._labels = labels_in(self.estimator_.classes_)
            self.decision_bias_ = float(self.decision_bias)
        else:
            plan = HoldOutPlan(self.cv, self.refit, self.n_jobs, self.random_state)
            self.estimator_, held = marginals_on_held_out(estimator, X, tags, patients, plan)
            self._labels = labels_in(self.estimator_.classes_)
            self._decide(held)
        self.threshold_ = threshold_of(self.decision_bias_)
        self.classes_ = tag_columns(self._labels)
        return self

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Tag sentences.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`
        return_confidence : bool, default=False
            Also return the probability of the label at each tagged token, and of O at the others.

        Returns
        -------
        y : ndarray of shape (n,), dtype object
            One list of legal IOB2 tags for each sentence.
        confidence : ndarray of shape (n,), dtype object
            One float array for each sentence; only with ``return_confidence``.
        """
        tags, confidence = self._marginals(X).decode(self.threshold_)
        return (object_rows(tags), object_rows(confidence)) if return_confidence else object_rows(tags)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Marginals of the tagger, without the bias; columns as in ``classes_``.

        Returns
        -------
        ndarray of shape (n,), dtype object
            Of float32 arrays of shape (n_tokens, n_classes).
        """
        return self._marginals(X).rows()

    def _marginals(self, X: Any) -> Any:
        check_is_fitted(self)
        sentences: RaggedArray = check_sequences(X)
        return read_marginals(self.estimator_, sentences, sentences, self._labels)

    def _check_aim(self, patients: np.ndarray | None) -> None:
        if self.target_recall is None and self.max_missed_patients is None and self.decision_bias is None:
            raise ValueError("One of 'target_recall', 'max_missed_patients' and 'decision_bias' must not be None.")
        if self.max_missed_patients is not None and self.decision_bias is None and patients is None:
            raise ValueError("'max_missed_patients' needs the patient of each sentence: fit(X, y, groups=patients).")

    def _decide(self, held: HeldOut) -> None:
        """Threshold and figures from what was held out."""
        direct = direct_identifiers(labels_in(held.tags.data), self.direct_labels)
        items = gold_items(held, self.level, self.binary)
        if self.decision_bias is not None:
            self.decision_bias_ = float(self.decision_bias)
        else:
            thresholds = [_OWN_DECISION]
            if self.target_recall is not None:
                thresholds.append(recall_threshold(*items, self.target_recall, self.confidence))
            if self.max_missed_patients is not None:
                thresholds.append(missed_patient_threshold(patient_scores(held, direct), self.max_missed_patients))
            self.decision_bias_ = _bias_of(min(thresholds))
        self.report_ = measure_decision(held, self.decision_bias_, items, direct)


def _bias_of(threshold: float) -> float:
    """Bias whose threshold is this one, or lower by rounding."""
    if threshold <= 0:
        raise ValueError(
            "The target is out of reach: PHI of the held-out patients has a probability of 0, or (with binary=False) "
            "another label. Train longer or on more patients, or lower the target."
        )
    bias = float(np.log1p(-threshold) - np.log(threshold))
    while threshold_of(bias) > threshold:
        bias = float(np.nextafter(bias, np.inf))
    return bias
