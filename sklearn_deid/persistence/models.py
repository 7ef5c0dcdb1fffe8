"""Save and load fitted taggers and note de-identifiers."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch

from .. import __version__
from .._bundle import read_bundle, write_bundle
from ..estimators import DeidTagger, NoteDeidentifier, tagger_from_state, tagger_to_state
from ..exceptions import BundleError

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


def load_model(path: str | os.PathLike[str], *, device: str | None = None) -> Any:
    """Load what `save_model` wrote; nothing in the folder is executed.

    Parameters
    ----------
    path : path
    device : str, optional
        "auto", "cpu", "cuda", ...; None takes what the model was trained with.

    Returns
    -------
    DeidTagger or NoteDeidentifier
        Fitted, on the device asked for.

    Raises
    ------
    BundleError
        If the folder is damaged, incomplete or of another format.
    """
    manifest, arrays = read_bundle(path)
    return _from_state(manifest, arrays, device)


def _to_state(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if isinstance(model, DeidTagger):
        state, arrays = tagger_to_state(model)
        return {"class": "DeidTagger", "state": state}, arrays
    if isinstance(model, NoteDeidentifier):
        if not isinstance(model.fitted_estimator(), DeidTagger):
            kind = type(model.fitted_estimator()).__name__
            raise BundleError(f"A NoteDeidentifier around a {kind} cannot be saved; one around a DeidTagger can.")
        inner, arrays = _to_state(model.fitted_estimator())
        state = {
            "estimator": inner,
            "batch_size": model.batch_size,
            "on_error": model.on_error,
            "categories": getattr(model, "categories_", {}),
        }
        return {"class": "NoteDeidentifier", "state": state}, arrays
    raise BundleError(f"A {type(model).__name__} cannot be saved; a DeidTagger or NoteDeidentifier can.")


def _from_state(manifest: dict[str, Any], arrays: dict[str, np.ndarray], device: str | None) -> Any:
    kind: Any = manifest.get("class")
    state: Any = manifest.get("state")
    if kind == "DeidTagger":
        return _tagger(state, arrays, device)
    if kind != "NoteDeidentifier":
        raise BundleError(f"The manifest names a class that this version does not know: {kind!r}.")
    try:
        model = NoteDeidentifier(batch_size=state["batch_size"], on_error=state["on_error"])
        model.estimator_ = _tagger(state["estimator"]["state"], arrays, device)
        model.categories_ = dict(state["categories"])
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, BundleError):
            raise
        raise BundleError(f"The saved NoteDeidentifier does not fit together: {error}") from error
    return model


def _tagger(state: Any, arrays: dict[str, np.ndarray], device: str | None) -> DeidTagger:
    if not isinstance(state, dict) or not isinstance(state.get("parameters"), dict):
        raise BundleError("The manifest has no state of a tagger.")
    asked = str(device or state["parameters"].get("device"))
    if asked.startswith("cuda") and not torch.cuda.is_available():
        raise BundleError(f"The model asks for the device {asked}, which is not on this machine. Pass device='auto'.")
    if device is not None:
        state = {**state, "parameters": {**state["parameters"], "device": device}}
    return tagger_from_state(DeidTagger, state, arrays)
