"""An audit to read: as one HTML page that loads nothing and runs nothing, and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from ..text.markdown import markdown_table
from .report_figure import draw_attacks
from .report_parts import Alert, Block, Figure, Heading, Items, Paragraph, Table

# The policy forbids scripts, and everything that would be loaded.
_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Privacy audit</title>
<style>
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 72rem; margin: 2rem auto;
  padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.2rem; border-bottom: 1px solid #bbb; padding-bottom: .2rem; }
p, li { max-width: 48rem; }
.warning { border: 2px solid #a40000; border-left-width: 10px; padding: .5rem 1rem; font-weight: bold; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .875rem; }
caption { text-align: left; font-weight: bold; padding: .3rem 0; }
th, td { border: 1px solid #bbb; padding: .3rem .5rem; text-align: left; vertical-align: top; }
thead th { background: #eee; } tbody th { font-weight: normal; min-width: 14rem; }
td:first-of-type { min-width: 10rem; }
tr.invalid > * { background: #fde7e7; font-weight: bold; }
figure { margin: 1.5rem 0; } svg { max-width: 100%; height: auto; }
@media print { body { margin: 0; max-width: none; } .wide { overflow: visible; } table { font-size: .7rem; } }
</style>
</head>
<body>
<main>
<h1>Privacy audit</h1>
"""
_FOOT = "</main>\n</body>\n</html>\n"


def as_html(blocks: Iterable[Block]) -> str:
    """All parts of a report, figures as inline SVG."""
    return _HEAD + "".join(f"{_in_html(block, n)}\n" for n, block in enumerate(blocks)) + _FOOT


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
    """Text that is no markup; a number stays with its percent sign."""
    return escape(text).replace(" %", "\N{NO-BREAK SPACE}%")


def _table(block: Table) -> str:
    head = "".join(f'<th scope="col">{_html(cell)}</th>' for cell in block.head)
    rows = "".join(_row(row) for row in block.rows)
    caption = _html(block.caption)
    # Those who scroll by keyboard must be able to reach what does not fit.
    return (
        f'<div class="wide" role="region" aria-label="{caption}" tabindex="0">\n<table>\n<caption>{caption}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>"
    )


def _row(row: tuple[str, ...]) -> str:
    first, *others = row
    kind = ' class="invalid"' if row[-1] == "INVALID" else ""
    cells = "".join(f"<td>{_html(cell)}</td>" for cell in others)
    return f'<tr{kind}><th scope="row">{_html(first)}</th>{cells}</tr>\n'


def as_markdown(blocks: Iterable[Block]) -> str:
    """All parts of a report but its figures, whose numbers are in the tables."""
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
    """Text that stays text, on one line, and in its cell."""
    text = re.sub(r"\s+", " ", text).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*|\[\]])", r"\\\1", text)
