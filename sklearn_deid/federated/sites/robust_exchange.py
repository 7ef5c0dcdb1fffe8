"""Server side of a session with common rounds without masks: rounds end when the sites have sent their updates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from threading import RLock
from typing import Any

from ...exceptions import ExchangeError
from ..robust import FEWEST_UPDATES
from ..server import ParameterServer
from ..sparse import SparseUpdate
from ..value_checks import is_whole
from .exchange_service import ExchangeService, SessionRules
from .federation_config import FederationConfig


class RobustExchangeService(ExchangeService):
    """Collects one update of each site in a round, and combines the updates according to the agreement.

    The number of a round is the version of the parameters from which its updates start. The round ends when every site
    that the server waits for has sent an update, or ``grace`` seconds after more than half of all sites have sent an
    update, provided that the updates are enough for a round. The update of a late site is not added, and the site joins
    the next round. A refused update is not added, but counts as sent, so that a hostile site cannot delay a round. A
    round needs at least ``fewest_updates`` sites. If a session ends during a round, the updates of this round are sent
    again in the next session.

    With its update, a site states whether the update has noise. If few sites add noise, or few sites add none, a
    screened round limits the norms of their updates less strictly (`ParameterServer.add_round`).

    Parameters
    ----------
    server : ParameterServer
        Server with the global parameters.
    agreement : FederationConfig
        Agreement that is ``screened``, or whose ``aggregation`` is "median" or "trimmed_mean".
    rules, record, clock
        Parameters of `ExchangeService`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.federated.sites import pack, unpack
    >>> agreement = FederationConfig("lab", ["a", "b", "c"], ["DATE"], aggregation="median")
    >>> server = ParameterServer(np.zeros(4), "0" * 32, agreement.limits())
    >>> service = RobustExchangeService(server, agreement, SessionRules(), record=lambda event: None)
    >>> for site, value in (("a", 0.25), ("b", 0.5), ("c", 1.0)):
    ...     update = SparseUpdate(np.arange(4), np.full(4, value / 3, np.float32), 4, "0" * 32)
    ...     reply = service.answer(site, pack({"ask": "upload", "sequence": 0}, update.to_bytes()))
    >>> server.parameters.tolist(), unpack(service.answer("a", pack({"ask": "sum", "round": 0})))[0]
    ([0.5, 0.5, 0.5, 0.5], {'status': 'ok', 'sum': 'added'})
    """

    def __init__(
        self,
        server: ParameterServer,
        agreement: FederationConfig,
        rules: SessionRules,
        record: Callable[[dict[str, Any]], None],
        **clock: Callable[[], float],
    ) -> None:
        super().__init__(server, agreement.sites, rules, record, **clock)
        self.agreement = agreement
        self._terms = {"aggregation": agreement.aggregation, "screened": agreement.screened}
        self._answers |= {"sum": self._sum}
        self._updates: dict[str, tuple[int, SparseUpdate]] = {}
        # Sites of the open round that add noise.
        self._noisy: set[str] = set()
        # Sites with the parameters of the open round, and the sites among them whose update was refused.
        self._joined: set[str] = set()
        self._refused: set[str] = set()
        # Sites that missed the end of a round. The server waits for them again when they join a round.
        self._late: set[str] = set()
        self._half_since: float | None = None
        self._results: dict[tuple[int, str], str] = {}
        self._rounds = RLock()

    def _hello(self, site: str, fields: Mapping[str, Any], body: bytes) -> bytes:
        with self._rounds:
            self._late.discard(site)
        return super()._hello(site, fields, body)

    def _download(self, site: str, fields: Mapping[str, Any], body: bytes) -> bytes:
        with self._rounds:
            reply = super()._download(site, fields, body)
            self._joined.add(site)
            self._late.discard(site)
            return reply

    def _upload(self, site: str, fields: Mapping[str, Any], body: bytes) -> bytes:
        sequence: Any = fields.get("sequence")
        noisy = fields.get("noise") is True
        with self._rounds:
            try:
                update = self.server.check(body, site, sequence, in_round=self._is_screened(len(self.sites)))
                is_new = update is not None and self._is_new(site, sequence, update)
            except ExchangeError:
                # A site that has joined the round sends nothing of an earlier one, unless it is hostile or broken.
                if site in self._joined and site not in self._updates:
                    self._refused.add(site)
                    self._end_if_complete()
                raise
            if update is not None and is_new:
                self._updates[site] = sequence, update
                self._refused.discard(site)
                self._noisy |= {site} if noisy else set()
                self._keep("up", site, body)
                event = {"event": "upload", "site": site, "sequence": sequence, "applied": True, "bytes": len(body)}
                event |= {"noise": True} if noisy else {}
                self.record({**event, "norm": round(update.norm(), 3), "version": self.server.version})
                self._end_if_complete()
        return self._reply(applied=is_new)

    def _is_new(self, site: str, sequence: int, update: SparseUpdate) -> bool:
        """Whether an update is the first update of the site in the open round. False for a repetition."""
        if update.version != self.server.version:
            raise ExchangeError("The update is late: its round has ended. Take part in the next one.")
        if site not in self._updates:
            return True
        earlier, sent = self._updates[site]
        if earlier != sequence or sent.to_bytes() != update.to_bytes():
            raise ExchangeError("The site has already sent an update in this round.")
        return False

    def _sum(self, site: str, fields: Mapping[str, Any], body: bytes) -> bytes:
        number: Any = fields.get("round")
        if not is_whole(number):
            raise ExchangeError("The number of a round must be a whole number.")
        with self._rounds:
            # Sites that wait ask again and again: nobody else would notice that a site has fallen silent.
            self._end_if_complete()
            how = self._results.get((number, site)) or self._earlier_result(site, fields.get("sequence"))
            return self._reply(sum=None if number == self.server.version else how)

    def _earlier_result(self, site: str, sequence: Any) -> str:
        """Result of an update of an earlier session: the server knows only whether the update was added."""
        ranges = self.server.delivered(site) if is_whole(sequence) else []
        return "added" if any(first <= sequence <= last for first, last in ranges) else "late"

    def _end_if_complete(self) -> None:
        now = self._clock()
        answered = self._updates.keys() | self._refused
        if self._half_since is None and 2 * len(answered) > len(self.sites):
            self._half_since = now
        is_slow = self._half_since is not None and now - self._half_since > self.rules.grace
        if (self._expected(now) - answered and not is_slow) or len(answered) < self.agreement.fewest_updates:
            return
        self._end(answered)

    def _end(self, answered: set[str]) -> None:
        number, updates, left_out, refusal = self.server.version, self._updates, {}, None
        try:
            # Where more sites are refused than not, nobody can tell who is hostile.
            if 2 * len(updates) <= len(answered):
                raise ExchangeError("Most updates of this round were refused.")
            # A refused update is one that the trimmed mean need not leave out.
            n_trim = min(self.agreement.n_trim, (len(updates) - 1) // 2)
            rule = self.agreement.aggregation, n_trim, self.agreement.screened, self._factor(len(answered))
            left_out = self.server.add_round(updates, *rule, self._noisy)
        except ExchangeError as error:
            # Sites send no second update from the same version.
            self.server.advance()
            refusal = error.message
        how = "added" if refusal is None else "refused"
        self._results |= {(number, site): "left out" if site in left_out else how for site in updates}
        self._late |= self.sites - answered - self.done
        # Before anything is written: on a full disk, the next request would end the round, and add it, again.
        self._updates, self._joined, self._refused, self._half_since = {}, set(), set(), None
        self._noisy = set()
        for site, reason in left_out.items() if refusal is None else [(None, refusal)]:
            self.record({"event": "refused", "site": site, "round": number, "reason": reason})
        n_votes = len(updates) - len(left_out)
        event = {"event": "sum", "round": number, "how": how, "sites": n_votes, "version": self.server.version}
        self.record({**event, "screened": self._is_screened(len(updates))})
        self.after_round()

    def _is_screened(self, n_updates: int) -> bool:
        return self.agreement.screened and n_updates >= FEWEST_UPDATES

    def _factor(self, n_answered: int) -> float:
        """Factor of the mean in a round with missing sites: the square root of the proportion of received updates."""
        return math.sqrt(n_answered / len(self.sites)) if self.agreement.aggregation == "mean" else 1.0

    def _expected(self, now: float) -> set[str]:
        """Sites that can still send an update, and that the server waits for."""
        with self._lock:
            return self.waited_for(now) - self._late

    def is_over(self) -> bool:
        """Whether all sites are done, or too few are left for the open round."""
        if super().is_over():
            return True
        with self._rounds:
            self._end_if_complete()
            answered = self._updates.keys() | self._refused
            left = self._expected(self._clock()) | answered
            # A site whose update was refused waits for the end of its round, too.
            return bool(answered) and len(left) < self.agreement.fewest_updates
