"""Copies of training sentences without their punctuation, and with line breaks at other places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Punctuation that notes can lose, and the part of this punctuation that no line break follows.
PUNCTUATION, _GLUED = frozenset(".,;:-/()"), frozenset("-/(")
# Numbers for a document with other line breaks: highest share of words that a break follows (lines of 20 columns have a
# break after every third word), share of words inside of spans, and share of breaks that are lost.
_MOST_BREAKS, _BREAKS_IN_SPANS, _LOST_BREAKS = 0.4, 0.5, 0.3


class LayoutChanges:
    """Draw changed layouts of sentences. The words stay the same.

    Some notes have no punctuation, or line breaks inside names. Line breaks change the borders of sentences, and a
    tagger that was trained on whole sentences finds few names in parts of sentences. Each word keeps its tag: a span
    continues in the next sentence. If a new span began in the next sentence, the network would learn that "Hospital"
    begins a name.

    Parameters
    ----------
    tokens : ndarray of shape (n_tokens,)
        Tokens of the original data.
    classes : sequence of str
        Tags of the network.
    lost : float
        Probability that the punctuation of a sentence is removed. The first and the last token of a span are kept.
    breaks : float
        Probability that the lines of a document end at other places. Line ends are added after random words, mostly
        inside spans, and removed after some sentences.
    """

    def __init__(self, tokens: np.ndarray, classes: Sequence[str] | np.ndarray, lost: float, breaks: float) -> None:
        self.lost, self.breaks = lost, breaks
        # shape of both: (n_tokens,)
        self._punctuation = np.array([token in PUNCTUATION for token in tokens], dtype=bool)
        self._glued = np.array([token in _GLUED for token in tokens], dtype=bool)
        # shape of both: (n_classes,)
        self._droppable = np.array([tag[0] in "OI" for tag in classes])
        self._inside = np.array([tag[0] in "IE" for tag in classes])

    def draw(
        self,
        index: np.ndarray,
        offsets: np.ndarray,
        tags: np.ndarray,
        documents: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Draw a layout.

        Parameters
        ----------
        index : ndarray of shape (n_items,)
            Number of each token in the original data.
        offsets : ndarray of shape (n + 1,)
            Borders of the sentences.
        tags : ndarray of shape (n_items,)
            Class of each token.
        documents : ndarray of shape (n,)
            Document of each sentence, from 0 on. Borders between two documents do not change.

        Returns
        -------
        index, offsets, tags : ndarray
            Arrays of the new layout.
        rows : ndarray
            Number of the given sentence in which each new sentence begins.
        """
        sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        kept = ~self._gone(index, sentence, tags, rng)
        index, sentence, tags = index[kept], sentence[kept], tags[kept]
        begins = np.diff(sentence, prepend=-1) > 0
        self._break(begins, index, tags, documents[sentence], rng)
        starts = np.flatnonzero(begins)
        return index, np.append(starts, len(index)), tags, sentence[starts]

    def _gone(self, index: np.ndarray, sentence: np.ndarray, tags: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Whether a token is lost, shape (n_items,)."""
        droppable = self._punctuation[index] & self._droppable[tags]
        return droppable & (rng.random(sentence.max(initial=-1) + 1) < self.lost)[sentence]

    def _break(
        self, begins: np.ndarray, index: np.ndarray, tags: np.ndarray, document: np.ndarray, rng: np.random.Generator
    ) -> None:
        """Change in place which tokens begin a sentence."""
        if not len(index):
            return
        n_documents = int(document.max()) + 1
        chosen = (rng.random(n_documents) < self.breaks)[document]
        share = (rng.random(n_documents) * _MOST_BREAKS)[document]
        in_spans = (rng.random(n_documents) < 0.5)[document]
        share[self._inside[tags] & in_spans] = _BREAKS_IN_SPANS
        possible = ~self._punctuation[index] & ~np.append(True, self._glued[index[:-1]])
        joined = begins & np.append(False, document[1:] == document[:-1]) & (rng.random(len(index)) < _LOST_BREAKS)
        cut = ~begins & possible & (rng.random(len(index)) < share)
        begins[chosen & joined] = False
        begins[chosen & cut] = True
