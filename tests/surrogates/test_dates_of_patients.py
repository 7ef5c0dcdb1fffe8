"""Dates move by one number of days, in the form in which they are written."""

import re
import time
from datetime import date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine
from sklearn_deid.surrogates.age_surrogates import AgeSurrogates
from sklearn_deid.surrogates.date_parsing import is_day_first, parse_dates
from sklearn_deid.surrogates.date_surrogates import DateSurrogates, draw_shift
from sklearn_deid.surrogates.dates import years_between
from sklearn_deid.surrogates.locale_words import LOCALES, locale_words
from sklearn_deid.surrogates.patient_chance import PatientChance
from sklearn_deid.surrogates.written_date import weekday_number

KEY = bytes(range(32))
EN = locale_words("en")
# written form -> format of `strptime`, which is the oracle
FORMS = {
    "%m/%d/%Y": "%m/%d/%Y",
    "%m/%d/%y": "%m/%d/%y",
    "%Y-%m-%d": "%Y-%m-%d",
    "%d%b%Y": "%d%b%Y",
    "%B %d, %Y": "%B %d, %Y",
    "%d-%b-%Y": "%d-%b-%Y",
    "%Y%m%d": "%Y%m%d",
    "%A, %B %d, %Y": "%A, %B %d, %Y",
}


def read(text, form, near):
    """Day that a text names; the century of two digits is the one next to ``near``."""
    day = datetime.strptime(text, form).date()
    if "%y" not in form:
        return day
    centuries = [date(day.year + 100 * k, day.month, day.day) for k in (-1, 0, 1) if 0 < day.year + 100 * k]
    return min(centuries, key=lambda one: abs((one - near).days))


def test_intervals_of_ten_thousand_patients_are_exact():
    rng = np.random.default_rng(0)
    forms = list(FORMS)
    for patient in range(10_000):
        shift = draw_shift(PatientChance(KEY, str(patient)), 3650, False, False)
        first = date(1936, 1, 1) + timedelta(days=int(rng.integers(0, 29_000)))
        second = first + timedelta(days=int(rng.integers(0, 4_000)))
        # every eighth patient has a leap day
        days = [date(1940 + 4 * int(rng.integers(0, 20)), 2, 29) if patient % 8 == 0 else first, second]
        written = [forms[int(i)] for i in rng.integers(0, len(forms), 2)]
        dates = DateSurrogates(shift, EN)
        new = []
        for day, form in zip(days, written, strict=True):
            text = dates.surrogate(day.strftime(form))
            assert text is not None
            new.append(read(text, FORMS[form], day))
            assert text != day.strftime(form)
        assert new[1] - new[0] == days[1] - days[0]
        assert (new[0] - days[0]).days == shift != 0


@given(
    st.dates(date(1935, 1, 1), date(2028, 12, 31)),
    st.integers(-4000, 4000).filter(bool),
    st.sampled_from(sorted(LOCALES)),
)
@settings(deadline=None)
def test_month_names_of_all_locales(day, shift, locale):
    words = locale_words(locale)
    text = f"{day.day} {words.block('months')[day.month - 1]} {day.year}"
    new = day + timedelta(days=shift)
    number = "1er" if locale == "fr" and new.day == 1 else new.day
    expected = f"{number} {words.block('months')[new.month - 1]} {new.year}"
    assert DateSurrogates(shift, words).surrogate(text) == expected


