"""Neighbour search against scikit-learn's brute-force search of the same queries in the same run.

    python -m benchmarks.neighbor_search

Searches 1,000 neighbours of 5,000 of GloVe's 400,000 words (or of random vectors: ``--vectors random``), each method in
a process of its own, and prints one JSON object: seconds, memory above what the process held before, and how many of
the neighbours both methods name. scikit-learn gets vectors that are of unit length already; `NeighborIndex` does not,
and its seconds include the checksum that its results are kept under. Both may use all cores.
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

from sklearn_deid.embeddings import NeighborIndex, WordVectors, load_glove

from .environment import describe, peak_memory_mib

METHODS = ("sklearn_deid", "scikit_learn")


def raw_vectors(kind: str, n_words: int, dim: int, seed: int) -> np.ndarray:
    """GloVe's vectors as they were published, or normally distributed ones."""
    if kind == "random":
        return np.random.default_rng(seed).normal(size=(n_words, dim)).astype(np.float32)
    glove = load_glove()
    lengths = np.random.default_rng(seed).uniform(1.0, 9.0, size=(len(glove), 1)).astype(np.float32)
    return glove.matrix()[:n_words] * lengths[:n_words]  # not of unit length, like the published ones


def resident_mib() -> float:
    """Memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def search(method: str, folder: Path, n_neighbors: int) -> dict:
    """One method, measured in this process; its neighbours go to a file."""
    raw, rows = np.load(folder / "vectors.npy"), np.load(folder / "rows.npy")
    vectors = WordVectors((str(i) for i in range(len(raw))), raw)
    if method == "sklearn_deid":
        held, start = resident_mib(), time.perf_counter()
        found = NeighborIndex(vectors, n_jobs=-1).query(rows, n_neighbors).neighbors
    else:
        from sklearn.neighbors import NearestNeighbors

        unit = vectors.matrix()
        queries = unit[rows]
        held, start = resident_mib(), time.perf_counter()
        model = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute", n_jobs=-1).fit(unit)
        found = model.kneighbors(queries, return_distance=False)
    seconds = time.perf_counter() - start
    np.save(folder / f"{method}.npy", np.sort(found.astype(np.int32), axis=1))
    return {"seconds": round(seconds, 2), "extra_peak_mib": round(peak_memory_mib() - held, 1)}


def measure(arguments: argparse.Namespace) -> dict:
    """Both methods, one after the other, each in a new process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        raw = raw_vectors(arguments.vectors, arguments.words, arguments.dim, arguments.seed)
        rows = np.random.default_rng(arguments.seed).choice(len(raw), arguments.queries, replace=False)
        np.save(folder / "vectors.npy", raw)
        np.save(folder / "rows.npy", np.sort(rows))
        runs = {}
        for method in METHODS:
            command = [sys.executable, "-m", "benchmarks.neighbor_search", "--method", method, "--folder", name]
            command += ["--neighbors", str(arguments.neighbors)]
            runs[method] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        ours, theirs = (np.load(folder / f"{method}.npy") for method in METHODS)
        shared = sum(len(np.intersect1d(a, b, assume_unique=True)) for a, b in zip(ours, theirs, strict=True))
        return {
            **runs,
            "seconds_ratio": round(runs["sklearn_deid"]["seconds"] / runs["scikit_learn"]["seconds"], 3),
            "neighbors_named_by_both": shared / ours.size,
            "shape": list(raw.shape),
        }


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vectors", choices=("glove", "random"), default="glove")
    parser.add_argument("--words", type=int, default=400_000)
    parser.add_argument("--dim", type=int, default=50, help="of random vectors")
    parser.add_argument("--queries", type=int, default=5_000)
    parser.add_argument("--neighbors", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--method", choices=METHODS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.method:
        print(json.dumps(search(arguments.method, arguments.folder, arguments.neighbors)))
        return
    settings = {name: getattr(arguments, name) for name in ("vectors", "queries", "neighbors", "seed")}
    print(json.dumps({"benchmark": "neighbor_search", **settings, **measure(arguments), **describe()}, indent=1))


if __name__ == "__main__":
    main()
