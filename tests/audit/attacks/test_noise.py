"""Checks of the noise against simulations of their law: no false alarms, and every planted deviation is named."""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid.audit.attacks import NoiseAttack, NoiseTemplate, NoisyVectors, RepeatedReleases, ReplayAttack
from sklearn_deid.audit.attacks.noise_checks import Check, alarms, noise_checks, p_of_directions
from sklearn_deid.audit.attacks.noise_residuals import noise_size, released_with, standardised
from sklearn_deid.audit.attacks.replay import p_of_shared


def made(unit_norm=True, n_sentences=80, d=6, seed=0, size=2.0):
    """A template with unequal standard deviations, and the borders of its sentences."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(2, 12, n_sentences))])
    std = rng.uniform(0.3, 1.2, d)
    mean = rng.normal(size=(offsets[-1], d)) * size * std
    return NoiseTemplate(mean, std, unit_norm, 2.0**-7, False), offsets, rng


def checked(template, offsets, eps, controls=False, **more):
    """Result of the noise test; the controls, which are drawn after the faults, are half of its time."""
    released = NoisyVectors(released_with(template, eps), offsets, **more)
    return NoiseAttack(controls=controls, random_state=0).fit(template).attack(released)


@pytest.mark.parametrize("unit_norm", [True, False])
def test_drawn_lengths_complete_directions_to_the_gaussian_law(unit_norm):
    """First four moments in each dimension, against those of standard normal numbers."""
    template, _, rng = made(unit_norm, n_sentences=3000, d=5)
    z = standardised(released_with(template, rng.standard_normal(template.mean.shape)), template, rng)
    n = len(z)
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert np.abs((z**power).mean(axis=0) - moment).max() < 4.5 * np.sqrt(variance / n)
    assert np.abs(np.corrcoef(z.T) - np.eye(5)).max() < 4.5 / np.sqrt(n)
    # The mean of the residual does not depend on the direction of the template either.
    along = np.einsum("ij,ij->i", z, template.mean / np.linalg.norm(template.mean, axis=1, keepdims=True))
    assert abs(np.corrcoef(along, np.linalg.norm(template.mean / template.std, axis=1))[0, 1]) < 4.5 / np.sqrt(n)


def test_no_alarm_more_often_than_the_level():
    """At a level of .2 for all tests together, at most .2 of 150 intact releases alarm, up to 3.5 standard errors."""
    hits = 0
    for seed in range(150):
        template, offsets, rng = made(bool(seed % 2), n_sentences=25, d=3 + seed % 4, seed=seed)
        z = standardised(released_with(template, rng.standard_normal(template.mean.shape)), template, rng)
        groups = NoisyVectors(z, offsets, {"word": rng.integers(0, 20, len(z))}).groupings
        hits += bool(alarms(noise_checks(z, groups), 0.2)[0])
    assert hits < 150 * 0.2 + 3.5 * np.sqrt(150 * 0.2 * 0.8)


@pytest.mark.parametrize("period", [4096, 4097, 5000])
def test_noise_of_a_buffer_that_is_used_twice_is_named(period):
    """Every third token was compared, and 4,097 is no multiple of three."""
    z = np.resize(np.random.default_rng(0).standard_normal((period, 12)), (9000, 12))
    assert "Two different tokens carry the same noise." in [one.fault for one in alarms(noise_checks(z, {}), 1e-3)[0]]


def test_noise_that_a_second_call_moves_far_is_named():
    one, new = np.random.default_rng(0).standard_normal((2, 5000, 12))
    assert p_of_shared(one, np.concatenate([new[:2000], one[:3000]])) < 1e-9


@pytest.mark.parametrize("unit_norm", [True, False])
def test_intact_noise_has_no_fault(unit_norm):
    template, offsets, rng = made(unit_norm)
    found = checked(template, offsets, rng.standard_normal(template.mean.shape), controls=True)
    assert found.status == "ok" and found.faults == () and found.positive_control.value == 1.0
    assert found.details["size of the noise, relative to the stated"] == pytest.approx(1.0, abs=0.1)
    assert found.details["control finds half the noise"] and found.settings["level"] == 0.001


def by_sentence(rng, offsets, d):
    return np.repeat(rng.standard_normal((len(offsets) - 1, d)), np.diff(offsets), axis=0)


def by_position(rng, offsets, d):
    position = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    return rng.standard_normal((20, d))[position]


def every_seventh(rng, offsets, d):
    return np.resize(rng.standard_normal((7, d)), (offsets[-1], d))


def of_one_dimension(rng, offsets, d):
    return np.repeat(rng.standard_normal((offsets[-1], 1)), d, axis=1)


def quiet_at_some(rng, offsets, d):
    eps = rng.standard_normal((offsets[-1], d))
    eps[::400] *= 0.02
    return eps


def quieter_at_a_tenth(rng, offsets, d):
    eps = rng.standard_normal((offsets[-1], d))
    tenth = np.arange(offsets[-1]) % 10 == 0
    return eps * np.where(tenth, 0.5, np.sqrt((1 - 0.1 * 0.25) / 0.9))[:, None]


def uniform(rng, offsets, d):
    return rng.uniform(-np.sqrt(3), np.sqrt(3), (offsets[-1], d))


@pytest.mark.parametrize("unit_norm", [True, False])
@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        (lambda rng, offsets, d: np.zeros((offsets[-1], d)), "no noise"),
        (lambda rng, offsets, d: 0.5 * rng.standard_normal((offsets[-1], d)), "another size"),
        (lambda rng, offsets, d: 0.85 * rng.standard_normal((offsets[-1], d)), "another size"),
        (by_sentence, "by sentence"),
        (by_position, "by position in the sentence"),
        (every_seventh, "7 apart"),
        (of_one_dimension, "different dimensions"),
    ],
)
def test_planted_deviations_are_named(unit_norm, drawn, words):
    template, offsets, rng = made(unit_norm, n_sentences=200)
    found = checked(template, offsets, drawn(rng, offsets, 6))
    assert found.status == "invalid" and words in " ".join(found.faults)


@pytest.mark.parametrize(
    ("drawn", "words"),
    [(quiet_at_some, "less noise than stated"), (quieter_at_a_tenth, "another size at some tokens")],
)
def test_less_noise_at_some_tokens_is_named_where_lengths_are_kept(drawn, words):
    """Scaling to length 1 hides a part of each residual: so few tokens of few dimensions are not found there."""
    template, offsets, rng = made(False, n_sentences=200)
    assert words in " ".join(checked(template, offsets, drawn(rng, offsets, 6)).faults)


def test_few_tokens_without_noise_are_named_where_lengths_are_hidden():
    """Their residuals have a common size, but their directions are those of the template."""
    template, offsets, rng = made(True, n_sentences=120, d=50, size=0.3)
    eps = rng.standard_normal(template.mean.shape)
    assert checked(template, offsets, eps).faults == ()
    eps[[50, 500]] = 0.0
    assert checked(template, offsets, eps).faults == ("Some tokens carry less noise than stated, or none.",)


@pytest.mark.parametrize("unit_norm", [True, False])
def test_half_the_noise_at_one_token_in_a_hundred_or_in_one_sentence_is_named(unit_norm):
    template, offsets, rng = made(unit_norm, n_sentences=400, d=30, size=4.0)
    few, sentence = rng.random(len(template)) < 0.01, slice(offsets[5], offsets[8])
    words = np.where(few, 0, rng.integers(1, 500, len(template)))
    intact = rng.standard_normal(template.mean.shape)
    assert checked(template, offsets, intact, groups={"word": words}).faults == ()
    for some in (few, sentence):
        eps = intact.copy()
        eps[some] *= 0.5
        assert "less noise than stated" in " ".join(checked(template, offsets, eps).faults)
    # Noise that is hardly smaller shows in the sum over the tokens of a word.
    eps = intact * np.where(few, 0.7, 1.0)[:, None]
    assert "less noise than stated" in " ".join(checked(template, offsets, eps, groups={"word": words}).faults)


def test_probability_of_a_close_direction_is_an_upper_bound():
    """Of 2,000 releases of 5 tokens, no more have a probability below a level than the level says."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(5, 3)) * 2
    p = np.array([p_of_directions(means + rng.standard_normal(means.shape), means) for _ in range(2000)])
    for level in (0.3, 0.05, 0.01):
        assert (p < level).mean() <= level + 3.5 * np.sqrt(level * (1 - level) / len(p))


