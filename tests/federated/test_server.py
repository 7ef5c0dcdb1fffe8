"""The server: what it adds, refuses, hands out and survives."""

import copy
import os
import pickle
import tempfile
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import Delivered, ParameterServer, ServerLimits, SparseUpdate
from sklearn_deid.federated.server_limits import NO_LIMITS

from .learners import MODEL

SIZE = 6


def make(indices, values, version=0, **fields):
    fields = {"size": SIZE, "model": MODEL, "version": version, **fields}
    return SparseUpdate(np.array(indices, dtype=int), np.array(values, dtype=np.float32), **fields)


def server(**fields):
    limits = {"max_abs": np.inf, "max_norm": np.inf, "refuse_replays": False, **fields.pop("limits", {})}
    return ParameterServer(np.zeros(SIZE), MODEL, ServerLimits(**limits), random_state=0, **fields)


def state(s):
    return s.parameters.tolist(), s.counts.tolist(), s.version


def test_limits_of_numpy_are_saved(tmp_path):
    """The first upload ended with a TypeError of the checkpoint."""
    limits = {"max_norm": np.linalg.norm(np.ones(SIZE, np.float32)), "max_staleness": np.int64(3)}
    one = server(limits=limits, checkpoint=tmp_path / "server.state")
    assert one.upload(make([0], [1.0]), "a", 0)
    assert ParameterServer.load(tmp_path / "server.state").limits == one.limits


WHOLE = st.integers(-8, 8)
UPDATES = st.lists(st.dictionaries(st.integers(0, SIZE - 1), WHOLE), min_size=1, max_size=6)


