"""Encoders of padded batches of sentences: bidirectional recurrent networks and self-attention.

The backward direction of the recurrent network reads every sentence reversed within its own length. Padding therefore
never changes the encoding of a token. The result equals the result with `torch.nn.utils.rnn.pack_padded_sequence`, but
the backward pass of packed sequences is several times slower on CPU.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class LockedDropout(nn.Dropout1d):
    """Variational dropout: one mask for all tokens of a sentence (Gal & Ghahramani 2016).

    Input and output have shape (batch, time, d). With ``rows``, input and output have shape (n_tokens, d) without
    padding: ``rows[i]`` is the sentence of token i, and ``batch`` the number of sentences.
    """

    def forward(self, x: Tensor, rows: Tensor | None = None, batch: int = 0) -> Tensor:
        if not self.training or self.p == 0.0:
            return x
        # shape: (batch, 1, d), broadcast over time
        mask = F.dropout(x.new_ones(x.shape[0] if rows is None else batch, 1, x.shape[-1]), self.p, training=True)
        return x * (mask if rows is None else mask.squeeze(1).index_select(0, rows))


_CELLS: dict[str, type[nn.LSTM] | type[nn.GRU]] = {"lstm": nn.LSTM, "gru": nn.GRU}


class _Permuted(torch.autograd.Function):
    """Rows of a matrix in another order. The permutation is its own inverse, so that the gradient uses the same
    permutation."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: Tensor) -> Tensor:
        ctx.save_for_backward(order)
        return x.index_select(0, order)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _Permuted.apply(grad, ctx.saved_tensors[0]), None


def reversed_cells(lengths: Tensor, time: int) -> Tensor:
    """Order of the cells of a flattened batch that reverses each row within its own length.

    Parameters
    ----------
    lengths : LongTensor of shape (batch,)
        Length of each row. Cells after the end of a row keep their positions.
    time : int
        Number of cells of a row.

    Returns
    -------
    LongTensor of shape (batch * time,)

    Examples
    --------
    >>> reversed_cells(torch.tensor([2, 3]), 3).tolist()
    [1, 0, 2, 5, 4, 3]
    """
    position = torch.arange(time, device=lengths.device).unsqueeze(0)
    length = lengths.unsqueeze(1)
    # shape: (batch, time)
    source = torch.where(position < length, length - 1 - position, position)
    return (source + torch.arange(len(lengths), device=lengths.device).unsqueeze(1) * time).flatten()


def permute_cells(x: Tensor, order: Tensor) -> Tensor:
    """Reorder the cells of a batch of shape (batch, time, d) by `reversed_cells`, which is its own inverse."""
    return _Permuted.apply(x.flatten(0, 1), order).view(x.shape)


