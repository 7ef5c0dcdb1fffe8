"""Whatever bytes stand in a file: documents, or a CorpusFormatError, and nothing else."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io import FORMATS, read_corpus
from sklearn_deid.text import Document, Span

from .corpora_for_io import put

NOTE = Document("a", "Ann Roe,\r\n25yo <m>, ]]> seen.", (Span(4, 7, "PATIENT", "NAME"),), "p1", {"k": [1]})


@st.composite
def damaged(draw, content):
    """Valid bytes with some cut out, put in, doubled or changed."""
    data = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 8))
        insert = draw(st.sampled_from([b"", bytes(data[at : at + 20]), b"\t", b"\n", b"<", b"&", b'"', b"9", b"\xff"]))
        insert = draw(st.one_of(st.just(insert), st.binary(max_size=4)))
        data[at : at + length] = insert
    return bytes(data)


@pytest.mark.parametrize("encoding", [None, "utf-16", "utf-32", "cp1252"])
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_give_documents_or_errors(name, encoding):
    document = NOTE if name != "text" else Document("a", NOTE.text)
    written = {".txt": "[**Hospital 1**], [**2151-7-16**]"} if name == "mimic" else FORMATS[name].write(document, False)
    files = {f"a{suffix}": content.encode() for suffix, content in written.items()}

    @settings(max_examples=20, deadline=None)
    @given(st.fixed_dictionaries({file: damaged(content) for file, content in files.items()}))
    def check(contents):
        with tempfile.TemporaryDirectory() as folder:
            put(Path(folder), contents)
            corpus, errors = read_corpus(folder, format=name, encoding=encoding, on_error="collect")
            for error in errors:
                assert isinstance(error, CorpusFormatError)
                assert "Ann" not in str(error)
                assert "Roe" not in str(error)
            for document in corpus:
                assert all(0 <= span.start < span.end <= len(document.text) for span in document.spans)

    check()
