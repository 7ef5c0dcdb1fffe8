"""Equal states of the global random generators, as forked processes have them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def same_global_state() -> Iterator[Callable[[], None]]:
    """Give a function that resets the global random generators to their first state; restore them at the end."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()

    def reset() -> None:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])

    try:
        yield reset
    finally:
        reset()
