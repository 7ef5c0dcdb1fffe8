"""Hugging Face data sets: what went in comes back, and rows that got lost are noticed."""

import random
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_deid import make_clinical_notes
from sklearn_deid.exceptions import CorpusFormatError, MissingDependencyError, SpanError
from sklearn_deid.integrations import corpus_from_dataset, corpus_to_dataset
from sklearn_deid.text import Corpus, Document, Span, segment

datasets = pytest.importorskip("datasets", reason="the extra 'datasets' is not installed")

SECRET = "Quillfeather"
PIECES = ["\r\n", "\n", "\t", " ", "  ", "\u2028", "&lt;", "&amp;", "Ann", "Roe", "25yo", "O'Neil", ",", ".", "\x00"]
PIECES += ["e\u0301", "\u5f20\u4e09", "\U0001f469", "\ufeff"]
META = st.dictionaries(st.text("ab", max_size=2), st.none() | st.integers(-3, 3) | st.text("a\u00e9", max_size=2))


@st.composite
def corpora(draw, on_tokens):
    documents = []
    for number in range(draw(st.integers(0, 3))):
        text = "".join(draw(st.lists(st.sampled_from(PIECES), max_size=12)))
        tokens = segment(text).tokens
        if on_tokens:
            numbers = st.lists(st.integers(0, max(0, len(tokens.starts) - 1)), unique=True, max_size=6)
            cuts = sorted(draw(numbers)) if tokens.starts else []
            pairs = [(tokens.starts[a], tokens.ends[b]) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
            spans = [Span(a, b, draw(st.sampled_from("AB"))) for a, b in pairs]
        else:
            offsets = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))
            pairs = [(min(pair), max(pair)) for pair in draw(st.lists(offsets, max_size=3)) if pair[0] != pair[1]]
            notes = st.tuples(st.sampled_from("AB"), st.sampled_from([None, "N"]), st.none() | st.floats(0, 1))
            spans = [Span(a, b, *draw(notes)) for a, b in pairs]
        patient = draw(st.none() | st.sampled_from(["p1", "\u00e9"]))
        documents.append(Document(f"n{number}", text, tuple(spans), patient, draw(META)))
    return Corpus(documents)


@settings(max_examples=40, deadline=None)
@given(corpora(on_tokens=False))
def test_notes_come_back(corpus):
    assert corpus_from_dataset(corpus_to_dataset(corpus)) == corpus


@settings(max_examples=40, deadline=None)
@given(corpora(on_tokens=True), st.sampled_from(["iob2", "bioes"]), st.integers(0, 9))
def test_sentences_come_back_in_any_order(corpus, tag_scheme, seed):
    dataset = corpus_to_dataset(corpus, "tokens", tag_scheme=tag_scheme)
    order = list(range(len(dataset)))
    random.Random(seed).shuffle(order)
    read = corpus_from_dataset(dataset.select(order))
    assert sorted(read, key=lambda d: d.doc_id) == list(corpus)


def test_a_folder_on_disk_holds_it(tmp_path):
    corpus = make_clinical_notes(3, random_state=0)
    corpus_to_dataset(corpus).save_to_disk(tmp_path / "notes")
    assert corpus_from_dataset(datasets.load_from_disk(tmp_path / "notes")) == corpus


def test_rows_are_the_sentences_of_the_corpus():
    corpus = make_clinical_notes(3, random_state=0)
    dataset, data = corpus_to_dataset(corpus, "tokens"), corpus.to_sentences()
    names = dataset.features["ner_tags"].feature
    assert names.names[0] == "O"
    tokens = [token for row in dataset for token in row["tokens"]]
    assert tokens == data.X.data.tolist()
    tags = [tag for row in dataset for tag in names.int2str(row["ner_tags"])]
    assert [tag for row in data.y for tag in row] == tags
    for row in dataset:
        assert [row["text"][a:b] for a, b in zip(row["starts"], row["ends"], strict=True)] == row["tokens"]


def test_no_sentence_ends_inside_a_span():
    note = Document("n", "Seen by Ann.\n\nRoe came. He left.", (Span(8, 17, "A"),))
    dataset = corpus_to_dataset([note], "tokens")
    assert list(corpus_from_dataset(dataset)) == [note]


