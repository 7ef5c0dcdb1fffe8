"""One folder with JSON and arrays, written whole or not at all, and checked when it is read."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ._atomic import new_folder, write_file
from .exceptions import BundleError

FORMAT_VERSION = 1
_KNOWN_FORMATS = (1, 2)  # 2 for representations, since their noise is drawn from a cipher
ARRAYS_FILE = "arrays.safetensors"
_MANIFEST = "manifest.json"
_LARGEST_MANIFEST = 64 * 2**20


def write_bundle(
    path: str | os.PathLike[str], manifest: dict[str, Any], arrays: dict[str, np.ndarray], *, overwrite: bool = False
) -> None:
    """Write a bundle under a temporary name and rename it.

    Parameters
    ----------
    path : path
        Folder to make.
    manifest : dict
        JSON values; "format" is 1 if it does not say anything else.
    arrays : dict of str to ndarray
    overwrite : bool, default=False
        Whether an existing bundle may be replaced. Another kind of folder never is.

    Raises
    ------
    BundleError
        If ``path`` exists and may not be replaced.
    """
    from safetensors.numpy import save

    check_bundle_target(path, overwrite)
    with new_folder(Path(path).resolve()) as work:  # a link is followed, not replaced
        # Not save_file, which gives the file to its owner alone.
        data = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
        write_file(work / ARRAYS_FILE, data)
        content = {"format": FORMAT_VERSION, "arrays_sha256": sha256(data).hexdigest(), **manifest}
        content = json.loads(json.dumps(content))  # as it will be read: tuples are lists, keys are strings
        content["manifest_sha256"] = _manifest_digest(content)
        write_file(work / _MANIFEST, json.dumps(content, indent=1, sort_keys=True).encode("utf-8"))


def check_bundle_target(path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Raise what `write_bundle` would raise because of what is at ``path``; worth asking before a long training.

    Raises
    ------
    BundleError
        If something is there and may not be replaced.
    """
    target = Path(path)
    if not os.path.lexists(target):
        return
    if not overwrite:
        raise BundleError("The folder exists; pass overwrite=True to replace it.", path=str(target))
    if not (target / _MANIFEST).is_file():
        raise BundleError(
            "There is something else than a saved model or representation; it is not replaced.", path=str(target)
        )


def read_bundle(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a bundle and check that it is whole.

    Nothing in it is executed: JSON and safetensors hold data only.

    Raises
    ------
    BundleError
        If it is missing, damaged, or of a newer format.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    manifest = read_manifest(path)
    try:
        return manifest, load_file(Path(path) / ARRAYS_FILE)
    except (OSError, SafetensorError):
        raise BundleError("The arrays cannot be read.", path=str(path)) from None


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the manifest alone, and check that both files are those that were saved, without holding the arrays.

    Raises
    ------
    BundleError
        If it is missing, damaged, or of a newer format.
    """
    folder = Path(path)
    manifest = _parsed_manifest(folder)
    try:
        digest = _file_digest(folder / ARRAYS_FILE)
    except OSError:
        raise BundleError("The arrays cannot be read.", path=str(folder)) from None
    if manifest.get("arrays_sha256") != digest:
        raise BundleError("The arrays are not those that were saved with the manifest.", path=str(folder))
    return manifest


def saved_class(path: str | os.PathLike[str]) -> str | None:
    """Name of the class that a folder holds, from its manifest alone.

    Raises
    ------
    BundleError
        If the manifest is missing, damaged, or of a newer format.
    """
    name = _parsed_manifest(Path(path)).get("class")
    return name if isinstance(name, str) else None


def plain_json(value: Any, name: str) -> Any:
    """A copy as JSON will give it back: tuples are lists, keys are strings.

    Raises
    ------
    BundleError
        If it holds anything else than JSON values, NaN and infinity included. The message does not show it.

    Examples
    --------
    >>> plain_json({1: (2, None)}, "figures")
    {'1': [2, None]}
    """
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise BundleError(
            f"'{name}' must hold plain JSON values: strings, finite numbers, True, False, None, lists and mappings."
        ) from None


def _parsed_manifest(folder: Path) -> dict[str, Any]:
    if not (folder / _MANIFEST).is_file():
        raise BundleError(
            f"There is no saved model here, nor a representation: {_MANIFEST} is missing.", path=str(folder)
        )
    if (folder / _MANIFEST).stat().st_size > _LARGEST_MANIFEST:
        raise BundleError("The manifest is too large to be one.", path=str(folder))
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        digest = manifest.pop("manifest_sha256", None) if isinstance(manifest, dict) else None
        damaged = digest != _manifest_digest(manifest)
    except (ValueError, RecursionError):
        raise BundleError("The manifest is no JSON.", path=str(folder)) from None
    if not isinstance(manifest, dict) or manifest.get("format") not in _KNOWN_FORMATS:
        raise BundleError("Only format 1 and 2 can be read by this version.", path=str(folder))
    if damaged:
        raise BundleError("The manifest is not as it was saved.", path=str(folder))
    return manifest


def _manifest_digest(manifest: Any) -> str:
    """Against damage, not against forgery: whoever changes a bundle on purpose can compute it anew."""
    return sha256(json.dumps(manifest, sort_keys=True).encode("utf-8")).hexdigest()


def _file_digest(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as stream:
        while block := stream.read(2**20):
            digest.update(block)
    return digest.hexdigest()
