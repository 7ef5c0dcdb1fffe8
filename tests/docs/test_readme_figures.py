"""The figures of README that docs/results holds are those of docs/results."""

import json
import re

import pytest

from .pages import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def results(name):
    return json.loads((ROOT / "docs" / "results" / f"{name}.json").read_text(encoding="utf-8"))["results"]


def cells(start):
    """Cells of the only table row that begins with some cells; ".*?" stands for any text."""
    pattern = re.compile(re.escape(f"| {start} |").replace(re.escape(".*?"), ".*?"))
    rows = [line.strip("| ") for line in README.splitlines() if pattern.match(line)]
    assert len(rows) == 1, rows
    return re.split(r"\s*\|\s*", rows[0])


@pytest.mark.parametrize(
    ("file", "arm", "measure", "row", "notes"),
    [
        ("public_start", "public-100", "recipient", "private vectors, after generated public notes", 100),
        ("public_start", "public-100", "recipient", "private vectors, after generated public notes", 500),
        (
            *("surrogates", "surrogates-100", "recipient"),
            *("private vectors, surrogates in front, after generated public notes", 500),
        ),
        ("classes", "classes-20", "shared", "word classes, k = 20", 500),
    ],
)
def test_what_a_recipient_loses_to_vectors_without_noise(file, arm, measure, row, notes):
    def of(name, arm):
        found = [run for run in results(name) if (run["corpus"], run["notes"], run["arm"]) == ("generated", notes, arm)]
        return {run["seed"]: run for run in found}

    runs = of(f"private_{file}", arm).values()
    # Taggers without noise that were trained beside these runs come first.
    beside = of(f"private_{file}", "raw") or of("private_raw", "raw")
    raw = {seed: run["shared_strict_f1"] for seed, run in beside.items()}
    lost = {run["seed"]: 100 * (raw[run["seed"]] - run[f"{measure}_strict_f1"]) for run in runs}
    _, _, seeds, points, _ = cells(f"{row} | {notes} generated")
    assert seeds == ", ".join(map(str, sorted(lost)))
    assert points == ", ".join(f"{lost[seed]:.1f}" for seed in sorted(lost))


@pytest.mark.parametrize(
    ("name", "row", "shown"),
    [
        ("private_2000_notes_seeds", "private vectors | 2,000 generated", "{0:.2f} ± {1:.2f}"),
        ("private_500_notes", "private vectors | 500 generated", "{0:.1f}"),
    ],
)
def test_what_a_recipient_of_private_vectors_loses_without_public_notes(name, row, shown):
    (run,) = (run for run in results(name) if run["arm"] == "bounded-100")
    found = cells(row)
    for cell, kind in ((found[3], "strict"), (found[4], "token")):
        mean, low, _ = run[f"shared_{kind}_f1_points_lost_to_raw"]
        assert cell == shown.format(mean, mean - low)


def test_what_a_recipient_of_private_vectors_of_meddocan_loses():
    raw, run, *_ = results("private_meddocan_recipients")
    lost = [100 * (raw[f"shared_{kind}_f1"] - run[f"recipient_{kind}_f1"]) for kind in ("strict", "token")]
    assert cells("private vectors | 500 of MEDDOCAN")[3:] == [f"{points:.1f}" for points in lost]


def test_recall_and_f1_are_the_same_in_both_tables():
    """The first table had a recall of 98.5, and the second table single seeds with a mean of 98.6."""

    def mean(text):
        numbers = [float(number) for number in text.split(", ")]
        return f"**{sum(numbers) / len(numbers):.1f}**"

    recall = cells("recall and precision of PHI tokens under any label, `NoteDeidentifier()` .*?")[1].split(";")[0]
    assert cells("recall of PHI tokens under any label in percent, same notes")[1] == mean(recall)
    f1 = re.search(r"\((.*?)\)", cells("strict span F1, `NoteDeidentifier.*?")[1])[1]
    assert cells("strict span F1 in percent, MEDDOCAN dev, 500 training notes")[1] == mean(f1)


@pytest.mark.parametrize(
    ("corpus", "row"),
    [("eds-pseudo", "French templates (eds-pseudo, 116)"), ("asq-phi", "English queries (ASQ-PHI, 526)")],
)
def test_languages(corpus, row):
    ours, theirs = (results("languages")[f"{corpus}/{model}/all"] for model in ("note", "crf"))
    _, notes, f1, hidden = cells(row)
    assert int(notes) == round(ours["notes"])
    for cell, values in (
        (f1, (ours["strict_f1"][0], theirs["strict_f1"][0])),
        (hidden, (ours["recall"], theirs["recall"])),
    ):
        # the stored values are rounded to four digits
        assert [float(value) for value in re.findall(r"[\d.]+", cell)] == pytest.approx(
            [100 * value for value in values], abs=0.0501
        )


def test_accuracies_on_patients_and_chosen_pairs_after_public_notes():
    """README named the 95 % quantile of a representer from random weights only."""

    def values(part, measure, notes):
        runs = [run for run in results("private_public_start") if run["notes"] == notes and "bound" in run]
        return [100 * run["bound"][part][f"{measure}_accuracy"] for run in runs]

    means, quantiles = (values("patients", measure, 500) for measure in ("mean", "quantile"))
    assert max(quantiles) > 99.95
    stated = f"accuracy is {min(means):.0f} to {max(means):.0f} %, and the quantile {min(quantiles):.1f} to over 99.9 %"
    assert stated in re.sub(r"\s+", " ", README)
    more, quantiles = (values("patients", measure, 2000) for measure in ("mean", "quantile"))
    assert min(quantiles) > 99.9
    stated = f"with 2,000 notes {min(more):.0f} to {max(more):.0f} %, and over 99.9 %"
    assert stated in re.sub(r"\s+", " ", README)
    chosen, of_queries = (
        ", ".join(f"{value:.0f}" for value in values("worst_neighbor", "mean", n)) for n in (500, 263)
    )
    assert f"(after generated public notes: {chosen} %; on queries of ASQ-PHI: {of_queries} %)" in README


def test_accuracy_on_a_patient_with_the_released_casing():
    (run,) = (run for run in results("private_casing") if run["arm"] == "open")
    (row,) = (line for line in README.splitlines() if "also reads the released casing" in line)
    alone, both = run["bound_patients"][0], run["bound_patients_with_casing"][0]
    assert f"vectors alone: {100 * alone:.0f} %" in row
    assert row.endswith(f"| {100 * both:.0f} % |")
