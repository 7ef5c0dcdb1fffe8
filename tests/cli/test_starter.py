"""The model of the package in the command line: redact without training, and train on from it."""

import json

import pytest

from sklearn_deid import Corpus, Document, Span, load, load_model, write_corpus
from sklearn_deid.cli.scoring import DEFAULT_START, _settings

from .conftest import contents

NOTE = Document(
    "n1",
    "Sra. Amara Okafor, 54 year old from Ohio, seen on March 3, 2021.",
    (Span(5, 17, "NOMBRE"), Span(50, 63, "FECHA")),
)


def write_raw(folder):
    write_corpus(Corpus([Document(NOTE.doc_id, NOTE.text)]), folder, format="text", lossy=True)
    return folder


def test_redact_and_tag_with_the_starter(run, tmp_path):
    raw = write_raw(tmp_path / "raw")
    assert run("redact", raw, "--model", "starter-en", "--output", tmp_path / "out")[0] == 0
    assert contents(tmp_path / "out") == {"n1.txt": load_model().redact([NOTE.text])[0]}
    assert run("redact", raw, "--model", "starter-en", "--labels", "all", "--output", tmp_path / "all")[0] == 0
    assert contents(tmp_path / "all") == {"n1.txt": load_model(labels="all").redact([NOTE.text])[0]}
    assert run("tag", raw, "--model", "starter-en", "--output", tmp_path / "tagged.jsonl")[0] == 0
    (row,) = (json.loads(line) for line in (tmp_path / "tagged.jsonl").read_text(encoding="utf-8").splitlines())
    assert len(row["spans"]) == len(load_model().annotate([NOTE.text])[0])


def test_misspelt_name_of_the_model(run, tmp_path):
    """The message asked for a file in a folder that does not exist."""
    raw = write_raw(tmp_path / "raw")
    code, _, err = run("redact", raw, "--model", "starter_en", "--output", tmp_path / "out")
    assert code == 2 and "Did you mean the model starter-en?" in err
    code, _, err = run("redact", raw, "--model", tmp_path / "model", "--output", tmp_path / "out")
    assert code == 2 and "There is no such folder." in err and not (tmp_path / "out").exists()


def test_random_weights_of_many_notes_are_those_of_the_default(monkeypatch):
    """Without a start, the blocks are those of as many notes by default."""
    monkeypatch.setattr("sklearn_deid.tagging.default_start.FEW_CHARACTERS", 10)
    assert repr(_settings(Corpus([NOTE]), None)) == repr(_settings(Corpus([NOTE]), DEFAULT_START))
    monkeypatch.undo()
    assert _settings(Corpus([NOTE]), None) == {"context": "block"}


def test_resume_with_other_labels_is_refused(run, tmp_path):
    raw = write_raw(tmp_path / "raw")
    command = ["redact", raw, "--model", "starter-en", "--output", tmp_path / "out"]
    assert run(*command)[0] == 0
    assert run(*command, "--resume")[0] == 0
    assert run(*command, "--resume", "--labels", "all")[0] == 2


def test_folder_with_the_name_of_the_starter_is_no_guess(run, tmp_path, monkeypatch, model):
    raw = write_raw(tmp_path / "raw")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "starter-en").symlink_to(model)
    code, _, err = run("redact", raw, "--model", "starter-en", "--output", tmp_path / "out")
    assert code == 2
    assert "./starter-en" in err
    assert not (tmp_path / "out").exists()
    assert run("redact", raw, "--model", "./starter-en", "--output", tmp_path / "out")[0] == 0


def test_train_from_the_starter_with_labels_of_another_name(run, tmp_path):
    write_corpus(Corpus([NOTE]), tmp_path / "notes.jsonl")
    command = ["train", tmp_path / "notes.jsonl", "--from", "starter-en", "--model", tmp_path / "m", "--epochs", "1"]
    assert run(*command, "--quiet")[0] == 0
    trained = load(tmp_path / "m")
    assert trained.labels == "all"
    # One note and one epoch: what is known comes from the starter.
    assert {span.label for span in trained.annotate(["Mr. Kenji Tanaka came on April 4, 2020."])[0]} == {
        "NOMBRE",
        "FECHA",
    }


def test_notes_that_are_marked_by_the_rule_are_recognised_and_trained_by_it(run, tmp_path):
    text = "Mr. Kenji Tanaka, {} years old, came on April 4, 2020. He had surgery in 1998."
    notes = [Document(f"n{i}", text.format(41 + i), (Span(4, 16, "PATIENT"), Span(40, 53, "DATE"))) for i in range(4)]
    write_corpus(Corpus(notes), tmp_path / "notes.jsonl")
    command = ["train", tmp_path / "notes.jsonl", "--epochs", "30", "--model"]
    _, _, err = run(*command, tmp_path / "all")
    assert "With --labels hipaa, the model misses fewer ages from 90" in err
    _, _, err = run(*command, tmp_path / "hipaa", "--labels", "hipaa")
    assert "--labels hipaa" not in err
    note = ["Ms. Amara Okafor, 103 years old, came on March 3, 2021. She had surgery in 1987."]
    assert load(tmp_path / "hipaa").redact(note) == [
        "Ms. [PATIENT], [AGE] years old, came on [DATE]. She had surgery in 1987."
    ]


@pytest.mark.parametrize(("options", "starts"), [([], True), (["--from", "none"], False)])
def test_few_english_notes_start_from_the_starter_unless_told_otherwise(run, tmp_path, options, starts):
    write_corpus(Corpus([NOTE]), tmp_path / "notes.jsonl")
    code, _, err = run("train", tmp_path / "notes.jsonl", "--model", tmp_path / "m", "--epochs", "1", *options)
    assert code == 0
    assert ("The training starts from starter-en" in err) == starts
    (found,) = load(tmp_path / "m").annotate(["Mr. Kenji Tanaka came on April 4, 2020."])
    assert ({span.label for span in found} == {"NOMBRE", "FECHA"}) == starts


def test_folder_of_the_name_none_is_no_guess(run, tmp_path, monkeypatch, gold):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "none").mkdir()
    code, _, err = run("train", gold, "--from", "none", "--model", tmp_path / "m", "--quiet")
    assert code == 2 and "./none" in err
    assert not (tmp_path / "m").exists()


def test_train_from_a_model_that_is_missing_names_it(run, tmp_path, gold):
    code, _, err = run("train", gold, "--from", tmp_path / "nothing", "--model", tmp_path / "m", "--quiet")
    assert code == 2
    assert "nothing" in err
    assert not (tmp_path / "m").exists()
