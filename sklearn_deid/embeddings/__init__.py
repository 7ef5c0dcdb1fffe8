"""Word vectors: reading them, looking words up, training them on one's own notes."""

from .fasttext import train_subword_table
from .subwords import SubwordTable, ngram_hashes, normalise_words

__all__ = ["SubwordTable", "ngram_hashes", "normalise_words", "train_subword_table"]
