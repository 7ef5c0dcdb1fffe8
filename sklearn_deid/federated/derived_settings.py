"""Settings of federated averaging that follow from the number of workers and of notes."""

from __future__ import annotations

import math

_STEPS_OF_A_ROUND = 20
# As in a `DeidTagger` with its default augmenter: few notes need more epochs to reach 3,000 batches.
_FEWEST_EPOCHS, _MOST_EPOCHS, _FEWEST_BATCHES = 20, 100, 3000


def divided_batch_size(batch_size: int, n_workers: int) -> int:
    """Batch size of each worker, such that a round has as many steps as an epoch on all notes in one place.

    Examples
    --------
    >>> divided_batch_size(900, 3)
    300
    """
    return max(1, round(batch_size / n_workers))


def averaging_rate(lr: float, n_workers: int) -> float:
    """Learning rate of each worker: the rate of the tagger times the square root of the number of workers.

    With the unchanged rate of the tagger, F1 of the common network is lower after the same number of rounds, on
    generated notes, MEDDOCAN and ASQ-PHI (``docs/federated.md``).

    Examples
    --------
    >>> averaging_rate(0.003, 4)
    0.006
    """
    return lr * math.sqrt(n_workers)


def worker_settings(batch_size: int, lr: float, n_workers: int, is_private: bool) -> dict[str, float]:
    """Batch size and learning rate of each worker. With noise on gradients, ``lr`` is unchanged: no other was measured.

    Examples
    --------
    >>> worker_settings(900, 0.003, 4, is_private=False)
    {'batch_size': 225, 'lr': 0.006}
    """
    rate = lr if is_private else averaging_rate(lr, n_workers)
    return {"batch_size": divided_batch_size(batch_size, n_workers), "lr": rate}


def rounds_per_epoch(n_tokens: int, batch_size: int) -> int:
    """Number of exchanges in a pass over the notes, so that workers train about 20 steps between two exchanges.

    With more steps, the workers' networks differ more, and the mean of the networks is worse.

    Parameters
    ----------
    n_tokens : int
        Tokens of all workers.
    batch_size : int
        Tokens in a batch of a training on all notes in one place.

    Examples
    --------
    >>> rounds_per_epoch(n_tokens=17_000, batch_size=900), rounds_per_epoch(n_tokens=84_000, batch_size=900)
    (1, 5)
    """
    return max(1, round(n_tokens / batch_size / _STEPS_OF_A_ROUND))


def averaging_step(n_workers: int) -> float:
    """Factor of the mean update: the square root of the number of workers.

    Updates from small batches consist mostly of noise. Averaging divides the norm of this noise by the same factor.

    Examples
    --------
    >>> averaging_step(4)
    2.0
    """
    return math.sqrt(n_workers)


def shared_epochs(n_tokens: int, batch_size: int) -> int:
    """Number of local epochs for the tokens of all workers together.

    Parameters
    ----------
    n_tokens : int
        Tokens of all workers.
    batch_size : int
        Tokens in a batch of a training on all notes in one place.

    Examples
    --------
    >>> shared_epochs(n_tokens=40_000, batch_size=900), shared_epochs(n_tokens=10_000_000, batch_size=900)
    (67, 20)
    """
    n_batches = max(1, math.ceil(n_tokens / batch_size))
    return max(_FEWEST_EPOCHS, min(_MOST_EPOCHS, math.ceil(_FEWEST_BATCHES / n_batches)))
