"""Note generator: people and places, cases, a template language, and kinds of notes in this language."""

from __future__ import annotations

from .writing import write_notes

__all__ = ["write_notes"]
