"""Measure an attacker's success on a release: `AdversarialPrivacyAuditor`, its report, and the protocol of attacks.

Imports are lazy (PEP 562): the first access to a name imports the file that defines the name.
"""

from __future__ import annotations

from .._lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "privacy_auditor": "AdversarialPrivacyAuditor",
        "protocol": "Attack AttackResult CONTROL_CONFIDENCE THREATS",
        "redacted_text": "RedactedTextReport audit_redacted_text",
        "report": "AuditReport",
        "audit_data": "random_streams three_patient_splits",
    },
)
