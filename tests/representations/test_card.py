"""The card says what is known and what is not, and nothing else."""

import math
import re

import numpy as np
import pytest
import torch

from sklearn_deid.representations import (
    attack_accuracy,
    distance_of_accuracy,
    privacy_bound,
    privacy_card,
    released_r_times,
)
from sklearn_deid.sequences import Provenance

VALUES = {
    "fingerprint": "3f2a",
    "n_components": 50,
    "n_neighbors": 137,
    "noise": {"kind": "trainable", "mean_std": 1.25},
    "casing": True,
    "public_embeddings": True,
    "library_version": "0.1.0",
    "settings": {"training": "bounded", "labels": None, "sizes": [1, 2]},
}
TRAINING = {"n_patients": 20, "n_sentences": np.int64(54321), "share_of_phi": 0.125}
DISTANCES = torch.linspace(0.0, 0.8, 401)
BOUND = privacy_bound(DISTANCES).to_dict()
AUDIT = {"T2": {"accuracy": 0.513, "low": 0.49, "n_pairs": 2000}, "lookup": 0.25}


def card(bound=BOUND, audit=AUDIT, training=TRAINING, utility=None, **values):
    origin = Provenance(**{**VALUES, **values})
    return privacy_card(origin, training=training, bound=bound, audit=audit, utility=utility)


def rows(text):
    return {tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in text.splitlines() if line[:1] == "|"}


def test_figures_stand_in_tables():
    found = rows(card())
    for row in (
        ("fingerprint", "`3f2a`"),
        ("dimension of the vectors (d)", "50"),
        ("words among which a PHI word hides (N)", "137"),
        ("noise: kind", "trainable"),
        ("noise: mean std", "1.25"),
        ("number of patients", "20"),
        ("number of sentences", "54,321"),
        ("share of phi", "0.125"),
        ("attack", "accuracy", "low", "number of pairs", "figure"),
        ("T2", "51.3 %", "49.0 %", "2,000", ""),
        ("lookup", "", "", "", "25.0 %"),
        ("pairs of sentences", "401"),
        ("training", "bounded"),
        ("labels", "not given"),
        ("casing of each word published with its vector", "yes"),
    ):
        assert row in found


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"bound": {**BOUND, "mean_accuracy": 1.2}}, "'mean_accuracy' in 'bound' must be between 0 and 1"),
        ({"bound": {**BOUND, "patients": {"largest_accuracy": -0.1}}}, "'largest_accuracy' in 'bound' must be between"),
        ({"bound": {**BOUND, "mean_accuracy_high": 0.5}}, "'mean_accuracy' in 'bound' is outside of its interval"),
        ({"bound": {**BOUND, "mean_distance": -0.5}}, "'mean_distance' in 'bound' must not be negative"),
        ({"bound": {**BOUND, "casing": {"kind": "randomized", "epsilon": -1}}}, "'epsilon' in 'bound' must not be"),
        ({"audit": {"score": 1.2}}, "'score' in 'audit' must be between 0 and 1"),
        ({"audit": {"T2": {"low": 0.6, "high": 0.5}}}, "'low' in 'audit' is outside of its interval"),
        ({"training": {"n_patients": -20}}, "'n_patients' in 'training' must not be negative"),
        ({"utility": {"other_f1": 3}}, "'other_f1' in 'utility' must be between 0 and 1"),
        ({"audit": {"score": math.nan}}, "'score' of a privacy card must be a number"),
    ],
)
def test_impossible_metrics_are_refused(arguments, words):
    """A card with an accuracy of 120 % looks like any other card."""
    with pytest.raises(ValueError, match=words):
        card(**arguments)


