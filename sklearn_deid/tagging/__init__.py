"""Taggers of PHI and their parts, rules, and redaction of notes.

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
    "CharacterCNN": "words",
    "CharacterRNN": "words",
    "ContextUnits": "batching",
    "LegalTags": "crf",
    "LinearChainCRF": "crf",
    "DecisionReport": "held_out",
    "direct_identifiers": "held_out",
    "LockedDropout": "encoders",
    "BidirectionalRecurrent": "encoders",
    "HybridTagger": "hybrid_tagger",
    "MovingAverage": "callbacks",
    "CRFHead": "strategies",
    "ContextWindow": "strategies",
    "Dropout": "strategies",
    "SelfAttention": "strategies",
    "SoftmaxHead": "strategies",
    "TaggerModule": "network",
    "NoteDeidentifier": "note_deidentifier",
    "log_partition": "crf",
    "log_partition_by_steps": "crf",
    "PretrainedEncoder": "pretrained_encoder",
    "PretrainedTokenEncoder": "pretrained_network",
    "SpecialPieces": "pretrained_network",
    "piece_windows": "pretrained_network",
    "RecallTunedTagger": "recall_tuned_tagger",
    "RECALL_FORMS": "recall_weight",
    "RecallWeight": "recall_weight",
    "RuleTagger": "rule_tagger",
    "log_partition_by_scan": "crf",
    "viterbi_by_scan": "crf",
    "SelfAttentionEncoder": "encoders",
    "SpanSwapper": "span_swap",
    "hold_out_patients": "splits",
    "DeidTagger": "tagger",
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
