"""Network of the tagger: words or token vectors, encoder of sentences, emissions, and a CRF or softmax head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..text import CASING_CLASSES, N_CHARACTER_CLASSES, N_SHAPE_CLASSES, is_allowed
from .batching import CONTEXT_MARKS, SentenceBatch
from .crf import LegalTags, LinearChainCRF
from .encoders import BidirectionalRecurrent, LockedDropout, SelfAttentionEncoder
from .network_size import network_size
from .pretrained_encoder import PretrainedFiles
from .pretrained_network import PretrainedTokenEncoder
from .recall_weight import RecallWeight
from .strategies import CRFHead, SelfAttention, strategy
from .words import CharacterCNN, CharacterRNN, WordEncoder

_WORDS_AT_ONCE = 2048  # words whose encodings are computed together


class TaggerModule(nn.Module):
    """Network that computes emissions (scores of tags) for each token, with a CRF or softmax head.

    Parameters
    ----------
    n_tags : int
        Number of tags.
    words : WordEncoder or None
        Encoder of words. None if X contains vectors or a pretrained encoder reads sub-words.
    encoder : BidirectionalRecurrent, SelfAttentionEncoder or PretrainedTokenEncoder
        Encoder of sentences. The input is a tensor (batch, time, d) with lengths, or sub-words. The attribute
        ``output_size`` holds the width of the output.
    head : {"crf", "softmax"}, default="crf"
        Output layer.
    legal : LegalTags, optional
        Legal tag sequences of the CRF. By default every sequence is legal.
    projection_size : int, optional
        Number of units of a tanh layer between the encoder and the emissions. None means no such layer.
    input_dropout, output_dropout : float, default=0.25, 0.5
        Rates of the variational dropout before and after the encoder.

    References
    ----------
    Lample et al. (2016), Neural architectures for named entity recognition, NAACL.
    Friedrich et al. (2019), table 1, for the dropout rates.
    Dernoncourt et al. (2017), label prediction layer, for the tanh layer.
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
        # Pretrained weights may have 16 bits, and the default type of torch may be another one.
        self.float()

    def forward(self, batch: SentenceBatch, table: Tensor | None = None) -> Tensor:
        """Emissions of shape (batch, time, n_tags), in float32.

        Parameters
        ----------
        batch : SentenceBatch
            Padded sentences.
        table : Tensor of shape (n_words, d), optional
            Encodings of all words, computed once for many batches. Without a table, the network encodes the words of
            the batch.
        """
        # shape: (units,): a unit is a sentence, or a group of sentences that the encoder reads together
        lengths = batch.lengths if batch.view is None else batch.view.lengths
        if isinstance(self.encoder, PretrainedTokenEncoder):
            assert batch.features is not None and batch.words is not None
            hidden = self.encoder(batch.features, batch.words, lengths)
        else:
            # shape: (units, time, d)
            x = batch.vectors if batch.vectors is not None else self._look_up(batch, table)
            x = x if batch.view is None else torch.cat([x, batch.view.marks], 2)
            hidden = self.encoder(self.input_dropout(x), lengths)
        if batch.view is None:
            return self._emissions(self.output_dropout(hidden))
        shape, slots = batch.mask.shape, batch.view.slots
        # shape: (n_tokens, d): encodings of the tagged sentences, taken out of their units
        hidden = _Picked.apply(hidden.flatten(0, 1), batch.view.places.flatten().index_select(0, slots))
        found = self._emissions(self.output_dropout(hidden, slots // shape[1], shape[0]))
        return found.new_zeros(shape.numel(), found.shape[1]).index_copy(0, slots, found).view(*shape, -1)

    def _emissions(self, hidden: Tensor) -> Tensor:
        hidden = hidden if self.projection is None else torch.tanh(self.projection(hidden))
        # The CRF adds many terms, and half precision would lose too many digits in the sum.
        return self.emit(hidden).float()

    def loss(
        self,
        emissions: Tensor,
        tags: Tensor,
        mask: Tensor,
        tag_weights: Tensor | None = None,
        recall: RecallWeight | None = None,
    ) -> Tensor:
        """Negative log likelihood of the gold tags, averaged over sentences.

        With the CRF, ``tag_weights`` of shape (n_tags,) multiply the loss of a sentence by the mean weight of its gold
        tags. With the softmax head, the weights multiply the loss of each token by the weight of its gold tag. With
        ``recall``, the loss of a sentence grows with the proportion of missed PHI; tag 0 must then be "O".
        """
        loss = self._loss_by_sentence(emissions, tags, mask, tag_weights)
        if recall is not None:
            loss = loss * recall.factor(self.best_tags(emissions.detach(), mask), tags, mask)
        return loss.mean()

    def _loss_by_sentence(self, emissions: Tensor, tags: Tensor, mask: Tensor, tag_weights: Tensor | None) -> Tensor:
        """Negative log likelihood of each sentence, shape (batch,)."""
        # shape: (batch, time)
        weights = None if tag_weights is None else tag_weights[tags] * mask
        if self.crf is not None:
            # The CRF has a single loss for the whole sentence, so that the weights of the tokens are averaged.
            loss = -self.crf(emissions, tags, mask, reduction="none")
            return loss if weights is None else loss * weights.sum(1) / mask.sum(1)
        # shape of the input of cross_entropy: (batch, n_tags, time); of the result: (batch, time)
        by_token = F.cross_entropy(emissions.transpose(1, 2), tags, reduction="none") * mask
        return (by_token if weights is None else by_token * weights).sum(1)

    def best_tags(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Tags of `decode` as a tensor of shape (batch, time) on the device. Ignore the values at padded positions."""
        return self.crf.best_paths(emissions, mask) if self.crf is not None else emissions.argmax(2)

    def decode(self, emissions: Tensor, mask: Tensor) -> list[list[int]]:
        """Best tag sequence of each sentence: Viterbi path (CRF), or most likely tag of each token (softmax)."""
        return self.decode_all([(emissions, mask)])[0]

    def decode_all(self, batches: Sequence[tuple[Tensor, Tensor]]) -> list[list[list[int]]]:
        """Results of `decode` for each pair of emissions and mask. The CRF decodes all batches together."""
        if self.crf is not None:
            return self.crf.decode_all(batches)
        found = [(emissions.argmax(2).tolist(), mask.sum(1).tolist()) for emissions, mask in batches]
        return [[row[:n] for row, n in zip(*one, strict=True)] for one in found]

    def marginals(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Probability of each tag at each token, shape (batch, time, n_tags)."""
        return self.crf.marginals(emissions, mask) if self.crf is not None else emissions.softmax(2)

    def encode_words(self, words: list[str], features_of: Callable[[list[str]], dict[str, Tensor]]) -> Tensor:
        """Encode many words in blocks, for the ``table`` of `forward`; shape (n_words, d)."""
        assert self.words is not None
        device = self.emit.weight.device
        table = self.emit.weight.new_zeros(len(words), self.words.output_size)
        # The features of a block take more memory than its encodings.
        for start in range(0, len(words), _WORDS_AT_ONCE):
            part = slice(start, start + _WORDS_AT_ONCE)
            table[part] = self.words({k: v.to(device) for k, v in features_of(words[part]).items()})
        return table

    def _look_up(self, batch: SentenceBatch, table: Tensor | None) -> Tensor:
        """Encoding of each token, shape (batch, time, d)."""
        if table is None:
            assert self.words is not None and batch.features is not None
            table = self.words(batch.features)
        assert batch.words is not None
        return F.embedding(batch.words, table)


class _Picked(torch.autograd.Function):
    """Select rows of a matrix, each at most once, with a faster gradient than `index_select`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rows: Tensor) -> Tensor:
        ctx.save_for_backward(rows)
        ctx.n_rows = len(x)
        return x.index_select(0, rows)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (rows,) = ctx.saved_tensors
        return grad.new_zeros(ctx.n_rows, grad.shape[1]).index_copy(0, rows, grad), None


def build_tagger_module(tagger: Any) -> TaggerModule:
    """Build the network of a `DeidTagger`, whose classes and kind of input (words or vectors) are known."""
    words = None
    if tagger._pretrained is not None:
        encoder = _pretrained_encoder(tagger, tagger._pretrained)
    else:
        words = _word_encoder(tagger) if tagger._reads_words else None
        width = tagger.n_features_in_ if words is None else words.output_size
        # With context, the marks of `ContextView` are appended to each token vector.
        encoder = _sentence_encoder(tagger, width + (0 if tagger.context == "sentence" else CONTEXT_MARKS))
    head, dropout = strategy("head", tagger.head), strategy("dropout", tagger.dropout)
    constrained = isinstance(head, CRFHead) and head.constrained
    return TaggerModule(
        len(tagger.classes_),
        words,
        encoder,
        head="crf" if isinstance(head, CRFHead) else "softmax",
        legal=legal_tags(tagger.classes_, tagger.tag_scheme, tagger.continues_spans_) if constrained else None,
        projection_size=head.projection_size,
        input_dropout=dropout.input,
        output_dropout=dropout.output,
    )


def legal_tags(classes: np.ndarray, tag_scheme: str, continues_spans: bool = False) -> LegalTags:
    """Legal tags at the start of a sentence, after each other tag, and at the end of a sentence.

    Every tag may start and end a sentence if spans continue across the borders of sentences (``continues_spans``).

    Examples
    --------
    >>> legal_tags(np.array(["O", "B-AGE", "I-AGE"]), "iob2").follow.tolist()
    [[True, True, False], [True, True, True], [True, True, True]]
    """
    start, follow, end = _transitions(tuple(map(str, classes)), tag_scheme)
    return LegalTags(
        start=torch.tensor([continues_spans or is_legal for is_legal in start]),
        follow=torch.tensor(follow),
        end=torch.tensor([continues_spans or is_legal for is_legal in end]),
    )


@lru_cache(maxsize=16)
def _transitions(tags: tuple[str, ...], tag_scheme: str) -> tuple[list[bool], list[list[bool]], list[bool]]:
    """Legal tags at the start, after each other tag and at the end. The result is cached to save time."""
    return (
        [is_allowed(None, tag, tag_scheme) for tag in tags],
        [[is_allowed(before, tag, tag_scheme) for tag in tags] for before in tags],
        [is_allowed(tag, None, tag_scheme) for tag in tags],
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
    encoder, dropout = strategy("encoder", tagger.encoder), strategy("dropout", tagger.dropout)
    units, n_layers = network_size(tagger)
    if isinstance(encoder, SelfAttention):
        return SelfAttentionEncoder(width, 2 * units, n_layers, encoder.n_heads, dropout.layer)
    return BidirectionalRecurrent(width, units, n_layers, encoder, dropout.layer)
