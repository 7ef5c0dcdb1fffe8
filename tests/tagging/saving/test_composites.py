"""Taggers around taggers: a loaded one does what the saved one did; what does not fit together is refused."""

import copy
import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from sklearn_deid import (
    HybridTagger,
    NoteDeidentifier,
    RecallTunedTagger,
    RuleTagger,
    TemperatureScaledTagger,
    VotingTagger,
    _storage,
    load,
    save,
)
from sklearn_deid._storage import read_bundle, write_bundle
from sklearn_deid.exceptions import BundleError
from sklearn_deid.tagging import LabelLineTagger, NotePriorTagger, WordBiasTagger

from ..conftest import assert_rows_equal
from .conftest import X, Y, fit_small

SEEN = [*X, ["Mrs", "Cedar", ",", "3", "/", "4", "/", "2019"], [], ["a"] * 40]


@pytest.fixture(scope="module")
def models():
    tagger = FrozenEstimator(fit_small())
    rules = RuleTagger({"date", "age"}, label_scheme={"DATE": "DATE", "AGE": None})
    voting = VotingTagger([("tagger", tagger), ("no", "drop"), ("rules", rules)], weights=[2, 5, 1])
    tuned = RecallTunedTagger(voting, cv="prefit", target_recall=0.2, confidence=None, direct_labels={"PATIENT"})
    tuned.estimator = voting.fit(X, Y)
    fixed = RecallTunedTagger(tagger, decision_bias=2.0)
    scaled = TemperatureScaledTagger(tagger, cv="prefit")
    biased = WordBiasTagger(tagger, words={"mr": 1, "seen": 2}, bias=-2.0)
    united = HybridTagger(RuleTagger(), RecallTunedTagger(scaled, decision_bias=1.0), on_conflict="union")
    every = {"rules": rules, "voting": voting, "tuned": tuned, "fixed": fixed, "scaled": scaled, "united": united}
    every["biased"] = biased
    every["lines"] = LabelLineTagger(tagger)
    every["prior"] = NotePriorTagger(tagger, share=0.3, strength=2)
    return {name: model.fit(X, Y) for name, model in every.items()}


def outputs(model):
    found = [model.predict(SEEN)]
    if not isinstance(model, (RuleTagger, HybridTagger)):
        found += [*model.predict(SEEN, return_confidence=True), model.predict_proba(SEEN)]
    return found


@pytest.mark.parametrize("name", ["rules", "voting", "tuned", "fixed", "scaled", "united", "biased", "prior"])
def test_round_trip(models, name, tmp_path):
    model = models[name]
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    for left, right in zip(outputs(model), outputs(loaded), strict=True):
        for a, b in zip(left, right, strict=True):
            np.testing.assert_array_equal(a, b)
    if hasattr(model, "classes_"):
        assert loaded.classes_.tolist() == model.classes_.tolist()
    save(loaded, tmp_path / "again")
    for file in ("manifest.json", "arrays.safetensors"):
        assert (tmp_path / "again" / file).read_bytes() == (tmp_path / "m" / file).read_bytes()


def test_a_vote_whose_taggers_changed_after_the_training(models, tmp_path):
    """Dropped taggers were saved, too, and the weights belonged to other taggers."""
    voting = copy.deepcopy(models["voting"])
    voting.set_params(estimators=voting.estimators[::-1], weights=None)
    for i, change in enumerate(({}, {"weights": [1, 5, 2]}, {"rules": "drop"})):
        save(voting.set_params(**change), tmp_path / f"{i}")
        for a, b in zip(outputs(voting), outputs(load(tmp_path / f"{i}")), strict=True):
            assert_rows_equal(a, b)
    with pytest.raises(NotFittedError, match="have changed"):
        save(voting.set_params(no=RuleTagger()), tmp_path / "m")


