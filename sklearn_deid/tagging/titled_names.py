"""Names with the titles in front of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache

from ..surrogates import LOCALES
from ..surrogates.folding import fold
from ..surrogates.guessed_locale import guess_locale
from ..surrogates.label_kinds import known_labels
from ..surrogates.locale_words import LocaleWords, locale_words
from ..surrogates.titles import is_title
from ..text import Span

# As many words as a long title has ("Prof. Dr. med. Dr. rer. nat."), on the line of the name.
# Any blank but a line break, and characters that nobody sees.
_GAP = r"(?:[^\S\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|[\u00ad\u200b-\u200f\u2060\ufeff])"
_WORDS_BEFORE = re.compile(rf"(?:[^\W\d_][^\W\d_'’-]*(?:\.?-|{_GAP}{{0,2}}\.{_GAP}{{0,3}}|{_GAP}{{1,3}})){{1,6}}\Z")
_LONGEST = 60  # characters
_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]")
# Titles that are ordinary words in front of a name: relatives ("her father Tom"), and what belongs behind a name, which
# in front is a class, a grade or a verb ("NYHA class III. Alder").
_ORDINARY = frozenset(
    "brother father sister padre menina menino broeder zuster schwester s\u0153ur ii iii iv do".split()
)


def with_titles(spans: Iterable[Span], text: str) -> tuple[Span, ...]:
    """Let each span of a person begin with the titles directly in front of it.

    The titles are those of the language of the text, or of all languages of the surrogates if the text is too short to
    show its language. A span never grows into the span before it.

    Parameters
    ----------
    spans : iterable of Span
        Spans of the text, sorted by start.
    text : str
        Text of the note.

    Returns
    -------
    tuple of Span

    Examples
    --------
    >>> from sklearn_deid import Span
    >>> text = "Seen by Prof. Dr. Alder and Mrs. Birch."
    >>> found = with_titles([Span(18, 23, "DOCTOR"), Span(33, 38, "PATIENT")], text)
    >>> [text[span.start : span.end] for span in found]
    ['Prof. Dr. Alder', 'Mrs. Birch']
    """
    result: list[Span] = []
    languages = cache(lambda: _languages(guess_locale(text, default="")))
    last = 0
    for span in spans:
        # Annotated spans may overlap: a span inside of the span before it has no text in front.
        if known_labels().get(span.label) == "person" and last < span.start:
            lowest = max(last, span.start - _LONGEST)
            span = replace(span, start=_start_of_titles(text[lowest : span.start], lowest, languages))
        result.append(span)
        last = max(last, span.end)
    return tuple(result)


def _start_of_titles(before: str, offset: int, languages: Callable[[], tuple[LocaleWords, ...]]) -> int:
    """Start of the longest title that ends the text before a name; the end of this text without a title."""
    found = _WORDS_BEFORE.search(before)
    if found is not None:
        for word in _WORD.finditer(before, found.start()):
            if any(_is_in_front(before[word.start() :], words) for words in languages()):
                return offset + word.start()
    return offset + len(before)


def _is_in_front(text: str, words: LocaleWords) -> bool:
    """Whether a text consists of titles that are in front of names, the last of which is no degree ("Pt. Alder")."""
    if not is_title(text, words):
        return False
    found = [fold(word) for word in re.findall(r"[^\W\d_]+", text)]
    degrees = set(map(fold, words.block("degrees"))) - words.titles
    return _ORDINARY.isdisjoint(found) and found[-1] not in degrees


def _languages(name: str) -> tuple[LocaleWords, ...]:
    """Words of a language, or of all languages for a text that is too short to show its language."""
    return tuple(locale_words(known) for known in ((name,) if name else LOCALES))
