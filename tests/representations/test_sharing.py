"""Shared representations: nothing but what is meant to be shared, whole or refused."""

import os
import pickle
import shutil
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold

from sklearn_deid import (
    DeidTagger,
    PrivateRepresenter,
    WordVectors,
    load_representation,
    save_representation,
)
from sklearn_deid._randomness import to_grid
from sklearn_deid._storage import has_possible_times
from sklearn_deid.exceptions import BundleError, SequenceError, UnsafeToShareWarning
from sklearn_deid.sequences import TokenSequences, TokenVectors

from .saved_releases import ARRAYS, MANIFEST, ORIGIN, PATIENTS, TAGS, content, represented, saved

# --- round trips ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shuffle", [True, False])
def test_what_was_saved_is_loaded(tmp_path, shuffle, known_keys):
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
    data = to_grid(np.random.default_rng(0).normal(size=(11, 10)), 2.0**-20)
    data[:, 3:] = np.eye(7)[np.arange(11) % 7]
    R = TokenVectors(data, represented().offsets, origin)
    save_representation(tmp_path / "a", R, TAGS, shuffle=False)
    X = load_representation(tmp_path / "a").X
    assert (X.d, X.data.dtype) == (10, np.float32)
    assert np.array_equal(X.data, R.data.astype(np.float32))
    for d, casing in ((10, False), (3, True)):
        wrong = TokenVectors(np.zeros((11, d)), R.offsets, replace(ORIGIN, casing=casing))
        with pytest.raises(BundleError, match=f"have {d} columns, those of their representer {3 + 7 * casing}"):
            save_representation(tmp_path / "b", wrong, TAGS)


def test_a_mapped_file_can_be_saved_again(tmp_path):
    first = load_representation(saved(tmp_path / "a", groups=PATIENTS))
    save_representation(tmp_path / "b", first.X[:4], first.y[:4], first.groups[:4])
    again = load_representation(tmp_path / "b")
    assert content(again.X, again.y) == content(first.X[:4], first.y[:4])
    kept = pickle.loads(pickle.dumps(first))
    assert (kept.X, kept.y) == (first.X, first.y)


def test_zeros_of_a_folder_have_no_sign(tmp_path):
    """The sign of -0.0 told from which side a number was rounded; vectors of earlier versions can hold it."""
    R = represented()
    signed = TokenVectors(np.where(np.arange(R.data.size).reshape(R.data.shape) % 2, -0.0, R.data), R.offsets, ORIGIN)
    save_representation(tmp_path / "a", signed, TAGS, shuffle=False)
    released = load_representation(tmp_path / "a").X.data
    assert (released == signed.data).all() and (released == 0).any() and not np.signbit(released[released == 0]).any()


def test_a_tagger_learns_from_the_file(tmp_path):
    loaded = load_representation(saved(tmp_path / "a", y=[["B-PATIENT", "O"], ["O"]] * 8, groups=list("aabbccdd") * 2))
    tagger = DeidTagger(max_epochs=1, hidden_size=4, validation_fraction=None, random_state=0, device="cpu")
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


def test_the_times_tell_no_more_than_the_day(tmp_path):
    folder = saved(tmp_path / "a")
    times = {item.stat().st_mtime for item in (folder, *folder.iterdir())}
    assert len(times) == 1 and times.pop() % 86_400 == 0 and has_possible_times(folder)
    copied = shutil.copytree(folder, tmp_path / "b", copy_function=shutil.copyfile)
    assert has_possible_times(copied), "a copy has a time of its own"
    for seconds in (1_300_000_000, time.time() + 10 * 86_400):  # the date of a note; the future
        os.utime(copied / "manifest.json", (seconds, seconds))
        assert not has_possible_times(copied)


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


def test_the_order_does_not_tell_which_sentences_were_repeated(tmp_path):
    """The first of several copies was kept where it was, which is early in a random order: place 0.6 instead of 2.5."""
    rows, repeated = [0] * 9 + [1, 2, 3, 4, 5], represented()[0].tobytes()
    places = []
    for seed in range(60):
        save_representation(
            tmp_path / "a", represented()[rows], [TAGS[i] for i in rows], random_state=seed, overwrite=True
        )
        places.append([row.tobytes() for row in load_representation(tmp_path / "a").X].index(repeated))
    assert np.mean(places) == pytest.approx(2.5, abs=3 * np.sqrt(35 / 12 / 60))


