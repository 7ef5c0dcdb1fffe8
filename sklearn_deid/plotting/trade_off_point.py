"""One point of a trade-off figure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real


@dataclass(frozen=True)
class TradeOffPoint:
    """One point of a `TradeOffDisplay`: one method with one setting.

    Attributes
    ----------
    name : str
        Name of the method. Points of one method form a line.
    y : float
        Result of the method, such as F1.
    x : float or None, default=None
        Cost of the method, or the information that the method reveals. If None, the method is drawn as a reference
        line. Use None for methods to which x does not apply.
    y_low, y_high, x_low, x_high : float or None, default=None
        Ends of an interval, or of the range over workers.
    label : str, default=""
        Text next to the point.

    Raises
    ------
    ValueError
        If a value is not a finite number, or lies outside its interval.
    """

    name: str
    y: float
    x: float | None = None
    y_low: float | None = None
    y_high: float | None = None
    x_low: float | None = None
    x_high: float | None = None
    label: str = ""

    def __post_init__(self) -> None:
        for axis in ("x", "y"):
            value, low, high = (getattr(self, axis + end) for end in ("", "_low", "_high"))
            if axis == "x" and value is None:
                if low is not None or high is not None:
                    raise ValueError("There is an interval for 'x', but no value.")
                continue
            given = [number for number in (low, value, high) if number is not None]
            numbers = all(isinstance(number, Real) and math.isfinite(number) for number in given)
            if not numbers or value is None or given != sorted(given):
                raise ValueError(
                    f"{axis!r} must be a number in its interval. Got {value!r}, from {low!r} to {high!r} instead."
                )
