"""What is read, in which order, and how the format is guessed."""

import gc
import tracemalloc

import pytest

from sklearn_deid.exceptions import CorpusFormatError, DataNotFoundError, PartlyAnnotatedWarning
from sklearn_deid.io import FORMATS, ReadResult, iter_documents, read_corpus, read_gold, write_corpus
from sklearn_deid.text import Corpus, Document, Span

from .corpora_for_io import put

I2B2 = "<?xml version='1.0'?>\n<!-- <MEDDOCAN> -->\n<deIdi2b2><TEXT>a</TEXT><TAGS/></deIdi2b2>"
MEDDOCAN = "<MEDDOCAN>\n  <TEXT><![CDATA[a]]></TEXT>\n  <TAGS>\n  </TAGS>\n</MEDDOCAN>"
JSON = '{"doc_id": "a", "text": "a"}'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.xml": I2B2}, "i2b2"),
        ({"a.XML": MEDDOCAN}, "meddocan-xml"),
        ({"a.xml": MEDDOCAN.encode("utf-16")}, "meddocan-xml"),
        ({"a.xml": "\ufeff" + MEDDOCAN}, "meddocan-xml"),
        ({"a.txt": "a", "a.ann": "", "annotation.conf": "x", "README": "y"}, "brat"),
        ({"A.TXT": "a", "A.ANN": ""}, "brat"),
        ({"a.jsonl": JSON}, "jsonl"),
        ({"a.ndjson": JSON}, "jsonl"),
        ({"a.conll": "a O\n"}, "conll"),
        ({"a.iob": "a O\n"}, "conll"),
    ],
)
def test_the_format_is_guessed_for_folders_and_files(files, expected, tmp_path):
    put(tmp_path, files)
    one, named = read_corpus(tmp_path), read_corpus(tmp_path, format=expected)
    assert isinstance(one, Corpus)
    assert list(one) == list(named)
    assert one[0].text == "a"
    for name in files:
        if name.lower().endswith(FORMATS[expected].suffixes):
            assert list(read_corpus(tmp_path / name)) == list(one)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "The folder holds no file"),
        ({"a.pdf": ""}, "fit no format; pass one of 'brat', 'conll', 'docbin', 'doccano', 'i2b2', 'jsonl'"),
        ({"a.xml": "<other/>"}, "fit no format"),
        ({"a.xml": "Ann Roe"}, "fit no format"),
        ({"a.txt": "a"}, "fit no format.*without annotations are read with format='text'"),
        ({"a.xml": I2B2, "a.ann": "", "a.txt": ""}, "fit several formats"),
        ({"a.jsonl": JSON, "a.conll": "a O"}, "fit several formats"),
    ],
)
def test_no_format_is_guessed_where_several_or_none_fit(files, message, tmp_path):
    put(tmp_path, files)
    with pytest.raises(CorpusFormatError, match=message):
        read_corpus(tmp_path)


def test_a_lone_text_file_is_not_guessed(tmp_path):
    put(tmp_path, {"a.txt": "a"})
    with pytest.raises(CorpusFormatError, match="format='text'"):
        read_corpus(tmp_path / "a.txt")
    with pytest.raises(DataNotFoundError, match="no such file"):
        read_corpus(tmp_path / "b.txt")


def test_order_is_that_of_the_names_and_the_rest_is_left_aside(tmp_path):
    files = {f"{name}.txt": name for name in ("b", "a", "a-1", "a.b", "Z", "\u00e9")}
    put(tmp_path, {**files, ".a.txt": "hidden", "._a.txt": "fork", "notes.md": "x", "c.txt.part": "half"})
    put(tmp_path / "sub.txt", {"d.txt": "sub-folder"})
    assert [document.doc_id for document in read_corpus(tmp_path, format="text")] == [
        "Z",
        "a",
        "a-1",
        "a.b",
        "b",
        "\u00e9",
    ]


def test_a_path_can_be_a_string(tmp_path):
    put(tmp_path, {"a.xml": I2B2})
    assert read_corpus(str(tmp_path))[0] == Document("a", "a")


@pytest.mark.parametrize(
    ("encoding", "text", "start"),
    [(None, "\ufeffAnn\r\n", 1), ("utf-8", "\ufeffAnn\r\n", 1), ("utf-8-sig", "Ann\r\n", 0)],
)
def test_a_byte_order_mark_is_a_character_unless_the_encoding_drops_it(encoding, text, start, tmp_path):
    put(tmp_path, {"a.txt": "\ufeffAnn\r\n", "a.ann": f"\ufeffT1\tX {start} {start + 3}\tAnn\r\n"})
    document = read_corpus(tmp_path, encoding=encoding)[0]
    assert document == Document("a", text, (Span(start, start + 3, "X"),))


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "latin-1", "utf-8"])
@pytest.mark.parametrize("name", ["brat", "jsonl", "conll", "text", "i2b2"])
def test_other_encodings(name, encoding, tmp_path):
    files = {
        "brat": {"a.txt": "Jos\u00e9\n", "a.ann": "T1\tX 0 4\tJos\u00e9\n"},
        "jsonl": {"a.jsonl": '{"doc_id": "a", "text": "Jos\u00e9\\n"}\n'},
        "conll": {"a.conll": "Jos\u00e9 B-X\r\n\r\n"},
        "text": {"a.txt": "Jos\u00e9\r\n"},
        "i2b2": {"a.xml": "<deIdi2b2><TEXT>Jos\u00e9</TEXT></deIdi2b2>"},
    }[name]
    put(tmp_path, {key: value.encode(encoding) for key, value in files.items()})
    assert read_corpus(tmp_path, format=name, encoding=encoding)[0].text.strip() == "Jos\u00e9"


