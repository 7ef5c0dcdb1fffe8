"""Content of a saved release, and the original notes, in the form that the check of a folder reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...sequences import TokenSequences


@dataclass(frozen=True, repr=False)
class KnownNotes:
    """Original notes of a release, as far as an attacker knows these notes. The object contains notes and must not be
    shared.

    Attributes
    ----------
    X : sequence of n sentences
        Words of the notes, in their original order.
    phi : ndarray of bool, shape (n_tokens,), or None
        Whether each word is PHI.
    patients : ndarray of shape (n,) or None
        Patient of each sentence.
    rows : ndarray of shape (n,) or None
        Row of each sentence in the release; -1 if the row is unknown.
    n_further_draws : int
        Number of rows of the release that are further draws of the noise for a sentence that the release also holds.
    """

    X: TokenSequences
    phi: np.ndarray | None = None
    patients: np.ndarray | None = None
    rows: np.ndarray | None = None
    n_further_draws: int = 0

    @property
    def marked(self) -> np.ndarray:
        """Whether each word is PHI; False for all words if the PHI is unknown."""
        return np.zeros(len(self.X.data), dtype=bool) if self.phi is None else self.phi


@dataclass(frozen=True, repr=False)
class SavedSentences:
    """Content of a saved release, in the order of the file.

    Attributes
    ----------
    vectors : ndarray of shape (n_tokens, d)
        Vectors without casing columns.
    offsets : ndarray of shape (n_sentences + 1,)
        Position of the first token of each sentence, and the number of tokens at the end.
    phi : ndarray of bool, shape (n_tokens,)
        Whether the tag of each token is PHI.
    groups : ndarray of shape (n_sentences,) or None
        Released number of the patient of each sentence.
    shuffled : bool
        Whether the file states that its sentences are in random order.
    std, grid : float
        Stated smallest standard deviation of the noise, and step of the grid before any scaling to length 1.
    original : ndarray of shape (n_sentences,) or None
        Row of each sentence in the original notes; -1 if the row is unknown. Wrong rows can hide an order of the
        sentences. If the rows were matched without the order of the file, wrong rows cannot create an apparent order.
    notes : KnownNotes or None
        Original notes, if the attacker knows them.
    statements : tuple of str
        A message for each statement of the file that is wrong without any test.
    """

    vectors: np.ndarray
    offsets: np.ndarray
    phi: np.ndarray
    groups: np.ndarray | None
    shuffled: bool
    std: float
    grid: float
    original: np.ndarray | None = None
    notes: KnownNotes | None = None
    statements: tuple[str, ...] = ()