def test_bound_has_its_interval_and_its_limits():
    text = card()
    # A bound that is rounded to the nearest figure could be below the bound.
    low = f"{math.floor(1000 * BOUND['mean_accuracy_low']) / 10:.1f} %"
    mean, high = (f"{math.ceil(1000 * BOUND[f'mean_accuracy{end}']) / 10:.1f} %" for end in ("", "_high"))
    assert ("best attacker, mean over the pairs", f"{mean} (95 % interval {low} to {high})") in rows(text)
    for words in (
        "**One release**",
        "square root of r",
        "one of their 137 nearest words",
        "Cases beyond the quantile",
        "the casing of each word, the tags, the number of tokens",
        "weights of the network. They were trained on private notes",
    ):
        assert words in text
    assert "the casing of each word, the tags" not in card(casing=False)


def upper_ends(text):
    return {int(r): float(share) for share, r in re.findall(r"([\d.]+) % with (\d+) releases", text)}


def test_several_releases_have_upper_ends_for_other_pairs():
    """With few pairs, the upper end for one release is above the accuracy of the examined pairs for two."""
    few = privacy_bound(DISTANCES[::100]).to_dict()
    text = card(few)
    (two,) = re.findall(r"2 releases: ([\d.]+) %", text)
    assert 100 * few["mean_accuracy_high"] > float(two)
    assert "Over the examined pairs, the mean accuracy for several releases" in text
    ends = upper_ends(text)
    assert ends.keys() == {2, 5, 10} and 100 * few["mean_accuracy_high"] < ends[2] < ends[5] < ends[10] <= 100.0
    unknown = card({"mean_distance": 0.3})
    assert "no confidence interval for other pairs" in unknown and not upper_ends(unknown)
    assert upper_ends(card({**BOUND, "mean_accuracy_high": 1.0}))[2] == 100.0


def test_upper_ends_of_several_releases_cover_other_pairs():
    """The oracle is the mean over all pairs of a population from which the examined pairs are drawn."""
    rng = np.random.default_rng(0)
    population = torch.as_tensor(rng.gamma(0.5, 0.8, 20_000))
    exact = {r: 100 * float(attack_accuracy(released_r_times(population, r)).mean()) for r in (2, 5, 10)}
    missed = 0
    for _ in range(60):
        ends = upper_ends(card(privacy_bound(population[rng.integers(len(population), size=80)]).to_dict()))
        missed += any(ends[r] < exact[r] for r in exact)
    assert missed <= 6  # 2.5 % each, which gives more than 6 of 60 with a probability of .0006


def test_several_releases_are_bounded_from_above():
    """The oracle is the mean over the pairs themselves, which the mean distance bounds."""
    text = card()
    stated = {int(r): float(share) for r, share in re.findall(r"(\d+) releases: ([\d.]+) %", text)}
    assert stated.keys() == {2, 5, 10}
    for r, share in stated.items():
        exact = 100 * float(attack_accuracy(released_r_times(DISTANCES, r)).mean())
        assert exact <= share <= exact + 2.0
    assert "for several releases of each" not in card(bound={**BOUND, "n_releases": 4})
    one = {"mean_distance": distance_of_accuracy(0.6)}
    for distance in (one["mean_distance"], 0.33):
        exact = float(attack_accuracy(torch.tensor(2**0.5 * distance, dtype=torch.float64)))
        assert f"2 releases: {math.ceil(1000 * exact) / 10:.1f} %" in card({"mean_distance": distance})


@pytest.mark.parametrize(
    ("arguments", "warning"),
    [
        ({"bound": None}, "**No bound.**"),
        ({"audit": None}, "**Not audited.**"),
        ({"audit": {}}, "**Not audited.**"),
        ({"public_embeddings": False}, "**Do not share.** The word vectors"),
        ({"noise": {"kind": "none"}}, "**Do not share.** This network adds no noise"),
    ],
)
def test_warnings(arguments, warning):
    assert warning in card(**arguments)
    assert warning not in card()


