"""Representers of strangers: what a forger could write into a folder with the right digests and fingerprint."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sklearn_deid import PrivateRepresenter
from sklearn_deid._storage import read_bundle, write_bundle
from sklearn_deid.exceptions import BundleError
from sklearn_deid.representations import WordClassRepresenter
from sklearn_deid.representations.saving import fingerprint_of

from ..tagging.conftest import make_sentences
from .test_private_representer import TINY, VECTORS


@pytest.fixture(scope="module")
def fitted():
    X, y, groups = make_sentences(40)
    return PrivateRepresenter(**TINY).fit(X, y, np.array(groups))


@pytest.fixture
def folder(fitted, tmp_path):
    fitted.save(tmp_path / "rep")
    return tmp_path / "rep"


def forge(folder, *, parameters=(), state=(), arrays=()):
    """Change a saved representer; parameters and weights have the right fingerprint afterwards."""
    manifest, found = read_bundle(folder)
    own, found = manifest["state"], {name: np.array(array) for name, array in found.items()} | dict(arrays)
    own["parameters"].update(parameters)
    weights = {k.removeprefix("network."): torch.from_numpy(v) for k, v in found.items() if k.startswith("network.")}
    network = SimpleNamespace(state_dict=lambda: weights)
    own["fingerprint"] = fingerprint_of(
        SimpleNamespace(_settings=own["parameters"], _vectors=VECTORS, network_=network)
    )
    own.update(state)
    named = {name: manifest[name] for name in ("class", "library_version", "state")}
    write_bundle(folder, named, found, overwrite=True)
    return folder


def test_forging_itself_changes_nothing(fitted, folder):
    assert PrivateRepresenter.load(forge(folder), embeddings=VECTORS).fingerprint_ == fitted.fingerprint_


@pytest.mark.parametrize(
    ("name", "value"),
    [("memmap_dir", "there"), ("random_state", 3), ("exclude", "es"), ("public", "there"), ("n_jobs", 1000)],
)
def test_a_sender_sets_nothing_on_the_computer_of_the_recipient(folder, name, value):
    """A path of the sender was taken over, and `transform` wrote vectors of private notes into it."""
    forge(folder, parameters={name: value})
    with pytest.raises(BundleError, match="parameters that are no part of a saved representer"):
        PrivateRepresenter.load(folder, embeddings=VECTORS)


@pytest.mark.parametrize(
    "parameters", [{"unit_norm": "x"}, {"casing": "randomized", "casing__epsilon": -5.0}, {"digits": "x"}]
)
def test_parameters_are_checked(folder, parameters):
    forge(folder, parameters=parameters)
    with pytest.raises(BundleError, match="does not fit together"):
        PrivateRepresenter.load(folder, embeddings=VECTORS)


@pytest.mark.parametrize("kind", [PrivateRepresenter, WordClassRepresenter])
def test_a_folder_names_no_path_of_the_recipient(fitted, folder, kind, tmp_path):
    """A pipe was read for ever, and another path raised an error that was no BundleError."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "nothing"):
        if kind is WordClassRepresenter:
            kind(embeddings=VECTORS, class_size=5).fit([]).save(folder, overwrite=True)
            manifest, arrays = read_bundle(folder)
            named = {name: manifest[name] for name in ("class", "library_version")}
            state = {**manifest["state"], "embeddings": str(path)}
            write_bundle(folder, {**named, "state": state}, arrays, overwrite=True)
        else:
            forge(folder, state={"embeddings": str(path)})
        with pytest.raises(BundleError, match="word vectors that this version does not know"):
            kind.load(folder)


@pytest.mark.parametrize("parameters", [{"hidden_size": 10**5}, {"n_components": 10**9}, {"hidden_size": 10**30}])
def test_a_network_is_compared_before_it_is_built(folder, parameters, monkeypatch):
    """A stated size of 100,000 units took 320 GB before the weights were looked at."""
    forge(folder, parameters=parameters)
    real = PrivateRepresenter._new_network

    def build(self, input_size):
        # On the device "meta", tensors take no memory. In memory, this network would end the test, or the machine.
        assert torch.empty(0).device.type == "meta"
        return real(self, input_size)

    monkeypatch.setattr(PrivateRepresenter, "_new_network", build)
    with pytest.raises(BundleError, match="does not fit together"):
        PrivateRepresenter.load(folder, embeddings=VECTORS)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_are_finite(folder, value):
    forge(folder, arrays={"network.project.bias": np.full(4, value, dtype=np.float32)})
    with pytest.raises(BundleError, match="not finite"):
        PrivateRepresenter.load(folder, embeddings=VECTORS)


@pytest.mark.parametrize(
    "change",
    [
        lambda bound: bound.update(mean_accuracy="0.54"),
        lambda bound: bound.update(n_pairs="many"),
        lambda bound: bound.update(n_pairs=[3]),
        lambda bound: bound.update(mean_accuracy=0.1, mean_accuracy_low=0.2),
        lambda bound: bound.update(largest_accuracy=None),
        lambda bound: bound["patients"].update(n_cases={}),
        lambda bound: bound["coverage"].update(n_phi_tokens="3"),
        lambda bound: bound["coverage"].update(n_covered=1.5),
        lambda bound: bound.update(patients=[0.5]),
        lambda bound: bound.update(mean_distance="far"),
    ],
)
def test_a_forged_bound_is_refused_with_a_reason(folder, change):
    """Such bounds were loaded, and failed later or ended in a TypeError."""
    bound = read_bundle(folder)[0]["state"]["bound"]
    change(bound)
    with pytest.raises(BundleError, match="does not fit together"):
        PrivateRepresenter.load(forge(folder, state={"bound": bound}), embeddings=VECTORS)


def test_forged_counts_are_refused_with_a_reason(folder):
    for counts in ({"n_patients": "Ada"}, {"n_patients": -3}, [3], "many"):
        with pytest.raises(BundleError, match="does not fit together"):
            PrivateRepresenter.load(forge(folder, state={"training_counts": counts}), embeddings=VECTORS)
