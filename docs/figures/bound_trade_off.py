"""The picture of docs/private_representation.md: F1 against the bound, 500 generated notes, N = 100, seed 0.

    python docs/figures/bound_trade_off.py

The numbers are in docs/results, as `python -m benchmarks.private_representation` printed them: private_500_notes.json,
and for the notes without noise private_raw.json.
Left: strict typed span F1 of a recipient; right: token F1 of the provider's own tagger.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
BLUE, GRAY = "#1f4e79", "#777777"
ARMS = ("bounded-100-at-0.52", "bounded-100", "bounded-100-at-0.6", "bounded-100-at-0.7", "unbounded")
PANELS = (
    ("shared_strict_f1", "Recipient of one release", "strict span F1, %"),
    ("joint_token_f1", "Provider's own tagger", "token F1, %"),
)


def reference(n_notes, seed=0):
    """Scores of the tagger without noise."""
    path = HERE.parent / "results" / "private_raw.json"
    runs = json.loads(path.read_text(encoding="utf-8"))["results"]
    return next(run for run in runs if (run["arm"], run["notes"], run["seed"]) == ("raw", n_notes, seed))


def main():
    path = HERE.parent / "results" / "private_500_notes.json"
    rows = {row["arm"]: row for row in json.loads(path.read_text(encoding="utf-8"))["results"]}
    raw_row = reference(500)
    bounds = [100 * rows[arm]["bound_mean_accuracy"][0] for arm in ARMS]
    figure, panels = plt.subplots(1, 2, figsize=(9.2, 3.4), layout="constrained")
    for axes, (measure, title, label) in zip(panels, PANELS, strict=True):
        raw = 100 * raw_row[measure.replace("joint", "shared")]  # raw notes have no joint tagger
        axes.plot(bounds, [100 * rows[arm][measure][0] for arm in ARMS], "o-", color=BLUE, label="bounded training")
        axes.axhline(raw, color=GRAY, linestyle="--", linewidth=1, label="raw notes")
        axes.axvline(50, color=GRAY, linestyle=":", linewidth=1, label="guessing")
        axes.set(title=title, ylabel=label)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    panels[1].legend(frameon=False, loc="lower right", fontsize=9)
    figure.supxlabel("bound: mean accuracy of the best attacker on one token, %", fontsize=10)
    figure.savefig(HERE / "bound_trade_off.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
