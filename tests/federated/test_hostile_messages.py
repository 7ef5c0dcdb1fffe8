"""What one message can do to a server with default limits, and what an honest site must do to be refused."""

import math

import numpy as np
import pytest

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import ParameterServer, ServerLimits, SparseUpdate

from .learners import MODEL

SIZE = 50
FIRST = np.linspace(-1, 1, SIZE)


def server(**limits):
    return ParameterServer(FIRST, MODEL, ServerLimits(**limits), random_state=0)


def update(values, version=0, indices=None):
    indices = np.arange(len(values)) if indices is None else indices
    return SparseUpdate(indices, np.asarray(values, dtype=np.float32), SIZE, MODEL, version)


def honest(rng, version=0):
    return update(rng.normal(0, 0.1, SIZE), version)


def state(s):
    return s.parameters.tolist(), s.counts.tolist(), s.version, [s.delivered(f"site-{i}") for i in range(3)]


def forged(rng, kind):
    """A message that no honest site sends, as bytes."""
    content = honest(rng)
    if kind == "huge value":
        values = content.values.copy()
        values[rng.integers(SIZE)] = rng.choice([-1, 1]) * 10.0 ** rng.uniform(1.1, 38)
        return update(values).to_bytes()
    if kind == "long":
        return update(rng.normal(0, 9, SIZE).clip(-9.9, 9.9)).to_bytes()
    raw = bytearray(content.to_bytes())
    if kind == "not finite":
        raw[-8:-4] = np.float32(rng.choice([np.nan, np.inf, -np.inf])).tobytes()
    elif kind == "cut":
        del raw[int(rng.integers(1, len(raw))) :]
    elif kind == "noise":
        raw = bytearray(rng.bytes(int(rng.integers(0, 400))))
    elif kind == "another model":
        raw = bytearray(SparseUpdate(content.indices, content.values, SIZE, "f" * 32).to_bytes())
    elif kind == "another size":
        raw = bytearray(SparseUpdate(content.indices, content.values, SIZE + 1, MODEL).to_bytes())
    elif kind == "parameters":
        raw = bytearray(SparseUpdate(content.indices, content.values, SIZE, MODEL, kind="parameters").to_bytes())
    elif kind == "from the future":
        raw = bytearray(update(content.values, version=int(rng.integers(10, 2**40))).to_bytes())
    return bytes(raw)


KINDS = ("huge value", "long", "not finite", "cut", "noise", "another model", "another size", "parameters")


def test_a_hundred_hostile_messages_change_nothing():
    rng, target = np.random.default_rng(0), server()
    target.upload(honest(rng), "site-0", 0)
    before = state(target)
    for i in range(100):
        kind = (*KINDS, "from the future", "replay")[i % 10]
        message = honest(np.random.default_rng(0)) if kind == "replay" else forged(rng, kind)
        with pytest.raises(ExchangeError, match=r"\.$"):
            target.upload(message, f"site-{i % 3}", 1 + i)
        assert state(target) == before
    assert target.upload(honest(rng, version=1), "site-1", 0)


def test_an_update_is_added_once_under_any_number_and_by_any_worker():
    target, one = server(), honest(np.random.default_rng(1))
    target.upload(one, "site-0", 0)
    expected = state(target)
    assert not target.upload(one, "site-0", 0)
    for sequence in range(1, 300):
        with pytest.raises(ExchangeError, match="another sequence number"):
            target.upload(update(one.values, version=sequence % 2), f"site-{sequence % 3}", sequence)
    assert state(target)[:3] == expected[:3]


def test_replays_are_known_after_a_restart(tmp_path):
    target, one = server(max_staleness=3, max_abs=math.inf), honest(np.random.default_rng(1))
    target.upload(one, "site-0", 0)
    target.save(tmp_path / "server")
    loaded = ParameterServer.load(tmp_path / "server")
    assert loaded.limits == target.limits
    assert loaded.limits.max_norm == pytest.approx(np.linalg.norm(FIRST))
    with pytest.raises(ExchangeError, match="another sequence number"):
        loaded.upload(one, "site-1", 0)


@pytest.mark.parametrize("content", ["empty", "zeros", "small"])
def test_no_flood_of_one_site_shuts_another_out(content):
    rng, target = np.random.default_rng(2), server(max_staleness=5)
    target.upload(honest(rng), "site-1", 0)
    version = target.version  # a slow site downloads now
    for sequence in range(60):
        values = {"empty": [], "zeros": np.zeros(SIZE), "small": rng.normal(0, 1e-6, SIZE)}[content]
        target.upload(update(values, target.version), "site-0", sequence)
    for sequence in range(1, 6):
        target.upload(honest(rng, target.version), "site-1", sequence)
    assert target.upload(honest(rng, version), "site-2", 0)


def test_staleness_is_that_without_the_busiest_other_worker():
    """Against a count over the list of all uploads."""
    rng, target, log = np.random.default_rng(3), server(max_staleness=4), []
    for sequence in range(200):
        worker, version = f"site-{rng.integers(5)}", int(rng.integers(max(0, target.version - 12), target.version + 1))
        others = [sum(w == other for w in log[version:]) for other in set(log) - {worker}]
        if sum(others) - max(others, default=0) > 4:
            with pytest.raises(ExchangeError, match="old; 4 are allowed"):
                target.upload(honest(rng, version), worker, sequence)
        else:
            target.upload(honest(rng, version), worker, sequence)
            log.append(worker)
    assert target.n_refused > 10


