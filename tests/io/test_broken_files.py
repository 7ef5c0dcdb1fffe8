"""Broken files raise with file, annotation and offsets, never with text of the note; or are collected."""

import json
import os
import traceback
from pathlib import Path

import pytest

from sklearn_deid.exceptions import CorpusFormatError, DataNotFoundError
from sklearn_deid.io import iter_documents, read_corpus

from .corpora_for_io import put

SECRET = "Quillfeather"
TEXT = f"Seen by {SECRET}."
GOOD = {
    "i2b2": {"zz.xml": "<deIdi2b2><TEXT>Fine.</TEXT></deIdi2b2>"},
    "brat": {"zz.txt": "Fine.", "zz.ann": ""},
    "jsonl": {"zz.jsonl": '{"doc_id": "zz", "text": "Fine."}\n'},
    "conll": {"zz.conll": "-DOCSTART- zz\n\nFine. O\n"},
    "text": {"zz.txt": "Fine."},
}


def xml(tags, text=TEXT, root="deIdi2b2"):
    return {"a.xml": f"<{root}><TEXT><![CDATA[{text}]]></TEXT><TAGS>{tags}</TAGS></{root}>"}


def tag(start, end, text=SECRET, id="P3", extra='TYPE="DOCTOR"'):
    return f'<NAME id="{id}" start="{start}" end="{end}" text="{text}" {extra}/>'


def ann(*lines):
    return {"a.txt": TEXT, "a.ann": "\n".join(lines)}


def line(**record):
    return {"a.jsonl": json.dumps({"doc_id": "a", "text": TEXT, **record})}


def span(**record):
    return line(spans=[{"start": 8, "end": 20, "label": "DOCTOR", **record}])


def conll(*rows):
    return {"a.conll": "\n".join(["-DOCSTART- a", f"# text = {json.dumps(TEXT)}", "", *rows])}