def test_noise_of_another_shape_and_of_a_word_is_named():
    template, offsets, rng = made(False, n_sentences=200)
    assert "The noise is not Gaussian" in " ".join(checked(template, offsets, uniform(rng, offsets, 6)).faults)
    many, borders, _ = made(False, n_sentences=2000)
    clipped = np.clip(rng.standard_normal(many.mean.shape), -3, 3)
    assert "other tails" in " ".join(checked(many, borders, clipped).faults)
    m = many.mean / many.std
    unit = m / np.linalg.norm(m, axis=1, keepdims=True)
    eps = rng.standard_normal(m.shape)
    beside = eps - np.einsum("ij,ij->i", eps, unit)[:, None] * unit
    assert "depends on the noise-free vector" in " ".join(checked(many, borders, beside * np.sqrt(6 / 5)).faults)
    words = rng.integers(0, 150, len(template))
    eps = 0.6 * rng.standard_normal((150, 6))[words] + 0.8 * rng.standard_normal((len(template), 6))
    assert "shared over tokens by word" in " ".join(checked(template, offsets, eps, groups={"word": words}).faults)


def test_wrong_sizes_in_all_dimensions_do_not_hide_another_fault():
    """Noise that few rows share has a wrong size in each dimension, too."""
    template, offsets, rng = made(True, n_sentences=200, d=30)
    eps = rng.standard_normal((4, 30))[np.repeat(np.arange(4), -(-len(template) // 4))[: len(template)]]
    faults = " ".join(checked(template, offsets, eps).faults)
    assert "shared over tokens by sentence" in faults and faults.count("in dimension") == 1


def test_noise_of_another_size_is_no_replay():
    template, _, rng = made(True, n_sentences=300, d=20)
    full, half, other = rng.standard_normal((3, *template.mean.shape))
    releases = {
        name: released_with(template, eps) for name, eps in (("full", full), ("half", 0.4 * half), ("o", other))
    }
    pairs = (("half", "full", "Shared."), ("full", "o", "Shared."))
    assert ReplayAttack(random_state=0).fit(template).attack(RepeatedReleases(releases, pairs)).faults == ()


def test_a_single_silent_dimension_is_named():
    template, offsets, rng = made(False)
    eps = rng.standard_normal(template.mean.shape)
    eps[:, 3] *= 0.5
    assert "in dimension 3" in " ".join(checked(template, offsets, eps).faults)
    silent = replace(template, std=np.where(np.arange(6) == 3, 0.0, template.std))
    assert "adds no noise to 1 of 6 dimensions" in checked(silent, offsets, eps).faults[0]


def test_noise_at_the_input_is_compared_with_a_release_of_the_attacker():
    template, offsets, rng = made(False, n_sentences=200)
    template = replace(template, input_noise=True)

    def drawn(size):
        return released_with(template, size * rng.standard_normal(template.mean.shape) * 1.3)

    for size, faults in ((1.0, 0), (0.5, 1)):
        released = NoisyVectors(drawn(size), offsets, simulated=drawn(1.0))
        assert len(NoiseAttack(random_state=0).fit(template).attack(released).faults) == faults
    with pytest.raises(ValueError, match="needs a second release"):
        NoiseAttack(random_state=0).fit(template).attack(NoisyVectors(drawn(1.0), offsets))


@pytest.mark.parametrize("unit_norm", [True, False])
def test_shared_noise_of_two_releases_is_found_however_it_is_moved(unit_norm):
    template, _, rng = made(unit_norm)
    eps = rng.standard_normal((2, *template.mean.shape))
    attack = ReplayAttack(random_state=0).fit(template)

    def compared(other):
        releases = {"a": released_with(template, eps[0]), "b": released_with(template, other)}
        return attack.attack(RepeatedReleases(releases, (("a", "b", "Shared."),)))

    assert compared(eps[1]).status == "ok"
    turned, mixed = eps[0][:, ::-1], eps[0][:, rng.permutation(eps.shape[2])]
    for moved in (eps[0], -eps[0], np.roll(eps[0], 5, axis=0), 0.5 * eps[0] + 0.8 * eps[1], turned, mixed):
        assert compared(moved).faults == ("Shared.",)


def test_few_keys_are_found_by_many_calls():
    """A seed of 16 bits, or the time of a clock: each pair of calls looks independent, but keys soon repeat."""
    rng = np.random.default_rng(0)
    template = NoiseTemplate(np.zeros((300, 4)), np.full(4, 0.5), False, 2.0**-6, False)
    one, two = 0.5 * rng.normal(size=(2, 300, 4))
    attack, pairs = ReplayAttack(random_state=0).fit(template), (("a", "b", "Shared."),)
    noise = np.rint(0.5 * rng.normal(size=(2**16, 12)) * 64) / 64

    def faults(keys):
        releases = RepeatedReleases({"a": one, "b": two}, pairs, short=noise[keys])
        return attack.attack(releases).faults

    assert faults(np.arange(700)) == ()
    assert "few keys" in faults(rng.integers(0, 2**16, 700))[0]


def test_equal_directions_of_few_dimensions_are_no_replay():
    """Vectors of one number that are scaled to length 1 are 1 or -1, so that many calls are equal by chance."""
    rng = np.random.default_rng(0)
    template = NoiseTemplate(rng.normal(size=(60, 1)), np.ones(1), True, 2.0**-5, False)
    calls = np.sign(rng.normal(size=(700, 8)))
    found = ReplayAttack(random_state=0).fit(template).attack(RepeatedReleases({"a": template.vectors}, short=calls))
    assert found.faults == ()


def test_wrong_data_are_refused():
    template, offsets, _ = made()
    with pytest.raises(ValueError, match="needs the template"):
        NoiseAttack().attack(NoisyVectors(template.mean, offsets))
    with pytest.raises(ValueError, match="needs the template"):
        ReplayAttack().fit(template).attack(RepeatedReleases({"a": template.mean[1:]}))
    with pytest.raises(ValueError, match="one standard deviation for each column"):
        NoiseTemplate(template.mean, template.std[1:], True, 0.5, False)


def test_numbers_that_are_not_finite_are_refused():
    template, _, rng = made()
    released = released_with(template, rng.standard_normal(template.mean.shape))
    released[3, 1] = np.nan
    for attack, data in (
        (NoiseAttack(), NoisyVectors(released, np.array([0, len(released)]))),
        (ReplayAttack(), RepeatedReleases({"a": released, "b": released}, (("a", "b", "Shared."),))),
    ):
        with pytest.raises(ValueError, match="finite"):
            attack.fit(template).attack(data)


def test_a_probability_that_is_no_number_is_an_alarm():
    assert alarms([Check("a", 0.5, "x"), Check("b", np.nan, "y")], 1e-3)[0][0].fault == "y"


@pytest.mark.parametrize("ratio", [1e3, 1e5, 1e7])
@pytest.mark.parametrize("d", [2, 8])
def test_vectors_far_above_the_noise_hide_no_missing_noise(ratio, d):
    """Directions without any noise had one to four times the stated noise."""
    mean = np.random.default_rng(1).normal(size=(120, d)) * ratio
    template = NoiseTemplate(mean, np.ones(d), True, 2.0**-5, False)
    assert noise_size(mean / np.linalg.norm(mean, axis=1, keepdims=True), template) < 0.1
