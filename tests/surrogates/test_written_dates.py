"""Written forms of dates whose parts must all move, and be possible afterwards."""

import re
from datetime import datetime, timedelta

import pytest

from sklearn_deid.surrogates.date_surrogates import DateSurrogates
from sklearn_deid.surrogates.locale_words import LOCALES, locale_words

LINKS = {
    "en": "and",
    "es": "y",
    "de": "und",
    "fr": "et",
    "nb": "og",
    "it": "e",
    "nl": "en",
    "pt": "e",
}
DAYS = ("24.12", "04.03", "10.11", "31.12")


def moved(text, locale, days=40, others=()):
    dates = DateSurrogates(days, locale_words(locale))
    dates.learn([text, *others])
    return dates.surrogate(text)


@pytest.mark.parametrize("locale", sorted(LOCALES))
@pytest.mark.parametrize("form", ["{a} {link} {b}", "{a}.2018 {link} {b}", "{a} - {b}", "{a} {b}", "{a}.2018, {b}"])
def test_the_second_of_two_days_does_not_stay_as_a_time(locale, form):
    for a in DAYS:
        for b in DAYS:
            text = form.format(a=a, b=b, link=LINKS[locale])
            new = moved(text, locale)
            # 40 days never lead back to the same day and month.
            assert new is None or new.split()[-1].rpartition(".2018-")[2] != b, text


def test_the_last_day_of_a_range_is_in_the_year_of_the_first_one():
    for text, end in (
        ("29.12.2011 bis 2.1.", "11.2."),
        ("20.2.2012 bis 29.2.", "9.4."),
        ("20.2.2011 bis 28.2.", "9.4."),
    ):
        # The other dates of the note are in another year.
        assert moved(text, "de", others=["1.7.1999", "2.7.1999", "3.7.1999"]).endswith(end)


@pytest.mark.parametrize("offset", ["+02:00", "-05:00", "+0100"])
def test_no_distance_from_greenwich_tells_summer_time(offset):
    first = datetime(2019, 1, 1, 8, 30)
    for week in range(52):
        day = first + timedelta(weeks=week)
        new = moved(f"{day:%Y-%m-%dT%H:%M:%S}{offset}", "en")
        assert new == f"{day + timedelta(days=40):%Y-%m-%dT%H:%M:%S}" + re.sub(r"\d", "0", offset).replace("-", "+")


def test_two_times_are_no_distance_from_greenwich():
    assert moved("08:00-09:00", "en") == "08:00-09:00"


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("fr", "1\u1d49\u02b3 mars 2020"),
        ("fr", "1 er mars 2020"),
        ("pt", "1.\u00ba de mar\u00e7o de 2020"),
        ("pt", "1.o de mar\u00e7o de 2020"),
        ("es", "1.\u00b0 de marzo de 2020"),
        ("it", "1^ marzo 2020"),
    ],
)
def test_no_sign_of_the_first_stays_on_another_day(locale, text):
    signs = re.compile(r"(\d+)\W*(\u1d49\u02b3|er|\u00ba|o|\u00b0|\^)(?!\w)")
    assert signs.search(text)
    for days in range(-40, 41):
        found = signs.search(moved(text, locale, days))
        assert found is None or found[1] == "1"