def test_utf16_that_breaks_off_is_an_error(tmp_path):
    put(tmp_path, {"a.jsonl": (JSON + "\n").encode("utf-16") + b"\x00\xd8"})
    corpus, errors = read_corpus(tmp_path, encoding="utf-16", on_error="collect")
    assert len(errors) == 1
    assert "not in the encoding utf-16" in errors[0].message
    assert errors[0].__context__ is None


def test_foreign_annotation_lines_are_left_aside(tmp_path):
    lines = [
        "T1\tX 0 3\tAnn",
        "R1\tRel Arg1:T1 Arg2:T1",
        "#1\tAnnotatorNotes T1\tsure?",
        "A1\tNeg T1",
        "*\tEquiv T1",
        "",
    ]
    put(tmp_path, {"a.txt": "Ann", "a.ann": "\r\n".join(lines)})
    assert read_corpus(tmp_path)[0] == Document("a", "Ann", (Span(0, 3, "X"),))


@pytest.mark.parametrize("covered", ["Ann\nRoe", "Ann Roe", "Ann&#10;Roe"])
def test_an_attribute_may_hold_a_line_break_as_a_space(covered, tmp_path):
    tag = f'<NAME start="0" end="7" text="{covered}" TYPE="PATIENT" comment="x" docid="7"/>'
    put(tmp_path, {"a.xml": f"<deIdi2b2><TEXT>Ann\r\nRoe</TEXT><TAGS>{tag}</TAGS></deIdi2b2>"})
    assert read_corpus(tmp_path)[0] == Document("a", "Ann\nRoe", (Span(0, 7, "PATIENT", "NAME"),))


def test_categories_are_filled_in_on_demand(tmp_path):
    spans = (Span(0, 1, "DOCTOR"), Span(1, 2, "NOT-THERE", "OTHER"), Span(2, 3, "DATE", "OWN"))
    write_corpus([Document("a", "abc", spans)], tmp_path / "x.jsonl")
    plain, filled = read_corpus(tmp_path)[0], read_corpus(tmp_path, label_scheme="i2b2-2014")[0]
    assert [span.category for span in plain.spans] == [None, "OTHER", "OWN"]
    assert [span.category for span in filled.spans] == ["NAME", "OTHER", "OWN"]


def test_a_scheme_is_not_applied_to_a_part_of_the_labels(tmp_path):
    known, unknown = Span(0, 1, "DOCTOR"), Span(1, 2, "LOCATION_ZIP")
    write_corpus([Document("a", "abc", (known, unknown)), Document("b", "abc", (known,))], tmp_path / "x.jsonl")
    with pytest.raises(CorpusFormatError, match="'LOCATION_ZIP' is not in the label scheme i2b2-2014") as raised:
        read_corpus(tmp_path, label_scheme="i2b2-2014")
    assert (raised.value.doc_id, raised.value.start, raised.value.end) == ("a", 1, 2)
    corpus, errors = read_corpus(tmp_path, label_scheme="i2b2-2014", on_error="collect")
    assert [document.doc_id for document in corpus] == ["b"] and len(errors) == 1


def test_collecting_returns_a_pair(tmp_path):
    put(tmp_path, {"a.xml": I2B2})
    result = read_corpus(tmp_path, on_error="collect")
    assert isinstance(result, ReadResult)
    assert (len(result.corpus), result.errors) == (1, [])


def test_documents_come_one_by_one(tmp_path):
    put(tmp_path, {"a.jsonl": JSON + "\n{\n" + JSON.replace('"a"', '"b"', 1)})
    stream = iter_documents(tmp_path)
    assert next(stream).doc_id == "a"  # although the second line is broken
    with pytest.raises(CorpusFormatError, match="Line 2"):
        next(stream)
    errors = []
    assert [document.doc_id for document in iter_documents(tmp_path, on_error=errors.append)] == ["a", "b"]
    assert len(errors) == 1


def peak_of_reading(path, name):
    gc.collect(1)  # a full collection takes a second among all tests, and what was there before is not traced
    tracemalloc.start()
    try:
        for _ in iter_documents(path, name):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["jsonl", "brat", "i2b2", "conll"])
def test_iterating_holds_one_document_at_a_time(name, tmp_path):
    for n_documents, path in ((3, tmp_path / "few"), (30, tmp_path / "many")):
        write_corpus([Document(f"d{n}", "word " * 1200) for n in range(n_documents)], path, format=name)
    peak_of_reading(tmp_path / "few", name)  # fills caches
    # The files and ids of 27 more documents, but not their 162,000 characters.
    assert peak_of_reading(tmp_path / "many", name) < peak_of_reading(tmp_path / "few", name) + 60_000


