"""Saved word classes are attacked as bytes, with the notes behind them: what is wrong is named, intact is not."""

from unittest import mock

import numpy as np
import pytest

from benchmarks.planted_faults import rewrite
from sklearn_deid import WordVectors, save_representation
from sklearn_deid.exceptions import SequenceError, UnsafeToShareWarning
from sklearn_deid.representations import WordClassRepresenter
from sklearn_deid.sequences import TokenSequences, TokenVectors

from .audited_toys import auditor

WORDS = [f"word{i}" for i in range(60)]
VECTORS = WordVectors(WORDS, np.random.default_rng(0).standard_normal((60, 4)), is_public=True)
ONE = WordClassRepresenter(embeddings=VECTORS, class_size=7).fit([])


def notes():
    rng = np.random.default_rng(1)
    rows = [rng.choice(WORDS, size).tolist() for size in rng.integers(5, 9, 118)]
    X = TokenSequences.from_rows([*rows, rows[0], rows[1]])  # two of them twice
    y = TokenSequences.from_rows([["B-CITY"] + ["O"] * (len(row) - 1) for row in X])
    return X, y, np.arange(len(X)) % 40


X, Y, GROUPS = notes()


def audit(folder, attacks="quick", representer=ONE):
    return auditor(attacks).audit(folder, X, Y, GROUPS, representer=representer)


def saved(folder, R=None, change=None, **more):
    save_representation(folder, ONE.transform(X) if R is None else R, Y, GROUPS, **more)
    if change is not None:
        rewrite(folder, change)
    return folder


def test_an_intact_folder_has_no_fault(tmp_path):
    report = audit(saved(tmp_path / "a"))
    assert report.blocking_issues == () and report.settings["released"] == ("classes", "classes in a file")
    assert {r.key for r in report.results} >= {"classes", "file", "inversion", "linkage"}
    check = next(r for r in report.results if r.key == "file")
    assert check.details["sentences matched to the notes"] == len(X) - 2 and check.details["sentences"] == len(X) - 2


def test_classes_of_private_word_vectors_are_named():
    """`save` and `save_representation` refuse them; the audit gave a high score without a word about it."""
    with pytest.warns(UnsafeToShareWarning):
        private = WordClassRepresenter(embeddings="corpus", class_size=7).fit(X)
    report = auditor(["classes", "linkage"]).audit(private, X, Y, GROUPS)
    assert "word vectors were trained on private notes" in " ".join(report.blocking_issues) and report.score == 0.0


def test_attacks_that_need_the_notes_block_a_pass_without_them(tmp_path):
    report = auditor("quick").audit(saved(tmp_path / "a"), representer=ONE)
    missing = [issue for issue in report.blocking_issues if "needs the notes behind the folder" in issue]
    assert len(missing) == len(report.with_status("skipped")) > 1 and report.score == 0.0
    report = audit(tmp_path / "a", representer=None)
    assert "published WordClassRepresenter" in " ".join(report.blocking_issues)


def with_wrong_class(manifest, arrays):
    vectors = arrays["vectors"]
    other = np.flatnonzero((vectors[:, :4] != vectors[0, :4]).any(axis=1))[0]
    vectors[0, :4] = vectors[other, :4]


def in_another_order(manifest, arrays):
    manifest["representation"]["origin"]["noise"]["centroids"].reverse()


def with_a_free_number(manifest, arrays):
    manifest["representation"]["n_duplicates_removed"] = 7


def with_a_sentence(manifest, arrays):
    manifest["representation"]["audit"] = {"worst": " ".join(X[int(np.argmax(X.lengths))])}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (with_wrong_class, "1 tokens do not have the vector of the class of their word"),
        (in_another_order, "states other classes or settings"),
        (with_a_free_number, "another number of removed copies"),
        (with_a_sentence, "words of the notes"),
    ],
)
def test_changed_folders_are_named(tmp_path, change, text):
    report = audit(saved(tmp_path / "a", change=change), ["classes", "file"])
    assert text in " ".join(report.blocking_issues) and report.score == 0.0


def test_an_order_that_was_kept_is_named(tmp_path):
    def shuffled(manifest, arrays):
        manifest["representation"]["shuffled"] = True

    report = audit(saved(tmp_path / "a", change=shuffled, shuffle=False), ["file"])
    assert "in the order of the notes" in " ".join(report.blocking_issues)


def test_labels_that_name_tokens_are_named(tmp_path):
    named = [[f"B-N{i}", *row[1:]] if i < 22 else list(row) for i, row in enumerate(Y)]
    save_representation(tmp_path / "a", ONE.transform(X), named)
    report = auditor(["file"]).audit(tmp_path / "a", X, named, representer=ONE)
    assert "labels name single tokens" in " ".join(report.blocking_issues)


def test_an_order_of_a_seed_is_named(tmp_path):
    """Sentences of one row are copies, also if their words differ."""
    members = [WORDS[i] for i in np.flatnonzero(ONE.classes_of_words_ == 0)]
    rows = [*X, *([one, "word1"] for one in members)]
    tags = [*Y, *([["O", "O"]] * len(members))]
    save_representation(tmp_path / "a", ONE.transform(rows), tags, random_state=11)
    report = auditor(["file"]).audit(tmp_path / "a", rows, tags, representer=ONE)
    assert "NumPy's default generator with seed 11" in " ".join(report.blocking_issues)


def test_copies_that_were_not_removed_are_named(tmp_path):
    with mock.patch("sklearn_deid.representations.sharing._first_releases", lambda R, numbers, order: order):
        report = audit(saved(tmp_path / "a"), ["file"])
    assert "2 sentences occur twice" in " ".join(report.blocking_issues)


def test_other_notes_are_refused(tmp_path):
    with pytest.raises(SequenceError, match="not those behind the release"):
        auditor("quick").audit(saved(tmp_path / "a"), X[:50], Y[:50], representer=ONE)


def test_vectors_of_the_words_of_one_class_are_the_only_candidates(tmp_path):
    """Sentences of words of one class are one sentence of the folder; both rows of the notes are matched to it."""
    members = [WORDS[i] for i in np.flatnonzero(ONE.classes_of_words_ == 0)[:2]]
    rows = [*X, [members[0], "word1"], [members[1], "word1"]]
    tags = [*Y, ["O", "O"], ["O", "O"]]
    R = ONE.transform(rows)
    assert isinstance(R, TokenVectors)
    save_representation(tmp_path / "a", R, tags)
    report = auditor(["classes", "file"]).audit(tmp_path / "a", rows, tags, representer=ONE)
    assert [r.faults for r in report.results] == [(), ()]
