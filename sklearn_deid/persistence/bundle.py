"""One folder with JSON and arrays, written whole or not at all, and checked when it is read."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import BundleError

__all__ = ["FORMAT_VERSION", "read_bundle", "write_bundle"]

FORMAT_VERSION = 1
_MANIFEST, _ARRAYS = "manifest.json", "arrays.safetensors"
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
        JSON values.
    arrays : dict of str to ndarray
    overwrite : bool, default=False
        Whether an existing bundle may be replaced. Another kind of folder never is.

    Raises
    ------
    BundleError
        If ``path`` exists and may not be replaced.
    """
    from safetensors.numpy import save_file

    target = Path(path)
    _check_target(target, overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, work / _ARRAYS)
        content = {"format": FORMAT_VERSION, "arrays_sha256": _digest(work / _ARRAYS), **manifest}
        (work / _MANIFEST).write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")
        work.chmod(0o755)  # mkdtemp's own mode shuts out the colleagues that the folder's umask lets in
        if target.exists():
            shutil.rmtree(target)
        os.replace(work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


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

    folder = Path(path)
    if not (folder / _MANIFEST).is_file():
        raise BundleError(f"There is no saved model here: {_MANIFEST} is missing.", path=str(folder))
    if (folder / _MANIFEST).stat().st_size > _LARGEST_MANIFEST:
        raise BundleError("The manifest is too large to be one.", path=str(folder))
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except ValueError:
        raise BundleError("The manifest is no JSON.", path=str(folder)) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT_VERSION:
        raise BundleError(f"Only format {FORMAT_VERSION} can be read by this version.", path=str(folder))
    try:
        if manifest.get("arrays_sha256") != _digest(folder / _ARRAYS):
            raise BundleError("The arrays are not those that were saved with the manifest.", path=str(folder))
        return manifest, load_file(folder / _ARRAYS)
    except (OSError, SafetensorError):
        raise BundleError("The arrays cannot be read.", path=str(folder)) from None


def _check_target(target: Path, overwrite: bool) -> None:
    if not target.exists():
        return
    if not overwrite:
        raise BundleError("The folder exists; pass overwrite=True to replace it.", path=str(target))
    if not (target / _MANIFEST).is_file():
        raise BundleError("The folder holds no saved model and is not replaced.", path=str(target))


def _digest(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as stream:
        while block := stream.read(2**20):
            digest.update(block)
    return digest.hexdigest()
