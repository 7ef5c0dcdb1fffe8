"""Cells and tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from .sources import Measured

NOT_RUN = "not run"


def text_of(value: float | str, digits: int = 2) -> str:
    """A printed number or word."""
    if isinstance(value, str):
        return value or "–"
    return f"{value:.{digits}f}".rstrip("0").rstrip(".") if digits > 1 else f"{value:.{digits}f}"


def measured_text(found: Measured | None, digits: int, with_interval: bool = True) -> str:
    """A measured figure, with its interval over seeds where there are several."""
    if found is None:
        return NOT_RUN
    star = "*" if found.stand_in else ""
    text = f"{found.mean:.{digits}f}{star}"
    if len(found.seeds) > 1 and with_interval:
        text += f" ({found.low:.{digits}f} to {found.high:.{digits}f})"
    return text


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table and an empty line."""
    lines = [list(head), ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines] + [""]
