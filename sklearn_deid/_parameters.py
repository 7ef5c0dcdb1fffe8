"""`check_parameter`: one form of message for all parameters with a value that is not allowed."""

from __future__ import annotations

from typing import Any


def check_parameter(
    owner: str, name: str, value: Any, is_allowed: bool, wanted: str, *, longest: int | None = None
) -> None:
    """Raise ValueError unless the value of a parameter is allowed.

    Parameters
    ----------
    owner : str
        Class or function of the parameter; "" leaves the owner out.
    name : str
        Name of the parameter.
    value : object
        Value that was passed.
    is_allowed : bool
        Result of the check.
    wanted : str
        End of the sentence "must be ...".
    longest : int, optional
        Number of characters of the value that the message shows at most. By default all.

    Examples
    --------
    >>> check_parameter("SignOff", "target", 2, False, "between 0 and 1")
    Traceback (most recent call last):
    ValueError: The 'target' parameter of SignOff must be between 0 and 1. Got 2 instead.
    """
    if not is_allowed:
        of = f" of {owner}" if owner else ""
        raise ValueError(f"The '{name}' parameter{of} must be {wanted}. Got {repr(value)[:longest]} instead.")
