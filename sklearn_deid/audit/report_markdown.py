"""An audit to read, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..text.markdown import markdown_table
from .report_parts import Alert, Block, Figure, Heading, Items, Paragraph, Table, parts

if TYPE_CHECKING:
    from .report import AuditReport

__all__ = ["as_markdown"]


def as_markdown(report: AuditReport) -> str:
    """All parts of a report but its figures, whose numbers are in the tables."""
    blocks = ["# Privacy audit", *(text for block in parts(report) for text in _written(block))]
    return "\n\n".join(blocks) + "\n"


def _written(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"## {_safe(block.text)}"
    elif isinstance(block, Paragraph):
        yield _safe(block.text)
    elif isinstance(block, Alert):
        yield f"> **{_safe(block.text)}**"
    elif isinstance(block, Items):
        yield "\n".join(
            f"- **{_safe(name)}**: {_safe(text)}" if name else f"- {_safe(text)}" for name, text in block.items
        )
    elif isinstance(block, Table):
        yield f"**{_safe(block.caption)}**"
        yield markdown_table(map(_safe, block.head), (map(_safe, row) for row in block.rows))
    else:
        assert isinstance(block, Figure)  # not drawn in text


def _safe(text: str) -> str:
    """Text that stays text, on one line, and in its cell."""
    text = re.sub(r"\s+", " ", text).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*|\[\]])", r"\\\1", text)
