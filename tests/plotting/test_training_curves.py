"""Learning curves show the rows of the training, phase by phase."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sklearn_deid import PrivateRepresenter, WordVectors
from sklearn_deid.plotting import TrainingCurvesDisplay
from sklearn_deid.representations import ThreePart


def row(phase, epoch, **numbers):
    return {"phase": phase, "epoch": epoch, "seconds": 0.1, **numbers}


def judged(names, accuracy, start=""):
    return {f"{start}{n}_{m}": accuracy + i / 100 for i, n in enumerate(names) for m in ("accuracy", "loss")}


def adversarial(adversary, n_rounds=3, reversal=False):
    """As the trainings log it: paper's rule scores after P3b, the robust one after P3a, with a probe before its row."""
    paper = adversary == "paper"
    names = ["t1", "t2", "average"] if paper else ["t1", "t2"]
    rows = [row("P1", e, deid_loss=9.0 / e, valid_deid_loss=8.0 / e, valid_token_f1=0.3 * e) for e in (1, 2, 3)]
    rows += [row("P2", e, **judged(names, 0.6), **judged(names, 0.5 + e / 10, "valid_")) for e in (1, 2)]
    rows.append(row("control", 1, **{f"{n}_accuracy": 0.93 for n in names}))
    for r in range(1, n_rounds + 1):
        trained = {"deid_loss": 3.0 + r, **judged(names, 0.5 + r / 100)}
        scored = {"valid_deid_loss": 3.5 - r / 10, "valid_token_f1": 0.9, "combined_loss": abs(r - 2.0)}
        scored |= judged(names, 0.55, "valid_")
        probe = [] if paper or r % 2 else [row("probe", 1, round=r, t2_accuracy=0.7)]
        if reversal:
            rows += [*probe, row("DANN", r, **trained, **scored)]
        else:
            first, second = (scored, {}) if paper else ({}, scored)
            rows += [row("P3b", r, **trained, **first), *probe, row("P3a", r, **trained, **second)]
    return rows


def bounded(n=4, valid=True):
    held_out = {"valid_deid_loss": 2.0, "valid_token_f1": 0.8} if valid else {}
    return [
        row("bounded", e, train_deid_loss=5.0 / e, **held_out, mean_accuracy=0.6 - e / 50, quantile_accuracy=0.7)
        for e in range(1, n + 1)
    ]


HISTORIES = {
    "paper": adversarial("paper"),
    "strong": adversarial("strong"),
    "dann": adversarial("strong", reversal=True),
    "bounded": bounded(),
}


@pytest.fixture(scope="module")
def plotted():
    """Function that returns the display of a history, which is plotted once. Do not change it."""
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib (extra 'plot') is not installed")
    matplotlib.use("Agg")  # this fixture is set up before the one of all tests of figures
    return cache(lambda name: TrainingCurvesDisplay(HISTORIES[name]).plot())


def epochs_of(history):
    return [r for r in history if r["phase"] not in ("control", "probe")]


@pytest.mark.parametrize("name", HISTORIES)
def test_lines_are_the_rows(name, plotted):
    display = plotted(name)
    drawn = [key for key in display.lines_ if not key.startswith(("control", "probe"))]
    assert drawn
    for key in drawn:
        found = display.lines_[key].get_xydata()
        expected = [(i, r[key]) for i, r in enumerate(epochs_of(HISTORIES[name]), 1) if key in r]
        assert found[~np.isnan(found[:, 0])].tolist() == [list(map(float, point)) for point in expected]
    display.figure_.canvas.draw()


@pytest.mark.parametrize(
    ("name", "phases"),
    [
        ("paper", {"P1": (0.5, 3.5), "P2": (3.5, 5.5), "P3": (5.5, 11.5)}),
        ("strong", {"P1": (0.5, 3.5), "P2": (3.5, 5.5), "P3": (5.5, 11.5)}),
        ("dann", {"P1": (0.5, 3.5), "P2": (3.5, 5.5), "DANN": (5.5, 8.5)}),
        ("bounded", {"bounded": (0.5, 4.5)}),
    ],
)
def test_phases_are_shaded_in_each_of_the_axes_and_named(name, phases, plotted):
    display = plotted(name)
    assert list(display.axes_) == ["loss", "f1", "accuracy"]
    found = {phase: {(p.get_x(), p.get_x() + p.get_width()) for p in ps} for phase, ps in display.phases_.items()}
    assert found == {phase: {ends} for phase, ends in phases.items()}
    for patches in display.phases_.values():
        assert [p.axes for p in patches] == list(display.axes_.values())
    neighbours = [patches[0].get_facecolor() for patches in display.phases_.values()]
    assert all(a != b for a, b in pairwise(neighbours))
    assert len(display.phase_labels_) == len(phases)


@pytest.mark.parametrize("lengths", [(20, 20, 40), (8, 3, 60), (30, 30, 1)])
def test_names_of_phases_do_not_overlap(lengths):
    p1, p2, n_rounds = lengths
    history = [row("P1", e, deid_loss=1.0) for e in range(1, p1 + 1)]
    history += [row("P2", e, valid_t2_accuracy=0.6) for e in range(1, p2 + 1)]
    history += [row(p, e, deid_loss=1.0) for e in range(1, n_rounds + 1) for p in ("P3b", "P3a")]
    display = TrainingCurvesDisplay(history).plot()
    display.figure_.draw_without_rendering()
    boxes = [label.get_window_extent() for label in display.phase_labels_]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
    assert all(box.y0 >= display.axes_["loss"].bbox.y1 for box in boxes)


