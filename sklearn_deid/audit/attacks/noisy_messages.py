"""Tests of uploads with the noise of the sparse vector technique, and of uploads of a training with
`PatientPrivacy`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from scipy.stats import binom

from ..._randomness import n_signed_zeros, on_grid
from .noise_checks import Check

_MOST_PAIRS = 2000
SHARED = "Two uploads share noise."
_LESS = "The uploads carry less noise than stated, or none."
PART_LESS = "A parameter of the network carries less noise than stated, or none."
# Momentum makes steps of one site similar. After this number of steps, .9^30 = .04 of the momentum remains.
_FORGOTTEN_STEPS = 30
_ALIKE, _ALIKE_LATER = 0.51, 0.6


def pairs_of_uploads(n: int) -> list[tuple[int, int]]:
    """Pairs of n uploads to compare: all pairs, or a random sample of at most 2,000 pairs.

    Examples
    --------
    >>> pairs_of_uploads(3), len(pairs_of_uploads(100))
    ([(0, 1), (0, 2), (1, 2)], 2000)
    """
    pairs = list(combinations(range(n), 2))
    # Drawn at random: the first pairs would leave out all pairs of late uploads.
    drawn = np.random.default_rng(0).permutation(len(pairs))[:_MOST_PAIRS]
    return [pairs[i] for i in sorted(drawn.tolist())]


def facing(
    values: np.ndarray, others: np.ndarray, indices: np.ndarray, other_indices: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Corresponding values of two uploads: values of the same parameter, and values at the same position in both
    messages.

    If a stream of random numbers is repeated, values at the same position in both messages have equal noise.

    Parameters
    ----------
    values, others : ndarray of shapes (k,) and (m,)
        Values of the uploads.
    indices, other_indices : ndarray of shapes (k,) and (m,)
        Parameters of the values, ascending.
    """
    _, mine, theirs = np.intersect1d(indices, other_indices, assume_unique=True, return_indices=True)
    n = min(len(values), len(others))
    return (values[mine], others[theirs]), (values[:n], others[:n])


def sums_by_part(
    indices: Sequence[np.ndarray], values: Sequence[np.ndarray], parts: Sequence[int]
) -> list[tuple[float, int]]:
    """Sum and number of the values of all uploads in each part of the network.

    Parameters
    ----------
    indices, values : sequences of ndarrays
        Positions and values of each upload.
    parts : sequence of int
        First position of each part, ascending from 0.

    Examples
    --------
    >>> sums_by_part([np.array([0, 4]), np.array([5, 8])], [np.array([1.0, 2.0]), np.array([3.0, 4.0])], [0, 5, 20])
    [(3.0, 2), (7.0, 2), (0.0, 0)]
    """
    if not parts:
        return []
    of = [np.searchsorted(parts, one, side="right") - 1 for one in indices]
    pairs = list(zip(of, values, strict=True))
    sums = np.sum([np.bincount(part, own, len(parts)) for part, own in pairs], axis=0)
    sizes = np.sum([np.bincount(part, minlength=len(parts)) for part in of], axis=0)
    return list(zip(sums.tolist(), sizes.tolist(), strict=True))


