"""The paper's adversaries: are two sequences made from the same sentence?

T1 compares the embeddings of a sentence with a representation, T2 two representations. Each reads both side by side,
token by token, so the two must be equally long: a fake is a sentence in which tokens were moved in place, never
inserted or deleted, and one mask serves both members of a pair.

A logit above 0 says "same sentence" (target 1), below 0 "one token was moved" (target 0).

References
----------
Friedrich et al. (2019), section 5.3.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..tagging.encoders import BidirectionalRecurrent

__all__ = ["EmbeddingPairAdversary", "RepresentationPairAdversary", "average_adversaries"]


class _LastStates(nn.Module):
    """Bidirectional LSTM, one logit from the last state of each direction."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.encoder = BidirectionalRecurrent(input_size, hidden_size)
        self.score = nn.Linear(2 * hidden_size, 1)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        lengths = mask.sum(1)
        # shape: (batch, time, 2, hidden)
        states = self.encoder(x.masked_fill(~mask.unsqueeze(2), 0.0), lengths).unflatten(2, (2, -1))
        row = torch.arange(len(x), device=x.device)
        # One direction ends at the last token, the other at the first; neither has seen padding there.
        return self.score(torch.cat([states[row, lengths - 1, 0], states[:, 0, 1]], 1)).squeeze(1)


class EmbeddingPairAdversary(nn.Module):
    """T1 of the paper: do these embeddings and this representation come from the same sentence?

    Embedding and representation of each token are concatenated and read by a bidirectional LSTM; the last state of
    each direction, at the true ends of the sentence, gives the logit.

    Parameters
    ----------
    embedding_size, n_components : int
        Widths of embeddings and representation.
    hidden_size : int, default=300
        Units of each direction; at least ``n_components``, or it learns slowly.

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
        representation : Tensor of shape (batch, time, n_components)
            In a fake pair this is the one of the moved sentence.
        mask : BoolTensor of shape (batch, time)
            Padding is on the right, and every sentence has a token.
        """
        return self.read(torch.cat([embeddings, representation], 2), mask)


class RepresentationPairAdversary(nn.Module):
    """T2 of the paper: do these two representations come from the same sentence?

    As T1, with two representations and, as one more number a token, their cosine.

    Parameters
    ----------
    n_components : int
        Width of the representations.
    hidden_size : int, default=300
        Units of each direction.

    Notes
    -----
    A weak judge: the LSTM has to carry the trace of one moved token to the end of the sentence. On representations
    without privacy it stayed near chance for many epochs where `StrongRepresentationAdversary` was right in 95 % of
    pairs; being at chance against it proves nothing.

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
        self.read = _LastStates(2 * n_components + 1, hidden_size)

    def forward(self, first: Tensor, second: Tensor, mask: Tensor) -> Tensor:
        """Logits of shape (batch,).

        Parameters
        ----------
        first, second : Tensor of shape (batch, time, n_components)
            In a fake pair the second is the one of the moved sentence.
        mask : BoolTensor of shape (batch, time)
            Padding is on the right, and every sentence has a token.
        """
        first, second = (r.masked_fill(~mask.unsqueeze(2), 0.0) for r in (first, second))
        cosine = F.cosine_similarity(first, second, dim=2).unsqueeze(2)
        return self.read(torch.cat([first, second, cosine], 2), mask)


def average_adversaries(*logits: Tensor) -> Tensor:
    """Logit of the mean of the adversaries' probabilities.

    The paper averages the two sigmoids and takes one cross-entropy of the mean; that is
    ``binary_cross_entropy_with_logits`` of this. Two adversaries that are sure and disagree average to chance, so
    report each one's accuracy as well.

    Parameters
    ----------
    *logits : Tensor of one shape
        One from each adversary, at least one.

    Returns
    -------
    Tensor of that shape

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
    # log of the summed probabilities of one answer minus that of the other: no probability is rounded to 0 or 1.
    stacked = torch.stack(logits)
    return F.logsigmoid(stacked).logsumexp(0) - F.logsigmoid(-stacked).logsumexp(0)
