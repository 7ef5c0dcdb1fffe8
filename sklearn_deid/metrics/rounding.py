"""Text of a measured value. A value that is not exactly 0 or 1 is never rounded to 0 or 1."""

from __future__ import annotations

from math import copysign

UNDEFINED = "-"


def rounded(value: float | None, digits: int = 4, scale: int = 1) -> str:
    """Value as text with a fixed number of decimals.

    For example, a recall of 0.99996 is shown as 0.9999, not as 1.0000.

    Parameters
    ----------
    value : float or None
        Value to show. None and NaN are undefined, such as a recall without gold items.
    digits : int, default=4
        Number of decimals.
    scale : int, default=1
        Factor of the shown value, such as 100 for percentages.

    Examples
    --------
    >>> rounded(0.99996), rounded(0.00001), rounded(1.0), rounded(0.0), rounded(None)
    ('0.9999', '0.0001', '1.0000', '0.0000', '-')
    >>> rounded(0.99996, 2, 100), rounded(0.98765, 2, 100)
    ('99.99', '98.77')
    """
    if value is None or value != value:
        return UNDEFINED
    shown, step = scale * value, 10.0**-digits
    if value and abs(shown) < step:
        shown = copysign(step, value)
    elif value < 1:
        shown = min(shown, scale - step)
    return f"{shown:.{digits}f}"
