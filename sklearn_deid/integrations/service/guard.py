"""`Guard`: checks of every request before its text is read, and of every answer."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import math
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from ..._optional import import_optional
from ...tagging.tagger_failure import TaggerFailure
from .metrics import ServiceMetrics

RequestRefused = import_optional("fastapi", extra="serve", purpose="the service").HTTPException

_LOG = logging.getLogger("sklearn_deid.service")
_OPEN = ("/health", "/ready")
_STREAMS = ("/v1/batch",)
# Clients whose rates are remembered.
_MOST_CLIENTS = 10_000
_MOST_DIGITS = 18
# In logs and metrics, as other servers write it. Nobody receives this status.
_CLIENT_LEFT = 499
_PORT = re.compile(":[0-9]*$")

Message = MutableMapping[str, Any]


@dataclass(frozen=True)
class ServiceLimits:
    """Limits of the service.

    Parameters
    ----------
    token : str, optional
        Token of the header ``Authorization: Bearer TOKEN``. None requires no token.
    hosts : tuple of str, optional
        Names that the header ``Host`` may have, without the port. None allows all. Without a list of names, a web page
        in a browser of this machine could reach the service through another host name.
    max_bytes : int, default=1_000_000
        Largest body of a request, and largest line of a batch.
    rate : int, optional
        Largest number of requests of a client in a minute. None sets no limit.
    timeout : float, default=60.0
        Seconds within which a body, or a line of a batch, must arrive, and within which the model must answer.
    max_waiting : int, default=200
        Largest number of requests that may wait for the model at the same time.
    """

    token: str | None = field(default=None, repr=False)
    hosts: tuple[str, ...] | None = None
    max_bytes: int = 1_000_000
    rate: int | None = None
    timeout: float = 60.0
    max_waiting: int = 200


class Guard:
    """ASGI application around another application, with request ids, limits, counts, and errors without text.

    Parameters
    ----------
    app : ASGI application
        Application.
    limits : ServiceLimits
        Limits.
    metrics : ServiceMetrics
        Counts.
    routes : iterable of str
        Known paths. Other paths are counted and logged as "other", because a path could hold text.
    """

    def __init__(self, app: Any, limits: ServiceLimits, metrics: ServiceMetrics, routes: Iterable[str]) -> None:
        self.app, self.limits, self.metrics, self.routes = app, limits, metrics, frozenset(routes)
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = _Answer(send, uuid4().hex)
        route = scope["path"] if scope["path"] in self.routes else "other"
        start = time.perf_counter()
        with TaggerFailure() as failure:
            refused = self._refusal(scope)
            if refused is not None:
                await answer.error(*refused)
            else:
                await self._answered(scope, receive, answer, route)
        if failure.error is not None:
            await self._failed(failure.error, answer)
        seconds = time.perf_counter() - start
        self.metrics.request(route, answer.status, seconds)
        _LOG.info("%s %s %s %.3f s", answer.request_id, route, answer.status, seconds)

    async def _answered(self, scope: Any, receive: Any, answer: _Answer, route: str) -> None:
        """Answer a request, unless its client leaves after the whole request and before the answer."""
        is_read = asyncio.Event()
        work = asyncio.ensure_future(self.app(scope, self._limited(receive, route, is_read), answer.send))
        leaving = asyncio.ensure_future(_left(receive, is_read))
        try:
            await asyncio.wait((work, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not work.done() and not answer.is_started:
                # A client that gives up tries again: the model would read the note twice, and others would wait.
                answer.status = _CLIENT_LEFT
                work.cancel()
                await asyncio.wait((work,))
                return
            await work
        finally:
            leaving.cancel()
            work.cancel()

    async def _failed(self, error: Exception, answer: _Answer) -> None:
        # The message of an error could hold text of a note, and so could the values in its traceback.
        _LOG.error("%s %s", answer.request_id, type(error).__name__)
        await answer.error(500, "The request failed. The log names the kind of the error by the request id.")

    def _refusal(self, scope: Any) -> tuple[int, str] | None:
        headers = {name.lower(): value for name, value in scope["headers"]}
        hosts = self.limits.hosts
        host = _PORT.sub("", headers.get(b"host", b"").decode("latin-1")).lower()
        if hosts is not None and host not in hosts:
            return 400, "The header Host names another host."
        if scope["path"] in _OPEN:
            return None
        if self.limits.token is not None:
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, b"Bearer " + self.limits.token.encode()):
                return 401, "The request needs the header 'Authorization: Bearer TOKEN'."
        if not self._has_rate(str((scope.get("client") or ("socket",))[0])):
            return 429, f"The limit is {self.limits.rate} requests in a minute."
        length = headers.get(b"content-length", b"0")
        # Python converts no text of thousands of digits.
        is_large = not length.isdigit() or len(length) > _MOST_DIGITS or int(length) > self.limits.max_bytes
        if is_large and scope["path"] not in _STREAMS:
            return 413, f"The request is larger than {self.limits.max_bytes} bytes."
        return None

    def _has_rate(self, client: str) -> bool:
        """Count a request of a client, and return whether the client's rate limit permits the request."""
        rate, now = self.limits.rate, time.monotonic()
        if rate is None:
            return True
        left, before = self._clients.pop(client, (float(rate), now))
        left = min(float(rate), left + (now - before) * rate / 60)
        self._clients[client] = (max(0.0, left - 1), now) if left >= 1 else (left, now)
        if len(self._clients) > _MOST_CLIENTS:
            self._clients.popitem(last=False)
        return left >= 1

    def _limited(
        self, receive: Callable[[], Awaitable[Message]], route: str, is_read: asyncio.Event
    ) -> Callable[[], Awaitable[Message]]:
        is_stream = route in _STREAMS
        limit = math.inf if is_stream else self.limits.max_bytes
        seen, left = 0, self.limits.timeout

        async def limited() -> Message:
            nonlocal seen, left
            start = time.monotonic()
            try:
                message = await asyncio.wait_for(receive(), left)
            except asyncio.TimeoutError:
                raise RequestRefused(408, "The rest of the request has not arrived.") from None
            body = message.get("body", b"")
            # One time limit for all parts: a client that sends byte after byte would hold the service after a signal.
            is_next_line = is_stream and b"\n" in body
            left = self.limits.timeout if is_next_line else left - (time.monotonic() - start)
            seen += len(body)
            if seen > limit:
                raise too_large(self.limits)
            if message["type"] == "http.request" and not message.get("more_body"):
                is_read.set()
            return message

        return limited


