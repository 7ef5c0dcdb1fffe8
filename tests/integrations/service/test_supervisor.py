"""The first process of a service with several workers notices that a worker has ended."""

from types import SimpleNamespace

import pytest

pytest.importorskip("uvicorn")
from uvicorn import Config
from uvicorn.supervisors import multiprocess

from sklearn_deid.integrations.service.supervisor import WorkerSupervisor


def test_a_worker_that_ends_before_its_answer_is_not_waited_for(monkeypatch):
    """The first process held the worker's end, waited for two minutes, and heard no signal meanwhile."""
    monkeypatch.setattr(multiprocess.signal, "signal", lambda number, handler: None)
    supervisor = WorkerSupervisor(Config("app:app", workers=2, log_config=None, timeout_worker_healthcheck=0), [])
    monkeypatch.setattr(multiprocess, "get_subprocess", lambda config, target, sockets: None)
    arguments = [] if not hasattr(supervisor, "target") else [supervisor.target]
    worker = multiprocess.Process(supervisor.config, *arguments, [])
    ended = []

    def kill():
        ended.append(worker.parent_conn.poll(0))  # whether the first process sees the end of the worker
        supervisor.should_exit.set()  # no other worker is started

    # Alive when uvicorn looks, and without a copy of its end of the connection, as after the end of the process.
    worker.process = SimpleNamespace(is_alive=lambda: True, kill=kill, join=lambda: None, exitcode=None, pid=1)
    supervisor.processes.append(worker)
    supervisor.keep_subprocess_alive()
    if not ended:  # older versions of uvicorn raise an error, and look again after half a second
        worker.process.is_alive = lambda: False
        supervisor.keep_subprocess_alive()
    assert ended == [True]
