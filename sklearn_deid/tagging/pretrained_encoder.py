"""`PretrainedEncoder`: a pretrained language model as the encoder of a `DeidTagger`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor, nn

from .._compat import Interval, StrOptions, check_constraints
from .._optional import import_optional
from ..exceptions import BundleError
from .pretrained_network import SpecialPieces

_LAYER = re.compile(r"(?:^|\.)(?:layer|layers|block|h)\.(\d+)\.")


def layer_rates(named_parameters: Iterable[tuple[str, nn.Parameter]], lr: float, decay: float) -> list[dict[str, Any]]:
    """Parameter groups for an optimizer, with a learning rate that falls from the highest to the lowest layer.

    The highest layer has the rate ``lr``. The rate of each lower layer is ``decay`` times the rate of the layer above.
    Parameters outside the layers count as below the lowest layer if their name contains "embed", and as part of the
    highest layer otherwise.

    Parameters
    ----------
    named_parameters : iterable of (str, Parameter)
        Names and parameters of a pretrained model.
    lr : float
        Learning rate of the highest layer.
    decay : float
        Factor between the rates of neighbouring layers.

    Returns
    -------
    list of dict
        One dict for each depth, from low to high, with the keys "params" and "lr".

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
        # Embeddings are below the first layer. All other parameters outside of the layers count as the highest layer.
        depth = int(match[1]) + 1 if match else 0 if "embed" in name else highest
        depths.setdefault(depth, []).append(p)
    return [{"params": depths[depth], "lr": lr * decay ** (highest - depth)} for depth in sorted(depths)]


# Largest number of sub-words of one token. Longer runs of letters without a space are not words, and only such a run is
# cut: the encoder reads all tokens of a note.
_MOST_PIECES = 64
_PURPOSE = "PretrainedEncoder"


@dataclass(repr=False, eq=False)
class PretrainedFiles:
    """Configuration and tokenizer of a pretrained encoder (library transformers).

    Parameters
    ----------
    config : dict
        Result of ``model.config.to_dict()``.
    tokenizer : str
        JSON of a fast tokenizer (library tokenizers).
    special : dict of str to int or None
        Numbers of the "begin", "end", "padding" and "unknown" sub-words. None if the model has no such sub-word.
    longest : int
        Largest number of sub-words that the model can read at once, special sub-words included.
    source : str, optional
        Folder or name on the hub from which `new_model` loads the weights. Without a source the weights are random.
    """

    config: dict[str, Any]
    tokenizer: str
    special: dict[str, int | None]
    longest: int
    source: str | None = None

    @classmethod
    def load(cls, source: str) -> PretrainedFiles:
        """Load configuration and tokenizer from a local folder or the hub, without executing code of the model.

        Parameters
        ----------
        source : str
            Local folder, or name on the Hugging Face hub.

        Raises
        ------
        BundleError
            If the model cannot be loaded, or has no fast tokenizer.
        """
        transformers = import_optional("transformers", extra="transformers", purpose=_PURPOSE)
        try:
            config = transformers.AutoConfig.from_pretrained(source, trust_remote_code=False)
            # Some tokenizers encode the space before a word: `add_prefix_space` gives the sub-words of a word inside a
            # sentence.
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                source, use_fast=True, add_prefix_space=True, trust_remote_code=False
            )
        except (OSError, ValueError, KeyError) as error:
            raise _no_model(source) from error
        if not getattr(tokenizer, "is_fast", False):
            raise BundleError("The pretrained model has no fast tokenizer (tokenizer.json), which is needed here.")

        def piece(*names: str) -> int | None:
            found = (getattr(tokenizer, f"{name}_token_id", None) for name in names)
            return next((number for number in found if number is not None), None)

        padding = piece("pad")
        special = {"begin": piece("cls", "bos"), "end": piece("sep", "eos"), "padding": padding or 0}
        special["unknown"] = piece("unk", "mask", "pad")
        longest = min(int(tokenizer.model_max_length), _positions(config))
        return cls(config.to_dict(), tokenizer.backend_tokenizer.to_str(), special, longest, source)

    def new_model(self) -> nn.Module:
        """Build the network, with the weights of ``source`` or with random weights."""
        transformers = import_optional("transformers", extra="transformers", purpose=_PURPOSE)
        if self.source is not None:
            # Other weight formats than safetensors are pickles, and loading a pickle can execute foreign code.
            kinds = {"use_safetensors": True, "trust_remote_code": False}
            try:
                model = transformers.AutoModel.from_pretrained(self.source, **kinds)
            except OSError as error:
                raise _no_model(self.source) from error
        else:
            settings = {k: v for k, v in self.config.items() if k not in ("model_type", "auto_map")}
            config = transformers.AutoConfig.for_model(self.config["model_type"], **settings)
            model = transformers.AutoModel.from_config(config, trust_remote_code=False)
        if getattr(model, "pooler", None) is not None:
            # The pooler computes one vector for the whole text. The tagger needs token vectors only.
            model.pooler = None
        return model

    def features(self, words: list[str]) -> dict[str, Tensor]:
        """Sub-words of each word: "pieces" of shape (n_words, most) and "n_pieces" of shape (n_words,)."""
        encoded = self._encoder().encode_batch(
            [[word] for word in words], is_pretokenized=True, add_special_tokens=False
        )
        unknown = self.special["unknown"] or 0
        # Some characters have no sub-word at all: such a token becomes the unknown sub-word.
        ids = [encoding.ids[:_MOST_PIECES] or [unknown] for encoding in encoded]
        counts = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
        # shape: (n_words, most), padded on the right
        pieces = np.zeros((len(ids), counts.max() if len(ids) else 1), dtype=np.int64)
        pieces[np.arange(pieces.shape[1]) < counts[:, None]] = [piece for row in ids for piece in row]
        return {"pieces": torch.from_numpy(pieces), "n_pieces": torch.from_numpy(counts)}

    def special_pieces(self) -> SpecialPieces:
        """Special sub-words before, after and in the padding of a window."""
        return SpecialPieces(self.special["begin"], self.special["end"], self.special["padding"] or 0)

    def to_state(self) -> dict[str, Any]:
        """State as JSON values, without ``source`` and without private entries of the configuration."""
        names = ("config", "tokenizer", "special", "longest")
        state = {name: getattr(self, name) for name in names}
        return {**state, "config": {k: v for k, v in self.config.items() if not k.startswith("_")}}

    def _encoder(self) -> Any:
        tokenizers = import_optional("tokenizers", extra="transformers", purpose=_PURPOSE)
        encoder = tokenizers.Tokenizer.from_str(self.tokenizer)
        # A saved tokenizer may be set to truncate and pad, and truncation would lose text.
        encoder.no_truncation()
        encoder.no_padding()
        return encoder


