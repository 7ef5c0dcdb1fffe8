"""Checkpoints of a server: kept, returned to, and a site that is excluded."""

import json
import math
import stat

import numpy as np
import pytest

from sklearn_deid.exceptions import DeidError, ExchangeError
from sklearn_deid.federated import ParameterServer, ServerLimits, SparseUpdate
from sklearn_deid.federated.sites import (
    FederationConfig,
    SessionRules,
    exclude_site,
    keep_checkpoint,
    keep_round,
    list_checkpoints,
    make_service,
    roll_back,
    server_checkpoint,
    site_events,
    write_settings,
)
from sklearn_deid.federated.sites.event_file import EventFile
from sklearn_deid.federated.sites.state_lock import StateLock

MODEL = "0123456789abcdef" * 2


@pytest.fixture
def kit(tmp_path):
    for folder in ("startup", "local", "deid-state"):
        (tmp_path / folder).mkdir()
    (tmp_path / "startup" / "fed_server.json").write_text("{}")
    write_settings(FederationConfig("lab", ["a", "b"], ["DATE"]), tmp_path / "local" / "federation.json")
    checkpoint = tmp_path / "deid-state" / "server.state"
    server = ParameterServer(np.zeros(4), MODEL, random_state=0, checkpoint=checkpoint)
    server.save(checkpoint)
    keep_checkpoint(checkpoint)
    for number in range(3):
        server.upload(update(0.125 * (number + 1), number), "a", number)
    return tmp_path


def update(value, version):
    return SparseUpdate(np.arange(4), np.full(4, value, np.float32), 4, MODEL, version)


def server_of(kit):
    return ParameterServer.load(server_checkpoint(kit)[1], keep=True)


def test_a_return_has_the_old_parameters_and_counts_nothing_twice(kit):
    assert roll_back(kit, 0) == 3
    server = server_of(kit)
    assert (server.version, server.parameters.tolist(), server.counts.tolist()) == (0, [0.0] * 4, [0] * 4)
    assert server.delivered("a") == [(0, 2)]
    assert not server.upload(update(0.25, 0), "a", 1), "an upload that was applied before the return"
    with pytest.raises(ExchangeError, match="starts from version 3"):
        server.upload(update(0.25, 3), "b", 0)
    assert server.parameters.tolist() == [0.0] * 4


def test_a_return_can_be_undone(kit):
    roll_back(kit, 0)
    assert list(list_checkpoints(kit)) == [0, 3]
    roll_back(kit, 3)
    assert server_of(kit).parameters.tolist() == [0.75] * 4


def test_versions_that_are_given_up_make_no_update_stale(kit):
    checkpoint, limits = server_checkpoint(kit)[1], ServerLimits(max_staleness=1, refuse_replays=False)
    server = ParameterServer(np.zeros(4), MODEL, limits, checkpoint=checkpoint)
    server.save(checkpoint)
    keep_checkpoint(checkpoint)
    for number in range(3):
        for site in "abc":
            server.upload(update(0.125, server.version), site, number)
    roll_back(kit, 0)
    server = server_of(kit)
    for site in "abc":
        assert server.upload(update(0.125, server.version), site, 3)
    with pytest.raises(ExchangeError, match="The update is 2 or more updates of other workers old"):
        server.upload(update(0.125, 0), "d", 0)


def test_updates_that_are_given_up_may_be_repeated(kit):
    """A site that trains again from the old parameters sends similar updates: the server refused them."""
    checkpoint, rng = server_checkpoint(kit)[1], np.random.default_rng(0)
    server = ParameterServer(np.zeros(2000), MODEL, checkpoint=checkpoint)
    first, second = rng.normal(size=(2, 2000)).astype(np.float32) / 1000

    def send(values, sequence, version):
        changed = SparseUpdate(np.arange(2000), values * np.float32(1 + sequence / 100), 2000, MODEL, version)
        return server_of(kit).upload(changed, "a", sequence)

    server.save(checkpoint)
    assert send(first, 0, 0)
    keep_checkpoint(checkpoint)
    assert send(second, 1, 1)
    roll_back(kit, 1)
    with pytest.raises(ExchangeError, match="direction of an earlier update"):
        send(first, 2, 1)
    assert send(second, 2, 1)
    roll_back(kit, 2)
    with pytest.raises(ExchangeError, match="direction of an earlier update"):
        send(second, 3, 2)


