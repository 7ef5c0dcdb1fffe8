"""Noise of uploads: do the messages of a distributed training have the noise that the accounting assumes?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2, hypergeom, norm

from ..._parameters import check_parameter
from ..._randomness import n_signed_zeros, on_grid
from ..protocol import AttackResult
from ..released_step import UPDATES
from .check_results import check_result
from .declaration import AttackPreset, timed
from .noise_checks import Check, alarms
from .noisy_messages import (
    PART_LESS,
    SHARED,
    SparseVectorUploads,
    StepUploads,
    facing,
    pairs_of_uploads,
    sums_by_part,
)
from .untrained import UntrainedAttack

UPLOAD_LEVEL = 1e-4  # probability of a false alarm of all tests together


@dataclass(frozen=True, repr=False)
class NoisyUploads:
    """Uploads with Gaussian noise on the values of random positions.

    Attributes
    ----------
    indices : sequence of ndarray of shape (k,)
        Positions of the sent values of each upload, ascending.
    values : sequence of ndarray of shape (k,)
        Sent values.
    size : int
        Number of parameters.
    std, norm_bound, grid : float
        Stated standard deviation of the noise, largest Euclidean norm of the values before the noise, and step of the
        grid on which the sent values lie.
    parts : sequence of int, default=()
        First position of each parameter of the network, ascending from 0. Each parameter is then tested separately.
    """

    indices: Sequence[np.ndarray]
    values: Sequence[np.ndarray]
    size: int
    std: float
    norm_bound: float
    grid: float
    parts: Sequence[int] = ()

    def __post_init__(self) -> None:
        check_parameter("NoisyUploads", "std", self.std, self.std > 0, "a positive number")

    @property
    def is_on_grid(self) -> bool:
        """Whether all values lie on the grid, with zeros without a sign."""
        return all(on_grid(values, self.grid) and not n_signed_zeros(values) for values in self.values)

    def checks(self) -> Iterator[Check]:
        """Yield tests of the noise."""
        shift = self.norm_bound / self.std
        units = [np.asarray(values, dtype=np.float64) / self.std for values in self.values]
        for z in units:
            # The values before the noise make the expected sum of squares larger, never smaller.
            yield Check(
                "size",
                float(chi2.cdf(np.square(z).sum(), len(z))),
                "An upload carries less noise than stated, or none.",
            )
            total = abs(float(z.sum())) / np.sqrt(max(len(z), 1))
            yield Check("shared", float(2.0 * norm.sf(total - shift)), "The values of an upload share their noise.")
        for total, n in sums_by_part(self.indices, [np.square(z) for z in units], self.parts):
            if n:
                yield Check("size", float(chi2.cdf(total, n)), PART_LESS)
        for i, j in pairs_of_uploads(len(units)):
            one, other = self.indices[i], self.indices[j]
            faced = facing(units[i], units[j], one, other)
            both = hypergeom.sf(len(faced[0][0]) - 1, self.size, len(one), len(other))
            yield Check("positions", float(both), "Two uploads chose the same positions more often than by chance.")
            for first, second in faced:
                if second.any():
                    # Given the other upload, the product is Gaussian; the mean is at most what the norm bound allows.
                    product = abs(float(first @ second)) / float(np.linalg.norm(second))
                    yield Check("replay", float(2.0 * norm.sf(product - shift)), SHARED)


class UploadNoise(UntrainedAttack):
    """Test the recorded uploads against the stated noise.

    With `GaussianUpload`, the Euclidean norm of the values before the noise is at most ``norm_bound``. With the noise,
    the sum of squares must be at least as large as for noise alone. The normalised product with another upload, whose
    noise is independent, is Gaussian with a mean of at most ``norm_bound`` divided by the standard deviation. With
    `SparseVectorUpload`, the tests count values strictly below the clipping limit, and compare positions and signs of
    two uploads (`SparseVectorUploads`). With `PatientPrivacy`, parameters that no note uses must change, and the
    changes must be independent (`StepUploads`). The size of the noise of `PatientPrivacy` cannot be measured. The tests
    find noise that is too small in an upload or in a parameter of the network, noise that the values of an upload or
    two uploads share, and positions that two uploads share. All tests together raise a false alarm with probability
    .0001.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks import NoisyUploads, UploadNoise
    >>> rng, indices = np.random.default_rng(0), [np.arange(0, 400, 2), np.arange(1, 400, 2)]
    >>> values = [np.rint(rng.standard_normal(200) * 64) / 64 + 0.0 for _ in range(2)]
    >>> UploadNoise().attack(NoisyUploads(indices, values, 400, 1.0, 1.0, 2.0**-6)).faults
    ()
    >>> UploadNoise().attack(NoisyUploads(indices, [one / 2 for one in values], 400, 1.0, 1.0, 2.0**-7)).faults
    ('An upload carries less noise than stated, or none.',)
    """

    key = "upload_noise"
    family = "noise"
    title = "Noise of uploads"
    order = 79
    releases = (UPDATES,)
    presets = (AttackPreset("upload_noise", "Noise of uploads", 50.0, 0.5, quick=True),)
    name = "noise of uploads"
    attacker = "A curious server that compares the updates of the sites with the stated noise."
    measure = "share of tests in which the noise of the uploads is not the stated noise"
    phrase = "A server that tests the uploads finds a deviation from the stated noise in {} of tests"

    def requires(self, release: Any) -> str | None:
        """Return why there is nothing to test: the release states no noise of the uploads."""
        return "The exchange states no noise that can be tested." if release.noisy_uploads is None else None

    def run(self, release: Any) -> list[AttackResult]:
        """Test all uploads of the exchange."""
        return [self.fit().attack(release.noisy_uploads)]

    @timed
    def attack(self, released: NoisyUploads | SparseVectorUploads | StepUploads) -> AttackResult:
        """Test uploads."""
        n_uploads = len(released.updates if isinstance(released, StepUploads) else released.values)
        failed, n_checks = alarms(released.checks(), UPLOAD_LEVEL)
        faults = [*dict.fromkeys(check.fault for check in failed)]
        if not released.is_on_grid:
            faults.append("Values of an upload do not lie on the grid of the noise.")
        return check_result(
            self,
            faults,
            n_checks + 1,
            settings={"level": UPLOAD_LEVEL},
            details={"uploads": n_uploads, "tests": n_checks},
        )
