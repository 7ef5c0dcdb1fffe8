"""What weakens an audit without making it invalid: few patients, or patients that were not given."""

from __future__ import annotations

from collections.abc import Iterable

from .protocol import AttackResult
from .report_score import counted

__all__ = ["FEW_GROUPS", "find_warnings"]

FEW_GROUPS = 20
_WHO = {"updates": ("updates (or pairs of them)", "Record more epochs or sites.")}
_PATIENTS = ("patients", "Give more patients: of those that are given, three tenths are measured.")


def find_warnings(results: Iterable[AttackResult], *, patients_known: bool = True) -> list[str]:
    """Sentences that a reader must know beside the score; empty if there is nothing to say.

    Parameters
    ----------
    results : iterable of AttackResult
    patients_known : bool, default=True
        False says that each sentence was taken for a patient.

    Examples
    --------
    >>> from sklearn_deid.audit import AttackResult, Estimate
    >>> hits, patients = [True] * 30 + [False] * 30, [i % 6 for i in range(60)]
    >>> estimate = Estimate.from_hits(hits, patients)
    >>> found = AttackResult("pairs", "representation", "A recipient.", "share", estimate, 0.5)
    >>> find_warnings([found])[0][:70]
    'Attacks on the representation were measured on only 6 patients: interv'
    """
    fewest: dict[str, int] = {}
    valid = counted(results)
    for result in valid:
        n = None if result.attack is None else result.attack.n_groups
        if n is not None and n < FEW_GROUPS:
            fewest[result.threat] = min(n, fewest.get(result.threat, n))
    found = []
    for threat, n in fewest.items():
        who, remedy = _WHO.get(threat, _PATIENTS)
        found.append(
            f"Attacks on the {threat} were measured on only {n} {who}: intervals are wide, which lowers the score, and "
            f"with fewer than {FEW_GROUPS} they are rough. {remedy}"
        )
    if not patients_known and any(result.threat != "updates" for result in valid):  # those are about sites
        found.append(
            "It was not said which sentences are of one patient. Each was taken for a patient of its own: intervals "
            "are narrower and the score is higher than they should be, and links between sentences were not attacked."
        )
    return found
