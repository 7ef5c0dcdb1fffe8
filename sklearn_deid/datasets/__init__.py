"""Corpora: generated clinical notes, and functions that fetch public corpora. Importing downloads nothing."""

from __future__ import annotations

from .clinical_notes import iter_clinical_notes, make_clinical_notes
from .meddocan import fetch_meddocan

__all__ = ["fetch_meddocan", "iter_clinical_notes", "make_clinical_notes"]
