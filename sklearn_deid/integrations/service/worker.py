"""Worker processes of the service, and the settings from which each worker process makes its application."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from ..._storage import bundle_digest
from ...exceptions import DeidError
from ...tagging.threads import use_threads
from .app import make_app
from .guard import Guard, ServiceLimits

_VARIABLE = "SKLEARN_DEID_SERVICE"
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
_SHORTEST_TOKEN = 16
_LOG = logging.getLogger("sklearn_deid.service")
#: Signal to the first process from a worker that cannot start. uvicorn has handlers for SIGUSR1 and SIGUSR2.
CANNOT_START = getattr(signal, "SIGALRM", signal.SIGTERM)
_STARTUP_FAILURE = 3


@dataclass(frozen=True)
class ServiceSettings:
    """Settings of the service that every worker process reads.

    The settings contain the path of the token file, and no secret.

    Parameters
    ----------
    model, digest : str
        Path of the model, and the digest of the model at the start of the service.
    token_file : str or None
        File with the token.
    host : str or None
        Address on which the service listens, if only this computer can reach the service. The header ``Host`` of
        requests must then contain a name of this computer.
    max_bytes, rate, timeout
        As in `ServiceLimits`.
    device : str
        Device of `load`.
    threads : int
        Number of torch threads in each process.
    n_workers : int, default=1
        Number of processes.

    Examples
    --------
    >>> settings = ServiceSettings("my-model", "1f", None, "127.0.0.1", 1_000_000, None, 60.0, "cpu", 1)
    >>> ServiceSettings.from_environment(settings.to_environment()) == settings
    True
    """

    model: str
    digest: str
    token_file: str | None
    host: str | None
    max_bytes: int
    rate: int | None
    timeout: float
    device: str
    threads: int
    n_workers: int = 1

    def to_environment(self) -> dict[str, str]:
        """Environment variable for `make_worker`, which a worker process calls without arguments."""
        return {_VARIABLE: json.dumps(asdict(self))}

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> ServiceSettings:
        """Read the settings that `to_environment` wrote."""
        return cls(**json.loads(environment[_VARIABLE]))

    def make(self) -> Guard:
        """Load the model and make the application.

        Raises
        ------
        DeidError
            If the token is too short, or the model cannot be loaded or has changed since the start.
        """
        self._check_model()
        limits = ServiceLimits(
            token=None if self.token_file is None else read_token(self.token_file),
            hosts=None if self.host is None else (*_LOCAL_NAMES, self.host.lower()),
            max_bytes=self.max_bytes,
            rate=self.rate,
            timeout=self.timeout,
        )
        # Counts of several processes are separate: each answer to /metrics comes from one process.
        worker = None if self.n_workers == 1 else str(os.getpid())
        app = make_app(self.model, limits, device=self.device, worker=worker)
        self._check_model()  # again: the model can be replaced while it is loaded
        return app

    def _check_model(self) -> None:
        if bundle_digest(self.model) != self.digest:
            raise DeidError("The model has changed since the service started. Restart the service.", path=self.model)


def read_token(path: str | os.PathLike[str]) -> str:
    """Read the token of the service from a file.

    Raises
    ------
    DeidError
        If the token has fewer than 16 characters, or characters other than printable ASCII.
    """
    token = Path(path).read_bytes().strip()
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.decode("ascii").isprintable():
        raise DeidError(f"A token has at least {_SHORTEST_TOKEN} printable ASCII characters.", path=str(path))
    return token.decode("ascii")


def log_to_standard_error() -> None:
    """Write a line for each request: time, request id, path, code and duration, and no text."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    _LOG.handlers[:] = [handler]
    _LOG.setLevel(logging.INFO)
    _LOG.propagate = False


def make_worker() -> Guard:
    """Make the application in a worker process, from the environment that the first process has set.

    If the worker cannot start, the whole service ends. Otherwise, uvicorn would restart failing workers without end.
    """
    _end_with_parent()
    settings = ServiceSettings.from_environment(os.environ)
    use_threads(settings.threads)  # before the model is loaded and checked
    log_to_standard_error()
    try:
        return settings.make()
    except (DeidError, OSError) as error:
        _LOG.error("A worker cannot start: %s", error)
    if (parent := parent_process()) is not None and parent.pid is not None:
        os.kill(parent.pid, CANNOT_START)
    raise SystemExit(_STARTUP_FAILURE)


def _end_with_parent() -> None:
    """End this process after its accepted requests when the first process has ended or was killed.

    Otherwise, this process would continue to listen, unnoticed, with an old model and an old token.
    """

    def wait(first: Any) -> None:
        first.join()
        os.kill(os.getpid(), signal.SIGTERM)

    if (parent := parent_process()) is not None:
        threading.Thread(target=wait, args=(parent,), daemon=True).start()
