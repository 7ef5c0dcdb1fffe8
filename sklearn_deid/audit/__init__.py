"""What an attacker learns from a release: `AdversarialPrivacyAuditor`, its report, and the protocol of attacks.

Names are resolved on first use (PEP 562): a file is loaded with the first name that is asked of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each public name lives.
_HOME = {
    "AdversarialPrivacyAuditor": "privacy_auditor",
    "Attack": "protocol",
    "AttackResult": "protocol",
    "CONTROL_CONFIDENCE": "protocol",
    "Estimate": "protocol",
    "THREATS": "protocol",
    "AuditReport": "report",
    "random_streams": "audit_data",
    "three_patient_splits": "audit_data",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