def test_what_tags_cannot_express_is_refused_or_widened():
    note = Document("n", f"by {SECRET}", (Span(3, 8, "A"),))
    with pytest.raises(CorpusFormatError, match=r"Token tags cannot express.*document n.*number 1, characters 3-8"):
        corpus_to_dataset([note], "tokens")
    assert corpus_from_dataset(corpus_to_dataset([note], "tokens", lossy=True))[0].spans == (Span(3, 15, "A"),)


def lost(dataset):
    return {
        "first": dataset.select(range(1, len(dataset))),
        "middle": dataset.select([i for i in range(len(dataset)) if i != 1]),
        "last": dataset.select(range(len(dataset) - 1)),
        "twice": datasets.concatenate_datasets([dataset, dataset.select([1])]),
    }


@pytest.mark.parametrize("case", ["first", "middle", "last", "twice"])
def test_rows_that_got_lost_are_noticed(case):
    text = f"{SECRET} came. He left. She stayed."
    dataset = lost(corpus_to_dataset([Document("n1", text)], "tokens"))[case]
    with pytest.raises(CorpusFormatError, match="missing.*document n1") as caught:
        corpus_from_dataset(dataset)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("layout", ["spans", "tokens"])
def test_a_note_of_which_all_rows_are_missing_is_not_noticed(layout):
    """The page and the docstring say this; parts of a data set, such as those of ``train_test_split``, need it."""
    dataset = corpus_to_dataset([Document("n1", "She came. He left."), Document("n2", "She stayed.")], layout)
    part = dataset.filter(lambda row: row["doc_id"] == "n1")
    assert [note.doc_id for note in corpus_from_dataset(part)] == ["n1"]


# Data sets of others.


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("column", ["ner_tags", "tags"])
def test_tokens_and_tags_are_enough(column, labels):
    rows = {"tokens": [["by", "Ann", "Roe"], ["fine"], []], column: [["O", "B-A", "I-A"], ["S-B"], []]}
    features = None
    if labels:
        names = ["O", "B-A", "I-A", "S-B"]
        rows[column] = [[names.index(tag) for tag in row] for row in rows[column]]
        kind = datasets.ClassLabel(names=names)
        features = datasets.Features({"tokens": [datasets.Value("string")], column: [kind]})
    corpus = corpus_from_dataset(datasets.Dataset.from_dict(rows, features=features))
    assert list(corpus) == [
        Document("row-0", "by Ann Roe", (Span(3, 10, "A"),)),
        Document("row-1", "fine", (Span(0, 4, "B"),)),
        Document("row-2", ""),
    ]


def test_rows_of_a_document_are_its_lines():
    rows = {
        "doc_id": ["n", "m", "n"],
        "tokens": [["by", "Ann"], ["x"], ["Roe"]],
        "tags": [["O", "B-A"], ["O"], ["B-A"]],
    }
    corpus = corpus_from_dataset(datasets.Dataset.from_dict(rows))
    assert corpus[0] == Document("n", "by Ann\nRoe", (Span(3, 6, "A"), Span(7, 10, "A")))


def spans_with(**change):
    span = {"start": 3, "end": 15, "label": "A", **change}
    return {"text": [f"by {SECRET}"], "spans": [[span]], "doc_id": ["n1"]}


def test_rows_of_several_patients_are_no_document():
    """Numbers that begin anew with each patient joined the notes of two patients into one note of the first."""
    columns = {"doc_id": ["1", "1"], "tokens": [["Ann"], ["Ben"]], "ner_tags": [["B-PATIENT"], ["B-PATIENT"]]}
    with pytest.raises(CorpusFormatError, match="Rows of 2 patients have the id of this document") as caught:
        corpus_from_dataset(datasets.Dataset.from_dict({**columns, "patient_id": ["p1", "p2"]}))
    assert caught.value.doc_id == "1"
    for known in (["p1", None], [None, "p1"], ["p1", "p1 "]):
        (note,) = corpus_from_dataset(datasets.Dataset.from_dict({**columns, "patient_id": known}))
        assert (note.patient_id, note.text) == ("p1", "Ann\nBen")


