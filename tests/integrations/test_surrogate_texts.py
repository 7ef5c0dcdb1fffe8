"""Surrogates behind spaCy pipelines and Presidio's analyzer."""

import pickle
from types import SimpleNamespace

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Span as SpacySpan

from sklearn_deid import NoteDeidentifier, RuleTagger, save
from sklearn_deid.exceptions import DeidError, UnsafeToShareWarning
from sklearn_deid.integrations import SurrogateComponent, surrogate_doc, surrogate_text
from sklearn_deid.surrogates import SurrogateEngine, read_or_make_key

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


def pipeline(tmp_path, **config):
    read_or_make_key(tmp_path / "key")
    nlp = spacy.blank("en")
    nlp.add_pipe("sklearn_deid_surrogates", config={"key_file": str(tmp_path / "key"), **config})
    return nlp


def marked(nlp, text, patient=None):
    doc = nlp.make_doc(text)
    doc.spans["phi"] = [SpacySpan(doc, 0, 2, label="PATIENT")]
    if patient is not None:
        doc.user_data["patient_id"] = patient
    return doc


def test_the_component_writes_the_surrogates_of_the_engine(tmp_path):
    nlp = pipeline(tmp_path, settings={"locale": "en"})
    same = SurrogateEngine(key=read_or_make_key(tmp_path / "key"), locale="en")
    expected = surrogate_doc(marked(nlp, "Ann Roe left."), same, patient_id="p")
    new = nlp(marked(nlp, "Ann Roe left.", "p"))
    assert new.text == expected.text and "Roe" not in new.text
    assert [span.text for span in new.spans["phi"]] == [span.text for span in expected.spans["phi"]]
    assert nlp(marked(nlp, "Ann Roe left.", "q")).text != new.text
    assert [doc.text for doc in nlp.pipe([marked(nlp, "Ann Roe left.", "p")])] == [new.text]
    with pytest.warns(UnsafeToShareWarning):
        nlp.to_disk(tmp_path / "saved")
    assert spacy.load(tmp_path / "saved")(marked(nlp, "Ann Roe left.", "p")).text == new.text


def test_a_doc_keeps_what_its_caller_gave_with_the_text(tmp_path):
    """All contexts were None, so that nobody knew which note a text belonged to."""
    nlp = pipeline(tmp_path)
    pairs = [(marked(nlp, "Ann Roe left."), "first"), (marked(nlp, "Bob Roe left."), 2)]
    assert [context for _, context in nlp.pipe(pairs, as_tuples=True)] == ["first", 2]


@pytest.mark.parametrize("asked", [None, "hipaa-surrogate"])
def test_years_that_a_model_leaves_do_not_reveal_the_shift(asked, tmp_path):
    """Of "seen in 2019 and on 3/5/2019", one year stayed, and the other moved."""
    save(NoteDeidentifier(RuleTagger(recognizers=["date"]).fit([]), labels="hipaa"), tmp_path / "model")
    nlp = spacy.blank("en")
    nlp.add_pipe("sklearn_deid", config={"model": str(tmp_path / "model"), "labels": asked})
    nlp.add_pipe("sklearn_deid_surrogates", config={"settings": {"locale": "en"}})
    text = "Admitted January 2019, seen in 2019 and on 3/5/2019."
    if asked is None:
        nlp.set_error_handler(lambda name, component, docs, error: None)
        with pytest.raises(DeidError, match="labels='hipaa-surrogate'"):
            list(nlp.pipe([text]))
    else:
        assert "2019" not in nlp(text).text


@pytest.mark.parametrize("asked", ["hipaa", "hipaa-wide"])
def test_results_without_bare_years_are_refused(asked):
    found = [result("DATE_TIME", 0, 8, "DATE"), result("DATE_TIME", 12, 20, "DATE")]
    found[1].recognition_metadata["labels"] = asked
    with pytest.raises(DeidError, match="labels='hipaa-surrogate'"):
        surrogate_text("3/5/2019 to 4/5/2019, as in 2019", found, engine())
    found[1].recognition_metadata["labels"] = "hipaa-surrogate"
    assert "3/5" not in surrogate_text("3/5/2019 to 4/5/2019, as in 2019", found, engine()).text


def test_no_error_handler_passes_on_a_doc_that_no_component_marked(tmp_path):
    nlp = pipeline(tmp_path)
    nlp.set_error_handler(lambda name, component, docs, error: None)
    with pytest.raises(ValueError, match="'spans_key' parameter"):
        nlp("Ann Roe")
    with pytest.raises(ValueError, match="'spans_key' parameter"):
        list(nlp.pipe(["Ann Roe"]))


def test_the_key_of_the_component_is_not_saved(tmp_path):
    component = pipeline(tmp_path).get_pipe("sklearn_deid_surrogates")
    with pytest.raises(TypeError, match="secret key"):
        pickle.dumps(component)
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(DeidError, match="Other users can read"):
        SurrogateComponent(key_file=tmp_path / "key")


def test_a_pipeline_that_has_replaced_words_warns_when_it_is_saved(tmp_path):
    """The vocabulary of the pipeline was saved without a warning: it holds the words that surrogates replaced."""
    nlp = pipeline(tmp_path)
    nlp.to_disk(tmp_path / "before")
    assert isinstance(spacy.load(tmp_path / "before").get_pipe("sklearn_deid_surrogates"), SurrogateComponent)
    assert spacy.blank("en").from_bytes(nlp.to_bytes()) is not None
    doc = nlp.make_doc("Zyxwvutski")
    doc.spans["phi"] = [SpacySpan(doc, 0, 1, label="PATIENT")]
    new = nlp.get_pipe("sklearn_deid_surrogates")(doc)
    assert b"Zyxwvutski" not in new.to_bytes()
    for saved in (lambda: nlp.to_disk(tmp_path / "after"), nlp.to_bytes):
        with pytest.warns(UnsafeToShareWarning, match="has read no notes"):
            saved()


def test_a_doc_that_no_component_marked_is_refused():
    with pytest.raises(ValueError, match="The 'spans_key' parameter must be a key of doc.spans. Got 'phi' instead"):
        surrogate_doc(spacy.blank("en")("Ann Roe"), engine())


@pytest.fixture(scope="module")
def blank():
    return spacy.blank("en")


@given(text=st.text("ab \n\t\u00a0", max_size=20))
def test_a_doc_without_phi_keeps_its_text(blank, text):
    doc = blank.make_doc(text)
    doc.spans["phi"] = []
    assert surrogate_doc(doc, engine()).text == text
