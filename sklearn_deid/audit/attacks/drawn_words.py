"""Drawn words: check that surrogates follow the stated mechanism, and that each call draws new surrogates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...pseudonyms.policy import MOVE, SHAPE
from ...pseudonyms.token_mechanism import TokenMechanism
from ...text import casing_pattern
from ..protocol import AttackResult
from ..released_step import WORDS
from .check_results import check_result
from .declaration import UNKNOWN_MECHANISM, AttackPreset, AuditAttack, timed
from .kept_tokens import shape_chance
from .word_counts import alike, counted, folded_words, p_of_counts
from .word_draws import WordDraws

# Probability that an intact release raises the alarm, over all comparisons together.
FALSE_ALARM = 5e-4
_LAW = "The surrogates do not have the stated distribution: they are nearer to the originals, or farther, than stated."
_FIRST = "Surrogates share their first letters with the originals more or less often than stated."
_LENGTH = "Surrogates share their lengths with the originals more or less often than stated."
_CALLS = "Two calls draw the same surrogates."
_FORKS = "Surrogates depend on global random generators: forked processes draw the same surrogates."
_PROCESSES = "Two new processes draw the same surrogates."
_WORDS = "A word has the same surrogate in draws that must be independent."
_IMPOSSIBLE = "{} surrogates have another casing than stated, or are words that the stated mechanism cannot draw."
_RANKS = "Surrogates of a word have {} ranks among its neighbours more often than stated."
_PARITY, _NEAR = _RANKS.format("only even or only odd"), _RANKS.format("similar")
_SUCCESSIVE = "Surrogates of successive words depend on each other: their ranks agree more or less often than stated."
_TWO_SIDED = {_LAW, _FIRST, _LENGTH, _SUCCESSIVE}
_COMPARED = {
    _LAW: "nearness",
    _FIRST: "first letter",
    _LENGTH: "length",
    _CALLS: "second call",
    _WORDS: "other occurrence",
    _PARITY: "parity of ranks",
    _NEAR: "distance of ranks",
    _SUCCESSIVE: "ranks of successive words",
}


@dataclass(frozen=True, repr=False)
class RepeatedTexts:
    """Several releases of the same sentences. The object contains words of notes.

    Attributes
    ----------
    draws : WordDraws
        Draws behind the releases.
    originals : list of str, length n_draws
        Original word of the first token of each draw.
    releases : sequence of list of str, each of length n_draws
        Surrogate of the first token of each draw, in up to five releases. The first two are the audited release and a
        second call. The third is a call with the same state of the global random generators as the second call. The
        last two are calls in new processes.
    """

    draws: WordDraws
    originals: list[str]
    releases: Sequence[list[str]]


class DrawnWordsAttack(AuditAttack):
    """Compare surrogates with draws that the audit makes with the stated mechanism.

    The attack counts the words with each of these properties:

    - the released surrogate is nearer to the original than the audit's own draw;
    - the surrogate has the first letter or the length of the original;
    - a second call repeats the surrogate;
    - another occurrence of the word repeats the surrogate.

    If the release follows the mechanism, the release and the audit's own draw have a property with equal probability,
    so that each count is binomial. All comparisons together raise a false alarm with probability .0005. For two draws
    of a word from its neighbours, and for two successive draws, the attack also compares the ranks of the surrogates. A
    single surrogate that the mechanism cannot write is already a fault. Words that one of the releases shows unchanged
    are left out, because `KeptTokensAttack` counts these words.

    A finding is a fault of the release and not a success rate: the result is invalid, and the release cannot pass the
    audit.

    Parameters
    ----------
    random_state : int, Generator or None, default=None
        Random seed of the audit's own draws.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid import NeighborPseudonymizer, WordVectors
    >>> from sklearn_deid.audit.attacks import DrawnWordsAttack, RepeatedTexts, draws_of_text
    >>> from sklearn_deid.sequences import TokenSequences
    >>> words = [f"{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"]
    >>> vectors = WordVectors(words, np.random.default_rng(0).normal(size=(100, 5)))
    >>> X = TokenSequences.from_rows([[word] for word in words])
    >>> y = TokenSequences.from_rows([["B-CITY"]] * 100)
    >>> pseudonymizer = NeighborPseudonymizer(embeddings=vectors, n_neighbors=20, exclude=None, random_state=0)
    >>> one, two = pseudonymizer.fit_transform(X, y), pseudonymizer.set_params(random_state=1).sample(X, y)
    >>> draws, attack = draws_of_text(pseudonymizer, X, one, y, None), DrawnWordsAttack(random_state=0)
    >>> attack.fit(pseudonymizer).attack(RepeatedTexts(draws, words, [one.data.tolist(), two.data.tolist()])).faults
    ()
    >>> attack.attack(RepeatedTexts(draws, words, [one.data.tolist(), one.data.tolist()])).faults
    ('Two calls draw the same surrogates.',)
    """

    key = "drawn_words"
    family = "drawn_words"
    title = "Drawn words"
    order = 66
    releases = (WORDS,)
    presets = (AttackPreset("drawn_words", "Surrogates against the mechanism", 9.0, 2.0, quick=True),)
    phrase = "An attacker who compares surrogates with the stated mechanism finds a deviation in {} of comparisons"
    name = "drawn words"
    attacker = "A recipient of one or several releases who knows the mechanism."
    measure = "share of comparisons in which the surrogates are not draws of the stated mechanism"

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def requires(self, release: Any) -> str | None:
        """Return why the check cannot run: the mechanism is not known."""
        return UNKNOWN_MECHANISM if release.pseudonymizer is None else None

    def run(self, release: Any) -> list[AttackResult]:
        """Compare the draws of all sentences and return the result."""
        return [self.fit(release.pseudonymizer).attack(release.repeated_texts)]

    def fit(self, knowledge: Any) -> DrawnWordsAttack:
        """Store the mechanism.

        Parameters
        ----------
        knowledge : fitted TokenPerturber, or TokenMechanism
            Stated mechanism of the release.
        """
        self._mechanism: TokenMechanism = getattr(knowledge, "mechanism_", knowledge)
        return self

    @timed
    def attack(self, released: RepeatedTexts) -> AttackResult:
        """Compare the releases with each other and with draws of the mechanism.

        Parameters
        ----------
        released : RepeatedTexts
            At least one release.
        """
        # The audit does not use the stream of the seed itself, because a seeded release may have been drawn from this
        # stream.
        rng = np.random.default_rng(self.random_state).spawn(1)[0]
        words = released.draws.words
        drawn = self._mechanism.replace(words, np.arange(len(words)), rng).words.tolist()
        # Words are written, and ranks are found, as for the release. Else words with several casings in the vectors
        # would have other vectors and ranks than the same words in the release.
        made = [self._mechanism.write(new, token) for new, token in zip(drawn, released.originals, strict=True)]
        possible, ranks = self._possible(released)
        own_ranks = self._possible(replace(released, releases=[made]))[1]
        counts = self._compared(released, made, (ranks, own_ranks))
        p = {fault: p_of_counts(*count, two_sided=fault in _TWO_SIDED) for fault, count in counts.items()}
        n_impossible = int((~possible).sum())
        return check_result(
            self,
            [
                *([_IMPOSSIBLE.format(n_impossible)] if n_impossible else []),
                *(fault for fault, value in p.items() if value < FALSE_ALARM / len(p)),
            ],
            len(p) + 1,
            settings={"level": FALSE_ALARM},
            details={
                "words": len(words),
                **{f"words compared: {k}": sum(counts[fault]) for fault, k in _COMPARED.items() if fault in counts},
            },
        )

    def _compared(
        self, released: RepeatedTexts, made: list[str], ranks: tuple[np.ndarray, np.ndarray]
    ) -> dict[str, tuple[int, int]]:
        """Counts of each comparison: words with the property in the release only, and in the audit's own draw ``made``
        only."""
        words = released.draws.words
        originals, own, *shown = map(folded_words, (released.originals, made, *released.releases))
        is_new, *changed = (one != originals for one in (own, *shown))
        some = is_new & changed[0]
        counts = {_LAW: self._nearer(words, released.releases[0], made, some)}
        for fault, of in {_FIRST: lambda word: word[:1], _LENGTH: len}.items():
            own_like, shown_like = (alike(originals, one, of)[some] for one in (own, shown[0]))
            counts[fault] = counted(shown_like, own_like)
        for fault, (one, other) in {_CALLS: (0, 1), _FORKS: (1, 2), _PROCESSES: (3, 4)}.items():
            if other < len(shown):
                all_new = is_new & changed[one] & changed[other]
                counts[fault] = counted((shown[one] == shown[other])[all_new], (shown[one] == own)[all_new])
        counts[_WORDS] = _of_equal_words(words, shown[0], own, some)
        return counts | _of_ranks(words, *ranks, some & (ranks[0] > 0) & (ranks[1] > 0))

    def _possible(self, released: RepeatedTexts) -> tuple[np.ndarray, np.ndarray]:
        """Whether the mechanism can write each surrogate of the first release, and the rank of the surrogate or 0,
        shape (n_draws,)."""
        mechanism, draws, shown = self._mechanism, released.draws, released.releases[0]
        space, moves = mechanism.releases(), mechanism.moves
        actions, rows = mechanism.policy.actions(draws.words)
        casing = np.array([casing_pattern(token) if mechanism.keep_casing else 0 for token in released.originals])
        # A limit of replacements leaves tokens as they are.
        left = np.array([one == other for one, other in zip(released.originals, shown, strict=True)], dtype=bool)
        possible, ranks = left & (draws.not_chosen > 0.0), np.zeros(len(draws), dtype=np.int64)
        for i in np.flatnonzero(actions == SHAPE).tolist():
            possible[i] |= shape_chance(draws.words[i], [shown[i]]) > 0.0
        for pattern in np.unique(casing).tolist():
            some = np.flatnonzero((casing == pattern) & (actions < SHAPE))
            number = space.of_tokens([shown[i] for i in some.tolist()])
            found = np.isin(number, space.of_rows(np.arange(len(mechanism.vocabulary)), pattern))
            near = np.flatnonzero(actions[some] == MOVE)
            if hasattr(moves, "support") and len(near):
                targets, places = moves.support(rows[some[near]])  # shape: (n_near, N)
                is_target = (space.of_rows(targets, pattern) == number[near][:, None]) & (targets >= 0)
                found[near] = is_target.any(axis=1)
                ranks[some[near]] = np.where(is_target, places, 0).max(axis=1)
            possible[some] |= found
        return possible, ranks

    def _nearer(
        self, words: Sequence[str], shown: Sequence[str], own: Sequence[str], some: np.ndarray
    ) -> tuple[int, int]:
        """How often the released surrogate is nearer to the original, and how often the audit's own draw is."""
        vectors = self._mechanism.policy.vectors
        rows = np.flatnonzero(some)
        sides = [vectors.vectors_for([texts[i] for i in rows.tolist()]) for texts in (words, shown, own)]
        known = np.all([side.any(axis=1) for side in sides], axis=0)
        ours, theirs = (np.einsum("ij,ij->i", sides[0], side)[known] for side in sides[1:])
        return counted(ours > theirs, theirs > ours)


