"""Notes of turned pages are withheld, and ordinary notes, lists and tables are not."""

import math
import random
import time
from itertools import zip_longest

import pytest

from sklearn_deid import make_clinical_notes
from sklearn_deid.text import unreadable_reason
from sklearn_deid.text.rotated_pages import alternation, is_rotated

NOTES = [note.text for note in make_clinical_notes(16, random_state=3)]


def columns(text, width=60):
    """Lines of a page of this width, as the columns of a turned page."""
    lines = [line[i : i + width] for line in text.splitlines() for i in range(0, max(1, len(line)), width)]
    return ["".join(column) for column in zip_longest(*lines, fillvalue=" ")]


TURNED = {
    "clockwise": lambda text: [column[::-1] for column in columns(text)],
    "counterclockwise": lambda text: columns(text)[::-1],
    "mirrored": columns,
    "without blanks at the ends": lambda text: [column.rstrip() for column in columns(text)],
    "long lines": lambda text: columns(text, 400),
}


@pytest.mark.parametrize("way", TURNED)
def test_a_turned_page_is_withheld(way):
    """starter-en left 98 % of the PHI of such notes, and withheld two of five as unlike its training notes."""
    reasons = [unreadable_reason("\n".join(TURNED[way](text))) for text in NOTES]
    assert sum(reason is not None and "turned" in reason for reason in reasons) >= 15
    assert not any(map(is_rotated, NOTES))


def test_without_blanks_the_letters_of_long_notes_are_in_no_order():
    turned = ["\n".join("".join(column.split()) for column in columns(text)) for text in NOTES if len(text) > 1500]
    assert all(map(is_rotated, turned))
    assert is_rotated("\r\n".join(turned[0].split("\n")).upper())


@pytest.mark.parametrize(
    "text",
    [
        "Die Patientin kam mit ihrem Mann zur Aufnahme.\n" * 9,
        "Paciente vista en urgencias: dolor torácico.\n" * 9,
        "HTN\nCKD\nCOPD\nGERD\nDM\nCHF\nPVD\nCVA\nDVT\nOSA\nBPH\nESRD\n" * 12,
        "WBC 7.2  Hgb 12.1  Hct 36  Plt 210\nBUN 12  Cr 0.9  K 4.2  Cl 102\nPT 12  PTT 31  INR 1.1  TSH 2.1\n" * 12,
        "MRN XJ-88213  BX 7781 KDR\nRef: QRT/BNX/0142/PLM\n" * 12,
        "\n".join("Seen by Rowan Otis on March 14 in the new clinic for pain and rash."),
        "Pacjent przyj\u0119ty z powodu b\u00f3lu w klatce piersiowej\n" * 12,
        "B\u1ec7nh nh\u00e2n \u0111\u01b0\u1ee3c kh\u00e1m t\u1ea1i ph\u00f2ng v\u00ec \u0111au ng\u1ef1c\n" * 20,
        "Bingren yin xiongtong lai yuan jiuzhen, jiwangshi gaoxueya\n" * 12,
        "\u0411\u043e\u043b\u044c\u043d\u043e\u0439 \u043e\u0441\u043c\u043e\u0442\u0440\u0435\u043d\n" * 20,
        "Mr. Mr. Mr. Mr. Mr. Mr. AlderAlderAlderAlderAlder\r\n\n\n- \n\n- \n\n- ",
        "BCDFG\n" * 40 + "HKLMN PQRST VWXZB\n",
        "n" * 9000,
        "|  |  |\n" * 40,
        "\n" * 40,
        "",
    ],
)
def test_ordinary_notes_lists_and_tables_are_read(text):
    assert not is_rotated(text)


def test_random_letters_alternate_as_expected():
    letters = "".join(random.Random(0).choices("vcc", k=30_000))
    assert abs(alternation(letters, 5)[0]) < 3
    assert alternation("vc" * 50, 5)[0] > 9
    assert alternation("c" * 50, 5) == (math.inf, 49)


@pytest.mark.parametrize("unit", ["qx\n", "x" * 40 + "\n", "qxzvkw ", "b\n" * 40 + "c" * 40 + "\n"])
def test_time_is_linear(unit):
    def seconds(n):
        start = time.process_time()
        is_rotated(unit * n + "z" * n)
        return time.process_time() - start

    assert min(seconds(1600) for _ in range(3)) < 20 * min(seconds(200) for _ in range(3)) + 0.01
