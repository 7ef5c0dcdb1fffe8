"""Bundles are whole or not there, and damage is noticed."""

import json
import os
import pickle
import re
import stat

import numpy as np
import pytest

from sklearn_deid import _storage as bundle_module
from sklearn_deid import load, save
from sklearn_deid._storage import check_bundle_target, read_bundle, write_bundle
from sklearn_deid.exceptions import BundleError

MANIFEST, ARRAYS = "manifest.json", "arrays.safetensors"


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_was_written_is_read(tmp_path):
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3).T, "b": np.zeros((0, 2), dtype=np.int64)}
    write_bundle(tmp_path / "deep" / "er", {"x": [1, None, "\u00e9"], "t": (1, 2), "d": {3: 4.5}}, arrays)
    manifest, loaded = read_bundle(tmp_path / "deep" / "er")
    assert {key: manifest[key] for key in "xtd"} == {"x": [1, None, "\u00e9"], "t": [1, 2], "d": {"3": 4.5}}
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(loaded[name], array)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_manifest_that_could_not_be_read_is_not_written(tmp_path, value):
    write_bundle(tmp_path / "a", {"x": 1}, {})
    with pytest.raises(BundleError, match="'manifest' must hold plain JSON values"):
        write_bundle(tmp_path / "a", {"x": [value]}, {}, overwrite=True)
    assert read_bundle(tmp_path / "a")[0]["x"] == 1


def test_any_changed_byte_of_the_manifest_is_noticed(tmp_path):
    bundle = tmp_path / "model"
    values = [None, True, 7, -0.5, 1e-05, 1e300, "", "Caf\u00e9 \\", [], {}]
    write_bundle(bundle, {"class": "A", "state": {"values": values}}, {"a": np.arange(3.0)})
    assert read_bundle(bundle)[0]["state"]["values"] == values
    data = (bundle / MANIFEST).read_bytes()
    for position in range(len(data)):
        (bundle / MANIFEST).write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        with pytest.raises(BundleError):
            read_bundle(bundle)


def test_any_changed_byte_of_the_arrays_is_noticed(bundle):
    data = (bundle / ARRAYS).read_bytes()
    for position in [*range(0, len(data), len(data) // 40), len(data) - 1]:
        (bundle / ARRAYS).write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        with pytest.raises(BundleError, match="differ from the arrays that were saved"):
            load(bundle)
    for other in (data[:-1], data + b"\0", b""):
        (bundle / ARRAYS).write_bytes(other)
        with pytest.raises(BundleError, match="differ from the arrays that were saved"):
            load(bundle)


def test_missing_files(bundle, tmp_path):
    for folder in (tmp_path / "nothing", tmp_path):
        with pytest.raises(BundleError, match="There is no saved model or representation"):
            load(folder)
    (bundle / ARRAYS).unlink()
    with pytest.raises(BundleError, match="arrays cannot be read"):
        load(bundle)
    (bundle / MANIFEST).unlink()
    with pytest.raises(BundleError, match="manifest.json is missing"):
        load(bundle)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"nonsense", b"[" * 100_000, b"1" * 5_000])
def test_manifest_that_is_no_json(bundle, content):
    (bundle / MANIFEST).write_bytes(content)
    with pytest.raises(BundleError, match="not valid JSON"):
        load(bundle)


@pytest.mark.parametrize("version", [0, 3, "1", None])
def test_other_versions_of_the_format(bundle, version):
    manifest = json.loads((bundle / MANIFEST).read_bytes())
    (bundle / MANIFEST).write_text(json.dumps({**manifest, "format": version}), encoding="utf-8")
    with pytest.raises(BundleError, match="only the formats 1"):
        load(bundle)
    (bundle / MANIFEST).write_text("[]", encoding="utf-8")
    with pytest.raises(BundleError, match="only the formats 1"):
        load(bundle)


def test_huge_manifest_is_not_read(bundle):
    with (bundle / MANIFEST).open("rb+") as stream:
        stream.truncate(65 * 2**20)  # sparse: takes no space
    with pytest.raises(BundleError, match="larger than 32 MiB"):
        load(bundle)


class Hostile:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


