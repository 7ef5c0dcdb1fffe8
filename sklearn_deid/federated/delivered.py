"""Sequence numbers of the applied uploads of a worker, in any order of arrival."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from ..exceptions import ExchangeError

# JSON readers that use doubles represent integers exactly up to this number.
_LARGEST = 2**53 - 1


class Delivered:
    """Set of sequence numbers, stored as ranges. Consecutive numbers share one range.

    The highest number alone would not suffice: if upload 2 arrived before upload 1, upload 1 would be treated as a
    repetition and lost.

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
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        for first, last in ranges:
            # Ranges that touch must be one range, so that equal sets have equal ranges.
            if check_sequence(first) > check_sequence(last) or (self._lasts and first <= self._lasts[-1] + 1):
                raise ExchangeError("Ranges of sequence numbers must increase and lie apart.")
            self._firsts.append(first)
            self._lasts.append(last)

    def __contains__(self, number: int) -> bool:
        place = bisect_right(self._firsts, number) - 1
        return place >= 0 and number <= self._lasts[place]

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges())

    def add(self, number: int) -> bool:
        """Add a number, and return whether the number is new."""
        if number in self:
            return False
        # Index of the first range after the number. The number may touch this range, the range before, or both.
        place = bisect_right(self._firsts, number)
        joins_before = place > 0 and self._lasts[place - 1] == number - 1
        joins_after = place < len(self._firsts) and self._firsts[place] == number + 1
        if joins_before and joins_after:
            self._lasts[place - 1] = self._lasts.pop(place)
            del self._firsts[place]
        elif joins_before:
            self._lasts[place - 1] = number
        elif joins_after:
            self._firsts[place] = number
        else:
            self._firsts.insert(place, number)
            self._lasts.insert(place, number)
        return True

    def n_ranges(self) -> int:
        """Number of ranges, on which the memory of the set depends."""
        return len(self._firsts)

    def opens_range(self, number: int) -> bool:
        """Whether a new number would form a range of its own."""
        return all(near not in self for near in (number - 1, number, number + 1))

    def discard(self, number: int) -> None:
        """Remove a number."""
        if number not in self:
            return
        place = bisect_right(self._firsts, number) - 1
        first, last = self._firsts[place], self._lasts[place]
        # The number divides its range into two parts. Empty parts are left out.
        kept = [(a, b) for a, b in ((first, number - 1), (number + 1, last)) if a <= b]
        self._firsts[place : place + 1] = [a for a, _ in kept]
        self._lasts[place : place + 1] = [b for _, b in kept]

    def ranges(self) -> list[tuple[int, int]]:
        """Ranges as increasing (first, last) pairs that neither overlap nor touch."""
        return list(zip(self._firsts, self._lasts, strict=True))


def check_sequence(number: int) -> int:
    """Return the number if it is a valid sequence number; raise ExchangeError otherwise."""
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= _LARGEST:
        raise ExchangeError(f"A sequence number must be an integer from 0 to {_LARGEST}.")
    return number
