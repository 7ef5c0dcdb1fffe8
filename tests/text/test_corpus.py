"""A corpus as a sequence, and the round trip from spans to sentences of tags and back."""

import os
import pickle
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, train_test_split

from sklearn_deid import Corpus, Document, Span
from sklearn_deid.exceptions import AlignmentWarning, SequenceError, SpanError
from sklearn_deid.sequences import TokenSequences, check_tags
from sklearn_deid.text.segmentation import segment_normalized

KINDS = ("inside_token", "trimmed", "split_by_sentence", "collisions", "overlapping", "swallowed", "empty")
NOTES = Corpus(
    [
        Document("n1", "Ada came.\n\nShe left.", (Span(0, 3, "PATIENT", "NAME"),), "p1", {"kind": "letter"}),
        Document("n2", "  \n ", patient_id="p2"),
        Document("n3", "Seen 3 May by Dr. Alder.", (Span(5, 10, "DATE", "DATE"), Span(18, 23, "DOCTOR", "NAME")), "p1"),
        Document("n4", ""),
        Document("n5", "Home."),
    ]
)


@pytest.mark.parametrize("patient", [7, float("nan"), 1.0])
def test_patient_ids_that_no_writer_takes_are_refused(patient):
    """A patient of NaN is equal to no other patient, and was refused only when the notes were written."""
    with pytest.raises(TypeError, match="patient id of the document 'n1' must be a str"):
        Document("n1", "Ann", patient_id=patient)


@pytest.mark.parametrize("confidence", [2.0, -0.5, float("nan"), float("inf"), "0.5"])
def test_confidences_are_probabilities(confidence):
    with pytest.raises(SpanError, match=r"confidence of a span must be a number in \[0, 1\].*0-3"):
        Span(0, 3, "A", confidence=confidence)
    with pytest.raises(TypeError, match="category of a span must be a str"):
        Span(0, 3, "A", 7)


@st.composite
def documents(draw, number=0):
    alphabet = st.one_of(
        st.sampled_from("aB1 .,-\n&;\u200b\u0301\uff11\ufb01"), st.characters(exclude_categories=["Cs"])
    )
    text = draw(st.text(alphabet, max_size=40))
    last = max(len(text) - 1, 0)
    triples = st.tuples(st.integers(0, last), st.one_of(st.integers(1, 4), st.integers(1, 40)), st.sampled_from("AB"))
    drawn = draw(st.lists(triples, max_size=5)) if text else []
    spans = {Span(a, min(a + n, len(text)), label, label.lower()) for a, n, label in drawn}
    return Document(f"n{number}", text, tuple(spans), draw(st.sampled_from(["p1", "p2", None])))


corpora = st.integers(0, 3).flatmap(lambda n: st.tuples(*[documents(number=i) for i in range(n)])).map(Corpus)


def quietly(corpus, tag_scheme):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)
        return corpus.to_sentences(tag_scheme)


@given(corpora, st.sampled_from(["iob2", "bioes"]))
def test_round_trip_equals_gold_except_what_the_report_lists(corpus, tag_scheme):
    data = quietly(corpus, tag_scheme)
    back = data.to_documents(data.y)
    assert [(d.doc_id, d.text, d.patient_id) for d in back] == [(d.doc_id, d.text, d.patient_id) for d in corpus]
    misfits = {kind: set(getattr(data.report, kind)) for kind in KINDS}
    listed = set().union(*misfits.values())
    lost = misfits["swallowed"] | misfits["empty"]
    for gold, found in zip(corpus, back, strict=True):
        exact = {s for s in gold.spans if (gold.doc_id, s.start, s.end, s.label) not in listed}
        changed = [
            s for s in gold.spans if (key := (gold.doc_id, s.start, s.end, s.label)) in listed and key not in lost
        ]
        assert exact <= set(found.spans)
        # What is not exact stems from a span that is reported as changed, and each of these left something.
        for span in set(found.spans) - exact:
            assert any(c.label == span.label and c.start < span.end and span.start < c.end for c in changed)
        for c in changed:
            assert any(c.label == s.label and c.start < s.end and s.start < c.end for s in found.spans)
    if not listed:
        assert back == corpus
    assert data.report.n_spans == corpus.n_spans


