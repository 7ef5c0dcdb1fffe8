"""Invented names, places, dates and identifiers for generated notes, and as surrogates for the PHI of real notes."""

from . import dates, identifiers, names, places
from .chance import Chance
from .data_file import Block, DataFile, Entry, read_data_file
from .dates import DATE_FORMS, shift, years_between
from .key_file import read_key, read_or_make_key
from .keyed_chance import KeyedChance, new_key
from .label_kinds import label_kinds
from .locale_words import LOCALES
from .mapping_file import MappingFile, read_mapping
from .names import given_name, initials_of, misspell_name, surname
from .note_rewriter import MODES, RULES, SURROGATE, note_replacements, note_rewriter
from .number_surrogates import random_of_form
from .placeholders import PlaceholderFiller, is_name_label
from .surrogate_engine import Replacement, SurrogateEngine, joined_overlaps, rewrite_note, rewritten
from .surrogate_settings import SurrogateSettings
from .word_list import word_list
from .written_form import written_form

__all__ = [
    "DATE_FORMS",
    "Block",
    "Chance",
    "DataFile",
    "Entry",
    "KeyedChance",
    "LOCALES",
    "MODES",
    "RULES",
    "MappingFile",
    "PlaceholderFiller",
    "SURROGATE",
    "Replacement",
    "SurrogateEngine",
    "SurrogateSettings",
    "dates",
    "given_name",
    "identifiers",
    "initials_of",
    "is_name_label",
    "joined_overlaps",
    "label_kinds",
    "misspell_name",
    "names",
    "new_key",
    "note_replacements",
    "note_rewriter",
    "places",
    "random_of_form",
    "read_data_file",
    "read_key",
    "read_mapping",
    "read_or_make_key",
    "rewrite_note",
    "rewritten",
    "shift",
    "surname",
    "word_list",
    "written_form",
    "years_between",
]
