"""Save and load fitted taggers and note de-identifiers."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch

from .. import __version__
from .._compat import check_constraints
from .._storage import plain_json, read_bundle, write_bundle
from ..exceptions import BundleError
from .composites import COMPOSITES, OLD_CLASSES, unwrapped
from .tagger import DeidTagger
from .tagger_state import tagger_from_state, tagger_to_state

__all__ = ["load_model", "save_model"]


def save_model(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Save a fitted tagger or `NoteDeidentifier` as a folder of JSON and safetensors.

    The folder holds weights, settings and tag names; of the default tagger it holds no word of the training notes.
    Splitters, numbers of jobs, seeds and dropped taggers are left behind: they concern training.

    Parameters
    ----------
    model : DeidTagger, RuleTagger, HybridTagger, VotingTagger, RecallTunedTagger, TemperatureScaledTagger
        Fitted, or a NoteDeidentifier around one. Taggers inside of them are of these classes too. Of a `DSSGDEnsemble`
        save ``global_estimator_`` or one of ``estimators_``.
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
    estimator
        Of the class that was saved, fitted, on the device asked for.

    Raises
    ------
    BundleError
        If the folder is damaged, incomplete or of another format.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn_deid import NoteDeidentifier, RuleTagger, load_model, save_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(NoteDeidentifier(RuleTagger().fit([])), f"{folder}/model")
    ...     load_model(f"{folder}/model").redact(["Mail to roe@example.org"])
    ['Mail to [EMAIL]']
    """
    manifest, arrays = read_bundle(path)
    return _from_state(manifest, arrays, device)


def _to_state(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    model = unwrapped(model)
    if isinstance(model, DeidTagger):
        state, arrays = tagger_to_state(model)
        return {"class": "DeidTagger", "state": state}, arrays
    kind = type(model).__name__
    if kind not in COMPOSITES or type(model) is not COMPOSITES[kind].kind:
        raise BundleError(f"A {kind} cannot be saved{_instead(model)}")
    own, taggers = COMPOSITES[kind].apart(model)
    inside, arrays = [], {}
    for number, tagger in enumerate(taggers):
        content, own_arrays = _to_state(tagger)
        inside.append(content)
        arrays.update({f"{number}/{name}": array for name, array in own_arrays.items()})
    return {"class": kind, "state": plain_json(own, f"state of the {kind}"), "taggers": inside}, arrays


def _instead(model: Any) -> str:
    """How the sentence goes on: what of the model, or what else, can be saved."""
    if hasattr(model, "strategy") and hasattr(model, "n_workers"):  # a DSSGDEnsemble, of a room above
        parts = "one of its estimators_" if model.strategy == "local" else "its global_estimator_ or one of estimators_"
        return f" with the state of its workers' training. Save {parts}; each of them is a DeidTagger."
    if hasattr(model, "best_estimator_"):
        return ". Save its best_estimator_."
    return f"; one of {_names()} can, if all taggers inside are such."


def _from_state(manifest: Any, arrays: dict[str, np.ndarray], device: str | None) -> Any:
    kind, state = (manifest.get(key) if isinstance(manifest, dict) else None for key in ("class", "state"))
    kind = OLD_CLASSES.get(kind, kind) if isinstance(kind, str) else kind
    if kind == "DeidTagger":
        return _tagger(state, arrays, device)
    if not isinstance(kind, str) or kind not in COMPOSITES:
        raise BundleError(f"The manifest names a class that this version does not know: {kind!r}.")
    inside = manifest.get("taggers")
    if not isinstance(state, dict) or not isinstance(inside, list):
        raise BundleError(f"The manifest has no state of a {kind}.")
    taggers = [_from_state(content, _part(arrays, f"{n}/"), device) for n, content in enumerate(inside)]
    try:
        model = COMPOSITES[kind].together(state, taggers)
        check_constraints(model)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, BundleError):
            raise
        raise BundleError(f"The saved {kind} does not fit together: {error}") from error
    return model


def _part(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _names() -> str:
    return ", ".join(["DeidTagger", *COMPOSITES])


def _tagger(state: Any, arrays: dict[str, np.ndarray], device: str | None) -> DeidTagger:
    if not isinstance(state, dict) or not isinstance(state.get("parameters"), dict):
        raise BundleError("The manifest has no state of a tagger.")
    asked = str(device or state["parameters"].get("device"))
    if asked.startswith("cuda") and not torch.cuda.is_available():
        raise BundleError(f"The model asks for the device {asked}, which is not on this machine. Pass device='auto'.")
    if device is not None:
        state = {**state, "parameters": {**state["parameters"], "device": device}}
    return tagger_from_state(DeidTagger, state, arrays)
