"""`PretrainedEncoder`: which pretrained model a `DeidTagger` reads with, and how."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any

from sklearn.base import BaseEstimator

from .._compat import Interval, StrOptions, check_constraints
from .word_pieces import PretrainedFiles

__all__ = ["PretrainedEncoder", "as_pretrained"]


class PretrainedEncoder(BaseEstimator):
    """A pretrained encoder of the library transformers, as the ``pretrained`` parameter of `DeidTagger`.

    Parameters
    ----------
    model : str or path, optional
        Local folder, or name on the Hugging Face hub (where downloads are allowed). Weights must be there as
        safetensors, and a fast tokenizer (``tokenizer.json``); code that comes with a model is never executed.
    pooling : {"first", "mean"}, default="first"
        A token is its first sub-word, or the mean of all.
    frozen : bool, default=False
        Whether the model stays as it is and only the layer on top is trained.
    lr : float, default=1e-4
        Learning rate of the model's highest layer; rises and falls as ``lr`` of the tagger does, which is that of the
        layer on top.
    layer_decay : float in (0, 1], default=0.9
        Each layer has the learning rate of the one above times this.
    window : int or None, default=None
        Most sub-words that are read at once; None is what the model can read.
    overlap : int, default=64
        Sub-words that neighbouring windows share. Longer texts are read in overlapping windows; nothing is cut but
        single tokens of more than 64 sub-words.

    See Also
    --------
    DeidTagger : Takes it, or the name of a model, as ``pretrained``.

    References
    ----------
    Devlin et al. (2019), BERT; Howard & Ruder (2018), Universal language model fine-tuning for text classification,
    section 3.2, for the rates of layers.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, PretrainedEncoder
    >>> tagger = DeidTagger(encoder="pretrained", pretrained=PretrainedEncoder("models/clinical-bert", frozen=True))
    >>> tagger.set_params(pretrained__pooling="mean").pretrained.pooling
    'mean'
    """

    _parameter_constraints: dict[str, list] = {
        "model": [str, os.PathLike, None],
        "pooling": [StrOptions({"first", "mean"})],
        "frozen": ["boolean"],
        "lr": [Interval(Real, 0, None, closed="neither")],
        "layer_decay": [Interval(Real, 0, 1, closed="right")],
        "window": [Interval(Integral, 8, None, closed="left"), None],
        "overlap": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        model: Any = None,
        *,
        pooling: str = "first",
        frozen: bool = False,
        lr: float = 1e-4,
        layer_decay: float = 0.9,
        window: int | None = None,
        overlap: int = 64,
    ) -> None:
        self.model, self.pooling, self.frozen = model, pooling, frozen
        self.lr, self.layer_decay = lr, layer_decay
        self.window, self.overlap = window, overlap

    def load_files(self) -> PretrainedFiles:
        """Configuration and tokenizer of the model.

        Raises
        ------
        ValueError
            If no model is named.
        """
        check_constraints(self)
        if self.model is None:
            raise ValueError(
                "encoder='pretrained' needs a model: pretrained='folder or name on the hub', or a PretrainedEncoder."
            )
        return PretrainedFiles.load(os.fspath(self.model))

    def window_size(self, longest: int) -> int:
        """Sub-words of a window, the special ones not counted.

        Raises
        ------
        ValueError
            If the overlap leaves nothing of a window.
        """
        size = longest - 2 if self.window is None else min(self.window, longest - 2)
        if self.overlap >= size:
            raise ValueError(
                f"The 'overlap' parameter must be below the window of {size} sub-words. Got {self.overlap}."
            )
        return size


def as_pretrained(value: Any) -> PretrainedEncoder:
    """The ``pretrained`` parameter of `DeidTagger` as settings."""
    return value if isinstance(value, PretrainedEncoder) else PretrainedEncoder(value)
