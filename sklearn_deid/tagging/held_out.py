"""Marginals on held-out patients, and reports of decision thresholds on these patients."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._compat import HasMethods, Interval, StrOptions, check_constraints
from .._randomness import own_generator
from ..exceptions import SequenceError, TrainingInterruptedWarning
from ..metrics import Estimate
from ..metrics.rounding import rounded
from ..sequences import RaggedArray, TokenSequences, check_groups, check_sequences, check_tags
from ..text import BINARY, I2B2_2014, MEDDOCAN, labels_of, split_tag
from .marginals import PhiMarginals, labels_in, read_marginals
from .splits import check_patients_apart, group_parameters, hold_out_patients


class HoldOutPlan(NamedTuple):
    """How patients are held out: the parameters that `RecallTunedTagger` and `TemperatureScaledTagger` share."""

    cv: Any
    refit: bool
    n_jobs: int | None
    random_state: Any


# Constraints of the parameters of a `HoldOutPlan`, for the estimators with these parameters.
PLAN_CONSTRAINTS: dict[str, list] = {
    "cv": [
        StrOptions({"prefit"}),
        Interval(Real, 0, 1, closed="neither"),
        Interval(Integral, 2, None, closed="left"),
        HasMethods(["split", "get_n_splits"]),
    ],
    "refit": ["boolean"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}


def default_tagger(**parameters: Any) -> Any:
    """Build a `DeidTagger`. The import of torch is lazy because torch loads slowly."""
    from .tagger import DeidTagger

    return DeidTagger(**parameters)


def training_data(estimator: Any, X: Any, y: Any, groups: Any) -> tuple[Any, TokenSequences, np.ndarray | None]:
    """Check the parameters of an estimator, and the sentences, tags and patients of its `fit`."""
    check_constraints(estimator)
    X = check_sequences(X)
    return X, check_tags(y, X), check_groups(groups, len(X))


def check_no_threshold(reader: Any, tagger: Any, name: str = "The tagger") -> None:
    """Refuse a `RecallTunedTagger`, also inside another tagger: the caller uses probabilities, not the threshold."""
    while tagger is not None and not getattr(tagger, "decides_by_threshold", False):
        if isinstance(tagger, Pipeline):
            tagger = tagger.steps[-1][1]
        else:
            tagger = getattr(tagger, "estimator", None) if hasattr(tagger, "predict_proba") else None
    kind = type(reader).__name__
    if tagger is not None:
        raise ValueError(
            f"{name} of {kind} decides by a threshold. {kind} reads its probabilities, so that PHI which only the "
            f"threshold finds would be missed. Tune the threshold outside: RecallTunedTagger({kind}(...))."
        )


class HeldOut(NamedTuple):
    """Marginals, gold tags and patients of the held-out sentences."""

    marginals: PhiMarginals
    tags: TokenSequences
    # shape: (n_sentences,)
    patients: np.ndarray

    @property
    def token_patients(self) -> np.ndarray:
        """Patient of each token, shape (n_tokens,)."""
        return np.repeat(self.patients, self.tags.lengths)


def marginals_on_held_out(
    estimator: Any, X: RaggedArray, tags: TokenSequences, groups: np.ndarray | None, plan: HoldOutPlan
) -> tuple[Any, HeldOut]:
    """Fit a tagger, and compute marginals on held-out patients.

    Parameters
    ----------
    estimator : estimator
        Tagger, or a pipeline that ends with a tagger.
    X : TokenSequences or TokenVectors
        Sentences.
    tags : TokenSequences
        Gold tags.
    groups : ndarray of shape (n,) or None
        Patient of each sentence. With None, every sentence counts as a patient of its own.
    plan : HoldOutPlan
        How patients are held out. With ``cv="prefit"``, the estimator is not trained, and all of X is held out.

    Returns
    -------
    fitted : estimator
        Tagger for new patients.
    held : HeldOut
        Marginals, gold tags and patients of the held-out sentences. With several folds, the marginals of a sentence
        come from the tagger that was not trained on the patient of the sentence.

    Raises
    ------
    SequenceError
        If there are too few patients to hold some out, or if a splitter separates sentences of a patient or holds
        sentences out several times.
    ValueError
        If there are several folds and ``refit=False``, because no single tagger could be returned.
    """
    patients = np.arange(len(X)) if groups is None else groups
    if isinstance(plan.cv, str):
        check_is_fitted(default_tagger() if estimator is None else estimator)
        labels = labels_in(estimator.classes_, tags.data)
        return estimator, HeldOut(read_marginals(estimator, X, labels), tags, patients)
    splits = _splits(plan, len(X), groups)
    if len(splits) > 1 and not plan.refit:
        raise ValueError(
            "With several folds, the kept tagger must be trained on all patients: pass refit=True, or a float as cv."
        )
    # Each fold is trained on its own patients, and its tagger reads only the other patients.
    # The tagger of all patients trains longest: begun first, its job does not keep the others waiting at the end.
    n_refitted = int(plan.refit)
    trainings = [np.arange(len(X))] * n_refitted + [train for train, _ in splits]
    jobs = Parallel(n_jobs=plan.n_jobs)
    # The threshold is chosen for taggers that are as good as the kept one, so that all or none must be interrupted.
    fit = fit_whole if len(trainings) > 1 else fit_on
    trained = jobs(delayed(_fit)(fit, estimator, X, tags, groups, rows) for rows in trainings)
    kept, fitted = trained[0], trained[n_refitted:]
    # A fold may lack labels of other folds. All parts have the columns of all labels, so that they can be joined.
    labels = labels_in(tags.data, *(one.classes_ for one in fitted))
    parts = [read_marginals(one, X[held], labels) for one, (_, held) in zip(fitted, splits, strict=True)]
    rows = np.concatenate([held for _, held in splits])
    held_tags = tags[rows]
    # shape: (n_held_out_tokens, 1 + 2 * n_labels)
    joined = PhiMarginals(labels, np.concatenate([part.data for part in parts]), held_tags.offsets)
    return kept, HeldOut(joined, held_tags, patients[rows])


def held_out_rows(plan: HoldOutPlan, n: int, groups: np.ndarray | None) -> np.ndarray:
    """Numbers of the sentences that `marginals_on_held_out` will hold out, computed before the training."""
    if isinstance(plan.cv, str):
        return np.arange(n)
    return np.concatenate([held for _, held in _splits(plan, n, groups)])


def fit_on(estimator: Any, X: Any, tags: Any, groups: np.ndarray | None) -> Any:
    """Fit a clone of the estimator; None means a `DeidTagger`. Patients are passed to estimators that accept groups."""
    copy = default_tagger() if estimator is None else clone(estimator)
    known = {} if groups is None else group_parameters(copy, groups)
    return copy.fit(X, tags, **known)


def fit_whole(estimator: Any, X: Any, tags: Any, groups: np.ndarray | None) -> Any:
    """Fit one of several taggers like `fit_on`. Ctrl-C ends all trainings, and not only the one that is running.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C interrupted the training. A tagger alone would keep its weights, and the next training would begin.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingInterruptedWarning)
        return fit_on(estimator, X, tags, groups)