@pytest.mark.parametrize(
    ("locale", "text", "expected"),
    [
        ("en", "3/14", "4/23"),
        ("en", "3/14/11 at 14:30", "4/23/11 at 14:30"),
        ("en", "2011-03-14T08:00", "2011-04-23T08:00"),
        ("en", "Mar 14th", "Apr 23rd"),
        ("en", "MARCH 14, 2011", "APRIL 23, 2011"),
        ("en", "3/14-3/18/2011", "4/23-4/27/2011"),
        ("en", "28-30 March 2011", "7-9 May 2011"),
        ("en", "Monday, March 14th, 2011", "Saturday, April 23rd, 2011"),
        ("en", "2011-03-14T08:00:00Z", "2011-04-23T08:00:00Z"),
        ("en", "2011-03-14T08:00:00.123+01:00", "2011-04-23T08:00:00.123+00:00"),
        ("en", "fall 2010", "fall 2010"),
        ("en", "yesterday", "yesterday"),
        ("en", "14:30", "14:30"),
        ("en", "2/29/2012", "4/9/2012"),
        ("en", "3/14 @1430", "4/23 @1430"),
        ("en", "3/14/11 at 2 pm", "4/23/11 at 2 pm"),
        ("en", "3/14 1430", None),
        ("en", "the 24th", "the 2nd"),
        ("fr", "vendredi 24", "mercredi 2"),
        ("en", "March 4 pm", None),
        ("de", "14.03", "23.04"),
        ("de", "02.03., 04.03", "11.04., 13.04"),
        ("de", "14.30", "14.30"),
        ("de", "14 Uhr", "14 Uhr"),
        ("de", "14.03.2011, 14 Uhr", "23.04.2011, 14 Uhr"),
        ("fr", "14/03/2011 à 14h", "23/04/2011 à 14h"),
        ("nb", "14.03", "23.04"),
        ("nb", "4/3-11", "13/4-11"),
        ("nb", "04/03-2011", "13/04-2011"),
        ("nb", "mars -11", "april -11"),
        ("nb", "4. mars -11", "13. april -11"),
        ("nb", "28/3-4/4", "7/5-14/5"),
        ("nb", "14.03.11 kl 1430", "23.04.11 kl 1430"),
        ("nl", "14-3-2011 14.30 uur", "23-4-2011 14.30 uur"),
        ("es", "14 de marzo de 2011", "23 de abril de 2011"),
        ("es", "marzo del 2011", "abril del 2011"),
        ("fr", "1er mars 2020", "10 avril 2020"),
        ("fr", "0 1 0 3 2 0 2 0", "1 0 0 4 2 0 2 0"),
        ("fr", "22|8|1923", "1|10|1923"),
        ("de", "14. März 2011", "23. April 2011"),
        ("de", "19.3.", "28.4."),
    ],
)
def test_forms(locale, text, expected):
    dates = DateSurrogates(40, locale_words(locale))
    dates.learn([text])
    assert dates.surrogate(text) == expected


@pytest.mark.parametrize(
    "text",
    ["when the moon was full", "31 Novembruary", "May or June", "12345678901", "13/13/2011", "1st Monday in May"],
)
def test_unknown_forms_have_no_surrogate(text):
    assert DateSurrogates(40, EN).surrogate(text) is None


@pytest.mark.parametrize(
    ("locale", "text", "expected"),
    [
        ("en", "March 3-7, 2011", "April 12-16, 2011"),
        ("en", "March 3rd to 7th", "April 12th to 16th"),
        ("en", "March 19 & 23", "April 28 & May 2"),
        ("en", "Mar 3-07", "Apr 12-07"),  # a day with a year
        ("en", "19-23 March 2011", "28 April-2 May 2011"),
        ("en", "12/29-1/2/2012", "2/7-2/11/2012"),
        ("en", "December 29 - January 2, 2012", "February 7 - February 11, 2012"),
        ("en", "3/4, 3/9", "4/13, 4/18"),
        ("de", "3.-7.3.2011", "12.-16.4.2011"),
        ("de", "19. - 23.03.2011", "28.04. - 02.05.2011"),
        ("de", "28.-3.3.2011", "9.-12.4.2011"),
        ("de", "19. bis 23. März", "28. April bis 2. Mai"),
        ("en", "12-17 March", "21-26 April"),
        ("es", "del 3 al 7 de marzo de 2011", "del 12 al 16 de abril de 2011"),
        ("en", "12.03.-15.03.2011", None),  # December 3 to 15 March
        ("en", "March 3, 4 and 5", None),  # the 5th was moved as April 5
        ("en", "Mar 3/4", None),
        ("en", "3-7/5", None),
        ("en", "3/4-9/2011", None),
        ("en", "2011-03-03/07", None),
        ("en", "2019/20", None),
        ("de", "3., 4. und 5. März 2011", None),
    ],
)
def test_ranges(locale, text, expected):
    """Both days move by 40 days; the month that they share is written twice where they do not share it any more."""
    assert DateSurrogates(40, locale_words(locale)).surrogate(text) == expected


