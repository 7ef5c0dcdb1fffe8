"""Patients of sentences: held out for early stopping, and passed to ``fit``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import has_fit_parameter

from .._compat import BaseSearchCV
from ..exceptions import SequenceError
from ..sequences import TokenSequences


def hold_out_patients(
    n: int, groups: np.ndarray | None, validation_fraction: Any, seed: int, tags: TokenSequences | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Split sentences into training and validation rows, so that all sentences of a patient are in the same part.

    Parameters
    ----------
    n : int
        Number of sentences.
    groups : ndarray of shape (n,) or None
        Patient of each sentence. With None, every sentence counts as a patient of its own.
    validation_fraction : None, float in (0, 1), int, or a scikit-learn splitter
        Proportion or number of patients to hold out. None holds no patient out. With a splitter, the first split is
        used.
    seed : int
        Random seed of the choice of held-out patients.
    tags : TokenSequences of n tag sequences, optional
        Gold tags. With tags, both parts must have PHI.

    Returns
    -------
    train_rows, valid_rows : ndarray
        Numbers of the sentences. ``valid_rows`` is None if no patient is held out.

    Raises
    ------
    SequenceError
        If there are fewer than two patients, or if a splitter puts sentences of a patient into both parts. With
        ``tags``, also if one part has no PHI: F1 would be 0 in each epoch, and the first epoch would count as the best.

    Examples
    --------
    >>> train, valid = hold_out_patients(4, np.array(["a", "a", "b", "b"]), 0.5, seed=0)
    >>> len(train), len(valid)
    (2, 2)
    """
    if validation_fraction is None:
        return np.arange(n), None
    if n < 2 or (groups is not None and len(np.unique(groups)) < 2):
        raise SequenceError("Holding patients out for validation needs at least two patients.")
    splitter = validation_fraction
    if isinstance(splitter, Real):  # also a number of numpy
        kind = ShuffleSplit if groups is None else GroupShuffleSplit
        splitter = kind(n_splits=1, test_size=splitter, random_state=seed)
    # The features are not needed for splitting: zeros of the right length replace X.
    # Only the first fold of a splitter with several folds is used.
    folds = list(islice(check_cv(splitter).split(np.zeros(n), groups=groups), 1))
    check_patients_apart(n, groups, folds)
    train, valid = folds[0]
    for name, rows in (("held-out", valid), ("other", train)):
        if tags is not None and (tags[rows].data == "O").all():
            raise SequenceError(
                f"The {name} patients of 'validation_fraction' have no PHI. Annotate more patients, or hold other "
                "patients out, with another random_state or a splitter."
            )
    return train, valid


def check_patients_apart(n: int, groups: np.ndarray | None, folds: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    """Refuse a splitter without folds, and folds with sentences of the same patient in both parts.

    Without ``groups``, every one of the ``n`` sentences counts as a patient of its own.

    Raises
    ------
    SequenceError
        If there is no fold, or such a patient. Recall and bounds would be measured on patients of the training.
    """
    if not folds:
        raise SequenceError("The splitter makes no fold, so that no patient is held out.")
    patients = np.arange(n) if groups is None else groups
    both = max(len(np.intersect1d(patients[train], patients[held_out])) for train, held_out in folds)
    if both:
        raise SequenceError(
            f"The splitter puts sentences of {both} patients into both parts, the training and the held-out sentences. "
            "Take a splitter that keeps groups apart, such as GroupKFold."
        )


def group_parameters(estimator: Any, groups: np.ndarray) -> dict[str, np.ndarray]:
    """Keyword arguments that pass the patient of each sentence to ``fit``; empty if ``fit`` accepts no groups.

    With metadata routing, also empty if the user has set ``set_fit_request(groups=False)``. Estimators without a
    request get the groups: a pipeline refuses them, and a tagger would count each sentence as a patient without them.
    """
    given = {"groups": groups}
    if get_config()["enable_metadata_routing"] and hasattr(estimator, "get_metadata_routing"):
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(estimator).__name__).add(estimator=estimator, method_mapping=mapping)
        try:
            router.validate_metadata(params=given, method="fit")
        except TypeError:
            return {}
        return given
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return {f"{name}__{key}": value for key, value in group_parameters(last, groups).items()}
    # `fit` of a search passes groups to the splitter of the search, without a parameter of this name.
    return given if isinstance(estimator, BaseSearchCV) or has_fit_parameter(estimator, "groups") else {}
