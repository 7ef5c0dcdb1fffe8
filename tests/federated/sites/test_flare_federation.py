"""A federation as hospitals would run it, on one machine: killed and suspended sites, sessions, other code refused.

Every wait is bounded and looks at files; every process is killed at the end, also where a test fails.
"""

import json
import socket
import ssl
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("nvflare", reason="needs the extra 'federated' (NVIDIA FLARE)")

from sklearn_deid import load, read_corpus
from sklearn_deid.federated import ExchangeRecord, ParameterServer, read_state
from sklearn_deid.federated.sites import (
    EXCHANGE,
    MASK_KEY,
    FederationConfig,
    SessionRules,
    SiteSettings,
    harden_server,
    harden_site,
    list_checkpoints,
    make_mask_key,
    read_settings,
    write_session,
)
from sklearn_deid.federated.sites.flare_kits import CHECKPOINT

from .flare_lab import HOST, Lab

pytestmark = pytest.mark.federated

SITES = ["site-1", "site-2", "site-3"]
N_EPOCHS, N_IN_SESSION = 14, 12


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("federation"), SITES)
    try:
        network = ("--hidden-size", 24, "--embeddings", "none", "--lr", 0.01, "--batch-size", 100, "--step", 0.5)
        waits = ("--first-contact", 200, "--silence", 40, "--grace", 200, "--longest", 230)
        counts = ("--epochs", N_EPOCHS, "--session-epochs", N_IN_SESSION, "--download-selection", "most-changed")
        counts += ("--no-screen",)  # sites that send a part of their updates
        lab.plan(*counts, *network, *waits)
        lab.certify()
        own = (
            "--download-fraction",
            0.5,
            "--validation-fraction",
            0.3,
            "--threshold",
            1e-4,
            "--upload-dtype",
            "float32",
        )
        few = ("--upload-fraction", 0.1, "--selection", "largest", "--error-feedback")
        half = ("--upload-fraction", 0.5)
        lab.prepare({"site-1": (12, *own, *half), "site-2": (12, *own, *half), "site-3": (24, *own, *few)})
        lab.start_all()
        yield lab
    finally:
        lab.close()


@pytest.fixture(scope="module")
def trained(lab):
    """Two sessions: in the first site-3 is killed and site-2 suspended, the server is killed between the two."""
    first = lab.submit()
    lab.wait(lambda: len(lab.events(first, event="upload", site="site-3")) >= 2, "site-3 uploads")
    seen = len(lab.log(HOST))
    lab.kill("site-3")
    n_before = len(lab.history("site-3"))
    lab.start("site-3")
    lab.wait(lambda: len(lab.events(first, event="upload", site="site-2")) >= 2, "site-2 uploads")
    lab.suspend("site-2")
    n_suspended = len(lab.events(first, event="upload", site="site-2"))
    n_alone = N_IN_SESSION - len(lab.events(first, event="upload", site="site-1"))
    lab.wait_for_site("site-3", seen)
    end_of_first = lab.wait_for_end(first)
    lab.resume("site-2")
    version = lab.restart_server(lambda: checkpoint(lab).version)
    second = lab.submit()
    end_of_second = lab.wait_for_end(second)
    return {
        "ends": (end_of_first, end_of_second),
        "n_before": n_before,
        "n_suspended": n_suspended,
        "n_alone": n_alone,
        "version": version,
        "second": second,
    }


def checkpoint(lab):
    return ParameterServer.load(lab.kit(HOST) / "deid-state" / "server.state")


def test_killed_and_suspended_sites_stop_nobody_and_go_on_in_the_next_session(lab, trained):
    first, second = trained["ends"]
    assert (first["done"], first["missing"]) == (["site-1"], ["site-2", "site-3"])
    assert (second["done"], second["missing"]) == (SITES, [])
    assert trained["n_alone"] > 0  # epochs of site-1 while nobody else was there
    for n_before in (trained["n_before"], trained["n_suspended"]):
        assert 2 <= n_before < N_IN_SESSION
    for site in SITES:
        assert [line["epoch"] for line in lab.history(site)] == list(range(1, N_EPOCHS + 1))


