"""Selection and exchange of a whole cycle of distributed selective SGD, against plain NumPy with argsort.

    python -m benchmarks.federated_exchange

One worker's cycle without training: choose the upload, encode, decode and check, add at the server, choose the
download, encode, decode, apply. The plain way ranks by argsort, draws with ``Generator.choice`` and sends int32 indices
without any check. Prints one JSON object with the seconds of several repetitions and the bytes. On a busy machine the
clock runs on while others compute: ``cpu_seconds`` are those of this process alone.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sklearn_deid.federated import ParameterServer, ServerLimits, SparseUpdate, select_upload

from .environment import describe

MODEL = "0" * 32
DOWNLOADS = ("most-updated", "random", "most-changed")


class Stopwatch:
    """Seconds of named parts."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, name: str, part: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = part()
        self.seconds[name] = time.perf_counter() - start
        return result


class Cycle:
    """Our way; the server keeps its counters from one repetition to the next."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.rng = np.random.default_rng(arguments.seed)
        self.delta = 0.01 * self.rng.standard_normal(arguments.size, dtype=np.float32)
        limits = ServerLimits(download_selection=arguments.download_selection)
        zeros = np.zeros(arguments.size, np.float32)
        self.server = ParameterServer(zeros, MODEL, limits=limits, random_state=arguments.seed)
        self.local = np.zeros(arguments.size, np.float32)
        self.sequence = 0
        self.bytes: dict[str, int] = {}

    def run(self) -> dict[str, float]:
        given, size, part = self.arguments, self.arguments.size, Stopwatch()
        chosen = part("select", lambda: select_upload(self.delta, given.upload, 1e-4, 10.0, given.selection, self.rng))
        update = SparseUpdate(chosen.indices, chosen.values, size, MODEL, self.server.version)
        message = part("encode_up", update.to_bytes)
        checked = part("decode_up", lambda: SparseUpdate.from_bytes(message, size=size, model=MODEL, kind="update"))
        part("add", lambda: self.server.upload(checked, "site", self.sequence))
        self.sequence += 1
        parameters = part("select_down", lambda: self.server.download(given.download, "site"))
        answer = part("encode_down", parameters.to_bytes)
        back = part("decode_down", lambda: SparseUpdate.from_bytes(answer, size=size, model=MODEL, kind="parameters"))
        part("apply", lambda: self.local.__setitem__(back.indices, back.values))
        self.bytes = {"up": len(message), "down": len(answer), "dense": 4 * size}
        return part.seconds


class PlainCycle:
    """What a first implementation does."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.rng = np.random.default_rng(arguments.seed)
        self.delta = 0.01 * self.rng.standard_normal(arguments.size, dtype=np.float32)
        self.vector = np.zeros(arguments.size, np.float32)
        self.counts = np.zeros(arguments.size, np.int32)
        self.local = np.zeros(arguments.size, np.float32)
        self.bytes: dict[str, int] = {}

    def run(self) -> dict[str, float]:
        part = Stopwatch()
        message = part("select", self.select)
        part("add", lambda: self.add(*message))
        answer = part("select_down", self.download)
        part("apply", lambda: self.local.__setitem__(*answer))
        self.bytes = {"up": sum(a.nbytes for a in message), "down": sum(a.nbytes for a in answer)}
        return part.seconds

    def select(self) -> tuple[np.ndarray, np.ndarray]:
        n = int(self.arguments.upload * len(self.delta))
        if self.arguments.selection == "largest":
            indices = np.argsort(-np.abs(self.delta))[:n]
        else:
            candidates = np.flatnonzero(np.abs(self.delta) > 1e-4)
            indices = self.rng.choice(candidates, size=min(n, len(candidates)), replace=False)
        return indices.astype(np.int32), np.clip(self.delta[indices], -10.0, 10.0)

    def add(self, indices: np.ndarray, values: np.ndarray) -> None:
        self.vector[indices] += values
        self.counts[indices] += 1

    def download(self) -> tuple[np.ndarray, np.ndarray]:
        n = int(self.arguments.download * len(self.counts))
        indices = np.argsort(-self.counts)[:n].astype(np.int32)
        return indices, self.vector[indices]


def measure(cycle: Cycle | PlainCycle, repetitions: int) -> dict:
    """The fastest and the median repetition, and the fastest of each part."""
    runs, cpu = [], []
    for _ in range(repetitions):
        start = time.process_time()
        runs.append(cycle.run())
        cpu.append(time.process_time() - start)
    whole = [sum(run.values()) for run in runs]
    return {
        "seconds": round(min(whole), 4),
        "median_seconds": round(float(np.median(whole)), 4),
        "cpu_seconds": round(min(cpu), 4),
        "parts": {name: round(min(run[name] for run in runs), 4) for name in runs[0]},
        "bytes": cycle.bytes,
    }


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=10_000_000)
    parser.add_argument("--upload", type=float, default=0.5)
    parser.add_argument("--download", type=float, default=0.1)
    parser.add_argument("--selection", choices=("random", "largest"), default="random")
    parser.add_argument("--download-selection", choices=DOWNLOADS, default=DOWNLOADS[0])
    parser.add_argument("--repetitions", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    ours = measure(Cycle(arguments), arguments.repetitions)
    plain = measure(PlainCycle(arguments), max(1, arguments.repetitions // 4))
    result = {
        "sklearn_deid": ours,
        "plain_numpy": plain,
        "cpu_speedup": round(plain["cpu_seconds"] / ours["cpu_seconds"], 1),
    }
    print(json.dumps({"benchmark": "federated_exchange", **vars(arguments), **result, **describe()}, indent=1))


if __name__ == "__main__":
    main()