def _of_equal_words(words: Sequence[str], shown: np.ndarray, own: np.ndarray, some: np.ndarray) -> tuple[int, int]:
    """Counts as in `counted`: disjoint pairs of draws of one word with two equal surrogates."""
    first, second = _pairs_of_words(words, some)
    return counted(shown[first] == shown[second], shown[first] == own[second])


def _of_ranks(words: Sequence[str], shown: np.ndarray, own: np.ndarray, some: np.ndarray) -> dict[str, tuple[int, int]]:
    """Counts as in `counted` for pairs of draws of one word. The first property is an even difference of the ranks. The
    second property is a smaller difference of the ranks than in the other draws, also for pairs of successive
    draws."""
    first, second = _pairs_of_words(words, some)
    theirs, ours = (shown[first] - of[second] for of in (shown, own))
    rows = np.flatnonzero(some)
    even, odd = rows[: len(rows) // 2 * 2 : 2], rows[1::2]
    return {
        _PARITY: counted(theirs % 2 == 0, ours % 2 == 0),
        _NEAR: _nearer_ranks(theirs, ours),
        _SUCCESSIVE: _nearer_ranks(*(shown[even] - of[odd] for of in (shown, own))),
    }


def _nearer_ranks(theirs: np.ndarray, ours: np.ndarray) -> tuple[int, int]:
    return counted(np.abs(theirs) < np.abs(ours), np.abs(ours) < np.abs(theirs))


def _pairs_of_words(words: Sequence[str], some: np.ndarray) -> np.ndarray:
    """Disjoint pairs of draws of one word, shape (2, n_pairs)."""
    members: dict[str, list[int]] = defaultdict(list)
    for i in np.flatnonzero(some).tolist():
        members[words[i]].append(i)
    pairs = [pair for rows in members.values() for pair in zip(rows[::2], rows[1::2], strict=False)]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T
