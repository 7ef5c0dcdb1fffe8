"""The parts of a bound, against the best attacker on simulated releases and against counts by hand."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest
import torch

from sklearn_deid import PrivateRepresenter
from sklearn_deid.metrics import Estimate
from sklearn_deid.representations import (
    CasingDisclosure,
    Certificate,
    PairBatches,
    PartBound,
    PhiCoverage,
    PrivacyBound,
    casing_alone,
    disclosure_of,
    pair_distances,
    privacy_bound,
)
from sklearn_deid.representations.part_bound import published_numbers
from sklearn_deid.representations.saving import representer_to_state

from ..tagging.conftest import make_sentences
from .test_private_representer import TINY
from .test_twins import patient_pairs
from .toy_models import small_model

OPEN = CasingDisclosure("open")


@pytest.fixture(scope="module")
def model():
    """A small network with noise at the output alone, so that d' of a pair is one number."""
    made = small_model(noise=0.4).representer.eval()
    made.input_noise.weight.data.zero_()
    return made


def completed(model, data, casing=OPEN, **options):
    batches, generator = PairBatches(data, 16), torch.Generator().manual_seed(0)
    bound = privacy_bound(pair_distances(model, batches, generator), n_releases=options.get("n_releases", 1))
    certificate = Certificate(model, batches, np.random.default_rng(0), generator, casing, **options)
    return certificate.complete(bound, None)


def means_of(model, data, words):
    """Mean vectors of sentences one after the other, in units of the noise: (n_tokens, d)."""
    parts = []
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        x = data.table[torch.from_numpy(words[start:stop])][None]
        parts.append(model.mean(x, torch.ones(1, stop - start, dtype=torch.bool), noise=False)[0])
    return torch.cat(parts) / model.output_std()


def share_right(candidates, truth, n_releases, generator):
    """Whether the likelihood-ratio test is right on releases of one of two candidates; shape (n,)."""
    mu, other = candidates  # shape: (n_numbers,)
    n = len(truth)
    mean = torch.where(truth[:, None, None], other, mu)
    noisy = mean + torch.randn(n, n_releases, len(mu), generator=generator)
    nearer = ((noisy - other) ** 2).sum((1, 2)) < ((noisy - mu) ** 2).sum((1, 2))
    return (nearer == truth).double()


@pytest.mark.parametrize("n_releases", [1, 4])
@torch.no_grad()
def test_the_best_attacker_on_whole_patients_reaches_the_bound_and_no_more(model, n_releases):
    data = patient_pairs(40, n_patients=8)
    bound = completed(model, data, n_releases=n_releases)
    batches, generator = PairBatches(data, 16), torch.Generator().manual_seed(5)
    moved = data.words.copy()
    for batch in batches.epoch(None, generator, sentences="pairs", twins="all"):
        for i, row in enumerate(batch.rows.tolist()):
            moved[data.offsets[row] : data.offsets[row + 1]] = batch.moved_words[i][batch.mask[i]].numpy()
    mu, other = means_of(model, data, data.words), means_of(model, data, moved)
    of_token = np.repeat(data.patients, np.diff(data.offsets))
    right, expected = [], []
    for patient in np.unique(data.patients[batches.pair_rows]):
        own = torch.from_numpy(of_token == patient)
        candidates = [m[own].flatten() for m in (mu, other)]
        truth = torch.arange(600) % 2 == 1
        right.append(share_right(candidates, truth, n_releases, generator))
        d = float((candidates[0] - candidates[1]).norm()) * math.sqrt(n_releases)
        expected.append(0.5 * (1 + math.erf(d / 2 / math.sqrt(2))))
    found, bounded = torch.cat(right).mean().item(), np.mean(expected)
    assert found == pytest.approx(bounded, abs=4 * math.sqrt(0.25 / (600 * len(right))))
    part = bound.patients if n_releases == 1 else bound.patients_repeated
    # Other random moves of the same patients: within the interval of the mean, made wider for their own spread.
    assert part.n_cases == len(right) and part.n_releases == n_releases
    assert part.mean_accuracy.value == pytest.approx(bounded, abs=0.05)
    assert part.mean_accuracy.value > bound.mean_accuracy.value