def _fit(
    fit: Callable[..., Any], estimator: Any, X: Any, tags: Any, groups: np.ndarray | None, rows: np.ndarray
) -> Any:
    return fit(estimator, X[rows], tags[rows], None if groups is None else groups[rows])


def _splits(plan: HoldOutPlan, n: int, groups: np.ndarray | None) -> Sequence[tuple[np.ndarray, np.ndarray]]:
    seed = int(own_generator(plan.random_state).integers(2**31))
    # Numbers of numpy count, too: scikit-learn would cut numbers of folds into folds that ignore the patients.
    if isinstance(plan.cv, Real) and not isinstance(plan.cv, Integral):
        train, held = hold_out_patients(n, groups, plan.cv, seed)
        assert held is not None
        return [(train, held)]
    n_patients = n if groups is None else len(np.unique(groups))
    cv = plan.cv
    if isinstance(cv, Integral):
        if n_patients < int(cv):
            raise SequenceError(f"{cv} folds need at least {cv} patients. Got {n_patients} instead.")
        kind = KFold if groups is None else GroupKFold
        cv = kind(cv, shuffle=True, random_state=seed)
    splits = list(check_cv(cv).split(np.zeros(n), groups=groups))
    check_patients_apart(n, groups, splits)
    if len(np.unique(np.concatenate([held for _, held in splits]))) < sum(len(held) for _, held in splits):
        raise SequenceError("The splitter holds sentences out several times. Take a splitter with separate folds.")
    return splits