@given(st.dates(date(1935, 1, 1), date(2028, 12, 31)), st.integers(1, 27), st.integers(-4000, 4000).filter(bool))
@settings(deadline=None)
def test_days_of_a_range_keep_their_distance(first, length, shift):
    last = first.replace(day=min(first.day + length, 28))
    if first.day >= last.day:
        return
    a, b = (day + timedelta(days=shift) for day in (first, last))

    def english(a, b):
        months = EN.block("months")
        same = (a.year, a.month) == (b.year, b.month)
        return f"{months[a.month - 1]} {a.day}-{'' if same else months[b.month - 1] + ' '}{b.day}, {b.year}"

    def german(a, b):
        same = (a.year, a.month) == (b.year, b.month)
        return f"{a.day}.{'' if same else f'{a.month}.'}-{b.day}.{b.month}.{b.year}"

    for form, locale in ((english, "en"), (german, "de")):
        found = DateSurrogates(shift, locale_words(locale)).surrogate(form(first, last))
        assert re.sub(r"\b0", "", found) == form(a, b)  # "10.-11.10." does not tell how days below 10 are written


def test_days_out_of_the_calendar_have_no_surrogate():
    assert DateSurrogates(-700_000, EN).surrogate("3/14/1811") is None


def test_numbers_above_twelve_tell_the_order_of_day_and_month():
    assert is_day_first(["03/04/2011", "25/04/2011"], default=False)
    assert not is_day_first(["03/04/2011", "04/25/2011"], default=True)
    assert is_day_first(["12.03.-15.03.2011"], default=False)
    assert not is_day_first(["2011-03-14", "2011-14-03"], default=False), "a year comes first"
    dates = DateSurrogates(1, EN)
    dates.learn(["12.03.-15.03.2011"])
    assert dates.surrogate("12.03.-15.03.2011") == "13.03.-16.03.2011"
    dates.learn(["03/04/2011", "25/04/2011"])
    assert dates.surrogate("30/04/2011") == "01/05/2011"


def test_short_dates_take_the_year_of_their_note():
    dates = DateSurrogates(1, EN)
    dates.learn(["2/1/2012", "2/28"])
    assert dates.surrogate("2/28") == "2/29"  # 2012 is a leap year
    dates.learn(["2/1/2011", "2/28"])
    assert dates.surrogate("2/28") == "3/1"


@pytest.mark.parametrize("whole_weeks", [False, True])
@pytest.mark.parametrize("keep_seasons", [False, True])
def test_shifts_are_in_their_range(whole_weeks, keep_seasons):
    shifts = [draw_shift(PatientChance(KEY, str(i)), 1500, whole_weeks, keep_seasons) for i in range(2000)]
    assert all(0 < abs(shift) <= 1500 for shift in shifts)
    assert min(shifts) < 0 < max(shifts)
    if whole_weeks:
        assert not any(shift % 7 for shift in shifts)
    if keep_seasons:
        in_year = [abs(shift) % 365.2425 for shift in shifts]
        assert all(min(days, 365.2425 - days) <= 14 + 7 * whole_weeks + 1 for days in in_year)
    else:
        assert len(set(shifts)) > (300 if whole_weeks else 1000)


def test_birth_dates_of_the_old_move_to_ninety():
    dates = DateSurrogates(0, EN)
    dates.learn(["03/14/2011"])
    assert dates.surrogate("02/29/1908", is_birth=True) == "02/28/1921"
    new = datetime.strptime(dates.surrogate("05/20/1915", is_birth=True), "%m/%d/%Y").date()
    assert years_between(new, date(2011, 3, 14)) == 90


