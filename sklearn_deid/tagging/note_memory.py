"""`NoteMemory`: a word that is PHI at one place of a note is more likely to be PHI at the other places of the note.

If X contains the patients (``X.patients``), the notes of a patient are treated as one note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import BundleError
from ..sequences import RaggedArray, TokenSequences
from ..text import split_tag
from .marginals import PhiMarginals, in_columns, labels_in

# Words with fewer letters are articles, units and parts of abbreviations, which are PHI at one place and not at others.
_FEWEST_LETTERS = 3
# Strength of the counts: fitted to held-out notes (docs/measurements/note_memory.md).
_STRENGTH = 1.3
# Number of words of other labels that are added to the counts of each label: a label with few repeated words is assumed
# to be as reliable as all labels together.
_POOLED = 5.0
# Decrease of the probability of O above which a sentence is tagged again.
_CHANGED = 0.1
_TINY = np.finfo(float).tiny


class NoteMemory:
    """For each label, counts of the tags of repeated words of a training note at all places in the note.

    A second pass over the marginals of a note uses the probability that the same word is PHI at other places of the
    note. The counts determine the weight of this evidence: in notes where "Leber" is a doctor at one place and an organ
    at the next, the evidence is weak. Only words with a capital and at least three letters are used. No label of a
    token becomes less likely. Without repeated PHI in the training notes, the memory changes no probability.

    Parameters
    ----------
    labels : sequence of str
        The L labels.
    counts : ndarray of shape (L, 1 + L)
        For each label (row), number of repeated words with this label, by the tag at the other places of the note: O,
        then each label.

    Examples
    --------
    >>> X = TokenSequences.from_rows([["Dr", "Alder"], ["Alder", "saw", "him"]]).with_documents([0, 0])
    >>> memory = NoteMemory.counted(X, [["O", "B-DOCTOR"], ["B-DOCTOR", "O", "O"]], ["O", "B-DOCTOR"])
    >>> memory.counts.tolist()
    [[0.0, 2.0]]
    """

    def __init__(self, labels: Sequence[str], counts: np.ndarray) -> None:
        self.labels = list(labels)
        self.counts = counts

    @classmethod
    def counted(cls, X: RaggedArray, tags: Any, classes: Any) -> NoteMemory | None:
        """Count repeated words of training sentences; None if X contains no words, or no documents.

        Parameters
        ----------
        X : TokenSequences or TokenVectors
            Sentences with their documents.
        tags : sequence of n tag sequences
            Tags in any scheme.
        classes : sequence of str
            All tags of the tagger.
        """
        repeats = Repeats.of(X)
        if repeats is None:
            return None
        found = [split_tag(tag)[1] for row in tags for tag in row]
        labels = labels_in(classes)
        number: dict[str | None, int] = {label: i for i, label in enumerate([None, *labels])}
        one_hot = np.eye(1 + len(labels))[[number[found[place]] for place in repeats.places]]
        # shape: (n_repeated, 1 + n_labels): shares of the tags at the other places
        elsewhere = repeats.mean_elsewhere(one_hot.reshape(-1, 1 + len(labels)))
        return cls(labels, one_hot.reshape(elsewhere.shape)[:, 1:].T @ elsewhere)

    @property
    def odds(self) -> np.ndarray:
        """Odds of each label (columns) against O at a place, if another place has a label (rows) with certainty."""
        total = self.counts.sum()
        if not total:
            return np.zeros((len(self.labels), len(self.labels)))
        same, outside = np.trace(self.counts[:, 1:]) / total, self.counts[:, 0].sum() / total
        likely = self.counts[:, 1:] + _POOLED * same * np.eye(len(self.labels))
        # One place of O is added: few counts are no proof that there are none.
        return likely / (self.counts[:, :1] + _POOLED * outside + 1)

    def correct(self, rows: Mapping[int, np.ndarray] | Sequence[np.ndarray], repeats: Repeats, classes: Any) -> set:
        """Correct marginals in place.

        Parameters
        ----------
        rows : mapping or sequence of ndarray of shape (n_tokens, n_classes)
            Marginals of each sentence with repeated words.
        repeats : Repeats
            Repeated words of all sentences of the notes.
        classes : sequence of str
            Tags in the order of the columns.

        Returns
        -------
        set of int
            Sentences in which a probability of O decreased by more than 0.1.
        """
        if not len(repeats.places):
            return set()
        # shape: (n_classes, 1 + n_labels): the label of each column
        of_label = np.array([[split_tag(tag)[1] == label for label in (None, *self.labels)] for tag in classes], float)
        pairs = list(zip(repeats.sentences.tolist(), repeats.positions.tolist(), strict=True))
        before = np.array([rows[sentence][position] for sentence, position in pairs], dtype=float)
        found = before @ of_label
        factors = np.ones_like(found)
        factors[:, 1:] = (1 + repeats.best_elsewhere(found)[:, 1:] @ self.odds) ** _STRENGTH
        # shape: (n_repeated, n_labels): gain of each label, as a share of the loss of O
        gains = found[:, 1:] * (factors[:, 1:] - 1)
        left = found.sum(axis=1) / np.maximum((found * factors).sum(axis=1), _TINY)
        moved = found[:, 0] * (1 - left)
        gains *= (moved / np.maximum(gains.sum(axis=1), _TINY))[:, None]
        # No label loses: "Ciudad Real" is a place, and stays a part of the hospital that the tagger is sure of.
        after = before * (1 + np.hstack([(left - 1)[:, None], gains / np.maximum(found[:, 1:], _TINY)]) @ of_label.T)
        for (sentence, position), row in zip(pairs, after, strict=True):
            rows[sentence][position] = row
        return set(repeats.sentences[moved > _CHANGED].tolist())

    def decided(
        self, rows: Mapping[int, np.ndarray], repeats: Repeats, classes: Any
    ) -> Iterator[tuple[int, list[str], np.ndarray]]:
        """Yield the sentences that change, with their tags and the probabilities of the tags; see `correct`."""
        changed = sorted(self.correct(rows, repeats, classes))
        if not changed:
            return
        data = in_columns(np.concatenate([rows[n] for n in changed]), classes, self.labels)
        offsets = np.cumsum([0, *(len(rows[n]) for n in changed)])
        tags, sure = PhiMarginals(self.labels, data, offsets).best_tags()
        yield from zip(changed, (list(row) for row in tags), sure, strict=True)

    def to_state(self) -> dict[str, Any]:
        """JSON values from which `from_state` builds the same memory: labels and counts, no words."""
        return {"labels": self.labels, "counts": self.counts.tolist()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any] | None, classes: Any) -> NoteMemory | None:
        """Build a memory from the result of `to_state`; None if the state is None.

        Raises
        ------
        BundleError
            If the labels differ from the labels of the tags, or the counts are not a row of positive numbers for each
            label.
        """
        if state is None:
            return None
        labels, counts = labels_in(classes), np.array(state["counts"], dtype=float)
        fits = state["labels"] == labels and counts.shape == (len(labels), 1 + len(labels))
        if not (fits and np.isfinite(counts).all() and (counts >= 0).all()):
            raise BundleError("The memory of a saved tagger does not hold positive counts of the labels of the tagger.")
        return cls(labels, counts)


class Repeats(NamedTuple):
    """Words that occur more than once in their note, or in the notes of their patient if X contains patients.

    Parameters
    ----------
    places : ndarray of shape (n_repeated,)
        Token of each occurrence, in the flat data.
    sentences, positions : ndarray of shape (n_repeated,)
        Sentence of each occurrence, and position in the sentence.
    words : ndarray of shape (n_repeated,)
        Number of the word. The same word in different notes has different numbers.
    """

    places: np.ndarray
    sentences: np.ndarray
    positions: np.ndarray
    words: np.ndarray

    @classmethod
    def of(cls, X: RaggedArray) -> Repeats | None:
        """Repeated words of sentences; None if X contains no words, or no documents."""
        if not isinstance(X, TokenSequences) or X.documents is None:
            return None
        numbers: dict[tuple[int, str], int] = {}
        documents = np.repeat(X.documents if X.patients is None else X.patients, X.lengths).tolist()
        places, words = [], []
        for place, (token, document) in enumerate(zip(X.data, documents, strict=True)):
            if token[:1].isupper() and len(token) >= _FEWEST_LETTERS and token.isalpha():
                places.append(place)
                words.append(numbers.setdefault((document, token.casefold()), len(numbers)))
        at, number = np.array(places, dtype=np.intp), np.array(words, dtype=np.intp)
        again = np.bincount(number, minlength=1)[number] > 1
        at, number = at[again], number[again]
        sentences = np.searchsorted(X.offsets, at, side="right") - 1
        return cls(at, sentences, at - X.offsets[sentences], np.unique(number, return_inverse=True)[1])

    def mean_elsewhere(self, values: np.ndarray) -> np.ndarray:
        """Mean of the rows of the other occurrences, for each occurrence."""
        sums = np.zeros((self.words.max(initial=-1) + 1, values.shape[1]))
        np.add.at(sums, self.words, values)
        return (
            (sums[self.words] - values) / (np.bincount(self.words)[self.words] - 1)[:, None] if len(values) else values
        )

    def best_elsewhere(self, values: np.ndarray) -> np.ndarray:
        """Largest value of each column among the other occurrences, for each occurrence."""
        best = np.zeros_like(values)
        for column in range(values.shape[1]):
            order = np.lexsort((-values[:, column], self.words))
            starts = np.flatnonzero(np.diff(self.words[order], prepend=-1))
            # The largest value of the word; the place with the largest value has the second largest.
            largest = np.repeat(values[order[starts], column], np.diff(starts, append=len(order)))
            largest[starts] = values[order[starts + 1], column]
            best[order, column] = largest
        return best
