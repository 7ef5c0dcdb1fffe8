"""Sentences through a representer, each distinct sentence once."""

from __future__ import annotations

import numpy as np
import torch

from .._sequences import TokenSequences
from ..embeddings import WordVectors
from ..nn import LengthBucketSampler, Representer
from ..text import CASING_CLASSES, casing_ids
from ._pair_data import embedding_table
from ._tagger_data import distinct_words

__all__ = ["encode_sentences"]

_CELLS = 4096  # padded tokens of a batch


def encode_sentences(
    representer: Representer,
    vectors: WordVectors,
    X: TokenSequences,
    *,
    casing: bool,
    generator: torch.Generator | None,
) -> np.ndarray:
    """Vectors of all tokens, shape (n_tokens, d), followed by the casing one-hot if asked for; float32.

    Equal sentences are encoded once and share their noise: several draws of one sentence would give more of it away.

    Parameters
    ----------
    representer : Representer
        On the device that computes.
    vectors : WordVectors
    X : TokenSequences
    casing : bool
    generator : torch.Generator or None
        On that device; None leaves the noise out.
    """
    first, same_as = _distinct_sentences(X)
    distinct = X[first]
    d = representer.project.out_features
    out = np.zeros((len(X.data), d + len(CASING_CLASSES) * casing), dtype=np.float32)
    encoded = _encode(representer, vectors, distinct, generator)
    starts = distinct.offsets[:-1][same_as]
    shift = np.repeat(starts - X.offsets[:-1], X.lengths)
    out[:, :d] = encoded[np.arange(len(X.data)) + shift]
    if casing:
        out[np.arange(len(out)), d + casing_ids(X.data.tolist())] = 1.0
    return out


@torch.no_grad()
def _encode(
    representer: Representer, vectors: WordVectors, X: TokenSequences, generator: torch.Generator | None
) -> np.ndarray:
    device = representer.project.weight.device
    words, distinct = distinct_words(X)
    table = torch.from_numpy(embedding_table(vectors, distinct)).to(device)
    out = np.zeros((len(X.data), representer.project.out_features), dtype=np.float32)
    for rows in LengthBucketSampler(X.lengths, _CELLS, max_rows=_CELLS):
        lengths = X.lengths[rows]
        position = np.arange(lengths.max())
        # shape: (batch, time)
        mask = position < lengths[:, None]
        item = np.where(mask, X.offsets[rows][:, None] + position, 0)
        on = torch.from_numpy(mask).to(device)
        embeddings = torch.nn.functional.embedding(torch.from_numpy(words[item]).to(device), table)
        r = representer(embeddings, on, noise=generator is not None, generator=generator)
        out[item[mask]] = r[on].cpu().numpy()
    return out


def _distinct_sentences(X: TokenSequences) -> tuple[np.ndarray, np.ndarray]:
    """Row of the first occurrence of each distinct sentence, and which of these each row is."""
    number: dict[tuple[str, ...], int] = {}
    first: list[int] = []
    same_as = np.empty(len(X), dtype=np.int64)
    for row, tokens in enumerate(X):
        key = tuple(tokens)
        same_as[row] = number.setdefault(key, len(number))
        if len(number) > len(first):
            first.append(row)
    return np.asarray(first, dtype=np.int64), same_as
