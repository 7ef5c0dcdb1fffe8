"""Conversion of tokens and tags to the data sets of the tagger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..embeddings import SubwordTable, resolve_embeddings, train_subword_table
from ..sequences import TokenSequences
from ..text import casing_ids, character_ids, convert_tags, repair_tags, shape_ids, split_tag
from .batching import SentenceDataset
from .layout_changes import LayoutChanges
from .span_swap import SpanSwapper


def distinct_words(X: TokenSequences) -> tuple[np.ndarray, list[str]]:
    """Number of the word of each token, shape (n_tokens,), and the distinct words in order of first appearance."""
    number: dict[str, int] = {}
    ids = [number.setdefault(token, len(number)) for token in X.data]
    return np.asarray(ids, dtype=np.int64), list(number)


def word_features(words: list[str], *, characters: bool, vectors: Any = None) -> dict[str, Tensor]:
    """Features of distinct words, with one row for each word.

    Parameters
    ----------
    words : list of str
        Distinct words.
    characters : bool
        Whether the features include the characters and the shapes of words.
    vectors : object with a method ``vectors_for(words)``, optional
        Word vectors, such as `WordVectors`. The method returns an array of shape (n_words, d).
    """
    features = {"casing": torch.from_numpy(casing_ids(words))}
    if characters:
        features["characters"] = torch.from_numpy(character_ids(words))
        features["shape"] = torch.from_numpy(shape_ids(words))
    if vectors is not None:
        features["vectors"] = torch.from_numpy(np.ascontiguousarray(vectors.vectors_for(words), dtype=np.float32))
    return features


def inner_tags(y: TokenSequences, tag_scheme: str) -> TokenSequences:
    """Convert the IOB2 tags of the user to legal tag sequences in the tag scheme of the network."""
    # The tags of the user may be illegal. A constrained CRF would give such sequences almost no probability.
    rows = [repair_tags(row) for row in y]
    return TokenSequences.from_rows(
        rows if tag_scheme == "iob2" else [convert_tags(r, "iob2", tag_scheme) for r in rows]
    )


def encode_tags(tags: TokenSequences, classes: np.ndarray) -> np.ndarray:
    """Number of the class of each tag, shape (n_tokens,). An unknown tag raises KeyError."""
    number = {tag: i for i, tag in enumerate(classes.tolist())}
    return np.asarray([number[tag] for tag in tags.data], dtype=np.int64)


def tag_weights(class_weight: Any, tags: TokenSequences, classes: np.ndarray) -> Tensor | None:
    """Weight of each class in the loss, shape (n_classes,). None if all classes have the same weight."""
    if class_weight is None:
        return None
    if isinstance(class_weight, dict):
        return torch.tensor([float(class_weight.get(tag, 1.0)) for tag in classes])
    # "balanced", as in scikit-learn: n_tokens / (n_classes * count), so that rare tags weigh more.
    counts = np.bincount(encode_tags(tags, classes), minlength=len(classes))
    return torch.from_numpy(len(tags.data) / (len(classes) * np.maximum(counts, 1))).float()


class GrowingFeatures:
    """Features of distinct words, to which each draw of an augmenter adds the words that were not seen before.

    Parameters
    ----------
    features_of : callable
        Function that returns the features of a list of words, such as `word_features`.
    """

    def __init__(self, features_of: Callable[[list[str]], dict[str, Tensor]]) -> None:
        self._features_of = features_of
        self._number: dict[str, int] = {}
        self._features: dict[str, Tensor] = {}

    def __call__(self, tokens: np.ndarray) -> dict[str, Any]:
        """Row of each token, and the features of all words so far: two arguments of a `SentenceDataset`."""
        known = len(self._number)
        words = [self._number.setdefault(token, len(self._number)) for token in tokens]
        new = list(self._number)[known:]
        if new:
            added = self._features_of(new)
            before = self._features
            self._features = {k: torch.cat([before[k], v]) if known else v for k, v in added.items()}
        return {"words": np.asarray(words, dtype=np.int64), "features": self._features}


class SwappingDataset(SentenceDataset):
    """Training sentences with PHI spans that are swapped anew in every epoch (see `SpanSwapper`).

    Parameters
    ----------
    legal_tags : TokenSequences
        Legal tags, from which the data set finds the spans.
    share : float
        Probability that a span is replaced. 0 swaps no span.
    redrawn : callable, optional
        Function that returns new arrays of words or vectors in every epoch, for the ``augmenter`` of `DeidTagger`.
        Offsets and tags do not change.
    rewritten : callable, optional
        ``rewritten(index, offsets)`` returns new arrays of words after the spans were swapped, for a `NoteAugmenter`.
        A swapped span is then written like its sentence. ``index`` holds the number of each token in the original data.
    layout : LayoutChanges, optional
        Changes of the layout after the spans were swapped. Needs ``rewritten``.
    **arrays
        Parameters of `SentenceDataset`.
    """

    def __init__(
        self,
        legal_tags: TokenSequences,
        share: float,
        redrawn: Callable[[], dict[str, Any]] | None = None,
        rewritten: Callable[[np.ndarray, np.ndarray], dict[str, Any]] | None = None,
        layout: LayoutChanges | None = None,
        **arrays: Any,
    ) -> None:
        super().__init__(**arrays)
        self._redrawn, self._rewritten, self._layout = redrawn, rewritten, layout
        self._original = (self.offsets, self.words, self.vectors, self.tags)
        starts, ends, labels = span_ranges(legal_tags)
        self._swapper = SpanSwapper(self.offsets, starts, ends, labels, share) if share and len(starts) else None

    def redraw(self, rng: np.random.Generator) -> None:
        """Perturb the sentences and swap spans anew. The number and the order of the sentences do not change."""
        if self._redrawn is not None:
            arrays = self._redrawn()
            self.features = arrays.get("features")
            self.words, self.vectors = arrays.get("words"), arrays.get("vectors")
            self._original = (self._original[0], self.words, self.vectors, self._original[3])
        index = np.arange(int(self._original[0][-1]))
        if self._swapper is not None:
            index = self._swap(rng)
        if self._layout is not None:
            # Each draw starts from the original arrays or from those of the swap.
            borders, tags = (
                (self._original[0], self._original[3]) if self._swapper is None else (self.offsets, self.tags)
            )
            assert tags is not None  # training data
            index, self.offsets, self.tags = self._layout.draw(index, borders, tags, rng)
            self.lengths = np.diff(self.offsets)
        if self._rewritten is not None:
            arrays = self._rewritten(index, self.offsets)
            self.words, self.features = arrays["words"], arrays["features"]

    def _swap(self, rng: np.random.Generator) -> np.ndarray:
        assert self._swapper is not None
        # Each draw starts from the original arrays, so that swaps of earlier epochs do not add up.
        _, words, vectors, tags = self._original
        index, self.offsets = self._swapper.draw(rng)
        self.words = None if words is None else words[index]
        self.vectors = None if vectors is None else vectors[index]
        self.tags = None if tags is None else tags[index]
        self.lengths = np.diff(self.offsets)
        return index


def span_ranges(tags: TokenSequences) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First tokens, end tokens and label numbers of all spans of legal tag sequences, each of shape (n_spans,)."""
    parts = [split_tag(tag) for tag in tags.data]
    first = np.fromiter((p in ("B", "S") for p, _ in parts), dtype=bool, count=len(parts))
    inside = np.fromiter((p in ("I", "E") for p, _ in parts), dtype=bool, count=len(parts))
    starts = np.flatnonzero(first)
    # A span ends before the next token that is not I or E, or at the end of all tokens.
    stops = np.flatnonzero(np.append(~inside, True))
    ends = stops[np.searchsorted(stops, starts, side="right")]
    number: dict[str, int] = {}
    labels = [number.setdefault(str(parts[i][1]), len(number)) for i in starts]
    return starts, ends, np.asarray(labels, dtype=np.int64)


# Number of rows of the n-gram table: 13 MiB in a saved model. More rows gave no better F1 on the MEDDOCAN development
# set (96.22 against 96.21 with 100,000).
_BUCKET = 32_768


def tagger_vectors(embeddings: Any, X: TokenSequences, rng: np.random.Generator) -> Any:
    """Word vectors for the ``embeddings`` parameter of `DeidTagger`, or None.

    "auto" trains vectors of character n-grams on X. These vectors need no download and store no word. On development
    data, the tagger was better with these vectors than with characters alone.
    """
    # The seed is drawn in any case, so that the choice of word vectors does not change the later random numbers.
    seed = int(rng.integers(2**31))
    if embeddings is None or isinstance(embeddings, SubwordTable):
        return embeddings
    if isinstance(embeddings, str) and embeddings == "auto":
        return train_subword_table(X, bucket=_BUCKET, random_state=seed)
    return resolve_embeddings(embeddings, X, random_state=seed)
