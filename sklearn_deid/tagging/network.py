"""The tagger's network: words or vectors -> encoder of sentences -> emissions, with a CRF or softmax head."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..text import CASING_CLASSES, N_CHARACTER_CLASSES, N_SHAPE_CLASSES, is_allowed
from .batching import CONTEXT_MARKS, SentenceBatch
from .crf import LegalTags, LinearChainCRF
from .encoders import BidirectionalRecurrent, LockedDropout, SelfAttentionEncoder
from .pretrained_encoder import PretrainedFiles
from .pretrained_network import PretrainedTokenEncoder
from .recall_weight import RecallWeight
from .strategies import CRFHead, SelfAttention, strategy
from .words import CharacterCNN, CharacterRNN, WordEncoder


class TaggerModule(nn.Module):
    """Emissions for each token, and a CRF or softmax head that turns them into tags.

    Parameters
    ----------
    n_tags : int
    words : WordEncoder or None
        Encoder of words. None if X holds vectors or a pretrained encoder reads sub-words.
    encoder : BidirectionalRecurrent, SelfAttentionEncoder or PretrainedTokenEncoder
        Reads (batch, time, d) and lengths, or sub-words. Has an ``output_size``.
    head : {"crf", "softmax"}, default="crf"
    legal : LegalTags, optional
        Tag sequences that the CRF knows.
    projection_size : int, optional
        Number of units of a tanh layer between the encoder and the emissions. None means no such layer.
    input_dropout, output_dropout : float, default=0.25, 0.5
        Variational dropout before and after the encoder.

    References
    ----------
    Lample et al. (2016); Friedrich et al. (2019), table 1, for the dropouts; Dernoncourt et al. (2017), label
    prediction layer, for the tanh layer.
    """

    def __init__(
        self,
        n_tags: int,
        words: WordEncoder | None,
        encoder: nn.Module,
        *,
        head: str = "crf",
        legal: LegalTags | None = None,
        projection_size: int | None = None,
        input_dropout: float = 0.25,
        output_dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.words, self.encoder = words, encoder
        self.input_dropout, self.output_dropout = LockedDropout(input_dropout), LockedDropout(output_dropout)
        width = int(encoder.output_size)  # type: ignore[arg-type]
        self.projection = None if projection_size is None else nn.Linear(width, projection_size)
        self.emit = nn.Linear(width if projection_size is None else projection_size, n_tags)
        self.crf = LinearChainCRF(n_tags, legal) if head == "crf" else None

    def forward(self, batch: SentenceBatch, table: Tensor | None = None) -> Tensor:
        """Emissions of shape (batch, time, n_tags), in float32.

        Parameters
        ----------
        batch : SentenceBatch
        table : Tensor of shape (n_words, d), optional
            Words encoded beforehand, once for many batches.
        """
        # shape: (units,); a unit is a sentence, or all sentences that are read together
        lengths = batch.lengths if batch.view is None else batch.view.lengths
        if isinstance(self.encoder, PretrainedTokenEncoder):
            assert batch.features is not None and batch.words is not None
            hidden = self.encoder(batch.features, batch.words, lengths)
        else:
            # shape: (units, time, d)
            x = batch.vectors if batch.vectors is not None else self._look_up(batch, table)
            x = x if batch.view is None else torch.cat([x, batch.view.marks], 2)
            hidden = self.encoder(self.input_dropout(x), lengths)
        if batch.view is not None:
            # shape: (batch, time, d): the sentences that are tagged, taken out of their units
            hidden = hidden.flatten(0, 1)[batch.view.places]
        hidden = self.output_dropout(hidden)
        hidden = hidden if self.projection is None else torch.tanh(self.projection(hidden))
        # The CRF sums many terms: half precision is not enough there.
        return self.emit(hidden).float()

    def loss(
        self,
        emissions: Tensor,
        tags: Tensor,
        mask: Tensor,
        tag_weights: Tensor | None = None,
        recall: RecallWeight | None = None,
    ) -> Tensor:
        """Negative log likelihood, averaged over sentences.

        With ``tag_weights`` of shape (n_tags,) a sentence counts as much as the mean weight of its gold tags (CRF), or
        each token as much as its gold tag (softmax). With ``recall`` it grows with the PHI that is missed; tag 0 is "O"
        then.
        """
        loss = self._loss_by_sentence(emissions, tags, mask, tag_weights)
        if recall is not None:
            loss = loss * recall.factor(self.best_tags(emissions.detach(), mask), tags, mask)
        return loss.mean()

    def _loss_by_sentence(self, emissions: Tensor, tags: Tensor, mask: Tensor, tag_weights: Tensor | None) -> Tensor:
        # shape: (batch, time)
        weights = None if tag_weights is None else tag_weights[tags] * mask
        if self.crf is not None:
            loss = -self.crf(emissions, tags, mask, reduction="none")
            return loss if weights is None else loss * weights.sum(1) / mask.sum(1)
        # shape: (batch, time)
        by_token = F.cross_entropy(emissions.transpose(1, 2), tags, reduction="none") * mask
        return (by_token if weights is None else by_token * weights).sum(1)

    def best_tags(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """As `decode`, as a tensor of shape (batch, time) on the device; padded positions hold no meaning."""
        return self.crf.best_paths(emissions, mask) if self.crf is not None else emissions.argmax(2)

    def decode(self, emissions: Tensor, mask: Tensor) -> list[list[int]]:
        """Best tag sequence of each sentence: Viterbi, or the most likely tag of each token."""
        if self.crf is not None:
            return self.crf.decode(emissions, mask)
        best = emissions.argmax(2).tolist()
        return [row[:n] for row, n in zip(best, mask.sum(1).tolist(), strict=True)]

    def marginals(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Probability of each tag at each token, shape (batch, time, n_tags)."""
        return self.crf.marginals(emissions, mask) if self.crf is not None else emissions.softmax(2)

    def encode_words(self, features: dict[str, Tensor], block: int = 4096) -> Tensor:
        """Encode many words at once, in blocks, for `forward`'s ``table``; shape (n_words, d)."""
        assert self.words is not None
        n = len(features["casing"])
        if n == 0:
            return features["casing"].new_zeros((0, self.words.output_size), dtype=torch.float32)
        blocks = [{k: v[i : i + block] for k, v in features.items()} for i in range(0, n, block)]
        return torch.cat([self.words(part) for part in blocks])

    def _look_up(self, batch: SentenceBatch, table: Tensor | None) -> Tensor:
        if table is None:
            assert self.words is not None and batch.features is not None
            table = self.words(batch.features)
        assert batch.words is not None
        return F.embedding(batch.words, table)


