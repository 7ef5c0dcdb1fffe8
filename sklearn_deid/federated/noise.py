"""Randomised uploads: Gaussian noise on a random part, and the sparse vector technique.

Both mechanisms protect *all data of a worker* in one upload (worker-level, hence also each note and patient). The
privacy losses of a worker's epochs add up (`PrivacyLedger`). Neither mechanism covers other information that leaves the
site: metrics of the history, times, or a model that is published in another way.

Noise is drawn in double precision, from the generator of the caller. A `Worker` without ``random_state`` passes a
ChaCha20 generator with a new key. Noisy values are rounded to a grid that depends on public settings alone, so that
their low bits reveal nothing (Mironov 2012). The guarantee equals the guarantee for real numbers, up to a difference of
about 2^-43 for each value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._randomness import grid_step, to_grid
from .privacy_ledger import PrivacyEvent
from .ranking import random_subset
from .robust import clip_norm
from .selection import Selected, check_finite_vector, n_shared
from .value_checks import check_parameter, is_number, with_plain_numbers

_BLOCK = 2**20
# Products and squares of such numbers are float64 numbers above 0.
_LEAST, _MOST = 1e-15, 1e15


@dataclass(frozen=True)
class GaussianUpload:
    """Gaussian noise on clipped values at random positions.

    ``theta_u * n`` positions are drawn independently of the update. The values at the drawn positions are clipped to
    ``[-clip, clip]`` and then to a Euclidean norm of at most ``norm_bound``. Normal noise with the standard deviation
    ``noise_multiplier * norm_bound`` is added to each value. `check` refuses a threshold and the selection of the
    largest values. With these settings, the *positions* of the sent values would reveal data, and noise on the values
    does not hide positions.

    Parameters
    ----------
    noise_multiplier : float
        Positive ratio of the standard deviation to the norm bound. An accountant computes epsilon and delta of all
        uploads from the ledger.
    norm_bound : float
        Positive norm bound. The bound is the sensitivity to leaving out all data of the worker.

    Examples
    --------
    >>> import numpy as np
    >>> mechanism = GaussianUpload(noise_multiplier=1.0, norm_bound=0.5)
    >>> delta = np.ones(100, dtype=np.float32)
    >>> chosen, event = mechanism.select(delta, 0.1, 0.0, 10.0, np.random.default_rng(0))
    >>> len(chosen.values), event.noise_multiplier
    (10, 1.0)
    """

    noise_multiplier: float
    norm_bound: float

    def __post_init__(self) -> None:
        with_plain_numbers(self)
        for name in ("noise_multiplier", "norm_bound"):
            _check_scale("GaussianUpload", name, getattr(self, name))

    def check(self, threshold: float, clip: float, selection: str) -> None:
        """Refuse settings under which the noise would not protect."""
        if threshold != 0.0 or selection != "random":
            raise ValueError(
                "With Gaussian noise, the choice of sent parameters must not depend on the data: set threshold=0.0 and "
                f"selection='random'. Got threshold={threshold!r} and selection={selection!r} instead."
            )

    def event(self) -> PrivacyEvent:
        """Privacy cost of one upload."""
        return PrivacyEvent("gaussian", noise_multiplier=self.noise_multiplier)

    def grid(self) -> float:
        """Step of the grid on which sent values lie: a power of two, 32 to 64 times finer than the noise."""
        return grid_step(self.noise_multiplier * self.norm_bound, _finest(self.norm_bound))

    def select(
        self, delta: np.ndarray, upload_fraction: float, threshold: float, clip: float, rng: np.random.Generator
    ) -> tuple[Selected, PrivacyEvent]:
        """Choose, clip and randomise; parameters as in `select_upload`."""
        self.check(threshold, clip, "random")
        delta = check_finite_vector(delta)
        k = n_shared(upload_fraction, len(delta))
        # Positions are drawn independently of delta: only the values have to be hidden by noise.
        indices = np.flatnonzero(random_subset(np.ones(len(delta), dtype=bool), k, rng))  # shape: (k,)
        values = delta[indices]  # shape: (k,)
        n_clipped = int(np.count_nonzero(np.abs(values) > clip))
        bounded = clip_norm(np.clip(values, -clip, clip), self.norm_bound)
        # Noise and sum are float64; the public grid then rounds the low bits away (Mironov 2012).
        noise = rng.standard_normal(k) * (self.noise_multiplier * self.norm_bound)
        noisy = to_grid(bounded.astype(np.float64) + noise, self.grid()).astype(np.float32)
        return Selected(indices, noisy, len(delta), n_clipped), self.event()


@dataclass(frozen=True)
class SparseVectorUpload:
    """Sparse vector technique: the threshold test and the sent values are noisy.

    Let c be the largest number of sent values, gamma the clip and tau the threshold. Each position is visited at most
    once, in random order. A position is sent if ``abs(bound(delta)) + Lap(2 s1) >= tau + Lap(s1)``. After each sent
    position the threshold receives new noise. The sent value is ``bound(bound(delta) + Lap(s2))``. The selection ends
    after c sent positions. The scales are ``s1 = 4 c gamma / e1`` and ``s2 = 4 c gamma / e2`` with
    ``e1 = 8/9 epsilon`` and ``e2 = 2/9 epsilon``.

    Parameters
    ----------
    epsilon : float
        Positive privacy budget of one upload.

    Notes
    -----
    *Privacy loss of one upload.* Let d be the sensitivity of a tested value. For each sent position, the noisy
    threshold costs ``d / s1``, the noisy tests cost ``2 d / (2 s1)``, and the value costs ``2 gamma / s2``. With the
    general bound ``d = 2 gamma``, the c positions cost ``e1 + e2 / 2``, which is epsilon. A magnitude that is clipped
    to ``[0, gamma]`` has ``d = gamma``. With the sensitivity gamma, the c positions cost ``e1 / 2 + e2 / 2 = 5/9
    epsilon``. `exact_epsilon` returns the privacy loss of one upload, and the ledger adds the losses of all uploads. An
    upload with fewer than c positions does not cost more, and the ledger counts the full loss.

    *Composition.* The uploads of E epochs cost E times the loss of one upload, for any change of the worker's data. The
    uploads do not depend on the data of other workers.

    *Differences to Shokri & Shmatikov (2015).* Values are clipped before and after the noise is added, because noise on
    an unbounded value gives no guarantee. Each position is visited at most once per epoch, so that an epoch ends.

    References
    ----------
    Shokri & Shmatikov (2015), Privacy-Preserving Deep Learning, differentially private distributed selective SGD.
    Dwork & Roth (2014), The Algorithmic Foundations of Differential Privacy, section 3.6 (NumericSparse).

    Examples
    --------
    >>> import numpy as np
    >>> mechanism = SparseVectorUpload(epsilon=1.0)
    >>> chosen, event = mechanism.select(np.ones(50, np.float32), 0.1, 1e-4, 1.0, np.random.default_rng(0))
    >>> len(chosen.values) <= 5, round(event.epsilon, 4)
    (True, 0.5556)
    """

    epsilon: float

    def __post_init__(self) -> None:
        with_plain_numbers(self)
        _check_scale("SparseVectorUpload", "epsilon", self.epsilon)

    def check(self, threshold: float, clip: float, selection: str) -> None:
        """Refuse settings under which the noise would not protect."""
        if selection != "random" or not clip < math.inf:
            raise ValueError(
                "The sparse vector technique needs selection='random' and a finite clip. "
                f"Got selection={selection!r} and clip={clip!r} instead."
            )

    @classmethod
    def for_total(cls, epsilon: float, n_uploads: int) -> SparseVectorUpload:
        """Noise with which all uploads together have this epsilon.

        Examples
        --------
        >>> round(25 * SparseVectorUpload.for_total(1.0, 25).exact_epsilon(), 6)
        1.0
        """
        return cls(epsilon / n_uploads / cls(1.0).exact_epsilon())

    def event(self) -> PrivacyEvent:
        """Privacy cost of one upload."""
        return PrivacyEvent("sparse-vector", epsilon=self.exact_epsilon())

    def scales(self, n_most: int, clip: float) -> tuple[float, float]:
        """Scales s1 and s2 of the Laplace noise, for at most ``n_most`` sent values."""
        budget = 4 * n_most * clip / self.epsilon
        return budget / (8 / 9), budget / (2 / 9)

    def grid(self, n_most: int, clip: float) -> float:
        """Step of the grid of the sent values, finer than noise and clip. Values at the clip may lie off the grid."""
        return grid_step([self.scales(n_most, clip)[1], clip], _finest(clip))

    def exact_epsilon(self) -> float:
        """Privacy loss of one upload with the sensitivity of clipped magnitudes, for any c and clip."""
        # Both scales are proportional to c and to the clip, which therefore cancel: any values give the same result.
        n_most, clip = 1, 1.0
        threshold_scale, value_scale = self.scales(n_most, clip)
        # Noisy threshold: d / s1. Noisy test: 2 d / (2 s1). Sent value: 2 gamma / s2. Here d = gamma.
        return n_most * (clip / threshold_scale + 2 * clip / (2 * threshold_scale) + 2 * clip / value_scale)

    def select(
        self, delta: np.ndarray, upload_fraction: float, threshold: float, clip: float, rng: np.random.Generator
    ) -> tuple[Selected, PrivacyEvent]:
        """Choose, clip and randomise; parameters as in `select_upload`."""
        self.check(threshold, clip, "random")
        delta = check_finite_vector(delta)
        n_most = n_shared(upload_fraction, len(delta))
        event = self.event()
        if not n_most:
            return Selected(np.zeros(0, np.intp), np.zeros(0, np.float32), 0, 0), event
        threshold_scale, value_scale = self.scales(n_most, clip)
        bounded = np.clip(delta, -clip, clip)  # shape: (n,)
        # The order of visits is random and would reveal nothing, but messages hold increasing positions.
        indices = np.sort(_above_threshold(np.abs(bounded), threshold, threshold_scale, n_most, rng))
        noise = rng.laplace(scale=value_scale, size=len(indices))
        noisy = to_grid(bounded[indices].astype(np.float64) + noise, self.grid(n_most, clip))  # shape: (k,)
        # Clipping after the noise is post-processing: it costs no privacy, and the server needs bounded values.
        n_clipped = int(np.count_nonzero(np.abs(noisy) > clip))
        values = np.clip(noisy, -clip, clip).astype(np.float32)
        return Selected(indices, values, len(indices), n_clipped), event


def _check_scale(owner: str, name: str, value: object) -> None:
    """Refuse a value with which a scale of the noise, or the accountant, would overflow."""
    wanted = f"a positive number from {_LEAST:g} to {_MOST:g}"
    check_parameter(owner, name, value, is_number(value, _LEAST, _MOST), wanted)


def _finest(bound: float) -> float:
    """Finest allowed step of a grid. Multiples of the step near ``bound`` are exact in float32."""
    return math.ldexp(1.0, math.frexp(bound)[1] - 23)


def _above_threshold(
    magnitudes: np.ndarray, threshold: float, scale: float, n_most: int, rng: np.random.Generator
) -> np.ndarray:
    """Positions whose noisy magnitude reaches the noisy threshold, which is redrawn after each such position."""
    # One pass in random order. The paper goes on until c values are sent, which may never happen.
    order = rng.permutation(len(magnitudes))
    found: list[int] = []
    bar = threshold + rng.laplace(scale=scale)
    for start in range(0, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        # Twice the scale: in the proof the test moves by 2 d, the threshold by d (Dwork & Roth, section 3.6).
        noisy = magnitudes[block] + rng.laplace(scale=2 * scale, size=len(block))  # shape: (block,)
        # No vectorised comparison: each sent position changes the threshold for all positions after it.
        for place, value in zip(block.tolist(), noisy.tolist(), strict=True):
            if value >= bar:
                found.append(place)
                if len(found) == n_most:
                    return np.array(found, dtype=np.intp)
                bar = threshold + rng.laplace(scale=scale)
    return np.array(found, dtype=np.intp)
