"""Releases with the noise of earlier versions: readable still, with a warning, and never released again.

The folder was written by the version before noise was drawn from a cipher (commit 938b543).
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from sklearn_deid import _storage as bundle_module
from sklearn_deid import load_representation, pool_representations, save_representation
from sklearn_deid.exceptions import BundleError, InsecureReleaseWarning

from ...representations.saved_releases import MANIFEST, ORIGIN, TAGS, represented, saved

OLD = Path(__file__).parent / "fixtures" / "release_of_format_1"
READABLE = "as readable as vectors without noise"


def load_old(folder=OLD):
    with pytest.warns(InsecureReleaseWarning, match=READABLE):
        return load_representation(folder)


def rewritten(folder, **changes):
    """With another manifest and right digests."""
    shutil.copytree(OLD, folder)
    manifest = {**json.loads((folder / MANIFEST).read_text(encoding="utf-8")), **changes}
    del manifest["manifest_sha256"]
    manifest["manifest_sha256"] = bundle_module._manifest_digest(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def test_it_loads_with_a_warning_and_is_whole():
    loaded = load_old()
    assert (len(loaded), loaded.X.shape[0], loaded.X.d, loaded.origin.n_neighbors) == (3, 3, 11, 2)
    assert sorted(loaded.y.tolist()) == [["B-DOCTOR"], ["O", "B-DOCTOR"], ["O", "B-DOCTOR", "O"]]
    assert loaded.origin.noise["seeded"] is False and "generator" not in loaded.origin.noise


def test_it_is_not_released_again(tmp_path):
    loaded = load_old()
    with pytest.raises(BundleError, match="Transform the notes again with this version"):
        save_representation(tmp_path / "a", loaded.X, loaded.y)


def test_a_pool_with_it_is_as_weak_as_it(tmp_path):
    old = load_old()
    with pytest.warns(InsecureReleaseWarning, match=READABLE):
        pool_representations([OLD])
    with pytest.warns(InsecureReleaseWarning, match=READABLE):
        pool_representations([old])
    weak = replace(ORIGIN, noise={"kind": "trainable", "mean_std": 1.25, "seeded": False})
    first, second = load_representation(saved(tmp_path / "a")), load_representation(saved(tmp_path / "b", seed=1))
    second = replace(second, X=type(second.X)(second.X.data, second.X.offsets, weak))
    for order in ([first, second], [second, first]):
        with pytest.warns(InsecureReleaseWarning, match=READABLE):
            pool = pool_representations(order)
        assert pool.origin == weak
        with pytest.raises(BundleError, match="an earlier version drew their noise"):
            save_representation(tmp_path / "c", pool.X, pool.y)


def test_calling_it_another_format_does_not_help(tmp_path):
    with pytest.raises(BundleError, match="states no noise that PrivateRepresenter draws"):
        load_representation(rewritten(tmp_path / "a", format=2))
    facts = json.loads((OLD / MANIFEST).read_text(encoding="utf-8"))["representation"]
    facts["origin"]["noise"] = dict(ORIGIN.noise)
    with pytest.raises(BundleError, match="do not lie on the grid"):
        load_representation(rewritten(tmp_path / "b", format=2, representation=facts))
    with pytest.raises(BundleError, match="newer than its format"):
        load_representation(rewritten(tmp_path / "c", representation=facts))
    with pytest.raises(BundleError, match="only the formats 1 and 2"):
        load_representation(rewritten(tmp_path / "d", format=3))


def test_new_folders_name_their_noise_and_load_without_a_warning(tmp_path):
    save_representation(tmp_path / "a", represented(), TAGS)
    manifest = json.loads((tmp_path / "a" / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["format"] == 2
    assert load_representation(tmp_path / "a").origin.noise["generator"] == "chacha20-256"
    with pytest.raises(BundleError, match="same grid of the noise"):
        coarser = replace(ORIGIN, noise={**ORIGIN.noise, "grid": 0.5})
        pool_representations([tmp_path / "a", saved(tmp_path / "b", seed=1, origin=coarser)])