@pytest.mark.parametrize("keep", [keep_checkpoint, keep_round])
def test_a_version_that_repeats_after_a_return_is_the_new_one(kit, keep):
    """Otherwise a later return could lead to the parameters that were given up."""
    keep_round(server_checkpoint(kit)[1])
    roll_back(kit, 0)
    server = server_of(kit)
    for number in range(3):
        server.upload(update(-0.125 * (number + 1), number), "b", number)
    keep(server_checkpoint(kit)[1])
    roll_back(kit, 0)
    roll_back(kit, 3)
    assert server_of(kit).parameters.tolist() == [-0.75] * 4


def test_with_masks_a_return_has_a_new_version(kit):
    """Sites send no second update from a version that they know."""
    keys = {site: f"{number:064x}" for number, site in enumerate("abc", 2)}
    masked = FederationConfig("lab", list(keys), ["DATE"], mask_keys=keys)
    write_settings(masked, kit / "local" / "federation.json")
    assert roll_back(kit, 0) == 3
    server = server_of(kit)
    assert (server.version, server.parameters.tolist()) == (4, [0.0] * 4)


def test_unknown_versions_change_nothing(kit):
    before = server_checkpoint(kit)[1].read_bytes()
    with pytest.raises(ExchangeError, match="no checkpoint of version 2. Kept versions: 0"):
        roll_back(kit, 2)
    list_checkpoints(kit)[0].write_bytes(b"damaged")
    with pytest.raises(ExchangeError, match="damaged"):
        roll_back(kit, 0)
    assert server_checkpoint(kit)[1].read_bytes() == before


def test_a_running_session_prevents_a_return(kit):
    """The session replaced the checkpoint with its next round, although the command had reported the return."""
    before, lock = server_checkpoint(kit)[1].read_bytes(), StateLock(kit / "deid-state")
    with pytest.raises(ExchangeError, match="A session is running"):
        roll_back(kit, 0)
    assert server_checkpoint(kit)[1].read_bytes() == before
    lock.release()
    assert roll_back(kit, 0) == 3


def test_checkpoints_are_private_and_stay(kit):
    path = list_checkpoints(kit)[0]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = path.read_bytes()
    keep_checkpoint(server_checkpoint(kit)[1])
    assert (path.read_bytes(), list(list_checkpoints(kit))) == (content, [0, 3])


def test_an_excluded_site_is_no_member(kit):
    assert exclude_site(kit, "a") == ["b"]
    assert server_checkpoint(kit)[0].sites == ["b"]
    for site in ("a", "stranger"):
        with pytest.raises(ExchangeError, match="does not name this site"):
            exclude_site(kit, site)
    with pytest.raises(ExchangeError, match="at least one site"):
        exclude_site(kit, "b")
    assert server_checkpoint(kit)[0].sites == ["b"]


def test_events_are_summed_by_site(kit):
    events = [
        {"time": 1.0, "event": "upload", "site": "a", "applied": True, "bytes": 10, "norm": 2.5},
        {"time": 1.5, "event": "done", "site": "a", "f1": 0.75},
        {"time": 1.6, "event": "done", "site": "a"},
        {"time": 2.0, "event": "upload", "site": "a", "applied": False, "bytes": 10},
        {"time": 3.0, "event": "refused", "site": "a", "reason": "too large"},
        {"time": 4.0, "event": "refused", "site": None, "reason": "x"},
        {"time": 5.0, "event": "end"},
    ]
    log = kit / "deid-state" / "events.jsonl"
    log.write_text("".join(json.dumps(event) + "\n" for event in events))
    rows = site_events(kit)
    told = {"norm": 2.5, "f1": 0.75, "refused": 1, "reason": "too large"}
    assert rows["a"] == {"last": 3.0, "uploads": 1, "bytes": 10, **told}
    nothing = {"norm": None, "f1": None, "refused": 0, "reason": None}
    assert rows["b"] == {"last": None, "uploads": 0, "bytes": 0, **nothing}
    log.write_text("{\n")
    with pytest.raises(DeidError, match="Line 1 of the log"):
        site_events(kit)


