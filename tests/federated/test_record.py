"""Records and their files."""

import numpy as np
import pytest

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import EpochRecord, ExchangeRecord, History, ParameterServer, Worker, run_rounds
from sklearn_deid.federated.server_limits import NO_LIMITS

from .learners import MODEL, Quadratic


def recorded():
    workers = [Worker(f"site-{i}", Quadratic(np.arange(1.0, 6.0) * (i + 1)), MODEL, random_state=i) for i in range(2)]
    record = ExchangeRecord()
    server = ParameterServer(np.zeros(5), MODEL, NO_LIMITS, random_state=0)
    run_rounds(server, workers, "sequential", 2, record=record)
    return record


def test_a_record_keeps_the_order_and_says_which_epoch():
    record = recorded()
    assert [(m.direction, m.worker, m.epoch) for m in record] == [
        ("down", "site-0", 0),
        ("down", "site-1", 0),
        ("down", "site-0", 0),
        ("up", "site-0", 1),
        ("down", "site-1", 0),
        ("up", "site-1", 1),
        ("down", "site-0", 1),
        ("up", "site-0", 2),
        ("down", "site-1", 1),
        ("up", "site-1", 2),
    ]
    # an upload names the state of the server that it starts from, as the attack on it needs
    assert [m.decode().version for m in record.uploads()] == [0, 1, 2, 3]


def test_saved_and_loaded(tmp_path):
    record = recorded()
    record.save(tmp_path / "record")
    assert list(ExchangeRecord.load(tmp_path / "record")) == list(record)
    ParameterServer(np.zeros(2), MODEL).save(tmp_path / "server")
    with pytest.raises(ExchangeError, match="not a saved exchange record"):
        ExchangeRecord.load(tmp_path / "server")


def test_an_unknown_direction():
    with pytest.raises(ExchangeError, match="one of down, up"):
        ExchangeRecord().add("sideways", "site", 0, b"")


def test_history_by_worker():
    history = History()
    for worker, epoch, f1 in (("a", 1, 0.5), ("b", 1, 0.25), ("a", 2, 0.75)):
        history.add(EpochRecord(worker, epoch, bytes_up=10, bytes_down=1, metrics={"f1": f1}))
    assert {name: table.tolist() for name, table in history.table("f1").items()} == {"a": [0.5, 0.75], "b": [0.25]}
    assert history.column("epoch") == [1, 1, 2]
    assert np.isnan(history.column("loss")).all()
    later = History()
    later.interrupted, later.bytes_repeated, later.bytes_start = True, 5, 7
    history.extend(later)
    assert (history.bytes_up, history.bytes_down, history.interrupted) == (35, 10, True)
    assert history.to_list()[0]["metrics"] == {"f1": 0.5}
