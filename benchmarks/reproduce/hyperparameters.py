"""Tables of a random search: its best draws, and the effect of each value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .cells import table, text_of
from .exhibits import Exhibit
from .sources import Source

SHOWN = 10


def draws_of(exhibit: Exhibit, shown: Sequence[Source]) -> dict[str, list[tuple[dict[str, Any], float]]]:
    """Parameters and figure of each draw, by corpus and size."""
    out: dict[str, list[tuple[dict[str, Any], float]]] = {}
    for source in shown:
        arm = next(iter(sorted(source.arms)))
        found = source.measured(arm, exhibit.columns[0].figure or "", exhibit.scale)
        if found is not None:
            sizes = ", ".join(f"{k} {v}" for k, v in source.settings.items() if k in ("notes", "epochs") and v)
            out.setdefault(f"{source.corpus} notes, {sizes}", []).append((source.settings["parameters"], found.mean))
    return out


def best(exhibit: Exhibit, shown: Sequence[Source]) -> list[str]:
    """The printed configurations, then the best that were drawn here."""
    lines = table(
        ["configuration as printed", "F1"],
        [[row.name, text_of(row.printed[0], exhibit.printed_digits)] for row in exhibit.rows],
    )
    for name, draws in draws_of(exhibit, shown).items():
        ranked = sorted(draws, key=lambda draw: -draw[1])[:SHOWN]
        lines += [f"As measured, {name}, {len(draws)} draws:", ""]
        rows = [[", ".join(f"{k} {v}" for k, v in given.items()), f"{f1:.1f}"] for given, f1 in ranked]
        lines += table(["configuration as measured", "F1"], rows)
    return lines


def effects(exhibit: Exhibit, shown: Sequence[Source]) -> list[str]:
    """Printed effects beside those of the draws here; the number of draws with the value behind."""
    groups = draws_of(exhibit, shown)
    head = ["", "printed", *(f"{name}, {len(draws)} draws" for name, draws in groups.items())]
    rows = []
    for i, row in enumerate(exhibit.rows):
        cells = [_effect(draws, row.parameter) for draws in groups.values()]
        rows.append([exhibit.row_name(i), text_of(row.printed[0], exhibit.printed_digits), *cells])
    return table(head, rows)


def _effect(draws: Sequence[tuple[dict[str, Any], float]], parameter: Sequence[Any] | None) -> str:
    if parameter is None:
        return "no run of its own"
    name, value = parameter
    with_value = [f1 for given, f1 in draws if given.get(name) == value]
    if not with_value:
        return "not drawn"
    effect = float(np.mean(with_value) - np.mean([f1 for _, f1 in draws]))
    return f"{effect:+.1f} ({len(with_value)})"


SEARCHES: dict[str, Callable[[Exhibit, Sequence[Source]], list[str]]] = {
    "search_best": best,
    "search_effects": effects,
}