@pytest.mark.parametrize(
    ("locale", "text", "expected"),
    [
        ("nb", "17. mai 2018", "26. juni 2018"),
        ("pt", "25 de Abril de 2018", "4 de Junho de 2018"),
        ("fr", "le 14 juillet 2018", "le 23 ao\u00fbt 2018"),
        ("en", "the 4th of July 2018", "the 13th of August 2018"),
        ("es", "mar-18", "abr-18"),
        ("pt", "mar/18", "abr/18"),
        ("nb", "mai-18", "jun-18"),
        ("en", "Mar-18", "Apr-27"),
        ("en", "May and June 2018", "June and July 2018"),
        ("nl", "mei-juni 2018", "juni-juli 2018"),
        ("de", "Mai", "Juni"),
        ("en", "Apr. 2, 2018", "May 12, 2018"),
        ("fr", "avr. 2018", "mai 2018"),
        ("de", "5.19", "6.19"),
        ("de", "1990er Jahre", "1990er Jahre"),
        ("de", "20er Jahre", None),
        ("pt", "2\u00aa feira, 3 de maio", None),
        ("pt", "2a-feira", None),
        *((locale, text, None) for locale in sorted(LOCALES) for text in ("T2 2018", "2T 2018", "2T2018", "1T18")),
        ("nb", "24/12 kl 10", "02/02 kl 10"),
        ("de", "am 10.11", "am 20.12"),
        ("de", "12. J\u00e4nner 2019", "21. Februar 2019"),
        ("de", "Anf. Mrz 2019", "Anf. April 2019"),
        ("es", "setiembre de 2019", "octubre de 2019"),
        ("es", "entre el 12 y el 14 de junio de 2019", "entre el 22 y el 24 de julio de 2019"),
        ("en", "since May 2015", "since June 2015"),
        ("en", "from May 12 to June 3, 2019", "from June 21 to July 13, 2019"),
        ("en", "end of May", "end of June"),
        ("en", "fall 15", "fall 15"),
        ("en", "summer, July 2, 2011", "summer, August 11, 2011"),
        ("en", "winter of 2010-11", None),
        ("en", "winter 2010/2011", None),
        ("de", "Winter 2010-2011", None),
        ("en", "23JUN02", "02AUG02"),
        ("de", "Herbst/Winter 2018", "Herbst/Winter 2018"),
        ("de", "Herbst 18", "Herbst 18"),
        ("en", "Christmas \uff12\uff10\uff11\uff19", "Valentine's Day 2020"),
    ],
)
def test_forms(locale, text, expected):
    assert moved(text, locale) == expected


def test_a_month_with_a_year_does_not_turn_german_dates_around():
    assert moved("03.04.2019", "de", others=["05.19"]) == "13.05.2019"
    # Dutch and Portuguese notes have hyphens in dates.
    assert moved("03-04-2019", "nl", others=["04-23"]) == "13-05-2019"
    assert moved("03-04", "pt", others=["04-23"]) == "04-04"


@pytest.mark.parametrize("sign", ["-", " - ", " \u2013 "])
def test_the_year_before_the_hyphen_of_a_range_is_no_day(sign):
    """The 22 of "5/10/22 - 5/30/22" counted as a day, so that all dates of an English note had the day first."""
    assert moved("3/4/2019", "en", others=[f"5/10/22{sign}5/30/22"]) == "4/13/2019"
    assert moved(f"5/10/22{sign}5/30/22", "en") == f"6/19/22{sign}7/9/22"
    # The 08 counted as a month before the 21st.
    assert moved("3/4/2019", "es", others=[f"1/8/08{sign}21/8/08"]) == "13/5/2019"
    assert moved(f"1/8/08{sign}21/8/08", "es") == f"10/9/08{sign}30/9/08"


@pytest.mark.parametrize("text", ["the 30s", "mid-20s", "10s", "12s"])
def test_no_decade_moves_like_a_day(text):
    """ "The 30s" became "the 12s": the decade counted as the 30th day, and the 12 revealed the shift within a month."""
    assert moved(text, "en") is None
    assert moved("the '30s", "en", days=-3650) == "the '20s"


@pytest.mark.parametrize(
    ("locale", "text", "expected"),
    [
        ("es", "a finales de los 90", "a finales de los 80"),
        ("es", "los '70", "los '60"),
        ("es", "los 1970", "los 1960"),
        ("fr", "les 70", "les 60"),
        ("es", "los 94", None),
        ("de", "70er Jahre", "60er Jahre"),
        ("de", "die 70er", None),
        ("de", "70-er", None),
    ],
)
def test_decades_of_other_languages_move_by_decades(locale, text, expected):
    """ "Finales de los 90" became "finales de los 86" and "70-er" became "66", which revealed the shift in years."""
    assert moved(text, locale, days=-1500) == expected


@pytest.mark.parametrize("text", ["5th-7th", "5th to 7th", "5th/7th", "5-7th"])
def test_an_ordinal_is_no_month(text):
    """ "The 5th-7th" was the 7th of May: two days became "the 4th-19th", two weeks."""
    first, last = map(int, re.findall(r"\d+", moved(text, "en", days=10, others=["3/4/2019"])))
    assert last - first == 2
