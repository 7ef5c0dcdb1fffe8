"""Server side of a session with masks: rounds in which all sites send together, and only the sum is readable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from statistics import median
from threading import RLock
from typing import Any

from ...exceptions import ExchangeError
from ..masks import MaskedSum
from ..server import ParameterServer
from ..sparse import SparseUpdate
from ..value_checks import is_whole
from .exchange_service import ExchangeService, SessionRules
from .federation_config import FederationConfig

# Blanks are not allowed in names of sites, so that this name belongs to none.
SUM = "sum of all sites"
MASK_DTYPE = "float16"
# JSON readers keep whole numbers up to here.
LARGEST_ROUND = 2**53
# Largest norm of the first sum, as a share of ``max_norm``. Honest sums had at most a tenth.
_FIRST_SUM = 0.2


class MaskedExchangeService(ExchangeService):
    """Answers requests of sites that mask their updates. Plain updates are refused.

    A round opens when every site is ready. The number of a round is the largest number that no site has used. If a site
    drops out of a round, the server never adds the sum of this round. The sites mask the same updates again in a round
    with a new number, in this session or in the next session. The session ends when a site no longer answers, because
    no sum can be read without this site.

    Parameters
    ----------
    server : ParameterServer
        Server with the global parameters.
    agreement : FederationConfig
        Agreement with ``mask_keys``.
    rules, record, clock
        Parameters of `ExchangeService`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.federated import MaskingSite
    >>> from sklearn_deid.federated.sites import pack, unpack
    >>> keys = {name: MaskingSite(name).public_key.hex() for name in ("a", "b", "c")}
    >>> agreement = FederationConfig("lab", list(keys), ["DATE"], mask_keys=keys)
    >>> server = ParameterServer(np.zeros(4), model="0" * 32)
    >>> service = MaskedExchangeService(server, agreement, SessionRules(), record=lambda event: None)
    >>> unpack(service.answer("a", pack({"ask": "ready", "next": 0})))[0]
    {'status': 'ok', 'round': None}
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
        self._answers |= {"ready": self._ready, "upload": self._masked_upload, "sum": self._sum}
        self._next: dict[str, int] = {}
        self._round: MaskedSum | None = None
        self._ended: dict[int, str] = {}
        self._rounds = RLock()

    def _ready(self, site: str, fields: Mapping[str, Any], body: bytes) -> bytes:
        """Register the site for the next round, and return the number of the round as soon as all sites are ready."""
        number = _number(fields.get("next"))
        with self._rounds:
            if self._round is not None and number > self._round.terms.number:
                # This site gives up the open round, which therefore never becomes a sum.
                self._end("repeat")
            if self._round is None:
                self._next[site] = number
                if set(self._next) == self.sites and not self._closed:
                    self._open()
            return self._reply(round=None if self._round is None else self._round.terms.number)

    def _open(self) -> None:
        server, message = self.server, self.server.download(1.0, SUM).to_bytes(MASK_DTYPE)
        start = sha256(message).hexdigest()
        # The log names the site whose number is used: a hostile site could ask for numbers that the others refuse.
        by = max(sorted(self._next), key=lambda site: self._next[site])
        terms = self.agreement.masked_round(self._next[by], server.model, server.size, start)
        self._round = MaskedSum(terms)
        self._next.clear()
        self.record({"event": "round", "round": terms.number, "by": by, "version": server.version})

    def _masked_upload(self, site: str, fields: Mapping[str, Any], body: bytes) -> bytes:
        number = _number(fields.get("round"))
        with self._rounds:
            # A repeated request can arrive after the end of its round.
            if number in self._ended:
                return self._reply()
            if self._round is None or self._round.terms.number != number:
                raise ExchangeError("This round is not open. The server takes masked updates only.")
            is_new = site in self._round.missing
            self._round.add(site, body)
            if is_new and self.exchange is not None:
                self._keep("up", site, replace(self._round.seen(site), version=self.server.version).to_bytes())
            self.record({"event": "upload", "site": site, "round": number, "applied": is_new, "bytes": len(body)})
            if not self._round.missing:
                self._add(self._round)
        return self._reply()

    def _add(self, masked: MaskedSum) -> None:
        server, positions = self.server, masked.terms.positions
        update = SparseUpdate(positions, masked.mean()[positions], server.size, server.model, server.version)
        try:
            # The version is not used: versions have gaps, and a used number would count as a repetition.
            added = server.delivered(SUM)
            number = added[-1][1] + 1 if added else 0
            self._check_norm(update, number)
            server.upload(update, SUM, number)
        except ExchangeError as error:
            self.record({"event": "refused", "site": None, "round": masked.terms.number, "reason": error.message})
            # Sites send no second update from the same version.
            server.advance()
            self._end("refused")
        else:
            self._end("added")
            self.after_round()

    def _check_norm(self, update: SparseUpdate, number: int) -> None:
        """Refuse a sum that is much longer than the earlier sums.

        The server cannot identify the site that caused the length.
        """
        earlier, limits = self.server.norms(SUM), self.server.limits
        if not earlier:
            # The sum of one message of random bytes has more than a third of the norm of the first parameters. Later
            # sums would be compared with it.
            assert limits.max_norm is not None
            if update.norm() > _FIRST_SUM * limits.max_norm:
                raise ExchangeError(
                    f"The norm of the first sum is more than {_FIRST_SUM:g} times 'max_norm'. If no site is hostile, "
                    "agree on a larger 'max_norm'."
                )
            return
        # The last sum returns to the moving average of the weights, and is longer than earlier sums.
        is_last = limits.last_sequence is not None and number >= limits.last_sequence
        usual, name = (max(earlier), "longest") if is_last else (median(earlier), "median")
        if update.norm() > limits.max_ratio * usual:
            raise ExchangeError(
                f"The norm of the sum is more than {limits.max_ratio:g} times the {name} norm of earlier sums."
            )

    def _end(self, how: str) -> None:
        assert self._round is not None
        number, self._round = self._round.terms.number, None
        self._ended[number] = how
        self.record({"event": "sum", "round": number, "how": how, "version": self.server.version})

    def _sum(self, site: str, fields: Mapping[str, Any], body: bytes) -> bytes:
        return self._reply(sum=self._ended.get(_number(fields.get("round"))))

    def is_over(self) -> bool:
        """Whether all sites are done, or a site is missing, so that no round can end."""
        if super().is_over():
            return True
        with self._lock:
            lost = self.sites - self.done - self.waited_for(self._clock())
        # A site that is ready waits for all others, and a site that is done does not come back.
        return bool(lost) or bool(self.done and self._next)


def _number(value: Any) -> int:
    if not is_whole(value, LARGEST_ROUND):
        raise ExchangeError("The number of a round must be a whole number from 0.")
    return value
