"""A format is one file of the folder ``formats``: what it declares is all that readers, writers and commands know."""

import re
from pathlib import Path

import pytest

import sklearn_deid
from sklearn_deid.io import FORMATS, write_corpus
from sklearn_deid.io.format import Format
from sklearn_deid.text import Document

ROOT = Path(sklearn_deid.__file__).parents[1]
FILES = sorted((ROOT / "sklearn_deid/io/formats").glob("[!_]*.py"))


def test_each_file_declares_one_format_and_the_order_is_that_of_the_names():
    assert len(FORMATS) == len(FILES)
    assert list(FORMATS) == sorted(FORMATS)
    assert all(name == found.name and isinstance(found, Format) for name, found in FORMATS.items())


def test_no_two_formats_with_all_documents_in_one_file_share_a_suffix():
    suffixes = [suffix for found in FORMATS.values() if not found.one_document for suffix in found.suffixes]
    assert len(suffixes) == len(set(suffixes))


@pytest.mark.parametrize("path", [*FILES, *(ROOT / "sklearn_deid").rglob("*.py")], ids=lambda path: path.name)
def test_no_other_file_names_a_format_module(path):
    """But for the two that share JSON lines: a DocBin is packed from them, and interrupted runs leave them."""
    named = set(re.findall(r"^from \.+(?:io\.)?formats\.?(\w*) import", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert named <= ({"jsonl"} if path.name == "writing.py" else set())


@pytest.mark.skipif(not (ROOT / "docs/formats.md").is_file(), reason="the documentation is not installed")
def test_the_page_lists_every_format_and_no_other():
    page = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)) == list(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_what_cannot_be_written_says_so(name, tmp_path):
    found = FORMATS[name]
    target = tmp_path / ("out" if found.one_document else f"out{found.suffixes[0]}")
    if found.writable:
        write_corpus([Document("n1", "Fine.")], target, name)
    else:
        with pytest.raises(sklearn_deid.exceptions.CorpusFormatError, match="cannot be written"):
            write_corpus([Document("n1", "Fine.")], target, name)


@pytest.mark.parametrize("name", [name for name, found in FORMATS.items() if found.recognise is not None])
def test_what_a_format_writes_it_recognises_alone(name, tmp_path):
    found = FORMATS[name]
    write_corpus(
        [Document("n1", "Fine.")], tmp_path if found.one_document else tmp_path / f"x{found.suffixes[0]}", name
    )
    files = sorted(tmp_path.iterdir())
    assert [n for n, other in FORMATS.items() if other.recognise is not None and other.recognise(files)] == [name]
