"""Less noise at tokens with a property: named, and intact noise raises no more alarms than the level says."""

import numpy as np
import pytest

from sklearn_deid.audit.attacks.noise import PLACES, NoisyVectors
from sklearn_deid.audit.attacks.noise_by_property import property_checks
from sklearn_deid.audit.attacks.noise_checks import alarms
from sklearn_deid.audit.attacks.noise_residuals import released_with, standardised
from sklearn_deid.audit.attacks.noise_template import NoiseTemplate


def release(seed, unit_norm, quiet=None, n=1500, d=20, size=0.4):
    """Residuals and means of a release, with half the noise at some tokens, and the properties of the tokens."""
    rng = np.random.default_rng(seed)
    properties = {
        "place": np.arange(n) % 40,
        "length": rng.integers(1, 60, n),
        "order": np.arange(n),
        "label": rng.integers(0, 9, n),
    }
    std = rng.uniform(0.3, 1.2, d)
    template = NoiseTemplate(rng.normal(size=(n, d)) * size * std, std, unit_norm, 2.0**-7, False)
    eps = rng.standard_normal((n, d))
    if quiet is not None:
        eps *= np.where(quiet(properties), 0.5, 1.0)[:, None]
    z = standardised(released_with(template, eps), template, rng)
    return z, {"label": properties.pop("label")}, properties, template.mean / std


@pytest.mark.parametrize("unit_norm", [True, False])
@pytest.mark.parametrize(
    ("quiet", "name"),
    [
        (lambda p: p["place"] >= 39, "place"),
        (lambda p: p["place"] < 1, "place"),
        (lambda p: p["length"] > 58, "length"),
        (lambda p: p["order"] < 16, "order"),
        (lambda p: p["order"] >= 1476, "order"),
        (lambda p: p["label"] == 3, "label"),
    ],
)
def test_half_the_noise_by_a_property_is_named(unit_norm, quiet, name):
    failed, _ = alarms(property_checks(*release(0, unit_norm, quiet)), 1e-3)
    worst = min(failed, key=lambda check: check.p)
    assert worst.fault == f"Some tokens carry less noise than stated: it depends on the {name}."


def test_intact_noise_raises_no_more_alarms_than_the_level():
    """At a level of .2 for all tests together, at most .2 of 200 intact releases alarm, up to 3.5 standard errors."""
    hits = sum(bool(alarms(property_checks(*release(i, bool(i % 2), n=300, d=4)), 0.2)[0]) for i in range(200))
    assert hits < 200 * 0.2 + 3.5 * np.sqrt(200 * 0.2 * 0.8)


def test_lengths_of_words_and_places_in_the_call_have_an_order():
    groups = {name: np.arange(3) for name in ("word", "label", "length of the word", *PLACES)}
    ordered = NoisyVectors(np.zeros((3, 2)), np.array([0, 3]), groups).ordered
    assert set(groups) - set(ordered) == {"word", "label"}


def test_no_order_and_no_mean_need_no_test():
    z = np.random.default_rng(0).standard_normal((50, 3))
    assert list(property_checks(z, {}, {"place": np.zeros(50)}, np.zeros((50, 3)))) == []
