"""Encoders of sentences on padded batches: bidirectional recurrent, exact without packing, and self-attention.

The backward direction reads every sentence reversed within its own length, so padding never reaches a real token.
The result equals `torch.nn.utils.rnn.pack_padded_sequence`, whose backward pass is several times slower on CPU.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class LockedDropout(nn.Dropout1d):
    """Variational dropout: one mask a sentence, shared by its tokens (Gal & Ghahramani 2016).

    Input and output have shape (batch, time, d).
    """

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0.0:
            return x
        # shape: (batch, 1, d), broadcast over time
        mask = F.dropout(x.new_ones(x.shape[0], 1, x.shape[2]), self.p, training=True)
        return x * mask


_CELLS: dict[str, type[nn.LSTM] | type[nn.GRU]] = {"lstm": nn.LSTM, "gru": nn.GRU}


def reverse_padded(x: Tensor, lengths: Tensor) -> Tensor:
    """Reverse each row within its own length; padding stays where it is.

    Parameters
    ----------
    x : Tensor of shape (batch, time, d)
    lengths : LongTensor of shape (batch,)
    """
    position = torch.arange(x.shape[1], device=x.device).unsqueeze(0)
    length = lengths.unsqueeze(1)
    # shape: (batch, time)
    source = torch.where(position < length, length - 1 - position, position)
    return x.gather(1, source.unsqueeze(2).expand(-1, -1, x.shape[2]))


class BidirectionalRecurrent(nn.Module):
    """Stacked bidirectional LSTM or GRU, or first the one and then the other.

    Parameters
    ----------
    input_size, hidden_size : int
        Width of the input, and of one direction.
    n_layers : int, default=1
        How often the cells of ``cell`` are stacked.
    cell : {"lstm", "gru", "gru-gru", "lstm-gru"}, default="lstm"
        Cells of the stack, from the input on.
    dropout : float, default=0.0
        Variational dropout on the output of each layer but the last: one mask a sentence, shared by all time steps.

    References
    ----------
    Gal & Ghahramani (2016) for the variational dropout; Ahmed et al. (2020) for the stacks of two cells.
    """

    def __init__(
        self, input_size: int, hidden_size: int, n_layers: int = 1, cell: str = "lstm", dropout: float = 0.0
    ) -> None:
        super().__init__()
        cells = [_CELLS[name] for name in cell.split("-")] * n_layers
        widths = [input_size] + [2 * hidden_size] * (len(cells) - 1)
        both = list(zip(cells, widths, strict=True))
        self.ahead = nn.ModuleList(kind(w, hidden_size, batch_first=True) for kind, w in both)
        self.back = nn.ModuleList(kind(w, hidden_size, batch_first=True) for kind, w in both)
        self.between = LockedDropout(dropout)
        self.output_size = 2 * hidden_size

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Encode (batch, time, input_size) to (batch, time, 2 * hidden_size); padded positions hold no meaning."""
        for depth, (ahead, back) in enumerate(zip(self.ahead, self.back, strict=True)):
            x = self.between(x) if depth else x
            # shape: (batch, time, hidden_size)
            right = back(reverse_padded(x, lengths))[0]
            x = torch.cat([ahead(x)[0], reverse_padded(right, lengths)], dim=2)
        return x


def rotate(x: Tensor, base: float = 10_000.0) -> Tensor:
    """Turn pairs of features by an angle that grows with the position (rotary positions).

    The product of a query at i and a key at j then depends on j - i alone, so that a sentence is read alike wherever
    it stands, and no length is out of range.

    Parameters
    ----------
    x : Tensor of shape (..., time, d), d even
    base : float, default=10_000.0

    References
    ----------
    Su et al. (2021), RoFormer: enhanced transformer with rotary position embedding, section 3.

    Examples
    --------
    >>> import torch
    >>> rotate(torch.ones(2, 2))
    tensor([[ 1.0000,  1.0000],
            [-0.3012,  1.3818]])
    """
    time, d = x.shape[-2:]
    speed = base ** (-torch.arange(0, d, 2, dtype=torch.float32, device=x.device) / d)
    # shape: (time, d / 2)
    angle = torch.arange(time, dtype=torch.float32, device=x.device).unsqueeze(1) * speed
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack([first * cos - second * sin, first * sin + second * cos], -1).flatten(-2)


class SelfAttentionEncoder(nn.Module):
    """Layers of self-attention and feed-forward networks over a sentence (a Transformer encoder).

    Parameters
    ----------
    input_size, width : int
        Width of the input, and of all layers; ``width`` is a multiple of 2 * ``n_heads``.
    n_layers : int, default=4
    n_heads : int, default=4
    dropout : float, default=0.0
        Variational dropout on what each layer adds: one mask a sentence, shared by its tokens.

    References
    ----------
    Vaswani et al. (2017), Attention is all you need; Xiong et al. (2020) for the norm before each layer, which needs no
    long warm-up; Ahmed et al. (2020) for taggers of clinical notes.
    """

    def __init__(self, input_size: int, width: int, n_layers: int = 4, n_heads: int = 4, dropout: float = 0.0) -> None:
        super().__init__()
        if width % (2 * n_heads):
            raise ValueError(
                f"The width of self-attention ({width}) must be a multiple of 2 * n_heads ({2 * n_heads})."
            )
        self.project = nn.Linear(input_size, width)
        self.layers = nn.ModuleList(_Layer(width, n_heads, dropout) for _ in range(n_layers))
        self.norm = nn.LayerNorm(width)
        self.output_size = width

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Encode (batch, time, input_size) to (batch, time, width); padded positions hold no meaning."""
        # shape: (batch, 1, 1, time), True where there is something to look at
        seen = (torch.arange(x.shape[1], device=x.device) < lengths.unsqueeze(1))[:, None, None]
        x = self.project(x)
        for layer in self.layers:
            x = layer(x, seen)
        return self.norm(x)


class _Layer(nn.Module):
    def __init__(self, width: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.before_attention, self.before_network = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.join = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.dropout = LockedDropout(dropout)

    def forward(self, x: Tensor, seen: Tensor) -> Tensor:
        # shape: (3, batch, heads, time, width / heads)
        parts = self.attend(self.before_attention(x)).unflatten(2, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
        # Values are not rotated: positions belong into the scores only.
        query, key, value = rotate(parts[0]), rotate(parts[1]), parts[2]
        looked = F.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        x = x + self.dropout(self.join(looked.transpose(1, 2).flatten(2)))
        return x + self.dropout(self.network(self.before_network(x)))
