"""What the noise of a release costs: a number of it, and its share of `PrivateRepresenter.transform`.

    OMP_NUM_THREADS=1 python -m benchmarks.release_noise

Generated notes, GloVe, a network of the default sizes that was trained for one epoch (its weights do not change the
times). Prints one JSON object: nanoseconds a normal number of several sources, each in the same run and as a ratio to
PyTorch's; seconds of `transform`, and the share in which noise is drawn, added, rounded and scaled to unit length.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import torch
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy.special import ndtri

from sklearn_deid import PrivateRepresenter, make_clinical_notes
from sklearn_deid._randomness import release_generator
from sklearn_deid.representations.release_noise import ReleaseNoise

from .environment import describe


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numbers", type=int, default=1_000_000, help="normal numbers drawn from each source")
    parser.add_argument("--notes", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5, help="the median counts")
    return parser.parse_args(argv)


def counter_mode(n: int) -> np.ndarray:
    """Normal numbers by the inverse distribution function, from AES in counter mode."""
    stream = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(bytes(16))).encryptor()
    words = np.frombuffer(stream.update(bytes(8 * n)), dtype=np.uint64)
    return ndtri(((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)


def exact(n: int) -> Any:
    """OpenDP's discrete Gaussian, exact, on whole numbers: noise of 64 steps of a grid."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64"), size=n), dp.l2_distance(T="i64")
    return dp.m.make_gaussian(*space, scale=64.0)([0] * n)


def sources(n: int) -> dict[str, tuple[int, Callable[[], Any]]]:
    """How many numbers, and what draws them; OpenDP draws fewer, and only where it is installed."""
    pcg, torch_generator = np.random.default_rng(), torch.Generator()
    keyed = release_generator()
    found: dict[str, tuple[int, Callable[[], Any]]] = {
        "torch_float32_before": (n, lambda: torch.randn(n, generator=torch_generator)),
        "numpy_pcg64": (n, lambda: pcg.standard_normal(n)),
        "chacha20_now": (n, lambda: keyed.standard_normal(n)),
        "aes_ctr_inverse": (n, lambda: counter_mode(n)),
    }
    try:
        exact(1)
    except ImportError:
        return found
    few = min(n, 20_000)
    return {**found, "opendp_discrete": (few, lambda: exact(few))}


def seconds(call: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        since = time.perf_counter()
        call()
        times.append(time.perf_counter() - since)
    return float(np.median(times))


@contextmanager
def noise_timed():
    """Seconds spent in the noise, in a list of one number."""
    spent = [0.0]

    def timed(method: Callable) -> Callable:
        def call(*args: Any) -> Any:
            since = time.perf_counter()
            result = method(*args)
            spent[0] += time.perf_counter() - since
            return result

        return call

    names = ("input_eps", "released")
    with mock.patch.multiple(ReleaseNoise, **{name: timed(getattr(ReleaseNoise, name)) for name in names}):
        yield spent


def transform_share(n_notes: int, repeats: int, **settings: Any) -> dict[str, float]:
    data = make_clinical_notes(n_notes, random_state=0).to_sentences()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one epoch is too few, and says so
        representer = PrivateRepresenter(max_epochs=1, device="cpu", **settings).fit(data.X[:200], data.y[:200])
    representer.transform(data.X)
    shares, times = [], []
    for _ in range(repeats):
        with noise_timed() as spent:
            times.append(seconds(lambda: representer.transform(data.X), 1))
        shares.append(spent[0] / times[-1])
    found = {
        "tokens": len(data.X.data),
        "transform_s": float(np.median(times)),
        "noise_share": float(np.median(shares)),
    }
    return {"tokens": len(data.X.data)} | {name: round(value, 4) for name, value in found.items()}


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    drawn = sources(arguments.numbers)
    ns = {name: 1e9 * seconds(call, arguments.repeats) / n for name, (n, call) in drawn.items()}
    print(
        json.dumps(
            {
                "ns_a_number": {name: round(value, 1) for name, value in ns.items()},
                "ratio_to_before": {name: round(value / ns["torch_float32_before"], 2) for name, value in ns.items()},
                "lstm": transform_share(arguments.notes, arguments.repeats),
                "dense": transform_share(arguments.notes, arguments.repeats, encoder="dense"),
                **describe(),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
