"""The part of `PrivateRepresenter` below its parameters and public promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._compat import resolve_device
from .._sequences import Representation, TokenSequences, check_sequences, check_tags
from ..embeddings import WordVectors
from ..exceptions import SequenceError
from ..text import CASING_CLASSES
from ..training import PairBatches, PrivateModel, hold_out_patients
from ._pair_data import make_pair_data
from ._representer_encoding import encode_sentences
from ._representer_state import origin_of
from ._representer_training import TrainingRun, build_representer, build_tagger, train_representer
from ._tagger_data import inner_tags
from .neighbor_pseudonymizer import NeighborPseudonymizer

__all__ = ["SentenceRepresenter", "check_tokens"]


class SentenceRepresenter(TransformerMixin, BaseEstimator):
    """Networks, their training and what they release; parameters and promises are the subclass's."""

    _vectors: WordVectors
    _noise_seeds: np.random.Generator | None

    def pair_batches(self, X: Any, y: Any, batch_size: int = 32) -> PairBatches:
        """Sentences of X with their moved twins, as attackers are trained on; for audits.

        Parameters
        ----------
        X, y
            As for `fit`; tags that were not seen in `fit` count as "O" for the tagger, but their tokens move.
        batch_size : int, default=32
        """
        check_is_fitted(self)
        X = check_tokens(X)
        tags = inner_tags(check_tags(y, X), "iob2")
        device = resolve_device(self.device)
        self.model_.to(device)
        data = make_pair_data(X, tags, self.classes_, self._neighbor_mechanism(X, tags), **self._pair_options())
        return PairBatches(data, batch_size, device)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of a token's vector."""
        check_is_fitted(self)
        names = [f"privaterepresenter{i}" for i in range(self.n_components)]
        return np.array(names + [f"casing_{name}" for name in CASING_CLASSES] * self.casing, dtype=object)

    def set_output(self, *, transform: Any = None) -> Any:
        """Does nothing: sentences do not fit into a data frame."""
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        tags.target_tags.required = True
        tags.non_deterministic = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        # Noise that could be replayed is no noise: a copy takes its numbers from the operating system.
        state = super().__getstate__().copy()
        if "_noise_seeds" in state:
            state["_noise_seeds"] = None
        return state

    # ---- below the parameters

    def _fit_networks(
        self, X: TokenSequences, tags: TokenSequences, groups: np.ndarray | None, rng: np.random.Generator
    ) -> None:
        data = make_pair_data(X, tags, self.classes_, self._neighbor_mechanism(X, tags), **self._pair_options())
        rows = hold_out_patients(len(X), groups, self.validation_fraction, int(rng.integers(2**31)))
        device = resolve_device(self.device)
        run = TrainingRun(data, rows, rng, device=device, batch_size=self.batch_size, verbose=self.verbose)
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(int(rng.integers(2**62)))
            network = build_representer(self, self._vectors.dim)
            self.model_ = PrivateModel(network, build_tagger(self, len(self.classes_))).to(device)
            result = train_representer(self, self.model_, run)
        self.model_.eval()
        self.history_, self.bound_, self.interrupted_ = run.log.rows, result.bound, result.interrupted

    def _neighbor_mechanism(self, X: TokenSequences, tags: TokenSequences) -> Any:
        """Where each PHI token may move: the machinery of `NeighborPseudonymizer`."""
        pseudonymizer = NeighborPseudonymizer(
            embeddings=self._vectors,
            n_neighbors=self.n_neighbors,
            labels=self.labels,
            exclude=self.exclude,
            digits=self.digits,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            random_state=0,
        )
        return pseudonymizer.fit(X, tags).mechanism_

    def _pair_options(self) -> dict[str, Any]:
        return {"labels": None if self.labels is None else set(self.labels), "casing": self.casing}

    def _released(self, X: TokenSequences, noise: bool) -> Representation:
        device = resolve_device(self.device)
        self.model_.to(device)
        generator = torch.Generator(device)
        if self._noise_seeds is None:
            generator.seed()
        else:
            generator.manual_seed(int(self._noise_seeds.integers(2**62)))
        data = encode_sentences(
            self.model_.representer, self._vectors, X, casing=self.casing, generator=generator if noise else None
        )
        return Representation(data, X.offsets, origin_of(self) if noise else None)


def check_tokens(X: Any) -> TokenSequences:
    X = check_sequences(X)
    if not isinstance(X, TokenSequences):
        if len(X.data):
            raise SequenceError("PrivateRepresenter reads words; X holds vectors.")
        X = TokenSequences(np.empty(0, dtype=object), X.offsets)
    return X
