"""CoNLL columns: the lossless form, what it cannot hold, and files of others."""

import pytest

from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io import read_corpus, write_corpus
from sklearn_deid.text import Document, Span

from .corpora_for_io import put, there_and_back


def test_the_file_holds_offsets_tags_and_text(tmp_path):
    document = Document("n 1", "Mr.  Roe\r\n\r\n&lt;left.", (Span(5, 8, "PATIENT", "NAME", 0.9),), "p1", {"ward": 3})
    write_corpus([document, Document("n 2", "")], tmp_path / "x.conll")
    assert (tmp_path / "x.conll").read_bytes().decode().split("\n") == [
        "-DOCSTART- n 1",
        '# text = "Mr.  Roe\\r\\n\\r\\n&lt;left."',
        '# patient_id = "p1"',
        '# meta = {"ward": 3}',
        "",
        "Mr\t0\t2\tO",
        ".\t2\t3\tO",
        "Roe\t5\t8\tB-PATIENT",
        "",
        "&lt;\t12\t16\tO",
        "left\t16\t20\tO",
        ".\t20\t21\tO",
        "",
        "-DOCSTART- n 2",
        '# text = ""',
        "",
        "",
        "",
    ]


def test_no_sentence_ends_inside_a_span():
    document = Document("n", "Ann\n\nRoe\n\nleft.", (Span(0, 8, "PATIENT"),))
    assert there_and_back([document], "conll") == [document]


def test_neighbouring_spans_stay_apart():
    document = Document("n", "Ann Roe", (Span(0, 3, "A"), Span(4, 7, "A")))
    assert there_and_back([document], "conll") == [document]


@pytest.mark.parametrize(
    ("spans", "where"),
    [
        ((Span(1, 3, "A"),), ("number 1", 1, 3)),
        ((Span(0, 3, "A"), Span(3, 4, "B")), ("number 2", 3, 4)),
        ((Span(0, 7, "A"), Span(4, 7, "B")), ("number 2", 4, 7)),
        ((Span(0, 3, "A"), Span(0, 3, "A")), ("number 2", 0, 3)),
    ],
    ids=["inside a token", "white space", "overlap", "twice"],
)
def test_spans_that_tags_cannot_express_are_refused(spans, where, tmp_path):
    document = Document("n", "Ann Roe", spans)
    with pytest.raises(CorpusFormatError, match="Token tags cannot express this span") as caught:
        write_corpus([document], tmp_path / "x.conll")
    assert (caught.value.annotation_id, caught.value.start, caught.value.end) == where
    assert not list(tmp_path.iterdir())
    (back,) = there_and_back([document], "conll", lossy=True)
    assert back.text == document.text
    assert {(span.start, span.end) for span in back.spans} <= {(0, 3), (0, 7), (4, 7)}
    assert back.spans


def test_foreign_files_get_single_spaces_and_a_line_a_sentence(tmp_path):
    content = (
        "-DOCSTART- -X- -X- O\n\nDr. NNP B-NP O\nWho NNP I-NP I-PER\nleft VBD B-VP O\n\nParis NNP B-NP B-LOC\n# . . O\n"
    )
    put(tmp_path, {"c.conll": content})
    assert read_corpus(tmp_path)[0] == Document(
        "c-1", "Dr. Who left\nParis #", (Span(4, 7, "PER"), Span(13, 18, "LOC"))
    )


def test_foreign_spans_end_with_their_sentence(tmp_path):
    put(tmp_path, {"c.conll": "Ann\tB-P\n\nRoe\tI-P\n"})
    assert read_corpus(tmp_path)[0] == Document("c", "Ann\nRoe", (Span(0, 3, "P"), Span(4, 7, "P")))


def test_foreign_tags_may_be_bioes(tmp_path):
    put(tmp_path, {"c.conll": "Ann\tS-A\nRoe\tB-A\nand\tI-A\nco\tE-A\n"})
    assert read_corpus(tmp_path)[0].spans == (Span(0, 3, "A"), Span(4, 14, "A"))


def test_foreign_ids(tmp_path):
    blocks = [
        "-DOCSTART- n1\n\na O",
        "-DOCSTART-\tn2\na O",
        "-DOCSTART-\na O",
        "-DOCSTART- O\na O",
        "-DOCSTART- -X- O\n",
    ]
    put(tmp_path, {"c.conll": "\n\n" + "\n\n".join(blocks)})
    assert [document.doc_id for document in read_corpus(tmp_path)] == ["n1", "n2", "c-3", "c-4", "c-5"]


def test_lines_before_the_first_mark_are_a_document(tmp_path):
    put(tmp_path, {"c.conll": "a O\n-DOCSTART- n\nb O"})
    assert [(document.doc_id, document.text) for document in read_corpus(tmp_path)] == [("c", "a"), ("n", "b")]


def test_line_ends_of_windows_are_no_part_of_the_tags(tmp_path):
    put(tmp_path, {"c.conll": '-DOCSTART- n\r\n# text = "a b"\r\n\r\na\t0\t1\tO\r\nb\t2\t3\tB-X\r\n\r\n'})
    assert read_corpus(tmp_path)[0] == Document("n", "a b", (Span(2, 3, "X"),))


def test_a_file_that_ends_too_early_is_refused(tmp_path):
    """The lines that were missing took their spans along, and the note looked like a note without PHI."""
    note = Document("n1", "Seen on 3 May\x00 - by Ann Roe.", (Span(20, 27, "DOCTOR"),))
    write_corpus([note], tmp_path / "c.conll")
    lines = (tmp_path / "c.conll").read_text("utf-8").split("\n")
    assert read_corpus(tmp_path / "c.conll")[0] == note
    for place in range(4, 10):
        put(tmp_path, {"c.conll": "\n".join(lines[:place])})
        with pytest.raises(CorpusFormatError, match="Words of the text have no line.*document n1"):
            read_corpus(tmp_path / "c.conll")
    put(tmp_path, {"c.conll": "\n".join([*lines[:5], *lines[6:]])})
    with pytest.raises(CorpusFormatError, match="Words of the text have no line"):
        read_corpus(tmp_path / "c.conll")


def test_white_space_that_is_written_as_an_entity_needs_no_line(tmp_path):
    """The words of the entities counted as words without a line, and the written file could not be read."""
    note = Document("n1", "Seen by&nbsp;Ann&#160;Roe.&emsp13;&#xA0;", (Span(13, 25, "DOCTOR"),))
    write_corpus([note], tmp_path / "c.conll")
    assert read_corpus(tmp_path / "c.conll")[0] == note
