"""Decision which PHI words are replaced and which words are kept, with the reason."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..embeddings import WordVectors

# Actions for a word. Words with one of the first four actions are replaced; words with one of the last two stay.
MOVE, DIGITS, RANDOM, SHAPE, EXCLUDED, UNKNOWN = range(6)

# Word vectors never change, and one fit of a representer asks three times; the kinds hold no words.
_FOUND: WeakKeyDictionary[WordVectors, tuple[np.ndarray, np.ndarray]] = WeakKeyDictionary()


class WordPolicy:
    """Assign an action to each word; no random draw is involved.

    Parameters
    ----------
    vectors : WordVectors
        Word vectors. A word without a row, or with a zero vector, is unknown.
    exclude : frozenset of str
        Lower-case words that are kept if they are written in lower case.
    digits : {"same", "random"}
        "random" replaces all-digit words by a random all-digit word. "same" treats all-digit words like other words.
    unknown : {"shape", "random", "keep", "raise"}
        Treatment of unknown words. With "raise", the caller raises the error, since the labels are known only to the
        caller.
    """

    def __init__(self, vectors: WordVectors, exclude: frozenset[str], digits: str, unknown: str) -> None:
        self.vectors, self.exclude, self.digits, self.unknown = vectors, exclude, digits, unknown

    def actions(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the action for each word (int8) and its row in the vectors (-1 where unknown), both (n_words,)."""
        rows = self.vectors.indices(words)
        # A zero vector has no direction, so it has no nearest words: the word counts as unknown.
        known = np.flatnonzero(rows >= 0)
        rows[known[~self.vectors.vectors_at(rows[known]).any(axis=1)]] = -1
        otherwise = {"shape": SHAPE, "random": RANDOM}.get(self.unknown, UNKNOWN)
        actions = np.where(rows >= 0, MOVE, otherwise).astype(np.int8)
        for i, word in enumerate(words):
            # The comparison keeps the case: "May" and "Will" are replaced, although "may" and "will" are stop words.
            if word in self.exclude or not any(map(str.isalnum, word)):
                actions[i] = EXCLUDED
            elif self.digits == "random" and word.isdigit():
                actions[i] = DIGITS
        return actions, rows


def words_to_exclude(exclude: Any) -> frozenset[str]:
    """Return the words that an ``exclude`` parameter selects.

    Parameters
    ----------
    exclude : str, collection of str or None
        ISO language code, for spaCy's stop words of that language; or words; or None for no words.

    Raises
    ------
    ValueError
        If spaCy has no stop words for the language.
    TypeError
        If ``exclude`` has another type.
    """
    if exclude is None:
        return frozenset()
    if isinstance(exclude, str):
        try:
            # A code with a dot, such as "en.examples", would import another module.
            module = import_module(f"spacy.lang.{exclude}.stop_words") if exclude.isidentifier() else None
        except ModuleNotFoundError:
            module = None
        if module is None:
            raise ValueError(
                f"The 'exclude' parameter must be a language code that spaCy knows, such as 'en' or 'es', words, or "
                f"None. Got {exclude!r} instead."
            )
        return frozenset(module.STOP_WORDS)
    if isinstance(exclude, Collection) and all(isinstance(word, str) for word in exclude):
        return frozenset(word.lower() for word in exclude)
    raise TypeError(
        "The 'exclude' parameter must be a language code, a collection of words, or None. "
        f"Got {type(exclude).__name__} instead."
    )


def usable_words(vectors: WordVectors) -> np.ndarray:
    """Return which words can be a surrogate: single tokens with a direction; shape (n_words,), bool, read-only."""
    return _kinds_of(vectors)[0]


def digit_words(vectors: WordVectors) -> np.ndarray:
    """Return which words have digits only; shape (n_words,), bool, read-only."""
    return _kinds_of(vectors)[1]


def _kinds_of(vectors: WordVectors) -> tuple[np.ndarray, np.ndarray]:
    if vectors not in _FOUND:
        words = vectors.words
        # Nearly every table holds single tokens alone, and two calls find that for 400,000 words.
        if " ".join(words).split() == words:
            is_token = np.ones(len(words), dtype=bool)
        else:
            is_token = np.fromiter((len(word.split()) == 1 for word in words), dtype=bool, count=len(words))
        is_digits = np.fromiter(map(str.isdigit, words), dtype=bool, count=len(words))
        _FOUND[vectors] = is_token & vectors.has_direction(), is_digits
        for found in _FOUND[vectors]:
            found.flags.writeable = False
    return _FOUND[vectors]
