"""Where estimators take their random numbers from."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["own_generator"]


def own_generator(random_state: Any) -> np.random.Generator:
    """An own stream of numbers; the global one of NumPy is never asked.

    An integer gives the same stream at each call, None one from the operating system, and a RandomState gives another
    one each time.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
