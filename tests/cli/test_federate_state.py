"""``sklearn-deid federate`` status, rollback, exclude and simulate."""

import re

import pytest

from sklearn_deid import make_clinical_notes, write_corpus
from sklearn_deid.cli import main

from ..federated.sites.test_checkpoints import kit  # noqa: F401

TINY = ["--notes", "2", "--epochs", "1", "--hidden-size", "4", "--device", "cpu"]


def test_status_rollback_and_exclude(kit, capsys):  # noqa: F811
    folder = str(kit)
    assert main(["federate", "status", folder]) == 0
    out = capsys.readouterr().out
    assert "Version 3; kept checkpoints: 0." in out
    assert re.search(r"^b +never +0 +0 +- +- +0  -$", out, flags=re.MULTILINE)
    assert main(["federate", "rollback", folder, "--to", "0"]) == 0
    assert "back at version 0. Version 3 is kept" in capsys.readouterr().out
    assert main(["federate", "exclude", folder, "--site", "a"]) == 0
    assert "Remaining sites: b." in capsys.readouterr().out
    assert main(["federate", "rollback", folder, "--to", "1"]) == 2
    assert main(["federate", "exclude", folder, "--site", "a"]) == 2


class Fake:
    """An ensemble that trains nothing, and remembers what it was given."""

    made: list = []
    history_ = type("History", (), {"bytes_up": 60, "bytes_down": 30, "__len__": lambda self: 6})()
    epsilon_ = [1.0, 7.5]

    def __init__(self, tagger, **parameters):
        self.parameters, self.privacy, self.global_estimator_ = parameters, parameters["privacy"], self
        self.made.append(self)

    def fit_workers(self, parts):
        self.patients = [set(groups) for _, _, groups in parts]
        return self

    def score(self, X, y):
        return 0.5

    def score_workers(self, X, y):
        return [0.25] * len(self.patients)


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr("sklearn_deid.federated.DSSGDEnsemble", Fake)
    monkeypatch.setattr(Fake, "made", [])
    return Fake


def test_simulation_of_generated_notes(fake, capsys):
    assert main(["federate", "simulate", *TINY]) == 0
    out = capsys.readouterr().out
    assert "3 sites with 2, 2, 2 notes; 6 test notes." in out
    assert re.findall(r"(?m)^(.*?)  +strict F1 (.*)$", out) == [
        ("site 1 alone", "0.250"),
        ("site 2 alone", "0.250"),
        ("site 3 alone", "0.250"),
        ("common model", "0.500"),
        ("all notes in one place", "0.500"),
    ]
    assert "10 up, 5 down" in out
    assert "no epsilon is promised" in out
    assert [one.parameters["strategy"] for one in fake.made] == ["local", "fedavg", "centralized"]


def test_only_the_common_model_is_private(fake, capsys):
    assert main(["federate", "simulate", *TINY, "--patient-epsilon", "8"]) == 0
    assert "epsilon of each patient, common model: 7.500 at delta 1e-05" in capsys.readouterr().out
    assert [one.parameters["privacy"] is None for one in fake.made] == [True, False, True]
    assert main(["federate", "simulate", *TINY, "--patient-epsilon", "-1"]) == 2


def test_folders_are_sites_and_tests_have_other_patients(fake, tmp_path, capsys):
    files, corpora = [], [make_clinical_notes(9, 3, random_state=seed) for seed in range(2)]
    for number, corpus in enumerate(corpora):
        files.append(str(tmp_path / f"{number}.jsonl"))
        write_corpus(corpus, files[-1], format="jsonl")
    assert main(["federate", "simulate", *files, *TINY]) == 0
    kept = [set(corpus.patients) for corpus in corpora]
    for one in fake.made:
        assert [len(patients) for patients in one.patients] == [2, 2]
        assert all(patients < own for patients, own in zip(one.patients, kept, strict=True))
    assert main(["federate", "simulate", files[0], *TINY]) == 2