def test_the_memory_of_sequence_numbers_is_bounded():
    target = server(max_gaps=10)
    for sequence in range(10):
        target.upload(update([]), "site-0", 2 * sequence)
    with pytest.raises(ExchangeError, match="have 10 ranges"):
        target.upload(update([]), "site-0", 50)
    # The gaps can be filled, and the other sites are not concerned.
    assert all(target.upload(update([]), "site-0", 2 * sequence + 1) for sequence in range(10))
    assert target.upload(update([]), "site-0", 50)
    assert target.upload(update([]), "site-1", 10**9)


def test_what_an_honest_site_must_do_to_be_refused():
    """It must send a value above 10, an update longer than the first parameters, or the same update twice."""
    rng, target = np.random.default_rng(4), server()
    norm = np.linalg.norm(FIRST)
    for sequence in range(50):
        values = rng.normal(0, 1, SIZE)
        values *= 0.99 * norm / np.linalg.norm(values)
        assert target.upload(update(values, target.version), "site-0", sequence)
    nothing = [target.upload(update(np.zeros(SIZE), target.version), "site-0", 100 + i) for i in range(5)]
    assert all(nothing)  # nothing learned, twice in a row
    with pytest.raises(ExchangeError, match="norm of the update is above"):
        target.upload(update(values * 1.1, target.version), "site-0", 200)


class TestNormOfTheOthers:
    """An update is compared with the updates of the other sites that have the same number."""

    @staticmethod
    def send(target, rng, length, site, sequence):
        values = rng.normal(0, 1, SIZE)
        values *= length / np.linalg.norm(values)
        return target.upload(update(values, target.version), f"site-{site}", sequence)

    def test_the_limit_follows_the_updates(self):
        rng, target = np.random.default_rng(5), server(max_norm=math.inf)
        for sequence, length in enumerate([1.0, 0.5, 0.1]):
            assert all(self.send(target, rng, length, site, sequence) for site in (0, 1))
        with pytest.raises(ExchangeError, match="more than 5 times the median norm"):
            self.send(target, rng, 0.51, 2, 3)
        assert self.send(target, rng, 0.49, 2, 3)

    def test_the_last_update_may_be_as_long_as_earlier_ones(self, tmp_path):
        """It leads back to the moving average of the weights, and is much longer than the update before it."""
        rng, target = np.random.default_rng(8), server(max_norm=math.inf, last_sequence=3)
        for sequence, length in enumerate([1.0, 2.0, 0.01]):
            assert all(self.send(target, rng, length, site, sequence) for site in (0, 1, 2))
        target.save(tmp_path / "server")
        target = ParameterServer.load(tmp_path / "server")
        with pytest.raises(ExchangeError, match="median norm"):
            self.send(target, rng, 10.1, 0, 3)
        assert all(self.send(target, rng, 1.0, site, 3) for site in (0, 1, 2))
        with pytest.raises(ExchangeError, match="median norm"):
            self.send(target, rng, 10.1, 2, 4)

    def test_a_late_site_with_error_feedback_sends_its_rest(self):
        """The rate of the update before the last is nearly zero, but the rest of earlier updates is not."""
        rng, target = np.random.default_rng(9), server(max_norm=math.inf, last_sequence=13)
        falling = ((9, (1.807, 1.704)), (10, (1.396, 1.26)), (11, (1.217, 0.912)), (12, (0.704, 0.454)))
        for sequence, lengths in falling:
            assert all(self.send(target, rng, length, site, sequence) for site, length in enumerate(lengths))
        with pytest.raises(ExchangeError, match="median norm"):
            self.send(target, rng, 6.7, 2, 12)  # five times (1.396 + 1.26) / 2 is 6.64
        assert self.send(target, rng, 3.0, 2, 12), "more than five times 0.58"

    def test_other_updates_may_not(self):
        rng, target = np.random.default_rng(8), server(max_norm=math.inf, last_sequence=5)
        for sequence, length in enumerate([1.0, 2.0, 0.01]):
            assert all(self.send(target, rng, length, site, sequence) for site in (0, 1))
        with pytest.raises(ExchangeError, match="median norm"):
            self.send(target, rng, 1.0, 2, 3)

    def test_a_late_site_is_compared_with_early_updates(self, tmp_path):
        rng, target = np.random.default_rng(6), server(max_norm=math.inf)
        for sequence, length in enumerate([1.0, 0.5, 0.1]):
            assert all(self.send(target, rng, length, site, sequence) for site in (0, 1))
        target.save(tmp_path / "server")
        target = ParameterServer.load(tmp_path / "server")
        with pytest.raises(ExchangeError, match="median norm"):
            self.send(target, rng, 5.1, 2, 0)
        assert self.send(target, rng, 4.9, 2, 0)
        assert self.send(target, rng, 2.4, 2, 1)
        with pytest.raises(ExchangeError, match="median norm"):
            self.send(target, rng, 2.4, 2, 2)

    def test_a_site_sets_no_limit_for_itself_and_one_of_three_none_for_others(self):
        rng, target = np.random.default_rng(7), server(max_norm=math.inf)
        assert all(self.send(target, rng, length, 0, n) for n, length in enumerate([0.001, 1.0, 3.0]))
        target = server(max_norm=math.inf)
        assert self.send(target, rng, 1.0, 0, 0) and self.send(target, rng, 1e-6, 1, 0)
        assert self.send(target, rng, 2.4, 2, 0), "a short update of one site does not shut the others out"


def test_limits_that_are_none():
    with pytest.raises(ValueError, match="'max_gaps' parameter of ServerLimits must be at least 1"):
        ServerLimits(max_gaps=0)
    open_server = server(max_abs=math.inf, max_norm=math.inf, max_ratio=math.inf, refuse_replays=False)
    huge = update([1e30])
    assert open_server.upload(huge, "site-0", 0)
    assert open_server.upload(huge, "site-0", 1)