@dataclass(frozen=True, repr=False)
class SparseVectorUploads:
    """Uploads of `SparseVectorUpload`, whose values were clipped after the noise.

    Attributes
    ----------
    indices, values : sequences of ndarrays
        Positions and values of each upload, positions ascending.
    size : int
        Number of parameters.
    clip, threshold_scale, value_scale, grid : float
        Clip of the values, stated scales of the Laplace noise of threshold and values, and step of the grid.
    parts : sequence of int, default=()
        First position of each parameter of the network, ascending from 0. Each parameter is then tested separately.
    """

    indices: Sequence[np.ndarray]
    values: Sequence[np.ndarray]
    size: int
    clip: float
    threshold_scale: float
    value_scale: float
    grid: float
    parts: Sequence[int] = ()

    @property
    def is_on_grid(self) -> bool:
        """Whether all values are at the clipping limit, or inside the limits and on the grid. Values off the grid could
        carry information."""
        most = np.float32(self.clip)
        return all(
            bool((np.abs(values) <= most).all())
            and on_grid(values[np.abs(values) < most], self.grid)
            and not n_signed_zeros(values)
            for values in self.values
        )

    def checks(self) -> Iterator[Check]:
        """Yield tests of the noise.

        The noise is so large that nearly all values are at the clipping limit. For any value before the noise, the sent
        value is strictly inside the limits with a probability of at most ``1 - exp(-clip / scale)``, and at each limit
        with a probability of at most one half. With smaller noise, more values are strictly inside.

        Examples
        --------
        >>> import numpy as np
        >>> rng, places = np.random.default_rng(0), [np.arange(0, 900, 3), np.arange(1, 900, 3)]
        >>> def least(noise):
        ...     values = [np.clip(noise * rng.laplace(size=300), -0.05, 0.05) for _ in places]
        ...     return min(check.p for check in SparseVectorUploads(places, values, 900, 0.05, 2, 1, 2**-9).checks())
        >>> least(1.0) > 1e-3, least(0.2) < 1e-9
        (True, True)
        """
        inside = -np.expm1(-(self.clip + self.grid) / self.value_scale)
        end = min(1.0, 0.5 * np.exp(self.grid / self.value_scale))
        signs = [np.sign(values) * (np.abs(values) >= self.clip) for values in self.values]
        n_inside = [int((one == 0.0).sum()) for one in signs]
        for k, n in [(sum(n_inside), sum(map(len, signs))), *zip(n_inside, map(len, signs), strict=True)]:
            yield Check("size", float(binom.sf(k - 1, n, inside)), _LESS)
        for total, n in sums_by_part(self.indices, [one == 0.0 for one in signs], self.parts):
            yield Check("size", float(binom.sf(total - 1, n, inside)), PART_LESS)
        for one in signs:
            k = int(max((one > 0).sum(), (one < 0).sum()))
            yield Check(
                "shared",
                min(1.0, 2.0 * float(binom.sf(k - 1, len(one), end))),
                "The values of an upload share their noise.",
            )
        for i, j in pairs_of_uploads(len(signs)):
            one, other = self.indices[i], self.indices[j]
            # The tests of the threshold prefer a position by at most the ratio of clip and noise.
            share = min(1.0, len(other) / self.size * np.exp(self.clip / self.threshold_scale))
            fault = "Two uploads chose the same positions more often than the noise of the threshold allows."
            faced = facing(signs[i], signs[j], one, other)
            yield Check("positions", float(binom.sf(len(faced[0][0]) - 1, len(one), share)), fault)
            for first, second in faced:
                same = int(((first == second) & (second != 0.0)).sum())
                yield Check("replay", float(binom.sf(same - 1, len(second), end)), SHARED)


@dataclass(frozen=True, repr=False)
class StepUploads:
    """Updates of parameters that no note reads, from a training with `PatientPrivacy`.

    These parameters belong to characters or word shapes that no note contains, so that only noise changes them. The
    size of the change gives no information about the size of the noise, because the optimizer normalises the step.

    Attributes
    ----------
    updates : sequence of ndarrays of shape (n_untouched,)
        Updates of these parameters in each upload; 0 for parameters that were not sent.
    shares : sequence of float
        Proportion of all parameters that each upload changes.
    sites : sequence of str
        Site of each upload.
    epochs : sequence of int
        Local epochs of the site before each upload.
    n_steps : int
        Steps of a local epoch.
    """

    updates: Sequence[np.ndarray]
    shares: Sequence[float]
    sites: Sequence[str]
    epochs: Sequence[int]
    n_steps: int

    # The optimizer divides by the size of each step, so that the updates have no grid.
    is_on_grid: ClassVar[bool] = True

    def checks(self) -> Iterator[Check]:
        """Yield tests of the noise: presence of noise, and independence of the noise within an upload and between
        uploads."""
        signs = [np.sign(update) for update in self.updates]
        for one, share in zip(signs, self.shares, strict=True):
            moved = int(np.count_nonzero(one))
            # The same share of these parameters is sent as of all parameters. By chance, less than a quarter is lost.
            yield Check("size", float(binom.cdf(moved, len(one), share / 4.0)), _LESS)
            k = int(max((one > 0).sum(), (one < 0).sum()))
            yield Check(
                "shared", 2.0 * float(binom.sf(k - 1, moved, _ALIKE)), "The values of an upload share their noise."
            )
        for i, j in pairs_of_uploads(len(signs)):
            apart = abs(self.epochs[i] - self.epochs[j]) * self.n_steps
            if self.sites[i] == self.sites[j] and apart < _FORGOTTEN_STEPS:
                continue
            both = (signs[i] != 0.0) & (signs[j] != 0.0)
            same, n = int((signs[i] == signs[j])[both].sum()), int(both.sum())
            # The last update returns to the mean of earlier parameters, and therefore points against the updates of
            # other sites.
            alike = _ALIKE if self.sites[i] != self.sites[j] else _ALIKE_LATER
            yield Check("replay", float(binom.sf(same - 1, n, alike)), SHARED)
