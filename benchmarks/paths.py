"""The same notes through the API, the command line, tables, the clusters and the service: outputs, speed and memory.

    python -m benchmarks.paths --turns 2 --output docs/results/paths.json

Generated notes and hostile ones pass through each path with the starter model, once a few and once all of them. The
outputs must be equal to those of the API byte by byte. Speeds are CPU seconds of all processes of a path for the
further notes of the large run, so that the start does not count; the start is the rest of the small run. The small run
must be large enough for all processes of a path to start in it. The paths take turns, and the fastest run of each size
counts, because the speed of a machine changes. Paths whose library is not installed are left out. Writes one JSON
object; exit code 1 if an output differs.
"""

from __future__ import annotations

import argparse
import http.client
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from sklearn_deid import load, load_model, save
from sklearn_deid.datasets import iter_clinical_notes

from .environment import describe

#: Notes that are withheld, empty, or hard to keep byte by byte. Each path can carry them.
HOSTILE = [
    "a\x00b",
    "{\\rtf1 Zyxwvutski}",
    "",
    " ",
    "Sous\u200bbire \u2028 \x85 é\U0001f600\r\nroe@example.org\t|",
    "x" * 5_000,
]
HOSTILE += ["Patient de 54 ans, vu ce matin pour des douleurs au ventre depuis trois jours, sans fièvre ni frissons."]
HOSTILE += ['{"text": "Mr. Alder"}\n\n"quoted, ""twice"""', "\ufeffSeen by Dr. Alder on 3/5/2019 &amp; 4/5/2019"]
Texts = list[str | None]


def notes_of(n_notes: int, seed: int) -> list[str]:
    """Generated notes; one in fifty is hostile."""
    texts = [note.text for note in iter_clinical_notes(n_notes, random_state=seed)]
    for number, row in enumerate(range(7, n_notes, 50)):
        texts[row] = HOSTILE[number % len(HOSTILE)]
    return texts


def by_api(folder: Path, texts: list[str]) -> Texts:
    """Outputs of `redact`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = load(folder / "model").set_params(on_error="withhold", on_unlike="withhold")
        return model.redact(texts)


def by_command(folder: Path, texts: list[str], jobs: int) -> Texts:
    """Outputs of the command for notes in a file."""
    rows = [json.dumps({"doc_id": str(n), "text": text}) + "\n" for n, text in enumerate(texts)]
    (folder / "notes.jsonl").write_text("".join(rows), encoding="utf-8")
    _redact(folder, "notes.jsonl", "out.jsonl", "--jobs", str(jobs))
    found = map(json.loads, (folder / "out.jsonl").read_text(encoding="utf-8").splitlines())
    outputs = {row["doc_id"]: row["text"] for row in found}
    return [outputs.get(str(n)) for n in range(len(texts))]


def by_table(folder: Path, texts: list[str]) -> Texts:
    """Outputs of the command for a column of a parquet table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"n": range(len(texts)), "note": texts}), folder / "notes.parquet")
    _redact(folder, "notes.parquet", "out.parquet", "--text-column", "note")
    return pq.read_table(folder / "out.parquet")["note"].to_pylist()


def by_dask(folder: Path, texts: list[str]) -> Texts:
    """Outputs of a cluster of two worker processes."""
    import dask
    import dask.bag
    import distributed

    from sklearn_deid.integrations import redact_dask

    # Without Dask's MALLOC_TRIM_THRESHOLD_, with which each large array is mapped and filled with zeros anew.
    dask.config.set({"distributed.nanny.pre-spawn-environ": {"OMP_NUM_THREADS": 1}})
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.Client(**settings, local_directory=str(folder / "dask")):
        bag = dask.bag.from_sequence([{"note": text} for text in texts], partition_size=64)
        return [row["note"] for row in redact_dask(folder / "model", bag, "note").compute()]


def by_spark(folder: Path, texts: list[str]) -> Texts:
    """Outputs of a local Spark with two cores."""
    from pyspark.sql import SparkSession

    from sklearn_deid.integrations import redact_spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.log.level", "ERROR").getOrCreate()
    frame = session.createDataFrame(list(enumerate(texts)), "n long, note string").repartition(4)
    rows = redact_spark(folder / "model", frame, "note").collect()
    session.stop()
    return [row["note"] for row in sorted(rows, key=lambda row: row["n"])]


