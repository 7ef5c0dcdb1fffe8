"""The doors: scikit-learn estimators with parameters, validation and wiring."""

from ._decision_report import DecisionReport, direct_identifiers
from ._learner_state import learner_from_state, learner_to_state, make_learner
from ._tagger_learner import TaggerLearner
from ._tagger_state import tagger_from_state, tagger_to_state
from .dp_pseudonymizers import CusTextPseudonymizer, MadlibPseudonymizer, SanTextPseudonymizer
from .dssgd_ensemble import DSSGDEnsemble
from .neighbor_pseudonymizer import NeighborPseudonymizer
from .note_deidentifier import NoteDeidentifier
from .pretrained_encoder import PretrainedEncoder
from .privacy_auditor import AdversarialPrivacyAuditor
from .private_representer import PrivateRepresenter
from .recall_tuned_tagger import RecallTunedTagger
from .rule_tagger import RuleTagger
from .tagger import DeidTagger
from .temperature_scaled_tagger import TemperatureScaledTagger
from .united_tagger import UnitedTagger
from .vector_perturbers import GaussianNoisePerturber, RandomVectorPerturber, ZeroVectorPerturber
from .voting_tagger import VotingTagger

__all__ = [
    "AdversarialPrivacyAuditor",
    "CusTextPseudonymizer",
    "DSSGDEnsemble",
    "DecisionReport",
    "DeidTagger",
    "GaussianNoisePerturber",
    "MadlibPseudonymizer",
    "NeighborPseudonymizer",
    "NoteDeidentifier",
    "PretrainedEncoder",
    "PrivateRepresenter",
    "RandomVectorPerturber",
    "RecallTunedTagger",
    "RuleTagger",
    "SanTextPseudonymizer",
    "TaggerLearner",
    "TemperatureScaledTagger",
    "UnitedTagger",
    "VotingTagger",
    "ZeroVectorPerturber",
    "direct_identifiers",
    "learner_from_state",
    "learner_to_state",
    "make_learner",
    "tagger_from_state",
    "tagger_to_state",
]
