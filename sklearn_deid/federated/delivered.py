"""Sequence numbers of the applied uploads of a worker, in any order of arrival."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from math import inf

from ..exceptions import ExchangeError
from .value_checks import LARGEST_WHOLE, is_whole


class Delivered:
    """Set of sequence numbers, stored as ranges. Consecutive numbers share one range.

    The highest number alone would not suffice: if upload 2 arrived before upload 1, upload 1 would be treated as a
    repetition and ignored.

    Parameters
    ----------
    ranges : iterable of (first, last), default=()
        Increasing ranges. First and last number belong to the range.

    Examples
    --------
    >>> seen = Delivered()
    >>> [seen.add(n) for n in (0, 2, 0, 1)]
    [True, True, False, True]
    >>> seen.ranges()
    [(0, 2)]
    """

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self._ranges: list[tuple[int, int]] = []
        for first, last in ranges:
            # Ranges that touch must be one range, so that equal sets have equal ranges.
            if check_sequence(first) > check_sequence(last) or (self._ranges and first <= self._ranges[-1][1] + 1):
                raise ExchangeError("Ranges of sequence numbers must increase and lie apart.")
            self._ranges.append((first, last))

    def __contains__(self, number: int) -> bool:
        place = bisect_right(self._ranges, (number, inf)) - 1
        return place >= 0 and number <= self._ranges[place][1]

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self._ranges)

    def add(self, number: int) -> bool:
        """Add a number, and return whether the number is new."""
        if number in self:
            return False
        # At most two ranges touch the number: the range before and the range after. All become one range.
        touched = [one for one in self._ranges if one[0] - 1 <= number <= one[1] + 1]
        kept = [one for one in self._ranges if one not in touched]
        numbers = [number, *(end for one in touched for end in one)]
        self._ranges = sorted([*kept, (min(numbers), max(numbers))])
        return True

    def n_ranges(self) -> int:
        """Number of ranges, on which the memory of the set depends."""
        return len(self._ranges)

    def opens_range(self, number: int) -> bool:
        """Whether a new number would form a range of its own."""
        return all(near not in self for near in (number - 1, number, number + 1))

    def discard(self, number: int) -> None:
        """Remove a number."""
        if number in self:
            first, last = self._ranges.pop(bisect_right(self._ranges, (number, inf)) - 1)
            # The number divides its range into two parts. Empty parts are left out.
            parts = ((first, number - 1), (number + 1, last))
            self._ranges = sorted([*self._ranges, *(part for part in parts if part[0] <= part[1])])

    def ranges(self) -> list[tuple[int, int]]:
        """Ranges as increasing (first, last) pairs that neither overlap nor touch."""
        return list(self._ranges)


def check_sequence(number: int) -> int:
    """Return the number if it is a valid sequence number; raise ExchangeError otherwise."""
    if not is_whole(number):
        raise ExchangeError(f"A sequence number must be an integer from 0 to {LARGEST_WHOLE}.")
    return number
