"""The picture of the README marks what a tagger leaves of the PHI, also parts of a span."""

import re
import runpy

from sklearn_deid import Document, Span

from .pages import ROOT

SCRIPT = runpy.run_path(str(ROOT / "docs" / "figures" / "redacted_note.py"))
UNDERLINE = re.compile(r'<path d="M([\d.]+) [\d.]+h([\d.]+)" stroke="#c00000"')


def underlined(text, gold, found):
    """First character and number of characters of each underlined part of a note of one line."""
    drawn = UNDERLINE.findall(SCRIPT["picture"](Document("n", text, gold), found))
    width, margin = SCRIPT["CHARACTER"], SCRIPT["MARGIN"]
    return [(round((float(at) - margin) / width), round(float(length) / width)) for at, length in drawn]


def test_parts_of_a_span_that_stay_are_underlined():
    gold = (Span(0, 5, "USERNAME"), Span(6, 13, "DATE"))
    assert underlined("jna31 17JUL21", gold, (Span(3, 13, "DATE"),)) == [(0, 3)]
    assert underlined("jna31 17JUL21", gold, (Span(6, 13, "DATE"),)) == [(0, 5)]
    assert underlined("jna31 17JUL21", gold, gold) == []


def test_what_the_page_says_is_in_the_picture():
    drawn = (ROOT / "docs" / "figures" / "redacted_note.svg").read_text(encoding="utf-8")
    page = re.sub(r"\s+", " ", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert "leaves the letters of a login, and hides the name of a catheter once" in page
    assert len(UNDERLINE.findall(drawn)) == 1
    assert ">jna</text>" in drawn
    assert ">Hickman</text>" in drawn
