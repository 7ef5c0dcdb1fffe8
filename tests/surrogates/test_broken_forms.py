"""The checks of broken forms find what is broken, and the count of merged and split people is right."""

import pytest

from benchmarks.surrogate_forms import broken_forms, one_person_one_surrogate
from sklearn_deid import Corpus, Document, Span
from sklearn_deid.surrogates import Replacement, SurrogateEngine

TEXT = "La paciente vive en el barrio de los Olivos. "


def replaced(*pairs):
    """A note with these originals and surrogates, as (label, original, surrogate)."""
    text, spans = TEXT, []
    for label, original, _ in pairs:
        spans.append(Span(len(text), len(text) + len(original), label))
        text += original + " "
    note = Document("n", text, tuple(spans))
    return note, [Replacement(span, new, True) for span, (_, _, new) in zip(spans, pairs, strict=True)]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("PATIENT", "Ana Rubio", "Eva Soto")], []),
        ([("PATIENT", "Dr. Rubio", "Dr. 4711")], ["digit in a name", "words of a name"]),
        ([("PATIENT", "Ana", "eva")], ["casing of a name"]),
        ([("PATIENT", "Ana", " Eva")], ["white space", "casing of a name"]),
        ([("TERRITORIO", "Madrid", "Vigo"), ("TERRITORIO", "28001", "36204")], []),
        ([("TERRITORIO", "Madrid", "Vigo"), ("TERRITORIO", "28001", "08204")], ["town and postal code"]),
        ([("FECHAS", "3/5/2011", "31/2/2011")], ["date"]),
        ([("FECHAS", "3/5/2011", "28/2/2011")], []),
        ([("EDAD_SUJETO_ASISTENCIA", "40 años", "140 años")], ["age"]),
        ([("CORREO_ELECTRONICO", "a@b.es", "x@hotmail.com")], ["domain"]),
        ([("NUMERO_TELEFONO", "91 22", "9122")], ["form of a number"]),
        ([("ID_SUJETO_ASISTENCIA", "12345678A", "12345678Z")], ["valid check digits"]),
        ([("ID_SUJETO_ASISTENCIA", "12345678A", "12345678B")], []),
    ],
)
def test_breaks_are_found(pairs, expected):
    assert list(broken_forms(*replaced(*pairs))) == expected


def test_surrogates_of_the_engine_have_few_breaks():
    note, _ = replaced(("PATIENT", "Ana Rubio", ""), ("FECHAS", "3/5/2011", ""), ("TERRITORIO", "28001", ""))
    assert list(broken_forms(note, SurrogateEngine(key=bytes(32)).replacements(note))) == []


def test_merged_and_split_people_are_counted():
    note, made = replaced(
        ("PATIENT", "Ana Rubio", "Eva Soto"),
        ("PATIENT", "Rubio", "Soto"),
        ("PATIENT", "Ana", "Luz"),
        ("PATIENT", "Olga Paz", "Eva Soto"),
    )
    counts = one_person_one_surrogate(Corpus([note]), [made])
    assert counts == {
        "pairs_of_one_person": 2,
        "one_person": 0.5,
        "one_person_by_label": {"PATIENT": {"pairs": 2, "share": 0.5}},
        "pairs_of_two_persons": 4,
        "shared": 0.25,
    }
