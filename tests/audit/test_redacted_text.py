"""Attackers of redacted notes: what they find, and k-anonymity against brute force."""

import json
from base64 import b64encode
from itertools import product

import pandas as pd
import pytest

from sklearn_deid import Document, NoteDeidentifier, RuleTagger, Span
from sklearn_deid.audit import audit_redacted_text
from sklearn_deid.exceptions import DeidError

NOTES = [
    Document("n1", "[PATIENT], a 47-year-old, saw Dr. Garc\u00eda on 3 May 2011.", (), "p1"),
    Document("n2", "A 47-year-old man. May be [DOCTOR] or *** knows.", (), "p2"),
    Document("n3", "Mail to roe@example.org; garcia snake; [ROE] left.", (), "p1"),
    Document("n4", "No pain.", (), "p3"),
]


def passages(report, attacker):
    texts = {note.doc_id: note.text for note in NOTES}
    return [(one.doc_id, texts[one.doc_id][one.start : one.end]) for one in report.found if one.attacker == attacker]


def test_rules_find_what_has_a_form():
    report = audit_redacted_text(NOTES)
    assert report.attackers == ("rules",)
    assert ("n3", "roe@example.org") in passages(report, "rules")
    assert ("n1", "3 May 2011") in passages(report, "rules")
    assert report.notes_with("rules") == 3
    assert sum(report.counts("rules").values()) == len(report.found)


def test_names_of_a_list_are_found_with_a_capital_and_without_accents():
    report = audit_redacted_text(NOTES, names=["Jos\u00e9 GARCIA", "Roe"])
    assert passages(report, "names") == [("n1", "Garc\u00eda"), ("n3", "ROE")], "no lower case"
    labels = audit_redacted_text(NOTES, names=["Patient", "Doctor", "Roe"], labels=["ROE"])
    assert passages(labels, "names") == [], "nothing inside of a label"
    with pytest.raises(ValueError, match="list of labels"):
        audit_redacted_text(NOTES, labels="ROE")


def test_names_of_a_list_are_found_in_notes_in_lower_case():
    """In a dictation without capitals, the attacker found no name, and the audit said "nothing"."""
    notes = [
        Document("n1", "seen by dr. m\u00fcller [DATE], no pain. [PATIENT] may go home."),
        Document("n2", "[PATIENT] seen by roe, MRI. " + "pain on the left. " * 20 + "Friday."),
        Document("n3", "The roe of a fish, no pain."),
        Document("n4", "***"),
    ]
    report = audit_redacted_text(notes, names=["Mueller", "Roe", "Patient"])
    assert [(one.doc_id, one.start) for one in report.found if one.attacker == "names"] == [("n1", 12), ("n2", 18)]


def test_names_in_ids_are_counted():
    """Ids leave as the names of files."""
    ids = ["smith_john-2", "note-3abe5abe6abe", "n1", "ROE"]
    report = audit_redacted_text([Document(i, "No pain.") for i in ids], names=["John Smith", "Roe", "Abe"])
    assert (report.n_named_ids, report.to_dict()["n_named_ids"], report.found) == (2, 2, ())
    assert audit_redacted_text([Document(i, "No pain.") for i in ids]).n_named_ids == 0


def test_a_model_attacks_and_labels_are_no_finds():
    class Model:
        def iter_annotate(self, notes):
            for note in notes:
                yield note, tuple(Span(m, m + 9, "PATIENT") for m in [note.text.find("[PATIENT]")] if m >= 0)

    assert passages(audit_redacted_text(NOTES, deidentifier=Model()), "model") == []
    rules = NoteDeidentifier(RuleTagger().fit([]), on_error="withhold")
    found = audit_redacted_text(NOTES, deidentifier=rules)
    assert ("n3", "roe@example.org") in passages(found, "model")


def test_a_model_of_the_safe_harbor_rule_attacks_what_the_rule_keeps():
    """With starter-en, professions, states and countries were "readable for 0 patients"."""
    model = NoteDeidentifier(RuleTagger().fit([]), labels="hipaa")
    kept = Document("n1", "A 47-year-old man, seen in 2011.")
    assert model.annotate([kept.text]) == [()]
    report = audit_redacted_text([kept], deidentifier=model)
    assert report.counts("model") == report.counts("rules") == {"AGE": 1, "DATE": 1}
    assert model.labels == "hipaa"


def test_a_note_that_no_attacker_can_read_is_an_error():
    """In a base64 body, rules and names found nothing, and the audit ended with exit code 0."""
    body = b64encode(b"Seen by Dr. Roe on 3 May 2011, mail to roe@example.org. " * 6).decode()
    with pytest.raises(DeidError, match=r"attackers cannot read this note\. .*base64.*document n5"):
        audit_redacted_text([*NOTES, Document("n5", body)], names=["Roe"])


