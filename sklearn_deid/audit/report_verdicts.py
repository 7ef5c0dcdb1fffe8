"""One verdict for each threat, in plain words with the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..representations.probe import CONTROL_BAR
from .protocol import THREATS, AttackResult
from .report_score import Exposure, at_most, counted, exposure, is_bound, is_paper, is_weak, percent, percent_range

_NARROW = 0.1
_MOST_BESIDES = 3


def verdicts(results: Iterable[AttackResult]) -> dict[str, str]:
    """Verdict for each threat: the strongest attack, the paper's adversary, and invalid or skipped attacks."""
    rows = [result for result in results if not is_bound(result)]
    return {threat: _verdict(own) for threat in THREATS if (own := [r for r in rows if r.threat == threat])}


def against_the_paper(results: Iterable[AttackResult]) -> str | None:
    """Sentence that compares the paper's adversary with the strongest other attacker on pairs.

    Returns
    -------
    str or None
        None if either kind of attack is missing.
    """
    pairs = [r for r in counted(results) if r.settings.get("pairwise")]
    papers = [r for r in pairs if is_paper(r)]
    others = [r for r in pairs if not is_paper(r)]
    # The paper's adversary sees one release. The other attacker is therefore one who also sees one release, if
    # possible.
    others = [r for r in others if r.settings.get("n_releases", 1) == 1] or others
    if not papers or not others:
        return None
    paper, other = (max(rows, key=lambda r: (exposure(r).low, exposure(r).value)) for rows in (papers, others))
    assert paper.attack is not None and other.attack is not None  # of all that count
    weak = ""
    if paper.positive_control is not None and paper.positive_control.value < CONTROL_BAR:
        weak = f", and in only {percent(paper.positive_control.value)} where nothing is hidden"
    at = f"The paper's adversary is right in {percent(paper.attack.value)} of pairs{weak}."
    there = f"right in {percent(other.attack.value)}"
    if exposure(other).low > exposure(paper).high:
        return f"{at} A stronger attacker is {there}. The privacy that the paper's adversary suggests does not hold."
    if exposure(other).low > 0.0 and exposure(paper).low <= 0.0:
        return f"{at} This result cannot be distinguished from guessing. Another attacker, above guessing, is {there}."
    return f"{at} The strongest other attacker is {there}; guessing: 50 %."


def _verdict(results: Sequence[AttackResult]) -> str:
    valid = counted(results)
    parts = [f"The release differs from its statements ({r.name}): {' '.join(r.faults)}" for r in results if r.faults]
    if valid:
        worst, *others = sorted(valid, key=lambda r: (-exposure(r).high, -exposure(r).value))
        parts += [_sentence(worst), _judged(worst, exposure(worst)), *_besides(worst, others)]
        compared = against_the_paper(valid)
        parts += [compared] if compared else []
        if all(map(is_paper, valid)):
            parts.append(
                "No conclusion is possible: only the paper's own adversary attacked, and this adversary is weak."
            )
    else:
        parts.append("The risk is unknown: no attack was carried out with valid controls.")
    return " ".join(parts + _left_open(results))


def _besides(worst: AttackResult, others: Sequence[AttackResult]) -> list[str]:
    """Best attack of each other kind that is better than guessing."""
    told, found = {_kind(worst)}, []
    for result in others:
        if exposure(result).low > 0.0 and _kind(result) not in told:
            told.add(_kind(result))
            found.append(f"Further attack: {_sentence(result)}")
    return found[:_MOST_BESIDES]


def _kind(result: AttackResult) -> tuple[str, bool]:
    """Kind of an attack: the action of the attacker, and whether the attacker sees only one release."""
    return result.key or result.name, result.settings.get("n_releases", 1) == 1


def _with_what(result: AttackResult) -> str:
    """Data that the attacker had in addition to one release."""
    n_releases = result.settings.get("n_releases", 1)
    had = [f"{n_releases} releases of the same text"] if n_releases > 1 else []
    had += ["the casing"] if result.settings.get("casing") else []
    return f", with {' and '.join(had)}" if had else ""


def _sentence(result: AttackResult) -> str:
    attack, baseline = result.attack, result.baseline
    assert attack is not None and baseline is not None  # of all that count
    interval = f"{100 * attack.confidence:g} % interval {percent_range(attack.low, attack.high)}"
    guess = percent(baseline.value)  # type: ignore[union-attr]
    if not result.phrase:
        return f"{result.attacker} {capital(result.measure)}: {percent(attack.value)} ({interval}); guessing: {guess}."
    return f"{result.phrase.format(percent(attack.value))}{_with_what(result)} ({interval}); guessing: {guess}."


def _judged(result: AttackResult, found: Exposure) -> str:
    assert result.attack is not None
    if found.reversed:
        return "The accuracy is below chance: inverting the answers works."
    if found.low > 0.0:
        return f"This attack is better than guessing: {percent(found.value)} of the way from guessing to certainty."
    if found.high <= _NARROW:
        return "The result of this attack cannot be distinguished from guessing."
    return (
        f"The result of this attack cannot be distinguished from guessing, but {result.attack.n} trials are too few "
        f"(trials of few patients count for less). An advantage of up to {at_most(found.high)} is not ruled out."
    )


def _left_open(results: Sequence[AttackResult]) -> list[str]:
    n_invalid = sum(r.status == "invalid" and not is_weak(r) and not r.faults for r in results)
    n_skipped = sum(r.status == "skipped" for r in results)
    missing = " and ".join(f"{r.name} ({r.reason.rstrip('.')})" for r in results if r.blocks and r.attack is None)
    parts = [f"No pass: {reason}" for reason in dict.fromkeys(r.reason for r in results if r.blocks and r.attack)]
    parts += [f"No pass, because required attacks were not run: {missing}."] if missing else []
    parts += (
        [f"{_attacks(n_invalid)} invalid. Invalid results are errors of the audit and never a pass."]
        if n_invalid
        else []
    )
    return [*parts, f"{_attacks(n_skipped)} skipped."] if n_skipped else parts


def _attacks(n: int) -> str:
    return "One attack is" if n == 1 else f"{n} attacks are"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
