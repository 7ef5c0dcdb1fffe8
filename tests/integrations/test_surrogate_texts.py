"""Surrogates behind spaCy pipelines and Presidio's analyzer."""

from types import SimpleNamespace

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Span as SpacySpan

from sklearn_deid.integrations import surrogate_doc, surrogate_text
from sklearn_deid.integrations.surrogate_texts import _words
from sklearn_deid.surrogates import SurrogateEngine

KEY = bytes(range(32))


def engine():
    return SurrogateEngine(key=KEY, locale="en")


def result(entity, start, end, label=None):
    metadata = None if label is None else {"label": label}
    return SimpleNamespace(entity_type=entity, start=start, end=end, recognition_metadata=metadata)


def test_results_of_the_analyzer():
    text = "Ann Roe, 95, seen 3/5/2011."
    found = [result("PERSON", 0, 7), result("AGE", 9, 11), result("DATE_TIME", 18, 26, "DATE")]
    new = surrogate_text(text, found, engine(), patient_id="p")
    assert [span.label for span in new.spans] == ["PERSON", "AGE", "DATE"]
    assert new.text[new.spans[1].start : new.spans[1].end] == "90+"
    assert "Roe" not in new.text and "3/5/2011" not in new.text
    assert surrogate_text(text, found, engine(), patient_id="p").text == new.text
    assert surrogate_text(text, found, engine(), patient_id="q").text != new.text


def test_unknown_entities_become_their_names():
    assert surrogate_text("a pet", [result("PET", 2, 5)], engine()).text == "a [PET]"


def test_docs_of_spacy():
    nlp = spacy.blank("en")
    doc = nlp("Seen: Ann  Roe\nand again, Ann.")
    doc.spans["phi"] = [SpacySpan(doc, 2, 5, label="PATIENT"), SpacySpan(doc, 9, 10, label="PATIENT")]
    new = surrogate_doc(doc, engine(), patient_id="p")
    assert "Ann" not in new.text and "Roe" not in new.text
    assert [span.label_ for span in new.spans["phi"]] == ["PATIENT", "PATIENT"]
    assert new.spans["phi"][0].text.split()[0] == new.spans["phi"][1].text.rstrip(".")


def test_a_doc_that_no_component_marked_is_refused():
    with pytest.raises(ValueError, match="The 'spans_key' parameter must be a key of doc.spans. Got 'phi' instead"):
        surrogate_doc(spacy.blank("en")("Ann Roe"), engine())


@given(st.text("ab \n\t", max_size=20))
def test_words_and_spaces_make_up_the_text(text):
    words, spaces = _words(text)
    assert "".join(word + " " * space for word, space in zip(words, spaces, strict=True)) == text
