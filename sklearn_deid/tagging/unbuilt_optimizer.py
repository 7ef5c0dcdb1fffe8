"""`UnbuiltOptimizer`: placeholder for the optimizer of a loaded tagger until its first training."""

from __future__ import annotations

from typing import Any

from torch.optim import Optimizer


class UnbuiltOptimizer(Optimizer):
    """Optimizer without parameters.

    When an optimizer is built, torch imports its compiler, which takes two seconds. A tagger that only tags needs no
    optimizer.

    Examples
    --------
    >>> UnbuiltOptimizer().param_groups
    []
    """

    def __init__(self) -> None:
        # Not the constructor of torch, which imports the compiler and refuses an empty list.
        self.defaults: dict[str, Any] = {}
        self.state: Any = {}
        self.param_groups: list[dict[str, Any]] = []

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Refuse to train."""
        raise RuntimeError("The optimizer of a loaded tagger is built by 'fit' or 'partial_fit'.")
