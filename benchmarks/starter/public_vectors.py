"""Public vectors of words as a further input of a tagger that is trained already."""

from __future__ import annotations

import re

import numpy as np
import torch

from sklearn_deid import DeidTagger
from sklearn_deid.embeddings import KnownWordTable, SubwordTable, load_glove

from .ordinary_words import ordinary_words

_WORD = re.compile(r"[^\W\d_]+(?:['.-][^\W\d_]+)*")
#: With more words, the model would have more than 6 MB.
N_KNOWN = 79_500
#: Length of a vector, so that its numbers are about as large as those of the other inputs.
_LENGTH = 3.5


def known_word_table(ngrams: SubwordTable) -> KnownWordTable:
    """The table of n-grams with vectors of GloVe 6B (public domain).

    The known words are ordinary words of the lists of the training, and of all others the most frequent ones. Words
    and names that are held out for measurements are known only if they are frequent.
    """
    glove, listed = load_glove(), ordinary_words()
    words = list(glove.words)
    rows = [row for row, word in enumerate(words) if len(word) > 1 and _WORD.fullmatch(word)]
    # Frequent words first; a stable sort keeps this order among the listed words and among the others.
    chosen = sorted(rows, key=lambda row: words[row] not in listed)[:N_KNOWN]
    vectors = np.asarray(glove.matrix())[chosen]
    vectors = vectors * (_LENGTH / np.linalg.norm(vectors, axis=1, keepdims=True))
    return KnownWordTable.of(ngrams, [words[row] for row in chosen], vectors)


def with_public_vectors(tagger: DeidTagger) -> DeidTagger:
    """The trained tagger, whose network also reads public vectors. Their weights are zero before further training."""
    before = tagger.module_.state_dict()
    ngrams = tagger.embeddings
    tagger.embeddings = tagger._vectors = known_word_table(ngrams)
    tagger.initialize()
    after = tagger.module_.state_dict()
    # The vectors of n-grams follow the casing of a word, and the new inputs follow them.
    place = tagger.module_.words.n_casings + ngrams.dim
    for name, weights in before.items():
        wide = after[name]
        if wide.shape == weights.shape:
            after[name] = weights
        else:
            new = torch.zeros(len(weights), wide.shape[1] - weights.shape[1])
            after[name] = torch.cat([weights[:, :place], new, weights[:, place:]], dim=1)
    tagger.module_.load_state_dict(after)
    return tagger
