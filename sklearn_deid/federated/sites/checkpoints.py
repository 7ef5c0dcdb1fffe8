"""Checkpoints of the server: copies before sessions and after rounds, rollback to a copy, and exclusion of a site.

Stop the server before you roll back: a running session would replace the checkpoint.
"""

from __future__ import annotations

import json
import math
import operator
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..._atomic import write_file
from ...exceptions import DeidError, ExchangeError
from ..derived_settings import averaging_step
from ..server import ParameterServer
from ..state_file import read_state, valid_fields, write_state
from ..value_checks import is_number
from .federation_config import FederationConfig
from .flare_kits import AGREEMENT_FILE, server_checkpoint
from .json_file import write_settings
from .state_lock import StateLock

_KIND = "parameter server"
_FOLDER = "checkpoints"
_NAME = re.compile(r"(?:version|round)-(\d+)\.state")
# Copies of the last rounds. Copies from before a session stay.
_N_ROUNDS = 100
# Numbers of an event, which are at least 0, and their largest values. The largest time is in the year 9999.
_NUMBERS = {"time": 253_402_300_799, "bytes": 2**63, "norm": 1e300, "f1": 1}


def keep_checkpoint(checkpoint: str | os.PathLike[str]) -> Path:
    """Copy the checkpoint of the server, named by its version.

    Returns
    -------
    Path
        The copy, in the folder ``checkpoints`` beside the checkpoint.
    """
    return _keep(Path(checkpoint), "version")


def keep_round(checkpoint: str | os.PathLike[str]) -> Path:
    """Copy the checkpoint of the server after a round. The copies of the last 100 rounds are kept.

    Returns
    -------
    Path
        The copy, in the folder ``checkpoints`` beside the checkpoint.
    """
    copy = _keep(Path(checkpoint), "round")
    # The numbers have six digits, so that the order of the names is the order of the versions.
    for old in sorted(copy.parent.glob("round-*.state"))[:-_N_ROUNDS]:
        old.unlink()
    return copy


def _keep(path: Path, kind: str) -> Path:
    with valid_fields(path, _KIND):
        version, data = operator.index(read_state(path, _KIND)[0]["version"]), path.read_bytes()
    copy = path.with_name(_FOLDER) / f"{kind}-{version:06d}.state"
    copy.parent.mkdir(exist_ok=True)
    # After a return the versions can repeat: a copy of the abandoned parameters must not stay under such a number.
    for old in copy.parent.glob(f"*-{version:06d}.state"):
        if old.read_bytes() != data:
            old.unlink()
    if not copy.exists():
        write_file(copy, data, private=True)
    return copy


def list_checkpoints(kit: str | os.PathLike[str]) -> dict[int, Path]:
    """Copies of the checkpoint in the kit of a server, by version."""
    folder = server_checkpoint(kit)[1].with_name(_FOLDER)
    found = {path: _NAME.fullmatch(path.name) for path in sorted(folder.iterdir() if folder.is_dir() else ())}
    # Of two copies of a version, the copy from before a session is later in the order of the names.
    kept = {int(match.group(1)): path for path, match in found.items() if match}
    return dict(sorted(kept.items()))


def roll_back(kit: str | os.PathLike[str], version: int) -> int:
    """Roll the server back to the parameters of an earlier version.

    The server keeps its record of applied uploads, so that an old upload is not applied a second time. Uploads that
    started from a later version are refused. The current state is kept as a checkpoint. With masks, a median or a
    trimmed mean, the parameters receive a new version, because each site sends only one update from a version.

    Returns
    -------
    int
        Version before the rollback.

    Raises
    ------
    ExchangeError
        If there is no checkpoint of this version, if a file is damaged or forged, or if a session is running. Nothing
        is changed in this case.
    """
    agreement, checkpoint = server_checkpoint(kit)
    copies = list_checkpoints(kit)
    if version not in copies:
        kept = ", ".join(map(str, copies)) or "none"
        raise ExchangeError(f"There is no checkpoint of version {version}. Kept versions: {kept}.")
    try:
        lock = StateLock(checkpoint.parent, patience=0.0)
    except ExchangeError:
        raise ExchangeError(
            "A session is running, and would replace the checkpoint. Stop the server before a rollback.", path=str(kit)
        ) from None
    try:
        return _return_to(copies[version], version, checkpoint, agreement)
    finally:
        lock.release()


