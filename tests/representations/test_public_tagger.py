"""The provider's tagger: published with the representer and its vectors, and the start of recipients."""

import json
import pickle

import numpy as np
import pytest
import torch
from sklearn.pipeline import Pipeline

from sklearn_deid import (
    DeidTagger,
    PrivateRepresenter,
    load,
    load_representation,
    pool_representations,
    save,
    save_representation,
)
from sklearn_deid.exceptions import BundleError
from sklearn_deid.representations.public_tagger import public_tagger_from_state, public_tagger_to_state
from sklearn_deid.tagging.network_size import DEFAULT_UNITS

from ..tagging.conftest import make_sentences
from .saved_releases import TAGS, forge, manifest_of, represented
from .test_private_representer import TINY, VECTORS


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_sentences(80)
    return X, y, np.array(groups)


@pytest.fixture(scope="module")
def fitted(data):
    return PrivateRepresenter(**{**TINY, "random_state": None}).fit(*data)


@pytest.fixture(scope="module")
def shared(data, fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("release") / "a"
    save_representation(folder, fitted.transform(data[0]), data[1])
    return folder


def small(**parameters):
    """A tagger whose network has the shape of the provider's."""
    return DeidTagger(**{"hidden_size": 8, "device": "cpu", "random_state": 0, "batch_size": 60, **parameters})


def weights(tagger):
    return tagger.module_.state_dict()


def assert_same(tagger, other):
    assert tagger.classes_.tolist() == other.classes_.tolist()
    assert all(torch.equal(value, weights(other)[name]) for name, value in weights(tagger).items())


def test_tagger_is_a_fitted_estimator_of_the_vectors(data, fitted):
    R = fitted.transform(data[0])
    assert isinstance(fitted.tagger_, DeidTagger) and R.tagger is fitted.tagger_
    assert fitted.tagger_.n_features_in_ == R.d and len(fitted.tagger_.predict(R)) == len(R)
    assert fitted.noise_free(data[0]).tagger is None


def test_default_tagger_has_the_shape_of_the_default_representer():
    """Recipients with default parameters start from the tagger of providers with default parameters."""
    assert PrivateRepresenter().tagger_hidden_size == DEFAULT_UNITS


def test_pipeline_starts_from_the_tagger(data, fitted):
    pipe = Pipeline([("rep", PrivateRepresenter(**TINY)), ("tag", small(max_epochs=1, lr=1e-12))])
    pipe.fit(data[0], data[1])
    tagger, public = pipe[-1], pipe[0].tagger_
    assert tagger.starts_from_tagger_
    for name, value in weights(public).items():
        torch.testing.assert_close(weights(tagger)[name], value, atol=1e-6, rtol=0)


def test_tagger_is_saved_with_the_representer(tmp_path, data, fitted):
    save(fitted, tmp_path / "rep")
    loaded = load(tmp_path / "rep", embeddings=VECTORS)
    assert_same(loaded.tagger_, fitted.tagger_)
    R = fitted.transform(data[0])
    assert loaded.tagger_.predict(R).tolist() == fitted.tagger_.predict(R).tolist()
    assert loaded.transform(data[0]).tagger is loaded.tagger_
    card = (tmp_path / "rep" / "README.md").read_text()
    assert "weights of the tagger" in card and "membership attack" in card


def test_representer_without_a_tagger_loads(tmp_path, fitted):
    """As version 0.1.0 saved it."""
    import copy

    old = copy.copy(fitted)
    old.tagger_ = None
    save(old, tmp_path / "rep")
    assert not any("tagger" in key for key in manifest_of(tmp_path / "rep")["state"])
    loaded = load(tmp_path / "rep", embeddings=VECTORS)
    assert loaded.tagger_ is None and loaded.transform([["mr"]]).tagger is None


def test_tagger_is_written_with_the_vectors(data, fitted, shared):
    loaded = load_representation(shared)
    assert_same(loaded.X.tagger, fitted.tagger_)
    recipient = small(max_epochs=1).fit(loaded.X, loaded.y)
    assert recipient.starts_from_tagger_
    assert not small(max_epochs=1).fit(loaded.X.with_tagger(None), loaded.y).starts_from_tagger_


def test_release_without_a_tagger(tmp_path, data, fitted):
    save_representation(tmp_path / "a", fitted.transform(data[0]).with_tagger(None), data[1])
    assert "tagger" not in manifest_of(tmp_path / "a")
    assert load_representation(tmp_path / "a").X.tagger is None


def test_a_pool_keeps_a_common_tagger_only(tmp_path, data, fitted, shared):
    save_representation(tmp_path / "b", fitted.transform(data[0]), data[1])
    assert_same(pool_representations([shared, tmp_path / "b"]).X.tagger, fitted.tagger_)
    save_representation(tmp_path / "c", fitted.transform(data[0]).with_tagger(None), data[1])
    assert pool_representations([shared, tmp_path / "c"]).X.tagger is None


def test_pickled_vectors_keep_the_tagger(data, fitted):
    copied = pickle.loads(pickle.dumps(fitted.transform(data[0])))
    assert_same(copied.tagger, fitted.tagger_)


def test_a_tagger_of_words_is_refused(tmp_path):
    words = small(max_epochs=1, embeddings=None).fit([["Mr", "Alder"]], [["O", "B-PATIENT"]])
    with pytest.raises(BundleError, match="must be a DeidTagger of vectors of 3 columns"):
        save_representation(tmp_path / "a", represented().with_tagger(words), TAGS)


def test_a_tagger_that_was_trained_further_is_not_published(tmp_path, data, fitted):
    """`partial_fit` changes the tagger of the representer in place: a hospital would publish weights of its notes."""
    save(fitted, tmp_path / "rep")
    published = load(tmp_path / "rep", embeddings=VECTORS)
    published.tagger_.partial_fit(published.transform(data[0]), data[1])
    R = published.transform(data[0])
    for one in (R, R.with_tagger(small(max_epochs=1).fit(R, data[1])), pickle.loads(pickle.dumps(R))):
        with pytest.raises(BundleError, match="trained further"):
            save_representation(tmp_path / "a", one, data[1])
    with pytest.raises(BundleError, match="trained further"):
        save(published, tmp_path / "again")
    assert not (tmp_path / "a").exists() and not (tmp_path / "again").exists()
    save_representation(tmp_path / "a", R.with_tagger(None), data[1])


@pytest.mark.parametrize("state", [None, [], {}, {"parameters": None}, {"parameters": {"optimizer": "NAdam"}}])
def test_forged_states_are_refused(tmp_path, data, fitted, state):
    save_representation(tmp_path / "a", fitted.transform(data[0]), data[1])
    manifest = manifest_of(tmp_path / "a")
    manifest["tagger"] = state
    (tmp_path / "a" / "manifest.json").write_text(json.dumps(manifest))
    forge(tmp_path / "a")
    with pytest.raises(BundleError):
        load_representation(tmp_path / "a")


def test_nothing_else_leaves_with_a_tagger(tmp_path, data, fitted):
    """An array or an entry beside the tagger could hold words of notes, and recipients would ignore it."""
    width = fitted.tagger_.n_features_in_
    state, arrays = public_tagger_to_state(fitted.tagger_, width)
    for forged in ({**state, "words": ["Ada"]}, {**state, "parameters": {**state["parameters"], "words": "Ada"}}):
        with pytest.raises(BundleError):
            public_tagger_from_state(forged, arrays, width)
    with pytest.raises(BundleError):
        public_tagger_from_state(state, {**arrays, "tagger.words": np.arange(3)}, width)
    assert public_tagger_from_state(state, arrays, width).classes_.tolist() == fitted.tagger_.classes_.tolist()


@pytest.mark.parametrize(
    "forged",
    [
        {"vectors_from": "Ada was here"},
        {"continues_spans": ["Ada"]},
        {"marks_uniform_casing": "Ada"},
        {"parameters": {"device": "Ada was here"}},
        {"parameters": {"device": "Ada"}},
        {"parameters": {"class_weight": {"Ada was here": 1.0}}},
    ],
)
def test_no_text_leaves_in_the_values_of_a_tagger(fitted, forged):
    """The keys alone were compared: a value could be a note."""
    width = fitted.tagger_.n_features_in_
    state, arrays = public_tagger_to_state(fitted.tagger_, width)
    forged = {**state, **forged, "parameters": {**state["parameters"], **forged.get("parameters", {})}}
    with pytest.raises(BundleError, match="holds text or parts that no public tagger has"):
        public_tagger_from_state(forged, arrays, width)
