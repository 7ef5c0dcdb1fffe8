"""Kinds of words by the casing classes in which they can be written; a released casing distinguishes kinds."""

from __future__ import annotations

import re
from operator import ne
from weakref import WeakKeyDictionary

import numpy as np

from ..embeddings import WordVectors
from ..text import CASING_CLASSES, CASING_PATTERNS, apply_casing, casing_class, casing_ids

# Two letters, the first in front, among other ASCII characters without digits.
_PLAIN = re.compile(r'[a-z][ -"$-/:-~]*[a-z][ -"$-/:-~]*')
# Word vectors never change, and a table of 400,000 words takes seconds; the kinds hold no words.
_FOUND: WeakKeyDictionary[WordVectors, np.ndarray] = WeakKeyDictionary()


def casing_kinds(vectors: WordVectors) -> np.ndarray:
    """Return, for each word, the casing classes of the tokens that are looked up as this word, as bits of an integer.

    Words of one set can be written in the same casing classes, so that a released class does not distinguish them.

    Parameters
    ----------
    vectors : WordVectors
        Public word vectors.

    Returns
    -------
    ndarray of int, shape (n_words,)
        Read-only; computed only once for each `WordVectors` object.

    Examples
    --------
    >>> words = ["pain", "alder", "x", "2019", "b12"]
    >>> [f"{kind:b}" for kind in casing_kinds(WordVectors(words, np.eye(5), is_public=True)).tolist()]
    ['111001', '111001', '11000', '10', '100']
    """
    if vectors not in _FOUND:
        _FOUND[vectors] = _kinds_of(vectors)
        _FOUND[vectors].flags.writeable = False
    return _FOUND[vectors]


def _kinds_of(vectors: WordVectors) -> np.ndarray:
    words = vectors.words
    kinds = np.zeros(len(words), dtype=np.int64)
    rows = np.arange(len(words))
    if all(word == word.lower() for word in words):
        # Plain words can be written in lower case, in capitals, with a first capital, and in another way ("mcCoy").
        usual = sum(1 << casing_class(form) for form in ("ab", "AB", "Ab", "aB"))
        plain = np.array([_PLAIN.fullmatch(word) is not None for word in words], dtype=bool)
        kinds[plain], rows = usual, rows[~plain]
    kinds[rows] |= 1 << casing_ids([words[row] for row in rows.tolist()])
    # Numbers and punctuation have no other spelling.
    rows = np.array(
        [row for row in rows.tolist() if words[row].lower() != words[row].upper() or "#" in words[row]], int
    )
    rest = [words[row] for row in rows.tolist()]
    for forms in zip(*map(_forms, rest), strict=True):
        changed = np.flatnonzero(list(map(ne, forms, rest)))
        spelled, of = [forms[i] for i in changed.tolist()], rows[changed]
        # Another word can be found for a form, if the word vectors have words with capitals.
        found = vectors.indices(spelled) == of
        kinds[of[found]] |= 1 << casing_ids(spelled)[found]
    return kinds


def _forms(word: str) -> list[str]:
    """Spellings of a word with all casing classes that its characters allow."""
    lower = word.lower()
    written = [apply_casing(word, pattern) for pattern in range(len(CASING_PATTERNS))]
    last = max((i for i, c in enumerate(lower) if c.upper() != c), default=0)
    inner = lower[:last] + lower[last : last + 1].upper() + lower[last + 1 :]
    # If "Mcdonald" is also a word, "McDonald" is looked up as "mcdonald".
    mixed = inner[:1].upper() + inner[1:]
    # Public tables store numbers as "##"; digits are looked up there, also beside the sign itself and in mixed casing.
    n = word.count("#")
    numbers = [form.replace("#", "1", count) for form in (word, inner) for count in (1, n - 1, n)] if n else [word] * 6
    return [*written, inner, mixed, word[:1].upper() + lower[1:], *numbers]


def mixed_kinds(classes: np.ndarray, kinds: np.ndarray, n_classes: int) -> bool:
    """Return whether a class holds words of several kinds.

    Examples
    --------
    >>> mixed_kinds(np.array([0, 0, 1]), np.array([2, 2, 4]), 2), mixed_kinds(np.array([0, 0]), np.array([2, 4]), 1)
    (False, True)
    """
    own = classes < n_classes
    return len(np.unique(classes[own] * (1 << len(CASING_CLASSES)) + kinds[own])) > len(np.unique(classes[own]))
