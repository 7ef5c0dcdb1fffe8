"""Cells and tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn_deid.text.markdown import markdown_table

from .sources import Measured

NOT_RUN = "not run"


def text_of(value: float | str, digits: int) -> str:
    """A printed number or word."""
    return (value or "–") if isinstance(value, str) else f"{value:.{digits}f}"


def printed_text(values: Sequence[float | str], digits: int) -> str:
    """All columns of a row in one cell; words that all of them share once."""
    texts = [text_of(value, digits) for value in values]
    return texts[0] if len(set(texts)) == 1 else " / ".join(texts)


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
    return [*markdown_table(head, rows).splitlines(), ""]
