"""One `save` and one `load`: every class finds its room, and options belong to classes."""

from importlib import import_module
from pathlib import Path

import pytest

import sklearn_deid
from sklearn_deid import (
    NoteDeidentifier,
    PrivateRepresenter,
    RuleTagger,
    WordVectors,
    load,
    load_representation,
    save,
    saving,
)
from sklearn_deid._storage import read_bundle, write_bundle
from sklearn_deid.exceptions import BundleError, InsecureReleaseWarning
from sklearn_deid.tagging import Dropout, SoftmaxHead
from sklearn_deid.tagging.saving import COMPOSITES, load_tagger

from .conftest import X, fit_small


@pytest.mark.parametrize("name", saving._HOMES)
def test_every_room_has_its_functions(name):
    home = saving._HOMES[name]
    assert callable(home.function(home.load))
    assert not home.save or callable(home.function(home.save))


def test_every_tagger_is_in_the_table():
    assert {"DeidTagger", *COMPOSITES} <= set(saving._HOMES)
    assert all(hasattr(import_module("sklearn_deid"), name) for name in {"DeidTagger", *COMPOSITES})


def test_settings_objects_come_back(tmp_path):
    tagger = fit_small(dropout=Dropout(input=0.1), head=SoftmaxHead(projection_size=3))
    save(tagger, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert repr(loaded) == repr(tagger)
    assert [row.tolist() for row in loaded.predict_proba(X)] == [row.tolist() for row in tagger.predict_proba(X)]


def test_repr_of_a_loaded_object_shows_what_it_is(tmp_path):
    save(NoteDeidentifier(RuleTagger(recognizers=["email"]).fit([])), tmp_path / "m")
    assert repr(load(tmp_path / "m")) == "NoteDeidentifier(estimator=RuleTagger(recognizers=['email']))"


def test_load_opens_representers_and_shared_representations(tmp_path):
    files = Path(__file__).parents[2] / "saved_before_0_2" / "files"
    with pytest.warns(InsecureReleaseWarning):
        shared = load(files / "releases" / "b")
    with pytest.warns(InsecureReleaseWarning):
        assert shared.X == load_representation(files / "releases" / "b").X
    with pytest.raises(ValueError, match="The 'device' option does not belong to a SharedRepresentation"):
        load(files / "releases" / "b", device="cpu")
    vectors = WordVectors.open(files / "words")
    with pytest.raises(BundleError, match="pass them as 'embeddings'"):
        load(files / "representers" / "dense")
    representer = load(files / "representers" / "dense", device="cpu", embeddings=vectors)
    assert isinstance(representer, PrivateRepresenter)
    save(representer, tmp_path / "again")
    again = load(tmp_path / "again", embeddings=vectors)
    assert again.fingerprint_ == representer.fingerprint_


def test_options_belong_to_classes(saved, small, tmp_path):
    with pytest.raises(ValueError, match="The 'embeddings' option does not belong to a DeidTagger"):
        load(saved, embeddings="auto")
    with pytest.raises(ValueError, match="The 'audit' option does not belong to a DeidTagger"):
        save(small, tmp_path / "m", audit={})
    assert not list(tmp_path.iterdir())


def test_a_folder_of_another_class_is_no_tagger(saved):
    manifest, arrays = read_bundle(saved)
    manifest = {k: v for k, v in manifest.items() if k not in ("format", "arrays_sha256")} | {"class": "Popen"}
    folder = saved.parent / "other"
    write_bundle(folder, manifest, arrays)
    with pytest.raises(BundleError, match="names a class that this version does not know: 'Popen'"):
        load(folder)
    write_bundle(folder, {**manifest, "class": "PrivateRepresenter"}, arrays, overwrite=True)
    with pytest.raises(BundleError, match="names a class that is no tagger of this version"):
        load_tagger(folder)
    assert sklearn_deid.load is load
