"""Models that are broken or made to harm are refused: quickly, with a sentence, and without much memory."""

import json
import os
import resource
import time

import numpy as np
import pytest

from sklearn_deid import NoteDeidentifier, RecallTunedTagger, RuleTagger, load, save
from sklearn_deid import _storage as bundle_module
from sklearn_deid._storage import read_bundle, write_bundle
from sklearn_deid.cli import main
from sklearn_deid.exceptions import BundleError
from sklearn_deid.tagging import canary as canary_module
from sklearn_deid.tagging.canary import canary, canary_problem

from .conftest import X, Y, fit_small

MANIFEST, ARRAYS = "manifest.json", "arrays.safetensors"


def rewrite(bundle, change_arrays=None, change_manifest=None):
    """Change a bundle and write it with right digests."""
    manifest, arrays = read_bundle(bundle)
    manifest = {k: v for k, v in manifest.items() if k not in ("format", "arrays_sha256", "manifest_sha256")}
    if change_arrays is not None:
        change_arrays(arrays)
    if change_manifest is not None:
        change_manifest(manifest)
    write_bundle(bundle, manifest, arrays, overwrite=True)


def set_array(name, value):
    def change(arrays):
        arrays[name] = value(arrays[name])

    return change


def with_one(value):
    def change(array):
        array = array.copy()
        array.flat[-1] = value
        return array

    return change


BROKEN_WEIGHTS = {
    "one nan": (set_array("module.crf.transitions", with_one(np.nan)), "'module.crf.transitions' hold .* not finite"),
    "all nan": (set_array("module.emit.weight", lambda a: a * np.nan), "'module.emit.weight' hold .* not finite"),
    "infinite": (set_array("module.emit.bias", with_one(np.inf)), "'module.emit.bias' hold .* not finite"),
    "negative infinite": (set_array("module.emit.bias", with_one(-np.inf)), "not finite"),
    "over-large": (set_array("module.emit.weight", with_one(-3e38)), "hold a number above 1e.06"),
    "all zero": (set_array("module.emit.weight", np.zeros_like), "'module.emit.weight' are all zero"),
    "integers": (set_array("module.emit.weight", lambda a: a.astype(np.int64)), "of torch.float32. Got .* int64"),
    "doubles": (set_array("module.emit.weight", lambda a: a.astype(np.float64)), "of torch.float32. Got .* float64"),
    "another shape": (set_array("module.emit.weight", lambda a: a[:, :-1]), "must be .* of torch.float32. Got"),
    "unused": (lambda arrays: arrays.update({"module.extra": np.ones(3, np.float32)}), "'extra' .* no use"),
    "unused elsewhere": (lambda arrays: arrays.update({"other": np.ones(3, np.float32)}), "Nothing uses the array"),
    "missing": (lambda arrays: arrays.pop("module.emit.bias"), "'emit.bias' are missing"),
}


@pytest.mark.parametrize("name", BROKEN_WEIGHTS)
def test_broken_weights_are_refused_when_loaded(bundle, name):
    change, message = BROKEN_WEIGHTS[name]
    rewrite(bundle, change)
    with pytest.raises(BundleError, match=message):
        load(bundle)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_broken_weights_are_refused_when_saved(tmp_path, value):
    tagger = fit_small()
    tagger.module_.crf.transitions.data[0, 0] = float(value)
    for model in (tagger, NoteDeidentifier(tagger)):
        with pytest.raises(BundleError, match="'module.crf.transitions' hold .* train it anew"):
            save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["O"], "No class is a tag of PHI"),
        ([], "No class is a tag of PHI"),
        (["O", "B-CITY", "B-CITY"], "there twice"),
        (["O", "CITY"], "neither 'O' nor a tag"),
        (["O", 5], "neither 'O' nor a tag"),
        (["O", "B-<script>alert(1)</script>"], "control characters or markup"),
        (["O", "B-CITY\x1b[2J"], "control characters or markup"),
        (["O", *(f"B-L{i}" for i in range(100_000))], "more than 1000 classes"),
    ],
)
def test_classes_that_find_nothing_or_do_harm(bundle, classes, message):
    rewrite(bundle, change_manifest=lambda manifest: manifest["state"].update({"classes": classes}))
    with pytest.raises(BundleError, match=message):
        load(bundle)


