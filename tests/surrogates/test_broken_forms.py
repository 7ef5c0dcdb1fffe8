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
        ([("FECHAS", "3/5/2011", "13/5/2012"), ("FECHAS", "4/5/2011", "14/5/2012")], []),
        ([("FECHAS", "3/5/2011", "13/5/2012"), ("FECHAS", "4/5/2011", "24/5/2012")], ["interval between dates"]),
        # Years of two digits, on both sides of the year where the century is guessed anew.
        ([("FECHAS", "9/4/27", "29/9/32"), ("FECHAS", "1/2/26", "25/7/31"), ("FECHAS", "3/5/26", "24/10/31")], []),
        ([("FECHAS", "9/4/27", "29/9/32"), ("FECHAS", "1/2/26", "26/7/31")], ["interval between dates"]),
        ([("FAMILIARES_SUJETO_ASISTENCIA", "abuelo paterno", "padre paterno")], []),
        ([("FAMILIARES_SUJETO_ASISTENCIA", "abuelo paterno", "tía paterno")], ["gender or number of a relative"]),
        ([("CALLE", "Plaza de la Encina, 3", "Plaza de la Paz, 4")], []),
        ([("CALLE", "Plaza de la Encina, 3", "Plaza de la Velázquez, 4")], ["name behind an article"]),
    ],
)
def test_breaks_are_found(pairs, expected):
    assert list(broken_forms(*replaced(*pairs))) == expected


@pytest.mark.parametrize(
    ("text", "label", "new", "expected"),
    [
        ("[03] - [05/2021]", "FECHAS", ("04", "06/2020"), []),
        ("[03] - [05/2021]", "FECHAS", ("20", "06/2020"), ["range of months"]),
        ("[Getafe], [Madrid]", "TERRITORIO", ("Ferrol", "La Coruña"), []),
        ("[Getafe], [Madrid]", "TERRITORIO", ("Ferrol", "Lorca"), ["town and region"]),
        ("Nombre: [Luz]. Apellidos: [Paz Rey]", "NOMBRE_SUJETO_ASISTENCIA", ("Ana", "Soto Gil"), []),
        (
            "Nombre: [Luz]. Apellidos: [Paz Rey]",
            "NOMBRE_SUJETO_ASISTENCIA",
            ("Durán", "Soto Gil"),
            ["surname in the field of a given name"],
        ),
        ("el Sr. [Juan Paz]", "NOMBRE_SUJETO_ASISTENCIA", ("Pedro Soto",), []),
        ("He was a [cook].", "PROFESSION", ("editor",), ["a or an"]),
        ("He was a [cook].", "PROFESSION", ("painter",), []),
        ("el Sr. [Juan Paz]", "NOMBRE_SUJETO_ASISTENCIA", ("Ana Soto",), ["title and given name"]),
    ],
)
def test_breaks_beside_each_other_are_found(text, label, new, expected):
    pieces = text.replace("]", "[").split("[")
    spans, length = [], len(TEXT)
    for i, piece in enumerate(pieces):
        if i % 2:
            spans.append(Span(length, length + len(piece), label))
        length += len(piece)
    note = Document("n", TEXT + "".join(pieces), tuple(spans))
    made = [Replacement(span, text, True) for span, text in zip(spans, new, strict=True)]
    assert list(broken_forms(note, made)) == expected


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
