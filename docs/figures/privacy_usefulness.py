"""The picture of the README: what private vectors cost, and what a fresh adversary reads of them.

    python docs/figures/privacy_usefulness.py

Its numbers are in docs/results/private_*_notes.json: what `python -m benchmarks.private_representation` printed, with
its settings in them. Usefulness is the token F1 of the tagger that was trained along (three-part: of a `DeidTagger` on
one release); the reader is the strong adversary T2.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
BLUE, ORANGE, GRAY = "#1f4e79", "#c55a11", "#777777"
# file, arms, measure, colour, marker, filled, what the legend says
SERIES = (
    (2000, ("bounded-10", "bounded-100", "bounded-500", "bounded-1000"), "joint", BLUE, "o", True),
    (500, ("bounded-100",), "joint", BLUE, "o", False),
    (100, ("three-part-10", "three-part-100"), "shared", ORANGE, "s", True),
)
NAMES = {
    2000: "bounded training, 2,000 notes, N = 10 to 1,000",
    500: "bounded training, 500 notes, N = 100",
    100: "training of the paper, 100 notes, N = 10 and 100",
}


def rows_of(n_notes):
    """Rows of a benchmark by arm."""
    path = HERE.parent / "results" / f"private_{n_notes}_notes.json"
    return {row["arm"]: row for row in json.loads(path.read_text(encoding="utf-8"))["results"]}


def main():
    plt.rcParams["svg.hashsalt"] = "privacy usefulness"  # the same numbers give the same file
    figure, axes = plt.subplots(figsize=(8, 3.3), layout="constrained")
    for n_notes, arms, measure, colour, marker, filled in SERIES:
        rows = rows_of(n_notes)
        read = [100 * rows[arm]["fresh_strong_t2"][0] for arm in arms]
        lost = [100 * (rows["raw"]["shared_token_f1"][0] - rows[arm][f"{measure}_token_f1"][0]) for arm in arms]
        face = colour if filled else "white"
        axes.plot(read, lost, marker, color=colour, markerfacecolor=face, linestyle="", label=NAMES[n_notes])
    open_vectors = 100 * rows_of(2000)["bounded-100"]["positive_control_t2"][0]
    axes.plot(open_vectors, 0, "D", color=GRAY, label="vectors as they are")
    axes.axvline(50, color=GRAY, linewidth=1, linestyle=":")
    axes.set(xlim=(48, 101), ylim=(2.2, -0.15))
    axes.set_xlabel("private  ←  pairs that a fresh strong adversary tells apart, % (guessing: 50)  →  open")
    axes.set_ylabel("points of token F1 lost\nagainst raw notes")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, loc="lower right", fontsize=9)
    figure.savefig(HERE / "privacy_usefulness.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