@torch.no_grad()
def test_the_best_attacker_on_the_worst_neighbour_reaches_the_bound_and_no_more(model):
    data = patient_pairs(12)
    bound = completed(model, data, max_sentences=None).worst_neighbor
    generator, right, expected = torch.Generator().manual_seed(5), [], []
    for row in PairBatches(data).pair_rows:
        some = data.take(np.array([row]))
        mu, far = means_of(model, some, some.words).flatten(), None
        for at in some.eligible:
            for new in set(range(16)) - {int(some.words[at])}:
                words = some.words.copy()
                words[at] = new
                other = means_of(model, some, words).flatten()
                far = other if far is None or (other - mu).norm() > (far - mu).norm() else far
        right.append(share_right((mu, far), torch.arange(1000) % 2 == 1, 1, generator))
        expected.append(0.5 * (1 + math.erf(float((far - mu).norm()) / 2 / math.sqrt(2))))
    assert bound.n_cases == len(right)
    assert bound.mean_accuracy.value == pytest.approx(np.mean(expected), abs=1e-4)
    assert bound.largest_accuracy == pytest.approx(max(expected), abs=1e-4)
    found = torch.cat(right).mean().item()
    assert found == pytest.approx(bound.mean_accuracy.value, abs=4 * math.sqrt(0.25 / (1000 * len(right))))


def test_stronger_attackers_have_larger_figures(model):
    bound = completed(model, patient_pairs(), max_sentences=None)
    assert bound.mean_accuracy.value < bound.worst_neighbor.mean_accuracy.value
    assert bound.mean_accuracy.value < bound.patients.mean_accuracy.value < bound.patients_repeated.mean_accuracy.value
    assert bound.patients_repeated.n_releases == 10
    for part in (bound.patients, bound.patients_repeated, bound.worst_neighbor):
        assert part.mean_accuracy.value <= part.mean_with_casing.value
        assert 0.0 < part.slack < 1e-9
    assert bound.mean_accuracy.value < bound.pairs_with_casing.value and bound.unknown_word.mean_with_casing is None
    assert bound.has_patients
    # Chance to be told apart by the casing alone: each pair whose class differs is told apart.
    assert bound.pairs_with_casing.value >= 0.5 + 0.5 * bound.casing.share_changed - 0.05


def test_repeated_releases_multiply_the_squared_distance(model):
    once, four = (completed(model, patient_pairs(), max_sentences=None, n_releases=r) for r in (1, 4))
    assert four.patients == once.patients and four.patients_repeated.n_releases == 4
    assert four.worst_neighbor.mean_accuracy.value > once.worst_neighbor.mean_accuracy.value
    assert four.worst_neighbor.slack == pytest.approx(4 * once.worst_neighbor.slack)


def test_casing_that_is_left_out_or_random(model):
    data = patient_pairs()
    none, some, openly = (
        completed(model, data, casing, max_sentences=20)
        for casing in (CasingDisclosure("left out"), CasingDisclosure("randomized", 1.0), OPEN)
    )
    assert none.pairs_with_casing is none.patients.mean_with_casing is none.worst_neighbor.mean_with_casing is None
    assert none.casing == CasingDisclosure("left out")
    for name in ("patients", "worst_neighbor"):
        low, high = (getattr(b, name).mean_with_casing.value for b in (some, openly))
        assert getattr(some, name).mean_accuracy.value < low < high
    assert some.casing.epsilon == 1.0 and some.casing.share_changed == openly.casing.share_changed > 0


def test_the_sample_for_the_worst_neighbour_is_asked_for(model):
    data = patient_pairs()
    assert completed(model, data, max_sentences=0).worst_neighbor is None
    assert completed(model, data, max_sentences=7).worst_neighbor.n_cases == 7


