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
WINDOW = 48  # characters before a span
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
    lead : int, default=0
        Most characters of a match before the first character of ``needs``, which must be a single one. The text further
        in front is not searched. 0 means that the whole text is searched.
    keeps_stop : bool, default=False
        Whether a full stop at the end belongs to the span, as in "19.3." in German.
    words : tuple of str, default=()
        Parts of words in lower case of which every match contains at least one. Texts without any of these parts are
        skipped. By default, only ``needs`` decides.
    after, not_after : str, default=""
        Regular expressions for the end of the `WINDOW` characters before the span. The span counts only if the text
        before the span ends with ``after``, and does not end with ``not_after``. In contrast to a look-behind, the
        expressions may have any width, and are tried only at matches.
    not_before : str, default=""
        Regular expression for the text behind the span. The span does not count if this text starts with
        ``not_before``.
    """

    name: str
    family: str
    kind: str
    pattern: str
    languages: tuple[str, ...] = LANGUAGES
    priority: int = 1
    measure: Callable[[str], int] | None = None
    needs: str = _DIGITS
    lead: int = 0
    keeps_stop: bool = False
    words: tuple[str, ...] = ()
    after: str = ""
    not_after: str = ""
    not_before: str = ""

    def fits(self, text: str, start: int, end: int) -> bool:
        """Whether the text around a span allows the span."""
        window = max(0, start - WINDOW), start
        if self.after and compiled(rf"(?:{self.after})\Z").search(text, *window) is None:
            return False
        if self.not_after and compiled(rf"(?:{self.not_after})\Z").search(text, *window) is not None:
            return False
        return not self.not_before or compiled(self.not_before).match(text, end) is None


def word_starts(alternatives: str) -> tuple[str, ...]:
    """First letters of the words of a pattern, for `Rule.words`; nothing if a word may begin in another way.

    Examples
    --------
    >>> word_starts(r"mrn|record number|n[úu]mero"), word_starts(r"[âa]ge|alter")
    (('mrn', 'record', 'n'), ())
    """
    starts = []
    for word in alternatives.split("|"):
        found = re.match(r"(?:\(\?:)?([^\W\d_]*)(?=([?*{])?)", word)
        assert found is not None
        # A letter before one of these signs may be missing.
        starts.append((found[1][:-1] if found[2] else found[1]).casefold())
    return tuple(dict.fromkeys(starts)) if all(starts) else ()


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern and cache the result."""
    return re.compile(pattern)
