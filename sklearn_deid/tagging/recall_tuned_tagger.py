"""`RecallTunedTagger`: a tagger whose decision threshold reaches a target recall."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from math import floor
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._compat import HasMethods, Interval, StrOptions, unfitted_if_failed
from ..exceptions import LowPrecisionWarning, TargetError
from ..metrics import PriceCurve, missed_patient_threshold, reachable_recall, recall_threshold
from ..sequences import RaggedArray, TokenSequences, check_sequences
from ..text import repair_tags
from .held_out import (
    PLAN_CONSTRAINTS,
    DecisionReport,
    HeldOut,
    HoldOutPlan,
    direct_identifiers,
    fit_on,
    gold_items,
    held_out_rows,
    marginals_on_held_out,
    measure_decision,
    patient_scores,
    threshold_of,
    training_data,
)
from .marginals import MarginalTagger, PhiMarginals, labels_in, marginal_parts
from .measured_price import curve_of, most_missed

# Highest threshold that `fit` chooses: the estimator never tags less than the tagger would with a bias of 0.
_OWN_DECISION = 0.5
# cv="auto"
_FOLDS, _ONE_SET, _MANY_PATIENTS = 5, 0.25, 300
# A chosen bias is a multiple of 1 / 64. The biases of the price curve are on this grid, too.
_STEPS = 64
# Confidence of the price curve if ``confidence`` is None.
_CONFIDENCE = 0.95


class RecallTunedTagger(MarginalTagger, BaseEstimator):
    """Tune the decision threshold of a tagger to reach a target recall.

    The estimator wraps any tagger with ``predict_proba``. A token is tagged if its probability of PHI, summed over all
    labels, is at least the threshold. The label of a tagged token is the most probable label. `fit` chooses the
    threshold on held-out patients. The estimator corresponds to `TunedThresholdClassifierCV` of scikit-learn. With
    ``decision_bias``, the estimator corresponds to `FixedThresholdClassifier`.

    Parameters
    ----------
    estimator : estimator, default=DeidTagger()
        Tagger, or a pipeline that ends with a tagger.
    target_recall : float in (0, 1), "highest" or None, default=0.99
        Proportion of PHI to find on new patients. `fit` chooses the highest threshold that reaches the target, because
        a lower threshold lowers precision. `fit` never chooses a threshold above 0.5 (a bias below 0). "highest"
        chooses the largest bias (in steps of 0.5, at most 10) at which the precision of tagged tokens on the held-out
        patients is at least ``min_precision``. "highest" guarantees no recall.
    max_missed_patients : float in (0, 1) or None, default=None
        Upper bound on the probability that the tagger misses at least one token of a direct identifier of a new
        patient. If you set both ``target_recall`` and ``max_missed_patients``, the threshold satisfies both conditions.
        The Notes describe the guarantee.
    decision_bias : float or None, default=None
        Fixed bias, added to the log odds of PHI at every token: positive values tag more tokens. With a fixed bias,
        `fit` holds no patient out (except with ``cv="prefit"``) and ignores ``target_recall`` and
        ``max_missed_patients``.
    confidence : float in (0.5, 1) or None, default=0.95
        Confidence level of the one-sided lower bound of the recall, over the draw of held-out patients. The lower bound
        must reach ``target_recall``. With None, the recall on the held-out patients itself must reach the target; the
        recall on new patients is then below the target in about half of all cases.
    level : {"token", "span"}, default="token"
        Unit of the recall. "token" counts tagged PHI tokens, "span" counts PHI spans with all tokens tagged.
    binary : bool, default=True
        Whether PHI counts as found under any label. With False, PHI with a wrong label counts as missed, and some
        targets cannot be reached.
    direct_labels : collection of str, "auto" or None, default="auto"
        Labels of direct identifiers, for ``max_missed_patients``. "auto" means the labels of names, contacts,
        identifiers, streets and relatives in the i2b2 2014 and MEDDOCAN schemes, and every label that is in neither
        scheme. None means all labels.
    min_precision : float in [0, 1), default=0.8
        Smallest accepted precision of tagged tokens on the held-out patients. If the precision is below
        ``min_precision``, `fit` warns or raises an error (``on_low_precision``). The message states the highest target
        at which the precision is at least ``min_precision``. 0 accepts any precision.
    on_low_precision : {"warn", "raise"}, default="warn"
        Reaction of `fit` to a precision below ``min_precision``. "warn" keeps the threshold, so that the tagger reaches
        the target but hides many words that are not PHI. "raise" raises a `TargetError`, and the estimator stays
        unfitted.
    cv : "auto", float in (0, 1), int, splitter or "prefit", default="auto"
        How patients are held out. A float is the proportion of patients to hold out, an int is the number of folds of
        patients (cross-fitting). A splitter must keep the sentences of a patient together and hold out no sentence
        twice, such as `GroupKFold`. "auto" means five folds for fewer than 300
        patients, so that the recall is measured on every patient. For 300 or more patients, "auto" means 0.25. With
        ``max_missed_patients``, "auto" means 0.25, because the bound needs one held-out set. With ``"prefit"``,
        ``estimator`` is already fitted and is not trained again, and all of X is held out. No patient of X may be in
        the training data of this estimator. To clone a `RecallTunedTagger` with a fitted estimator, wrap the estimator
        in scikit-learn's `FrozenEstimator`.
    refit : bool or "auto", default="auto"
        Whether to train the tagger again on all patients after the threshold is chosen. "auto" means True with several
        folds, because several folds require True, and False otherwise. With True, the threshold is chosen for the
        taggers of the folds and used with the final tagger, so that the guarantee is only empirical.
    n_jobs : int or None, default=None
        Number of taggers that are trained at the same time: the taggers of the folds, and the final tagger of
        ``refit``.
    random_state : int, RandomState or None, default=None
        Random seed of the choice of held-out patients.

    Attributes
    ----------
    estimator_ : fitted estimator
        Fitted tagger.
    classes_ : ndarray of str
        IOB2 tags, in the order of the columns of `predict_proba`.
    decision_bias_ : float
        Bias in use, added to the log odds of PHI. A bias that `fit` chooses is rounded up to a multiple of 1/64: the
        exact bias would disclose the probability of a token of a held-out patient.
    threshold_ : float
        Smallest probability of PHI at which a token is tagged: ``1 / (1 + exp(decision_bias_))``.
    report_ : DecisionReport or None
        Recall, precision and proportion of patients with a missed identifier, with 95 % intervals. The values are
        measured on the held-out patients on which the threshold was chosen. None if no patient was held out.
    price_curve_ : PriceCurve or None
        Recall, precision and hidden text at each bias, on the same patients. None if no patient was held out.

    Notes
    -----
    *Recall.* The expected recall on patients from the same source is at least the target, with probability
    ``confidence`` over the draw of the held-out patients (Bates et al. 2021). The bound is an approximation that
    improves with the number of patients; see `metrics.recall_threshold`. If a few patients cause most misses, the
    target fails in 6 to 9 % of the draws instead of 5 % (``benchmarks/recall_coverage.py``, 20 to 300 patients).

    *Patients.* If the held-out patients and a new patient are exchangeable, the probability that the tagger misses a
    direct identifier of the new patient is at most ``max_missed_patients``. This bound on patients is exact in finite
    samples and holds for any tagger (Angelopoulos et al. 2022). The probability is a mean over draws of held-out
    patients, so that a single draw can exceed the bound. The bound does not apply to patients of another hospital. The
    bound requires ``groups``, ``refit=False`` and one held-out set. The defaults of ``refit`` and ``cv`` meet these
    requirements.

    See Also
    --------
    VotingTagger : Mean of several taggers; a possible ``estimator``.
    HybridTagger : Combines a tagger, such as this estimator, with rules.

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
    >>> tuned = RecallTunedTagger(tagger, target_recall=0.6, cv=0.25, random_state=0).fit(X, y)
    >>> tuned.decision_bias_, tuned.report_.recall.value
    (0.0, 1.0)
    """

    #: `fit` measures held-out patients, whose annotation must be gold.
    needs_gold = True
    #: The tags do not follow from `predict_proba` alone, so that a vote over probabilities refuses this tagger.
    decides_by_threshold = True
    _parameter_constraints: dict[str, list] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "target_recall": [Interval(Real, 0, 1, closed="neither"), StrOptions({"highest"}), None],
        "max_missed_patients": [Interval(Real, 0, 1, closed="neither"), None],
        "decision_bias": [Interval(Real, None, None, closed="neither"), None],
        "confidence": [Interval(Real, 0.5, 1, closed="neither"), None],
        "level": [StrOptions({"token", "span"})],
        "binary": ["boolean"],
        "direct_labels": [StrOptions({"auto"}), "array-like", set, frozenset, None],
        "min_precision": [Interval(Real, 0, 1, closed="left")],
        "on_low_precision": [StrOptions({"warn", "raise"})],
        **PLAN_CONSTRAINTS,
        "cv": [StrOptions({"auto", "prefit"}), *PLAN_CONSTRAINTS["cv"][1:]],
        "refit": ["boolean", StrOptions({"auto"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        target_recall: float | str | None = 0.99,
        max_missed_patients: float | None = None,
        decision_bias: float | None = None,
        confidence: float | None = 0.95,
        level: str = "token",
        binary: bool = True,
        direct_labels: Collection[str] | str | None = "auto",
        min_precision: float = 0.8,
        on_low_precision: str = "warn",
        cv: Any = "auto",
        refit: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.target_recall, self.max_missed_patients = target_recall, max_missed_patients
        self.decision_bias, self.confidence = decision_bias, confidence
        self.level, self.binary, self.direct_labels = level, binary, direct_labels
        self.min_precision, self.on_low_precision = min_precision, on_low_precision
        self.cv, self.refit, self.n_jobs, self.random_state = cv, refit, n_jobs, random_state

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> RecallTunedTagger:
        """Train the tagger on some patients and choose the threshold on the other patients.

        Parameters
        ----------
        X : sequence of n sentences, `TokenSequences` or `TokenVectors`
            Sentences as lists of tokens, or as arrays of token vectors.
        y : sequence of n tag sequences
            IOB2 tags. Each tag sequence is as long as its sentence.
        groups : array-like of shape (n,), optional
            Patient of each sentence. Without groups, every sentence counts as a patient of its own, and the bound on
            the recall is too optimistic if patients have several sentences. Required with ``max_missed_patients``.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If X and y do not match, there are too few patients to hold some out, or a splitter separates sentences of a
            patient.
        TargetError
            If there are too few held-out patients for the target. The message states the number of patients needed. If
            there are too few patients even for a tagger that misses nothing, the error is raised before training. With
            ``on_low_precision="raise"``, also if the precision on the held-out patients is below ``min_precision``.
        KeyboardInterrupt
            If Ctrl-C interrupted one of several trainings, as with folds: the recall of the taggers of the folds is not
            the recall of a tagger that was trained for fewer epochs. The estimator stays unfitted.

        Warns
        -----
        LowPrecisionWarning
            If the precision on the held-out patients is below ``min_precision``. The message names the labels that
            lower the precision.
        """
        X, tags, patients = training_data(self, X, y, groups)
        self._check_aim(patients)
        with unfitted_if_failed(self):
            self._fit(X, tags, patients)
        return self

    def _fit(self, X: Any, tags: TokenSequences, patients: np.ndarray | None) -> None:
        """Train the tagger and choose the threshold."""
        self.report_: DecisionReport | None = None
        self.price_curve_: PriceCurve | None = None
        # A fixed bias needs no held-out patients. A prefit estimator must not be trained again.
        if self.decision_bias is not None and self.cv != "prefit":
            self.estimator_ = fit_on(self.estimator, X, tags, patients)
            self.decision_bias_ = float(self.decision_bias)
        else:
            # With cv="prefit" nothing is trained here, and all given patients count as held out.
            plan = self._plan(len(X) if patients is None else len(np.unique(patients)))
            self._check_reachable(tags, patients, plan)
            self.estimator_, held = marginals_on_held_out(self.estimator, X, tags, patients, plan)
            self._decide(held)
        self.threshold_ = threshold_of(self.decision_bias_)
        self._know_labels(self.estimator_.classes_)

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Tag sentences.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`
            Sentences to tag.
        return_confidence : bool, default=False
            Whether to also return the probability of the label at each tagged token, and of O at each other token.

        Returns
        -------
        y : ndarray of shape (n,), dtype object
            One list of legal IOB2 tags for each sentence.
        confidence : ndarray of shape (n,), dtype object
            One float array for each sentence. Returned only with ``return_confidence=True``.

        Raises
        ------
        ValueError
            If ``decision_bias`` was changed to another number after `fit`: only `fit` sets the threshold. A change to
            None has no effect before the next `fit`.
        """
        check_is_fitted(self)
        if self.decision_bias is not None and float(self.decision_bias) != self.decision_bias_:
            raise ValueError(
                "The 'decision_bias' parameter of RecallTunedTagger was changed after the fit to "
                f"{self.decision_bias:g}, and the tagger decides with {self.decision_bias_:g}. Fit again."
            )
        return super().predict(X, return_confidence)

    def _parts(self, X: Any) -> Iterator[PhiMarginals]:
        check_is_fitted(self)
        return marginal_parts(self.estimator_, check_sequences(X), self._labels)

    def _decoded(self, part: PhiMarginals) -> tuple[TokenSequences, RaggedArray]:
        return part.decode(self.threshold_)

    def _check_aim(self, patients: np.ndarray | None) -> None:
        """Check that there is a target or a bias, and that a bound on patients has groups."""
        if self.target_recall is None and self.max_missed_patients is None and self.decision_bias is None:
            raise ValueError("One of 'target_recall', 'max_missed_patients' and 'decision_bias' must not be None.")
        if self.max_missed_patients is not None and self.decision_bias is None and patients is None:
            raise ValueError("'max_missed_patients' needs the patient of each sentence: fit(X, y, groups=patients).")

    def _plan(self, n_patients: int) -> HoldOutPlan:
        """Return ``cv``, with "auto" replaced by folds or a proportion."""
        cv = self.cv
        if isinstance(cv, str) and cv == "auto":
            one_set = self.max_missed_patients is not None or n_patients >= _MANY_PATIENTS
            cv = _ONE_SET if one_set else max(2, min(_FOLDS, n_patients))
        one_set = isinstance(cv, str) or (isinstance(cv, Real) and not isinstance(cv, Integral))
        refit = not one_set if isinstance(self.refit, str) else self.refit
        return HoldOutPlan(cv, refit, self.n_jobs, self.random_state)

    def _check_reachable(self, tags: TokenSequences, patients: np.ndarray | None, plan: HoldOutPlan) -> None:
        """Raise TargetError before training if the held-out patients are too few for the target even without a miss."""
        if not isinstance(self.target_recall, Real) or self.confidence is None or self.decision_bias is not None:
            return
        rows = held_out_rows(plan, len(tags), patients)
        kinds = [tag for row in tags[rows] for tag in repair_tags(row)]
        n_items = sum(tag != "O" if self.level == "token" else tag[0] == "B" for tag in kinds)
        best = reachable_recall(n_items, self.confidence)
        if n_items and best < self.target_recall:
            raise TargetError(
                f"A recall of {self.target_recall:g} cannot be shown with confidence {self.confidence:g} on {n_items} "
                f"{self.level}s of PHI of the held-out patients: without any missed {self.level} the bound would be "
                f"{np.floor(1e4 * best) / 1e4:.4f}. Annotate more patients, or lower the target or the confidence."
            )

    def _decide(self, held: HeldOut) -> None:
        """Choose the threshold and compute the report on the held-out patients."""
        direct = direct_identifiers(labels_in(held.tags.data), self.direct_labels)
        items = gold_items(held, self.level, self.binary)
        if self.decision_bias is not None:
            self.decision_bias_ = float(self.decision_bias)
        else:
            thresholds = [_OWN_DECISION]
            if self.target_recall == "highest":
                curve = curve_of(held, items, self.confidence or _CONFIDENCE)
                thresholds.append(threshold_of(curve.largest_bias(self.min_precision)))
            elif self.target_recall is not None:
                thresholds.append(recall_threshold(*items, self.target_recall, self.confidence))
            if self.max_missed_patients is not None:
                thresholds.append(missed_patient_threshold(patient_scores(held, direct), self.max_missed_patients))
            # A lower threshold never loses a token, so that the lowest of the thresholds satisfies all conditions.
            self.decision_bias_ = _bias_of(min(thresholds))
        self.report_ = measure_decision(held, self.decision_bias_, items, direct)
        if len(items[0]):
            self.price_curve_ = curve_of(held, items, self.confidence or _CONFIDENCE)
            self._check_price(self.report_.precision.value, self.price_curve_, held)

    def _check_price(self, precision: float, curve: PriceCurve, held: HeldOut) -> None:
        """Warn or raise if the precision on the held-out patients is below ``min_precision``, and name the cause."""
        if not precision < self.min_precision:
            return
        best = curve.best_target(self.min_precision)
        offer = "no target keeps it" if best is None else f"target_recall={np.floor(1000 * best) / 1000:g} keeps it"
        counts = most_missed(held, curve.largest_bias(self.min_precision))
        labels = ", ".join(f"{label} ({missed} of {total} tokens)" for label, missed, total in counts)
        cause = (
            f" With that precision, most of the missed tokens are those of {labels}: annotate more of them, find them "
            "with rules (HybridTagger), or leave their labels out."
        )
        message = (
            f"The precision on the held-out patients is {np.floor(100 * precision) / 100:.2f}, below "
            f"min_precision={self.min_precision:g}; {offer}.{cause if counts else ''}"
        )
        if self.on_low_precision == "raise":
            raise TargetError(f"{message} Lower the target, or the precision that is asked for.")
        warnings.warn(
            f"{message} The attribute 'price_curve_' shows the price of recall.", LowPrecisionWarning, stacklevel=3
        )


def _bias_of(threshold: float) -> float:
    """Smallest bias on a grid with a threshold of at most ``threshold``.

    The threshold is the probability of one token of a held-out patient. With all digits, a saved model would confirm a
    guess of the note with this token.
    """
    if threshold <= 0:
        raise TargetError(
            "The target is out of reach: PHI of the held-out patients has a probability of 0, or (with binary=False) "
            "another label. Train longer or on more patients, or lower the target."
        )
    # From threshold = 1 / (1 + exp(bias)) follows bias = log(1 - threshold) - log(threshold).
    steps = floor(_STEPS * float(np.log1p(-threshold) - np.log(threshold)))
    # The threshold must not be raised: an item with exactly this score would then be missed.
    while threshold_of(steps / _STEPS) > threshold:
        steps += 1
    return steps / _STEPS
