"""Casing and lengths: pick a sentence by released casing and length, and test whether vectors encode the casing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...metrics import Estimate
from ...sequences import TokenSequences
from ...text import CASING_CLASSES, casing_ids
from ..audit_data import first_of_each
from ..protocol import AttackResult
from ..released_step import REPRESENTATION
from .casing_draws import CASING_LEVEL, DrawnCasing, drawn_casing_checks
from .declaration import AttackPreset, check_least, timed
from .noise_checks import alarms
from .untrained import UntrainedAttack

# Probability that an intact release raises the alarm.
FALSE_ALARM = 5e-4
_POSITIVE_BAR = 0.99
_LEAK = (
    "The vectors encode the casing of the tokens, but the release states that the casing is not shared. The vectors "
    "of a casing class differ from the vectors of an intact release by {:.1f} standard errors. Chance explains at "
    "most {:.1f}."
)


@dataclass(frozen=True, repr=False)
class OpenSentences:
    """Sentences of a release, with the properties that were released in addition to the vectors.

    The object contains words of notes.

    Attributes
    ----------
    X : TokenSequences of n sentences
        Original words, for the measurement and as candidates.
    casing : ndarray of int, shape (n_tokens,), or None
        Released casing classes; None if the casing was not released.
    groups : ndarray of shape (n,) or None
        Patient of each sentence.
    """

    X: TokenSequences
    casing: np.ndarray | None
    groups: np.ndarray | None


@dataclass(frozen=True, repr=False)
class VectorsBesideOwn:
    """Released vectors, and vectors of the same sentences with noise that the audit drew as stated.

    Attributes
    ----------
    X : TokenSequences of n sentences
        Original words of the distinct sentences: equal sentences of a release have equal noise.
    left, own : ndarray of shape (n_tokens, d)
        Released vectors, and vectors with noise drawn by the audit.
    template : ndarray of shape (n_tokens, d)
        Vectors without noise.
    grid : float
        Step of the grid of the vectors.
    """

    X: TokenSequences
    left: np.ndarray
    own: np.ndarray
    template: np.ndarray
    grid: float


class CasingLengthsAttack(UntrainedAttack):
    """Pick the original of a released sentence among unrelated sentences, without reading the vectors.

    The number of tokens is part of every release. The casing classes are released as columns if the representer has
    ``casing=True``. The attacker keeps the candidates with the same number of tokens and the same casing classes, and
    guesses one of these candidates at random. The release declares these properties as open: the result does not lower
    the score, and an audit reports the result as a warning. The baseline is the same attack on the properties that the
    release declares.

    If the release declares that it contains no casing, the attack also tests the vectors. For each token, the audit
    draws a second vector from the published network. The attack compares three features of both vectors: the numbers of
    the vector, the squared distances of the numbers from the noise-free template, and the parity of the grid steps. If
    the release is as stated, both vectors have the same distribution, so that the difference of a feature is symmetric
    for each sentence. The test statistic of a casing class is the sum of the differences over its tokens, divided by
    the root of the sum of squares over the sentences. The absolute value of this statistic then exceeds t with a
    probability of at most ``2 exp(-t^2 / 2)``, for any number of sentences (Hoeffding). The limit t is chosen so that
    this bound, summed over all classes, features and dimensions, is ``FALSE_ALARM``.

    If the release declares that the casing was drawn, exact tests compare the classes with the stated randomised
    response (see ``casing_draws``).

    Parameters
    ----------
    n_candidates : int, default=100
        Number of candidates, the original included.
    confidence : float in (0, 1), default=0.95
        Confidence level of the interval.
    random_state : int, Generator or None, default=None
        Random seed of the candidates.

    References
    ----------
    Efron (1969), Student's t-test under symmetry conditions, JASA 64, for self-normalised sums of symmetric variables.

    Examples
    --------
    >>> from sklearn_deid.audit.attacks import CasingLengthsAttack, OpenSentences
    >>> from sklearn_deid.sequences import TokenSequences
    >>> X = TokenSequences.from_rows([["no", "pain"], ["No", "pain"], ["MRI", "soon"], ["left"]])
    >>> attack = CasingLengthsAttack(n_candidates=4, random_state=0).fit()
    >>> attack.attack(OpenSentences(X, None, None)).attack.value  # three sentences of two tokens, and one of one
    0.5
    """

    key = "casing_lengths"
    family = "casing"
    title = "Casing and lengths"
    order = 25
    releases = (REPRESENTATION,)
    presets = (AttackPreset("casing_lengths", "Casing and number of tokens alone", 3.0, 1.0, quick=True),)
    phrase = (
        "An attacker who reads only the data that are declared open picks the right sentence among unrelated "
        "sentences in {} of cases"
    )
    name = "casing and lengths"
    attacker = "A recipient with a list of unrelated sentences, who reads the number of tokens and the released casing."
    measure = (
        "share of sentences that are picked among unrelated sentences; guessing also uses the data that are declared "
        "open"
    )

    def __init__(self, *, n_candidates: int = 100, confidence: float = 0.95, random_state: Any = None) -> None:
        check_least(2, n_candidates=n_candidates)
        self.n_candidates, self.confidence, self.random_state = n_candidates, confidence, random_state

    def run(self, release: Any) -> list[AttackResult]:
        """Attack the measured sentences. If the release declares that it contains no casing, test the vectors of all
        sentences."""
        data = release.data
        shown = OpenSentences(data.X[data.test], release.casing("test"), data.groups_of(data.test))
        # The audit reads the casing from the manifest, and the vectors prove or disprove the manifest.
        beside = [] if release.has_casing else [release.beside_own(part) for part in data.parts]
        return [self.fit().attack(shown, beside, release.drawn_casing)]

    @timed
    def attack(
        self,
        released: OpenSentences,
        beside: list[VectorsBesideOwn] | None = None,
        drawn: DrawnCasing | None = None,
    ) -> AttackResult:
        """Pick each sentence among candidates, and test for casing that should not have been released.

        Parameters
        ----------
        released : OpenSentences
            Measured sentences.
        beside : list of VectorsBesideOwn, optional
            Vectors of a release that is declared to contain no casing.
        drawn : DrawnCasing, optional
            Casing classes of a release that declares that its classes were drawn by randomised response.

        Raises
        ------
        ValueError
            If there are fewer than two distinct sentences.
        """
        rows, candidates = self._candidates(released.X)
        n_tokens: list[tuple[int, ...]] = [(n,) for n in released.X.lengths.tolist()]
        known = _split(casing_ids(released.X.data.tolist()), released.X)
        lengths = hits = _picked(rows, candidates, n_tokens, n_tokens)
        if released.casing is not None:
            hits = _picked(rows, candidates, _split(released.casing, released.X), known)
        words = _split(np.unique(released.X.data.astype(str), return_inverse=True)[1].reshape(-1), released.X)
        groups = rows if released.groups is None else np.asarray(released.groups)[rows]
        found = Estimate.from_hits(hits, groups, self.confidence)
        details = {
            "by the number of tokens alone": float(lengths.mean()),
            "guessing among all candidates": 1.0 / candidates.shape[1],
        }
        furthest, limit = _furthest(beside) if beside else (0.0, 0.0)
        if beside:
            details |= {"furthest casing class, standard errors": furthest, "limit": limit}
        return self.result(
            found,
            # Properties that are declared open need no attack. The attack is therefore compared with a guess from these
            # properties.
            Estimate.exact(found.value),
            Estimate.from_hits(_picked(rows, candidates, words, words)),
            _POSITIVE_BAR,
            faults=self._faults(furthest, limit, drawn),
            settings={"open_by_declaration": True, "casing_left": released.casing is not None},
            details=details,
        )

    @staticmethod
    def _faults(furthest: float, limit: float, drawn: DrawnCasing | None) -> tuple[str, ...]:
        failed = [] if drawn is None else alarms(drawn_casing_checks(drawn), CASING_LEVEL)[0]
        leaks = [] if furthest <= limit else [_LEAK.format(furthest, limit)]
        return (*leaks, *dict.fromkeys(check.fault for check in failed))

    def _candidates(self, X: TokenSequences) -> tuple[np.ndarray, np.ndarray]:
        """Measured rows, and distinct candidates for each row, shape (n, C); the first candidate is the row itself."""
        rows = first_of_each(X)
        if len(rows) < 2:
            raise ValueError("Picking a sentence needs at least two distinct sentences.")
        rng, n_others = np.random.default_rng(self.random_state), min(self.n_candidates, len(rows)) - 1
        others = [rng.choice(len(rows) - 1, n_others, replace=False) for _ in rows]
        # Positions from the own position on are shifted by one, so that a row is never its own competitor.
        shifted = [chosen + (chosen >= i) for i, chosen in enumerate(others)]
        return rows, np.column_stack([rows, rows[np.array(shifted)]])


def _split(values: np.ndarray, X: TokenSequences) -> list[tuple[int, ...]]:
    """Values of each sentence."""
    return [tuple(part.tolist()) for part in np.split(values, X.offsets[1:-1])]


def _picked(
    rows: np.ndarray, candidates: np.ndarray, shown: list[tuple[int, ...]], known: list[tuple[int, ...]]
) -> np.ndarray:
    """Expected success of a guess among the candidates that have the released properties, shape (n,)."""
    numbers: dict[tuple[int, ...], int] = {}
    seen, own = (np.array([numbers.setdefault(one, len(numbers)) for one in some]) for some in (shown, known))
    fitting = own[candidates] == seen[rows][:, None]
    # The first candidate is the original. If no candidate fits, the attacker guesses among all.
    chance = fitting[:, 0] / np.maximum(fitting.sum(axis=1), 1)
    return np.where(fitting.any(axis=1), chance, 1.0 / candidates.shape[1])


def _furthest(beside: list[VectorsBesideOwn]) -> tuple[float, float]:
    """Largest standardised sum over the classes, features and dimensions, and the limit of this sum in a release as
    stated."""
    sums = squares = np.zeros(1)
    for part in beside:
        # shape: (n_sentences, n_classes, n_features)
        by_sentence = _by_sentence(part)
        sums = sums + by_sentence.sum(axis=0)
        squares = squares + (by_sentence**2).sum(axis=0)
    tests = int(np.count_nonzero(squares))
    z = np.abs(sums) / np.sqrt(np.where(squares > 0.0, squares, 1.0))
    return float(z.max(initial=0.0)), math.sqrt(2.0 * math.log(2.0 * max(tests, 1) / FALSE_ALARM))


def _by_sentence(part: VectorsBesideOwn) -> np.ndarray:
    """Sums of the differences over the tokens of each class, shape (n_sentences, n_classes, n_features)."""
    difference = _features(part, part.left) - _features(part, part.own)
    # shape: (n_tokens, n_classes); centred, so that a shift of all tokens does not count as casing
    is_class = np.eye(len(CASING_CLASSES))[casing_ids(part.X.data.tolist())]
    weights = is_class - is_class.mean(axis=0)
    starts = part.X.offsets[:-1][part.X.lengths > 0]
    out = np.zeros((len(part.X), weights.shape[1], difference.shape[1]))
    for c, column in enumerate(weights.T):
        out[part.X.lengths > 0, c] = np.add.reduceat(column[:, None] * difference, starts, axis=0)
    return out


def _features(part: VectorsBesideOwn, vectors: np.ndarray) -> np.ndarray:
    """Numbers, squared distances from the template, and parities of the grid steps, shape (n_tokens, 3 d)."""
    values = vectors.astype(np.float64)
    return np.hstack([values, (values - part.template) ** 2, np.rint(values / part.grid) % 2.0])
