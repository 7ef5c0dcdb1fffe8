"""Invented names, places, dates and identifiers, drawn from one stream of random numbers."""

from . import dates, identifiers, names, places
from .chance import Chance
from .data_file import Block, DataFile, Entry, read_data_file
from .dates import DATE_FORMS, shift, years_between
from .names import given_name, initials_of, misspell_name, surname
from .placeholders import PlaceholderFiller, is_name_label
from .word_list import word_list

__all__ = [
    "DATE_FORMS",
    "Block",
    "Chance",
    "DataFile",
    "Entry",
    "PlaceholderFiller",
    "dates",
    "given_name",
    "identifiers",
    "initials_of",
    "is_name_label",
    "misspell_name",
    "names",
    "places",
    "read_data_file",
    "shift",
    "surname",
    "word_list",
    "years_between",
]