def with_noise(**changed):
    return represented(origin=replace(ORIGIN, noise={**ORIGIN.noise, **changed}))


def with_casing(columns):
    """Numbers in the columns of the casing have no noise: they could hold the vectors themselves."""
    R = represented()
    return TokenVectors(np.hstack([R.data, columns]), R.offsets, replace(ORIGIN, casing=True))


def test_one_casing_class_for_each_token_is_shared(tmp_path):
    R = with_casing(np.eye(7, dtype=np.float32)[np.arange(11) % 7])
    save_representation(tmp_path / "a", R, TAGS)
    assert load_representation(tmp_path / "a").X.d == 10


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("R", "message"),
    [
        (represented(origin=None), "Only representations that PrivateRepresenter.transform returned"),
        ([[[0.0] * 3]], "Only representations that PrivateRepresenter.transform returned"),
        (represented(origin=replace(ORIGIN, public_embeddings=False)), "private notes.*pip install 'sklearn-deid"),
        (represented(origin=replace(ORIGIN, noise={"kind": "none"})), "they carry no noise"),
        (represented(origin=replace(ORIGIN, noise={"seeded": True})), "attacker who knows the seed.*random_state=None"),
        (with_noise(generator="seeded"), "attacker who knows the seed.*random_state=None"),
        (with_noise(generator="pcg64"), "an earlier version drew their noise.*Transform the notes again"),
        (represented(origin=replace(ORIGIN, noise={"kind": "trainable", "seeded": False})), "an earlier version drew"),
        (with_noise(law="Laplace"), "states no noise that PrivateRepresenter draws"),
        (with_noise(seeded=None), "states no noise that PrivateRepresenter draws"),
        (with_noise(grid=0.3), "states an invalid grid"),
        (with_noise(released_grid="fine"), "states an invalid grid"),
        (with_noise(released_grid=2.0**-19), "states a released grid other than the grid of its noise"),
        (TokenVectors(represented().data + 1e-7, represented().offsets, ORIGIN), "do not lie on the grid"),
        (with_noise(kind="silent"), "a dimension without noise"),
        (with_noise(smallest_std=0.0), "a dimension without noise"),
        (with_noise(smallest_std="1"), "a dimension without noise"),
        (with_casing(np.eye(11, 7, dtype=np.float32)), "hold something else than one class"),
        (with_casing(np.ones((11, 7), np.float32)), "hold something else than one class"),
        (with_casing(np.full((11, 7), 1 / 7, np.float32)), "hold something else than one class"),
        (with_casing(np.tile(np.float32([1, -1, 1, 0, 0, 0, 0]), (11, 1))), "hold something else than one class"),
        (with_casing(np.tile(np.float32([1, -0.0, 0, 0, 0, 0, 0]), (11, 1))), "hold something else than one class"),
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
        save_representation(tmp_path / "a", TokenVectors(data, represented().offsets, ORIGIN), TAGS)
    with pytest.raises(SequenceError, match="must hold floating point numbers"):
        save_representation(tmp_path / "a", TokenVectors(data.astype(object), represented().offsets, ORIGIN), TAGS)


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
        ({"noise": 1e-9, "training": "dann"}, "their noise is smaller than the finest grid allows"),
    ],
)
def test_what_a_representer_makes(tmp_path, parameters, message):
    words = ["alder", "birch", "maple", "dr", "pain"]
    vectors = WordVectors(words, np.random.default_rng(0).normal(size=(5, 4)), is_public=True)
    X, y = [["Dr", "Alder"], ["Maple"], ["Dr", "Birch"]] * 6, [["O", "B-DOCTOR"], ["B-DOCTOR"], ["O", "B-DOCTOR"]] * 6
    small = {"n_neighbors": 2, "n_components": 4, "max_epochs": 1, "hidden_size": 4, "device": "cpu"}
    small |= {"tagger_hidden_size": 4, **parameters}
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
    with pytest.raises(BundleError, match="does not state which representer made it"):
        save_representation(tmp_path / "b", representer.noise_free(X), y)
