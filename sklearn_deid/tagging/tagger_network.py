"""From the parameters of `DeidTagger` to its network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from ..text import CASING_CLASSES, N_CHARACTER_CLASSES, N_SHAPE_CLASSES, is_allowed
from .batching import CONTEXT_MARKS
from .characters import CharacterCNN, CharacterRNN
from .crf import LegalTags
from .encoders import BidirectionalRecurrent
from .network import TaggerModule
from .pretrained_encoder import as_pretrained
from .pretrained_network import PretrainedTokenEncoder
from .self_attention import SelfAttentionEncoder
from .word_pieces import PretrainedFiles
from .words import WordEncoder

if TYPE_CHECKING:
    from .token_net import TokenNet

__all__ = ["build_tagger_module", "legal_tags"]

# Layers where n_layers="auto".
_RECURRENT_LAYERS, _ATTENTION_LAYERS = 1, 4


def build_tagger_module(tagger: TokenNet) -> TaggerModule:
    """The network for a tagger that knows its classes and what it reads."""
    words = None
    if tagger._pretrained is not None:
        encoder = _pretrained_encoder(tagger, tagger._pretrained)
    else:
        words = _word_encoder(tagger) if tagger._reads_words else None
        width = tagger.n_features_in_ if words is None else words.output_size
        encoder = _sentence_encoder(tagger, width + (0 if tagger.context == "sentence" else CONTEXT_MARKS))
    return TaggerModule(
        len(tagger.classes_),
        words,
        encoder,
        head=tagger.head,
        legal=legal_tags(tagger.classes_, tagger.tag_scheme) if tagger.constrained else None,
        projection_size=tagger.projection_size,
        input_dropout=tagger.input_dropout,
        output_dropout=tagger.output_dropout,
    )


def legal_tags(classes: np.ndarray, tag_scheme: str) -> LegalTags:
    """Which tags may follow one another, begin and end a sentence.

    Examples
    --------
    >>> legal_tags(np.array(["O", "B-AGE", "I-AGE"]), "iob2").follow.tolist()
    [[True, True, False], [True, True, True], [True, True, True]]
    """
    tags = [str(tag) for tag in classes]
    return LegalTags(
        start=torch.tensor([is_allowed(None, tag, tag_scheme) for tag in tags]),
        follow=torch.tensor([[is_allowed(before, tag, tag_scheme) for tag in tags] for before in tags]),
        end=torch.tensor([is_allowed(tag, None, tag_scheme) for tag in tags]),
    )


def _word_encoder(tagger: TokenNet) -> WordEncoder:
    characters: CharacterCNN | CharacterRNN | None = None
    if tagger.characters == "cnn":
        characters = CharacterCNN(N_CHARACTER_CLASSES)
    elif tagger.characters is not None:
        characters = CharacterRNN(N_CHARACTER_CLASSES, tagger.characters.removeprefix("bi"))
    return WordEncoder(
        len(CASING_CLASSES),
        characters,
        n_shapes=0 if characters is None else N_SHAPE_CLASSES,
        vector_dim=0 if tagger._vectors is None else tagger._vectors.dim,
    )


def _pretrained_encoder(tagger: TokenNet, files: PretrainedFiles) -> nn.Module:
    settings = as_pretrained(tagger.pretrained)
    window = settings.window_size(files.longest)
    return PretrainedTokenEncoder(
        files.new_model(), files.special_pieces(), window, settings.overlap, settings.pooling, settings.frozen
    )


def _sentence_encoder(tagger: TokenNet, width: int) -> nn.Module:
    n_layers = tagger.n_layers
    if tagger.encoder == "transformer":
        n_layers = _ATTENTION_LAYERS if n_layers == "auto" else n_layers
        return SelfAttentionEncoder(width, 2 * tagger.hidden_size, n_layers, tagger.n_heads, tagger.layer_dropout)
    n_layers = _RECURRENT_LAYERS if n_layers == "auto" else n_layers
    return BidirectionalRecurrent(width, tagger.hidden_size, n_layers, tagger.encoder, tagger.layer_dropout)