def _return_to(copy: Path, version: int, checkpoint: Path, agreement: FederationConfig) -> int:
    # Both files must be whole servers before anything is written.
    server, old = ParameterServer.load(checkpoint), ParameterServer.load(copy)
    if (old.model, old.size) != (server.model, server.size):
        raise ExchangeError("The checkpoint belongs to another model.", path=str(copy))
    keep_checkpoint(checkpoint)
    number = server.version + 1 if agreement.mask_keys or agreement.has_rounds else version
    state, arrays = read_state(checkpoint, _KIND)
    vectors = {"parameters": old.parameters, "counts": old.counts}
    # Versions that are given up would count as updates since a download, and every later update would be too stale.
    with valid_fields(checkpoint, _KIND):
        for own in state.get("versions", {}).values():
            own[:] = [made for made in own if made <= number]
    # A site that trains again from the old parameters repeats directions of updates that are given up.
    past, kept = read_state(copy, _KIND)
    vectors |= {"past": kept["past"]} if "past" in kept else {}
    write_state(checkpoint, _KIND, {**state, "version": number, "past": past.get("past", [])}, {**arrays, **vectors})
    return server.version


def exclude_site(kit: str | os.PathLike[str], site: str) -> list[str]:
    """Remove a site from the server's agreement. From the next session on, the server refuses its requests.

    With masks, a median or a trimmed mean, at least three sites must remain. With masks, rounds continue when all
    remaining sites have the new agreement. The ``step`` of the new agreement belongs to the number of remaining sites.

    Returns
    -------
    list of str
        Remaining sites.

    Raises
    ------
    ExchangeError
        If the agreement does not name the site, or if no other site would remain.
    """
    agreement, checkpoint = server_checkpoint(kit)
    if site not in agreement.sites:
        raise ExchangeError("The agreement does not name this site.")
    left = [name for name in agreement.sites if name != site]
    keys = {name: key for name, key in agreement.mask_keys.items() if name != site}
    smaller = replace(agreement, sites=left, mask_keys=keys)  # refuses too few sites
    smaller = replace(smaller, step=_step_of(agreement, len(left)))
    write_settings(smaller, checkpoint.parents[1] / "local" / AGREEMENT_FILE)
    return left


def _step_of(agreement: FederationConfig, n_left: int) -> float:
    """Step of an agreement with ``n_left`` of its sites."""
    n_sites = len(agreement.sites)
    if math.isclose(agreement.step, averaging_step(n_sites) / n_sites):
        return averaging_step(n_left) / n_left
    # A step of the coordinator's choice: in rounds, the factor of the mean stays.
    return agreement.step * n_sites / n_left if agreement.mask_keys or agreement.has_rounds else agreement.step


def site_events(kit: str | os.PathLike[str]) -> dict[str, dict[str, Any]]:
    """Summarise the log of the server for each site of the agreement, and for each site whose updates were applied.

    Returns
    -------
    dict of str to dict
        For each site ``last`` (seconds since 1970, or None), ``uploads``, ``bytes``, ``norm`` of the last upload
        without masks, ``f1`` (the last value that the site has reported), ``refused``, and ``reason`` of the last
        refusal.

    Raises
    ------
    DeidError
        If a line of the log is damaged.
    """
    agreement, checkpoint = server_checkpoint(kit)
    empty = {"last": None, "uploads": 0, "bytes": 0, "norm": None, "f1": None, "refused": 0, "reason": None}
    rows: dict[str, dict[str, Any]] = {site: dict(empty) for site in agreement.sites}
    for event in _events(checkpoint.with_name("events.jsonl")):
        row = rows.setdefault(str(event.get("site")), dict(empty))
        row["last"] = event.get("time")
        if event.get("event") == "upload" and event.get("applied"):
            row["uploads"] += 1
            row["bytes"] += int(event.get("bytes") or 0)
            row["norm"] = event.get("norm")
        if event.get("event") == "done":
            row["f1"] = event.get("f1", row["f1"])
        if event.get("event") == "refused":
            row["refused"] += 1
            row["reason"] = event.get("reason")
    # The updates of an excluded site stay in the network. Refused strangers have no row.
    return {site: row for site, row in rows.items() if site in agreement.sites or row["uploads"]}


def _events(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
            # What follows the last line end is empty, or a line that the server had not finished when it stopped.
            if number == len(lines):
                return
        if not isinstance(event, dict) or not _is_sound(event):
            raise DeidError(f"Line {number} of the log is damaged.", path=str(path))
        yield event


def _is_sound(event: dict[str, Any]) -> bool:
    """Whether the numbers of an event are finite and in their ranges, and the reason is text."""
    numbers = [(event[name], most) for name, most in _NUMBERS.items() if event.get(name) is not None]
    return isinstance(event.get("reason"), str | None) and all(is_number(value, 0, most) for value, most in numbers)
