"""`RotatingPatients`: patients who test the downloads of a site in turn, and are left out of the pass before."""

from __future__ import annotations

from typing import Any

import numpy as np

# As the value of ``validation_fraction``.
ROTATING = "rotating"
_MOST_TURNS = 10


class RotatingPatients:
    """A tenth of the patients, at least one, tests downloads in each pass over the notes, in turn.

    The patients of a pass are left out of the pass. A download is then tested on patients whom the worker has not read
    since the previous download, and the training uses all notes. The patients of the previous pass are read twice
    instead, so that all patients are read equally often. With a single patient, nobody is left out.

    Parameters
    ----------
    patients : ndarray of shape (n_rows,)
        Patient of each sentence.
    seed : int
        Random seed of the order of the patients.

    Attributes
    ----------
    n_turns : int
        Number of turns.
    leaves_out : bool
        Whether the patients of a pass are left out of the pass.

    Examples
    --------
    >>> import numpy as np
    >>> rotating = RotatingPatients(np.array(["a", "a", "b", "c"]), seed=0)
    >>> rotating.n_turns, sorted(rotating.rows(0).tolist() + rotating.rows(1).tolist() + rotating.rows(2).tolist())
    (3, [0, 1, 2, 3])
    """

    def __init__(self, patients: np.ndarray, seed: int) -> None:
        names, self._turn_of = np.unique(patients, return_inverse=True)
        self.n_turns = min(_MOST_TURNS, len(names))
        self.leaves_out = self.n_turns > 1
        # shape: (n_patients,): equal numbers of patients in each turn, in a random order
        turn = np.random.default_rng(seed).permutation(np.arange(len(names)) % self.n_turns)
        self._turn_of = turn[self._turn_of]
        self._items: list[np.ndarray] = []
        self._tests: list[Any] = []

    @classmethod
    def of(cls, tagger: Any, part: Any, own: list[np.ndarray], train: list[Any], seed: int) -> RotatingPatients:
        """Create the turns of a worker's patients; successive epochs of the worker train on different data sets.

        Parameters
        ----------
        tagger : DeidTagger
            Initialized tagger, which encodes the sentences of the tests.
        part : WorkerData
            Sentences of the worker.
        own : list of ndarray
            Sentences of each data set.
        train : list of SwappingDataset
            Data sets of the training.
        seed : int
            Random seed.
        """
        rotating = cls(np.arange(len(part.X)) if part.groups is None else part.groups, seed)
        rotating._items = [rows[data.first_rows] for rows, data in zip(own, train, strict=True)]
        chosen = map(rotating.rows, range(rotating.n_turns))
        rotating._tests = [tagger._training_data(part.X, part.tags, None, rows, held_out=True) for rows in chosen]
        return rotating

    def begin_epoch(self, data: Any, n_epochs: int) -> None:
        """Leave the patients of the pass out of the data set of the next epoch, after ``n_epochs`` epochs."""
        if self.leaves_out:
            n_passes, number = divmod(n_epochs, len(self._items))
            data.drawn = self.drawn(self._items[number], n_passes)

    def tests(self, n_epochs: int) -> Any:
        """Data set that tests a download after ``n_epochs`` epochs: the patients who were left out of the last pass."""
        return self._tests[max(0, n_epochs - 1) // len(self._items) % self.n_turns]

    def rows(self, n_passes: int) -> np.ndarray:
        """Sentences of the patients whose turn is the pass with this number."""
        return np.flatnonzero(self._turn_of == n_passes % self.n_turns)

    def drawn(self, rows: np.ndarray, n_passes: int) -> np.ndarray:
        """Items of the next epoch: none of left-out patients, twice those of the previous pass, once all others.

        Parameters
        ----------
        rows : ndarray of shape (n_items,)
            A sentence of each item, from which its patient follows.
        n_passes : int
            Number of passes before this epoch.
        """
        turn = self._turn_of[rows]
        kept, again = turn != n_passes % self.n_turns, turn == (n_passes - 1) % self.n_turns
        # One part of very few sentences may hold sentences of a single turn: an epoch must read something.
        return np.concatenate([np.flatnonzero(kept), np.flatnonzero(again)]) if kept.any() else np.arange(len(rows))