def test_no_line_joins_two_phases_that_are_apart(plotted):
    x = plotted("paper").lines_["deid_loss"].get_xdata()
    assert np.isnan(x[3]) and x[[2, 4]].tolist() == [3, 6]


def test_control_and_probes_stand_where_they_were_measured():
    display = TrainingCurvesDisplay(adversarial("strong", n_rounds=4)).plot()
    assert display.lines_["control_t2"].get_xydata().tolist() == [[5, 0.93]]
    # Rounds 2 and 4 end with epochs 9 and 13.
    assert display.lines_["probe_t2"].get_xydata().tolist() == [[9, 0.7], [13, 0.7]]
    assert "control_t1" not in display.lines_


def test_the_adversary_that_judges_is_shown_while_it_learns(plotted):
    paper = plotted("paper").lines_
    assert "average_accuracy" in paper and "valid_t2_accuracy" in paper and "t2_accuracy" not in paper
    assert "t2_accuracy" in plotted("strong").lines_


def test_chance_and_what_was_asked_for_are_lines(plotted):
    display = TrainingCurvesDisplay(bounded(), max_attack_accuracy=0.54, quantile_attack_accuracy=0.6).plot()
    levels = {line.get_label(): set(line.get_ydata()) for line in display.axes_["accuracy"].lines}
    assert levels["chance"] == {0.5}
    assert levels["mean asked for: 0.54"] == {0.54}
    assert levels["quantile asked for: 0.6"] == {0.6}
    losses = plotted("paper").axes_["loss"]
    assert any(set(line.get_ydata()) == {math.log(2)} for line in losses.lines)


@pytest.mark.parametrize(("name", "selected", "place"), [("paper", 2, 8), ("strong", 2, 9), ("dann", 3, 8)])
def test_the_round_that_was_kept_is_marked(name, selected, place, plotted):
    display = TrainingCurvesDisplay(HISTORIES[name], selected_round=selected).plot()
    assert [set(line.get_xdata()) for line in display.selected_] == [{place}] * 3
    assert plotted(name).selected_ == []


def test_without_held_out_patients_there_is_no_f1():
    display = TrainingCurvesDisplay(bounded(valid=False)).plot()
    assert list(display.axes_) == ["loss", "accuracy"]
    assert list(display.lines_) == ["train_deid_loss", "mean_accuracy", "quantile_accuracy"]


def test_interrupted_in_the_first_phase_and_missing_values():
    history = adversarial("strong")[:2]
    history[1] |= {"valid_token_f1": float("nan"), "valid_deid_loss": None}
    display = TrainingCurvesDisplay(history).plot()
    assert (list(display.axes_), list(display.phases_)) == (["loss", "f1"], ["P1"])
    assert display.lines_["valid_deid_loss"].get_xydata().tolist() == [[1, 8.0]]
    losses_only = TrainingCurvesDisplay([row("P1", 1, deid_loss=1.0)]).plot()
    assert list(losses_only.axes_) == ["loss"]


@pytest.mark.parametrize("selected", [0, 2])
def test_estimators_tell_what_they_kept(selected):
    fitted = PrivateRepresenter(training=ThreePart())
    fitted.history_, fitted.selected_round_, fitted.training_ = HISTORIES["paper"], selected, ThreePart()
    display = TrainingCurvesDisplay.from_estimator(fitted)
    assert display.selected_round == (selected or None)
    assert bool(display.plot().selected_) is bool(selected)


def test_real_training():
    vectors = WordVectors(["alder", "birch", "dr", "pain"], [[1, 0.1], [1, 0.2], [-1, 0], [0, 1]], is_public=True)
    X, y = [["Dr", "Alder"], ["pain"], ["Dr", "Birch"]] * 10, [["O", "B-DOCTOR"], ["O"], ["O", "B-DOCTOR"]] * 10
    representer = PrivateRepresenter(
        embeddings=vectors, n_neighbors=2, n_components=4, max_epochs=2, random_state=0, validation_fraction=0.3
    )
    with pytest.raises(NotFittedError, match="not fitted"):
        TrainingCurvesDisplay.from_estimator(representer)
    display = TrainingCurvesDisplay.from_estimator(representer.fit(X, y)).plot()
    bounded = [row for row in representer.history_ if row["phase"] == "bounded"]
    assert display.lines_["mean_accuracy"].get_ydata().tolist() == [row["mean_accuracy"] for row in bounded]
    assert (display.max_attack_accuracy, display.quantile_attack_accuracy) == (0.54, 0.6)


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ([], "at least one epoch"),
        ([row("control", 1, t2_accuracy=0.9)], "at least one epoch"),
        ([row("P1", 1), {"epoch": 2}], "Row 1 of the history lacks phase"),
        ([{"phase": "P1"}], "Row 0 of the history lacks epoch"),
        ([row("P1", 1, deid_loss="low")], "must hold numbers. Got str for 'deid_loss'"),
    ],
)
def test_wrong_rows(history, message):
    with pytest.raises(ValueError, match=message):
        TrainingCurvesDisplay(history)


def test_wrong_round_and_wrong_number_of_axes():
    from matplotlib import pyplot

    with pytest.raises(ValueError, match="one of the 3 rounds of the history. Got 4"):
        TrainingCurvesDisplay(HISTORIES["paper"], selected_round=4)
    display = TrainingCurvesDisplay(HISTORIES["paper"])
    axes = pyplot.subplots(3)[1]
    assert list(display.plot(axes).axes_.values()) == list(axes)
    with pytest.raises(ValueError, match="'axes' parameter must hold 3 axes. Got 2"):
        display.plot(axes[:2])
