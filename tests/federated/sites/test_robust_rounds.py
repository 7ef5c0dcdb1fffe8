"""Rounds with a median or a trimmed mean between sites and a server, without a network: equal to one process, hostile
sites, sites that are late, silent or dead."""

import errno
import struct
import threading
import zlib
from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid.exceptions import DeidError, ExchangeError
from sklearn_deid.federated import (
    ParameterServer,
    ServerLimits,
    SparseUpdate,
    StrategyPlan,
    make_learner,
    run_strategy,
    server,
)
from sklearn_deid.federated.sites import (
    FederationConfig,
    RobustExchangeService,
    RobustSite,
    SessionRules,
    SiteSettings,
    SiteTraining,
    check_robust,
    exclude_site,
    make_mask_key,
    make_service,
    pack,
    read_site_corpus,
    unpack,
    write_settings,
)
from sklearn_deid.federated.sites.asking import granted
from sklearn_deid.federated.sites.flare_kits import AGREEMENT_FILE
from sklearn_deid.text import I2B2_2014

from .short_notes import write_short_notes

SITES = ["a", "b", "c"]
FOUR = [*SITES, "d"]  # the step of averaging is 2: no rounding in the last round
TAGGER = {"hidden_size": 4, "embeddings": None, "batch_size": 300}
DENSE = {"upload_fraction": 1.0, "download_fraction": 1.0, "threshold": 0.0}
MODEL, SIZE = "0" * 32, 1200
RULES = SessionRules(n_epochs=9, first_contact=100.0, silence=20.0, grace=50.0, longest=1000.0)


class Killed(BaseException):
    """What a SIGKILL is to a process."""


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


# ---- made-up updates


class Desk:
    """A service whose clock stands still, and sites with made-up updates."""

    def __init__(self, sites=SITES, **agreed):
        agreed = {"aggregation": "median", "step": 1 / len(sites), **agreed}
        self.agreement = FederationConfig("lab", list(sites), ["DATE"], **agreed)
        self.clock, self.events, self.rng = Clock(), [], np.random.default_rng(0)
        self.server = ParameterServer(np.ones(SIZE), MODEL, self.agreement.limits())
        self.restart()

    def restart(self):
        self.service = make_service(self.server, self.agreement, RULES, self.events.append, clock=self.clock)

    def ask(self, site, body=b"", **fields):
        return unpack(self.service.answer(site, pack(fields, body)))

    def download(self, site):
        return SparseUpdate.from_bytes(self.ask(site, ask="download", fraction=1.0)[1], kind="parameters")

    def values(self):
        return self.rng.normal(0, 0.1, SIZE).astype(np.float32)

    def send(self, site, values, sequence, version=None, **told):
        version = self.server.version if version is None else version
        body = SparseUpdate(np.arange(SIZE), values, SIZE, MODEL, version).to_bytes()
        return self.ask(site, body, ask="upload", sequence=sequence, **told)[0]

    def fate(self, site, number):
        return self.ask(site, ask="sum", round=number)[0]["sum"]

    def sums(self):
        return [(event["round"], event["how"]) for event in self.events if event["event"] == "sum"]


@pytest.mark.parametrize("how", ["median", "trimmed_mean"])
def test_a_round_is_what_numpy_says(how):
    desk = Desk([*SITES, "d", "e"], aggregation=how)
    updates = {site: desk.values() for site in desk.agreement.sites}
    for site in reversed(desk.agreement.sites):
        assert desk.server.version == 0
        assert desk.fate(site, 0) is None
        assert desk.send(site, updates[site], 0) == {"status": "ok", "applied": True}
    ordered = np.sort(np.stack(list(updates.values())).astype(np.float64), axis=0)
    expected = ordered[2] if how == "median" else ordered[1:4].mean(axis=0)
    np.testing.assert_array_equal(desk.server.parameters, np.float32(1) + expected.astype(np.float32))
    assert desk.server.version == 1
    assert [desk.fate(site, 0) for site in desk.agreement.sites] == ["added"] * 5
    assert [desk.server.delivered(site) for site in desk.agreement.sites] == [[(0, 0)]] * 5


