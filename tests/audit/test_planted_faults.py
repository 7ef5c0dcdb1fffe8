"""Faults planted into estimators, saved folders and exchanges are named; intact releases are not."""

import copy
import random
import shutil
import warnings
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.planted_faults import (
    FAULTS,
    Audited,
    Scene,
    audit,
    is_named,
    less_noise,
    noisy,
    positions,
    rewrite,
    with_transform,
)
from sklearn_deid import (
    DeidTagger,
    DSSGDEnsemble,
    GaussianNoisePerturber,
    NeighborPseudonymizer,
    PrivateRepresenter,
    SurrogatePseudonymizer,
    load_representation,
    save,
    save_representation,
)
from sklearn_deid._storage import read_bundle, write_bundle
from sklearn_deid.audit.attacks import NoiseAttack, SeedSearch
from sklearn_deid.audit.registry import named_attacks
from sklearn_deid.audit.releases.matched_file import matched_notes
from sklearn_deid.exceptions import AttackError, BundleError, SequenceError, UnsafeToShareWarning
from sklearn_deid.representations import Bounded, ThreePart, WordClassRepresenter
from sklearn_deid.sequences import TokenSequences, TokenVectors
from sklearn_deid.text import casing_ids

from ..representations.test_private_representer import TINY, VECTORS
from .audited_toys import TAGGER, audited_sentences, auditor

# Attacks that name the faults, and find none in intact releases, without the slow ones of "quick".
CHECKS = {
    "estimator": ["bound", "noise", "replay", "seeds"],
    "folder": ["file", "noise", "seeds"],
    "text": ["kept_tokens"],
    "surrogates": ["drawn_surrogates"],
    "exchange": "quick",
}