def test_killed_server_goes_on_from_its_checkpoint(lab, trained):
    assert lab.events(trained["second"], event="start")[0]["version"] == trained["version"] > 0
    server = checkpoint(lab)
    assert server.version == N_EPOCHS * len(SITES)
    assert [server.delivered(site) for site in SITES] == [[(0, N_EPOCHS - 1)]] * len(SITES)
    assert server.n_refused == 0


def test_bytes_are_those_of_the_shares(lab, trained):
    size = checkpoint(lab).size
    dense, bitmap, header = 4 * size, size // 8 + 1, 52
    for site, upload_fraction in (("site-1", 0.5), ("site-2", 0.5), ("site-3", 0.1)):
        lines = lab.history(site)
        assert lines[0]["bytes_down"] == dense + header
        for line in lines:
            assert line["bytes_up"] <= upload_fraction * dense + bitmap + header
        for line in lines[1:]:
            assert line["bytes_down"] <= 0.5 * dense + bitmap + header
        sent = {event["sequence"]: event["bytes"] for event in lab.events(event="upload", site=site)}
        assert sent == {number: line["bytes_up"] for number, line in enumerate(lines)}
    # A quarter of what federated averaging uploads in an epoch, with room.
    assert max(line["bytes_up"] for line in lab.history("site-3")) < 0.25 * dense


def test_what_site_3_has_not_sent_outlives_its_processes(lab, trained):
    """It was killed in the first session; its state holds the rest of each update, the others keep nothing."""
    for site in SITES:
        _, arrays = read_state(lab.kit(site) / "deid-state" / "worker.state", "worker")
        assert ("unsent" in arrays and bool(arrays["unsent"].any())) == (site == "site-3")


def mean_surprise(tagger, notes):
    """Mean of -ln p of the true tags: unlike the F1 of so short a training, it does not hang on a few spans."""
    column = {tag: i for i, tag in enumerate(tagger.classes_)}
    pairs = zip(tagger.predict_proba(notes.X), notes.y, strict=True)
    return -np.mean(np.concatenate([np.log([p[column[tag]] for p, tag in zip(*pair, strict=True)]) for pair in pairs]))


def surprise_of_the_best_constant(notes):
    _, counts = np.unique(np.concatenate(list(notes.y)), return_counts=True)
    shares = counts / counts.sum()
    return -np.sum(shares * np.log(shares))


def test_both_ends_have_a_model(lab, trained):
    """Each knows more of the notes it was trained on than the frequencies of the tags; the untrained network does not.

    (How well so little training carries over to other notes is luck: each site draws its own seed.)
    """
    lab.command("sklearn-deid", "federate", "model", lab.kit(HOST), "--output", "global-model")
    agreement, state = read_settings(FederationConfig, lab.kit(HOST) / "local" / "federation.json"), checkpoint(lab)
    untrained = agreement.tagger_with(agreement.new_server().parameters, state.model)
    common, shares = load(lab.root / "global-model"), []
    for site in SITES:
        notes = read_corpus(lab.root / "notes" / site, "brat").to_sentences()
        guess = surprise_of_the_best_constant(notes)
        for tagger in (untrained, common, load(lab.kit(site) / "deid-state" / "model")):
            shares.append(mean_surprise(tagger, notes) / guess)
    print("surprise of the untrained, the global, the site's network over that of the best constant guess:")
    print(np.round(np.reshape(shares, (-1, 3)), 3))
    assert min(shares[0::3]) > 1 > max(*shares[1::3], *shares[2::3])
    of_checkpoint = agreement.tagger_with(state.parameters, state.model)
    assert list(common.predict(notes.X)) == list(of_checkpoint.predict(notes.X))


def test_nothing_private_is_at_the_server(lab, trained):
    """Neither notes nor a site's settings are in any file of the server's kit, or in what FLARE logs."""
    words = {document.text[:40] for site in SITES for document in read_corpus(lab.root / "notes" / site, "brat")}
    secrets = {*words, "validation_fraction", "clip", str(lab.root / "notes")}
    files = [path for path in lab.kit(HOST).rglob("*") if path.is_file()]
    for content in [path.read_bytes() for path in files] + [lab.log(name).encode() for name in (HOST, *SITES)]:
        assert not [word for word in words if word.encode() in content]
    for content in [path.read_bytes() for path in files]:
        assert not [secret for secret in secrets if secret.encode() in content]


