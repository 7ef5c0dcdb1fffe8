"""The component in spaCy's hands: found without an import, nothing lost on the way, nothing passed on unseen."""

import pickle
import subprocess
import sys

import pytest
import spacy
import srsly
from spacy.tokens import DocBin

from sklearn_deid import NoteDeidentifier, RuleTagger, read_corpus
from sklearn_deid.exceptions import BundleError, DeidError, SpanError, UnsafeToShareWarning
from sklearn_deid.integrations import DeidComponent
from sklearn_deid.integrations.spacy_words import has_read_words
from sklearn_deid.text import Span, make_spacy_tokenizer

from .conftest import TRAP

NOTE = "Write to a.roe@example.org or call 555-014-2333, seen 3/5/2019."
FOUND = [(9, 26, "EMAIL"), (35, 47, "PHONE"), (54, 62, "DATE")]


def pipeline(model, language="en", **config):
    nlp = spacy.blank(language)
    config = {"model": str(model), **config} if not hasattr(model, "annotate") else config
    component = nlp.add_pipe("sklearn_deid", config=config)
    if hasattr(model, "annotate"):
        component.model = model
    return nlp


def found(doc, key="phi"):
    return [(span.start_char, span.end_char, span.label_) for span in doc.spans[key]]


def test_spacy_finds_both_components_by_itself_and_loads_no_model_for_them(rules_path, tmp_path):
    code = (
        "import spacy, sys; nlp = spacy.blank('en'); print(*{'faker', 'sklearn'} & set(sys.modules));"
        "nlp.add_pipe('sklearn_deid', config={'model': sys.argv[1]});"
        "late = {'sklearn', 'skorch', 'sklearn_deid.tagging', 'sklearn_deid.tagging'};"
        "print(*sorted(late & set(sys.modules)));"
        "print(len(nlp('a.roe@example.org').spans['phi'])); nlp.add_pipe('sklearn_deid_surrogates')"
    )
    # not from the root of the repository, where an old list of entry points may lie
    command = [sys.executable, "-c", code, str(rules_path)]
    out = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert out.stdout.split("\n")[:3] == ["", "", "1"]


@pytest.mark.parametrize("language", ["en", "es"])
def test_it_marks_what_the_deidentifier_finds(language, rules_path):
    doc = pipeline(rules_path, language)(NOTE)
    assert found(doc) == FOUND
    assert doc.ents == ()
    assert doc.text == NOTE
    assert doc.spans["phi"].attrs == {"scores": [None] * 3, "categories": [None] * 3}


def test_a_span_inside_a_token_covers_the_whole_token(capitals):
    nlp = pipeline(capitals)
    nlp.tokenizer = spacy.tokenizer.Tokenizer(nlp.vocab)  # cuts at white space only
    text = "seen by(Ann)and/Bob, today"
    doc = nlp(text)
    exact = capitals.annotate([text])[0]
    assert [text[span.start : span.end] for span in exact] == ["Ann", "Bob"]
    assert [span.text for span in doc.spans["phi"]] == ["by(Ann)and/Bob,"] * 2
    assert [span._.phi_confidence for span in doc.spans["phi"]] == [3 / 8] * 2


def test_with_the_tokens_of_the_library_spans_are_exact(capitals):
    nlp = pipeline(capitals)
    nlp.tokenizer = make_spacy_tokenizer(nlp.vocab)
    text = "seen by(Ann)and/Bob, today"
    expected = [(span.start, span.end, span.label) for span in capitals.annotate([text])[0]]
    assert found(nlp(text)) == expected


def test_confidence_and_category_of_each_span(small_path):
    doc = pipeline(small_path)("Dr Birch left Northwick .")
    spans = NoteDeidentifier(DeidComponent(model=small_path).deidentifier.fitted_estimator()).annotate([doc.text])[0]
    assert spans
    assert [span._.phi_confidence for span in doc.spans["phi"]] == [span.confidence for span in spans]
    assert doc[:1]._.phi_confidence is None
    assert doc[:1]._.phi_category is None


def test_a_category_is_kept(capitals):
    known = NoteDeidentifier(capitals.estimator)
    known.estimator_, known.categories_ = capitals.estimator, {"NAME": "PERSON"}
    doc = pipeline(known)("by Ann")
    assert [span._.phi_category for span in doc.spans["phi"]] == ["PERSON"]


def test_entities_on_request_leave_those_of_others_that_do_not_overlap(capitals):
    nlp = pipeline(capitals, set_ents=True, spans_key="sensible")
    ruler = nlp.add_pipe("entity_ruler", first=True)
    ruler.add_patterns([{"label": "DRUG", "pattern": "aspirin"}, {"label": "ORG", "pattern": "by Ann"}])
    doc = nlp("aspirin given by Ann Bob")
    assert [(e.text, e.label_) for e in doc.ents] == [("aspirin", "DRUG"), ("Ann", "NAME"), ("Bob", "NAME")]
    assert found(doc, "sensible") == [(17, 20, "NAME"), (21, 24, "NAME")]
    assert "phi" not in doc.spans
    assert doc.ents[1]._.phi_confidence == 3 / 8


