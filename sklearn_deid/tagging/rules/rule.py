r"""Rule: a regular expression, the kind of PHI that the expression finds, and an optional check of each match.

Patterns match raw text and text that `sentence_text` has rebuilt from tokens. Tokens do not show the positions of the
spaces. Rebuilt text therefore has separators at three kinds of places: ``\x1f`` between a letter and a digit, ``\x1e``
between a lower and an upper case letter, and ``\x1d`` after a full stop that follows a capitalised word. ``\s`` matches
all three separators.

Each repetition in a pattern has an upper bound, so that the running time is linear in the length of the text. A test
computes the bound of each pattern from the parts of the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

MAYBE_SPACE = "\x1d\x1e\x1f"
LANGUAGES = ("en", "es", "de", "fr", "nb", "it", "pt", "nl")
_DIGITS = "0123456789"


@dataclass(frozen=True)
class Rule:
    """Rule that finds one kind of PHI by a regular expression.

    Parameters
    ----------
    name : str
        Unique name of the rule.
    family : str
        Group of rules that you select together.
    kind : str
        Kind of PHI that the rule finds. `rule_label_map` gives the label of each kind in a label scheme.
    pattern : str
        Regular expression. The span is the group ``phi`` or, without such a group, the whole match.
    languages : tuple of str, default=LANGUAGES
        Languages of the notes for which the rule is used. By default all.
    priority : int, default=1
        Rank of the rule: of overlapping spans, the span with the highest priority is kept. Rules with a keyword before
        the span have priority 2. Rules that check only the form of the span have priority 0.
    measure : callable, optional
        Function of the text of the span. The function returns how many characters at the start of the text belong to
        the span, and 0 if the match is not PHI.
    needs : str, default="0123456789"
        Characters of which every match contains at least one. Texts without any of these characters are skipped.
    keeps_stop : bool, default=False
        Whether a full stop at the end belongs to the span, as in "19.3." in German.
    """

    name: str
    family: str
    kind: str
    pattern: str
    languages: tuple[str, ...] = LANGUAGES
    priority: int = 1
    measure: Callable[[str], int] | None = None
    needs: str = _DIGITS
    keeps_stop: bool = False


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern and cache the result."""
    return re.compile(pattern)
