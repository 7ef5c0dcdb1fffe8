"""Noise of uploads: planted mechanisms are named, and intact ones are not."""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid.audit.attacks import NoisyUploads, UploadNoise
from sklearn_deid.federated import GaussianUpload

POSITIONS = "Two uploads chose the same positions more often than by chance."
SIZE, MECHANISM = 3000, GaussianUpload(noise_multiplier=0.8, norm_bound=0.5)


class Draws:
    """Generator whose normal numbers a test changes."""

    def __init__(self, rng, change):
        self._rng, self._change = rng, change

    def standard_normal(self, size):
        return self._change(self._rng.standard_normal(size))

    def __getattr__(self, name):
        return getattr(self._rng, name)


def uploads(change=None, same_seed=False, n=6):
    """Uploads of the same long update, the hardest intact case: the values before the noise are equal."""
    found, delta = [], np.random.default_rng(99).standard_normal(SIZE).astype(np.float32)
    for i in range(n):
        rng = np.random.default_rng(0 if same_seed else i)
        found.append(MECHANISM.select(delta, 0.2, 0.0, 10.0, Draws(rng, change) if change else rng)[0])
    return NoisyUploads([one.indices for one in found], [one.values for one in found], SIZE, 0.4, 0.5, MECHANISM.grid())


def test_intact_uploads_have_no_fault():
    found = UploadNoise().attack(uploads())
    assert found.status == "ok" and found.faults == () and found.details["tests"] == 2 * 6 + 3 * 15


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (np.zeros_like, "less noise than stated"),
        (lambda noise: noise / 2, "less noise than stated"),
        (lambda noise: np.full_like(noise, noise[0] or 1.0), "share their noise"),
        (lambda noise: np.random.default_rng(5).standard_normal(len(noise)), "Two uploads share noise"),
    ],
)
def test_planted_noise_is_named(change, text):
    # The last one draws the same numbers for each upload, at other positions.
    assert text in " ".join(UploadNoise().attack(uploads(change)).faults)


def test_uploads_of_one_seed_are_named():
    faults = UploadNoise().attack(uploads(same_seed=True)).faults
    assert faults == (POSITIONS, "Two uploads share noise.")


def test_positions_that_depend_on_the_notes_are_named():
    """Values with noise at the positions of the largest updates, of which two uploads share most but not all."""
    rng, found = np.random.default_rng(0), uploads()
    common = np.abs(rng.standard_normal(SIZE))
    largest = [np.sort(np.argsort(-common - rng.random(SIZE))[:600]) for _ in found.indices]
    assert UploadNoise().attack(replace(found, indices=largest)).faults == (POSITIONS,)


def test_a_parameter_without_noise_is_named():
    """40 of 3,000 parameters hardly change the sum of squares of an upload."""
    found = uploads()
    parts = [0, 1000, 1040]
    assert UploadNoise().attack(replace(found, parts=parts)).faults == ()
    bare = [np.where((at >= 1000) & (at < 1040), 0.0, v) for at, v in zip(found.indices, found.values, strict=True)]
    (fault,) = UploadNoise().attack(replace(found, values=bare, parts=parts)).faults
    assert fault == "A parameter of the network carries less noise than stated, or none."


@pytest.mark.parametrize("std", [0.0, -1.0, float("nan")])
def test_noise_has_a_deviation(std):
    """The tests divide by the deviation."""
    with pytest.raises(ValueError, match="'std' parameter of NoisyUploads must be a positive number"):
        NoisyUploads([], [], SIZE, std, 0.5, MECHANISM.grid())


def test_values_off_the_grid_are_named():
    found = uploads()
    found.values[2][7] += np.float32(MECHANISM.grid() / 3)
    assert UploadNoise().attack(found).faults == ("Values of an upload do not lie on the grid of the noise.",)


def test_a_site_that_repeats_its_noise_late_is_named():
    """Of 100 uploads, only pairs with one of the first 22 were compared."""
    found = uploads(n=100)
    for i in range(91, 100):
        found.indices[i], found.values[i] = found.indices[90], found.values[90]
    assert "Two uploads share noise." in UploadNoise().attack(found).faults
