"""Lines that are cut inside of words are joined in a further reading; wrapped lines and tables are not."""

import textwrap

import pytest

from sklearn_deid import make_clinical_notes
from sklearn_deid.text.cut_lines import without_cuts

PROSE = (
    "She was seen in the clinic by Dr. Otis Alder on the third of May and told us that she had slept badly for a week "
    "and that she had no pain at the time of the visit. Her mother was with her and spoke to the nurse on our ward for "
    "an hour before both of them were driven home by a neighbour who had a car."
)
NOTES = [note.text for note in make_clinical_notes(16, random_state=3)]


def cut(text, width, end="\n"):
    lines = text.split("\n")
    return end.join(line[i : i + width] for line in lines for i in range(0, max(1, len(line)), width))


@pytest.mark.parametrize("width", [20, 40, 60])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_words_are_whole_in_the_reading(width, end):
    """starter-en left a tenth of the PHI of such notes, because most names were cut."""
    text = f"Letter\n{PROSE}\n\nPlan: home.\n{PROSE}"
    assert without_cuts(cut(text, width, end)).text == text.replace("\n", end)


def test_each_character_has_its_place():
    written = cut(PROSE, 20)
    read = without_cuts(written)
    at = read.text.index("Alder")
    assert "".join(written[a:b] for a, b in read.originals(at, at + 5)) == "Alder"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n" * 9,
        PROSE,
        textwrap.fill(PROSE * 3, 60),
        "\n".join(line.replace(" ", "  ", 40 - len(line)).ljust(40, ".") for line in textwrap.wrap(PROSE * 3, 40)),
        "Alder   Otis   03/14 \nBirch   Anna   04/12 \n" * 6,
        "9f86d081884c7d659a2feaa0c55ad015\n" * 9,
        "pain and cough\n" * 9,
    ],
)
def test_wrapped_lines_and_tables_are_not_joined(text):
    assert without_cuts(text) is None
    assert not any(map(without_cuts, NOTES))
