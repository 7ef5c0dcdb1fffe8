"""Distances, quarters and days with names: what names a day moves, and what names none stays."""

import re
from datetime import date, timedelta

import pytest

from sklearn_deid.surrogates import written_form
from sklearn_deid.surrogates.date_numbers import compact_readings
from sklearn_deid.surrogates.date_surrogates import DateSurrogates
from sklearn_deid.surrogates.locale_words import LOCALES, locale_words
from sklearn_deid.surrogates.relative_dates import is_relative

MONTHS = locale_words("en").block("months")


def moved(text, locale, days=40, others=()):
    dates = DateSurrogates(days, locale_words(locale))
    dates.learn([text, *others])
    return dates.surrogate(text)


@pytest.mark.parametrize(
    ("locale", "text", "expected"),
    [
        ("en", "Tues 3/6/12", "Sun 4/15/12"),
        ("en", "Thurs., March 8", "Tue., April 17"),
        ("de", "Mon 5.3.12", "Sa 14.4.12"),
        ("nb", "ti. 6.3.12", "søn. 15.4.12"),
        ("it", "mar. 6/3/12", "dom. 15/4/12"),
        ("fr", "mar. 6/3/12", "dim. 15/4/12"),
        ("es", "mar 6", "abr 15"),
        ("pt", "3\u00aa 6/3/12", None),
        ("en", "5-Mar-12 1430", "14-Apr-12 1430"),
        ("en", "5-Mar 2012", "14-Apr 2012"),
        ("en", "last March", "last April"),
        ("de", "letzten M\u00e4rz", "letzten April"),
        ("fr", "mars dernier", "avril dernier"),
        ("es", "marzo pasado", "abril pasado"),
        ("en", "the week of March 5, 2012", "the week of April 14, 2012"),
        ("de", "Woche vom 5.3.2012", "Woche vom 14.4.2012"),
        ("es", "semana del 5 de marzo de 2012", "semana del 14 de abril de 2012"),
        ("en", "weekend of March 3", None),
        ("en", "week 12", None),
        ("de", "KW 12", None),
        ("en", "last week of March 2012", "last week of April 2012"),
        ("en", "two weeks before Christmas 2012", "two weeks before Valentine's Day 2013"),
        ("de", "zwei Wochen vor Weihnachten 2012", "zwei Wochen vor Karneval 2013"),
        ("en", "2 days after March 5, 2012", "2 days after April 14, 2012"),
        ("en", "95 years before March 5, 2012", None),
        ("en", "Easter Sunday", "Memorial Day"),
        ("de", "Ostersonntag 2012", "Pfingsten 2012"),
        ("en", "Labor Day weekend", "Columbus Day weekend"),
        ("en", "last Christmas", "last Valentine's Day"),
        ("en", "Q1 2012", "Q1 2012"),
        ("en", "first quarter of 2012", "first quarter of 2012"),
        ("de", "1. Quartal 2012", "1. Quartal 2012"),
        ("en", "Q5 2012", None),
        ("en", "Q1", "Q1"),
    ],
)
def test_forms(locale, text, expected):
    assert moved(text, locale) == expected


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("en", "two days ago"),
        ("en", "3 weeks later"),
        ("en", "early last week"),
        ("de", "vor zwei Tagen"),
        ("de", "Ende letzter Woche"),
        ("fr", "il y a deux jours"),
        ("es", "hace dos d\u00edas"),
        ("it", "due giorni fa"),
        ("nl", "twee dagen geleden"),
        ("nb", "for to dager siden"),
        ("pt", "h\u00e1 dois dias"),
    ],
)
def test_distances_stay_and_their_form_tells_them(locale, text):
    assert {moved(text, locale, days) for days in range(-9, 10)} == {text}
    assert written_form(text, "DATE", locale) == text


@pytest.mark.parametrize(
    "text",
    [
        "-",
        "2\u00b2a days ago",
        "\u00b2a days ago",
        "95 years ago",
        "ninety years ago",
        "120 days ago",
        "3 March ago",
        "days",
        "last",
        "in 2012 days ago",
    ],
)
def test_what_names_a_day_or_an_old_age_is_no_distance(text):
    assert not is_relative(text, locale_words("en"))


def test_an_age_above_89_is_no_distance_in_french():
    assert not is_relative("il y a quatre-vingt-douze ans", locale_words("fr"))


@pytest.mark.parametrize("days", range(-10, 11))
def test_weekdays_without_a_date_move_with_the_dates(days):
    new = moved("next Tuesday", "en", days, others=["3/6/2012"])
    assert new == f"next {locale_words('en').block('weekdays')[(1 + days) % 7]}"


@pytest.mark.parametrize("days", range(-700, 701, 35))
def test_quarters_move_with_the_day_in_their_middle(days):
    middle = date(2012, 5, 15) + timedelta(days=days)
    assert moved("Q2 2012", "en", days) == f"Q{(middle.month + 2) // 3} {middle.year}"


@pytest.mark.parametrize("days", range(-380, 381, 20))
def test_last_year_is_the_year_before_the_note_or_the_date_is_its_label(days):
    note, old = date(2012, 6, 10), date(2011, 3, 15)
    new = moved("March of last year", "en", days, others=["6/10/2012"])
    is_kept = (note + timedelta(days=days)).year - (old + timedelta(days=days)).year == 1
    assert new == (f"{MONTHS[(old + timedelta(days=days)).month - 1]} of last year" if is_kept else None)


def test_last_year_needs_a_date_of_the_note():
    assert moved("March of last year", "en") is None


@pytest.mark.parametrize("locale", sorted(LOCALES))
def test_no_day_with_a_name_stays_half(locale):
    """A date of several parts moves as a whole: no shift of 200 days leaves its month or its year behind."""
    words = locale_words(locale)
    month = words.block("months")[2]
    links = words.block("date links")
    units = [unit for unit, kind in words.numbered("age units").items() if kind == "w"]
    for link in links:
        text = f"{units[0]} {link} 5 {month} 2012"
        new = moved(text, locale, 400)
        assert new is None or not re.search(rf"\b{month}\b|2012", new), text


def test_compact_dates_are_read_in_each_order():
    read = [[(one.year, one.month, one.day) for one in compact_readings("140809", first)] for first in (False, True)]
    assert read == [[(2014, 8, 9), (2009, 8, 14)], [(2009, 8, 14), (2014, 8, 9)]]
