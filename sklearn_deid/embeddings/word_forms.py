"""How a token that is not among the stored words is looked up under another spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

_DIGIT = re.compile(r"\d")


def word_forms(word: str) -> Iterator[str]:
    """Spellings of a token, from the token itself to the roughest one; the first that is stored is taken.

    1. as it is;
    2. accents composed (NFC: e + combining acute is é);
    3. lower-cased;
    4. capitalised, for "MADRID" where only "Madrid" is stored;
    5. compatibility characters replaced (NFKC: a full-width or ligature letter becomes the plain one), lower-cased;
    6. every digit replaced by 0, then by #: what many public tables store in place of rare numbers.

    Parameters
    ----------
    word : str

    Yields
    ------
    str
        The same spelling may come more than once.

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
