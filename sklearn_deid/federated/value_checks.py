"""Checks of single values: parameters of settings, and numbers in received messages and files."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np

from .._parameters import check_parameter as _check_parameter

# JSON readers that use doubles represent integers exactly up to this number.
LARGEST_WHOLE = 2**53 - 1


def is_number(value: Any, least: float, most: float) -> bool:
    """Whether a value is a number from ``least`` to ``most``. True, False and NaN do not count as numbers.

    Examples
    --------
    >>> [is_number(value, 0, 1) for value in (0.5, True, float("nan"), "1", 2)]
    [True, False, False, False, False]
    """
    return isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most


def is_whole(value: Any, most: float = LARGEST_WHOLE) -> bool:
    """Whether a value is a whole number from 0 to ``most``.

    Examples
    --------
    >>> [is_whole(value) for value in (0, 3, -1, True, 1.0, 2**60)]
    [True, True, False, False, False, False]
    """
    return isinstance(value, int) and is_number(value, 0, most)


def with_plain_numbers(settings: Any) -> None:
    """Replace numbers of NumPy in the fields of a frozen dataclass: files of settings and of ledgers are JSON.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.federated import PatientPrivacy
    >>> PatientPrivacy(np.int64(8)).epsilon
    8
    """
    for name, value in vars(settings).items():
        if isinstance(value, np.generic):
            object.__setattr__(settings, name, value.item())


# Values may come from files of others: a message shows the begin only.
check_parameter = partial(_check_parameter, longest=40)


def check_choice(owner: str, name: str, value: Any, choices: Collection[str]) -> None:
    """Raise ValueError unless the value of a parameter is one of a few words."""
    check_parameter(owner, name, value, value in choices, f"one of {', '.join(choices)}")
