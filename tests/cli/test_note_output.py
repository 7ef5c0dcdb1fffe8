"""Output of ``tag`` and ``redact``: files of an earlier run do not remain for notes that this run withholds."""

from contextlib import suppress

import pytest

from sklearn_deid import Document
from sklearn_deid.cli.note_output import NoteOutput
from sklearn_deid.exceptions import CorpusFormatError

_NOTE = Document("a", "The note that the results were made from.")


@pytest.mark.parametrize(
    ("second", "left"),
    [
        (Document("a", "A control character\x01 that XML cannot hold."), []),
        (Document("a", "Replaced."), ["a.xml"]),
    ],
    ids=["refused by the writer", "written"],
)
def test_output_of_an_earlier_run(tmp_path, second, left):
    folder = tmp_path / "out"
    with NoteOutput(folder, "i2b2") as output:
        output.write(Document("a", "Written by the first run."), _NOTE)

    with NoteOutput(folder, "i2b2", overwrite=True) as output:
        with suppress(CorpusFormatError):
            output.write(second, _NOTE)

    assert [file.name for file in folder.iterdir()] == left
    assert all("first run" not in file.read_text(encoding="utf-8") for file in folder.iterdir())


def test_second_note_with_an_id_leaves_the_first(tmp_path):
    with NoteOutput(tmp_path / "out", "i2b2", overwrite=True) as output:
        output.write(Document("a", "First."), _NOTE)
        with pytest.raises(CorpusFormatError, match="id occurs twice"):
            output.write(Document("a", "Second."), _NOTE)

    assert "First." in (tmp_path / "out" / "a.xml").read_text(encoding="utf-8")
