"""Counts of the service in Prometheus's text format, without content of requests."""

from __future__ import annotations

from collections import Counter


class ServiceMetrics:
    """Counts of requests, seconds, notes and withheld notes.

    Parameters
    ----------
    worker : str, optional
        Name of the process, a label of all counts. Sums over the label ``worker`` are the counts of the service.

    Examples
    --------
    >>> metrics = ServiceMetrics()
    >>> metrics.request("/redact", 200, 0.25)
    >>> print(metrics.rendered().splitlines()[1])
    sklearn_deid_requests_total{route="/redact",status="200"} 1
    """

    def __init__(self, worker: str | None = None) -> None:
        self._worker = "" if worker is None else f',worker="{worker}"'
        self._requests: Counter[tuple[str, int]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._notes: Counter[str] = Counter()

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request. ``route`` is a known route, never the path of the request."""
        self._requests[route, status] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]

    def notes(self, done: int, withheld: int) -> None:
        """Count notes."""
        self._notes["done"] += done
        self._notes["withheld"] += withheld

    def rendered(self) -> str:
        """All counts as text."""
        requests = [(f'route="{route}",status="{status}"', n) for (route, status), n in sorted(self._requests.items())]
        seconds = [(f'route="{route}"', f"{n:.6f}") for route, n in sorted(self._seconds.items())]
        notes = [(f'result="{name}"', n) for name, n in sorted(self._notes.items())]
        lines = []
        for name, rows in (("requests", requests), ("request_seconds", seconds), ("notes", notes)):
            lines.append(f"# TYPE sklearn_deid_{name}_total counter")
            lines += [f"sklearn_deid_{name}_total{{{labels}{self._worker}}} {n}" for labels, n in rows]
        return "\n".join(lines) + "\n"
