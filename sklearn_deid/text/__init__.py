"""Documents, PHI spans, tokens with offsets, sentences, tags, label schemes and redaction."""

from .alignment import AlignmentReport, spans_to_tags, tags_to_spans
from .casing import CASING_CLASSES, CASING_PATTERNS, apply_casing, casing_class, casing_ids, casing_pattern
from .characters import N_CHARACTER_CLASSES, N_SHAPE_CLASSES, character_ids, shape_ids, word_shape
from .corpus import Corpus, SentenceData, border_counts, joined_at_borders, patient_of
from .documents import Document, Span
from .labels import (
    BINARY,
    I2B2_2014,
    MEDDOCAN,
    LabelScheme,
    get_label_scheme,
    label_map,
    names_of_i2b2,
    nearest_i2b2,
    propose_label_map,
    relabel,
)
from .learned_segmenter import LearnedSegmenter
from .normalization import normalize
from .normalized_text import Edit, NormalizedText
from .patient_ids import known_id
from .rewriting import REDACTION_MODES, Rewriting, merge_spans, redact, redact_document, rewrite
from .segmentation import Segmentation, segment
from .sentences import split_sentences
from .spacy_bridge import make_spacy_tokenizer
from .tags import SCHEMES, check_tag_scheme, convert_tags, is_allowed, labels_of, repair_tags, split_tag
from .tokens import Tokens, tokenize
from .transfer_encodings import TRANSFER_ENCODINGS, decode_body
from .unreadable import unreadable_reason

__all__ = [
    "BINARY",
    "CASING_CLASSES",
    "CASING_PATTERNS",
    "I2B2_2014",
    "MEDDOCAN",
    "N_CHARACTER_CLASSES",
    "N_SHAPE_CLASSES",
    "REDACTION_MODES",
    "SCHEMES",
    "TRANSFER_ENCODINGS",
    "AlignmentReport",
    "Corpus",
    "Document",
    "Edit",
    "LabelScheme",
    "LearnedSegmenter",
    "NormalizedText",
    "Rewriting",
    "Segmentation",
    "SentenceData",
    "Span",
    "Tokens",
    "apply_casing",
    "border_counts",
    "casing_class",
    "casing_ids",
    "casing_pattern",
    "character_ids",
    "check_tag_scheme",
    "convert_tags",
    "decode_body",
    "get_label_scheme",
    "is_allowed",
    "joined_at_borders",
    "known_id",
    "label_map",
    "labels_of",
    "make_spacy_tokenizer",
    "merge_spans",
    "normalize",
    "patient_of",
    "names_of_i2b2",
    "nearest_i2b2",
    "propose_label_map",
    "redact",
    "redact_document",
    "relabel",
    "repair_tags",
    "rewrite",
    "segment",
    "shape_ids",
    "spans_to_tags",
    "split_sentences",
    "split_tag",
    "tags_to_spans",
    "tokenize",
    "unreadable_reason",
    "word_shape",
]
