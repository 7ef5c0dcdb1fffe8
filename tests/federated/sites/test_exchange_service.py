"""The server's side of a session: who is believed, what is refused, and when it is over."""

import numpy as np
import pytest

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import ParameterServer, ServerLimits, SparseUpdate
from sklearn_deid.federated.sites import ExchangeService, SessionRules, pack, unpack

MODEL = "0" * 32
RULES = SessionRules(n_epochs=3, first_contact=100.0, silence=20.0, grace=50.0, longest=1000.0)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def desk():
    """Service, its clock and its events."""
    clock, events = Clock(), []
    server = ParameterServer(np.zeros(8), MODEL, ServerLimits(max_norm=10), random_state=0)
    return ExchangeService(server, ["a", "b", "c"], RULES, events.append, clock), clock, events


def ask(service, site, body=b"", **fields):
    return unpack(service.answer(site, pack(fields, body)))


def update(n=2):
    return SparseUpdate(np.arange(n), np.ones(n, dtype=np.float32), 8, MODEL).to_bytes()


def test_upload_is_applied_once_under_the_name_of_the_connection(desk):
    service, _, events = desk
    request = pack({"ask": "upload", "sequence": 0, "site": "b", "worker": "b"}, update())
    assert unpack(service.answer("a", request))[0] == {"status": "ok", "applied": True}
    assert unpack(service.answer("a", request))[0] == {"status": "ok", "applied": False}
    assert service.server.delivered("a") == [(0, 0)]
    assert service.server.delivered("b") == []
    assert [event["site"] for event in events] == ["a", "a"]


def test_the_log_tells_the_norm_of_the_update_itself(desk):
    """Of an update that comes late, and of one without values, too."""
    service, _, events = desk
    nothing = SparseUpdate(np.zeros(0, int), np.zeros(0, np.float32), 8, MODEL).to_bytes()
    for sequence, body in ((1, update(4)), (0, update(1)), (2, nothing)):
        ask(service, "a", body, ask="upload", sequence=sequence)
    assert [event["norm"] for event in events] == [2.0, 1.0, 0.0]


def test_download_is_what_the_server_gives(desk):
    service, _, events = desk
    fields, body = ask(service, "a", ask="download", fraction=0.5)
    assert fields == {"status": "ok"}
    assert len(SparseUpdate.from_bytes(body, size=8, model=MODEL, kind="parameters")) == 4
    assert events == [{"event": "download", "site": "a", "version": 0, "bytes": len(body)}]


@pytest.mark.parametrize(
    ("site", "fields", "body", "reason"),
    [
        (None, {"ask": "ping"}, b"", "not verified"),
        ("d", {"ask": "ping"}, b"", "not a member of the federation"),
        ("a", {"ask": "everything"}, b"", "request is unknown"),
        ("a", {}, b"", "request is unknown"),
        ("a", {"ask": "download"}, b"", "fraction"),
        ("a", {"ask": "download", "fraction": 2}, b"", "fraction"),
        ("a", {"ask": "download", "fraction": True}, b"", "fraction"),
        ("a", {"ask": "download", "fraction": 1, "dtype": "object"}, b"", "float32 or float16"),
        ("a", {"ask": "upload", "sequence": 0}, b"nonsense", "truncated"),
        ("a", {"ask": "upload", "sequence": -1}, update(), "sequence number"),
        ("a", {"ask": "upload"}, update(), "sequence number"),
    ],
)
def test_refusals_change_nothing_and_are_named(desk, site, fields, body, reason):
    service, _, events = desk
    answer, data = ask(service, site, body, **fields)
    assert answer["status"] == "refused"
    assert reason in answer["reason"]
    assert data == b""
    assert events[-1] == {"event": "refused", "site": site, "reason": answer["reason"]}
    assert service.server.version == 0
    assert not service.server.parameters.any()


def test_bytes_that_are_no_request_are_refused(desk):
    service, _, events = desk
    assert unpack(service.answer("a", b"x"))[0]["status"] == "refused"
    assert unpack(service.answer("a", {"ask": "ping"}))[0]["status"] == "refused"
    assert len(events) == 2


def test_session_ends_when_all_are_done(desk):
    service, _, events = desk
    for site in "abc":
        assert not service.is_over()
        ask(service, site, ask="done")
    assert service.is_over()
    service.close()
    assert events[-1] == {"event": "end", "done": ["a", "b", "c"], "missing": [], "version": 0, "n_refused": 0}


def test_silent_sites_are_not_waited_for(desk):
    service, clock, _ = desk
    ask(service, "a", ask="hello")
    clock.now = 19.0
    ask(service, "b", ask="ping")
    clock.now = 21.0  # a was heard of 21 s ago, b 2 s ago, c never, but it may still be starting
    assert service.waited_for(clock.now) == {"b", "c"}
    clock.now = 101.0
    assert service.waited_for(clock.now) == set()
    assert service.is_over()


def test_slow_site_is_waited_for_only_some_time(desk):
    service, clock, _ = desk
    ask(service, "a", ask="done")
    ask(service, "b", ask="done")
    for clock.now in range(10, 51, 10):
        ask(service, "c", ask="ping")
        assert not service.is_over()
    clock.now = 51.0
    assert service.is_over()


def test_session_has_a_longest_time(desk):
    service, clock, _ = desk
    while clock.now < 1000.0:
        clock.now += 10.0
        ask(service, "a", ask="ping")
    assert not service.is_over()
    clock.now += 1.0
    assert service.is_over()


def test_closed_session_says_so_and_still_takes_uploads(desk):
    service, _, _ = desk
    service.close()
    assert ask(service, "a", ask="download", fraction=0.0)[0]["status"] == "closed"
    assert ask(service, "a", update(), ask="upload", sequence=0)[0] == {"status": "closed", "applied": True}


@pytest.mark.parametrize("wrong", [{"n_epochs": 0}, {"n_epochs": 1.5}, {"grace": 0.0}, {"silence": -1.0}])
def test_rules_that_are_refused(wrong):
    with pytest.raises(ExchangeError, match=f"'{next(iter(wrong))}' .*must be (positive|a whole number)"):
        SessionRules(**wrong)
