"""Numbers for the strings that a mechanism can release; two strings have the same number only if they are equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import ne

import numpy as np

from ..embeddings import WordVectors
from ..text import apply_casing

# Numbers reserved for strings that are no word of the table in any casing: unknown words that stay, and shapes.
_FREE = 100_000
_PATTERNS = (1, 2, 3)


class ReleaseSpace:
    """Number each lower-case word of the table in three casings, and all other strings.

    Parameters
    ----------
    vectors : WordVectors
    """

    def __init__(self, vectors: WordVectors) -> None:
        # Tables have 400,000 words: all of them take the same few calls, and few words need the general method.
        words, n = vectors.words, len(_PATTERNS)
        lowered = list(map(str.lower, words))
        self._form = {form: number for number, form in enumerate(dict.fromkeys(lowered))}
        self._form_of = np.fromiter(map(self._form.__getitem__, lowered), dtype=np.int64, count=len(words))
        self._other: dict[str, int] = {}
        self._first_row: np.ndarray | None = None
        # The true number is known only after all words of the table are numbered; until then there is no limit.
        self._n_columns = 2**62
        self._stored = n * self._form_of  # a word in lower case has the first pattern of its form
        for row in np.flatnonzero(_each(ne, words, lowered)).tolist():
            self._stored[row] = self._of_token(words[row])
        self._column = self._cased(list(self._form))
        self._n_columns = n * len(self._form) + len(self._other) + _FREE

    @property
    def n_columns(self) -> int:
        """Size of the space: the largest number plus one."""
        return self._n_columns

    def of_rows(self, rows: np.ndarray, pattern: int) -> np.ndarray:
        """Return the numbers of words of the table, as stored (pattern 0) or in a casing pattern."""
        return self._column[self._form_of[rows], pattern - 1] if pattern else self._stored[rows]

    def rows_of(self, numbers: np.ndarray) -> np.ndarray:
        """Return the first word of the table that equals each string in some casing pattern; -1 without such a word."""
        if self._first_row is None:
            self._first_row = np.unique(self._form_of, return_index=True)[1]
        regular = numbers < len(_PATTERNS) * len(self._form)
        return np.where(regular, self._first_row[np.where(regular, numbers, 0) // len(_PATTERNS)], -1)

    def of_tokens(self, tokens: Sequence[str]) -> np.ndarray:
        """Return the number of each string, with its casing as written."""
        return np.fromiter(map(self._of_token, tokens), dtype=np.int64, count=len(tokens))

    def other(self, name: str) -> int:
        """Return the number of a string that is no word of the table in a casing pattern; equal at every call."""
        number = self._other.get(name)
        if number is None:
            number = len(_PATTERNS) * len(self._form) + len(self._other)
            if number >= self._n_columns:
                raise ValueError(f"There are more than {_FREE} distinct tokens that are not among the word vectors.")
            self._other[name] = number
        return number

    def _cased(self, forms: list[str]) -> np.ndarray:
        """Return the numbers of lower-case words in the three casings, shape (n_forms, 3)."""
        capitalised, upper = list(map(str.capitalize, forms)), list(map(str.upper, forms))
        third = np.where(_each(ne, upper, forms), 1 + _each(ne, upper, capitalised), 0)
        number = np.column_stack([np.zeros_like(third), _each(ne, capitalised, forms), third])
        number += len(_PATTERNS) * np.arange(len(forms))[:, None]
        for i in np.flatnonzero(~_each(str.isascii, forms)).tolist():
            if not forms[i].lower() == capitalised[i].lower() == upper[i].lower() == forms[i]:
                # such as "straße", whose capitals are those of "strasse"
                number[i] = [self._of_token(apply_casing(forms[i], pattern)) for pattern in _PATTERNS]
        return number

    def _of_token(self, token: str) -> int:
        lowered = token.lower()
        form = self._form.get(lowered)
        if form is not None:
            # The first matching pattern counts: "12" is the same in all three patterns, and a single letter in two.
            for pattern in _PATTERNS:
                if token == apply_casing(lowered, pattern):
                    return len(_PATTERNS) * form + pattern - 1
        return self.other(token)


def _each(function: Callable[..., bool], *words: list[str]) -> np.ndarray:
    return np.fromiter(map(function, *words), dtype=bool, count=len(words[0]))
