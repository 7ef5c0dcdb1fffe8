"""``audit``: a report on a saved representer, and what ends with which exit code."""

import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid import (
    PrivateRepresenter,
    WordVectors,
    load_representation,
    make_clinical_notes,
    save_representation,
    write_corpus,
)
from sklearn_deid.audit import AttackResult, AuditReport
from sklearn_deid.audit.attacks import SeedSearch
from sklearn_deid.embeddings import read_word_vectors
from sklearn_deid.representations import WordClassRepresenter

from ..conftest import draw_known_keys
from .conftest import assert_no_note_text


@pytest.fixture(autouse=True)
def _known_keys(known_keys):
    """Each audit of an intact release may alarm by chance."""


@pytest.fixture(scope="module")
def corpus():
    return make_clinical_notes(12, n_patients=12, random_state=1)


@pytest.fixture(scope="module")
def folder(corpus, tmp_path_factory):
    """Word vectors of the notes' words as a file, a representer of theirs, and the notes."""
    folder = tmp_path_factory.mktemp("audit")
    data, rng = corpus.to_sentences(), np.random.default_rng(0)
    words = sorted({word.lower() for word in data.X.data if word.isalpha()})
    lines = [f"{word} {' '.join(f'{x:.3f}' for x in rng.normal(size=8))}" for word in words]
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    read = read_word_vectors(folder / "vectors.txt")
    vectors = WordVectors(read.words, read.vectors_at(np.arange(len(read))), is_public=True)
    PrivateRepresenter(
        embeddings=vectors,
        n_neighbors=5,
        n_components=4,
        hidden_size=8,
        tagger_hidden_size=8,
        max_epochs=1,
        random_state=0,
    ).fit(data.X, data.y, data.groups).save(folder / "representer")
    write_corpus(corpus, folder / "notes", format="brat")
    return folder


def command(folder, *more):
    return [
        "audit",
        folder / "notes",
        "--representer",
        folder / "representer",
        "--embeddings",
        folder / "vectors.txt",
        "--attacks",
        "bound,lookup,linkage",
        *more,
    ]


def test_report_is_printed_and_written_and_the_same_seed_gives_the_same(run, folder, corpus, tmp_path):
    files = [tmp_path / f"report{suffix}" for suffix in (".html", ".md", ".json")]
    code, out, err = run(*command(folder, "--seed", "3"), *[part for file in files for part in ("--output", file)])
    assert code == 0 and out.startswith("Score: ") and "representation: " in out
    assert "linkage" in err and out.count("Report saved in") == 3
    written = json.loads(files[2].read_text(encoding="utf-8"))
    assert f"Score: {int(100 * written['score']) / 100:.2f}" in out and len(written["results"]) == 4
    assert_no_note_text(out + err + "".join(file.read_text(encoding="utf-8") for file in files), corpus)
    _, again, err = run(*command(folder, "--seed", "3", "--quiet"))
    assert again == "".join(line for line in out.splitlines(True) if "Report saved in" not in line) and err == ""


@pytest.mark.parametrize("known", [12, 9])
def test_notes_without_a_patient_are_stated(run, folder, corpus, tmp_path, monkeypatch, known):
    """Each counted as a patient without a word: with several notes of a patient, the score was too high."""
    monkeypatch.setattr("sklearn_deid.audit.privacy_auditor.AdversarialPrivacyAuditor._attacked", _nothing_attacked)
    notes = [replace(note, patient_id=note.patient_id if i < known else None) for i, note in enumerate(corpus)]
    write_corpus(notes, tmp_path / "notes.jsonl", format="jsonl")
    _, _, err = run("audit", tmp_path / "notes.jsonl", *command(folder)[2:])
    stated = f"{12 - known} of 12 notes have no patient id. Each of these notes counts as a patient"
    assert (stated in err) == (known < 12) == ("no patient id" in err)


def _nothing_attacked(*_):
    return AuditReport([AttackResult.skipped("none", "representation", "Nobody.", "share", "a test")])


