"""Streams of standard normal numbers that anyone makes from a small seed: the generators of PyTorch, NumPy and
Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

# Of a seed, the number of numbers, and, of some streams, the number of numbers that are drawn before and left out.
Stream = Callable[..., np.ndarray]

# Of `random.normalvariate`: 4 exp(-1/2) / sqrt(2).
_RATIO = 4.0 * np.exp(-0.5) / np.sqrt(2.0)
# Pairs that `random.normalvariate` draws for one number, on average 1.37.
_PAIRS = 1.45


def of_torch(seed: int, n: int, before: int = 0) -> np.ndarray:
    """First n numbers of ``torch.randn`` after ``torch.manual_seed(seed)`` and another draw of ``before`` numbers.

    PyTorch computes blocks of 16 numbers, and the last block anew: a longer draw begins with these numbers if n is a
    multiple of 16 and at least 16 numbers follow.
    """
    generator = torch.Generator().manual_seed(seed)
    if before:
        torch.randn(before, generator=generator, dtype=torch.float32)
    return torch.randn(n, generator=generator, dtype=torch.float32).numpy()


def of_numpy(seed: int, n: int, before: int = 0) -> np.ndarray:
    """First n numbers of ``np.random.default_rng(seed)`` after another draw of ``before`` numbers."""
    rng = np.random.default_rng(seed)
    if before:
        rng.standard_normal(before)
    return rng.standard_normal(n)


# Seeding takes a hundredth of the time that a new RandomState takes.
_STATE = np.random.RandomState(0)


def of_random_state(seed: int, n: int) -> np.ndarray:
    """First n numbers of ``np.random.RandomState(seed)``, and of ``np.random`` after ``np.random.seed(seed)``."""
    _STATE.seed(seed % 2**32)  # as PyTorch: larger seeds are refused
    return _STATE.standard_normal(n)


def of_python_gauss(seed: int, n: int) -> np.ndarray:
    """First n numbers of ``random.gauss`` after ``random.seed(seed)``.

    Examples
    --------
    >>> import random
    >>> random.seed(7)
    >>> [round(random.gauss(0.0, 1.0), 6) for _ in range(3)] == of_python_gauss(7, 3).round(6).tolist()
    True
    """
    uniform = _uniform(seed, n + n % 2)
    angle, length = 2.0 * np.pi * uniform[::2], np.sqrt(-2.0 * np.log1p(-uniform[1::2]))
    return np.stack([np.cos(angle) * length, np.sin(angle) * length], axis=1).reshape(-1)[:n]


def of_python_normalvariate(seed: int, n: int) -> np.ndarray:
    """First n numbers of ``random.normalvariate`` after ``random.seed(seed)``.

    Examples
    --------
    >>> import random
    >>> random.seed(7)
    >>> [round(random.normalvariate(), 6) for _ in range(3)] == of_python_normalvariate(7, 3).round(6).tolist()
    True
    """
    n_pairs = int(n * _PAIRS) + 64
    while True:
        uniform = _uniform(seed, 2 * n_pairs)
        rest = 1.0 - uniform[1::2]
        drawn = _RATIO * (uniform[::2] - 0.5) / rest
        drawn = drawn[np.square(drawn) / 4.0 <= -np.log(rest)]  # the others are drawn again
        if len(drawn) >= n:
            return drawn[:n]
        n_pairs *= 2


def _uniform(seed: int, n: int) -> np.ndarray:
    """First n numbers of ``random.random`` after ``random.seed(seed)``: Python seeds the generator of NumPy's
    RandomState with an array of 32 bits each."""
    _STATE.seed([seed >> shift & (2**32 - 1) for shift in range(0, max(1, seed.bit_length()), 32)])
    return _STATE.random_sample(n)
