"""Corpora: generated clinical notes, and fetchers of public ones."""

from __future__ import annotations

from .clinical_notes import iter_clinical_notes, make_clinical_notes

__all__ = ["iter_clinical_notes", "make_clinical_notes"]
