"""Server side of one session: answers to requests, the sites that are done, and the end of the session."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from ...exceptions import ExchangeError
from ..record import ExchangeRecord
from ..server import ParameterServer
from ..sparse import DTYPES, SparseUpdate
from ..value_checks import is_number
from .json_file import check_kinds
from .wire import pack, unpack


@dataclass(frozen=True)
class SessionRules:
    """Rules for the end of a session. A site that misses the end continues in the next session. Times are in seconds.

    Parameters
    ----------
    n_epochs : int, default=5
        Largest number of local epochs of each site in a session.
    first_contact : float, default=300.0
        The server stops waiting for a site that has sent no request within this time from the start.
    silence : float, default=60.0
        The server stops waiting for a site that has sent no request for this time. Sites send a request every 10
        seconds during the training.
    grace : float, default=600.0
        Waiting time for slow sites after more than half of all sites are done.
    longest : float, default=86400.0
        Longest duration of a session.
    """

    n_epochs: int = 5
    first_contact: float = 300.0
    silence: float = 60.0
    grace: float = 600.0
    longest: float = 86400.0

    def __post_init__(self) -> None:
        check_kinds(self)
        for name, value in vars(self).items():
            if not value > 0:
                raise ExchangeError(f"{name!r} of a session must be positive.")


class ExchangeService:
    """Answers requests of sites. The name of a site comes from the connection, never from a request.

    Parameters
    ----------
    server : ParameterServer
        Server with the global parameters.
    sites : iterable of str
        Names of the sites that take part.
    rules : SessionRules
        Rules for the end of the session.
    record : callable
        Function called with a dict of numbers and names for each event. The dict never holds text of notes.
    clock : callable, default=time.monotonic
        Function that returns the time in seconds.

    Examples
    --------
    >>> import numpy as np
    >>> server = ParameterServer(np.zeros(4), model="0" * 32)
    >>> service = ExchangeService(server, ["site-1"], SessionRules(n_epochs=3), record=lambda event: None)
    >>> unpack(service.answer("site-1", pack({"ask": "hello"})))[0]["n_epochs"]
    3
    >>> unpack(service.answer("stranger", pack({"ask": "hello"})))[0]
    {'status': 'refused', 'reason': 'This site is not a member of the federation.'}
    """

    def __init__(
        self,
        server: ParameterServer,
        sites: Iterable[str],
        rules: SessionRules,
        record: Callable[[dict[str, Any]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.server, self.rules, self.record = server, rules, record
        self.sites = frozenset(sites)
        self.done: set[str] = set()
        self._clock, self._begin = clock, clock()
        self._heard: dict[str, float] = {}
        self._majority: float | None = None
        # With a record, all messages that hold parameters or updates are kept for an audit.
        self.exchange: ExchangeRecord | None = None
        # Called after each round, to keep a checkpoint.
        self.after_round: Callable[[], Any] = lambda: None
        self._closed = False
        # Told to sites, which compare it with their own agreement.
        self._terms: dict[str, Any] = {}
        self._lock = Lock()
        # A request can only name one of these methods.
        self._answers: dict[str, Callable[[str, Mapping[str, Any], bytes], bytes]] = {
            "hello": self._hello,
            "ping": self._ping,
            "download": self._download,
            "upload": self._upload,
            "done": self._done,
        }

    def answer(self, site: str | None, data: Any) -> bytes:
        """Return the reply to a request. A refusal is also a reply.

        Parameters
        ----------
        site : str or None
            Name of the site, as authenticated by the connection. None means that no name was authenticated.
        data : bytes
            Encoded request.
        """
        try:
            # The transport proves the name. A request without a proof is refused before its content is parsed.
            if site is None:
                raise ExchangeError("The sender of the request is not verified.")
            if site not in self.sites:
                raise ExchangeError("This site is not a member of the federation.")
            fields, body = unpack(data)
            asked = self._answers.get(str(fields.get("ask")))
            if asked is None:
                raise ExchangeError("The request is unknown.")
            # Any valid request shows that the site is active, even if the request is refused below.
            with self._lock:
                self._heard[site] = self._clock()
            return asked(site, fields, body)
        except ExchangeError as error:
            self.record({"event": "refused", "site": site, "reason": error.message})
            return pack({"status": "refused", "reason": error.message})

    # ---- answers

    def _hello(self, site: str, fields: Mapping[str, Any], body: bytes) -> bytes:
        self.record({"event": "hello", "site": site})
        fields = {"model": self.server.model, "size": self.server.size, "n_epochs": self.rules.n_epochs}
        return self._reply(**fields, **self._terms, next=self.server.next_number(site))

    def _ping(self, site: str, fields: Mapping[str, Any], body: bytes) -> bytes:
        return self._reply()

    def _download(self, site: str, fields: Mapping[str, Any], body: bytes) -> bytes:
        fraction: Any = fields.get("fraction")
        if not is_number(fraction, 0, 1):
            raise ExchangeError("A download needs a fraction from 0 to 1.")
        dtype = fields.get("dtype", "float32")  # sites of version 0.1.0 do not name it
        if dtype not in DTYPES:
            raise ExchangeError("A download has values of the type float32 or float16.")
        message = self.server.download(float(fraction), site)
        data = message.to_bytes(dtype)
        self._keep("down", site, data)
        self.record({"event": "download", "site": site, "version": message.version, "bytes": len(data)})
        return self._reply(data)

    def _upload(self, site: str, fields: Mapping[str, Any], body: bytes) -> bytes:
        sequence: Any = fields.get("sequence")
        applied = self.server.upload(body, site, sequence)
        if applied:
            self._keep("up", site, body)
            # Without common rounds, a round is as many updates as there are sites.
            if self.server.version % len(self.sites) == 0:
                self.after_round()
        event = {"event": "upload", "site": site, "sequence": sequence, "applied": applied, "bytes": len(body)}
        # Of this update: the server keeps no norm of an update without values, and a late one is not its last.
        norm = round(SparseUpdate.from_bytes(body).norm(), 3) if applied else None
        self.record({**event, "norm": norm, "version": self.server.version})
        return self._reply(applied=applied)

    def _keep(self, direction: str, site: str, data: bytes) -> None:
        if self.exchange is not None:
            with self._lock:
                n_uploads = len(self.exchange.uploads(site))
                self.exchange.add(direction, site, n_uploads + (direction == "up"), data)

    def _done(self, site: str, fields: Mapping[str, Any], body: bytes) -> bytes:
        with self._lock:
            self.done.add(site)
            # More than half of the sites are done: the grace period of the others begins now, and only once.
            if self._majority is None and 2 * len(self.done) > len(self.sites):
                self._majority = self._clock()
        f1: Any = fields.get("f1")
        told = {"f1": float(f1)} if is_number(f1, 0, 1) else {}
        self.record({"event": "done", "site": site, **told})
        return self._reply()

    def _reply(self, data: bytes = b"", **fields: Any) -> bytes:
        return pack({"status": "closed" if self._closed else "ok", **fields}, data)

    # ---- the end

    def is_over(self) -> bool:
        """Whether the server has stopped waiting for all sites."""
        with self._lock:
            now = self._clock()
            return (
                not self.waited_for(now)
                or now - self._begin > self.rules.longest
                or (self._majority is not None and now - self._majority > self.rules.grace)
            )

    def waited_for(self, now: float) -> set[str]:
        """Sites that are not done and not silent."""
        rules = self.rules

        def waits(site: str) -> bool:
            # A site that was never heard may still be starting, so that it has a longer time.
            if site in self._heard:
                return now - self._heard[site] <= rules.silence
            return now - self._begin <= rules.first_contact

        return {site for site in self.sites - self.done if waits(site)}

    def close(self) -> None:
        """Answer all further requests with the end of the session; uploads are still accepted."""
        self._closed = True
        event = {"event": "end", "done": sorted(self.done), "missing": sorted(self.sites - self.done)}
        self.record({**event, "version": self.server.version, "n_refused": self.server.n_refused})
        # Updates that were refused since the last checkpoint count in the next session, too.
        if self.server.checkpoint is not None:
            self.server.save(self.server.checkpoint)
