"""End of a training of a `DSSGDEnsemble`: the taggers of the workers, and the message after an interruption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..tagging.tagger import DeidTagger
from ..tagging.training_loop import warn_of_interruption
from .history import History
from .worker import Worker


def ended_taggers(workers: Sequence[Worker], *, keeps_seeds: bool) -> list[DeidTagger]:
    """End the training of the learners, and return their taggers.

    Parameters
    ----------
    workers : sequence of Worker
        Workers with a `TaggerLearner`.
    keeps_seeds : bool
        Whether the taggers keep the random seeds of their training. With a seed, a recipient of a saved tagger could
        repeat the training on guesses of the notes.
    """
    taggers = []
    for worker in workers:
        learner: Any = worker.learner
        learner.stop()
        worker.settle()
        learner.finish()
        taggers.append(learner.tagger if keeps_seeds else learner.tagger.set_params(random_state=None))
    return taggers


def tell_interruption(history: History, workers: Sequence[Worker]) -> None:
    """Warn that Ctrl-C has ended a training; do nothing after a complete training.

    Raises
    ------
    KeyboardInterrupt
        If a worker has not completed a local epoch: its tagger, or the common network, could have its first weights.
    """
    if not history.interrupted:
        return
    n_epochs = Counter(record.worker for record in history)
    n_complete = min(n_epochs[worker.name] for worker in workers)
    if not n_complete:
        raise KeyboardInterrupt
    warn_of_interruption(
        f"The training of DSSGDEnsemble was interrupted after {n_complete} complete local epochs of each worker. The "
        "taggers find less PHI than after the whole training.",
        stacklevel=6,
    )
