"""Attacks on what is released, one attacker a file: what he holds, what he finds, and controls."""

from .certified import CertifiedBound, check_against, exceeds
from .control_representers import BlindRepresenter, RawVectors
from .lookup import LookupAttack, LookupKnowledge
from .pairs import PairAttack, PairKnowledge, PairRelease
from .protocol import CONTROL_CONFIDENCE, THREATS, Attack, AttackResult, Estimate
from .random_streams import random_streams, three_patient_splits

__all__ = [
    "CONTROL_CONFIDENCE",
    "THREATS",
    "Attack",
    "AttackResult",
    "BlindRepresenter",
    "CertifiedBound",
    "Estimate",
    "LookupAttack",
    "LookupKnowledge",
    "PairAttack",
    "PairKnowledge",
    "PairRelease",
    "RawVectors",
    "check_against",
    "exceeds",
    "random_streams",
    "three_patient_splits",
]
