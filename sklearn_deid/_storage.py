"""Bundles: folders with JSON and arrays that are written atomically and checked when they are read."""

from __future__ import annotations

import glob
import json
import os
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np

from ._atomic import hidden_name, new_folder, write_file
from ._strict_json import load_strict
from .exceptions import BundleError

FORMAT_VERSION = 1
# Format 2 marks representations whose noise was drawn from a cipher.
_KNOWN_FORMATS = (1, 2)
ARRAYS_FILE = "arrays.safetensors"
_MANIFEST = "manifest.json"
# A manifest with the tokenizer of a language model has 20 MiB. Many small values take far more memory than their text.
_LARGEST_MANIFEST, _MOST_VALUES = 32 * 2**20, 2**21
_MOST_ARRAYS = 20_000
_DAY = 86_400 * 10**9  # nanoseconds
_FIRST_DAY = 17_532 * _DAY  # 2018-01-01, before any version of this library
_DTYPES = {
    **{f"F{8 * n}": f"<f{n}" for n in (2, 4, 8)},
    **{f"{kind}{8 * n}": f"<{kind.lower()}{n}" for kind in "IU" for n in (1, 2, 4, 8)},
    "BOOL": "?",
}


def write_bundle(
    path: str | os.PathLike[str],
    manifest: dict[str, Any],
    arrays: dict[str, np.ndarray],
    *,
    overwrite: bool = False,
    whole_day: bool = False,
    others: Mapping[str, bytes] | None = None,
) -> None:
    """Write a bundle under a temporary name and rename it.

    Parameters
    ----------
    path : path
        Folder to create.
    manifest : dict
        JSON values. "format" is 1 unless the manifest sets another format.
    arrays : dict of str to ndarray
        Arrays by name.
    overwrite : bool, default=False
        Whether an existing bundle may be replaced. A folder that is not a bundle is never replaced.
    whole_day : bool, default=False
        Whether folder and files have the time of the last midnight (UTC), see `has_possible_times`. Use True for
        bundles that are published, so that their times reveal only the day. Models keep their times, so that programs
        for copies and backups detect that a model changed.
    others : mapping of str to bytes, optional
        Content of further files by name, such as a card.

    Raises
    ------
    BundleError
        If ``path`` exists and must not be replaced, or if ``manifest`` holds NaN or infinity, which `read_bundle`
        refuses.
    """
    from safetensors.numpy import save

    check_bundle_target(path, overwrite)
    # ``resolve`` follows a symbolic link; without it the link itself would be replaced.
    with new_folder(Path(path).resolve()) as work:
        # save_file of safetensors would make a file that only its owner can read.
        data = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
        write_file(work / ARRAYS_FILE, data)
        # The digest is computed on the content as JSON returns it: tuples become lists, and keys become strings.
        content = plain_json(
            {"format": FORMAT_VERSION, "arrays_sha256": sha256(data).hexdigest(), **manifest}, "manifest"
        )
        content["manifest_sha256"] = _manifest_digest(content)
        write_file(work / _MANIFEST, manifest_bytes(content))
        for name, text in (others or {}).items():
            write_file(work / name, text)
        if whole_day:
            midnight = time.time_ns() // _DAY * _DAY
            for item in _with_times(work):
                os.utime(item, ns=(midnight, midnight))


def has_possible_times(path: str | os.PathLike[str]) -> bool:
    """Whether folder and files of a bundle have times at which they can have been written or copied.

    A time before the first version of this library, or in the future, may be a hidden message or the date of a note.
    All other times are accepted, since each copy has its own time.
    """
    times = [item.stat().st_mtime_ns for item in _with_times(Path(path))]
    return _FIRST_DAY <= min(times) and max(times) <= time.time_ns() + _DAY


def _with_times(folder: Path) -> tuple[Path, ...]:
    # The folder is last: a file that is written changes its time.
    return folder / ARRAYS_FILE, folder / _MANIFEST, folder


def manifest_bytes(content: dict[str, Any]) -> bytes:
    """Return the bytes of a manifest in the only form that `write_bundle` writes; they reveal only the entries.

    Examples
    --------
    >>> manifest_bytes({"b": 1, "a": None})
    b'{\\n "a": null,\\n "b": 1\\n}'
    """
    return json.dumps(content, indent=1, sort_keys=True).encode("utf-8")


def bundle_text(path: str | os.PathLike[str]) -> tuple[bytes, bytes]:
    """Bytes of the JSON of a bundle: the manifest, and the header (without its length) of the file of arrays.

    Call `read_manifest` first, which checks both files.
    """
    with (Path(path) / ARRAYS_FILE).open("rb") as stream:
        header = stream.read(int.from_bytes(stream.read(8), "little"))
    return (Path(path) / _MANIFEST).read_bytes(), header


