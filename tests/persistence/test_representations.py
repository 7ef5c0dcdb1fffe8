"""Shared representations: nothing but what is meant to be shared, whole or refused."""

import json
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save
from sklearn.model_selection import GroupKFold

from sklearn_deid import (
    DeidTagger,
    PrivateRepresenter,
    WordVectors,
    load_model,
    load_representation,
    pool_representations,
    save_representation,
)
from sklearn_deid import _bundle as bundle_module
from sklearn_deid._sequences import Representation, RepresentationOrigin, TokenSequences
from sklearn_deid.exceptions import BundleError, SequenceError, UnsafeToShareWarning

MANIFEST, ARRAYS = "manifest.json", "arrays.safetensors"
ORIGIN = RepresentationOrigin(
    fingerprint="3f2a",
    n_components=3,
    n_neighbors=100,
    noise={"kind": "trainable", "mean_std": 1.25, "seeded": False},
    casing=False,
    public_embeddings=True,
    library_version="0.1.0",
    settings={"training": "bounded"},
)
LENGTHS = [3, 0, 1, 4, 2, 1]
TAGS = [["O", "B-PATIENT", "I-PATIENT"], [], ["B-DATE"], ["O"] * 4, ["O", "B-CITY"], ["O"]]
PATIENTS = ["Alder-77", "Alder-77", "Birch-12", "Alder-77", "Maple-90", "Birch-12"]


def represented(seed=0, lengths=LENGTHS, origin=ORIGIN):
    data = np.random.default_rng(seed).normal(size=(sum(lengths), 3)).astype(np.float32)
    return Representation(data, np.cumsum([0, *lengths]), origin)


def saved(path, seed=0, y=TAGS, groups=None, origin=ORIGIN, **options):
    save_representation(path, represented(seed, [len(row) for row in y], origin), y, groups, **options)
    return path


def content(X, y, groups=None):
    """What each sentence says, whatever their order."""
    groups = [None] * len(X) if groups is None else groups
    return sorted((row.tobytes(), tuple(tags), group) for row, tags, group in zip(X, y, groups, strict=True))


def manifest_of(folder):
    return json.loads((folder / MANIFEST).read_bytes())


