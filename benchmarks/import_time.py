"""CPU time of importing the package and each of its public names, also as ratios to another checkout.

    python -m benchmarks.import_time
    python -m benchmarks.import_time --against ../older-checkout --renamed UnitedTagger=HybridTagger
    python -m benchmarks.import_time --names DeidTagger PrivateRepresenter --repeats 9

Each import runs in a fresh process, and the smallest CPU time of all repeats counts. Two checkouts take turns, so that
a change of the machine's speed affects both alike. The first run of each import is not counted, because it writes
bytecode. The script prints one JSON object: seconds of this checkout, seconds of the other checkout, and their ratio.
A name that the other checkout lacks has no ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import sklearn_deid

from .environment import describe

HERE = Path(__file__).parents[1]
PACKAGE = "(package)"
# The child imports only what this measurement itself needs before the clock starts.
CHILD = """
import sys, time
start = time.process_time()
{statement}
seconds = time.process_time() - start
import sklearn_deid
print(sklearn_deid.__file__)
print(seconds)
"""


def cpu_seconds(checkout: Path, name: str) -> float:
    """CPU seconds of one import in a fresh process that takes the package from ``checkout``."""
    statement = "import sklearn_deid" if name == PACKAGE else f"from sklearn_deid import {name}"
    # -P keeps the current folder off the path, so that the other checkout is not hidden by this one
    command = [sys.executable, "-P", "-c", CHILD.format(statement=statement)]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    result = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    file, seconds = result.stdout.split("\n")[:2]
    if not Path(file).is_relative_to(checkout):
        raise RuntimeError(f"The package was imported from {file}, not from {checkout}.")
    return float(seconds)


def public_names(checkout: Path) -> set[str]:
    """Names in ``__all__`` of the package in ``checkout``."""
    command = [sys.executable, "-P", "-c", "import sklearn_deid; print(*sklearn_deid.__all__)"]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    return set(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.split())


def best_of(runs: list[tuple[Path, str]], repeats: int) -> list[float]:
    """Smallest CPU seconds of each run; the runs take turns."""
    for run in runs:
        cpu_seconds(*run)
    rounds = [[cpu_seconds(*run) for run in runs] for _ in range(repeats)]
    return [min(times) for times in zip(*rounds, strict=True)]


def measure(arguments: argparse.Namespace) -> dict:
    """Seconds and ratios of all names."""
    old_name = {new: old for old, new in (pair.split("=") for pair in arguments.renamed)}
    other = arguments.against.resolve() if arguments.against else None
    known = public_names(other) | {PACKAGE} if other else set()
    rows = {}
    for name in arguments.names or [PACKAGE, *sklearn_deid.__all__]:
        runs = [(HERE, name)]
        before = old_name.get(name, name)
        if other is not None and before in known:
            runs.append((other, before))
        seconds = best_of(runs, arguments.repeats)
        rows[name] = {"seconds": round(seconds[0], 4)}
        if len(seconds) == 2:
            rows[name] |= {"other_seconds": round(seconds[1], 4), "ratio": round(seconds[0] / seconds[1], 3)}
    return rows


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="another checkout of this repository")
    parser.add_argument("--renamed", nargs="*", default=[], metavar="OLD=NEW", help="names of the other checkout")
    parser.add_argument(
        "--names", nargs="+", metavar="NAME", help="public names; all of them and the package if absent"
    )
    parser.add_argument("--repeats", type=int, default=5, help="measured processes for each name and checkout")
    arguments = parser.parse_args(argv)
    result = {"measured_with": describe(), "repeats": arguments.repeats, "cpu_seconds": measure(arguments)}
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
