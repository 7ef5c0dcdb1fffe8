"""Arrays of a safetensors file as memory maps: data are read on first use, and the header is checked.

A safetensors file consists of the length of a header (8 bytes), the header (JSON: type, shape and place of each array),
and the arrays without gaps. The NumPy interface of ``safetensors`` copies arrays to memory. The memory maps of this
module also work for files that are larger than the memory.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .._strict_json import load_strict
from ..exceptions import BundleError

_DTYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "I64": np.dtype("<i8"), "U16": np.dtype("<u2")}
# Bytes of the JSON at the start of a safetensors file. A longer one is an attack on the parser.
_LARGEST_HEADER = 2**20
_MOST_DIMENSIONS = 2
_WIDEST_EMPTY = 2**20  # largest width of an array without rows, which may exceed the number of bytes of the file


def map_arrays(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Open all arrays of a safetensors file, read-only.

    Parameters
    ----------
    path : path
        File to open. Do not change the file as long as you use the arrays.

    Returns
    -------
    dict of str to memmap
        Arrays of float32, int64 or uint16, of one or two dimensions. An empty array is a plain array, not a memory map.

    Raises
    ------
    BundleError
        If the file is not a valid safetensors file, or if its header does not match its content.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from safetensors.numpy import save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a").write_bytes(save({"x": np.ones((2, 3), dtype=np.float32)}))
    ...     map_arrays(Path(folder, "a"))["x"].shape
    (2, 3)
    """
    try:
        with Path(path).open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            header, start = _header(stream, size)
            places = {name: _place(entry, size - start) for name, entry in header.items()}
            _check_no_gaps([place[2:] for place in places.values()], size - start)
            return {name: _mapped(stream, start, *place) for name, place in places.items()}
    except BundleError as error:
        raise BundleError(error.message, path=str(path)) from None
    except OSError:
        raise BundleError("The arrays cannot be read.", path=str(path)) from None


def _header(stream: BinaryIO, size: int) -> tuple[dict[str, Any], int]:
    """Parse the header; return it with the position of the first array in the file."""
    # The layout of safetensors: eight bytes with the length of the header, the header as JSON, then the arrays.
    length = int.from_bytes(stream.read(8), "little")
    if size < 8 or length > min(size - 8, _LARGEST_HEADER):
        raise BundleError("The file of arrays has no header of a possible length.")
    try:
        # A repeated name is refused: only its last entry would be checked.
        header = load_strict(stream.read(length).decode("utf-8"))
    except (ValueError, RecursionError):
        raise BundleError("The header of the arrays is no JSON.") from None
    if not isinstance(header, dict):
        raise BundleError("The header of the arrays does not name any.")
    return header, 8 + length


def _place(entry: Any, n_bytes: int) -> tuple[np.dtype, tuple[int, ...], int, int]:
    """Return type, shape, first byte and end (the byte after the last byte) of an array."""
    # Every number comes from an untrusted file: each is checked before anything is mapped or allocated.
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise BundleError("The header of the arrays has an entry that describes no array.")
    dtype = _DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if dtype is None:
        raise BundleError(f"The arrays must be of the types {', '.join(_DTYPES)}.")
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not _are_counts(shape, max(n_bytes, _WIDEST_EMPTY)) or not 1 <= len(shape) <= _MOST_DIMENSIONS:
        raise BundleError("The header of the arrays has a shape that cannot be.")
    if not _are_counts(offsets, n_bytes) or len(offsets) != 2:
        raise BundleError("The header of the arrays has a place that is not in the file.")
    # Python integers do not overflow, as a product of int64 would.
    if offsets[1] - offsets[0] != math.prod(shape) * dtype.itemsize:
        raise BundleError("The header of the arrays has a shape and a place that do not fit together.")
    return dtype, tuple(shape), offsets[0], offsets[1]


def _are_counts(values: Any, largest: int) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value <= largest for value in values)


def _check_no_gaps(spans: list[tuple[int, int]], n_bytes: int) -> None:
    """Check that every byte belongs to exactly one array, so that no data are hidden between arrays."""
    end = 0
    # Sorted, each array must begin where the last one ended: this excludes gaps and overlaps at once.
    for start, stop in sorted(spans):
        if start != end:
            raise BundleError("The arrays overlap, or leave gaps.")
        end = stop
    if end != n_bytes:
        raise BundleError("The file of arrays is longer or shorter than its header says.")


def _mapped(stream: BinaryIO, start: int, dtype: np.dtype, shape: tuple[int, ...], first: int, last: int) -> np.ndarray:
    # A misaligned map is legal and slow, and faults on some processors.
    if (start + first) % dtype.itemsize:
        raise BundleError("An array does not start at a multiple of the size of its numbers.")
    if first == last:  # NumPy cannot map zero bytes
        return np.empty(shape, dtype)
    try:
        return np.memmap(stream, dtype=dtype, mode="r", offset=start + first, shape=shape)
    except ValueError:  # the file was cut after its size was read
        raise BundleError("The file of arrays changes while it is read.") from None
