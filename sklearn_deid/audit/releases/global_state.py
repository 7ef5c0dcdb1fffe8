"""Equal states of the global random generators, as forked processes have them."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from ..audit_data import AuditData


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


def repeated_draws(perturber: Any, data: AuditData, n: int) -> list[Any]:
    """Draw further releases of all notes, each in the same state of the global random generators."""
    drawing, found = copy.copy(perturber), []
    with same_global_state() as reset:
        for number in range(1, n + 1):
            if drawing.random_state is not None:
                # A seeded step repeats itself on purpose; other seeds must not.
                drawing.random_state = (data.seed + number) % 2**32
            reset()
            found.append(drawing.sample(data.X, data.y, data.groups))
    return found
