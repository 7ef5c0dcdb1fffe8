"""Attacks on what is released, one attack a file: what an attacker holds, what they find, and controls.

Names are resolved on first use (PEP 562): a file is loaded with the first name that is asked of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each public name lives.
_HOME = {
    "CanaryAttack": "canaries",
    "CanaryKnowledge": "canaries",
    "TrainingSet": "canaries",
    "exposure": "canaries",
    "CertifiedBound": "certified",
    "check_against": "certified",
    "exceeds": "certified",
    "BlindRepresenter": "control_representers",
    "RawVectors": "control_representers",
    "GradientInversionAttack": "gradient_inversion",
    "GradientKnowledge": "gradient_inversion",
    "SentenceUpdates": "gradient_inversion",
    "one_step_update": "gradient_inversion",
    "InversionAttack": "inversion",
    "LinkageAttack": "linkage",
    "LookupAttack": "lookup",
    "LookupKnowledge": "lookup",
    "MembershipAttack": "membership",
    "MembershipKnowledge": "membership",
    "ReleasedTagger": "membership",
    "membership_scores": "membership",
    "LossFunction": "model_training",
    "TrainingProcedure": "model_training",
    "losses_of_probabilities": "model_training",
    "memorise": "model_training",
    "training_of": "model_training",
    "PairAttack": "pairs",
    "PairKnowledge": "pairs",
    "PairRelease": "pairs",
    "PseudonymKnowledge": "pseudonymised_text",
    "PseudonymisedText": "pseudonymised_text",
    "ReidentificationAttack": "reidentification",
    "InversionKnowledge": "released_tokens",
    "ReleasedTokens": "released_tokens",
    "ReleasedUpdates": "updates",
    "UpdateKnowledge": "updates",
    "PairFeatures": "sentence_pairs",
    "ReleasedSentences": "sentence_pairs",
    "SentencePairs": "sentence_pairs",
    "draw_pairs": "sentence_pairs",
    "rows_by_bias": "updates",
    "rows_by_norm": "updates",
    "rows_by_span": "updates",
    "UpdateLeakageAttack": "updates",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
