"""Formats of an audit report: one HTML page without scripts or external files, and Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files

from ..text.markdown import markdown_table
from .report_figure import draw_attacks
from .report_parts import Alert, Block, Figure, Heading, Items, Paragraph, Table

_FOOT = "</main>\n</body>\n</html>\n"


def as_html(blocks: Iterable[Block]) -> str:
    """All parts of a report as HTML, with figures as inline SVG."""
    head = files(__package__).joinpath("report_head.html").read_text(encoding="utf-8")
    return head + "".join(f"{_in_html(block, n)}\n" for n, block in enumerate(blocks)) + _FOOT


def _in_html(block: Block, number: int) -> str:
    if isinstance(block, Heading):
        return f"<h2>{_html(block.text)}</h2>"
    if isinstance(block, Paragraph):
        return f"<p>{_html(block.text)}</p>"
    if isinstance(block, Alert):
        return f'<p class="warning" role="note">{_html(block.text)}</p>'
    if isinstance(block, Items):
        items = (
            f"<strong>{_html(name)}</strong>: {_html(text)}" if name else _html(text) for name, text in block.items
        )
        return "<ul>\n" + "".join(f"<li>{item}</li>\n" for item in items) + "</ul>"
    if isinstance(block, Table):
        return _table(block)
    assert isinstance(block, Figure)
    return f"<figure>\n{draw_attacks(block.results, block.caption, f'figure-{number}')}\n</figure>"


def _html(text: str) -> str:
    """Escape a text for HTML; keep a number and its percent sign on one line."""
    return escape(text).replace(" %", "\N{NO-BREAK SPACE}%")


def _table(block: Table) -> str:
    head = "".join(f'<th scope="col">{_html(cell)}</th>' for cell in block.head)
    rows = "".join(_row(row) for row in block.rows)
    caption = _html(block.caption)
    # Readers who scroll by keyboard must be able to reach content that does not fit.
    return (
        f'<div class="wide" role="region" aria-label="{caption}" tabindex="0">\n<table>\n<caption>{caption}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>"
    )


def _row(row: tuple[str, ...]) -> str:
    first, *others = row
    kind = ' class="invalid"' if row[-1] in ("INVALID", "FAULT") else ""
    cells = "".join(f"<td>{_html(cell)}</td>" for cell in others)
    return f'<tr{kind}><th scope="row">{_html(first)}</th>{cells}</tr>\n'


def as_markdown(blocks: Iterable[Block]) -> str:
    """All parts of a report as Markdown. Figures are left out, because the tables contain the same numbers."""
    texts = ["# Privacy audit", *(text for block in blocks for text in _in_markdown(block))]
    return "\n\n".join(texts) + "\n"


def _in_markdown(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"## {_markdown(block.text)}"
    elif isinstance(block, Paragraph):
        yield _markdown(block.text)
    elif isinstance(block, Alert):
        yield f"> **{_markdown(block.text)}**"
    elif isinstance(block, Items):
        yield "\n".join(
            f"- **{_markdown(name)}**: {_markdown(text)}" if name else f"- {_markdown(text)}"
            for name, text in block.items
        )
    elif isinstance(block, Table):
        yield f"**{_markdown(block.caption)}**"
        yield markdown_table(map(_markdown, block.head), (map(_markdown, row) for row in block.rows))
    else:
        assert isinstance(block, Figure)  # not drawn in text


def _markdown(text: str) -> str:
    """Escape a text for one line, and for a table cell of Markdown."""
    text = re.sub(r"\s+", " ", text).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*|\[\]])", r"\\\1", text)
