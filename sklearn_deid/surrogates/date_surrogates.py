"""Surrogates for dates: all dates of a patient move by one secret number of days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from .date_numbers import compact_readings
from .date_parsing import are_months_and_years, is_day_first, month_and_year, parse_dates
from .dates import years_between
from .locale_words import LocaleWords
from .patient_chance import PatientChance
from .time_zones import without_summer_time, zone_at_end
from .written_date import WrittenDate

_SIX_DIGITS = re.compile(r"\d{6}")
# Days between a date in six digits and the nearest full date of its note.
_NEAR = 366
_YEAR_DAYS = 365.2425
_SPACED = re.compile(r"\s*\d(?: \d){7}\s*")
_NO_REFERENCE = date(2010, 7, 1)
# Later dates are no dates of notes: forms write 31.12.2099 for "no end", and all dates of the note would be of an old
# patient.
_LAST_YEAR = 2049
# Forms and databases write these days for "unknown" and "no end", and the first and the last days of years after 2049.
# They are the same in all hospitals: moved, they would reveal the shift.
_PLACEHOLDERS = frozenset((date(1900, 1, 1), date(2079, 6, 6)))
_NO_END = frozenset(((12, 31), (1, 1)))
_NO_END_YEAR = 2099
_DEFAULT_SHIFT = (3650, False, False)
LAST_AGE = 89


def draw_shift(chance: PatientChance, most_days: int, whole_weeks: bool, keep_seasons: bool) -> int:
    """Draw the secret shift of a patient in days; all copies of the notes have the same shift.

    With other settings, the shift is independent. If two releases under one key used the same draw, the shift would be
    scaled to two ranges, and a reader of both releases could compute the shift to the day.

    Parameters
    ----------
    chance : PatientChance
        Draws of the patient.
    most_days : int
        Largest shift. The smallest shift is a tenth of the largest shift. With 3,650 days or more, a date that consists
        of only a year therefore also changes.
    whole_weeks : bool
        Whether weekdays stay. The shift may become up to six days shorter than drawn.
    keep_seasons : bool
        Whether dates stay within two weeks of their day of the year; with ``whole_weeks``, within three weeks.

    Examples
    --------
    >>> shift = draw_shift(PatientChance(bytes(32), "p1"), 3650, whole_weeks=True, keep_seasons=False)
    >>> shift % 7, 365 <= abs(shift) <= 3650
    (0, True)
    """
    chosen = (most_days, whole_weeks, keep_seasons)
    # The defaults are not part of the description, so that a key has the shifts that it had in earlier releases.
    draws = chance.of_all_copies("date shift", *(() if chosen == _DEFAULT_SHIFT else map(str, map(int, chosen))))
    if keep_seasons:
        years = draws.number(1, max(1, int((most_days - 14) / _YEAR_DAYS)))
        days = round(years * _YEAR_DAYS) + draws.number(-14, 14)
    else:
        days = draws.number(max(1, most_days // 10), most_days)
    if whole_weeks:
        # Up to the next week at the lower end, since a shift of 0 would leave all dates unchanged.
        days = max(7, days - days % 7)
    return days if draws.happens(0.5) else -days


class DateSurrogates:
    """Moved dates for one patient, each in the written form of the date in the note.

    Intervals between full dates of the patient are kept exactly. A date without a year is read with the year of the
    full dates of its note. A birth date moves with all other dates, and additionally by ``birth_years`` whole years.
    Some dates move to the age of 90: birth dates of patients over 89, and all other dates with a year that are as long
    before the last date of the notes so far. A birth date with a year of two digits is never after the last date of its
    note. Days that forms write for "no end" (31.12.2099) and "unknown" (1 January 1900) have no moved date.

    Parameters
    ----------
    days : int
        Shift of the patient.
    words : LocaleWords
        Names of months and days.
    birth_years : int, default=0
        Years that are added to the patient's ages.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> dates = DateSurrogates(10, locale_words("en"))
    >>> dates.surrogate("Feb 20th, 2012"), dates.surrogate("12/25/2011"), dates.surrogate("when the moon was full")
    ('Mar 1st, 2012', '01/04/2012', None)
    """

    def __init__(self, days: int, words: LocaleWords, birth_years: int = 0) -> None:
        self.days, self._words, self._birth_years = days, words, birth_years
        self._day_first = words.locale != "en"
        self._has_months = False
        self._reference = _NO_REFERENCE
        self._full: tuple[date, ...] = ()
        # Last date of a note, and of all notes so far.
        self._last: date | None = None
        self._last_of_all: date | None = None
        self._has_visits = False
        # Dates of one note, which are parsed before the first of them is moved.
        self._read: dict[str, tuple[WrittenDate, ...] | None] = {}

    def learn(self, texts: Sequence[str], births: Sequence[str] = ()) -> None:
        """Learn the order of day and month, and the year, from the dates of a note, except for birth dates.

        Birth dates only tell the last date: "birth of the second child: 3/4/2019".
        """
        texts = [text[: zone_at_end(text)] for text in texts]
        births = [text[: zone_at_end(text)] for text in births]
        self._day_first = is_day_first(texts, self._words.locale != "en")
        self._read = {text: parse_dates(text, self._words, self._day_first) for text in texts}
        # "04/23" in a note shows that "04/12" in the same note is a month and a year, too.
        self._has_months = self._day_first and are_months_and_years(texts)
        dated = [dated for text in texts for dated in _dated(text, self._read[text])]
        full = [day for one, day in dated if one.is_full]
        self._full = tuple(full)
        # "March 2019" shows the age at a note, too. A year of two digits without a day may be no year.
        born = [dated for text in births for dated in _dated(text, parse_dates(text, self._words, self._day_first))]
        told = [day for one, day in dated if one.is_full or not one.has_short_year]
        self._last = max((*told, *(day for one, day in born if not one.has_short_year)), default=None)
        self._has_visits = bool(told)
        self._last_of_all = max(filter(None, (self._last, self._last_of_all)), default=None)
        # The median: one date of long ago would give all short dates of the note its year.
        self._reference = sorted(full)[len(full) // 2] if full else _NO_REFERENCE

    def surrogate(self, text: str, is_birth: bool = False, until: str = "") -> str | None:
        """Moved date, or None if the form is unknown or the new day is outside of the calendar.

        Parameters
        ----------
        text : str
            Date as it is written in the note.
        is_birth : bool, default=False
            Whether the date is a birth date.
        until : str, default=""
            Rest of a range that begins with ``text``, such as " - 05/2021" after "03".
        """
        if (zone := zone_at_end(text)) < len(text):
            moved = self.surrogate(text[:zone], is_birth) if text[:zone].strip(" (") else text[:zone]
            return None if moved is None else moved + without_summer_time(text[zone:])
        if _SPACED.fullmatch(text):
            moved = self.surrogate(text.replace(" ", ""), is_birth)
            return None if moved is None else " ".join(moved)
        if until:
            return self._start_of_range(text, until)
        found = self._parsed(text)
        return None if found is None else self._moved(found, is_birth)

    def _parsed(self, text: str) -> tuple[WrittenDate, ...] | None:
        one = (month_and_year(text) if self._has_months else None) or self._beside_full_dates(text)
        if one is not None:
            return (one,)
        return self._read[text] if text in self._read else parse_dates(text, self._words, self._day_first)

    def _beside_full_dates(self, text: str) -> WrittenDate | None:
        """Six digits as a date that is at most a year away from a full date of the note: 140809 next to 8-9-14."""
        readings = {
            min(abs((one.resolved(self._reference) - day).days) for day in self._full): one
            for one in reversed(compact_readings(text, self._day_first))
            if self._full
        }
        nearest = min(readings, default=_NEAR + 1)
        return readings[nearest] if nearest <= _NEAR else None

    def _start_of_range(self, text: str, until: str) -> str | None:
        """Moved first half of a range that is annotated as two dates; moved alone if both halves form no range."""
        found = parse_dates(text + until, self._words, self._day_first)
        if found is None or "".join(piece for piece, _ in found[0].pieces) != text:
            return self.surrogate(text)
        return self._moved(found, False, n_written=1)

    def _moved(self, found: tuple[WrittenDate, ...], is_birth: bool, n_written: int | None = None) -> str | None:
        found = self._across_new_year(found)
        days = [self._days(one, is_birth) for one in found]
        known = [pair for pair in days if pair is not None]
        if len(known) < len(days):
            return None
        first, last = known[0][1], known[-1][1]
        if (first.year, first.month) != (last.year, last.month):
            # "28-30 May" does not name both months of a range that goes from one month to the next.
            if any(one.borrows_month and one.spelled is None for one in found):
                return None
            found = tuple(one.spelled if one.borrows_month and one.spelled else one for one in found)
        pairs = zip(found[:n_written], known, strict=n_written is None)
        return "".join(one.written(new, old, self._words) for one, (old, new) in pairs)

    def _across_new_year(self, found: tuple[WrittenDate, ...]) -> tuple[WrittenDate, ...]:
        """Dates; in a range across New Year ("30 Dec - 2 Jan"), the first date has the year before the last date."""
        left, right = found[0], found[-1]
        if left.year is not None or right.year is not None or None in (left.month, left.day, right.month, right.day):
            return found
        days = [(one.month or 0, one.day or 0) for one in (left, right)]
        return (replace(left, year=self._reference.year - 1), *found[1:]) if days[0] > days[1] else found

    def _days(self, one: WrittenDate, is_birth: bool) -> tuple[date, date] | None:
        """Day of a date, and the moved day; None if one of the two days is outside of the calendar."""
        if one.is_fixed:
            return self._reference, self._reference
        if one.year == 0:
            return None
        old = one.resolved(self._reference)
        last = self._last or self._last_of_all
        if is_birth and one.has_short_year and last is not None and old > last:
            # Nobody is born after the note: "3/4/25" in a note of 2019 is a day of 1925.
            old = replace(one, year=old.year - 100).resolved(self._reference)
        if _is_placeholder(one, old):
            return None
        try:
            new = old + timedelta(days=self.days)
            # No other date is so long before a note.
            is_birth = is_birth or (one.year is not None and _age(old, self._last_of_all) > LAST_AGE)
            if one.years_before is not None and not self._is_as_far(one.years_before, new):
                return None
            return old, self._birth(old, new) if is_birth and one.year is not None else new
        except (OverflowError, ValueError):
            return None

    def _is_as_far(self, years: int, new: date) -> bool:
        """Whether a moved date is still in the year that the text states, such as last year, in its moved note."""
        return bool(self._full) and (self._reference + timedelta(days=self.days)).year - new.year == years

    def _birth(self, old: date, new: date) -> date:
        # The notes of a patient tell one birth date: a note without another date, too.
        oldest = _age(old, self._last_of_all)
        age = _age(old, self._last)
        years = oldest - LAST_AGE - 1 if oldest > LAST_AGE else -self._birth_years
        if self._has_visits and 0 <= age <= oldest <= LAST_AGE:
            # As far as the ages in the texts, which are from 1 to 89. Ages below 1 are written in months, and stay.
            years = max(min(years, age - 1), age - LAST_AGE) if age else 0
        # The 29th of February becomes the 28th where the other year has none.
        is_leap_day = (new.month, new.day) == (2, 29)
        return date(new.year + years, new.month, 28 if is_leap_day and years % 4 else new.day)


def _is_placeholder(one: WrittenDate, day: date) -> bool:
    """Whether a date is no date of a patient, but one that forms write if there is no date."""
    if one.is_full:
        return day in _PLACEHOLDERS or (day.year > _LAST_YEAR and (day.month, day.day) in _NO_END)
    # "Valid until 12/2099", "until 2099"
    return one.year == _NO_END_YEAR and one.season is None and one.month in (12, None)


def _age(birth: date, last: date | None) -> int:
    return years_between(birth, last) if last is not None else 0


def _dated(text: str, found: tuple[WrittenDate, ...] | None) -> list[tuple[WrittenDate, date]]:
    """Dates with a year, and their days; without six digits, which may be no date, and without dates for "no end"."""
    some = () if found is None or _SIX_DIGITS.fullmatch(text) else found
    return [(one, one.resolved(_NO_REFERENCE)) for one in some if one.year is not None and 0 < one.year <= _LAST_YEAR]
