"""Finding PHI: taggers and what they are made of, rules, redaction of notes, saved models.

Names are resolved on first use (PEP 562): a file is loaded with the first name that is asked of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each public name lives.
_HOME = {
    "CONTEXT_MARKS": "batching",
    "ContextView": "batching",
    "LengthBucketSampler": "batching",
    "SentenceBatch": "batching",
    "SentenceDataset": "batching",
    "EarlyStoppingOnF1": "callbacks",
    "LearningRateDecay": "callbacks",
    "WeightAverage": "callbacks",
    "CharacterCNN": "characters",
    "CharacterRNN": "characters",
    "ContextUnits": "context",
    "LegalTags": "crf",
    "LinearChainCRF": "crf",
    "DecisionReport": "decision_report",
    "direct_identifiers": "decision_report",
    "LockedDropout": "dropout",
    "BidirectionalRecurrent": "encoders",
    "HybridTagger": "hybrid_tagger",
    "MovingAverage": "moving_average",
    "TaggerModule": "network",
    "NoteDeidentifier": "note_deidentifier",
    "log_partition": "partition",
    "log_partition_by_steps": "partition",
    "PretrainedEncoder": "pretrained_encoder",
    "PretrainedTokenEncoder": "pretrained_network",
    "SpecialPieces": "pretrained_network",
    "piece_windows": "pretrained_network",
    "RecallTunedTagger": "recall_tuned_tagger",
    "RECALL_FORMS": "recall_weight",
    "RecallWeight": "recall_weight",
    "RuleTagger": "rule_tagger",
    "load_model": "saving",
    "save_model": "saving",
    "log_partition_by_scan": "scan",
    "viterbi_by_scan": "scan",
    "SelfAttentionEncoder": "self_attention",
    "SpanSwapper": "span_swap",
    "hold_out_patients": "splits",
    "DeidTagger": "tagger",
    "tagger_from_state": "tagger_state",
    "tagger_to_state": "tagger_state",
    "TemperatureScaledTagger": "temperature_scaled_tagger",
    "VotingTagger": "voting_tagger",
    "WordEncoder": "words",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
