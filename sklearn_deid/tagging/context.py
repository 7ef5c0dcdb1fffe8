"""Which sentences are read together, and which of them are tagged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["ContextUnits"]


class ContextUnits:
    """Units of sentences of one document that the encoder reads as one sequence.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Sentences of all units, one unit after the other.
    offsets : ndarray of shape (n_units + 1,)
        Unit u reads the sentences ``rows[offsets[u]:offsets[u + 1]]``.
    tagged : bool ndarray of shape (n_rows,)
        Whether a sentence is tagged in this unit; the others are context, without loss and without output.

    Examples
    --------
    >>> units = ContextUnits.windows(np.array([7, 7, 7, 8]), size=1)  # three sentences of one document, one of another
    >>> [units.rows[a:b].tolist() for a, b in zip(units.offsets[:-1], units.offsets[1:])]
    [[0, 1], [0, 1, 2], [1, 2], [3]]
    >>> units.tagged_rows([1], np.array([4, 4, 4, 4]))
    [1]
    """

    def __init__(self, rows: np.ndarray, offsets: np.ndarray, tagged: np.ndarray) -> None:
        self.rows, self.offsets, self.tagged = rows, offsets, tagged

    @classmethod
    def documents(cls, documents: np.ndarray) -> ContextUnits:
        """One unit a document; all its sentences are tagged.

        Parameters
        ----------
        documents : ndarray of shape (n_sentences,)
            Number of each sentence's document; its sentences are read in the order in which they stand.
        """
        order, first, stop = _by_document(documents)
        offsets = np.append(np.unique(first), len(order))
        return cls(order, offsets, np.ones(len(order), dtype=bool))

    @classmethod
    def windows(cls, documents: np.ndarray, size: int) -> ContextUnits:
        """One unit a sentence: itself, which is tagged, and up to ``size`` sentences on either side."""
        order, first, stop = _by_document(documents)
        here = np.arange(len(order))
        begin, end = np.maximum(first, here - size), np.minimum(stop, here + size + 1)
        counts = end - begin
        offsets = np.concatenate(([0], np.cumsum(counts)))
        place = np.arange(offsets[-1]) + np.repeat(begin - offsets[:-1], counts)
        return cls(order[place], offsets, place == np.repeat(here, counts))

    def sizes(self, lengths: np.ndarray) -> np.ndarray:
        """Tokens of each unit, 0 where it has nothing to tag; shape (n_units,)."""
        items, to_tag = np.append(0, np.cumsum(lengths[self.rows])), np.append(0, np.cumsum(self._on(lengths)))
        start, stop = self.offsets[:-1], self.offsets[1:]
        return np.where(to_tag[stop] > to_tag[start], items[stop] - items[start], 0)

    def places(self, units: Sequence[int]) -> np.ndarray:
        """Indices into ``rows`` of these units, one unit after the other."""
        return np.concatenate([np.arange(self.offsets[u], self.offsets[u + 1]) for u in units])

    def tagged_rows(self, units: Sequence[int], lengths: np.ndarray) -> list[int]:
        """Sentences that are tagged in these units, in the order of the batch; empty ones are left out."""
        places = self.places(units)
        return self.rows[places[self._on(lengths)[places]]].tolist()

    def _on(self, lengths: np.ndarray) -> np.ndarray:
        return self.tagged & (lengths[self.rows] > 0)


def _by_document(documents: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sentences in the order of their documents; for each place, where its document begins and ends."""
    order = np.argsort(documents, kind="stable")
    ordered = documents[order]
    return order, np.searchsorted(ordered, ordered, side="left"), np.searchsorted(ordered, ordered, side="right")
