"""Attacks on releases. The file of an attack contains the attacker's knowledge, the attack and the controls.

Imports are lazy (PEP 562): the first access to a name imports the file that defines the name. An audit finds every
subclass of `AuditAttack` in the files of this folder.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from ..._lazy import lazy_names

if TYPE_CHECKING:
    from .declaration import AuditAttack

__all__, _listed, __dir__ = lazy_names(
    __name__,
    {
        "declaration": "AttackPreset AttackSettings AuditAttack",
        "canaries": "CanaryAttack CanaryKnowledge TrainingSet exposure",
        "casing_lengths": "CasingLengthsAttack OpenSentences VectorsBesideOwn",
        "certified": "CertifiedBound exceeds",
        "class_check": "ClassCheck ReleasedClassVectors",
        "contextual": "ContextualAttack PublicNotes",
        "control_representers": "BlindRepresenter RawVectors",
        "drawn_surrogates": "DrawnSurrogatesAttack RepeatedSurrogates",
        "drawn_words": "DrawnWordsAttack RepeatedTexts",
        "gradient_inversion": "GradientInversionAttack GradientKnowledge SentenceUpdates one_step_update",
        "inversion": "InversionAttack",
        "kept_tokens": "KeptTokensAttack",
        "linkage": "LinkageAttack",
        "lookup": "LookupAttack LookupKnowledge",
        "membership": "MembershipAttack MembershipKnowledge ReleasedTagger membership_scores",
        "missed_phi": "MissedPhiAttack",
        "model_training": "LossFunction TrainingProcedure losses_of_probabilities memorise training_of",
        "noise": "NoiseAttack NoisyVectors",
        "noise_template": "NoiseTemplate",
        "noisy_messages": "SparseVectorUploads StepUploads",
        "pairs": "PairAttack PairKnowledge PairRelease",
        "pseudonymised_text": "PseudonymKnowledge PseudonymisedText",
        "release_file": "FileCheck",
        "replay": "RepeatedReleases ReplayAttack",
        "reidentification": "ReidentificationAttack",
        "released_tokens": "InversionKnowledge ReleasedTokens",
        "updates": "ReleasedUpdates UpdateKnowledge UpdateLeakageAttack rows_by_bias rows_by_norm rows_by_span",
        "saved_sentences": "KnownNotes SavedSentences",
        "seed_search": "SeedSearch SeedTarget",
        "sentence_pairs": "PairFeatures ReleasedSentences SentencePairs draw_pairs",
        "surrogate_pairs": "SurrogatePairAttack",
        "surrogate_spans": "SurrogateSpans spans_of_notes spans_of_sentences",
        "template": "TemplateAttack",
        "untrained": "UntrainedAttack",
        "upload_noise": "NoisyUploads UploadNoise",
        "word_draws": "WordDraws draws_of_text",
    },
)


@cache
def attack_classes() -> tuple[type[AuditAttack], ...]:
    """Load every file of this folder, and return all attack classes in the order of an audit."""
    declared = import_module(f"{__name__}.declaration").AuditAttack
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    classes = {
        one
        for module in modules
        for one in vars(module).values()
        # Base classes have no key.
        if isinstance(one, type) and issubclass(one, declared) and hasattr(one, "key")
    }
    return tuple(sorted(classes, key=lambda one: (one.order, one.key)))


def __getattr__(name: str) -> Any:
    # The search also finds attacks that are not listed above.
    if name not in __all__ and not name.startswith("_"):
        for one in attack_classes():
            if one.__name__ == name:
                return one
    return _listed(name)
