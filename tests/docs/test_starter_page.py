"""The page for notes without annotations says what "starter-en" does, and has the figures of its card."""

import re
from pathlib import Path

import pytest

import sklearn_deid
from sklearn_deid import load_model

from .pages import ROOT

PAGE = re.sub(r"\s+", " ", (ROOT / "docs" / "how_to" / "no_annotations.md").read_text(encoding="utf-8"))
CARD = Path(sklearn_deid.__file__).parent / "tagging" / "starter_en" / "README.md"
NOTES = ("rounds", "handovers")


@pytest.fixture(scope="module")
def starter():
    return load_model()


def test_recall_and_bias_of_the_card():
    card = CARD.read_text(encoding="utf-8")
    rounds, handovers = (re.search(rf'^\| "{name}": [^|]+\| \d+ \| 0\.(\d\d)(\d) ', card, re.M) for name in NOTES)
    assert f"finds {'.'.join(rounds.groups())} and {'.'.join(handovers.groups())} % of the PHI words" in PAGE
    (bias,) = re.findall(r"The decision bias is \*\*(.+?)\*\*", card)
    assert f"adds the decision bias, which is {bias}, to" in PAGE


@pytest.mark.parametrize(("label", "is_hidden"), [("Age:", True), ("Age", False), ("age:", False)])
def test_ages_below_their_labels(starter, label, is_hidden):
    assert 'such as "Age:" above "94". The starter leaves most ages below "Age" or "age:"' in PAGE
    (note,) = starter.redact([f"Sex\nF\n{label}\n94\nWeight\n61 kg\n"])
    assert ("94" not in note) == is_hidden
