"""Lines for the privacy officer of a site before and after each round: sent data, recipient and epsilon."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .asking import Ask
from .federation_config import FederationConfig
from .site_settings import SiteSettings

OFFICER_LOG = "officer.log"


class OfficerLog:
    """One line before and one line after each local epoch, for the caller and, with the time, in a file.

    Parameters
    ----------
    folder : Path
        State folder of the site. The file ``officer.log`` in this folder is readable for its owner only.
    agreement : FederationConfig
        Settings of the federation: its name, whether updates are masked, and the planned epochs.
    settings : SiteSettings
        Settings of this site.
    size : int
        Number of parameters of the network.
    report : callable
        Function called with each line, without the time.
    """

    def __init__(
        self,
        folder: Path,
        agreement: FederationConfig,
        settings: SiteSettings,
        size: int,
        report: Callable[[str], None],
    ) -> None:
        self._path, self._report, self._n_epochs = folder / OFFICER_LOG, report, agreement.n_epochs
        self._server, n_sites = f"the server of {agreement.project}", len(agreement.sites)
        whom = f"masked, in a sum of {n_sites} sites" if agreement.mask_keys else "which sees the update"
        # Without rounding: a part of 0.4 % is not "at most 0 %".
        most = f"{100 * settings.upload_fraction:g}%"
        self._what = f"at most {most} of an update of {size} parameters, to {self._server}, {whom}"
        self._n_bytes = 0
        self.answers: list[str] = []
        self.refuses_download = False

    def watch(self, ask: Ask) -> Ask:
        """Return the given function, extended by a counter of the bytes of sent updates."""

        def watched(fields: Mapping[str, Any], body: bytes = b"") -> tuple[Mapping[str, Any], bytes]:
            if fields["ask"] == "upload":
                # Counted before the answer: the data have left the site, even if nobody answers.
                self._n_bytes += len(body)
            return ask(fields, body)

        return watched

    def before(self, promise: str, n_epochs: int) -> None:
        """Write the line before an epoch: ``promise`` is the sentence about epsilon."""
        self._write(f"before the epoch: {promise} To be sent: {self._what}.", n_epochs)

    def after(self, promise: str, n_epochs: int) -> None:
        """Write the line after an epoch, with the bytes and the answers of the server since the last line."""
        answers = "; ".join(self.answers) or "none"
        sent = f"Sent: {self._n_bytes} bytes, {self._what}. Answer of the server: {answers}."
        if self.refuses_download:
            sent += " The common network failed the test of this site. The site trained on with its own network."
        self._n_bytes, self.answers, self.refuses_download = 0, [], False
        self._write(f"after the epoch: {promise} {sent}", n_epochs)

    def sent_f1(self, f1: float) -> None:
        """Write that the site has reported its F1, which contains no noise."""
        self._write(f"end of the session: Sent: F1 {f1:.4f} of held-out patients, without noise, to {self._server}.")

    def _write(self, line: str, n_epochs: int | None = None) -> None:
        if n_epochs is not None:
            line = f"{line} Epochs so far: {n_epochs} of {self._n_epochs}."
        now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
        append_line(self._path, f"{now} {line}")
        self._report(line)


def append_line(path: Path, line: str) -> None:
    """Append a line to a file that only its owner can read. A line that a crash cut off is ended first."""
    is_cut_off = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    with open(os.open(path, flags, 0o600), "a", encoding="utf-8") as stream:
        stream.write("\n" * is_cut_off + line + "\n")
