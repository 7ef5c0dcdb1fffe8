"""Word vectors: reading, lookup of words, nearest neighbours, and training on your own notes."""

from .fasttext import train_fasttext, train_subword_table
from .known_words import KnownWordTable
from .neighbors import NeighborIndex, NeighborTable, forget_neighbors
from .noise_study import NoiseStudy, noise_study
from .reading import FORMATS, from_gensim, glove_is_installed, load_glove, read_word_vectors
from .resolving import corpus_vectors, public_vectors_or_corpus, resolve_embeddings
from .subwords import SubwordTable, ngram_hashes, normalise_words
from .vectors import Lookup, WordVectors, word_forms

__all__ = [
    "FORMATS",
    "KnownWordTable",
    "Lookup",
    "NeighborIndex",
    "NeighborTable",
    "NoiseStudy",
    "SubwordTable",
    "WordVectors",
    "corpus_vectors",
    "forget_neighbors",
    "from_gensim",
    "glove_is_installed",
    "load_glove",
    "ngram_hashes",
    "noise_study",
    "normalise_words",
    "public_vectors_or_corpus",
    "read_word_vectors",
    "resolve_embeddings",
    "train_fasttext",
    "train_subword_table",
    "word_forms",
]
