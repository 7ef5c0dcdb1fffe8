"""Rows of results as points of a figure: what they must hold, and what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

from sklearn_deid.plotting.drawing import GRAY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["check_measured", "check_neighbors", "read_points", "read_reference"]

Point = TypeVar("Point")


def read_points(point: type[Point], rows: Iterable[Mapping[str, Any]]) -> tuple[Point, ...]:
    """Points of rows, as a benchmark writes them to JSON or a data frame returns them.

    Parameters
    ----------
    point : dataclass
        Its fields without a default must be in each row; others may be missing. Other keys are ignored.
    rows : iterable of mapping
        None and NaN mean that a value is missing.

    Raises
    ------
    ValueError
        If there is no row, one lacks a key, or its values do not fit.
    """
    points = []
    for number, row in enumerate(rows):
        known = {field.name: row[field.name] for field in fields(point) if not _is_missing(row.get(field.name))}  # type: ignore[arg-type]
        lacking = sorted(f.name for f in fields(point) if f.default is MISSING and f.name not in known)  # type: ignore[arg-type]
        if lacking:
            raise ValueError(f"Result {number} lacks {', '.join(lacking)}.")
        try:
            points.append(point(**known))
        except ValueError as error:
            raise ValueError(f"Result {number}: {error}") from None
    if not points:
        raise ValueError("The 'results' parameter must hold at least one row. Got none instead.")
    return tuple(points)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and math.isnan(value))


def check_measured(name: str, value: float | None, low: float | None, high: float | None) -> None:
    """Refuse a share that is none, or that its interval does not hold.

    Ends of an interval may lie beyond 0 and 1, as those of Student's t do; a missing end is no end.

    Raises
    ------
    ValueError
        Naming the field.
    """
    if value is None:
        if low is not None or high is not None:
            raise ValueError(f"There is an interval for {name!r}, but no value.")
        return
    numbers = [number for number in (value, low, high) if number is not None]
    if not all(isinstance(number, Real) for number in numbers):
        raise ValueError(
            f"{name!r} and its interval must be numbers. Got {value!r}, from {low!r} to {high!r}, instead."
        )
    if not (0 <= value <= 1 and (low is None or low <= value) and (high is None or value <= high)):
        raise ValueError(
            f"{name!r} must be from 0 to 1 and in its interval. Got {value}, from {low} to {high}, instead."
        )


def check_neighbors(n_neighbors: Any) -> None:
    """Refuse what is no number of neighbours.

    Raises
    ------
    ValueError
    """
    # A data frame may hold whole numbers as floats.
    if not isinstance(n_neighbors, Real) or not 1 <= float(n_neighbors) < math.inf:
        raise ValueError(f"'n_neighbors' must be a number of at least 1. Got {n_neighbors!r} instead.")


def read_reference(name: str, value: float | Sequence[float] | None) -> tuple[float, float | None, float | None] | None:
    """A value of reference, alone or as (value, low, high).

    Raises
    ------
    ValueError
        If it is neither.
    """
    if value is None:
        return None
    given = tuple(value) if isinstance(value, Sequence) else (value, None, None)
    if len(given) != 3 or isinstance(value, str):
        raise ValueError(f"The {name!r} parameter must be a number or (value, low, high). Got {value!r} instead.")
    check_measured(name, *given)
    return given


def draw_reference(ax: Axes, value: tuple[float, float | None, float | None] | None, name: str) -> None:
    """A value with its interval, as a dashed horizontal line in a band; nothing for None."""
    if value is None:
        return
    mean, low, high = value
    ax.axhline(mean, color=GRAY, linestyle="--", linewidth=1.2, label=name, zorder=1)
    if low is not None and high is not None:
        ax.axhspan(low, high, color=GRAY, alpha=0.12, linewidth=0, zorder=0)
