"""Adversaries of the paper and stronger adversaries, which decide whether two sequences were made from the same
sentence.

T1 compares the embeddings of a sentence with a representation. T2 compares two representations. Each adversary reads
both members of a pair side by side, token by token. Both members must be equally long: in a fake pair, tokens of one
sentence were replaced in place, never inserted or deleted. One mask is valid for both members of a pair.

A logit above 0 means "same sentence" (target 1), and a logit below 0 means "one token was replaced" (target 0).

The strong adversaries, T1S and T2S, compare token by token and pool over positions. A replaced token changes a
representation little, and at a single position only. A recurrent network has to carry the trace of this change to the
end of the sentence. The strong adversaries compare each position separately, and pool the maximum and the mean over the
positions. The strong adversaries are not part of Friedrich et al. (2019). Train each strong adversary with its own
loss: if two adversaries disagree, their mean looks like chance. On a representation without privacy, T2S must be right
in more than 90 % of pairs. Otherwise, the failure of T2S on a private representation is no evidence of privacy.

References
----------
Friedrich et al. (2019), section 5.3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..tagging.encoders import BidirectionalRecurrent

# -log(1 - cos) spreads nearly equal vectors: cosines of 0.95 and 0.99 are far apart. For 1 - cos below this limit,
# float32 rounds and gradients explode.
_CLOSEST = 1e-4


class _LastStates(nn.Module):
    """Bidirectional LSTM that computes a logit from the last state of each direction."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.encoder = BidirectionalRecurrent(input_size, hidden_size)
        self.score = nn.Linear(2 * hidden_size, 1)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        lengths = mask.sum(1)
        # shape: (batch, time, 2, hidden)
        states = self.encoder(x.masked_fill(~mask.unsqueeze(2), 0.0), lengths).unflatten(2, (2, -1))
        row = torch.arange(len(x), device=x.device)
        # The forward direction ends at the last token, the backward direction at the first. Neither state has seen
        # padding.
        return self.score(torch.cat([states[row, lengths - 1, 0], states[:, 0, 1]], 1)).squeeze(1)


class EmbeddingPairAdversary(nn.Module):
    """T1 of the paper: decides whether embeddings and a representation come from the same sentence.

    A bidirectional LSTM reads the concatenated embedding and representation of each token. The logit is computed from
    the last state of each direction, at the true ends of the sentence.

    Parameters
    ----------
    embedding_size, n_components : int
        Widths of embeddings and representation.
    hidden_size : int, default=300
        Units of each direction. With fewer units than ``n_components``, the adversary learns slowly.

    References
    ----------
    Friedrich et al. (2019), section 5.3, T1.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import EmbeddingPairAdversary
    >>> adversary = EmbeddingPairAdversary(embedding_size=4, n_components=3, hidden_size=5)
    >>> mask = torch.tensor([[True, True], [True, False]])
    >>> adversary(torch.randn(2, 2, 4), torch.randn(2, 2, 3), mask).shape
    torch.Size([2])
    """

    def __init__(self, embedding_size: int, n_components: int, hidden_size: int = 300) -> None:
        super().__init__()
        self.read = _LastStates(embedding_size + n_components, hidden_size)

    def forward(self, embeddings: Tensor, representation: Tensor, mask: Tensor) -> Tensor:
        """Logits of shape (batch,).

        Parameters
        ----------
        embeddings : Tensor of shape (batch, time, embedding_size)
            Embeddings of the sentence.
        representation : Tensor of shape (batch, time, n_components)
            Representation of the same sentence in a real pair, and of the altered sentence in a fake pair.
        mask : BoolTensor of shape (batch, time)
            True at tokens. Padding is on the right, and every sentence has a token.
        """
        # shape: (batch, time, embedding_size + n_components) to (batch,)
        return self.read(torch.cat([embeddings, representation], 2), mask)


class RepresentationPairAdversary(nn.Module):
    """T2 of the paper: decides whether two representations come from the same sentence.

    T2 has the architecture of T1. For each token, T2 reads two vectors and their cosine.

    Parameters
    ----------
    n_components : int
        Width of the representations.
    hidden_size : int, default=300
        Units of each direction.

    Notes
    -----
    T2 is a weak adversary, since the LSTM has to carry the trace of one replaced token to the end of the sentence. On
    representations without privacy, T2 stayed near chance for many epochs, while `StrongRepresentationAdversary` was
    right in 95 % of pairs. An accuracy of T2 at chance is therefore no evidence of privacy.

    References
    ----------
    Friedrich et al. (2019), section 5.3, T2.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import RepresentationPairAdversary
    >>> adversary = RepresentationPairAdversary(n_components=3, hidden_size=5)
    >>> mask = torch.tensor([[True, True], [True, False]])
    >>> adversary(torch.randn(2, 2, 3), torch.randn(2, 2, 3), mask).shape
    torch.Size([2])
    """

    def __init__(self, n_components: int, hidden_size: int = 300) -> None:
        super().__init__()
        # One more column for the cosine of the two vectors, which a recurrent layer learns slowly.
        self.read = _LastStates(2 * n_components + 1, hidden_size)

    def forward(self, first: Tensor, second: Tensor, mask: Tensor) -> Tensor:
        """Logits of shape (batch,).

        Parameters
        ----------
        first, second : Tensor of shape (batch, time, n_components)
            Representations of a sentence. In a fake pair, the second tensor represents the altered sentence.
        mask : BoolTensor of shape (batch, time)
            True at tokens. Padding is on the right, and every sentence has a token.
        """
        first, second = (r.masked_fill(~mask.unsqueeze(2), 0.0) for r in (first, second))
        cosine = F.cosine_similarity(first, second, dim=2).unsqueeze(2)  # shape: (batch, time, 1)
        return self.read(torch.cat([first, second, cosine], 2), mask)