@pytest.mark.parametrize("name", ["text", "jsonl", "i2b2"])
def test_a_dump_among_the_notes_is_left_out_and_never_in_memory(name, tmp_path, monkeypatch):
    """A note of some gigabytes fills the memory: the system kills the run, and again at each --resume."""
    monkeypatch.setattr("sklearn_deid.io.files._LARGEST", 50)
    xml = "<deIdi2b2><TEXT>a</TEXT></deIdi2b2>"
    written = {
        "text": {"a.txt": "a" * 50, "b.txt": "x" * 51, "c.txt": "a"},
        "jsonl": {"a.jsonl": f"{JSON}\n{JSON[:-1]}{' ' * 500}}}\n", "c.jsonl": JSON.replace('"a"', '"c"', 1)},
        "i2b2": {"a.xml": xml, "b.xml": xml.replace("<TEXT>a", f"<TEXT>{' ' * 50}"), "c.xml": xml},
    }
    put(tmp_path, written[name])
    found, errors = read_corpus(tmp_path, format=name, on_error="collect")
    assert [document.doc_id for document in found] == ["a", "c"]
    (error,) = errors
    assert error.message.endswith("has more than 50 characters." if name == "jsonl" else "too large for one note.")


def test_notes_without_annotation_among_others_are_warned_of(tmp_path):
    path, marked = tmp_path / "notes.jsonl", '{"doc_id": "a", "text": "Dr. Roe.", "spans": []}\n'
    path.write_text(marked + '{"doc_id": "b", "text": "Dr. Roe."}\n', encoding="utf-8")
    with pytest.warns(PartlyAnnotatedWarning, match="in 1 of 2 notes"):
        assert len(read_corpus(path)) == 2
    with pytest.raises(CorpusFormatError, match="Nobody has marked"):
        read_gold(path)
    for whole in (marked, '{"doc_id": "b", "text": "Dr. Roe."}\n'):  # all annotated, and raw notes
        path.write_text(whole, encoding="utf-8")
        assert len(read_corpus(path)) == 1


def test_spans_of_a_model_are_no_gold(tmp_path):
    """Evaluations, audits and sites took the output of tag for true annotations; train alone refused it."""
    sure = Document("a", "Dr. Roe.", (Span(4, 7, "DOCTOR", confidence=0.9),))
    write_corpus([sure, Document("b", "No pain.")], tmp_path / "tagged.jsonl")
    with pytest.raises(CorpusFormatError, match="All spans have the confidence of a model.*tagged.jsonl"):
        read_gold(tmp_path / "tagged.jsonl")
    write_corpus([sure, Document("b", "Dr. Roe.", (Span(4, 7, "DOCTOR"),))], tmp_path / "partly.jsonl")
    with pytest.warns(PartlyAnnotatedWarning, match="All spans of 1 of 2 annotated notes"):
        assert len(read_gold(tmp_path / "partly.jsonl")) == 2


@pytest.mark.parametrize("name", ["brat", "conll", "doccano", "docbin"])
def test_notes_without_spans_are_counted_where_a_format_hides_whether_they_were_read(name, tmp_path, recwarn):
    """Raw notes that were converted for brat, and annotated in part, counted as notes without PHI without a word."""
    marked = Document("a", "Seen by Roe.", (Span(8, 11, "DOCTOR"),))
    for n, notes in enumerate(([marked, Document("b", "Seen by Alder.")], [marked])):
        path = tmp_path / (f"{n}" if name == "brat" else f"{n}{FORMATS[name].suffixes[0]}")
        write_corpus(notes, path, name)
        assert len(read_gold(path, name)) == len(notes)
        assert len(recwarn) == 1, "only for notes without a span"
    assert issubclass(recwarn[0].category, PartlyAnnotatedWarning) and "Alder" not in str(recwarn[0].message)
    assert str(recwarn[0].message).startswith("1 of 2 notes have no span and count as notes without PHI, such as 'b'.")


@pytest.mark.parametrize("root", ["deIdi2b2", "MEDDOCAN"])
def test_a_note_without_tags_is_one_that_nobody_has_annotated(root, tmp_path):
    """A test set whose annotations are kept apart counted as notes without PHI."""
    note = f"<{root}><TEXT>Ann left.</TEXT>{{}}</{root}>"
    put(tmp_path, {"a.xml": note.format("<TAGS></TAGS>")})
    assert len(read_gold(tmp_path)) == 1
    put(tmp_path, {"b.xml": note.format("")})
    with pytest.raises(CorpusFormatError, match="Nobody has marked PHI in this note.*document b"):
        read_gold(tmp_path)


def test_folder_of_folders_is_no_unknown_format(tmp_path):
    """The message listed all formats, and none of them could have read such a folder."""
    put(tmp_path / "brat", {"a.txt": "Ann left.", "a.ann": ""})
    with pytest.raises(CorpusFormatError, match="holds no file. Files in folders inside of this folder are not read"):
        read_corpus(tmp_path)