def test_a_note_that_the_model_cannot_read_is_an_error():
    class Model:
        def iter_annotate(self, notes):
            return ((note, None) for note in notes)

    with pytest.raises(DeidError, match="cannot read this note.*document n1"):
        audit_redacted_text(NOTES, deidentifier=Model())


@pytest.mark.parametrize(
    ("label", "kind"),
    [("LOCATION_CITY", "place"), ("VILLE", "place"), ("GEOGRAPHIC_LOCATION", "place"), ("DATE_NAISSANCE", "date")],
)
def test_labels_of_all_schemes_are_quasi_identifiers(label, kind):
    """With a model of GraSCCo, EDS-Pseudo or HIPAA labels, the audit counted no readable place."""

    class Model:
        categories_ = (label,)

        def iter_annotate(self, notes):
            return ((note, [Span(0, 3, label)]) for note in notes)

    report = audit_redacted_text([Document("n1", "Elm Street")], deidentifier=Model())
    assert report.anonymity[kind].n_patients == report.anonymity["all"].n_patients == 1


def test_terms_of_several_words_are_quasi_identifiers():
    notes = [Document("n1", "A Violin  maker and a maker."), Document("n2", "violin maker"), Document("n3", "nurse")]
    report = audit_redacted_text(notes, terms={"profession": ["violin maker", "nurse"]})
    assert [(one.doc_id, one.start, one.end) for one in report.found] == [("n1", 2, 15), ("n2", 0, 12), ("n3", 0, 5)]
    found = report.anonymity["profession"]
    assert (found.n_passages, found.n_patients, found.k, found.n_below) == (3, 3, 1, 3)


def test_k_anonymity_equals_brute_force():
    """Every patient has a set of ages and a set of years; groups are patients with equal sets."""
    rows = [(age, year) for age, year in product((41, 52, 63), (2010, 2011)) for _ in range(age % 4 + 1)]
    notes = [
        Document(f"n{number}", f"A {age}-year-old, seen on 3 May {year}.", (), f"p{number}")
        for number, (age, year) in enumerate(rows)
    ]
    report = audit_redacted_text(notes, least_k=3)
    for kind, values in {"age": [a for a, _ in rows], "date": [y for _, y in rows], "all": rows}.items():
        sizes = [values.count(value) for value in values]
        found = report.anonymity[kind]
        assert (found.k, found.n_below) == (min(sizes), sum(size < 3 for size in sizes)), kind
        assert found.n_patients == len(rows)
    assert report.anonymity["place"].k is None


def test_notes_of_a_patient_add_up():
    report = audit_redacted_text(NOTES, patients={"n4": "p2"})
    assert report.n_patients == 2
    assert report.anonymity["age"].k == 2, "p1 and p2 have the same age"
    assert report.anonymity["all"].k == 1, "p1 alone has a date"


def test_the_report_holds_no_text():
    notes = [Document("n1", "Zyxwvut called 555-010-0142.")]
    report = audit_redacted_text(notes, names=["Zyxwvut"], terms={"place": ["Zyxwvut"]})
    assert len(report.found) >= 2
    for shown in (repr(report), str(report), json.dumps(report.to_dict()), repr(report.found), repr(report.anonymity)):
        assert "Zyxwvut" not in shown and "0142" not in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"least_k": 1}, "'least_k'"),
        ({"terms": {"sex": []}}, "'terms'"),
        ({"names": "Roe"}, "single text"),
        ({"names": ["Roe", float("nan")]}, "texts only. Got a float"),
        ({"terms": {"place": [None]}}, "texts only. Got a NoneType"),
    ],
)
def test_nonsense_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        audit_redacted_text(NOTES, **options)
    with pytest.raises(DeidError, match="no notes"):
        audit_redacted_text([])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": []}, "no word in 'names'"),
        ({"names": ["", "12345", "\u2014", "A B"]}, "no word in 'names'"),
        ({"terms": {}}, "no word in 'terms'"),
        ({"terms": {"place": [], "profession": [" "]}}, "no word in 'terms'"),
        ({"terms": {"place": ["10115"], "profession": ["nurse"]}}, "'place' has no letter"),
    ],
)
def test_an_attacker_who_searches_for_nothing_is_not_counted_as_run(options, message):
    with pytest.raises(DeidError, match=message):
        audit_redacted_text(NOTES, **options)