def average_adversaries(*logits: Tensor) -> Tensor:
    """Compute the logit of the mean of the adversaries' probabilities.

    The paper averages the two sigmoids and computes the cross-entropy of the mean. The cross-entropy of the mean equals
    ``binary_cross_entropy_with_logits`` of the result of this function. The mean of two confident adversaries that
    disagree looks like chance, so also report the accuracy of each adversary.

    Parameters
    ----------
    *logits : Tensor of one shape
        Logits of each adversary, for at least one adversary.

    Returns
    -------
    Tensor of the same shape

    References
    ----------
    Friedrich et al. (2019), section 5.3.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import average_adversaries
    >>> p = torch.tensor([[0.9, 0.5], [0.7, 0.5]])
    >>> [round(q, 4) for q in average_adversaries(*p.logit()).sigmoid().tolist()]
    [0.8, 0.5]
    """
    # log(sum of p) - log(sum of 1 - p), both in logarithms, so that no probability is rounded to 0 or 1.
    # shape: (n_adversaries, ...)
    stacked = torch.stack(logits)
    return F.logsigmoid(stacked).logsumexp(0) - F.logsigmoid(-stacked).logsumexp(0)


class _TokenwiseComparison(nn.Module):
    """Compare two sequences of vectors position by position, and pool the evidence to a logit."""

    def __init__(self, size: int, hidden_size: int) -> None:
        super().__init__()
        self.token = nn.Sequential(
            nn.Linear(2 * size + 2, hidden_size), nn.ReLU(), nn.Linear(hidden_size, hidden_size), nn.ReLU()
        )
        self.sentence = nn.Sequential(nn.Linear(2 * hidden_size, hidden_size), nn.ReLU(), nn.Linear(hidden_size, 1))

    def forward(self, a: Tensor, b: Tensor, mask: Tensor) -> Tensor:
        on = mask.unsqueeze(2)
        a, b = a.masked_fill(~on, 0.0), b.masked_fill(~on, 0.0)
        cosine = F.cosine_similarity(a, b, dim=2).unsqueeze(2)
        # With little noise, the cosines of equal and of replaced tokens are all close to 1. The logarithm spreads this
        # range.
        closeness = -(1.0 - cosine).clamp_min(_CLOSEST).log()  # shape: (batch, time, 1)
        # Absolute differences and products instead of the vectors, so that the order of the two members does not
        # matter.
        # shape: (batch, time, hidden)
        evidence = self.token(torch.cat([(a - b).abs(), a * b, cosine, closeness], 2))
        # A replaced token changes a single position. The maximum finds one such position, and the mean finds several.
        largest = evidence.masked_fill(~on, -torch.inf).amax(1)  # shape: (batch, hidden)
        mean = evidence.masked_fill(~on, 0.0).sum(1) / mask.sum(1, keepdim=True)
        return self.sentence(torch.cat([largest, mean], 1)).squeeze(1)


class StrongRepresentationAdversary(nn.Module):
    """T2S: decides whether two representations come from the same sentence.

    At each position, dense layers read the absolute differences, the products, the cosine c of the two vectors, and
    ``-log(1 - c)``. Further dense layers read the maximum and the mean over the positions, and return the logit. The
    order of the two members of a pair does not matter.

    Parameters
    ----------
    n_components : int
        Width of the representations.
    hidden_size : int, default=128
        Width of the dense layers.
    norm : float, default=1.0
        Typical length of a token's vector; 1 for representations of unit length. The adversary scales its input so that
        a vector of this length has numbers of about size 1. The scale is saved with the weights.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import StrongRepresentationAdversary
    >>> adversary = StrongRepresentationAdversary(n_components=3, hidden_size=5)
    >>> mask = torch.tensor([[True, True], [True, False]])
    >>> adversary(torch.randn(2, 2, 3), torch.randn(2, 2, 3), mask).shape
    torch.Size([2])
    """

    scale: Tensor

    def __init__(self, n_components: int, hidden_size: int = 128, *, norm: float = 1.0) -> None:
        super().__init__()
        self.register_buffer("scale", _unit_scale(n_components, norm))
        self.compare = _TokenwiseComparison(n_components, hidden_size)

    def forward(self, first: Tensor, second: Tensor, mask: Tensor) -> Tensor:
        """Logits of shape (batch,).

        Parameters
        ----------
        first, second : Tensor of shape (batch, time, n_components)
            Representations, as for `RepresentationPairAdversary`. The order of the two representations does not matter.
        mask : BoolTensor of shape (batch, time)
            True at tokens. Padding is on the right, and every sentence has a token.
        """
        return self.compare(first * self.scale, second * self.scale, mask)


