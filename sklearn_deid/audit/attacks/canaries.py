"""Planted canaries: measure whether a tagger remembers a rare name from a few training sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np

from ...exceptions import SequenceError
from ...metrics import Estimate
from ...sequences import TokenSequences, check_groups, check_sequences, check_tags
from ..protocol import CONTROL_CONFIDENCE, AttackResult
from ..released_step import MODEL
from .declaration import AttackPreset, AuditAttack, timed
from .model_training import TrainingProcedure, losses_of, memorise, trained_on

_POSITIVE_BAR = 0.99


@dataclass(frozen=True, repr=False)
class CanaryKnowledge:
    """Names that may have been planted, and the sentence around them.

    Attributes
    ----------
    candidates : sequence of str
        Names of one kind, at least three for each canary. None of the names occurs in the training set.
    write : callable
        Function ``write(name)`` that returns the tokens and the tags of a sentence with the name.
    """

    candidates: Sequence[str]
    write: Callable[[str], tuple[list[str], list[str]]]


@dataclass(frozen=True, repr=False)
class TrainingSet:
    """Training procedure and training data of a tagger.

    Attributes
    ----------
    train : callable
        Training procedure: ``train(X, y, seed)`` returns a function ``loss(X, y)``, which computes the loss of each
        sentence. A procedure with a parameter ``groups`` also receives the patient of each sentence.
    X : sequence of n sentences of words
        Training sentences.
    y : sequence of n tag sequences
        Tags of the training sentences.
    groups : array-like of shape (n,), optional
        Patient of each training sentence. Each planted name is then the name of a further patient.
    """

    train: TrainingProcedure
    X: Any
    y: Any
    groups: Any = None

    def __post_init__(self) -> None:
        X = check_sequences(self.X)
        if not isinstance(X, TokenSequences):
            raise SequenceError("Names are planted among words; X holds vectors.")
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", check_tags(self.y, X))
        object.__setattr__(self, "groups", check_groups(self.groups, len(X)))

    def __repr__(self) -> str:
        return f"TrainingSet(n={len(self.X)})"


def exposure(rank: float, n_candidates: int) -> float:
    """Exposure of a name in bits: log2 of the number of candidates minus log2 of the rank of the name.

    Parameters
    ----------
    rank : float
        Rank of the name by its loss. Rank 1 is the smallest loss.
    n_candidates : int
        Number of candidate names.

    References
    ----------
    Carlini et al. (2019), The secret sharer, USENIX Security, definition 4.

    Examples
    --------
    >>> exposure(1, 64), exposure(64, 64)
    (6.0, 0.0)
    """
    return log2(n_candidates) - log2(rank)


class CanaryAttack(AuditAttack):
    """Plant names repeatedly in the training set, and rank these names among names that were not planted.

    The attacker inserts candidate names into a sentence, and guesses the candidate with the smallest loss.

    Parameters
    ----------
    n_canaries : int, default=20
        Number of names that are planted together.
    repeats : sequence of int, default=(1, 8)
        Numbers of repetitions of each name. The attack trains one tagger for each number, and one tagger without
        canaries. The main result is the result for the largest number; `details` contains all results.
    confidence : float in (0, 1), default=0.95
        Confidence level of the interval.
    random_state : int or None, default=None
        Random seed of the choice of names and of the trainings.

    References
    ----------
    Carlini et al. (2019), The secret sharer: evaluating and testing unintended memorization in neural networks, USENIX
    Security, section 4.

    Examples
    --------
    >>> from sklearn_deid.audit.attacks import CanaryAttack, CanaryKnowledge, TrainingSet, memorise
    >>> names = [f"name{i}" for i in range(40)]
    >>> knowledge = CanaryKnowledge(names, lambda name: (["Mr", name], ["O", "B-PATIENT"]))
    >>> training = TrainingSet(memorise, [["no", "pain"]], [["O", "O"]])
    >>> result = CanaryAttack(8, repeats=(1,), random_state=0).fit(knowledge).attack(training)
    >>> result.attack.value, round(result.details["planted 1 times"]["exposure in bits"], 2)
    (1.0, 4.64)
    """

    key = "canaries"
    family = "canaries"
    title = "Planted names"
    order = 100
    releases = (MODEL,)
    presets = (AttackPreset("canaries", "Planted names", 5.0, 60.0, anew=True),)
    phrase = (
        "A user of a new model that was trained with planted names, who holds the sentence around a name, ranks the "
        "name that was there before {} of other names"
    )
    attacker = (
        "A user of the tagger who sees its probabilities, and holds the sentence around a name and a list of names of "
        "which one was there."
    )
    measure = "share of other names that have a larger loss than a planted name"

    def __init__(
        self,
        n_canaries: int = 20,
        *,
        repeats: Sequence[int] = (1, 8),
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        if n_canaries < 2 or not repeats or min(repeats) < 1:
            raise ValueError("At least two canaries must be planted, each at least once.")
        self.n_canaries, self.repeats = n_canaries, tuple(sorted(set(repeats)))
        self.confidence, self.random_state = confidence, random_state

    @property
    def name(self) -> str:
        """Name of the attack, in words."""
        return f"planted names, repeated {self.repeats[-1]} times"

    def run(self, release: Any) -> list[AttackResult]:
        """Plant invented names among the sentences of the training patients, and return the exposure of these names."""
        return [self.fit(release.canary_knowledge(3 * self.n_canaries)).attack(release.training_set)]

    def fit(self, knowledge: CanaryKnowledge) -> CanaryAttack:
        """Choose the names to plant.

        Parameters
        ----------
        knowledge : CanaryKnowledge
            Candidate names and the sentence around them.

        Raises
        ------
        ValueError
            If there are fewer than three candidates for each canary.
        """
        names = list(dict.fromkeys(knowledge.candidates))
        if len(names) < 3 * self.n_canaries:
            raise ValueError(
                f"{self.n_canaries} canaries need at least {3 * self.n_canaries} distinct candidates. Got {len(names)}."
            )
        rng = np.random.default_rng(self.random_state)
        self._order = rng.permutation(len(names))
        # One seed for each number of repetitions, one for the positive and one for the negative control.
        self._seeds = rng.integers(2**31, size=len(self.repeats) + 2).tolist()
        written = [knowledge.write(name) for name in names]
        self._sentences = TokenSequences.from_rows([tokens for tokens, _ in written])
        self._tags = check_tags([tags for _, tags in written], self._sentences)
        return self

    @timed
    def attack(self, released: TrainingSet) -> AttackResult:
        """Train taggers with the planted names, and rank these names.

        Parameters
        ----------
        released : TrainingSet
            Training set of the tagger that is to be released.
        """
        # Three disjoint sets of names: planted, never planted (for the negative control), and competitors.
        planted, held_out, others = np.split(self._order, [self.n_canaries, 2 * self.n_canaries])
        figures: dict[str, Any] = {"largest possible exposure in bits": log2(len(others) + 1)}
        beaten = np.zeros(0)
        for times, seed in zip(self.repeats, self._seeds, strict=False):
            losses = self._losses(released, released.train, planted, times, seed)
            beaten = _beaten(losses, planted, others)
            figures[f"planted {times} times"] = _summary(beaten, len(others))
        # Negative control: a training without canaries cannot rank the names that were never planted.
        clean = self._losses(released, released.train, planted, 0, self._seeds[-1])
        blind = _beaten(clean, held_out, others)
        figures["not planted"] = _summary(blind, len(others))
        # Positive control: a model that memorises its training set.
        open_book = self._losses(released, memorise, planted, 1, self._seeds[-2])
        return self.result(
            Estimate.from_hits(beaten, confidence=self.confidence),
            0.5,
            Estimate.from_hits(_beaten(open_book, planted, others)),
            _POSITIVE_BAR,
            Estimate.from_hits(blind, confidence=CONTROL_CONFIDENCE),
            settings={"n_canaries": self.n_canaries, "repeats": self.repeats, "n_candidates": len(others) + 1},
            details=figures,
        )

    def _losses(
        self, released: TrainingSet, train: TrainingProcedure, planted: np.ndarray, times: int, seed: int
    ) -> np.ndarray:
        """Losses of all candidate sentences after training with the planted names."""
        rows = np.repeat(planted, times)
        X = _joined(released.X, self._sentences[rows])
        y = _joined(released.y, self._tags[rows])
        groups = None
        if released.groups is not None:
            patients = np.unique(released.groups, return_inverse=True)[1].reshape(-1)
            groups = np.concatenate([patients, len(patients) + rows])
        return losses_of(trained_on(train, X, y, seed, groups), self._sentences, self._tags)


def _beaten(losses: np.ndarray, chosen: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each chosen name, the proportion of other names with a larger loss; equal losses count one half."""
    # shapes: (n_chosen, 1) and (1, n_others)
    own, rest = losses[chosen][:, None], losses[others][None, :]
    return (rest > own).mean(axis=1) + 0.5 * (rest == own).mean(axis=1)


def _summary(beaten: np.ndarray, n_others: int) -> dict[str, float]:
    """Mean exposure, proportion of names ranked first, and mean proportion of other names with a larger loss."""
    ranks = 1.0 + (1.0 - beaten) * n_others
    return {
        "exposure in bits": float(np.mean([exposure(rank, n_others + 1) for rank in ranks])),
        # With half-counted ties a rank of 1.5 is a tie for the first place, which does not count.
        "ranked first": float((ranks < 1.5).mean()),
        "others with a larger loss": float(beaten.mean()),
    }


def _joined(rows: TokenSequences, more: TokenSequences) -> TokenSequences:
    """Append sequences to sequences."""
    return TokenSequences(
        np.concatenate([rows.data, more.data]), np.concatenate([rows.offsets, more.offsets[1:] + rows.offsets[-1]])
    )
