"""Container for sentences of tokens and for tag sequences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from sys import intern
from typing import Any

import numpy as np

from ..exceptions import SequenceError
from .ragged_array import RaggedArray

# Iterable types that are not sentences: their items are characters, bytes, or unordered.
NO_ROW = (str, bytes, Mapping, Set)


class TokenSequences(RaggedArray):
    """Sentences of tokens, or tag sequences, stored as a flat object array of interned strings with offsets.

    Examples
    --------
    >>> X = TokenSequences.from_rows([["Dr", ".", "Who"], ["left"]])
    >>> X.shape, X.lengths.tolist(), X[1]
    ((2,), [3, 1], ['left'])
    """

    __slots__ = ()

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]], *, name: str = "X") -> TokenSequences:
        """Convert rows of strings. An invalid row raises a SequenceError with the number of the row."""
        check_outer(rows, name)
        flat: list[str] = []
        offsets = [0]
        for number, row in enumerate(rows):
            # Testing for a list first avoids the slow tests against abstract classes.
            if type(row) is not list and (isinstance(row, NO_ROW) or not hasattr(row, "__iter__")):
                raise SequenceError(
                    f"'{name}' must be a sequence of sentences, each a sequence of tokens. Row {number} is a "
                    f"{type(row).__name__}. A single sentence must be wrapped: [tokens]. NoteDeidentifier reads notes."
                )
            # The row is copied because it may be an iterator, which cannot be read a second time below.
            tokens = list(row)
            try:
                flat.extend(list(map(intern, tokens)))
            # ``intern`` refuses subclasses of str such as numpy.str_, and values that are not strings.
            except TypeError:
                flat.extend([intern(_as_str(token, name, number)) for token in tokens])
            offsets.append(len(flat))
        data = np.empty(len(flat), dtype=object)
        data[:] = flat
        return cls(data, np.asarray(offsets))

    def _row(self, start: int, stop: int) -> list[str]:
        return self.data[start:stop].tolist()


def check_outer(rows: Any, name: str) -> None:
    """Refuse values that are not sequences of rows: text, tables or mappings, whose items are column names, sets, whose
    order nobody knows, sparse matrices, and arrays of Arrow, whose strings NumPy reads as numbers."""
    is_table, is_arrow = isinstance(rows, Mapping) or hasattr(rows, "columns"), hasattr(rows, "to_pylist")
    is_sparse = hasattr(rows, "getnnz") or hasattr(rows, "tocsr")
    if is_table or is_arrow or is_sparse or isinstance(rows, (str, bytes, Set)) or not hasattr(rows, "__iter__"):
        hint = f" Pass {name}.to_pylist()." if is_arrow else ""
        hint = f" Pass the column of the sentences, such as {name}['tokens']." if is_table else hint
        hint = " A sparse matrix counts words without their order: pass the tokens." if is_sparse else hint
        raise SequenceError(f"'{name}' must be a sequence of sentences. Got {type(rows).__name__} instead.{hint}")


def _as_str(token: Any, name: str, row: int) -> str:
    if not isinstance(token, str):
        raise SequenceError(f"'{name}' must hold strings. Row {row} holds a {type(token).__name__}.")
    return str(token)
