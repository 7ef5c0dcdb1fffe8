"""Possible values of the metrics of a privacy card, by the names of the metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from numbers import Real
from typing import Any

_PROPORTIONS = re.compile(
    "accuracy|quantile|probability|share|with_casing|_f1(_low|_high)?$|^score(_low|_high)?$|^delta$"
)
_NOT_NEGATIVE = re.compile("^n_|epsilon|distance|(^|_)(mu|slack|std)$")
_ENDS = re.compile("^(low|high)$|_(low|high)$")


def check_ranges(metrics: Any, argument: str) -> None:
    """Refuse impossible metrics: proportions outside of [0, 1], negative epsilons, and values outside of their
    interval.

    A card with such a metric looks like any other card, and the reader trusts the others.

    Parameters
    ----------
    metrics : mapping of str to number or mapping
        Metrics by name. Values that are not finite numbers are ignored, because the table of the metric refuses them.
    argument : str
        Name of the parameter of `privacy_card`, for the message.

    Raises
    ------
    ValueError
        If a metric is impossible. The message contains the name of the metric, but not its value.

    Examples
    --------
    >>> check_ranges({"mean_accuracy": 0.54, "mean_accuracy_high": 0.6, "n_pairs": 100}, "bound")
    >>> check_ranges({"lookup": {"score": 1.2}}, "audit")
    Traceback (most recent call last):
    ...
    ValueError: The metric 'score' in 'audit' must be between 0 and 1.
    """
    if not isinstance(metrics, Mapping):
        return
    numbers = {}
    for name, value in metrics.items():
        check_ranges(value, argument)
        if isinstance(value, Real) and not isinstance(value, bool) and isfinite(value):
            numbers[str(name)] = float(value)
    for name, number in numbers.items():
        if _PROPORTIONS.search(name) and (number < 0.0 or number > 1.0):
            raise ValueError(f"The metric {name!r} in {argument!r} must be between 0 and 1.")
        if _NOT_NEGATIVE.search(name) and number < 0.0:
            raise ValueError(f"The metric {name!r} in {argument!r} must not be negative.")
    _check_intervals(numbers, argument)


def _check_intervals(numbers: Mapping[str, float], argument: str) -> None:
    """Refuse a value outside of its interval, and an interval whose lower end is above the upper end."""
    for base in dict.fromkeys(_ENDS.sub("", name) for name in numbers if _ENDS.search(name)):
        ends = (f"{base}_low", base, f"{base}_high") if base else ("low", "high")
        found = [numbers[name] for name in ends if name in numbers]
        if any(one > other for one, other in zip(found, found[1:], strict=False)):
            raise ValueError(f"The metric {base or 'low'!r} in {argument!r} is outside of its interval.")