def test_a_repeated_request_is_answered_and_a_second_update_refused():
    desk = Desk()
    values = desk.values()
    assert [desk.send("a", values, 0)["applied"] for _ in range(2)] == [True, False]
    assert "already sent" in desk.send("a", -values, 0)["reason"]
    assert "already sent" in desk.send("a", desk.values(), 1)["reason"]
    for site in "bc":
        desk.send(site, desk.values(), 0)
    assert desk.send("a", values, 0, version=0)["applied"] is False
    assert desk.server.version == 1


@pytest.mark.parametrize("where", ["the log", "the copy of the checkpoint"])
def test_a_disk_that_is_full_after_the_sum_adds_no_update_twice(where):
    desk = Desk()

    def full(event=None):
        if event is None or event["event"] == "sum":
            raise OSError(errno.ENOSPC, "No space left on device")

    if where == "the log":
        desk.service.record = full
    else:
        desk.service.after_round = full
    for site in "ab":
        desk.send(site, desk.values(), 0)
    with pytest.raises(OSError, match="No space"):
        desk.send("c", desk.values(), 0)
    parameters = desk.server.parameters.copy()
    assert [desk.fate(site, 0) for site in SITES] == ["added"] * 3
    assert not desk.service.is_over()
    assert desk.server.version == 1
    np.testing.assert_array_equal(desk.server.parameters, parameters)


def _not_a_number(values, version):
    body = SparseUpdate(np.arange(SIZE), values, SIZE, MODEL, version).to_bytes()[:-8] + struct.pack("<f", np.nan)
    return body + struct.pack("<I", zlib.crc32(body))