def test_a_date_ninety_years_before_a_note_is_a_birth_date():
    """In a column below "DOB", no word is in front of the date: its distance from the note told an age over 89."""
    dates = DateSurrogates(500, EN)
    dates.learn(["03/14/2011", "05/20/1915", "05/20/1931"])
    seen, old, other = (
        datetime.strptime(dates.surrogate(text), "%m/%d/%Y").date()
        for text in ("03/14/2011", "05/20/1915", "05/20/1931")
    )
    assert years_between(old, seen) == 90
    assert other - date(1931, 5, 20) == seen - date(2011, 3, 14) == timedelta(days=500)


@pytest.mark.parametrize("seen", ["March 2019", "2019", "3/19/2019", "3/19/19", "winter 2019"])
@pytest.mark.parametrize("born", ["3/4/1925", "3/4/25", "March 4, '25", "March 1925", "1925", "March '25"])
def test_no_form_of_a_birth_date_and_of_a_visit_shows_an_age_over_89(seen, born):
    dates = DateSurrogates(-1643, EN)
    dates.learn([seen])
    # The visit moves to 2014, and the birth date to the year in which patients of 90 are born.
    assert dates.surrogate(seen)[-2:] == "14"
    assert dates.surrogate(born, is_birth=True)[-2:] in ("23", "24")


@pytest.mark.parametrize("born", ["1925", "March 1925", "summer 1925"])
def test_a_year_ninety_years_before_a_note_is_a_year_of_birth(born):
    """Words such as "Jahrgang" and "class of" were in no list, and the year after them showed an age over 89."""
    dates = DateSurrogates(-1643, EN)
    dates.learn(["3/19/2019", born])
    assert dates.surrogate(born)[-2:] in ("23", "24")


@pytest.mark.parametrize(("locale", "text"), [("en", "111109"), ("de", "141014"), ("fr", "091109")])
def test_digits_that_are_one_day_in_two_orders_have_the_usual_order(locale, text):
    """Next to a full date, the surrogate of 111109 was 190500 in English, which is no date there."""
    dates = DateSurrogates(191, locale_words(locale))
    form = "%m%d%y" if locale == "en" else "%d%m%y"
    day = datetime.strptime(text, form)
    dates.learn([f"{day:%Y-%m-%d}", text])
    assert dates.surrogate(text) == f"{day + timedelta(days=191):{form}}"


def test_days_of_the_19th_and_20th_before_their_month_are_no_years():
    dates = DateSurrogates(10, locale_words("de"))
    assert [dates.surrogate(text) for text in ("20092012", "19121950", "20120920")] == [
        "30092012",
        "29121950",
        "20120930",
    ]


def test_a_date_without_end_makes_nobody_old():
    """With "31.12.2099" in a note, a patient of 34 became a child, and operations moved by six years."""
    dates = DateSurrogates(10, EN)
    dates.learn(["3/14/2019", "6/12/1998", "12/31/2099"])
    assert [dates.surrogate(text) for text in ("3/14/2019", "6/12/1998", "12/31/2099")] == [
        "3/24/2019",
        "6/22/1998",
        None,
    ]
    assert dates.surrogate("2/28") == "3/10"
    assert dates.surrogate("3/4/1985", is_birth=True) == "3/14/1985"


@pytest.mark.parametrize("text", "12/31/2099|2099-12-31 23:59|20991231|1/1/2019-12/31/2099|2099|12/2099".split("|"))
def test_a_date_without_end_has_no_moved_date(text):
    """ "12/31/2099" became "01/10/2100": every reader knows the original of such a date, and computed the shift."""
    assert DateSurrogates(10, EN).surrogate(text) is None
    # Corpora with moved dates have years after 2049.
    assert DateSurrogates(10, EN).surrogate("12/30/2099") == "01/09/2100"


@pytest.mark.parametrize("text", ["1/1/1900", "1900-01-01", "January 1, 1900", "June 6, 2079"])
def test_an_unknown_day_has_no_moved_date(text):
    assert DateSurrogates(10, EN).surrogate(text) is None
    assert DateSurrogates(10, EN).surrogate(text, is_birth=True) is None
    assert DateSurrogates(10, EN).surrogate("1/2/1900") == "1/12/1900"


