"""Drawn surrogates: check that no original is left among surrogates, and that each call draws new surrogates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from unicodedata import category

import numpy as np
from scipy.stats import binom

from ...text import casing_ids
from ..protocol import AttackResult
from ..released_step import SURROGATES
from .check_results import check_result
from .declaration import AttackPreset, timed
from .kept_by_property import word_properties
from .untrained import UntrainedAttack
from .word_counts import alike, counted, folded_words, p_of_counts

# Probability that an intact release raises the alarm, over all comparisons together.
FALSE_ALARM = 5e-4
_KEPT = "The text contains more words of the originals than surrogates of other keys: originals were left."
_OTHERS = "Surrogates are words of other originals more often than those of other keys: they come from the notes."
_LETTERS = "Surrogates have {} of their originals more often than surrogates of other keys: they depend on the text."
_ALIKE = "A word has the same surrogate with several patients more often than under other keys: patients share a key."
_CASING = (
    "Surrogates have another casing than their originals more often than surrogates of other keys: it can carry bits."
)
_UNSEEN = "{} surrogates hold characters that cannot be seen and that their originals lack: they can carry bits."
_CALLS = "Two calls draw the same surrogates: anyone who makes a second release can check guesses."
_FORKS = "Surrogates depend on global random generators: forked processes draw the same surrogates."
_PROCESSES = "Two new processes draw the same surrogates."
# Shares of the level. Originals that were left are the gravest fault; eight comparisons have the last share.
_SHARES, _SHARE = {_KEPT: 0.5, _CALLS: 0.18}, 0.04
# Variation selectors, fillers and blanks that Unicode counts as marks, letters or symbols.
_IGNORED = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_CUTS = 8  # parts by an ordered property


@dataclass(frozen=True, repr=False)
class RepeatedSurrogates:
    """Words of the PHI tokens of several releases. The object contains words of notes.

    Attributes
    ----------
    originals, shown, again : ndarray of str, shape (n_tokens,)
        Words of the notes, of the release, and of a second call.
    own : sequence of ndarray of str, each of shape (n_tokens,)
        Words of releases that the audit makes with other keys, with the library's own code.
    patients, labels : ndarray of shape (n_tokens,)
        Patient and label of each token.
    further : sequence of ndarray of str, each of shape (n_tokens,), default=()
        Words of a call with the same state of the global random generators as ``again``, and of two calls in new
        processes; empty if these calls were not made.
    """

    originals: np.ndarray
    shown: np.ndarray
    again: np.ndarray
    own: Sequence[np.ndarray]
    patients: np.ndarray
    labels: np.ndarray
    further: Sequence[np.ndarray] = ()


class DrawnSurrogatesAttack(UntrainedAttack):
    """Compare the released surrogates with surrogates that the audit makes of the same notes with other keys.

    For each label of each patient, the attack counts the words that are equal to the original, in the release and in
    the audit's own r releases. If the release has the same distribution as the r own releases, its count is the single
    largest count with probability at most 1 / (r + 1). The tail probability of the number of these cases is therefore
    bounded by a binomial distribution. The attack tests this number over all patients, for each patient, for each
    label, and for words below or above a length, a frequency or a position in the release. In the same way, the attack
    tests the surrogates that are words of other originals, the words that a second call repeats, and the surrogates
    that have the first letter, the last letter or the length of the original. The attack also compares two calls in the
    same state of the global random generators, as in forked processes, and the calls of two new processes. The attack
    also pairs patients who have a word in common, and counts how often both patients have the same surrogate. The
    attack compares this count with the count in the first of the audit's own r releases. All comparisons together raise
    a false alarm with probability .0005, if draws for different labels of a patient are independent.

    A finding is a fault of the release and not a success rate: the result is invalid, and the release cannot pass the
    audit.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks import DrawnSurrogatesAttack, RepeatedSurrogates
    >>> rng = np.random.default_rng(0)
    >>> words, *more = rng.integers(0, 99, size=(7, 400)).astype(str)
    >>> patients, labels = np.repeat(np.arange(20), 20), np.tile(np.repeat(["CITY", "DATE"], 10), 20)
    >>> attack = DrawnSurrogatesAttack().fit(None)
    >>> attack.attack(RepeatedSurrogates(words, more[0], more[1], more[2:], patients, labels)).faults
    ()
    >>> kept = np.where(patients < 5, words, more[0])
    >>> len(attack.attack(RepeatedSurrogates(words, kept, more[1], more[2:], patients, labels)).faults)
    1
    """

    key = "drawn_surrogates"
    family = "drawn_surrogates"
    title = "Drawn surrogates"
    order = 63
    releases = (SURROGATES,)
    presets = (AttackPreset("drawn_surrogates", "Surrogates of other keys", 9.0, 6.0, quick=True),)
    phrase = "An attacker who compares a release with releases of other keys finds originals or repeats in {} of tests"
    name = "drawn surrogates"
    attacker = "A recipient of one or two releases who knows the method and the notes."
    measure = "share of comparisons in which originals were left or surrogates were repeated"

    def run(self, release: Any) -> list[AttackResult]:
        """Compare all PHI tokens and return the result."""
        return [self.fit(None).attack(release.repeated_surrogates)]

    @timed
    def attack(self, released: RepeatedSurrogates) -> AttackResult:
        """Compare the releases."""
        cells, members = _cells(released.patients, released.labels)
        written, unseen = [released.originals, released.shown, *released.own], _n_unseen(released)
        classes = [casing_ids(one.tolist()) for one in written]
        originals, shown, *own = map(folded_words, written)
        again, *further = map(folded_words, (released.again, *released.further))
        released = replace(released, originals=originals, shown=shown, again=again, own=own, further=further)
        parts = _parts(released)
        hits = {
            _KEPT: [one == originals for one in (shown, *released.own)],
            _OTHERS: [_is_among(one, originals) & (one != originals) for one in (shown, *released.own)],
            _CALLS: [one == shown for one in (released.again, *released.own)],
            _CASING: [one != classes[0] for one in classes[1:]],
        }
        for fault, (one, other) in zip((_FORKS, _PROCESSES), _repeated(released), strict=False):
            hits[fault] = [mine == other for mine in (one, *released.own)]
        for name, of in _PROPERTIES.items():
            # Words that are equal as a whole are counted above.
            hits[_LETTERS.format(name)] = [
                alike(originals, one, of) & (one != originals) for one in (shown, *released.own)
            ]
        p = {fault: _p_of_largest(np.stack(found), cells, members, parts) for fault, found in hits.items()}
        p[_ALIKE] = _p_of_alike(released)
        return check_result(
            self,
            [
                *([_UNSEEN.format(unseen)] if unseen else []),
                *(fault for fault, value in p.items() if value < FALSE_ALARM * _SHARES.get(fault, _SHARE)),
            ],
            len(p) + 1,
            settings={"level": FALSE_ALARM},
            details={"tokens": len(released.originals), "releases": 2 + len(released.further) + len(released.own)},
        )


def _repeated(released: RepeatedSurrogates) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of calls that must not draw the same surrogates: of forked processes, and of new processes."""
    if not released.further:
        return []
    forked, *processes = released.further
    return [(forked, released.again), *zip(processes[::2], processes[1::2], strict=False)]


