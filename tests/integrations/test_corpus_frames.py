"""Annotated notes of data frames become a corpus, and what is wrong with a row is said without its text."""

import pytest

from sklearn_deid import Document, RuleTagger, Span
from sklearn_deid.exceptions import CorpusFormatError, DeidError
from sklearn_deid.integrations import annotate_frame, corpus_from_frame

pytest.importorskip("narwhals")
WORD = "Zyxwvutski"
TEXTS = ["Mail roe@example.org", "Fine."]
MAIL = Span(5, 20, "EMAIL", None, 0.5)


def made(kind, **data):
    module = pytest.importorskip(kind)
    return (module.table if kind == "pyarrow" else module.DataFrame)(data)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_annotations_come_back(kind):
    frame = made(kind, mrn=[7, None], key=[1, 2], note=TEXTS, plan=["On 3/5/2019.", "Roe"])
    found = annotate_frame(RuleTagger().fit([]), frame, ["note", "plan"])
    corpus = corpus_from_frame(frame, "note", spans=found, id_column="key", patient_column="mrn")
    assert list(corpus) == [Document("1", TEXTS[0], (Span(5, 20, "EMAIL"),), "7"), Document("2", TEXTS[1])]
    assert [set(tags) for tags in corpus.to_sentences().y] == [{"O", "B-EMAIL", "I-EMAIL"}, {"O"}]
    assert [note.doc_id for note in corpus_from_frame(frame, "note")] == ["row-0", "row-1"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_spans_of_rows_in_another_order_are_refused(kind):
    """The offsets fit into the other note, too, so that a word that is not PHI would be gold."""
    frame, other = (made(kind, mrn=ids, note=TEXTS[:1] * 2) for ids in ([7, 8], [8, 7]))
    found = annotate_frame(RuleTagger().fit([]), frame, "note", id_column="mrn")
    corpus = corpus_from_frame(frame, "note", spans=found, id_column="mrn")
    assert [(note.doc_id, len(note.spans)) for note in corpus] == [("7", 1), ("8", 1)]
    with pytest.raises(CorpusFormatError, match=r"not the id of its row.*row 0, id 8") as failure:
        corpus_from_frame(other, "note", spans=found, id_column="mrn")
    assert "roe@" not in str(failure.value)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_column_holds_lists_of_spans(kind):
    rows = [[{"start": 5, "end": 20, "label": "EMAIL", "confidence": 0.5, "other": "x"}], []]
    frame = made(kind, note=TEXTS, phi=rows)
    assert [note.spans for note in corpus_from_frame(frame, "note", spans="phi")] == [(MAIL,), ()]


@pytest.mark.parametrize("cell", [[(5, 20, "EMAIL", None, 0.5)], ((5, 20, "EMAIL", None, 0.5),), (MAIL,)])
def test_a_span_may_be_a_tuple(cell):
    frame = made("pandas", note=TEXTS[:1], phi=[cell])
    assert corpus_from_frame(frame, "note", spans="phi")[0].spans == (MAIL,)


def test_lists_of_a_parquet_file_are_arrays(tmp_path):
    frame = made("pandas", note=TEXTS, phi=[[{"start": 5, "end": 20, "label": "EMAIL", "confidence": 0.5}], []])
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "notes.parquet")
    again = pytest.importorskip("pandas").read_parquet(tmp_path / "notes.parquet")
    assert [note.spans for note in corpus_from_frame(again, "note", spans="phi")] == [(MAIL,), ()]


def spans_of(**span):
    return {"phi": [[{"start": 0, "end": 3, "label": "A", **span}], []]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"note": [WORD, None]}, "text is empty.*row 1, id b"),
        ({"note": [WORD, 3.5]}, "no text, but float.*row 1, id b"),
        ({"key": ["a", "a "]}, "occurs twice; it is also the id of row 0.*row 1, id a"),
        ({"key": ["a", None]}, "id is missing.*row 1"),
        ({"phi": [[], None]}, "no list of spans, but NoneType.*row 1, id b"),
        ({"phi": [[], WORD]}, "no list of spans, but str.*row 1, id b"),
        ({"phi": [[], [WORD]]}, "needs whole numbers.*row 1, id b.*number 1"),
        ({"phi": [[], [(0, 3)]]}, "needs whole numbers"),
        *((spans_of(**bad), "needs whole numbers") for bad in ({"start": 0.5}, {"end": True}, {"label": ""})),
        *((spans_of(**bad), "needs whole numbers") for bad in ({"confidence": 2}, {"category": 3})),
        (spans_of(end=99), "ends after the last.*document a, characters 0-99"),
    ],
)
def test_a_broken_row_is_named_without_its_text(data, message):
    frame = made("pandas", **{"note": [WORD, "Fine."], "key": ["a", "b"], "phi": [[], []], **data})
    with pytest.raises(DeidError, match=message) as caught:
        corpus_from_frame(frame, "note", spans="phi", id_column="key")
    assert WORD not in str(caught.value)


def test_spans_of_other_notes_are_refused():
    """Without the check, a renamed column gives notes without PHI."""
    frame = made("pandas", note=TEXTS)
    found = annotate_frame(RuleTagger().fit([]), frame, "note")
    with pytest.raises(CorpusFormatError, match="column that the notes do not have.*row 0"):
        corpus_from_frame(frame.rename(columns={"note": "text"}), "text", spans=found)
    with pytest.raises(CorpusFormatError, match="none of the 0 rows"):
        corpus_from_frame(frame.head(0), "note", spans=found)
    with pytest.raises(CorpusFormatError, match="no column of the name 'label'"):
        corpus_from_frame(frame, "note", spans=found.drop(columns="label"))
    with pytest.raises(CorpusFormatError, match="no column of the name 'phi'"):
        corpus_from_frame(frame, "note", spans="phi")
    with pytest.raises(CorpusFormatError, match="holds texts and cannot name rows"):
        corpus_from_frame(frame, "note", id_column="note")