def test_birth_dates_of_this_century_stay_in_this_century():
    dates = DateSurrogates(0, EN)
    dates.learn(["3/19/19"])
    for born in ("3/4/18", "3/19/19", "12/1/00"):
        assert dates.surrogate(born, is_birth=True) == born


@pytest.mark.parametrize(
    ("locale", "before"),
    [
        ("en", "DATE OF BIRTH\n"),
        ("en", "DOB:\n\n  "),
        ("es", "FN: "),
        ("fr", "D.N. : "),
        ("fr", "Date naiss.: "),
        ("nb", "F.dato: "),
        ("it", "DdN: "),
        ("pt", "Nasc.: "),
    ],
)
def test_birth_dates_are_known_by_the_words_before_them(locale, before):
    text = f"12.12.2019. {before}12.12.1950"
    spans = (Span(0, 10, "DATE"), Span(len(text) - 10, len(text), "DATE"))
    for key in range(10):
        engine = SurrogateEngine(key=bytes([key]) * 32, locale=locale, ages="shift")
        seen, born = map(int, re.findall(r"\d{4}", engine.rewrite(Document("n", text, spans, "p")).text))
        assert seen - born != 69


@pytest.mark.parametrize(
    ("locale", "before"),
    [
        ("en", "D. O. B.: "),
        ("en", "d/o/b "),
        ("en", "BD: "),
        ("en", "Bdate\n"),
        ("de", "Jahrgang "),
        ("de", "GD: "),
        ("de", "* am "),
        ("es", "FN "),
        ("es", "F. N.: "),
        ("es", "F.Nac: "),
        ("fr", "DN: "),
        ("fr", "n\u00e9 "),
        ("fr", "N\u00e9e en: "),
        ("it", "Data nasc. "),
        ("nl", "Geboortedat.: "),
        ("nl", "*"),
        ("nb", "f: "),
        ("nb", "F\u00f8dselsdata "),
        ("pt", "DN: "),
        ("pt", "D/N "),
        ("pt", "Dt Nasc "),
        # Tables, forms, Markdown and HTML.
        ("fr", "DN | "),
        ("fr", "**DN:** "),
        ("fr", "<td>DN</td><td>"),
        ("fr", "DN (JJ/MM/AA) : "),
        ("it", "DN" + "." * 150 + ": "),
        ("es", "FN - "),
        ("de", "GD: [" + 40 * " "),
        ("en", "DOB:" + 40 * " "),
        ("en", "<td>DOB</td>\n<td>"),
        ("es", "FN\n| "),
        ("pt", "DN (dia/m\u00eas/ano): "),
        ("pt", "DN \u2022 "),
        ("fr", "DN&nbsp;: "),
        ("de", "GD\uff1a"),
        ("nb", "F. dato / "),
    ],
)
def test_labels_of_birth_dates_with_short_years_hide_ages_over_89(locale, before):
    """Behind "DN:", 4/3/25 was a day of 2025, so that 1920 and the visit in 2014 showed an age of 94."""
    text = f"12.12.2019. {before}04.03.25"
    spans = (Span(0, 10, "DATE"), Span(len(text) - 8, len(text), "DATE"))
    for key in range(3):
        new = SurrogateEngine(key=bytes([key]) * 32, locale=locale).rewrite(Document("n", text, spans, "p")).text
        assert int(new[6:10]) - 1900 - int(new[-2:]) in (90, 91)


@pytest.mark.parametrize(("locale", "before"), [("en", "2 mg bd|"), ("de", "GD "), ("nb", "f "), ("pt", "and dn em ")])
def test_other_abbreviations_before_a_date_make_no_birth_date(locale, before):
    text = f"12.12.2019. {before}xx 04.03.25" if locale == "pt" else f"12.12.2019. {before}04.03.25"
    spans = (Span(0, 10, "DATE"), Span(len(text) - 8, len(text), "DATE"))
    new = SurrogateEngine(key=bytes(32), locale=locale).rewrite(Document("n", text, spans, "p")).text
    assert int(new[-2:]) - int(new[8:10]) in (5, 6)


