"""Kept tokens: does pseudonymised text show more original words than the stated mechanism can explain?"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase, digits
from typing import Any

import numpy as np
from scipy.stats import binom

from ...metrics import Estimate
from ...pseudonyms.policy import SHAPE
from ...pseudonyms.token_mechanism import TokenMechanism, character_kind
from ...text import apply_casing
from ..protocol import AttackResult
from ..released_step import WORDS
from .declaration import UNKNOWN_MECHANISM, AttackPreset, AuditAttack, timed
from .kept_by_property import tails_of_parts, word_properties
from .noise_by_property import parts_by_property
from .reidentification import known_table
from .word_draws import WordDraws

# Probability that an intact release raises the alarm: half of it for the labels and for too few words, and a sixth each
# for the patients, the sentences and the properties of the words.
FALSE_ALARM = 5e-4
_POSITIVE_BAR = 0.99
_N_SIMULATED = 3
_FEWER = "Fewer words than stated have themselves as surrogate: a surrogate excludes its own word as the original."
# From this mean probability on, the mechanism leaves nearly every word, and no count can be too large.
_NOTHING_MOVES = 0.9


class KeptTokensAttack(AuditAttack):
    """Count unchanged words among the words that the mechanism replaces, and compare the count with the stated
    mechanism.

    A mechanism may draw the word itself, because the word is one of its N neighbours. The number of unchanged words is
    then a sum of independent Bernoulli variables with known probabilities. The attack computes the exact tail
    probability of the count for each label, each patient, each sentence and all words together. For all words together,
    the attack also computes the probability of at most as many unchanged words as in the release. The attack also
    bounds the tail probability for groups of words: words of each length, first letter and kind of characters, and
    words below or above a length, a frequency or a position in the release. If one of these probabilities is below its
    share of ``FALSE_ALARM``, the release shows words that the mechanism did not draw, and the result is invalid.

    The attack uses all sentences of an audit, because the attacker needs no training sentences. Tokens that the
    parameters of the estimator keep (``labels``, ``exclude``, ``unknown="keep"``) are not counted. With ``coherence``,
    all tokens of a draw count once: the draw counts as unchanged if one of its tokens is unchanged. With
    ``max_replacements``, the probability includes the tokens that were not replaced, and is therefore an upper bound.

    A mechanism without a closed form (`MadlibPseudonymizer`) is simulated three times. Given the sum of all four
    counts, the tail probability of the count of the release is then at most that of a binomial distribution with
    probability 1/4. The reason is that a sum of Bernoulli variables has a smaller variance than a Poisson variable with
    the same mean.

    Parameters
    ----------
    confidence : float in (0, 1), default=0.95
        Confidence level of the interval.
    random_state : int, Generator or None, default=None
        Random seed of the simulation.

    References
    ----------
    Hong (2013), On computing the distribution function for the Poisson binomial distribution, CSDA 59.

    Examples
    --------
    >>> from sklearn_deid import NeighborPseudonymizer, WordVectors
    >>> from sklearn_deid.audit.attacks import KeptTokensAttack, draws_of_text
    >>> from sklearn_deid.sequences import TokenSequences
    >>> vectors = WordVectors(["alder", "birch", "maple", "pain"], [[1, 0], [1, 0.1], [1, -0.1], [0, 1]])
    >>> X = TokenSequences.from_rows([["Dr", "Alder"], ["Dr", "Maple"]] * 20)
    >>> y = TokenSequences.from_rows([["O", "B-DOCTOR"]] * 40)
    >>> pseudonymizer = NeighborPseudonymizer(embeddings=vectors, n_neighbors=2, random_state=0).fit(X, y)
    >>> attack = KeptTokensAttack(random_state=0).fit(pseudonymizer)
    >>> attack.attack(draws_of_text(pseudonymizer, X, pseudonymizer.sample(X, y), y, None)).status
    'ok'
    >>> print(attack.attack(draws_of_text(pseudonymizer, X, X, y, None)).status)  # no word was replaced
    invalid
    """

    key = "kept_tokens"
    family = "kept_tokens"
    title = "Kept tokens"
    order = 65
    releases = (WORDS,)
    presets = (AttackPreset("kept_tokens", "Unchanged words against the mechanism", 9.0, 1.0, quick=True),)
    phrase = "An attacker who takes each replaced word for the original is right in {} of cases"
    name = "kept tokens"
    attacker = "A recipient of the pseudonymised text who takes every replaced word for the original word."
    measure = "share of replaced words that are unchanged; 'guessing' is the share that the mechanism explains"

    def __init__(self, *, confidence: float = 0.95, random_state: Any = None) -> None:
        self.confidence, self.random_state = confidence, random_state

    def requires(self, release: Any) -> str | None:
        """Return why the attack cannot run: the mechanism is not known."""
        return UNKNOWN_MECHANISM if release.pseudonymizer is None else None

    def run(self, release: Any) -> list[AttackResult]:
        """Count the unchanged words of all sentences and return the result."""
        return [self.fit(release.pseudonymizer).attack(release.draws)]

    def fit(self, knowledge: Any) -> KeptTokensAttack:
        """Store the mechanism.

        Parameters
        ----------
        knowledge : fitted TokenPerturber, or TokenMechanism
            Stated mechanism of the release.
        """
        self._mechanism: TokenMechanism = getattr(knowledge, "mechanism_", knowledge)
        return self

    @timed
    def attack(self, released: WordDraws) -> AttackResult:
        """Compare the number of unchanged words with the mechanism.

        Parameters
        ----------
        released : WordDraws
            Draws of the release, from `draws_of_text`.
        """
        chances = self._chances(released)
        threshold = FALSE_ALARM / 2 / (len(np.unique(released.label_ids)) + 2)
        counts = _counts(released, chances)
        worst = _worst(released, chances) | _worst_part(released, chances)
        alarms = [
            f"{name}: {of['unchanged']} of {of['words']}, {of['expected']:.1f} expected"
            for name, of in [*counts.items(), *worst.items()]
            if of["tail"] < of.get("level", threshold)
        ]
        faults = [f"The text has more unchanged words than the stated mechanism explains ({'; '.join(alarms)})."]
        if not alarms:
            faults = [_FEWER] * (_lower_tail(released, chances) < threshold)
        return self.result(
            Estimate.from_hits(released.kept, released.groups, self.confidence),
            float(chances.mean()),
            # Positive control: the same comparison, with the original text as the release.
            Estimate.exact(float(_tail(len(released), chances) < threshold or chances.mean() >= _NOTHING_MOVES)),
            _POSITIVE_BAR,
            faults=tuple(faults),
            settings={"false_alarm": FALSE_ALARM},
            details={
                "by label": counts,
                **worst,
                "share of restored words that is noticed": _noticed(chances, threshold),
            },
        )

    def _chances(self, released: WordDraws) -> np.ndarray:
        """Probability of each draw to stay unchanged, shape (1, n_draws), or simulated draws, shape (3, n_draws)."""
        number: dict[tuple[str, tuple[str, ...]], int] = {}
        pairs = zip(released.words, released.spellings, strict=True)
        kinds = np.array([number.setdefault((word, tuple(sorted(forms))), len(number)) for word, forms in pairs])
        words, own = [word for word, _ in number], [_own_releases(self._mechanism, *kind) for kind in number]
        by_shape = np.array([shape_chance(*kind) for kind in number])
        is_shaped = self._mechanism.policy.actions(words)[0] == SHAPE
        if hasattr(self._mechanism, "probabilities"):
            chance = np.where(is_shaped, by_shape, _own_chances(self._mechanism, words, own))[kinds]
            return (released.not_chosen + (1.0 - released.not_chosen) * chance)[None]
        rng = np.random.default_rng(self.random_state)
        simulated = np.empty((_N_SIMULATED, len(kinds)))
        for row in simulated:
            drawn = self._mechanism.sample([words[i] for i in kinds.tolist()], rng).tolist()
            stays = np.array([new in own[i] for new, i in zip(drawn, kinds.tolist(), strict=True)])
            stays = np.where(is_shaped[kinds], rng.random(len(kinds)) < by_shape[kinds], stays)
            row[:] = stays | (rng.random(len(kinds)) < released.not_chosen)
        return simulated


def shape_chance(word: str, spellings: Sequence[str]) -> float:
    """Probability that a random string of a word's shape equals one of the spellings, apart from the casing.

    Examples
    --------
    >>> shape_chance("B7", ["b7"]) == 1 / 260, shape_chance("-", ["-"]), shape_chance("B7", ["BB"])
    (True, 1.0, 0.0)
    """
    forms = {spelling.casefold() for spelling in spellings}
    possible = [form for form in forms if len(form) == len(word)]
    return float(sum(np.prod([_character_chance(*pair) for pair in zip(word, form, strict=True)]) for form in possible))


def _character_chance(of_word: str, shown: str) -> float:
    """Probability that the character ``of_word`` is replaced by ``shown``. Digits become random digits, letters become
    random letters, and other characters stay."""
    pool = {"d": digits, "X": ascii_lowercase, "x": ascii_lowercase}.get(character_kind(of_word), [of_word.casefold()])
    return (shown in pool) / len(pool)


def _own_releases(mechanism: TokenMechanism, word: str, spellings: Sequence[str]) -> np.ndarray:
    """Numbers of the possible surrogates of a word that are one of the spellings in any casing."""
    # A word that draws itself is written in the casing of its token, or as it is stored.
    stored = mechanism.vocabulary[mechanism.policy.vectors.indices([word])].tolist()  # any word, if it has no row
    folded = {one.casefold() for one in spellings}
    shown = {word, *spellings, *(apply_casing(one, pattern) for one in spellings for pattern in (1, 2, 3))}
    shown |= {one for one in stored if one.casefold() in folded}
    return np.unique(mechanism.releases().of_tokens(sorted(shown)))


def _own_chances(mechanism: TokenMechanism, words: Sequence[str], own: Sequence[np.ndarray]) -> np.ndarray:
    """Probability of each word to be released as one of the surrogates in ``own``, shape (n_words,)."""
    seen = np.unique(np.concatenate(own))
    # Entries of the table as (word, release, probability).
    table = known_table(mechanism, words, seen).tocoo()
    mine = {(i, int(number)) for i, numbers in enumerate(own) for number in numbers}
    lines, columns = table.coords
    is_own = [pair in mine for pair in zip(lines.tolist(), seen[columns].tolist(), strict=True)]
    return np.minimum(1.0, np.bincount(lines, table.data * is_own, len(words)))


def _counts(released: WordDraws, chances: np.ndarray) -> dict[str, dict[str, float]]:
    """Number of words, of unchanged words and of expected unchanged words, and the tail, for each label and for all."""
    parts = {name: released.label_ids == i for i, name in enumerate(released.labels)}
    parts["all labels"] = np.ones(len(released), dtype=bool)
    return {name: _count(released, chances, mine) for name, mine in parts.items() if mine.any()}


def _count(released: WordDraws, chances: np.ndarray, mine: np.ndarray) -> dict[str, float]:
    n_kept, chances = int(released.kept[mine].sum()), chances[:, mine]
    expected = float(chances.sum() / len(chances))
    return {"words": chances.shape[1], "unchanged": n_kept, "expected": expected, "tail": _tail(n_kept, chances)}


def _worst(released: WordDraws, chances: np.ndarray) -> dict[str, dict[str, float]]:
    """The patient and the sentence with the most extreme count: the total may not reveal an excess in one note."""
    out = {}
    for name, groups in (("one patient", released.groups), ("one sentence", released.sentences)):
        if groups is None:
            continue
        number = np.unique(groups, return_inverse=True)[1].reshape(-1)
        some = np.unique(number[released.kept])
        order = np.argsort(number, kind="stable")
        members = np.split(order, np.flatnonzero(np.diff(number[order])) + 1)
        counts = [_count(released, chances, members[i]) for i in some.tolist()]
        if counts:
            out[name] = {**min(counts, key=lambda of: of["tail"]), "level": FALSE_ALARM / 6 / len(members)}
    return out


def _worst_part(released: WordDraws, chances: np.ndarray) -> dict[str, dict[str, float]]:
    """Group of words of one property whose number of unchanged words is the most improbable, with its counts."""
    sums = np.concatenate([released.kept[:, None], chances.T], axis=1).astype(np.float64)  # shape: (n_draws, 1 + r)
    groups, ordered = word_properties([spellings[0] for spellings in released.spellings])
    found = []
    for name, sizes, total in parts_by_property(groups, ordered, sums):
        for size, row, tail in zip(sizes, total, tails_of_parts(total[:, 0], sizes, total[:, 1:]), strict=True):
            found.append((float(tail), name, int(size), int(row[0]), float(row[1:].mean())))
    tail, name, size, kept, expected = min(found)
    of = {"words": size, "unchanged": kept, "expected": expected, "tail": tail, "level": FALSE_ALARM / 6 / len(found)}
    return {f"words by the {name}": of}


def _tail(n_kept: int, chances: np.ndarray) -> float:
    """Upper bound of the probability of at least ``n_kept`` unchanged words; exact for known probabilities."""
    if len(chances) == 1:
        return tail_of_sum(n_kept, chances[0])
    n_simulated = int(chances.sum())
    return float(binom.sf(n_kept - 1, n_kept + n_simulated, 1.0 / (1 + len(chances))))


def _lower_tail(released: WordDraws, chances: np.ndarray) -> float:
    """Upper bound of the probability of at most as many unchanged words as in the release, over draws whose probability
    is exact."""
    exact = (released.not_chosen == 0.0) & np.array([len(forms) == 1 for forms in released.spellings], dtype=bool)
    n_kept, chances = int(released.kept[exact].sum()), chances[:, exact]
    if len(chances) == 1:
        return 1.0 - tail_of_sum(n_kept + 1, chances[0])
    return float(binom.cdf(n_kept, n_kept + int(chances.sum()), 1.0 / (1 + len(chances))))


def tail_of_sum(at_least: int, probabilities: np.ndarray) -> float:
    """Probability that a sum of independent Bernoulli variables is at least a number.

    Parameters
    ----------
    at_least : int
        Smallest value of the sum.
    probabilities : ndarray of float, shape (n,)
        Probability of each variable to be 1.

    Examples
    --------
    >>> import numpy as np
    >>> round(tail_of_sum(1, np.array([0.5, 0.2])), 6), tail_of_sum(3, np.array([0.5, 0.2])), tail_of_sum(0, np.ones(2))
    (0.6, 0.0, 1.0)
    """
    if at_least <= 0:
        return 1.0
    some = probabilities[probabilities != 0.0]
    # Sums of 64 variables each, all at once. Nothing is subtracted, so that small tails are exact.
    several = np.concatenate([some, np.zeros(-len(some) % 64)]).reshape(64, -1)
    sums = np.zeros((65, several.shape[1]))
    sums[0] = 1.0
    for p in several:
        moved = p * sums[:-1]
        sums[:-1] *= 1.0 - p
        sums[1:] += moved
    # Distribution of each sum below ``at_least``, and probability of all larger sums.
    parts = [(one[:at_least], float(one[at_least:].sum())) for one in sums.T]
    while len(parts) > 1:
        odd = parts[len(parts) // 2 * 2 :]
        parts = [_added(*two, at_least) for two in zip(parts[::2], parts[1::2], strict=False)] + odd
    return parts[0][1] if parts else 0.0


_PartOfSum = tuple[np.ndarray, float]


def _added(one: _PartOfSum, other: _PartOfSum, at_least: int) -> _PartOfSum:
    """Distribution of the sum of two independent sums, as in `tail_of_sum`."""
    (below, tail), (below_other, tail_other) = one, other
    total = np.convolve(below, below_other)
    return total[:at_least], float(total[at_least:].sum()) + tail + float(below.sum()) * tail_other


def _noticed(chances: np.ndarray, threshold: float) -> float | None:
    """Smallest proportion of replaced words that raises the alarm over all labels if these words are restored, or
    None."""
    n, expected = chances.shape[1], float(chances.sum() / len(chances))
    low, high = int(expected), n + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _tail(middle, chances) < threshold else (middle + 1, high)
    return None if low > n or expected >= n else (low - expected) / (n - expected)
