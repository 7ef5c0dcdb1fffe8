"""The picture of README and home: the cost of private vectors for two parties, against what an adversary reads.

    python docs/figures/privacy_usefulness.py

Left: points of strict typed span F1 that a recipient loses who trains a `DeidTagger` on one release. Right: points of
token F1 ("is PHI") that the provider's own tagger loses; word classes have none. The reader of filled and open marks of
bounded training and of the training of the paper is the strong adversary T2, newly trained. With public notes first it
is the bound, and for word classes the exact best attacker. The numbers are in docs/results/private_*.json, as `python
-m benchmarks.private_representation` printed them.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt
from bound_trade_off import reference

HERE = Path(__file__).parent
BLUE, ORANGE, GREEN, GRAY = "#1f4e79", "#c55a11", "#38761d", "#777777"
# notes, arms, colour, marker, filled, legend
SERIES = (
    (2000, ("bounded-10", "bounded-100", "bounded-500", "bounded-1000"), BLUE, "o", True),
    (500, ("bounded-100",), BLUE, "o", False),
    (100, ("three-part-10", "three-part-100"), ORANGE, "s", True),
)
NAMES = {
    2000: "bounded training, 2,000 notes, N = 10 to 1,000",
    500: "bounded training, 500 notes, N = 100",
    100: "training of the paper, 100 notes, N = 10 and 100",
}
# file, arms, notes, colour, marker, legend; points are means over the seeds
SEEDED = (
    ("public_start", ("public-100",), 500, BLUE, "^", "public notes first, 500 notes, N = 100"),
    ("public_start", ("public-100",), 100, BLUE, "v", "public notes first, 100 notes, N = 100"),
    ("classes", ("classes-5", "classes-20"), 100, GREEN, "P", "word classes, 100 notes, k = 5 and 20 (right to left)"),
)
# measure, its reference on raw notes, title, label of the axis
PANELS = (
    ("shared_strict_f1", "Recipient of one release", "points of strict span F1 lost"),
    ("joint_token_f1", "Provider's own tagger", "points of token F1 lost"),
)


def rows_of(n_notes):
    """Rows of a benchmark by arm."""
    path = HERE.parent / "results" / f"private_{n_notes}_notes.json"
    return {row["arm"]: row for row in json.loads(path.read_text(encoding="utf-8"))["results"]}


def seeded_points(file, arm, n_notes, measure):
    """Mean share of pairs that are told apart, and mean loss in points, over the seeds; None without the measure."""
    path = HERE.parent / "results" / f"private_{file}.json"
    found = json.loads(path.read_text(encoding="utf-8"))["results"]
    rows = [row for row in found if (row["arm"], row["corpus"], row["notes"]) == (arm, "generated", n_notes)]
    # What a recipient reads is called "shared" where the recipient starts from random weights, as for word classes.
    own = measure if file == "classes" else measure.replace("shared", "recipient")
    if own not in rows[0]:
        return None
    raw = measure.replace("joint", "shared")
    # Taggers without noise that were trained beside these runs come first.
    beside = {row["seed"]: row for row in found if (row["arm"], row["notes"]) == ("raw", n_notes)}
    lost = [(beside.get(row["seed"]) or reference(n_notes, row["seed"]))[raw] - row[own] for row in rows]
    told = [row["classes"]["pair_accuracy"] if file == "classes" else row["bound"]["mean_accuracy"] for row in rows]
    return 100 * sum(told) / len(told), 100 * sum(lost) / len(lost)


def draw(axes, measure, title, label):
    """One panel."""
    raw = measure.replace("joint", "shared")  # raw notes have no representer, hence no joint tagger
    for n_notes, arms, colour, marker, filled in SERIES:
        rows, without_noise = rows_of(n_notes), reference(n_notes)
        read = [100 * rows[arm]["fresh_strong_t2"][0] for arm in arms]
        lost = [100 * (without_noise[raw] - rows[arm][measure][0]) for arm in arms]
        face = colour if filled else "white"
        axes.plot(read, lost, marker, color=colour, markerfacecolor=face, linestyle="", label=NAMES[n_notes])
    for file, arms, n_notes, colour, marker, name in SEEDED:
        points = [seeded_points(file, arm, n_notes, measure) for arm in arms]
        if None not in points:
            axes.plot(*zip(*points, strict=True), marker, color=colour, linestyle="", label=name)
    open_vectors = 100 * rows_of(2000)["bounded-100"]["positive_control_t2"][0]
    axes.plot(open_vectors, 0, "D", color=GRAY, linestyle="", label="unprotected vectors")
    axes.axvline(50, color=GRAY, linewidth=1, linestyle=":", label="guessing")
    axes.set(xlim=(47, 101), title=title, ylabel=label)
    axes.set_xlabel("private  ←  pairs distinguished, %  →  open")
    axes.invert_yaxis()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def main():
    plt.rcParams["svg.hashsalt"] = "privacy usefulness"  # the same numbers give the same file
    figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.3), layout="constrained")
    for axes, (measure, title, label) in zip(panels, PANELS, strict=True):
        draw(axes, measure, title, label)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    figure.savefig(HERE / "privacy_usefulness.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
