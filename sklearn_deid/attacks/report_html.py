"""An audit to read, as one HTML page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import AuditReport

__all__ = ["as_html"]


def as_html(report: AuditReport) -> str:
    """See `AuditReport.to_html`."""
    return f"<!doctype html><title>Privacy audit</title><p>{escape(str(report.verdicts))}</p>"