@pytest.mark.parametrize(
    "arguments",
    [
        {"training": {"n_notes": "Ada"}},
        {"training": {"n_notes": ["Ada"]}},
        {"training": {"n_notes": {"Ada": 1}}},
        {"bound": {"n_notes": "Ada"}},
        {"audit": {"n_notes": "Ada"}},
        {"audit": {"T2": {"n_notes": "Ada"}}},
    ],
)
def test_text_is_no_figure(arguments):
    with pytest.raises(ValueError, match="of a privacy card must be a number. Got a") as caught:
        card(**arguments)
    assert "Ada" not in str(caught.value)


@pytest.mark.parametrize("part", ["audit", "utility"])
@pytest.mark.parametrize("given", [object(), 0.93, ["score"], "score"])
def test_a_part_that_is_no_mapping_is_refused(part, given):
    """A whole report was an AttributeError."""
    with pytest.raises(ValueError, match=f"The '{part}' parameter must be a mapping of names to numbers"):
        card(**{part: given})


def test_an_undefined_number_names_its_attack():
    with pytest.raises(ValueError, match="The figure 'lookup' of a privacy card"):
        card(audit={"lookup": float("nan")})


@pytest.mark.parametrize("value", [70, 77.6, -0.1])
def test_an_f1_is_a_share(value):
    """An F1 in percent stood on the card as it was given."""
    with pytest.raises(ValueError, match="'recipient_strict_f1' in 'utility' must be between 0 and 1"):
        card(utility={"recipient_strict_f1": value})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("arguments", [{"utility": {"raw_token_f1": None}}, {"audit": {"T2": None}}])
def test_undefined_numbers_are_no_figure(arguments, value):
    filled = {part: dict.fromkeys(figures, value) for part, figures in arguments.items()}
    with pytest.raises(ValueError, match=f"of a privacy card must be a number. Got {value}"):
        card(**filled)


def test_values_cannot_break_out_of_their_cell():
    text = card(settings={"a|b": "x\n\n# y | <script> [z](http://z) `q`"}, audit={"|\n# a": 0.5}, fingerprint="a`|\nb")
    plain = card(settings={"a": "x"}, audit={"a": 0.5})
    assert len(text.splitlines()) == len(plain.splitlines())
    assert not re.search("[<]script|^# y|http://z\\)\\]", text, re.MULTILINE)
    assert ("a b", "x # y script z (http://z) q") in rows(text)


def test_it_is_one_page_of_markdown():
    text = card()
    assert text.startswith("# ")
    assert text.endswith("\n") and not text.endswith("\n\n")
    assert "{" not in text
    assert card() == text
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert heads == [
        "## What it is",
        "## What it was trained on",
        "## What a tagger learns from it",
        "## What is proved",
        "## What was tried",
        "## Known limits",
    ]
    assert "No counts are given." in card(training={})


# ---- parts of the bound

PART = {"n_cases": 20, "n_releases": 1, "quantile_accuracy": 0.94, "largest_accuracy": 0.97}
PARTS = {
    **BOUND,
    "patients": {**PART, "mean_accuracy": 0.87, "mean_accuracy_low": 0.85, "mean_accuracy_high": 0.89},
    "patients_repeated": {**PART, "n_releases": 10, "mean_accuracy": 0.99},
    "worst_neighbor": {**PART, "mean_accuracy": 0.64, "mean_with_casing": 0.81},
    "unknown_word": {**PART, "mean_accuracy": 0.65},
    "pairs_with_casing": 0.56,
    "coverage": {"n_phi_tokens": 200, "n_covered": 132, "n_punctuation": 46, "n_words_without_vector": 22},
    "casing": {"kind": "open", "share_changed": 0.07, "sentence_accuracy": 0.98},
    "has_patients": True,
}


