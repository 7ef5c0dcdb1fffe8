"""Numbers for the strings that a mechanism can release: equal strings have equal numbers, others have not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..embeddings import WordVectors
from ..text import apply_casing

# Numbers kept for strings that no word of the table can become: unknown words that stay, and shapes.
_FREE = 100_000
_PATTERNS = (1, 2, 3)


class ReleaseSpace:
    """Numbers for each lower-case word of the table in three casings, and for all other strings.

    Parameters
    ----------
    vectors : WordVectors
    """

    def __init__(self, vectors: WordVectors) -> None:
        self._form: dict[str, int] = {}
        words = vectors.words
        forms = [self._form.setdefault(word.lower(), len(self._form)) for word in words]
        self._form_of = np.array(forms, dtype=np.int64)
        self._other: dict[str, int] = {}
        self._first_row: np.ndarray | None = None
        self._n_columns = 2**62  # not known before the table has its numbers
        self._stored = self.of_tokens(words)
        cased = [apply_casing(form, pattern) for form in self._form for pattern in _PATTERNS]
        self._column = self.of_tokens(cased).reshape(-1, len(_PATTERNS))
        self._n_columns = len(_PATTERNS) * len(self._form) + len(self._other) + _FREE

    @property
    def n_columns(self) -> int:
        """How many numbers there are."""
        return self._n_columns

    def of_rows(self, rows: np.ndarray, pattern: int) -> np.ndarray:
        """Numbers of words of the table, as they are stored (pattern 0) or in a casing pattern."""
        return self._column[self._form_of[rows], pattern - 1] if pattern else self._stored[rows]

    def rows_of(self, numbers: np.ndarray) -> np.ndarray:
        """The first word of the table that is written so in some casing pattern, -1 where there is none."""
        if self._first_row is None:
            self._first_row = np.unique(self._form_of, return_index=True)[1]
        regular = numbers < len(_PATTERNS) * len(self._form)
        return np.where(regular, self._first_row[np.where(regular, numbers, 0) // len(_PATTERNS)], -1)

    def of_tokens(self, tokens: Sequence[str]) -> np.ndarray:
        """Numbers of strings as they are."""
        return np.fromiter(map(self._of_token, tokens), dtype=np.int64, count=len(tokens))

    def other(self, name: str) -> int:
        """The number of something that is no word of the table in a casing pattern, the same at every call."""
        number = self._other.get(name)
        if number is None:
            number = len(_PATTERNS) * len(self._form) + len(self._other)
            if number >= self._n_columns:
                raise ValueError(f"There are more than {_FREE} distinct tokens that are not among the word vectors.")
            self._other[name] = number
        return number

    def _of_token(self, token: str) -> int:
        lowered = token.lower()
        form = self._form.get(lowered)
        if form is not None:
            # The first pattern counts: "12" is alike in all three, one letter in two.
            for pattern in _PATTERNS:
                if token == apply_casing(lowered, pattern):
                    return len(_PATTERNS) * form + pattern - 1
        return self.other(token)
