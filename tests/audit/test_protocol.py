"""Estimates cover what they estimate, and a result whose control failed is never a pass."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid.audit import Attack, AttackResult, three_patient_splits
from sklearn_deid.audit.attacks import CertifiedBound, InversionAttack, LookupAttack, PairAttack
from sklearn_deid.metrics import Estimate


def result(value=0.7, **more):
    return AttackResult("name", "model", "Someone.", "share", Estimate.from_counts(100 * value, 100), 0.5, **more)


def test_advantage_runs_from_the_guess_to_the_perfect_attack():
    assert result(0.75).advantage == 0.5
    assert result(0.3).advantage == 0.0
    assert result(1.0).advantage == 1.0
    low, high = result(0.75).advantage_interval
    assert low < 0.5 < high
    assert replace(result(1.0), baseline=1.0).advantage == 0.0


def test_positive_control_must_reach_its_bar():
    weak = result(0.5, positive_control=Estimate.from_counts(89, 100), min_positive_control=0.9)
    assert weak.status == "invalid" and "0.890 where nothing is hidden" in weak.failures[0]
    assert result(0.5, positive_control=Estimate.from_counts(90, 100), min_positive_control=0.9).status == "ok"


def test_a_failed_positive_control_is_not_rounded_up_to_its_bar():
    weak = result(0.5, positive_control=Estimate.from_counts(8997, 10_000), min_positive_control=0.9)
    assert "reached 0.899 where" in weak.failures[0]


def test_a_positive_control_without_a_value_fails():
    """NaN is not below a bar, and passed for a control that had reached the bar."""
    assert result(0.5, positive_control=Estimate(math.nan), min_positive_control=0.9).status == "invalid"
    assert result(0.5, positive_control=Estimate.exact(0.5), min_positive_control=math.nan).status == "invalid"


def test_negative_control_must_hold_chance():
    biased = result(0.7, negative_control=Estimate.from_counts(80, 100))
    assert biased.status == "invalid" and "chance is 0.500" in biased.failures[0]
    assert result(0.7, negative_control=Estimate.from_counts(80, 100), chance=0.8).status == "ok"


def test_a_lucky_hit_among_very_many_words_is_no_failed_control():
    def read(n_hits, chance):
        return result(0.7, negative_control=Estimate.from_counts(n_hits, 1000, 0.999), chance=chance).status

    assert read(1, 5e-5) == "ok"  # one in twenty such controls has one
    assert read(4, 5e-5) == "invalid" and read(1, 1e-7) == "invalid"  # one in a million, one in ten thousand
    assert read(0, 0.005) == "ok" and read(0, 0.02) == "invalid"


def test_controls_at_small_chances_rarely_fail():
    """At a hundred chances from one in a million to one half, with 1,000 controls each."""
    rng = np.random.default_rng(0)
    for chance in np.geomspace(1e-6, 0.5, 100):
        hits, counts = np.unique(rng.binomial(900, chance, size=1000), return_counts=True)
        controls = [result(0.7, negative_control=Estimate.from_counts(k, 900, 0.999), chance=chance) for k in hits]
        assert sum(n for found, n in zip(controls, counts, strict=True) if found.status != "ok") <= 6


def test_skipped_and_erroneous_results_say_so():
    skipped = AttackResult.skipped("name", "updates", "Someone.", "share", "no time")
    assert skipped.status == "skipped" and math.isnan(skipped.advantage)
    assert result().with_error("wrong").status == "invalid"


@pytest.mark.parametrize(
    "found",
    [
        result(positive_control=Estimate.from_counts(99, 100), min_positive_control=0.9, settings={"k": (1, None)}),
        result(details={"a": np.float64(0.5), "b": {"c": np.int64(2)}}),
        result(details={"a": math.nan}, settings={"b": math.inf}, negative_control=Estimate(0.5), chance=0.5),
        AttackResult.skipped("name", "model", "Someone.", "share", "no time"),
    ],
)
def test_results_are_plain(found):
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["status"] == found.status and plain["name"] == "name"
    assert plain["advantage"] == (None if found.attack is None else found.advantage)


def test_details_hold_no_words():
    with pytest.raises(ValueError, match="Details are numbers. 'word' is a str"):
        result(details={"deep": {"word": "Alder"}})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threat": "nonsense"}, "'threat' must be one of"),
        ({"baseline": None}, "needs a baseline"),
        ({"attack": None}, "needs a reason"),
        ({"min_positive_control": 0.9}, "needs a bar"),
        ({"attack": Estimate(0.9)}, "finite figures with an interval"),
        (
            {"positive_control": Estimate.exact(0.0), "min_positive_control": -math.inf},
            "bar of a positive control must be a finite number",
        ),
        ({"baseline": math.nan}, "finite figures with an interval"),
        ({"baseline": Estimate(0.5)}, "finite figures with an interval"),
        ({"best": math.inf}, "finite figures with an interval"),
        ({"attack": Estimate.from_counts(90, 100), "best": 0.5}, "perfect attack. The attack or its baseline is above"),
        ({"attack": Estimate.from_counts(10, 100), "best": 0.2}, "perfect attack. The attack or its baseline is above"),
    ],
)
def test_incomplete_results_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(result(), **change)


@pytest.mark.parametrize("attack", [PairAttack(), LookupAttack(), InversionAttack(), CertifiedBound()])
def test_attacks_follow_the_protocol(attack):
    assert isinstance(attack, Attack)
    left_out = attack.skip("no time was left")
    assert (left_out.status, left_out.reason, left_out.threat) == ("skipped", "no time was left", "representation")
    assert left_out.attacker.endswith(".")


def test_splits_share_no_patient_and_lose_no_sentence():
    groups = np.random.default_rng(0).integers(0, 30, 200)
    parts = three_patient_splits(200, groups, seed=0)
    assert sorted(np.concatenate(parts)) == list(range(200))
    patients = [set(groups[rows]) for rows in parts]
    assert not (patients[0] & patients[1] or patients[0] & patients[2] or patients[1] & patients[2])
