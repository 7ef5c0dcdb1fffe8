"""Spelling variants for the lookup of a token in a table of word vectors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

_DIGIT = re.compile(r"\d")


def word_forms(word: str) -> Iterator[str]:
    """Spelling variants of a token, from the token itself to the coarsest variant.

    A lookup uses the first stored variant. The variants are, in this order:

    1. the token itself;
    2. accents composed (NFC: e + combining acute is é);
    3. lower-cased;
    4. capitalised, for "MADRID" if only "Madrid" is stored;
    5. compatibility characters replaced (NFKC: a full-width or ligature letter becomes the plain letter), lower-cased;
    6. every digit replaced by 0, then by #, because many public tables store rare numbers in this form.

    Parameters
    ----------
    word : str
        Token to look up.

    Yields
    ------
    str
        Next variant. The same variant may be repeated.

    Examples
    --------
    >>> list(dict.fromkeys(word_forms("MAY")))
    ['MAY', 'may', 'May']
    >>> list(dict.fromkeys(word_forms("1984")))
    ['1984', '0000', '####']
    """
    yield word
    composed = normalize("NFC", word)
    yield composed
    lowered = composed.lower()
    yield lowered
    yield composed.capitalize()
    plain = normalize("NFKC", word).lower()
    yield plain
    zeros = _DIGIT.sub("0", plain)
    if zeros != plain or "0" in plain:
        yield zeros
        yield _DIGIT.sub("#", plain)
