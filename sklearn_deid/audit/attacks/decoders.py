"""Decoders from released vectors to word vectors, and their training on the attacker's own text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..._randomness import own_torch_stream
from ...representations.private_model import BestState
from ...tagging.batching import LengthBucketSampler, SentenceBatch, SentenceDataset
from ...tagging.encoders import BidirectionalRecurrent
from .released_tokens import Ranks

_BATCH_TOKENS = 4096
_RIDGE = 1e-4  # of the mean square of the vectors
_FIRST_SCALE = 10.0  # of cosines, as logits
_UNSEEN = 0.1  # a word that was never asked for counts as much
_CELLS = 2**24  # cosines computed at once when ranking


@dataclass(frozen=True, repr=False)
class TokenVectors:
    """What a decoder reads and should say.

    Attributes
    ----------
    vectors : FloatTensor of shape (n_tokens, d)
    extra : FloatTensor of shape (n_tokens, k)
        What is released beside them: one-hot casing and labels; k may be 0.
    offsets : ndarray of shape (n + 1,)
    words : LongTensor of shape (n_tokens,)
        Row of the table of word vectors.
    asked : BoolTensor of shape (n_tokens,)
        The tokens that are to be recovered.
    """

    vectors: Tensor
    extra: Tensor
    offsets: np.ndarray
    words: Tensor
    asked: Tensor

    def batches(self, rng: np.random.Generator | None) -> Iterator[tuple[SentenceBatch, Tensor]]:
        """Padded sentences, whose last vector column says what is asked, and words."""
        columns = torch.cat([self.vectors, self.extra, self.asked.float().unsqueeze(1)], 1)
        data = SentenceDataset(self.offsets, vectors=columns.numpy(), tags=self.words.numpy())
        rows = np.flatnonzero(data.lengths > 0)
        for some in LengthBucketSampler(data.lengths[rows], _BATCH_TOKENS, max_rows=64, rng=rng):
            yield data.collate(rows[some].tolist())


@dataclass(frozen=True)
class DecoderSettings:
    """Network and schedule.

    Parameters
    ----------
    kind : {"token", "sequence"}
        Dense layers on each token alone, or a bidirectional LSTM over the sentence.
    hidden_size, n_epochs, patience, lr, n_negatives
        Against the words that were asked for in their text, and ``n_negatives`` further words of the vocabulary that
        are drawn for each batch, the right word must stand out.
    """

    kind: str = "sequence"
    hidden_size: int = 128
    n_epochs: int = 30
    patience: int | None = 5
    lr: float = 2e-3
    n_negatives: int = 2048


class EmbeddingDecoder(nn.Module):
    """Guess of the word vector behind each token: a linear map, corrected by a network.

    The linear map starts as the ridge regression of word vectors on released vectors and the correction at zero, so
    that raw word vectors are recovered from the start. A word's score is its cosine with the guess and, with learned
    weights, the log of how often it was asked for in the attacker's text: where vectors say nothing, that is all they
    have.

    Parameters
    ----------
    d, n_extra, e : int
        Widths of the released vectors, of what is released beside them, and of word vectors.
    kind : {"token", "sequence"}
    hidden_size : int

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.audit.attacks.decoders import EmbeddingDecoder
    >>> EmbeddingDecoder(3, 2, 4, "sequence", 5)(torch.ones(1, 2, 5), torch.tensor([[True, True]])).shape
    torch.Size([1, 2, 4])
    """

    scale: Tensor
    log_counts: Tensor

    def __init__(self, d: int, n_extra: int, e: int, kind: str, hidden_size: int) -> None:
        super().__init__()
        self.d = d
        self.shortcut = nn.Linear(d, e)
        self.recurrent = BidirectionalRecurrent(d + n_extra, hidden_size) if kind == "sequence" else None
        width = d + n_extra if self.recurrent is None else self.recurrent.output_size
        self.correct = nn.Sequential(nn.Linear(width, 2 * hidden_size), nn.ReLU(), nn.Linear(2 * hidden_size, e))
        self.log_scale = nn.Parameter(torch.tensor(_FIRST_SCALE).log())
        self.prior_weight = nn.Parameter(torch.tensor(0.0))
        self.register_buffer("scale", torch.tensor(1.0))
        self.register_buffer("log_counts", torch.zeros(0), persistent=False)

    @torch.no_grad()
    def start(self, vectors: Tensor, targets: Tensor, counts: Tensor) -> None:
        """Ridge regression for the linear map, nothing from the network yet; counts of each word of the table."""
        self.log_counts = (counts.float() + _UNSEEN).log().to(self.scale.device)
        centre, middle = vectors.double().mean(0), targets.double().mean(0)
        x, y = vectors.double() - centre, targets.double() - middle
        size = x.square().mean()
        self.scale.copy_(1.0 / vectors.square().mean().sqrt().clamp_min(1e-6))
        gram = x.T @ x + (len(x) * size * _RIDGE + 1e-9) * torch.eye(self.d, dtype=x.dtype, device=x.device)
        weight = torch.linalg.solve(gram, x.T @ y).T
        self.shortcut.weight.copy_(weight)
        self.shortcut.bias.copy_(middle - weight @ centre)
        for weights in self.correct[-1].parameters():
            weights.zero_()

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Guesses of shape (batch, time, e) from released vectors and what is beside them; only directions count."""
        vectors = x[..., : self.d]
        seen = torch.cat([vectors * self.scale, x[..., self.d :]], 2)
        if self.recurrent is not None:
            seen = self.recurrent(seen, mask.sum(1))
        return self.shortcut(vectors) + self.correct(seen)

    def scores(self, guess: Tensor, table: Tensor, words: Tensor) -> Tensor:
        """Logits of words, shape (n, len(words)), from unit guesses of shape (n, e)."""
        return self.log_scale.exp() * guess @ table[words].T + self.prior_weight * self.log_counts[words]