def forge(folder, change_manifest=None, arrays=None, header=None):
    """Change a folder as one could who knows how digests are made."""
    manifest = manifest_of(folder)
    if change_manifest is not None:
        change_manifest(manifest["representation"])
    if arrays is not None:
        (folder / ARRAYS).write_bytes(arrays if isinstance(arrays, bytes) else save(arrays))
    if header is not None:
        data = (folder / ARRAYS).read_bytes()
        length = int.from_bytes(data[:8], "little")
        entries = json.loads(data[8 : 8 + length])
        text = json.dumps(header(entries) or entries).encode()
        text += b" " * (-len(text) % 8)
        (folder / ARRAYS).write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])
    manifest["arrays_sha256"] = bundle_module._file_digest(folder / ARRAYS)
    del manifest["manifest_sha256"]
    manifest["manifest_sha256"] = bundle_module._manifest_digest(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


# --- round trips ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shuffle", [True, False])
def test_what_was_saved_is_loaded(tmp_path, shuffle):
    loaded = load_representation(saved(tmp_path / "a", shuffle=shuffle, audit={"T2": {"accuracy": 0.51}}))
    assert content(loaded.X, loaded.y) == content(represented(), TAGS)
    assert (loaded.X == represented()) == (not shuffle)
    assert (loaded.origin, loaded.groups, loaded.audit) == (ORIGIN, None, {"T2": {"accuracy": 0.51}})
    assert isinstance(loaded.y, TokenSequences)
    assert len(loaded) == 6
    assert repr(loaded) == "SharedRepresentation(n=6, tokens=11, d=3, patients=unknown)"
    assert {key: loaded.manifest[key] for key in ("n_sentences", "n_tokens", "d", "shuffled", "tags")} == {
        "n_sentences": 6,
        "n_tokens": 11,
        "d": 3,
        "shuffled": shuffle,
        "tags": ["O", "B-CITY", "B-DATE", "B-PATIENT", "I-PATIENT"],
    }
    assert (loaded.manifest["tag_scheme"], loaded.manifest["label_scheme"]) == ("iob2", "i2b2-2014")


def test_vectors_stay_in_the_file(tmp_path):
    X = load_representation(saved(tmp_path / "a")).X
    for part in (X, X[:], X[2:5]):
        assert isinstance(part.data, np.memmap)
        assert np.shares_memory(part.data, X.data)
    assert not X.data.flags.writeable
    assert X[:].origin == ORIGIN


@given(st.lists(st.lists(st.sampled_from(["O", "B-A", "I-A", "S-B"]), max_size=3), max_size=6), st.booleans())
@settings(max_examples=30, deadline=None)
def test_any_sentences(tmp_path_factory, y, shuffle):
    folder = saved(tmp_path_factory.mktemp("any") / "a", y=y, shuffle=shuffle)
    loaded = load_representation(folder)
    wanted = dict.fromkeys(content(represented(0, [len(row) for row in y]), y))  # empty sentences are all the same
    assert content(loaded.X, loaded.y) == sorted(wanted)


def test_wider_vectors_and_other_numbers(tmp_path):
    origin = replace(ORIGIN, casing=True)
    R = Representation(np.random.default_rng(0).normal(size=(11, 10)), represented().offsets, origin)
    save_representation(tmp_path / "a", R, TAGS, shuffle=False)
    X = load_representation(tmp_path / "a").X
    assert (X.d, X.data.dtype) == (10, np.float32)
    assert np.array_equal(X.data, R.data.astype(np.float32))
    for d, casing in ((10, False), (3, True)):
        wrong = Representation(np.zeros((11, d)), R.offsets, replace(ORIGIN, casing=casing))
        with pytest.raises(BundleError, match=f"have {d} columns, those of their representer {3 + 7 * casing}"):
            save_representation(tmp_path / "b", wrong, TAGS)


def test_a_mapped_file_can_be_saved_again(tmp_path):
    first = load_representation(saved(tmp_path / "a", groups=PATIENTS))
    save_representation(tmp_path / "b", first.X[:4], first.y[:4], first.groups[:4])
    again = load_representation(tmp_path / "b")
    assert content(again.X, again.y) == content(first.X[:4], first.y[:4])
    kept = pickle.loads(pickle.dumps(first))
    assert (kept.X, kept.y) == (first.X, first.y)


def test_a_tagger_learns_from_the_file(tmp_path):
    loaded = load_representation(saved(tmp_path / "a", y=[["B-PATIENT", "O"], ["O"]] * 8, groups=list("abcd") * 4))
    tagger = DeidTagger(max_epochs=1, hidden_size=4, train_split=None, random_state=0, device="cpu")
    for train, test in GroupKFold(2).split(loaded.X, groups=loaded.groups):
        tagger.fit(loaded.X[train], loaded.y[train], groups=loaded.groups[train])
        assert [len(tags) for tags in tagger.predict(loaded.X[test])] == loaded.X[test].lengths.tolist()


# --- what is in the file, and what is not -----------------------------------------------------------------------------


def test_no_patient_id_is_written(tmp_path):
    folder = saved(tmp_path / "a", groups=PATIENTS)
    everything = (folder / MANIFEST).read_bytes() + (folder / ARRAYS).read_bytes()
    assert not [patient for patient in PATIENTS if patient.split("-")[0].encode() in everything]
    assert {path.name for path in folder.iterdir()} == {MANIFEST, ARRAYS}
    loaded = load_representation(folder)
    assert sorted(np.unique(loaded.groups)) == [0, 1, 2]
    # The numbers still say who belongs together.
    patient_of = {row.tobytes(): patient for row, patient in zip(represented(), PATIENTS, strict=True) if len(row)}
    pairs = {
        (patient_of[row.tobytes()], g) for row, g in zip(loaded.X, loaded.groups.tolist(), strict=True) if len(row)
    }
    assert len(pairs) == 3


def test_numbers_of_patients_and_order_are_random(tmp_path):
    y = [["O"]] * 40
    for options in ({}, {"random_state": 1}):
        first, second = (
            load_representation(saved(tmp_path / f"{name}{len(options)}", y=y, groups=range(40), **options))
            for name in "ab"
        )
        same = bool(options)
        assert (first.X == second.X) == same
        assert (first.groups.tolist() == second.groups.tolist()) == same
        assert first.X != represented(0, [1] * 40)
    fixed = load_representation(saved(tmp_path / "c", y=y, groups=range(40), shuffle=False))
    assert fixed.X == represented(0, [1] * 40)
    assert fixed.groups.tolist() != list(range(40))
    assert sorted(fixed.groups.tolist()) == list(range(40))


def test_the_global_generator_is_left_alone(tmp_path):
    np.random.seed(0)
    before = np.random.get_state()[1].tolist()
    saved(tmp_path / "a", groups=PATIENTS)
    assert np.random.get_state()[1].tolist() == before


def test_a_release_is_written_once(tmp_path):
    R, y = represented()[[0, 2, 0, 2, 1, 1, 0]], [TAGS[0], TAGS[2], TAGS[0], ["O"], [], [], TAGS[0]]
    save_representation(tmp_path / "a", R, y, groups=list("abcdefg"))
    loaded = load_representation(tmp_path / "a")
    assert content(loaded.X, loaded.y) == content(R[[0, 1, 3, 4]], [y[i] for i in (0, 1, 3, 4)])
    assert loaded.manifest["n_duplicates_removed"] == 3
    assert sorted(loaded.groups.tolist()) == [0, 1, 2, 3]


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("R", "message"),
    [
        (represented(origin=None), "Only representations that PrivateRepresenter.transform returned"),
        ([[[0.0] * 3]], "Only representations that PrivateRepresenter.transform returned"),
        (represented(origin=replace(ORIGIN, public_embeddings=False)), "private notes.*pip install 'sklearn-deid"),
        (represented(origin=replace(ORIGIN, noise={"kind": "none"})), "they carry no noise"),
        (represented(origin=replace(ORIGIN, noise={"seeded": True})), "who knows the seed.*random_state=None"),
    ],
)
def test_what_must_not_be_shared(tmp_path, R, message):
    with pytest.raises(BundleError, match=message):
        save_representation(tmp_path / "a", R, TAGS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"y": TAGS[:-1]}, SequenceError, "X has 6 sentences, y has 5"),
        ({"y": [*TAGS[:-1], ["O", "O"]]}, SequenceError, "the first is row 5: 1 tokens, 2 tags"),
        ({"y": None}, SequenceError, "y is required"),
        ({"y": [*TAGS[:-1], ["Ada"]]}, SequenceError, "A tag must be"),
        ({"groups": PATIENTS[:-1]}, SequenceError, "one patient id for each of 6 sentences"),
        ({"audit": {"T2": np.nan}}, BundleError, "'audit' must hold plain JSON"),
        ({"audit": {"T2": object()}}, BundleError, "'audit' must hold plain JSON"),
    ],
)
def test_arguments_that_do_not_fit(tmp_path, arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        save_representation(tmp_path / "a", represented(), **{"y": TAGS, **arguments})
    assert "Ada" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_numbers_that_are_none(tmp_path, value):
    data = np.zeros((11, 3))
    data[10, 2] = value
    with pytest.raises(SequenceError, match="R holds NaN or infinity"):
        save_representation(tmp_path / "a", Representation(data, represented().offsets, ORIGIN), TAGS)
    with pytest.raises(SequenceError, match="must hold floating point numbers"):
        save_representation(tmp_path / "a", Representation(data.astype(object), represented().offsets, ORIGIN), TAGS)


def test_what_is_there_is_kept(tmp_path):
    folder = saved(tmp_path / "a")
    with pytest.raises(BundleError, match="pass overwrite=True"):
        saved(folder, seed=1)
    assert content(load_representation(folder).X, TAGS)[0][0] in [row.tobytes() for row in represented()]
    saved(folder, seed=1, overwrite=True, shuffle=False)
    assert load_representation(folder).X == represented(1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, None),
        ({"random_state": 0}, "who knows the seed"),
        ({"noise": None, "training": "dann"}, "they carry no noise"),
    ],
)
def test_what_a_representer_makes(tmp_path, parameters, message):
    words = ["alder", "birch", "maple", "dr", "pain"]
    vectors = WordVectors(words, np.random.default_rng(0).normal(size=(5, 4)), is_public=True)
    X, y = [["Dr", "Alder"], ["Maple"], ["Dr", "Birch"]] * 6, [["O", "B-DOCTOR"], ["B-DOCTOR"], ["O", "B-DOCTOR"]] * 6
    small = {"n_neighbors": 2, "n_components": 4, "max_epochs": 1, "hidden_size": 4, "device": "cpu", **parameters}
    with warnings.catch_warnings():
        # Without a seed an adversary of one epoch is sometimes too weak, and fit says so.
        warnings.simplefilter("ignore", UnsafeToShareWarning)
        representer = PrivateRepresenter(embeddings=vectors, **small).fit(X, y)
    R = representer.transform(X)
    if message:
        with pytest.raises(BundleError, match=message):
            save_representation(tmp_path / "a", R, y)
        return
    save_representation(tmp_path / "a", R, y)
    loaded = load_representation(tmp_path / "a")
    assert len(loaded) == 3  # equal sentences of one call are one release
    assert loaded.origin.fingerprint == representer.fingerprint_
    with pytest.raises(BundleError, match="does not know who made it"):
        save_representation(tmp_path / "b", representer.noise_free(X), y)


