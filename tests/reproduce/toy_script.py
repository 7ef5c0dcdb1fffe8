"""A benchmark script that costs nothing: what it ran stands in a list."""

from __future__ import annotations

import argparse
import json

from benchmarks.resumable import finish_runs

RAN: list[tuple[str, int]] = []
ARMS = ("left", "right", "fails")


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", default="generated")
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=["left", "right"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--notes", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", required=True)
    return parser.parse_args(argv)


def settings_of(arguments: argparse.Namespace) -> dict:
    return {"corpus": arguments.corpus, "notes": arguments.notes}


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    if arm == "fails":
        raise KeyboardInterrupt
    RAN.append((arm, seed))
    return {"arm": arm, "seed": seed, "number": seed + 1}


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    rows = finish_runs(run, arguments, settings_of(arguments))
    print(json.dumps({"benchmark": "toy", "rows": rows}))
