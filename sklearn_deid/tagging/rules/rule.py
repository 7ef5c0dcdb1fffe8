r"""A rule: a regular expression, what it finds, and a check of what it found.

Patterns match raw text as well as text that was rebuilt from tokens (`sentence_text`), in which ``\x1f`` stands between
a letter and a digit, ``\x1e`` between a lower and an upper case letter, and ``\x1d`` after a full stop behind a
capitalised word, where nobody knows any more whether there was a space. ``\s`` matches all three.

Each repetition in a pattern has an upper bound, so that the time is linear in the length of the text; a test computes
the bound of each pattern from its parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

MAYBE_SPACE = "\x1d\x1e\x1f"
_DIGITS = "0123456789"


@dataclass(frozen=True)
class Rule:
    """A rule, as data.

    Parameters
    ----------
    name : str
        Unique.
    family : str
        Group that is switched on and off as one.
    kind : str
        What is found; `rule_label_map` says what that is called in a label scheme.
    pattern : str
        Regular expression; its group ``phi``, or all of the match, is the span.
    languages : tuple of str, default=("en", "es")
    priority : int, default=1
        Where spans overlap the higher one counts: 2 for rules with a telling word in front, 0 for mere forms.
    measure : callable, optional
        Takes the text of the span and returns how many of its characters belong to it, 0 if it is no find.
    needs : str, default="0123456789"
        The rule is tried only in texts with one of these characters.
    """

    name: str
    family: str
    kind: str
    pattern: str
    languages: tuple[str, ...] = ("en", "es")
    priority: int = 1
    measure: Callable[[str], int] | None = None
    needs: str = _DIGITS


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled once."""
    return re.compile(pattern)
