"""A site over sessions, without a network: stopped anywhere, it ends where an uninterrupted one does."""

import json
import math
import shutil
from dataclasses import replace
from functools import partial
from threading import Event, Thread
from time import sleep

import numpy as np
import pytest

from sklearn_deid import Corpus, load, make_clinical_notes, write_corpus
from sklearn_deid.exceptions import DeidError, ExchangeError, SequenceError
from sklearn_deid.federated import (
    ParameterServer,
    SparseUpdate,
    Worker,
    learner_from_state,
    learner_to_state,
    make_learner,
)
from sklearn_deid.federated.sites import (
    ExchangeService,
    FederationConfig,
    SessionRules,
    SiteSettings,
    SiteTraining,
    check_parts,
    pack,
    read_site_corpus,
    unpack,
)
from sklearn_deid.federated.state_file import read_state, write_state
from sklearn_deid.tagging import SpanSwap
from sklearn_deid.text import I2B2_2014, Document, Span

from .short_notes import short_notes, write_short_notes

LABELS = list(I2B2_2014.labels)
TAGGER = {"hidden_size": 4, "embeddings": None, "batch_size": 300}
SITES = ["site-1", "site-2"]


class Killed(BaseException):
    """What a SIGKILL is to a process; nothing may catch it."""


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    root = tmp_path_factory.mktemp("notes")
    for seed, site in enumerate(SITES, start=1):
        write_short_notes(root / site, 2, seed)
    return root


@pytest.fixture(scope="module")
def own_notes(tmp_path_factory):
    """Notes of several patients."""
    root = tmp_path_factory.mktemp("own notes")
    for seed, site in enumerate(SITES, start=1):
        write_short_notes(root / site, 6, seed)
    return root


def agreement(n_epochs=4, **more):
    return FederationConfig("lab", SITES, LABELS, TAGGER, n_epochs=n_epochs, **more)


class Federation:
    """Server and sites in one process; each session makes its sites anew, as processes do."""

    def __init__(self, root, notes, n_epochs=4, **own):
        self.root, self.notes, self.own = root, notes, own
        self.agreement = agreement(n_epochs)
        self.server = self.agreement.new_server()
        self.server._rng = np.random.default_rng(0)

    def settings(self, site):
        return SiteSettings(str(self.notes / site), str(self.root / site), random_state=7, format="brat", **self.own)

    def session(self, n_epochs, ask=None):
        self.events = []
        service = ExchangeService(self.server, SITES, SessionRules(n_epochs), self.events.append)
        for site in SITES:
            training = SiteTraining(self.agreement, self.settings(site), site)
            training.run_session((ask or direct)(service, site))
        return service


def direct(service, site):
    return lambda fields, body=b"": unpack(service.answer(site, pack(fields, body)))


def test_only_the_last_update_of_averaging_is_shrunk(tmp_path, notes, monkeypatch):
    """To the update that makes the server add the mean itself."""
    factors = []
    shrink = Worker.shrink_update

    def watched(worker, factor):
        before = worker.update_norm
        shrink(worker, factor)
        factors.append((worker.n_epochs, factor, worker.update_norm / before))

    monkeypatch.setattr(Worker, "shrink_update", watched)
    Federation(tmp_path / "sparse", notes, n_epochs=1).session(1)
    assert not factors
    Federation(tmp_path, notes, n_epochs=2, upload_fraction=1.0).session(2)
    assert [(n_epochs, factor) for n_epochs, factor, _ in factors] == [(2, 1 / len(SITES))] * len(SITES)
    np.testing.assert_allclose([shrunk for _, _, shrunk in factors], 1 / len(SITES), rtol=1e-5)


def test_sessions_of_one_epoch_equal_plain_workers(tmp_path, notes):
    """Sessions, files and new processes change no bit: one site after the other is the sequential schedule."""
    federation = Federation(tmp_path, notes, n_epochs=3)
    for _ in range(3):
        federation.session(1)
    plain = Federation(tmp_path / "plain", notes, n_epochs=3)
    trainings = [SiteTraining(plain.agreement, plain.settings(site), site) for site in SITES]
    for number in range(3):
        for site, training in zip(SITES, trainings, strict=True):
            worker: Worker = training.worker
            worker.apply_download(plain.server.download(0.1 if number else 1.0))
            worker.local_epoch()
            plain.server.upload(worker.select_upload(), site, number)
    assert np.array_equal(federation.server.parameters, plain.server.parameters)
    assert np.array_equal(federation.server.counts, plain.server.counts)


