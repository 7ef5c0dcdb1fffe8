"""The page for officers shows what the commands print: a federation of three sites is planned, run and repaired."""

import json
import math
import re
from functools import partial
from pathlib import Path
from threading import Lock, Thread

import pytest

from sklearn_deid import make_clinical_notes, write_corpus
from sklearn_deid.cli import main
from sklearn_deid.federated import ParameterServer
from sklearn_deid.federated.sites import (
    FederationConfig,
    SessionRules,
    SiteSettings,
    SiteTraining,
    keep_checkpoint,
    keep_round,
    make_service,
    pack,
    read_settings,
    server_checkpoint,
    unpack,
)

from .pages import ROOT, blocks_of

PAGE = ROOT / "docs" / "federated_officer.md"
SITES = ["hospital-a", "hospital-b", "hospital-c"]
PLAN = ["federate", "plan", "lab", "--project", "lab", "--server", "deid.example.org", "--lead", "r@example.org"]
NAMED = [word for name in SITES for word in ("--site", name)]
SMALL = ["--hidden-size", "4", "--embeddings", "none", "--session-epochs", "2"]


def kit(folder, startup):
    """The parts of a kit that matter here."""
    for name in ("startup", "local"):
        (folder / name).mkdir(parents=True)
    (folder / "startup" / startup).write_text("{}")
    storage = {"args": {"storage": {"args": {}}}}
    resources = {"components": [{"id": "job_manager", "args": {}}], "snapshot_persistor": storage}
    (folder / "local" / "resources.json.default").write_text(json.dumps(resources))


def run_session(names):
    """One session of all sites, one of them at a time; the log of the server as its controller writes it."""
    agreement, checkpoint = server_checkpoint("server")
    keep_checkpoint(checkpoint)
    server, clock = ParameterServer.load(checkpoint, keep=True), iter(range(1_795_525_200, 1_795_600_000, 20))
    events, turn = checkpoint.with_name("events.jsonl"), Lock()

    def record(event):
        with events.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"time": next(clock), "job": "session", **event}) + "\n")

    service = make_service(server, agreement, SessionRules(2), record)
    service.after_round = lambda: keep_round(checkpoint)

    def take_part(name):
        with turn:
            training = SiteTraining(
                read_settings(FederationConfig, f"{name}/local/federation.json"),
                read_settings(SiteSettings, f"{name}/local/site.json"),
                name,
            )
        training.robust._pause = 0.01
        train = training._epoch

        def one_at_a_time(message):
            with turn:
                train(message)

        training._epoch = one_at_a_time
        training.run_session(lambda fields, body=b"": unpack(service.answer(name, pack(fields, body))))

    threads = [Thread(target=partial(take_part, name), daemon=True) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)


def printed_by(capsys, notes=6, network=SMALL):
    """Everything that the commands of a federation print, and the lines of two officers."""
    for number, name in enumerate([*SITES, "server"]):
        kit_of = "fed_client.json" if name in SITES else "fed_server.json"
        kit(Path(name), kit_of)
        if name in SITES:
            write_corpus(make_clinical_notes(notes, random_state=number), f"notes/{name}", "brat")
    assert main([*PLAN, *NAMED, *network]) == 0
    assert main(["federate", "server", "server", "--agreement", "lab/federation.json"]) == 0
    for name, own in zip(SITES, (["--patient-epsilon", "8"], [], []), strict=True):
        whole = ["federate", "site", name, "--agreement", "lab/federation.json", "--corpus", f"notes/{name}"]
        assert main([*whole, *own]) == 0
    run_session(SITES)
    for name in SITES[:2]:
        print(Path(name, "deid-state", "officer.log").read_text(encoding="utf-8"))
    assert main(["federate", "status", "server"]) == 0
    assert main(["federate", "exclude", "server", "--site", "hospital-c"]) == 0
    assert main(["federate", "rollback", "server", "--to", "1"]) == 0
    return capsys.readouterr().out


def without_numbers(line):
    return re.sub(r"[\d.,:]*\d", "#", " ".join(line.split()))


@pytest.fixture
def accountant(monkeypatch):
    """An epsilon of 0.5 a step: the accountant itself is tested elsewhere."""
    module = "sklearn_deid.federated.patient_ledger.epsilon_of_steps"
    monkeypatch.setattr(module, lambda noise, rate, n, delta: 0.005 * n)


def test_lines_of_the_page_are_those_of_the_program(tmp_path, monkeypatch, capsys, accountant):
    monkeypatch.chdir(tmp_path)
    real = {without_numbers(line) for line in printed_by(capsys).splitlines()}
    # The page wraps long lines: what a blank line ends is one line of the program, or several short ones.
    shown = [part for block in blocks_of(PAGE, "text") for part in block.split("\n\n")]
    assert len(shown) > 7

    def is_real(part):
        return without_numbers(part) in real or all(without_numbers(line) in real for line in part.splitlines())

    assert [part for part in shown if not is_real(part)] == []


def test_guesses_follow_from_epsilon():
    """The guess with both answers equally likely before: e^epsilon / (1 + e^epsilon), rounded up as an upper bound."""
    rows = re.findall(r"^\| (?:epsilon|right at most) \|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    epsilons, shown = (row.replace("%", "").split("|") for row in rows)
    for epsilon, percent in zip(epsilons, shown, strict=True):
        assert 0 <= float(percent) - 100 / (1 + math.exp(-float(epsilon))) < 0.1
