"""Which fixed word vectors a tagger reads beside the characters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..embeddings import SubwordTable, resolve_embeddings, train_subword_table
from ..sequences import TokenSequences

__all__ = ["tagger_vectors"]

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