@given(corpora, st.sampled_from(["iob2", "bioes"]))
def test_x_y_groups_and_ids_describe_the_same_sentences(corpus, tag_scheme):
    data = quietly(corpus, tag_scheme)
    check_tags(data.y, data.X)
    rows, ids, patients = [], [], []
    for document in corpus:
        for row in segment_normalized(document.text).rows():
            rows.append(row)
            ids.append(document.doc_id)
            patients.append(document.patient_id or document.doc_id)
    assert data.X.tolist() == rows
    assert data.doc_ids.tolist() == ids
    assert data.groups.tolist() == patients
    assert data.y.shape == data.groups.shape == (len(rows),)


@given(corpora)
def test_a_second_round_trip_changes_nothing(corpus):
    """What came back from tags fits the tokens, except where a note was cut into sentences inside a span."""
    data = quietly(corpus, "iob2")
    once = data.to_documents(data.y)
    again = quietly(once, "iob2")
    assert again.report.n_exact == once.n_spans
    assert again.to_documents(again.y) == once


def test_the_notes_by_hand():
    data = NOTES.to_sentences()
    assert data.X.tolist() == [
        ["Ada", "came", "."],
        ["She", "left", "."],
        ["Seen", "3", "May", "by", "Dr", ".", "Alder", "."],
        ["Home", "."],
    ]
    assert data.y[2] == ["O", "B-DATE", "I-DATE", "O", "O", "O", "B-DOCTOR", "O"]
    assert data.groups.tolist() == ["p1", "p1", "p1", "n5"]
    assert data.doc_ids.tolist() == ["n1", "n1", "n3", "n5"]
    assert data.to_documents(data.y) == NOTES


def test_predicted_tags_replace_the_gold_ones():
    data = NOTES.to_sentences()
    tags = [["O"] * len(row) for row in data.X]
    tags[1] = ["I-DOCTOR", "I-NEW", "O"]
    found = data.to_documents(tags, [np.linspace(0.5, 1, len(row)) for row in tags])
    assert [d.spans for d in found] == [
        (Span(11, 14, "DOCTOR", "NAME", 0.5), Span(15, 19, "NEW", None, 0.75)),
        *[()] * 4,
    ]
    assert found[0].meta == {"kind": "letter"}


def test_a_label_keeps_its_category_where_some_spans_have_none():
    corpus = Corpus([Document("n1", "Ada, Bob", (Span(0, 3, "PATIENT", "NAME"), Span(5, 8, "PATIENT")))])
    data = corpus.to_sentences()
    assert [s.category for s in data.to_documents(data.y)[0].spans] == ["NAME", "NAME"]


@pytest.mark.parametrize(("tag_scheme", "row"), [("iob2", ["I-A", "I-A", "O"]), ("bioes", ["E-A", "I-A", "O"])])
def test_no_span_runs_on_over_a_sentence_border(tag_scheme, row):
    data = NOTES[:1].to_sentences(tag_scheme)
    (found,) = data.to_documents([["O", "O", "B-A"], row])
    assert found.spans[0] == Span(8, 9, "A")
    assert found.spans[1].start == 11


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        (
            [(0, 2)],
            r"0 of 1 spans fit the tokens exactly \(1 with a border inside a token\). SentenceData.report lists",
        ),
        ([(0, 4)], "1 with white space at a border"),
        ([(3, 4)], "1 lost because they contain no token"),
        ([(0, 3), (0, 8)], "1 lost because other spans have all tokens"),
        ([(0, 6), (4, 9)], "1 with a border inside a token, 1 overlapping a longer span"),
        ([(0, 2), (2, 8)], "1 with a border inside a token, 1 beginning inside a token of an earlier span"),
    ],
)
def test_what_tokens_cannot_express_warns_with_counts(spans, message):
    corpus = Corpus([Document("n1", "Ada came.", tuple(Span(a, b, "X") for a, b in spans))])
    with pytest.warns(AlignmentWarning, match=message) as caught:
        corpus.to_sentences()
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_sentence_border_alone_does_not_warn():
    data = Corpus([Document("n1", "Ada came.\n\nShe left.", (Span(0, 19, "X"),))]).to_sentences()
    assert data.report.split_by_sentence == (("n1", 0, 19, "X"),)
    assert [tags[0] for tags in data.y] == ["B-X", "B-X"]


