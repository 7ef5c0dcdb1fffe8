"""Shapes and types of the weights of a tagger, computed without memory for the weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from .network import build_tagger_module


class NoFirstValues(TorchFunctionMode):
    """Within this context manager, `torch.nn.init.normal_` does not change a tensor.

    With a tensor without memory, `normal_` imports the compiler of torch. This import takes longer than the rest of the
    start of a command.
    """

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is nn.init.normal_:
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


def network_shapes(tagger: Any) -> dict[str, Tensor]:
    """State of the network of a `DeidTagger`, whose classes and kind of input are known, as tensors without memory."""
    # Tensors on the device "meta" have a shape and a type, and no memory.
    with torch.device("meta"), NoFirstValues():
        return build_tagger_module(tagger).state_dict()
