"""Exhibits that are read off histories: accuracies of adversaries, and F1 of workers, epoch by epoch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .cells import NOT_RUN, printed_text, table, text_of
from .exhibits import Exhibit
from .sources import Source

_ACCURACIES = ("valid_average_accuracy", "valid_t2_accuracy")


def curves(exhibit: Exhibit, shown: Sequence[Source]) -> list[str]:
    """Accuracy of the adversary when its pre-training ended, and in the round that was kept; first seed."""
    row = exhibit.rows[0]
    rows = [["printed", *(text_of(value, 0) for value in row.printed)]]
    for source in shown:
        kept = history_of(source, row.arm or "")
        rows.append([source.label(), *((_end(kept[0]), _chosen(*kept)) if kept else (NOT_RUN, NOT_RUN))])
    return table([row.name, *(column.name for column in exhibit.columns)], rows)


def history_of(source: Source, arm: str) -> tuple[list[Mapping[str, Any]], int | None] | None:
    """History and chosen round of the first seed that kept them."""
    for (name, _), row in sorted(source.rows.items()):
        if name == arm and row.get("history"):
            return row["history"], row.get("selected_round")
    return None


def _accuracy(row: Mapping[str, Any]) -> float | None:
    return next((float(row[key]) for key in _ACCURACIES if row.get(key) is not None), None)


def _said(accuracies: list[float | None]) -> str:
    known = [accuracy for accuracy in accuracies if accuracy is not None]
    return f"{100 * known[-1]:.0f}" if known else "not recorded"


def _end(history: list[Mapping[str, Any]]) -> str:
    return _said([_accuracy(row) for row in history if row["phase"] == "P2"])


def _chosen(history: list[Mapping[str, Any]], selected: int | None) -> str:
    return _said([_accuracy(row) for row in history if row["phase"] == "P3a" and row["epoch"] == selected])


def epochs(exhibit: Exhibit, shown: Sequence[Source]) -> list[str]:
    """F1 of the mean worker after the first, a middle and the last epoch."""
    head = ["", "printed: first / middle / last", *(source.label() for source in shown)]
    rows = []
    for row in exhibit.rows:
        printed = printed_text(row.printed, exhibit.printed_digits)
        rows.append([row.name, printed, *(_three(source, row.arm or "") for source in shown)])
    return table(head, rows)


def mean_curve(source: Source, arm: str) -> np.ndarray | None:
    """F1 of the mean worker over seeds, epoch by epoch."""
    found = [
        row["token_f1_by_epoch"] for (name, _), row in source.rows.items() if name == arm and "diverged" not in row
    ]
    return np.array(found).mean(axis=(0, 1)) if found else None


def _three(source: Source, arm: str) -> str:
    curve = mean_curve(source, arm)
    if curve is None:
        return "diverged" if arm in source.arms else NOT_RUN
    return " / ".join(f"{100 * curve[i]:.1f}" for i in (0, len(curve) // 2, -1))


HISTORIES: dict[str, Callable[[Exhibit, Sequence[Source]], list[str]]] = {"curves": curves, "epochs": epochs}
