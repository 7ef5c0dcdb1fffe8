"""An audit to read, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import AuditReport

__all__ = ["as_markdown"]


def as_markdown(report: AuditReport) -> str:
    """See `AuditReport.to_markdown`."""
    lines = [f"# Privacy audit: score {report.score:.2f}", ""]
    lines += [f"- **{threat}**: {text}" for threat, text in report.verdicts.items()]
    return "\n".join(lines) + "\n"
