"""Seed search: was the noise drawn from a generator whose seeds can be tried one by one?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from ...metrics import Estimate
from ...tagging.batching import LengthBucketSampler
from ..protocol import AttackResult
from ..released_step import RELEASE_FILE, REPRESENTATION
from .check_results import SEED_LEVEL, check_result
from .declaration import AttackPreset, timed
from .seeded_streams import Stream, of_numpy, of_python_gauss, of_python_normalvariate, of_random_state, of_torch
from .untrained import UntrainedAttack

_CELLS = 4096  # padded tokens of a batch, as `PrivateRepresenter` encodes
_MOST_NUMBERS, _FEWEST_NUMBERS = 16_384, 48
# Token by token, no number is summed or padded, so that fewer numbers suffice for generators that are slow.
_MOST_TOKEN_BY_TOKEN = 2048
# Few sums over sentences of equal length exist. A score of the planted noise is about .7 times the root of their
# number.
_ENOUGH_SUMS = 400
_BLOCK, _STRONG = 256, 2


class _Generator(NamedTuple):
    """Generator whose seeds are tried: its name, and whether it draws batch after batch as the library encodes."""

    name: str
    stream: Stream
    in_batches: bool


_OLD, _DEFAULT = "the old generator of PyTorch", "NumPy's default generator"
# The generator of version 0.1.0, and the generators of anyone who adds own noise to all vectors.
GENERATORS = {
    "torch": _Generator(_OLD, of_torch, True),
    "numpy": _Generator(_DEFAULT, of_numpy, True),
    "torch, token by token": _Generator(_OLD, of_torch, False),
    "numpy, token by token": _Generator(_DEFAULT, of_numpy, False),
    "random state": _Generator("NumPy's RandomState (np.random.seed)", of_random_state, False),
    "gauss": _Generator("Python's random.gauss", of_python_gauss, False),
    "normalvariate": _Generator("Python's random.normalvariate", of_python_normalvariate, False),
}


@dataclass(frozen=True, repr=False)
class SeedTarget:
    """Released vectors, and the properties on which the layout of their noise depends.

    Attributes
    ----------
    vectors : ndarray of shape (n_tokens, d)
        Released vectors without casing columns, each distinct sentence once.
    lengths : ndarray of shape (n_sentences,)
        Number of tokens of each sentence.
    input_width : int, default=0
        Width of the noise at the input of the network, which is drawn first; 0 without input noise.
    in_order : bool, default=True
        Whether the sentences are in the order in which they were encoded. If False, the search uses sums over sentences
        of equal length, because these sums do not depend on the order.
    places : ndarray of shape (n_tokens,), optional
        Position of each token among all tokens of the release, of which repeated sentences are left out here. By
        default, no token is left out.
    """

    vectors: np.ndarray
    lengths: np.ndarray
    input_width: int = 0
    in_order: bool = True
    places: np.ndarray | None = None


class SeedSearch(UntrainedAttack):
    """Draw the noise of many seeds, and compare this noise with the released vectors.

    In version 0.1.0, the noise of a whole release came from PyTorch's generator on the CPU, which keeps 32 bits of a
    seed. The layout of the noise follows from the lengths of the sentences, which every release contains. The search
    needs no word of the notes. The search subtracts the mean of the vectors and projects out their strongest
    directions, so that the remainder is mostly noise. The search covers PyTorch's generator and NumPy's default
    generator, from seed ``first`` on. It also covers noise that these generators, NumPy's RandomState
    (``numpy.random.seed``), ``random.gauss`` or ``random.normalvariate`` draw for one token after the other, in the
    order of the release. The search does not find noise of NumPy's default generator in single precision, of another
    distribution than the normal distribution, or of a generator that drew other numbers before.

    The score of a wrong seed has a standard normal distribution. All scores together raise a false alarm with
    probability .0003. In the positive control, noise of a seed in the searched range is added, and the search must find
    this seed.

    Parameters
    ----------
    first : int, default=0
        First seed of the searched range.
    n_seeds : int, default=4096
        Number of seeds to try for each generator. The search does not find seeds outside this range. A search of all
        2^32 seeds takes processor hours with this program and minutes in C.
    random_state : int, Generator, RandomState or None, default=None
        Random seed of the control.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks import SeedSearch, SeedTarget
    >>> lengths = np.full(40, 5)
    >>> noise = np.random.default_rng(7).standard_normal((200, 4))
    >>> found = SeedSearch(n_seeds=16, random_state=0).attack(SeedTarget(noise + 1.0, lengths))
    >>> found.faults
    ("The noise is that of NumPy's default generator with seed 7: anyone who tries the seeds can remove the noise.",)
    """

    key = "seeds"
    family = "seeds"
    title = "Seed search"
    order = 13
    releases = (REPRESENTATION, RELEASE_FILE)
    presets = (AttackPreset("seeds", "Seed search", 50.0, 10.0, quick=True),)
    name = "seed search"
    attacker = "A recipient of the released vectors who owns this library and tries the seeds of its generators."
    measure = "share of generators with a seed that makes the noise of the release"
    phrase = "An attacker who tries seeds one by one finds the noise of the release for {} of the generators"

    def __init__(self, *, first: int = 0, n_seeds: int = 4096, random_state: Any = None) -> None:
        if n_seeds < 1 or first < 0:
            raise ValueError(f"'n_seeds' must be at least 1 and 'first' not negative. Got {n_seeds} and {first}.")
        self.first, self.n_seeds, self.random_state = first, n_seeds, random_state

    def requires(self, release: Any) -> str | None:
        """Return why there is nothing to search: the release states that it contains no noise."""
        return None if release.is_bounded else "The release states no noise."

    def run(self, release: Any) -> list[AttackResult]:
        """Search for the seed of the measured sentences, or of the saved sentences."""
        return [self.fit().attack(release.seed_target)]

    @timed
    def attack(self, released: SeedTarget) -> AttackResult:
        """Try the seeds of the searched range for each generator.

        Raises
        ------
        ValueError
            If there are too few tokens to recognise any noise.
        """
        layouts = {in_batches: NoiseLayout(released, in_batches=in_batches) for in_batches in (True, False)}
        seeds = range(self.first, self.first + self.n_seeds)
        planted_seed = int(np.random.default_rng(self.random_state).integers(seeds.start, seeds.stop))
        limit = float(norm.isf(SEED_LEVEL / (2 * len(GENERATORS) * self.n_seeds)))
        faults, controls, best = [], [], 0.0
        for generator, (_, _, in_batches) in GENERATORS.items():
            layout = layouts[in_batches]
            planted = layout.direction(layout.planted(generator, planted_seed))
            targets = np.stack([layout.direction(released.vectors), planted])
            scores = layout.scores(targets, generator, seeds)
            highest = int(np.abs(scores[0]).argmax())
            best = max(best, float(np.abs(scores[0, highest])))
            if abs(scores[0, highest]) > limit:
                faults.append(_fault(generator, seeds[highest]))
            # A release with a fault keeps the noise of its own seed, which can score higher than the planted seed.
            controls.append(abs(scores[1, seeds.index(planted_seed)]) > limit)
        return check_result(
            self,
            faults,
            len(GENERATORS),
            positive_control=Estimate.exact(float(np.mean(controls))),
            min_positive_control=1.0,
            settings={"first": self.first, "n_seeds": self.n_seeds, "level": SEED_LEVEL},
            details={"highest score": best, "score of an alarm": limit, "numbers compared": layouts[True].n_numbers},
        )


class NoiseLayout:
    """Positions in the stream of a generator from which the noise of the released tokens was drawn.

    Parameters
    ----------
    target : SeedTarget
        Released vectors and the lengths of their sentences.
    in_batches : bool, default=True
        Whether the noise was drawn batch after batch, as the library encodes. If False, it was drawn for one token
        after the other, in the order of the release.

    Raises
    ------
    ValueError
        If too few numbers can be compared.
    """

    def __init__(self, target: SeedTarget, *, in_batches: bool = True) -> None:
        self._target, self._d = target, target.vectors.shape[1]
        group = self._in_batches(target) if in_batches else self._token_by_token(target)
        self._order = np.argsort(group, kind="stable")
        sizes = np.unique(group, return_counts=True)[1]
        self._starts, self._root_sizes = np.cumsum(sizes) - sizes, np.sqrt(sizes)[:, None]
        # Whether each token is compared alone, in its order, so that nothing is summed.
        self._is_in_place = len(sizes) == len(group) and bool((np.diff(group) > 0).all())
        self.n_numbers = len(sizes) * self._d
        # `direction` subtracts the mean. Without order, sentences of one token have only one sum, which is then 0.
        n_free = (len(sizes) - 1) * self._d
        if n_free < _FEWEST_NUMBERS:
            raise ValueError(
                f"Only {max(0, n_free)} numbers can be compared with those of a seed: too few sentences, or too few "
                "lengths of sentences."
            )

    def _token_by_token(self, target: SeedTarget) -> np.ndarray:
        """Group of each compared token, the token itself."""
        n_tokens = len(target.vectors)
        places = np.arange(n_tokens) if target.places is None else target.places
        self._items = np.arange(min(n_tokens, max(1, _MOST_TOKEN_BY_TOKEN // self._d)))
        self._cells, self._n_cells = places[self._items], int(places.max(initial=-1)) + 1
        return self._items

    def _in_batches(self, target: SeedTarget) -> np.ndarray:
        """Group of each compared token; the tokens of a group are summed."""
        batches = iter(LengthBucketSampler(target.lengths, _CELLS, max_rows=_CELLS))
        batch = np.asarray(next(batches, []), dtype=np.int64)  # sorted by length
        longest = int(target.lengths[batch].max(initial=1))
        self._n_cells, self._n_tokens = len(batch) * longest, int(target.lengths[batch].sum())
        rows = batch[self._is_compared(batch, longest)]
        lengths = target.lengths[rows]
        position = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        # Token of the release, and padded cell of the batch, for each compared token.
        self._items = np.repeat((np.cumsum(target.lengths) - target.lengths)[rows], lengths) + position
        self._cells = np.repeat(np.arange(len(rows)) * longest, lengths) + position
        return np.repeat(np.arange(len(rows)) if target.in_order else lengths, lengths) * (longest + 1) + position

    def _is_compared(self, batch: np.ndarray, longest: int) -> np.ndarray:
        """Whether each sentence of a batch is compared. Only the first sentences are compared; if the order is unknown,
        only sentences of a length that occurs in no other batch."""
        n_most = _MOST_NUMBERS / (longest * self._d)
        if self._target.in_order:
            return np.arange(len(batch)) < n_most
        # Sentences of equal length are taken together or not at all. A length that continues in the next batch is left
        # out, because it is unknown which of its sentences are in this batch.
        lengths = self._target.lengths[batch]
        n_all = np.bincount(self._target.lengths)
        is_whole = (np.bincount(lengths, minlength=len(n_all)) == n_all)[lengths]
        # Each length adds as many sums as it has positions, shape (n_lengths,); short lengths come first.
        each, at = np.unique(lengths[is_whole], return_inverse=True)
        n_sums = np.zeros(len(batch), dtype=np.int64)
        n_sums[is_whole] = (np.cumsum(each) - each)[at]
        n_before = np.searchsorted(lengths, lengths)  # of the first sentence of this length
        return is_whole & ((n_before < n_most) | (n_sums * self._d < _ENOUGH_SUMS))

    def direction(self, vectors: np.ndarray) -> np.ndarray:
        """Unit vector of the compared numbers without their mean and strong directions, shape (n_numbers,)."""
        part = np.asarray(vectors, dtype=np.float64)[self._items]
        part -= part.mean(axis=0)
        # In the strongest directions tokens differ by their words, in the others by their noise.
        strong = np.linalg.svd(part, full_matrices=False)[2][: max(0, min(_STRONG, self._d - 2))]
        part = self._summed(part - part @ strong.T @ strong).reshape(-1)
        return part / max(float(np.linalg.norm(part)), 1e-300)

    def scores(self, directions: np.ndarray, generator: str, seeds: Iterable[int]) -> np.ndarray:
        """Scores of each direction and seed, shape (n_directions, n_seeds); standard normal for wrong seeds."""
        seeds, out = list(seeds), []
        for start in range(0, len(seeds), _BLOCK):
            block = seeds[start : start + _BLOCK]
            drawn = np.empty((len(block), self.n_numbers))
            for row, seed in zip(drawn, block, strict=True):
                row[:] = self._summed(self._drawn(generator, seed)).reshape(-1)
            out.append(directions @ drawn.T)
        return np.concatenate(out, axis=1)

    def planted(self, generator: str, seed: int) -> np.ndarray:
        """Released vectors plus the noise of a seed, scaled to the standard deviation of the vectors in each dimension.

        The vectors still contain the noise of the release, so that the control is harder than a search in a seeded
        release.
        """
        vectors = np.array(self._target.vectors, dtype=np.float64)
        vectors[self._items] += self._drawn(generator, seed) * vectors[self._items].std(axis=0)
        return vectors

    def _drawn(self, generator: str, seed: int) -> np.ndarray:
        """Noise of the compared tokens under a seed, shape (n_compared, d)."""
        _, stream, in_batches = GENERATORS[generator]
        cells, n_cells, before = self._cells, self._n_cells, self._target.input_width if in_batches else 0
        if in_batches and stream is of_numpy:  # draws no padded cells; the first tokens are compared
            cells, n_cells = np.arange(len(cells)), self._n_tokens
        total, wanted = n_cells * self._d, (int(cells.max()) + 1) * self._d
        # PyTorch fills blocks of 16 numbers: a shorter draw begins with the same numbers, up to its last block.
        n = min(total, -(-wanted // 16) * 16 + 16)
        n = total if n + 16 > total else n
        # The noise at the input is drawn first.
        flat = stream(seed, n, n_cells * before) if before else stream(seed, n)
        return flat[:wanted].reshape(-1, self._d)[cells]

    def _summed(self, values: np.ndarray) -> np.ndarray:
        """Sum values of shape (n_compared, d) over exchangeable tokens; noise of variance 1 keeps variance 1."""
        if self._is_in_place:  # thousands of seeds are drawn
            return values
        return np.add.reduceat(values[self._order], self._starts, axis=0) / self._root_sizes


def _fault(generator: str, seed: int) -> str:
    named = GENERATORS[generator].name
    return f"The noise is that of {named} with seed {seed}: anyone who tries the seeds can remove the noise."