# format, files, what the message says, annotation, start and end
BROKEN = {
    "xml cut off": ("i2b2", {"a.xml": f"<deIdi2b2><TEXT>{SECRET}"}, "not well-formed XML", None, None),
    "xml with an ampersand": ("i2b2", {"a.xml": f"<deIdi2b2><TEXT>{SECRET} & co"}, "well-formed", None, None),
    "no xml": ("i2b2", {"a.xml": TEXT}, "well-formed", None, None),
    "empty file": ("i2b2", {"a.xml": ""}, "no element found", None, None),
    "other root": ("i2b2", xml("", root=SECRET), "root element must be deIdi2b2", None, None),
    "no text element": ("i2b2", {"a.xml": "<deIdi2b2><TAGS/></deIdi2b2>"}, "no TEXT element", None, None),
    "two text elements": (
        "i2b2",
        {"a.xml": "<deIdi2b2><TEXT/><TEXT/></deIdi2b2>"},
        "There is another element",
        None,
        None,
    ),
    "text beside": ("i2b2", {"a.xml": f"<deIdi2b2><TEXT/>{SECRET}</deIdi2b2>"}, "text outside of", None, None),
    "xml nested tag": ("i2b2", xml(f"<NAME><NAME>{SECRET}</NAME></NAME>"), "There is another element", None, None),
    "xml outside": ("i2b2", xml(tag(8, 99)), "outside the text of 21", "P3", (8, 99)),
    "xml empty": ("i2b2", xml(tag(8, 8)), "is empty", "P3", (8, 8)),
    "xml reversed": ("i2b2", xml(tag(20, 8)), "is reversed", "P3", (20, 8)),
    "xml text disagrees": ("i2b2", xml(tag(7, 19)), "differs from the text at its offsets", "P3", (7, 19)),
    "xml offset no number": ("i2b2", xml(tag("8~9", 20)), "not a whole number", "P3", None),
    "xml negative": ("i2b2", xml(tag("-1", 20)), "not a whole number", "P3", None),
    "xml text as offset": ("i2b2", xml(tag(SECRET, 20)), "not a whole number", "P3", None),
    "xml id is text": ("i2b2", xml(tag(20, 8, id=SECRET)), "reversed", "number 1", (20, 8)),
    "xml id twice": ("i2b2", xml(tag(8, 20) + tag(8, 20)), "id occurs twice", "P3", None),
    "xml no type": ("i2b2", xml(tag(8, 20, extra="")), "start, end and TYPE", "P3", None),
    "xml empty type": ("i2b2", xml(tag(8, 20, extra='TYPE=""')), "has no label", "P3", None),
    "xml meta": ("i2b2", {"a.xml": f"<deIdi2b2 meta='{SECRET}'><TEXT/></deIdi2b2>"}, "not valid JSON", None, None),
    "xml wrong encoding": ("i2b2", {"a.xml": xml("")["a.xml"].encode() + b"\xff"}, r"not in the .*byte 80", None, None),
    "brat discontinuous": ("brat", ann(f"T4\tDOCTOR 8 10;12 20\t{SECRET}"), "discontinuous", "T4", None),
    "brat outside": ("brat", ann(f"T1\tDOCTOR 8 20\t{SECRET}", f"T2\tA 8 22\t{SECRET}"), "outside", "T2", (8, 22)),
    # a damaged line was passed over, and the note looked like one without PHI
    "brat blank in front": ("brat", ann("", f" T1\tDOCTOR 8 20\t{SECRET}"), "Line 2 is no annotation", None, None),
    "brat quoted": ("brat", ann(f'"T1\tDOCTOR 8 20\t{SECRET}"'), "Line 1 is no annotation", None, None),
    "brat second mark": ("brat", ann("#", f"\ufeffT1\tDOCTOR 8 20\t{SECRET}"), "no annotation", None, None),
    "brat empty": ("brat", ann("T1\tDOCTOR 8 8\t"), "is empty", "T1", (8, 8)),
    "brat reversed": ("brat", ann("T1\tDOCTOR 9 8\t"), "reversed", "T1", (9, 8)),
    "brat text disagrees": ("brat", ann(f"T1\tDOCTOR 9 20\t{SECRET}"), "differs from the text at", "T1", (9, 20)),
    "brat text stripped": ("brat", ann(f"T1\tDOCTOR 7 20\t{SECRET}"), "differs from the text at", "T1", (7, 20)),
    "brat id twice": ("brat", ann(*[f"T1\tDOCTOR 8 20\t{SECRET}"] * 2), "twice", "T1", (8, 20)),
    "brat no text column": ("brat", ann("T1\tDOCTOR 8 20"), "Line 1 must be", "T1", None),
    "brat spaces for tabs": ("brat", ann(f"T1 DOCTOR 8 20 {SECRET}"), "Line 1 begins with T but", None, None),
    "brat text in the wrong file": ("brat", ann(f"The note of {SECRET}"), "Line 1 begins with T but", None, None),
    "brat two words": ("brat", ann(f"T1\t{SECRET} DOCTOR 8 20\t{SECRET}"), "label and two offsets", "T1", None),
    "brat arabic digits": ("brat", ann(f"T1\tDOCTOR \u0668 20\t{SECRET}"), "not a whole number", "T1", None),
    "brat without txt": ("brat", {"a.ann": f"T1\tDOCTOR 8 20\t{SECRET}"}, "no .txt beside this .ann", None, None),
    "brat without ann": ("brat", {"a.txt": TEXT}, "no .ann beside this .txt", None, None),
    "brat txt encoding": ("brat", {"a.txt": TEXT.encode() + b"\xe9", "a.ann": ""}, r"utf-8 \(byte 21\)", None, None),
    "brat ann encoding": ("brat", {"a.txt": TEXT, "a.ann": b"T1\t\xe9"}, r"utf-8 \(line 1\)", None, None),
    "brat patient": ("brat", ann(f"#1\tPatientId DOCUMENT\t{SECRET}"), "patient id is not valid JSON", None, None),
    "brat patient number": ("brat", ann("#1\tPatientId DOCUMENT\t7"), "must be a JSON string", None, None),
    "brat meta": ("brat", ann(f'#2\tMeta DOCUMENT\t["{SECRET}"]'), "meta must be a JSON object", None, None),
    "json cut off": ("jsonl", {"a.jsonl": line()["a.jsonl"][:-5]}, "Line 1 is not valid JSON", None, None),
    "json list": ("jsonl", {"a.jsonl": f'["{SECRET}"]'}, "Line 1 must be a JSON object", None, None),
    "json unknown key": ("jsonl", line(entities=[SECRET]), "no other keys than doc_id, meta, patient_id", None, None),
    "json key twice": ("jsonl", {"a.jsonl": '{"doc_id": "a", "doc_id": "b", "text": ""}'}, "repeated key", None, None),
    "json nan": ("jsonl", {"a.jsonl": '{"doc_id": "a", "text": "", "meta": {"a": NaN}}'}, "NaN", None, None),
    "json deep": ("jsonl", {"a.jsonl": '{"doc_id": ' + "[" * 200000}, "nested too deeply", None, None),
    "json long number": ("jsonl", {"a.jsonl": '{"doc_id": ' + "1" * 5000 + "}"}, "number that is too long", None, None),
    "json no id": ("jsonl", line(doc_id=7), "'doc_id' and 'patient_id' must be strings", None, None),
    "json empty id": ("jsonl", line(doc_id=""), "must be a JSON object with a 'doc_id'", None, None),
    "json patient": ("jsonl", line(patient_id=7), "'doc_id' and 'patient_id' must be strings", None, None),
    "json spans": ("jsonl", line(spans={SECRET: 1}), "'spans' must be a list", None, None),
    "json surrogate": ("jsonl", line(text=f"{SECRET}\ud83d"), "lone surrogate", None, (12, 13)),
    "json surrogate id": ("jsonl", line(doc_id="a\ud83d"), "lone surrogate", None, None),
    "json surrogate patient": ("jsonl", line(patient_id="p\ud83d"), "lone surrogate.*document a", None, None),
    "json surrogate meta": ("jsonl", line(meta={"a\ud83d": 1}), "lone surrogate.*document a", None, None),
    "json surrogate label": ("jsonl", span(label="A\ud83d"), "lone surrogate.*document a", None, None),
    "brat surrogate patient": ("brat", ann('#1\tPatientId DOCUMENT\t"\\ud83d"'), "lone surrogate", None, None),
    "json span": ("jsonl", line(spans=[[8, 20, SECRET]]), "A span must be a JSON object", "number 1", None),
    "json span key": ("jsonl", span(type=SECRET), "no other keys", "number 1", None),
    "json outside": ("jsonl", span(end=22), "outside the text", "number 1", (8, 22)),
    "json negative": ("jsonl", span(start=-1), "outside the text", "number 1", (-1, 20)),
    "json reversed": ("jsonl", span(end=3), "reversed", "number 1", (8, 3)),
    "json empty": ("jsonl", span(end=8), "is empty", "number 1", (8, 8)),
    "json text disagrees": ("jsonl", span(text=SECRET[:-1]), "differs from the text at", "number 1", (8, 20)),
    "json float offset": ("jsonl", span(end=20.0), "whole numbers", "number 1", None),
    "json bool offset": ("jsonl", span(start=True), "whole numbers", "number 1", None),
    "json no label": ("jsonl", span(label=None), "must be strings", "number 1", (8, 20)),
    "json confidence": ("jsonl", span(confidence=1.5), r"in \[0, 1\]", "number 1", (8, 20)),
    "json encoding": ("jsonl", {"a.jsonl": line()["a.jsonl"].encode() + b"\xff"}, r"utf-8 \(line 1\)", None, None),
    "conll outside": ("conll", conll(f"{SECRET}\t8\t99\tO"), "outside", "line 4", (8, 99)),
    "conll disagrees": ("conll", conll(f"{SECRET}\t7\t19\tO"), "differs from the text", "line 4", (7, 19)),
    "conll backwards": (
        "conll",
        conll(f"{SECRET}\t8\t20\tO", "Seen\t0\t4\tO"),
        "overlaps with the token before",
        "line 5",
        (0, 4),
    ),
    "conll columns": ("conll", conll(f"{SECRET}\tO"), "four columns", "line 4", None),
    "conll tag": ("conll", conll(f"{SECRET}\t8\t20\t{SECRET}"), "last column must be a tag", "line 4", None),
    "conll text": ("conll", {"a.conll": f"-DOCSTART- a\n# text = {SECRET}\n"}, "not valid JSON", None, None),
    "conll text no string": ("conll", {"a.conll": "-DOCSTART- a\n# text = 7\n"}, "JSON string", None, None),
    "conll foreign tag": ("conll", {"a.conll": f"-DOCSTART- a\n\nby O\n{SECRET} X\n"}, "must be a tag", "line 4", None),
    "conll one column": ("conll", {"a.conll": f"{SECRET}\n"}, "token and a tag", "line 1", None),
    "conll encoding": ("conll", {"a.conll": b"by O\nMar\xeda O\n"}, r"utf-8 \(line 2\)", None, None),
    "text encoding": ("text", {"a.txt": b"Mar\xeda"}, r"utf-8 \(byte 3\)", None, None),
}


