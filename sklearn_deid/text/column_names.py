"""Names of columns that a person could confuse."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .normalization import normalize
from .word_counts import count_words

# Greek and Cyrillic letters that look like Latin letters.
_LOOKS_LIKE = str.maketrans(
    "\u03bf\u03b1\u03c1\u03bd\u03b9\u03ba\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u04bb\u043a\u043c\u0442\u0432\u043d\u0131",
    "oapvikaeopcyxsijdhkmtbhi",
)

#: Description of the problem of a column that resembles a column of texts.
ALIKE = (
    "that differs from {!r} in case or blanks only, or in letters that look alike. Its texts would be copied: name it, "
    "too, or remove it."
)

#: Description of the problem of a column that nobody has named and that holds a text of a column of texts.
REPEATED = "Another column repeats a text of the column {!r}, or a part, and is copied: name it, too, or remove it."

#: Description of the problem of a name inside of the values of a column that nobody has named.
INSIDE = "A value of another column holds a name like {!r}, whose text would be copied. Rename or remove it."

#: Description of the problem of a name, of a column or of an index, that holds a text of a column of texts.
IN_NAME = "The name of a column, or of an index, holds a text of the column {!r} and is copied: rename it."

#: Description of the problem of a name that a column of texts probably has from a note.
NAME_IS_TEXT = (
    "The name of a column of texts has a line break, or more characters than databases allow, and is copied: it may be "
    "the first note of a file without a header. Rename it, or read the file with header=None."
)
_FEWEST_WORDS = 5  # short texts are equal by chance
_LONGEST_NAME = 128  # of the usual databases
# Length of a part of a text, and its fewest blanks. Shorter parts, and longer parts of few words, are names and
# diagnoses in columns of their own.
_PARTS = ((24, _FEWEST_WORDS - 1), (40, 0))
_FEW_PARTS = 200
# In a copy without blanks, such as the name of a file, signs can stand in place of the blanks.
_WITHOUT_BLANKS = ((40, 0),)
_SIGNS = re.compile(r"[\W_]+")
# Drivers of databases return bytes in different types.
_BYTES = (bytes, bytearray, memoryview)
# Values that can be, or contain, a text of so many words.
_WIDE = (str, *_BYTES, Mapping, list, tuple, set, frozenset, np.ndarray)


def resembled(names: Iterable[Any], texts: Sequence[str], wanted: Iterable[Any]) -> str | None:
    """First column of texts whose name resembles the name of a column that was not passed; None without such a column.

    Examples
    --------
    >>> resembled(["id", "note", "Note "], ["note"], ["id", "note"])
    'note'
    """
    others = [name for name in names if isinstance(name, str) and name not in wanted]
    return next((text for text in texts if any(is_alike(other, text) for other in others)), None)


def is_alike(name: str, other: str) -> bool:
    """Whether two names differ at most in case, blanks and look-alike characters.

    Examples
    --------
    >>> is_alike("Note text ", "note text"), is_alike("note text", "note_text")
    (True, False)
    """
    return _plain(name) == _plain(other)


def repeats(text: Any, others: Iterable[Any]) -> bool:
    """Whether a text, or a part of the text, occurs in or equals another value of the row.

    The text must have at least five words. A part must have 24 characters with four blanks, or 40 characters. Case and
    repeated blanks are ignored. In a part without blanks, at least 40 letters and digits are compared, and signs are
    ignored. The function also searches the strings inside of JSON.

    Examples
    --------
    >>> repeats("Seen today by Dr. Alder", [1, ["seen today by Dr.  Alder"]]), repeats("No pain", ["No pain"])
    (True, False)
    >>> repeats("Seen today by Dr. Alder on the ward", ["Seen today by Dr. Alder on t"])
    True
    """
    # Most values are too short, and texts are long.
    wide = [other for other in others if isinstance(other, _WIDE) and not _is_short(other)]
    if wide and isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not wide or not isinstance(text, str):
        return False
    words = text.casefold().split()
    return any(_is_of(words, part) for part in _parts(wide) if not _is_short(part))


def long_texts(values: Iterable[Any], n_words: int) -> Iterator[str]:
    """Texts of at least so many words among values, inside of them and inside of their JSON.

    The texts have small letters and single blanks.

    Examples
    --------
    >>> sorted(long_texts(["A  b c\\n", 1, ["a", '["E f g"]'], b"h i J", "k l"], 3))
    ['["e f g"]', 'a b c', 'e f g', 'h i j']
    """
    shortest = 2 * n_words - 1
    for part in _parts(value for value in values if isinstance(value, _WIDE)):
        # Most values end here.
        if isinstance(part, (str, *_BYTES)) and len(part) >= shortest:
            for text in _with_json(part):
                if (folded := folded_text(text, n_words)) is not None:
                    yield folded


def folded_text(text: str, n_words: int) -> str | None:
    """Text with small letters and single blanks; None for a text of fewer words, as `count_words` counts.

    Examples
    --------
    >>> folded_text("Seen  TODAY\\n", 2), folded_text("Seen", 2)
    ('seen today', None)
    """
    words = text.casefold().split()
    return " ".join(words) if len(words) >= n_words or count_words(text) >= n_words else None


def decoded(value: Any) -> str | None:
    """A string, or bytes as a string; None for other values.

    Examples
    --------
    >>> decoded(b"seen"), decoded("seen"), decoded(7)
    ('seen', 'seen', None)
    """
    if isinstance(value, _BYTES):
        return bytes(value).decode("utf-8", "replace")
    return value if isinstance(value, str) else None


def is_text_name(name: Any) -> bool:
    """Whether the name of a column has a line break or more than 128 characters, as a note has and no usual name.

    Examples
    --------
    >>> is_text_name("Reason for admission, in words of the patient"), is_text_name("Seen today.\\nNo pain.")
    (False, True)
    """
    return isinstance(name, str) and (len(name) > _LONGEST_NAME or len(name.splitlines()) > 1)


def named_text(names: Iterable[Any], texts: Iterable[tuple[str, Any]]) -> str | None:
    """Column of the first whole text that a name holds; None without such a text.

    The text must have at least five words. Case and repeated blanks are ignored. A part of a text is not enough: notes
    repeat the names of the fields of a form.

    Parameters
    ----------
    names : iterable of object
        Names of columns and of indexes. The names of a level can be in tuples.
    texts : iterable of (str, object)
        Column and value of each cell.

    Examples
    --------
    >>> named_text(["id", "note_Seen today by  Dr. Alder"], [("note", "seen today by Dr. Alder")])
    'note'
    """
    folded = (" ".join(name.casefold().split()) for name in strings_inside(names))
    wide = [name for name in folded if count_words(name) >= _FEWEST_WORDS]
    for column, text in texts if wide else ():
        if isinstance(text, str) and (whole := folded_text(text, _FEWEST_WORDS)) is not None:
            if any(whole in name for name in wide):
                return column
    return None


def _is_short(value: Any) -> bool:
    """Whether a value has too few words and characters to repeat a text."""
    if not isinstance(value, (str, *_BYTES)):
        return False
    if len(value) < 2 * _FEWEST_WORDS - 1:
        return True
    # Other letters can be longer in lower case, and JSON can hold blanks in escapes. Most names of columns end here.
    if not isinstance(value, str) or not value.isascii() or "\\" in value:
        return False
    return len(value) < _PARTS[0][0] and len(value.split()) < _FEWEST_WORDS


def _is_of(words: Sequence[str], value: Any) -> bool:
    """Whether a text consists of these words or shares a part with them, or is JSON with such a text."""
    for text in _with_json(value):
        other = text.casefold().split()
        if (words == other and _is_long(words)) or _share(" ".join(words), " ".join(other), _PARTS):
            return True
        if (joined := _without_blanks(other)) and _share(_SIGNS.sub("", "".join(words)), joined, _WITHOUT_BLANKS):
            return True
    return False


def _without_blanks(words: Sequence[str]) -> str:
    """Letters and digits of the words that are long enough for a part of a text without its blanks."""
    return "".join(_SIGNS.sub("", word) for word in words if len(word) >= _WITHOUT_BLANKS[0][0])


def _is_long(words: Sequence[str]) -> bool:
    return len(words) >= _FEWEST_WORDS or count_words(" ".join(words)) >= _FEWEST_WORDS


def _with_json(value: Any) -> Iterator[str]:
    """Text of a value and, if this text is JSON, the strings inside. Other values have none."""
    text = decoded(value)
    if text is None:
        return
    yield text
    if text.lstrip()[:1] in ("{", "["):
        yield from (part for part in _parts([_loaded(text)]) if isinstance(part, str))


def _share(text: str, other: str, lengths: Sequence[tuple[int, int]]) -> bool:
    """Whether two texts have a part of such a length and number of blanks in common, in linear time."""
    short, long = sorted((text, other), key=len)
    for length, n_blanks in lengths:
        parts = {part for part in _windows(short, length) if part.count(" ") >= n_blanks}
        # A search is far faster than slices, but each part needs one.
        is_few = len(parts) <= _FEW_PARTS
        if any(part in long for part in parts) if is_few else not parts.isdisjoint(_windows(long, length)):
            return True
    return False


def _windows(text: str, length: int) -> Iterator[str]:
    return (text[start : start + length] for start in range(len(text) - length + 1))


def _parts(values: Iterable[Any]) -> Iterator[Any]:
    """Values, and the values inside of lists and objects, to any depth. The tokens of a list also form a text."""
    left = list(values)
    while left:
        value = left.pop()
        yield value
        if isinstance(value, Mapping):
            left += (*value.keys(), *value.values())
        elif isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
            items = value.ravel().tolist() if isinstance(value, np.ndarray) else list(value)
            left += items
            if len(items) >= _FEWEST_WORDS and all(map(_is_token, items)):
                # Tokens of a text are too short to be found one by one. A list of diagnoses has longer items.
                words = [item if isinstance(item, str) else item.decode("utf-8", "replace") for item in items]
                left.append(joined := " ".join(words))
                if not joined.isascii():
                    left.append("".join(words))  # of a script without spaces


def _is_token(value: Any) -> bool:
    return isinstance(value, (str, bytes)) and len(value.split()) <= 1


def _loaded(value: str) -> Any:
    """Value of a JSON string; None if the string is not JSON."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def has_words(value: Any) -> bool:
    """Whether a decoded JSON value is, or contains, a text of several words.

    Examples
    --------
    >>> has_words({"codes": ["A1", {"display": "seen today"}]}), has_words(["A1", 3])
    (True, False)
    """
    return any(isinstance(part, str) and count_words(part) > 1 for part in _parts([value]))


def strings_inside(values: Iterable[Any]) -> Iterator[str]:
    """Strings, and decoded bytes, among values and inside of them.

    Examples
    --------
    >>> sorted(strings_inside(["a", 1, (b"b", ["c"])]))
    ['a', 'b', 'c']
    """
    for part in _parts(values):
        if (text := decoded(part)) is not None:
            yield text


def names_inside(values: Iterable[Any]) -> Iterator[str]:
    """Keys of all objects among decoded JSON values and inside of them.

    Examples
    --------
    >>> list(names_inside(["a", [{"label": {"text": "b"}}]]))
    ['label', 'text']
    """
    for value in _parts(values):
        if isinstance(value, Mapping):
            yield from value


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    read = unicodedata.normalize("NFKC", normalize(f"x{name}".replace("_", "="), layout=False).text).casefold()
    return "".join(read.replace("\ufeff", "").split()).translate(_LOOKS_LIKE)