def test_a_loss_that_is_no_number_leaves_valid_json(tmp_path, notes, monkeypatch):
    """Strict readers refuse the words NaN and Infinity."""
    metrics = {"train_loss": math.nan, "valid_loss": math.inf, "f1": 0.5}
    monkeypatch.setattr(Worker, "local_epoch", lambda worker, epoch=Worker.local_epoch: epoch(worker) and metrics)
    Federation(tmp_path, notes, n_epochs=1).session(1)
    line = json.loads((tmp_path / SITES[0] / "history.jsonl").read_text(), parse_constant=pytest.fail)
    assert {name: line[name] for name in metrics} == {"train_loss": None, "valid_loss": None, "f1": 0.5}


def test_an_unknown_answer_is_not_told_as_received(tmp_path, notes):
    def strange(service, site):
        answer = direct(service, site)
        return lambda fields, body=b"": ({"status": "later"}, b"") if body else answer(fields, body)

    Federation(tmp_path, notes, n_epochs=1).session(1, strange)
    assert "Answer of the server: refused." in (tmp_path / SITES[0] / "officer.log").read_text().splitlines()[1]


# Questions of a session of two epochs: hello, download, upload, download, upload, done.
@pytest.mark.parametrize(("place", "is_heard"), [(1, False), (2, False), (2, True), (4, True), (5, False)])
def test_site_that_dies_anywhere_loses_nothing_and_sends_nothing_twice(tmp_path, notes, place, is_heard):
    federation = Federation(tmp_path, notes, n_epochs=2)
    asked = []

    def dying(service, site):
        def ask(fields, body=b""):
            asked.append(fields["ask"])
            if len(asked) == place + 1 and not is_heard:
                raise Killed
            answer = service.answer(site, pack(fields, body))
            if len(asked) == place + 1:
                raise Killed  # the server has heard it, the site has not heard the answer
            return unpack(answer)

        return ask

    with pytest.raises(Killed):
        federation.session(2, dying)
    federation.session(2)
    assert [federation.server.delivered(site) for site in SITES] == [[(0, 1)], [(0, 1)]]
    assert federation.server.version == 4
    assert federation.server.n_refused == 0


def line_of_the_dying(service, site, left, is_heard):
    """Line on which everybody dies when no request is left, before or after the host has heard it."""

    def ask(fields, body=b""):
        is_last = next(left) == 0
        if is_last and not is_heard:
            raise Killed
        answer = service.answer(site, pack(fields, body))
        if is_last:
            raise Killed
        return unpack(answer)

    return ask


def test_ten_kills_of_sites_and_host_at_random_lose_nothing_and_count_nothing_twice(tmp_path, notes):
    """A killed process has lost its memory: sites begin again from their folders, the host from its checkpoint."""
    n_epochs, rng = 6, np.random.default_rng(0)
    federation, checkpoint = Federation(tmp_path, notes, n_epochs=n_epochs), tmp_path / "server.state"
    federation.server.save(checkpoint)
    for _ in range(10):
        federation.server = ParameterServer.load(checkpoint, keep=True)
        left, is_heard = iter(range(int(rng.integers(0, 12)), -1, -1)), bool(rng.integers(2))
        dying = partial(line_of_the_dying, left=left, is_heard=is_heard)
        with pytest.raises(Killed):
            # Sites that have trained all epochs ask for little: the host is killed between sessions, too.
            while True:
                federation.session(1, dying)
    federation.server = ParameterServer.load(checkpoint, keep=True)
    for _ in range(n_epochs):
        federation.session(1)
    server = ParameterServer.load(checkpoint)
    assert [server.delivered(site) for site in SITES] == [[(0, n_epochs - 1)]] * len(SITES)
    assert (server.version, server.n_refused) == (n_epochs * len(SITES), 0)