def chain(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_raises_where_and_never_what(case, tmp_path):
    name, files, message, annotation_id, offsets = BROKEN[case]
    put(tmp_path, files)
    with pytest.raises(CorpusFormatError, match=message) as caught:
        read_corpus(tmp_path, format=name)
    error = caught.value
    assert error.path is not None
    assert error.path.startswith(str(tmp_path / "a."))
    assert error.annotation_id == annotation_id
    assert (error.start, error.end) == (offsets or (None, None))
    assert SECRET not in "".join(traceback.format_exception(error))
    for link in chain(error):  # UnicodeDecodeError and JSONDecodeError carry what they failed on
        assert SECRET not in f"{link!r} {vars(link)} {link.args}"


@pytest.mark.parametrize("case", BROKEN)
def test_collecting_returns_the_good_documents_and_the_errors(case, tmp_path):
    name, files, message, _, _ = BROKEN[case]
    put(tmp_path, {**files, **GOOD[name]})
    corpus, errors = read_corpus(tmp_path, format=name, on_error="collect")
    assert [document.doc_id for document in corpus] == ["zz"]
    assert len(errors) == 1
    assert errors[0].__traceback__ is None  # its frames would keep the note alive
    with pytest.raises(CorpusFormatError, match=message):
        raise errors[0]


def test_a_broken_line_does_not_hide_the_lines_after_it(tmp_path):
    good = '{"doc_id": "%s", "text": ""}'
    lines = [good % "a", "{", good % "b", good % "a", '{"doc_id": "c", "text": "\udcff"}', "", good % "d"]
    (tmp_path / "x.jsonl").write_text("\n".join(lines), encoding="utf-8", errors="surrogateescape")
    corpus, errors = read_corpus(tmp_path / "x.jsonl", on_error="collect")
    assert [document.doc_id for document in corpus] == ["a", "b", "d"]
    assert [error.message.split(";")[0] for error in errors] == [
        "Line 2 is not valid JSON (character 1).",
        "The document id occurs twice",
        "The file is not in the encoding utf-8 (line 5). Pass encoding=... with the encoding of the file.",
    ]


def test_a_broken_document_does_not_hide_the_conll_documents_after_it(tmp_path):
    put(tmp_path, {"x.conll": "-DOCSTART- a\n\nx O\n\n-DOCSTART- b\n\nx\n\n-DOCSTART- c\n\nx O\n"})
    corpus, errors = read_corpus(tmp_path / "x.conll", on_error="collect")
    assert [document.doc_id for document in corpus] == ["a", "c"]
    assert [(error.doc_id, error.annotation_id) for error in errors] == [("b", "line 7")]


def test_a_document_id_in_two_files_is_an_error(tmp_path):
    put(tmp_path, {"1.jsonl": GOOD["jsonl"]["zz.jsonl"], "2.jsonl": GOOD["jsonl"]["zz.jsonl"]})
    with pytest.raises(CorpusFormatError, match=r"id occurs twice.*2\.jsonl, document zz"):
        read_corpus(tmp_path)


def test_a_file_that_cannot_be_opened_is_collected(tmp_path):
    put(tmp_path, GOOD["i2b2"])
    (tmp_path / "a.xml").symlink_to(tmp_path / "gone.xml")
    corpus, errors = read_corpus(tmp_path, format="i2b2", on_error="collect")
    assert [document.doc_id for document in corpus] == ["zz"]
    assert errors[0].message == "The file cannot be read: No such file or directory."
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "gone.jsonl")
    with pytest.raises(CorpusFormatError, match="cannot be read: No such file"):
        read_corpus(tmp_path, format="jsonl")


