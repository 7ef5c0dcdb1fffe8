"""What other tools are given, a path or something fitted, as a `NoteDeidentifier` that never withholds in silence."""

from __future__ import annotations

import copy
import os
from typing import Any


def as_deidentifier(model: Any, device: str | None = None) -> Any:
    """A fitted `NoteDeidentifier` that raises on a note it cannot process.

    Parameters
    ----------
    model : path, NoteDeidentifier, or tagger
        What `save` has written, or something fitted.
    device : str, optional
        As for `load_tagger`; only for a path.

    Returns
    -------
    NoteDeidentifier
        Not the object that was given, but it shares the fitted tagger with it.

    Raises
    ------
    BundleError
        If what is at the path is no saved model.
    NotFittedError
        If the model is not fitted.
    TypeError
        If it is none, such as a saved representer.

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
            f"The model must be a tagger, a NoteDeidentifier or the path of one. Got {type(loaded).__name__}."
        )
    own = copy.copy(loaded) if isinstance(loaded, NoteDeidentifier) else NoteDeidentifier(loaded)
    own.fitted_estimator()  # raises if it is not fitted
    return own.set_params(on_error="raise")


def labels_of_model(deidentifier: Any) -> list[str]:
    """Labels that the tagger can give, sorted; empty if it does not say.

    Examples
    --------
    >>> from sklearn_deid import RuleTagger
    >>> labels_of_model(as_deidentifier(RuleTagger(recognizers=["date"]).fit([])))
    ['DATE']
    """
    tagger = deidentifier.fitted_estimator()
    if hasattr(tagger, "steps"):
        tagger = tagger.steps[-1][1]
    tags = getattr(tagger, "classes_", ())
    return sorted({str(tag).partition("-")[2] for tag in tags if tag != "O"})
