"""Time of pseudonymising, once the neighbours are found.

    python -m benchmarks.pseudonymizer_speed

Pseudonymises about 50,000 generated sentences given as lists of lists, and prints one JSON object with microseconds a
token for each way of drawing, beside a plain loop over tokens that draws from the same neighbours.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from typing import Any

import numpy as np

from sklearn_deid import NeighborPseudonymizer, make_clinical_notes

from .environment import describe, peak_memory_mib

WAYS: dict[str, dict[str, Any]] = {
    "token": {},
    "sentence": {"coherence": "sentence"},
    "patient": {"coherence": "patient"},
    "guard_substring": {"guard_substring": True},
}


def plain_loop(X: list, y: list, neighbors: dict[str, list[str]]) -> list:
    """What one would write by hand: no casing, no unknown words, no statistics."""
    return [
        [random.choice(neighbors.get(t.lower(), [t])) if tag != "O" else t for t, tag in zip(row, tags, strict=True)]
        for row, tags in zip(X, y, strict=True)
    ]


def neighbors_of(X: list, y: list, n: int) -> dict[str, list[str]]:
    """Neighbours of the PHI words, as the plain loop wants them."""
    found = NeighborPseudonymizer(n_neighbors=n, random_state=0).fit(X, y)
    mechanism = found.mechanism_
    words = {t.lower() for row, tags in zip(X, y, strict=True) for t, tag in zip(row, tags, strict=True) if tag != "O"}
    rows = {word: row for word, row in zip(words, mechanism.policy.vectors.indices(words), strict=True) if row >= 0}
    table = dict(zip(rows, mechanism.moves.support(np.array(list(rows.values())))[0].tolist(), strict=True))
    return {word: mechanism.vocabulary[line].tolist() for word, line in table.items()}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=1_500)
    parser.add_argument("--n-neighbors", type=int, default=100)
    arguments = parser.parse_args(argv)
    data = make_clinical_notes(arguments.notes, random_state=7).to_sentences()
    X, y, groups = data.X.tolist(), [list(row) for row in data.y], data.groups
    n_tokens = len(data.X.data)
    results = {}
    for name, parameters in WAYS.items():
        pseudonymizer = NeighborPseudonymizer(n_neighbors=arguments.n_neighbors, random_state=0, **parameters)
        start = time.perf_counter()
        pseudonymizer.fit_transform(X, y, groups)
        first = time.perf_counter() - start
        start = time.perf_counter()
        pseudonymizer.fit_transform(X, y, groups)
        again = time.perf_counter() - start
        results[name] = {
            "first_seconds": round(first, 2),
            "after_search_seconds": round(again, 2),
            "microseconds_per_token": round(1e6 * again / n_tokens, 2),
        }
    table = neighbors_of(X, y, arguments.n_neighbors)
    start = time.perf_counter()
    plain_loop(X, y, table)
    results["plain loop"] = {"microseconds_per_token": round(1e6 * (time.perf_counter() - start) / n_tokens, 2)}
    result = {
        "benchmark": "pseudonymizer_speed",
        "n_neighbors": arguments.n_neighbors,
        "sentences": len(X),
        "tokens": n_tokens,
        "phi_tokens": sum(tag != "O" for row in y for tag in row),
        "results": results,
        "peak_memory_mib": peak_memory_mib(),
        **describe(),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