def test_arguments_are_checked_before_anything_is_read(tmp_path):
    put(tmp_path, GOOD["i2b2"])
    with pytest.raises(
        ValueError, match="'on_error' parameter of read_corpus must be 'raise' or 'collect'. Got 'skip'"
    ):
        read_corpus(tmp_path, on_error="skip")
    with pytest.raises(ValueError, match="'format' parameter must be one of 'brat', .* 'uima'. Got 'xml'"):
        iter_documents(tmp_path, "xml")
    for encoding in ("no-such", "zlib", "rot13"):
        with pytest.raises(ValueError, match="'encoding' parameter must be a text encoding"):
            iter_documents(tmp_path, encoding=encoding)
    with pytest.raises(DataNotFoundError, match="no such file or folder"):
        iter_documents(tmp_path / "gone", "brat")
    with pytest.raises(CorpusFormatError, match="holds no file ending in .jsonl or .ndjson"):
        iter_documents(tmp_path, "jsonl")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system has no list of open files")
def test_an_error_keeps_no_file_open(tmp_path):
    """The frames of an error held the file until the error was collected."""
    (tmp_path / "a.jsonl").write_text('{"doc_id": "n1"}\n' * 3)
    with pytest.raises(CorpusFormatError) as caught:
        read_corpus(tmp_path / "a.jsonl", format="jsonl")
    opened = [os.readlink(link) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    assert caught.value.path and not [path for path in opened if path.startswith(str(tmp_path))]