# Layers where n_layers="auto".
_RECURRENT_LAYERS, _ATTENTION_LAYERS = 1, 4


def build_tagger_module(tagger: Any) -> TaggerModule:
    """The network of a `DeidTagger` that knows its classes and the kind of its data."""
    words = None
    if tagger._pretrained is not None:
        encoder = _pretrained_encoder(tagger, tagger._pretrained)
    else:
        words = _word_encoder(tagger) if tagger._reads_words else None
        width = tagger.n_features_in_ if words is None else words.output_size
        encoder = _sentence_encoder(tagger, width + (0 if tagger.context == "sentence" else CONTEXT_MARKS))
    head, dropout = strategy("head", tagger.head), strategy("dropout", tagger.dropout)
    constrained = isinstance(head, CRFHead) and head.constrained
    return TaggerModule(
        len(tagger.classes_),
        words,
        encoder,
        head="crf" if isinstance(head, CRFHead) else "softmax",
        legal=legal_tags(tagger.classes_, tagger.tag_scheme) if constrained else None,
        projection_size=head.projection_size,
        input_dropout=dropout.input,
        output_dropout=dropout.output,
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


def _word_encoder(tagger: Any) -> WordEncoder:
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


def _pretrained_encoder(tagger: Any, files: PretrainedFiles) -> nn.Module:
    settings = tagger.encoder
    window = settings.window_size(files.longest)
    return PretrainedTokenEncoder(
        files.new_model(), files.special_pieces(), window, settings.overlap, settings.pooling, settings.frozen
    )


def _sentence_encoder(tagger: Any, width: int) -> nn.Module:
    encoder, dropout, n_layers = (
        strategy("encoder", tagger.encoder),
        strategy("dropout", tagger.dropout),
        tagger.n_layers,
    )
    if isinstance(encoder, SelfAttention):
        n_layers = _ATTENTION_LAYERS if n_layers == "auto" else n_layers
        return SelfAttentionEncoder(width, 2 * tagger.hidden_size, n_layers, encoder.n_heads, dropout.layer)
    n_layers = _RECURRENT_LAYERS if n_layers == "auto" else n_layers
    return BidirectionalRecurrent(width, tagger.hidden_size, n_layers, encoder, dropout.layer)