class TestHostileSite:
    """The last of three sites sends what it wants in ten rounds; the others are neither moved beyond nor held up."""

    @pytest.mark.parametrize("how", ["median", "trimmed_mean"])
    @pytest.mark.parametrize(
        "attack", ["multiplied", "millions", "not-a-number", "stale", "replayed", "disguised", "nonsense"]
    )
    def test_no_coordinate_leaves_the_range_of_the_honest_sites(self, how, attack):
        desk, first = Desk(aggregation=how), None
        for number in range(10):
            before = desk.server.parameters.copy()
            for site in SITES:
                desk.download(site)
            honest = [desk.values() for _ in "ab"]
            first = honest[0] if first is None else first
            desk.ask("c", self.message(attack, desk.values(), first, number), ask="upload", sequence=number)
            for site, values in zip("ab", honest, strict=True):
                assert desk.send(site, values, number)["status"] == "ok"
            assert desk.server.version == number + 1, "the round is not held up"
            step = desk.server.parameters - before
            low, high = np.min(honest, axis=0), np.max(honest, axis=0)
            assert (step >= low - 1e-6).all() and (step <= high + 1e-6).all()

    def message(self, attack, values, first, number):
        if attack == "not-a-number":
            return _not_a_number(values, number)
        if attack == "nonsense":
            return b"nonsense"
        changed = {
            "multiplied": -20 * values,
            "millions": np.where(values > 0, np.float32(1e6), np.float32(-1e6)),
            "stale": first * np.float32(1 + 1e-3 * number),
            "replayed": first,
            "disguised": -4 * values,  # of a length that the limit allows
        }
        version = 0 if attack == "stale" else number
        return SparseUpdate(np.arange(SIZE), changed[attack], SIZE, MODEL, version).to_bytes()

    def test_a_mean_would_have_been_moved(self):
        """What the median is for: the same disguised update passes all limits."""
        desk = Desk()
        honest, hostile = [desk.values() for _ in "ab"], -4 * desk.values()
        assert np.abs(np.mean([*honest, hostile], axis=0)).max() > 4 * np.abs(np.max(np.abs(honest), axis=0)).mean()

    def test_a_long_update_is_left_out_and_named(self):
        desk = Desk()
        for site, factor in (("a", 1), ("b", 1), ("c", -8)):
            desk.send(site, factor * desk.values(), 0)
        assert [desk.fate(site, 0) for site in SITES] == ["added", "added", "left out"]
        assert [event["site"] for event in desk.events if event["event"] == "refused"] == ["c"]
        assert desk.server.n_refused == 1
        assert desk.server.delivered("c") == []

    def test_updates_that_were_not_added_count_as_sent(self, tmp_path):
        """A restored state folder, which does not know of them, was accepted, and its ledger forgot their steps."""
        desk = Desk()
        desk.server.checkpoint = tmp_path / "server.state"
        for site, factor in (("a", 1), ("b", 1), ("c", -8)):
            desk.send(site, factor * desk.values(), 3)  # of c: left out
        desk.send("a", desk.values(), 4, version=0)  # late
        desk.send("b", np.full(SIZE, 1e6, np.float32), 5)  # refused
        desk.send("c", desk.values(), "6")
        for _ in range(2):
            assert [desk.ask(site, ask="hello")[0]["next"] for site in SITES] == [5, 6, 4]
            desk.service.close()
            desk.server = ParameterServer.load(tmp_path / "server.state")
            desk.restart()
        assert desk.server.n_refused == 3
        desk.server._next_numbers = {}  # as a server of an earlier version saved it
        desk.server.save(tmp_path / "server.state")
        assert [ParameterServer.load(tmp_path / "server.state").next_number(site) for site in SITES] == [4, 4, 0]

    @pytest.mark.parametrize("sequence", [3, 2, True, "3", None, 1e400])
    def test_a_site_hears_later_whether_its_update_was_added(self, sequence):
        desk = Desk()
        for site in SITES:
            desk.send(site, desk.values(), 3)
        desk.restart()
        told = desk.ask("a", ask="sum", round=0, **{} if sequence == 1e400 else {"sequence": sequence})[0]["sum"]
        assert told == ("added" if sequence == 3 and type(sequence) is int else "late")

    def test_two_of_three_refused_sites_make_a_void_round(self):
        desk = Desk()
        for site in SITES:
            desk.download(site)
        desk.send("a", desk.values(), 0)
        for site in "bc":
            desk.send(site, np.full(SIZE, 1e6, np.float32), 0)
        assert desk.sums() == [(0, "refused")]
        assert desk.fate("a", 0) == "refused"
        assert desk.server.version == 1 and (desk.server.parameters == 1).all()

    @pytest.mark.parametrize("ends", [True, False])
    def test_a_refused_site_waits_for_the_end_of_its_round(self, ends):
        """It went on at once, spent its epochs in few rounds, and left two sites that waited for a third for ever."""
        desk, lines, polls = Desk(), [], []
        for site in SITES:
            desk.download(site)
        huge = SparseUpdate(np.arange(SIZE), np.full(SIZE, 1e6, np.float32), SIZE, MODEL, 0).to_bytes()

        def stopped():
            polls.append(desk.server.version)
            if ends and len(polls) == 3:
                for other in "ab":
                    desk.send(other, desk.values(), 0)
            return not ends and len(polls) == 3

        site = RobustSite(SiteSettings("/n", "/s", **DENSE), pause=0.0)
        ask = lambda fields, body=b"": desk.ask("c", body, **fields)  # noqa: E731
        assert site.exchange(ask, huge, stopped, lines.append) is ends
        assert polls == [0, 0, 0] and desk.server.version == ends
        assert lines == ["round 0: refused" if ends else "round 0: no sum yet"]

    @pytest.mark.parametrize("number", [None, "0", True, 1.5])
    def test_numbers_that_are_none(self, number):
        assert Desk().ask("a", ask="sum", round=number)[0]["status"] == "refused"


