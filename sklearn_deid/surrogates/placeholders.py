"""Invented text for the placeholders of de-identified notes, such as ``[**Hospital 12**]`` and ``[**2151-7-16**]``."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date

from . import identifiers, places
from .chance import Chance
from .dates import DATE_FORMS, holiday, month_form, season_form, shift, short_form
from .names import given_name, initials_of, surname

Part = tuple[str, str | None]
"""Text and its i2b2 2014 label, None for text between labelled ones."""

_FULL = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_SHORT = re.compile(r"(\d{1,2})-(\d{1,2})")
_MONTH = re.compile(r"(\d{4})-(\d{1,2})")
_RANGE = re.compile(r"(\S+) ?/ ?(\S+)")
_YEAR = re.compile(r"\d{4}")
_NAME = re.compile(r"\bname\b|\bname(?=\d)|known (first|last)name|initials?\b|(attending|dictator) info")
_NAME_OF_A_PLACE = re.compile(r"ward|unit|hospital|company|department")
_DOCTOR = re.compile(r"doctor|\bmd\b|title|attending|dictator|nameis|provider")

_WARDS = ("Ward", "Unit", "Medical Unit", "Surgical Unit", "Stepdown", "Floor")

# Pattern, label and draw of each kind. The first pattern that matches is used, so narrow patterns come before wide
# ones.
_KINDS: tuple[tuple[str, str, Callable[[Chance], str]], ...] = (
    (r"medical record|unit number", "MEDICALRECORD", identifiers.mrn),
    (r"social security|\bssn\b", "SSN", identifiers.ssn),
    (r"account", "ACCOUNT", identifiers.account),
    (r"health ?plan|insurance", "HEALTHPLAN", identifiers.health_plan),
    (r"md number|provider number|license|certificate", "LICENSE", identifiers.license_number),
    (r"serial number|device", "DEVICE", identifiers.device),
    (r"vehicle|plate", "VEHICLE", identifiers.plate),
    (r"numeric identifier|clip number|job number|accession|specimen|\bid\b", "IDNUM", identifiers.study_number),
    (r"pager", "PHONE", identifiers.pager),
    (r"telephone|phone|contact info|fax", "PHONE", identifiers.phone),
    (r"e-?mail", "EMAIL", lambda c: identifiers.email(given_name(c, c.pick("MF")), surname(c), c)),
    (r"\burl\b|web", "URL", lambda c: identifiers.url(identifiers.web_domain(surname(c), c), c)),
    (r"\bip\b", "IPADDR", identifiers.ip_address),
    (r"age over 90", "AGE", lambda c: str(c.number(90, 99))),
    (r"ward|unit name|department", "DEPARTMENT", lambda c: f"{c.pick(_WARDS)} {c.number(2, 12)}"),
    (r"hospital", "HOSPITAL", places.hospital_name),
    (r"street|address|po box", "STREET", places.street),
    (r"university|college|company|employer", "ORGANIZATION", places.employer),
    (r"country", "COUNTRY", places.country),
    (r"zip", "ZIP", lambda c: c.digits(5)),
    (r"state", "STATE", lambda c: places.state(c)[0]),
    (r"location|city|town", "CITY", places.town),
    (r"holiday", "DATE", holiday),
)


def is_name_label(label: str | None) -> bool:
    """Whether neighbouring parts with this label form one name."""
    return label in ("PATIENT", "DOCTOR")


class PlaceholderFiller:
    """Replaces the placeholders of a note by invented text. Equal placeholders receive equal text.

    All dates of a note are shifted by the same number of days, from the invented years of MIMIC to years around 2000.
    The distances between dates are therefore preserved. All full dates of a note are written in the same form.

    Parameters
    ----------
    chance : Chance
        Random draws of this note.

    Examples
    --------
    >>> filler = PlaceholderFiller(Chance(0))
    >>> [label for _, label in filler.fill("State/Zipcode ")]
    ['STATE', None, 'ZIP']
    >>> filler.fill("Hospital1 18") == filler.fill("Hospital1 18") != filler.fill("Hospital1 19")
    True
    """

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._form = DATE_FORMS[chance.pick(tuple(DATE_FORMS))]
        self._range = chance.pick((" - ", " to ", "-"))
        self._year = chance.number(1985, 2019)
        self._days = chance.number(0, 364)
        self._first_year: int | None = None
        self._known: dict[str, tuple[Part, ...]] = {}

    def fill(self, content: str, is_doctor: bool = False) -> tuple[Part, ...] | None:
        """Return the text that replaces a placeholder.

        Parameters
        ----------
        content : str
            Content of the placeholder between the asterisks.
        is_doctor : bool, default=False
            Whether a name belongs to a clinician, for a placeholder that does not state the role.

        Returns
        -------
        tuple of (text, label), or None
            Parts of the text. None if the kind of placeholder is unknown.
        """
        content = " ".join(content.split())
        if content not in self._known:
            parts = self._new(content, content.lower())
            if parts is None:
                return None
            self._known[content] = parts
        return tuple(
            (text, "DOCTOR" if is_doctor and is_name_label(label) else label) for text, label in self._known[content]
        )

    def _new(self, content: str, kind: str) -> tuple[Part, ...] | None:
        dated = self._date(content) or self._date_kind(kind)
        if dated is not None:
            return ((dated, "DATE"),)
        if "state/zip" in kind.replace(" ", ""):
            return ((places.state(self._chance)[1], "STATE"), (" ", None), (self._chance.digits(5), "ZIP"))
        if _NAME.search(kind) and not _NAME_OF_A_PLACE.search(kind):
            return ((self._name(kind), "DOCTOR" if _DOCTOR.search(kind) else "PATIENT"),)
        for pattern, label, draw in _KINDS:
            if re.search(pattern, kind):
                return ((draw(self._chance), label),)
        return None

    def _name(self, kind: str) -> str:
        chance = self._chance
        sex = "F" if "female" in kind else "M" if "male" in kind else chance.pick("MF")
        if "initial" in kind:
            return initials_of(given_name(chance, sex), surname(chance))
        if "first" in kind:
            return given_name(chance, sex)
        if "info" in kind:
            return f"{given_name(chance, sex)} {surname(chance)}"
        return surname(chance)

    # ---- dates

    def _date(self, content: str) -> str | None:
        """Shifted date for a placeholder with a date or a range of dates; None for other placeholders."""
        if (found := _FULL.fullmatch(content)) is not None:
            year, month, day = map(int, found.groups())
            return self._form(self._moved(year, month, day))
        if (found := _MONTH.fullmatch(content)) is not None:
            return month_form(self._moved(int(found[1]), int(found[2]), 15), self._chance)
        if (found := _SHORT.fullmatch(content)) is not None:
            month, day = int(found[1]), int(found[2])
            # A first number above 12 can only be a day.
            if month > 12:
                month, day = day, month
            return short_form(self._moved(self._first_year or 2150, month, day), self._chance)
        if _YEAR.fullmatch(content):
            return str(self._moved(int(content), 7, 1).year)
        found = _RANGE.fullmatch(content)
        ends = [self._date(end) for end in found.groups()] if found else [None]
        return None if None in ends else self._range.join(str(end) for end in ends)

    def _moved(self, year: int, month: int, day: int) -> date:
        year, month = min(max(year, 1), 9999), min(max(month, 1), 12)
        if self._first_year is None:
            self._first_year = year
        # The first date of the note sets the number of days, and all later dates move by the same number. The dates of
        # MIMIC were shifted too and can name the 30th of February: the last day of the month takes its place.
        original = date(year, month, min(max(day, 1), monthrange(year, month)[1]))
        moved = original.toordinal() + date(self._year, 1, 1).toordinal() - date(self._first_year, 1, 1).toordinal()
        return date.fromordinal(min(max(moved + self._days, 1), date.max.toordinal()))

    def _date_kind(self, kind: str) -> str | None:
        """Date for a placeholder that contains only the kind of date, such as a month; None for other placeholders."""
        chance = self._chance
        day = date(self._year, chance.number(1, 12), chance.number(1, 28))
        if "date range" in kind:
            return self._range.join(self._form(shift(day, days)) for days in (0, chance.number(1, 20)))
        if "season" in kind:
            return season_form(day, chance)
        if re.search(r"year \(2", kind):
            return f"{day.year % 100:02d}"
        units = set(re.findall(r"\b(day|month|year|date)\b", kind))
        if units == {"year"}:
            return str(day.year)
        if units in ({"month"}, {"month", "year"}):
            return month_form(day, chance) if "year" in units else f"{day:%m}"
        if units == {"day", "month"}:
            return short_form(day, chance)
        return self._form(day) if units else None
