"""`PatientConnection`: uvicorn's connection, which ends if a client does not send its request or read its answer."""

from __future__ import annotations

import asyncio
from typing import Any

from ..._optional import import_optional
from .guard import Guard

_h11 = import_optional("uvicorn.protocols.http.h11_impl", extra="serve", purpose="the service")


class PatientConnection(_h11.H11Protocol):  # type: ignore[name-defined]
    """Connection that is cut off if its client does nothing for ``timeout`` of `ServiceLimits`.

    uvicorn limits neither the time for the headers of a request nor the time in which a client reads the answer.
    Without limits, a request could last without end, and the service could not stop after a signal. A client that sends
    a whole batch before reading would also wait without end. `Guard` limits the time for a body.

    Requests are parsed by h11, also if uvicorn would choose httptools, which sets no limit for the size of headers, and
    answers a client of HTTP 1.0 in chunks, which HTTP 1.0 lacks.
    """

    _head: asyncio.TimerHandle | None = None
    _answer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start to wait for the headers of the first request."""
        super().connection_made(transport)
        self._head = self._cut_off_later()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of the headers, unless a request has begun."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            _stop(self._head)
            self._head = None
        elif self._head is None:
            self._head = self._cut_off_later()

    def pause_writing(self) -> None:
        """Start to wait: the answer is larger than the buffers, and the client does not read."""
        super().pause_writing()
        self._answer = self._cut_off_later()

    def resume_writing(self) -> None:
        """Stop waiting: the client has read."""
        _stop(self._answer)
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        _stop(self._head)
        _stop(self._answer)
        super().connection_lost(exc)

    def _cut_off_later(self) -> asyncio.TimerHandle:
        app = self.config.loaded_app
        while not isinstance(app, Guard):  # uvicorn wraps the application
            app = app.app
        return self.loop.call_later(app.limits.timeout, self.transport.abort)


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