def test_patients_and_recipients_stand_before_the_mean_over_pairs():
    text = card(PARTS | {"pairs_with_casing": 0.56}, utility={"provider_token_f1": 0.97, "recipient_strict_f1": 0.776})
    lines = text.splitlines()
    names = (
        "recipient trains on one release",
        "provider's own",
        "all PHI of a patient",
        "attacker picks",
        "one random",
    )
    places = [next(i for i, line in enumerate(lines) if name in line) for name in names]
    assert places == sorted(places)
    found = rows(text)
    mean = f"{100 * BOUND['mean_accuracy']:.1f} %"
    for row in (
        ("recipient trains on one release: strict F1 with types", "77.6 %"),
        ("all PHI of a patient from moved PHI, releases: 1", "87.0 % (95 % interval 85.0 % to 89.0 %)")
        + ("94.0 %", "97.0 %", ""),
        ("all PHI of a patient from moved PHI, releases: 10", "99.0 %", "94.0 %", "97.0 %", ""),
        ("all", "200", "100.0 %"),
        ("not covered by the bound", "68", "34.0 %"),
        ("of these: punctuation", "46", "23.0 %"),
        ("accuracy of casing alone between two sentences with equally many tokens", "98.0 %"),
    ):
        assert row in found, row
    pairs = next(row for row in found if row[0].startswith("two sentences that differ in one random token"))
    assert pairs[1].startswith(mean) and pairs[4] == "56.0 %"


@pytest.mark.parametrize(
    ("arguments", "warning"),
    [
        ({"bound": BOUND}, "**No figure for a patient.**"),
        ({"bound": {**PARTS, "has_patients": False}}, "**The patients were not known.**"),
        ({"bound": PARTS, "utility": None}, "**Not measured.**"),
    ],
)
def test_warnings_about_parts(arguments, warning):
    assert warning in card(**arguments)
    assert warning not in card(PARTS, utility={"recipient_strict_f1": 0.776})


def test_numbers_are_rounded_so_that_they_hold():
    """An epsilon of 2.00049 was shown as 2, an F1 of 0.9996 as 100.0 %, and 3 of 10,000 open tokens as 0.0 %."""
    random = {**PARTS, "casing": {"kind": "randomized", "epsilon": 2.00049}, "gdp_mu": 3.14120001}
    random["coverage"] = {"n_phi_tokens": 10_000, "n_covered": 9_997, "n_punctuation": 3}
    shown = card(random, utility={"recipient_strict_f1": 0.9996})
    assert "with epsilon 2.001 a token" in shown and "| 3.142 |" in shown
    assert "| not covered by the bound | 3 | 0.1 % |" in shown and "| 99.9 % |" in shown
    assert "with epsilon 0.1 a token" in card({**PARTS, "casing": {"kind": "randomized", "epsilon": 0.1}})


def test_kinds_of_casing_say_what_they_promise():
    random = {**PARTS, "casing": {"kind": "randomized", "epsilon": 2.0}}
    assert "with epsilon 2 a token. The epsilons add up" in card(random)
    assert "the casing of each word, the tags" in card(PARTS) and "the casing of each word, the tags" not in card(
        random
    )
    assert "No casing is released." in card({**PARTS, "casing": {"kind": "left out"}}, casing=False)
    with pytest.raises(ValueError, match="casing of a privacy card must be open, randomized or left out"):
        card({**PARTS, "casing": {"kind": "Ada"}})


@pytest.mark.parametrize("name", ["patients", "coverage", "casing"])
def test_text_is_no_figure_in_a_part(name):
    part = {**PARTS[name], **dict.fromkeys(("mean_accuracy", "n_punctuation", "share_changed"), "Ada")}
    with pytest.raises(ValueError, match="of a privacy card must be") as caught:
        card({**PARTS, name: part})
    assert "Ada" not in str(caught.value)


def test_a_high_score_of_an_audit_does_not_look_like_a_successful_attack():
    """The page on audits recommends this entry; the row "score 97 %" stood below "guessing has an accuracy of 50 %"."""
    text = card(audit={"score": 0.97, "lookup": 0.02})
    assert "| score of the whole audit, not an attack; a high score is good | 97.0 % |" in text
    assert "| lookup | 2.0 % |" in text and "low figures are good" in text and "a low score" not in text.lower()
