"""The table of formats names the notes that a format refuses."""

import pytest

from sklearn_deid import Document, write_corpus
from sklearn_deid.exceptions import CorpusFormatError

from .pages import ROOT


def not_stored(format):
    """Last cell of the row of a format."""
    lines = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8").splitlines()
    (row,) = (line for line in lines if line.startswith(f"| `{format}` | ") and line.count("|") == 5)
    return row.strip("| ").split(" | ")[-1]


@pytest.mark.parametrize("format", ["i2b2", "meddocan-xml", "uima"])
def test_xml_refuses_control_characters(format, tmp_path):
    if format == "uima":
        pytest.importorskip("cassis", reason="the extra 'uima' is not installed")
    assert "control characters (refused)" in not_stored(format)
    with pytest.raises(CorpusFormatError, match="control character"):
        write_corpus([Document("n", "a\x01b")], tmp_path / "out", format=format)


@pytest.mark.parametrize("format", ["brat", "conll", "jsonl", "docbin", "labelstudio", "doccano", "prodigy"])
def test_other_formats_hold_control_characters(format, tmp_path):
    assert "control characters" not in not_stored(format)
    write_corpus([Document("n", "a\x01b")], tmp_path / f"out-{format}", format=format)
