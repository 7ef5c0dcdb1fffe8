"""Pretrained encoder of sub-words in a tagger: windows over long texts, and token vectors from sub-word vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

# Largest number of padded sub-words in one call of the model. The windows of a long note are read in blocks.
_CELLS = 16_384


class SpecialPieces(NamedTuple):
    """Numbers of the special sub-words before and after a window (None without such sub-words), and of the padding."""

    begin: int | None
    end: int | None
    padding: int


def piece_windows(n_pieces: int, size: int, overlap: int) -> list[tuple[int, int, int, int]]:
    """Borders of overlapping windows over a sequence, and of the part of each window that is used.

    Windows begin at multiples of ``size - overlap``, regardless of the length of the sequence. Further text at the end
    therefore changes only the last window. In an overlap, the results of each half come from the window whose middle is
    closer.

    Parameters
    ----------
    n_pieces : int
        Number of sub-words of the sequence.
    size : int
        Largest number of sub-words of a window.
    overlap : int
        Number of sub-words that neighbouring windows share. Must be below ``size``.

    Returns
    -------
    list of (start, stop, first used, end of used)
        One entry for each window.

    Examples
    --------
    >>> piece_windows(10, size=6, overlap=2)
    [(0, 6, 0, 5), (4, 10, 5, 10)]
    """
    # Starts are multiples of a stride. Centred or evenly spaced windows would change with every added line of the note.
    starts = list(range(0, max(n_pieces - overlap, 1), size - overlap))
    # In the overlap of two windows each window keeps its own half, where more context surrounds the sub-words.
    borders = [0, *(start + overlap // 2 for start in starts[1:]), n_pieces]
    return [(start, min(start + size, n_pieces), borders[i], borders[i + 1]) for i, start in enumerate(starts)]


class PretrainedTokenEncoder(nn.Module):
    """Token vectors from a pretrained model of sub-words.

    Parameters
    ----------
    model : nn.Module
        Encoder of the library transformers. The arguments are ``input_ids`` and ``attention_mask``, the result has a
        ``last_hidden_state``.
    special : SpecialPieces
        Special sub-words of the model.
    window : int
        Largest number of sub-words of a window, without special sub-words.
    overlap : int, default=64
        Number of sub-words that neighbouring windows share.
    pooling : {"first", "mean"}, default="first"
        Vector of a token: the vector of its first sub-word, or the mean over its sub-words.
    frozen : bool, default=False
        Whether to keep the weights of the model. The dropout of a frozen model is off.

    References
    ----------
    Devlin et al. (2019), BERT, section 5.3, for the first sub-word.
    """

    def __init__(
        self,
        model: nn.Module,
        special: SpecialPieces,
        window: int,
        overlap: int = 64,
        pooling: str = "first",
        frozen: bool = False,
    ) -> None:
        super().__init__()
        self.model, self.special, self.window, self.overlap = model, special, window, overlap
        self.pooling, self.frozen = pooling, frozen
        config: Any = model.config
        self.output_size = int(config.hidden_size)
        for p in model.parameters():
            p.requires_grad_(not frozen)

    def train(self, mode: bool = True) -> PretrainedTokenEncoder:
        """Set the training mode. A frozen model always stays in evaluation mode."""
        super().train(mode)
        if self.frozen:
            self.model.eval()
        return self

    def forward(self, features: dict[str, Tensor], words: Tensor, lengths: Tensor) -> Tensor:
        """Token vectors of shape (units, time, d). Padded positions hold zeros.

        Parameters
        ----------
        features : mapping
            "pieces": padded sub-words of each word, shape (n_words, most). "n_pieces": number of sub-words of each
            word, at least 1, shape (n_words,).
        words : LongTensor of shape (units, time)
            Row of each token in ``features``.
        lengths : LongTensor of shape (units,)
            Number of tokens of each unit.
        """
        on = torch.arange(words.shape[1], device=words.device) < lengths.unsqueeze(1)
        token = words[on]
        # shape: (n_tokens,)
        counts = features["n_pieces"][token]
        pieces = features["pieces"][token]
        # shape: (n_pieces,): the sub-words of all tokens, one after the other
        stream = pieces[torch.arange(pieces.shape[1], device=words.device) < counts.unsqueeze(1)]
        per_unit = torch.zeros_like(words).masked_scatter(on, counts).sum(1).tolist()
        vectors = self._pooled(self._read(stream, per_unit), counts)
        out = vectors.new_zeros(*words.shape, vectors.shape[1])
        return out.masked_scatter(on.unsqueeze(2), vectors)

    def _pooled(self, pieces: Tensor, counts: Tensor) -> Tensor:
        """Pool the vectors of sub-words (n_pieces, d) to vectors of tokens (n_tokens, d)."""
        if self.pooling == "first":
            return pieces[counts.cumsum(0) - counts]
        # shape: (n_pieces,): number of the token of each sub-word
        token = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
        total = pieces.new_zeros(len(counts), pieces.shape[1]).index_add(0, token, pieces)
        return total / counts.unsqueeze(1)

    def _read(self, stream: Tensor, per_unit: list[int]) -> Tensor:
        """Vectors of all sub-words of the batch, shape (n_pieces, d)."""
        windows, base = [], 0
        for n in per_unit:
            windows += [
                tuple(base + place for place in window) for window in piece_windows(n, self.window, self.overlap)
            ]
            base += n
        # Windows of similar length are read together, which needs the least padding.
        windows.sort(key=lambda window: window[1] - window[0])
        # The loop takes blocks from the end of the list, so that the longest windows come first.
        vectors, places = [], []
        while windows:
            longest = windows[-1][1] - windows[-1][0]
            block = windows[-max(1, _CELLS // longest) :]
            del windows[-len(block) :]
            hidden = self._read_windows(stream, block)
            for row, (start, _, first, end) in zip(hidden, block, strict=True):
                vectors.append(row[first - start : end - start])
                places.append(torch.arange(first, end, device=stream.device))
        # Each sub-word occurs once. The sort restores the order of the sub-words.
        return torch.cat(vectors)[torch.cat(places).argsort()]

    def _read_windows(self, stream: Tensor, windows: list[Any]) -> Tensor:
        """Vectors of the sub-words of each window, shape (windows, longest, d), without special sub-words."""
        begin, end, padding = self.special
        start, stop = (torch.tensor([w[i] for w in windows], device=stream.device) for i in (0, 1))
        size = stop - start
        place = torch.arange(int(size.max()), device=stream.device)
        inside = place < size.unsqueeze(1)
        # shape: (windows, longest + 2), with a place for a special sub-word on either side
        ids = stream.new_full((len(windows), len(place) + 2), padding)
        ids[:, 1:-1] = torch.where(inside, stream[(start.unsqueeze(1) + place).clamp(max=len(stream) - 1)], padding)
        seen = torch.zeros_like(ids, dtype=torch.bool)
        seen[:, 1:-1] = inside
        if begin is not None:
            ids[:, 0], seen[:, 0] = begin, True
        if end is not None:
            row = torch.arange(len(windows), device=stream.device)
            ids[row, size + 1], seen[row, size + 1] = end, True
        # Without a special sub-word at the beginning, position 0 belongs to the first sub-word of the text.
        skipped = int(begin is None)
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            hidden = self.model(input_ids=ids[:, skipped:], attention_mask=seen[:, skipped:].long()).last_hidden_state
        first = 1 - skipped
        return hidden[:, first : first + len(place)]
