"""Log of the server of a federation: ``events.jsonl``, which all sessions continue."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any


class EventFile:
    """Log with a line of JSON for each event: time, job, site, bytes, versions.

    A power failure can leave a part of the last line in the file. The next session removes this part. A line that does
    not fit on the disk is removed at once.

    Parameters
    ----------
    path : Path
        File that the log continues.
    job : str
        Name of the session.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "events.jsonl")
    >>> _ = path.write_text('{"event": "start"}\\n{"eve')
    >>> EventFile(path, "7")({"event": "end"})
    >>> [json.loads(line)["event"] for line in path.read_text().splitlines()]
    ['start', 'end']
    """

    def __init__(self, path: Path, job: str) -> None:
        self._path, self._job, self._lock = path, job, threading.Lock()
        if path.exists():
            os.truncate(path, path.read_bytes().rfind(b"\n") + 1)

    def __call__(self, event: dict[str, Any]) -> None:
        line = json.dumps({"time": round(time.time(), 3), "job": self._job, **event})
        # One thread for each request writes to the log. The lock keeps the lines whole.
        with self._lock:
            end = self._path.stat().st_size if self._path.exists() else 0
            try:
                with self._path.open("a", encoding="utf-8") as stream:
                    stream.write(line + "\n")
            except OSError:
                # Of a full disk. The next line would otherwise continue the part of this one.
                if self._path.exists():
                    os.truncate(self._path, end)
                raise