def _is_among(words: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Whether each word is one of the other words. `numpy.isin` compares each word of one object array with each word
    of the other one."""
    known = set(others.tolist())
    return np.fromiter((word in known for word in words.tolist()), dtype=bool, count=len(words))


def _n_unseen(released: RepeatedSurrogates) -> int:
    """Number of surrogates with an invisible character or a space that the original lacks."""
    pairs = zip(released.originals.tolist(), released.shown.tolist(), strict=True)
    return sum(any(category(c)[0] in "CZ" or _IGNORED.match(c) for c in set(new) - set(old)) for old, new in pairs)


# Properties that surrogates of names and places may share with their originals only by chance, or as the method states.
_PROPERTIES: dict[str, Callable[[str], Any]] = {
    "the first letter": lambda word: word[:1],
    "the last letter": lambda word: word[-1:],
    "the length": len,
}


def _p_of_alike(released: RepeatedSurrogates) -> float:
    """Probability of at least as many equal surrogates of equal words. Each patient is in at most one pair."""
    own = released.own[0]
    # Only words that both releases replace are compared, because "Street" stays in many addresses.
    replaced = np.flatnonzero((released.shown != released.originals) & (own != released.originals))
    waiting: dict[tuple[str, str], int] = {}
    pairs: list[tuple[int, int]] = []
    paired: set[Any] = set()
    for i in replaced.tolist():
        other = waiting.setdefault((released.labels[i], released.originals[i]), i)
        two = {released.patients[i], released.patients[other]}
        if len(two) == 2 and not two & paired:
            pairs.append((other, i))
            paired |= two
        elif released.patients[other] in paired:
            waiting[released.labels[i], released.originals[i]] = i
    # Words of one patient depend on each other; disjoint pairs of patients do not.
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    theirs, ours = released.shown[first] == released.shown[second], own[first] == own[second]
    return p_of_counts(*counted(theirs, ours))


def _cells(patients: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of the cell of each token, and number of the patient of each cell; a cell is one label of one patient."""
    numbers = [np.unique(one, return_inverse=True)[1].reshape(-1) for one in (patients, labels)]
    pairs, cells = np.unique(np.stack(numbers, axis=1), axis=0, return_inverse=True)
    return cells.reshape(-1), pairs[:, 0]


def _parts(released: RepeatedSurrogates) -> list[np.ndarray]:
    """Groups of tokens: tokens of one label, of one kind of word, or below or above a value of an ordered property of
    the words."""
    groups, ordered = word_properties(released.originals.tolist())
    numbers = [np.unique(released.labels, return_inverse=True)[1].reshape(-1), groups["letters and digits"]]
    out = [one == number for one in numbers for number in np.unique(one)]
    for values in ordered.values():
        # Cuts are even over the tokens and over the values, because few words are long.
        distinct, shares = np.unique(values), np.arange(1, _CUTS) / _CUTS
        cuts = np.unique([np.quantile(one, shares, method="higher") for one in (values, distinct)])
        out += [side for cut in cuts for side in (values < cut, values >= cut)]
    return [part for part in out if 0 < part.sum() < len(part)]


def _p_of_largest(hits: np.ndarray, cells: np.ndarray, members: np.ndarray, parts: Sequence[np.ndarray]) -> float:
    """Upper bound of the probability that the first of several exchangeable rows has the largest count in at least as
    many cells as observed.

    Cells with a tie for the largest count are ignored. The result combines three tests (Bonferroni): all cells
    together, the most extreme member, and the most extreme part of the tokens.

    Parameters
    ----------
    hits : ndarray of bool, shape (r, n_tokens)
        Tokens that count, in each of r releases.
    cells : ndarray of int, shape (n_tokens,)
        Cell of each token.
    members : ndarray of int, shape (n_cells,)
        Member of each cell.
    parts : sequence of ndarray of bool, each of shape (n_tokens,)
        Parts of the tokens.
    """
    ours, n = _decided(hits, cells, len(members))
    chance = 1.0 / len(hits)
    by_member = binom.sf(np.bincount(members, ours) - 1, np.bincount(members, n), chance)
    of_parts = [[one.sum() for one in _decided(hits[:, part], cells[part], len(members))] for part in parts]
    own, total = np.array(of_parts, dtype=np.int64).reshape(-1, 2).T
    tails = [
        float(binom.sf(ours.sum() - 1, n.sum(), chance)),
        len(by_member) * by_member.min(initial=1.0),
        len(parts) * binom.sf(own - 1, total, chance).min(initial=1.0),
    ]
    return float(min(1.0, 3.0 * min(tails)))


def _decided(hits: np.ndarray, cells: np.ndarray, n_cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells in which the first row alone has the largest count, and cells in which any single row alone has the largest
    count."""
    counts = np.stack([np.bincount(cells, hit, n_cells) for hit in hits])
    largest = counts == counts.max(axis=0)
    decided = largest.sum(axis=0) == 1
    return (decided & largest[0]).astype(int), decided.astype(int)
