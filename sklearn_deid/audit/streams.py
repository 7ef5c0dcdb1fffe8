"""Where attacks take their randomness from, and how patients are divided between an attacker's steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..tagging.splits import hold_out_patients

__all__ = ["random_streams", "three_patient_splits"]


def random_streams(
    random_state: Any, device: torch.device | str = "cpu"
) -> tuple[np.random.Generator, torch.Generator]:
    """A generator for the order of things and one for what is drawn on the device.

    Parameters
    ----------
    random_state : int, numpy Generator or RandomState, or None
        None draws from the operating system; an int always gives the same streams.
    device : torch.device or str, default="cpu"

    Examples
    --------
    >>> from sklearn_deid.audit.streams import random_streams
    >>> bool(random_streams(0)[0].random() == random_streams(0)[0].random())
    True
    """
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    rng = np.random.default_rng(random_state)
    return rng, torch.Generator(device).manual_seed(int(rng.integers(2**62)))


def three_patient_splits(
    n: int, groups: np.ndarray | None, seed: int, shares: tuple[float, float] = (0.2, 0.3)
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows from which the attacker learns, by which he chooses, and on which he is measured; no patient twice.

    Parameters
    ----------
    n : int
        Number of sentences.
    groups : ndarray of shape (n,) or None
        Patient of each sentence; with None every sentence counts as a patient.
    seed : int
    shares : (float, float), default=(0.2, 0.3)
        Shares of the patients by which he chooses, and on which he is measured.

    Returns
    -------
    train, valid, test : ndarray

    Raises
    ------
    SequenceError
        If there are fewer than three patients.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit import three_patient_splits
    >>> [len(rows) for rows in three_patient_splits(20, np.repeat(np.arange(10), 2), seed=0)]
    [10, 4, 6]
    """
    rest, test = hold_out_patients(n, groups, shares[1], seed)
    left = None if groups is None else np.asarray(groups)[rest]
    # The number of patients is rounded up: without this, 2.0000001 patients would be 3.
    train, valid = hold_out_patients(len(rest), left, shares[0] / (1.0 - shares[1]) - 1e-9, seed)
    assert test is not None and valid is not None  # both shares hold something out
    return rest[train], rest[valid], np.asarray(test)