@given(UPDATES, st.data())
def test_no_update_is_lost_or_applied_twice(contents, data):
    """Whole numbers, so that sums do not depend on the order; messages come in any order, any number of times."""
    messages = [
        (f"site-{i % 3}", i // 3, make(sorted(c), [c[j] for j in sorted(c)]).to_bytes()) for i, c in enumerate(contents)
    ]
    deliveries = data.draw(st.permutations(messages + data.draw(st.lists(st.sampled_from(messages), max_size=8))))
    target = server()
    new = [target.upload(message, worker, sequence) for worker, sequence, message in deliveries]
    assert sum(new) == len(contents) == target.version
    assert target.parameters.tolist() == [sum(c.get(j, 0) for c in contents) for j in range(SIZE)]
    assert target.counts.tolist() == [sum(j in c for c in contents) for j in range(SIZE)]


@settings(max_examples=40)
@given(UPDATES, st.data())
def test_crashes_lose_nothing_that_was_acknowledged_and_repeat_nothing(contents, data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server"
        target = server(checkpoint=path)
        target.save(path)
        waiting = [
            (f"site-{i % 3}", i // 3, make(sorted(c), [c[j] for j in sorted(c)]).to_bytes())
            for i, c in enumerate(contents)
        ]
        for _ in range(40):
            if not waiting:
                break
            place = data.draw(st.integers(0, len(waiting) - 1))
            worker, sequence, message = waiting[place]
            crash = data.draw(st.sampled_from(["no", "no", "before", "after"]))
            if crash != "before":
                target.upload(message, worker, sequence)
            if crash == "no":
                waiting.pop(place)  # acknowledged
            else:
                target = ParameterServer.load(path, keep=True)
        for worker, sequence, message in waiting:
            target.upload(message, worker, sequence)
        assert target.parameters.tolist() == [sum(c.get(j, 0) for c in contents) for j in range(SIZE)]
        assert target.counts.tolist() == [sum(j in c for c in contents) for j in range(SIZE)]


def test_a_checkpoint_that_fails_changes_nothing(tmp_path):
    target = server(checkpoint=tmp_path / "gone" / "server")
    before = state(target)
    with pytest.raises(OSError, match="No such file"):
        target.upload(make([1], [1]), "site", 0)
    assert state(target) == before
    assert target.delivered("site") == []
    (tmp_path / "gone").mkdir()
    assert target.upload(make([1], [1]), "site", 0)
    assert state(ParameterServer.load(tmp_path / "gone" / "server")) == state(target)


def test_an_interruption_in_the_middle_changes_nothing(monkeypatch):
    target, update = server(), make([1, 4], [1, 2])
    with monkeypatch.context() as patch:
        patch.setattr(Delivered, "add", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            target.upload(update, "site", 0)
    assert state(target) == state(server())
    assert target.upload(update, "site", 0)
    assert target.parameters.tolist() == [0, 1, 0, 0, 2, 0]


REFUSED = {
    "another size": (make([1], [1], size=7), "another model, size or kind"),
    "another model": (make([1], [1], model="f" * 32), "another model"),
    "another kind": (make([1], [1], kind="parameters"), "another model, size or kind"),
    "another size in bytes": (make([1], [1], size=7).to_bytes(), "another size"),
    "a download sent back": (make([1], [1], kind="parameters").to_bytes(), "another kind"),
    "from the future": (make([1], [1], version=1), "starts from version 1; the server has 0"),
    "too large": (make([1], [-5.5]), "value beyond 5"),
    "too long": (make([0, 1, 2], [4, 4, 4]), "norm of the update is above 6"),
    "no message": (b"hello", "truncated"),
    "nothing": (None, "must be bytes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_changes_nothing_and_is_named(name):
    update, match = REFUSED[name]
    target = server(limits=dict(max_abs=5, max_norm=6))
    with pytest.raises(ExchangeError, match=match):
        target.upload(update, "site", 3)
    assert state(target) == state(server())
    refusal = target.refusals[0]
    assert (refusal.worker, refusal.sequence, target.n_refused) == ("site", 3, 1)
    assert refusal.reason
    assert target.upload(make([1], [1]), "site", 3)  # the number is not used up


@pytest.mark.parametrize(("worker", "sequence"), [("", 0), (3, 0), ("a", -1), ("a", 1.0), ("a", True), ("a", None)])
def test_who_and_which_must_be_said(worker, sequence):
    with pytest.raises(ExchangeError, match="worker must be text|sequence number"):
        server().upload(make([1], [1]), worker, sequence)


def test_a_hundred_damaged_messages_change_nothing():
    target, rng = server(), np.random.default_rng(0)
    good = make([0, 2, 5], [1, -1, 2]).to_bytes()
    target.upload(good, "site", 0)
    before = state(target)
    for i in range(100):
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= rng.integers(1, 256)
        if i % 3 == 0:
            bad = bad[: rng.integers(len(bad))]
        elif i % 3 == 1:
            bad = bytearray(good) + bytes(1000)
        with pytest.raises(ExchangeError, match=r"\w"):
            target.upload(bytes(bad), "site", i + 1)
    assert not target.upload(good, "site", 0)  # replayed
    assert state(target) == before
    assert target.n_refused == len(target.refusals) == 100


def test_staleness_has_a_bound():
    target = server(limits=dict(max_staleness=1))
    for worker in "abd":
        target.upload(make([1], [1]), worker, 0)
    # The busiest of the other workers is not counted.
    with pytest.raises(ExchangeError, match="2 or more updates of other workers old; 1 are allowed"):
        target.upload(make([1], [1]), "c", 0)
    assert target.upload(make([1], [1], version=1), "c", 0)


def test_the_global_parameters_stay_finite():
    target, huge = server(), float(np.finfo(np.float32).max)
    target.upload(make([1], [huge]), "a", 0)
    with pytest.raises(ExchangeError, match="no longer be finite"):
        target.upload(make([0, 1], [1, huge]), "a", 1)
    assert target.parameters[0] == 0


def test_updates_can_be_shrunk():
    target = server(limits=dict(step=0.25))
    target.upload(make([1, 3], [1, -2]), "a", 0)
    assert target.parameters.tolist() == [0, 0.25, 0, -0.5, 0, 0]


def test_a_server_of_random_downloads_hands_out_what_was_updated_once_as_well():
    target = server(limits=dict(download_selection="random"))
    for sequence in range(3):
        target.upload(make([0], [1.0]), worker="site-1", sequence=sequence)
    target.upload(make([1], [1.0]), worker="site-1", sequence=3)
    got = {tuple(target.download(1 / target.size).indices.tolist()) for _ in range(50)}
    assert got == {(0,), (1,)}


def changing_server():
    target = server(limits=dict(download_selection="most-changed"))
    for name in ("a", "b"):
        target.download(1.0, name)
    target.upload(make([0, 1, 3], [1.0, -5.0, 3.0]), "a", 0)
    return target


def test_a_server_of_most_changed_parameters_knows_what_each_worker_has_got():
    target, one = changing_server(), 1 / SIZE
    assert target.download(2 * one, "a").indices.tolist() == [1, 3]
    assert target.download(one, "a").indices.tolist() == [0]
    target.upload(make([0, 1], [0.25, -0.5]), "b", 0)
    assert target.download(one, "a").indices.tolist() == [1]
    assert target.download(one, "a").indices.tolist() == [0]
    assert target.download(2 * one, "b").indices.tolist() == [1, 3]


def test_most_changed_for_whom_has_to_be_said():
    with pytest.raises(ExchangeError, match="most-changed parameters depend on the worker"):
        changing_server().download(0.5)


def test_a_restarted_server_begins_with_what_was_ever_updated(tmp_path):
    changing_server().save(tmp_path / "server")
    target = ParameterServer.load(tmp_path / "server")
    assert target.download(3 / SIZE, "a").indices.tolist() == [0, 1, 3]
    target.upload(make([5], [1.0]), "b", 0)
    assert target.download(1 / SIZE, "a").indices.tolist() == [5]


@pytest.mark.parametrize(
    "fields",
    [{"max_abs": 0}, {"max_abs": None}, {"max_ratio": None}, {"max_norm": -1}, {"max_staleness": -1}, {"step": 0}],
)
def test_wrong_limits(fields):
    with pytest.raises(ValueError, match=next(iter(fields))):
        ServerLimits(**fields)


def test_the_first_download_is_everything():
    target = ParameterServer(np.arange(5), MODEL)
    whole = target.download(1.0)
    assert whole.dense().tolist() == [0, 1, 2, 3, 4]
    assert (whole.kind, whole.version, len(target.download(0.0))) == ("parameters", 0, 0)
    assert len(whole.to_bytes()) == 52 + 4 * 5


def test_a_download_is_a_copy_and_views_are_read_only():
    target = server()
    down = target.download(1.0)
    target.upload(make([1], [1]), "a", 0)
    assert down.values.tolist() == [0] * SIZE
    for view in (target.parameters, target.counts):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1


def test_diverged_parameters_are_no_start():
    with pytest.raises(ExchangeError, match="not finite"):
        ParameterServer([np.nan], MODEL)
    with pytest.raises(ExchangeError, match="32 hexadecimal"):
        ParameterServer([0.0], "model")


def filled():
    target = server(limits=dict(max_abs=9, max_staleness=7, download_selection="random"))
    for worker, sequence, values in (("a", 0, [1, 2]), ("a", 2, [3, 4]), ("b", 0, [5, 6])):
        target.upload(make([1, 4], values), worker, sequence)
    return target


@pytest.mark.parametrize(
    "again",
    [
        lambda s, path: (s.save(path), ParameterServer.load(path))[1],
        lambda s, path: pickle.loads(pickle.dumps(s)),
        lambda s, path: copy.deepcopy(s),
    ],
    ids=["file", "pickle", "copy"],
)
def test_a_copy_goes_on_as_the_original_would(tmp_path, again):
    one = filled()
    two = again(one, tmp_path / "server")
    assert state(two) == state(one)
    assert two.limits == one.limits
    assert two.delivered("a") == [(0, 0), (2, 2)]
    assert not two.upload(make([1], [1]), "a", 2)
    assert two.upload(make([1], [1]), "a", 1)
    assert one.version == 3
    one.upload(make([1], [1]), "a", 1)
    for fraction in (0.5, 0.2, 0.9):
        assert one.download(fraction) == two.download(fraction)


def test_saving_replaces_the_whole_file_or_nothing(tmp_path, monkeypatch):
    path, target = tmp_path / "server", filled()
    target.save(path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("crash")))
    with pytest.raises(OSError, match="crash"):
        filled().save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["server"]


@given(st.data())
def test_a_damaged_file_is_refused(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server"
        if "raw" not in SAVED:
            filled().save(path)
            SAVED["raw"] = path.read_bytes()
        raw = bytearray(SAVED["raw"])
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
        path.write_bytes(raw[: data.draw(st.integers(0, len(raw)))] if data.draw(st.booleans()) else raw)
        with pytest.raises(ExchangeError, match="truncated or damaged"):
            ParameterServer.load(path)


SAVED = {}


def test_other_files_are_no_server(tmp_path):
    from sklearn_deid.federated import ExchangeRecord

    with pytest.raises(ExchangeError, match="cannot be read"):
        ParameterServer.load(tmp_path / "nothing")
    ExchangeRecord().save(tmp_path / "record")
    with pytest.raises(ExchangeError, match="not a saved parameter server"):
        ParameterServer.load(tmp_path / "record")


def test_a_generator_that_cannot_be_saved_is_named(tmp_path):
    target = ParameterServer(np.zeros(2), MODEL, random_state=np.random.Generator(np.random.MT19937(0)))
    with pytest.raises(ExchangeError, match="Only the state of PCG64"):
        target.save(tmp_path / "server")


def test_threads_do_not_disturb_each_other():
    target = ParameterServer(np.zeros(1000), MODEL, NO_LIMITS)
    update = SparseUpdate(np.arange(1000), np.ones(1000, np.float32), 1000, MODEL)
    threads = [Thread(target=lambda w=w: [target.upload(update, f"site-{w}", i) for i in range(30)]) for w in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(target.parameters.tolist()) == {120.0}
    assert target.version == 120


def test_repr():
    assert repr(filled()) == "ParameterServer(size=6, version=3, workers=2)"