@pytest.mark.parametrize("fill", [".", "<a>", "<", "(-", "(a", "**", "(jj/mm) ", "-> ", "&nbsp;", "\n<a>", "\u2022 "])
def test_time_for_the_signs_before_a_date_is_short(fill):
    text, begun = "x" + 100_000 * fill + "x. 04.03.25", time.process_time()
    SurrogateEngine(key=bytes(32)).rewrite(Document("n", text, (Span(len(text) - 8, len(text), "DATE"),), "p"))
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("locale", "before", "born"),
    [
        ("it", "Esaminata il ", "nata "),
        ("it", "Il ciclo di chemioterapia terminato il ", "nata "),
        ("de", "Ergebnis vom ", "geb. "),
        ("nl", "Gebeld op ", "geb. "),
        ("fr", "Pris connaissance le ", "n\u00e9e le "),
        ("nb", "Prof. ", "f\u00f8dt "),
        ("es", "nacimiento del hijo ", "fn: "),
    ],
)
def test_birth_words_inside_of_other_words_make_no_birth_date(locale, before, born):
    """The only visit counted as a birth date ("terminato" has "nato"), so that the birth date showed an age over 89."""
    text = f"{before}19/03/2019. {born}04/03/1925"
    spans = (Span(len(before), len(before) + 10, "DATE"), Span(len(text) - 10, len(text), "DATE"))
    for key in range(5):
        new = SurrogateEngine(key=bytes([key]) * 32, locale=locale).rewrite(Document("n", text, spans, "p")).text
        visit, birth = (datetime.strptime(day, "%d/%m/%Y").date() for day in re.findall(r"\d\d/\d\d/\d{4}", new))
        assert years_between(birth, visit) == 90


@pytest.mark.parametrize(
    ("locale", "before", "place", "on"),
    [
        ("en", "born in ", "Boston, MA", " on "),
        ("de", "geb. in ", "Zyxheim", " am "),
        ("fr", "n\u00e9e \u00e0 ", "Zyxville", " le "),
        ("it", "nata a ", "Zyxano", " il "),
        ("es", "nacida en ", "Zyxa (Madrid)", " el "),
        ("nl", "geboren te ", "Zyxdam", " op "),
        ("pt", "nascida em ", "Zyxal", " a "),
        ("nb", "f\u00f8dt i ", "Zyxvik", " den "),
    ],
)
def test_a_birth_date_behind_the_place_of_birth_is_known(locale, before, place, on):
    """Only the text behind the place was read, so that an age over 89 or the years of moved ages were revealed."""
    for year, ages, expected in (("25", "keep", {90}), ("1950", "shift", {66, 67, 68, 70, 71, 72})):
        text = f"19/03/2019, {before}{place}{on}03/03/{year}"
        start = 12 + len(before)
        spans = (
            Span(0, 10, "DATE"),
            Span(start, start + len(place), "CITY"),
            Span(text.rindex("03/03"), len(text), "DATE"),
        )
        for key in range(5):
            engine = SurrogateEngine(key=bytes([key]) * 32, locale=locale, ages=ages)
            new = engine.rewrite(Document("n", text, spans, "p")).text
            seen, born = (re.findall(r"[\d/]{8,10}", new)[i] for i in (0, -1))
            century = 1900 if len(born) == 8 else 0
            assert int(seen[-4:]) - int(born.rpartition("/")[2]) - century - (born[3:5] > seen[3:5]) in expected


def test_visits_move_without_the_years_of_ages():
    text = "Terminato il 19/03/2019, iniziato il 12/03/2019"
    spans = (Span(13, 23, "DATE"), Span(len(text) - 10, len(text), "DATE"))
    for key in range(5):
        engines = [SurrogateEngine(key=bytes([key]) * 32, locale="it", ages=ages) for ages in ("keep", "shift")]
        assert len({engine.rewrite(Document("n", text, spans, "p")).text for engine in engines}) == 1


