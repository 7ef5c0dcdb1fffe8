"""Redaction of a parquet table: time and memory by the number of rows and jobs, and runs that are killed and resumed.

    python -m benchmarks.tables --rows 5000 20000 --jobs 1 2 --kills 10

Trains a small model on generated notes and redacts a table with a generated note in each row. Prints one JSON object
with wall time, processor seconds of all processes, and the largest resident memory of the process that reads and
writes. The table is then redacted again in a process that is killed (SIGKILL) at random moments and resumed. Exit code
1 if any output differs from the first one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sklearn_deid import DeidTagger, NoteDeidentifier, make_clinical_notes, save
from sklearn_deid.datasets import iter_clinical_notes

from .environment import describe

ROW_GROUP = 5_000


def write_table(path: Path, n_rows: int, seed: int, longest: int) -> None:
    """Write a table with the start of a generated note in each row."""
    # Fewer notes than rows: generating them would take longer than redacting them.
    notes = [note.text[:longest] for note in iter_clinical_notes(min(n_rows, 2_000), random_state=seed)]
    schema = pa.schema([("id", pa.int64()), ("note", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, ROW_GROUP):
            ids = range(start, min(n_rows, start + ROW_GROUP))
            writer.write_table(pa.table({"id": ids, "note": [notes[n % len(notes)] for n in ids]}, schema=schema))


def redact(folder: Path, table: str, output: str, *options: str) -> subprocess.Popen:
    """Start a redaction of the table."""
    command = [sys.executable, "-m", "sklearn_deid", "redact", table, "--text-column", "note", "--model", "model"]
    return subprocess.Popen([*command, "--output", output, "--quiet", *options], cwd=folder, stderr=subprocess.DEVNULL)


def measured(folder: Path, n_rows: int, n_jobs: int) -> dict:
    """Time and memory of one run."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = redact(folder, f"{n_rows}.parquet", f"out-{n_rows}-{n_jobs}.parquet", "--jobs", str(n_jobs))
    peak = 0
    while process.poll() is None:
        peak = max(peak, resident_kib(process.pid))
        time.sleep(0.05)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return {
        "rows": n_rows,
        "jobs": n_jobs,
        "exit_code": process.returncode,
        "wall_seconds": round(seconds, 1),
        "processor_seconds": round(sum(after[:2]) - sum(before[:2]), 1),
        "peak_mib": round(peak / 1024),
    }


def resident_kib(pid: int) -> int:
    """Largest resident memory of a process so far; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def killed(folder: Path, n_rows: int, n_kills: int, seed: int) -> dict:
    """Kill a run again and again, let it end, and compare."""
    rng, done, record = np.random.default_rng(seed), 0, folder / "killed.parquet.run"
    while done < n_kills and not (folder / "killed.parquet").exists():
        process = redact(folder, f"{n_rows}.parquet", "killed.parquet", "--resume")
        size = record.stat().st_size if record.exists() else 0
        # Killed soon after the next lines of the record; the time decides whether the piece is written, too.
        wait = int(rng.integers(1, 1 + max(1, n_rows // n_kills // 2)))
        while process.poll() is None and (not record.exists() or record.stat().st_size < size + wait):
            time.sleep(0.001)
        time.sleep(float(rng.random()) * 0.01)
        done += process.poll() is None
        process.kill()
        process.wait()
    code = redact(folder, f"{n_rows}.parquet", "killed.parquet", "--resume").wait()
    same = (folder / "killed.parquet").read_bytes() == (folder / f"out-{n_rows}-1.parquet").read_bytes()
    return {"rows": n_rows, "kills": done, "exit_code": code, "identical": same}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 20_000])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--longest", type=int, default=200, help="characters of a note")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tagger = DeidTagger(max_epochs=2, hidden_size=32, random_state=arguments.seed)
        save(NoteDeidentifier(tagger).fit(make_clinical_notes(40, random_state=arguments.seed)), folder / "model")
        runs, same = [], True
        for n_rows in arguments.rows:
            write_table(folder / f"{n_rows}.parquet", n_rows, arguments.seed + 1, arguments.longest)
            runs += [measured(folder, n_rows, n_jobs) for n_jobs in arguments.jobs]
            outputs = {(folder / f"out-{n_rows}-{n_jobs}.parquet").read_bytes() for n_jobs in arguments.jobs}
            same &= len(outputs) == 1
        kills = killed(folder, arguments.rows[0], arguments.kills, arguments.seed)
    result = {"benchmark": "tables", "seed": arguments.seed, "runs": runs, "jobs_identical": same, "killed": kills}
    print(json.dumps({**result, **describe()}, indent=1))
    return 0 if same and kills["identical"] else 1


if __name__ == "__main__":
    sys.exit(main())
