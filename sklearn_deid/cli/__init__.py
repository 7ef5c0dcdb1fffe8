"""The command line: ``sklearn-deid train|tag|redact|evaluate|convert|demo``."""

from .program import main

__all__ = ["main"]