@pytest.mark.parametrize("layout", [{"spans": [[]] * 4}, {"tokens": [["Ann"]] * 4, "tags": [["O"]] * 4}])
@pytest.mark.parametrize("patients", [[17, 17, None, 3], [17.0, 17.0, float("nan"), 3.0], ["17", "17 ", "", "3"]])
def test_patient_ids_are_strings_and_rows_without_one_have_none(layout, patients):
    rows = {"text": ["Ann"] * 4, "patient_id": patients, **layout}
    corpus = corpus_from_dataset(datasets.Dataset.from_dict(rows))
    assert [note.patient_id for note in corpus] == ["17", "17", None, "3"]


BROKEN = {
    "other columns": ({"text": [SECRET], "entities": [[]]}, "needs the columns"),
    "no tags": ({"tokens": [[SECRET]]}, "needs the columns"),
    "too few tags": ({"tokens": [[SECRET]], "tags": [["O", "O"]]}, "a tag for each token"),
    "no label": (spans_with(label=""), "a 'label'"),
    "float": (spans_with(start=1.5), "whole numbers"),
    "infinite confidence": (spans_with(confidence=float("inf")), "a confidence of at most 1"),
    "number as category": (spans_with(category=3), "A span needs"),
    "meta twice": ({**spans_with(), "meta": ['{"ward": 1, "ward": 2}']}, "must be a JSON object"),
    "outside": (spans_with(end=99), "ends after the last"),
    "reversed": (spans_with(end=1), "0 <= start < end"),
    "meta": ({**spans_with(), "meta": [f"{{{SECRET}"]}, "must be a JSON object"),
    "no text": ({"text": [None], "spans": [[]], "note": [SECRET]}, "A row needs a text"),
    "number as id": ({"doc_id": [7], "text": [SECRET], "spans": [[]]}, "ids that are strings"),
    "no tags in a row": ({"tokens": [[SECRET], ["a"]], "ner_tags": [None, ["O"]]}, "lists of tokens and tags"),
    "no tokens in a row": ({"tokens": [None, ["a"]], "ner_tags": [["O"], ["O"]]}, "lists of tokens and tags"),
    "text for tags": ({"tokens": [[SECRET]], "tags": [SECRET]}, "lists of tokens and tags"),
    "no tag": ({"tokens": [[SECRET, "a"]], "tags": [["O", None]]}, "tag"),
    "no token": ({"tokens": [[SECRET, None]], "tags": [["O", "O"]]}, "lists of tokens and tags"),
    "number for a tag": ({"tokens": [[SECRET]], "tags": [[3]]}, "lists of tokens and tags"),
    "no span": ({"text": [SECRET, "b"], "spans": [[None], [spans_with()["spans"][0][0]]]}, "whole numbers"),
    "empty token": ({"tokens": [[""]], "tags": [["O"]]}, "offsets of a token"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_data_set_is_refused_without_text(case):
    rows, message = BROKEN[case]
    with pytest.raises((CorpusFormatError, SpanError), match=message) as caught:
        corpus_from_dataset(datasets.Dataset.from_dict(rows))
    error = caught.value
    while error is not None:
        assert SECRET not in f"{error!r} {vars(error)}"
        error = error.__cause__ or error.__context__


def test_a_data_set_with_a_transform_is_refused():
    """The stored texts were read: the raw notes of a data set that returns their redaction."""
    dataset = corpus_to_dataset([Document("n1", SECRET)])
    redacted = dataset.with_transform(lambda rows: {**rows, "text": ["[NAME]"] * len(rows["text"])})
    assert redacted[0]["text"] == "[NAME]"
    with pytest.raises(CorpusFormatError, match="has a transform"):
        corpus_from_dataset(redacted)
    assert corpus_from_dataset(dataset.with_format("numpy"))[0].text == SECRET


@pytest.mark.parametrize("document", [Document("n", "a\ud800"), Document("n", "a", meta={"a": (1,)})])
def test_what_rows_cannot_hold_is_refused(document):
    with pytest.raises(CorpusFormatError, match="lone surrogate|JSON would change"):
        corpus_to_dataset([document])


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingDependencyError, match=r"sklearn-deid\[datasets\]"):
        corpus_to_dataset([])


def test_other_layouts_and_several_splits_are_refused():
    with pytest.raises(ValueError, match="'layout' parameter of corpus_to_dataset must be one of"):
        corpus_to_dataset([], "sentences")
    with pytest.raises(TypeError, match="Pass a single split"):
        corpus_from_dataset(datasets.DatasetDict({"train": corpus_to_dataset([])}))