class BidirectionalRecurrent(nn.Module):
    """Stacked bidirectional LSTM or GRU layers, or a stack with both kinds of cells.

    Parameters
    ----------
    input_size, hidden_size : int
        Width of the input, and number of units of one direction.
    n_layers : int, default=1
        Number of stacked copies of the layers of ``cell``.
    cell : {"lstm", "gru", "gru-gru", "lstm-gru"}, default="lstm"
        Cells of the layers, from the input to the output.
    dropout : float, default=0.0
        Rate of the variational dropout between layers. All tokens of a sentence share one mask.

    Attributes
    ----------
    trains_in_bfloat16 : bool
        Whether the layers compute in bfloat16 in training mode on a CPU. The weights stay float32.

    References
    ----------
    Gal & Ghahramani (2016) for the variational dropout; Ahmed et al. (2020) for the stacks of two cells.
    """

    def __init__(
        self, input_size: int, hidden_size: int, n_layers: int = 1, cell: str = "lstm", dropout: float = 0.0
    ) -> None:
        super().__init__()
        input_size, hidden_size = int(input_size), int(hidden_size)  # torch refuses integers of numpy
        # A name with two cells, such as "lstm-gru", makes two layers for each of ``n_layers``.
        cells = [_CELLS[name] for name in cell.split("-")] * n_layers
        widths = [input_size] + [2 * hidden_size] * (len(cells) - 1)
        both = list(zip(cells, widths, strict=True))
        self.ahead = nn.ModuleList(kind(w, hidden_size, batch_first=True) for kind, w in both)
        self.back = nn.ModuleList(kind(w, hidden_size, batch_first=True) for kind, w in both)
        self.between = LockedDropout(dropout)
        self.output_size = 2 * hidden_size
        self.trains_in_bfloat16 = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # cuDNN needs the weights of a layer in one piece of memory. Unpickled weights are in several pieces: cuDNN
        # would copy the weights in each call, and warn in every process that tags notes.
        for layer in (*self.ahead, *self.back):
            layer.flatten_parameters()

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Encode (batch, time, input_size) to (batch, time, 2 * hidden_size). Ignore the values at padded positions."""
        # Both directions use one order. The gradient of this permutation is faster than the gradient of `gather`.
        order = reversed_cells(lengths, x.shape[1])
        kind, narrow = x.dtype, self.training and self.trains_in_bfloat16 and not x.is_cuda
        x = x.bfloat16() if narrow else x
        for depth, (ahead, back) in enumerate(zip(self.ahead, self.back, strict=True)):
            x = self.between(x) if depth else x
            with torch.autocast("cpu", dtype=torch.bfloat16) if narrow else nullcontext():
                # shape: (batch, time, hidden_size), in reversed order
                right = back(permute_cells(x, order))[0]
                x = torch.cat([ahead(x)[0], permute_cells(right, order)], dim=2)
        return x.to(kind) if narrow else x


_BASE = 10_000.0


def rotate(x: Tensor) -> Tensor:
    """Rotate pairs of features by an angle that grows with the position (rotary position embedding).

    After the rotation, the product of a query at i and a key at j depends on the distance j - i only. The encoding of a
    sentence therefore does not depend on the position of the sentence, and the length of a sequence has no upper limit.

    Parameters
    ----------
    x : Tensor of shape (..., time, d), d even
        Queries or keys.

    Returns
    -------
    Tensor of shape (..., time, d)

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
    # The slowest pair of features turns by about 1 / _BASE at each position.
    speed = _BASE ** (-torch.arange(0, d, 2, dtype=torch.float32, device=x.device) / d)
    # shape: (time, d / 2)
    angle = torch.arange(time, dtype=torch.float32, device=x.device).unsqueeze(1) * speed
    # Sine and cosine are computed in float32: half precision cannot hold the angles of late positions.
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack([first * cos - second * sin, first * sin + second * cos], -1).flatten(-2)


class SelfAttentionEncoder(nn.Module):
    """Layers of self-attention and feed-forward networks over a sentence (Transformer encoder).

    Parameters
    ----------
    input_size, width : int
        Width of the input, and width of all layers. ``width`` must be a multiple of 2 * ``n_heads``.
    n_layers : int, default=4
        Number of layers.
    n_heads : int, default=4
        Number of attention heads in each layer.
    dropout : float, default=0.0
        Rate of the variational dropout on both residual branches of each layer. All tokens of a sentence share one
        mask.

    References
    ----------
    Vaswani et al. (2017), Attention is all you need.
    Xiong et al. (2020) for the normalization before each layer, which needs no long warm-up.
    Ahmed et al. (2020) for taggers of clinical notes.
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
        """Encode (batch, time, input_size) to (batch, time, width). Ignore the values at padded positions."""
        # shape: (batch, 1, 1, time), True at tokens
        seen = (torch.arange(x.shape[1], device=x.device) < lengths.unsqueeze(1))[:, None, None]
        x = self.project(x)
        for layer in self.layers:
            x = layer(x, seen)
        return self.norm(x)


class _Layer(nn.Module):
    """Layer of a Transformer encoder, with normalization before attention and before the feed-forward network."""

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
        # Values are not rotated: only the attention scores depend on positions.
        query, key, value = rotate(parts[0]), rotate(parts[1]), parts[2]
        # shape: (batch, heads, time, width / heads)
        looked = F.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        x = x + self.dropout(self.join(looked.transpose(1, 2).flatten(2)))
        return x + self.dropout(self.network(self.before_network(x)))
