"""Releases that an audit attacks: vectors, text, models and updates, one kind of release per file."""

__all__: list[str] = []
