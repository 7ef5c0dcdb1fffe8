"""Conversion of a path or fitted model to a `NoteDeidentifier` that raises errors instead of withholding notes."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable
from typing import Any

from ..exceptions import DeidError


def as_deidentifier(model: Any, device: str | None = None, labels: str | None = None) -> Any:
    """Return a fitted `NoteDeidentifier` that raises an error for a note that cannot be processed.

    Parameters
    ----------
    model : path, NoteDeidentifier, or tagger
        Path of a model that `save` wrote, or a fitted model.
    device : str, optional
        Device of `load_tagger`, for a path only.
    labels : {"all", "hipaa", "hipaa-wide", "hipaa-surrogate"}, optional
        PHI to return, as in `NoteDeidentifier`. None means the value of the model.

    Returns
    -------
    NoteDeidentifier
        New object. If you pass a fitted model, the new object shares its fitted tagger.

    Raises
    ------
    BundleError
        If the path does not hold a saved model.
    NotFittedError
        If the model is not fitted.
    TypeError
        If the model is neither a tagger nor a NoteDeidentifier, such as a saved representer.
    ValueError
        If ``labels`` is unknown.

    Examples
    --------
    >>> from sklearn_deid import NoteDeidentifier, RuleTagger
    >>> as_deidentifier(NoteDeidentifier(RuleTagger().fit([]), on_error="withhold")).on_error
    'raise'
    """
    from .._parameters import check_parameter
    from ..tagging.note_deidentifier import NoteDeidentifier
    from ..tagging.safe_harbor import LABELS
    from ..tagging.saving import load_tagger

    loaded = load_tagger(model, device=device) if isinstance(model, (str, os.PathLike)) else model
    if not isinstance(loaded, NoteDeidentifier) and not hasattr(loaded, "predict"):
        raise TypeError(
            f"The model must be a tagger, a NoteDeidentifier or the path of one. Got {type(loaded).__name__} instead."
        )
    # A shallow copy: the caller's ``on_error`` stays unchanged, and the tagger with its weights is not doubled.
    own = copy.copy(loaded) if isinstance(loaded, NoteDeidentifier) else NoteDeidentifier(loaded)
    # raises NotFittedError now, not at the first note
    own.fitted_estimator()
    if labels is not None:
        check_parameter("as_deidentifier", "labels", labels, labels in LABELS, f"one of {LABELS}")
        own.set_params(labels=labels)
    return own.set_params(on_error="raise")


def labels_of_model(deidentifier: Any) -> list[str]:
    """Sorted labels that the model can return. The list is empty if the tagger has no ``classes_``.

    Labels of the tagger are left out if the parameter ``labels`` of the model leaves out all of their spans, such as
    professions with ``labels="hipaa"``. A program that asked for such a label would find nothing in any text.

    Examples
    --------
    >>> from sklearn_deid import RuleTagger
    >>> labels_of_model(as_deidentifier(RuleTagger(recognizers=["date"]).fit([])))
    ['DATE']
    """
    from ..tagging.safe_harbor import is_never_asked

    tagger = deidentifier.fitted_estimator()
    # The last step of a pipeline is the tagger.
    if hasattr(tagger, "steps"):
        tagger = tagger.steps[-1][1]
    tags = getattr(tagger, "classes_", ())
    labels = {str(tag).partition("-")[2] for tag in tags if tag != "O"}
    asked = labels_of_spans(deidentifier) or "all"
    return sorted(label for label in labels if not is_never_asked(label, asked))


def labels_of_spans(deidentifier: Any) -> str | None:
    """Parameter ``labels`` of a model that returns a part of the PHI; None for a model that returns all PHI.

    The value is kept with the spans, because `check_spans_of_surrogates` depends on it.
    """
    # A model that was pickled by version 0.1.0 has no such parameter.
    asked: str = getattr(deidentifier, "labels", "all")
    return None if asked == "all" else asked


def check_spans_of_surrogates(labels: Iterable[str | None]) -> None:
    """Refuse spans of a model that leaves bare years and states in the text.

    Beside the moved dates, the years would reveal the shift of the dates, and the states would not fit the towns.

    Parameters
    ----------
    labels : iterable of str or None
        Results of `labels_of_spans`, or None for spans of other tools.

    Raises
    ------
    DeidError
        If a value is "hipaa" or "hipaa-wide".

    Examples
    --------
    >>> check_spans_of_surrogates([None, "hipaa-surrogate"])
    """
    from ..surrogates import SURROGATE
    from ..tagging.safe_harbor import labels_to_rewrite

    for asked in labels:
        if isinstance(asked, str) and labels_to_rewrite(asked, SURROGATE) != asked:
            raise DeidError(
                f"The model leaves bare years in the text (labels={asked!r}), which would reveal the shift of the "
                "dates. Mark the PHI with labels='hipaa-surrogate'."
            )
