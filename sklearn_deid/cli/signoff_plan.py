"""Plan of a sign-off: the sample, its settings, and how many samples were drawn and readings assessed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._strict_json import load_strict
from ..exceptions import DataNotFoundError, DeidError
from .run_record import RunRecord

PLAN = "signoff-plan.json"
_PLANNED = {"settings", "release", "table", "sample", "key", "seed", "n_draws"}


@contextmanager
def locked(work: Path) -> Iterator[None]:
    """Lock the folder of a sign-off. A process that draws or reads at the same time is refused.

    Raises
    ------
    DeidError
        If another process holds the lock, or if the drive knows no locks.

    Examples
    --------
    >>> import tempfile
    >>> work = Path(tempfile.mkdtemp())
    >>> with locked(work), locked(work):
    ...     pass
    Traceback (most recent call last):
        ...
    sklearn_deid.exceptions.DeidError: ...Another run is writing to this output. Wait until it has ended...
    """
    record = RunRecord(work / PLAN)
    record.lock()
    try:
        yield
    finally:
        record.close()


def read_plan(work: Path) -> dict[str, Any]:
    """Read the plan of a folder.

    Raises
    ------
    DataNotFoundError, DeidError
        If there is no plan, or if the plan is damaged.
    """
    path = work / PLAN
    if not path.is_file():
        raise DataNotFoundError("There is no plan of a sample. Run signoff without --read first.", path=str(path))
    try:
        plan = load_strict(path.read_bytes())
    except (ValueError, RecursionError):
        plan = None
    if not _is_plan(plan):
        raise DeidError("The plan of the sample is damaged. Draw a new sample.", path=str(path))
    assert isinstance(plan, dict)
    return plan


def next_draw(work: Path) -> dict[str, Any]:
    """Number of the next sample in the folder, and the confidence levels of the samples before.

    A seed can be chosen after looking at the samples.

    Examples
    --------
    >>> import tempfile
    >>> next_draw(Path(tempfile.mkdtemp()))
    {'n_draws': 1, 'earlier_confidences': []}
    """
    try:
        plan = read_plan(work)
    except DeidError:
        return {"n_draws": 1 + (work / PLAN).exists(), "earlier_confidences": []}
    levels = [*plan.get("earlier_confidences", ()), plan["settings"]["confidence"]]
    return {"n_draws": 1 + plan["n_draws"], "earlier_confidences": levels}


def with_reading(plan: Mapping[str, Any], digest: str) -> dict[str, Any]:
    """Plan that contains the digest of a reading; a reading that is assessed again is the same reading.

    Examples
    --------
    >>> plan = with_reading(with_reading({}, "aa"), "bb")
    >>> with_reading(plan, "aa")["readings"]
    ['aa', 'bb']
    """
    return {**plan, "readings": [*dict.fromkeys([*plan.get("readings", ()), digest])]}


def _is_plan(plan: object) -> bool:
    """Whether a value has the form that `signoff` writes, since the file may be truncated or edited."""
    if not isinstance(plan, dict) or not _PLANNED <= plan.keys():
        return False
    settings, release, table = (plan[name] for name in ("settings", "release", "table"))
    return (
        _has_kinds(settings, {"n_notes": int, "target": float, "confidence": float, "random_state": int})
        and settings["n_notes"] > 0
        and 0 < settings["target"] < 1
        and 0.5 <= settings["confidence"] < 1
        and 0 <= settings["random_state"] < 2**32
        and _has_kinds(release, {"n_notes": int, "sha256": str, "n_empty": int, "n_repeated": int})
        and isinstance(release.get("run", ""), dict | None)
        and isinstance(table, dict)
        and all(isinstance(column, dict) and all(type(v) is str for v in column.values()) for column in table.values())
        and _are_texts(plan["sample"])
        # Plans of earlier versions have neither of these.
        and _are_texts(plan.get("readings", []))
        and _are_levels(plan.get("earlier_confidences", []))
        and _has_kinds(plan, {"key": str, "seed": str, "n_draws": int})
        and plan["n_draws"] > 0
        and re.fullmatch("[0-9a-f]{64}", plan["key"]) is not None
    )


def _are_texts(values: object) -> bool:
    return isinstance(values, list) and all(type(value) is str for value in values)


def _are_levels(values: object) -> bool:
    return isinstance(values, list) and all(type(value) is float and 0.5 <= value < 1 for value in values)


def _has_kinds(values: object, kinds: Mapping[str, type]) -> bool:
    # `type` instead of `isinstance`: true is no number of notes
    return isinstance(values, dict) and all(type(values.get(name)) is kind for name, kind in kinds.items())
