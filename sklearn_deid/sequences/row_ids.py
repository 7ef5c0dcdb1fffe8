"""Ids of patients and documents, one for each row."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

# None, and the missing values of pandas, which need not be installed.
_MISSING = {"NoneType", "NAType", "NaTType"}


def row_ids(given: Any) -> np.ndarray:
    """Array of ids. NumPy would write a missing id beside texts as the text "nan", and a number as its digits.

    Examples
    --------
    >>> row_ids(["p1", float("nan")]).tolist()
    ['p1', nan]
    """
    array = np.asarray(given)
    if array.dtype.kind in "US" and not hasattr(given, "dtype"):
        as_given = np.asarray(given, dtype=object)
        return as_given if len(id_kinds(as_given.ravel())) > 1 else array
    return array


def id_kinds(array: np.ndarray) -> set[str]:
    """Names of the types of the ids in an array of objects; empty for arrays of NumPy's own types.

    Examples
    --------
    >>> sorted(id_kinds(np.array([1, np.int64(2), "p1"], dtype=object)))
    ['int', 'str']
    """
    return {_kind(one) for one in array} if array.dtype == object else set()


def has_missing(array: np.ndarray) -> bool:
    """Whether an id is missing: None, NaN, or NA and NaT of pandas.

    Examples
    --------
    >>> has_missing(np.array([1.0, float("nan")])), has_missing(np.array(["p1", "nan"]))
    (True, False)
    """
    if array.dtype != object:
        return bool((array != array).any())
    return bool(_MISSING & id_kinds(array)) or any(isinstance(one, float) and one != one for one in array)


def _kind(one: Any) -> str:
    # str and numpy.str_ can be sorted together, and so can whole numbers.
    kinds = {"str": str, "int": Integral}
    return next((name for name, kind in kinds.items() if isinstance(one, kind)), type(one).__name__)
