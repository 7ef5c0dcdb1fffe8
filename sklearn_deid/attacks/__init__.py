"""Attacks on what is released, one attacker a file: what he holds, what he finds, and controls."""

from .canaries import CanaryAttack, CanaryKnowledge, TrainingSet, exposure
from .certified import CertifiedBound, check_against, exceeds
from .control_representers import BlindRepresenter, RawVectors
from .gradient_inversion import GradientInversionAttack, GradientKnowledge, SentenceUpdates, one_step_update
from .inversion import InversionAttack
from .linkage import LinkageAttack
from .lookup import LookupAttack, LookupKnowledge
from .membership import MembershipAttack, MembershipKnowledge, ReleasedTagger
from .membership_scores import membership_scores
from .model_training import LossFunction, TrainingProcedure, losses_of_probabilities, memorise, training_of
from .pairs import PairAttack, PairKnowledge, PairRelease
from .protocol import CONTROL_CONFIDENCE, THREATS, Attack, AttackResult, Estimate
from .pseudonymised_text import PseudonymisedText, PseudonymKnowledge
from .random_streams import random_streams, three_patient_splits
from .reidentification import ReidentificationAttack
from .released_tokens import InversionKnowledge, ReleasedTokens
from .released_updates import ReleasedUpdates, UpdateKnowledge
from .report import AuditReport
from .sentence_pairs import PairFeatures, ReleasedSentences, SentencePairs, draw_pairs
from .update_scores import rows_by_bias, rows_by_norm, rows_by_span
from .updates import UpdateLeakageAttack

__all__ = [
    "CONTROL_CONFIDENCE",
    "THREATS",
    "Attack",
    "AttackResult",
    "AuditReport",
    "BlindRepresenter",
    "CanaryAttack",
    "CanaryKnowledge",
    "CertifiedBound",
    "Estimate",
    "GradientInversionAttack",
    "GradientKnowledge",
    "InversionAttack",
    "InversionKnowledge",
    "LinkageAttack",
    "LookupAttack",
    "LookupKnowledge",
    "LossFunction",
    "MembershipAttack",
    "MembershipKnowledge",
    "PairAttack",
    "PairFeatures",
    "PairKnowledge",
    "PairRelease",
    "PseudonymKnowledge",
    "PseudonymisedText",
    "RawVectors",
    "ReidentificationAttack",
    "ReleasedSentences",
    "ReleasedTagger",
    "ReleasedTokens",
    "ReleasedUpdates",
    "SentencePairs",
    "SentenceUpdates",
    "TrainingProcedure",
    "TrainingSet",
    "UpdateKnowledge",
    "UpdateLeakageAttack",
    "check_against",
    "draw_pairs",
    "exceeds",
    "exposure",
    "losses_of_probabilities",
    "membership_scores",
    "memorise",
    "one_step_update",
    "random_streams",
    "rows_by_bias",
    "rows_by_norm",
    "rows_by_span",
    "three_patient_splits",
    "training_of",
]
