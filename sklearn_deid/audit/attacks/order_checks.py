"""Tests of the random draws in a saved release: the order of the sentences, and the patient numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtr
from scipy.stats import poisson

from ...sequences import TokenSequences
from .noise_checks import Check
from .order_keys import FEWEST, digests_of, p_of_order, ranks_of, text_keys
from .saved_sentences import KnownNotes, SavedSentences
from .seeded_orders import seeded_numbers, seeded_order

_MOST_ROWS = 4096  # number of sentences whose digests are computed; more sentences do not make a fault clearer
_SHUFFLED = "although the file says that they were shuffled"


def order_checks(released: SavedSentences) -> Iterator[Check]:
    """Tests of the order of the sentences; each test statistic has a known distribution over all permutations."""
    lengths = np.diff(released.offsets).astype(np.float64)
    if len(lengths) < FEWEST:
        return
    sentence = np.repeat(np.arange(len(lengths)), np.diff(released.offsets))

    def means(values: np.ndarray) -> np.ndarray:
        return np.bincount(sentence, weights=values, minlength=len(lengths)) / np.maximum(lengths, 1.0)

    yield from _key_checks("their lengths", lengths, like="like lengths")
    yield from _key_checks("their shares of PHI", means(released.phi), like="like shares of PHI")
    for j, column in enumerate(np.asarray(released.vectors, dtype=np.float64).T):
        yield from _key_checks(f"their mean vectors in dimension {j}", means(column), like="like vectors")
    if released.groups is not None:
        yield _of_patients(released.groups)
    if released.original is not None:
        known = released.original >= 0
        rows = released.original[known]
        yield from _of_the_notes(rows, np.flatnonzero(known))
        if released.groups is None and released.notes is not None and released.notes.patients is not None and len(rows):
            yield _of_patients(np.unique(released.notes.patients, return_inverse=True)[1].reshape(-1)[rows])
        if released.notes is not None:
            yield from _of_texts(released.original, released.notes.X)
            yield _of_a_seed(released.original, released.notes)


def number_checks(released: SavedSentences) -> Iterator[Check]:
    """Tests whether patient numbers depend on the patients: order in the notes, names, or number of sentences."""
    notes = released.notes
    if released.groups is None or released.original is None or notes is None or notes.patients is None:
        return
    known = released.original >= 0
    rows, numbers = released.original[known], released.groups[known]
    ids, own = np.unique(notes.patients, return_inverse=True)
    first = np.unique(own, return_index=True)[1]
    whose = _owners(numbers, own.reshape(-1)[rows])
    names = [str(ids[i]) for i in whose]
    keys = {
        "the notes": first[whose],
        "their ids": whose,
        "their ids as text": ranks_of(names),
        "their numbers of sentences": np.bincount(own.reshape(-1))[whose],
    }
    keys |= {f"the {name} digests of their ids": ranks_of(values) for name, values in digests_of(names)}
    # The library numbers patients in the order of the release. Other programs may number by the order in the notes or
    # by id.
    for places in (np.argsort(np.argsort(first))[whose], whose):
        name, p = seeded_numbers(places, len(ids))
        yield Check("numbers", p, f"The patient numbers are those of {name}: anyone who tries the seeds reads them.")
    for name, values in keys.items():
        for p in p_of_order(np.asarray(values, dtype=np.float64)):
            yield Check("numbers", p, f"The patient numbers are in the order of {name}, and not drawn (p = {p:.1g}).")


def _owners(numbers: np.ndarray, own: np.ndarray) -> np.ndarray:
    """For each number in order, the patient of most sentences with this number."""
    # A sentence that occurs with several patients has the number of one of them.
    counts = np.zeros((int(numbers.max(initial=0)) + 1, int(own.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(counts, (numbers, own), 1)
    return counts[counts.any(axis=1)].argmax(axis=1)


def _key_checks(name: str, values: np.ndarray, *, like: str | None = None) -> Iterator[Check]:
    along, near = p_of_order(values)
    told = f"The sentences are in the order of {name}, {_SHUFFLED} (p = {{:.1g}})."
    yield Check("order", along, told.format(along))
    if like is None:
        yield Check("order", near, told.format(near))
    else:
        yield Check("order", near, f"The sentences are not in random order, {_SHUFFLED}: neighbours have {like}.")


def _of_patients(groups: np.ndarray) -> Check:
    sizes, n = np.unique(groups, return_counts=True)[1], len(groups)
    expected = float((sizes * (sizes - 1)).sum()) / n
    same = int((groups[1:] == groups[:-1]).sum())
    fault = f"The sentences are not in random order, {_SHUFFLED}: neighbours have equal patients."
    # The number of neighbours of one patient is about Poisson; a variance that is smaller makes the test milder.
    return Check("order", float(poisson.sf(same - 1, max(expected, 1e-9))), fault)


def _of_the_notes(rows: np.ndarray, places: np.ndarray) -> Iterator[Check]:
    """Tests against the order of the notes: equal order, neighbours that are still together, and regular distances."""
    if len(rows) < FEWEST:
        return
    told = f"The sentences are in the order of the notes, {_SHUFFLED}."
    ranks = np.argsort(np.argsort(rows)).astype(np.float64)
    r = float(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1])
    yield Check("order", float(2.0 * ndtr(-abs(r) * np.sqrt(len(ranks) - 1))), told)
    together = int((np.abs(np.diff(ranks)) == 1).sum())
    yield Check("order", float(poisson.sf(together - 1, 2.0)), told)
    # Places in the notes of neighbours in the file, and places in the file of neighbours in the notes. Each of 2n
    # differences or sums of two places is expected at most once. A regular order repeats one of them.
    for along in (ranks, rows, places[np.argsort(rows)]):
        for steps in (np.diff(along), along[1:] + along[:-1]):
            most = int(np.unique(steps, return_counts=True)[1].max())
            yield Check("order", min(1.0, 2.0 * (along.max() + 1.0) * float(poisson.sf(most - 1, 1.0))), told)


def _of_a_seed(original: np.ndarray, notes: KnownNotes) -> Check:
    """Test against the orders of generators with a small seed, which appear random."""
    # Copies are written once. Where the row of a sentence is not known, equal words with equal PHI are copies.
    parts = np.split(notes.marked, notes.X.offsets[1:-1])
    rows = np.full(len(notes.X), -1) if notes.rows is None else notes.rows
    keys = (
        (row,) if row >= 0 else (*map(str, words), part.tobytes())
        for words, part, row in zip(notes.X, parts, rows.tolist(), strict=True)
    )
    number: dict[tuple[Any, ...], int] = {}
    same_as = np.array([number.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.int64)
    name, p = seeded_order(original, same_as)
    fault = f"The order is the order of {name}: anyone who tries the seeds restores the order of the notes."
    return Check("order", p, fault)


def _of_texts(original: np.ndarray, X: TokenSequences) -> Iterator[Check]:
    """Tests against orders by a key that is computed from the words."""
    rows = original[original >= 0]
    if len(rows) < FEWEST:
        return
    # Every k-th sentence of a sorted release is sorted, too.
    rows = rows[:: max(1, -(-len(rows) // _MOST_ROWS))]
    for name, values in text_keys([list(map(str, X[row])) for row in rows.tolist()]):
        yield from _key_checks(name, values)
