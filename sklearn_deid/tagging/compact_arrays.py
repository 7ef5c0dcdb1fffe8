"""Compact arrays of a saved tagger, with a third of the size: table of n-grams in 8 bits, network in 16 bits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..exceptions import BundleError

_TABLE, _SCALE = "subwords.table", "subwords.scale"
# Largest int8. -128 is not used, so that a number and its negative are rounded alike.
_LARGEST = 127


def compact(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Round arrays of a tagger: the table of n-grams to 8 bits with a scale for each row, other numbers to 16 bits.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Arrays of `tagger_to_state`, also with a prefix such as ``"0/"``.

    Examples
    --------
    >>> small = compact({"subwords.table": np.array([[1.27, -0.5]], dtype=np.float32)})
    >>> small["subwords.table"].tolist(), small["subwords.table"].dtype
    ([[127, -50]], dtype('int8'))
    >>> expanded(small)["subwords.table"].astype(float).round(3).tolist()
    [[1.27, -0.5]]
    """
    small: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if name.endswith(_TABLE):
            # shape: (bucket, 1)
            # A scale for each row: one scale for all rows would round short vectors to 0.
            scale = np.abs(array).max(axis=1, keepdims=True) / _LARGEST
            # A row of zeros has the scale 0 and stays zero.
            small[name] = np.rint(array / np.where(scale, scale, 1)).astype(np.int8)
            small[name.removesuffix(_TABLE) + _SCALE] = scale[:, 0].astype(np.float32)
        else:
            small[name] = array.astype(np.float16) if array.dtype == np.float32 else array
    return small


def expanded(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return arrays with the types of an uncompressed saved tagger; arrays that are not compact are unchanged.

    Raises
    ------
    BundleError
        If the scale of a table is missing or has a wrong shape or type, or if there is a scale without a table.
    """
    full: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if name.endswith(_TABLE) and array.dtype == np.int8:
            full[name] = array.astype(np.float32) * _scale_of(name, arrays)[:, None]
        elif not name.endswith(_SCALE):
            full[name] = array.astype(np.float32) if array.dtype == np.float16 else array
    return full


def expanded_stand_ins(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return stand-ins (arrays without memory) for the arrays that `expanded` returns."""
    full: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if name.endswith(_TABLE) and array.dtype == np.int8:
            _scale_of(name, arrays)
        if not name.endswith(_SCALE):
            small = array.dtype in (np.int8, np.float16)
            full[name] = np.broadcast_to(np.zeros((), dtype=np.float32), array.shape) if small else array
    if any(name.endswith(_SCALE) and name.removesuffix(_SCALE) + _TABLE not in arrays for name in arrays):
        raise BundleError("The saved scale of a table of n-grams has no table.")
    return full


def _scale_of(name: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    scale = arrays.get(name.removesuffix(_TABLE) + _SCALE)
    if scale is None or scale.dtype != np.float32 or scale.shape != arrays[name].shape[:1]:
        raise BundleError("The saved table of n-grams has no scale for each row.")
    return scale