N_MASKED = 2


@pytest.fixture(scope="module")
def masked(lab, trained):
    """The same kits with masks: site-3 is killed in the first session, and the round is repeated in the second."""
    keys = {site: make_mask_key(lab.kit(site) / MASK_KEY) for site in SITES}
    plain = read_settings(FederationConfig, lab.root / "lab" / "federation.json")
    agreement = replace(plain, n_epochs=N_MASKED, mask_keys=keys, download_selection="most-updated", step=0.5)
    (lab.kit(HOST) / CHECKPOINT).rename(lab.root / "plain.state")
    harden_server(lab.kit(HOST), agreement)
    for site in SITES:
        own = {"upload_fraction": 1.0, "download_fraction": 1.0, "threshold": 0.0, "format": "brat"}
        files = str(lab.root / "notes" / site), str(lab.kit(site) / "masked-state")
        harden_site(lab.kit(site), agreement, SiteSettings(*files, mask_key=str(lab.kit(site) / MASK_KEY), **own))
    write_session(lab.root / "masked" / "session", SessionRules(N_MASKED, 200.0, 15.0, longest=230.0))
    first, seen = lab.submit("masked/session"), len(lab.log(HOST))
    lab.wait(lambda: lab.events(first, event="download", site="site-3"), "site-3 downloads")
    lab.kill("site-3")
    end_of_first = lab.wait_for_end(first)
    lab.start("site-3")
    lab.wait_for_site("site-3", seen)
    second = lab.submit("masked/session")
    return {"jobs": (first, second), "ends": (end_of_first, lab.wait_for_end(second))}


def test_masked_rounds_over_flare(lab, masked):
    """No site is missing in a sum, no epoch is trained twice, and the server has plain updates of nobody."""
    second = masked["jobs"][1]
    assert [end["version"] for end in masked["ends"]] == [0, N_MASKED]
    assert "site-3" in masked["ends"][0]["missing"]
    assert masked["ends"][1]["done"] == SITES
    assert [line["how"] for line in lab.events(second, event="sum")] == ["added"] * N_MASKED
    server = checkpoint(lab)
    uploads = lab.events(second, event="upload")
    assert {line["site"] for line in uploads} == set(SITES)
    assert {line["bytes"] for line in uploads} == {2 * server.size + 36}  # 1.0 times half precision
    assert all("round" in line for job in masked["jobs"] for line in lab.events(job, event="upload"))
    for site in SITES:
        folder = lab.kit(site) / "masked-state"
        epochs = [json.loads(line)["epoch"] for line in (folder / "history.jsonl").read_text().splitlines()]
        assert epochs == list(range(1, N_MASKED + 1))
        for path in (folder, lab.kit(site) / "local" / "mask.key", lab.kit(HOST) / "deid-state"):
            assert path.stat().st_mode & 0o077 == 0


N_ROBUST = 2


@pytest.fixture(scope="module")
def robust(lab, masked):
    """The same kits with a screened median, and a server that keeps the exchange."""
    plain = read_settings(FederationConfig, lab.root / "lab" / "federation.json")
    changes = {"n_epochs": N_ROBUST, "aggregation": "median", "keep_exchange": True, "step": 1 / 3, "screened": True}
    agreement = replace(plain, download_selection="most-updated", **changes)
    (lab.kit(HOST) / CHECKPOINT).rename(lab.root / "masked.state")
    harden_server(lab.kit(HOST), agreement)
    for site in SITES:
        own = {"upload_fraction": 1.0, "download_fraction": 1.0, "threshold": 0.0, "format": "brat"}
        files = str(lab.root / "notes" / site), str(lab.kit(site) / "robust-state")
        harden_site(lab.kit(site), agreement, SiteSettings(*files, **own))
    write_session(lab.root / "robust" / "session", SessionRules(N_ROBUST, 200.0, 40.0, longest=230.0))
    job = lab.submit("robust/session")
    return job, lab.wait_for_end(job)


