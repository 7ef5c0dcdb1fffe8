"""Release of a saved folder whose sentences were matched with the original notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment

from ...exceptions import SequenceError
from ...representations.encoding import encode_sentences
from ...representations.randomized_casing import RandomizedCasing
from ...representations.sharing import SharedRepresentation
from ...sequences import TokenSequences, TokenVectors
from ...text import casing_ids
from ..attacks.lookup import log_likelihood_of_directions, log_likelihood_of_vectors
from ..attacks.saved_sentences import KnownNotes
from ..attacks.seed_search import SeedTarget
from ..audit_data import AuditData, first_of_each
from .representer import ReleasedRepresenter, published_network, unscaled
from .vector_release import items_of

_MOSTLY = 0.9  # if at least this share of the rows is certain, the order of the notes counts as known


@dataclass(frozen=True, repr=False)
class MatchedNotes:
    """Original notes of a released folder, and for each sentence of the notes its row in the folder.

    Attributes
    ----------
    X : TokenSequences of n sentences
        Words of the notes, in the order in which they were released.
    rows : ndarray of shape (n,)
        Row in the folder; -1 if unknown.
    sure : ndarray of bool, shape (n,)
        Whether length, tags and casing alone determine the row.
    y : TokenSequences of n tag sequences, or None
        Tags of the notes.
    groups : ndarray of shape (n,) or None
        Patient of each sentence.
    n_further_draws : int
        Number of rows of the folder that are further draws of the noise for a sentence that the folder also holds.
    """

    X: TokenSequences
    rows: np.ndarray
    sure: np.ndarray
    y: TokenSequences | None = None
    groups: np.ndarray | None = None
    n_further_draws: int = 0

    @property
    def known(self) -> KnownNotes:
        """Words, PHI and patients of the notes."""
        phi = None if self.y is None else np.array([tag != "O" for tag in self.y.data], dtype=bool)
        return KnownNotes(self.X, phi, self.groups, self.rows, self.n_further_draws)


class MatchedFile(ReleasedRepresenter):
    """Vectors of a saved folder, in the order of the notes, and the published network that made the vectors.

    Parameters
    ----------
    shared : SharedRepresentation
        Opened folder.
    representer : fitted PrivateRepresenter
        Published representer that made the vectors.
    data : AuditData
        Sentences of the audit.
    notes : MatchedNotes
        Original notes of the folder, see `matched_notes`.
    """

    can_repeat = False

    def __init__(self, shared: SharedRepresentation, representer: Any, data: AuditData, notes: MatchedNotes) -> None:
        self._shared, self._notes = shared, notes
        super().__init__(representer, data)
        self.is_seeded = False  # a seeded release cannot be saved

    @property
    def seed_target(self) -> SeedTarget:
        """All distinct sentences of the folder without their templates, in the order in which the notes were encoded.

        If few rows are certain, the search uses sums over sentences of equal length, because these sums do not depend
        on the matching.
        """
        first = first_of_each(self._notes.X)
        network, X = self.network, self._notes.X[first]
        plain = encode_sentences(network, self.representer._vectors, X, casing=False, generator=None)
        released = np.asarray(self._shared.X[self._notes.rows[first]].data)[:, : self._d]
        width = network.input_noise.size if network.input_noise.kind != "none" else 0
        in_order = bool(self._notes.sure[first].mean() > _MOSTLY)
        return SeedTarget(released - plain, X.lengths, width, in_order, items_of(self._notes.X, first))

    def _releases(self) -> dict[str, TokenVectors]:
        """Vectors of the folder; the audit makes no new release."""
        X = self._shared.X
        found = {part: X[self._notes.rows[self.data.rows[rows]]] for part, rows in self.data.parts.items()}
        return {part: TokenVectors(np.asarray(one.data), one.offsets, X.origin) for part, one in found.items()}

    def _certain(self, part: str) -> np.ndarray:
        return np.flatnonzero(self._notes.sure[self.data.rows[self.data.parts[part]]])

    @cached_property
    def _first(self) -> dict[str, np.ndarray]:
        """Distinct sentences with a certain row. If a row was chosen by likelihood, its noise would appear too small.

        All parts belong to one release, in which equal sentences of different parts have equal noise. Equal sentences
        with other tags have another row, and equal noise, too.
        """
        number, taken = _numbers_of(self._notes.X, range(len(self._notes.X))), set()
        found = {}
        for part, own in self.data.parts.items():
            first = []
            for i, sentence in enumerate(self.data.rows[own].tolist()):
                if self._notes.sure[sentence] and number[sentence] not in taken:
                    taken.add(number[sentence])
                    first.append(i)
            found[part] = np.array(first, dtype=np.int64)
        return found


def matched_notes(
    shared: SharedRepresentation, representer: Any, X: TokenSequences, y: TokenSequences, groups: Any = None
) -> MatchedNotes:
    """Match each sentence of the notes with its sentence in the folder.

    Sentences with equal length, tags and casing (if the casing is released without noise) are candidates. If the
    representer is given, the function chooses among several candidates by the assignment with the largest likelihood.

    Parameters
    ----------
    shared : SharedRepresentation
        Opened folder.
    representer : fitted PrivateRepresenter or None
        Published representer that made the vectors. Without the representer, the function finds only certain rows.
    X, y : TokenSequences of n sentences
        Words and tags of the original notes of the folder.
    groups : ndarray of shape (n,), optional
        Patient of each sentence.

    Returns
    -------
    MatchedNotes

    Raises
    ------
    SequenceError
        If the folder was not made from these notes.
    """
    own, there = candidates_of(shared, X, y)
    rows, sure = np.full(len(X), -1, dtype=np.int64), np.zeros(len(X), dtype=bool)
    rng, n_further_draws = np.random.default_rng(0), 0
    for key, members in own.items():
        # Rows are in random order. If the likelihood cannot decide, the matching must not follow the order of the file.
        found = rng.permutation(np.array(there[key]))
        number = _numbers_of(X, members)
        n_distinct = int(number.max()) + 1
        if n_distinct == len(found) == 1:
            rows[members], sure[members] = found[0], True
            continue
        if not n_distinct <= len(found) <= len(members):
            raise SequenceError("The notes are not those behind the release: one of them lacks some sentences.")
        if len(found) > n_distinct:  # copies of a sentence were released, perhaps with noise of their own
            n_draws = len({np.asarray(shared.X[row]).tobytes() for row in found.tolist()})
            n_further_draws += max(0, n_draws - n_distinct)
        if representer is not None:
            first = np.array(members)[np.unique(number, return_index=True)[1]]
            rows[members] = found[_assigned(_costs(shared, representer, X[first], found), number)]
    return MatchedNotes(X, rows, sure, y, groups, n_further_draws)


def candidates_of(
    shared: SharedRepresentation, X: TokenSequences, y: TokenSequences
) -> tuple[dict[Any, list[int]], dict[Any, list[int]]]:
    """Return the rows of the notes and the rows of the folder, grouped by length, tags and casing.

    Raises
    ------
    SequenceError
        If the notes have a kind of sentences that the folder lacks, or the folder has a kind that the notes lack.
    """
    assert shared.origin is not None
    # Drawn casing classes differ from the classes of the words.
    is_drawn = shared.origin.settings.get("casing") == RandomizedCasing.key
    d, casing = shared.origin.n_components, shared.origin.casing and not is_drawn
    classes = [casing_ids(X.data.tolist()), np.asarray(shared.X.data[:, d:]).argmax(axis=1) if casing else None]
    out = []
    for tags, offsets, shown in ((y, X.offsets, classes[0]), (shared.y, shared.X.offsets, classes[1])):
        rows = defaultdict(list)
        for i, row in enumerate(tags):
            seen = tuple(shown[offsets[i] : offsets[i + 1]].tolist()) if casing and shown is not None else ()
            rows[(tuple(row), seen)].append(i)
        out.append(dict(rows))
    n = len(set(out[0]) ^ set(out[1]))
    if n:
        raise SequenceError(
            f"The notes are not those behind the release: {n} kinds of sentences (length, tags, casing) are in "
            "only one of them."
        )
    return out[0], out[1]


def _numbers_of(X: TokenSequences, members: Iterable[int]) -> np.ndarray:
    """Number of the distinct sentence of each member."""
    number: dict[tuple[str, ...], int] = {}
    return np.array([number.setdefault(tuple(X[i]), len(number)) for i in members])


@torch.no_grad()
def _costs(shared: SharedRepresentation, representer: Any, X: TokenSequences, found: np.ndarray) -> np.ndarray:
    """Negative log-likelihood of each sentence and row of the folder; 0 for sentences without tokens."""
    network = published_network(representer)
    mean = encode_sentences(unscaled(network), representer._vectors, X, casing=False, generator=None)
    length = int(X.lengths[0])
    mu = torch.from_numpy(mean.reshape(len(X), length, -1))  # shape: (n, time, d)
    score = log_likelihood_of_directions if network.unit_norm else log_likelihood_of_vectors
    d, cost = mu.shape[2], np.zeros((len(X), len(found)))
    if not length:
        return cost
    for j, row in enumerate(found.tolist()):
        released = torch.from_numpy(np.array(shared.X[row][:, :d], dtype=np.float32))[None]
        cost[:, j] = -score(released, mu, network.output_std()).numpy()
    return cost


def _assigned(cost: np.ndarray, number: np.ndarray) -> np.ndarray:
    """For each copy of a sentence, the position among the rows of the folder in the most likely assignment.

    Each row belongs to a copy, and each sentence has a row: with more copies than rows, some copies share the row of
    the first copy.

    Parameters
    ----------
    cost : ndarray of shape (n_distinct, n_found)
        Negative log-likelihood of each sentence and row.
    number : ndarray of shape (n_copies,)
        Sentence of each copy.
    """
    n_distinct, n_found = cost.shape
    if n_found == n_distinct:
        return linear_sum_assignment(cost)[1][number]
    first = np.unique(number, return_index=True)[1]
    copies = cost[number]
    copies[first] -= (1.0 + np.ptp(cost)) * n_found  # no first copy remains without a row
    there, position = linear_sum_assignment(copies)
    found = np.full(len(number), -1, dtype=np.int64)
    found[there] = position
    return np.where(found < 0, found[first][number], found)
