"""Score of an audit from the results of its attacks, and the reasons why a release cannot pass the audit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from .protocol import AttackResult

ABOVE_BOUND = (
    "The attack exceeds the certified bound by more than its interval: either the attack or the bound is wrong."
)


class Exposure(NamedTuple):
    """Advantage of an attack, from guessing (0) to certainty (1), with its interval.

    Attributes
    ----------
    value, low, high : float
    reversed : bool
        Whether the attacker's answers were inverted, because the answers were wrong more often than a guess; see
        `exposure`.
    """

    value: float
    low: float
    high: float
    reversed: bool = False


def exposure(result: AttackResult) -> Exposure:
    """Advantage of an attack, or of its inverted answers if the answers are wrong more often than a guess.

    If an attacker chooses between two answers and the whole interval is below one half, the inverted answers are right
    more often than a guess. Training a representer against an adversary can cause this case. If only a part of the
    interval is below one half, the upper end is the larger one of both: inverting the answers is not ruled out.

    Examples
    --------
    >>> from sklearn_deid.audit import AttackResult
    >>> from sklearn_deid.metrics import Estimate
    >>> wrong = AttackResult("pairs", "representation", "A recipient.", "share", Estimate.from_counts(20, 100), 0.5)
    >>> found = exposure(wrong)
    >>> wrong.advantage, round(found.value, 2), found.reversed
    (0.0, 0.6, True)
    """
    attack, baseline = result.attack, result.baseline
    if attack is None or baseline is None:
        return Exposure(math.nan, math.nan, math.nan)
    low, high = result.advantage_interval
    two_way = baseline.value == baseline.low == baseline.high == 0.5 and result.best == 1.0  # type: ignore[union-attr]
    if two_way and not is_open(result):
        inverted = 1.0 - 2.0 * attack.low
        if attack.high < 0.5:
            return Exposure(1.0 - 2.0 * attack.value, 1.0 - 2.0 * attack.high, inverted, True)
        # 2 right answers of 10 had an upper end of 0.02, and passed, although 8 inverted answers are right.
        high = max(high, inverted)
    return Exposure(result.advantage, low, high)


def percent(share: float) -> str:
    """A proportion in percent, rounded for readers.

    Examples
    --------
    >>> percent(0.3402), percent(0.0099), percent(0.004), percent(0.0), percent(0.0001), percent(0.9996)
    ('34 %', '1 %', '0.4 %', '0 %', 'under 0.1 %', 'over 99.9 %')
    """
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    if share < 0.001:
        return "under 0.1 %"
    if share > 0.999:
        return "over 99.9 %"
    return f"{100 * share:.1f} %" if share < 0.0095 or share > 0.9905 else f"{100 * share:.0f} %"


def percent_range(low: float, high: float) -> str:
    """An interval in percent, whose ends are rounded outwards: an upper end that is rounded down does not hold.

    Examples
    --------
    >>> percent_range(0.3196, 0.3642), percent_range(0.0097, 0.9903), percent_range(0.0, 0.0042)
    ('31 % to 37 %', '0.9 % to 99.1 %', '0 % to 0.5 %')
    """
    return f"{_outwards(low, math.floor)} to {_outwards(high, math.ceil)}"


def _outwards(share: float, whole: Callable[[float], int]) -> str:
    if not 0.001 <= share <= 0.999:
        return percent(share)
    shown = whole(round(100 * share, 6))
    if 0.95 <= 100 * share <= 99.05 and 0 < shown < 100:
        return f"{shown} %"
    # A whole percent would be 0 % or 100 %, or a large part of the rest.
    return f"{whole(round(1000 * share, 6)) / 10:.1f} %"


def two_digits(score: float) -> str:
    """A score for readers, rounded down: a score of 0.896 is below 0.9.

    Examples
    --------
    >>> two_digits(0.896), two_digits(0.9), two_digits(1.0)
    ('0.89', '0.90', '1.00')
    """
    return f"{math.floor(100 * score + 1e-9) / 100:.2f}"


def interval_text(found: Exposure) -> str:
    """An advantage with its interval, whose upper end is rounded up: the score is 1 minus this end, rounded down.

    Examples
    --------
    >>> interval_text(Exposure(0.1, 0.049, 0.2312))
    '0.10 (0.05 to 0.24)'
    """
    return f"{found.value:.2f} ({found.low:.2f} to {_rounded_up(found.high):.2f})"


def at_most(share: float) -> str:
    """The upper end of a proportion in percent.

    Examples
    --------
    >>> at_most(0.2312), at_most(0.24)
    ('24 %', '24 %')
    """
    return f"{100 * _rounded_up(share):.0f} %"


def _rounded_up(share: float) -> float:
    return math.ceil(100 * share - 1e-9) / 100


def is_bound(result: AttackResult) -> bool:
    """Whether a result is a proved bound and not the success of an attacker."""
    return bool(result.settings.get("bound"))


def is_check(result: AttackResult) -> bool:
    """Whether a result tests the statements of a release instead of measuring an attacker."""
    return bool(result.settings.get("check"))


def is_open(result: AttackResult) -> bool:
    """Whether an attack reads a property that the release declares as open; its own success counts as the guess."""
    return bool(result.settings.get("open_by_declaration"))


def is_paper(result: AttackResult) -> bool:
    """Whether the attacker is the paper's own adversary."""
    return result.settings.get("adversary") == "paper"


def is_weak(result: AttackResult) -> bool:
    """Whether the attack is the paper's adversary and is valid except for a failed positive control.

    A weak result is a finding about the adversary, not an error of the audit. A pass never depends on a weak result.
    """
    only_too_weak = (
        result.status == "invalid" and replace(result, positive_control=None, min_positive_control=None).status == "ok"
    )
    return is_paper(result) and only_too_weak


