"""Encoders of words: characters, shapes, casing and fixed word vectors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .encoders import BidirectionalRecurrent

# Upper limits of groups of word lengths. Words of one group are read together: in a single group, one long word would
# pad all short words.
_LENGTH_BORDERS = (4, 8, 14)


class CharacterCNN(nn.Module):
    """Convolution over the characters of a word, with the maximum over all positions.

    Parameters
    ----------
    n_characters : int
        Number of character classes. Class 0 is padding.
    embedding_dim : int, default=25
        Width of a character vector.
    n_filters : int, default=50
        Number of filters, and width of the result.
    width : int, default=3
        Number of characters that a filter covers.

    References
    ----------
    Ma & Hovy (2016), End-to-end sequence labeling via bi-directional LSTM-CNNs-CRF, section 2.1.
    """

    def __init__(self, n_characters: int, embedding_dim: int = 25, n_filters: int = 50, width: int = 3) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n_characters, embedding_dim, padding_idx=0)
        self.convolution = nn.Conv1d(embedding_dim, n_filters, width)
        self.output_size = n_filters

    def forward(self, characters: Tensor) -> Tensor:
        """Encode character classes (n_words, longest word) to vectors (n_words, n_filters).

        The method replaces the convolution by a sum of look-ups. Each place of a filter covers one character, so that
        one table for each place can contain the contribution of every character class. The sum of the look-ups equals a
        convolution of the embedded characters. On a CPU, the look-ups are computed without padding.
        """
        bias = self.convolution.bias
        assert bias is not None
        if characters.is_cuda or not characters.numel():
            return self._read_padded(characters) + bias
        # shape: (n_positions,): each position of each word, and the number of words that have the position
        around, counts, words = _by_position(characters, self.convolution.kernel_size[0])
        total = sum(F.embedding(ids, table, padding_idx=0) for ids, table in zip(around, self._tables(), strict=True))
        return _LargestByWord.apply(total, counts).index_select(0, words) + bias

    def _tables(self) -> list[Tensor]:
        """For each place of the kernel, the contribution of every character class, (n_characters, n_filters)."""
        # Embedding and convolution are linear: one table with their product replaces both.
        kernel = self.convolution.weight
        return [self.embedding.weight @ kernel[:, :, place].t() for place in range(kernel.shape[2])]

    def _read_padded(self, characters: Tensor) -> Tensor:
        """Maximum over the positions of each word, computed for all words at once, because the loop of `_LargestByWord`
        is slow on a GPU."""
        # Padding columns that are common to all words are cut off to save time.
        longest = max(1, int((characters > 0).sum(1).max())) if characters.numel() else 1
        width = self.convolution.kernel_size[0]
        padded = F.pad(characters[:, :longest], (width // 2, width - 1 - width // 2))
        total = self.embedding.weight.new_zeros(())
        for place, table in enumerate(self._tables()):
            total = total + F.embedding(padded[:, place : place + longest], table, padding_idx=0)
        # Positions behind the end of a word do not count: the vector of a word must not depend on other words.
        on = characters[:, :longest] > 0
        # An empty word keeps one position, because the maximum over no position would be -inf.
        on[:, 0] = True
        return torch.where(on.unsqueeze(2), total, -torch.inf).amax(1)


def _by_position(characters: Tensor, width: int) -> tuple[list[Tensor], list[int], Tensor]:
    """Collect the characters around each position of a word, position by position over all words.

    The order is: first positions of all words, longest word first, then second positions, and so on.

    Parameters
    ----------
    characters : LongTensor of shape (n_words, longest word)
        Character classes, 0 after the end of a word.
    width : int
        Number of characters around a position.

    Returns
    -------
    around : list of LongTensors of shape (n_positions,)
        Character class at each of ``width`` places around a position.
    counts : list of int
        Number of words that have the first, second, ... position. An empty word has one position.
    words : LongTensor of shape (n_words,)
        Position of each word in the order by length.
    """
    lengths, order = torch.sort((characters > 0).sum(1).clamp(min=1), descending=True)
    longest = int(lengths[0])
    # shape: (longest, n_words)
    on = torch.arange(longest).unsqueeze(1) < lengths
    # shape: (longest + width - 1, n_words)
    padded = F.pad(characters[:, :longest].index_select(0, order).t(), (0, 0, width // 2, width - 1 - width // 2))
    around = [padded[place : place + longest][on] for place in range(width)]
    return around, on.sum(1).tolist(), torch.empty_like(order).scatter_(0, order, torch.arange(len(order)))


class _LargestByWord(torch.autograd.Function):
    """Maximum over the positions of each word, (n_positions, d) to (n_words, d), in the order of `_by_position`.

    As with `torch.amax`, positions with equal maxima share the gradient.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, counts: list[int]) -> Tensor:
        parts = x.split(counts)
        out = parts[0].clone()
        for n, part in zip(counts[1:], parts[1:], strict=True):
            torch.maximum(out[:n], part, out=out[:n])
        ctx.save_for_backward(x, out)
        ctx.counts = counts
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        x, out = ctx.saved_tensors
        counts = ctx.counts
        is_largest = torch.empty_like(x)
        n_largest = torch.zeros_like(out)
        for n, part, on in zip(counts, x.split(counts), is_largest.split(counts), strict=True):
            torch.eq(part, out[:n], out=on)
            n_largest[:n] += on
        shared = grad / n_largest
        for n, on in zip(counts, is_largest.split(counts), strict=True):
            on *= shared[:n]
        return is_largest, None


