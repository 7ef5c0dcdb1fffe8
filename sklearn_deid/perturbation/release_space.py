"""Numbers for the strings that a mechanism can release, so that equal strings get equal numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..embeddings import WordVectors
from ..text import apply_casing

__all__ = ["ReleaseSpace"]

# Numbers kept for tokens that are no word of the table: unknown words that stay, and shapes of those that do not.
_FREE = 100_000
_PATTERNS = (1, 2, 3)


class ReleaseSpace:
    """Three casings of each word of the table, the stored spellings beside them, and free numbers for all else.

    Parameters
    ----------
    vectors : WordVectors

    Notes
    -----
    Two words that differ but are written alike in capitals (``ß`` and ``ss``) keep different numbers. That tells an
    attacker more than the string does: what is computed from it errs to the unsafe side of the mechanism.
    """

    def __init__(self, vectors: WordVectors) -> None:
        self._form: dict[str, int] = {}
        words = vectors.words
        self._form_of = np.fromiter(
            (self._form.setdefault(word.lower(), len(self._form)) for word in words), dtype=np.int64, count=len(words)
        )
        self._stored = np.array(
            [self._regular(word, form) for word, form in zip(words, self._form_of.tolist(), strict=True)]
        )
        irregular = self._stored < 0
        self._stored[irregular] = 3 * len(self._form) + np.arange(irregular.sum())
        # Some patterns write a word alike: "12" in all three, one letter in two of them.
        self._column = np.array([self._columns_of_form(form) for form in self._form]).reshape(-1, 3)
        self._irregular = {words[i]: int(self._stored[i]) for i in np.flatnonzero(irregular).tolist()}
        self._first_free = 3 * len(self._form) + len(self._irregular)
        self._other: dict[str, int] = {}

    @property
    def n_columns(self) -> int:
        """How many numbers there are."""
        return self._first_free + _FREE

    def of_rows(self, rows: np.ndarray, pattern: int) -> np.ndarray:
        """Numbers of words of the table in one of the casing patterns."""
        return self._column[self._form_of[rows], pattern - 1] if pattern else self._stored[rows]

    def of_tokens(self, tokens: Sequence[str]) -> np.ndarray:
        """Numbers of strings as they are."""
        return np.fromiter(map(self._of_token, tokens), dtype=np.int64, count=len(tokens))

    def other(self, name: str) -> int:
        """The number of something that is no word of the table, the same at every call."""
        if name not in self._other:
            if len(self._other) == _FREE:
                raise ValueError(f"There are more than {_FREE} distinct tokens that are not in the word vectors.")
            self._other[name] = self._first_free + len(self._other)
        return self._other[name]

    def _of_token(self, token: str) -> int:
        form = self._form.get(token.lower())
        regular = -1 if form is None else self._regular(token, form)
        if regular >= 0:
            return regular
        return self._irregular[token] if token in self._irregular else self.other(token)

    def _regular(self, word: str, form: int) -> int:
        """Number of a word that is its lower-case form in one of the patterns, else -1."""
        lowered = word.lower()
        for pattern in _PATTERNS:
            if word == apply_casing(lowered, pattern):
                return 3 * form + pattern - 1
        return -1

    def _columns_of_form(self, lowered: str) -> list[int]:
        form = self._form[lowered]
        return [self._regular(apply_casing(lowered, pattern), form) for pattern in _PATTERNS]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_other": {}}  # words of the notes do not travel
