"""Reading what was written gives the same documents, whatever stands in them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io import write_corpus
from sklearn_deid.text import Document, Span

from .corpora_for_io import CONTROL, PIECES, documents, there_and_back

quick = settings(max_examples=60, deadline=None)


def corpora(**options):
    return st.lists(documents(**options), min_size=1, max_size=3, unique_by=lambda document: document.doc_id.casefold())


def by_id(corpus):
    return sorted(corpus, key=lambda document: document.doc_id)


@quick
@given(
    corpora(
        pieces=PIECES + CONTROL, labels=["A", "any label", "\t\u00e9\u2028"], categories=[None, "N"], confidences=True
    )
)
def test_jsonl_gives_back_everything(corpus):
    assert there_and_back(corpus, "jsonl") == by_id(corpus)


# Labels that no scheme knows keep a missing category missing.
@pytest.mark.parametrize("name", ["i2b2", "meddocan-xml"])
def test_xml_gives_back_documents_and_categories(name):
    @quick
    @given(corpora(labels=["A-1", 'a "label" <&>\r\n\t'], categories=[None, "NAME", "My_Cat"]))
    def check(corpus):
        assert there_and_back(corpus, name) == by_id(corpus)

    check()


@quick
@given(corpora(pieces=PIECES + CONTROL, labels=["A", "b)", "(C"], confidences=True))
def test_brat_gives_back_documents(corpus):
    assert there_and_back(corpus, "brat") == by_id(corpus)


@quick
@given(corpora(pieces=PIECES + CONTROL, on_tokens=True))
def test_conll_gives_back_documents(corpus):
    assert there_and_back(corpus, "conll") == by_id(corpus)


@quick
@given(corpora(pieces=PIECES + CONTROL))
def test_text_gives_back_bare_notes(corpus):
    bare = [Document(document.doc_id, document.text) for document in corpus]
    assert there_and_back(bare, "text") == by_id(bare)


@pytest.mark.parametrize("name", ["jsonl", "i2b2", "meddocan-xml", "brat", "conll", "text"])
def test_the_empty_note_comes_back(name):
    assert there_and_back([Document("empty", "")], name) == [Document("empty", "")]


def test_a_span_over_several_lines_comes_back_from_brat_with_spaces_in_the_file(tmp_path):
    document = Document("n", "Calle\r\nMayor\t3\n", (Span(0, 14, "STREET"),))
    write_corpus([document], tmp_path, format="brat")
    assert (tmp_path / "n.ann").read_bytes() == b"T1\tSTREET 0 5;7 12;13 14\tCalle Mayor 3\n"
    assert there_and_back([document], "brat") == [document]


def test_patient_ids_follow_from_i2b2_file_names_and_are_written_where_they_do_not(tmp_path):
    same, other, unknown = Document("110-01", "a", (), "110"), Document("110-02", "a", (), "7"), Document("110-03", "a")
    assert there_and_back([same, other, unknown], "i2b2") == [same, other, unknown]
    write_corpus([same, other, unknown], tmp_path, format="i2b2")
    heads = [(tmp_path / f"110-0{n}.xml").read_text().split("\n")[1] for n in (1, 2, 3)]
    assert heads == ["<deIdi2b2>", '<deIdi2b2 patient_id="7">', '<deIdi2b2 patient_id="">']


def test_xml_files_look_like_those_of_the_corpora(tmp_path):
    write_corpus([Document("n", "Seen by Dr. Who.", (Span(12, 15, "DOCTOR"),))], tmp_path, format="i2b2")
    assert (tmp_path / "n.xml").read_text() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n<deIdi2b2>\n<TEXT><![CDATA[Seen by Dr. Who.]]></TEXT>\n<TAGS>\n'
        '<NAME id="T1" start="12" end="15" text="Who" TYPE="DOCTOR" comment=""/>\n</TAGS>\n</deIdi2b2>\n'
    )


@pytest.mark.parametrize("name", ["i2b2", "meddocan-xml"])
def test_control_characters_that_xml_has_no_form_for(name, tmp_path):
    document = Document("n", "Page 1\x0cAnn Roe", (Span(7, 10, "NAME", "NAME"),))
    with pytest.raises(CorpusFormatError, match=r"control character U\+000C.*characters 6-7") as caught:
        write_corpus([document], tmp_path, format=name)
    assert (caught.value.start, caught.value.end, caught.value.doc_id) == (6, 7, "n")
    assert not list(tmp_path.iterdir())
    assert there_and_back([document], name, lossy=True) == [Document("n", "Page 1 Ann Roe", document.spans)]


def test_a_confidence_of_minus_zero_is_zero():
    """brat took "-0.0" for a note of an annotator, and the span had no confidence."""
    document = Document("n", "Ann", (Span(0, 3, "A", None, -0.0),))
    (read,) = there_and_back([document], "brat")
    assert read == document and str(read.spans[0].confidence) == "0.0"


def test_confidence_is_dropped_where_documented():
    document = Document("n", "Ann", (Span(0, 3, "A", "NAME", 0.5),))
    assert there_and_back([document], "i2b2")[0].spans == (Span(0, 3, "A", "NAME"),)
    assert there_and_back([document], "brat")[0].spans == (Span(0, 3, "A", None, 0.5),)


@pytest.mark.parametrize(
    "extra", [{"spans": (Span(0, 1, "A"),)}, {"patient_id": "p"}, {"meta": {"a": 1}}], ids=["spans", "patient", "meta"]
)
def test_plain_text_loses_nothing_unasked(extra, tmp_path):
    document = Document("n", "Ann", **extra)
    with pytest.raises(CorpusFormatError, match="Plain text cannot hold"):
        write_corpus([document], tmp_path, format="text")
    assert there_and_back([document], "text", lossy=True) == [Document("n", "Ann")]


@pytest.mark.parametrize("meta", [{"a": (1, 2)}, {1: "a"}, {"a": float("nan")}, {"a": object()}])
@pytest.mark.parametrize("name", ["jsonl", "i2b2", "brat", "conll"])
def test_meta_that_json_would_change_is_refused(name, meta, tmp_path):
    with pytest.raises(CorpusFormatError, match="meta has values that JSON would change.*document n"):
        write_corpus(
            [Document("n", "Ann", meta=meta)], tmp_path / "x.jsonl" if name == "jsonl" else tmp_path / "x", name
        )


@pytest.mark.parametrize("name", ["jsonl", "i2b2", "brat", "conll", "text"])
def test_lone_surrogates_are_refused(name, tmp_path):
    with pytest.raises(CorpusFormatError, match=r"lone surrogate.*characters 1-2") as caught:
        write_corpus([Document("n", "a\ud800b")], tmp_path / "x", name)
    assert caught.value.__context__ is None
    with pytest.raises(CorpusFormatError, match="lone surrogate"):
        write_corpus([Document("a\ud800", "b")], tmp_path / "y", name)


@pytest.mark.parametrize("name", ["brat", "conll"])
def test_labels_with_white_space_are_refused_where_it_separates(name, tmp_path):
    with pytest.raises(CorpusFormatError, match="label with white space"):
        write_corpus([Document("n", "Ann", (Span(0, 3, "A B"),))], tmp_path / "x", name)


def test_a_label_that_brat_would_read_as_a_border_is_refused(tmp_path):
    """It was written, and the file could not be read."""
    with pytest.raises(CorpusFormatError, match="semicolon"):
        write_corpus([Document("n", "Ann", (Span(0, 3, "A;1"),))], tmp_path / "x", "brat")


@pytest.mark.parametrize("category", ["two words", "a:b", "1a", "TAG", "<"])
def test_categories_that_cannot_be_elements_are_refused(category, tmp_path):
    with pytest.raises(CorpusFormatError, match="category that can be the name of an element.*annotation T1"):
        write_corpus([Document("n", "Ann", (Span(0, 3, "A", category),))], tmp_path, "i2b2")


FORMATS = ["jsonl", "i2b2", "meddocan-xml", "brat", "conll", "doccano", "prodigy", "labelstudio"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "wrong",
    [{"meta": [("a", 1)]}, {"spans": (Span(0, 3, ""),)}],
)
def test_what_no_reader_takes_is_not_written(name, wrong, tmp_path):
    """Some formats wrote a file that nobody could read, others left the value out or ended with an error of Python."""
    with pytest.raises(CorpusFormatError, match=r"must be a mapping|has no label.*document n"):
        write_corpus([Document("n", "Ann", **wrong)], tmp_path / "x", name)
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


@pytest.mark.parametrize("name", ["jsonl", "doccano", "prodigy", "labelstudio"])
def test_numbers_of_numpy_are_numbers(name):
    """Spans take offsets of NumPy, and Label Studio and Prodigy ended with an error of Python."""
    span = Span(np.int64(0), np.int32(3), "A", None, np.float32(0.5))
    assert there_and_back([Document("n", "Ann", (span,))], name)[0].spans == (Span(0, 3, "A", None, 0.5),)
