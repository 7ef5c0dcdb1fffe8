"""Invented names, places, dates and identifiers, from one stream of random numbers."""

from . import dates, identifiers, names, places
from .chance import Chance
from .dates import DATE_FORMS, shift, years_between
from .names import given_name, initials_of, misspell_name, surname
from .placeholders import PlaceholderFiller, is_name_label
from .professions import PROFESSIONS

__all__ = [
    "DATE_FORMS",
    "PROFESSIONS",
    "Chance",
    "PlaceholderFiller",
    "dates",
    "given_name",
    "identifiers",
    "initials_of",
    "is_name_label",
    "misspell_name",
    "names",
    "places",
    "shift",
    "surname",
    "years_between",
]
