"""What a note is: documents, spans, tokens with offsets, sentences, tags, label schemes, rewriting."""

from .casing import CASING_CLASSES, casing_class, casing_ids
from .documents import Document, Span
from .segmentation import Segmentation, segment
from .sentences import split_sentences
from .spacy_bridge import make_spacy_tokenizer
from .tokens import Tokens, tokenize

__all__ = [
    "CASING_CLASSES",
    "Document",
    "Segmentation",
    "Span",
    "Tokens",
    "casing_class",
    "casing_ids",
    "make_spacy_tokenizer",
    "segment",
    "split_sentences",
    "tokenize",
]
