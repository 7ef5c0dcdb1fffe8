"""Transformers that move PHI tokens to other words."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._compat import StrOptions
from ..embeddings import NeighborIndex, WordVectors
from ..sequences import TokenSequences
from .coherence import shared_draws
from .perturber import Moves, PhiPerturber
from .phi_tokens import PhiTokens
from .policy import SHAPE, WordPolicy
from .word_moves import DigitsApart

__all__ = ["TOKEN_CONSTRAINTS", "TokenPerturber"]

TOKEN_CONSTRAINTS: dict[str, list] = {
    **PhiPerturber._parameter_constraints,
    "digits": [StrOptions({"same", "random"})],
    "unknown": [StrOptions({"shape", "random", "keep", "raise"})],
    "coherence": [StrOptions({"token", "sentence", "document", "patient"})],
    "keep_casing": ["boolean"],
}


class TokenPerturber(PhiPerturber):
    """Words in, words out: draws for words, shared within a group, written in the casing of each token."""

    _releases = "words"  # for audits: what `fit_transform` makes is shared
    _parameter_constraints: dict[str, list] = TOKEN_CONSTRAINTS

    def _perturbed(
        self, X: TokenSequences, moves: Moves, groups: np.ndarray | None, rng: np.random.Generator
    ) -> tuple[Any, np.ndarray]:
        phi, chosen = moves.phi, moves.chosen
        word_ids = phi.word_ids[chosen]
        shared = self._group_ids(phi.sentences[chosen], groups)
        draws, drawn = shared_draws(shared, word_ids, phi.words, self._actions(phi) < SHAPE)
        made = self.mechanism_.replace(phi.words, drawn, rng)
        data = X.data.copy()
        positions = phi.positions[chosen]
        unmoved = (made.ranks == 1)[draws].tolist()
        write = self.mechanism_.write
        surrogates = [
            write(new, token, stays)
            for new, token, stays in zip(made.words[draws].tolist(), data[positions].tolist(), unmoved, strict=True)
        ]
        data[positions] = surrogates
        return TokenSequences(data, X.offsets).with_documents(X.documents), made.ranks[draws]

    def _with_other_spellings(self, phi: PhiTokens, chosen: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
        shared = self._group_ids(phi.sentences, groups)
        if shared is None:
            return chosen
        # "Forty" moves and "forty", a stop word, would stay and give it away.
        folded = [phi.words[i].casefold() for i in phi.word_ids.tolist()]
        keys = list(zip(shared.tolist(), folded, strict=True))
        moving = {key for key, moves in zip(keys, chosen.tolist(), strict=True) if moves}
        return np.fromiter((key in moving for key in keys), dtype=bool, count=len(keys))

    def _group_ids(self, sentences: np.ndarray, groups: np.ndarray | None) -> np.ndarray | None:
        if self.coherence == "token":
            return None
        if self.coherence == "sentence":
            return sentences
        assert groups is not None  # _checked has seen to it
        number: dict[Any, int] = {}
        ids = np.array([number.setdefault(group, len(number)) for group in groups.tolist()], dtype=np.int64)
        return ids[sentences]

    def _neighbor_moves(self, kind: type, policy: WordPolicy, candidates: np.ndarray, *parameters: Any) -> Any:
        """For the siblings with ``n_neighbors``: ``kind(index, N, *parameters)``, with digits apart if asked for."""
        n_candidates = int(candidates.sum())
        if self.n_neighbors > n_candidates:
            raise ValueError(
                f"The 'n_neighbors' parameter must be at most the number of words that can be a surrogate, "
                f"{n_candidates}. Got {self.n_neighbors} instead."
            )
        vectors = policy.vectors
        others = kind(self._neighbor_index(vectors, candidates), self.n_neighbors, *parameters)
        is_digits = np.fromiter(map(str.isdigit, vectors.words), dtype=bool, count=len(vectors))
        n_digits = int((candidates & is_digits).sum())
        if self.digits != "near" or not n_digits:
            return others
        index = self._neighbor_index(vectors, candidates & is_digits)
        return DigitsApart(others, kind(index, min(self.n_neighbors, n_digits), *parameters), is_digits)

    def _neighbor_index(self, vectors: WordVectors, candidates: np.ndarray) -> NeighborIndex:
        return NeighborIndex(
            vectors, candidates=candidates, n_jobs=self.n_jobs, cache_dir=self.cache_dir, verbose=self.verbose
        )