def test_figures_and_aims_come_back(models, tmp_path):
    save(models["tuned"], tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert str(loaded.report_) == str(models["tuned"].report_)
    assert (loaded.target_recall, loaded.confidence, loaded.direct_labels) == (0.2, None, ["PATIENT"])
    assert (loaded.decision_bias_, loaded.threshold_) == (models["tuned"].decision_bias_, models["tuned"].threshold_)
    assert loaded.estimator_.weights == [2.0, 1.0]


def test_around_notes(models, tmp_path):
    notes = ["Mrs Cedar was seen on 3/4/2019."]
    for model in (models["united"], models["rules"]):
        deidentifier = NoteDeidentifier(model)
        save(deidentifier, tmp_path / "m", overwrite=True)
        assert load(tmp_path / "m").annotate(notes) == deidentifier.annotate(notes)


def test_unfitted_and_foreign_taggers_are_refused(tmp_path):
    from sklearn.exceptions import NotFittedError

    for model in (RuleTagger(), VotingTagger([("r", RuleTagger())]), HybridTagger(), RecallTunedTagger()):
        with pytest.raises(NotFittedError):
            save(model, tmp_path / "m")

    class Own(RuleTagger):
        """Would come back as something else."""

    with pytest.raises(BundleError, match="A Own cannot be saved"):
        save(Own().fit([]), tmp_path / "m")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("voting", lambda m: m["taggers"].pop()),
        ("voting", lambda m: m.update({"taggers": {}})),
        ("voting", lambda m: m["state"].update({"weights": [1.0]})),
        ("voting", lambda m: m["state"].update({"labels": [1]})),
        ("voting", lambda m: m["taggers"][1].update({"class": "Popen"})),
        ("voting", lambda m: m["taggers"].__setitem__(1, None)),
        ("rules", lambda m: m["state"].pop("labels")),
        ("rules", lambda m: m["state"].update({"recognizers": ["nonsense"]})),
        ("fixed", lambda m: m["state"].update({"level": "character"})),
        ("tuned", lambda m: m["state"]["report"].update({"nonsense": 1})),
        ("tuned", lambda m: m["state"]["report"].update({"n_patients": "\x1b[2J"})),
        ("tuned", lambda m: m["state"]["report"].update({"recall": "\x1b[2J"})),
        ("tuned", lambda m: m["state"]["report"].update({"recall": 0})),
        ("tuned", lambda m: m["state"]["report"].update({"decision_bias": None})),
        ("tuned", lambda m: m["state"]["report"].update({"n_tokens": [1, 1, 1]})),
        ("tuned", lambda m: m["state"]["report"]["recall"].__setitem__(5, "\x1b[2J")),
        ("tuned", lambda m: m["state"]["report"]["recall"].__setitem__(2, 10**400)),
        ("tuned", lambda m: m["state"]["report"].update({"decision_bias": 10**400})),
        ("fixed", lambda m: m["state"].update({"bias": 10**400})),
        ("scaled", lambda m: m["state"].update({"temperature": 0})),
        ("biased", lambda m: m["state"].update({"bias": "-1"})),
        ("biased", lambda m: m["state"]["words"].update({"bits": "ff"})),
        ("biased", lambda m: m["state"]["words"]["sets"][0].update({"bits": "ff"})),
        ("biased", lambda m: m["state"]["words"]["sets"].extend(m["state"]["words"]["sets"] * 8)),
        ("biased", lambda m: m["state"]["words"].update({"sets": 5})),
        ("biased", lambda m: m["state"].pop("words")),
        ("prior", lambda m: m["state"].update({"share": 1.5})),
        ("prior", lambda m: m["state"].update({"strength": "4"})),
        ("prior", lambda m: m["state"].pop("lowest")),
        ("united", lambda m: m["state"].update({"precision": 2})),
        ("united", lambda m: m["state"].update({"on_conflict": "none"})),
    ],
)
def test_what_does_not_fit_together_is_refused(models, name, change, tmp_path):
    save(models[name], tmp_path / "m")
    manifest, arrays = read_bundle(tmp_path / "m")
    manifest = {key: value for key, value in manifest.items() if key not in ("format", "arrays_sha256")}
    change(manifest)
    write_bundle(tmp_path / "m", manifest, arrays, overwrite=True)
    with pytest.raises(BundleError):
        load(tmp_path / "m")


@pytest.mark.parametrize(("name", "setting"), [("fixed", "bias"), ("biased", "bias"), ("prior", "share")])
def test_a_setting_that_is_no_number_is_neither_written_nor_read(models, name, setting, tmp_path, monkeypatch):
    save(models[name], tmp_path / "m")
    manifest, arrays = read_bundle(tmp_path / "m")
    manifest = {key: value for key, value in manifest.items() if key not in ("format", "arrays_sha256")}
    manifest["state"][setting] = float("nan")
    with pytest.raises(BundleError, match="'manifest' must hold plain JSON values"):
        write_bundle(tmp_path / "m", manifest, arrays, overwrite=True)
    monkeypatch.setattr(_storage, "plain_json", lambda value, _: json.loads(json.dumps(value)))
    write_bundle(tmp_path / "m", manifest, arrays, overwrite=True)
    with pytest.raises(BundleError):
        load(tmp_path / "m")


@pytest.mark.parametrize("categories", [{"DATE": "\x1b[2J"}, {"DATE": 3}, {"DATE": {}}, {"\x1b[2J": "DATE"}, ["DATE"]])
def test_a_category_is_a_printable_name(categories, tmp_path):
    """Categories enter tables and files, as labels do, and were loaded as any JSON value."""
    save(NoteDeidentifier(RuleTagger().fit([])), tmp_path / "m")
    manifest, arrays = read_bundle(tmp_path / "m")
    manifest = {key: value for key, value in manifest.items() if key not in ("format", "arrays_sha256")}
    manifest["state"]["categories"] = categories
    write_bundle(tmp_path / "m", manifest, arrays, overwrite=True)
    with pytest.raises(BundleError):
        load(tmp_path / "m")


@pytest.mark.parametrize("label", [None, 3, True])
def test_a_label_of_a_rule_is_a_name(label, tmp_path):
    save(NoteDeidentifier(RuleTagger().fit([])), tmp_path / "m")
    manifest, arrays = read_bundle(tmp_path / "m")
    manifest = {key: value for key, value in manifest.items() if key not in ("format", "arrays_sha256")}
    manifest["state"]["rules"] = {"date-numeric": [label, 0.97]}
    write_bundle(tmp_path / "m", manifest, arrays, overwrite=True)
    with pytest.raises(BundleError):
        load(tmp_path / "m")
