"""The site's side of common rounds without masks: one whole update in each round, and the result of the round."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...exceptions import ExchangeError
from ..sparse import SparseUpdate
from .asking import Ask, known_result, wait_for
from .site_settings import SiteSettings

_RESULTS = ("added", "left out", "refused", "late")


class RobustSite:
    """Updates of one site in common rounds. The number of a round is the version of the server's parameters.

    Parameters
    ----------
    settings : SiteSettings
        Settings of this site.
    pause : float, default=0.5
        Seconds between two requests to the server.

    Raises
    ------
    ExchangeError
        If the site would send only a part of its update.
    """

    def __init__(self, settings: SiteSettings, pause: float = 0.5) -> None:
        check_robust(settings)
        self._pause, self._sequence = pause, 0
        # Updates with noise differ in length from updates without: the server compares the two kinds less strictly.
        self._told = {"noise": True} if settings.has_noise else {}

    def keeps(self, pending: Mapping[int, bytes], download: bytes) -> bool:
        """Whether the unacknowledged update started from the same version, so that no round contains it."""
        self._sequence = max(pending, default=0)
        if not pending:
            return False
        version = SparseUpdate.from_bytes(download, kind="parameters").version
        return SparseUpdate.from_bytes(pending[self._sequence], kind="update").version == version

    def begin(self, download: bytes, sequence: int) -> None:
        """Store the number of the next update.

        Raises
        ------
        ExchangeError
            If the server does not send all parameters: the update of this site would start from other parameters than
            the updates of the other sites.
        """
        parameters = SparseUpdate.from_bytes(download, kind="parameters")
        if len(parameters) != parameters.size:
            raise ExchangeError("In common rounds, the server must send all parameters.")
        self._sequence = sequence

    def exchange(self, ask: Ask, message: bytes, stopped: Callable[[], bool], report: Callable[[str], None]) -> bool:
        """Send an update, and wait for the end of its round.

        Parameters
        ----------
        ask, stopped, report
            Parameters of `SiteTraining.run_session`.
        message : bytes
            Whole update of the site (`federated.SparseUpdate`).

        Returns
        -------
        bool
            True if the update was added, or can no longer be added. False if the session ends before the result: keep
            the update for the next session.
        """
        reply = ask({"ask": "upload", "sequence": self._sequence, **self._told}, message)[0]
        # A site whose update is refused waits, too. Else it would spend its next epochs on the same round, end before
        # the others, and leave them too few for a round.
        return self.result(ask, message, stopped, report, reply.get("status") == "refused")

    def result(
        self,
        ask: Ask,
        message: bytes,
        stopped: Callable[[], bool],
        report: Callable[[str], None],
        is_refused: bool = False,
    ) -> bool:
        """Wait for the end of the round of an update, and report the result. Parameters and result as in `exchange`."""
        number = SparseUpdate.from_bytes(message, kind="update").version
        asked = {"ask": "sum", "round": number, "sequence": self._sequence}
        how = known_result(wait_for(ask, asked, "sum", stopped, self._pause), _RESULTS)
        report(f"round {number}: {'refused' if how and is_refused else how or 'no sum yet'}")
        return how is not None


def check_robust(settings: SiteSettings) -> None:
    """Refuse settings that send or fetch a part of the parameters.

    Raises
    ------
    ExchangeError
        If a site would send or fetch only a part of the parameters. Values that are not sent count as zero, and these
        zeros could outvote the values of other sites.
    """
    if not settings.shares_all:
        raise ExchangeError(
            "In common rounds, every site sends and fetches all parameters: leave out --upload-fraction, "
            "--download-fraction, --threshold and --error-feedback, or plan the federation with --aggregation mean and "
            "--no-screen."
        )