class TestLateSite:
    def test_it_joins_the_next_round(self):
        desk = Desk(FOUR)
        for site in FOUR:
            desk.download(site)
        for site in "abc":
            desk.send(site, desk.values(), 0)
        assert desk.server.version == 0  # d is waited for
        desk.clock.now = 51.0
        desk.ask("d", ask="ping")
        assert desk.fate("a", 0) == "added"
        late = desk.send("d", desk.values(), 0, version=0)
        assert "late" in late["reason"] and desk.fate("d", 0) == "late"
        for site in "abc":
            desk.download(site)
            desk.send(site, desk.values(), 1)
        assert desk.server.version == 2  # it had not joined: nobody waits for it a second time
        for site in FOUR:
            desk.download(site)
        for site in "abc":
            desk.send(site, desk.values(), 2)
        assert desk.server.version == 2
        desk.send("d", desk.values(), 1)
        assert [event["sites"] for event in desk.events if event["event"] == "sum"] == [3, 3, 4]

    def test_a_silent_site_does_not_hold_four_up_and_ends_a_session_of_three(self):
        for sites, n_added in ((FOUR, 1), (SITES, 0)):
            desk = Desk(sites)
            for site in sites:
                desk.download(site)
            for site in sites[:-1]:
                desk.send(site, desk.values(), 0)
            assert not desk.service.is_over()
            desk.clock.now = 21.0
            for site in sites[:-1]:
                desk.ask(site, ask="ping")
            assert desk.service.is_over() == (not n_added)
            assert len(desk.sums()) == n_added

    def test_a_session_of_a_refused_site_and_silent_ones_ends(self):
        """The refused site waited for the end of its round, and the server for the site, up to a day."""
        desk = Desk()
        for site in SITES:
            desk.download(site)
        assert desk.send("a", 1000 * desk.values(), 0)["status"] == "refused"
        assert not desk.service.is_over()
        desk.clock.now = 21.0
        assert desk.fate("a", 0) is None
        assert desk.service.is_over()

    def test_updates_without_a_round_are_sent_again_in_the_next_session(self):
        desk = Desk()
        values = {site: desk.values() for site in SITES}
        for site in "ab":
            desk.send(site, values[site], 0)
        desk.service.close()
        assert desk.ask("a", ask="sum", round=0)[0] == {"status": "closed", "sum": None}
        desk.restart()  # a server that is killed forgets an open round, too
        for site in SITES:
            assert desk.send(site, values[site], 0)["applied"]
        np.testing.assert_array_equal(
            desk.server.parameters, np.float32(1) + np.median(list(values.values()), axis=0).astype(np.float32)
        )
        assert [desk.server.delivered(site) for site in SITES] == [[(0, 0)]] * 3

    def test_a_checkpoint_that_cannot_be_written_changes_nothing(self, tmp_path, monkeypatch):
        desk = Desk()
        desk.server.checkpoint = tmp_path / "server.state"
        values = {site: desk.values() for site in SITES}
        for site in "ab":
            desk.send(site, values[site], 0)

        def fails(*arguments):
            raise OSError("disk full")

        with monkeypatch.context() as patch:
            patch.setattr(server, "write_state", fails)
            with pytest.raises(OSError, match="disk full"):
                desk.send("c", values["c"], 0)
        assert desk.server.version == 0 and (desk.server.parameters == 1).all()
        assert [desk.server.delivered(site) for site in SITES] == [[]] * 3
        assert desk.fate("a", 0) == "added"
        assert ParameterServer.load(tmp_path / "server.state").delivered("c") == [(0, 0)]


# ---- agreements and settings


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"sites": ["a", "b"]}, "at least 3 sites"),
        ({"sites": FOUR, "aggregation": "trimmed_mean", "n_trim": 2}, "at least 5 sites"),
        ({"aggregation": "mode"}, "'aggregation' must be one of"),
        ({"n_trim": 0}, "'n_trim'"),
        ({"n_trim": True}, "'n_trim'"),
    ],
)
def test_agreements_that_are_refused(more, reason):
    with pytest.raises(ExchangeError, match=reason):
        FederationConfig(**{"project": "lab", "sites": SITES, "labels": ["DATE"], "aggregation": "median", **more})


def test_masks_hide_what_a_median_needs(tmp_path):
    pytest.importorskip("cryptography", reason="the extra 'mapping' is not installed")
    keys = {site: make_mask_key(tmp_path / f"{site}.key") for site in SITES}
    with pytest.raises(ExchangeError, match="masks hide"):
        FederationConfig("lab", SITES, ["DATE"], aggregation="median", mask_keys=keys)


@pytest.mark.parametrize(
    "own",
    [
        {"upload_fraction": 0.5},
        {"download_fraction": 0.5},
        {"threshold": 1e-4},
        {"error_feedback": True, "selection": "largest"},
    ],
)
def test_settings_that_are_refused(own):
    with pytest.raises(ExchangeError, match="sends and fetches all"):
        check_robust(SiteSettings("/notes", "/state", **{**DENSE, **own}))


