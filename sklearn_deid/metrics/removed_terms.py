"""How much redaction took away that is no PHI, and how much PHI it left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..text import tokenize
from .redacted_notes import OriginalNotes


class TermPlaces(NamedTuple):
    """Where terms stand in a note: (term, first token, token past the last) in order."""

    places: list[tuple[str, int, int]]

    def __repr__(self) -> str:  # the terms may be words of a note
        return f"TermPlaces({len(self.places)} places)"


class TokenCounts(NamedTuple):
    """Tokens with a letter or digit, note by note; arrays of shape (n_notes,).

    Attributes
    ----------
    other, other_removed : ndarray of int
        Tokens outside of gold PHI, and those of them that are gone.
    phi, phi_left : ndarray of int
        Tokens of gold PHI, and those of them that are still there.
    """

    other: np.ndarray
    other_removed: np.ndarray
    phi: np.ndarray
    phi_left: np.ndarray


def find_terms(original: OriginalNotes, terms: Iterable[str]) -> list[TermPlaces]:
    """Occurrences of the terms, compared token by token without casing; at one place the longest term counts.

    Parameters
    ----------
    original : OriginalNotes
    terms : iterable of str
        Words or phrases.

    Raises
    ------
    TypeError
        If ``terms`` is a single text, or something in it is no text.
    ValueError
        If there is no term, or one without a token.

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
        words = [token.casefold() for token in tokens.texts]
        places, position = [], 0
        while position < len(words):
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
    """Terms that were wrongly removed: one of their tokens is gone, and none of them is gold PHI.

    Parameters
    ----------
    places : sequence of n_notes TermPlaces
    gold_kept, kept : sequences of n_notes arrays of bool
        Which tokens are left by the right and by the redaction in question.

    Returns
    -------
    n_terms, n_removed : ndarray of int, shape (n_notes,)
        Occurrences outside of gold PHI.
    by_term : dict of str to (int, int)
        The same two counts for each term that occurs, over all notes.
    """
    n_terms, n_removed = np.zeros(len(places), dtype=np.int64), np.zeros(len(places), dtype=np.int64)
    by_term: dict[str, tuple[int, int]] = {}
    for i, (note, right, left) in enumerate(zip(places, gold_kept, kept, strict=True)):
        for term, first, stop in note.places:
            if right[first:stop].all():
                gone = int(not left[first:stop].all())
                n_terms[i] += 1
                n_removed[i] += gone
                total, removed = by_term.get(term, (0, 0))
                by_term[term] = total + 1, removed + gone
    return n_terms, n_removed, by_term


def removed_tokens(original: OriginalNotes, gold_kept: Sequence[np.ndarray], kept: Sequence[np.ndarray]) -> TokenCounts:
    """Tokens outside of gold PHI that are gone, and tokens of gold PHI that are left.

    Parameters
    ----------
    original : OriginalNotes
    gold_kept, kept : sequences of n_notes arrays of bool

    Returns
    -------
    TokenCounts
    """
    rows = []
    for tokens, right, left in zip(original.tokens, gold_kept, kept, strict=True):
        telling = np.array([any(map(str.isalnum, token)) for token in tokens.texts], dtype=bool)
        other, phi = telling & right, telling & ~right
        rows.append([other.sum(), (other & ~left).sum(), phi.sum(), (phi & left).sum()])
    return TokenCounts(*np.array(rows, dtype=np.int64).T)
