"""Time and memory of the command line on one long note without the end of a sentence.

    python -m benchmarks.long_note

Writes generated notes as one line without full stops, colons and line breaks, redacts the first 250, 500 and 1,000
thousand bytes of it with the starter model, each in a process of its own, and prints one JSON object with processor
seconds and the largest resident memory of each, and of a note of one sentence, which shows what the program itself
needs. ``--on-unlike pass`` is given, since such a text is unlike every note and would be withheld.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn_deid import make_clinical_notes

from .environment import describe

SENTENCE_ENDS = re.compile(r"[.!?:;\n]+")


def long_text(n_bytes: int, seed: int) -> str:
    """ASCII text of exactly ``n_bytes`` characters without the end of a sentence."""
    notes = make_clinical_notes(400, random_state=seed)
    once = " ".join(SENTENCE_ENDS.sub(" ", note.text) for note in notes).encode("ascii", "ignore").decode()
    return (once * (1 + n_bytes // len(once)))[:n_bytes]


def redact(text: str) -> dict:
    """Redact one note with the command line in a new process, and say what it took."""
    # Two levels of processes: the largest memory of children is kept for the life of their parent.
    program = (
        "import json, resource, subprocess, sys;"
        "done = subprocess.run([sys.executable, '-m', 'sklearn_deid', *sys.argv[1:]], capture_output=True);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss]))"
    )
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in"), Path(folder, "out")
        source.mkdir()
        (source / "note.txt").write_text(text, encoding="utf-8")
        options = ["--model", "starter-en", "--output", str(target), "--on-unlike", "pass"]
        command = [sys.executable, "-c", program, "redact", str(source), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        code, seconds, kib = json.loads(done.stdout)
        if code:
            raise RuntimeError(f"The command line ended with exit code {code}.")
        written = (target / "note.txt").stat().st_size
    return {
        "bytes": len(text),
        "bytes_written": written,
        "cpu_seconds": round(seconds, 1),
        "peak_memory_mib": round(kib / 1024),
    }


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bytes", type=int, nargs="+", default=[250_000, 500_000, 1_000_000])
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    text = long_text(max(arguments.bytes), arguments.seed)
    runs = [redact("Seen on the ward today.\n"), *(redact(text[:n]) for n in arguments.bytes)]
    print(json.dumps({"benchmark": "long_note", "seed": arguments.seed, "runs": runs, **describe()}, indent=1))


if __name__ == "__main__":
    main()
