"""Encode sentences with a representer; each distinct sentence is encoded once."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch

from .._skorch import plain_torch
from ..embeddings import WordVectors
from ..sequences import TokenSequences
from ..tagging.batching import LengthBucketSampler
from ..tagging.tagger_data import distinct_words
from ..text import CASING_CLASSES, casing_ids
from .network import Representer
from .pair_data import embedding_table
from .randomized_casing import RandomizedCasing, respond
from .release_noise import ReleaseNoise

_CELLS = 4096  # padded tokens of a batch
# Tokens whose embeddings are looked up at a time, in memory or in a mapped file.
_ROWS_AT_ONCE = 2**18


def encode_sentences(
    representer: Representer,
    vectors: WordVectors,
    X: TokenSequences,
    *,
    casing: bool | RandomizedCasing,
    generator: np.random.Generator | None,
    memmap_dir: Any = None,
) -> np.ndarray:
    """Encode all tokens: vectors of shape (n_tokens, d), followed by the casing one-hot on request; float32.

    Equal sentences are encoded once and share their noise, since several noise draws for a sentence would reveal more
    of the sentence.

    Parameters
    ----------
    representer : Representer
        Representer, on the device of the computation.
    vectors : WordVectors
        Word vectors that the representer reads.
    X : TokenSequences
        Sentences to encode.
    casing : bool or RandomizedCasing
        Whether the casing one-hot is appended, and with which privacy loss its classes are drawn.
    generator : numpy Generator or None
        Random stream of the noise and of the casing (`release_generator`). With None, no noise is added, and the true
        casing is appended.
    memmap_dir : path, optional
        Folder for a new file from which the vectors are mapped. The name of the file shows whether the vectors have
        noise.
    """
    kind = "noise-free" if generator is None else "representation"
    # One draw of noise for equal sentences: an average of several draws of a sentence removes a part of the noise.
    first, same_as = _distinct_sentences(X)
    distinct = X[first]
    d = representer.project.out_features
    out = _new_array((len(X.data), d + (len(CASING_CLASSES) if casing else 0)), memmap_dir, kind)
    # Drawn for the distinct sentences, as the noise is: several draws for a sentence would reveal more of its casing.
    classes = _casing_classes(distinct, casing, generator) if casing else np.zeros(0, dtype=np.int64)
    own = _new_array((len(distinct.data), d), memmap_dir, kind)
    encoded = _encode(representer, vectors, distinct, generator, own)
    # Position in ``encoded`` of each token of X, shape (n_tokens,): the start of its distinct sentence plus its place.
    starts = distinct.offsets[:-1][same_as]
    source = np.arange(len(X.data)) + np.repeat(starts - X.offsets[:-1], X.lengths)
    for begin in range(0, len(out), _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        out[rows, :d] = encoded[source[rows]]
        if casing:
            some = classes[source[rows]]
            out[begin + np.arange(len(some)), d + some] = 1.0
    if isinstance(encoded, np.memmap):
        path = str(encoded.filename)
        del encoded
        os.unlink(path)
    return out


def _casing_classes(
    X: TokenSequences, casing: bool | RandomizedCasing, generator: np.random.Generator | None
) -> np.ndarray:
    """Return the released casing class of each token, shape (n_tokens,)."""
    classes = casing_ids(X.data.tolist())
    if isinstance(casing, bool) or generator is None:
        return classes
    return respond(classes, float(casing.epsilon), len(CASING_CLASSES), generator)


def _new_array(shape: tuple[int, int], memmap_dir: Any, kind: str) -> np.ndarray:
    """Make an array of zeros, in memory or in a new file that only its owner can read."""
    if memmap_dir is None or not shape[0]:
        return np.zeros(shape, dtype=np.float32)
    file, path = tempfile.mkstemp(suffix=".npy", prefix=f"{kind}-", dir=memmap_dir)
    os.close(file)
    return np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)


@plain_torch()
@torch.no_grad()
def _encode(
    representer: Representer,
    vectors: WordVectors,
    X: TokenSequences,
    generator: np.random.Generator | None,
    out: np.ndarray,
) -> np.ndarray:
    device = representer.project.weight.device
    words, distinct = distinct_words(X)
    table = torch.from_numpy(embedding_table(vectors, distinct)).to(device)
    batches = list(LengthBucketSampler(X.lengths, _CELLS, max_rows=_CELLS))
    silent = representer.input_noise.kind == representer.output_noise.kind == "none"
    with ExitStack() as stack:
        noise = None
        if generator is not None and not silent:
            n_tokens = [int(X.lengths[rows].sum()) for rows in batches]
            noise = stack.enter_context(ReleaseNoise(representer, generator, n_tokens))
        for rows in batches:
            lengths = X.lengths[rows]
            position = np.arange(lengths.max())
            # shape: (batch, time)
            mask = position < lengths[:, None]
            # shape: (batch, time), positions among all tokens; 0 at padding
            item = np.where(mask, X.offsets[rows][:, None] + position, 0)
            on = torch.from_numpy(mask).to(device)
            # shape: (batch, time, dim)
            embeddings = torch.nn.functional.embedding(torch.from_numpy(words[item]).to(device), table)
            if noise is None:
                out[item[mask]] = representer(embeddings, on, noise=False)[on].cpu().numpy()
            else:
                mean = representer.mean(embeddings, on, input_eps=noise.input_eps(embeddings, on))
                out[item[mask]] = noise.released(mean[on].cpu().numpy())
    return out


def _distinct_sentences(X: TokenSequences) -> tuple[np.ndarray, np.ndarray]:
    """Return the row of each distinct sentence's first occurrence, and the distinct sentence of each row."""
    number: dict[tuple[str, ...], int] = {}
    first: list[int] = []
    same_as = np.empty(len(X), dtype=np.int64)
    for row, tokens in enumerate(X):
        key = tuple(tokens)
        same_as[row] = number.setdefault(key, len(number))
        if len(number) > len(first):
            first.append(row)
    return np.asarray(first, dtype=np.int64), same_as