def test_entities_that_share_a_token_are_joined(capitals):
    nlp = pipeline(capitals, set_ents=True)
    nlp.tokenizer = spacy.tokenizer.Tokenizer(nlp.vocab)
    doc = nlp("seen by(Ann)and/Bob, today")
    assert [e.text for e in doc.ents] == ["by(Ann)and/Bob,"]
    assert len(doc.spans["phi"]) == 2


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_batches_give_what_single_docs_give(batch_size, rules_path):
    nlp = pipeline(rules_path, set_ents=True)
    texts = [NOTE, "", " \n ", "no phi at all", NOTE * 2]
    docs = list(nlp.pipe(texts, batch_size=batch_size))
    assert [doc.text for doc in docs] == texts
    assert [found(doc) for doc in docs] == [found(nlp(text)) for text in texts]
    assert [doc for doc in nlp.pipe([])] == []


def test_a_doc_that_fails_raises_without_its_text(capitals):
    nlp = pipeline(capitals)
    with pytest.raises(DeidError, match="cannot be processed") as caught:
        nlp(f"by {TRAP}")
    assert TRAP not in f"{caught.value!r} {caught.value.__cause__!r}"
    passed = []
    with pytest.raises(DeidError, match="document number 2"):
        passed.extend(nlp.pipe(["by Ann", "by Bob", f"by {TRAP}", "by Cat"]))


@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_with_an_error_handler_the_doc_is_left_out_and_the_others_are_marked(batch_size, capitals):
    nlp, failed = pipeline(capitals), []
    nlp.set_error_handler(lambda name, component, docs, error: failed.append((name, len(docs), str(error))))
    docs = list(nlp.pipe(["by Ann", f"by {TRAP}", "by Bob", "by Cat"], batch_size=batch_size))
    assert [doc.text for doc in docs] == ["by Ann", "by Bob", "by Cat"]
    assert all(len(doc.spans["phi"]) == 1 for doc in docs)
    assert [(name, n) for name, n, _ in failed] == [("sklearn_deid", 1)]
    assert "number 1" in failed[0][2]
    assert TRAP not in failed[0][2]


def test_a_handler_does_not_let_a_single_text_pass_unmarked(capitals):
    """spaCy returned the doc of nlp(text) without its spans, as if it held no PHI."""
    nlp, failed = pipeline(capitals, set_ents=True), []
    nlp.set_error_handler(lambda name, component, docs, error: failed.append(name))
    with pytest.raises(DeidError, match="cannot be processed") as caught:
        nlp(f"by {TRAP}")
    assert failed == ["sklearn_deid"] and TRAP not in f"{caught.value!r}"


def test_a_deidentifier_that_withholds_does_not_pass_docs_on(capitals):
    withholding = NoteDeidentifier(capitals.estimator, on_error="withhold")
    with pytest.raises(DeidError, match="cannot be processed"):
        pipeline(withholding)(f"by {TRAP}")
    assert withholding.on_error == "withhold"


def test_a_span_that_no_token_holds_raises(capitals, monkeypatch):
    nlp = pipeline(capitals)
    deidentifier = nlp.get_pipe("sklearn_deid").deidentifier
    monkeypatch.setattr(type(deidentifier), "annotate", lambda self, notes: [(Span(4, 5, "NAME"),) for _ in notes])
    with pytest.raises(SpanError, match="characters 4-5"):
        nlp("seen by Ann")


@pytest.mark.parametrize("model", [None, "no/such/model"])
def test_without_a_model_docs_are_refused(model):
    nlp = spacy.blank("en")
    nlp.add_pipe("sklearn_deid", config={"model": model})  # a saved pipeline is built before it is filled
    with pytest.raises(DeidError, match="has no model|manifest|bundle|read"):
        nlp("by Ann")
    with pytest.raises(DeidError, match="has no model|manifest|bundle|read"):
        list(nlp.pipe(["by Ann"]))


def test_what_is_no_tagger_is_refused():
    component = DeidComponent(model=7)
    with pytest.raises(TypeError, match="must be a tagger, a NoteDeidentifier or the path"):
        component(spacy.blank("en")("by Ann"))


# Saving.


def test_a_saved_pipeline_needs_nothing_else(small_path, tmp_path):
    nlp = pipeline(small_path, "es", set_ents=True, spans_key="sensible")
    texts = ["Dr Birch left Northwick .", "Mr Alder was seen"]
    nlp.to_disk(tmp_path / "pipeline")
    config = spacy.Config().from_disk(tmp_path / "pipeline" / "config.cfg")
    config["components"]["sklearn_deid"]["model"] = "gone"  # as on another machine
    config.to_disk(tmp_path / "pipeline" / "config.cfg")
    loaded = spacy.load(tmp_path / "pipeline")
    for ours, theirs in zip(nlp.pipe(texts), loaded.pipe(texts), strict=True):
        assert found(ours, "sensible") == found(theirs, "sensible")
        assert ours.spans["sensible"].attrs == theirs.spans["sensible"].attrs
        assert [e.text for e in ours.ents] == [e.text for e in theirs.ents]
    assert loaded.get_pipe("sklearn_deid").labels == ("CITY", "DOCTOR", "PATIENT")


