"""Word classes: k words that nobody can tell apart, and releases that hold nothing else."""

import warnings
from copy import copy
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from sklearn_deid import (
    AdversarialPrivacyAuditor,
    DeidTagger,
    WordVectors,
    load,
    load_representation,
    pool_representations,
    save,
    save_representation,
)
from sklearn_deid._storage import read_bundle, write_bundle
from sklearn_deid.exceptions import BundleError, SequenceError
from sklearn_deid.representations import WordClassRepresenter
from sklearn_deid.representations.casing_kinds import casing_kinds
from sklearn_deid.representations.word_classes import balanced_classes, class_means
from sklearn_deid.sequences import TokenVectors
from sklearn_deid.text import casing_class

WORDS = [f"word{i}" for i in range(60)]
VECTORS = WordVectors(WORDS, np.random.default_rng(0).standard_normal((60, 4)), is_public=True)
X = [["word1", "Word2", "unknown"], ["word3"], [], ["WORD59", "word1"]]
Y = [["O", "B-PATIENT", "B-PATIENT"], ["B-AGE"], [], ["O", "B-CITY"]]


@pytest.fixture(scope="module")
def fitted():
    return WordClassRepresenter(embeddings=VECTORS, class_size=7).fit(X)


@given(st.integers(2, 12), st.integers(1, 80), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_every_class_has_at_least_k_words(k, n, seed):
    vectors = np.random.default_rng(seed).standard_normal((n, 3)).round(1)
    if n < k:
        with pytest.raises(ValueError, match=f"A class needs {k} words"):
            balanced_classes(vectors, k, np.random.default_rng(seed))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # equal points, which scikit-learn's KMeans warns of
        classes = balanced_classes(vectors, k, np.random.default_rng(seed))
    sizes = np.bincount(classes)
    assert sizes.min() >= k and sizes.max() < 2 * k and sizes.sum() == n


def test_separated_groups_are_classes():
    """An oracle: points around four far corners, ten each."""
    corners = np.repeat(np.array([[0, 0], [0, 100], [100, 0], [100, 100]]), 10, axis=0)
    points = corners + np.random.default_rng(0).standard_normal((40, 2))
    classes = balanced_classes(points, 10, np.random.default_rng(0))
    assert [len(set(classes[i : i + 10])) for i in range(0, 40, 10)] == [1] * 4 and len(set(classes)) == 4
    means = class_means(points, classes)
    np.testing.assert_allclose(means[classes[0]], points[:10].mean(axis=0), rtol=1e-5)


def test_data_frames_as_output_of_all_transformers_change_no_class(fitted):
    with config_context(transform_output="pandas"):
        framed = WordClassRepresenter(embeddings=VECTORS, class_size=7).fit(X)
    np.testing.assert_array_equal(framed.classes_of_words_, fitted.classes_of_words_)


def test_words_of_a_class_have_equal_releases(fitted):
    """The whole claim: replace any word by another of its class, and the bytes of the release stay the same."""
    for members in (np.flatnonzero(fitted.classes_of_words_ == c) for c in range(len(fitted.class_sizes_))):
        assert len(members) >= 7
        releases = {fitted.transform([["pain", WORDS[i], "word1"]]).data.tobytes() for i in members}
        assert len(releases) == 1
    assert len({row.tobytes() for row in fitted.centroids_}) == len(fitted.class_sizes_) + 1


MIXED = [
    *[f"{a}{b}" for a in "abcdef" for b in "uvwxyz"],
    *[str(n) for n in range(1990, 2014)],
    *[f"{n}mg" for n in range(5)],
    *"abcdefgh",
    "##",
    "-",
    "(",
    *[f"t{n}" for n in range(9)],
    "\u02bfabdisho\u02bf",
]


@pytest.mark.parametrize("capitals", [False, True])
def test_the_released_casing_tells_no_two_words_of_a_class_apart(capitals):
    """Brute force: all spellings of all words; what is released of a token is released of k words at least.

    Without kinds, "1999" among names had the casing of a number, and was the only one.
    """
    words = [*MIXED, "London", "US", "us"] if capitals else MIXED
    vectors = WordVectors(words, np.random.default_rng(1).standard_normal((len(words), 3)), is_public=True)
    fitted = WordClassRepresenter(embeddings=vectors, class_size=5).fit([])
    spelled = [
        form
        for word in words
        for form in {"".join(c) for c in product(*({a.lower(), a.upper()} for a in word.replace("#", "7")))} | {word}
    ]
    released: dict[bytes, set[int]] = {}
    for row, vector in zip(vectors.indices(spelled), fitted.transform([spelled]).data, strict=True):
        if vector[:3].any():
            released.setdefault(vector.tobytes(), set()).add(int(row))
    assert len(released) > 20 and min(map(len, released.values())) >= 5
    assert fitted.classes_of_words_[words.index("-")] == len(fitted.class_sizes_)  # too few are written like it
    assert fitted.classes_of_words_[words.index("2000")] < len(fitted.class_sizes_)


@pytest.mark.parametrize(
    ("words", "token"),
    [
        (["mcdonald", "Mcdonald", "us", "Us", "it", "It"], "McDonald"),
        (["mcd##", "alder", "birch"], "mcD12"),
        (["####", "##", "###"], "#12"),
    ],
)
def test_a_token_in_mixed_casing_does_not_tell_its_word_apart(words, token):
    """ "McDonald" had the class of "mcdonald" with the casing of a capital, which "us" and "it" cannot have."""
    vectors = WordVectors(words, np.random.default_rng(1).standard_normal((len(words), 3)), is_public=True)
    kinds = casing_kinds(vectors)
    assert kinds[vectors.indices([token])[0]] >> casing_class(token) & 1
    assert len(set(kinds[: len(words)].tolist())) > 1


def test_kinds_are_computed_once_for_the_same_vectors():
    plain, other = (WordVectors(words, np.eye(2), is_public=True) for words in (["pain", "x"], ["pain", "2019"]))
    kinds = casing_kinds(plain)
    assert casing_kinds(plain) is kinds and not kinds.flags.writeable
    assert casing_kinds(other).tolist() != kinds.tolist()


def test_classes_that_the_casing_divides_are_refused_and_named(tmp_path):
    """Classes of earlier versions: the casing left, and kinds of words were not kept apart."""
    vectors = WordVectors(MIXED, np.random.default_rng(1).standard_normal((len(MIXED), 3)), is_public=True)
    old = WordClassRepresenter(embeddings=vectors, class_size=5, casing=False).fit([])
    save(old, tmp_path / "bare")
    assert load(tmp_path / "bare", embeddings=vectors).casing is False
    old.casing = True
    save(old._finished(), tmp_path / "classes")
    with pytest.raises(BundleError, match="casing distinguishes them"):
        load(tmp_path / "classes", embeddings=vectors)
    report = AdversarialPrivacyAuditor(["classes"]).audit(old, [["au", "2000"]] * 20, [["B-AGE", "O"]] * 20)
    assert "casing distinguishes them" in " ".join(report.blocking_issues)


def test_rules_of_lookup_and_casing(fitted):
    R = fitted.transform(X)
    assert R.d == fitted.n_features_out_ == 4 + 7 and R.lengths.tolist() == [3, 1, 0, 2]
    lower, upper = fitted.transform([["word2"], ["WORD2"]])
    assert (lower[0, :4] == upper[0, :4]).all() and (lower[0, 4:] != upper[0, 4:]).any()
    assert not R[0][2, :4].any() and (R[0][:, 4:].sum(1) == 1).all()
    plain = WordClassRepresenter(embeddings=VECTORS, class_size=7, casing=False).fit(X)
    assert (plain.transform([["word2"]])[0] == plain.transform([["WORD2"]])[0]).all()


def test_nothing_depends_on_the_notes_and_little_on_the_seed(fitted):
    other = WordClassRepresenter(embeddings=VECTORS, class_size=7).fit([["quite", "other", "notes"]])
    assert other.fingerprint_ == fitted.fingerprint_ and other.transform(X) == fitted.transform(X)
    assert WordClassRepresenter(embeddings=VECTORS, class_size=8).fit(X).fingerprint_ != fitted.fingerprint_


def test_certify_counts_by_hand(fitted):
    found = fitted.certify(X, Y, n_neighbors=10)
    sizes = [fitted.class_sizes_[fitted.classes_of_words_[i]] for i in (2, 3, 1)]
    assert found.class_size == fitted.class_sizes_.min() and found.n_tokens == 4
    assert found.share_without_vector == 0.25
    assert found.mean_class_size == pytest.approx(np.mean(sizes))
    assert found.top_accuracy == pytest.approx(np.mean([1 / size for size in sizes]))
    everyone = fitted.certify(X, Y, n_neighbors=60)
    by_hand = [1 - 0.5 * (size - 1) / 59 for size in sizes]
    assert everyone.pair_accuracy == pytest.approx(np.mean(by_hand))
    assert 0.5 <= found.pair_accuracy < everyone.pair_accuracy
    with pytest.raises(SequenceError, match="No PHI token of X has a word vector"):
        fitted.certify([["unknown"]], [["B-AGE"]], n_neighbors=10)
    # The message named the parameter of a class that the caller did not use.
    with pytest.raises(
        ValueError, match="'n_neighbors' parameter of WordClassRepresenter.certify .* 60. Got 100 instead"
    ):
        fitted.certify(X, Y)


def test_release_is_saved_loaded_and_pooled(tmp_path, fitted):
    for name in "ab":
        save_representation(tmp_path / name, fitted.transform(X), Y, shuffle=False)
    loaded = load_representation(tmp_path / "a")
    assert loaded.X == fitted.transform(X) and loaded.origin.noise["law"] == "none, k-anonymous classes"
    pool = pool_representations([tmp_path / "a", loaded])
    assert len(pool) == 2 * len(X)


def changed(R, **noise):
    origin = replace(R.origin, noise={**R.origin.noise, **noise})
    return TokenVectors(R.data, R.offsets, origin)


def test_what_is_no_class_is_refused(tmp_path, fitted):
    R = fitted.transform(X)
    for bad, text in (
        (TokenVectors(R.data + np.float32(0.001), R.offsets, R.origin), "not the mean vector"),
        (changed(R, class_size=1), "no class size"),
        (changed(R, kind="none"), "no class size"),
        (changed(R, centroids="all"), "does not state its classes"),
        (changed(R, centroids=["Ada was here", *R.origin.noise["centroids"]]), "does not state its classes"),
        (changed(R, seeded="Ada was here"), "states a random seed"),
        (changed(R, centroids=R.origin.noise["centroids"][:-1]), "not the mean vector"),
    ):
        with pytest.raises(BundleError, match=text):
            save_representation(tmp_path / "a", bad, Y)
    private = WordVectors(WORDS, VECTORS.vectors_for(WORDS), is_public=False)
    own = WordClassRepresenter(embeddings=private, class_size=7).fit(X).transform(X)
    with pytest.raises(BundleError, match="trained on private notes"):
        save_representation(tmp_path / "a", own, Y)


@pytest.mark.parametrize("changed", [{"class_size": 2}, {"casing": False}, {"class_size": 50}])
def test_parameters_that_were_changed_after_the_fit_are_refused(tmp_path, fitted, changed):
    """The origin of a release would name another k, or another casing, than its fingerprint."""
    changed = copy(fitted).set_params(**changed)
    for call in (lambda: changed.transform(X), lambda: changed.save(tmp_path / "classes")):
        with pytest.raises(ValueError, match="changed after the fit"):
            call()


def test_taggers_learn_from_classes(fitted):
    pipe = Pipeline(
        [
            ("rep", WordClassRepresenter(embeddings=VECTORS, class_size=2)),
            ("tag", DeidTagger(hidden_size=8, max_epochs=60, lr=0.05, random_state=0, device="cpu")),
        ]
    )
    many, tags = [["word1", "word9"], ["word3", "word9"]] * 10, [["B-AGE", "O"], ["O", "O"]] * 10
    assert pipe.fit(many, tags).predict(many).tolist() == tags


# ---- saved classes


def test_classes_come_back(tmp_path, fitted):
    save(fitted, tmp_path / "classes")
    loaded = load(tmp_path / "classes", embeddings=VECTORS)
    assert loaded.transform(X) == fitted.transform(X) and loaded.fingerprint_ == fitted.fingerprint_
    assert loaded.certify(X, Y, n_neighbors=9) == fitted.certify(X, Y, n_neighbors=9) and loaded.random_state == 0
    assert not any(word.encode() in (tmp_path / "classes" / "manifest.json").read_bytes() for word in WORDS)
    with pytest.raises(BundleError, match="pass them as 'embeddings'"):
        load(tmp_path / "classes")
    other = WordVectors(WORDS, VECTORS.vectors_for(WORDS) + 1, is_public=True)
    with pytest.raises(BundleError, match="was trained with other word vectors"):
        load(tmp_path / "classes", embeddings=other)
    private = WordVectors(WORDS, VECTORS.vectors_for(WORDS), is_public=False)
    with pytest.raises(BundleError, match="word vectors of private notes"):
        save(WordClassRepresenter(embeddings=private, class_size=7).fit(X), tmp_path / "private")


def forged(fitted, **changed):
    """A representer with changed classes, as somebody might save it who wants to tell two words apart."""
    other = copy(fitted)
    for name, value in changed.items():
        setattr(other, name, value)
    return other._finished()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda f: {"class_size": 20}, "fewer than 20 words"),
        (lambda f: {"centroids_": f.centroids_ + np.float32(0.01)}, "class of words without a vector"),
        (lambda f: {"centroids_": f.centroids_ * np.float32(1.01)}, "not the mean"),
        (lambda f: {"classes_of_words_": np.roll(f.classes_of_words_, 1)}, "not the mean"),
        (lambda f: {"classes_of_words_": f.classes_of_words_[1:]}, "not those of the words"),
        (lambda f: {"centroids_": f.centroids_[:3]}, "a class without a vector"),
        (lambda f: {"centroids_": f.centroids_.astype(np.float64)}, "not of the kind"),
        (lambda f: {"class_size": 1}, "do not fit together"),
    ],
)
def test_classes_that_are_not_what_they_should_be_are_refused(tmp_path, fitted, change, text):
    save(forged(fitted, **change(fitted)), tmp_path / "classes")
    with pytest.raises(BundleError, match=text):
        load(tmp_path / "classes", embeddings=VECTORS)


