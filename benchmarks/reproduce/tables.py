"""An exhibit as Markdown: printed beside measured, what it was measured on, and a sentence on the difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .cells import NOT_RUN, measured_text, printed_text, table, text_of
from .exhibits import Exhibit, shown_sources
from .hyperparameters import SEARCHES
from .sources import Source
from .training_histories import HISTORIES

_FEW = 3  # columns that fit beside each other


def markdown_of(exhibit: Exhibit, sources: Sequence[Source]) -> list[str]:
    """Heading, tables, runs and the difference."""
    shown = shown_sources(exhibit, sources)
    lines = [f"### {exhibit.title}", ""]
    lines += [f"Printed ({exhibit.where}): {exhibit.printed}. Measured: {exhibit.measured}.", ""]
    special = {**SEARCHES, **HISTORIES}.get(exhibit.special or "")
    if special is not None:
        lines += special(exhibit, shown)
    elif len(exhibit.columns) <= _FEW:
        lines += _beside(exhibit, shown)
    else:
        lines += _one_after_the_other(exhibit, shown)
    lines += _missing(exhibit)
    lines += [f"- {source.key}: {source.description()}." for source in shown] or [
        f"- No runs of `{exhibit.script}` are here."
    ]
    lines += ["", f"**Difference.** {computed_difference(exhibit, shown)} {exhibit.differs}"]
    return [*lines, f"Needed to measure the printed figures: {exhibit.needs}", ""]


def _beside(exhibit: Exhibit, shown: Sequence[Source]) -> list[str]:
    """Printed and each source's figures in one table; several columns of the paper are one, with strokes."""
    names = " / ".join(column.name for column in exhibit.columns)
    head = ["", f"printed: {names}", *(source.label() for source in shown)]
    rows = []
    for i, row in enumerate(exhibit.rows):
        printed = printed_text(row.printed, exhibit.printed_digits)
        rows.append([exhibit.row_name(i), printed, *(_joined(exhibit, source, i) for source in shown)])
    return table(head, rows)


def _joined(exhibit: Exhibit, source: Source, row: int) -> str:
    """All columns of a row; the interval is that of the last."""
    n = len(exhibit.columns)
    if all(exhibit.cell(source, row, j) is None for j in range(n)):
        return "no run of its own" if exhibit.rows[row].missing else NOT_RUN
    return " / ".join(_cell(exhibit, source, row, j, with_interval=j == n - 1) for j in range(n))


def _one_after_the_other(exhibit: Exhibit, shown: Sequence[Source]) -> list[str]:
    """As printed, then as measured, a table for each source and variant."""
    head = ["", *(column.name for column in exhibit.columns)]
    lines = ["As printed:", ""]
    digits = exhibit.printed_digits
    body = [[text_of(value, digits) for value in row.printed] for row in exhibit.rows]
    lines += table(head, [[exhibit.row_name(i), *cells] for i, cells in enumerate(body)])
    for source in shown:
        for number, (name, _) in enumerate(exhibit.variants or (("", ""),)):
            body = [
                [row.name, *(_cell(exhibit, source, i, j, number) for j in range(len(exhibit.columns)))]
                for i, row in enumerate(exhibit.rows)
            ]
            if all(cell in (NOT_RUN, "–") for line in body for cell in line[1:]):
                continue
            run = [j for j in range(1, len(head)) if any(line[j] not in (NOT_RUN, "–") for line in body)]
            kept = [line for line in body if any(line[j] not in (NOT_RUN, "–") for j in run)]
            lines += [
                f"As measured, {source.label()}{', ' + name if name else ''}{_left_out(head, run, body, kept)}:",
                "",
            ]
            lines += table([head[0], *(head[j] for j in run)], [[line[0], *(line[j] for j in run)] for line in kept])
    return lines


def _left_out(head: Sequence[str], run: Sequence[int], body: Sequence[object], kept: Sequence[object]) -> str:
    """Which columns and how many rows were not run."""
    columns = [head[j] for j in range(1, len(head)) if j not in run]
    parts = [f"columns {', '.join(columns)}"] if columns else []
    parts += [f"{len(body) - len(kept)} rows"] if len(body) > len(kept) else []
    return f" ({' and '.join(parts)} not run or not there)" if parts else ""


def _cell(exhibit: Exhibit, source: Source, row: int, column: int, variant: int = 0, with_interval: bool = True) -> str:
    """A measured figure; a dash where the exhibit looks for none."""
    line, head = exhibit.rows[row], exhibit.columns[column]
    found = exhibit.cell(source, row, column, variant)
    if found is None:
        return NOT_RUN if line.figure or line.figures or head.figure else "–"
    return measured_text(found, exhibit.digits if head.digits is None else head.digits, with_interval)


def _missing(exhibit: Exhibit) -> list[str]:
    lines = [f"({number}) No run of its own: {reason}." for number, reason in enumerate(exhibit.reasons(), 1)]
    if any("|" in (c.figure or "") for c in exhibit.columns):
        lines.append("An asterisk marks runs that counted all PHI types and not HIPAA's alone.")
    return ["  \n".join(lines), ""] if lines else []


def computed_difference(exhibit: Exhibit, shown: Sequence[Source]) -> str:
    """How far the measured figures are from the printed ones, source by source."""
    if not shown:
        return "Nothing was measured."
    if exhibit.special is not None:
        return ""
    sentences = [_of_source(exhibit, source) for source in shown]
    return " ".join(filter(None, sentences)) or "No printed figure has a measured one of the same kind beside it."


def _of_source(exhibit: Exhibit, source: Source) -> str:
    """One sentence: how many are lower, and the largest difference."""
    found: list[tuple[float, str]] = []
    unit: Callable[[float], str] = (lambda d: f"{d:.1f} points") if exhibit.scale == 100 else (lambda d: f"{d:.2g}")
    for number, (variant, _) in enumerate(exhibit.variants or (("", ""),)):
        for i, row in enumerate(exhibit.rows):
            for j, column in enumerate(exhibit.columns):
                measured = exhibit.cell(source, i, j, number)
                if measured is not None and not isinstance(row.printed[j], str):
                    where = ", ".join(part for part in (row.name, column.name, variant) if part)
                    found.append((measured.mean - float(row.printed[j]), where))
    if not found:
        return ""
    differences = np.array([difference for difference, _ in found])
    lower = int((differences < 0).sum())
    largest, where = max(found, key=lambda one: abs(one[0]))
    way = "below" if largest < 0 else "above"
    many = f"{lower} of {len(found)} measured figures are below the printed ones" if len(found) > 1 else "The figure"
    if len(found) == 1:
        return f"{source.key}: {unit(abs(largest))} {way} the printed figure ({where})."
    median = unit(float(np.median(differences)))
    return f"{source.key}: {many} (median {median}); largest difference: {where}, {unit(abs(largest))} {way}."
