"""Vectors of hashed character n-grams, trained on words of several patients outside of PHI.

Training changes the rows of the n-grams that occur. The other rows keep their small initial values. Anyone with a saved
model can therefore see which n-grams of a word have occurred, and can compare these n-grams with a list of names in a
second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..embeddings import SubwordTable, normalise_words, train_subword_table
from ..sequences import TokenSequences

# Number of rows of the n-gram table: 13 MiB in a saved model. More rows gave no better F1 on the MEDDOCAN development
# set (96.22 against 96.21 with 100,000).
_BUCKET, _DIM = 32_768, 100
_FEWEST_PATIENTS = 2


def train_ngram_table(
    X: TokenSequences, tags: TokenSequences, groups: Any = None, raw: TokenSequences | None = None, seed: int = 0
) -> SubwordTable:
    """Train n-gram vectors on the words outside of PHI that two or more patients have.

    Parameters
    ----------
    X, tags : TokenSequences of n sentences
        Annotated sentences. Tokens of PHI are left out.
    groups : array-like of shape (n,), optional
        Patient of each sentence. Without groups, each document counts as a patient; without documents, each sentence
        counts as a patient.
    raw : TokenSequences, optional
        Sentences without annotations. Only words that are used in X are also used in these sentences.
    seed : int, default=0
        Random seed.

    Returns
    -------
    SubwordTable
        Table of n-gram vectors. If no word is left, the vectors are random and do not depend on the notes.

    Examples
    --------
    >>> X = TokenSequences.from_rows([["Mr", "Alder", "left"], ["Mr", "Birch", "stays"]])
    >>> tags = TokenSequences.from_rows([["O", "B-PATIENT", "O"]] * 2)
    >>> train_ngram_table(X, tags)
    SubwordTable(bucket=32768, dim=100, n-grams 3-6)
    """
    is_open = np.asarray(tags.data == "O")
    owners = _owners(X, groups)
    words = np.array(normalise_words(X.data.tolist()), dtype=object)
    patients: dict[str, set[Any]] = {}
    for word, owner in zip(words[is_open].tolist(), owners[is_open].tolist(), strict=True):
        patients.setdefault(word, set()).add(owner)
    shared = {word for word, those in patients.items() if len(those) >= _FEWEST_PATIENTS}
    rows = _kept(X, words, is_open, shared)
    if raw is not None:
        more = np.array(normalise_words(raw.data.tolist()), dtype=object)
        rows += _kept(raw, more, np.ones(len(more), dtype=bool), shared)
    if not any(rows):
        table = np.random.default_rng(0).standard_normal((_BUCKET, _DIM), dtype=np.float32)
        return SubwordTable(table)
    return train_subword_table(rows, dim=_DIM, bucket=_BUCKET, random_state=seed)


def _owners(X: TokenSequences, groups: Any) -> np.ndarray:
    """Patient of each token. If the patients are unknown, document or sentence of each token."""
    rows = np.arange(len(X)) if X.documents is None else X.documents
    owner = np.asarray(rows if groups is None else groups, dtype=object)
    return np.repeat(owner, X.lengths)


def _kept(X: TokenSequences, words: np.ndarray, is_open: np.ndarray, shared: set[str]) -> list[list[str]]:
    keep = is_open & np.array([word in shared for word in words.tolist()], dtype=bool)
    return [words[a:b][keep[a:b]].tolist() for a, b in zip(X.offsets[:-1], X.offsets[1:], strict=True)]
