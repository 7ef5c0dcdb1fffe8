"""Orders that a generator makes from a small seed. An attacker who tries all small seeds can restore the original order
of the sentences."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from math import lgamma

import numpy as np

from .order_keys import FEWEST

# Seeds that people often use.
_SEEDS = (*range(256), 999, 1000, 1234, 1337, *range(2020, 2031), 4242, 12345, 31337, 123456)
_MOST_DRAWN = 2**22
_Permute = Callable[[int], np.ndarray]


def _of_python(seed: int) -> _Permute:
    generator = random.Random(seed)

    def permuted(n: int) -> np.ndarray:
        items = list(range(n))
        generator.shuffle(items)
        return np.array(items)

    return permuted


def _begin_again(state: np.random.RandomState, seed: int) -> _Permute:
    state.seed(seed)
    return state.permutation


# Makers of functions of a seed that return a function of n: the next permutation of n items. A RandomState is made
# once, which takes as long as sixty seeds.
_GENERATORS: dict[str, Callable[[], Callable[[int], _Permute]]] = {
    "NumPy's default generator": lambda: lambda seed: np.random.default_rng(seed).permutation,
    "NumPy's RandomState": lambda: partial(_begin_again, np.random.RandomState(0)),
    "Python's generator": lambda: _of_python,
}


def seeded_order(original: np.ndarray, same_as: np.ndarray) -> tuple[str, float]:
    """Generator and seed whose order agrees with a release at the most positions, and the probability of this agreement
    by chance.

    The function tries three kinds of order. The first kind is a permutation of all sentences, of which the first copies
    are kept. The second kind is the first kind with a further permutation of the kept sentences (as in
    `save_representation`). The third kind is a permutation of the distinct sentences.

    Parameters
    ----------
    original : ndarray of int, shape (n_released,)
        Row of the notes for each sentence of the release, -1 if unknown.
    same_as : ndarray of int, shape (n_notes,)
        Row of the first equal sentence, for each sentence of the notes.
    """
    ours, distinct = np.where(original >= 0, same_as[original], -1), np.unique(same_as)

    def orders(begun: Callable[[], _Permute]) -> Iterator[np.ndarray]:
        permute = begun()
        kept = same_as[permute(len(same_as))]
        if len(distinct) < len(same_as):
            kept = kept[np.sort(np.unique(kept, return_index=True)[1])]  # the first of each
        yield from (kept, kept[permute(len(kept))])
        if len(distinct) < len(same_as):  # otherwise this is the first way
            yield distinct[begun()(len(distinct))]

    return _best(ours, orders, 3, len(same_as))


def seeded_numbers(numbers: np.ndarray, n: int) -> tuple[str, float]:
    """Generator and seed whose permutation agrees with the most numbers, and the probability, as in `seeded_order`.

    Parameters
    ----------
    numbers : ndarray of int
        For each number, the position of its owner among n items that were numbered by a permutation.
    n : int
        Number of items.
    """

    def orders(begun: Callable[[], _Permute]) -> Iterator[np.ndarray]:
        order = begun()(n)
        yield from (order[: len(numbers)], np.argsort(order)[: len(numbers)])

    return _best(numbers, orders, 2, n)


def _best(ours: np.ndarray, orders: Callable[..., Iterator[np.ndarray]], n_ways: int, n: int) -> tuple[str, float]:
    if len(ours) < FEWEST:
        return "", 1.0
    seeds = _SEEDS[: max(8, _MOST_DRAWN // n)]
    most, named = 0, ""
    for name, made in _GENERATORS.items():
        of_seed = made()
        for seed in seeds:
            for order in orders(partial(of_seed, seed)):
                agreeing = int(np.count_nonzero(order[: len(ours)] == ours[: len(order)]))
                if agreeing > most:
                    most, named = agreeing, f"{name} with seed {seed}"
    # A random permutation has at least k places in common with a given one with probability at most 1 / k!.
    return named, float(min(1.0, n_ways * len(_GENERATORS) * len(seeds) * np.exp(-lgamma(most + 1))))