def test_local_state_and_model_stay_in_the_folder(tmp_path, notes):
    notes_of_more_patients = tmp_path / "notes"
    for seed, site in enumerate(SITES, start=1):
        write_short_notes(notes_of_more_patients / site, 6, seed)
    federation = Federation(tmp_path, notes_of_more_patients, n_epochs=3, validation_fraction=0.5, report_f1=True)
    (tmp_path / "site-1").mkdir(mode=0o755)  # a folder that is there already
    federation.session(2)
    assert {type(event.get("f1")) for event in federation.events if event["event"] == "done"} == {float}
    folder = tmp_path / "site-1"
    assert folder.stat().st_mode & 0o077 == 0
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["good.state", "history.jsonl", "learner-2.state", "lock", "model", "officer.log", "worker.state"]
    said = (folder / "officer.log").read_text().splitlines()
    assert [line.split(" UTC ")[1].split(":")[0] for line in said] == [
        *["before the epoch", "after the epoch"] * 2,
        "end of the session",
    ]
    told = next(event["f1"] for event in federation.events if event["event"] == "done" and event["site"] == "site-1")
    assert f"F1 {told:.4f} of held-out patients, without noise, to the server of lab" in said[-1]
    uploads = [event["bytes"] for event in federation.events if event["event"] == "upload"]
    assert f"Sent: {uploads[0]} bytes" in said[1]
    assert (folder / "officer.log").stat().st_mode & 0o077 == 0
    again = SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
    guard = again.worker.guard
    assert len(guard.good) == federation.server.size
    assert guard.least_loss <= guard.first_loss < np.inf
    again._lock.release()
    own_tagger = load(folder / "model")
    assert own_tagger.predict([["Mr", "Alder"]])[0]
    # site.json is as secret as the notes, and the saved model held its seed.
    assert federation.settings("site-1").random_state is not None and own_tagger.random_state is None
    federation.session(2)
    lines = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2, 3]
    assert {"train_loss", "f1", "bytes_up", "bytes_down"} <= set(lines[0])
    assert lines[0]["bytes_down"] == 4 * federation.server.size + 52 > lines[1]["bytes_down"]


@pytest.mark.parametrize("part", [b"", b'{"epoch": 1, "vers', b"\0\xff"])
def test_the_history_has_one_line_for_each_epoch(tmp_path, notes, monkeypatch, part):
    """A kill between the saved epoch and its line lost the line, and a full disk left an invalid line."""
    federation, path = Federation(tmp_path, notes, n_epochs=2), tmp_path / "site-1" / "history.jsonl"
    with monkeypatch.context() as patched:
        patched.setattr(SiteTraining, "_save", lambda training, save=SiteTraining._save: save(training) or killed())
        with pytest.raises(Killed):
            federation.session(1)
    path.write_bytes((path.read_bytes() if path.exists() else b"") + part)
    with monkeypatch.context() as patched:
        patched.setattr(SiteTraining, "_save", lambda training: killed())
        with pytest.raises(Killed):
            federation.session(2)
    federation.session(2)
    assert [json.loads(line)["epoch"] for line in path.read_text().splitlines()] == [1, 2]
    assert path.stat().st_mode & 0o077 == 0


def killed():
    raise Killed


def test_another_process_waits_for_the_one_that_trains(tmp_path, notes):
    """As where a site was suspended, and comes back after the next session has begun."""
    federation = Federation(tmp_path, notes, n_epochs=2)
    first = SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
    service = ExchangeService(federation.server, SITES, SessionRules(1), lambda event: None)
    second = []

    def next_session():
        second.append(SiteTraining(federation.agreement, federation.settings("site-1"), "site-1"))

    waiting = Thread(target=next_session)
    waiting.start()
    assert first.run_session(direct(service, "site-1")) == 1
    waiting.join()
    assert second[0].worker.n_epochs == 1  # it has seen what the first one left
    assert second[0].run_session(direct(service, "site-1")) == 1
    assert federation.server.delivered("site-1") == [(0, 1)]
    assert federation.server.n_refused == 0


def test_finished_site_takes_part_without_training(tmp_path, notes):
    federation = Federation(tmp_path, notes, n_epochs=1)
    federation.session(1)
    before = federation.server.parameters.copy()
    service = federation.session(1)
    assert service.done == set(SITES)
    assert np.array_equal(federation.server.parameters, before)


def test_session_that_is_closed_or_stopped_ends_before_an_epoch(tmp_path, notes):
    federation = Federation(tmp_path, notes)
    service = ExchangeService(federation.server, SITES, SessionRules(2), lambda event: None)
    training = SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
    assert training.run_session(direct(service, "site-1"), stopped=lambda: True) == 0
    service.close()
    training = SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
    assert training.run_session(direct(service, "site-1")) == 0
    assert federation.server.version == 0