# --- files of strangers -----------------------------------------------------------------------------------------------


def test_other_folders(tmp_path):
    with pytest.raises(BundleError, match="nor a representation: manifest.json is missing"):
        load_representation(tmp_path / "nothing")
    with pytest.raises(BundleError, match="class that this version does not know"):
        load_model(saved(tmp_path / "a"))
    bundle_module.write_bundle(tmp_path / "b", {"class": "DeidTagger"}, {})
    with pytest.raises(BundleError, match="something else than a representation"):
        load_representation(tmp_path / "b")


def test_files_of_two_folders(tmp_path):
    a, b = saved(tmp_path / "a"), saved(tmp_path / "b", seed=1)
    (a / ARRAYS).write_bytes((b / ARRAYS).read_bytes())
    with pytest.raises(BundleError, match="not those that were saved with the manifest"):
        load_representation(a)
    (a / ARRAYS).unlink()
    with pytest.raises(BundleError, match="arrays cannot be read"):
        load_representation(a)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A saved folder, its bytes, and what it says."""
    folder = saved(tmp_path_factory.mktemp("whole") / "a", groups=PATIENTS, audit={"T2": 0.5})
    loaded = load_representation(folder)
    facts = content(loaded.X, loaded.y, loaded.groups), loaded.manifest
    return folder, {name: (folder / name).read_bytes() for name in (MANIFEST, ARRAYS)}, facts


@st.composite
def damaged(draw, data):
    """The bytes cut short, with some of them changed, or with others put in."""
    if draw(st.booleans()):
        return data[: draw(st.integers(0, len(data) - 1))]
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        position, value = draw(st.integers(0, len(data) - 1)), draw(st.integers(0, 255))
        if draw(st.booleans()):
            changed[position] = value
        else:
            changed.insert(position, value)
    return bytes(changed)


@pytest.mark.parametrize("name", [MANIFEST, ARRAYS])
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_damage_never_goes_unnoticed(whole, name, data):
    folder, files, facts = whole
    try:
        (folder / name).write_bytes(data.draw(damaged(files[name])))
        loaded = load_representation(folder)
        assert (content(loaded.X, loaded.y, loaded.groups), loaded.manifest) == facts  # such as a changed line break
    except BundleError as error:
        assert error.path == str(folder)
    finally:
        (folder / name).write_bytes(files[name])


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_forged_arrays_are_refused_or_sound(whole, data):
    """With the right digests: what loads then is at least a representation with tags."""
    folder, files, _ = whole
    try:
        forge(folder, arrays=data.draw(damaged(files[ARRAYS])))
        loaded = load_representation(folder)
        assert np.isfinite(loaded.X.data).all()
        assert (loaded.y.lengths == loaded.X.lengths).all()
        assert loaded.groups.shape == (6,)
        assert set(loaded.y.data) <= set(loaded.manifest["tags"])
    except BundleError as error:
        assert error.path == str(folder)
    finally:
        for name, content_of in files.items():
            (folder / name).write_bytes(content_of)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FACTS = [
    *("n_sentences", "n_tokens", "d", "n_groups", "n_duplicates_removed", "shuffled"),
    *("tags", "tag_scheme", "label_scheme", "origin", "new"),
]


@given(key=st.sampled_from(FACTS), value=json_values, inside=st.sampled_from([None, *ORIGIN.to_dict(), "new"]))
@settings(max_examples=150, deadline=None)
def test_forged_manifests_are_refused_or_sound(whole, key, value, inside):
    folder, files, _ = whole

    def change(facts):
        if inside is None:
            facts[key] = value
        else:
            facts["origin"][inside] = value

    try:
        forge(folder, change)
        loaded = load_representation(folder)
        assert isinstance(loaded.origin, RepresentationOrigin)
        assert loaded.X.shape == (6,)
    except BundleError as error:
        assert error.path == str(folder)
    finally:
        (folder / MANIFEST).write_bytes(files[MANIFEST])


def changed(**arrays):
    """A forged array in the place of one that is there; None takes it away."""

    def change(folder):
        found = {**load_file(folder / ARRAYS), **arrays}
        forge(folder, arrays={name: array for name, array in found.items() if array is not None})

    return change


def in_header(name, **entry):
    return lambda folder: forge(folder, header=lambda entries: entries[name].update(entry))


def in_manifest(**values):
    return lambda folder: forge(folder, lambda facts: facts.update(values))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed(offsets=np.array([0, 5, 3, 4, 8, 10, 11])), "borders of the sentences decrease"),
        (changed(offsets=np.array([0, 3, 3, 4, 8, 10, 12])), "do not fit the vectors"),
        (changed(offsets=np.array([-1, 3, 3, 4, 8, 10, 11])), "do not fit the vectors"),
        (changed(offsets=np.array([0, 2**63 - 1, -(2**63), 4, 8, 10, 11])), "borders of the sentences decrease"),
        (changed(offsets=np.array([0, 11])), "not those that the manifest describes"),
        (changed(tags=np.full(11, 5, dtype=np.uint16)), "a number that the manifest does not name"),
        (changed(tags=np.zeros(11, dtype=np.int64)), "of other types"),
        (changed(tags=np.zeros(11, dtype=np.float32)), "of other types"),
        (changed(tags=np.zeros(11, dtype=np.float64)), "must be of the types F32, I64, U16"),
        (changed(groups=np.array([0, 0, 0, 1, 1, 3])), "not consecutive"),
        (changed(groups=np.full(6, -1)), "not consecutive"),
        (changed(groups=None), "not those that the manifest describes"),
        (changed(notes=np.zeros(3, dtype=np.int64)), "not those that the manifest describes"),
        (changed(vectors=np.full((11, 3), np.nan, dtype=np.float32)), "NaN or infinity"),
        (changed(vectors=np.full((11, 3), -np.inf, dtype=np.float32)), "NaN or infinity"),
        (changed(vectors=np.zeros((11, 3))), "must be of the types"),
        (changed(vectors=np.zeros((3, 11), dtype=np.float32)), "not those that the manifest describes"),
        (changed(vectors=np.zeros((11, 3, 1), dtype=np.float32)), "a shape that cannot be"),
        (in_header("vectors", shape=[11, 2**62]), "a shape that cannot be"),
        (in_header("vectors", shape=[11, -3]), "a shape that cannot be"),
        (in_header("vectors", shape=[11, True]), "a shape that cannot be"),
        (in_header("vectors", shape=[11, 4]), "a shape and a place that do not fit"),
        (in_header("vectors", shape=33), "a shape that cannot be"),
        (in_header("vectors", dtype=["F32"]), "must be of the types"),
        (in_header("vectors", dtype="O"), "must be of the types"),
        (in_header("vectors", data_offsets=[0, 2**40]), "a place that is not in the file"),
        (in_header("vectors", data_offsets=[0, 132]), "overlap, or leave gaps"),
        (in_header("vectors", note="x"), "describes no array"),
        (lambda f: forge(f, header=lambda e: {"__metadata__": {"note": "x"}, **e}), "describes no array"),
        (lambda f: forge(f, header=lambda e: [e]), "does not name any"),
        (lambda f: forge(f, header=lambda e: {k: v for k, v in e.items() if k != "tags"}), "longer or shorter|gaps"),
        (lambda f: forge(f, arrays=b""), "no header of a possible length"),
        (lambda f: forge(f, arrays=b"\xff" * 8), "no header of a possible length"),
        (lambda f: forge(f, arrays=(4).to_bytes(8, "little") + b"nope"), "header of the arrays is no JSON"),
        (lambda f: forge(f, arrays=(2).to_bytes(8, "little") + b"{}"), "not those that the manifest describes"),
        (lambda f: forge(f, arrays=(f / ARRAYS).read_bytes() + b"\0"), "longer or shorter than its header says"),
        (in_manifest(n_sentences=7), "not those that the manifest describes"),
        (in_manifest(n_tokens=11.0), "a count that is none"),
        (in_manifest(d=0), "a count that is none"),
        (in_manifest(n_groups=-1), "a count that is none"),
        (in_manifest(n_groups=2), "not consecutive"),
        (in_manifest(tags=["O", "O"]), "names a tag twice"),
        (in_manifest(tags=["O", "B-A", "B-B", "B-C", 3]), "names a tag twice, or one that is none"),
        (in_manifest(tags=["O", "B-A", "B-B", "B-C", "Ada"]), "names a tag that is none"),
        (in_manifest(tags=["O", "B-A", "B-B", "B-C", ["O"]]), "names a tag that is none"),
        (in_manifest(tags=["O"]), "a number that the manifest does not name"),
        (in_manifest(tag_scheme="bioes"), "a tag scheme that is not that of its tags"),
        (in_manifest(origin=None), "does not say who made"),
        (in_manifest(origin={**ORIGIN.to_dict(), "n_components": 4}), "3 columns, those of their representer 4"),
        (in_manifest(origin={**ORIGIN.to_dict(), "n_components": "4"}), "'n_components' of an origin must be"),
        (in_manifest(text="x"), "something else than this version writes"),
    ],
)
def test_what_a_forger_could_write(tmp_path, change, message):
    folder = saved(tmp_path / "a", groups=PATIENTS)
    change(folder)
    with pytest.raises(BundleError, match=message) as caught:
        load_representation(folder)
    assert caught.value.path == str(folder)
    assert "Ada" not in str(caught.value)


def test_forging_itself_changes_nothing(tmp_path):
    folder = saved(tmp_path / "a", groups=PATIENTS)
    before = content(load_representation(folder).X, load_representation(folder).y)
    changed()(folder)
    in_header("vectors")(folder)
    in_manifest()(folder)
    assert content(load_representation(folder).X, load_representation(folder).y) == before


def test_numbers_between_their_places(tmp_path):
    """A header of another length puts the arrays where processors do not like to read them."""
    folder = saved(tmp_path / "a")
    data = (folder / ARRAYS).read_bytes()
    length = int.from_bytes(data[:8], "little")
    forge(folder, arrays=(length + 1).to_bytes(8, "little") + data[8 : 8 + length] + b" " + data[8 + length :])
    with pytest.raises(BundleError, match="does not start at a multiple"):
        load_representation(folder)


# --- pooling ----------------------------------------------------------------------------------------------------------


def test_pool(tmp_path):
    bioes = [["B-CITY", "E-CITY"], ["O"]]
    a = saved(tmp_path / "a", groups=PATIENTS, audit={"T2": 0.5})
    b = load_representation(saved(tmp_path / "b", seed=1, groups=PATIENTS))
    pool = pool_representations([a, b])
    first = load_representation(a)
    assert pool.X == Representation.concatenate([first.X, b.X])
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
        R = Representation(np.ones((1, d + 7 * casing)), [0, 1], origin)
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
        pool_representations([replace(loaded, X=Representation(loaded.X.data, loaded.X.offsets))])
    with pytest.raises(BundleError, match="manifest.json is missing"):
        pool_representations([a, tmp_path / "nothing"])
