"""Language-model prior of a contextual attacker: trigrams with Witten-Bell smoothing, and decoding of a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

_BEAM = 64
_START = ""


class Choices(NamedTuple):
    """Possible words at a position of a sentence.

    Attributes
    ----------
    words : ndarray of int, shape (C,)
        Numbers of the words in the vocabulary of the prior.
    log_evidence : ndarray of float, shape (C,)
        Log-likelihood of the released token or vector for each word, up to a constant.
    base : ndarray of float, shape (C,), or None
        Probability of each word at this kind of position without the context, such as the frequency of a name. None
        means equal probabilities.
    """

    words: np.ndarray
    log_evidence: np.ndarray
    base: np.ndarray | None = None


class SentencePrior:
    """Probability of a word after two other words, learned from public sentences.

    The order is 3. Each order is interpolated with the next lower order (Witten and Bell), and the lowest order with
    the uniform distribution over the vocabulary. Words that differ only in their casing count as one word.

    Parameters
    ----------
    sentences : iterable of sequences of str
        Public sentences.
    vocabulary : iterable of str
        Further words that a sentence may contain, such as a directory of names.

    References
    ----------
    Witten & Bell (1991), The zero-frequency problem, IEEE Transactions on Information Theory 37. Chen & Goodman (1999),
    An empirical study of smoothing techniques for language modeling, Computer Speech & Language 13.

    Examples
    --------
    >>> prior = SentencePrior([["Dr", "Alder", "called"], ["Dr", "Birch", "left"]], ["Maple"])
    >>> after = prior.probabilities(prior.numbers(["", "dr"]), prior.numbers(["birch", "maple"]))
    >>> bool(after[0] > after[1] > 0.0)
    True
    """

    def __init__(self, sentences: Iterable[Sequence[str]], vocabulary: Iterable[str]) -> None:
        rows = [[word.casefold() for word in sentence] for sentence in sentences]
        self._number = {_START: 0}
        for word in (word for row in (*rows, [word.casefold() for word in vocabulary]) for word in row):
            self._number.setdefault(word, len(self._number))
        self._counts: dict[tuple[int, ...], Counter[int]] = {}
        for row in rows:
            numbers = [0, 0, *(self._number[word] for word in row)]
            for i, number in enumerate(numbers[2:]):
                for context in ((), (numbers[i + 1],), (numbers[i], numbers[i + 1])):
                    self._counts.setdefault(context, Counter())[number] += 1
        # Words and counts of each context as arrays sorted by word, for look-ups of many words at once.
        self._sorted = {context: _as_arrays(counts) for context, counts in self._counts.items()}
        self._known: dict[tuple[int, ...], float] = {}

    @property
    def n_words(self) -> int:
        """Size of the vocabulary, including one number for all unknown words."""
        return len(self._number) + 1

    def numbers(self, words: Sequence[str]) -> np.ndarray:
        """Return the numbers of words; unknown words have the last number."""
        unknown = len(self._number)
        return np.array([self._number.get(word.casefold(), unknown) for word in words], dtype=np.int64)

    def probabilities(self, context: Sequence[int], words: np.ndarray) -> np.ndarray:
        """Probability of each word after a context of at most two words, shape (n_words,)."""
        found = np.full(len(words), 1.0 / self.n_words)
        for n in range(len(context) + 1):
            seen = self._sorted.get(tuple(context[len(context) - n :]))
            if seen is None:
                break
            known, counts, total = seen
            place = np.minimum(np.searchsorted(known, words), len(known) - 1)
            own = np.where(known[place] == words, counts[place], 0.0)
            # Witten-Bell: the mass of unseen words is the number of distinct words that followed the context.
            found = (own + len(known) * found) / (total + len(known))
        return found

    def probability(self, context: tuple[int, ...], word: int) -> float:
        """Probability of one word after a context; cached, because a beam search requests the same words often."""
        key = (*context, word)
        if key not in self._known:
            self._known[key] = float(self.probabilities(context, np.array([word]))[0])
        return self._known[key]

    def decode(self, sentence: np.ndarray, choices: dict[int, Choices]) -> dict[int, int]:
        """Find the most probable words of a sentence by a beam search over trigrams.

        At an unknown position, the prior is the mean of two probabilities: the probability by the language model,
        normalised over the choices, and ``base``. The language model alone would be overconfident about words that its
        sentences do not contain. The mean is at least half of the larger of both probabilities.

        Parameters
        ----------
        sentence : ndarray of int, shape (time,)
            Numbers of the words. The numbers at the positions of ``choices`` are not read.
        choices : dict of int to Choices
            Possible words at the positions that the attacker does not know.

        Returns
        -------
        dict of int to int
            Index of the word in ``choices`` for each position.
        """
        first, last = min(choices), max(choices)
        before = [0, 0, *sentence[:first].tolist()][-2:]
        # A state is the pair of the last two words. shape of all arrays: (n_states,)
        states, scores = np.array([before]), np.zeros(1)
        trail: list[tuple[np.ndarray, np.ndarray]] = []
        # Words after the last unknown position matter as long as the position is in their context.
        for position in range(first, min(last + 3, len(sentence))):
            here = choices.get(position)
            words = sentence[position : position + 1] if here is None else here.words
            if here is None:
                table = scores[:, None] + self._log_of_word(states, int(words[0]))
            else:
                table = scores[:, None] + self._log_of_choices(states, here) + here.log_evidence
            origin, chosen = _best_states(table, states[:, 1])
            trail.append((origin, chosen))
            states, scores = np.stack([states[origin, 1], words[chosen]], axis=1), table[origin, chosen]
        best, found = int(scores.argmax()), {}
        for position, (origin, chosen) in zip(range(first + len(trail) - 1, -1, -1), reversed(trail), strict=False):
            if position in choices:
                found[position] = int(chosen[best])
            best = int(origin[best])
        return found

    def _log_of_word(self, states: np.ndarray, word: int) -> np.ndarray:
        """Log-probability of a known word after each state, shape (n_states, 1)."""
        return np.log([[self.probability((int(u), int(v)), word)] for u, v in states])

    def _log_of_choices(self, states: np.ndarray, choices: Choices) -> np.ndarray:
        """Log-probability of each choice after each state, shape (n_states, C)."""
        base = np.full(len(choices.words), 1.0 / len(choices.words)) if choices.base is None else choices.base
        after = np.stack([self.probabilities((int(u), int(v)), choices.words) for u, v in states])
        return np.log(0.5 * after / after.sum(axis=1, keepdims=True) + 0.5 * base)


def _as_arrays(counts: Counter[int]) -> tuple[np.ndarray, np.ndarray, int]:
    words = np.array(sorted(counts), dtype=np.int64)
    return words, np.array([counts[word] for word in words.tolist()], dtype=np.float64), counts.total()


def _best_states(table: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Previous state and chosen word of the best new states.

    Of all states with equal last two words, only the best state is kept, because the next probabilities depend on two
    words only.
    """
    flat = np.argsort(-table, axis=None, kind="stable")[: 4 * _BEAM]
    flat = flat[np.isfinite(table.reshape(-1)[flat])] if np.isfinite(table).any() else flat
    origin, chosen = np.divmod(flat, table.shape[1])
    # One number for both words: rows are sorted many times as slowly.
    _, kept = np.unique(last[origin] * table.shape[1] + chosen, return_index=True)
    kept = np.sort(kept)[:_BEAM]
    return origin[kept], chosen[kept]