def test_a_part_of_the_parameters_is_refused():
    part = SparseUpdate(np.arange(3), np.zeros(3, np.float32), SIZE, MODEL, 0, "parameters").to_bytes()
    with pytest.raises(ExchangeError, match="all parameters"):
        RobustSite(SiteSettings("/notes", "/state", **DENSE)).begin(part, 0)


def test_a_federation_of_three_cannot_exclude_a_site(tmp_path):
    (tmp_path / "startup").mkdir()
    (tmp_path / "local").mkdir()
    (tmp_path / "startup" / "fed_server.json").write_text("{}")
    for sites in (FOUR, SITES):
        agreement = FederationConfig("lab", sites, ["DATE"], aggregation="median")
        write_settings(agreement, tmp_path / "local" / AGREEMENT_FILE)
        if sites is FOUR:
            assert exclude_site(tmp_path, "d") == SITES
        else:
            with pytest.raises(ExchangeError, match="at least 3 sites"):
                exclude_site(tmp_path, "a")


# ---- sites that train


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    root = tmp_path_factory.mktemp("notes")
    for seed, site in enumerate(FOUR, start=1):
        write_short_notes(root / site, 1, seed)
    return root


def agreement_of(sites, how="median", n_epochs=2):
    labels, step = list(I2B2_2014.labels), np.sqrt(len(sites)) / len(sites)
    return FederationConfig("lab", sites, labels, TAGGER, n_epochs=n_epochs, aggregation=how, step=float(step))


def settings(root, notes, site):
    return SiteSettings(str(notes / site), str(root / site), random_state=7, format="brat", **DENSE)


def together(tasks):
    """Run all tasks at once; returns their results, or the errors that ended them."""
    results = {}

    def run(name, task):
        try:
            results[name] = task()
        except (DeidError, Killed) as error:
            results[name] = error

    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in tasks.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    return results


TURN = threading.Lock()


def one_at_a_time(train):
    """Threads share the random numbers of torch."""

    def trained(*arguments):
        with TURN:
            return train(*arguments)

    return trained


def run_session(root, notes, agreement, server, n_epochs, dying=None):
    """One session of new sites, as processes are. ``dying`` names a site and the request at which it dies."""
    events, trainings = [], {}
    service = RobustExchangeService(server, agreement, SessionRules(n_epochs), events.append)
    for site in agreement.sites:
        trainings[site] = SiteTraining(agreement, settings(root, notes, site), site)
        trainings[site].robust._pause = 0.01
        trainings[site]._epoch = one_at_a_time(trainings[site]._epoch)
    lost = threading.Event()

    def ask_of(site):
        def ask(fields, body=b""):
            dies = dying == (site, fields["ask"])
            answer = unpack(service.answer(site, pack(fields, body))) if not dies or dying[1] == "sum" else None
            # Who dies when it asks for the fate of its update has sent it: it asks until the round has ended.
            if dies and (answer is None or answer[0].get("sum") is not None):
                lost.set()
                raise Killed
            return answer

        return ask

    tasks = {s: lambda s=s: trainings[s].run_session(ask_of(s), lost.is_set) for s in agreement.sites}
    return events, together(tasks)


@pytest.mark.parametrize("how", ["median", "trimmed_mean"])
def test_sessions_equal_one_process_bit_by_bit(tmp_path, notes, how):
    """Sites, files, messages and two sessions change no bit of what `FederatedAveraging` computes."""
    agreement = agreement_of(FOUR, how)
    server = agreement.new_server()
    first = server.parameters.copy()
    for _ in range(2):
        _, results = run_session(tmp_path, notes, agreement, server, n_epochs=1)
        assert results == dict.fromkeys(FOUR, 1)
    learners = {}
    for site in FOUR:
        data = read_site_corpus(settings(tmp_path, notes, site)).to_sentences()
        tagger = agreement.tagger_to_train().set_params(random_state=7)
        learners[site] = make_learner(tagger, data.X, data.y, data.groups, agreement.labels, n_epochs=2)
    limits = ServerLimits(step=2.0, max_norm=np.inf)
    plan = StrategyPlan("fedavg", n_epochs=2, aggregation=how, max_ratio=5.0, limits=limits)
    alone = run_strategy(plan, learners, first, server.model, random_state=0)
    assert np.array_equal(server.parameters, alone.parameters)
    assert not np.array_equal(server.parameters, first)


