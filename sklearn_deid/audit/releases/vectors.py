"""Releases of private vectors, with the data that each attack on vectors needs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from sklearn.base import clone

from ..._compat import resolve_device
from ..._randomness import release_generator
from ...exceptions import UnsafeToShareWarning
from ...representations.bound import pair_distance
from ...representations.encoding import encode_sentences
from ...representations.pair_batches import PairBatches
from ...representations.pair_data import PairData, embedding_table
from ...sequences import TokenSequences, TokenVectors
from ...tagging.tagger_data import distinct_words
from ...text import casing_ids
from ..attacks.membership import MembershipKnowledge, ReleasedTagger
from ..attacks.model_training import LossFunction, TrainingProcedure
from ..attacks.pairs import PairKnowledge, PairRelease
from ..attacks.released_tokens import ReleasedTokens
from ..attacks.sentence_pairs import ReleasedSentences
from ..audit_data import AuditData
from ..protocol import AttackResult
from ..released_step import REPRESENTATION, VECTORS

# In no vocabulary: the character replaces PHI words if only their surroundings are represented.
_BLOTTED = "\u2588"


class _VectorRelease:
    """Data that several attacks on vectors use."""

    def __init__(self, data: AuditData, device: str = "cpu") -> None:
        self.data, self.device = data, resolve_device(device)

    def tokens(self, part: str) -> ReleasedTokens:
        """Sentences of a part, with the words behind the vectors."""
        rows = self.data.parts[part]
        item = _items(self.data.X, rows)
        return ReleasedTokens(
            self.vectors(part),
            np.concatenate([[0], np.cumsum(self.data.X.lengths[rows])]),
            self.words[item],
            self.data.phi[item],
            self._casing[item],
            self._labels[item],
            self.data.groups_of(rows),
            self.surroundings(part),
        )

    def sentences(self, part: str) -> ReleasedSentences:
        """Sentences of a part, in the form that a linkage attacker sees."""
        rows, data = self.data.parts[part], self.data
        vectors = TokenVectors(self.vectors(part), np.concatenate([[0], np.cumsum(data.X.lengths[rows])]))
        casing = np.split(self._casing, data.X.offsets[1:-1])
        return ReleasedSentences(vectors, data.groups_of(rows), data.y[rows], [casing[row] for row in rows])

    @property
    def table(self) -> np.ndarray:
        """Public word vectors, shape (n_words, e)."""
        raise NotImplementedError

    @property
    def words(self) -> np.ndarray:
        """Row in the table for each token."""
        raise NotImplementedError

    def vectors(self, part: str) -> np.ndarray:
        """One release of the sentences of a part, without casing columns."""
        raise NotImplementedError

    def surroundings(self, part: str) -> np.ndarray | None:
        """Release of the same sentences with masked PHI words; None if such a release cannot be made."""
        return None

    @cached_property
    def _casing(self) -> np.ndarray:
        return casing_ids(self.data.X.data.tolist())

    @cached_property
    def _labels(self) -> np.ndarray:
        return np.unique(self.data.y.data.astype(str), return_inverse=True)[1].reshape(-1)


class ReleasedRepresenter(_VectorRelease):
    """A published representer and one release of the sentences.

    Parameters
    ----------
    representer : fitted PrivateRepresenter
        Published representer.
    data : AuditData
        Sentences of the audit.
    """

    kind = REPRESENTATION

    def __init__(self, representer: Any, data: AuditData) -> None:
        super().__init__(data, representer.device)
        self.representer = representer
        representer.network_.to(self.device)

    @property
    def is_bounded(self) -> bool:
        """Whether the output carries noise, so that a bound on all attackers exists."""
        return self.representer.network_.output_noise.kind != "none"

    @cached_property
    def pair_knowledge(self) -> PairKnowledge:
        """Knowledge of an attacker who trains adversaries of pairs."""
        train, valid = (self._pairs.take(self.data.parts[part]) for part in ("train", "valid"))
        r = self.representer
        return PairKnowledge(r.network_, train, valid, getattr(r, "adversaries_", None), self.device)

    @cached_property
    def pair_release(self) -> PairRelease:
        """Measured sentences, as pairs."""
        return PairRelease(self._pairs.take(self.data.test), self.data.groups_of(self.data.test))

    @property
    def memory(self) -> tuple[MembershipKnowledge, ReleasedTagger, Callable[[AttackResult], AttackResult]]:
        """Knowledge of a membership attacker, a representer to attack, and a function that describes the result.

        The attacked representer is trained in the same way on half of the patients, because the patients of the
        published representer are not known here. The attack judges sentences with a token that can be replaced: a
        published representer contains no tagger, and the only measurable quantity of a sentence is its distance to
        its counterfactuals.
        """
        data, pairs = self.data, self._pairs
        # Sentences with a token that can be replaced.
        rows = np.unique(np.searchsorted(pairs.offsets, pairs.eligible, side="right") - 1)
        groups = np.arange(len(rows)) if data.groups is None else np.unique(data.groups[rows], return_inverse=True)[1]
        rng = np.random.default_rng(data.seed)
        members = (rng.permutation(groups.max() + 1) < (groups.max() + 1) / 2)[groups]
        train, X, y = training_of_representer(self.representer), data.X[rows], data.y[rows]
        released = ReleasedTagger(train(X[members], y[members], data.seed), members)
        return MembershipKnowledge(train, X, y, groups), released, _of_the_representer

    @property
    def table(self) -> np.ndarray:
        return self._pairs.table.numpy()

    @property
    def words(self) -> np.ndarray:
        return self._pairs.words

    def vectors(self, part: str) -> np.ndarray:
        """One release of a part. Each part has its own noise.

        Equal sentences within a release have equal noise. With common noise over the parts, attackers would recognise
        a sentence that they also hold.
        """
        return self._encoded(self.data.X[self.data.parts[part]], part)

    def surroundings(self, part: str) -> np.ndarray:
        """Release of a part in which an unknown word replaces every PHI word."""
        rows, blotted = self.data.parts[part], self.data.X.data.copy()
        blotted[self.data.phi] = _BLOTTED
        return self._encoded(TokenSequences(blotted, self.data.X.offsets)[rows], part)

    def _encoded(self, X: TokenSequences, part: str) -> np.ndarray:
        """Encode like `PrivateRepresenter.transform`, with noise from the audit's seed."""
        # Each part has its own seed, so that equal sentences of two parts have different noise.
        seed = int(np.random.default_rng([self.data.seed, list(self.data.parts).index(part)]).integers(2**62))
        r = self.representer
        return encode_sentences(r.network_, r._vectors, X, casing=False, generator=release_generator(seed))

    @cached_property
    def _pairs(self) -> PairData:
        return self.representer.pair_data(self.data.X, self.data.y)