def test_a_median_over_flare(lab, robust):
    """The server has added the median of what the kept messages hold, at most 1.5 times the median norm each.

    Bit for bit: only an update that is shrunk is rounded once more.
    """
    job, end = robust
    assert (end["done"], end["version"]) == (SITES, N_ROBUST)
    assert [(line["how"], line["sites"]) for line in lab.events(job, event="sum")] == [("added", 3)] * N_ROBUST
    copies = list_checkpoints(lab.kit(HOST))
    assert set(range(1, N_ROBUST + 1)) <= set(copies), "a checkpoint a round"
    record = lab.kit(HOST) / EXCHANGE
    lab.wait(record.exists, "the exchange is saved")
    messages = ExchangeRecord.load(record)
    before = read_settings(FederationConfig, lab.kit(HOST) / "local" / "federation.json").new_server().parameters
    for number in range(1, N_ROBUST + 1):
        sent = [message.decode().dense() for message in messages.uploads() if message.epoch == number]
        assert len(sent) == len(SITES)
        told = np.stack(sent).astype(np.float64)
        norms = np.linalg.norm(told, axis=1, keepdims=True)
        is_shrunk = norms > 1.5 * np.median(norms)
        told *= np.where(is_shrunk, 1.5 * np.median(norms) / norms, 1)
        expected = before + np.median(told, axis=0).astype(np.float32)
        after = ParameterServer.load(copies[number]).parameters
        if is_shrunk.any():
            np.testing.assert_allclose(after, expected, rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(after, expected)
        before = after
    assert np.array_equal(before, checkpoint(lab).parameters)


def test_connection_needs_a_certificate(lab):
    context = ssl.create_default_context(cafile=str(lab.root / "ca" / "rootCA.pem"))
    with pytest.raises((ssl.SSLError, ConnectionError)), socket.create_connection((HOST, lab.port), timeout=20) as raw:
        with context.wrap_socket(raw, server_hostname=HOST) as secure:
            secure.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            if not secure.recv(1):
                raise ConnectionError("closed")


def test_sites_refuse_other_code(lab, trained):
    """Also where the server's own rules are gone: a site does not trust its server."""
    let_everything_pass(lab)
    marker = lab.root / "marker"
    named = other_job(lab, "named", {"path": "subprocess.Popen", "args": {"args": ["touch", str(marker)]}})
    shipped = other_job(lab, "shipped", {"path": "shipped.Shipped", "args": {}})
    code = lab.root / "shipped" / "app" / "custom"
    code.mkdir()
    (code / "shipped.py").write_text(
        f"open({str(marker)!r}, 'w').close()\nfrom nvflare.apis.executor import Executor\n\n\n"
        "class Shipped(Executor):\n    def execute(self, *args):\n        pass\n"
    )
    seen = {name: len(lab.log(name)) for name in (HOST, *SITES)}

    def said(name, what):
        return what in lab.log(name)[seen[name] :]

    lab.submit(shipped)  # the sites refuse to take it, and the server writes down their answers
    refusals = [f"{site}: NVFLARE_ERROR: BYOC not permitted" for site in SITES]
    lab.wait(lambda: all(said(HOST, refusal) for refusal in refusals), "sites refuse shipped code")
    lab.submit(named)
    lab.wait(lambda: all(said(site, "is not in allow_list") for site in SITES), "sites refuse a class")
    assert not marker.exists()


def let_everything_pass(lab):
    """What somebody could do who has taken over the server."""
    local = lab.kit(HOST) / "local"
    rules = json.loads((local / "authorization.json").read_text())
    rules["permissions"] = {role: "any" for role in rules["permissions"]}
    (local / "authorization.json").write_text(json.dumps(rules))
    resources = json.loads((local / "resources.json").read_text())
    resources["class_allow_list"] = ["*"]
    (local / "resources.json").write_text(json.dumps(resources))
    lab.restart_server()


def other_job(lab, name, executor):
    """The job of a session with another class for the sites."""
    config = lab.root / name / "app" / "config"
    config.mkdir(parents=True)
    session = lab.root / "lab" / "session"
    (lab.root / name / "meta.json").write_text((session / "meta.json").read_text().replace("session", name))
    server = "config_fed_server.json"
    (config / server).write_text((session / "app" / "config" / server).read_text())
    tasks = {"tasks": ["*"], "executor": executor}
    (config / "config_fed_client.json").write_text(
        json.dumps({"format_version": 2, "executors": [tasks], "components": []})
    )
    return lab.root / name
