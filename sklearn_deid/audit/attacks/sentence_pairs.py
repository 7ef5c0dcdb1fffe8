"""Pairs of released sentences: the drawing of pairs, and the similarities of two sentences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...exceptions import SequenceError
from ...sequences import TokenSequences, TokenVectors, check_groups, check_sequences, check_tags
from ...text import CASING_CLASSES, casing_ids, split_tag

_N_CASINGS = len(CASING_CLASSES)


@dataclass(frozen=True, repr=False)
class ReleasedSentences:
    """Released sentences with their patients.

    Attributes
    ----------
    X : sequence of n sentences
        Pseudonymised words, or vectors.
    groups : array-like of shape (n,)
        Patient of each sentence. The attacker knows the patients of their training sentences only.
    tags : sequence of n tag sequences, optional
        Labels, if they are released too.
    casing : sequence of n int sequences, or ndarray of int64 of shape (n_tokens,), optional
        Casing classes (`sklearn_deid.text.casing_ids`) that are released in addition to vectors. Words already show
        their casing.
    documents : array-like of shape (n,), optional
        Document of each sentence. If given, the sentences of a pair never come from the same document.
    """

    X: Any
    groups: Any
    tags: Any = None
    casing: Any = None
    documents: Any = None

    def __post_init__(self) -> None:
        X = check_sequences(self.X)
        n = len(X)
        groups = check_groups(self.groups, n)
        if groups is None:
            raise SequenceError("'groups' is required: the patient of each sentence.")
        documents = np.arange(n) if self.documents is None else check_groups(self.documents, n)
        casing = None
        if isinstance(X, TokenSequences):
            casing = casing_ids(X.data.tolist())
        elif self.casing is not None:
            is_flat = getattr(self.casing, "dtype", None) == np.int64
            casing = self.casing if is_flat else np.hstack([np.zeros(0), *self.casing]).astype(np.int64)
            if len(casing) != len(X.data):
                raise SequenceError("'casing' must hold one class for each token.")
        tags = None if self.tags is None else check_tags(self.tags, X)
        checked = {"X": X, "groups": groups, "tags": tags, "casing": casing, "documents": documents}
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"ReleasedSentences(n={len(self)})"

    def with_groups(self, groups: np.ndarray) -> ReleasedSentences:
        """Return the sentences with other patient numbers and without documents."""
        return replace(self, groups=groups, documents=None)


@dataclass(frozen=True)
class SentencePairs:
    """Pairs of rows. In half of the pairs, both sentences concern one patient; in the other half, two patients.

    Attributes
    ----------
    first, second : ndarray of int64, shape (n,)
        Rows of the first and of the second sentence.
    same : ndarray of bool, shape (n,)
        Whether both sentences are of one patient.
    patients : ndarray of int64, shape (n,)
        Number of the first sentence's patient, who occurs in equally many pairs of both kinds.
    """

    first: np.ndarray
    second: np.ndarray
    same: np.ndarray
    patients: np.ndarray

    def __len__(self) -> int:
        return len(self.first)


def draw_pairs(sentences: ReleasedSentences, n_pairs: int, rng: np.random.Generator) -> SentencePairs:
    """Draw for every patient equally many pairs within the patient and with other patients.

    Parameters
    ----------
    sentences : ReleasedSentences
        Sentences to draw from.
    n_pairs : int
        Approximate number of pairs. Every patient with a possible pair contributes at least two pairs.
    rng : numpy Generator
        Random generator.

    Raises
    ------
    ValueError
        If fewer than two patients have two sentences (of different documents, if documents are given).
    """
    patients = np.unique(sentences.groups, return_inverse=True)[1]
    documents = np.unique(sentences.documents, return_inverse=True)[1]
    with_pairs = [p for p in range(patients.max() + 1) if len(np.unique(documents[patients == p])) > 1]
    if len(with_pairs) < 2:
        raise ValueError("Linking needs at least two patients with two sentences each.")
    each = max(1, n_pairs // (2 * len(with_pairs)))
    # The other patients must have pairs too. Otherwise a patient with one sentence would only occur in mixed pairs.
    usable = np.flatnonzero(np.isin(patients, with_pairs))
    first, second, same, owner = [], [], [], []
    for p in with_pairs:
        own, others = np.flatnonzero(patients == p), usable[patients[usable] != p]
        for _ in range(each):
            a = own[rng.integers(len(own))]  # the number that `choice` draws, in a third of its time
            mine = own[documents[own] != documents[a]]
            if len(mine):
                first += [a, a]
                second += [mine[rng.integers(len(mine))], others[rng.integers(len(others))]]
                same += [True, False]
                owner += [p, p]
    return SentencePairs(np.array(first), np.array(second), np.array(same), np.array(owner))


class PairFeatures:
    """Numeric similarities between two released sentences.

    Parameters
    ----------
    sentences : ReleasedSentences
        Sentences of the pairs.
    use_casing, use_tags : bool
        Whether to use casing and labels, which are released without noise.

    Examples
    --------
    >>> import numpy as np
    >>> sentences = ReleasedSentences([["Mr", "Alder"], ["Alder", "fell"], ["no", "pain"]], ["p", "p", "q"])
    >>> pairs = SentencePairs(np.array([0, 0]), np.array([1, 2]), np.array([True, False]), np.array([0, 0]))
    >>> shared = PairFeatures(sentences, use_casing=False, use_tags=False)(pairs)[:, 0]
    >>> bool(shared[0] > shared[1])
    True
    """

    def __init__(self, sentences: ReleasedSentences, use_casing: bool, use_tags: bool) -> None:
        X, n = sentences.X, len(sentences)
        bounds = list(zip(X.offsets[:-1].tolist(), X.offsets[1:].tolist(), strict=True))
        self._lengths = np.maximum(X.lengths, 1)
        self._vectors: list[np.ndarray] | None = None
        self._counts: list[np.ndarray] = []
        # Without labels all words count as one kind.
        labels: list[str | None] = [""] * len(X.data)
        if use_tags and sentences.tags is not None:
            labels = [split_tag(tag)[1] for tag in sentences.tags.data]
            number = {label: i for i, label in enumerate(sorted({label for label in labels if label}))}
            self._counts.append(_row_counts([number.get(label or "", -1) for label in labels], bounds, len(number)))
        if use_casing and sentences.casing is not None:
            self._counts.append(_row_counts(sentences.casing.tolist(), bounds, _N_CASINGS))
        if isinstance(X, TokenVectors):
            self._vectors = [_unit(X.data[start:stop].astype(np.float64)) for start, stop in bounds]
            self._means = _unit(np.array([one.sum(0) for one in self._vectors]) / self._lengths[:, None])
            # Vectors without noise repeat exactly, and are as good as words.
            folded = np.unique(X.data, axis=0, return_inverse=True)[1].reshape(-1).tolist()
        else:
            folded = [word.casefold() for word in X.data.tolist()]
        rows = [range(start, stop) for start, stop in bounds]
        frequency = Counter(word for row in rows for word in {folded[i] for i in row})
        self._weight: dict[Any, float] = {word: float(np.log((1 + n) / k)) for word, k in frequency.items()}
        self._words: list[tuple[set[Any], set[Any]]] = [
            ({folded[i] for i in row if labels[i] is not None}, {folded[i] for i in row if labels[i] is None})
            for row in rows
        ]

    def __call__(self, pairs: SentencePairs) -> np.ndarray:
        """Compute features of shape (n_pairs, n_features)."""
        a, b = pairs.first, pairs.second
        columns = [np.array([self._of_words(i, j) for i, j in zip(a.tolist(), b.tolist(), strict=True)])]
        if self._vectors is not None:
            columns.append(self._of_vectors(self._vectors, a, b))
        for counts in self._counts:
            shared, either = np.minimum(counts[a], counts[b]), np.maximum(counts[a], counts[b]).sum(1)
            # Two sentences without any counts are alike.
            alike = np.where(either > 0, shared.sum(1) / np.maximum(either, 1.0), 1.0)
            columns += [alike[:, None], shared]
        columns.append(np.abs(np.log(self._lengths[a] / self._lengths[b]))[:, None])
        return np.hstack(columns)

    def _of_words(self, i: int, j: int) -> list[float]:
        """Rarity of the shared words or equal vectors: sum and maximum, for PHI and for other tokens."""
        out: list[float] = []
        for kind in (0, 1):
            both = self._words[i][kind] & self._words[j][kind]
            if not both:  # as in most pairs
                out += [0.0, 0.0]
                continue
            shared = [self._weight[word] for word in both]
            # The rarest shared word is a separate feature, because one rare surrogate links two sentences, and ten stop
            # words do not. The order of a set differs between processes. Sorted numbers have the same sum in every
            # process.
            out += [float(np.log1p(sum(sorted(shared)))), max(shared)]
        return out

    def _of_vectors(self, vectors: list[np.ndarray], a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Cosine of the mean vectors, and statistics of the best cosine of each token; zeros for a sentence without
        tokens."""
        out = np.zeros((len(a), 4))
        some = np.flatnonzero([len(vectors[i]) and len(vectors[j]) for i, j in zip(a, b, strict=True)])
        if not len(some):
            return out
        first, second = a[some], b[some]
        # shape of each: (n_tokens of the first sentence,)
        best = [(vectors[i] @ vectors[j].T).max(1) for i, j in zip(first.tolist(), second.tolist(), strict=True)]
        together, lengths = np.concatenate(best), np.array([len(one) for one in best])
        starts = np.cumsum(lengths) - lengths
        out[some, 0] = (self._means[first] * self._means[second]).sum(axis=1)
        out[some, 1] = np.maximum.reduceat(together, starts)
        out[some, 2] = np.add.reduceat(together, starts) / lengths
        out[some, 3] = np.add.reduceat((together > 0.999).astype(np.float64), starts)
        return out


def _row_counts(numbers: list[int], bounds: list[tuple[int, int]], n_kinds: int) -> np.ndarray:
    """Counts of each kind in each sentence, shape (n, n_kinds); negative numbers are ignored."""
    sentence = np.repeat(np.arange(len(bounds)), [stop - start for start, stop in bounds])
    # The first column counts the negative numbers.
    out = np.zeros((len(bounds), 1 + n_kinds))
    np.add.at(out, (sentence, 1 + np.asarray(numbers, dtype=np.int64)), 1.0)
    return out[:, 1:]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
