"""What the papers claim, and what the runs say to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..resumable import interval
from .cells import table
from .sources import Source
from .toml_files import read_toml

FILE = Path(__file__).parent / "printed" / "claims.toml"
HOLDS, FAILS = "holds", "does not hold"
OPEN_FOR, OPEN_AGAINST = "undecided, mean in favour", "undecided, mean against"
ONE_FOR, ONE_AGAINST = "one seed in favour", "one seed against"
NOT_COMPARABLE, NOT_MEASURED = "not comparable", "not measured"
_AGAINST = (FAILS, OPEN_AGAINST, ONE_AGAINST)
_GROUPS = {
    "Holds, or points that way": (HOLDS, OPEN_FOR, ONE_FOR),
    "Does not hold, or points the other way; with the likely reason": _AGAINST,
    "Not comparable on this data, or not measured": (NOT_COMPARABLE, NOT_MEASURED),
}


@dataclass(frozen=True)
class Claim:
    """left - right, in points, is at least or at most the margin; without ``left`` it cannot be compared."""

    paper: str
    where: str
    says: str
    because: str
    script: str | None = None
    left: Mapping[str, Any] | None = None
    right: Mapping[str, Any] | None = None
    relation: str = ">="
    margin: float = 0.0
    scale: float = 100.0
    note: str = ""

    def __post_init__(self) -> None:
        if self.relation not in (">=", "<="):
            raise ValueError(f"The relation of a claim must be '>=' or '<='. Got {self.relation!r} instead.")
        if (self.left is None) != (self.right is None) or (self.left is not None and self.script is None):
            raise ValueError(f"A claim has a script, left and right, or none of them: {self.says}")


@dataclass(frozen=True)
class Verdict:
    """A claim on the runs of one source."""

    claim: Claim
    verdict: str
    source: Source | None
    sentence: str


def read_claims(papers: Sequence[str]) -> list[Claim]:
    """The claims of the papers."""
    return [Claim(**table) for table in read_toml(FILE)["claim"] if table["paper"] in papers]


def judge(claim: Claim, sources: Sequence[Source]) -> list[Verdict]:
    """A verdict for each source that has both sides; one alone where there is none."""
    if claim.left is None or claim.right is None:
        return [Verdict(claim, NOT_COMPARABLE, None, f"Not comparable on this data because {claim.because}.")]
    out = [
        _of_source(claim, source, differences)
        for source in sources
        if source.script == claim.script and not source.settings.get("parameters")
        for differences in [_differences(claim, source)]
        if differences
    ]
    return out or [Verdict(claim, NOT_MEASURED, None, "Not measured: no runs of both sides are there.")]


def _differences(claim: Claim, source: Source) -> dict[int, tuple[float, float]]:
    """Both sides by seed, where both are there."""
    assert claim.left is not None and claim.right is not None
    left = source.values(claim.left["arm"], claim.left["figure"])
    if "bar" in claim.right:
        right = dict.fromkeys(left, float(claim.right["bar"]))
    else:
        right = source.values(claim.right["arm"], claim.right["figure"])
    return {seed: (claim.scale * left[seed], claim.scale * right[seed]) for seed in left if seed in right}


def _of_source(claim: Claim, source: Source, sides: Mapping[int, tuple[float, float]]) -> Verdict:
    mean, low, high = interval([left - right for left, right in sides.values()])
    at_least = claim.relation == ">="
    for_it, surely, never = (
        (mean >= claim.margin, low >= claim.margin, high < claim.margin)
        if at_least
        else (mean <= claim.margin, high <= claim.margin, low > claim.margin)
    )
    if len(sides) == 1:
        verdict = ONE_FOR if for_it else ONE_AGAINST
    elif surely or never:
        verdict = HOLDS if surely else FAILS
    else:
        verdict = OPEN_FOR if for_it else OPEN_AGAINST
    left, right = (sum(pair[k] for pair in sides.values()) / len(sides) for k in (0, 1))
    unit = " points" if claim.scale == 100 else ""
    asked = f"{'at least' if at_least else 'at most'} {claim.margin:g}{unit}"
    width = f" ({low:.1f} to {high:.1f}, {len(sides)} seeds)" if len(sides) > 1 else " (one seed)"
    sentence = f"{left:.1f} against {right:.1f}: difference {mean:.1f}{unit}{width}; the claim requires {asked}."
    if claim.note:
        sentence += f" ({claim.note[0].upper()}{claim.note[1:]}.)"
    if verdict in _AGAINST:
        sentence += f" Likely reason: {claim.because}."
    return Verdict(claim, verdict, source, sentence)


def markdown_of(claims: Sequence[Claim], sources: Sequence[Source]) -> list[str]:
    """All claims of a paper as a table."""
    rows = []
    for claim in claims:
        for number, found in enumerate(judge(claim, sources)):
            says = f"{claim.says} ({claim.where})" if number == 0 else "the same"
            on = found.source.label() if found.source else "–"
            rows.append([says, on, f"**{found.verdict}**", found.sentence])
    return table(["claim", "runs", "verdict", "why"], rows)


def in_short(claims: Sequence[Claim], sources: Sequence[Source]) -> list[str]:
    """Each claim once, by its verdict on the runs with most seeds, then most notes."""
    groups: dict[str, list[str]] = {name: [] for name in _GROUPS}
    for claim in claims:
        found = max(judge(claim, sources), key=_weight)
        name = next(name for name, verdicts in _GROUPS.items() if found.verdict in verdicts)
        on = f"{found.verdict}, {found.source.label()}" if found.source else found.verdict
        reason = f" – {claim.because}" if found.verdict in (*_AGAINST, NOT_COMPARABLE) else ""
        groups[name].append(f"{claim.says} *({on})*{reason}")
    lines = []
    for name, entries in groups.items():
        lines += [f"**{name}** ({len(entries)})", "", *(f"- {entry}" for entry in entries or ["none"]), ""]
    return lines


def _weight(found: Verdict) -> tuple[int, int]:
    source = found.source
    return (0, 0) if source is None else (len(source.seeds), source.settings.get("notes") or 0)