_DIRECT_CATEGORIES = {"NAME", "CONTACT", "ID", "PHI"}
_DIRECT_LABELS = {"STREET", "CALLE", "FAMILIARES_SUJETO_ASISTENCIA"}


@dataclass(frozen=True)
class DecisionReport:
    """Metrics on held-out patients, each with a 95 % interval over patients (`Estimate.from_groups`).

    Parameters
    ----------
    n_patients, n_tokens : int
        Number of held-out patients, and number of their tokens.
    decision_bias : float
        Bias of the reported decision.
    recall : Estimate
        Proportion of PHI tokens or spans that are found. The parameters ``level`` and ``binary`` of
        `RecallTunedTagger` define the unit and whether the label counts.
    precision : Estimate
        Proportion of tagged tokens that are PHI of any label.
    untuned_recall, untuned_precision : Estimate
        Recall and precision at a bias of 0.
    missed_patients : Estimate
        Proportion of patients with at least one missed token of a direct identifier.

    Examples
    --------
    >>> share = Estimate(0.5, 0.25, 0.75)
    >>> print(DecisionReport(4, 90, 1.5, share, share, share, share, share))
    4 held-out patients, 90 tokens, decision bias 1.50
    recall 50.00 % (25.00 to 75.00), without bias 50.00 % (25.00 to 75.00)
    precision 50.00 % (25.00 to 75.00), without bias 50.00 % (25.00 to 75.00)
    patients with a missed direct identifier 50.00 % (25.00 to 75.00)
    """

    n_patients: int
    n_tokens: int
    decision_bias: float
    recall: Estimate
    precision: Estimate
    untuned_recall: Estimate
    untuned_precision: Estimate
    missed_patients: Estimate

    def __str__(self) -> str:
        return (
            f"{self.n_patients} held-out patients, {self.n_tokens} tokens, decision bias {self.decision_bias:.2f}\n"
            f"recall {_percent(self.recall)}, without bias {_percent(self.untuned_recall)}\n"
            f"precision {_percent(self.precision)}, without bias {_percent(self.untuned_precision)}\n"
            f"patients with a missed direct identifier {_percent(self.missed_patients)}"
        )


def _percent(share: Estimate) -> str:
    value, low, high = (rounded(v, 2, 100) for v in (share.value, share.low, share.high))
    return f"{value} %" + (f" ({low} to {high})" if share.has_interval else "")


def direct_identifiers(labels: Iterable[str], chosen: Collection[str] | str | None) -> frozenset[str]:
    """Labels of direct identifiers: PHI that identifies a person without further information.

    Parameters
    ----------
    labels : iterable of str
        All labels.
    chosen : collection of str, "auto" or None
        Labels of direct identifiers. "auto" means the labels of names, contacts, identifiers, streets and relatives in
        the known schemes, and every label that is in no known scheme. None means all labels.

    Raises
    ------
    ValueError
        If a chosen label does not occur, or no label is chosen.

    Examples
    --------
    >>> sorted(direct_identifiers(["PATIENT", "AGE", "WARD"], "auto"))
    ['PATIENT', 'WARD']
    """
    known = frozenset(labels)
    if chosen is None:
        return known
    if not isinstance(chosen, str):
        unknown = sorted(set(chosen) - known)
        if unknown or not chosen:
            # Without a direct identifier, no patient would be missed, whatever the tagger finds.
            what = f"names labels that y does not hold: {unknown}" if unknown else "must name at least one label"
            raise ValueError(f"'direct_labels' {what}.")
        return frozenset(chosen)
    return frozenset(label for label in known if label in _DIRECT_LABELS or _category(label) in _DIRECT_CATEGORIES)


