"""From tokens and tags to the datasets of the tagger's network."""

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
from .span_swap import SpanSwapper


def distinct_words(X: TokenSequences) -> tuple[np.ndarray, list[str]]:
    """Number of each token's word, shape (n_tokens,), and the words in order of first appearance."""
    number: dict[str, int] = {}
    ids = [number.setdefault(token, len(number)) for token in X.data]
    return np.asarray(ids, dtype=np.int64), list(number)


def word_features(words: list[str], *, characters: bool, vectors: Any = None) -> dict[str, Tensor]:
    """Features of each word, one row a word.

    ``vectors`` is anything with ``vectors_for(words) -> (n, d)``, such as `WordVectors`.
    """
    features = {"casing": torch.from_numpy(casing_ids(words))}
    if characters:
        features["characters"] = torch.from_numpy(character_ids(words))
        features["shape"] = torch.from_numpy(shape_ids(words))
    if vectors is not None:
        features["vectors"] = torch.from_numpy(np.ascontiguousarray(vectors.vectors_for(words), dtype=np.float32))
    return features


def inner_tags(y: TokenSequences, tag_scheme: str) -> TokenSequences:
    """Legal tag sequences in the network's scheme, from the user's IOB2 tags."""
    rows = [repair_tags(row) for row in y]
    return TokenSequences.from_rows(
        rows if tag_scheme == "iob2" else [convert_tags(r, "iob2", tag_scheme) for r in rows]
    )


def encode_tags(tags: TokenSequences, classes: np.ndarray) -> np.ndarray:
    """Class index of each tag, shape (n_tokens,); a tag that is no class raises KeyError."""
    number = {tag: i for i, tag in enumerate(classes.tolist())}
    return np.asarray([number[tag] for tag in tags.data], dtype=np.int64)


def tag_weights(class_weight: Any, tags: TokenSequences, classes: np.ndarray) -> Tensor | None:
    """Weight of each class in the loss, shape (n_classes,). None if all classes have the same weight."""
    if class_weight is None:
        return None
    if isinstance(class_weight, dict):
        return torch.tensor([float(class_weight.get(tag, 1.0)) for tag in classes])
    counts = np.bincount(encode_tags(tags, classes), minlength=len(classes))
    return torch.from_numpy(len(tags.data) / (len(classes) * np.maximum(counts, 1))).float()


class SwappingDataset(SentenceDataset):
    """Training sentences whose spans change places anew in every epoch (see `SpanSwapper`).

    Parameters
    ----------
    legal_tags : TokenSequences
        Tags as strings, to find the spans.
    share : float
        Share of the spans that are replaced; 0 leaves the data as they are.
    redrawn : callable, optional
        Gives the arrays anew in every epoch (`DeidTagger`'s ``augmenter``); offsets and tags stay.
    **arrays
        As for `SentenceDataset`.
    """

    def __init__(
        self,
        legal_tags: TokenSequences,
        share: float,
        redrawn: Callable[[], dict[str, Any]] | None = None,
        **arrays: Any,
    ) -> None:
        super().__init__(**arrays)
        self._redrawn = redrawn
        self._original = (self.offsets, self.words, self.vectors, self.tags)
        starts, ends, labels = span_ranges(legal_tags)
        self._swapper = SpanSwapper(self.offsets, starts, ends, labels, share) if share and len(starts) else None

    def redraw(self, rng: np.random.Generator) -> None:
        """Perturb and swap spans anew; the number of sentences and their order stay."""
        if self._redrawn is not None:
            arrays = self._redrawn()
            self.features = arrays.get("features")
            self.words, self.vectors = arrays.get("words"), arrays.get("vectors")
            self._original = (self._original[0], self.words, self.vectors, self._original[3])
        if self._swapper is None:
            return
        _, words, vectors, tags = self._original
        index, self.offsets = self._swapper.draw(rng)
        self.words = None if words is None else words[index]
        self.vectors = None if vectors is None else vectors[index]
        self.tags = None if tags is None else tags[index]
        self.lengths = np.diff(self.offsets)


def span_ranges(tags: TokenSequences) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Item ranges and label numbers of all spans of legal tag sequences."""
    parts = [split_tag(tag) for tag in tags.data]
    first = np.fromiter((p in ("B", "S") for p, _ in parts), dtype=bool, count=len(parts))
    inside = np.fromiter((p in ("I", "E") for p, _ in parts), dtype=bool, count=len(parts))
    starts = np.flatnonzero(first)
    # A span ends before the next item that does not continue it; the end of all items counts as one.
    stops = np.flatnonzero(np.append(~inside, True))
    ends = stops[np.searchsorted(stops, starts, side="right")]
    number: dict[str, int] = {}
    labels = [number.setdefault(str(parts[i][1]), len(number)) for i in starts]
    return starts, ends, np.asarray(labels, dtype=np.int64)


# 13 MiB in a saved model; more rows gave no better F1 on MEDDOCAN dev (96.22 against 96.21 with 100,000).
_BUCKET = 32_768


def tagger_vectors(embeddings: Any, X: TokenSequences, rng: np.random.Generator) -> Any:
    """Word vectors for the ``embeddings`` parameter of `DeidTagger`, or None.

    "auto" trains vectors of character n-grams on X: no download, no word stored, and on development data better than
    characters alone.
    """
    seed = int(rng.integers(2**31))
    if embeddings is None or isinstance(embeddings, SubwordTable):
        return embeddings
    if isinstance(embeddings, str) and embeddings == "auto":
        return train_subword_table(X, bucket=_BUCKET, random_state=seed)
    return resolve_embeddings(embeddings, X, random_state=seed)