class StrongEmbeddingAdversary(nn.Module):
    """T1S: decides whether embeddings and a representation come from the same sentence.

    An inverse model (bidirectional LSTM and a projection) guesses the embeddings from the representation. The guesses
    are compared with the embeddings position by position, as in `StrongRepresentationAdversary`. Train the guesses with
    a second loss: their `cosine_distance` to the embeddings of the sentence from which the representation was made.

    Parameters
    ----------
    embedding_size, n_components : int
        Widths of embeddings and representation.
    hidden_size : int, default=128
        Units of each direction, and width of the dense layers.
    embedding_norm, norm : float, default=1.0
        Typical lengths of an embedding and of a representation's vector (see `StrongRepresentationAdversary`).

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import StrongEmbeddingAdversary, cosine_distance
    >>> adversary = StrongEmbeddingAdversary(embedding_size=4, n_components=3, hidden_size=5)
    >>> mask = torch.tensor([[True, True], [True, False]])
    >>> embeddings, representation = torch.randn(2, 2, 4), torch.randn(2, 2, 3)
    >>> guess = adversary.invert(representation, mask)
    >>> logits, auxiliary = adversary.judge(embeddings, guess, mask), cosine_distance(guess, embeddings, mask)
    >>> logits.shape, auxiliary.shape
    (torch.Size([2]), torch.Size([2]))
    """

    scale: Tensor
    embedding_scale: Tensor

    def __init__(
        self,
        embedding_size: int,
        n_components: int,
        hidden_size: int = 128,
        *,
        embedding_norm: float = 1.0,
        norm: float = 1.0,
    ) -> None:
        super().__init__()
        self.register_buffer("scale", _unit_scale(n_components, norm))
        self.register_buffer("embedding_scale", _unit_scale(embedding_size, embedding_norm))
        self.encoder = BidirectionalRecurrent(n_components, hidden_size)
        self.project = nn.Linear(2 * hidden_size, embedding_size)
        self.compare = _TokenwiseComparison(embedding_size, hidden_size)

    def forward(self, embeddings: Tensor, representation: Tensor, mask: Tensor) -> Tensor:
        """Compute logits of shape (batch,): first `invert`, then `judge`.

        Parameters
        ----------
        embeddings : Tensor of shape (batch, time, embedding_size)
            Embeddings of the sentence.
        representation : Tensor of shape (batch, time, n_components)
            Representation of the same sentence in a real pair, and of the altered sentence in a fake pair.
        mask : BoolTensor of shape (batch, time)
            True at tokens. Padding is on the right, and every sentence has a token.
        """
        return self.judge(embeddings, self.invert(representation, mask), mask)

    def invert(self, representation: Tensor, mask: Tensor) -> Tensor:
        """Guess the embeddings behind a representation, (batch, time, embedding_size); zero at padded positions.

        The guess is trained for its direction only. The length of the guess is in the units of `judge`, not in the
        units of the embeddings.
        """
        on = mask.unsqueeze(2)
        x = (representation * self.scale).masked_fill(~on, 0.0)
        return self.project(self.encoder(x, mask.sum(1))).masked_fill(~on, 0.0)

    def judge(self, embeddings: Tensor, guess: Tensor, mask: Tensor) -> Tensor:
        """Compute logits of shape (batch,) from embeddings and the result of `invert`."""
        return self.compare(embeddings * self.embedding_scale, guess, mask)


def cosine_distance(guess: Tensor, embeddings: Tensor, mask: Tensor) -> Tensor:
    """Compute the mean of ``1 - cos`` over the tokens of each sentence, shape (batch,); each mean is from 0 to 2.

    This distance is the second loss of `StrongEmbeddingAdversary`. In a fake pair, the representation was made from the
    altered sentence, so compare the guess with the embeddings of the altered sentence.

    Parameters
    ----------
    guess, embeddings : Tensor of shape (batch, time, embedding_size)
        Vectors of any length. A token with a zero vector has no direction; its distance counts as 1 and has no
        gradient.
    mask : BoolTensor of shape (batch, time)
        True at tokens.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import cosine_distance
    >>> a, b = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]]), torch.tensor([[[5.0, 0.0], [0.0, 2.0]]])
    >>> cosine_distance(a, b, torch.tensor([[True, True]])).tolist()
    [0.5]
    """
    on = mask.unsqueeze(2)
    distance = 1.0 - F.cosine_similarity(guess.masked_fill(~on, 0.0), embeddings.masked_fill(~on, 0.0), dim=2)
    return distance.masked_fill(~mask, 0.0).sum(1) / mask.sum(1)


def _unit_scale(size: int, norm: float) -> Tensor:
    """Compute the factor that scales a vector of this length to numbers of about size 1."""
    if not 0.0 < norm < math.inf:
        raise ValueError(f"The length of vectors must be a positive number. Got {norm!r}.")
    # A vector of n numbers of size 1 has the length sqrt(n).
    return torch.tensor(math.sqrt(size) / norm)
