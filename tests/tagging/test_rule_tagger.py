"""RuleTagger as scikit-learn's tools use it, and its tags."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from sklearn_deid import Corpus, Document, NoteDeidentifier, RuleTagger, load, make_clinical_notes, save
from sklearn_deid._storage import read_bundle, write_bundle
from sklearn_deid.exceptions import BundleError, SequenceError
from sklearn_deid.sequences import TokenSequences
from sklearn_deid.tagging.rules import LANGUAGES
from sklearn_deid.text import is_allowed, tokenize

from .conftest import assert_rows_equal

TEXTS = ["Seen on 12/03/2019, MRN 4408185.", "Mail ana97@example.org", "", "No pain."]
X = [tokenize(text).texts for text in TEXTS]
Y = [["O"] * len(row) for row in X]


def test_tags():
    tags = RuleTagger().fit(X).predict(X)
    date, record = ["B-DATE", *["I-DATE"] * 4], ["B-MEDICALRECORD"]
    assert tags[0] == ["O", "O", *date, "O", "O", *record, "O"]
    assert tags[1] == ["O", "B-EMAIL", *["I-EMAIL"] * 5]
    assert tags[2:].tolist() == [[], ["O"] * 3]


@pytest.mark.parametrize("form", [
    "- [91]-year-old man",
    "- [91] y.o. - lives alone",
    "1. [03/04/2019] Chest film",
    "2. [91] yo woman",
    "Pt. [91] y.o.",
    "Pain... [91] y.o. woman",
    "Doe - [91F] - discharged",
    "Tel: [555-010-0142] - home",
    "Mail [ana@example.org] - home",
    "- [twitter.com/janedoe]",
    "Home / [91] yo / alone",
    "[ann_roe+news@example.org] and",
    "MAC: [00:1A:2B:3C:4D:5E]",
    "MAC: [00:1a:2b:3c:4d:5e]",
    "IP: [2001:db8::1] and",
    "IP: [fe80::1ff:fe23:4567:890a]",
    "in her [90s]",
])  # fmt: skip
def test_signs_may_have_had_spaces(form):
    """Without the spaces, "- 91" was a negative number, and "org - home" was the end of an address."""
    before, phi, after = re.split(r"[\[\]]", form)
    deidentifier = NoteDeidentifier(RuleTagger(language="en").fit([]), segmenter="rules")
    (spans,) = deidentifier.annotate([before + phi + after])
    hidden = {i for span in spans for i in range(span.start, span.end)}
    expected = range(len(before), len(before) + len(phi.removesuffix("F")))
    assert hidden == set(expected)


@pytest.mark.parametrize(("text", "redacted"), [
    ("MRN 1234567 DOB 03/04/1951 and", "MRN [MEDICALRECORD] DOB [DATE] and"),
    ("MRN 1234567 SEEN 3.4.2019", "MRN [MEDICALRECORD] SEEN [DATE]"),
    ("MRN NYP-12345 SEEN 3/4/2019", "MRN [MEDICALRECORD] SEEN [DATE]"),
    ("ACCT V0001234 ADM 03/04/2019", "ACCT [ACCOUNT] ADM [DATE]"),
    ("MRN 1234567 SEEN 10:30 AM", "MRN [MEDICALRECORD] SEEN 10:30 AM"),
])  # fmt: skip
def test_a_date_behind_a_record_number_is_hidden_as_a_whole(text, redacted):
    """The record number took the day, so that month and year of the date stayed: "[MEDICALRECORD]/04/1951"."""
    deidentifier = NoteDeidentifier(RuleTagger(language="en").fit([]), segmenter="rules")
    assert deidentifier.redact([text]) == [redacted]


@pytest.mark.parametrize(("text", "redacted"), [
    ("Age:\n94\nSex\nF", "Age:\n[AGE]\nSex\nF"),
    ("MRN:\r\n\r\n123456 seen", "MRN:\r\n\r\n[MEDICALRECORD] seen"),
    ("Passport No.\n\tX1234567", "Passport No.\n\t[IDNUM]"),
    ("Phone:\n5550142\nSeen on\n12/10 and well", "Phone:\n[PHONE]\nSeen on\n[DATE] and well"),
    ("May\n2. Aspirin\nMR\n500 mg\nAge\n12/3", "May\n2. Aspirin\nMR\n500 mg\nAge\n12/3"),
    ("Age\nnot known, BP\n120/80", "Age\nnot known, BP\n120/80"),
])  # fmt: skip
def test_a_value_below_its_label_is_hidden(text, redacted):
    """In forms with a value below each label, most ages and numbers stayed."""
    deidentifier = NoteDeidentifier(RuleTagger(language="en").fit([]), segmenter="rules")
    assert deidentifier.redact([text]) == [redacted]


def test_no_sign_becomes_phi_by_spaces():
    texts = [
        "ICD-10 F32.1",
        "ICD-10 M54.5",
        "1.25 M",
        "IL-10 F",
        "- 3/5 power - 12/2 split",
        "ATC C09AA05",
        "-5 to 5",
    ]
    for language in LANGUAGES:
        deidentifier = NoteDeidentifier(RuleTagger(language=language).fit([]), segmenter="rules")
        assert deidentifier.annotate(texts) == [()] * len(texts)


@pytest.mark.parametrize(("label_scheme", "y", "label"), [
    ("auto", None, "DATE"),
    ("auto", [["B-FECHAS"]], "FECHAS"),
    ("auto", [["B-PHI"]], "PHI"),
    ("auto", [["O"]], "DATE"),
    ("meddocan", [["B-WHO"]], "FECHAS"),
    ({"DATE": "WHEN"}, None, "WHEN"),
])  # fmt: skip
def test_labels(label_scheme, y, label):
    tagger = RuleTagger(label_scheme=label_scheme).fit([["a"]], y)
    assert tagger.predict([["2019", "-", "03", "-", "12"]])[0][0] == f"B-{label}"
    assert f"I-{label}" in tagger.classes_


def test_a_kind_left_out():
    tagger = RuleTagger(label_scheme={"EMAIL": "MAIL", "DATE": None}).fit(X)
    assert set(tagger.predict(X)[0]) == {"O"}
    assert tagger.classes_.tolist() == ["O", "B-MAIL", "I-MAIL"]


@pytest.mark.parametrize("language", ["en", "auto"])
def test_a_kind_left_out_hides_no_other_kind(language):
    """The match of the e-mail rule, which also took the date before the address, left the date readable."""
    X = Corpus([Document("a", "The date of his visit was 12 May 2011 ana@example.org")]).to_sentences().X
    tags = RuleTagger(label_scheme={"DATE": "WHEN"}, language=language).fit(X).predict(X)[0]
    assert list(tags)[6:] == ["B-WHEN", "I-WHEN", "I-WHEN", *["O"] * 5]


def test_binary_tags_of_touching_finds_are_legal():
    tagger = RuleTagger(label_scheme="binary").fit(X)
    data = make_clinical_notes(20, random_state=1).to_sentences()
    for row, tags in zip(data.X, tagger.predict(data.X), strict=True):
        assert len(row) == len(tags)
        assert all(is_allowed(a, b) for a, b in zip([None, *tags], [*tags, None], strict=True))


def test_clone_pickle_pipeline_and_search():
    tagger = RuleTagger(["date"], language="en").fit(X)
    assert clone(tagger).get_params() == tagger.get_params()
    with pytest.raises(NotFittedError):
        clone(tagger).predict(X)
    assert_rows_equal(pickle.loads(pickle.dumps(tagger)).predict(X), tagger.predict(X))
    data = make_clinical_notes(6, random_state=0).to_sentences()
    pipe = Pipeline([("rules", RuleTagger())])
    grid = {"rules__recognizers": [["date"], ["email"]], "rules__language": ["en", None]}
    search = GridSearchCV(pipe, grid, cv=2, error_score="raise").fit(data.X, data.y)
    assert search.best_params_["rules__recognizers"] == ["date"]
    assert 0 < search.best_score_ < 1


def test_in_a_note_deidentifier():
    redacted = NoteDeidentifier(RuleTagger().fit([])).redact([TEXTS[0], Document("n", TEXTS[1])])
    assert redacted == ["Seen on [DATE], MRN [MEDICALRECORD].", "Mail [EMAIL]"]
    fitted = NoteDeidentifier(RuleTagger(label_scheme="binary")).fit(make_clinical_notes(3, random_state=0))
    assert fitted.annotate([TEXTS[1]])[0][0].confidence is None


def test_lists_and_order_do_not_matter():
    tagger = RuleTagger().fit(X)
    assert_rows_equal(tagger.predict(X[::-1])[::-1], tagger.predict(np.array(X, dtype=object)))


def test_the_language_of_each_note():
    """The same sentence has a date in a German note, and none in an English one."""
    german, english = "Der Patient ist wohl. Seit 3. Mai 2019.", "The patient is well. Seit 3. Mai 2019."
    data = Corpus([Document("de", german), Document("en", english)]).to_sentences()
    tags = RuleTagger(["date"], language="auto").fit(data.X).predict(data.X)
    dated = {doc for doc, row in zip(data.doc_ids, tags, strict=True) if "B-DATE" in row}
    assert dated == {"de"}


def test_a_saved_model_decides_the_language_of_each_note(tmp_path):
    save(NoteDeidentifier(RuleTagger(["date"], language="auto").fit([])), tmp_path / "rules")
    texts = ["Der Patient kam Ende Mai 2019.", "The patient came (Mai 2019)."]
    assert load(tmp_path / "rules").redact(texts) == ["Der Patient kam Ende [DATE].", texts[1]]


class TestErrors:
    def test_the_language_of_a_note_needs_the_note(self):
        with pytest.raises(SequenceError, match="needs the document of each sentence"):
            RuleTagger(language="auto").fit(X).predict(X)

    def test_parameters(self):
        with pytest.raises(ValueError, match="Got 'name' instead"):
            RuleTagger(["name"]).fit(X)
        with pytest.raises(ValueError, match="'language' parameter of RuleTagger must be"):
            RuleTagger(language="sv").fit(X)
        with pytest.raises(ValueError, match="'label_scheme' parameter of RuleTagger must be"):
            RuleTagger(label_scheme="mine").fit(X)
        with pytest.raises(ValueError, match="belong to none of the schemes"):
            RuleTagger().fit([["a"]], [["B-MINE"]])

    def test_vectors(self):
        with pytest.raises(SequenceError, match="reads tokens. X holds vectors"):
            RuleTagger().fit(X).predict([[[1.0, 2.0]]])

    def test_rows_of_other_lengths(self):
        with pytest.raises(SequenceError, match="another length"):
            RuleTagger().fit(X, [["O"], *Y[1:]])

    def test_weights(self):
        with pytest.raises(ValueError, match="does not take sample weights"):
            RuleTagger().fit(X).score(X, Y, sample_weight=[1])


@pytest.mark.parametrize(
    "parameters",
    [
        {"recognizers": []},
        {"label_scheme": {}},
        {"label_scheme": {"DATE": None}},
        {"recognizers": ["email"], "label_scheme": {"DATE": "DAY"}},
    ],
)
def test_rules_that_find_nothing_are_refused(parameters):
    """Notes returned as they were."""
    with pytest.raises(ValueError, match="The rules find nothing"):
        RuleTagger(**parameters).fit([])


@pytest.mark.parametrize("label", ["\x1b[2J", "A\nB", "<script>"])
def test_labels_that_could_act_where_redacted_notes_are_shown_are_refused(tmp_path, label):
    with pytest.raises(ValueError, match="'label_scheme' parameter of RuleTagger cannot be used"):
        RuleTagger(label_scheme={"EMAIL": label}).fit([])
    save(RuleTagger().fit([]), tmp_path / "m")
    manifest, arrays = read_bundle(tmp_path / "m")
    manifest = {k: v for k, v in manifest.items() if k not in ("format", "arrays_sha256", "manifest_sha256")}
    manifest["state"]["labels"]["EMAIL"] = label
    write_bundle(tmp_path / "m", manifest, arrays, overwrite=True)
    with pytest.raises(BundleError, match="cannot be used"):
        load(tmp_path / "m")


@pytest.mark.parametrize("language", [None, "auto"])
def test_parameters_take_effect_at_the_next_fit(language):
    notes = TokenSequences.from_rows(X).with_documents([0, 0, 1, 1])
    tagger = RuleTagger(language=language).fit(notes)
    expected = tagger.predict(notes)
    tagger.set_params(recognizers=[], language="de", label_scheme="meddocan")
    assert_rows_equal(tagger.predict(notes), expected)
    with pytest.raises(ValueError, match="The rules find nothing"):
        tagger.fit(notes)