def check_bundle_target(path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Check that `write_bundle` may write to ``path``. Call this function before a long training.

    Raises
    ------
    BundleError
        If ``path`` exists and must not be replaced, or if no folder can be made there.
    """
    target = Path(path)
    _check_folder(target.resolve())
    if not os.path.lexists(target):
        return
    if not overwrite:
        raise BundleError("The folder exists; pass overwrite=True to replace it.", path=str(target))
    # Any other folder may belong to the user, so it is never deleted. The name of the manifest alone is no sign of a
    # bundle: exports of FHIR servers and data sets have a manifest.json, too.
    if not all((target / name).is_file() for name in (_MANIFEST, ARRAYS_FILE)):
        raise BundleError(
            "The existing file or folder is not a saved model or representation, and is not replaced.", path=str(target)
        )


def _check_folder(target: Path) -> None:
    """Make and remove a test folder in the nearest existing folder above the bundle."""
    if not target.name:
        raise BundleError("The root of a drive cannot be replaced. Name a folder in it.", path=str(target))
    above = next(folder for folder in target.parents if os.path.lexists(folder))
    # The temporary name of a folder is the longest one.
    probe = hidden_name(above / target.name)
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        raise BundleError(f"No folder can be made there: {error.strerror}.", path=str(target)) from None


def read_bundle(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a bundle and check that it is complete.

    Reading executes no code from the bundle: JSON and safetensors contain data only.

    Raises
    ------
    BundleError
        If the bundle is missing, damaged, or of a newer format.
    """
    return read_manifest(path), read_arrays(path)


def read_arrays(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Read the arrays of a bundle to memory. Call `read_manifest` first, which checks the digest of the arrays.

    Raises
    ------
    BundleError
        If the file is missing, is not a regular file, or is not a file of arrays.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    file = Path(path) / ARRAYS_FILE
    try:
        _check_regular(file)
        return load_file(file)
    except (OSError, SafetensorError):
        raise BundleError("The arrays cannot be read.", path=str(path)) from None


def array_stand_ins(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Arrays of zeros with the shapes and types of the arrays of a bundle. The arrays take no memory.

    Raises
    ------
    BundleError
        If the file is missing, is not a regular file or not a file of arrays, contains too many arrays, or has an
        unknown type.
    """
    from safetensors import SafetensorError, safe_open

    file = Path(path) / ARRAYS_FILE
    stand_ins = {}
    try:
        _check_regular(file)
        with safe_open(file, "numpy") as arrays:
            names = list(arrays.keys())
            for name in names[:_MOST_ARRAYS]:
                place = arrays.get_slice(name)
                zero = np.zeros((), dtype=_DTYPES[place.get_dtype()])
                stand_ins[name] = np.broadcast_to(zero, place.get_shape())
    except (OSError, SafetensorError, KeyError, ValueError):
        raise BundleError("The arrays cannot be read.", path=str(path)) from None
    if len(names) > _MOST_ARRAYS:
        raise BundleError(f"There are more than {_MOST_ARRAYS} arrays.", path=str(path))
    return stand_ins


def read_manifest(path: str | os.PathLike[str], *, largest_arrays: int | None = None) -> dict[str, Any]:
    """Read only the manifest, and check the digests of both files without loading the arrays into memory.

    Parameters
    ----------
    path : path
        Folder of the bundle.
    largest_arrays : int, optional
        Largest size of the file of arrays, in bytes. A larger file is refused before it is read. None sets no limit.

    Raises
    ------
    BundleError
        If the bundle is missing, damaged, too large, or of a newer format, or if a file is not a regular file.
    """
    folder = Path(path)
    manifest = _parsed_manifest(folder)
    try:
        size = _check_regular(folder / ARRAYS_FILE)
        if largest_arrays is not None and size > largest_arrays:
            raise BundleError(f"The arrays take more than {largest_arrays / 2**30:g} GiB.", path=str(folder))
        # The parser of safetensors checks the header only. Damaged values change nothing but the digest.
        digest = file_digest(folder / ARRAYS_FILE)
    except OSError:
        raise BundleError("The arrays cannot be read.", path=str(folder)) from None
    if manifest.get("arrays_sha256") != digest:
        raise BundleError("The arrays differ from the arrays that were saved with the manifest.", path=str(folder))
    return manifest


def bundle_digest(path: str | os.PathLike[str]) -> str:
    """Return the digest of the manifest of a bundle; the manifest contains the digest of the arrays.

    Raises
    ------
    BundleError
        If the manifest is missing, damaged, or of a newer format.
    """
    return _manifest_digest(_parsed_manifest(Path(path)))


def check_nothing_else(path: str | os.PathLike[str]) -> None:
    """Raise BundleError if the folder of a bundle contains a link, or a file other than the manifest and the arrays.

    A recipient receives all files of the folder, and the digests cover only the manifest and the arrays.
    """
    items = list(Path(path).iterdir())
    if any(item.is_symlink() for item in items):
        raise BundleError("A file of the folder is a link: a recipient would not receive its content.", path=str(path))
    others = sum(1 for item in items if item.name not in (_MANIFEST, ARRAYS_FILE))
    if others:
        raise BundleError(
            f"The folder holds {others} other files or folders than {_MANIFEST} and {ARRAYS_FILE}. Remove them.",
            path=str(path),
        )


def saved_class(path: str | os.PathLike[str]) -> str | None:
    """Class name of a saved object, read only from the manifest; None if the manifest contains no class name.

    Raises
    ------
    BundleError
        If the manifest is missing, damaged, or of a newer format.
    """
    name = _parsed_manifest(Path(path)).get("class")
    return name if isinstance(name, str) else None


def plain_value(value: Any) -> Any:
    """Number of Python for a number of numpy, which a grid of parameters may hold; other values are unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> plain_value(np.int64(3)), plain_value("a")
    (3, 'a')
    """
    return value.item() if isinstance(value, np.generic) else value


def _only_numbers(value: Any) -> Any:
    if not isinstance(value, np.generic):
        raise TypeError
    return value.item()


def plain_json(value: Any, name: str) -> Any:
    """Copy of a value after conversion to JSON and back: tuples become lists, and keys become strings.

    Raises
    ------
    BundleError
        If the value contains anything other than JSON values. NaN and infinity are not JSON values. The message does
        not show the value.

    Examples
    --------
    >>> plain_json({1: (2, None)}, "figures")
    {'1': [2, None]}
    """
    try:
        return json.loads(json.dumps(value, allow_nan=False, default=_only_numbers))
    except (TypeError, ValueError, RecursionError):
        raise BundleError(
            f"'{name}' must hold plain JSON values: strings, finite numbers, True, False, None, lists and mappings."
        ) from None


def _parsed_manifest(folder: Path) -> dict[str, Any]:
    file = folder / _MANIFEST
    if not file.is_file():  # not a link to a device, and not a FIFO, where reading would wait for ever
        raise BundleError(
            f"There is no saved model or representation: {_MANIFEST} is missing."
            f"{'' if folder.exists() else ' There is no such folder.'}{_left_beside(folder)}",
            path=str(folder),
        )
    if file.stat().st_size > _LARGEST_MANIFEST:
        raise BundleError(f"The manifest is larger than {_LARGEST_MANIFEST // 2**20} MiB.", path=str(folder))
    data = file.read_bytes()
    if sum(data.count(sign) for sign in (b",", b"[", b"{")) > _MOST_VALUES:
        raise BundleError(f"The manifest holds more than {_MOST_VALUES:,} values.", path=str(folder))
    try:
        # A repeated key is refused: only the last value would be checked, and the file would be shared with the first
        # value.
        manifest = load_strict(data.decode("utf-8"))
        digest = manifest.pop("manifest_sha256", None) if isinstance(manifest, dict) else None
        damaged = digest != _manifest_digest(manifest)
    except (ValueError, RecursionError):
        raise BundleError("The manifest is not valid JSON.", path=str(folder)) from None
    if not isinstance(manifest, dict) or manifest.get("format") not in _KNOWN_FORMATS:
        raise BundleError("This version reads only the formats 1 and 2.", path=str(folder))
    if damaged:
        raise BundleError("The manifest has changed since it was saved.", path=str(folder))
    return manifest


def _left_beside(folder: Path) -> str:
    """Location of the earlier bundle, if a process was killed during the replacement."""
    whole = folder.resolve()
    left = sorted(path.name for path in whole.parent.glob(f".{glob.escape(whole.name)}-*-old"))
    if folder.exists() or not left:
        return ""
    return f" A save was interrupted. The earlier version is in {left[-1]}: give that folder its name back."


def _manifest_digest(manifest: Any) -> str:
    """Digest of a manifest. The digest detects damage, but no forgery, since an attacker can compute a new digest."""
    return sha256(json.dumps(manifest, sort_keys=True).encode("utf-8")).hexdigest()


def _check_regular(path: Path) -> int:
    """Size of a regular file. Reading a FIFO or a device could block or never end."""
    status = path.stat()
    if not S_ISREG(status.st_mode):
        raise BundleError(f"{path.name} is no regular file, but a device, a pipe or a folder.", path=str(path.parent))
    return status.st_size


def file_digest(path: Path) -> str:
    """SHA-256 of a file, which is read in blocks."""
    digest = sha256()
    with path.open("rb") as stream:
        while block := stream.read(2**20):
            digest.update(block)
    return digest.hexdigest()
