"""Train a tagger, and let it (or its folds) speak about patients that it did not see."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, check_cv
from sklearn.utils.validation import check_is_fitted

from .._compat import HasMethods, Interval, StrOptions
from .._randomness import own_generator
from ..exceptions import SequenceError
from ..sequences import RaggedArray, TokenSequences
from ..text import split_tag
from .marginals import PhiMarginals, read_marginals
from .note_deidentifier import _group_parameters
from .splits import hold_out_patients

__all__ = ["PLAN_CONSTRAINTS", "HeldOut", "HoldOutPlan", "labels_in", "marginals_on_held_out"]


class HoldOutPlan(NamedTuple):
    """Who is held out, as `RecallTunedTagger` takes it."""

    cv: Any
    refit: bool
    n_jobs: int | None
    random_state: Any


# Of the parameters that make a plan, for estimators that take them.
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


class HeldOut(NamedTuple):
    """Marginals of sentences that were held out, with their tags and patients."""

    marginals: PhiMarginals
    tags: TokenSequences
    patients: np.ndarray  # one for each sentence

    @property
    def token_patients(self) -> np.ndarray:
        """Patient of each token."""
        return np.repeat(self.patients, self.tags.lengths)


def labels_in(*tags: Any) -> list[str]:
    """Labels of tags, sorted."""
    return sorted({label for some in tags for tag in set(some) if (label := split_tag(tag)[1]) is not None})


def marginals_on_held_out(
    estimator: Any, X: RaggedArray, tags: TokenSequences, groups: np.ndarray | None, plan: HoldOutPlan
) -> tuple[Any, HeldOut]:
    """The fitted tagger, and what it or its folds say about held-out patients.

    Parameters
    ----------
    estimator : estimator
    X : TokenSequences or TokenVectors
    tags : TokenSequences
    groups : ndarray of shape (n,) or None
        Patient of each sentence; None counts every sentence as a patient.
    plan : HoldOutPlan
        With ``cv="prefit"`` the estimator is not trained, and all of X is held out.

    Raises
    ------
    SequenceError
        If there are too few patients to hold some out.
    ValueError
        If several folds are trained and none of their taggers can be the one to keep (``refit=False``).
    """
    patients = np.arange(len(X)) if groups is None else groups
    if isinstance(plan.cv, str):
        check_is_fitted(estimator)
        labels = labels_in(estimator.classes_, tags.data)
        return estimator, HeldOut(read_marginals(estimator, X, X, labels), tags, patients)
    splits = _splits(plan, len(X), groups)
    if len(splits) > 1 and not plan.refit:
        raise ValueError(
            "With several folds the tagger to keep must be trained on all patients: pass refit=True, or a float as cv."
        )
    jobs = Parallel(n_jobs=plan.n_jobs)
    fitted = jobs(delayed(_fit)(estimator, X, tags, groups, train) for train, _ in splits)
    kept = _fit(estimator, X, tags, groups, np.arange(len(X))) if plan.refit else fitted[0]
    labels = labels_in(tags.data, *(one.classes_ for one in fitted))
    parts = [read_marginals(one, X[held], X[held], labels) for one, (_, held) in zip(fitted, splits, strict=True)]
    rows = np.concatenate([held for _, held in splits])
    held_tags = tags[rows]
    joined = PhiMarginals(labels, np.concatenate([part.data for part in parts]), held_tags.offsets)
    return kept, HeldOut(joined, held_tags, patients[rows])


def fit_on(estimator: Any, X: Any, tags: Any, groups: np.ndarray | None) -> Any:
    """A fitted clone; it gets the patients if it can take them."""
    copy = clone(estimator)
    known = {} if groups is None else _group_parameters(copy, groups)
    return copy.fit(X, tags, **known)


def _fit(estimator: Any, X: Any, tags: Any, groups: np.ndarray | None, rows: np.ndarray) -> Any:
    return fit_on(estimator, X[rows], tags[rows], None if groups is None else groups[rows])


def _splits(plan: HoldOutPlan, n: int, groups: np.ndarray | None) -> Sequence[tuple[np.ndarray, np.ndarray]]:
    seed = int(own_generator(plan.random_state).integers(2**31))
    if isinstance(plan.cv, float):
        train, held = hold_out_patients(n, groups, plan.cv, seed)
        assert held is not None
        return [(train, held)]
    n_patients = n if groups is None else len(np.unique(groups))
    cv = plan.cv
    if isinstance(cv, int):
        if n_patients < cv:
            raise SequenceError(f"{cv} folds need as many patients. Got {n_patients}.")
        kind = KFold if groups is None else GroupKFold
        cv = kind(cv, shuffle=True, random_state=seed)
    return list(check_cv(cv).split(np.zeros(n), groups=groups))
