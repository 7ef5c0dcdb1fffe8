"""Decoders from released vectors to word vectors, and their training on the attacker's own text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

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
# Ridge penalty, relative to the mean square of the vectors.
_RIDGE = 1e-4
# First factor from cosines to logits.
_FIRST_SCALE = 10.0
# Count of a word that never occurred among the tokens to recover.
_UNSEEN = 0.1
# Largest number of cosines in one step of the ranking.
_CELLS = 2**24
# Directions with less of the largest variance are rounding errors of the released numbers.
_SMALLEST_SHARE = 1e-12


@dataclass(frozen=True, repr=False)
class TokenVectors:
    """Input and target of a decoder.

    Attributes
    ----------
    vectors : FloatTensor of shape (n_tokens, d)
        Released vectors.
    extra : FloatTensor of shape (n_tokens, k)
        Further released data: one-hot casing and labels; k may be 0.
    offsets : ndarray of shape (n + 1,)
        Position of the first token of each sentence, and the number of tokens at the end.
    words : LongTensor of shape (n_tokens,)
        Row of each word in the table of word vectors.
    asked : BoolTensor of shape (n_tokens,)
        Whether the decoder must recover each token.
    """

    vectors: Tensor
    extra: Tensor
    offsets: np.ndarray
    words: Tensor
    asked: Tensor

    def batches(self, rng: np.random.Generator | None) -> Iterator[tuple[SentenceBatch, Tensor]]:
        """Yield padded sentences and their words. The last vector column marks the tokens to recover."""
        # shape: (n_tokens, d + k + 1)
        columns = torch.cat([self.vectors, self.extra, self.asked.float().unsqueeze(1)], 1)
        data = SentenceDataset(self.offsets, vectors=columns.numpy(), tags=self.words.numpy())
        rows = np.flatnonzero(data.lengths > 0)
        for some in LengthBucketSampler(data.lengths[rows], _BATCH_TOKENS, max_rows=64, rng=rng):
            yield data.collate(rows[some].tolist())


@dataclass(frozen=True, repr=False)
class InputScaling:
    """Shift and linear map of vectors, computed in double precision.

    Released vectors may be scaled, or may have columns with much larger numbers. Scaled or large columns hide nothing.
    However, a decoder for vectors of length about 1 would learn nothing from columns with small numbers if other
    columns had much larger numbers.

    Attributes
    ----------
    centre : ndarray of shape (d,)
        Vector that becomes zero.
    basis : ndarray of shape (d, d)
        Map of the shifted vectors, which are rows.

    Examples
    --------
    >>> vectors = torch.tensor([[1e9, 1e-9], [-1e9, 0.0], [1e9, -1e-9], [-1e9, 0.0]])
    >>> InputScaling.of_columns(vectors)(vectors).std(0, unbiased=False).round(decimals=3).tolist()
    [1.0, 1.0]
    """

    centre: np.ndarray
    basis: np.ndarray

    def __call__(self, vectors: Tensor) -> Tensor:
        """Scaled vectors in single precision."""
        return torch.as_tensor(((_doubles(vectors) - self.centre) @ self.basis).astype(np.float32))

    @classmethod
    def none(cls, vectors: Tensor) -> InputScaling:
        """Vectors as they are."""
        return cls(np.zeros(vectors.shape[1]), np.eye(vectors.shape[1]))

    @classmethod
    def of_columns(cls, vectors: Tensor) -> InputScaling:
        """Columns of mean 0 and standard deviation 1. Constant columns become 0."""
        x = _doubles(vectors)
        spread = x.std(0)
        return cls(x.mean(0), np.diag(np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)))

    @classmethod
    def of_directions(cls, vectors: Tensor) -> InputScaling:
        """Uncorrelated columns of standard deviation 1: large numbers may be in any direction."""
        columns = cls.of_columns(vectors)
        x = (_doubles(vectors) - columns.centre) @ columns.basis
        variance, axes = np.linalg.eigh(x.T @ x / len(x))
        is_usable = variance > _SMALLEST_SHARE * max(variance.max(initial=0.0), 1e-300)
        size = np.sqrt(np.where(is_usable, variance, 1.0))
        return cls(columns.centre, columns.basis @ (axes * (is_usable / size)))


def _doubles(vectors: Tensor) -> np.ndarray:
    return vectors.detach().cpu().numpy().astype(np.float64)


@dataclass(frozen=True)
class DecoderSettings:
    """Network and training schedule of a decoder.

    Parameters
    ----------
    kind : {"token", "sequence"}
        Network: dense layers on each token alone, or a bidirectional LSTM over the sentence.
    hidden_size, n_epochs, patience, lr
        Width of the hidden layers, largest number of epochs, number of epochs without progress after which the training
        stops, and learning rate.
    n_negatives : int
        Number of further words that each batch draws from the vocabulary. The right word competes with these words and
        with the words to recover in the attacker's text.
    """

    kind: str = "sequence"
    hidden_size: int = 128
    n_epochs: int = 30
    patience: int | None = 5
    lr: float = 2e-3
    n_negatives: int = 2048


class EmbeddingDecoder(nn.Module):
    """Predict the word vector of each token by a linear map and a network that corrects the prediction.

    The linear map starts as the ridge regression of word vectors on released vectors, and the correction starts at
    zero. The decoder therefore recovers raw word vectors from the start. The score of a word is the sum of two terms
    with learned weights. The first term is the cosine of the word vector with the prediction. The second term is the
    logarithm of the count of the word among the tokens to recover in the attacker's text. If the vectors contain no
    information, the attacker relies on this count alone.

    Parameters
    ----------
    d, n_extra, e : int
        Widths of the released vectors, of the further released data, and of the word vectors.
    kind : {"token", "sequence"}
        Network, as in `DecoderSettings`.
    hidden_size : int
        Width of the hidden layers.

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
        self.scaling: InputScaling | None = None
        self.float()  # whatever the default type of torch

    def scaled(self, data: TokenVectors) -> TokenVectors:
        """Data whose vectors have the scaling that `train_decoder` has chosen."""
        return data if self.scaling is None else replace(data, vectors=self.scaling(data.vectors))

    @torch.no_grad()
    def start(self, vectors: Tensor, targets: Tensor, counts: Tensor) -> None:
        """Set the linear map by ridge regression and the correction to zero; store the counts of the words."""
        self.log_counts = (counts.float() + _UNSEEN).log().to(self.scale.device)
        centre, middle = vectors.double().mean(0), targets.double().mean(0)
        x, y = vectors.double() - centre, targets.double() - middle
        size = x.square().mean()
        self.scale.copy_(1.0 / vectors.square().mean().sqrt().clamp_min(1e-6))
        # The ridge penalty keeps the system solvable if released vectors are collinear.
        gram = x.T @ x + (len(x) * size * _RIDGE + 1e-9) * torch.eye(self.d, dtype=x.dtype, device=x.device)
        weight = torch.linalg.solve(gram, x.T @ y).T
        self.shortcut.weight.copy_(weight)
        self.shortcut.bias.copy_(middle - weight @ centre)
        # The last layer starts at zero, so that the decoder starts as the linear map alone.
        for weights in self.correct[-1].parameters():
            weights.zero_()

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Predict vectors of shape (batch, time, e) from the released data. Only their directions matter."""
        # shape: (batch, time, d)
        vectors = x[..., : self.d]
        seen = torch.cat([vectors * self.scale, x[..., self.d :]], 2)
        if self.recurrent is not None:
            seen = self.recurrent(seen, mask.sum(1))
        return self.shortcut(vectors) + self.correct(seen)

    def scores(self, guess: Tensor, table: Tensor, words: Tensor) -> Tensor:
        """Logits of the given words, shape (n, len(words)), from unit predictions of shape (n, e)."""
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
    """Train on ``train``, and choose the scaling of the vectors and the epoch by the ranks on ``valid``.

    In the loss, the tokens to recover have the same total weight as all other tokens.

    Parameters
    ----------
    train, valid : TokenVectors
        Text for training and text for the choice of the epoch, on the CPU.
    table : FloatTensor of shape (n_words, e)
        Word vectors of unit length, on the device.
    vocabulary : LongTensor
        Rows of the table among which the attacker searches.
    settings : DecoderSettings
        Network and schedule.
    rng : numpy Generator
        Random generator.
    device : torch.device or str
        Device of the training.
    """
    device = torch.device(device)
    with own_torch_stream(rng, device):
        d, k = train.vectors.shape[1], train.extra.shape[1]
        decoder = EmbeddingDecoder(d, k, table.shape[1], settings.kind, settings.hidden_size).to(device)
        known = train.words[train.asked]
        counts = torch.bincount(known, minlength=len(table))
        usual = known.unique()
        # Every epoch is validated on the same words, so that epochs are comparable.
        fixed = torch.cat([usual, vocabulary[:: max(1, len(vocabulary) // settings.n_negatives)]])
        _start(decoder, train, valid, table, counts, fixed)
        train, valid = decoder.scaled(train), decoder.scaled(valid)
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
                # Two means, because the tokens to recover are few and would vanish in one common mean.
                (_mean(loss[asked]) + _mean(loss[~asked])).backward()
                nn.utils.clip_grad_norm_(decoder.parameters(), 1.0)
                optimizer.step()
            if best.offer(-_reciprocal_rank(decoder, valid, table, fixed)):
                last = epoch
            elif settings.patience is not None and epoch - last >= settings.patience:
                break
        best.restore()
    return decoder.eval()


def _start(
    decoder: EmbeddingDecoder, train: TokenVectors, valid: TokenVectors, table: Tensor, counts: Tensor, among: Tensor
) -> None:
    """Start with the scaling whose linear map ranks best; in a tie, with the unscaled vectors."""
    targets, found = table[train.words.to(table.device)], []
    makers = (InputScaling.none, InputScaling.of_columns, InputScaling.of_directions)
    for scaling in (make(train.vectors) for make in makers):
        decoder.scaling = scaling
        decoder.start(decoder.scaled(train).vectors.to(table.device), targets, counts)
        found.append((_reciprocal_rank(decoder, decoder.scaled(valid), table, among), scaling))
    decoder.scaling = max(found, key=lambda one: one[0])[1]
    decoder.start(decoder.scaled(train).vectors.to(table.device), targets, counts)


@torch.no_grad()
def ranks_of(decoder: EmbeddingDecoder, data: TokenVectors, table: Tensor, vocabulary: Tensor) -> Ranks:
    """Count the words of the vocabulary with a higher score than the right word, and with an equal score.

    Parameters
    ----------
    decoder, data, table, vocabulary
        Same as in `train_decoder`.

    Returns
    -------
    Ranks
        Ranks of the tokens to recover, in their order.
    """
    better = torch.zeros(len(data.words), dtype=torch.long)
    tied = torch.ones(len(data.words), dtype=torch.long)
    data = decoder.scaled(data)
    numbered = replace(data, words=torch.arange(len(data.words)))
    vocabulary = vocabulary.to(table.device)
    # The same score, computed in two ways, may differ in its last bits.
    tolerance = 1e-6 * (1.0 + float(decoder.log_scale.exp()))
    # Blocks of rows bound the memory of the scores, whose shape is (n_rows, n_words).
    rows = max(1, _CELLS // max(1, len(vocabulary)))
    for batch, number in numbered.batches(None):
        guess, asked = _guess(decoder, batch, table.device)
        for some, at in zip(guess[asked].split(rows), number[asked.cpu()].split(rows), strict=True):
            right = data.words[at].to(table.device)
            scores = decoder.scores(some, table, vocabulary)
            cosine = (some * table[right]).sum(1)
            own = decoder.log_scale.exp() * cosine + decoder.prior_weight * decoder.log_counts[right]
            near = (scores - own.unsqueeze(1)).abs() <= tolerance
            better[at] = ((scores > own.unsqueeze(1)) & ~near).sum(1).cpu()
            tied[at] = near.sum(1).clamp_min(1).cpu()
    return Ranks(better[data.asked].numpy(), tied[data.asked].numpy())


def _guess(decoder: EmbeddingDecoder, batch: SentenceBatch, device: torch.device) -> tuple[Tensor, Tensor]:
    """Unit predictions of every position, and a mask of the positions to recover."""
    assert batch.vectors is not None
    x, mask = batch.vectors.to(device), batch.mask.to(device)
    return F.normalize(decoder(x[..., :-1], mask), dim=2), (x[..., -1] > 0.5) & mask


def _logits(
    decoder: EmbeddingDecoder,
    batch: SentenceBatch,
    words: Tensor,
    table: Tensor,
    among: Tensor,
    only_asked: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the scores of tokens for some words, the right word of each token, and whether to recover the token.

    With ``only_asked``, the results contain only the tokens to recover; without ``only_asked``, all tokens. The right
    word of a token is given as its column in the scores, which is independent of ``only_asked``.
    """
    guess, asked = _guess(decoder, batch, table.device)
    mask, words = batch.mask.to(table.device), words.to(table.device)
    choices, target = torch.cat([words[mask], among.to(table.device)]).unique(return_inverse=True)
    shown = asked[mask] if only_asked else slice(None)
    guess, asked, target = guess[mask][shown], asked[mask][shown], target[: int(mask.sum())][shown]
    return decoder.scores(guess, table, choices), target, asked


@torch.no_grad()
def _reciprocal_rank(decoder: EmbeddingDecoder, data: TokenVectors, table: Tensor, among: Tensor) -> float:
    """Mean of 1 / rank of the right word over the tokens. The epoch is not chosen by the loss, because the loss rewards
    confidence rather than correct ranks."""
    found = []
    for batch, words in data.batches(None):
        # Scores of the other tokens would take most of the time, and do not count.
        logits, target, _ = _logits(decoder, batch, words, table, among, only_asked=True)
        own = logits.gather(1, target.unsqueeze(1))
        rank = 0.5 + (logits > own).sum(1) + 0.5 * (logits == own).sum(1)
        # No score is above a score that is not a number, so that a decoder with such scores would look like the best
        # decoder.
        rank[~logits.isfinite().all(1)] = float("inf")
        found.append(1.0 / rank)
    return float(_mean(torch.cat(found)))


def _mean(x: Tensor) -> Tensor:
    return x.sum() / max(1, len(x))
