"""A loaded model does what the saved one did; what is not a model is refused."""

import json
import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from sklearn_deid import (
    Corpus,
    DeidTagger,
    Document,
    DSSGDEnsemble,
    NoteDeidentifier,
    RuleTagger,
    Span,
    WordVectors,
    load,
    make_clinical_notes,
    save,
)
from sklearn_deid._storage import read_bundle, write_bundle
from sklearn_deid.exceptions import BundleError
from sklearn_deid.tagging import CRFHead
from sklearn_deid.tagging.unbuilt_optimizer import UnbuiltOptimizer

from .conftest import SMALL, X, Y, fit_small

UNSEEN = [["Mrs", "Cedar", "of", "Eastham", "3", "/", "4"], [], ["\U0001f600"], ["a"] * 300]


def assert_same(a, b, data):
    assert a.classes_.tolist() == b.classes_.tolist()
    for left, right in zip(a.predict(data), b.predict(data), strict=True):
        assert left == right
    for left, right in zip(a.predict_proba(data), b.predict_proba(data), strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"embeddings": "auto"},
        {"encoder": "gru", "head": "softmax", "n_layers": 2},
        {"tag_scheme": "bioes", "characters": None},
        {"class_weight": {"B-PATIENT": 2}, "validation_fraction": 0.3, "optimizer__weight_decay": 0.1},
    ],
)
def test_loaded_tagger_predicts_the_same(tmp_path, parameters):
    tagger = fit_small(**parameters)
    save(tagger, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert_same(tagger, loaded, X + UNSEEN)
    assert loaded.get_params(deep=False) == tagger.get_params(deep=False)
    assert clone(loaded).get_params(deep=False) == tagger.get_params(deep=False)


def test_tagger_of_vectors(tmp_path):
    rows = [np.random.default_rng(i).normal(size=(n, 5)).astype(np.float32) for i, n in enumerate((3, 1, 4))]
    tagger = DeidTagger(**SMALL).fit(rows, [["O", "B-AGE", "O"], ["O"], ["B-AGE", "I-AGE", "O", "O"]])
    save(tagger, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.n_features_in_ == 5
    assert_same(tagger, loaded, rows)


def test_saving_a_loaded_model_writes_the_same_bytes(saved, tmp_path):
    save(load(saved), tmp_path / "again")
    for name in ("manifest.json", "arrays.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (saved / name).read_bytes()


@pytest.mark.parametrize("change", [{"hidden_size": 5}, {"n_layers": 3}, {"encoder": "gru"}])
def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path, change):
    """A parameter that was changed after the fit: the training would have been lost with the process."""
    with pytest.raises(BundleError, match="changed after the fit"):
        save(fit_small().set_params(**change), tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("change", [{"tag_scheme": "bioes"}, {"head__constrained": False}])
def test_a_model_that_load_would_refuse_is_not_saved(tmp_path, change):
    """The shapes of the network fit, but the loaded model would decide in another way than the trained one."""
    X, Y = [["Mr", "Alder", "Birch"], ["No", "pain"]] * 4, [["O", "B-PATIENT", "I-PATIENT"], ["O", "O"]] * 4
    tagger = DeidTagger(**{**SMALL, "head": CRFHead()}).fit(X, Y)
    save(tagger, tmp_path / "model")
    before = (tmp_path / "model" / "manifest.json").read_bytes()
    with pytest.raises(BundleError, match="changed after the fit"):
        save(tagger.set_params(**change), tmp_path / "model", overwrite=True)
    assert (tmp_path / "model" / "manifest.json").read_bytes() == before


def test_optimizer_of_a_loaded_tagger_is_built_for_its_training(saved):
    loaded = pickle.loads(pickle.dumps(load(saved)))
    assert isinstance(loaded.optimizer_, UnbuiltOptimizer)
    loaded.set_params(lr=0.5, optimizer__weight_decay=0.25).partial_fit(X, Y)
    assert [type(loaded.optimizer_), *(loaded.optimizer_.param_groups[0][k] for k in ("lr", "weight_decay"))] == [
        torch.optim.NAdam,
        0.5,
        0.25,
    ]


def test_loaded_tagger_can_be_trained_on(saved):
    assert load(saved).partial_fit(X, Y).predict(X)[0]
    assert load(saved).fit(X, Y).predict(X)[0]


def test_loaded_deidentifier_annotates_the_same(tmp_path):
    corpus = Corpus(
        Document(f"n{i}", "Seen by Dr Birch of Northwick", (Span(11, 16, "DOCTOR", "NAME"),)) for i in range(8)
    )
    model = NoteDeidentifier(DeidTagger(**{**SMALL, "max_epochs": 20}), batch_size=3, on_error="withhold").fit(corpus)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert (loaded.batch_size, loaded.on_error, loaded.categories_) == (3, "withhold", {"DOCTOR": "NAME"})
    texts = ["Seen by Dr Birch of Northwick", "", "Dr Alder"]
    assert loaded.annotate(texts) == model.annotate(texts)
    assert loaded.annotate(texts)[0][0].category == "NAME"


def test_a_loaded_deidentifier_without_rules_learns_none(tmp_path):
    notes = make_clinical_notes(20, random_state=0)
    save(NoteDeidentifier(RuleTagger(), rules=None).fit(notes), tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert (loaded.rules, loaded.rules_) == (None, None)
    assert loaded.fit(notes).rules_ is None


def test_deidentifier_around_a_fitted_tagger(small, tmp_path):
    save(NoteDeidentifier(small), tmp_path / "m")
    assert load(tmp_path / "m").annotate(["Mr Alder"]) == NoteDeidentifier(small).annotate(["Mr Alder"])


def test_device_of_another_machine_can_be_left(bundle):
    def other_device(manifest):
        manifest["state"]["parameters"]["device"] = "cuda:77"

    resign(bundle, other_device)
    with pytest.raises(BundleError, match="cuda:77|CUDA"):
        load(bundle)
    loaded = load(bundle, device="cpu")
    assert loaded.device == "cpu"
    assert loaded.predict(X)[0]


def test_other_classes_are_refused(small, tmp_path):
    for model in (LogisticRegression(), NoteDeidentifier(Pipeline([("tag", small)])), None):
        with pytest.raises(BundleError, match="cannot be saved"):
            save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("strategy", "instead"),
    [("fedavg", "Save its global_estimator_ or one of estimators_"), ("local", "Save one of its estimators_")],
)
def test_ensemble_names_what_can_be_saved(tmp_path, strategy, instead):
    tagger = DeidTagger(**{**SMALL, "max_epochs": 1, "embeddings": None})
    predict_with = "vote" if strategy == "local" else "global"
    ensemble = DSSGDEnsemble(
        tagger, n_workers=2, strategy=strategy, n_epochs=1, predict_with=predict_with, random_state=0
    )
    for model in (ensemble, ensemble.fit(X, Y, groups=range(len(X))), NoteDeidentifier(ensemble)):
        with pytest.raises(BundleError, match=f"A DSSGDEnsemble cannot be saved .* {instead}; each of them is a Deid"):
            save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())
    named = [*ensemble.estimators_, *([ensemble.global_estimator_] if strategy == "fedavg" else [])]
    for number, model in enumerate(named):
        save(model, tmp_path / str(number))
        assert_same(model, load(tmp_path / str(number)), X)


def test_search_names_what_can_be_saved(small, tmp_path):
    search = GridSearchCV(small, {"lr": [0.1]})
    with pytest.raises(BundleError, match="A GridSearchCV cannot be saved. The classes .* can be saved"):
        save(search, tmp_path / "m")
    search.best_estimator_ = small
    with pytest.raises(BundleError, match=r"A GridSearchCV cannot be saved. Save its best_estimator_."):
        save(search, tmp_path / "m")


def test_tagger_that_holds_words_is_refused(tmp_path):
    vectors = WordVectors(["Alder", "pain"], np.eye(2, 4, dtype=np.float32))
    with pytest.raises(BundleError, match="vectors of whole words"):
        save(fit_small(embeddings=vectors), tmp_path / "m")
    assert not list(tmp_path.iterdir())


def resign(folder, change):
    """Change the manifest of a bundle and compute its digests anew, as someone would who does it on purpose."""
    manifest, arrays = read_bundle(folder)
    manifest = {key: value for key, value in manifest.items() if key not in ("format", "arrays_sha256")}
    change(manifest)
    write_bundle(folder, manifest, arrays, overwrite=True)


def nested(manifest):
    inner = {"class": "NoteDeidentifier", "state": {"estimator": {}, "batch_size": 1, "on_error": "raise"}}
    manifest |= {"class": "NoteDeidentifier", "state": {"estimator": inner, "batch_size": 1, "on_error": "raise"}}


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update({"class": "Popen"}),
        lambda m: m.pop("class"),
        lambda m: m.pop("state"),
        lambda m: m.update({"state": []}),
        lambda m: m.update({"class": "NoteDeidentifier"}),
        nested,
        lambda m: m["state"].pop("classes"),
        lambda m: m["state"].update({"classes": ["O"]}),
        lambda m: m["state"].update({"parameters": []}),
        lambda m: m["state"]["parameters"].update({"optimizer": "lr_scheduler"}),
        lambda m: m["state"]["parameters"].update({"optimizer": "__builtins__"}),
        lambda m: m["state"]["parameters"].update({"hidden_size": 7}),
        lambda m: m["state"]["parameters"].update({"hidden_size": "many"}),
        lambda m: m["state"]["parameters"].update({"nonsense": 1}),
        lambda m: m["state"].update({"subwords": {"min_n": 3}}),
        lambda m: m["state"].update({"reads_words": False, "n_features_in": 3}),
    ],
)
def test_what_does_not_fit_together_is_refused(bundle, change):
    resign(bundle, change)
    with pytest.raises(BundleError):
        load(bundle)


def test_manifest_holds_plain_values_only(saved):
    manifest = json.loads((saved / "manifest.json").read_text(encoding="utf-8"))
    digests = {"arrays_sha256", "manifest_sha256"}
    assert set(manifest) == {"canary", "class", "format", "library_version", "state", *digests}
