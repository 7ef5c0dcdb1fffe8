"""Noise of the sparse vector technique and of steps with patients: planted faults are named, intact noise is not."""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid.audit.attacks import SparseVectorUploads, UploadNoise
from sklearn_deid.federated import PatientLedger, PatientPrivacy, SparseVectorUpload
from sklearn_deid.federated import patient_steps as steps_module

from ...federated.small_ensembles import ensemble_of
from ...tagging.conftest import make_sentences
from ..audited_toys import auditor

SIZE, SHARE, CLIP, MECHANISM = 3000, 0.2, 0.05, SparseVectorUpload(epsilon=200.0)


class Draws:
    """Generator whose Laplace numbers a test changes."""

    def __init__(self, rng, change):
        self._rng, self._change = rng, change

    def laplace(self, **options):
        return self._change(self._rng.laplace(**options))

    def __getattr__(self, name):
        return getattr(self._rng, name)


def of_values(noise, change):
    """Change the noise of the values and not that of the threshold and its tests."""
    return change(noise, np.ravel(noise)[0]) if 1 < np.size(noise) < SIZE else noise


def uploads(change=None, seeds=range(8), quiet_after=99):
    """Uploads of the same update, the hardest intact case: a half of its values are at the clip."""
    found, delta = [], np.random.default_rng(99).standard_normal(SIZE).astype(np.float32) * CLIP
    for i, seed in enumerate(seeds):
        rng = np.random.default_rng(seed)
        rng = Draws(rng, np.zeros_like) if i >= quiet_after else Draws(rng, change) if change else rng
        found.append(MECHANISM.select(delta, SHARE, 1e-4, CLIP, rng)[0])
    n_most = int(SHARE * SIZE)
    scales, grid = MECHANISM.scales(n_most, CLIP), MECHANISM.grid(n_most, CLIP)
    return SparseVectorUploads([one.indices for one in found], [one.values for one in found], SIZE, CLIP, *scales, grid)


def test_intact_uploads_have_no_fault():
    for first in range(0, 160, 8):
        assert UploadNoise().attack(uploads(seeds=range(first, first + 8))).faults == ()


@pytest.mark.parametrize(
    ("planted", "text"),
    [
        ({"change": lambda noise: noise / 2}, "less noise than stated"),
        ({"change": np.zeros_like}, "less noise than stated"),
        ({"quiet_after": 7}, "less noise than stated"),
        ({"change": lambda noise: of_values(noise, np.full_like)}, "The values of an upload share their noise"),
        ({"seeds": [0, 1, 2, 3, 1]}, "Two uploads share noise"),
        ({"seeds": [0, 1, 2, 3, 1]}, "same positions more often"),
    ],
)
def test_planted_noise_is_named(planted, text):
    # Laplace noise of the threshold is planted with that of the values: positions may be named besides.
    assert text in " ".join(UploadNoise().attack(uploads(**planted)).faults)


def test_a_parameter_without_noise_is_named():
    found = uploads()
    parts = [0, 1000, 1040]
    assert UploadNoise().attack(replace(found, parts=parts)).faults == ()
    bare = [np.where((at >= 1000) & (at < 1040), 0.0, v) for at, v in zip(found.indices, found.values, strict=True)]
    faults = UploadNoise().attack(replace(found, values=bare, parts=parts)).faults
    assert "A parameter of the network carries less noise than stated, or none." in faults


@pytest.mark.parametrize("change", [lambda values: values + np.float32(1e-6), lambda values: 2 * values, np.negative])
def test_values_off_the_grid_or_beyond_the_clip_are_named(change):
    found = uploads()
    inside = np.abs(found.values[2]) < np.float32(CLIP)
    found.values[2][inside] = 0.0  # on the grid
    assert "grid" not in " ".join(UploadNoise().attack(found).faults)
    found.values[2][np.flatnonzero(inside)[0]] = change(np.float32(0.0))
    found.values[2][0] = change(found.values[2][0])
    assert "Values of an upload do not lie on the grid of the noise." in UploadNoise().attack(found).faults


# ---- steps with patients


class OneStream:
    """The same noise in each step, and drawn patients as before."""

    def __init__(self, rng):
        self._rng = rng

    def standard_normal(self, size):
        return np.random.default_rng(5).standard_normal(size)

    def random(self, size):
        return self._rng.random(size)

    def integers(self, high, size):
        return self._rng.integers(high, size=size)


class Silent(OneStream):
    def standard_normal(self, size):
        return np.zeros(size)


class SharedByAll(OneStream):
    def standard_normal(self, size):
        return np.full(size, self._rng.standard_normal())


@pytest.fixture(scope="module")
def told():
    X, y, groups = make_sentences(48)
    return X, y, groups


def exchange(told, source, monkeypatch):
    """A recorded training with patients whose noise comes from another source."""

    # The search for the multiplier takes seconds, and the size of the noise shows in nothing here.
    def planned(path, epsilon, delta, **steps):
        return PatientLedger(epsilon, delta, noise_multiplier=2.0, path=path, **steps)

    monkeypatch.setattr(PatientLedger, "planned", planned)
    own = steps_module.release_generator
    monkeypatch.setattr(steps_module, "release_generator", lambda: source(own()))
    privacy = PatientPrivacy(8.0, sampling_rate=0.5)
    ensemble = ensemble_of(strategy="fedavg", privacy=privacy, n_workers=3, n_epochs=4, keep_exchange=True)
    labels = sorted({tag[2:] for row in told[1] for tag in row if tag != "O"})
    return ensemble.set_params(random_state=None, labels=labels).fit(told[0], told[1], groups=told[2])


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (lambda rng: rng, ""),
        (Silent, "less noise than stated"),
        (OneStream, "Two uploads share noise"),
        (SharedByAll, "The values of an upload share their noise"),
    ],
)
def test_steps_with_patients(told, source, text, monkeypatch):
    report = auditor(["upload_noise"]).audit(exchange(told, source, monkeypatch), *told)
    (result,) = report.results
    assert text in " ".join(result.faults) and bool(result.faults) == bool(text), (result.faults, result.details)