def test_noise_is_in_the_settings_of_the_site(tmp_path, notes):
    federation = Federation(tmp_path, notes, n_epochs=1, epsilon=1.0, clip=0.01, upload_fraction=0.01)
    federation.session(1)
    training = SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
    assert len(training.worker.ledger) == 1


def test_server_of_another_agreement_is_left_alone(tmp_path, notes):
    federation = Federation(tmp_path, notes)
    other = FederationConfig("lab", SITES, LABELS, {**TAGGER, "hidden_size": 5}).new_server()
    service = ExchangeService(other, SITES, SessionRules(1), lambda event: None)
    training = SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
    with pytest.raises(ExchangeError, match="another model"):
        training.run_session(direct(service, "site-1"))
    with pytest.raises(ExchangeError, match="not a member of the federation"):
        training.run_session(direct(service, "site-3"))


def test_saved_training_must_be_the_agreed_one(tmp_path, notes):
    federation = Federation(tmp_path, notes)
    federation.session(1)
    for _ in range(2):  # whose lock is not left behind
        with pytest.raises(ExchangeError, match="4 epochs, but the agreement has 9"):
            SiteTraining(agreement(9), federation.settings("site-1"), "site-1")
    with pytest.raises(ExchangeError, match="does not name this site"):
        SiteTraining(federation.agreement, federation.settings("site-1"), "site-3")


@pytest.mark.parametrize("kept", [None, "copy"])
def test_a_state_that_is_older_than_what_was_sent_is_refused(tmp_path, notes, kept):
    """Its updates counted as repetitions and were lost without a word, and its ledger did not know of all steps."""
    federation, state = Federation(tmp_path, notes), tmp_path / "site-1"
    federation.session(1)
    shutil.copytree(state, tmp_path / "copy")
    federation.session(1)
    shutil.rmtree(state)
    if kept is not None:
        shutil.copytree(tmp_path / kept, state)
    before = federation.server.parameters.copy()
    with pytest.raises(ExchangeError, match="sent more updates than its state folder knows"):
        federation.session(1)
    assert np.array_equal(federation.server.parameters, before)


@pytest.mark.parametrize("number", [True, "3", 1.5, None])
def test_a_server_that_tells_no_number_of_updates_is_left_alone(tmp_path, notes, number):
    federation = Federation(tmp_path, notes)
    training = SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
    hello = {"status": "ok", "model": training.worker.model, "n_epochs": 1, "next": number}
    with pytest.raises(ExchangeError, match="must state a whole number"):
        training.run_session(lambda fields, body=b"": (hello, b""))


@pytest.mark.parametrize("number", [True, "3", float("inf"), None])
def test_a_server_that_tells_no_number_of_epochs_is_left_alone(tmp_path, notes, number):
    """Infinity comes from the number 1e999 in JSON."""
    federation = Federation(tmp_path, notes)
    training = SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
    hello = {"status": "ok", "model": training.worker.model, "n_epochs": number, "next": 0}
    with pytest.raises(ExchangeError, match="must state a whole number of epochs"):
        training.run_session(lambda fields, body=b"": (hello, b""))


