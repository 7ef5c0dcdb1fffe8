"""`RotatingPatients`: each pass leaves out other patients of a site, whose notes then test the next downloads."""

from __future__ import annotations

from typing import Any

import numpy as np

# As the value of ``validation_fraction``.
ROTATING = "rotating"
_MOST_TURNS = 10


class RotatingPatients:
    """Each pass over the notes leaves out another tenth of the patients, at least one, to test downloads.

    A download is tested on patients on whom the worker has not trained since the previous download. Over all passes,
    the training uses all notes. Notes that a pass left out are read twice in the next pass, so that all notes are read
    equally often. With a single patient, no patient is left out.

    Parameters
    ----------
    patients : ndarray of shape (n_rows,)
        Patient of each sentence.
    seed : int
        Random seed of the order of the patients.
    fewest : int, default=1
        Smallest number of items of an epoch. If a pass would leave fewer items of a part, no patient is left out of
        this part.

    Attributes
    ----------
    n_turns : int
        Number of groups of patients who are left out in turn.
    leaves_out : bool
        Whether passes leave out patients. False with a single patient.

    Examples
    --------
    >>> import numpy as np
    >>> rotating = RotatingPatients(np.array(["a", "a", "b", "c"]), seed=0)
    >>> rotating.n_turns, sorted(rotating.rows(0).tolist() + rotating.rows(1).tolist() + rotating.rows(2).tolist())
    (3, [0, 1, 2, 3])
    """

    def __init__(self, patients: np.ndarray, seed: int, fewest: int = 1) -> None:
        self._fewest = fewest
        names, self._turn_of = np.unique(patients, return_inverse=True)
        self.n_turns = min(_MOST_TURNS, len(names))
        self.leaves_out = self.n_turns > 1
        # shape: (n_patients,): equal numbers of patients in each turn, in a random order
        turn = np.random.default_rng(seed).permutation(np.arange(len(names)) % self.n_turns)
        self._turn_of = turn[self._turn_of]
        self._items: list[np.ndarray] = []
        self._tests: list[Any] = []

    @classmethod
    def of(
        cls, tagger: Any, part: Any, own: list[np.ndarray], train: list[Any], seed: int, fewest: int = 1
    ) -> RotatingPatients:
        """Create the object for a worker whose successive epochs train on different data sets.

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
        seed, fewest : int
            Parameters of the constructor.
        """
        rotating = cls(np.arange(len(part.X)) if part.groups is None else part.groups, seed, fewest)
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
        """Data set for tests after ``n_epochs`` epochs: the notes of the patients whom the last pass left out."""
        return self._tests[max(0, n_epochs - 1) // len(self._items) % self.n_turns]

    def rows(self, n_passes: int) -> np.ndarray:
        """Sentences of the patients who are left out of the pass with this number."""
        return np.flatnonzero(self._turn_of == n_passes % self.n_turns)

    def drawn(self, rows: np.ndarray, n_passes: int) -> np.ndarray:
        """Items of the next epoch. Left-out patients are skipped; patients left out of the previous pass occur twice.

        Parameters
        ----------
        rows : ndarray of shape (n_items,)
            One sentence of each item, which determines the patient of the item.
        n_passes : int
            Number of passes before this epoch.
        """
        turn = self._turn_of[rows]
        # An epoch must read something, also of a part with the sentences of a single turn. The rule is that of all
        # passes, so that no patient who was not left out occurs twice.
        if len(rows) - np.bincount(turn, minlength=1).max() < self._fewest:
            return np.arange(len(rows))
        kept, again = turn != n_passes % self.n_turns, turn == (n_passes - 1) % self.n_turns
        return np.concatenate([np.flatnonzero(kept), np.flatnonzero(again)])