def test_an_excluded_site_keeps_its_row(kit):
    """Its updates stay in the network, but `status` no longer showed the site, and no audit missed its updates."""
    events = [
        {"time": 1.0, "event": "refused", "site": "a", "reason": "too large"},
        {"time": 2.0, "event": "upload", "site": "a", "applied": True, "bytes": 10, "norm": 2.5},
        {"time": 3.0, "event": "refused", "site": "a", "reason": "This site is not a member of the federation."},
        {"time": 4.0, "event": "refused", "site": "stranger", "reason": "This site is not a member of the federation."},
    ]
    (kit / "deid-state" / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    before = site_events(kit)
    exclude_site(kit, "a")
    rows = site_events(kit)
    assert list(rows) == ["b", "a"]
    assert rows["a"] == before["a"]
    assert (rows["a"]["uploads"], rows["a"]["refused"]) == (1, 2)


def test_a_line_that_a_power_failure_cut_off(kit):
    """`status` refused the whole log for good, because the next session continued the line."""
    log = kit / "deid-state" / "events.jsonl"
    log.write_text('{"time": 1.0, "event": "hello", "site": "a"}\n{"time": 2.0, "event": "upl')
    assert site_events(kit)["a"]["last"] == 1.0
    EventFile(log, "next")({"event": "hello", "site": "b"})
    rows = site_events(kit)
    assert (rows["a"]["last"], len(log.read_text().splitlines())) == (1.0, 2)
    assert rows["b"]["last"] > 1.0


def test_a_line_that_a_full_disk_cut_off(kit):
    """The next line continued the part of a line, and the status of the federation failed from then on."""
    resource = pytest.importorskip("resource", reason="not on Windows")
    log = kit / "deid-state" / "events.jsonl"
    events = EventFile(log, "1")
    events({"event": "hello", "site": "a"})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + 20, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            events({"event": "hello", "site": "b"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    events({"event": "upload", "site": "a", "applied": True})
    rows = site_events(kit)
    assert (rows["a"]["uploads"], rows["b"]["last"], len(log.read_text().splitlines())) == (1, None, 2)


@pytest.mark.parametrize(
    ("own", "step", "factor"),
    [
        ({}, 0.5, math.sqrt(3)),  # the default step of four sites
        ({"aggregation": "median"}, 0.5, math.sqrt(3)),
        ({}, 0.25, 1.0),  # the mean
        ({"screened": False}, 0.5, 1 / math.sqrt(3)),  # of each update on arrival
        ({"screened": False}, 1.0, 1.0),
        ({"screened": False, "mask_keys": {site: f"{n:064x}" for n, site in enumerate("abcd", 2)}}, 0.5, None),
    ],
)
def test_the_step_of_the_remaining_sites(kit, own, step, factor):
    """The server multiplied the mean of three updates by the factor of four, and with masks also the last mean."""
    agreement = FederationConfig("lab", list("abcd"), ["DATE"], step=step, **{"screened": True, **own})
    write_settings(agreement, kit / "local" / "federation.json")
    checkpoint = server_checkpoint(kit)[1]
    ParameterServer(np.zeros(4, np.float32), MODEL, agreement.limits()).save(checkpoint)
    exclude_site(kit, "d")
    left = server_checkpoint(kit)[0]
    service = make_service(ParameterServer.load(checkpoint), left, SessionRules(), record=lambda event: None)
    assert service.server.limits.step == pytest.approx(math.sqrt(3) if factor is None else factor)
    if left.mask_keys:
        # Each site divides its last update by the factor of its agreement, which is the new one.
        assert left.step * len(left.sites) == pytest.approx(service.server.limits.step)
