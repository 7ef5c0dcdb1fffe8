"""Tensors in, tensors out.

Batches and masks, word and sentence encoders, CRF head, augmentation of arrays; for private representations noise,
representer, adversaries, gradient reversal and the bound on attacks.
"""

from .adversaries import EmbeddingPairAdversary, RepresentationPairAdversary, average_adversaries
from .batching import CONTEXT_MARKS, ContextView, LengthBucketSampler, SentenceBatch, SentenceDataset
from .characters import CharacterCNN, CharacterRNN
from .context import ContextUnits
from .crf import LegalTags, LinearChainCRF
from .dropout import LockedDropout
from .noise import GaussianNoise
from .partition import log_partition, log_partition_by_steps
from .pretrained import PretrainedTokenEncoder, SpecialPieces, piece_windows
from .privacy_bound import attack_accuracy, distance_of_accuracy, pair_distance, released_r_times, sampling_slack
from .recall_weight import RECALL_FORMS, RecallWeight
from .recurrent import BidirectionalRecurrent
from .representer import Representer
from .reversal import reverse_gradient
from .scan import log_partition_by_scan, viterbi_by_scan
from .self_attention import SelfAttentionEncoder
from .span_swap import SpanSwapper
from .strong_adversaries import StrongEmbeddingAdversary, StrongRepresentationAdversary, cosine_distance
from .tagger import TaggerModule
from .words import WordEncoder

__all__ = [
    "BidirectionalRecurrent",
    "CONTEXT_MARKS",
    "CharacterCNN",
    "CharacterRNN",
    "ContextUnits",
    "ContextView",
    "EmbeddingPairAdversary",
    "GaussianNoise",
    "LengthBucketSampler",
    "LegalTags",
    "LinearChainCRF",
    "LockedDropout",
    "PretrainedTokenEncoder",
    "RECALL_FORMS",
    "RecallWeight",
    "RepresentationPairAdversary",
    "Representer",
    "SelfAttentionEncoder",
    "SentenceBatch",
    "SentenceDataset",
    "SpanSwapper",
    "SpecialPieces",
    "StrongEmbeddingAdversary",
    "StrongRepresentationAdversary",
    "TaggerModule",
    "WordEncoder",
    "attack_accuracy",
    "average_adversaries",
    "cosine_distance",
    "distance_of_accuracy",
    "log_partition",
    "log_partition_by_scan",
    "log_partition_by_steps",
    "pair_distance",
    "piece_windows",
    "released_r_times",
    "sampling_slack",
    "reverse_gradient",
    "viterbi_by_scan",
]
