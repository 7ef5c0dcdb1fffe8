"""Characters and shapes of words as small integers, without any vocabulary.

A vocabulary of training tokens is note text; classes that are computed from the characters themselves are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase, digits
from zlib import crc32

import numpy as np

N_CHARACTER_CLASSES = 512
N_SHAPE_CLASSES = 256

_DIGIT = re.compile(r"\d")
_UPPER_OR_LETTER = re.compile(r"[^\W\d_]")
_ASCII_SHAPE = str.maketrans(ascii_uppercase + ascii_lowercase + digits, "X" * 26 + "x" * 26 + "d" * 10)
_REPEATED = re.compile(r"(.)\1{2,}")


def character_ids(words: Sequence[str], max_length: int = 24) -> np.ndarray:
    """Class of each character of each word.

    Parameters
    ----------
    words : sequence of str, length n
    max_length : int, default=24
        Longer words are represented by their first and last ``max_length // 2`` characters. Only this feature is cut,
        never the note.

    Returns
    -------
    ndarray of shape (n, max_length), dtype int64
        0 is padding; a character's class is its code point modulo 511, plus 1, so Latin letters, digits and
        punctuation keep classes of their own and all other scripts share them.

    Examples
    --------
    >>> character_ids(["ab", "a"], max_length=3)
    array([[98, 99,  0],
           [98,  0,  0]])
    """
    half = max_length // 2
    cut = [w if len(w) <= max_length else w[: max_length - half] + w[-half:] for w in words]
    lengths = np.fromiter(map(len, cut), dtype=np.int64, count=len(cut))
    # Lone surrogates occur in badly decoded files and must not stop a note from being processed.
    codes = np.frombuffer("".join(cut).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    out = np.zeros((len(cut), max_length), dtype=np.int64)
    out[np.arange(max_length) < lengths[:, None]] = codes % (N_CHARACTER_CLASSES - 1) + 1
    return out


def word_shape(word: str) -> str:
    """Letters as X or x, digits as d, all else as it is, and runs of one sign cut to two.

    Examples
    --------
    >>> word_shape("Anderson"), word_shape("2019"), word_shape("-")
    ('Xxx', 'dd', '-')
    """
    if word.isascii():
        return _REPEATED.sub(r"\1\1", word.translate(_ASCII_SHAPE))
    letters = _UPPER_OR_LETTER.sub(lambda m: "X" if m[0].isupper() else "x", _DIGIT.sub("0", word))
    return _REPEATED.sub(r"\1\1", letters.replace("0", "d"))


def shape_ids(words: Sequence[str]) -> np.ndarray:
    """Hashed class (1 to 255) of each word's shape, shape (n,), dtype int64.

    Examples
    --------
    >>> bool(shape_ids(["Smith"])[0] == shape_ids(["Jones"])[0])
    True
    """
    shapes = (crc32(word_shape(w).encode("utf-8", "surrogatepass")) for w in words)
    return np.fromiter((s % (N_SHAPE_CLASSES - 1) + 1 for s in shapes), dtype=np.int64, count=len(words))
