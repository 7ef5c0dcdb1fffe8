"""The doors: scikit-learn estimators with parameters, validation and wiring."""

from ._learner_state import learner_from_state, learner_to_state, make_learner
from ._tagger_learner import TaggerLearner
from .dp_pseudonymizers import CusTextPseudonymizer, MadlibPseudonymizer, SanTextPseudonymizer
from .dssgd_ensemble import DSSGDEnsemble
from .neighbor_pseudonymizer import NeighborPseudonymizer
from .privacy_auditor import AdversarialPrivacyAuditor
from .private_representer import PrivateRepresenter
from .vector_perturbers import GaussianNoisePerturber, RandomVectorPerturber, ZeroVectorPerturber

__all__ = [
    "AdversarialPrivacyAuditor",
    "CusTextPseudonymizer",
    "DSSGDEnsemble",
    "GaussianNoisePerturber",
    "MadlibPseudonymizer",
    "NeighborPseudonymizer",
    "PrivateRepresenter",
    "RandomVectorPerturber",
    "SanTextPseudonymizer",
    "TaggerLearner",
    "ZeroVectorPerturber",
    "learner_from_state",
    "learner_to_state",
    "make_learner",
]
