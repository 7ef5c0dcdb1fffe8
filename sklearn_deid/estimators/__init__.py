"""The doors: scikit-learn estimators with parameters, validation and wiring."""

from ._learner_state import learner_from_state, learner_to_state, make_learner
from ._tagger_learner import TaggerLearner
from .dssgd_ensemble import DSSGDEnsemble
from .privacy_auditor import AdversarialPrivacyAuditor

__all__ = [
    "AdversarialPrivacyAuditor",
    "DSSGDEnsemble",
    "TaggerLearner",
    "learner_from_state",
    "learner_to_state",
    "make_learner",
]
