"""Taggers of PHI, their components, rules, and redaction of notes.

Names are resolved lazily (PEP 562): a module is imported when one of its names is first used.
"""

from __future__ import annotations

from .._lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "batching": "CONTEXT_MARKS ContextUnits ContextView LengthBucketSampler SentenceBatch SentenceDataset",
        "callbacks": "EarlyStoppingOnF1 LearningRateDecay MovingAverage WeightAverage",
        "words": "CharacterCNN CharacterRNN WordEncoder",
        "crf": "LegalTags LinearChainCRF log_partition log_partition_by_scan log_partition_by_steps viterbi_by_scan",
        "held_out": "DecisionReport direct_identifiers",
        "encoders": "BidirectionalRecurrent LockedDropout SelfAttentionEncoder",
        "hybrid_tagger": "HybridTagger",
        "label_line_tagger": "LabelLineTagger",
        "starter": "load_model",
        "strategies": "CRFHead ContextBlock ContextWindow Dropout SelfAttention SoftmaxHead SpanSwap",
        "network": "TaggerModule",
        "note_augmenter": "NoteAugmenter",
        "note_deidentifier": "NoteDeidentifier",
        "note_likeness": "NoteLikeness",
        "note_prior_tagger": "NotePriorTagger",
        "pretrained_encoder": "PretrainedEncoder",
        "pretrained_network": "PretrainedTokenEncoder SpecialPieces piece_windows",
        "measured_price": "recall_price",
        "proven_rules": "ProvenRules",
        "recall_tuned_tagger": "RecallTunedTagger",
        "recall_weight": "RECALL_FORMS RecallWeight",
        "rule_tagger": "RuleTagger",
        "safe_harbor": "is_safe_harbor",
        "self_training": "SelfTraining",
        "span_swap": "SpanSwapper",
        "splits": "hold_out_patients",
        "tagger": "DeidTagger",
        "temperature_scaled_tagger": "TemperatureScaledTagger",
        "voting_tagger": "VotingTagger",
        "word_bias_tagger": "WordBiasTagger",
        "word_levels": "WordLevels",
        "word_set": "WordSet",
    },
)