class TestHeldOutPatients:
    """F1 and the test of downloads must never use a patient on whom an earlier session has trained."""

    OWN = {"validation_fraction": 0.5, "report_f1": True}

    def test_same_notes_go_on(self, tmp_path, own_notes):
        federation = Federation(tmp_path, own_notes, **self.OWN)
        federation.session(1)
        federation.session(1)
        assert federation.server.delivered("site-1") == [(0, 1)]

    @pytest.mark.parametrize("change", ["short", "infinite", "missing", "text"])
    def test_forged_good_parameters_are_refused(self, tmp_path, own_notes, change):
        federation = Federation(tmp_path, own_notes, **self.OWN)
        federation.session(1)
        path = tmp_path / "site-1" / "good.state"
        state, arrays = read_state(path, "good model")
        good = arrays["parameters"]
        forged = {"short": good[:-1], "infinite": np.full_like(good, np.inf), "missing": None, "text": good}[change]
        state |= {"f1": "high"} if change == "text" else {}
        write_state(path, "good model", state, {} if forged is None else {"parameters": forged})
        with pytest.raises(ExchangeError):
            SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")

    def test_changed_notes_are_refused(self, tmp_path, own_notes):
        own_notes = shutil.copytree(own_notes, tmp_path / "own notes")
        federation = Federation(tmp_path, own_notes, **self.OWN)
        federation.session(1)
        write_short_notes(tmp_path / "more", 6, 9)
        for path in (tmp_path / "more").iterdir():
            changed = path.read_text(encoding="utf-8").replace("patient-000", "patient-900")
            (own_notes / "site-1" / f"more-{path.name}").write_text(changed, encoding="utf-8")
        with pytest.raises(ExchangeError, match="has held out other patients"):
            SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")

    def test_patients_that_are_held_out_too_late_are_refused(self, tmp_path, own_notes):
        Federation(tmp_path, own_notes).session(1)
        federation = Federation(tmp_path, own_notes, **self.OWN)
        with pytest.raises(ExchangeError, match="has held out other patients"):
            SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")

    def test_no_patient_need_be_held_out_any_more(self, tmp_path, own_notes):
        Federation(tmp_path, own_notes, **self.OWN).session(1)
        federation = Federation(tmp_path, own_notes)
        assert SiteTraining(federation.agreement, federation.settings("site-1"), "site-1").worker.n_epochs == 1


@pytest.mark.parametrize("aggregation", ["sum on arrival", "rounds"])
@pytest.mark.parametrize("own", [{}, {"validation_fraction": None}])
def test_a_site_tests_every_download_by_default_and_keeps_its_last_good_model(tmp_path, own, aggregation):
    """The host sends the third network with all signs changed. The site trains on with its own, and says so."""
    n_epochs, names = 5, [*SITES, "site-3"]
    write_corpus(make_clinical_notes(8, random_state=1), tmp_path / "notes", "brat")
    tagger = {**TAGGER, "hidden_size": 16, "lr": 0.02}
    agreed = FederationConfig("lab", names, LABELS, tagger, n_epochs=n_epochs, screened=aggregation == "rounds")
    settings = SiteSettings(
        str(tmp_path / "notes"),
        str(tmp_path / "site-1"),
        random_state=7,
        format="brat",
        upload_fraction=1.0,
        download_fraction=1.0,
        threshold=0.0,
        **own,
    )
    training = SiteTraining(agreed, settings, "site-1")
    worker, sent, lines = training.worker, [], []

    def host(fields, body=b""):
        """The network of the site itself comes back, as from a server with one site."""
        answer = {"status": "ok", "model": worker.model, "n_epochs": n_epochs, "next": 0, "screened": agreed.screened}
        if fields["ask"] != "download":
            return answer | {"sum": "added"}, b""
        flat = training.learner.get_flat()
        sent.append(-flat if len(sent) == 3 else flat)
        update = SparseUpdate(np.arange(len(flat)), sent[-1], len(flat), worker.model, len(sent), "parameters")
        return answer, update.to_bytes()

    before = []
    begin = worker.begin_epoch
    worker.begin_epoch = lambda: before.append(training.learner.get_flat()) or begin()
    training.run_session(host, report=lines.append)
    is_tested = not own
    assert worker.n_epochs == n_epochs
    np.testing.assert_array_equal(before[3], -sent[3] if is_tested else sent[3])
    history = (tmp_path / "site-1" / "history.jsonl").read_text().splitlines()
    taken = [json.loads(line)["is_download_taken"] for line in history]
    assert taken == [True, True, True, not is_tested, True]
    told = [number for number, line in enumerate(lines[1::2]) if "failed the test of this site" in line]
    assert told == ([3] if is_tested else [])


def test_an_update_is_never_that_of_a_few_sentences(tmp_path, notes):
    """A coordinator could ask for as many parts as a site has sentences, and compute the words of each of them."""
    own = SiteSettings(str(notes / "site-1"), str(tmp_path / "s"), 7, format="brat")
    with pytest.raises(ExchangeError, match="fewer than 10 sentences can reveal their words"):
        SiteTraining(agreement(n_parts=1000), own, "site-1")
    private = replace(own, patient_epsilon=8.0, patient_sampling_rate=1.0)
    check_parts(agreement(n_parts=1000), private, 1)
    check_parts(agreement(n_parts=3), own, 30)
    with pytest.raises(ExchangeError, match="on 9 of the 9 sentences"):
        check_parts(agreement(), own, 9)


