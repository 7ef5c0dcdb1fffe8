"""What an attacker learns from a release: `AdversarialPrivacyAuditor`, its report, and the protocol of attacks.

Names are resolved on first use (PEP 562): a file is loaded with the first name that is asked of it.
"""

from __future__ import annotations

from .._lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "privacy_auditor": "AdversarialPrivacyAuditor",
        "protocol": "Attack AttackResult CONTROL_CONFIDENCE Estimate THREATS",
        "report": "AuditReport",
        "audit_data": "random_streams three_patient_splits",
    },
)
