"""Redaction with surrogates: strings, documents and corpora, with annotations of the new text."""

import pytest
from sklearn.base import BaseEstimator

from sklearn_deid import Corpus, Document, NoteDeidentifier, RuleTagger, Span
from sklearn_deid.exceptions import WithheldWarning
from sklearn_deid.surrogates import SurrogateEngine

KEY = bytes(range(32))
TEXT = "Seen on 3/5/2011 and again on 3/9/2011; write to ann.roe@clinic.edu."


@pytest.fixture(scope="module")
def deidentifier():
    return NoteDeidentifier(RuleTagger(language="en").fit([]))


def test_surrogates_are_where_spans_were_found(deidentifier):
    (spans,) = deidentifier.annotate([TEXT])
    (new,) = deidentifier.redact([TEXT], mode="surrogate", key=KEY, locale="en", return_documents=True)
    assert len(new.spans) == len(spans) == 3
    assert [span.label for span in new.spans] == [span.label for span in spans]
    assert new.text.startswith("Seen on ") and "clinic.edu" not in new.text and "3/5/2011" not in new.text
    assert new.text == deidentifier.redact([TEXT], mode="surrogate", key=KEY, locale="en")[0]
    assert new.text != deidentifier.redact([TEXT], mode="surrogate", locale="en")[0]


def test_rules_find_the_surrogates_again(deidentifier):
    (new,) = deidentifier.redact([TEXT], mode="surrogate", key=KEY, return_documents=True)
    (again,) = deidentifier.annotate([new])
    assert [(s.start, s.end, s.label) for s in again] == [(s.start, s.end, s.label) for s in new.spans]


def test_notes_of_a_patient_share_their_shift(deidentifier):
    notes = Corpus([Document(f"n{i}", f"Seen on 3/{i}/2011.", patient_id="p") for i in (1, 2)])
    first, second = deidentifier.redact(notes, mode="surrogate", key=KEY, locale="en", return_documents=True)
    days = [int(new.text.split("/")[1]) for new in (first, second)]
    assert days[1] - days[0] == 1 or days[1] == 1
    assert (first.doc_id, first.patient_id) == ("n1", "p")


def test_settings_and_engines(deidentifier):
    (near,) = deidentifier.redact(["Seen on 3/5/2011."], mode="surrogate", date_shift=1)
    assert near in ("Seen on 3/4/2011.", "Seen on 3/6/2011.")
    engine = SurrogateEngine(key=KEY, locale="en", whole_weeks=True)
    assert deidentifier.redact([TEXT], mode=engine) == deidentifier.redact([TEXT], mode=engine)
    with pytest.raises(ValueError, match="need mode='surrogate'"):
        deidentifier.redact([TEXT], key=KEY)
    with pytest.raises(ValueError, match="The 'mode' parameter must be one of"):
        deidentifier.redact([TEXT], mode="x")


def test_labels_have_spans_too(deidentifier):
    (new,) = deidentifier.redact([TEXT], return_documents=True)
    assert [new.text[span.start : span.end] for span in new.spans] == ["[DATE]", "[DATE]", "[EMAIL]"]


class Fails(BaseEstimator):
    def fit(self, X, y=None):
        return self

    def predict(self, X):
        raise ValueError("no")

    def __sklearn_is_fitted__(self):
        return True


def test_withheld_notes_have_no_surrogates():
    deidentifier = NoteDeidentifier(Fails(), on_error="withhold")
    with pytest.warns(WithheldWarning):
        assert deidentifier.redact([TEXT], mode="surrogate", return_documents=True) == [None]


def test_missed_phi_stays():
    """What nobody found is not protected, and nothing says that it is."""
    note = Document("n", "Ann Roe and Eva Zyxwvutski left.", (Span(0, 7, "PATIENT"),))
    assert "Eva Zyxwvutski" in SurrogateEngine(locale="en").rewrite(note).text
