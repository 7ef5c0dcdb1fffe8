"""Order of the attacks in an audit, and choice of the attacks to skip when time is short."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from threading import Lock
from traceback import walk_tb
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from ..exceptions import DeidError
from .protocol import AttackResult
from .report import AuditReport


@dataclass(frozen=True, repr=False)
class PlannedAttack:
    """Planned attack of an audit.

    Attributes
    ----------
    name : str
        Name by which a user requests the attack.
    attack : Attack
        Attack with its parameters.
    run : callable
        Function ``run(attack)`` that returns a list of results.
    strength : float
        Expected success relative to the other attacks.
    seconds : float
        Expected duration on one core in seconds, controls included.
    called_for : bool
        Whether a pass requires the attack: the user requested the attack by name, or the attack is a "quick" attack.
    """

    name: str
    attack: Any
    run: Callable[[Any], list[AttackResult]]
    strength: float = 1.0
    seconds: float = 1.0
    called_for: bool = True

    def left_out(self, reason: str) -> AttackResult:
        """Result of an attack that cannot be run. If the audit requires the attack, the audit fails."""
        skipped = self.attack.skip(reason)
        return replace(skipped, blocks=self.called_for) if isinstance(skipped, AttackResult) else skipped


def run_attacks(
    planned: Iterable[PlannedAttack],
    max_seconds: float | None = None,
    *,
    n_jobs: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> list[AttackResult]:
    """Run attacks in order of expected success per second; skip attacks for which no time is left.

    The function estimates the speed of the machine from the attacks that have ended. The function does not stop a
    running attack.

    Parameters
    ----------
    planned : iterable of PlannedAttack
        Attacks to run.
    max_seconds : float, optional
        Time limit of all attacks together in seconds.
    n_jobs : int, optional
        Number of processes. Each process runs one attack at a time.
    say : callable, optional
        Function that receives a progress line for each attack, for ``verbose``.

    Returns
    -------
    list of AttackResult
        Results in the order of ``planned``. A skipped attack has a result with the reason.
    """
    planned, n = list(planned), effective_n_jobs(n_jobs)
    waiting = sorted(range(len(planned)), key=lambda i: -planned[i].strength / planned[i].seconds)
    results: dict[int, list[AttackResult]] = {}
    started, expected, measured = time.perf_counter(), 0.0, 0.0
    while waiting:
        left = None if max_seconds is None else max_seconds - (time.perf_counter() - started)
        # Measured seconds per expected second: above 1 on a machine slower than the reference.
        pace = measured / expected if expected > 0 else 1.0
        some: list[int] = []
        while waiting and len(some) < n:
            i = waiting.pop(0)
            if left is not None and planned[i].seconds * pace > left:
                results[i] = [planned[i].left_out(f"It would not have ended within max_seconds={max_seconds:g}.")]
                say(f"{planned[i].attack.name}: skipped, no time")
            else:
                some.append(i)
        # Each process runs one attack. A single attack runs here.
        timed = Parallel(n_jobs=n if len(some) > 1 else 1)(delayed(_timed)(planned[i]) for i in some)
        for i, (found, took) in zip(some, timed, strict=True):
            results[i] = found
            expected, measured = expected + planned[i].seconds, measured + took
            say(f"{planned[i].attack.name}: {took:.1f} s")
    return [result for i in range(len(planned)) for result in results[i]]


def _timed(one: PlannedAttack) -> tuple[list[AttackResult], float]:
    """Return the results of an attack, and its duration in seconds. An attack that cannot run on the data is
    skipped."""
    since = time.perf_counter()
    try:
        found = one.run(one.attack)
    except (MemoryError, RuntimeError, ValueError) as error:  # also SequenceError and AttackError
        found = [one.left_out(_reason(error, one.attack))]
    return found, time.perf_counter() - since


def _reason(error: Exception, attack: Any) -> str:
    """Reason why an attack was not run.

    The reason enters the report. Messages of this library, and of the attack's own package, contain counts and
    parameters. Messages of all others, such as the attacked estimator, can quote a note.
    """
    own = {__name__.partition(".")[0], type(attack).__module__.partition(".")[0]}
    *_, (frame, _) = walk_tb(error.__traceback__)
    if isinstance(error, DeidError) or frame.f_globals.get("__name__", "").partition(".")[0] in own:
        return str(error)
    return (
        f"The attack ended with a {type(error).__name__} of other code, such as the attacked estimator. The report "
        "leaves out the message, because the message can contain words of notes."
    )


class ReportMemory:
    """Cache of the most recently used reports.

    Parameters
    ----------
    size : int
        Largest number of reports in the cache.

    Examples
    --------
    >>> memory = ReportMemory(1)
    >>> memory.get("a", lambda: "report of a"), memory.get("a", lambda: "another")
    ('report of a', 'report of a')
    """

    def __init__(self, size: int) -> None:
        self.size, self._lock = size, Lock()
        self._reports: OrderedDict[Hashable, AuditReport] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], AuditReport]) -> AuditReport:
        """Return the report of a key. If the cache does not contain the key, call ``make``.

        If the key is None, every call makes a new report.
        """
        with self._lock:
            if key is not None and key in self._reports:
                self._reports.move_to_end(key)
                return self._reports[key]
        # Outside the lock: making a report may take hours.
        report = make()
        if key is not None:
            with self._lock:
                self._reports[key] = report
                while len(self._reports) > self.size:
                    self._reports.popitem(last=False)
        return report

    def clear(self) -> None:
        """Delete all reports from the cache."""
        with self._lock:
            self._reports.clear()


recent_reports = ReportMemory(64)
