"""The runs of `benchmarks.audit` as one Markdown table: a row for each attack, a column for each representation.

    python -m benchmarks.audit_table --runs runs.jsonl

Cells are the figures of one seed with their 95 % intervals, in percent.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sklearn_deid.text.markdown import markdown_table

RANKED = {"top1": "ranked first", "top5": "among the first five", "pairwise": "right one of two"}
WEAK_BAR = 0.9


def key_of(result: dict) -> tuple[str, str | None]:
    """What makes two rows the same attack."""
    return result["name"], result["settings"].get("measure")


def label_of(key: tuple[str, str | None]) -> str:
    """The name of an attack, with the rank that counts."""
    name, measure = key
    return f"{name}: {RANKED[measure]}" if measure in RANKED else name


def share(value: float) -> str:
    """In percent, with a decimal where that says more."""
    return f"{100 * value:.1f}" if 0 < value < 0.095 else f"{100 * value:.0f}"


def cell(result: dict | None) -> str:
    """Figure and interval, or why there is none."""
    if result is None:
        return ""
    if result["attack"] is None:
        return "skipped"
    found = result["attack"]
    text = f"{share(found['value'])} ({share(found['low'])} to {share(found['high'])})"
    if result["settings"].get("bound"):
        return text
    control = result["positive_control"]
    if result["settings"].get("adversary") == "paper" and control is not None and control["value"] < WEAK_BAR:
        text += f"; control {share(control['value'])}"
    return text if result["status"] == "ok" else f"{text}; invalid"


def guess(results: list[dict]) -> str:
    """What is guessed without the release; a range where it differs."""
    values = sorted(r["baseline"]["value"] for r in results if r["baseline"] is not None)
    if not values:
        return ""
    return share(values[0]) if share(values[0]) == share(values[-1]) else f"{share(values[0])} to {share(values[-1])}"


def table_of(runs: list[dict], arms: list[str], seed: int) -> str:
    """Markdown of one seed's runs."""
    reports = {run["arm"]: run["report"] for run in runs if run["seed"] == seed}
    arms = [arm for arm in arms or reports if arm in reports]
    keys = dict.fromkeys(key_of(result) for arm in arms for result in reports[arm]["results"])
    lines = []
    for key in keys:
        found = {arm: next((r for r in reports[arm]["results"] if key_of(r) == key), None) for arm in arms}
        there = [r for r in found.values() if r is not None]
        lines.append([label_of(key), guess(there), *(cell(found[arm]) for arm in arms)])
    lines.append(["score", "", *(f"{reports[arm]['score']:.2f}" for arm in arms)])
    return markdown_table(["attack", "guessing", *arms], lines)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", required=True, help="file of benchmarks.audit")
    parser.add_argument("--arms", nargs="*", default=[], help="columns (default: all that are there)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    runs = [json.loads(line) for line in Path(arguments.runs).read_text().splitlines()]
    print(table_of(runs, arguments.arms, arguments.seed))


if __name__ == "__main__":
    main()