def test_a_saved_pipeline_that_is_damaged_is_refused(rules_path, tmp_path):
    pipeline(rules_path).to_disk(tmp_path / "pipeline")
    (tmp_path / "pipeline" / "sklearn_deid" / "manifest.json").write_text("{}")
    with pytest.raises(BundleError, match=r"\w"):
        spacy.load(tmp_path / "pipeline")


def test_bytes_there_and_back(rules_path):
    nlp = pipeline(rules_path)
    other = spacy.blank("en")
    other.add_pipe("sklearn_deid")
    other.from_bytes(nlp.to_bytes())
    assert found(other(NOTE)) == FOUND
    with pytest.raises(BundleError, match="no saved model"):
        DeidComponent().from_bytes(b"\x81\xa5../ab\xc4\x01x")


@pytest.mark.parametrize("name", ["..", ".", "", "/etc", "a/b", "a\0", "\n", 3, "a" * 300])
@pytest.mark.parametrize("content", [b"x", "x", 3, None])
def test_bytes_that_are_no_files_are_refused(name, content):
    """Some names gave an error of the system, and other contents than bytes a TypeError."""
    for files in ({name: content}, {"manifest.json": content, "arrays.safetensors": None}):
        with pytest.raises(BundleError, match="no saved model"):
            DeidComponent().from_bytes(srsly.msgpack_dumps(files))


def test_a_pipeline_that_has_read_notes_warns_when_it_is_saved(rules_path, tmp_path):
    nlp = pipeline(rules_path)
    nlp(f"{TRAP} came")
    with pytest.warns(UnsafeToShareWarning, match="saves their words"):
        nlp.to_disk(tmp_path / "read")
    assert TRAP in (tmp_path / "read" / "vocab" / "strings.json").read_text()
    pipeline(rules_path).to_disk(tmp_path / "fresh")
    assert TRAP not in (tmp_path / "fresh" / "vocab" / "strings.json").read_text()


def test_words_that_were_read_before_the_components_were_added_are_warned_about(rules_path):
    nlp = spacy.blank("pl")
    nlp.tokenizer.add_special_case("abdtender", [{"ORTH": "abd"}, {"ORTH": "tender"}])  # not a word of a note
    assert not has_read_words(nlp)
    nlp(f"{TRAP} came")
    nlp.add_pipe("sklearn_deid", config={"model": str(rules_path)})
    nlp.add_pipe("sklearn_deid_surrogates")
    assert TRAP in nlp.vocab.strings
    for _, component in nlp.pipeline:
        with pytest.warns(UnsafeToShareWarning, match="saves their words"):
            component.to_bytes()


def test_words_that_other_processes_read_are_warned_about_too(rules_path, tmp_path):
    """The components that had read the notes were copies in other processes, and the words were saved silently."""
    nlp = pipeline(rules_path)
    component = nlp.get_pipe("sklearn_deid")
    nlp.make_doc(f"{TRAP} came")  # words come into the vocabulary, as spaCy unpacks the docs of other processes
    with pytest.warns(UnsafeToShareWarning, match="saves their words"):
        nlp.to_disk(tmp_path / "read")
    copied = pickle.dumps(component)
    assert TRAP.encode() not in copied
    with pytest.warns(UnsafeToShareWarning):
        pickle.loads(copied).to_disk(tmp_path / "copy")


def test_a_doc_bin_of_the_pipeline_is_a_corpus(capitals, tmp_path):
    nlp = pipeline(capitals, set_ents=True)
    texts = ["seen by Ann Roe", "", "fine"]
    DocBin(docs=nlp.pipe(texts)).to_disk(tmp_path / "notes.spacy")
    corpus = read_corpus(tmp_path / "notes.spacy")
    assert [document.text for document in corpus] == texts
    assert [document.spans for document in corpus] == [tuple(spans) for spans in capitals.annotate(texts)]


def test_spans_that_spacy_has_kept_still_know_their_confidence(capitals, tmp_path):
    doc = pipeline(capitals)("seen by Ann Roe")
    (kept,) = DocBin(docs=[doc]).get_docs(spacy.blank("en").vocab)
    assert [span._.phi_confidence for span in kept.spans["phi"]] == [3 / 8, 3 / 8]


def test_a_tagger_alone_will_do():
    component = DeidComponent(model=RuleTagger().fit([]))
    assert found(component(spacy.blank("en")(NOTE))) == FOUND
