"""What stays readable after redaction, by document and patient."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid import Document, Span
from sklearn_deid.exceptions import DeidError
from sklearn_deid.metrics import leak_list
from sklearn_deid.text import redact

from .official_rules import documents, note

TEXT = "Ana Mar, room 12, of Leeds"
NAME, ROOM, CITY = Span(0, 7, "PATIENT"), Span(14, 16, "ROOM"), Span(21, 26, "CITY")


def leaks_of(predicted, gold=(NAME, ROOM, CITY), text=TEXT, **options):
    return leak_list([note(text, gold)], [note(text, predicted)], **options)


def test_what_is_covered_under_whatever_label_does_not_leak():
    found = leaks_of([Span(0, 3, "DOCTOR"), Span(4, 7, "CITY"), Span(10, 20, "DATE")])
    assert [(leak.span, leak.uncovered, leak.partial) for leak in found.leaks] == [(CITY, 5, False)]


def test_a_piece_that_is_left_leaks():
    found = leaks_of([Span(0, 4, "PATIENT"), ROOM, CITY])
    assert [(leak.span, leak.uncovered, leak.partial) for leak in found.leaks] == [(NAME, 3, True)]


@pytest.mark.parametrize(("text", "predicted", "uncovered"), [
    ("(01) 23", Span(1, 3, "PHONE"), 2),
    ("Dr. Sol.", Span(0, 7, "DOCTOR"), 0),
    ("Sol \n", Span(0, 3, "DOCTOR"), 0),
    ("--", Span(0, 1, "OTHER"), 1),  # nothing but punctuation, which then counts
    ("e\u0301", Span(0, 1, "OTHER"), 1),
])  # fmt: skip
def test_white_space_and_punctuation_do_not_count(text, predicted, uncovered):
    found = leaks_of([predicted], gold=[Span(0, len(text), "OTHER")], text=text)
    assert [leak.uncovered for leak in found.leaks] == ([uncovered] if uncovered else [])


@given(case=documents())
def test_leaks_are_what_redaction_leaves_readable(case):
    """Mask what was predicted and look at the characters of each gold span."""
    text, gold, predicted = case
    found = {
        (leak.span.start, leak.span.end, leak.span.label)
        for leak in leak_list([note(text, gold)], [note(text, predicted)]).leaks
    }
    masked = mask(text, predicted)
    for span in gold:
        readable = [c for c in masked[span.start : span.end] if c.isalnum()]
        if readable:
            assert (span.start, span.end, span.label) in found
        if set(masked[span.start : span.end]) == {"\0"}:
            assert (span.start, span.end, span.label) not in found


def mask(text, spans):
    for span in spans:
        text = text[: span.start] + "\0" * (span.end - span.start) + text[span.end :]
    return text


@given(case=documents())
def test_gold_does_not_leak_and_nothing_predicted_leaks_all(case):
    text, gold, _ = case
    assert len(leak_list([note(text, gold)], [note(text, gold)])) == 0
    everything = leak_list([note(text, gold)], [note(text)])
    by_hand = [s for s in gold if any(not c.isspace() for c in text[s.start : s.end])]
    assert len(everything) >= len(by_hand)
    assert not any(leak.partial for leak in everything.leaks)


@given(case=documents(), more=st.integers(0, 23))
def test_predicting_more_never_leaks_more(case, more):
    text, gold, predicted = case
    start = min(more, len(text) - 1)
    fewer = leak_list([note(text, gold)], [note(text, [*predicted, Span(start, len(text), "OTHER")])])
    before = leak_list([note(text, gold)], [note(text, predicted)])
    assert len(fewer) <= len(before)


class TestPatients:
    """Three patients: one with two notes, one whose note names none, one without a leak."""

    GOLD = (
        note("Ana 12", [Span(0, 3, "PATIENT"), Span(4, 6, "ROOM")], "n1", "p1"),
        note("Ana 12", [Span(0, 3, "PATIENT")], "n2", "p1"),
        note("Ben 12", [Span(4, 6, "ROOM")], "n3"),
        note("Sol", [Span(0, 3, "PATIENT")], "n4", "p4"),
    )
    PREDICTED = (
        GOLD[3],
        note("Ana 12", [Span(4, 6, "ROOM")], "n1"),
        note("Ana 12", [], "n2"),
        note("Ben 12", [], "n3"),
    )

    def test_a_note_without_a_patient_is_no_note_of_the_patient_with_its_id(self):
        spans = (Span(0, 3, "PATIENT"),)
        gold = [Document("1", "Ann", spans, patient_id="2"), Document("2", "Eva", spans)]
        found = leak_list(gold, [Document("1", "Ann", spans), Document("2", "Eva")])
        assert (found.n_patients, found.share_of_patients, found.patients) == (2, 0.5, ("2 (note)",))

    def test_grouped_by_document_and_patient(self):
        leaks = leak_list(self.GOLD, self.PREDICTED)
        assert (leaks.documents, leaks.patients) == (("n1", "n2", "n3"), ("p1", "n3"))
        assert {name: [leak.doc_id for leak in group] for name, group in leaks.by_patient.items()} == {
            "p1": ["n1", "n2"],
            "n3": ["n3"],
        }
        assert {name: len(group) for name, group in leaks.by_document.items()} == {"n1": 1, "n2": 1, "n3": 1}
        assert (leaks.n_documents, leaks.n_patients, leaks.share_of_patients) == (4, 3, pytest.approx(2 / 3))
        assert leaks.by_label == {"PATIENT": 2, "ROOM": 1}

    def test_records_and_repr_hold_no_text(self):
        leaks = leak_list(self.GOLD, self.PREDICTED)
        first = {"patient_id": "p1", "doc_id": "n1", "label": "PATIENT", "start": 0, "end": 3}
        assert leaks.records()[0] == first | {"uncovered": 3, "partial": False, "direct": True}
        assert repr(leaks) == "LeakList(3 leaks in 3 of 4 documents, of 2 of 3 patients)"
        assert "Ana" not in repr(leaks.leaks) + str(leaks.records())

    def test_missing_document(self):
        with pytest.raises(DeidError, match="1 gold documents have no prediction"):
            leak_list(self.GOLD, self.GOLD[1:])
        leaks = leak_list(self.GOLD, self.GOLD[1:], missing="count")
        assert (leaks.missing_documents, leaks.documents, len(leaks)) == (("n1",), ("n1",), 2)

    def test_nobody(self):
        leaks = leak_list([], [])
        assert math.isnan(leaks.share_of_patients)
        assert (leaks.patients, leaks.records()) == ((), [])


@pytest.mark.parametrize(
    ("label", "label_scheme", "direct"),
    [
        ("PATIENT", None, True),
        ("DOCTOR", None, False),
        ("HOSPITAL", None, False),
        ("IDNUM", None, True),  # the official HIPAA count leaves it out by mistake
        ("IPADDR", None, True),
        ("SECRET", None, True),  # no known scheme
        ("SECRET", "i2b2-2014", True),  # not in the scheme
        ("PHI", "binary", True),
        ("PAIS", "meddocan", False),
    ],
)
def test_direct_identifiers(label, label_scheme, direct):
    leaks = leaks_of([], gold=[Span(0, 3, label)], label_scheme=label_scheme)
    assert [leak.direct for leak in leaks.leaks] == [direct]


def test_redacting_what_was_predicted_leaves_exactly_the_leaks():
    predicted = [Span(0, 7, "DOCTOR"), ROOM]
    assert "Leeds" in redact(TEXT, predicted)
    assert [leak.span for leak in leaks_of(predicted).leaks] == [CITY]
