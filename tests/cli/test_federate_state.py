"""``sklearn-deid federate`` status, rollback, exclude and simulate."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid import Corpus, make_clinical_notes, write_corpus
from sklearn_deid.cli import main
from sklearn_deid.federated.sites import list_checkpoints, server_checkpoint
from sklearn_deid.federated.state_file import read_state, write_state
from sklearn_deid.tagging.training_loop import warn_of_interruption

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


def test_columns_of_the_status_have_a_gap(kit, capsys, monkeypatch):  # noqa: F811
    """The name of a site of 20 or more characters ran into the date, and a norm of 12345.678 into the bytes."""
    row = {"last": 1.7e9, "uploads": 2, "bytes": 123456789012, "norm": 12345.678, "f1": None, "refused": 0}
    names = ["b", "university-hospital-of-the-north"]
    monkeypatch.setattr("sklearn_deid.federated.sites.site_events", lambda _: {n: {**row, "reason": ""} for n in names})
    assert main(["federate", "status", str(kit)]) == 0
    head, *lines = capsys.readouterr().out.splitlines()[1:]
    last = ["2023-11-14", "22:13:20", "2", "123456789012", "12345.678", "-", "0", "-"]
    assert [line.split() for line in lines] == [[name, *last] for name in names]
    assert {line.index("2023") for line in lines} == {head.index("last contact")}


FORGED_EVENTS = [
    *({"time": time} for time in ("x", -1, 1e30, [], True)),
    *({"event": "upload", "applied": True, name: value} for name in ("bytes", "norm") for value in ("x", {}, -1)),
    *({"event": "done", "f1": f1} for f1 in ("x", 2)),
    {"reason": ["x"]},
]


def lines_of_the_error(arguments, capsys):
    assert main(["federate", *arguments]) == 2
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    "line",
    [
        *(json.dumps({"site": "a", **event}).encode() for event in FORGED_EVENTS),
        b'{"site": "a", "time": 1e400}',
        b'{"site": "a", "time": NaN}',
        b"\xff\xfe",
        b"[" * 100_000,
        b"5",
    ],
)
def test_status_of_a_forged_log_is_one_line(kit, capsys, line):  # noqa: F811
    server_checkpoint(kit)[1].with_name("events.jsonl").write_bytes(b'{"site": "b"}\n' + line + b"\n")
    (error,) = lines_of_the_error(["status", str(kit)], capsys)
    assert error.startswith("sklearn-deid: error: Line 2 of the log is damaged. [file ")


def test_a_reason_in_the_log_cannot_steer_the_terminal(kit, capsys):  # noqa: F811
    event = {"site": "a", "event": "refused", "reason": "late\x1b[2J\ud800"}
    server_checkpoint(kit)[1].with_name("events.jsonl").write_text(json.dumps(event))
    assert main(["federate", "status", str(kit)]) == 0
    assert "late [2J \n" in capsys.readouterr().out


@pytest.mark.parametrize("is_copy", [False, True])
@pytest.mark.parametrize(
    ("field", "value"),
    [("version", "x"), ("version", None), ("model", None), ("model", "0" * 32), ("counts", np.zeros((2, 2)))]
    + [("parameters", value) for value in (np.full(4, np.nan), np.zeros(3), np.zeros((2, 2)))],
)
def test_rollback_of_forged_checkpoints_is_one_line_and_changes_nothing(kit, capsys, is_copy, field, value):  # noqa: F811
    checkpoint = server_checkpoint(kit)[1]
    path = list_checkpoints(kit)[0] if is_copy else checkpoint
    state, arrays = read_state(path, "parameter server")
    if field in arrays:
        arrays[field] = value.astype(np.float32)
    else:
        state[field] = value
    write_state(path, "parameter server", state, arrays)
    before = checkpoint.read_bytes()
    (error,) = lines_of_the_error(["rollback", str(kit), "--to", "0"], capsys)
    assert error.startswith("sklearn-deid: error: ")
    assert (checkpoint.read_bytes(), list(list_checkpoints(kit))) == (before, [0])


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
    out, told = capsys.readouterr()
    # Generated patients with equal ids counted as the same patients.
    assert not told
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


def test_an_interruption_ends_the_simulation(fake, monkeypatch, capsys):
    """Ctrl-C ended one training, the next ones went on, and the comparison looked complete, at exit code 0."""

    def interrupted(self, parts):
        warn_of_interruption("interrupted after 1 epoch", stacklevel=2)

    monkeypatch.setattr(Fake, "fit_workers", interrupted)
    assert main(["federate", "simulate", *TINY]) == 130
    assert "strict F1" not in capsys.readouterr().out and len(fake.made) == 1


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


@pytest.mark.parametrize("has_ids", [True, False])
def test_patients_who_may_be_in_the_training_and_in_the_test_are_told(fake, tmp_path, capsys, has_ids):
    """The same patient at two sites, and notes without a patient id, gave scores and an epsilon without a caution."""
    corpus = make_clinical_notes(9, 9, random_state=0)
    notes = [note if has_ids else replace(note, patient_id=None) for note in corpus]
    files = [str(tmp_path / f"{number}.jsonl") for number in range(3)]
    for file in files:
        write_corpus(Corpus(notes), file, format="jsonl")
    assert main(["federate", "simulate", *files, *TINY, "--patient-epsilon", "8"]) == 0
    told = capsys.readouterr().err
    assert ("27 of 27 notes have no patient id" in told) != has_ids
    assert ("of the test notes" in told) == has_ids
    assert ("in training notes of several sites, at most 3. If" in told and "epsilons add up." in told) == has_ids
    assert main(["federate", "simulate", *files, *TINY]) == 0
    assert "of several sites" not in capsys.readouterr().err