def train_decoder(
    train: TokenVectors,
    valid: TokenVectors,
    table: Tensor,
    vocabulary: Tensor,
    settings: DecoderSettings,
    rng: np.random.Generator,
    device: torch.device | str = "cpu",
) -> EmbeddingDecoder:
    """Train on one text, and keep the epoch that ranks the tokens asked for in the other highest.

    Tokens that are asked for and all others have the same weight together.

    Parameters
    ----------
    train, valid : TokenVectors
        On the CPU.
    table : FloatTensor of shape (n_words, e)
        Of unit length, on the device.
    vocabulary : LongTensor
        Rows of the table among which words are searched.
    settings : DecoderSettings
    rng : numpy Generator
    device : torch.device or str
    """
    device = torch.device(device)
    with own_torch_stream(rng, device):
        d, k = train.vectors.shape[1], train.extra.shape[1]
        decoder = EmbeddingDecoder(d, k, table.shape[1], settings.kind, settings.hidden_size).to(device)
        known = train.words[train.asked]
        counts = torch.bincount(known, minlength=len(table))
        decoder.start(train.vectors.to(device), table[train.words.to(device)], counts)
        usual = known.unique()
        # The same words each time, so that epochs can be compared.
        fixed = torch.cat([usual, vocabulary[:: max(1, len(vocabulary) // settings.n_negatives)]])
        optimizer = torch.optim.NAdam(decoder.parameters(), lr=settings.lr)
        best, last = BestState(decoder), 0
        best.offer(-_reciprocal_rank(decoder, valid, table, fixed))
        for epoch in range(1, settings.n_epochs + 1):
            for batch, words in train.batches(rng):
                drawn = torch.as_tensor(rng.choice(len(vocabulary), min(settings.n_negatives, len(vocabulary)), False))
                optimizer.zero_grad()
                among = torch.cat([usual, vocabulary[drawn]])
                logits, target, asked = _logits(decoder, batch, words, table, among)
                loss = F.cross_entropy(logits, target, reduction="none")
                (_mean(loss[asked]) + _mean(loss[~asked])).backward()
                nn.utils.clip_grad_norm_(decoder.parameters(), 1.0)
                optimizer.step()
            if best.offer(-_reciprocal_rank(decoder, valid, table, fixed)):
                last = epoch
            elif settings.patience is not None and epoch - last >= settings.patience:
                break
        best.restore()
    return decoder.eval()


@torch.no_grad()
def ranks_of(decoder: EmbeddingDecoder, data: TokenVectors, table: Tensor, vocabulary: Tensor) -> Ranks:
    """How many words of the vocabulary have a higher score than the right one, and how many the same.

    Parameters
    ----------
    decoder, data, table, vocabulary
        As in `train_decoder`.

    Returns
    -------
    Ranks
        Of the tokens asked for, in their order.
    """
    better = torch.zeros(len(data.words), dtype=torch.long)
    tied = torch.ones(len(data.words), dtype=torch.long)
    numbered = TokenVectors(data.vectors, data.extra, data.offsets, torch.arange(len(data.words)), data.asked)
    vocabulary = vocabulary.to(table.device)
    # The same score computed twice may differ in its last bits.
    tolerance = 1e-6 * (1.0 + float(decoder.log_scale.exp()))
    rows = max(1, _CELLS // max(1, len(vocabulary)))
    for batch, number in numbered.batches(None):
        guess, asked = _guess(decoder, batch, table.device)
        for some, at in zip(guess[asked].split(rows), number[asked.cpu()].split(rows), strict=True):
            right = data.words[at].to(table.device)
            scores = decoder.scores(some, table, vocabulary)
            own = (
                decoder.log_scale.exp() * (some * table[right]).sum(1)
                + decoder.prior_weight * decoder.log_counts[right]
            )
            near = (scores - own.unsqueeze(1)).abs() <= tolerance
            better[at] = ((scores > own.unsqueeze(1)) & ~near).sum(1).cpu()
            tied[at] = near.sum(1).clamp_min(1).cpu()
    return Ranks(better[data.asked].numpy(), tied[data.asked].numpy())


def _guess(decoder: EmbeddingDecoder, batch: SentenceBatch, device: torch.device) -> tuple[Tensor, Tensor]:
    """Unit guesses of every position, and where one is asked for."""
    assert batch.vectors is not None
    x, mask = batch.vectors.to(device), batch.mask.to(device)
    return F.normalize(decoder(x[..., :-1], mask), dim=2), (x[..., -1] > 0.5) & mask


def _logits(
    decoder: EmbeddingDecoder, batch: SentenceBatch, words: Tensor, table: Tensor, among: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Scores of all tokens for the words of the batch and some more, which is right, and which tokens are asked for."""
    guess, asked = _guess(decoder, batch, table.device)
    mask, words = batch.mask.to(table.device), words.to(table.device)
    choices, target = torch.cat([words[mask], among.to(table.device)]).unique(return_inverse=True)
    logits = decoder.scores(guess[mask], table, choices)
    return logits, target[: len(logits)], asked[mask]


@torch.no_grad()
def _reciprocal_rank(decoder: EmbeddingDecoder, data: TokenVectors, table: Tensor, among: Tensor) -> float:
    """Mean of 1 / rank of the right word over the tokens asked for; a loss would prize sureness over being right."""
    found = []
    for batch, words in data.batches(None):
        logits, target, asked = _logits(decoder, batch, words, table, among)
        own = logits.gather(1, target.unsqueeze(1))
        rank = 0.5 + (logits > own).sum(1) + 0.5 * (logits == own).sum(1)
        found.append(1.0 / rank[asked])
    return float(_mean(torch.cat(found)))


def _mean(x: Tensor) -> Tensor:
    return x.sum() / max(1, len(x))
