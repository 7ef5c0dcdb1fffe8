"""The note generator: people and places, cases, a template language, and the kinds of notes written in it."""

from __future__ import annotations

from .writing import write_notes

__all__ = ["write_notes"]
