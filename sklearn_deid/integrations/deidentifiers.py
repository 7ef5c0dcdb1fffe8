"""Conversion of a path or fitted model to a `NoteDeidentifier` that raises errors instead of withholding notes."""

from __future__ import annotations

import copy
import os
from typing import Any


def as_deidentifier(model: Any, device: str | None = None) -> Any:
    """Return a fitted `NoteDeidentifier` that raises an error for a note that cannot be processed.

    Parameters
    ----------
    model : path, NoteDeidentifier, or tagger
        Path of a model that `save` wrote, or a fitted model.
    device : str, optional
        Device of `load_tagger`, for a path only.

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

    Examples
    --------
    >>> from sklearn_deid import NoteDeidentifier, RuleTagger
    >>> as_deidentifier(NoteDeidentifier(RuleTagger().fit([]), on_error="withhold")).on_error
    'raise'
    """
    from ..tagging.note_deidentifier import NoteDeidentifier
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
    # A model that was pickled by version 0.1.0 has no such parameter.
    asked = getattr(deidentifier, "labels", "all")
    return sorted(label for label in labels if not is_never_asked(label, asked))
