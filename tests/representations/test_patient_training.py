"""Training under a bound on patients: its dual variable, the scaling of the noise, and what it needs."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from sklearn_deid import PrivateRepresenter
from sklearn_deid.representations import (
    Bounded,
    BoundedSettings,
    PairBatches,
    PatientDualVariables,
    attack_accuracy,
    calibrate_noise,
    distance_of_accuracy,
    train_bounded,
)
from sklearn_deid.representations.twin_distances import twin_distances

from ..tagging.conftest import make_sentences
from .test_private_representer import TINY
from .test_twins import patient_pairs
from .toy_models import chance, small_model

SETTINGS = BoundedSettings(max_attack_accuracy=0.6, quantile_attack_accuracy=None, unit="patient", prices=(1.0, 1.0))


def duals_of(data, **changes):
    return PatientDualVariables(dataclasses.replace(SETTINGS, **changes), PairBatches(data))


def test_squared_cost_of_batches_is_that_of_patients_in_the_mean():
    """The cost of a whole pass is the root mean square over patients; a batch estimates its square."""
    data = patient_pairs(60)
    batches, representer = PairBatches(data, 16), small_model().representer
    duals = duals_of(data)
    twins = twin_distances(representer, batches, torch.Generator().manual_seed(0), twins="all")
    patients = twins.over_patients(batches)
    whole = math.sqrt(float((patients.distances**2).mean())) / duals.mean_allowed
    first = np.unique(
        np.stack([data.patients[twins.rows], batches.sentence_keys()[twins.rows]]), axis=1, return_index=True
    )
    distances = torch.from_numpy(twins.distances[first[1]])
    assert float(duals.cost(distances)) == pytest.approx(whole, rel=1e-6)
    parts = distances[torch.randperm(len(distances), generator=torch.Generator().manual_seed(0))].split(1)
    assert np.mean([float(duals.cost(part)) ** 2 for part in parts]) == pytest.approx(whole**2, rel=1e-6)


def test_cost_has_a_gradient_everywhere():
    duals = duals_of(patient_pairs(20))
    for start in (0.0, 1.0):
        distance = torch.full((4,), start, requires_grad=True)
        duals.cost(distance).backward()
        assert distance.grad.isfinite().all() and bool((distance.grad > 0).all()) is bool(start)


def test_price_follows_the_mean_accuracy_of_patients():
    allowed = distance_of_accuracy(0.6)
    for distance, sign in ((2 * allowed, 1), (allowed, 0), (0.5 * allowed, -1), (math.inf, 1)):
        duals = duals_of(patient_pairs(20))
        duals.follow(torch.full((10,), distance))
        assert np.sign(round(math.log(duals.mean), 6)) == sign and duals.tail == 0.0
        assert abs(math.log(duals.mean)) <= SETTINGS.price_rate + 1e-9


@pytest.mark.parametrize("scale", [0.1, 1.0, 20.0])
def test_factor_brings_the_mean_accuracy_to_the_request(scale):
    distances = scale * torch.from_numpy(np.random.default_rng(0).exponential(size=50))
    duals = duals_of(patient_pairs(20))
    factor = duals.excess(distances)
    assert float(attack_accuracy(distances / factor).mean()) == pytest.approx(0.6, abs=1e-5)
    assert duals.excess(torch.zeros(5)) == 0.0


@pytest.mark.parametrize("quantile", [None, 0.51])
def test_scaled_noise_keeps_both_bounds(quantile):
    data, model = patient_pairs(), small_model(noise=0.05)
    valid, generator = PairBatches(data, 32), torch.Generator().manual_seed(0)
    duals = PatientDualVariables(dataclasses.replace(SETTINGS, quantile_attack_accuracy=quantile), valid)
    assert calibrate_noise(model, valid, duals, generator) > 1.0
    patients = twin_distances(model.representer, valid, generator, twins="all").over_patients(valid)
    mean = float(attack_accuracy(torch.from_numpy(patients.distances)).mean())
    assert mean <= 0.605 if quantile is None else mean < 0.57
    pairs = twin_distances(model.representer, valid, generator)
    if quantile is not None:
        assert np.quantile(pairs.distances, 0.95) <= 1.05 * distance_of_accuracy(quantile)


def test_training_keeps_the_bound_on_patients():
    # What the tagger learns afterwards leaves the representer alone.
    short = {"n_epochs": 10, "n_finish_epochs": 0, "lr": 2e-2, "prices": (0.05, 0.05)}
    model, settings = small_model(noise=0.5), dataclasses.replace(SETTINGS, **short)
    train, valid = (PairBatches(patient_pairs(n, seed, n_patients=20), 64) for n, seed in ((150, 0), (100, 1)))
    result = train_bounded(model, train, valid, settings=settings, **chance())
    generator = torch.Generator().manual_seed(1)
    patients = twin_distances(model.representer, valid, generator, twins="all").over_patients(valid)
    assert float(attack_accuracy(torch.from_numpy(patients.distances)).mean()) <= 0.61
    assert result.bound.mean_accuracy.value < 0.6 and not result.interrupted
    # The same bound, asked of tokens, leaves patients at a larger accuracy.
    other = small_model(noise=0.5)
    loose = dataclasses.replace(settings, unit="token")
    train_bounded(other, train, valid, settings=loose, **chance())
    exposed = twin_distances(other.representer, valid, generator, twins="all").over_patients(valid)
    assert exposed.distances.mean() > patients.distances.mean()


# ---- the estimator


def test_patients_are_bounded_and_stated():
    X, y, groups = make_sentences(120)
    training = Bounded(max_attack_accuracy=0.55, quantile_attack_accuracy=None, unit="patient")
    fitted = PrivateRepresenter(**{**TINY, "training": training, "validation_fraction": 0.3}).fit(X, y, groups)
    assert fitted.bound_.patients.mean_accuracy.value <= 0.56 and fitted.bound_.has_patients
    assert fitted.bound_.mean_accuracy.value <= fitted.bound_.patients.mean_accuracy.value
    assert fitted.training_.unit == "patient"


@pytest.mark.parametrize("validation_fraction", [0.1, None])
def test_unknown_patients_are_refused(validation_fraction):
    X, y, groups = make_sentences(60)
    training = Bounded(max_attack_accuracy=0.6, unit="patient")
    representer = PrivateRepresenter(**{**TINY, "training": training, "validation_fraction": validation_fraction})
    with pytest.raises(ValueError, match="'unit' parameter of Bounded must be 'token'.*Got 'patient'.*as groups"):
        representer.fit(X, y)
    assert (representer.fit(X, y, groups).bound_ is None) is (validation_fraction is None)


def test_one_held_out_patient_is_refused_before_the_training():
    train, valid = (PairBatches(patient_pairs(n, n_patients=k), 32) for n, k in ((60, 10), (10, 1)))
    model = small_model(noise=0.5)
    before = {k: v.clone() for k, v in model.state_dict().items()}
    with pytest.raises(ValueError, match="needs at least two held-out patients"):
        train_bounded(model, train, valid, settings=SETTINGS, **chance())
    assert all(bool((before[k] == v).all()) for k, v in model.state_dict().items())