def test_no_result_is_lost_if_the_report_cannot_be_written(run, folder, tmp_path, monkeypatch):
    """A missing folder was noticed after all attacks, and nothing was printed."""
    report = tmp_path / "new" / "folder" / "report.md"
    assert run(*command(folder, "--attacks", "linkage", "--output", report, "--quiet"))[0] == 0
    assert report.read_text(encoding="utf-8").startswith("# ")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sklearn_deid.audit.report.AuditReport.save", full)
    code, out, err = run(*command(folder, "--attacks", "linkage", "--output", tmp_path / "a.md", "--quiet"))
    assert code == 2 and out.startswith("Score: ") and "No space left" in err
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, out, err = run(*command(folder, "--attacks", "linkage", "--output", tmp_path / "file" / "a.md", "--quiet"))
    assert (code, out) == (2, "") and "error" in err


def test_low_score_ends_with_one(run, folder):
    assert run(*command(folder, "--attacks", "linkage", "--fail-under", "1", "--quiet"))[0] == 1
    code, out, _ = run(*command(folder, "--attacks", "pairs", "--max-seconds", "1", "--epochs", "1000000", "--quiet"))
    assert code == 1 and "The audit failed" in out and "Skipped: pair discrimination" in out


def test_existing_report_is_kept_unless_said(run, folder, tmp_path):
    report = tmp_path / "report.md"
    report.write_text("mine", encoding="utf-8")
    code, _, err = run(*command(folder, "--attacks", "linkage", "--output", report))
    assert code == 2 and "--overwrite" in err and report.read_text(encoding="utf-8") == "mine"
    assert run(*command(folder, "--attacks", "linkage", "--output", report, "--overwrite", "--quiet"))[0] == 0
    assert report.read_text(encoding="utf-8").startswith("# ")


def test_wrong_options_stop(run, folder, tmp_path):
    assert "must end in one of" in run(*command(folder, "--output", tmp_path / "report.pdf"))[2]
    assert "not 'guess'" in run(*command(folder, "--attacks", "lookup,guess"))[2]
    assert "must be a number above 0" in run(*command(folder, "--fail-under", "2"))[2]
    # Two sentences were an unexpected error with a traceback.
    assert "must be a whole number of at least 3" in run(*command(folder, "--max-sentences", "2"))[2]
    code, _, err = run("audit", folder / "notes", "--representer", tmp_path)
    assert code == 2 and "error" in err


def test_what_a_saved_representer_remembers_is_attacked_by_name(run, folder):
    code, out, _ = run(*command(folder, "--attacks", "membership_representer", "--quiet"))
    assert code == 0 and "model: A recipient of a new representer" in out and "Caution: Attacks on the model" in out


@pytest.fixture(scope="module")
def release(folder, corpus):
    """A release of the notes by the saved representer."""
    read = read_word_vectors(folder / "vectors.txt")
    vectors = WordVectors(read.words, read.vectors_at(np.arange(len(read))), is_public=True)
    representer = PrivateRepresenter.load(folder / "representer", embeddings=vectors, device="cpu")
    data = corpus.to_sentences()
    with pytest.MonkeyPatch.context() as patch:  # the keys of a test do not reach what several tests share
        draw_known_keys(patch, "release")
        save_representation(folder / "release", representer.transform(data.X), data.y)
    return folder / "release"


def test_a_saved_release_is_attacked_as_bytes(run, release, corpus, monkeypatch):
    # tests/audit search all seeds.
    monkeypatch.setitem(SeedSearch.__init__.__kwdefaults__, "n_seeds", 64)
    checks = ("--attacks", "file,seeds", "--quiet")
    code, out, _ = run("audit", "--release", release, *checks)
    assert code == 1 and "differs from its statements" not in out and "No attack was carried out" in out
    code, out, err = run("audit", "--release", release, "--attacks", "quick", "--quiet")
    assert code == 1 and "needs the notes behind the folder" in out
    assert_no_note_text(out + err, corpus)
    code, _, err = run("audit", "--release", release, "--attacks", "noise", "--quiet")
    assert code == 2 and err.startswith("sklearn-deid: error: The attack 'noise' is on")


