"""The two writers of a report and its drawing, on blocks made by hand: what is text stays text."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from sklearn_deid.audit import AttackResult
from sklearn_deid.audit.report_figure import draw_attacks
from sklearn_deid.audit.report_parts import Alert, Figure, Heading, Items, Paragraph, Table
from sklearn_deid.audit.report_writers import as_html, as_markdown
from sklearn_deid.metrics import Estimate

HOSTILE = "<script>alert(1)</script> | `x` [y]\n# no heading & 5 %"
BLOCKS = [
    Heading(HOSTILE),
    Paragraph(HOSTILE),
    Alert(HOSTILE),
    Items((("", HOSTILE), (HOSTILE, "text"))),
    Table(HOSTILE, ("attack", HOSTILE), ((HOSTILE, "INVALID"),)),
]


def result(value, n=100):
    return AttackResult("pairs", "representation", "A recipient.", "share", Estimate.from_counts(value, n), 0.5)


def test_html_holds_every_text_escaped():
    page = as_html(BLOCKS)
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;") == 9  # four of them in the table, with its label
    assert '<tr class="invalid">' in page


def test_html_body_is_well_formed():
    body = as_html([*BLOCKS, Figure("drawing", (result(62),))]).split("</head>\n")[1].removesuffix("</html>\n")
    assert ET.fromstring(body).tag == "body"


def test_markdown_keeps_a_text_on_its_line_and_in_its_cell():
    written = as_markdown(BLOCKS)
    assert "<script>" not in written and "\n# no heading" not in written
    rows = [line for line in written.splitlines() if line.startswith("| ") and "---" not in line]
    # two cells, so three borders that are not escaped
    assert [line.replace(r"\|", "").count("|") for line in rows] == [3, 3]


def circle_of(n_right):
    """The circle of an attack; the other circle belongs to the legend."""
    root = ET.fromstring(draw_attacks([result(n_right)], "caption", "name"))
    return max((one for one in root.iter() if one.tag.endswith("circle")), key=lambda one: float(one.get("cy")))


@pytest.mark.parametrize("n_right", [0, 37, 100])
def test_an_attack_is_drawn_in_proportion(n_right):
    left, right, drawn = (float(circle_of(n).get("cx")) for n in (0, 100, n_right))
    assert left < right
    assert drawn == pytest.approx(left + (right - left) * n_right / 100, abs=0.1)


NAME = "inversion by a decoder that the recipient trained on notes of the same specialty, " * 3


@pytest.mark.parametrize("name", ["noise test", NAME])
def test_a_fault_looks_no_better_than_an_invalid_attack(name):
    """The row of a fault looked like the row of a valid attack, and a long name cut the status off the figure."""
    faulty = replace(result(0), name=name, faults=("The noise has half of the stated scale.",))
    drawn = ET.fromstring(draw_attacks([faulty], "caption", "name"))
    lines = [(one.text, one.get("fill")) for one in drawn.iter() if one.get("text-anchor") == "end"]
    assert len(lines) <= 3 and lines[-1][0].endswith("(FAULT)") and {fill for _, fill in lines} == {"#a40000"}
    assert " ..." in "".join(text for text, _ in lines) or name == "noise test"
    assert '<tr class="invalid">' in as_html([Table("attacks", ("attack", "status"), ((name, "FAULT"),))])