def counted(results: Iterable[AttackResult]) -> list[AttackResult]:
    """Attacks that determine the score: valid attacks, without bounds, checks, attacks on properties that are declared
    as open and attacks without room, and weak attacks, which can only lower the score."""
    others = (r for r in results if not (is_bound(r) or is_check(r) or is_open(r)))
    return [r for r in others if (r.status == "ok" or is_weak(r)) and _has_room(r)]


def _has_room(result: AttackResult) -> bool:
    """Whether an attack can be better than its guess. A guess that is always right, as of a single word or of the ten
    most frequent of ten words, leaves no advantage to measure: the attack would count as one that learnt nothing."""
    return result.best - result.baseline.value > 1e-9  # type: ignore[union-attr]


def blocking_issues(results: Sequence[AttackResult]) -> list[str]:
    """Reasons why no pass is possible, regardless of the numbers; may be empty."""
    found = [f"{r.name}: {' '.join(r.failures)}" for r in results if r.status == "invalid" and not is_weak(r)]
    found += [f"{r.name} was not run: {r.reason}" for r in results if r.status == "skipped" and r.blocks]
    found += [f"{r.name}: {r.reason}" for r in results if r.attack is not None and r.blocks]
    valid = counted(results)
    on_vectors = [r for r in valid if r.threat == "representation"]
    if not valid:
        found.append("No attack was carried out with valid controls.")
    elif on_vectors and all(is_paper(r) for r in on_vectors):
        found.append(
            "Only the paper's own adversary attacked the representation. The result of this weak adversary "
            "proves nothing by itself."
        )
    return found


def checked_against_bounds(
    results: Iterable[AttackResult], bounds: Mapping[str, Mapping[str, Any]] | None
) -> tuple[AttackResult, ...]:
    """Results; an attack that exceeds its certified bound is marked as invalid.

    A bound covers attacks that distinguish a sentence from one other sentence, do not use the casing, and see at most
    as many releases as the bound.
    """
    results = tuple(results)
    reach = [(r.settings.get("n_releases", 1), r.attack.high) for r in results if is_bound(r) and r.attack is not None]
    reach += [
        (bound.get("n_releases", 1), float(bound["mean_accuracy_high"]))
        for bound in (bounds or {}).values()
        if bound.get("mean_accuracy_high") is not None
    ]
    return tuple(r.with_error(ABOVE_BOUND) if _exceeds_any(r, reach) else r for r in results)


def _exceeds_any(result: AttackResult, reach: list[tuple[int, float]]) -> bool:
    settings = result.settings
    if result.attack is None or ABOVE_BOUND in result.errors or is_bound(result):
        return False
    if not settings.get("pairwise") or settings.get("casing"):
        return False
    seen = settings.get("n_releases", 1)
    return any(seen <= covered and result.attack.low > highest for covered, highest in reach)


FEW_GROUPS = 20
_WHO = {
    "updates": ("updates (or pairs of them)", "Record more epochs or sites."),
    # Attacks on models train taggers of their own on half of the patients, and measure members and others.
    "model": ("patients", "Give more patients: all given patients are measured."),
}
_PATIENTS = ("patients", "Give more patients: three tenths of the given patients are measured.")


def find_warnings(results: Iterable[AttackResult], *, patients_known: bool = True, n_left_out: int = 0) -> list[str]:
    """Warnings for readers of the score; may be empty.

    Parameters
    ----------
    results : iterable of AttackResult
    patients_known : bool, default=True
        False means that each sentence was treated as a patient.
    n_left_out : int, default=0
        Number of sentences of the release that the audit did not use.

    Examples
    --------
    >>> from sklearn_deid.audit import AttackResult
    >>> from sklearn_deid.metrics import Estimate
    >>> hits, patients = [True] * 30 + [False] * 30, [i % 6 for i in range(60)]
    >>> estimate = Estimate.from_hits(hits, patients)
    >>> found = AttackResult("pairs", "representation", "A recipient.", "share", estimate, 0.5)
    >>> find_warnings([found])[0][:70]
    'Attacks on the representation were measured on only 6 patients: interv'
    """
    fewest: dict[str, int] = {}
    results = tuple(results)
    valid = counted(results)
    for result in valid:
        n = None if result.attack is None else result.attack.n_groups
        if n is not None and n < FEW_GROUPS:
            fewest[result.threat] = min(n, fewest.get(result.threat, n))
    found = []
    for threat, n in fewest.items():
        who, remedy = _WHO.get(threat, _PATIENTS)
        found.append(
            f"Attacks on the {threat} were measured on only {n} {who}: intervals are wide, and the score is lower. "
            f"With fewer than {FEW_GROUPS}, intervals are also inexact. {remedy}"
        )
    found += [
        f"Declared as open, and not part of the score: {result.phrase.format(percent(result.attack.value))}."
        for result in results
        if is_open(result) and result.attack is not None and result.status == "ok"
    ]
    found += [
        f"Not part of the score: {row.name}. The guess without the release is always right, so that the attack "
        "measured nothing."
        for row in results
        if row.status == "ok" and not (is_bound(row) or is_check(row) or is_open(row) or _has_room(row))
    ]
    if n_left_out:
        found.append(
            f"The audit left out {n_left_out:,} sentences of the release at random ('max_sentences'). A fault of only "
            "these sentences, such as missing noise, was not tested."
        )
    if not patients_known and any(result.threat != "updates" for result in valid):  # results on updates are about sites
        found.append(
            "The patients of the sentences were not given. Each sentence was therefore counted as one patient: "
            "intervals are too narrow, and the score is too high. Links between sentences were not attacked."
        )
    return found
