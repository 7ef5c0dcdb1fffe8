"""The site's side of masked rounds: the number of the last round survives a crash, so that no mask is used twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...exceptions import ExchangeError
from ..sparse import SparseUpdate
from ..value_checks import is_whole
from .asking import Ask, granted, known_result, wait_for
from .federation_config import FederationConfig
from .json_file import write_settings
from .mask_key import MaskKey, read_mask_key, remove_unfinished
from .site_settings import SiteSettings
from .state_lock import StateLock

# A hostile server or site could otherwise use up the numbers.
_LONGEST_JUMP = 1_000_000
_RESULTS = ("added", "refused", "repeat")


class MaskedSite:
    """Masks of one site over all sessions.

    The keys of the other sites come from the agreement of this site, never from the server.

    Parameters
    ----------
    agreement : FederationConfig
        Agreement with ``mask_keys``.
    settings : SiteSettings
        Settings of this site, with ``mask_key``.
    name : str
        Name of the site.
    pause : float, default=0.5
        Seconds between two requests to the server.

    Raises
    ------
    DeidError
        If there is no key, if the agreement names another key for this site, or if the site would send only a part of
        its update.
    """

    def __init__(self, agreement: FederationConfig, settings: SiteSettings, name: str, pause: float = 0.5) -> None:
        self.key = check_masks(agreement, settings, name)
        # Writing to a link would replace the link, and the file behind it would still hold the old number.
        self.agreement, self.name, self._pause = agreement, name, pause
        self._path = Path(str(settings.mask_key)).resolve()
        self._agreed = agreement.mask_fingerprint()
        # A process that was killed in its last round would otherwise leave the key behind for good.
        with self._only_writer():
            remove_unfinished(self._path)

    def keeps(self, pending: Mapping[int, bytes], download: bytes) -> bool:
        """Whether the unacknowledged update started from the same download, so that the update was not added.

        An update is kept only for rounds of the same sites. The difference of two sums with and without a site would
        reveal the update of this site.
        """
        start = (sha256(download).hexdigest(), self._agreed)
        return self.key.sequence in pending and start == (self.key.start, self.key.agreed)

    def begin(self, download: bytes, sequence: int) -> None:
        """Store the parameters from which the next update starts.

        Parameters
        ----------
        download : bytes
            Message of the server with all parameters.
        sequence : int
            Number that the update will have among the updates of this site.

        Raises
        ------
        ExchangeError
            If the server does not send all parameters, because the missing parameters would differ between sites. Also
            if the parameters are not newer than the start of an update that this site has already sent. The other sites
            may still send their updates from these parameters: the difference of two sums would then be the difference
            of two updates of this site.
        """
        update = SparseUpdate.from_bytes(download, kind="parameters")
        if len(update) != update.size:
            raise ExchangeError("With masks, the server must send all parameters.")
        # After a crash in training the number is the noted one: nothing was sent from the noted parameters, but perhaps
        # from older ones.
        least = self.key.version + (sequence != self.key.sequence)
        if update.version < least and self._agreed == self.key.agreed:
            raise ExchangeError(
                "The parameters of the server are not newer than those of the last update. A second update from the "
                "same parameters could be told from the sums. Make new keys if the federation begins anew."
            )
        start = sha256(download).hexdigest()
        self._save(start=start, version=update.version, sequence=sequence, agreed=self._agreed)

    def exchange(self, ask: Ask, message: bytes, stopped: Callable[[], bool], report: Callable[[str], None]) -> bool:
        """Send a masked update until the server has added the update to a sum, or until the session ends.

        Parameters
        ----------
        ask, stopped, report
            Parameters of `SiteTraining.run_session`.
        message : bytes
            Whole update of the site (`federated.SparseUpdate`), which stays at the site.

        Returns
        -------
        bool
            True if the server has added or refused the sum. False if the session ends before the result: keep the
            update for the next session.
        """
        update = SparseUpdate.from_bytes(message, kind="update")
        while True:
            ready = {"ask": "ready", "next": self.key.last_round + 1}
            number = wait_for(ask, ready, "round", stopped, self._pause)
            if number is None:
                return False
            terms = self.agreement.masked_round(self._checked(number), update.model, update.size, self.key.start)
            site = self.key.masking_site(self.name)
            masked = site.mask(update.dense(), terms)
            # Before anything is sent: after a crash the same masks would otherwise hide another update.
            self._save(last_round=terms.number, sent=self.key.sequence)
            granted(ask({"ask": "upload", "round": terms.number}, masked))
            asked = {"ask": "sum", "round": terms.number}
            how = known_result(wait_for(ask, asked, "sum", stopped, self._pause), _RESULTS)
            report(f"round {terms.number}: {how or 'no sum yet'}, {site.n_clipped} values were beyond the bound")
            if how != "repeat":
                return how is not None

    def _checked(self, number: Any) -> int:
        if not is_whole(number):
            raise ExchangeError("The number of a round must be a whole number.")
        if number > self.key.last_round + _LONGEST_JUMP:
            raise ExchangeError("The number of the round is far beyond the numbers of this site.")
        return number

    def _save(self, **changes: Any) -> None:
        with self._only_writer():
            # A second state folder with the same key would use the same masks.
            if read_mask_key(self._path) != self.key:
                raise ExchangeError("Another process uses the key of the masks. Each site needs a key of its own.")
            key = replace(self.key, **changes)
            write_settings(key, self._path, private=True)
        self.key = key

    @contextmanager
    def _only_writer(self) -> Iterator[None]:
        """Keep other processes from the file of the key."""
        # Two processes could otherwise both compare the key before one of them writes it.
        lock = StateLock(self._path.parent, name=f".{self._path.name}.lock")
        try:
            yield
        finally:
            lock.release()


def check_masks(agreement: FederationConfig, settings: SiteSettings, name: str | None = None) -> MaskKey:
    """Check the key and the settings of a site before its first round.

    Parameters
    ----------
    agreement, settings, name
        Parameters of `MaskedSite`. Without a name, the key of any site of the agreement is allowed.

    Returns
    -------
    MaskKey
        Key of the site.

    Raises
    ------
    DeidError
        If there is no key, or if the agreement has another key for this site. Also if the settings would send or fetch
        only a part of the parameters, or would add noise to uploads.
    """
    if settings.mask_key is None:
        raise ExchangeError("The agreement asks for masks. Make a key with 'federate key', and set up the site again.")
    if not settings.shares_all:
        raise ExchangeError(
            "With masks, every site sends and fetches all parameters: leave out --upload-fraction, "
            "--download-fraction, --threshold and --error-feedback."
        )
    if settings.privacy() is not None:
        raise ExchangeError("With masks, use --patient-epsilon instead of noise on uploads.")
    key, agreed = read_mask_key(settings.mask_key), agreement.mask_keys
    if key.masking_site("").public_key.hex() not in (agreed.values() if name is None else [agreed.get(name)]):
        raise ExchangeError("The agreement names another key for this site. Compare the keys with the other sites.")
    return key