def test_saved_word_classes_are_attacked_with_their_classes(run, folder, corpus, tmp_path):
    read = read_word_vectors(folder / "vectors.txt")
    vectors = WordVectors(read.words, read.vectors_at(np.arange(len(read))), is_public=True)
    classes, data = WordClassRepresenter(embeddings=vectors, class_size=5).fit([]), corpus.to_sentences()
    classes.save(tmp_path / "classes")
    save_representation(tmp_path / "release", classes.transform(data.X), data.y)
    given = ("--representer", tmp_path / "classes", "--embeddings", folder / "vectors.txt")
    checks = ("--release", tmp_path / "release", "--attacks", "classes,file,linkage", "--quiet")
    code, out, err = run("audit", folder / "notes", *given, *checks)
    assert (code, err) == (0, "") and "The audit failed" not in out, out


def test_a_report_names_the_folder_that_it_describes(run, folder, release, corpus, tmp_path):
    report = tmp_path / "report.json"
    run("audit", "--release", release, "--attacks", "file", "--quiet", "--output", report)
    assert run("audit", "--release", release, "--verify", report)[:2] == (0, "The report describes this folder.\n")
    # Exit code 0 seemed to say that the score, which is 0 here, reaches the limit.
    for more in (("--fail-under", "0.9"), ("--output", tmp_path / "a.html"), ("--representer", folder / "representer")):
        code, _, err = run("audit", "--release", release, "--verify", report, *more)
        assert code == 2 and "reads no score" in err
    # Another release of the same notes by the same representer has other noise, and needs an audit of its own.
    other = tmp_path / "other"
    shared = load_representation(release)
    save_representation(other, shared.X, shared.y, shuffle=False)
    assert run("audit", "--release", other, "--verify", report)[:2] == (1, "The report describes another folder.\n")
    damaged = tmp_path / "damaged"
    shutil.copytree(release, damaged)
    with (damaged / "arrays.safetensors").open("r+b") as stream:
        stream.seek(-1, 2)
        stream.write(b"\x7f")
    assert run("audit", "--release", damaged, "--verify", report)[0] == 2
    # What else lies in the folder would leave with it, and no digest covers it.
    shutil.copytree(release, tmp_path / "more")
    (tmp_path / "more" / "notes.txt").write_text("Mr. Alder", encoding="utf-8")
    for asked in (("--verify", report), ("--attacks", "file")):
        code, out, err = run("audit", "--release", tmp_path / "more", *asked, "--quiet")
        assert code == 2 and "1 other files or folders" in err and "Alder" not in out + err
    report.write_text("{}", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    pipe = ("--release", release, "--verify", tmp_path / "pipe")  # reading blocked
    for refused in (pipe, ("--release", release, "--verify", report), ("--verify", report), ("--verify", tmp_path)):
        code, _, err = run("audit", *refused)
        assert code == 2 and "error" in err


def test_what_is_attacked_must_be_said(run, folder, tmp_path):
    for arguments in (("audit",), ("audit", folder / "notes"), ("audit", "--representer", folder / "representer")):
        code, _, err = run(*arguments)
        assert code == 2 and "--release FOLDER" in err
    code, _, err = run("audit", "--release", tmp_path)
    assert code == 2 and "error" in err


def test_no_report_is_written_into_what_is_audited(run, folder, release):
    """A report in the folder of a release would be handed out with it; a manifest would be replaced."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for inside in (release / "report.json", release / "manifest.json", folder / "notes" / "report.html"):
        code, out, err = run(*command(folder, "--release", release, "--output", inside, "--overwrite"))
        assert (code, out) == (2, "") and "must not lie in the folder of the" in err
    code, _, err = run(*command(folder, "--output", folder / "representer" / "report.md"))
    assert code == 2 and "must not lie in the folder of the representer" in err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
