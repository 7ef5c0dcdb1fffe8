"""Equal states of the global random generators, as in forked processes."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from ..audit_data import AuditData
from .new_processes import released_in_new_processes


@contextmanager
def same_global_state() -> Iterator[Callable[[], None]]:
    """Yield a function that resets the global random generators to their first state; restore the generators at the
    end."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()

    def reset() -> None:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])

    try:
        yield reset
    finally:
        reset()


def repeated_draws(perturber: Any, data: AuditData) -> list[Any]:
    """Draw four further releases of all notes.

    Two releases are drawn in the same state of the global random generators, and two releases in new processes.
    """
    drawing, found = [copy.copy(perturber) for _ in range(4)], []
    for number, one in enumerate(drawing, 1):
        if one.random_state is not None:
            # A seeded step repeats itself on purpose; other seeds must not.
            one.random_state = (data.seed + number) % 2**32
    with same_global_state() as reset:
        for one in drawing[:2]:
            reset()
            found.append(one.sample(data.X, data.y, data.groups))
    return found + released_in_new_processes(drawing[2:], "sample", data.X, data.y, data.groups)
