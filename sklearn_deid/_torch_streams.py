"""Random numbers of a training, apart from those of its caller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

__all__ = ["own_torch_stream"]


@contextmanager
def own_torch_stream(rng: np.random.Generator, device: torch.device) -> Iterator[None]:
    """PyTorch's global stream, seeded from rng for a while and then put back.

    First weights and dropout draw from that stream; without this a training would depend on what ran before it.

    Parameters
    ----------
    rng : numpy.random.Generator
        Gives one number.
    device : torch.device
        Where dropout is drawn.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sklearn_deid._torch_streams import own_torch_stream
    >>> def number():
    ...     with own_torch_stream(np.random.default_rng(0), torch.device("cpu")):
    ...         return torch.rand(1).item()
    >>> number() == number()
    True
    """
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(int(rng.integers(2**31)))
        yield
