"""Which files of a folder are notes, and which files are left aside."""

import pytest

from sklearn_deid.cli.note_source import NoteSource


@pytest.mark.parametrize(
    ("format", "names", "aside", "size"),
    [
        ("text", ["a.txt", "b.TXT", "c.pdf", ".d.txt"], [".d.txt", "c.pdf"], 2),
        ("brat", ["a.txt", "a.ann", "b.html"], ["b.html"], 1),
        ("uima", ["a.xmi", "b.json", "c.html"], ["c.html"], 2),
        ("uima", ["a.json", "c.html"], ["c.html"], 1),
        # Each row of a table is a note.
        ("mimic", ["a.txt", "a.csv", "b.pdf"], ["b.pdf"], None),
    ],
)
def test_files_that_are_read_are_not_left_aside(tmp_path, format, names, aside, size):
    for name in names:
        (tmp_path / name).write_text("")
    source = NoteSource(str(tmp_path), format)
    assert (source.left_aside(), source.size()) == (aside, size)
    read = {*names, *aside} - {*aside, "a.ann"}
    assert {file.name for file in source.files()} == read
