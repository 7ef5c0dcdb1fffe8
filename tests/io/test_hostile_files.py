"""Files that would hang, fill the memory, or act elsewhere are refused: soon, and with a sentence."""

import os
import resource
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io import FORMATS, files, iter_documents, open_document, read_corpus
from sklearn_deid.io.files import file_name
from sklearn_deid.io.tables import Columns, open_table
from sklearn_deid.text import Document, Span

SUFFIXES = {"i2b2": ".xml", "brat": ".txt", "jsonl": ".jsonl", "conll": ".conll", "text": ".txt", "mimic": ".csv"}
SUFFIXES |= {"docbin": ".spacy", "meddocan-xml": ".xml"}

pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")


@pipes
@pytest.mark.parametrize("form", SUFFIXES)
@pytest.mark.parametrize("named", [True, False])
def test_a_pipe_is_refused_and_does_not_hang(tmp_path, form, named):
    path = tmp_path / f"a{SUFFIXES[form]}"
    os.mkfifo(path)
    start, work = time.monotonic(), time.process_time()
    with pytest.raises(CorpusFormatError, match="no regular file, but a pipe, a device or a folder"):
        read_corpus(path if named else tmp_path, form if named or form != "brat" else "text")
    with pytest.raises(CorpusFormatError, match="no regular file|cannot be inferred"):
        read_corpus(path if named else tmp_path)
    # A busy machine may stop the test for seconds, which are no work.
    assert time.process_time() - work < 2 and time.monotonic() - start < 60


@pipes
def test_half_of_a_pair_that_is_a_pipe(tmp_path):
    (tmp_path / "a.txt").write_text("Fine.", encoding="utf-8")
    os.mkfifo(tmp_path / "a.ann")
    with pytest.raises(CorpusFormatError, match="no regular file"):
        read_corpus(tmp_path, "brat")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there are no devices")
@pytest.mark.parametrize("form", ["text", "jsonl", "docbin", "i2b2"])
def test_links_to_devices_are_refused(tmp_path, form):
    (tmp_path / f"a{SUFFIXES[form]}").symlink_to("/dev/zero")
    with pytest.raises(CorpusFormatError, match="no regular file"):
        read_corpus(tmp_path, form)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_links_to_files_are_followed_unless_told_not_to(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "b.txt").write_text("Fine.", encoding="utf-8")
    (tmp_path / "in" / "a.txt").symlink_to(tmp_path / "b.txt")
    assert read_corpus(tmp_path / "in", "text")[0].text == "Fine."
    errors = []
    assert list(iter_documents(tmp_path / "in", "text", on_error=errors.append, follow_links=False)) == []
    assert "is a symbolic link" in errors[0].message and errors[0].doc_id == "a"
    with pytest.raises(CorpusFormatError, match="is a symbolic link"):
        iter_documents(tmp_path / "in" / "a.txt", "text", follow_links=False)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize("swapped", ["link", "pipe"])
@pytest.mark.parametrize(
    "name", ["a.txt", "a.ann", "a.jsonl", "t.csv", "t.csv.gz", "t.jsonl.zst", "t.parquet", "d.html"]
)
def test_what_takes_the_place_of_a_checked_file_is_not_read(tmp_path, monkeypatch, name, swapped):
    """A file was checked by its name, and then opened by its name: another program could put a link there between."""
    path, other = tmp_path / "in" / name, tmp_path / "other"
    path.parent.mkdir()
    content = b"T1\tNAME 0 5\tZyxwv\n" if name == "a.ann" else b"note\nZyxw\n"
    for file in (path, other, path.with_name("a.txt")):
        file.write_bytes(content)

    def check(place, file, *, follow_links=True):
        checked(place, file, follow_links=follow_links)
        if file == path:
            path.unlink()
            path.symlink_to(other) if swapped == "link" else os.mkfifo(path)

    checked = files.check_regular
    monkeypatch.setattr(files, "check_regular", check)
    with pytest.raises((CorpusFormatError, OSError), match="symbolic links|no regular file"):
        if name.startswith("t."):
            pytest.importorskip("pyarrow")
            list(open_table(path, tmp_path / f"out-{name}", Columns(("note",))).chunks())
        elif name.startswith("d."):
            open_document(path)
        else:
            form = {".txt": "text", ".ann": "brat"}.get(path.suffix, "jsonl")
            list(iter_documents(path.parent, form, follow_links=False))


