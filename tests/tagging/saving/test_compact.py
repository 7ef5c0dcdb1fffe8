"""Models in a third of the space: bounded rounding, the same predictions, and no array that does not fit."""

import json

import numpy as np
import pytest

from sklearn_deid import DeidTagger, NoteDeidentifier, RecallTunedTagger, load, save
from sklearn_deid._storage import read_bundle, write_bundle
from sklearn_deid.embeddings import SubwordTable
from sklearn_deid.exceptions import BundleError
from sklearn_deid.tagging import saving
from sklearn_deid.tagging.compact_arrays import compact, expanded

from .conftest import SMALL, X, Y


@pytest.fixture(scope="module")
def tagger():
    rng = np.random.default_rng(0)
    table = SubwordTable(rng.normal(size=(300, 8)).astype(np.float32) * rng.random((300, 1)).astype(np.float32))
    return DeidTagger(**{**SMALL, "embeddings": table}).fit(X * 4, Y * 4)


@pytest.fixture(scope="module")
def model(tagger):
    tuned = RecallTunedTagger(tagger, decision_bias=1.0, cv="prefit", min_precision=0).fit(X, Y)
    return NoteDeidentifier(tuned, labels="hipaa")


@pytest.fixture
def folder(model, tmp_path):
    save(model, tmp_path / "m", compact=True)
    return tmp_path / "m"


def test_rounding_is_bounded_by_half_a_step():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(50, 7)).astype(np.float32)
    table[3] = 0
    full = expanded(compact({"subwords.table": table}))["subwords.table"]
    step = np.abs(table).max(axis=1, keepdims=True) / 127
    assert full.dtype == np.float32
    assert (np.abs(full - table) <= step * 0.501).all()
    assert not full[3].any()


def test_prefixes_and_other_types_stay():
    arrays = {"0/subwords.table": np.ones((2, 2), np.float32), "0/n": np.arange(3), "1/w": np.ones(2, np.float32)}
    back = expanded(compact(arrays))
    assert back.keys() == arrays.keys()
    assert all(back[name].dtype == arrays[name].dtype and (back[name] == arrays[name]).all() for name in arrays)


def test_loaded_model_is_close_and_smaller(model, folder, tmp_path):
    save(model, tmp_path / "full")
    small, full = ((path / "arrays.safetensors").stat().st_size for path in (folder, tmp_path / "full"))
    assert small < 0.6 * full
    loaded = load(folder)
    assert loaded.labels == "hipaa"
    for a, b in zip(loaded.estimator_.predict_proba(X), model.estimator.predict_proba(X), strict=True):
        assert np.allclose(a, b, atol=0.02)


def test_saving_a_loaded_model_again_changes_nothing(folder, tmp_path):
    save(load(folder), tmp_path / "again", compact=True)
    first, second = (read_bundle(path)[1] for path in (folder, tmp_path / "again"))
    assert first.keys() == second.keys()
    assert all(np.allclose(first[name], second[name], rtol=1e-6) for name in first)


@pytest.mark.parametrize("change", ["missing", "shape", "type", "stray"])
def test_scale_that_does_not_fit_is_refused(folder, tmp_path, change):
    manifest, arrays = read_bundle(folder)
    (name,) = (name for name in arrays if name.endswith("subwords.scale"))
    scale = arrays.pop(name)
    if change == "shape":
        arrays[name] = scale[:-1]
    elif change == "type":
        arrays[name] = scale.astype(np.float64)
    elif change == "stray":
        arrays |= {name: scale, "7/subwords.scale": scale}
    del manifest["arrays_sha256"]
    write_bundle(tmp_path / "changed", manifest, arrays)
    with pytest.raises(BundleError, match="scale"):
        load(tmp_path / "changed")


def test_model_that_rounding_changes_is_not_written(model, tmp_path, monkeypatch):
    monkeypatch.setattr(
        saving.compact_arrays, "compact", lambda arrays: {k: np.zeros_like(v) for k, v in arrays.items()}
    )
    with pytest.raises(BundleError):
        save(model, tmp_path / "m", compact=True)
    assert not (tmp_path / "m").exists()


def test_model_without_labels_in_its_manifest_returns_all(folder, tmp_path):
    manifest, arrays = read_bundle(folder)
    del manifest["arrays_sha256"], manifest["state"]["labels"]
    write_bundle(tmp_path / "old", json.loads(json.dumps(manifest)), arrays)
    assert load(tmp_path / "old").labels == "all"
