"""Redact fuzzed notes with the command line: each note is redacted as the API does, or withheld.

    python -m benchmarks.fuzzed_notes --notes 100000

Trains a small model on generated notes, writes notes that are damaged in many ways to a JSONL file, redacts the file in
a process of its own, and compares each output with the API. Prints one JSON object with the counts, the peak memory of
the process and its exit code; the exit code of this script is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from sklearn_deid import DeidTagger, NoteDeidentifier, make_clinical_notes, save

from .environment import describe

_SIGNS = (*map(chr, range(128)), "\u200b", "\u00ad", "\ufeff", "\u202e", "\u0301", "\u3000", "\U0001f600", "\u0660")
_SIGNS += ("\u2019", "\uff21", "\u00e9", "\u0430", "&#74;", "\r\n", "\u2028", "\x85")


def fuzzed(text: str, rng: np.random.Generator) -> str:
    """A text with one kind of damage, or none."""
    kind, start = int(rng.integers(12)), int(rng.integers(len(text)))
    part = text[start : start + int(rng.integers(1, 300))]
    if kind == 0:
        return part
    if kind == 1:
        return "".join(c if rng.random() > 0.05 else _SIGNS[int(rng.integers(len(_SIGNS)))] for c in part)
    if kind == 2:
        return part.encode("utf-16-le" if rng.random() < 0.5 else "utf-32-be").decode("latin-1")
    if kind == 3:
        return "".join(_SIGNS[int(i)] for i in rng.integers(len(_SIGNS), size=int(rng.integers(0, 200))))
    if kind == 4:
        return part.upper() if rng.random() < 0.5 else part.lower()
    if kind == 5:
        return part.replace(" ", "\n" if rng.random() < 0.5 else "")
    if kind == 6:
        return "".join(chr(int(c)) for c in rng.integers(32, 0xD7FF, size=50)) + part
    if kind == 7:
        return " ".join(part)
    if kind == 8:
        return part * int(rng.integers(1, 10))
    if kind == 9:
        return "\u200b".join(part)
    if kind == 10:
        return part[::-1]
    return ""


def stream(n: int, seed: int) -> Iterator[tuple[str, str]]:
    """Ids and texts."""
    sources = [document.text for document in make_clinical_notes(200, random_state=seed + 1)]
    rng = np.random.default_rng(seed)
    for i in range(n):
        yield f"n{i}", fuzzed(sources[int(rng.integers(len(sources)))], rng)


def redacted_by_command(folder: Path, n: int, seed: int) -> tuple[int, float, str]:
    """Exit code, seconds and report of the command."""
    with (folder / "notes.jsonl").open("w", encoding="utf-8") as out:
        for id_, text in stream(n, seed):
            out.write(json.dumps({"doc_id": id_, "text": text}) + "\n")
    command = ["redact", "notes.jsonl", "--model", "model", "--output", "out.jsonl", "--quiet"]
    start = time.perf_counter()
    with (folder / "report.txt").open("w") as report:
        done = subprocess.run([sys.executable, "-m", "sklearn_deid", *command], cwd=folder, stderr=report, check=False)
    return done.returncode, time.perf_counter() - start, (folder / "report.txt").read_text()


def compare(folder: Path, deidentifier: NoteDeidentifier, n: int, seed: int) -> dict[str, int]:
    """Compare the outputs with the API, in blocks of notes."""
    counts = {"as_the_api": 0, "withheld_as_by_the_api": 0, "different": 0}
    notes = stream(n, seed)
    with (folder / "out.jsonl").open(encoding="utf-8") as lines:
        # The outputs stand in the order of the notes, and withheld notes have none.
        outputs = (json.loads(line) for line in lines)
        following = next(outputs, None)
        while block := list(islice(notes, 512)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = deidentifier.redact([text for _, text in block])
            for (id_, _), text in zip(block, expected, strict=True):
                found = following if following is not None and following["doc_id"] == id_ else None
                if found is not None:
                    following = next(outputs, None)
                same = (None if found is None else found["text"]) == text
                counts["different" if not same else "withheld_as_by_the_api" if text is None else "as_the_api"] += 1
        counts["different"] += following is not None
    return counts


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    tagger = DeidTagger(max_epochs=2, hidden_size=16, random_state=arguments.seed)
    deidentifier = NoteDeidentifier(tagger).fit(make_clinical_notes(150, random_state=arguments.seed))
    deidentifier.set_params(on_error="withhold", on_unlike="withhold")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save(deidentifier, folder / "model")
        code, seconds, report = redacted_by_command(folder, arguments.notes, arguments.seed)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        counts = compare(folder, deidentifier, arguments.notes, arguments.seed)
    listed = report.count("  withheld: ")
    right = counts["different"] == 0 and listed == counts["withheld_as_by_the_api"] and code == (1 if listed else 0)
    result = {"benchmark": "fuzzed_notes", "notes": arguments.notes, "seed": arguments.seed, **counts}
    result |= {"listed": listed, "exit_code": code, "seconds": round(seconds, 1), "peak_memory_mib": round(peak)}
    print(json.dumps({**result, "right": right, **describe()}, indent=1))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
