"""Redact a long parquet table of short notes in a process that is killed and resumed: every row once, in flat memory.

    python -m benchmarks.table_rows --rows 1000000 --kills 10 --folder work --output docs/results/table_rows.json

The rows are lines of generated notes in random order, with a column of numbers and a column of wards. The command
``redact`` with the starter model is killed (SIGKILL) at random moments and once more while it puts the finished pieces
together. The table is then compared row by row: numbers and wards with those of the input, texts with those of the API,
which reads each different line once. ``--folder`` keeps the table and the finished parts of the run, so that an
interrupted benchmark goes on. Writes one JSON object; exit code 1 if a row is lost, doubled or different.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sklearn_deid import load_model
from sklearn_deid.datasets import iter_clinical_notes
from sklearn_deid.io.tables.table import CHUNK_ROWS

from .environment import describe

_GROUP_ROWS = 50_000
_FEWEST_WORDS, _MOST_WORDS = 4, 40


def lines(n_notes: int, seed: int) -> list[str]:
    """Different lines of generated notes, short notes of their own."""
    found = dict.fromkeys(
        line.strip() for note in iter_clinical_notes(n_notes, random_state=seed) for line in note.text.splitlines()
    )
    return [line for line in found if _FEWEST_WORDS <= len(line.split()) <= _MOST_WORDS]


def rows_of_group(texts: list[str], start: int, stop: int, seed: int) -> dict[str, Any]:
    """Columns of some rows: the same for the same numbers, so that the check needs no copy of the table."""
    chosen = np.random.default_rng([seed, start]).integers(len(texts), size=stop - start)
    numbers = np.arange(start, stop)
    return {"n": numbers, "ward": [f"ward {n % 17}" for n in numbers], "line": chosen}


def groups(n_rows: int) -> list[tuple[int, int]]:
    """First and last row of each row group."""
    return [(start, min(start + _GROUP_ROWS, n_rows)) for start in range(0, n_rows, _GROUP_ROWS)]


def write_table(path: Path, texts: list[str], n_rows: int, seed: int) -> None:
    """Write the table of the input, one row group after the other."""
    schema = pa.schema({"n": pa.int64(), "ward": pa.string(), "note": pa.string()})
    part = path.with_suffix(".part")
    with pq.ParquetWriter(part, schema) as writer:
        for start, stop in groups(n_rows):
            rows = rows_of_group(texts, start, stop, seed)
            notes = [texts[n] for n in rows.pop("line")]
            writer.write_table(pa.table({**rows, "note": notes}, schema=schema), row_group_size=_GROUP_ROWS)
    part.rename(path)


class TableRun:
    """Run of the command that is killed and resumed. Finished parts are in a file of the folder."""

    def __init__(self, folder: Path, arguments: argparse.Namespace) -> None:
        self.folder, self.arguments = folder, arguments
        self.parts_file = folder / "parts.jsonl"
        rng = np.random.default_rng(arguments.seed)
        n_chunks = sum(-(-(stop - start) // CHUNK_ROWS) for start, stop in groups(arguments.rows))
        places = np.sort(rng.choice(np.arange(1, n_chunks), size=arguments.kills, replace=False))
        # The last one hits the moment when the pieces are put together.
        self.kills = [(int(place), float(rng.random())) for place in [*places, n_chunks]]

    def parts(self) -> list[dict[str, Any]]:
        """Finished parts of the run."""
        written = self.parts_file.read_text() if self.parts_file.exists() else ""
        return [json.loads(line) for line in written.splitlines()]

    def finish(self) -> list[dict[str, Any]]:
        """Run until the table is complete."""
        while (done := self.parts()) == [] or done[-1]["killed"]:
            part = self._part(*(self.kills[len(done)] if len(done) < len(self.kills) else (None, 0.0)))
            with self.parts_file.open("a") as stream:
                stream.write(json.dumps(part) + "\n")
            print(json.dumps(part), file=sys.stderr, flush=True)
        return self.parts()

    def _part(self, place: int | None, delay: float) -> dict[str, Any]:
        """Resume the command; kill it so many seconds after so many chunks are finished."""
        before, start, peak = self._finished(), time.perf_counter(), 0.0
        command = ["redact", "notes.parquet", "--model", "starter-en", "--text-column", "note", "--id-column", "n"]
        command += ["--output", "redacted.parquet", "--resume", "--quiet", "--jobs", str(self.arguments.jobs)]
        with (self.folder / "report.txt").open("w") as report:
            process = subprocess.Popen([sys.executable, "-m", "sklearn_deid", *command], cwd=self.folder, stderr=report)
        pid = 0
        try:
            while not pid:
                time.sleep(0.2)
                peak = max(peak, memory_mib(process.pid))
                if place is not None and self._finished() >= place:
                    time.sleep(delay)
                    # Not `process.kill`, which would take the exit status and with it the CPU seconds.
                    os.kill(process.pid, signal.SIGKILL)
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        finally:
            if not pid:
                process.kill()
        process.returncode = os.waitstatus_to_exitcode(status)
        return {
            "killed": process.returncode == -9,
            "exit_code": process.returncode,
            "chunks_before": before,
            "chunks_after": self._finished(),
            "seconds": round(time.perf_counter() - start, 1),
            "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
            "peak_memory_mib": round(peak, 1),
        }

    def _finished(self) -> int:
        """Number of finished chunks, by the record of the run."""
        record = self.folder / "redacted.parquet.run"
        return max(0, record.read_bytes().count(b"\n") - 1) if record.exists() else 0


def memory_mib(pid: int) -> float:
    """Largest resident memory so far of a process and of its children, added up; 0 for a process that has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    own = [int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")]
    return sum(own) + sum(memory_mib(int(child)) for child in children)


def compared(folder: Path, texts: list[str], n_rows: int, seed: int) -> dict[str, int]:
    """Compare each row with the input and with the API."""
    deidentifier = load_model().set_params(on_error="withhold", on_unlike="withhold")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.array(deidentifier.redact(texts), dtype=object)
    counts = {"rows": 0, "rows_out_of_place": 0, "texts_as_the_api": 0, "withheld_as_by_the_api": 0, "different": 0}
    table = pq.ParquetFile(folder / "redacted.parquet")
    for group, (start, stop) in enumerate(groups(n_rows)):
        rows, found = rows_of_group(texts, start, stop, seed), table.read_row_group(group).to_pydict()
        counts["rows"] += len(found["n"])
        is_in_place = found["n"] == rows["n"].tolist() and found["ward"] == rows["ward"]
        counts["rows_out_of_place"] += 0 if is_in_place else stop - start
        for text, right in zip(found["note"], expected[rows["line"]], strict=True):
            same = "withheld_as_by_the_api" if text is None else "texts_as_the_api"
            counts[same if text == right else "different"] += 1
    counts["row_groups_too_many"] = table.num_row_groups - len(groups(n_rows))
    return counts


def summary(arguments: argparse.Namespace, parts: list[dict[str, Any]], texts: list[str], counts: dict) -> dict:
    """JSON object of the benchmark."""
    seconds, cpu = (sum(part[name] for part in parts) for name in ("seconds", "cpu_seconds"))
    hours = cpu / 3600 * 1_000_000 / arguments.rows
    return {
        "benchmark": "table_rows",
        "seed": arguments.seed,
        "jobs": arguments.jobs,
        "different_texts": len(texts),
        "words_per_text": round(sum(len(text.split()) for text in texts) / len(texts), 1),
        **counts,
        "kills": sum(part["killed"] for part in parts),
        "peak_memory_mib": max(part["peak_memory_mib"] for part in parts),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "rows_per_second": round(arguments.rows / seconds, 1),
        "core_hours_per_million": round(hours, 3),
        "parts": parts,
        **describe(),
    }


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=10, help="random kills, besides the one at the end")
    parser.add_argument("--jobs", type=int, default=1, help="processes of the command")
    parser.add_argument("--source-notes", type=int, default=6_000, help="generated notes that the lines come from")
    parser.add_argument("--folder", type=Path, required=True, help="folder of the table and of the finished parts")
    parser.add_argument("--output", type=Path, help="file of the JSON object; without it, the object is printed only")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    texts = lines(arguments.source_notes, arguments.seed)
    if not (arguments.folder / "notes.parquet").exists():
        write_table(arguments.folder / "notes.parquet", texts, arguments.rows, arguments.seed)
    parts = TableRun(arguments.folder, arguments).finish()
    if parts[-1]["exit_code"] not in (0, 1):
        sys.exit((arguments.folder / "report.txt").read_text()[-2_000:])
    result = summary(arguments, parts, texts, compared(arguments.folder, texts, arguments.rows, arguments.seed))
    written = json.dumps(result, indent=1) + "\n"
    print(written)
    if arguments.output is not None:
        arguments.output.write_text(written)
    wrong = result["different"] + result["rows_out_of_place"] + result["row_groups_too_many"]
    return 0 if wrong == 0 and result["rows"] == arguments.rows else 1


if __name__ == "__main__":
    sys.exit(main())
