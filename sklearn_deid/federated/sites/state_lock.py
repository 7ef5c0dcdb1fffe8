"""Lock of a state folder: only one process of a site trains at a time, and only one session of a server runs."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ...exceptions import ExchangeError


class StateLock:
    """Lock that is held from its construction until `release`, or until the process ends in any way.

    A computer that was suspended or disconnected may continue after its session has ended. Without the lock, the old
    process would still train while the next session starts a new process, and both processes would write the same
    files. At the server, two sessions at the same time would replace each other's checkpoint.

    Parameters
    ----------
    folder : Path
        An existing folder. The lock creates a file in this folder.
    patience : float, default=330.0
        Seconds to wait for the other process. A process whose server does not answer ends after 300 seconds.
    name : str, default="lock"
        Name of the file.

    Raises
    ------
    ExchangeError
        If the other process does not end.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> lock = StateLock(folder)
    >>> StateLock(folder, patience=0)
    Traceback (most recent call last):
        ...
    sklearn_deid.exceptions.ExchangeError: Another process still works with the same state folder.
    >>> lock.release()
    >>> StateLock(folder, patience=0).release()
    """

    def __init__(self, folder: Path, patience: float = 330.0, name: str = "lock") -> None:
        self._file = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o600)
        end = time.monotonic() + patience
        while not self._is_taken():
            if time.monotonic() >= end:
                os.close(self._file)
                raise ExchangeError("Another process still works with the same state folder.")
            time.sleep(0.2)

    def _is_taken(self) -> bool:
        import fcntl  # of POSIX systems, as is FLARE

        try:
            # The operating system releases the lock at the end of the process, also after a crash. A file with a
            # process id would stay.
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        """Allow other processes to train. A second call does nothing."""
        if self._file >= 0:
            os.close(self._file)
        # -1 is no file. Closing a number twice could close another file that has received the number.
        self._file = -1
