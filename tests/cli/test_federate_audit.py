"""``sklearn-deid federate audit``: attacks on the exchange that the server of a federation has kept."""

import json
import re

import pytest

from sklearn_deid import make_clinical_notes, write_corpus
from sklearn_deid.cli import main
from sklearn_deid.federated import ExchangeRecord, ParameterServer
from sklearn_deid.federated.sites import (
    EXCHANGE,
    FederationConfig,
    SessionRules,
    SiteSettings,
    SiteTraining,
    harden_server,
    make_service,
    pack,
    read_settings,
    recorded_ensemble,
    unpack,
)
from sklearn_deid.federated.sites.event_file import EventFile

from .test_federate import PLAN

SITES = ["site-1", "site-2"]
DENSE = {"upload_fraction": 1.0, "download_fraction": 1.0, "threshold": 0.0, "format": "brat"}


@pytest.fixture
def kit(tmp_path, monkeypatch):
    """Kit of a server after a session of two sites, as the controller leaves it."""
    monkeypatch.chdir(tmp_path)
    named = [word for site in SITES for word in ("--site", site)]
    small = ["--hidden-size", "4", "--embeddings", "none", "--epochs", "2", "--keep-exchange"]
    assert main([*PLAN, "lab", *named, *small]) == 0
    kit = tmp_path / "server"
    for folder in ("startup", "local"):
        (kit / folder).mkdir(parents=True)
    (kit / "startup" / "fed_server.json").write_text("{}")
    storage = {"args": {"storage": {"args": {}}}}
    resources = {"components": [{"id": "job_manager", "args": {}}], "snapshot_persistor": storage}
    (kit / "local" / "resources.json.default").write_text(json.dumps(resources))
    agreement = read_settings(FederationConfig, tmp_path / "lab" / "federation.json")
    server = ParameterServer.load(harden_server(kit, agreement), keep=True)
    service = make_service(server, agreement, SessionRules(2), EventFile(kit / "deid-state" / "events.jsonl", "1"))
    service.exchange = ExchangeRecord()
    for seed, site in enumerate(SITES):
        write_corpus(make_clinical_notes(2, random_state=seed), tmp_path / site, "brat")
        training = SiteTraining(
            agreement,
            SiteSettings(str(tmp_path / site), str(tmp_path / f"{site}-state"), random_state=seed, **DENSE),
            site,
        )
        training.run_session(lambda f, body=b"", site=site: unpack(service.answer(site, pack(f, body))))
    service.exchange.save(kit / EXCHANGE)
    return kit


def test_every_message_is_kept_and_attacked(kit, capsys):
    record = recorded_ensemble(kit).exchange_
    assert [(m.direction, m.worker, m.epoch) for m in record] == [
        (direction, site, epoch)
        for site in SITES
        for direction, epoch in (("down", 0), ("up", 1), ("down", 1), ("up", 2))
    ]
    assert (kit / EXCHANGE).stat().st_mode & 0o077 == 0
    notes = [word for site in SITES for word in ("--notes", f"{site}={site}")]
    assert main(["federate", "audit", str(kit), *notes]) == 0
    out = capsys.readouterr().out
    assert "whose is it? names, PATIENT: AUC site-1 " in out
    assert "whose is it? words outside of PHI: AUC site-1 " in out
    assert "updates: " in out and "None" not in out and "lacks" not in out
    # Nobody could tell an AUC of few names from chance.
    assert len(re.findall(r"whose is it\? .*; by chance 0\.\d{3} to \d\.\d{3}\n", out)) == 3
    assert re.search(r"^\d of 6 AUCs beyond the range of chance", out, re.MULTILINE)
    assert "says nothing about the updates" not in out
    assert main(["federate", "audit", str(kit), *notes[:2]]) == 2
    assert "updates of site-1, site-2" in capsys.readouterr().err
    # The first folder of a site was left out without a word.
    assert main(["federate", "audit", str(kit), *notes, "--notes", "site-1=site-2"]) == 2
    assert "names a site twice" in capsys.readouterr().err


def test_a_record_without_the_updates_of_a_killed_server(kit, capsys):
    """The attacks on the rest were reported as those on the whole training."""
    record = ExchangeRecord.load(kit / EXCHANGE)
    short = ExchangeRecord()
    for message in record:
        if (message.worker, message.epoch) != ("site-2", 2):
            short.add(*message)
    short.save(kit / EXCHANGE)
    # As of sites with many notes: all characters, shapes and labels occur at each of them.
    notes = [word for site in SITES for word in ("--notes", f"{site}=site-1")]
    assert main(["federate", "audit", str(kit), *notes]) == 0
    out = capsys.readouterr().out
    assert "The record lacks 1 of 2 updates of site-2, because the server was killed" in out
    assert "whose is it? names, PATIENT: AUC none\n" in out and "range of chance" not in out
    assert "Score: 0.00" in out and "The score says nothing about the updates: the same characters" in out


def test_nothing_is_kept_without_the_agreement(kit, capsys):
    (kit / EXCHANGE).unlink()
    assert main(["federate", "audit", str(kit), "--notes", "site-1=site-1"]) == 2
    assert "--keep-exchange" in capsys.readouterr().err
