"""Characters and shapes of words as small integers, without a vocabulary.

A saved vocabulary of training tokens would contain note text. Integers that are computed from the characters contain no
note text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase, digits
from zlib import crc32

import numpy as np

# Parts of the format of saved taggers: the network has an embedding for each class, and 0 is padding.
N_CHARACTER_CLASSES = 512
N_SHAPE_CLASSES = 256

_DIGIT = re.compile(r"\d")
_UPPER_OR_LETTER = re.compile(r"[^\W\d_]")
_ASCII_SHAPE = str.maketrans(ascii_uppercase + ascii_lowercase + digits, "X" * 26 + "x" * 26 + "d" * 10)
# A sign before two equal signs. Without such signs, runs have two signs.
_REPEATED = re.compile(r"(.)(?=\1\1)")
SURROGATES = re.compile("[\ud800-\udfff]")
#: Description of the problem of a text that holds a lone surrogate.
LONE_SURROGATE = "The text holds a lone surrogate, which is not a character."


def has_surrogate(text: str) -> bool:
    """Whether the text contains a lone surrogate, which UTF-8 cannot encode."""
    return SURROGATES.search(text) is not None


def character_ids(words: Sequence[str], max_length: int = 24) -> np.ndarray:
    """Class of each character of each word.

    Parameters
    ----------
    words : sequence of str, length n
        Words of any length.
    max_length : int, default=24
        Number of characters that represent a word. A longer word is represented by its first and last ``max_length //
        2`` characters. The shortened word affects only this feature, never the note.

    Returns
    -------
    ndarray of shape (n, max_length), dtype int64
        Class of each character; 0 is padding. The class is the code point modulo 511, plus 1. Latin letters, digits and
        punctuation therefore have distinct classes. Characters of all other scripts share the 511 classes.

    Examples
    --------
    >>> character_ids(["ab", "a"], max_length=3)
    array([[98, 99,  0],
           [98,  0,  0]])
    """
    # The middle of a long word is cut. The start and the end are kept in equal parts.
    half = max_length // 2
    cut = [w if len(w) <= max_length else w[: max_length - half] + w[len(w) - half :] for w in words]
    lengths = np.fromiter(map(len, cut), dtype=np.int64, count=len(cut))
    # Lone surrogates (half characters of UTF-16) occur in badly decoded files. Such a note must still be processed.
    # shape: (total number of characters,)
    codes = np.frombuffer("".join(cut).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    # The mask selects the first lengths[i] columns of row i, in the same order as the joined characters.
    # shape: (n, max_length)
    out = np.zeros((len(cut), max_length), dtype=np.int64)
    out[np.arange(max_length) < lengths[:, None]] = codes % (N_CHARACTER_CLASSES - 1) + 1
    return out


def word_shape(word: str) -> str:
    """Shape of a word: letters become X or x, digits become d, and runs of one sign are shortened to two signs.

    Examples
    --------
    >>> word_shape("Anderson"), word_shape("2019"), word_shape("-")
    ('Xxx', 'dd', '-')
    """
    if word.isascii():
        return _REPEATED.sub("", word.translate(_ASCII_SHAPE))
    letters = _UPPER_OR_LETTER.sub(lambda m: "X" if m[0].isupper() else "x", _DIGIT.sub("0", word))
    return _REPEATED.sub("", letters.replace("0", "d"))


def shape_ids(words: Sequence[str]) -> np.ndarray:
    """Hashed class (1 to 255) of each word's shape, shape (n,), dtype int64.

    Examples
    --------
    >>> bool(shape_ids(["Smith"])[0] == shape_ids(["Jones"])[0])
    True
    """
    # Most words have one of few shapes, and all words of ASCII characters can be changed at once.
    plain = [word for word in words if word.isascii() and "\n" not in word]
    together = iter(_REPEATED.sub("", "\n".join(plain).translate(_ASCII_SHAPE)).split("\n"))
    shapes = [next(together) if word.isascii() and "\n" not in word else word_shape(word) for word in words]
    # crc32 is equal in every process. ``hash`` of a string changes with each start of Python.
    number = {s: crc32(s.encode("utf-8", "surrogatepass")) % (N_SHAPE_CLASSES - 1) + 1 for s in set(shapes)}
    return np.fromiter((number[s] for s in shapes), dtype=np.int64, count=len(words))
