"""Report of an audit: results of all attacks, the score, and verdicts for a privacy officer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from .._atomic import write_file
from .._optional import import_optional
from .protocol import AttackResult, plain_values
from .report_parts import parts, row_label
from .report_score import (
    blocking_issues,
    checked_against_bounds,
    counted,
    exposure,
    find_warnings,
    is_bound,
    is_weak,
    two_digits,
)
from .report_verdicts import verdicts
from .report_writers import as_html, as_markdown

_LONGEST_SETTING = 300
_ARMS = ("attack", "baseline", "positive_control", "negative_control")


@dataclass(frozen=True, repr=False)
class AuditReport:
    """Success of attackers on a release, with intervals and controls: numbers and fixed sentences, without note text.

    The **score** is conservative, because the score uses the unfavourable end of each interval. Each valid attack has
    an advantage from 0 (guessing) to 1 (certainty). The attack whose interval has the highest upper end decides, and
    ``score`` is 1 minus this end. Few trials give wide intervals and a low score. If the release reveals nothing, more
    sentences raise the score. If an attacker chooses between two answers and the whole interval of their accuracy is
    below chance, the score uses the inverted answers. If a part of the interval is below chance, the score uses the
    worse end of the interval, for the answers or for the inverted answers.

    The score is 0 (and not NaN, which ``np.argmax`` takes for the largest value) if

    - a check found a fault: the release differs from its statement;
    - a required attack was not run: an attack that the user requested by name, or a "quick" attack;
    - a result is invalid: a control failed, or the attack exceeds a certified bound that covers the attack. A failed
      positive control of the paper's own adversary does not count, because this failure only shows that the adversary
      is too weak;
    - no attack was carried out with valid controls;
    - the paper's own adversary is the only attacker on a representation.

    Other skipped attacks do not change the score. The report lists these attacks, and `passed` can require that each
    threat was attacked. Certified bounds and checks are not attacks; the report shows bounds and checks together with
    the attacks. Attacks on properties that a release declares as open are warnings, and not a part of the score.

    Parameters
    ----------
    results : iterable of AttackResult
        At least one result. A result that exceeds a bound is marked as invalid.
    bounds : mapping of str to mapping, or None, default=None
        ``PrivacyBound.to_dict()`` of each bound on the attacked release, by name.
    settings : mapping, default={}
        Parameters of the audit: plain values and short names, seeds included.
    versions : mapping of str to str, default={}
    n_sentences, n_patients : int or None, default=None
        Number of attacked sentences, and number of their patients.
    seconds : float, default=0.0
    n_left_out : int, default=0
        Number of sentences of a given release that the audit did not use (``max_sentences``).

    Attributes
    ----------
    results : tuple of AttackResult
    score, score_interval, worst, verdicts, blocking_issues, warnings
        See there.

    Raises
    ------
    ValueError
        If there is no result, or a setting, version or bound is not a plain value.

    Examples
    --------
    >>> from sklearn_deid.audit import AttackResult, AuditReport
    >>> from sklearn_deid.metrics import Estimate
    >>> found = AttackResult("lookup", "representation", "A recipient.", "share of sentences found",
    ...                      Estimate.from_counts(340, 1000), 0.01)
    >>> report = AuditReport([found], settings={"random_state": 0}, n_sentences=1000, n_patients=80)
    >>> report
    AuditReport(score=0.63, 1 valid, 0 invalid, 0 skipped)
    >>> report.passed(0.9), report.worst.name
    (False, 'lookup')
    """

    results: tuple[AttackResult, ...]
    bounds: Mapping[str, Mapping[str, Any]] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    n_sentences: int | None = None
    n_patients: int | None = None
    seconds: float = 0.0
    n_left_out: int = 0

    def __post_init__(self) -> None:
        for name in ("bounds", "settings", "versions"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else _checked(value, name))
        object.__setattr__(self, "results", checked_against_bounds(_of_results(self.results), self.bounds))

    def __repr__(self) -> str:
        n = {status: len(self.with_status(status)) for status in ("ok", "weak", "invalid", "skipped")}
        weak = f"{n['weak']} too weak, " if n["weak"] else ""
        counts = f"{n['ok']} valid, {weak}{n['invalid']} invalid, {n['skipped']} skipped"
        return f"AuditReport(score={two_digits(self.score)}, {counts})"

    def with_status(self, status: str) -> tuple[AttackResult, ...]:
        """Attacks with the status "ok", "weak" (the paper's adversary, see above), "invalid" or "skipped"; without
        bounds."""
        return tuple(r for r in self.results if not is_bound(r) and ("weak" if is_weak(r) else r.status) == status)

    @property
    def score(self) -> float:
        """Score of the release, from 0 to 1.

        A score of 1 means that attackers are not better than guessing; see the class for the calculation.
        """
        return self.score_interval[0]

    @cached_property
    def score_interval(self) -> tuple[float, float]:
        """The score, and the score that is computed from the other end of each attack's interval."""
        if self.blocking_issues:
            return 0.0, 0.0
        found = [exposure(result) for result in counted(self.results)]
        return 1.0 - max(e.high for e in found), 1.0 - max(e.low for e in found)

    @cached_property
    def blocking_issues(self) -> tuple[str, ...]:
        """Reasons why the release cannot pass the audit, whatever the score, one sentence each; may be empty."""
        return tuple(blocking_issues(self.results))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Weaknesses that do not make the audit invalid, such as few patients; one sentence each."""
        return tuple(
            find_warnings(
                self.results,
                patients_known=self.n_sentences is None or self.n_patients is not None,
                n_left_out=self.n_left_out,
            )
        )

    @cached_property
    def worst(self) -> AttackResult | None:
        """Valid attack with the highest upper end of the advantage; None if there is no valid attack."""
        return max(counted(self.results), key=lambda r: (exposure(r).high, exposure(r).value), default=None)

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """Verdict for each threat in plain words, in the order of `THREATS`."""
        return verdicts(self.results)

    def passed(self, threshold: float = 0.9, *, threats: Iterable[str] = ()) -> bool:
        """Whether the score reaches a threshold.

        Parameters
        ----------
        threshold : float in (0, 1], default=0.9
        threats : iterable of str, default=()
            Members of `THREATS` for which at least one attack must have run.

        Raises
        ------
        ValueError
            If the threshold is not in (0, 1]; with a threshold of 0, every release would pass.
        """
        if not 0.0 < threshold <= 1.0:
            raise ValueError(f"The 'threshold' parameter must be above 0 and at most 1. Got {threshold!r} instead.")
        attacked = {result.threat for result in counted(self.results)}
        return not self.blocking_issues and set(threats) <= attacked and self.score >= threshold

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without NaN."""
        low, high = self.score_interval
        return {
            "score": low,
            "score_high": high,
            "blocking_issues": list(self.blocking_issues),
            "warnings": list(self.warnings),
            "worst": None if self.worst is None else self.worst.name,
            "verdicts": dict(self.verdicts),
            "n_sentences": self.n_sentences,
            "n_patients": self.n_patients,
            "seconds": self.seconds,
            "settings": plain_values(self.settings),
            "versions": dict(self.versions),
            "bounds": plain_values(self.bounds),
            "results": [{**result.to_dict(), **plain_values(_advantage(result))} for result in self.results],
        }

    def to_rows(self) -> list[dict[str, Any]]:
        """One flat dict for each result, bounds included.

        The keys are name, label (the name, and the rank that counts as success), threat, measure, status, is_bound,
        weak, fault, the four arms (``attack``, ``attack_low``, ``attack_high``, and so on; NaN for a missing arm),
        advantage and its interval, n, seconds, and the reason why a result was skipped or is invalid.
        """
        return [_row(result) for result in self.results]

    def to_frame(self) -> Any:
        """DataFrame (extra ``frames``), one row for each result, with the keys of `to_rows` as columns."""
        pandas = import_optional("pandas", extra="frames", purpose="to_frame")
        return pandas.DataFrame(self.to_rows())

    def to_markdown(self) -> str:
        """The whole report as Markdown text."""
        return as_markdown(parts(self))

    def to_html(self) -> str:
        """The whole report as one HTML page with inline figures, without scripts or external files."""
        return as_html(parts(self))

    def save(self, path: str | Path) -> None:
        """Write the report in the format of the suffix.

        Parameters
        ----------
        path : str or Path
            Ends in ``.json``, ``.md`` or ``.html``.

        Raises
        ------
        ValueError
            For another suffix.
        """
        path = Path(path)
        forms = {".json": self._to_json, ".md": self.to_markdown, ".html": self.to_html}
        if path.suffix not in forms:
            raise ValueError(f"The 'path' must end in one of {', '.join(forms)}. Got {path.suffix!r} instead.")
        write_file(path, forms[path.suffix]().encode("utf-8"))

    def _to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _of_results(results: Iterable[AttackResult]) -> tuple[AttackResult, ...]:
    found = tuple(results)
    if not found or not all(isinstance(result, AttackResult) for result in found):
        raise ValueError("The 'results' parameter must hold at least one AttackResult, and nothing else.")
    return found


def _checked(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Copy with plain values only, so that no text of a note is included by mistake."""
    if not isinstance(values, Mapping):
        raise ValueError(f"The {name!r} parameter must be a mapping. Got a {type(values).__name__}.")
    return {str(key): _checked_value(value, f"{name}[{str(key)!r}]") for key, value in values.items()}


def _checked_value(value: Any, where: str) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _checked_value(v, f"{where}[{str(key)!r}]") for key, v in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple(_checked_value(v, where) for v in value)
    value = value.item() if isinstance(value, np.generic) else value
    plain = (
        value is None or isinstance(value, (bool, Real)) or (isinstance(value, str) and len(value) <= _LONGEST_SETTING)
    )
    if not plain:
        raise ValueError(f"{where} must be a number, a short name or None. Got a {type(value).__name__}.")
    return value


def _advantage(result: AttackResult) -> dict[str, float]:
    """The advantage that the score uses, including the advantage of inverted answers; NaN for a skipped attack."""
    found = exposure(result)
    return {"advantage": found.value, "advantage_low": found.low, "advantage_high": found.high}


def _row(result: AttackResult) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": result.name,
        "label": row_label(result),
        "threat": result.threat,
        "measure": result.measure,
        "status": result.status,
        "is_bound": is_bound(result),
        "weak": is_weak(result),
        "fault": bool(result.faults),
    }
    for arm in _ARMS:
        found = getattr(result, arm)
        for end, attribute in (("", "value"), ("_low", "low"), ("_high", "high")):
            row[arm + end] = np.nan if found is None else getattr(found, attribute)
    why = result.reason if result.status == "skipped" else " ".join(result.failures)
    n = 0 if result.attack is None else result.attack.n
    return row | _advantage(result) | {"n": n, "seconds": result.seconds, "why": why}
