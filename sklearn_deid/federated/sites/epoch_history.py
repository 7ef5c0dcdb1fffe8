"""File of a site with a line of numbers for each epoch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..._atomic import write_file
from ..value_checks import is_whole


def write_epoch(path: Path, line: Mapping[str, Any]) -> None:
    """Write the line of an epoch, before the epoch is saved. A crash can therefore not lose the line.

    Parameters
    ----------
    path : Path
        File, which may not exist yet.
    line : mapping
        Numbers of the epoch. "epoch" is the number of the epoch.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn_deid.federated.sites.epoch_history import write_epoch
    >>> path = Path(tempfile.mkdtemp(), "history.jsonl")
    >>> for loss in (0.5, 0.4):
    ...     write_epoch(path, {"epoch": 1, "loss": loss})
    >>> path.read_text()
    '{"epoch": 1, "loss": 0.4}\\n'
    """
    lines = path.read_bytes().splitlines() if path.exists() else []
    # Lines of an epoch that a crash repeats, and parts of lines that earlier versions left on a full disk.
    kept = [one for one in lines if (number := _epoch_of(one)) is not None and number < line["epoch"]]
    write_file(path, b"\n".join([*kept, json.dumps(line).encode(), b""]), private=True)


def _epoch_of(line: bytes) -> int | None:
    """Epoch of a line of the history; None for a part of a line."""
    try:
        number = json.loads(line)["epoch"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return number if is_whole(number) else None