@pytest.mark.parametrize("fraction", ["rotating", 0.5, None])
def test_nor_is_it_if_patients_are_left_out(tmp_path, fraction):
    """The notes of the other patient, of 12 sentences, tested downloads, and the update was that of one sentence."""
    long = Document("n1", "Seen by Dr Roe. " * 12, (Span(11, 14, "DOCTOR"),), patient_id="p1")
    short = Document("n2", "Called Mr Elm.", (Span(10, 13, "PATIENT"),), patient_id="p2")
    write_corpus(Corpus([long, short]), tmp_path / "notes.jsonl", "jsonl")
    refusals = []
    for seed in range(4):
        own = SiteSettings(str(tmp_path / "notes.jsonl"), str(tmp_path / str(seed)), seed, validation_fraction=fraction)
        try:
            training = SiteTraining(agreement(), own, "site-1")
        except ExchangeError as error:
            refusals.append(str(error))
            continue
        data = training.learner._data[0][0]
        for _ in range(2):
            training.worker.local_epoch()
            assert len(set(data.drawn.tolist()) if fraction == "rotating" else data) >= 12
    assert bool(refusals) is (fraction == 0.5)
    assert all("would train on 1 sentences. An update of fewer than 10" in refusal for refusal in refusals)


def test_the_test_of_downloads_remembers_the_sessions_before(tmp_path, notes):
    """Each session compared downloads with its own losses only, so that many sessions led anywhere."""
    federation, saved = Federation(tmp_path, notes, n_epochs=3), {}
    for number in range(2):
        training = SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
        guard = training.worker.guard
        assert {name: getattr(guard, name) for name in saved} == saved
        service = ExchangeService(federation.server, SITES, SessionRules(1), lambda event: None)
        training.run_session(direct(service, "site-1"))
        saved = read_state(tmp_path / "site-1" / f"learner-{number + 1}.state", "learner")[0]["guard"]
        assert math.isfinite(saved["first_loss"])
    path = tmp_path / "site-1" / "learner-2.state"
    state, arrays = read_state(path, "learner")
    write_state(path, "learner", {**state, "guard": {"first_loss": "x"}}, arrays)
    with pytest.raises(ExchangeError, match="a field is missing or invalid"):
        SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")


def test_notes_without_annotations_or_with_other_labels_are_refused(tmp_path, notes):
    (tmp_path / "n1.txt").write_text("Seen by Dr. Who.")
    (tmp_path / "n1.ann").write_text("")
    with pytest.raises(DeidError, match="No PHI is annotated"):
        SiteTraining(agreement(), SiteSettings(str(tmp_path), str(tmp_path / "s"), 0, format="brat"), "site-1")
    few = FederationConfig("lab", SITES, ["DATE"], TAGGER)
    with pytest.raises(SequenceError, match="have not agreed on"):
        SiteTraining(few, SiteSettings(str(notes / "site-1"), str(tmp_path / "s"), 0, format="brat"), "site-1")


def test_notes_are_read_as_they_will_be_redacted(tmp_path, monkeypatch):
    """Zero-width signs in names: the site learned from other tokens than its model reads later."""
    note = Document("n1", "Seen by Al\u200bder today." + " No pain." * 9, (Span(8, 14, "DOCTOR"),))
    write_corpus([note], tmp_path / "notes", "brat")
    given = []

    def stopped(tagger, X, y, *rest, **options):
        given.extend([X, y])
        raise Killed

    monkeypatch.setattr("sklearn_deid.federated.tagger_learner.make_learner", stopped)
    settings = SiteSettings(str(tmp_path / "notes"), str(tmp_path / "state"), random_state=7, format="brat")
    with pytest.raises(Killed):
        SiteTraining(agreement(), settings, SITES[0])
    assert [list(row) for row in given[0]] == [["Seen", "by", "Alder", "today", "."]] + [["No", "pain", "."]] * 9
    assert list(given[1][0]) == ["O", "O", "B-DOCTOR", "O", "O"]


