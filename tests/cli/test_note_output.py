"""Output of ``tag`` and ``redact``: files of an earlier run do not remain for notes that this run withholds."""

import pytest

from sklearn_deid import Document
from sklearn_deid.cli.note_output import NoteOutput
from sklearn_deid.exceptions import CorpusFormatError


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
        output.write(Document("a", "Written by the first run."))

    with NoteOutput(folder, "i2b2", overwrite=True) as output:
        try:
            output.write(second)
        except CorpusFormatError as error:
            output.withdraw(error.doc_id)

    assert [file.name for file in folder.iterdir()] == left
    assert all("first run" not in file.read_text(encoding="utf-8") for file in folder.iterdir())


def test_second_note_with_an_id_leaves_the_first(tmp_path):
    with NoteOutput(tmp_path / "out", "i2b2", overwrite=True) as output:
        output.write(Document("a", "First."))
        with pytest.raises(CorpusFormatError, match="id occurs twice"):
            output.write(Document("a", "Second."))
        output.withdraw("a")

    assert "First." in (tmp_path / "out" / "a.xml").read_text(encoding="utf-8")
