"""Learning rates of the layers of a pretrained encoder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from torch import nn

__all__ = ["layer_rates"]

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