@given(st.data())
def test_indexing_is_that_of_a_list(data):
    listed = list(NOTES)
    number = data.draw(st.integers(-5, 4))
    assert NOTES[number] is NOTES[np.int64(number)] is listed[number]
    cut = data.draw(st.slices(5))
    assert NOTES[cut] == Corpus(listed[cut])
    rows = data.draw(st.lists(st.integers(0, 4), unique=True))
    assert list(NOTES[rows]) == list(NOTES[np.array(rows, dtype=int)]) == [listed[i] for i in rows]
    mask = data.draw(st.lists(st.booleans(), min_size=5, max_size=5))
    assert list(NOTES[mask]) == list(NOTES[np.array(mask)]) == [d for d, kept in zip(listed, mask, strict=True) if kept]


@pytest.mark.parametrize(
    "key", [5, -6, [5], [True, False], np.ones(4, dtype=bool), 1.5, "n1", np.array(0), [[0]], ([0], [0])]
)
def test_wrong_index(key):
    with pytest.raises(IndexError, match="index|indices|one dimension"):
        NOTES[key]


def test_an_id_is_no_index():
    """The message stated a number of dimensions."""
    with pytest.raises(IndexError, match="such as an id"):
        NOTES["n1"]


def test_ids_must_be_distinct_and_the_first_repeated_one_is_named():
    with pytest.raises(SequenceError, match=r"must be distinct. 2 are repeated.* \[document n1\]"):
        NOTES[:3] + NOTES[[2, 0]]
    with pytest.raises(ValueError, match="document n2"):  # also the built-in error
        NOTES[[1, 1]]


def test_only_documents_and_only_corpora():
    with pytest.raises(TypeError, match="A Corpus holds Document objects. Got str instead"):
        Corpus(["Ada came."])
    with pytest.raises(TypeError, match="unsupported operand"):
        NOTES + list(NOTES)


def test_counts_patients_and_joining():
    assert (len(NOTES), NOTES.n_spans) == (5, 3)
    assert NOTES.groups.tolist() == ["p1", "p2", "p1", "n4", "n5"]
    assert NOTES.patients == ("p1", "p2", "n4", "n5")
    assert NOTES.label_counts == {"PATIENT": 1, "DATE": 1, "DOCTOR": 1}
    assert NOTES[:2] + NOTES[2:] == NOTES
    assert NOTES != NOTES[:2]
    assert NOTES != list(NOTES)
    assert repr(NOTES) == "Corpus(5 documents, 4 patients, 3 spans)"
    assert (len(Corpus()), Corpus().groups.shape, len(Corpus().to_sentences().X)) == (0, (0,), 0)


def test_blanks_around_an_id_make_no_other_patient():
    """Databases pad ids: such a patient was in the training and held out, and had the epsilon of a patient twice."""
    patients = ("p1", "p1 ", "\tp1", "", "NULL", None)
    corpus = Corpus(Document(f"n{n}", "", patient_id=patient) for n, patient in enumerate(patients))
    assert corpus.groups.tolist() == ["p1", "p1", "p1", "n3", "n4", "n5"]
    assert [document.patient_id for document in corpus] == list(patients), "the documents are as they were read"


def test_a_note_without_a_patient_is_no_note_of_the_patient_with_its_id():
    patients = {"1": "2", "2": None, "3": None, "2 (note)": None, "4": "2"}
    corpus = Corpus(Document(doc_id, "", patient_id=patient) for doc_id, patient in patients.items())
    assert corpus.groups.tolist() == ["2", "2 (note) (note)", "3", "2 (note)", "2"]
    assert len(corpus.patients) == 4