def test_an_array_that_nothing_uses_is_refused(tmp_path, fitted):
    """Taggers and private representers refuse one; a file of classes could carry notes in it."""
    save(fitted, tmp_path / "classes")
    manifest, arrays = read_bundle(tmp_path / "classes")
    state = {name: manifest[name] for name in ("class", "library_version", "state")}
    write_bundle(tmp_path / "other", state, {**arrays, "notes": np.ones(3, np.uint8)})
    with pytest.raises(BundleError, match="Nothing uses one of the arrays"):
        load(tmp_path / "other", embeddings=VECTORS)


# ---- audits


def test_audits_find_nothing_in_intact_classes(tmp_path, fitted):
    X = [["word1", f"word{i}", "pain"] for i in range(60)]
    y, groups = [["O", "B-CITY", "O"]] * 60, np.arange(60)
    report = AdversarialPrivacyAuditor(["classes", "linkage"], random_state=0).audit(fitted, X, y, groups)
    check = report.results[0]
    assert check.status == "ok" and check.faults == () and check.details["tokens"] == 180
    assert check.details["top_accuracy"] == fitted.certify(X, y, n_neighbors=9).top_accuracy
    save_representation(tmp_path / "a", fitted.transform(X), y)
    save(fitted, tmp_path / "classes")
    auditor = AdversarialPrivacyAuditor("quick", random_state=0)
    folder = auditor.audit(tmp_path / "a", representer=load(tmp_path / "classes", embeddings=VECTORS))
    assert [(found.key, found.faults) for found in folder.with_status("ok")] == [("classes", ()), ("file", ())]
    # Nobody can check the classes of a folder alone.
    assert auditor.audit(tmp_path / "a").score == 0.0
    with pytest.raises(BundleError, match="another representer"):
        auditor.audit(tmp_path / "a", representer=WordClassRepresenter(embeddings=VECTORS, class_size=8).fit([]))