@contextmanager
def fixed_keys():
    """Releases of this process have other keys each, the same in every run.

    The noise check alarms on intact noise at its nominal rate of .002; benchmarks/planted_faults.py measures the rate.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sklearn_deid._randomness.secrets", SimpleNamespace(randbits=random.Random(0).getrandbits))
        yield


@pytest.fixture(autouse=True)
def keys():
    with fixed_keys():
        yield


@pytest.fixture(scope="module")
def data():
    """Longer sentences, put together from short ones at random: length, tags and casing tell most of them apart."""
    X, y, _ = audited_sentences()
    rng = np.random.default_rng(0)
    rows = np.split(rng.permutation(len(X)), np.cumsum(rng.integers(3, 8, 110)))
    together = [
        TokenSequences.from_rows([[item for i in row for item in part[int(i)]] for row in rows if len(row)])
        for part in (X, y)
    ]
    return (*together, np.array([f"patient-{i % 36}" for i in range(len(together[0]))]))


def fitted_private(data, **more):
    """A representer without a seed, whose noise is about as large as its means."""
    unbounded = Bounded(max_attack_accuracy=1.0 - 1e-9, quantile_attack_accuracy=None)
    options = {"n_components": 8, "max_epochs": 3, "lr": 1e-2, "noise": 0.5, "training": unbounded, **more}
    return copy.deepcopy(PrivateRepresenter(**{**TINY, **options}).fit(*data))  # a copy has no seed


@pytest.fixture(scope="module")
def private(data):
    """Function that returns a representer of given parameters, which is fitted once. Do not change it."""
    fitted = {}

    def of(**more):
        if repr(more) not in fitted:
            fitted[repr(more)] = fitted_private(data, **more)
        return fitted[repr(more)]

    return of


@pytest.fixture(scope="module")
def representer(private):
    return private()


@pytest.fixture(scope="module")
def scene(representer, private, data):
    X, y, groups = data
    tagger = DeidTagger(**TAGGER)
    ensemble = DSSGDEnsemble(tagger, strategy="dssgd", n_workers=3, n_epochs=2, keep_exchange=True)
    ensemble.fit(X, y, groups=groups)
    return Scene(representer, X, y, groups, ensemble, private(casing=False))


def with_rare_words(scene):
    """Every tenth token is a word that occurs once: 16 of 2,400 tokens would be too few for a finding."""
    words = scene.X.data.astype(object)
    words[::10] = [f"rare{i}" for i in range(len(words[::10]))]
    return Scene(scene.representer, TokenSequences(words, scene.X.offsets), scene.y, scene.groups)


def check_of(name, audited):
    """The one check that names a fault."""
    if isinstance(audited.released, DSSGDEnsemble):
        return CHECKS["exchange"]
    if isinstance(audited.released, (NeighborPseudonymizer, SurrogatePseudonymizer)):
        return CHECKS["text" if isinstance(audited.released, NeighborPseudonymizer) else "surrogates"]
    own = {"replay": "replay", "some_calls": "replay", "bound_of_more_noise": "bound", "seeded_release": "seeds"}
    is_estimator = isinstance(audited.released, (GaussianNoisePerturber, PrivateRepresenter))
    return [own.get(name, "noise" if is_estimator else "file")]


def test_the_checks_are_quick():
    for kinds, names in ((["representation"], CHECKS["estimator"]), (["representation", "file"], CHECKS["folder"])):
        assert set(names) <= {name for name, _ in named_attacks("quick", kinds)}


# These sentences are too few for a shift of half a standard deviation; `test_casing_lengths` plants a larger one. None
# of them is there twice; the next test repeats them. Hardly any has thirty tokens; the test behind it has earlier ones.
# Faults of few words and rare numbers need more notes; `test_drawn_surrogates` and `test_noise_steps` have them. Word
# classes need more words; `test_class_folders` has them. `test_new_processes` has the generator of a module.
# `test_noise_by_property` has an ordered property of few tokens.
OF_MORE_NOTES = (
    *("casing", "copies_drawn_anew", "late_tokens", "words_of_a_label", "long_words", "noise_cut_off"),
    *("order_of_classes", "module_generator", "long_words_with_less_noise"),
)


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in OF_MORE_NOTES])
def test_planted_faults_are_named(name, scene, tmp_path, monkeypatch):
    if name == "seeded_release":
        monkeypatch.setitem(SeedSearch.__init__.__kwdefaults__, "n_seeds", 4096)
    if name == "rare_words":
        scene = with_rare_words(scene)
    planted = FAULTS[name](scene, tmp_path / "release")
    report, _ = audit(planted, attacks=check_of(name, planted))
    assert is_named(planted, report.blocking_issues), report.blocking_issues
    assert report.score == 0.0 and not report.passed(0.01)


def test_equal_sentences_with_unequal_vectors_are_named(scene):
    twice = np.repeat(np.arange(len(scene.X)), 2)
    again = Scene(scene.representer, scene.X[twice], scene.y[twice], np.repeat(scene.groups, 2))
    planted = FAULTS["copies_drawn_anew"](again, None)
    for audited, faults in ((Audited(scene.representer, again.notes), ()), (planted, planted.named)):
        report, _ = audit(audited, attacks=["noise"])
        assert is_named(audited, report.blocking_issues) == bool(faults)


def of_late_tokens(X, y):
    return positions(X) >= 25


def of_long_sentences(X, y):
    return np.repeat(X.lengths >= np.quantile(X.lengths, 0.95), X.lengths)


def of_a_label(X, y):
    return y.data == y.data[y.data != "O"][0]


def of_the_end_of_the_release(X, y):
    return np.arange(len(X.data)) >= 0.95 * len(X.data)


def of_some_dimensions_of_late_tokens(X, y):
    return (positions(X) >= 20)[:, None] & (np.arange(8) < 4)


# The controls plant noise that is missing or shared. They are half of the time of the test, and change no fault.
UNCONTROLLED = NoiseAttack(controls=False, random_state=0)


@pytest.mark.parametrize(
    "quiet",
    [of_late_tokens, of_long_sentences, of_a_label, of_the_end_of_the_release, of_some_dimensions_of_late_tokens],
)
@pytest.mark.parametrize("unit_norm", [True, False])
def test_less_noise_by_a_property_is_named(data, scene, private, quiet, unit_norm):
    """The sizes of all tokens together hardly show it."""
    X, y, groups = data
    one = scene.representer if unit_norm else private(unit_norm=False)
    tags = {tuple(row): tags for row, tags in zip(X, y, strict=True)}

    def planted(one, X):
        own = TokenSequences.from_rows([tags[tuple(row)] for row in X])
        return less_noise(one, X, quiet(X, own))

    report = auditor([UNCONTROLLED]).audit(with_transform(one, planted), *data)
    assert "noise" in " ".join(report.results[0].faults), report.results[0].details


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"unit_norm": False},
        {"casing": False, "encoder": "dense"},
        {"noise": "trainable"},
    ],
)
def test_intact_estimators_have_no_fault(data, private, more):
    report, _ = audit(Audited(private(**more), data), attacks=CHECKS["estimator"])
    assert [r.faults for r in report.results] == [()] * 4
    assert [r.status for r in report.results] == ["ok"] * 4, [r.failures for r in report.results]


def test_intact_noise_at_the_input_has_no_fault(data):
    some = tuple(part[:60] for part in data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsafeToShareWarning)  # its adversaries learn too little here
        one = fitted_private(some, training=ThreePart(pretrain_epochs=1), noise="trainable", max_epochs=1)
    report, _ = audit(Audited(one, some), attacks=CHECKS["estimator"])
    assert one.network_.input_noise.kind == "trainable" and [r.faults for r in report.results] == [()] * 4


# ---- saved folders


@pytest.fixture(scope="module")
def folder(representer, data, tmp_path_factory):
    path = tmp_path_factory.mktemp("release") / "folder"
    X, y, groups = data
    with fixed_keys():
        save_representation(path, representer.transform(X), y, groups)
    return path


def test_an_intact_folder_with_its_notes_has_no_fault(folder, representer, data):
    report = auditor([*CHECKS["folder"], "lookup", "inversion_token", "linkage"]).audit(
        folder, *data, representer=representer
    )
    assert report.blocking_issues == () and report.score > 0.0
    assert [r.faults for r in report.results if r.settings.get("check")] == [()] * 3
    assert report.settings["released"] == ("representation", "file")


def test_equal_sentences_with_different_tags_are_no_fault(representer, data, tmp_path):
    """One call of `transform` gives them equal noise by design; of a folder, this was a repetition of noise."""
    X, y, groups = ([*part] for part in data)
    longest = max((i for i, tags in enumerate(y) if set(tags) != {"O"}), key=lambda i: len(X[i]))
    X.append(X[longest])
    y.append(["O"] * len(X[longest]))  # one of two annotators missed its PHI
    groups.append(groups[longest])
    save_representation(tmp_path / "release", representer.transform(X), y)
    report = auditor(CHECKS["folder"]).audit(tmp_path / "release", X, y, groups, representer=representer)
    assert [r.faults for r in report.results] == [()] * 3


def test_the_report_of_a_folder_needs_no_estimator_in_memory(representer, data, tmp_path, monkeypatch):
    """What is read are the two folders; embeddings of a file are given by their path in the command."""
    X, y, _ = data
    save(representer, tmp_path / "representer")
    save_representation(tmp_path / "release", representer.transform(X), y)
    read = PrivateRepresenter.load
    monkeypatch.setattr(
        PrivateRepresenter, "load", lambda path: read(path, embeddings=TINY["embeddings"], device="cpu")
    )
    report = auditor(CHECKS["folder"]).audit(tmp_path / "release", *data, representer=str(tmp_path / "representer"))
    assert [r.status for r in report.results] == ["ok"] * 3


def test_a_folder_with_drawn_casing_is_matched_to_its_notes(data, private, tmp_path):
    """Casing classes that were drawn are not those of the notes: intact folders were refused."""
    X, y, groups = data
    one = private(casing="randomized")
    save_representation(tmp_path / "release", one.transform(X), y, groups)
    report = auditor(["noise", "file", "casing_lengths"]).audit(tmp_path / "release", *data, representer=one)
    assert [r.faults for r in report.results] == [()] * 3


def test_casing_that_is_said_to_be_drawn_is_named_if_it_is_not(data, private):
    one = private(casing="randomized")

    def open_casing(one, X):
        vectors = noisy(one, X)
        vectors[:, one.n_components :] = np.eye(7)[casing_ids(X.data.tolist())]
        return vectors

    for planted, text in ((one, ""), (with_transform(one, open_casing), "stated privacy loss")):
        report = auditor(["casing_lengths"]).audit(planted, *data)
        assert text in " ".join(report.results[0].faults) and bool(report.results[0].faults) == bool(text)


def test_rows_are_matched_to_the_notes(folder, representer, data):
    """Of sentences of one key the likelihood tells most; vectors of matched rows fit the template."""
    X, y, _ = data
    shared = load_representation(folder)
    notes = matched_notes(shared, representer, X, y)
    assert (notes.rows >= 0).all() and notes.sure.sum() > len(X) / 2
    assert [list(shared.y[row]) for row in notes.rows.tolist()] == [list(tags) for tags in y]
    assert set(notes.rows.tolist()) == set(range(len(shared)))


def test_without_notes_the_folder_is_checked_and_cannot_pass(folder):
    report = auditor("quick").audit(folder)
    by_name = {r.name: r for r in report.results}
    assert by_name["statements of the file"].faults == () and by_name["seed search"].faults == ()
    assert report.score == 0.0
    missing = [issue for issue in report.blocking_issues if "needs the notes behind the folder" in issue]
    assert len(missing) == len([r for r in report.results if r.status == "skipped"]) > 3
    assert "noise test was not run" in " ".join(missing)
    assert "required attacks were not run:" in report.verdicts["representation"]


def test_repeated_vectors_and_kept_order_show_without_notes(representer, data, tmp_path):
    X, y, groups = data
    order = sorted(range(len(X)), key=lambda i: len(X[i]))
    R = representer.transform(X[order])
    save_representation(tmp_path / "sorted", R, y[order], groups[order], shuffle=False)
    manifest, arrays = read_bundle(tmp_path / "sorted")
    manifest["representation"]["shuffled"] = True
    arrays["vectors"] = arrays["vectors"].copy()
    arrays["vectors"][-1] = arrays["vectors"][0]
    arrays["vectors"][1, 0] = -0.0
    names = ("format", "class", "library_version", "representation", "tagger")
    plain = {name: manifest[name] for name in names}
    write_bundle(tmp_path / "sorted", plain, arrays, overwrite=True)
    faults = " ".join(auditor("file").audit(tmp_path / "sorted").results[0].faults)
    assert "neighbours have like lengths" in faults and "1 tokens have exactly the vector" in faults
    assert "1 zeros have a minus sign" in faults


def test_one_sentence_with_two_taggings_has_no_fault(representer, data, tmp_path):
    """Equal sentences share their noise. With other tags they are no copies, and both are written."""
    X, y, _ = data
    X, y = X[list(range(len(X))) + [0]], TokenSequences.from_rows([*y, ["O"] * len(X[0])])
    save_representation(tmp_path / "release", representer.transform(X), y)
    report = auditor(["file"]).audit(tmp_path / "release", X, y, representer=representer)
    assert report.results[0].faults == () and report.results[0].status == "ok"


def test_sentences_that_were_released_twice_are_named(representer, data, tmp_path):
    """A folder of an earlier release and of a new one passed: a part of its sentences had two draws of the noise."""
    rows = np.r_[np.arange(24), np.arange(6)]
    X, y, groups = (part[rows] for part in data)
    R = TokenVectors.concatenate([representer.transform(X[:24]), representer.transform(X[24:])])
    save_representation(tmp_path / "release", R, y)
    report = auditor(["file"]).audit(tmp_path / "release", X, y, groups, representer=representer)
    assert "6 sentences of the notes are in the folder once more" in " ".join(report.blocking_issues)


@pytest.mark.parametrize("is_given", [True, False])
@pytest.mark.parametrize("n_copies", [1, 2])
def test_further_draws_are_counted(representer, data, tmp_path, n_copies, is_given):
    """Without the representer, the folder passed; with a sentence that is twice in one release, as in all notes, the
    audit ended in a message that the notes are others."""
    again = np.tile(np.arange(6), n_copies)
    X, y, _ = (part[np.r_[np.arange(24), again]] for part in data)
    R = TokenVectors.concatenate([representer.transform(X[:24]), representer.transform(X[24:])])
    save_representation(tmp_path / "release", R, y)
    notes = matched_notes(load_representation(tmp_path / "release"), representer if is_given else None, X, y)
    assert notes.known.n_further_draws == 6
    assert not is_given or set(notes.rows.tolist()) == set(range(30))


def test_the_number_of_removed_copies_is_compared_with_the_notes(representer, data, tmp_path):
    """Any number could stand there."""
    X, y, _ = data
    save_representation(tmp_path / "release", representer.transform(X), y)
    rewrite(tmp_path / "release", lambda manifest, _: manifest["representation"].update(n_duplicates_removed=1_234))
    report = auditor(["file"]).audit(tmp_path / "release", X, y, representer=representer)
    assert "another number of removed copies" in " ".join(report.blocking_issues)


def a_random_seed_of_the_tagger(manifest, _):
    manifest["tagger"]["parameters"]["random_state"] = int.from_bytes(b"Ada", "big")


def a_word_as_embeddings_of_the_tagger(manifest, _):
    manifest["tagger"]["parameters"]["embeddings"] = "Ada"


def digits_behind_the_size_of_the_noise(manifest, _):
    manifest["representation"]["origin"]["noise"]["mean_std"] *= 1.0 + 1e-8


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (a_random_seed_of_the_tagger, "is not the tagger of the published representer"),
        (a_word_as_embeddings_of_the_tagger, "is not the tagger of the published representer"),
        (digits_behind_the_size_of_the_noise, "another size of the noise (mean_std)"),
    ],
)
def test_values_that_nobody_reads_are_named(folder, representer, data, tmp_path, change, text):
    """The weights alone were compared, and the size of the noise to six digits: a name had room in the rest."""
    shutil.copytree(folder, tmp_path / "release")
    rewrite(tmp_path / "release", change)
    report = auditor(["file", "noise"]).audit(tmp_path / "release", *data, representer=representer)
    assert text in " ".join(report.blocking_issues) and report.score == 0.0


@pytest.mark.parametrize("place", ["bound", "neighbors", "kind"])
def test_settings_that_the_representer_does_not_have_are_named(representer, data, tmp_path, place):
    """A folder with the right fingerprint stated a stronger bound, or more neighbours, and had no fault."""
    X, y, groups = data
    save_representation(tmp_path / "release", representer.transform(X), y, groups)
    manifest, arrays = read_bundle(tmp_path / "release")
    origin = manifest["representation"]["origin"]
    if place == "bound":
        origin["settings"]["training__max_attack_accuracy"] = 0.51
    elif place == "kind":
        origin["noise"]["kind"] = "trainable"
    else:
        origin["n_neighbors"] = 5000
    names = ("format", "class", "library_version", "representation", "tagger")
    arrays = {name: np.array(array) for name, array in arrays.items()}
    write_bundle(tmp_path / "release", {name: manifest[name] for name in names}, arrays, overwrite=True)
    report = auditor(["noise"]).audit(tmp_path / "release", *data, representer=representer)
    expected = "another kind, distribution or grid" if place == "kind" else "states other settings"
    assert report.score == 0.0 and expected in " ".join(report.blocking_issues)


def test_foreign_and_damaged_folders_are_refused(folder, representer, data, tmp_path):
    with pytest.raises(BundleError):
        auditor("quick").audit(tmp_path)
    save(representer, tmp_path / "representer")
    with pytest.raises(BundleError, match="something else than a representation"):
        auditor("quick").audit(tmp_path / "representer")
    other = copy.deepcopy(representer)
    other.fingerprint_ = "0" * 32
    with pytest.raises(BundleError, match="made by another representer"):
        auditor("quick").audit(folder, *data, representer=other)
    X, y, groups = data
    with pytest.raises(SequenceError, match="not those behind the release"):
        auditor("quick").audit(folder, X[:50], y[:50], groups[:50], representer=representer)
    with pytest.raises(ValueError, match="belongs to a saved folder"):
        auditor("quick").audit(representer, *data, representer=representer)


def test_what_does_not_fit_a_folder_is_an_error_with_a_reason(folder, representer, data, tmp_path):
    """Each of these ended in an error of Python, which the command reported as a crash."""
    for given in (WordClassRepresenter(embeddings=VECTORS, class_size=5).fit([]), VECTORS):
        with pytest.raises(BundleError, match="states that a PrivateRepresenter made it"):
            auditor("quick").audit(folder, *data, representer=given)
    save_representation(tmp_path / "empty", representer.transform([]), [])
    with pytest.raises(BundleError, match="no token"):
        auditor("quick").audit(tmp_path / "empty")
    with pytest.raises(AttackError, match="'noise' is on .*, but this audit is on file"):
        auditor(["noise"]).audit(folder)


# ---- what was not run


def test_an_attack_that_was_not_run_blocks(representer, data):
    report = auditor(["lookup_unrelated", "noise"], max_seconds=0).audit(representer, *data)
    assert all("was not run: It would not have ended" in issue for issue in report.blocking_issues[:2])
    assert "No pass, because required attacks were not run:" in report.verdicts["representation"]
    report = auditor("default", max_seconds=0).audit(representer, *data)
    blocking = {r.name for r in report.results if r.blocks}
    assert "noise test" in blocking and "inversion, sequence decoder" not in blocking


def test_scores_have_the_families_of_checks(representer, data, scene):
    scores = auditor(["noise", "replay"]).scores(representer, *data)
    assert scores == {"privacy": 0.0, "privacy_noise": 1.0, "privacy_replay": 1.0}  # no attack was carried out
    planted = FAULTS["half_noise"](scene, None).released
    assert auditor(["noise"]).scores(planted, *data)["privacy_noise"] == 0.0


def test_weights_that_nobody_can_load_block(representer, data):
    broken = copy.deepcopy(representer)
    broken.network_.projection, broken.network_.project = broken.network_.project, broken.network_.project
    del broken.network_._modules["project"]
    object.__setattr__(broken.network_, "project", broken.network_.projection)
    report = auditor(["noise", "lookup_unrelated"]).audit(broken, *data)
    assert all("Nobody can load" in issue for issue in report.blocking_issues[:2])