def test_birth_dates_follow_moved_ages():
    shift, years = 500, 3
    dates = DateSurrogates(shift, EN, years)
    dates.learn(["03/14/2011"])
    seen = datetime.strptime(dates.surrogate("03/14/2011"), "%m/%d/%Y").date()
    born = datetime.strptime(dates.surrogate("05/20/1950", is_birth=True), "%m/%d/%Y").date()
    assert years_between(born, seen) == years_between(date(1950, 5, 20), date(2011, 3, 14)) + years


@pytest.mark.parametrize("years", [-3, -2, -1, 1, 2, 3])
def test_birth_dates_follow_moved_ages_at_their_limits(years):
    """A child of two was born after the visit, and a patient of 88 was over 89 by the birth date alone."""
    dates, ages = DateSurrogates(0, EN, years), AgeSurrogates(EN, "shift", years)
    dates.learn(["03/14/2011"])
    for age in (0, 1, 2, 4, 86, 88, 89):
        born = datetime.strptime(dates.surrogate(f"01/01/{2011 - age}", is_birth=True), "%m/%d/%Y").date()
        assert years_between(born, date(2011, 3, 14)) == (int(ages.surrogate(str(age))) if age else 0)


def test_weekdays_of_all_locales_are_known():
    for locale in LOCALES:
        words = locale_words(locale)
        assert [weekday_number(day, words) for day in words.block("weekdays")] == list(range(7))
        assert parse_dates(words.block("weekdays")[2], words, True) is not None


@pytest.mark.parametrize(
    ("locale", "mode", "text", "expected"),
    [
        ("en", "keep", "79", "79"),
        ("en", "keep", "90", "90+"),
        ("en", "keep", "90+", "90+"),
        ("en", "keep", "90s", "90+"),
        ("en", "keep", "ninety-two", "90+"),
        ("en", "keep", "twenty-three", "twenty-three"),
        ("en", "keep", "ninety\ntwo", "90+"),
        ("en", "keep", "95.5", "90+"),
        ("en", "keep", "95,5 years", "90+ years"),
        ("en", "keep", "1,100 months", "90+ months"),
        ("en", "keep", "2.5 years", "2.5 years"),
        ("en", "keep", "95 years 3 months", None),
        ("en", "keep", "45 y/o", "45 y/o"),
        ("en", "keep", "95 y.o.", "90+ y.o."),
        ("en", "shift", "63 y/o", "65 y/o"),
        ("en", "keep", "6 wks", "6 wks"),
        ("de", "keep", "45-j\u00e4hrig", "45-j\u00e4hrig"),
        ("de", "keep", "93. Lebensjahr", "90+. Lebensjahr"),
        ("it", "keep", "93enne", "90+enne"),
        ("en", "keep", "9 2 years", None),
        ("en", "keep", "4 5 years", "4 5 years"),
        ("en", "keep", "3 1/2 years", "3 1/2 years"),
        ("en", "keep", "88-95", "88-90+"),
        ("en", "keep", "9O y/o", None),
        ("en", "keep", "9 O", None),
        ("en", "keep", "92\u00bd", None),
        ("de", "keep", "92 \u00bc", None),
        ("en", "keep", "3\u00bd years", "3\u00bd years"),
        ("en", "band", "63-year-old", "60-64-year-old"),
        ("en", "shift", "63", "65"),
        ("en", "shift", "89", "89"),
        ("es", "keep", "93 años", "90+ años"),
        ("es", "keep", "8 meses", "8 meses"),
        ("es", "keep", "noventa y dos años", "90+ años"),
        ("es", "keep", "dos años y tres meses", "dos años y tres meses"),
        ("es", "shift", "cuarenta y cinco años", "47 años"),
        ("pt", "keep", "noventa e dois anos", "90+ anos"),
        ("fr", "keep", "quatre-vingt-douze ans", "90+ ans"),
        ("fr", "keep", "quatre-vingt-neuf ans", "quatre-vingt-neuf ans"),
        ("fr", "shift", "soixante et onze ans", "73 ans"),
        ("en", "keep", "ninety\u2013two", "90+"),
        ("es", "keep", "lactante", None),
        ("en", "keep", "very old", None),
    ],
)
def test_ages(locale, mode, text, expected):
    assert AgeSurrogates(locale_words(locale), mode, 2).surrogate(text) == expected


