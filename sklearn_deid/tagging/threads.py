"""Number of threads of PyTorch, which loads slowly and which models of rules do not need."""

from __future__ import annotations

import os
import sys


def use_threads(n: int) -> None:
    """Let PyTorch compute with a number of threads, also if a model loads it later.

    Parameters
    ----------
    n : int
        Number of threads, at least 1.

    Examples
    --------
    >>> use_threads(1)
    """
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(n)
    else:
        os.environ["OMP_NUM_THREADS"] = str(n)  # which PyTorch reads when it is loaded
