"""What rules find: by hand, with all check digits computed here, and laws over any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid import NoteDeidentifier, RuleTagger
from sklearn_deid.tagging.rules import (
    DEFAULT_RECOGNIZERS,
    KINDS,
    LANGUAGES,
    RECOGNIZERS,
    RULES,
    RuleSpan,
    find_phi,
    rebuild_sentence,
    select_rules,
)
from sklearn_deid.text import Span, redact, tokenize


def found(text, **options):
    return [(span.label, text[span.start : span.end]) for span in find_phi(text, **options)]


@pytest.mark.parametrize(("text", "kind", "phi"), [
    # addresses of the net
    ("Mail maria.o-brien97@example.org, or", "EMAIL", "maria.o-brien97@example.org"),
    ("DOUGLAS_D81@EXAMPLE.COM", "EMAIL", "DOUGLAS_D81@EXAMPLE.COM"),
    ("see https://my.example.net/results?id=3.", "URL", "https://my.example.net/results?id=3"),
    ("www.example.org/a)", "URL", "www.example.org/a"),
    ("from 192.0.2.182 on", "IPADDR", "192.0.2.182"),
    # telephones
    ("call (555) 010-0142.", "PHONE", "(555) 010-0142"),
    ("1-555-010-0142", "PHONE", "1-555-010-0142"),
    ("+1 555.010.0142", "PHONE", "+1 555.010.0142"),
    ("line 555-0142", "PHONE", "555-0142"),
    ("RN x2050", "PHONE", "2050"),
    ("pager #8932", "PHONE", "8932"),
    ("Fax: 555.010.0142", "FAX", "555.010.0142"),
    ("faxed to 555-0142", "FAX", "555-0142"),
    ("Tlf. 609 518571", "PHONE", "609 518571"),
    ("llame al 956 013 059", "PHONE", "956 013 059"),
    ("Fax 93 2607982", "FAX", "93 2607982"),
    # numbers of persons and records
    ("SSN 905-54-6175", "SSN", "905-54-6175"),
    ("SSN (last 4): 2473", "SSN", "2473"),
    ("NASS: 90 78234615 13.", "SSN", "90 78234615 13"),
    ("MRN88213pt", "MEDICALRECORD", "88213"),
    ("(MRN 965-9380)", "MEDICALRECORD", "965-9380"),
    ("the MRN is CG-123987, and", "MEDICALRECORD", "CG-123987"),
    ("MRN NYP-12345, MRN No.", "MEDICALRECORD", "NYP-12345"),
    ("NHC: 925546.", "MEDICALRECORD", "925546"),
    ("Episodio: 2967890", "VISIT", "2967890"),
    ("Acct: 3061091-4794", "ACCOUNT", "3061091-4794"),
    ("Member ID: G9K4US3DS42", "HEALTHPLAN", "G9K4US3DS42"),
    ("plate LUF-7146", "VEHICLE", "LUF-7146"),
    ("serial SN9467-814,", "DEVICE", "SN9467-814"),
    ("plate NL-88505", "VEHICLE", "NL-88505"),
    ("NºCol: 31 08 51204", "LICENSE", "31 08 51204"),
    # dates
    ("12/03/2019", "DATE", "12/03/2019"),
    ("1.2.99,", "DATE", "1.2.99"),
    ("Augu\u017ft 3 2019", "DATE", "Augu\u017ft 3 2019"),
    ("\u017fept 3, 2019.", "DATE", "\u017fept 3, 2019"),
    ("on 2019-03-12 at", "DATE", "2019-03-12"),
    ("20190312", "DATE", "20190312"),
    ("06-Oct-1950", "DATE", "06-Oct-1950"),
    ("D:05MAY11", "DATE", "05MAY11"),
    ("May 23rd, 1997", "DATE", "May 23rd, 1997"),
    ("the 3rd of March 2001", "DATE", "3rd of March 2001"),
    ("since July of 1994", "DATE", "July of 1994"),
    ("seen on 12/21.", "DATE", "12/21"),
    ("in 2002,", "DATE", "2002"),
    ("el 3 de mayo de 2011", "DATE", "3 de mayo de 2011"),
    ("marzo de 2011", "DATE", "marzo de 2011"),
    ("en el año 2010", "DATE", "año 2010"),
    # ages
    ("a 76-year-old man", "AGE", "76"),
    ("43yo", "AGE", "43"),
    ("an 83 y/o lady", "AGE", "83"),
    ("Seventy-six year old", "AGE", "Seventy-six"),
    ("Age: 37", "AGE", "37"),
    ("Edad: 55 años", "AGE", "55 años"),
    ("mujer de 8 meses", "AGE", "8 meses"),
    ("Varón de cuatro años", "AGE", "cuatro años"),
    ("tenía 4 años de edad", "AGE", "4 años"),
    # postal codes
    ("Plainton, MD 41823", "ZIP", "41823"),
    ("Maryland 69033-2521", "ZIP", "69033-2521"),
    ("CP: 28046", "ZIP", "28046"),
    ("15. 50009 Zaragoza", "ZIP", "50009"),
])  # fmt: skip
def test_finds(text, kind, phi):
    assert found(text) == [(kind, phi)]


@pytest.mark.parametrize("text", [
    "BP 120/80, 98.6 F, 12 mg, 5/5 strength, L4-5",
    "300.1.2.3 and 1.2.3.4.5",
    "99/99/2019 and 32/01/2019 and 13-13-13",
    "12/21 as a score",
    "of 2000 mL",
    "user@host and @example.org",
    "you may 3 times, march 5 miles",
    "20191332",
    "hace 3 años, evolución de 5 años, de 20 años de evolución",
    "age 300",
    "555-01421",
])  # fmt: skip
def test_leaves(text):
    assert found(text) == []


def with_nif_letter(number):
    return f"{number:08d}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


class TestCheckDigits:
    @given(number=st.integers(0, 99_999_999))
    def test_nif(self, number):
        right = with_nif_letter(number)
        assert ("NATIONALID", right) in found(f"DNI {right}")
        wrong = right[:-1] + ("B" if right[-1] == "A" else "A")
        assert "NATIONALID" not in dict(found(f"DNI {wrong}"))

    def test_nie_is_a_nif_with_its_letter_as_a_digit(self):
        letter = with_nif_letter(11234567)[-1]
        assert found(f"Y1234567{letter}") == [("NATIONALID", f"Y1234567{letter}")]

    def test_nhs_number(self):
        # 9 4 3 4 7 6 5 9 1 times 10 to 2 is 299; 299 modulus 11 is 2, the check digit 9
        assert found("NHS no: 943 476 5919", recognizers=["id"]) == [("NATIONALID", "943 476 5919")]
        assert found("NHS no: 943 476 5918", recognizers=["id"]) == []

    def test_a_medicare_number_needs_no_keyword(self):
        # The examples of the US agency: 1EG4-TE5-MK72 and -73; S, L, O, I, B and Z are no letters of such numbers.
        for number in ("1EG4-TE5-MK72", "1EG4TE5MK73"):
            assert found(f"Insurance {number}.", recognizers=["id"]) == [("HEALTHPLAN", number)]
            assert RuleTagger(language="en").fit([]).predict([[*tokenize(number).texts]])[0][0][:2] == "B-"
        for other in ("1EG4-TE5-MK723", "1SG4TE5MK73", "0EG4TE5MK73"):
            assert found(f"Insurance {other}.", recognizers=["id"]) == []

    def test_npi(self):
        # The example of the US agency: 1234567893
        assert found("NPI 1234567893", recognizers=["id"]) == [("LICENSE", "1234567893")]
        assert found("NPI 1234567894", recognizers=["id"]) == []


class TestChoice:
    def test_families(self):
        text = "ana@example.org, 12/03/2019, 95 years old"
        assert found(text, recognizers=["email"]) == [("EMAIL", "ana@example.org")]
        assert found(text, recognizers=["age-over-89"]) == [("AGE", "95")]
        assert found("89 years old", recognizers=["age-over-89"]) == []
        assert found("mujer de 95 años y de 95 meses", recognizers=["age-over-89"]) == [("AGE", "95 años")]

    def test_languages(self):
        assert found("mayo de 2011", language="en") == []
        assert found("July 2011", language="es") == []

    def test_the_word_in_front_decides(self):
        assert found("MRN 965-9380") == [("MEDICALRECORD", "965-9380")]
        assert found("965-9380") == [("PHONE", "965-9380")]

    def test_spans_know_their_rule_and_are_spans(self):
        (span,) = find_phi("12/03/2019")
        assert isinstance(span, (Span, RuleSpan))
        assert span.rule == "date-numeric"
        assert redact("12/03/2019", [span]) == "[DATE]"

    def test_default_is_all_but_a_part_of_another(self):
        assert set(RECOGNIZERS) - set(DEFAULT_RECOGNIZERS) == {"age-over-89"}
        assert select_rules() == select_rules(DEFAULT_RECOGNIZERS)

    def test_errors(self):
        with pytest.raises(ValueError, match="Got 'name' instead"):
            find_phi("", recognizers=["name"])
        with pytest.raises(ValueError, match=r"Pass \('date',\) for a single family"):
            find_phi("", recognizers="date")
        with pytest.raises(ValueError, match="'language' parameter must be one of"):
            find_phi("", language="sv")
        with pytest.raises(ValueError, match="Got none instead"):
            find_phi("", language=())
        with pytest.raises(TypeError, match="'text' must be a str. Got bytes"):
            find_phi(b"")


def test_rules_are_named_and_of_known_kinds():
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert {rule.kind for rule in RULES} <= set(KINDS)


PIECES = st.sampled_from(
    ["12", "/", "03", "2019", "-", ".", " ", "ana", "@", "example", "org", "MRN", ":", "(", ")", "años", "de", "May",
     "www", "٣", "\n", "\x1f", "\x1e", "X", "Edad", "NASS", "fax", "+34", "y", "old"]
)  # fmt: skip


@given(text=st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join)))
def test_any_text_gives_sorted_spans_within_it(text):
    spans = find_phi(text, recognizers=RECOGNIZERS, language=LANGUAGES)
    assert all(a.end <= b.start for a, b in zip(spans[:-1], spans[1:], strict=True))
    assert all(text[s.start : s.end].strip() == text[s.start : s.end] != "" for s in spans)


SIZES = [
    "16 F Foley placed",
    "14F sheath",
    "8 F catheter",
    "Foley 16 F draining",
    "sheath 7F",
    "7 F double lumen",
    "size 14F",
    "potassium 5 M",
    "NaCl 3M",
    "pT3 pN1 M0",
    "pT3 pN1 M",
    "T2 N0 M",
    "pT3 pN1 M with",
    "RR 18 M",
    "HR 88, RR 3 M with fever",
]


@pytest.mark.parametrize("text", SIZES)
def test_sizes_stages_and_concentrations_are_no_ages(text):
    assert not [kind for kind, _ in found(text, language="en") if kind == "AGE"]
    rebuilt = rebuild_sentence(tokenize(text).texts).text
    assert not [kind for kind, _ in found(rebuilt, language="en") if kind == "AGE"]


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("Pt is 45 M with pain", "45"),
        ("82F fell", "82"),
        ("45M chest pain", "45"),
        ("45F single mother", "45"),
        ("PATIENT 45 M", "45"),
        ("5 M with fever", "5"),
        ("5yM fever", "5"),
        ("67F, s/p stent", "67"),
    ],
)
def test_ages_beside_a_sex_are_still_found(text, age):
    assert ("AGE", age) in found(text, language="en")
    rebuilt = rebuild_sentence(tokenize(text).texts).text
    assert ("AGE", age) in found(rebuilt, language="en")


OTHER_SIGNS = {
    "hyphens": str.maketrans({"-": "\u2011"}),
    "en dashes": str.maketrans({"-": "\u2013"}),
    "minus signs": str.maketrans({"-": "\u2212"}),
    "full width": {ord(c): ord(c) + 0xFEE0 for c in "0123456789-@."},
    "arabic digits": {ord("0") + i: 0x660 + i for i in range(10)},
    "mathematical digits": {ord("0") + i: 0x1D7CE + i for i in range(10)},
}


@pytest.mark.parametrize("name", OTHER_SIGNS)
@pytest.mark.parametrize(
    "text", ["call 555-010-0142", "SSN 905-54-6175", "on 2019-03-12", "06-Oct-1950", "45 year-old", "MRN 965-9380"]
)
def test_dashes_and_digits_of_any_form(name, text):
    """The same spans at the same places: each sign is one character in both."""
    places = [(span.start, span.end, span.label) for span in find_phi(text)]
    assert places
    assert [(span.start, span.end, span.label) for span in find_phi(text.translate(OTHER_SIGNS[name]))] == places
    if name == "full width":  # a full-width hyphen is known by its neighbours, which a token does not have
        return
    tokens = tokenize(text.translate(OTHER_SIGNS[name])).texts
    assert RuleTagger().fit([]).predict([tokens])[0] == RuleTagger().fit([]).predict([tokenize(text).texts])[0]


@pytest.mark.parametrize("text", [
    "seen 12\u204403\u20442019", "seen 12\u221503\u22152019", "ana\ufe6bexample.org", "ana@example\u2024org",
    "ana@example\ufe52org",
])  # fmt: skip
def test_slashes_and_small_signs(text):
    """Signs that look like those of a date or an address, as they are copied from a PDF."""
    (span,) = find_phi(text)
    assert (span.end, span.label) in ((len(text), "DATE"), (len(text), "EMAIL"))
    assert span.start == (5 if span.label == "DATE" else 0)
    (spans,) = NoteDeidentifier(RuleTagger(language="en").fit([])).annotate([text])
    assert [(s.start, s.end) for s in spans] == [(span.start, span.end)]


def test_invisible_characters_are_inside_the_span():
    text = "call 555\u200b-010-\u00ad0142 now"
    assert found(text) == [("PHONE", "555\u200b-010-\u00ad0142")]
