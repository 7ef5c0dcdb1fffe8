"""Corpus formats. Each module of this folder declares a ``FORMAT``; no other file lists the formats."""

__all__: list[str] = []
