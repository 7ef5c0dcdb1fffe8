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


@pytest.mark.parametrize(("label", "is_hidden"), [("Age:", True), ("Age", True), ("age:", True), ("age", False)])
def test_ages_below_their_labels(starter, label, is_hidden):
    assert '"Age" above "94"' in PAGE and "A label of small letters needs a colon" in PAGE
    (note,) = starter.redact([f"Sex\nF\n{label}\n94\nWeight\n61 kg\n"])
    assert ("94" not in note) == is_hidden


def test_history_has_the_training_of_the_model_that_ships():
    history = (ROOT / "docs" / "starter_history.md").read_text(encoding="utf-8")
    card = CARD.read_text(encoding="utf-8")
    of_visits, with_phi = (re.findall(rf'^\| {row}"(\w+)": ', card, re.M) for row in ("notes of visits ", ""))
    assert len(of_visits) > 10 and len(with_phi) == 4
    assert {name for name in [*of_visits, *with_phi] if f'"{name}"' not in history} == set()
    (n_stages,) = set(re.findall(r"From stage 11 of (\d+) on", card))
    assert f"continued to {n_stages} stages" in re.sub(r"\s+", " ", history)
    # The figures of the card are in the last table of the history.
    last = history.rsplit("\n## ", 1)[1]
    for name in NOTES:
        (found,) = re.findall(rf'^\| "{name}": [^|]+\| \d+ \| (0\.\d+) ', card, re.M)
        assert found in last
