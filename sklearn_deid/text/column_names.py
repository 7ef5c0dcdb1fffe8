"""Names of columns that a reader takes for the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .normalization import normalize

# Greek and Cyrillic letters that look like Latin ones.
_LOOKS_LIKE = str.maketrans(
    "\u03bf\u03b1\u03c1\u03bd\u03b9\u03ba\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u04bb\u043a\u043c\u0442\u0432\u043d\u0131",
    "oapvikaeopcyxsijdhkmtbhi",
)

#: What is wrong with a column that resembles a column of texts.
ALIKE = (
    "that differs from {!r} in case or blanks only, or in letters that look alike. Its texts would be copied: name it, "
    "too, or remove it."
)

#: What is wrong with a column that nobody has named and that holds a text of a column of texts.
REPEATED = "Another column repeats a text of the column {!r}, which would be copied: name it, too, or remove it."
_FEWEST_WORDS = 5  # short texts are equal by chance


def resembled(names: Iterable[Any], texts: Sequence[str], wanted: Iterable[str]) -> str | None:
    """First of some columns of texts that a column resembles that nobody has named; None if there is none.

    Examples
    --------
    >>> resembled(["id", "note", "Note "], ["note"], ["id", "note"])
    'note'
    """
    others = [name for name in names if isinstance(name, str) and name not in wanted]
    return next((text for text in texts if any(is_alike(other, text) for other in others)), None)


def is_alike(name: str, other: str) -> bool:
    """Whether two names differ in case, blanks and look-alike characters at most.

    Examples
    --------
    >>> is_alike("Note text ", "note text"), is_alike("note text", "note_text")
    (True, False)
    """
    return _plain(name) == _plain(other)


def repeats(text: Any, others: Iterable[Any]) -> bool:
    """Whether a text of five words or more is also one of the other values of its row, or inside of one.

    Examples
    --------
    >>> repeats("Seen today by Dr. Alder", [1, ["Seen today by Dr. Alder"]]), repeats("No pain", ["No pain"])
    (True, False)
    """
    return is_long(text) and any(_holds(other, text, text.encode("utf-8", "surrogatepass")) for other in others)


def is_long(text: Any) -> bool:
    """Whether a value is a text of five words or more, which no other value of its row equals by chance."""
    return isinstance(text, str) and len(text.split()) >= _FEWEST_WORDS


def _holds(value: Any, text: str, encoded: bytes) -> bool:
    """Whether a value is a text or its bytes, or a list, an array or a mapping with such a value."""
    if isinstance(value, (str, bytes)):
        return value in (text, encoded)
    if isinstance(value, Mapping):
        return any(_holds(part, text, encoded) for item in value.items() for part in item)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "OUS" and _holds(value.tolist(), text, encoded)
    return isinstance(value, (list, tuple, set, frozenset)) and any(_holds(part, text, encoded) for part in value)


def has_words(value: Any) -> bool:
    """Whether a decoded JSON value is, or contains, a text of several words.

    Examples
    --------
    >>> has_words({"codes": ["A1", {"display": "seen today"}]}), has_words(["A1", 3])
    (True, False)
    """
    if isinstance(value, Mapping):
        return any(map(has_words, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(has_words, value))
    return isinstance(value, str) and len(value.split()) > 1


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    read = unicodedata.normalize("NFKC", normalize(f"x{name}".replace("_", "="), layout=False).text).casefold()
    return "".join(read.replace("\ufeff", "").split()).translate(_LOOKS_LIKE)