def _no_model(source: str) -> BundleError:
    return BundleError(
        "There is no pretrained model that the library transformers can read. A folder needs config.json, "
        "tokenizer.json and weights in safetensors; a model of the hub needs a download.",
        path=source,
    )


def _positions(config: Any) -> int:
    """Number of positions of a model that are free for sub-words."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions is None or positions <= 0:
        return 512
    # Some models count positions from the number of the padding sub-word on, so that the first positions are unused.
    counts_from_padding = getattr(config, "model_type", "") in _COUNT_FROM_PADDING
    return int(positions) - ((config.pad_token_id or 0) + 1 if counts_from_padding else 0)


_COUNT_FROM_PADDING = {"roberta", "xlm-roberta", "camembert", "longformer", "mpnet", "xlm-roberta-xl"}


class PretrainedEncoder(BaseEstimator):
    """Pretrained language model (library transformers) as the ``encoder`` of a `DeidTagger`.

    Parameters
    ----------
    model : str or path, optional
        Local folder, or name on the Hugging Face hub (if downloads are allowed). The model must have safetensors
        weights and a fast tokenizer (``tokenizer.json``). The library never executes code that comes with a model.
    pooling : {"first", "mean"}, default="first"
        Vector of a token: the vector of its first sub-word, or the mean over its sub-words.
    frozen : bool, default=False
        Whether to keep the weights of the model and train only the layers on top.
    lr : float, default=1e-4
        Learning rate of the highest layer of the model. The layers on top of the model train with the ``lr`` of the
        tagger. The learning rates of the model and of the layers on top follow the same schedule.
    layer_decay : float in (0, 1], default=0.9
        Factor between the learning rate of a layer and the rate of the layer above.
    window : int or None, default=None
        Largest number of sub-words that the model reads at once. None is the limit of the model.
    overlap : int, default=64
        Number of sub-words that neighbouring windows share. The model reads longer texts in overlapping windows.
        Only tokens of more than 64 sub-words are truncated.

    See Also
    --------
    DeidTagger : Tagger with this object as ``encoder``.

    References
    ----------
    Devlin et al. (2019), BERT.
    Howard & Ruder (2018), Universal language model fine-tuning for text classification, section 3.2, for the learning
    rates of layers.

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags

    def load_files(self) -> PretrainedFiles:
        """Load configuration and tokenizer of the model.

        Raises
        ------
        ValueError
            If ``model`` is None.
        """
        check_constraints(self)
        if self.model is None:
            raise ValueError(
                "The 'model' parameter of PretrainedEncoder must be a folder or a name on the hub. Got None instead."
            )
        return PretrainedFiles.load(os.fspath(self.model))

    def window_size(self, longest: int) -> int:
        """Number of sub-words of a window, without special sub-words.

        Parameters
        ----------
        longest : int
            Largest number of sub-words that the model can read at once, special sub-words included.

        Raises
        ------
        ValueError
            If ``overlap`` is not below the size of the window.
        """
        size = longest - 2 if self.window is None else min(self.window, longest - 2)
        if self.overlap >= size:
            raise ValueError(
                f"The 'overlap' parameter of PretrainedEncoder must be below the window of {size} sub-words. "
                f"Got {self.overlap} instead."
            )
        return size