@pytest.mark.parametrize("weight_average", [0.0, 0.9])
def test_learner_goes_on_bit_by_bit(weight_average):
    from sklearn_deid import DeidTagger

    data = short_notes(2, 1).to_sentences()
    few = SpanSwap(invented=20)
    tagger = DeidTagger(hidden_size=4, embeddings=None, weight_average=weight_average, span_swap=few, random_state=3)

    def new():
        return make_learner(tagger, data.X, data.y, data.groups, LABELS, n_epochs=3)

    whole, first = new(), new()
    for _ in range(3):
        whole.train_epoch()
    first.train_epoch()
    state = json.loads(json.dumps(learner_to_state(first)[0]))
    second = new()
    second.set_flat(first.get_flat())
    learner_from_state(second, state, learner_to_state(first)[1])
    for _ in range(2):
        second.train_epoch()
    assert np.array_equal(second.get_flat(), whole.get_flat())
    with pytest.raises(ExchangeError, match="does not fit"):
        learner_from_state(new(), {**state, "generator": {}}, {})
    arrays = learner_to_state(first)[1]
    for name in [key for key in arrays if key.startswith(("average-0", "optimizer-0-exp"))]:
        for forged in (arrays[name][:1], arrays[name] * np.float32("nan")):
            with pytest.raises(ExchangeError, match="does not fit"):
                learner_from_state(new(), state, {**arrays, name: forged})


class TestPatientPrivacy:
    OWN = {"patient_epsilon": 8.0, "patient_sampling_rate": 1.0}

    @pytest.fixture(autouse=True)
    def accountant(self, monkeypatch):
        """An epsilon of 0.5 a step: the accountant itself is tested elsewhere."""
        module = "sklearn_deid.federated.patient_ledger.epsilon_of_steps"
        monkeypatch.setattr(module, lambda noise, rate, n, delta: 0.5 * n)

    def test_the_officer_reads_a_line_before_and_after_each_epoch_over_restarts(self, tmp_path, notes):
        federation, lines = Federation(tmp_path, notes, n_epochs=2, **self.OWN), []
        service = ExchangeService(federation.server, SITES, SessionRules(1), lambda event: None)
        for _ in range(2):
            training = SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
            training.run_session(direct(service, "site-1"), report=lines.append)
        assert [line.split(":")[0] for line in lines] == ["before the epoch", "after the epoch"] * 2
        assert [line.split("epsilon ")[1].split(" of")[0] for line in lines] == ["0.000", "0.500", "0.500", "1.000"]

    def test_a_spent_budget_ends_the_training(self, tmp_path, notes):
        federation = Federation(tmp_path, notes, n_epochs=2, **self.OWN)
        service = ExchangeService(federation.server, SITES, SessionRules(2), lambda event: None)
        training = SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
        training.learner.ledger.charge(1)  # an epoch that was charged and lost in a crash
        assert training.run_session(direct(service, "site-1")) == 1
        assert training.learner.ledger.n_left == 0

    @pytest.mark.parametrize("is_deleted", [True, False])
    def test_a_ledger_with_fewer_steps_than_the_training_is_refused(self, tmp_path, notes, is_deleted):
        """A new or lowered ledger would spend a second budget on the same patients."""
        federation = Federation(tmp_path, notes, n_epochs=4, **self.OWN)
        federation.session(2)
        ledger = tmp_path / "site-1" / "patient-privacy.json"
        if is_deleted:
            ledger.unlink()
        else:
            ledger.write_text(ledger.read_text().replace('"n_spent": 2', '"n_spent": 1'))
        for _ in range(2):  # a new ledger that the first start has written is refused, too
            with pytest.raises(ExchangeError, match="the saved training has charged 2"):
                SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")

    @pytest.mark.parametrize(
        "noise", [OWN, {"epsilon": 1.0, "clip": 0.01}, {"noise_multiplier": 9.0, "norm_bound": 1.0, "threshold": 0.0}]
    )
    def test_noise_after_epochs_without_noise_is_refused(self, tmp_path, notes, noise):
        """The officer read an epsilon of 0 that was spent so far, although plain updates had been sent."""
        federation = Federation(tmp_path, notes, n_epochs=4)
        federation.session(1)
        with pytest.raises(ExchangeError, match="Earlier .* had no noise"):
            SiteTraining(federation.agreement, replace(federation.settings("site-1"), **noise), "site-1")

    def test_a_process_that_waits_for_the_lock_reads_the_ledger_afterwards(self, tmp_path, notes):
        """The one that trained charged an epoch in the meantime, which the waiting one did not count."""
        federation, started = Federation(tmp_path, notes, n_epochs=4, **self.OWN), Event()
        new = partial(SiteTraining, federation.agreement, federation.settings("site-1"), "site-1")
        first, second = new(), []
        waiting = Thread(target=lambda: started.set() or second.append(new()))
        waiting.start()
        started.wait()
        sleep(0.5)  # time to read the ledger, if it is read too early
        first.learner.ledger.charge(1)
        first._lock.release()
        waiting.join()
        assert second[0].learner.ledger.n_spent == 1
        second[0]._lock.release()

    def test_notes_of_unknown_patients_are_refused(self, tmp_path, notes):
        """Each of them counted as a patient: a patient with two notes had more than the promised epsilon."""
        nameless = [replace(note, patient_id=None) for note in short_notes(4, 1, n_patients=2)]
        write_corpus(Corpus(nameless), tmp_path / "nameless", "brat")
        own = {"corpus": str(tmp_path / "nameless"), "state": str(tmp_path / "s"), "format": "brat"}
        with pytest.raises(DeidError, match="The patient of 4 notes is unknown"):
            read_site_corpus(SiteSettings(**own, patient_epsilon=8.0))
        stated = SiteSettings(**own, patient_epsilon=8.0, notes_are_patients=True)
        assert len(read_site_corpus(stated).patients) == len(read_site_corpus(SiteSettings(**own))) == 4

    def test_a_proximal_term_is_refused(self, tmp_path, notes):
        federation = Federation(tmp_path, notes, n_epochs=1, **self.OWN)
        with pytest.raises(ExchangeError, match="cannot be used with privacy for each patient"):
            SiteTraining(agreement(1, proximal=0.1), federation.settings("site-1"), "site-1")

    def test_settings_that_promise_nothing_are_refused(self, tmp_path):
        for own, message in (({"patient_epsilon": -1.0}, "'epsilon'"), ({"patient_delta": 1.0}, "'delta'")):
            with pytest.raises(ExchangeError, match=message):
                SiteSettings("notes", str(tmp_path), **{**self.OWN, **own})


