"""Ragged X and y: the one place where they are made and checked.

X is a sequence of sentences, each a sequence of tokens (or a 2-D array of token vectors); y is a sequence of tag
sequences. Lists of lists are accepted everywhere and converted once, to one flat array plus offsets: the containers
here look like a 1-D array of ``n`` sentences to scikit-learn's splitters, caches and joblib.
"""

from .checks import check_groups, check_sequences, check_tags
from .provenance import NOISE_LAW, Provenance
from .ragged_array import RaggedArray, object_rows
from .token_sequences import TokenSequences
from .token_vectors import TokenVectors

__all__ = [
    "NOISE_LAW",
    "RaggedArray",
    "TokenVectors",
    "Provenance",
    "TokenSequences",
    "check_groups",
    "check_sequences",
    "check_tags",
    "object_rows",
]
