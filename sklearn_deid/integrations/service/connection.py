"""`PatientConnection`: uvicorn's connection, which ends if a client does not read its answer."""

from __future__ import annotations

import asyncio
from typing import Any

from ..._optional import import_optional
from .guard import Guard

_auto = import_optional("uvicorn.protocols.http.auto", extra="serve", purpose="the service")


class PatientConnection(_auto.AutoHTTPProtocol):  # type: ignore[name-defined,misc]
    """Connection that is cut off after ``timeout`` of `ServiceLimits`, if the client reads nothing in this time.

    uvicorn waits without a limit. The request of such a client would never end, and the service would not end after a
    signal. A client that sends a whole batch before it reads would wait for ever, too.
    """

    _waiting: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """Begin to wait: the answer is larger than the buffers, and the client does not read."""
        super().pause_writing()
        self._waiting = self.loop.call_later(_timeout(self.config.loaded_app), self.transport.abort)

    def resume_writing(self) -> None:
        """End to wait: the client has read."""
        if self._waiting is not None:
            self._waiting.cancel()
        super().resume_writing()


def _timeout(app: Any) -> float:
    """Time limit of an application that uvicorn may have wrapped."""
    while not isinstance(app, Guard):
        app = app.app
    return app.limits.timeout
