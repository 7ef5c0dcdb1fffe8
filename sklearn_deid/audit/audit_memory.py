"""Reports of the last audits of this process, so that nothing is audited twice."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

from .report import AuditReport

__all__ = ["ReportMemory", "recent_reports"]


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