@pytest.mark.parametrize("days", range(-3650, 3651, 73))
def test_ranges_over_new_year_keep_their_length_and_form(days):
    dates = DateSurrogates(days, EN)
    dates.learn(["3/4/2012"])
    first, last = date(2011, 12, 30) + timedelta(days=days), date(2012, 1, 2) + timedelta(days=days)
    assert dates.surrogate("12/30-1/2") == f"{first.month}/{first.day}-{last.month}/{last.day}"


FIRSTS = {
    "es": ("1º de marzo de 2020", "1º de marzo"),
    "fr": ("1er mars 2020", "du 1er au 3 mars 2020"),
    "it": ("1° marzo 2020", "1º marzo", "dal 1° al 3 marzo 2020"),
    "pt": ("1º de março de 2020", "1° de março", "1o de março de 2020"),
}


@pytest.mark.parametrize("locale", FIRSTS)
def test_no_sign_tells_that_a_date_was_the_first_of_a_month(locale):
    """ "11º de fevereiro" told that the date was the first of a month, and so the day of the patient's shift."""
    for text in FIRSTS[locale]:
        for key in range(40):
            new = rewritten(text, locale, key)
            assert re.search(r"\d", new) and not re.search(r"(?<!\d)(?!1\D)\d+(º|°|er|o\b)", new), (text, new)


@pytest.mark.parametrize("text", ["terça-feira", "Terça-feira, 3 de maio de 2022", "SEXTA-FEIRA"])
def test_the_portuguese_weekend_has_no_feira(text):
    found = [rewritten(text, "pt", key) for key in range(40)]
    days = {re.match(r"\w+(-feira)?", new.lower())[0] for new in found}
    assert days == {"segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado", "domingo"}
    assert all(new.isupper() == text.isupper() for new in found)


def test_dutch_ranges_keep_their_length():
    for key in range(20):
        first, last = map(int, re.findall(r"\d+", rewritten("3 t/m 5 mei 2020", "nl", key))[:2])
        assert (last - first) % 31 in (2, 3, 4, 5), "two days, or over the end of a month"


def rewritten(text, locale, key):
    note = Document("n", f"Visto {text}.", (Span(6, 6 + len(text), "DATE"),), "p")
    return SurrogateEngine(key=bytes([key]) * 32, locale=locale).rewrite(note).text[6:-1]


@pytest.mark.parametrize("late", ["DOB 1/1/1920", "DOB 1/1/20", "Seen 3/4/2008. DOB 1/1/1920"])
@pytest.mark.parametrize("ages", ["keep", "shift"])
def test_birth_dates_of_later_notes_tell_no_age_over_89(late, ages):
    """Only the dates of the same note were read: the birth date showed the age at the visit in an earlier note."""
    for key in range(8):
        engine = SurrogateEngine(key=bytes([key]) * 32, locale="en", ages=ages)
        moved = []
        for number, text in enumerate(("Seen 3/4/2015. DOB 1/1/1920", late)):
            spans = tuple(Span(*found.span(), "DATE") for found in re.finditer(r"[\d/]{6,}", text))
            note = Document(f"n{number}", text, spans, "p")
            moved.append([one.surrogate for one in engine.replacements(note)])
        visit, first = (datetime.strptime(text, "%m/%d/%Y") for text in moved[0])
        form = "%m/%d/%y" if late.endswith("/20") else "%m/%d/%Y"
        assert years_between(first, visit) == 90
        assert moved[1][-1] == first.strftime(form.replace("%m/%d", f"{first.month}/{first.day}"))
