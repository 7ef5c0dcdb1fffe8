"""Checks of a saved release by its bytes alone: repeated vectors, order of the sentences, and wrong statements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm, poisson, rankdata

from ..._randomness import n_signed_zeros
from ..protocol import AttackResult
from ..released_step import RELEASE_FILE
from .check_results import FILE_LEVEL, check_result
from .declaration import AttackPreset, AuditAttack, timed
from .noise_checks import Check, alarms

_FEWEST = 20


@dataclass(frozen=True, repr=False)
class SavedSentences:
    """Content of a saved release, in the order of the file.

    Attributes
    ----------
    vectors : ndarray of shape (n_tokens, d)
        Vectors without casing columns.
    offsets : ndarray of shape (n_sentences + 1,)
        Position of the first token of each sentence, and the number of tokens at the end.
    phi : ndarray of bool, shape (n_tokens,)
        Whether the tag of each token is PHI.
    groups : ndarray of shape (n_sentences,) or None
        Released number of the patient of each sentence.
    shuffled : bool
        Whether the file states that its sentences are in random order.
    std, grid : float
        Stated smallest standard deviation of the noise, and step of the grid before any scaling to length 1.
    original : ndarray of shape (n_sentences,) or None
        Row of each sentence in the original notes as far as it is known, -1 elsewhere. Wrong rows can hide an order but
        cannot create one, if the rows were matched without the order of the file.
    statements : tuple of str
        Statements of the file that are wrong without any test, one sentence each.
    """

    vectors: np.ndarray
    offsets: np.ndarray
    phi: np.ndarray
    groups: np.ndarray | None
    shuffled: bool
    std: float
    grid: float
    original: np.ndarray | None = None
    statements: tuple[str, ...] = ()


class FileCheck(AuditAttack):
    """Read a saved release as an outsider does, and test the statements of its manifest.

    The check finds equal vectors in different sentences (repeated noise), zeros with a minus sign, and an order that is
    not random although the file says so. Without the notes, an order shows in neighbouring sentences with similar
    lengths, PHI or patients. With the notes the positions are compared directly. All tests of the order together raise
    a false alarm with probability .0002.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks import FileCheck, SavedSentences
    >>> vectors = np.random.default_rng(0).normal(size=(120, 6))
    >>> offsets, none = np.arange(0, 121, 2), np.zeros(120, bool)
    >>> kept = SavedSentences(vectors, offsets, none, None, True, 0.5, 2.0**-6, original=np.arange(60))
    >>> FileCheck().attack(kept).faults
    ('The sentences are in the order of the notes, although the file says that they were shuffled.',)
    """

    key = "file"
    family = "file"
    title = "Statements of a saved release"
    order = 9
    releases = (RELEASE_FILE,)
    presets = (AttackPreset("file", "Statements of a saved release", 100.0, 0.5, quick=True),)
    name = "statements of the file"
    threat = "representation"
    attacker = "A stranger who has nothing but the saved folder, or who knows the notes behind it, too."
    measure = "share of tests in which the folder is not what its manifest states"
    phrase = "An attacker who reads the folder finds a wrong statement in {} of tests"

    def run(self, release: Any) -> list[AttackResult]:
        """Check the folder."""
        return [self.fit().attack(release.saved_sentences)]

    def fit(self, knowledge: None = None) -> FileCheck:
        """Nothing to learn."""
        return self

    @timed
    def attack(self, released: SavedSentences) -> AttackResult:
        """Check the content of a folder."""
        checks = list(_order_checks(released)) if released.shuffled else []
        failed, n_checks = alarms(checks, FILE_LEVEL) if checks else ([], 0)
        equal = repeated_vectors(released)
        faults = [*released.statements, *(check.fault for check in failed)]
        signed = n_signed_zeros(released.vectors)
        if signed:
            faults.append(f"{signed} zeros have a minus sign, which tells about the numbers before they were rounded.")
        if equal:
            faults.append(f"{equal} tokens have exactly the vector of a token in another sentence: noise was repeated.")
        return check_result(
            self,
            faults,
            n_checks + 2,
            settings={"level": FILE_LEVEL},
            details={
                "sentences": len(released.offsets) - 1,
                "tests of the order": len(checks),
                "tokens with a repeated vector": equal,
                "sentences matched to the notes": 0
                if released.original is None
                else int((released.original >= 0).sum()),
            },
        )


def repeated_vectors(released: SavedSentences) -> int:
    """Number of tokens whose vector occurs in an earlier sentence; 0 if rounding may explain this."""
    n, d = released.vectors.shape
    # Independent noise hits the same cell of the grid with probability grid / (2 sqrt(pi) std) in each dimension, at
    # most, and any two of n tokens do with at most n^2 / 2 times the product.
    cell = min(1.0, released.grid / max(3.5 * released.std, 1e-300))
    if not n or n**2 / 2.0 * cell**d > 1e-6:
        return 0
    rows = np.ascontiguousarray(released.vectors).view(np.dtype((np.void, released.vectors.dtype.itemsize * d))).ravel()
    _, first, number = np.unique(rows, return_index=True, return_inverse=True)
    sentence = np.repeat(np.arange(len(released.offsets) - 1), np.diff(released.offsets))
    return int((sentence[first[number]] != sentence).sum())


def _order_checks(released: SavedSentences) -> Iterator[Check]:
    """Tests of a random order, each by the distribution over all permutations."""
    kept = "The sentences are not in random order, although the file says that they were shuffled: neighbours have "
    lengths = np.diff(released.offsets).astype(np.float64)
    sentence = np.repeat(np.arange(len(lengths)), np.diff(released.offsets))
    share = np.bincount(sentence, weights=released.phi, minlength=len(lengths)) / np.maximum(lengths, 1.0)
    for name, values in (("like lengths.", lengths), ("like shares of PHI.", share)):
        if len(values) >= _FEWEST and values.std() > 0:
            yield Check("order", _p_of_neighbours(values), kept + name)
    if released.groups is not None and len(lengths) >= _FEWEST:
        sizes, n = np.unique(released.groups, return_counts=True)[1], len(lengths)
        expected = float((sizes * (sizes - 1)).sum()) / n
        same = int((released.groups[1:] == released.groups[:-1]).sum())
        # The number of neighbours of one patient is about Poisson; a variance that is smaller makes the test milder.
        yield Check("order", float(poisson.sf(same - 1, max(expected, 1e-9))), kept + "equal patients.")
    if released.original is not None:
        rows = released.original[released.original >= 0]
        if len(rows) >= _FEWEST:
            told = "The sentences are in the order of the notes, although the file says that they were shuffled."
            ranks = np.argsort(np.argsort(rows)).astype(np.float64)
            r = float(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1])
            yield Check("order", float(2.0 * norm.sf(abs(r) * np.sqrt(len(ranks) - 1))), told)
            together = int((np.abs(np.diff(ranks)) == 1).sum())
            yield Check("order", float(poisson.sf(together - 1, 2.0)), told)
            # Each of 2n steps between neighbours is expected once at most; a regular order repeats one of them.
            most = int(np.unique(np.diff(ranks), return_counts=True)[1].max())
            yield Check("order", min(1.0, 2.0 * len(ranks) * float(poisson.sf(most - 1, 1.0))), told)


def _p_of_neighbours(values: np.ndarray) -> float:
    """Serial correlation of neighbours: under all permutations its mean is -1/(n-1), its variance about 1/n."""
    n = len(values)
    # Long sentences would dominate the sum, whose distribution would then be far from normal.
    values = rankdata(values)
    centred = values - values.mean()
    r = float((centred[1:] * centred[:-1]).sum() / np.square(centred).sum())
    return float(2.0 * norm.sf(abs(r + 1.0 / n) * np.sqrt(n)))
