"""Training sentences without their punctuation, joined with the next one, or cut inside of a span."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..text import split_tag

PUNCTUATION = frozenset(".,;:")
# Tags of the last token before a cut inside of a span, and of the first token after the cut.
_BEFORE_CUT = {"iob2": {"B": "B", "I": "I"}, "bioes": {"B": "S", "I": "E"}}
_AFTER_CUT = {"iob2": {"I": "B"}, "bioes": {"I": "B", "E": "S"}}


class LayoutChanges:
    """Draw changed layouts of training sentences, whose number and order stay the same.

    Notes lose punctuation and break lines inside of names, which moves the borders of sentences. A tagger that was
    trained on whole sentences finds few names in the parts.

    Parameters
    ----------
    punctuation : bool ndarray of shape (n_tokens,)
        Whether a token of the original data is one of ``. , ; :``.
    classes : sequence of str
        Tags of the network. A span is only cut if the tags of its parts are among them.
    tag_scheme : {"iob2", "bioes"}
        Tag scheme of ``classes``.
    lost : float
        Probability that a sentence loses its punctuation. A first or last token of a span stays.
    moved : float
        Probability that a border between two sentences moves into a span of one of them or, if they have none, behind
        the first token of the first one, so that the others join the next sentence.
    """

    def __init__(
        self, punctuation: np.ndarray, classes: Sequence[str] | np.ndarray, tag_scheme: str, lost: float, moved: float
    ) -> None:
        self.punctuation, self.lost, self.moved = punctuation, lost, moved
        self._droppable = np.array([tag[0] in "OI" for tag in classes])
        # shape of both: (n_classes,): class before and after a cut, -1 if a span cannot be cut here
        self._starts = {i for i, tag in enumerate(classes) if tag[0] in "OBS"}
        self._before = _mapped(classes, _BEFORE_CUT[tag_scheme])
        self._after = _mapped(classes, _AFTER_CUT[tag_scheme])

    def draw(
        self, index: np.ndarray, offsets: np.ndarray, tags: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw a layout.

        Parameters
        ----------
        index : ndarray of shape (n_items,)
            Number of each token in the original data.
        offsets : ndarray of shape (n + 1,)
            Borders of the sentences.
        tags : ndarray of shape (n_items,)
            Class of each token.

        Returns
        -------
        index, offsets, tags : ndarray
            Arrays of the new layout, with ``n + 1`` offsets.
        """
        sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        losing = rng.random(len(offsets) - 1) < self.lost
        droppable = self.punctuation[index] & self._droppable[tags]
        # No sentence may become empty: the sampler of the batches has read the lengths before the draw.
        losing &= np.bincount(sentence, ~droppable, minlength=len(losing)) > 0
        gone = losing[sentence] & droppable
        kept = np.concatenate(([0], np.cumsum(~gone)))
        index, offsets, tags = index[~gone], kept[offsets], tags[~gone].copy()
        last = 0
        for j in np.flatnonzero(rng.random(len(offsets) - 2) < self.moved) + 1 if len(offsets) > 2 else ():
            # Neighbouring borders do not both move, so that the sentences stay in order.
            if j > last + 1 or not last:
                last = int(j)
                self._move(last, offsets, tags, rng)
        return index, offsets, tags

    def _move(self, border: int, offsets: np.ndarray, tags: np.ndarray, rng: np.random.Generator) -> None:
        first, stop = int(offsets[border - 1]), int(offsets[border + 1])
        inside = tags[first:stop]
        cuts = np.flatnonzero((self._before[inside[:-1]] >= 0) & (self._after[inside[1:]] >= 0)) + 1
        if not len(cuts):
            # All tokens but the first join the next sentence, unless this tears a span.
            if stop - first > 1 and tags[first + 1] in self._starts:
                offsets[border] = first + 1
            return
        cut = first + int(cuts[rng.integers(len(cuts))])
        tags[cut - 1], tags[cut] = self._before[tags[cut - 1]], self._after[tags[cut]]
        offsets[border] = cut


def _mapped(classes: Sequence[str] | np.ndarray, prefixes: dict[str, str]) -> np.ndarray:
    """Class with another prefix and the same label, for each class; -1 if there is none."""
    number = {tag: i for i, tag in enumerate(classes)}
    parts = [split_tag(tag) for tag in classes]
    return np.array([number.get(f"{prefixes.get(prefix)}-{label}", -1) for prefix, label in parts])
