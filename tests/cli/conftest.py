"""Notes in several formats and a model of the command line, made once. Do not write into these folders."""

import re
import shutil
from dataclasses import replace
from functools import cache

import pytest

from sklearn_deid import Corpus, make_clinical_notes, write_corpus
from sklearn_deid.cli import main, program


@pytest.fixture(scope="session", autouse=True)
def one_parser():
    """A process builds the parser of all commands once; these tests run a thousand commands in one process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "build_parser", cache(program.build_parser))
        yield


@pytest.fixture(scope="session")
def notes():
    """Beginnings of notes: what a command does with a note does not depend on its length."""
    documents = []
    for note in make_clinical_notes(12, n_patients=6, random_state=0):
        end = note.text.index("\n", 500)
        documents.append(replace(note, text=note.text[:end], spans=tuple(s for s in note.spans if s.end <= end)))
    return Corpus(documents)


@pytest.fixture(scope="session")
def gold(notes, tmp_path_factory):
    """The notes as brat files."""
    folder = tmp_path_factory.mktemp("gold")
    write_corpus(notes, folder, format="brat")
    return folder


@pytest.fixture(scope="session")
def raw(notes, tmp_path_factory):
    """The notes as raw text files."""
    folder = tmp_path_factory.mktemp("raw")
    write_corpus(notes, folder, format="text", lossy=True)
    return folder


@pytest.fixture(scope="session")
def model(gold, tmp_path_factory):
    """A model of the command line: good enough to find something."""
    folder = tmp_path_factory.mktemp("trained") / "model"
    assert main(["train", str(gold), "--model", str(folder), "--epochs", "2", "--quiet"]) == 0
    return folder


@pytest.fixture
def with_broken(raw, tmp_path):
    """The raw notes and one in another encoding, which is called after its patient."""
    folder = tmp_path / "notes"
    shutil.copytree(raw, folder)
    (folder / "note-00000.txt").write_bytes("Zyxwvutski caf\u00e9".encode("latin-1"))
    return folder


@pytest.fixture
def run(capsys):
    """Run a command; returns exit code, standard output and standard error."""

    def run(*arguments):
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def contents(folder):
    """Names and texts of the files of a folder."""
    return {path.name: path.read_bytes().decode("utf-8") for path in sorted(folder.iterdir())}


def assert_no_note_text(message, documents):
    """No PHI of the notes stands in a message, nor any line of them."""
    phi = {document.text[span.start : span.end] for document in documents for span in document.spans}
    # Short numbers, such as ages and days, are also counts and times.
    telling = {text for text in phi if len(re.sub(r"[\W\d]", "", text)) > 3}
    assert telling
    assert [text for text in telling if text in message] == []
    lines = {line.strip() for document in documents for line in document.text.splitlines() if len(line.strip()) > 12}
    assert [line for line in lines if line in message] == []