def test_pickles_are_not_touched(bundle, tmp_path, small):
    evil = pickle.dumps(Hostile(tmp_path / "executed"))
    for name in ("model.pkl", "pytorch_model.bin", "arrays.pt", "state.joblib", "data.pkl"):
        (bundle / name).write_bytes(evil)
    assert load(bundle).predict([["a"]])[0] == small.predict([["a"]])[0]
    manifest = json.loads((bundle / MANIFEST).read_bytes())
    (bundle / ARRAYS).write_bytes(evil)  # with the right digests
    manifest["arrays_sha256"] = bundle_module.file_digest(bundle / ARRAYS)
    del manifest["manifest_sha256"]
    manifest["manifest_sha256"] = bundle_module._manifest_digest(manifest)
    (bundle / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(BundleError, match="arrays cannot be read"):
        load(bundle)
    (bundle / MANIFEST).write_bytes(evil)
    with pytest.raises(BundleError):
        load(bundle)
    assert not (tmp_path / "executed").exists()


def test_existing_things_are_kept(bundle, small, tmp_path):
    before = snapshot(bundle)
    with pytest.raises(BundleError, match="The folder exists; pass overwrite=True"):
        save(small, bundle)
    assert snapshot(bundle) == before
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.txt").write_text("", encoding="utf-8")
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("folder", "file", "link"):
        with pytest.raises(BundleError, match="not a saved model or representation"):
            save(small, tmp_path / name, overwrite=True)
        with pytest.raises(BundleError, match="The folder exists"):
            check_bundle_target(tmp_path / name)
    assert (tmp_path / "folder" / "thesis.txt").exists()
    check_bundle_target(tmp_path / "free")
    check_bundle_target(bundle, overwrite=True)


def test_an_export_with_a_manifest_of_its_own_is_kept(tmp_path):
    """A folder with a manifest.json counted as a saved model, and overwrite=True deleted the notes in it."""
    export = tmp_path / "export"
    export.mkdir()
    (export / MANIFEST).write_text('{"transactionTime": "2026-01-01T00:00:00Z", "output": []}', encoding="utf-8")
    (export / "DocumentReference.ndjson").write_text("{}", encoding="utf-8")
    before = snapshot(export)
    with pytest.raises(BundleError, match="not a saved model or representation"):
        write_bundle(export, {"class": "Tagger"}, {}, overwrite=True)
    assert snapshot(export) == before


def test_overwriting_replaces_all_of_it(bundle, small):
    (bundle / "old.txt").write_text("", encoding="utf-8")
    save(small, bundle, overwrite=True)
    assert snapshot(bundle).keys() == {MANIFEST, ARRAYS}
    assert [path.name for path in bundle.parent.iterdir()] == ["model"]


def test_overwriting_through_a_link_keeps_the_link(bundle, small, tmp_path):
    (tmp_path / "current").symlink_to(bundle)
    save(small, tmp_path / "current", overwrite=True)
    assert (tmp_path / "current").is_symlink()
    assert load(bundle).predict([["a"]])[0]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_failure_while_writing_leaves_nothing(tmp_path, small, monkeypatch, error):
    def fail(*arguments):
        raise error

    for module, name in ((os, "replace"), (bundle_module, "_manifest_digest")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, fail)
            with pytest.raises(error):
                save(small, tmp_path / "model")
        assert list(tmp_path.iterdir()) == []


def test_failure_while_replacing_keeps_the_old_model(bundle, small, monkeypatch):
    before = snapshot(bundle)
    replace = os.replace

    def fail(source, target):
        if str(target) == str(bundle.resolve()) and not str(source).endswith("-old"):
            raise OSError("no")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no"):
        save(small, bundle, overwrite=True)
    assert snapshot(bundle) == before
    assert [path.name for path in bundle.parent.iterdir()] == ["model"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
@pytest.mark.parametrize(("umask", "folder", "file"), [(0o027, 0o750, 0o640), (0o077, 0o700, 0o600)])
def test_umask_says_who_may_read(tmp_path, small, umask, folder, file):
    before = os.umask(umask)
    try:
        save(small, tmp_path / "m")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == folder
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "m").iterdir()} == {file}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_killed_between_two_renames_loses_no_model(small, bundle, monkeypatch):
    def killed(source, target, replace=os.replace):
        return os._exit(9) if target == bundle.resolve() else replace(source, target)

    before = (bundle / "manifest.json").read_bytes()
    monkeypatch.setattr(os, "replace", killed)
    child = os.fork()
    if not child:
        save(small, bundle, overwrite=True)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    monkeypatch.undo()
    with pytest.raises(BundleError, match="A save was interrupted. The earlier version is in ") as caught:
        load(bundle)
    left = bundle.with_name(re.search(r"is in (\S+-old):", str(caught.value))[1])
    left.rename(bundle)
    assert (bundle / "manifest.json").read_bytes() == before
    load(bundle)
