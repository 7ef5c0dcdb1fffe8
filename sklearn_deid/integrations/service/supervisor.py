"""`WorkerSupervisor`: uvicorn's first process, which notices at once that a worker process has ended."""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import Any

from ..._optional import import_optional

_uvicorn = import_optional("uvicorn", extra="serve", purpose="the service")
_supervisors = import_optional("uvicorn.supervisors", extra="serve", purpose="the service")


class WorkerSupervisor(_supervisors.Multiprocess):  # type: ignore[name-defined]
    """First process of a service with several workers. It starts, replaces and ends the worker processes.

    uvicorn asks each worker for a sign of life, and holds both ends of the connection to the worker. If a worker ends
    before its answer, for example because the system kills the worker while it loads its model, uvicorn waits for the
    whole ``timeout_worker_healthcheck``: no other worker is started, and no signal is heard. This supervisor closes the
    worker's end in the first process. The connection then ends together with the worker, and so does the wait.

    Parameters
    ----------
    config : uvicorn.Config
        Settings of the service.
    sockets : list of socket
        Listening sockets that the workers share.
    """

    def __init__(self, config: Any, sockets: list[Any]) -> None:
        # Older versions of uvicorn also take the function that a worker calls.
        has_target = "target" in inspect.signature(_supervisors.Multiprocess.__init__).parameters
        super().__init__(config, **({"target": _uvicorn.Server(config).run} if has_target else {}), sockets=sockets)

    def keep_subprocess_alive(self) -> None:
        """Replace workers that have ended or hang."""
        for process in self.processes:
            process.child_conn.close()  # the worker has its own copy
        # Older versions of uvicorn pass the error of such a connection on. The next call finds that the worker has
        # ended.
        with suppress(EOFError, ConnectionError):
            super().keep_subprocess_alive()