def test_splitters_of_scikit_learn():
    for train, test in GroupKFold(2).split(NOTES, groups=NOTES.groups):
        assert not set(NOTES[train].patients) & set(NOTES[test].patients)
        assert len(NOTES[train]) + len(NOTES[test]) == 5
    train, test = train_test_split(NOTES, test_size=2, random_state=0)
    # Corpora and not lists, so that the patients of both parts are known.
    assert set((train + test).groups) == set(NOTES.groups) and (len(train), len(test)) == (3, 2)


def test_copies_through_pickle_and_joblib_are_equal(tmp_path):
    data = NOTES.to_sentences()
    for copy in (pickle.loads(pickle.dumps(data)), joblib.load(joblib.dump(data, tmp_path / "data")[0])):
        assert copy.corpus == NOTES
        assert copy.X == data.X
        assert copy.to_documents(copy.y) == NOTES
    assert joblib.hash(NOTES) == joblib.hash(pickle.loads(pickle.dumps(NOTES))) != joblib.hash(NOTES[:2])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda rows: rows[:-1], r"must have one row for each of 4 sentences. Got 3"),
        (lambda rows: [*rows, ["O"]], r"must have one row for each of 4 sentences. Got 5"),
        # As many items as before, in other rows
        (
            lambda rows: [rows[0][:2], rows[1] + rows[0][2:], *rows[2:]],
            r"Row 0 .* 2 items .* 3 tokens. \[document n1\]",
        ),
        (lambda rows: [*rows[:3], rows[3] * 2], r"Row 3 of .* 4 items for a sentence of 2 tokens. \[document n5\]"),
    ],
)
def test_rows_that_do_not_fit_raise(spoil, message):
    data = NOTES.to_sentences()
    with pytest.raises(SequenceError, match=f"'tags' .*{message}|Row .* of 'tags'") as caught:
        data.to_documents(spoil(list(data.y)))
    caught.match(message)
    sure = [[0.5] * len(row) for row in data.y]
    with pytest.raises(SequenceError, match=message):
        data.to_documents(data.y, spoil(sure))


def test_x_is_made_once():
    data = NOTES.to_sentences()
    assert data.X is data.X
    assert isinstance(data.X, TokenSequences)


@pytest.mark.data
def test_every_span_of_meddocan_fits_or_is_reported():
    home = os.environ.get("SKLEARN_DEID_DATA")
    if not home or not Path(home, "meddocan").is_dir():
        pytest.skip("SKLEARN_DEID_DATA does not name a folder that holds meddocan/")
    from sklearn_deid import fetch_meddocan

    gold = fetch_meddocan("dev", data_home=home, download_if_missing=False)
    data = quietly(gold, "iob2")
    assert data.report.n_exact >= 0.999 * gold.n_spans
    listed = {misfit for kind in KINDS for misfit in getattr(data.report, kind)}
    for document, back in zip(gold, data.to_documents(data.y), strict=True):
        exact = {s for s in document.spans if (document.doc_id, s.start, s.end, s.label) not in listed}
        assert exact <= set(back.spans)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Span(0, 1.0, "CITY"), "whole numbers .int.. Got int and float"),
        (lambda: Span(0, 1, None), "label of a span must be a str. Got NoneType"),
        (lambda: Document("n1", b"Ely"), "text of a Document must be a str. Got bytes"),
        (lambda: Document("n1", "Ely", ((0, 3, "CITY"),)), "must be Span objects. Got tuple"),
        (lambda: Corpus(Document("n1", "Ely")), "put it in a list"),
        (lambda: Corpus("my-notes/"), "Got str instead. Annotated files are read by read_corpus"),
    ],
)
def test_wrong_kinds_are_refused_where_they_are_given(make, message):
    # A label None became the tag "B-None". The others failed later, or with a message of Python.
    with pytest.raises(TypeError, match=message):
        make()
