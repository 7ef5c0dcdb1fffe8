"""Rules that find PHI with a fixed form, such as dates, phone numbers and identifiers."""

from .finding import (
    DEFAULT_RECOGNIZERS,
    LANGUAGES,
    RECOGNIZERS,
    RULES,
    RuleSpan,
    find_phi,
    note_languages,
    select_rules,
)
from .label_maps import KINDS, LABEL_MAPS, infer_label_map, rule_label_map
from .rule import Rule
from .sentence_text import SentenceText, rebuild_sentence, sentence_readings

__all__ = [
    "DEFAULT_RECOGNIZERS",
    "RECOGNIZERS",
    "KINDS",
    "LABEL_MAPS",
    "LANGUAGES",
    "RULES",
    "Rule",
    "RuleSpan",
    "SentenceText",
    "find_phi",
    "infer_label_map",
    "note_languages",
    "rebuild_sentence",
    "rule_label_map",
    "select_rules",
    "sentence_readings",
]
