"""Rows of a training history as curves over epochs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

# Rows that are measured between epochs and are not epochs.
_BETWEEN = ("control", "probe")
_IN_ROUNDS = ("P3a", "P3b", "DANN", "bounded")
_PART_OF = {"P3a": "P3", "P3b": "P3"}


class PhaseStretch(NamedTuple):
    """First and last epoch of one phase, counted from 1 over the whole training."""

    name: str
    first: int
    last: int


class TrainingHistory:
    """Epochs of all phases one after the other.

    Parameters
    ----------
    rows : iterable of mapping
        Rows of ``PrivateRepresenter.history_``: "phase", "epoch" within the phase, and numbers. Rows with the phase
        "control" or "probe" are not epochs: a control belongs to the previous epoch, and a probe to the round in its
        key "round".

    Attributes
    ----------
    epochs : list of mapping
        Rows that are epochs. Row i has the position i + 1 on the axis.
    stretches : list of PhaseStretch
        Phases in order. P3a and P3b alternate, so that both phases have the name "P3".

    Raises
    ------
    ValueError
        If a row lacks its phase or epoch or contains values other than numbers, or if no row is an epoch.

    Examples
    --------
    >>> rows = [{"phase": phase, "epoch": 1, "deid_loss": 0.5} for phase in ("P1", "P2", "control", "P3b", "P3a")]
    >>> TrainingHistory(rows).stretches[-1]
    PhaseStretch(name='P3', first=3, last=4)
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self.epochs: list[Mapping[str, Any]] = []
        self._between: list[tuple[int, Mapping[str, Any]]] = []
        for number, row in enumerate(rows):
            _check_row(number, row)
            if row["phase"] in _BETWEEN:
                self._between.append((len(self.epochs), row))
            else:
                self.epochs.append(row)
        if not self.epochs:
            raise ValueError("The 'history' parameter must hold at least one epoch. Got none instead.")
        self.stretches = self._find_stretches()

    def has(self, *keys: str) -> bool:
        """Whether an epoch contains a value for one of these keys."""
        return any(row.get(key) is not None for row in self.epochs for key in keys)

    def curve(self, key: str) -> tuple[np.ndarray, np.ndarray]:
        """Positions and values where ``key`` was recorded, with NaN between two phases, so that no line joins them."""
        x: list[float] = []
        y: list[float] = []
        for stretch in self.stretches:
            found = [i for i in range(stretch.first, stretch.last + 1) if self.epochs[i - 1].get(key) is not None]
            if x and found:
                x.append(math.nan)
                y.append(math.nan)
            x += found
            y += [self.epochs[i - 1][key] for i in found]
        return np.array(x, dtype=float), np.array(y, dtype=float)

    def measured(self, phase: str, key: str) -> tuple[np.ndarray, np.ndarray]:
        """Positions and values of ``key`` in the rows "control" or "probe"."""
        rows = [(after, row) for after, row in self._between if row["phase"] == phase and row.get(key) is not None]
        # A probe is logged before the epoch whose end it measures.
        x = [self.place_of(row["round"]) or after if "round" in row else after for after, row in rows]
        return np.array(x, dtype=float), np.array([row[key] for _, row in rows], dtype=float)

    def place_of(self, number: int) -> int | None:
        """Position on the axis at which a round of the last phase was measured; None if the history does not contain
        this round."""
        places = [i for i, row in enumerate(self.epochs, 1) if row["phase"] in _IN_ROUNDS and row["epoch"] == number]
        scored = [i for i in places if "combined_loss" in self.epochs[i - 1]]
        return max(scored or places, default=None)

    @property
    def n_rounds(self) -> int:
        """Number of rounds of phase P3 or, for trainings without P3, number of epochs."""
        return max((row["epoch"] for row in self.epochs if row["phase"] in _IN_ROUNDS), default=0)

    def _find_stretches(self) -> list[PhaseStretch]:
        stretches: list[PhaseStretch] = []
        for place, row in enumerate(self.epochs, 1):
            name = _PART_OF.get(row["phase"], row["phase"])
            if stretches and stretches[-1].name == name:
                stretches[-1] = stretches[-1]._replace(last=place)
            else:
                stretches.append(PhaseStretch(name, place, place))
        return stretches


def _check_row(number: int, row: Mapping[str, Any]) -> None:
    lacking = sorted({"phase", "epoch"} - set(row))
    if lacking:
        raise ValueError(f"Row {number} of the history lacks {', '.join(lacking)}.")
    for key, value in row.items():
        # None marks a value that could not be computed, like NaN.
        if key != "phase" and value is not None and not isinstance(value, Real):
            raise ValueError(
                f"Row {number} of the history must hold numbers. Got {type(value).__name__} for {key!r} instead."
            )