def hostile(folder, form):
    """A small file that stands for far more than a note."""
    path = folder / "a.txt"
    if form == "mimic":
        path.write_text("[**Hospital 1**] " * 200_000, encoding="utf-8")
    elif form == "brat":
        path.write_text("Alder", encoding="utf-8")
        (folder / "a.ann").write_text("T1\tNAME 0 5\tAlder\n" + "#\n" * 1_000_000, encoding="utf-8")
    else:
        lists = b"\xdd" + (50_000_000).to_bytes(4, "big") + b"\x90" * 50_000_000
        flat = b"\xdd" + (50_000_000).to_bytes(4, "big") + b"\x01" * 50_000_000
        path = folder / "a.spacy"
        path.write_bytes(zlib.compress(b"\x81\xa5attrs" + {"lists": lists, "flat": flat}[form]))
    return path


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("mimic", "more than 20000 placeholders"),
        ("brat", "more than 200000 lines"),
        ("lists", "msgpack content cannot be read"),
        ("flat", "msgpack content cannot be read"),
    ],
)
def test_far_too_much_is_refused_soon_and_in_little_memory(tmp_path, form, message):
    path = hostile(tmp_path, form)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(CorpusFormatError, match=message):
        read_corpus(path, form if form in ("mimic", "brat") else "docbin")
    assert time.process_time() - start < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 * 1024


@pytest.mark.parametrize(("n", "fits"), [(246, True), (247, False)])
def test_the_longest_file_name(n, fits):
    """With the temporary ending, a name takes 255 bytes at most."""
    if fits:
        assert file_name("a" * n, ".txt") == "a" * n + ".txt"
    for doc_id in ("a" * 247, "\u00e9" * 124):
        with pytest.raises(CorpusFormatError, match="too long for a file name"):
            file_name(doc_id, ".txt")


# What each file holds instead of notes, or around a note.
CONTENTS = {
    "noise": lambda good, rng: rng.bytes(300_000),
    "nothing": lambda good, rng: b"",
    "zeros": lambda good, rng: bytes(1_000_000),
    "lists": lambda good, rng: b"[" * 1_000_000,
    "objects": lambda good, rng: b'{"a":' * 200_000,
    "elements": lambda good, rng: b"<a>" * 300_000,
    "one line": lambda good, rng: b"a" * 3_000_000,
    "many lines": lambda good, rng: b"\n" * 1_000_000,
    "many numbers": lambda good, rng: good + b"9" * 1_000_000,
    "repeated": lambda good, rng: good * 2_000,
    "cut": lambda good, rng: good[: int(rng.integers(1, len(good)))],
    "changed": lambda good, rng: bytes(b if rng.random() > 0.02 else int(rng.integers(256)) for b in good),
}


def test_a_hundred_hostile_files_give_documents_or_sentences_soon_and_in_little_memory(tmp_path):
    rng, cases = np.random.default_rng(0), [(form, kind) for kind in CONTENTS for form in SUFFIXES]
    cases += [(form, "changed") for form in SUFFIXES]
    assert len(cases) >= 100
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i, (form, kind) in enumerate(cases):
        note = Document("a", "Ann Roe, 25yo, seen.", () if form == "text" else (Span(4, 7, "PATIENT"),))
        written = FORMATS["text" if form == "mimic" else form].write(note, True)
        files = {f"{i}{suffix}": content.encode() for suffix, content in written.items()}
        (tmp_path / str(i)).mkdir()
        for file, content in put_in(files, kind, rng).items():
            (tmp_path / str(i) / file).write_bytes(content)
        start = time.process_time()
        try:
            found, errors = read_corpus(tmp_path / str(i), form, on_error="collect")
        except CorpusFormatError as error:
            found, errors = [], [error]
        assert time.process_time() - start < 10, (form, kind)
        assert all(isinstance(error, CorpusFormatError) and "Roe" not in str(error) for error in errors)
        assert all(span.end <= len(document.text) for document in found for span in document.spans)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 * 1024


def put_in(files, kind, rng):
    """The files with the last one made hostile: annotations, if there are any."""
    last = max(files, key=lambda name: name.endswith(".ann"))
    return {**files, last: CONTENTS[kind](files[last], rng)}