def test_a_composite_is_looked_into(tmp_path):
    tuned = RecallTunedTagger(fit_small(), decision_bias=1.0).fit(X, Y)
    save(NoteDeidentifier(tuned), tmp_path / "m")
    rewrite(tmp_path / "m", set_array("0/0/module.emit.weight", with_one(np.nan)))
    with pytest.raises(BundleError, match="not finite"):
        load(tmp_path / "m")
    save(NoteDeidentifier(tuned), tmp_path / "n")
    rewrite(tmp_path / "n", lambda arrays: arrays.update({"1/module.emit.weight": np.ones(3, np.float32)}))
    with pytest.raises(BundleError, match="Nothing uses the array"):
        load(tmp_path / "n")


# ---- the canary


def test_the_canary_is_what_the_model_finds(saved, small):
    manifest, _ = read_bundle(saved)
    assert manifest["canary"] == canary(small)
    assert len(manifest["canary"]["tags"]) == len(manifest["canary"]["confidence"]) > 150


def test_a_model_that_finds_something_else_is_refused(bundle):
    rewrite(bundle, set_array("module.emit.weight", lambda a: -a))
    with pytest.raises(BundleError, match="built-in note .*than the saved one. Do not use it"):
        load(bundle)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m["canary"]["tags"].pop(), "are damaged"),
        (lambda m: m["canary"]["confidence"].__setitem__(0, None), "are damaged"),
        (lambda m: m.update({"canary": []}), "are damaged"),
        (lambda m: m.pop("canary"), "are damaged"),
        (lambda m: m["canary"].update({"confidence": None}), "in another way"),
        (lambda m: m["canary"].update({"confidence": [0.0] * len(m["canary"]["tags"])}), "other probabilities"),
    ],
)
def test_a_changed_or_missing_canary_is_refused(bundle, change, message):
    rewrite(bundle, change_manifest=change)
    with pytest.raises(BundleError, match=message):
        load(bundle)


def test_models_of_version_0_1_0_have_no_canary(bundle):
    rewrite(bundle, change_manifest=lambda m: (m.pop("canary"), m.update({"library_version": "0.1.0"})))
    assert load(bundle).predict(X)[0]


def test_taggers_of_all_kinds_have_a_canary(tmp_path):
    rows = [np.random.default_rng(i).normal(size=(n, 5)).astype(np.float32) for i, n in enumerate((3, 1, 4))]
    vectors = fit_small().set_params(max_epochs=1)
    vectors.fit(rows, [["O", "B-AGE", "O"], ["O"], ["B-AGE", "I-AGE", "O", "O"]])
    for number, model in enumerate((RuleTagger().fit([]), vectors, NoteDeidentifier(RuleTagger().fit([])))):
        save(model, tmp_path / str(number))
        assert "B-DATE" in read_bundle(tmp_path / str(number))[0]["canary"]["tags"] or number == 1
        load(tmp_path / str(number))


def test_the_tolerance_is_as_stated():
    tags, sure = ["O"] * 98 + ["B-A", "B-B"], [0.99] * 98 + [0.5, 0.9]
    saved = {"tags": tags, "confidence": sure}

    def problem(tags=tags, confidence=sure):
        return canary_problem(saved, {"tags": tags, "confidence": confidence})

    assert problem() is None
    assert problem(confidence=[c - 0.019 for c in sure]) is None
    assert problem(confidence=[*sure[:-1], 0.81]) is None
    assert problem(tags=[*tags[:-2], "O", "B-B"]) is None, "an unsure tag may change"
    assert "in another way" in problem(tags=[*tags[:-1], "O"]), "a sure tag may not"
    assert "other probabilities" in problem(confidence=[*sure[:-1], 0.79])
    assert "other probabilities" in problem(confidence=[c - 0.021 for c in sure])
    assert "other probabilities" in problem(confidence=[float("nan")] * 100)
    unsure = {"tags": tags, "confidence": [0.5] * 100}
    assert "in another way" in canary_problem(unsure, {**unsure, "tags": ["B-A"] * 3 + tags[3:]})


def test_the_note_of_the_canary_never_changes():
    from hashlib import sha256

    assert sha256(canary_module._NOTE.encode()).hexdigest()[:16] == NOTE_DIGEST


NOTE_DIGEST = "c6f445617effe58b"


# ---- files and sizes


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("name", [MANIFEST, ARRAYS])
@pytest.mark.parametrize("kind", ["pipe", "device", "link to a device", "folder"])
def test_only_regular_files_are_opened(bundle, name, kind):
    (bundle / name).unlink()
    if kind == "pipe":
        os.mkfifo(bundle / name)
    elif kind == "folder":
        (bundle / name).mkdir()
    else:
        (bundle / name).symlink_to("/dev/zero" if kind == "device" else "/dev/stdin")
    start, work = time.monotonic(), time.process_time()
    with pytest.raises(BundleError, match="is missing|no regular file"):
        load(bundle)
    # A busy machine may stop the test for seconds, which are no work.
    assert time.process_time() - work < 5 and time.monotonic() - start < 60


