"""Weekdays of opening hours, weekly plans and names reveal no shift, because they are not moved."""

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine
from sklearn_deid.surrogates.listed_weekdays import _plans, listed_weekdays
from sklearn_deid.surrogates.locale_words import locale_words

PLAN = "[Sun] 5 mg\n[Mon] 5 mg\n[Tue] 2.5 mg\n[Wed] 5 mg\n[Thu] 5 mg\nFri 2.5 mg\n[Sat] 5 mg"
LISTED = [
    ("en", "Open [Monday] through [Friday]"),
    ("en", "Call [Mon-Fri] 8-5"),
    ("en", "open [monday] - [friday]"),
    ("en", "The office is open Monday to [Friday]"),
    ("en", "dialysis [Mon]/[Wed]/[Fri]"),
    ("en", "dialysis [Tue], [Thu], and [Sat]"),
    ("en", "closed on weekends ([Saturday] and [Sunday])"),
    ("en", "HD Mondays, [Wednesday], Fridays"),
    ("en", PLAN),
    ("en", "[Saturday] night palsy"),
    ("en", "teaches [Sunday] school"),
    ("en", "Super Bowl [Sunday]"),
    ("en", "on Good [Friday]"),
    ("en", "Lymph 25%, [Mon] 8%, Eos 3%"),
    ("en", "[Sun] protection"),
    ("es", "abierto de [lunes] a [viernes]"),
    ("es", "los [martes] y los [jueves]"),
    ("es", "el [Viernes] Santo"),
    ("de", "Sprechzeiten [Montag] bis [Freitag]"),
    ("de", "Sprechstunde [Mo].-[Fr]. 8-12 Uhr"),
    ("fr", "ouvert du [lundi] au [vendredi]"),
    ("fr", "le [vendredi] saint"),
    ("pt", "aberto de [segunda] a [sexta]"),
]
OF_DAYS = [
    ("en", "Admitted [Monday], discharged [Thursday] 3/7"),
    ("en", "He sat on [Monday]"),
    ("en", "He came on [Monday]. On [Tuesday] he left."),
    ("en", "Fell [last Sunday], seen [Mon 3/4]-[Tue 3/5]"),
    ("es", "ingresa el [lunes], alta el [jueves]"),
    ("de", "Aufnahme am [Montag], so dass am [Freitag]"),
]


def marked(text):
    """Text without brackets, and the places of the brackets."""
    plain, places = "", []
    for i, piece in enumerate(text.replace("]", "[").split("[")):
        if i % 2:
            places.append((len(plain), len(plain) + len(piece)))
        plain += piece
    return plain, places


@pytest.mark.parametrize(("locale", "text"), LISTED)
def test_weekdays_of_lists_and_names_have_no_surrogate(locale, text):
    """ "Open Monday through Friday" became "Open Saturday through Wednesday", which reveals the shift modulo 7."""
    plain, places = marked(text)
    assert listed_weekdays(plain, places, locale_words(locale)) == set(range(len(places)))
    # Patients of all shifts modulo 7: weekdays that stay for some patients would reveal the shift of these patients.
    engine = SurrogateEngine(key=bytes(32), locale=locale)
    for patient in map(str, range(20)):
        note = Document("n", plain, tuple(Span(*place, "DATE") for place in places), patient)
        assert {one.surrogate for one in engine.replacements(note)} == {"[DATE]"}


@pytest.mark.parametrize(("locale", "text"), OF_DAYS)
def test_weekdays_of_days_move(locale, text):
    plain, places = marked(text)
    assert listed_weekdays(plain, places, locale_words(locale)) == set()


def test_a_long_plan_is_one_run():
    """A run for each of its ends made the time for a note grow with the square of its weekdays."""
    text = "Mon 5 mg Tue 5 mg Wed 5 mg Thu 5 mg Fri 5 mg Sat 5 mg Sun 5 mg " * 20
    assert list(_plans(text, locale_words("en"))) == [(0, len(text) - len(" 5 mg "))]


def test_a_weekday_between_two_plans_moves():
    plan = "[Mon] 5, [Tue] 5, [Wed] 5, [Thu] 5, [Fri] 5. "
    plain, places = marked(f"{plan}Seen in the clinic on [Tuesday]. {plan}")
    assert listed_weekdays(plain, places, locale_words("en")) == {*range(11)} - {5}


def test_weekdays_of_lists_stay_if_all_weekdays_stay():
    note = Document("n", "Open Monday to Friday", (Span(5, 11, "DATE"), Span(15, 21, "DATE")), "p")
    assert SurrogateEngine(key=bytes(32), locale="en", whole_weeks=True).rewrite(note).text == note.text
