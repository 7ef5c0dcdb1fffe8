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

    A power failure can leave a part of the last line in the file. The next session removes this part.

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
        with self._lock, self._path.open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")
