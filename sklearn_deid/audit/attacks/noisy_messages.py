"""Uploads with the noise of the sparse vector technique, and uploads of a training with `PatientPrivacy`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import binom

from .noise_checks import Check

MOST_PAIRS = 2000
_SHARED = "Two uploads share noise."
_LESS = "The uploads carry less noise than stated, or none."
# Momentum makes steps of one site similar. After this number of steps, .9^30 = .04 of the momentum remains.
_FORGOTTEN_STEPS = 30
_ALIKE, _ALIKE_LATER = 0.51, 0.6


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
    """

    indices: Sequence[np.ndarray]
    values: Sequence[np.ndarray]
    size: int
    clip: float
    threshold_scale: float
    value_scale: float
    grid: float

    def checks(self) -> Iterator[Check]:
        """Yield tests of the noise.

        The noise is so large that nearly all values are at the clip. A value is strictly inside with a probability of
        at most ``1 - exp(-clip / scale)``, for any value before the noise, and at most one half of the values are at
        each end. With smaller noise, more values are inside.

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
        for one in signs:
            k = int(max((one > 0).sum(), (one < 0).sum()))
            yield Check("shared", min(1.0, 2.0 * float(binom.sf(k - 1, len(one), end))), "An upload shares its noise.")
        for i, j in list(combinations(range(len(signs)), 2))[:MOST_PAIRS]:
            yield from self._pair(i, j, signs, end)

    def _pair(self, i: int, j: int, signs: list[np.ndarray], end: float) -> Iterator[Check]:
        one, other = self.indices[i], self.indices[j]
        places, mine, theirs = np.intersect1d(one, other, assume_unique=True, return_indices=True)
        # The tests of the threshold prefer a position by at most the ratio of clip and noise.
        share = min(1.0, len(other) / self.size * np.exp(self.clip / self.threshold_scale))
        fault = "Two uploads chose the same positions more often than the noise of the threshold allows."
        yield Check("positions", float(binom.sf(len(places) - 1, len(one), share)), fault)
        n = min(len(one), len(other))
        for first, second in ((signs[i][mine], signs[j][theirs]), (signs[i][:n], signs[j][:n])):
            same = int(((first == second) & (second != 0.0)).sum())
            yield Check("replay", float(binom.sf(same - 1, len(second), end)), _SHARED)


@dataclass(frozen=True, repr=False)
class StepUploads:
    """Updates of parameters that no note reads, from a training with `PatientPrivacy`.

    Such a parameter belongs to a character or word shape that no note has, and moves by noise alone. The size of this
    movement gives no information about the size of the noise, because the optimizer divides by the size of the step.

    Attributes
    ----------
    updates : sequence of ndarrays of shape (n_untouched,)
        Updates of these parameters in each upload; 0 for parameters that were not sent.
    shares : sequence of float
        Share of all parameters that each upload moves.
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

    def checks(self) -> Iterator[Check]:
        """Yield tests of the noise: its presence, and its independence within an upload and between uploads."""
        signs = [np.sign(update) for update in self.updates]
        for one, share in zip(signs, self.shares, strict=True):
            moved = int(np.count_nonzero(one))
            # The same share of these parameters is sent as of all parameters. By chance, less than a quarter is lost.
            yield Check("size", float(binom.cdf(moved, len(one), share / 4.0)), _LESS)
            k = int(max((one > 0).sum(), (one < 0).sum()))
            yield Check("shared", 2.0 * float(binom.sf(k - 1, moved, _ALIKE)), "An upload shares its noise.")
        for i, j in list(combinations(range(len(signs)), 2))[:MOST_PAIRS]:
            apart = abs(self.epochs[i] - self.epochs[j]) * self.n_steps
            if self.sites[i] == self.sites[j] and apart < _FORGOTTEN_STEPS:
                continue
            both = (signs[i] != 0.0) & (signs[j] != 0.0)
            same, n = int((signs[i] == signs[j])[both].sum()), int(both.sum())
            # The last update returns to the mean of earlier parameters, and therefore points against the updates of
            # other sites.
            alike = _ALIKE if self.sites[i] != self.sites[j] else _ALIKE_LATER
            yield Check("replay", float(binom.sf(same - 1, n, alike)), _SHARED)
