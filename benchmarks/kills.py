"""Kill a redaction again and again: the resumed runs must end with the outputs of a run that was never killed.

    python -m benchmarks.kills --kills 30

Trains a small model on generated notes, redacts notes in one go, and then redacts them again in a process that is
killed (SIGKILL) at random moments and resumed. Prints one JSON object; exit code 1 if any output differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from sklearn_deid import DeidTagger, NoteDeidentifier, make_clinical_notes, save, write_corpus

from .environment import describe


def redact(folder: Path, output: str, *options: str) -> subprocess.Popen:
    """Start a redaction of the notes of a folder."""
    command = [sys.executable, "-m", "sklearn_deid", "redact", "notes", "--model", "model", "--output", output]
    return subprocess.Popen([*command, "--quiet", *options], cwd=folder, stderr=subprocess.DEVNULL)


def finished(folder: Path, output: str) -> int:
    """Number of finished notes, by the record of the run."""
    record = folder / f"{output}.run"
    return max(0, record.read_bytes().count(b"\n") - 1) if record.exists() else 0


def kill_once(folder: Path, output: str, wait: int) -> bool:
    """Resume a run and kill it after so many further notes; False if the run ended before."""
    before, process = finished(folder, output), redact(folder, output, "--resume")
    while process.poll() is None and finished(folder, output) < before + wait:
        time.sleep(0.001)
    killed = process.poll() is None
    process.kill()
    process.wait()
    return killed


def contents(path: Path) -> dict[str, bytes]:
    """Bytes of a file, or of the files of a folder."""
    return {file.name: file.read_bytes() for file in (path.iterdir() if path.is_dir() else [path])}


def run(kills: int, output: str, n_notes: int, seed: int) -> dict:
    """Result of all kills of one output."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tagger = DeidTagger(max_epochs=2, hidden_size=32, random_state=seed)
        save(NoteDeidentifier(tagger).fit(make_clinical_notes(40, random_state=seed)), folder / "model")
        write_corpus(make_clinical_notes(n_notes, random_state=seed + 1), folder / "notes", format="text", lossy=True)
        whole = f"whole{Path(output).suffix}"
        redact(folder, whole).wait()
        done = sum(kill_once(folder, output, int(rng.integers(1, max(2, n_notes // kills)))) for _ in range(kills))
        code = redact(folder, output, "--resume").wait()
        same = list(contents(folder / output).values()) == list(contents(folder / whole).values())
        if (folder / output).is_dir():
            same = contents(folder / output) == contents(folder / whole)
    return {"output": output, "kills": done, "exit_code": code, "identical": same}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--notes", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--outputs", nargs="+", default=["out", "out.jsonl"], help="a folder, a .jsonl file")
    arguments = parser.parse_args(argv)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rows = [run(arguments.kills, output, arguments.notes, arguments.seed) for output in arguments.outputs]
    print(json.dumps({"benchmark": "kills", "notes": arguments.notes, "runs": rows, **describe()}, indent=1))
    return 0 if all(row["identical"] and row["exit_code"] == 0 for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
