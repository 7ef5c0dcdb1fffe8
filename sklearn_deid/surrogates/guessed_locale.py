"""Locale of a text, guessed from frequent words such as articles and prepositions."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from .locale_words import LOCALES, locale_words

_FEWEST_WORDS = 3  # that show another language


def guess_locale(text: str, default: str = "en") -> str:
    """Locale with the largest number of its frequent words in the text; at least two different words are needed.

    Words that several locales share do not count. A single word may be a title or a part of a name, as in "Dr. van
    Rey", and a single letter may be an initial.

    Parameters
    ----------
    text : str
        Note.
    default : str, default="en"
        Locale for a text with fewer frequent words.

    Examples
    --------
    >>> guess_locale("Der Patient wurde am Montag in die Klinik aufgenommen."), guess_locale("Dr. van Rey")
    ('de', 'en')
    """
    return _guessed(*_told(text)) or default


def is_of_other_locale(text: str, locale: str) -> bool:
    """Whether a text has more frequent words of another locale: at least three, and two different ones.

    Two words may be parts of a name, as in "El Camino Hospital, Los Gatos".

    Examples
    --------
    >>> is_of_other_locale("Der Patient wurde am Montag in die Klinik aufgenommen.", "en")
    True
    """
    tokens, counts = _told(text)
    guess = _guessed(tokens, counts)
    return guess not in ("", locale) and counts[guess] >= _FEWEST_WORDS


def _told(text: str) -> tuple[set[str], Counter[str]]:
    """Words of a text, and for each locale the number of words that only this locale has."""
    # "7:40 am" is no German word.
    tokens = re.findall(r"(?<![^\W_])(?<!\d )[^\W\d_]{2,}", text.casefold())
    return set(tokens), Counter(filter(None, map(_telling_words().get, tokens)))


def _guessed(tokens: set[str], counts: Counter[str]) -> str:
    """Locale with the largest number; empty if the text has fewer than two of its words."""
    best = max(LOCALES, key=counts.__getitem__)
    return best if counts and len(tokens & set(locale_words(best).block("function words"))) > 1 else ""


@cache
def _telling_words() -> dict[str, str]:
    """Function words that only one locale has, each with its locale."""
    listed = [(word, locale) for locale in LOCALES for word in locale_words(locale).block("function words")]
    n_locales = Counter(word for word, _ in listed)
    return {word: locale for word, locale in listed if n_locales[word] == 1}