class Leaking(WordClassRepresenter):
    """Classes with a fault that a test plants."""

    def transform(self, X):
        R = super().transform(X)
        data = R.data.copy()
        if self.fault == "own vector":
            data[1, :4] = VECTORS.vectors_for(["word2"])[0]
        elif self.fault == "other class":
            data[1, :4] = self.centroids_[(self.classes_of_words_[1] + 1) % len(self.class_sizes_)]
        elif self.fault == "chance":
            data[:, :4] = data[np.random.default_rng().permutation(len(data)), :4]
        return TokenVectors(data, R.offsets, R.origin)


@pytest.mark.parametrize(
    ("fault", "text"),
    [("own vector", "no class of at least 7"), ("other class", "the class of their word"), ("chance", "differ")],
)
def test_planted_faults_are_named(fitted, fault, text):
    leaking = Leaking(embeddings=VECTORS, class_size=7).fit([])
    leaking.fault = fault
    X, y = [["word1", f"word{i}", "pain"] for i in range(60)], [["O", "B-CITY", "O"]] * 60
    report = AdversarialPrivacyAuditor(["classes"], random_state=0).audit(leaking, X, y)
    assert any(text in found for found in report.results[0].faults) and report.score == 0.0


def test_a_fit_that_fails_leaves_no_classes_of_other_vectors():
    representer = WordClassRepresenter(embeddings=VECTORS, class_size=7).fit([])
    few = WordVectors(WORDS[:60:20], np.eye(3), is_public=True)
    with pytest.raises(ValueError, match="A class needs 7 words"):
        representer.set_params(embeddings=few).fit([])
    with pytest.raises(NotFittedError):
        representer.transform(X)
