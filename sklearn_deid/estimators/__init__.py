"""The doors: scikit-learn estimators with parameters, validation and wiring."""

from .privacy_auditor import AdversarialPrivacyAuditor

__all__ = [
    "AdversarialPrivacyAuditor",
]