class CharacterRNN(nn.Module):
    """Bidirectional GRU or LSTM over the characters of a word.

    The vector of a word is the forward state after the last character, concatenated with the backward state after the
    first character.

    Parameters
    ----------
    n_characters : int
        Number of character classes. Class 0 is padding.
    cell : {"gru", "lstm"}, default="gru"
        Kind of recurrent cell.
    embedding_dim : int, default=25
        Width of a character vector.
    hidden_size : int, default=25
        Number of units of each direction.

    References
    ----------
    Lample et al. (2016), section 4.1, for the LSTM; Ahmed et al. (2020) for the GRU.
    """

    def __init__(self, n_characters: int, cell: str = "gru", embedding_dim: int = 25, hidden_size: int = 25) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n_characters, embedding_dim, padding_idx=0)
        self.recurrent = BidirectionalRecurrent(embedding_dim, hidden_size, cell=cell)
        self.output_size = self.recurrent.output_size

    def forward(self, characters: Tensor) -> Tensor:
        """Encode character classes (n_words, longest word) to vectors (n_words, 2 * hidden_size)."""
        lengths = (characters > 0).sum(1).clamp(min=1)
        out = self.embedding.weight.new_zeros(len(characters), self.output_size)
        # On a GPU one call for all words is faster: grouping by length would wait for the lengths.
        if lengths.is_cuda:
            return self._read(characters, lengths)
        group = torch.bucketize(lengths, torch.tensor(_LENGTH_BORDERS, device=lengths.device))
        for number in range(len(_LENGTH_BORDERS) + 1):
            (rows,) = torch.where(group == number)
            if len(rows):
                some = lengths[rows]
                out = out.index_copy(0, rows, self._read(characters[rows, : int(some.max())], some).to(out.dtype))
        return out

    def _read(self, characters: Tensor, lengths: Tensor) -> Tensor:
        # shape: (n_words, longest word, 2 * hidden_size)
        states = self.recurrent(self.embedding(characters), lengths)
        half = states.shape[2] // 2
        # shape: (n_words, 1, hidden_size): place of the last character
        last = (lengths - 1)[:, None, None].expand(-1, 1, half)
        # The forward direction has read the whole word at its last character, the backward direction at its first.
        return torch.cat([states[:, :, :half].gather(1, last).squeeze(1), states[:, 0, half:]], 1)


class WordEncoder(nn.Module):
    """Concatenate all features of a word.

    Parameters
    ----------
    n_casings : int
        Number of casing classes. The casing of a word is a one-hot vector.
    characters : CharacterCNN, CharacterRNN or None
        Encoder of the characters. None leaves characters out.
    n_shapes : int, default=0
        Number of word-shape classes. 0 leaves shapes out.
    shape_dim : int, default=25
        Width of a shape vector.
    vector_dim : int, default=0
        Width of the fixed word vectors. 0 leaves word vectors out.
    """

    def __init__(
        self,
        n_casings: int,
        characters: CharacterCNN | CharacterRNN | None,
        n_shapes: int = 0,
        shape_dim: int = 25,
        vector_dim: int = 0,
    ) -> None:
        super().__init__()
        self.n_casings, self.vector_dim = n_casings, vector_dim
        self.characters = characters
        self.shapes = nn.Embedding(n_shapes, shape_dim) if n_shapes else None
        self.output_size = n_casings + vector_dim + (shape_dim if n_shapes else 0)
        self.output_size += characters.output_size if characters is not None else 0

    def forward(self, features: dict[str, Tensor]) -> Tensor:
        """Encode the features of all words to vectors of shape (n_words, output_size)."""
        # shape of each part: (n_words, width of the part)
        parts = [F.one_hot(features["casing"], self.n_casings).float()]
        if self.vector_dim:
            parts.append(features["vectors"])
        if self.characters is not None:
            parts.append(self.characters(features["characters"]))
        if self.shapes is not None:
            parts.append(self.shapes(features["shape"]))
        return torch.cat(parts, dim=1)
