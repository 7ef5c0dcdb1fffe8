"""Attacks on what is released, one attack a file: what an attacker holds, what they find, and controls.

Names are resolved on first use (PEP 562): a file is loaded with the first name that is asked of it. An audit finds
attacks by itself: every subclass of `AuditAttack` in a file of this folder.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .declaration import AuditAttack

# Where each public name lives.
_HOME = {
    "AttackPreset": "declaration",
    "AttackSettings": "declaration",
    "AuditAttack": "declaration",
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


@cache
def attack_classes() -> tuple[type[AuditAttack], ...]:
    """All attacks that the files of this folder hold, in the order of an audit; loads every file."""
    declared = import_module(f"{__name__}.declaration").AuditAttack
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    classes = {
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, declared) and one is not declared
    }
    return tuple(sorted(classes, key=lambda one: (one.order, one.key)))


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    if not name.startswith("_"):  # an attack that is not listed above
        for one in attack_classes():
            if one.__name__ == name:
                return one
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
