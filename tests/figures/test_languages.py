"""The benchmark of languages: no patient on both sides, counts by hand, and what is finished stays."""

from __future__ import annotations

import json

import pytest
from sklearn.base import BaseEstimator

from benchmarks import languages
from sklearn_deid import Document, NoteDeidentifier, Span, make_clinical_notes, write_corpus
from sklearn_deid.text import Corpus


class Capitals(BaseEstimator):
    """Tags each token with a capital as the first label of `fit`."""

    def fit(self, X, y):
        self.label_ = min(tag[2:] for row in y for tag in row if tag != "O")
        return self

    def predict(self, X):
        return [[f"B-{self.label_}" if token[:1].isupper() else "O" for token in row] for row in X]


@pytest.fixture
def folder(tmp_path):
    for name, seed in (("de", 0), ("fr", 1)):
        (tmp_path / "data" / name).mkdir(parents=True)
        notes = make_clinical_notes(12, n_patients=6, random_state=seed)
        write_corpus(notes, tmp_path / "data" / name / "dev.jsonl", format="jsonl")
    (tmp_path / "data" / "other").mkdir()
    return tmp_path


def test_folds_hold_whole_patients_and_each_note_once(folder):
    corpus = languages.read(folder / "data" / "de")
    pairs = languages.splits(corpus, 3)
    assert sorted(note.doc_id for _, test in pairs for note in test) == sorted(note.doc_id for note in corpus)
    for train, test in pairs:
        assert not set(train.groups) & set(test.groups)
        assert len(train) + len(test) == len(corpus)


def test_counts_by_hand():
    note = Document("n", "Ann (5) saw Bo", (Span(0, 3, "NAME"), Span(4, 7, "AGE"), Span(12, 14, "NAME")))
    found = [(Span(0, 3, "AGE"), Span(5, 6, "AGE"), Span(12, 14, "NAME"))]
    assert languages.counts(Corpus([note]), found) == {
        "right": 1,
        "predicted": 3,
        "gold": 3,
        "hidden": {"AGE": [1, 1], "NAME": [5, 5]},
    }


def test_finished_folds_are_not_run_again(folder, monkeypatch, capsys):
    monkeypatch.setattr(languages, "deidentifier", lambda *_: NoteDeidentifier(Capitals()))
    given = [str(folder / "data"), "--models", "crf", "--folds", "2", "--runs", str(folder / "runs.jsonl")]
    languages.main([*given, "--sizes", "2", "50", "all", "--figure", str(folder / "f1.png")])
    printed = json.loads(capsys.readouterr().out)["results"]
    # 50 notes are more than a fold has.
    assert set(printed) == {f"{name}/crf/{size}" for name in ("de", "fr") for size in ("2", "all")}
    assert printed["de/crf/2"]["notes"] == 2 and printed["de/crf/all"]["notes"] == 6
    assert (folder / "f1.png").stat().st_size > 1000
    monkeypatch.setattr(languages, "deidentifier", None)
    languages.main([*given, "--sizes", "2", "all"])
    assert json.loads(capsys.readouterr().out)["results"] == printed


def test_f1_is_that_of_all_folds_together():
    rows = [
        {"arm": "de/crf/10/0", "seed": 0, "right": 3, "predicted": 4, "gold": 4, "hidden": {"A": [1, 2]}},
        {"arm": "de/crf/10/1", "seed": 0, "right": 0, "predicted": 1, "gold": 3, "hidden": {"A": [2, 2], "B": [0, 4]}},
    ]
    row = {"notes": 10, "fit_seconds": 1.0, "tag_seconds": 0.5}
    found = languages.summary([{**one, **row} for one in rows])["de/crf/10"]
    assert found["strict_f1"][0] == 0.5 and found["folds"] == 2
    assert found["recall"] == 0.375 and found["recall_by_label"] == {"A": 0.75, "B": 0.0}
