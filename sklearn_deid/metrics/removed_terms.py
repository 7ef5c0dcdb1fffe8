"""Counts of tokens and terms outside of PHI that redaction removed, and of PHI tokens that remain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..text import tokenize
from .redacted_notes import OriginalNotes


class TermPlaces(NamedTuple):
    """Occurrences of terms in a note as (term, first token, end token), in the order of the note."""

    places: list[tuple[str, int, int]]

    # The repr shows counts only: the terms may be words of a note.
    def __repr__(self) -> str:
        return f"TermPlaces({len(self.places)} places)"


class TokenCounts(NamedTuple):
    """Counts of tokens with a letter or digit in each note.

    Attributes
    ----------
    other, other_removed : ndarray of int of shape (n_notes,)
        Number of tokens outside of gold PHI, and number of removed tokens among them.
    phi, phi_left : ndarray of int of shape (n_notes,)
        Number of gold PHI tokens, and number of remaining tokens among them.
    """

    other: np.ndarray
    other_removed: np.ndarray
    phi: np.ndarray
    phi_left: np.ndarray


def find_terms(original: OriginalNotes, terms: Iterable[str]) -> list[TermPlaces]:
    """Find the occurrences of terms in the notes.

    The function compares tokens and ignores case. If several terms begin at the same token, the longest term counts.

    Parameters
    ----------
    original : OriginalNotes
        Notes before redaction.
    terms : iterable of str
        Words or phrases.

    Raises
    ------
    TypeError
        If ``terms`` is a single text, or a term is not a text.
    ValueError
        If there is no term, or a term has no token.

    Examples
    --------
    >>> from sklearn_deid.metrics.redacted_notes import original_notes
    >>> find_terms(original_notes(["Chest pain, no pain."]), ["pain", "chest pain"])[0].places
    [('chest pain', 0, 2), ('pain', 4, 5)]
    """
    known = _cut_terms(terms)
    longest = max(len(key) for key in known)
    found = []
    for tokens in original.tokens:
        # Terms are found in any casing.
        words = [token.casefold() for token in tokens.texts]
        places, position = [], 0
        while position < len(words):
            # The longest term at a position wins, and terms do not overlap.
            lengths = range(min(longest, len(words) - position), 0, -1)
            length = next((n for n in lengths if tuple(words[position : position + n]) in known), 0)
            if length:
                places.append((known[tuple(words[position : position + length])], position, position + length))
            position += length or 1
        found.append(TermPlaces(places))
    return found


def _cut_terms(terms: Iterable[str]) -> dict[tuple[str, ...], str]:
    if isinstance(terms, (str, bytes)) or not hasattr(terms, "__iter__"):
        raise TypeError(f"'clinical_terms' must be a sequence of texts. Got {type(terms).__name__} instead.")
    known: dict[tuple[str, ...], str] = {}
    for number, term in enumerate(terms):
        if not isinstance(term, str):
            raise TypeError(f"'clinical_terms' must hold texts. Number {number} is a {type(term).__name__}.")
        key = tuple(token.casefold() for token in tokenize(term).texts)
        if not key:
            raise ValueError(f"Number {number} of 'clinical_terms' has no token.")
        known.setdefault(key, term)
    if not known:
        raise ValueError("'clinical_terms' is empty; None counts all tokens outside of gold PHI.")
    return known


def removed_terms(
    places: Sequence[TermPlaces], gold_kept: Sequence[np.ndarray], kept: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, dict[str, tuple[int, int]]]:
    """Count the terms that were wrongly removed.

    A term is wrongly removed if at least one of its tokens is removed and none of its tokens is gold PHI.

    Parameters
    ----------
    places : sequence of n_notes TermPlaces
        Occurrences of terms, from `find_terms`.
    gold_kept, kept : sequences of n_notes arrays of bool
        Tokens that remain after the gold redaction and after the redaction under test.

    Returns
    -------
    n_terms, n_removed : ndarray of int, shape (n_notes,)
        Number of occurrences outside of gold PHI, and number of removed occurrences among them.
    by_term : dict of str to (int, int)
        Occurrences outside of gold PHI and removed occurrences over all notes, for each term with an occurrence outside
        of gold PHI.
    """
    # shape of both: (n_notes,)
    n_terms, n_removed = np.zeros(len(places), dtype=np.int64), np.zeros(len(places), dtype=np.int64)
    by_term: dict[str, tuple[int, int]] = {}
    for i, (note, right, left) in enumerate(zip(places, gold_kept, kept, strict=True)):
        for term, first, stop in note.places:
            # Terms that touch gold PHI are not counted, because removing them is correct.
            if right[first:stop].all():
                gone = int(not left[first:stop].all())
                n_terms[i] += 1
                n_removed[i] += gone
                total, removed = by_term.get(term, (0, 0))
                by_term[term] = total + 1, removed + gone
    return n_terms, n_removed, by_term


def removed_tokens(original: OriginalNotes, gold_kept: Sequence[np.ndarray], kept: Sequence[np.ndarray]) -> TokenCounts:
    """Count removed tokens outside of gold PHI, and remaining tokens of gold PHI.

    Parameters
    ----------
    original : OriginalNotes
        Notes before redaction.
    gold_kept, kept : sequences of n_notes arrays of bool
        Tokens that remain after the gold redaction and after the redaction under test.

    Returns
    -------
    TokenCounts
        Counts of each note.
    """
    rows = []
    for tokens, right, left in zip(original.tokens, gold_kept, kept, strict=True):
        # Punctuation carries no information about the usefulness of a note.
        telling = np.array([any(map(str.isalnum, token)) for token in tokens.texts], dtype=bool)
        other, phi = telling & right, telling & ~right
        rows.append([other.sum(), (other & ~left).sum(), phi.sum(), (phi & left).sum()])
    return TokenCounts(*np.array(rows, dtype=np.int64).T)
