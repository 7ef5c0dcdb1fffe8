"""From what is known of a word (characters, shape, casing, given vector) to one vector."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .characters import CharacterCNN, CharacterRNN

__all__ = ["WordEncoder"]


class WordEncoder(nn.Module):
    """Concatenate everything that is known of a word.

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
        parts = [F.one_hot(features["casing"], self.n_casings).float()]
        if self.vector_dim:
            parts.append(features["vectors"])
        if self.characters is not None:
            parts.append(self.characters(features["characters"]))
        if self.shapes is not None:
            parts.append(self.shapes(features["shape"]))
        return torch.cat(parts, dim=1)
