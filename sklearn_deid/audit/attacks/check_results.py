"""Results of checks: attacks that test whether a release is as stated, and do not measure how much the release
reveals."""

from __future__ import annotations

from typing import Any

from ...metrics import Estimate
from ..protocol import AttackResult

# Probability that all noise checks of an intact release together raise a false alarm: .001 for the noise (a tenth
# of it for low bits), .0005 for repeated noise, .0003 for the seeds and .0002 for the statements of a file; .002 in
# total.
NOISE_LEVEL, BITS_LEVEL, REPLAY_LEVEL, SEED_LEVEL, FILE_LEVEL = 1e-3, 1e-4, 5e-4, 3e-4, 2e-4


def check_result(attack: Any, faults: list[str], n_checks: int, **more: Any) -> AttackResult:
    """Return the result of a check: the proportion of its tests that found a fault, and a message for each fault.

    Parameters
    ----------
    attack : AuditAttack
        Attack that made the check.
    faults : list of str
        One sentence for each fault of the release.
    n_checks : int
        Number of tests.
    **more
        Further attributes of the result, such as ``details`` and ``positive_control``.
    """
    share = Estimate.exact(min(1.0, len(faults) / max(1, n_checks)))
    settings = {"check": True, **more.pop("settings", {})}
    return attack.result(share, 0.0, faults=tuple(dict.fromkeys(faults)), settings=settings, **more)
