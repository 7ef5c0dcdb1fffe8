"""Time zones beside dates do not show summer time, which would reveal the season of a moved date."""

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.cli.mapped_surrogates import MappedSurrogates
from sklearn_deid.surrogates import SurrogateEngine, note_replacements, rewritten
from sklearn_deid.surrogates.time_zones import with_time_zones, without_summer_time, zone_at_end, zone_places

ZONES = """3/4/2019 14:30 [EDT]. Seen|3/4/2019 2:30 PM [EST]|signed at 14:30 ([EDT])|3/4/2019 1432 [PDT]|at 2 PM [CDT]
2019-03-04T14:30:00[-05:00]|Mon, 4 Mar 2019 14:30:00 [-0400]|2019-03-04T14:30[+02:00]|4.3.2019 14:30 [+0200]
20190304T143000[-0500]|14:30 ([UTC+2])|14:30 [GMT-4]|2:30 pm [edt]|10:22 [CEST]|14.30 Uhr [MESZ]
14:30 [Eastern Daylight Time]|10:22 [British Summer Time]|3/4/2019 09:00 [MDT]
14:30[EDT]|3/4/2019 1432[PDT]|T14:30:00[CEST]|14:30[MESZ]|3/4/2019 14.30 [+02:00]|14h30[+0100]"""
NONE = """open 08:00-09:00|08:00:00-11:00|3/4/2019 09:00 MDT meeting|06:00 AST 45|HAP at 14:30|BP 120 EDT
call 617-555-0148|Discussed at MDT.|14:30 WEST wing|2019-03-04T14:30:00Z|on time"""


def cases(text):
    return text.replace("\n", "|").split("|")


@pytest.mark.parametrize("text", cases(ZONES))
def test_zones_behind_times_are_found(text):
    start, end = text.index("["), text.index("]") - 1
    plain = text.replace("[", "").replace("]", "")
    assert zone_places(plain) == [(start, end)]
    zone = without_summer_time(plain[start:end])
    assert zone == without_summer_time(zone) and not {"-", "1", "2", "4", "5"}.intersection(zone)
    assert "D" not in zone and "Summer" not in zone and zone not in ("CEST", "MESZ")


@pytest.mark.parametrize("text", cases(NONE))
def test_other_words_and_times_are_no_zones(text):
    assert zone_places(text) == []


def test_all_zones_are_found_directly_behind_a_time_and_behind_a_blank():
    """The quick look for zones found no name directly behind a digit."""
    times = ("14:30", "1432", "14:30:05", "14:30:05.123", "2019-03-04T14:30:00", "14h30", "14.30")
    zones = ("EDT", "CST", "PDT", "AKDT", "NZDT", "CEST", "MESZ", "OEZ", "UTC-5", "Eastern Daylight Time", "+0530")
    texts = [f"{time}{blank}{zone}" for time in times for blank in ("", " ") for zone in zones]
    assert [text for text in texts if not zone_places(text)] == []


def test_a_zone_without_a_blank_is_replaced_inside_and_outside_of_the_span():
    for end in (8, 17):
        note = Document("n", "3/4/2019 14:30EDT", (Span(0, end, "DATE"),), "p")
        assert SurrogateEngine(key=bytes(32), locale="en").rewrite(note).text.endswith(" 14:30EST")


def test_every_zone_of_the_summer_becomes_that_of_the_winter():
    """Also the span is the same: a span for the summer only would show the season."""
    made = [
        SurrogateEngine(key=bytes(32), locale="en").rewrite(Document("n", text, (Span(0, 8, "DATE"),), "p"))
        for text in ("3/4/2019 14:30 EDT, 15:00 EDT", "3/4/2019 14:30 EST, 15:00 EST")
    ]
    assert made[0] == made[1] and made[0].text.endswith(" 14:30 EST, 15:00 EST")
    assert [made[0].text[span.start : span.end] for span in made[0].spans[1:]] == ["EST", "EST"]


def test_the_starters_span_of_the_day_alone_leaves_no_offset():
    """ "2019-03-04T14:30:00-05:00" became "2023-05-20T14:30:00-05:00": the winter's offset beside a day in May."""
    text = "Seen 2019-03-04T14:30:00-05:00, signed 07/04/2019 at 14:30 EDT."
    note = Document("n", text, (Span(5, 15, "DATE"), Span(39, 49, "DATE")), "p")
    engine = SurrogateEngine(key=bytes(32), locale="en")
    new = engine.rewrite(note).text
    assert new[15:] == f"T14:30:00+00:00, signed {new[39:49]} at 14:30 EST."
    mapped = MappedSurrogates(engine).replacements(note, note.spans)
    assert rewritten(note, mapped).text == rewritten(note, note_replacements(engine)(note)).text == new


def test_a_zone_inside_of_a_span_stays_beside_the_moved_date():
    """The label replaced "3/4/2019 14:30 EDT", and the note then had no visit."""
    for zone in ("EDT", "EST", "(EDT)"):
        text = f"3/4/2019 14:30 {zone}"
        note = Document(
            "n", f"{text} 3/4", (Span(0, len(text), "DATE"), Span(len(text) + 1, len(text) + 4, "DATE")), "p"
        )
        first, second = SurrogateEngine(key=bytes(32), locale="en").replacements(note)
        assert first.surrogate.endswith(" 14:30 (EST)" if "(" in zone else " 14:30 EST")
        assert first.surrogate.startswith(f"{second.surrogate}/")


def test_zones_without_a_date_stay():
    note = Document("n", "Ann left at 14:30 EDT", (Span(0, 3, "PATIENT"),), "p")
    assert with_time_zones(note, {"PATIENT": "person"}) is note


def test_a_zone_directly_behind_a_date_is_a_part_of_its_span():
    note = Document("n", "3/4/2019 14:30 EDT", (Span(0, 14, "DATE", "DATE_TIME"),), "p")
    assert with_time_zones(note, {"DATE": "date"}).spans == (Span(0, 18, "DATE", "DATE_TIME"),)
    assert zone_at_end(note.text) == 14
