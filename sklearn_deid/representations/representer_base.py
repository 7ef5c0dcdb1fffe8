"""The part of `PrivateRepresenter` below its parameters and public promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._compat import resolve_device
from .._randomness import own_generator, release_generator
from ..embeddings import WordVectors
from ..exceptions import SequenceError
from ..pseudonyms.neighbor_pseudonymizer import NeighborPseudonymizer
from ..sequences import TokenSequences, TokenVectors, check_sequences, check_tags
from ..tagging.splits import hold_out_patients
from ..tagging.tagger_data import inner_tags
from ..text import CASING_CLASSES
from .bound import PrivacyBound, WorstCase, pair_distances, pair_slack, privacy_bound, worst_case
from .encoding import encode_sentences
from .fitting import TrainingRun, build_representer, build_tagger, train_representer
from .pair_batches import PairBatches
from .pair_data import PairData, make_pair_data
from .private_model import PrivateModel
from .saving import origin_of

__all__ = ["SentenceRepresenter", "check_tokens"]


class SentenceRepresenter(TransformerMixin, BaseEstimator):
    """Networks, their training and what they release; parameters and promises are the subclass's."""

    _releases = "representation"  # for audits: what `transform` makes is shared
    _vectors: WordVectors
    _noise_seeds: np.random.Generator | None

    def certify(
        self, X: Any, y: Any, *, n_releases: int = 1, quantile: float = 0.95, random_state: Any = None
    ) -> PrivacyBound:
        """Accuracy of the best attacker over the PHI sentences of X, each with one token moved at random.

        For ideal noise and single tokens that can move, not for patients; see the notes of `PrivateRepresenter`.

        Parameters
        ----------
        X, y
            As for `fit`; sentences of other patients than those of `fit` give an honest number.
        n_releases : int, default=1
            r, how often each sentence is released.
        quantile : float in (0, 1), default=0.95
        random_state : int, RandomState or None, default=None
            Draws the moves.

        Raises
        ------
        SequenceError
            If no PHI token of X can move.
        ValueError
            If there is no output noise.
        """
        check_is_fitted(self)
        if self.network_.output_noise.kind == "none":
            raise ValueError("Without noise no attacker is bounded: noise=None.")
        X = check_tokens(X)
        batches = self.pair_batches(X, y)
        seed = int(own_generator(random_state).integers(2**62))
        generator = torch.Generator(batches.device).manual_seed(seed)
        distances = pair_distances(self.network_.eval(), batches, generator)
        slack = pair_slack(self.network_, batches)
        return privacy_bound(distances, n_releases=n_releases, quantile=quantile, slack=slack)

    def worst_case(self, words: Any = None) -> WorstCase:
        """Exact worst case over words and their N nearest words; for ``encoder="dense"`` with bounded training.

        Parameters
        ----------
        words : sequence of str, optional
            Words to look at; by default all that have a vector (minutes for 400,000 words).

        Returns
        -------
        WorstCase
            With ideal noise, one release of a sentence is mu-Gaussian differentially private with its ``gdp_mu``, for
            sentences that differ in one token moved to one of its N nearest words. k such tokens: root of k times mu.

        Raises
        ------
        ValueError
            If a token's vector depends on other tokens or on noise at the input, or there is no noise.

        References
        ----------
        Dong, Roth & Su (2022), Gaussian differential privacy, definition 2.6.
        """
        check_is_fitted(self)
        network = self.network_
        if self.encoder != "dense" or network.input_noise.kind != "none" or network.output_noise.kind == "none":
            raise ValueError(
                "The exact worst case is known for encoder='dense' and training='bounded' only: elsewhere it "
                "depends on all words of the sentence, or on the noise at the input. See `certify`."
            )
        rows = np.arange(len(self._vectors)) if words is None else np.unique(self._vectors.indices(words))
        rows = rows[rows >= 0]
        rows = rows[self._vectors.vectors_at(rows).any(axis=1)]
        return worst_case(network, self._vectors, self._neighbor_mechanism().moves, rows)

    def pair_data(self, X: Any, y: Any) -> PairData:
        """Sentences as arrays of numbers, with the words to which each PHI token may move; for audits.

        Parameters
        ----------
        X, y
            As for `fit`; tags that were not seen in `fit` count as "O" for the tagger, but their tokens move.
        """
        check_is_fitted(self)
        X = check_tokens(X)
        tags = inner_tags(check_tags(y, X), "iob2")
        return make_pair_data(X, tags, self.classes_, self._neighbor_mechanism(), **self._pair_options())

    def pair_batches(self, X: Any, y: Any, batch_size: int = 32) -> PairBatches:
        """Sentences of X with their moved twins, as attackers are trained on; for audits.

        Parameters
        ----------
        X, y
            As for `pair_data`.
        batch_size : int, default=32
        """
        data, device = self.pair_data(X, y), resolve_device(self.device)
        self.network_.to(device)
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
        data = make_pair_data(X, tags, self.classes_, self._neighbor_mechanism(), **self._pair_options())
        rows = hold_out_patients(len(X), groups, self.validation_fraction, int(rng.integers(2**31)))
        device = resolve_device(self.device)
        run = TrainingRun(data, rows, rng, device=device, batch_size=self._batch_size(), verbose=self.verbose)
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(int(rng.integers(2**62)))
            network = build_representer(self, self._vectors.dim)
            model = PrivateModel(network, build_tagger(self, len(self.classes_))).to(device)
            result = train_representer(self, model, run)
        self.network_, self.tagger_ = model.representer.eval(), model.tagger.eval()
        self.training_counts_ = {
            "n_sentences": len(X),
            "n_tokens": len(X.data),
            "n_movable_phi_tokens": len(data.eligible),
            "n_patients": None if groups is None else len(np.unique(groups)),
        }
        self.history_, self.bound_, self.interrupted_ = run.log.rows, result.bound, result.interrupted
        self.adversaries_, self.control_accuracy_ = result.adversaries, result.control_accuracy
        self.selected_round_, self._is_protected = result.selected_round, result.is_protected

    def _neighbor_mechanism(self) -> Any:
        """Where PHI tokens may move: the machinery of `NeighborPseudonymizer`."""
        pseudonymizer = NeighborPseudonymizer(
            embeddings=self._vectors,
            n_neighbors=self.n_neighbors,
            exclude=self.exclude,
            digits=self.digits,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            random_state=0,
        )
        return pseudonymizer.fit([], []).mechanism_

    def _batch_size(self) -> int:
        return self.batch_size or (128 if self.training == "bounded" else 32)

    def _pair_options(self) -> dict[str, Any]:
        return {"labels": None if self.labels is None else set(self.labels), "casing": self.casing}

    def _released(self, X: TokenSequences, noise: bool) -> TokenVectors:
        device = resolve_device(self.device)
        self.network_.to(device)
        seed = None if self._noise_seeds is None else int(self._noise_seeds.integers(2**62))
        data = encode_sentences(
            self.network_,
            self._vectors,
            X,
            casing=self.casing,
            generator=release_generator(seed) if noise else None,
            memmap_dir=self.memmap_dir,
        )
        origin = origin_of(self) if noise and self._is_protected else None
        return TokenVectors(data, X.offsets, origin).with_documents(X.documents)


def check_tokens(X: Any) -> TokenSequences:
    X = check_sequences(X)
    if not isinstance(X, TokenSequences):
        if len(X.data):
            raise SequenceError("PrivateRepresenter reads words; X holds vectors.")
        X = TokenSequences(np.empty(0, dtype=object), X.offsets)
    return X