async def _left(receive: Callable[[], Awaitable[Message]], is_read: asyncio.Event) -> None:
    """Return when the client has left. Until the whole request is read, messages belong to the application."""
    await is_read.wait()
    if (await receive())["type"] != "http.disconnect":
        await asyncio.Event().wait()  # no server sends another message, and nothing is known about the client


def too_large(limits: ServiceLimits) -> Exception:
    """Error for a request, or a line of a batch, that is larger than the limit."""
    return RequestRefused(413, f"The request is larger than {limits.max_bytes} bytes.")


class _Answer:
    """Answer of a request, to which a request id is added."""

    def __init__(self, send: Callable[[Message], Awaitable[None]], request_id: str) -> None:
        self._send, self.request_id, self.status, self.is_started = send, request_id, 500, False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.is_started = message["status"], True
            own = [(b"x-request-id", self.request_id.encode()), (b"cache-control", b"no-store")]
            message = {**message, "headers": [*message.get("headers", []), *own]}
        await self._send(message)

    async def error(self, status: int, message: str) -> None:
        if self.is_started:
            # A stream that ends in the middle: without its last message, the client sees that it is incomplete.
            self.status = status
            return
        body = json.dumps({"error": message, "request_id": self.request_id}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        headers += [(b"retry-after", b"10")] if status in (429, 503) else []
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})
