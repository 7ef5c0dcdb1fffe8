"""States and countries behind labels of persons are names of persons."""

from types import SimpleNamespace

import pytest

from sklearn_deid import Span
from sklearn_deid.tagging.names_of_places import with_names_of_places
from sklearn_deid.tagging.note_tagger import NoteTagger

NEW = Span(0, 1, "DOCTOR", "NAME", 0.5)


def spans_of(text):
    """Plain text; names are in square brackets, and states in angle brackets."""
    spans, plain, start = [], "", 0
    for sign in text:
        if sign in "[<":
            start = len(plain)
        elif sign in "]>":
            label = "STATE" if sign == ">" else "PATIENT"
            spans.append(Span(start, len(plain), label, "LOCATION" if sign == ">" else "NAME", 0.9))
        else:
            plain += sign
    return plain, spans


@pytest.mark.parametrize("text", [
    "Attending: <Ireland>", "Seen by: <Ireland>, MD", "Pain: no; Nurse = <Georgia>",
    "Well. Attending Physician: <Jordan>", "Name\n<Georgia>", "Patient Name (Last, First): <Georgia>",
    "Name:\r\n<Georgia>\r\nMRN", "her daughter, <Virginia>, says",
    "Wife <Carolina> called",
])  # fmt: skip
def test_a_state_behind_a_label_of_persons_is_a_name(text):
    """ "Attending: Ireland" stayed as a country, which Safe Harbor keeps."""
    plain, (place,) = spans_of(text)
    name = Span(place.start, place.end, "DOCTOR", "NAME", 0.9)
    assert with_names_of_places([place], plain, NEW) == [name]
    assert with_names_of_places([place], plain) == [place]


@pytest.mark.parametrize("text", [
    "Name: [Smith], <Georgia>", "PATIENT: [SMITH],<GEORGIA>", "[Lena] <Ireland> 3/4/60", "Mother [Ann] <Jordan>",
    "Name\n[Smith], <Georgia>",
])  # fmt: skip
def test_a_state_behind_a_name_is_a_part_of_the_name(text):
    plain, (name, place) = spans_of(text)
    assert with_names_of_places([name, place], plain) == [Span(name.start, place.end, "PATIENT", "NAME", 0.9)]


@pytest.mark.parametrize("text", [
    "moved to <Georgia>", "State: <Georgia>", "Patient location: <Georgia>", "Mother's country: <Ireland>",
    "Born: <Ireland>", "[Ann Roe], <Georgia>", "Contact: [Roe], <Georgia> 30301", "[Roe]\n<Georgia>", "[Roe]; <Ohio>",
    "Name: [Roe]   <Georgia>", "Name\n<Georgia> Clinic", "her daughter in <Ohio>", "Place of birth: <Ireland>",
    "Patient from: <Ireland>", "Pharmacy: <Georgia>", "<Georgia>",
])  # fmt: skip
def test_other_states_stay(text):
    plain, spans = spans_of(text)
    assert with_names_of_places(spans, plain, NEW) == spans


def test_safe_harbor_hides_names_that_the_tagger_reads_as_states():
    tags = {"Georgia": "B-STATE", "Roe": "B-PATIENT"}
    tagger = SimpleNamespace(predict=lambda X: [[tags.get(token, "O") for token in row] for row in X])
    read = NoteTagger(tagger, {"PATIENT": "NAME", "STATE": "LOCATION"}, labels="hipaa")
    found = read(["Nurse: Georgia", "Name: Roe, Georgia", "Lives in Georgia."])
    assert [[(span.start, span.end, span.label) for span in spans] for spans in found] == [
        [(7, 14, "PATIENT")],
        [(6, 18, "PATIENT")],
        [],
    ]
