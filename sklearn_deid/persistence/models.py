"""Save and load fitted taggers and note de-identifiers."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .. import __version__
from ..estimators import DeidTagger, NoteDeidentifier, tagger_from_state, tagger_to_state
from ..exceptions import BundleError
from .bundle import read_bundle, write_bundle

__all__ = ["load_model", "save_model"]


def save_model(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Save a fitted `DeidTagger` or `NoteDeidentifier` as a folder of JSON and safetensors.

    The folder holds weights, settings and tag names; of the default tagger it holds no word of the training notes.

    Parameters
    ----------
    model : DeidTagger or NoteDeidentifier
        Fitted.
    path : path
        Folder to make; written under a temporary name and renamed, so it is whole or not there.
    overwrite : bool, default=False
        Whether a saved model at ``path`` may be replaced.

    Raises
    ------
    BundleError
        If the model is of another class, holds words, or ``path`` exists.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, load_model, save_model
    >>> tagger = DeidTagger(max_epochs=1, embeddings=None).fit([["Mr", "Alder"]], [["O", "B-PATIENT"]])
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(tagger, f"{folder}/model")
    ...     load_model(f"{folder}/model").classes_.tolist()
    ['O', 'B-PATIENT']
    """
    manifest, arrays = _to_state(model)
    write_bundle(path, {"library_version": __version__, **manifest}, arrays, overwrite=overwrite)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Load what `save_model` wrote; nothing in the folder is executed.

    Parameters
    ----------
    path : path

    Returns
    -------
    DeidTagger or NoteDeidentifier
        Fitted, on the device that its ``device`` parameter asks for on this machine.

    Raises
    ------
    BundleError
        If the folder is damaged, incomplete or of another format.
    """
    manifest, arrays = read_bundle(path)
    return _from_state(manifest, arrays)


def _to_state(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if isinstance(model, DeidTagger):
        state, arrays = tagger_to_state(model)
        return {"class": "DeidTagger", "state": state}, arrays
    if isinstance(model, NoteDeidentifier):
        inner, arrays = _to_state(model.fitted_estimator())
        state = {
            "estimator": inner,
            "batch_size": model.batch_size,
            "on_error": model.on_error,
            "categories": getattr(model, "categories_", {}),
        }
        return {"class": "NoteDeidentifier", "state": state}, arrays
    raise BundleError(f"A {type(model).__name__} cannot be saved; a DeidTagger or NoteDeidentifier can.")


def _from_state(manifest: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    kind, state = manifest.get("class"), manifest.get("state")
    if not isinstance(state, dict):
        raise BundleError("The manifest has no state.")
    if kind == "DeidTagger":
        return tagger_from_state(DeidTagger, state, arrays)
    if kind == "NoteDeidentifier":
        try:
            model = NoteDeidentifier(batch_size=state["batch_size"], on_error=state["on_error"])
            model.estimator_ = _from_state(state["estimator"], arrays)
            model.categories_ = dict(state["categories"])
        except (KeyError, TypeError, AttributeError) as error:
            raise BundleError(f"The saved NoteDeidentifier does not fit together: {error}") from error
        return model
    raise BundleError(f"The manifest names a class that this version does not know: {kind!r}.")
