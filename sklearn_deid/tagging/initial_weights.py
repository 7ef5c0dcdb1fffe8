"""Initial weights for the network of a tagger, copied from a fitted tagger that may have other tags."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn.functional import pad

from ..surrogates.locale_words import LISTED_KINDS
from .batching import CONTEXT_MARKS
from .network import TaggerModule

# Weights with one row for each tag, and weights with a row and a column for each tag.
_BY_TAG = ("emit.weight", "emit.bias", "crf.start_transitions", "crf.end_transitions")
_BY_PAIR = ("crf.transitions",)
# Weights with one column for each input of the encoder: features of the word, then the marks of `ContextView` in
# networks that read several sentences.
_INPUTS = ("encoder.ahead.0.weight_ih_l0", "encoder.back.0.weight_ih_l0", "encoder.project.weight")


@torch.no_grad()
def copy_weights(
    target: TaggerModule, target_tags: Sequence[str], source: TaggerModule, source_tags: Sequence[str]
) -> bool:
    """Copy the weights of one network to another; tags are matched by name.

    Tags that only the target has keep their new weights, and so do transitions from or to these tags. Tags that only
    the source has are dropped. The target may read several sentences together although the source reads single
    sentences, and may read lists of words although the source reads no lists. At the start of the training, the
    additional inputs that mark sentences or listed words have no effect.

    Parameters
    ----------
    target, source : TaggerModule
        Networks. The weights of the target are overwritten in place.
    target_tags, source_tags : sequence of str
        Tags of the networks, in the order of their outputs.

    Returns
    -------
    bool
        False if the networks differ in more than their tags and the inputs that mark sentences or listed words. The
        target is then unchanged.

    Examples
    --------
    >>> from sklearn_deid.tagging import BidirectionalRecurrent, TaggerModule
    >>> old = TaggerModule(2, None, BidirectionalRecurrent(3, 4))
    >>> new = TaggerModule(3, None, BidirectionalRecurrent(3, 4))
    >>> copy_weights(new, ["O", "B-AGE", "B-DATE"], old, ["O", "B-DATE"])
    True
    >>> bool((new.emit.weight[[0, 2]] == old.emit.weight).all())
    True
    """
    new, old = target.state_dict(), source.state_dict()
    for name in _INPUTS:
        if name in new and name in old:
            old[name] = _with_new_inputs(old[name], new[name].shape[1], target, source)
    by_name = (*_BY_TAG, *_BY_PAIR)
    # Each row and column of ``by_name`` counts tags; all other sizes must agree.
    if {k: _width(k, v) for k, v in new.items()} != {k: _width(k, v) for k, v in old.items()}:
        return False
    number = {tag: i for i, tag in enumerate(source_tags)}
    rows = torch.tensor([i for i, tag in enumerate(target_tags) if tag in number], dtype=torch.long)
    known = torch.tensor([number[tag] for tag in target_tags if tag in number], dtype=torch.long)
    for name, value in new.items():
        there = old[name].to(value)
        if name not in by_name:
            value.copy_(there)
        elif name in _BY_PAIR:
            value[rows.unsqueeze(1), rows] = there[known.unsqueeze(1), known]
        else:
            value[rows] = there[known]
    return True


def _with_new_inputs(weight: torch.Tensor, n_inputs: int, target: TaggerModule, source: TaggerModule) -> torch.Tensor:
    """Weight with columns of zeros for the marks that only the target reads."""
    read, known = target.words, source.words
    if read is not None and known is not None and read.vector_dim == known.vector_dim + len(LISTED_KINDS):
        # The marks of lists are at the end of the word vector.
        before, after = weight.tensor_split([known.n_casings + known.vector_dim], dim=1)
        weight = torch.cat([pad(before, (0, len(LISTED_KINDS))), after], dim=1)
    return pad(weight, (0, CONTEXT_MARKS)) if weight.shape[1] + CONTEXT_MARKS == n_inputs else weight


def _width(name: str, value: torch.Tensor) -> tuple[int, ...]:
    """Shape of a weight without the dimensions that count tags."""
    if name in _BY_PAIR:
        return ()
    return tuple(value.shape[1:] if name in _BY_TAG else value.shape)
