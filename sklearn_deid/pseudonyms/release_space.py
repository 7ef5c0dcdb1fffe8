"""Numbers for the strings that a mechanism can release; two strings have the same number only if they are equal."""

from __future__ import annotations

from collections.abc import Sequence

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
        self._form: dict[str, int] = {}
        words, lowered = vectors.words, [word.lower() for word in vectors.words]
        forms = [self._form.setdefault(form, len(self._form)) for form in lowered]
        self._form_of = np.array(forms, dtype=np.int64)
        self._other: dict[str, int] = {}
        self._first_row: np.ndarray | None = None
        # The true number is known only after all words of the table are numbered; until then there is no limit.
        self._n_columns = 2**62
        # A word in lower case has the first pattern of its form. Tables have 400,000 words: few words need the general
        # method.
        n, items = len(_PATTERNS), zip(words, lowered, forms, strict=True)
        stored = [n * form if word == low else self._of_token(word) for word, low, form in items]
        self._stored = np.array(stored, dtype=np.int64)
        # shape: (n_forms, 3), number of each lower-case word in each casing pattern
        self._column = np.array([self._cased(*item) for item in self._form.items()], dtype=np.int64).reshape(-1, n)
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

    def _cased(self, lowered: str, form: int) -> tuple[int, ...]:
        """Return the numbers of a lower-case word in the three casings."""
        capitalised, upper = lowered.capitalize(), lowered.upper()
        if lowered.isascii() or lowered.lower() == capitalised.lower() == upper.lower() == lowered:
            first = len(_PATTERNS) * form
            third = 0 if upper == lowered else 1 if upper == capitalised else 2
            return first, first + (capitalised != lowered), first + third
        # such as "straße", whose capitals are those of "strasse"
        return tuple(self._of_token(apply_casing(lowered, pattern)) for pattern in _PATTERNS)

    def _of_token(self, token: str) -> int:
        lowered = token.lower()
        form = self._form.get(lowered)
        if form is not None:
            # The first matching pattern counts: "12" is the same in all three patterns, and a single letter in two.
            for pattern in _PATTERNS:
                if token == apply_casing(lowered, pattern):
                    return len(_PATTERNS) * form + pattern - 1
        return self.other(token)