def test_casing_alone_by_hand():
    """Three sentences of two tokens, of which two are equal; one of one token has no other of its length."""
    words, casing = np.array([0, 1, 0, 1, 2, 3, 4]), np.array([5, 3, 5, 3, 5, 4, 1])
    offsets, rng = np.array([0, 2, 4, 6, 7]), np.random.default_rng(0)
    found = casing_alone(casing, words, offsets, math.inf, rng)
    assert found == Estimate(1.0, 1.0, 1.0, 2)
    same = casing_alone(casing * 0, words, offsets, math.inf, rng)
    assert same == Estimate(0.5, 0.5, 0.5, 2)
    assert casing_alone(casing[:2], words[:2], offsets[:2], math.inf, rng) is None
    # One class differs: right if it is kept, and by a guess if neither of both classes is drawn.
    keep, other = (math.exp(e) / (math.exp(2.0) + 6) for e in (2.0, 0.0))
    random = casing_alone(casing, words, offsets, 2.0, rng)
    assert random.value == pytest.approx(keep + (1 - keep - other) / 2)


@pytest.mark.parametrize("casing", [OPEN, CasingDisclosure("randomized", 2.0), CasingDisclosure("left out")])
def test_numbers_give_the_bound_back_and_old_numbers_load(model, casing):
    bound = dataclasses.replace(completed(model, patient_pairs(), casing), coverage=PhiCoverage(9, 5, 0, 1, 1, 1, 1, 0))
    assert PrivacyBound.from_dict(bound.to_dict()) == bound
    old = {
        k: v for k, v in bound.to_dict().items() if k in PrivacyBound.from_dict(bound.to_dict()).__dataclass_fields__
    }
    names = ("patients", "patients_repeated", "worst_neighbor", "unknown_word", "coverage", "casing", "has_patients")
    plain = privacy_bound(torch.zeros(10)).to_dict()
    assert not set(plain) & set(names) and set(names) <= set(old)
    assert PrivacyBound.from_dict(plain).patients is None


def test_saved_statistics_do_not_identify_a_sentence(fitted, tmp_path):
    """The largest d' is that of one sentence, and who owns the network computes it for each sentence of a list."""
    fitted.save(tmp_path / "rep")
    saved = json.loads((tmp_path / "rep" / "manifest.json").read_text())["state"]["bound"]
    for part, own in ((saved, fitted.bound_), (saved["worst_neighbor"], fitted.bound_.worst_neighbor)):
        for name in ("largest_accuracy", "quantile_accuracy"):
            exact = getattr(own, name)
            exact = exact if isinstance(exact, float) else exact.value
            assert part[name] == round(part[name], 2) and exact <= part[name] + 1e-9 <= exact + 0.01 + 1e-8
        assert own.mean_accuracy.low >= part["mean_accuracy_low"] - 1e-9
        assert own.mean_accuracy.high <= part["mean_accuracy_high"] + 1e-9
    share, exact = saved["casing"]["share_changed"], fitted.bound_.casing.share_changed
    assert share == round(share, 2) and exact <= share + 1e-9 <= exact + 0.01 + 1e-8
    assert published_numbers(saved) == saved
    fitted.control_accuracy_ = 0.9123456
    assert representer_to_state(fitted)[0]["control_accuracy"] == 0.912


@pytest.mark.parametrize("slack", [2.9e-12, 7.56e-12, 1e-11])
def test_published_slack_does_not_tell_the_length_of_a_sentence(slack):
    """The slack is proportional to the tokens of the longest sentence or patient: its digits were their number."""
    assert published_numbers({"n_cases": 40, "slack": slack, "patients": {"slack": slack}}) == {
        "n_cases": 40,
        "slack": 1e-11,
        "patients": {"slack": 1e-11},
    }
    assert published_numbers({"n_cases": 40, "slack": 0.0})["slack"] == 0.0


def test_a_reader_sees_patients_before_random_pairs(model):
    lines = repr(completed(model, patient_pairs())).splitlines()
    places = [
        next(i for i, line in enumerate(lines) if start in line) for start in ("all PHI", "attacker picks", "one")
    ]
    assert places == sorted(places) and "guessing: 0.5" in lines[0]
    without = completed(model, dataclasses.replace(patient_pairs(), patients=None))
    assert "patients unknown: each sentence is one" in repr(without) and not without.has_patients


