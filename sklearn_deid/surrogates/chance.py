"""Random draws for the note generator.

Every draw uses ``Generator.random()``, which returns the same doubles on every platform. The other methods of a
generator (``choice``, ``integers``) may change their streams between NumPy releases, and a call takes ten times as
long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class Chance:
    """Uniform draws from one stream of random numbers.

    Parameters
    ----------
    seed : numpy.random.SeedSequence or int
        Random seed of the stream. Equal seeds give equal draws.

    Examples
    --------
    >>> chance = Chance(0)
    >>> chance.pick("abc") in "abc", 3 <= chance.number(3, 5) <= 5
    (True, True)
    """

    __slots__ = ("_random",)

    def __init__(self, seed: np.random.SeedSequence | int) -> None:
        self._random = np.random.Generator(np.random.PCG64(seed)).random

    def uniform(self) -> float:
        """Draw a number in [0, 1)."""
        return float(self._random())

    def happens(self, probability: float) -> bool:
        """Draw True with the given probability, otherwise False."""
        return self._random() < probability

    def number(self, low: int, high: int) -> int:
        """Draw a whole number from ``low`` to ``high``, both included."""
        return low + int(self._random() * (high - low + 1))

    def decimal(self, low: float, high: float, places: int) -> str:
        """Draw a number between ``low`` and ``high``, printed with ``places`` decimals."""
        return f"{low + self._random() * (high - low):.{places}f}"

    def digits(self, length: int) -> str:
        """Draw a string of ``length`` digits that does not start with 0."""
        low = 10 ** (length - 1)
        return str(self.number(low, 10 * low - 1))

    def pick(self, items: Sequence[T]) -> T:
        """Draw one of the ``items``, all with equal probability."""
        return items[int(self._random() * len(items))]

    def weighted(self, items: Sequence[tuple[T, float]]) -> T:
        """Draw the item of one ``(item, weight)`` pair, with a probability in proportion to its weight."""
        point = self._random() * sum(weight for _, weight in items)
        for item, weight in items:
            point -= weight
            if point < 0:
                return item
        # Only rounding leads here: the weights may add up to slightly more than the subtractions take away.
        return items[-1][0]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return a new list of ``items`` in random order."""
        # Fisher-Yates: position i takes one of the items 0..i, so every order has the same probability.
        rest = list(items)
        for i in range(len(rest) - 1, 0, -1):
            j = int(self._random() * (i + 1))
            rest[i], rest[j] = rest[j], rest[i]
        return rest

    def sample(self, items: Sequence[T], size: int) -> list[T]:
        """Draw up to ``size`` of the ``items`` without replacement, in random order."""
        return self.shuffled(items)[:size]