class ReleasedVectors(_VectorRelease):
    """Released word vectors, perturbed or not, whose mechanism is unknown.

    Parameters
    ----------
    vectors : ndarray of shape (n_tokens, d)
        Vectors of the sentences in ``data``, without casing columns.
    public : WordVectors
        Public vectors in which the attacker searches for the words.
    data : AuditData
        Sentences of the audit.
    """

    kind = VECTORS

    def __init__(self, vectors: np.ndarray, public: Any, data: AuditData) -> None:
        super().__init__(data)
        self._released, self._public = vectors, public

    def vectors(self, part: str) -> np.ndarray:
        """Released vectors of a part."""
        return self._released[_items(self.data.X, self.data.parts[part])]

    @cached_property
    def table(self) -> np.ndarray:
        return embedding_table(self._public, distinct_words(self.data.X)[1])

    @cached_property
    def words(self) -> np.ndarray:
        return distinct_words(self.data.X)[0]


def _of_the_representer(found: AttackResult) -> AttackResult:
    """Describe a membership result as a result on the representer."""
    attacker = (
        "A recipient of the published representer who knows how it is trained, and holds sentences of which some may "
        "have been among those it was trained on."
    )
    return replace(found, name=f"{found.name}, of the representer", attacker=attacker)


def _items(X: TokenSequences, rows: np.ndarray) -> np.ndarray:
    """Positions of the tokens of the given sentences, in order."""
    parts = [np.arange(X.offsets[row], X.offsets[row + 1]) for row in rows]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


_N_DRAWS = 4
# Below this distance the network does not distinguish a sentence from its counterfactuals.
_SMALLEST = 1e-6


def training_of_representer(representer: Any) -> TrainingProcedure:
    """Training procedure for `MembershipAttack`. The loss of a sentence is the logarithm of `distances_of`."""

    def train(X: Any, y: Any, seed: int) -> LossFunction:
        model = clone(representer).set_params(random_state=seed, embeddings=representer._vectors, verbose=0)
        with warnings.catch_warnings():
            # The model stays inside the audit, so that the warning about sharing it does not apply.
            warnings.simplefilter("ignore", UnsafeToShareWarning)
            model.fit(X, y)
        return lambda X, y: np.log(np.maximum(distances_of(model, X, y), _SMALLEST))

    return train


@torch.no_grad()
def distances_of(representer: Any, X: TokenSequences, y: TokenSequences) -> np.ndarray:
    """Mean distance d' between each sentence and its counterfactuals, shape (n,).

    Every call uses the same replacements. Training makes the distance small, and smaller for the training sentences.
    The distance is 0 for sentences without a token that can be replaced.
    """
    data, network = representer.pair_data(X, y), representer.network_
    # The tags are not used here. They carry the number of the sentence through the batches instead.
    numbered = replace(data, tags=np.repeat(np.arange(len(data)), np.diff(data.offsets)))
    device = next(network.parameters()).device
    batches, generator = PairBatches(numbered, 128, device), torch.Generator(device).manual_seed(0)
    std = network.output_std().clamp(min=_SMALLEST)
    total = np.zeros(len(data))
    for _ in range(_N_DRAWS):
        for batch in batches.epoch(None, generator, sentences="pairs"):
            # Means without noise: `pair_distance` relates their difference to the standard deviation of the noise.
            # shape: (n_pairs, time, d)
            mu, moved = (network.mean(x, batch.mask, noise=False) for x in (batch.embeddings, batch.moved))
            rows = batch.tags[: batch.n_pairs, 0].cpu().numpy()
            total[rows] += pair_distance(mu, moved, std, batch.mask).cpu().numpy()
    return total / _N_DRAWS
