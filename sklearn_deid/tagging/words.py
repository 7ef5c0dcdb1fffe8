"""Vectors of words from their characters, shapes, casing and given vectors."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .encoders import BidirectionalRecurrent

# Words up to so many characters are read together: most are short, and one long word would pad them all.
_LENGTH_BORDERS = (4, 8, 14)


class CharacterCNN(nn.Module):
    """Convolution over the characters of a word, maximum over positions.

    Parameters
    ----------
    n_characters : int
        Number of character classes; class 0 is padding.
    embedding_dim : int, default=25
        Width of a character vector.
    n_filters : int, default=50
        Width of the result.
    width : int, default=3
        Characters seen by one filter.

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
        """(n_words, longest word) character classes to (n_words, n_filters).

        A filter is a sum over its places of something that depends on one character only, so each place gets a table
        (character class -> contribution) and the convolution is a sum of look-ups: the same numbers as a convolution of
        the embedded characters, at a third of its time on CPU.
        """
        # Padding that is common to all words costs time only.
        longest = max(1, int((characters > 0).sum(1).max()))
        kernel, bias = self.convolution.weight, self.convolution.bias
        assert bias is not None
        width = kernel.shape[2]
        padded = F.pad(characters[:, :longest], (width // 2, width - 1 - width // 2))
        total = self.embedding.weight.new_zeros(())
        for place in range(width):
            # shape: (n_characters, n_filters)
            table = self.embedding.weight @ kernel[:, :, place].t()
            total = total + F.embedding(padded[:, place : place + longest], table, padding_idx=0)
        # Positions after the end of a word must not count, or a word would depend on the longest word beside it.
        on = characters[:, :longest] > 0
        on[:, 0] = True
        return torch.where(on.unsqueeze(2), total, -torch.inf).amax(1) + bias


class CharacterRNN(nn.Module):
    """Bidirectional GRU or LSTM over the characters of a word.

    A word is the state after its last character of the one direction, and after its first one of the other.

    Parameters
    ----------
    n_characters : int
        Number of character classes; class 0 is padding.
    cell : {"gru", "lstm"}, default="gru"
    embedding_dim : int, default=25
        Width of a character vector.
    hidden_size : int, default=25
        Units of each direction.

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
        """(n_words, longest word) character classes to (n_words, 2 * hidden_size)."""
        lengths = (characters > 0).sum(1).clamp(min=1)
        out = self.embedding.weight.new_zeros(len(characters), self.output_size)
        if lengths.is_cuda:  # one launch for all beats looking at the lengths
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
        last = (lengths - 1)[:, None, None].expand(-1, 1, half)
        return torch.cat([states[:, :, :half].gather(1, last).squeeze(1), states[:, 0, half:]], 1)


class WordEncoder(nn.Module):
    """Concatenation of all features of a word.

    Parameters
    ----------
    n_casings : int
        Number of casing classes, given as one-hot.
    characters : CharacterCNN, CharacterRNN or None
    n_shapes : int, default=0
        Number of word-shape classes; 0 leaves shapes out.
    shape_dim : int, default=25
        Width of a shape vector.
    vector_dim : int, default=0
        Width of the given, fixed word vectors; 0 leaves them out.
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
        """Features of n_words words to (n_words, output_size)."""
        # each of shape (n_words, width)
        parts = [F.one_hot(features["casing"], self.n_casings).float()]
        if self.vector_dim:
            parts.append(features["vectors"])
        if self.characters is not None:
            parts.append(self.characters(features["characters"]))
        if self.shapes is not None:
            parts.append(self.shapes(features["shape"]))
        return torch.cat(parts, dim=1)
