"""In which order attacks are run, and which are left out when time is short."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from ..exceptions import SequenceError
from .protocol import AttackResult
from .report import AuditReport


@dataclass(frozen=True, repr=False)
class PlannedAttack:
    """An attack that is still to be run.

    Attributes
    ----------
    name : str
        By which it is asked for.
    attack : Attack
        With its parameters.
    run : callable
        ``run(attack)`` gives its results, one or several.
    strength : float
        How much it is expected to find, against others.
    seconds : float
        How long it is expected to take on one core, controls included.
    """

    name: str
    attack: Any
    run: Callable[[Any], list[AttackResult]]
    strength: float = 1.0
    seconds: float = 1.0


def run_attacks(
    planned: Iterable[PlannedAttack],
    max_seconds: float | None = None,
    *,
    n_jobs: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> list[AttackResult]:
    """Run attacks, those first that find most per second; skip those for which no time is left.

    How fast this machine is, is learnt from the attacks that ran; an attack that has begun is not stopped.

    Parameters
    ----------
    planned : iterable of PlannedAttack
    max_seconds : float, optional
    n_jobs : int, optional
        Processes, each of which runs one attack at a time.
    say : callable, optional
        Is told what happens, for ``verbose``.

    Returns
    -------
    list of AttackResult
        In the order in which they were planned; skipped ones with the reason.
    """
    planned, n = list(planned), effective_n_jobs(n_jobs)
    waiting = sorted(range(len(planned)), key=lambda i: -planned[i].strength / planned[i].seconds)
    results: dict[int, Sequence[AttackResult]] = {}
    started, expected, measured = time.perf_counter(), 0.0, 0.0
    while waiting:
        left = None if max_seconds is None else max_seconds - (time.perf_counter() - started)
        pace = measured / expected if expected > 0 else 1.0
        some: list[int] = []
        while waiting and len(some) < n:
            i = waiting.pop(0)
            if left is not None and planned[i].seconds * pace > left:
                results[i] = [planned[i].attack.skip(f"It would not have ended within max_seconds={max_seconds:g}.")]
                say(f"{planned[i].attack.name}: skipped, no time")
            else:
                some.append(i)
        for i, (found, took) in zip(some, _run_together([planned[i] for i in some], n), strict=True):
            results[i] = found
            expected, measured = expected + planned[i].seconds, measured + took
            say(f"{planned[i].attack.name}: {took:.1f} s")
    return [result for i in range(len(planned)) for result in results[i]]


def _run_together(some: list[PlannedAttack], n_jobs: int) -> list[tuple[Sequence[AttackResult], float]]:
    if n_jobs == 1 or len(some) < 2:
        return [_timed(one) for one in some]
    return list(Parallel(n_jobs=n_jobs)(delayed(_timed)(one) for one in some))


def _timed(one: PlannedAttack) -> tuple[Sequence[AttackResult], float]:
    since = time.perf_counter()
    return _outcome(one), time.perf_counter() - since


def _outcome(one: PlannedAttack) -> Sequence[AttackResult]:
    """Results; an attack that cannot be carried out on these data is skipped, with its reason."""
    try:
        return one.run(one.attack)
    except (SequenceError, ValueError) as reason:
        # Messages of attacks name counts and parameters, never words.
        return [one.attack.skip(str(reason))]


class ReportMemory:
    """The reports that were asked for last.

    Parameters
    ----------
    size : int
        How many are kept.

    Examples
    --------
    >>> memory = ReportMemory(1)
    >>> memory.get("a", lambda: "report of a"), memory.get("a", lambda: "another")
    ('report of a', 'report of a')
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._reports: OrderedDict[Hashable, AuditReport] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], AuditReport]) -> AuditReport:
        """The report of this key, made if it is not there; None as a key makes it anew."""
        with self._lock:
            if key is not None and key in self._reports:
                self._reports.move_to_end(key)
                return self._reports[key]
        report = make()  # without the lock: it may take hours
        if key is not None:
            with self._lock:
                self._reports[key] = report
                while len(self._reports) > self.size:
                    self._reports.popitem(last=False)
        return report

    def clear(self) -> None:
        """Forget all reports."""
        with self._lock:
            self._reports.clear()


recent_reports = ReportMemory(64)
