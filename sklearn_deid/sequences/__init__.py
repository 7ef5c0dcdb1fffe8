"""Containers for ragged X and y, and their checks.

X is a sequence of sentences. A sentence is a sequence of tokens or a 2-D array of token vectors. y is a sequence of tag
sequences. All estimators also accept lists of lists and convert them once to a flat array with offsets. The splitters,
caches and joblib of scikit-learn treat a container as a 1-D array of ``n`` sentences.
"""

from .checks import check_groups, check_sequences, check_tags
from .provenance import CLASS_LAW, NOISE_LAW, Provenance
from .ragged_array import RaggedArray, object_rows
from .token_sequences import TokenSequences
from .token_vectors import TokenVectors, check_representer, representer_of

__all__ = [
    "CLASS_LAW",
    "NOISE_LAW",
    "RaggedArray",
    "TokenVectors",
    "Provenance",
    "TokenSequences",
    "check_groups",
    "check_representer",
    "check_sequences",
    "check_tags",
    "object_rows",
    "representer_of",
]
