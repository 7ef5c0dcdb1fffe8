"""Checks and conversion of X, y and groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import SequenceError
from .ragged_array import RaggedArray
from .row_ids import has_missing, id_kinds, row_ids
from .token_sequences import NO_ROW, TokenSequences, check_outer
from .token_vectors import TokenVectors


def check_sequences(X: Any, *, name: str = "X") -> TokenSequences | TokenVectors:
    """Convert X once to a ragged container.

    Parameters
    ----------
    X : TokenSequences, TokenVectors, or sequence of sentences
        Sentences. A sentence is a sequence of str or an array of shape (n_tokens, d).
    name : str, default="X"
        Name of the argument in error messages.

    Raises
    ------
    SequenceError
        If X is a single sentence or a single string, contains other items than strings, or mixes vector widths.

    Examples
    --------
    >>> check_sequences([["a", "b"], []])
    TokenSequences(n=2, items=2)
    """
    if isinstance(X, (TokenSequences, TokenVectors)):
        return X
    check_outer(X, name)
    rows = list(X)
    # The first row that is not empty decides between tokens and vectors; empty rows fit both.
    first = next((row for row in rows if not isinstance(row, NO_ROW) and hasattr(row, "__len__") and len(row)), None)
    vectors = first is not None and np.ndim(first[0]) == 1 and not isinstance(first[0], str)
    return (TokenVectors if vectors else TokenSequences).from_rows(rows, name=name)


def check_tags(y: Any, X: RaggedArray) -> TokenSequences:
    """Convert y and check that its row lengths equal the row lengths of X.

    Raises
    ------
    SequenceError
        If y is missing, X and y differ in their numbers of rows, or a row differs in length from its sentence.
    """
    if y is None:
        raise SequenceError("y is required: one tag sequence for each sentence of X.")
    tags = y if isinstance(y, TokenSequences) else TokenSequences.from_rows(y, name="y")
    if len(tags) != len(X):
        raise SequenceError(f"X has {len(X)} sentences, y has {len(tags)}.")
    # X and y have n rows here, so that the lengths can be compared row by row. Shape: (n_wrong,)
    wrong = np.flatnonzero(tags.lengths != X.lengths)
    if wrong.size:
        i = int(wrong[0])
        raise SequenceError(
            f"{wrong.size} rows of y have another length than their sentence; the first is row {i}: "
            f"{X.lengths[i]} tokens, {tags.lengths[i]} tags."
        )
    return tags


def check_groups(groups: Any, n: int, *, allow_missing: bool = False) -> np.ndarray | None:
    """Check the groups: a patient id for each of ``n`` sentences, or None.

    With ``allow_missing``, ids may be None or NaN, and the caller must not treat all missing ids as one patient.
    """
    if groups is None:
        return None
    array = row_ids(groups)
    if array.shape != (n,):
        raise SequenceError(
            f"'groups' must hold one patient id for each of {n} sentences. Got shape {array.shape} instead."
        )
    if allow_missing:
        return array
    kinds = id_kinds(array)
    # Missing ids would turn all sentences without an id into one patient, and mixed ids cannot be sorted.
    if len(kinds) > 1 or has_missing(array):
        found = ", ".join(sorted(kinds)) or "NaN"
        raise SequenceError(f"'groups' must hold ids of one type, and no id may be missing. Got {found} instead.")
    return array