def test_cases_are_summarised_as_numpy_does():
    accuracies = np.random.default_rng(0).uniform(0.5, 1.0, size=1000)
    part = PartBound.of(torch.from_numpy(accuracies), n_releases=2, quantile=0.9, slack=1e-3)
    assert part.mean_accuracy.value == pytest.approx(accuracies.mean() + 1e-3, abs=1e-4)
    assert part.quantile_accuracy.value == pytest.approx(np.quantile(accuracies, 0.9) + 1e-3, abs=2e-3)
    assert part.largest_accuracy == min(1.0, accuracies.max() + 1e-3) and part.n_cases == 1000
    assert PartBound.from_dict(part.to_dict()) == part
    shown = {name: float(re.search(rf"{name} ([\d.]+)", str(part)).group(1)) for name in ("mean", "quantile")}
    assert 0 <= shown["mean"] - part.mean_accuracy.value < 1e-3, "a bound is rounded up"
    assert 0 <= shown["quantile"] - part.quantile_accuracy.value < 1e-3
    with pytest.raises(ValueError, match="no pair"):
        PartBound.of(torch.zeros(0), n_releases=1)


def test_intervals_of_few_patients_cover_the_truth():
    """Five patients: an interval of the normal distribution would cover the mean in 88 % of the draws only."""
    rng, covered = np.random.default_rng(0), {True: 0, False: 0}
    for _ in range(1000):
        accuracies = torch.from_numpy(rng.normal(0.75, 0.02, size=5))
        for few in covered:
            found = PartBound.of(accuracies, n_releases=1, few_cases=few).mean_accuracy
            covered[few] += found.low <= 0.75 <= found.high
    assert 930 <= covered[True] <= 970 and covered[False] < 910


def test_kinds_of_casing():
    assert [disclosure_of(value).kind for value in (True, False)] == ["open", "left out"]
    assert [CasingDisclosure(*c).pair_epsilon for c in (("open",), ("left out",), ("randomized", 3.0))] == [
        math.inf,
        0.0,
        3.0,
    ]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (("secret",), "'kind' of casing must be open, randomized or left out. Got 'secret'"),
        (("open", 2.0), "'epsilon' belongs to randomized casing. Got 2.0 for open casing"),
        (("randomized",), "'epsilon' belongs to randomized casing. Got None for randomized"),
    ],
)
def test_casing_of_no_kind(values, message):
    with pytest.raises(ValueError, match=message):
        CasingDisclosure(*values)


# ---- the estimator


@pytest.fixture(scope="module")
def data():
    return make_sentences(60)


@pytest.fixture(scope="module")
def fitted(data):
    """Not to be changed, nor asked for vectors: whose are the first depends on the order of the tests."""
    X, y, groups = data
    return PrivateRepresenter(**TINY).fit(X, y, groups)


def test_fit_and_certify_state_all_parts(data, fitted):
    X, y, groups = data
    for bound in (fitted.bound_, fitted.certify(X, y, groups, random_state=0)):
        parts = (bound.patients, bound.patients_repeated, bound.worst_neighbor, bound.unknown_word, bound.coverage)
        assert None not in parts and bound.has_patients and bound.casing.kind == "open"
    certified = fitted.certify(X, y, groups, random_state=0)
    assert certified == fitted.certify(X, y, groups, random_state=0)
    assert certified.patients.n_cases <= len(set(groups)) < certified.n_pairs
    assert certified.coverage.n_phi_tokens == sum(tag != "O" for row in y for tag in row)
    alone = fitted.certify(X, y, random_state=0)
    assert not alone.has_patients and alone.patients.mean_accuracy.value < certified.patients.mean_accuracy.value


def test_parts_leave_the_noise_of_a_seeded_representer_alone(data):
    """Held-out sentences of any number give parts of any length, from a stream of their own."""
    X, y, groups = data
    fitted, again = (PrivateRepresenter(**{**TINY, "max_epochs": 1}).fit(X, y, groups) for _ in range(2))
    again.certify(X, y, groups)
    assert fitted.transform(X) == again.transform(X) and fitted.bound_ == again.bound_