def by_service(folder: Path, texts: list[str]) -> Texts:
    """Outputs of the stream of a service."""
    path = folder / "socket"
    command = [sys.executable, "-m", "sklearn_deid", "serve", "--model", str(folder / "model"), "--socket", str(path)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as service:
        while not path.exists():
            time.sleep(0.05)
        connection = _UnixConnection(str(path))
        connection.putrequest("POST", "/v1/batch")
        connection.putheader("transfer-encoding", "chunked")
        connection.endheaders()
        sender = threading.Thread(target=_send, args=(connection, texts))
        sender.start()
        rows = [json.loads(line) for line in connection.getresponse().read().splitlines()]
        sender.join()
        connection.close()
        service.terminate()
    return [row.get("text") for row in rows]


class _UnixConnection(http.client.HTTPConnection):
    """Connection to a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=600)
        self._path = path

    def connect(self) -> None:
        import socket

        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)


def _send(connection: http.client.HTTPConnection, texts: list[str]) -> None:
    for n, text in enumerate(texts):
        line = json.dumps({"id": n, "text": text}).encode() + b"\n"
        connection.send(b"%x\r\n%b\r\n" % (len(line), line))
    connection.send(b"0\r\n\r\n")


def _redact(folder: Path, notes: str, output: str, *options: str) -> None:
    command = ["redact", notes, "--model", "model", "--output", output, "--overwrite", "--quiet", *options]
    done = subprocess.run([sys.executable, "-m", "sklearn_deid", *command], cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)


PATHS: dict[str, Callable[[Path, list[str]], Texts]] = {
    "api": by_api,
    "command": lambda folder, texts: by_command(folder, texts, 1),
    "command --jobs 2": lambda folder, texts: by_command(folder, texts, 2),
    "command --jobs 4": lambda folder, texts: by_command(folder, texts, 4),
    "table": by_table,
    "dask": by_dask,
    "spark": by_spark,
    "service": by_service,
}
_NEEDED = {"dask": "distributed", "spark": "pyspark", "service": "uvicorn", "table": "pyarrow"}


class Usage:
    """CPU seconds and largest memory of a process and of its children, looked up again and again."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.seconds: dict[int, float] = {}
        self.memory: dict[str, float] = {}

    def look(self) -> None:
        """Look at all processes that live now."""
        waiting = [self.pid]
        while waiting:
            pid = waiting.pop()
            try:
                waiting += [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in _children(task)]
                name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
                status = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue
            self.seconds[pid] = sum(map(int, rest.split()[11:13])) / os.sysconf("SC_CLK_TCK")
            peak = [int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")]
            self.memory[name] = max([self.memory.get(name, 0.0), *peak])


def _children(task: Path) -> list[str]:
    return (task / "children").read_text().split()


def measured(path: str, folder: Path, n_notes: int, seed: int) -> dict[str, Any]:
    """Run a path in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.paths", "--run", path, "--notes", str(n_notes), "--seed", str(seed)]
    start = time.perf_counter()
    process = subprocess.Popen([*command, "--folder", str(folder)], stdout=subprocess.DEVNULL)
    usage = Usage(process.pid)
    while process.poll() is None:
        usage.look()
        time.sleep(0.1)
    if process.returncode:
        sys.exit(f"{path}: exit code {process.returncode}")
    return {
        "notes": n_notes,
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(sum(usage.seconds.values()), 1),
        "largest_process_mib": {name: round(peak) for name, peak in usage.memory.items()},
        "sha256": (folder / "digest").read_text(),
    }


def row_of(path: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """What a path costs."""
    sizes = sorted({run["notes"] for run in runs})
    few, all_ = (min((run for run in runs if run["notes"] == n), key=lambda run: run["cpu_seconds"]) for n in sizes)
    further = all_["cpu_seconds"] - few["cpu_seconds"]
    speed = (all_["notes"] - few["notes"]) / further
    return {
        "path": path,
        "notes_per_cpu_second": round(speed, 1),
        "notes_per_core_hour": round(3600 * speed, -2),
        "start_cpu_seconds": round(few["cpu_seconds"] - few["notes"] / speed, 1),
        "runs": runs,
    }


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=5_000)
    parser.add_argument("--few", type=int, default=1_250, help="notes of the small run")
    parser.add_argument("--turns", type=int, default=1, help="runs of each size and path")
    parser.add_argument("--paths", nargs="+", choices=list(PATHS), default=list(PATHS))
    parser.add_argument("--output", type=Path, help="file of the JSON object; without it, the object is printed only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run", choices=list(PATHS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.run:
        outputs = PATHS[arguments.run](arguments.folder, notes_of(arguments.notes, arguments.seed))
        (arguments.folder / "digest").write_text(sha256(json.dumps(outputs).encode()).hexdigest())
        return 0
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    paths = [path for path in arguments.paths if _is_installed(path)]
    runs: dict[str, list[dict[str, Any]]] = {path: [] for path in paths}
    with tempfile.TemporaryDirectory() as name:
        save(load_model(), Path(name) / "model")
        for path in paths * arguments.turns:
            runs[path] += [measured(path, Path(name), n, arguments.seed) for n in (arguments.few, arguments.notes)]
            print(json.dumps({path: runs[path][-2:]}), file=sys.stderr, flush=True)
    rows = [row_of(path, found) for path, found in runs.items()]
    return report(arguments, rows)


def _is_installed(path: str) -> bool:
    if path not in _NEEDED or importlib.util.find_spec(_NEEDED[path]) is not None:
        return True
    print(f"{path} is left out: {_NEEDED[path]} is not installed", file=sys.stderr)
    return False


def report(arguments: argparse.Namespace, rows: list[dict[str, Any]]) -> int:
    """Print and write the JSON object, and compare the outputs."""
    first = rows[0]
    for row in rows:
        row["of_the_first_path"] = round(row["notes_per_cpu_second"] / first["notes_per_cpu_second"], 2)
    digests = {(run["notes"], run["sha256"]) for row in rows for run in row["runs"]}
    are_equal = len(digests) == len({notes for notes, _ in digests})
    settings = {"seed": arguments.seed, "model": "starter-en", "outputs_are_equal": are_equal}
    written = json.dumps({"benchmark": "paths", **settings, "paths": rows, **describe()}, indent=1) + "\n"
    print(written)
    if arguments.output is not None:
        arguments.output.write_text(written)
    return 0 if are_equal else 1


if __name__ == "__main__":
    sys.exit(main())