def test_a_link_to_a_regular_file_is_followed(bundle, tmp_path):
    os.replace(bundle / ARRAYS, tmp_path / "elsewhere")
    (bundle / ARRAYS).symlink_to(tmp_path / "elsewhere")
    assert load(bundle).predict(X)[0]


def test_huge_arrays_are_not_read(bundle):
    with (bundle / ARRAYS).open("rb+") as stream:
        stream.truncate(3 * 2**30)  # sparse: takes no space
    start = time.process_time()
    with pytest.raises(BundleError, match="take more than 2 GiB"):
        load(bundle)
    assert time.process_time() - start < 2


def hostile_states():
    """Changes of a manifest, with which building the network before comparing shapes would take hours or terabytes."""
    yield "layers", lambda m: m["state"]["parameters"].update({"n_layers": 10**6})
    yield "units", lambda m: m["state"]["parameters"].update({"hidden_size": 12_000})
    yield "more units", lambda m: m["state"]["parameters"].update({"hidden_size": 10**9})
    yield "far more units", lambda m: m["state"]["parameters"].update({"hidden_size": 10**30})
    yield "no units", lambda m: m["state"]["parameters"].update({"hidden_size": 0})
    yield "text", lambda m: m["state"]["parameters"].update({"hidden_size": "a" * 1000})
    yield "attention", lambda m: m["state"]["parameters"].update({"encoder": "transformer", "n_layers": 10**8})
    yield "width", lambda m: m["state"].update({"reads_words": False, "n_features_in": 10**12})
    yield "n-grams", lambda m: m["state"].update({"subwords": {"min_n": 1, "max_n": 10**9, "lower": True}})
    yield "depth", nested
    yield "many", lambda m: m.update({"class": "VotingTagger", "taggers": [{"class": "RuleTagger"}] * 10**5})


def nested(manifest):
    inner = {"class": "DeidTagger", "state": manifest["state"]}
    for _ in range(200):
        inner = {"class": "TemperatureScaledTagger", "state": {"temperature": 1, "labels": ["A"]}, "taggers": [inner]}
    manifest.update(inner)


@pytest.mark.parametrize("name", dict(hostile_states()))
def test_shapes_are_compared_before_anything_is_built(bundle, name):
    rewrite(bundle, change_manifest=dict(hostile_states())[name])
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(BundleError) as raised:
        load(bundle)
    assert time.process_time() - start < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024
    assert str(raised.value).count("\n") < 3


def test_a_manifest_of_many_values_is_not_parsed(bundle):
    (bundle / MANIFEST).write_bytes(b"[" + b"[]," * (10 * 2**20) + b"[]]")
    start = time.process_time()
    with pytest.raises(BundleError, match="holds more than 2,097,152 values"):
        load(bundle)
    assert time.process_time() - start < 2


def test_a_hundred_changed_bundles_load_as_saved_or_not_at_all(bundle, small):
    """Numbers, names and types anywhere in the manifest, with a right digest."""
    rng = np.random.default_rng(0)
    original = json.loads((bundle / MANIFEST).read_text(encoding="utf-8"))
    values = [None, -1, 10**12, 1e308, "", "x" * 9, [], {}, True, [[]], float("nan")]
    expected = small.predict(X).tolist()
    for _ in range(100):
        manifest = json.loads(json.dumps(original))
        place, key = manifest, "state"
        while isinstance(place[key], (dict, list)) and len(place[key]) and rng.random() < 0.8:
            place = place[key]
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = keys[rng.integers(len(keys))]
        place[key] = values[rng.integers(len(values))]
        manifest.pop("manifest_sha256")
        manifest["manifest_sha256"] = bundle_module._manifest_digest(manifest)
        (bundle / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
        try:
            found = load(bundle).predict(X).tolist()
        except BundleError:
            continue
        assert found == expected, f"{key} changed what is found"


def test_a_broken_model_redacts_nothing(bundle, tmp_path, monkeypatch, capsys):
    rewrite(bundle, set_array("module.crf.transitions", with_one(np.nan)))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("Mr Alder was seen", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["redact", "in", "--model", str(bundle), "--output", "out"]) == 2
    assert "not finite" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
