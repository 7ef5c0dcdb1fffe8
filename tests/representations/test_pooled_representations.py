"""Releases of several places in one pool: of one representer, each sentence once."""

from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid import (
    load_representation,
    pool_representations,
    save_representation,
)
from sklearn_deid.exceptions import BundleError
from sklearn_deid.sequences import TokenVectors

from .saved_releases import ORIGIN, PATIENTS, content, saved


def test_pool(tmp_path):
    bioes = [["B-CITY", "E-CITY"], ["O"]]
    a = saved(tmp_path / "a", groups=PATIENTS, audit={"T2": 0.5})
    b = load_representation(saved(tmp_path / "b", seed=1, groups=PATIENTS))
    pool = pool_representations([a, b])
    first = load_representation(a)
    assert pool.X == TokenVectors.concatenate([first.X, b.X])
    assert pool.y.tolist() == [*first.y.tolist(), *b.y.tolist()]
    assert pool.groups.tolist() == [*first.groups, *(b.groups + 3)]
    assert pool.origin == ORIGIN
    assert pool.manifest["n_groups"] == 6
    assert [file["audit"] for file in pool.manifest["files"]] == [{"T2": 0.5}, None]
    save_representation(tmp_path / "c", pool.X, pool.y, pool.groups)
    assert len(load_representation(tmp_path / "c")) == 11  # of the two empty sentences one stays
    assert content(pool_representations([pool]).X, pool.y) == content(pool.X, pool.y)
    only_o = saved(tmp_path / "d", seed=2, y=[["O"], ["O", "O"]])  # fits every scheme
    for others in ([only_o, a], [saved(tmp_path / "e", seed=3, y=bioes), only_o]):
        assert pool_representations(others).X.origin == ORIGIN


def test_one_file_stays_mapped(tmp_path):
    assert isinstance(pool_representations([saved(tmp_path / "a")]).X.data, np.memmap)


def test_patients_of_a_pool(tmp_path):
    a, b = saved(tmp_path / "a"), saved(tmp_path / "b", seed=1, groups=PATIENTS)
    assert pool_representations([a, saved(tmp_path / "c", seed=2)]).groups is None
    groups = pool_representations([a, b]).groups
    assert groups[:6].tolist() == [0] * 6
    assert sorted(np.unique(groups[6:])) == [1, 2, 3]
    part = load_representation(b)
    some = replace(part, X=part.X[part.groups > 0], y=part.y[part.groups > 0], groups=part.groups[part.groups > 0])
    assert sorted(np.unique(pool_representations([some, a]).groups)) == [0, 1, 2]


def test_origin_of_other_versions_may_be_pooled(tmp_path):
    a = saved(tmp_path / "a")
    b = saved(tmp_path / "b", seed=1, origin=replace(ORIGIN, library_version="0.2.0"))
    assert pool_representations([a, b]).origin == ORIGIN


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"origin": replace(ORIGIN, fingerprint="77aa")}, r"same representer \(fingerprint\).*'3f2a'.*'77aa'"),
        ({"origin": replace(ORIGIN, n_neighbors=10)}, "same number of neighbours N.*has 100.*has 10"),
        ({"y": [["S-CITY"]]}, "same tag scheme.*has 'iob2'.*has 'bioes'"),
        ({"y": [["B-CALLE"]]}, "same label scheme.*has 'i2b2-2014'.*has 'meddocan'"),
    ],
)
def test_files_that_do_not_belong_together(tmp_path, options, message):
    a, b = saved(tmp_path / "a"), saved(tmp_path / "b", seed=1)
    other = saved(tmp_path / "other", seed=2, **options)
    with pytest.raises(BundleError, match=message) as caught:
        pool_representations([a, b, other])
    assert f"number 1 ({a})" in str(caught.value)
    assert f"number 3 ({other})" in str(caught.value)
    with pytest.raises(BundleError, match=r"number 1 has .* number 2 \("):
        pool_representations([load_representation(a), other])


def test_files_of_another_width(tmp_path):
    a = saved(tmp_path / "a")
    for d, casing, message in ((4, False, "same dimension d"), (3, True, "same casing: .*has False.*has True")):
        origin = replace(ORIGIN, n_components=d, casing=casing)
        R = TokenVectors(np.hstack([np.ones((1, d)), np.eye(1, 7 * casing)]), [0, 1], origin)
        save_representation(tmp_path / f"{d}", R, [["O"]])
        with pytest.raises(BundleError, match=message):
            pool_representations([a, tmp_path / f"{d}"])


def test_the_same_release_twice(tmp_path):
    a = saved(tmp_path / "a")
    copied = tmp_path / "copied"
    copied.mkdir()
    for path in a.iterdir():
        (copied / path.name).write_bytes(path.read_bytes())
    shuffled = saved(tmp_path / "shuffled", groups=PATIENTS)
    for other in (a, copied, shuffled, load_representation(a)):
        with pytest.raises(BundleError, match="5 sentences of number 3.*are also in number 1.*the same release"):
            pool_representations([a, saved(tmp_path / "b", seed=1, overwrite=True), other])
    part = load_representation(a)
    with pytest.raises(BundleError, match="the same release"):
        pool_representations([a, replace(part, X=part.X[:4], y=part.y[:4])])


def test_nothing_to_pool(tmp_path):
    with pytest.raises(BundleError, match="the list is empty"):
        pool_representations([])
    a = saved(tmp_path / "a")
    for one in (a, str(a), load_representation(a)):
        with pytest.raises(BundleError, match="pass a list of paths"):
            pool_representations(one)
    loaded = load_representation(a)
    with pytest.raises(BundleError, match="which representer made number 1"):
        pool_representations([replace(loaded, X=TokenVectors(loaded.X.data, loaded.X.offsets))])
    with pytest.raises(BundleError, match="manifest.json is missing"):
        pool_representations([a, tmp_path / "nothing"])