def _category(label: str) -> str:
    found = (scheme.category(label) for scheme in (I2B2_2014, MEDDOCAN, BINARY))
    return next((category for category in found if category is not None), "PHI")


def gold_items(held: HeldOut, level: str, binary: bool) -> tuple[np.ndarray, np.ndarray]:
    """Score and patient of each gold token or span. A threshold finds all items with a score of at least the threshold.

    A span is found if all of its tokens are tagged. With ``binary=False``, a token with a wrong label is never found.
    """
    scores = held.marginals.phi.copy()
    # shape: (n_tokens,)
    labels = np.array([split_tag(tag)[1] for tag in held.tags.data], dtype=object)
    gold = np.array([label is not None for label in labels], dtype=bool)
    if not binary:
        # Labels do not depend on the threshold, so that a threshold of 0 shows the label of every token.
        decided = held.marginals.decode(0.0)[0].data
        wrong = np.array([split_tag(tag)[1] for tag in decided], dtype=object) != labels
        scores[wrong & gold] = 0.0
    if level == "token":
        return scores[gold], held.token_patients[gold]
    starts = held.tags.offsets[:-1]
    spans = [(at + a, at + b) for at, row in zip(starts, held.tags, strict=True) for a, b, _ in labels_of(row)]
    # A span is found when its last token is found: the score of a span is the smallest score of its tokens.
    smallest = np.array([scores[a:b].min() for a, b in spans], dtype=float)
    return smallest, held.token_patients[np.array([a for a, _ in spans], dtype=np.intp)]


def patient_scores(held: HeldOut, direct: frozenset[str]) -> np.ndarray:
    """Smallest probability of PHI at a direct identifier, for each patient; infinity without a direct identifier."""
    patients, number = np.unique(held.token_patients, return_inverse=True)
    # The count of patients includes patients without any token.
    scores = np.full(len(np.unique(held.patients)), np.inf)
    # shape: (n_tokens,): whether a token is part of a direct identifier
    hit = np.array([split_tag(tag)[1] in direct for tag in held.tags.data], dtype=bool)
    np.minimum.at(scores[: len(patients)], number[hit], held.marginals.phi[hit])
    return scores


def measure_decision(
    held: HeldOut, bias: float, items: tuple[np.ndarray, np.ndarray], direct: frozenset[str]
) -> DecisionReport:
    """Report of the decision with the given bias."""
    patient, number = np.unique(held.token_patients, return_inverse=True)
    gold = held.tags.data != "O"
    # shape: (n_items,): score and number of the patient of each gold item
    scores, owners = items[0], np.searchsorted(patient, items[1])
    n = len(patient)

    # Sums of each patient, because tokens of a patient are not independent.
    def ratio(hits: np.ndarray, trials: np.ndarray) -> Estimate:
        return Estimate.from_groups(np.bincount(hits, minlength=n), np.bincount(trials, minlength=n), np.arange(n))

    def recall(threshold: float) -> Estimate:
        return ratio(owners[scores >= threshold], owners)

    def precision(threshold: float) -> Estimate:
        tagged = held.marginals.phi >= threshold
        return ratio(number[tagged & gold], number[tagged])

    at = threshold_of(bias)
    # A patient is missed if at least one direct identifier has a score below the threshold.
    missed = (patient_scores(held, direct) < at).astype(float)
    return DecisionReport(
        n_patients=len(missed),
        n_tokens=len(gold),
        decision_bias=float(bias),
        recall=recall(at),
        precision=precision(at),
        untuned_recall=recall(0.5),
        untuned_precision=precision(0.5),
        missed_patients=Estimate.from_groups(missed, np.ones(len(missed)), np.arange(len(missed))),
    )


def threshold_of(bias: float) -> float:
    """Smallest probability of PHI at which a token is tagged, for a bias.

    Examples
    --------
    >>> threshold_of(0.0)
    0.5
    """
    return float(1 / (1 + np.exp(bias)))
