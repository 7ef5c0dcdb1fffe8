"""Public notes from which a representer learns before it sees private notes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..datasets import make_clinical_notes
from ..embeddings import WordVectors
from ..sequences import TokenSequences, check_tags
from ..text import Corpus

#: Number of generated notes that "generated" stands for, and the random seed of the notes.
N_GENERATED, SEED = 300, 20_190_728
#: Epochs of the training on public notes.
PUBLIC_EPOCHS = 15
#: Smallest share of the tokens with a vector. With fewer, the notes are in another language than the vectors.
FEWEST_KNOWN = 0.5


def public_sentences(public: Any, vectors: WordVectors) -> tuple[TokenSequences, TokenSequences] | None:
    """Return sentences and tags of public notes; None if there are none, or if the vectors know too few words."""
    if public is None:
        return None
    if isinstance(public, str):
        data = make_clinical_notes(N_GENERATED, random_state=SEED).to_sentences()
        X, y = data.X, data.y
    elif isinstance(public, tuple):
        X, y = public
    else:
        data = Corpus(list(public)).to_sentences()
        X, y = data.X, data.y
    X = X if isinstance(X, TokenSequences) else TokenSequences.from_rows(X)
    y = check_tags(y, X)
    known = (vectors.indices(X.data.tolist()) >= 0).mean() if len(X.data) else 0.0
    return (X, y) if known >= FEWEST_KNOWN else None