def test_columns_and_series_of_pandas_are_lists_of_names_and_patients():
    notes = [Document("n1", "Seen by Dr. Roe, a nurse."), Document("n2", "A nurse.")]
    words = {"names": pd.Series(["Roe"]), "terms": {"profession": pd.Series(["nurse"])}}
    report = audit_redacted_text(notes, **words, patients=pd.Series({"n1": "p", "n2": "p"}))
    assert (report.notes_with("names"), report.notes_with("terms"), report.n_patients) == (1, 2, 1)


def test_an_iterator_of_names_is_also_compared_with_the_ids():
    """The notes used the iterator up, and no id had a name."""
    report = audit_redacted_text([Document("roe", "Mr. Roe")], names=iter(["Roe"]))
    assert (report.n_named_ids, report.counts("names")) == (1, {"NAME": 1})


@pytest.mark.parametrize("name", ["\u674e\u660e", "\u0645\u062d\u0645\u062f", "\u05de\u05e9\u05d4"])
def test_names_in_scripts_without_capitals_are_found(name):
    report = audit_redacted_text([Document("n1", f"{name}, seen today")], names=[name])
    assert report.counts("names") == {"NAME": 1}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("\u60a3\u8005\u738b\u4f1f\u6765\u9662", "\u738b\u4f1f"),
        ("\u7530\u4e2d\u3055\u3093\u306f", "\u7530\u4e2d"),
        ("\uae40\ucca0\uc218\ub2d8\uc740", "\uae40\ucca0\uc218"),
        ("\u0e04\u0e19\u0e44\u0e02\u0e49\u0e2a\u0e21\u0e0a\u0e32\u0e22", "\u0e2a\u0e21\u0e0a\u0e32\u0e22"),
        ("\u092e\u0930\u0940\u091c \u0930\u093e\u092e \u0906\u092f\u093e", "\u0930\u093e\u092e"),
        ("SmithRoe", "Roe, John"),
        ("SMITHRoe", "Roe, John"),
        ("ROEJames", "Roe, John"),
        ("MC\u00c9RoeJames", "Roe"),
        ("Mr. Roe1 and Mr. Elm2", "Roe"),
        ("Seen by MCROE", "McRoe"),
        ("Seen by McRoe", "MCROE"),
        ("Mueller", "M\u00fcller"),
        ("M\u00fcller", "MUELLER"),
        ("Oedegaard", "\u00d8deg\u00e5rd"),
        ("Lukasz", "\u0141ukasz"),
    ],
)
def test_names_inside_of_words_and_in_other_spellings_are_found(text, name):
    """Words of scripts without spaces were compared as a whole, and vowel signs separated words."""
    assert audit_redacted_text([Document("n1", text)], names=[name]).counts("names") == {"NAME": 1}


def test_ids_that_occur_twice_are_refused():
    """Offsets in one note were read in the text of the other one."""
    notes = [Document("n1", "A 47-year-old man."), Document("n1", "No pain.")]
    with pytest.raises(DeidError, match="must be distinct"):
        audit_redacted_text(notes)


@pytest.mark.parametrize("text", ["Roe's", "Roe\u2019s", "Roe-Alder", "Alder-Roe", "O\u2019Roe", "R\u006f\u0308e"])
@pytest.mark.parametrize("name", ["Roe", "Roe-Elm", "O'Roe"])
def test_names_with_hyphens_apostrophes_and_decomposed_accents_are_found(text, name):
    notes = [Document("n1", f"I saw {text} today"), Document(f"{text}-1", "No pain.")]
    report = audit_redacted_text(notes, names=[name])
    assert len(passages(report, "names")) == report.n_named_ids == 1


@pytest.mark.parametrize("written", ["Al\u200bder", "M&uuml;ller", "Al-\nder", "\uff21\uff4c\uff44\uff45\uff52"])
def test_names_in_unusual_characters_are_found(written):
    """The models and the rules read them, and the attacker with the list did not."""
    text = f"Seen by Dr. {written} today."
    (found,) = audit_redacted_text([Document("n", text)], names=["Alder", "M\u00fcller"]).found
    assert (text[found.start : found.end], found.attacker) == (written, "names")


def test_the_report_names_kinds_that_no_attacker_searched():
    class Model:
        categories_ = {"CITY": "LOCATION", "PATIENT": "NAME"}

        def iter_annotate(self, notes):
            return ((note, ()) for note in notes)

    notes = [Document("n1", "A nurse from Boston.")]
    assert audit_redacted_text(notes).unsearched == ("place", "profession")
    assert audit_redacted_text(notes, deidentifier=Model()).unsearched == ("profession",)
    found = audit_redacted_text(notes, deidentifier=Model(), terms={"profession": ["nurse"]})
    assert found.unsearched == () and found.to_dict()["unsearched"] == []