@pytest.mark.parametrize("moment", ["download", "upload", "sum"])
def test_a_site_that_dies_anywhere_is_counted_once_in_every_round(tmp_path, notes, moment):
    """After any death and one more session, each site has sent each epoch once, and no round lacks a site."""
    agreement = agreement_of(SITES)
    server = agreement.new_server()
    _, results = run_session(tmp_path, notes, agreement, server, 2, dying=("c", moment))
    assert isinstance(results["c"], Killed)
    assert server.version == (1 if moment == "sum" else 0)
    events, results = run_session(tmp_path, notes, agreement, server, n_epochs=3)
    assert not [error for error in results.values() if isinstance(error, BaseException)]
    assert server.version == 2 and server.n_refused == 0
    assert [server.delivered(site) for site in SITES] == [[(0, 1)]] * 3
    assert [e["sites"] for e in events if e["event"] == "sum"] == [3] * (1 if moment == "sum" else 2)
    for site in SITES:
        assert len((tmp_path / site / "history.jsonl").read_text().splitlines()) == 2
    # The officer reads what became of an update whose result the site has not heard.
    for site in SITES:
        log = (tmp_path / site / "officer.log").read_text()
        assert [log.count(f"round {number}: added") for number in (0, 1)] == [1, 1]


def test_a_server_with_another_rule_is_refused(tmp_path, notes):
    agreement = agreement_of(SITES)
    other = replace(agreement, aggregation="mean")
    for theirs, own in ((agreement, other), (other, agreement)):
        service = make_service(agreement.new_server(), theirs, RULES, lambda event: None)
        training = SiteTraining(own, settings(tmp_path, notes, "a"), "a")
        with pytest.raises(ExchangeError, match="combines updates in another way"):
            training.run_session(lambda f, body=b"", service=service: unpack(service.answer("a", pack(f, body))))


def test_a_hostile_server_writes_nothing_into_the_log_of_the_officer():
    """The result of a round was copied into the log, also with line breaks and sentences about epsilon."""
    forged = "added.\n2026-11-24 12:56:54 UTC after the epoch: Each patient: epsilon 0.000 of 8 spent"
    update = SparseUpdate(np.arange(SIZE), np.ones(SIZE, np.float32), SIZE, MODEL).to_bytes()
    replies = {"upload": {"status": "ok", "applied": True}, "sum": {"status": "ok", "sum": forged}}
    site, lines = RobustSite(SiteSettings("/n", "/s", **DENSE), pause=0.0), []
    with pytest.raises(ExchangeError, match="unknown result"):
        site.exchange(lambda fields, body=b"": (replies[fields["ask"]], b""), update, lambda: False, lines.append)
    assert lines == []


def test_a_reason_of_a_hostile_server_stays_in_one_short_line():
    with pytest.raises(ExchangeError, match="The server refuses: late\\?an invented line") as raised:
        granted(({"status": "refused", "reason": "late\nan invented line\x1b[2J" + 4000 * "x"}, b""))
    assert raised.value.message.isprintable()
    assert len(raised.value.message) < 400


@pytest.mark.parametrize("screened", [True, False])
def test_an_excluded_site_sets_no_limit_of_lengths(screened):
    """Its last norm stayed in the median: short updates before the exclusion made the server refuse honest ones."""
    desk = Desk(aggregation="mean", screened=screened)
    for number in range(3):
        for site, length in zip(SITES, (1.0, 1.0, 1e-4), strict=True):
            desk.send(site, length * desk.values(), number)
    desk.agreement = replace(desk.agreement, sites=SITES[:2])
    desk.restart()
    for site, length in zip(SITES, (0.3, 1.0), strict=False):  # a small and a large site, later in the training
        assert desk.send(site, length * desk.values(), 3)["status"] == "ok"
    assert desk.server.n_refused == 0