def test_an_officer_reads_the_total_of_the_noise_on_uploads(tmp_path, notes):
    """Before and after each epoch, also in a later session; noise that promises nothing is refused before the first."""
    noise = {"epsilon": 1.8, "upload_fraction": 0.01, "clip": 0.001}
    federation, lines = Federation(tmp_path, notes, n_epochs=2, **noise), []
    for _ in range(2):
        training = SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
        service = ExchangeService(federation.server, SITES, SessionRules(1), lambda event: None)
        training.run_session(direct(service, "site-1"), report=lines.append)
    assert [line.split(" epsilon ")[1].split(" at ")[0] for line in lines] == [
        f"{spent}.000 of 2.000 spent" for spent in (0, 1, 1, 2)
    ]
    assert all("This site as a whole:" in line and "at delta 1e-05" in line for line in lines)
    loud = Federation(tmp_path / "loud", notes, n_epochs=2, **{**noise, "epsilon": 1000.0})
    with pytest.raises(ExchangeError, match="promises nothing"):
        SiteTraining(loud.agreement, loud.settings("site-1"), "site-1")


def test_other_noise_in_a_later_session_counts_with_the_uploads_before(tmp_path, notes):
    """The officer read the total of the new noise for all epochs, and its limit did not count the sent uploads."""
    noise = {"epsilon": 54.0, "upload_fraction": 0.01, "clip": 0.001}
    federation = Federation(tmp_path, notes, n_epochs=3, **noise)
    federation.session(1)
    federation.own = {**noise, "epsilon": 57.6}
    lines = []
    training = SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
    service = ExchangeService(federation.server, SITES, SessionRules(1), lambda event: None)
    training.run_session(direct(service, "site-1"), report=lines.append)
    assert [line.split(" epsilon ")[1].split(" at ")[0] for line in lines] == [
        f"{spent}.000 of 94.000 spent" for spent in (30, 62)
    ]
    # An epsilon of 96 for three uploads
    federation.own = {"noise_multiplier": 0.35, "norm_bound": 1.0, "threshold": 0.0}
    with pytest.raises(ExchangeError, match="epsilon 105.7.* for the 2 sent and 1 planned uploads"):
        SiteTraining(federation.agreement, federation.settings("site-1"), "site-1")
