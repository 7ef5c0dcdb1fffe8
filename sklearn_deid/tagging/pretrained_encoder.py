"""`PretrainedEncoder`: a pretrained model as the encoder of a `DeidTagger`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor, nn

from .._compat import Interval, StrOptions, check_constraints
from .._optional import import_optional
from .pretrained_network import SpecialPieces

_LAYER = re.compile(r"(?:^|\.)(?:layer|layers|block|h)\.(\d+)\.")


def layer_rates(named_parameters: Iterable[tuple[str, nn.Parameter]], lr: float, decay: float) -> list[dict[str, Any]]:
    """Groups of parameters for an optimizer: the highest layer has ``lr``, each below it ``decay`` times the one above.

    What stands in no layer counts as below all of them where its name says that it embeds, else as the highest.

    Examples
    --------
    >>> p = nn.Parameter()
    >>> names = ["embeddings.word.weight", "encoder.layer.0.weight", "encoder.layer.1.weight", "norm.weight"]
    >>> [(g["lr"], len(g["params"])) for g in layer_rates([(name, p) for name in names], 0.4, 0.5)]
    [(0.1, 1), (0.2, 1), (0.4, 2)]
    """
    depths: dict[int, list[nn.Parameter]] = {}
    found = [(_LAYER.search(name), name, p) for name, p in named_parameters]
    highest = max([int(match[1]) + 1 for match, _, _ in found if match], default=1)
    for match, name, p in found:
        depth = int(match[1]) + 1 if match else 0 if "embed" in name else highest
        depths.setdefault(depth, []).append(p)
    return [{"params": depths[depth], "lr": lr * decay ** (highest - depth)} for depth in sorted(depths)]


# Most sub-words of one word: longer runs of letters without a space are not words. A note is never cut.
_MOST_PIECES = 64
_PURPOSE = "PretrainedEncoder"


class PretrainedFiles:
    """Configuration and tokenizer of an encoder of the library transformers.

    Parameters
    ----------
    config : dict
        As ``model.config.to_dict()`` gives it.
    tokenizer : str
        JSON of a fast tokenizer (library tokenizers).
    special : dict of str to int or None
        "begin", "end", "padding" and "unknown" sub-words.
    longest : int
        Most sub-words that the model can read at once, special ones included.
    source : str, optional
        Folder or name on the hub from which `new_model` takes the weights; without it they are random.
    """

    def __init__(
        self,
        config: dict[str, Any],
        tokenizer: str,
        special: dict[str, int | None],
        longest: int,
        source: str | None = None,
    ) -> None:
        self.config, self.tokenizer, self.special, self.longest = config, tokenizer, special, longest
        self.source = source

    @classmethod
    def load(cls, source: str) -> PretrainedFiles:
        """From a local folder or the hub; nothing that comes with the model is executed.

        Raises
        ------
        ValueError
            If the model has no fast tokenizer.
        """
        transformers = import_optional("transformers", extra="transformers", purpose=_PURPOSE)
        config = transformers.AutoConfig.from_pretrained(source, trust_remote_code=False)
        # Sub-words of a word within a sentence, for tokenizers that see the space before it.
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            source, use_fast=True, add_prefix_space=True, trust_remote_code=False
        )
        if not getattr(tokenizer, "is_fast", False):
            raise ValueError("The pretrained model has no fast tokenizer (tokenizer.json), which is needed here.")

        def piece(*names: str) -> int | None:
            found = (getattr(tokenizer, f"{name}_token_id", None) for name in names)
            return next((number for number in found if number is not None), None)

        padding = piece("pad")
        special = {"begin": piece("cls", "bos"), "end": piece("sep", "eos"), "padding": padding or 0}
        special["unknown"] = piece("unk", "mask", "pad")
        longest = min(int(tokenizer.model_max_length), _positions(config))
        return cls(config.to_dict(), tokenizer.backend_tokenizer.to_str(), special, longest, source)

    def new_model(self) -> nn.Module:
        """The network, with the weights of ``source``."""
        transformers = import_optional("transformers", extra="transformers", purpose=_PURPOSE)
        if self.source is not None:
            # Weights in other formats than safetensors are pickles, which can execute what others wrote.
            model = transformers.AutoModel.from_pretrained(self.source, use_safetensors=True, trust_remote_code=False)
        else:
            settings = {k: v for k, v in self.config.items() if k not in ("model_type", "auto_map")}
            config = transformers.AutoConfig.for_model(self.config["model_type"], **settings)
            model = transformers.AutoModel.from_config(config, trust_remote_code=False)
        if getattr(model, "pooler", None) is not None:
            model.pooler = None  # a vector of the whole text: it is not read here, and no loss would train it
        return model

    def features(self, words: list[str]) -> dict[str, Tensor]:
        """Sub-words of words: "pieces" of shape (n_words, most) and "n_pieces" of shape (n_words,)."""
        encoded = self._encoder().encode_batch(
            [[word] for word in words], is_pretokenized=True, add_special_tokens=False
        )
        unknown = self.special["unknown"] or 0
        ids = [encoding.ids[:_MOST_PIECES] or [unknown] for encoding in encoded]  # some signs have no sub-word at all
        counts = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
        pieces = np.zeros((len(ids), counts.max() if len(ids) else 1), dtype=np.int64)
        pieces[np.arange(pieces.shape[1]) < counts[:, None]] = [piece for row in ids for piece in row]
        return {"pieces": torch.from_numpy(pieces), "n_pieces": torch.from_numpy(counts)}

    def special_pieces(self) -> SpecialPieces:
        """The sub-words around a window."""
        return SpecialPieces(self.special["begin"], self.special["end"], self.special["padding"] or 0)

    def to_state(self) -> dict[str, Any]:
        """JSON values, without where the model came from."""
        names = ("config", "tokenizer", "special", "longest")
        state = {name: getattr(self, name) for name in names}
        return {**state, "config": {k: v for k, v in self.config.items() if not k.startswith("_")}}

    def _encoder(self) -> Any:
        tokenizers = import_optional("tokenizers", extra="transformers", purpose=_PURPOSE)
        encoder = tokenizers.Tokenizer.from_str(self.tokenizer)
        # Saved tokenizers may cut and pad to the length that their authors liked.
        encoder.no_truncation()
        encoder.no_padding()
        return encoder


def _positions(config: Any) -> int:
    """Most positions of a model; those that count from behind the padding have fewer than they say."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions is None or positions <= 0:
        return 512
    counts_from_padding = getattr(config, "model_type", "") in _COUNT_FROM_PADDING
    return int(positions) - ((config.pad_token_id or 0) + 1 if counts_from_padding else 0)


_COUNT_FROM_PADDING = {"roberta", "xlm-roberta", "camembert", "longformer", "mpnet", "xlm-roberta-xl"}


class PretrainedEncoder(BaseEstimator):
    """A pretrained encoder of the library transformers, as the ``encoder`` of a `DeidTagger`.

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
    DeidTagger : Takes this object as ``encoder``.

    References
    ----------
    Devlin et al. (2019), BERT; Howard & Ruder (2018), Universal language model fine-tuning for text classification,
    section 3.2, for the rates of layers.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, PretrainedEncoder
    >>> tagger = DeidTagger(encoder=PretrainedEncoder("models/clinical-bert", frozen=True))
    >>> tagger.set_params(encoder__pooling="mean").encoder.pooling
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
                "The 'model' parameter of PretrainedEncoder must be a folder or a name on the hub. Got None instead."
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
