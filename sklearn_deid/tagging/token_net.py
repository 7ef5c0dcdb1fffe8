"""The part of `DeidTagger` below its parameters and public methods: tokens and tags in, network, tags out."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from torch import Tensor

from ..exceptions import SequenceError
from ..metrics import phi_f1_score
from ..sequences import RaggedArray, TokenSequences, TokenVectors, check_groups, check_sequences, check_tags
from ..text import convert_tags, repair_tags, split_tag
from .batching import SentenceDataset
from .context import ContextUnits
from .layer_rates import layer_rates
from .pretrained_encoder import as_pretrained
from .tagger_data import SwappingDataset, distinct_words, encode_tags, inner_tags, tag_weights, word_features
from .tagger_network import build_tagger_module
from .tagger_vectors import tagger_vectors
from .training_loop import SequenceNet
from .word_pieces import PretrainedFiles

__all__ = ["TokenNet"]

_PREFIXES = {"iob2": "BI", "bioes": "BIES"}


class TokenNet(SequenceNet):
    """Learns what depends on the data, builds the network for it, and moves data in and out."""

    _pretrained: PretrainedFiles | None = None

    # ---- built when the data are known

    def initialize_module(self) -> TokenNet:
        """Build the network for the classes and the kind of X that `fit` saw."""
        self.module_ = build_tagger_module(self)
        return self

    def get_params_for_optimizer(self, prefix: str, named_parameters: Any) -> Any:
        """Also the learning rates of the layers of a pretrained encoder."""
        named = list(named_parameters)
        if self._pretrained is None:
            return super().get_params_for_optimizer(prefix, named)
        settings = as_pretrained(self.pretrained)
        below = [(name, p) for name, p in named if name.startswith("encoder.")]
        args, kwargs = super().get_params_for_optimizer(prefix, [item for item in named if item not in below])
        below = [] if settings.frozen else below
        return ([*args[0], *layer_rates(below, settings.lr, settings.layer_decay)], *args[1:]), kwargs

    def _learn_inputs(self, X: RaggedArray, tags: TokenSequences, classes: Any) -> None:
        """Everything that depends on the data but is not trained by gradient."""
        known = {"O", *tags.data}
        if classes is not None:
            labels = {split_tag(str(tag))[1] for tag in classes} - {None}
            known |= {f"{prefix}-{label}" for label in labels for prefix in _PREFIXES[self.tag_scheme]}
        self.classes_ = np.array(sorted(known, key=lambda tag: (tag != "O", tag)), dtype=object)
        self._reads_words = isinstance(X, TokenSequences)
        self._vectors = None
        self._pretrained = None
        if isinstance(X, TokenVectors):
            self.n_features_in_ = X.d
            if self.encoder == "pretrained":
                raise SequenceError("encoder='pretrained' reads words; X holds vectors.")
        elif self.encoder == "pretrained":
            self._pretrained = as_pretrained(self.pretrained).load_files()
        elif isinstance(X, TokenSequences):
            self._vectors = tagger_vectors(self.embeddings, X, self._rng)
        self._tag_weights = tag_weights(self.class_weight, tags, self.classes_)

    # ---- data in and out

    def _checked(self, X: Any, y: Any, groups: Any) -> tuple[Any, TokenSequences, np.ndarray | None]:
        X = check_sequences(X)
        tags = inner_tags(check_tags(y, X), self.tag_scheme)
        if not len(X.data):
            raise SequenceError("X holds no token: there is nothing to train on.")
        return X, tags, check_groups(groups, len(X))

    def _fit_augmenter(self, X: Any, tags: TokenSequences, groups: np.ndarray | None) -> Any:
        """Fit a clone of the augmenter; the sentences as the network will first see them."""
        self.augmenter_: Any = None
        if self.augmenter is None:
            return X
        self.augmenter_ = clone(self.augmenter).set_params(random_state=int(self._rng.integers(2**31)))
        return self.augmenter_.fit_transform(X, tags, groups)

    def _augmented(self, X: Any, tags: TokenSequences, groups: np.ndarray | None) -> Any:
        """A new draw of the augmenter."""
        self.augmenter_.set_params(random_state=int(self._rng.integers(2**31)))
        return self.augmenter_.sample(X, tags, groups)

    def _arrays(self, X: RaggedArray) -> dict[str, Any]:
        if not isinstance(X, TokenSequences):
            return {"offsets": X.offsets, "vectors": X.data}
        words, distinct = distinct_words(X)
        if self._pretrained is not None:
            return {"offsets": X.offsets, "words": words, "features": self._pretrained.features(distinct)}
        features = word_features(distinct, characters=self.characters is not None, vectors=self._vectors)
        return {"offsets": X.offsets, "words": words, "features": features}

    def _units(self, X: RaggedArray) -> ContextUnits | None:
        """Which sentences are read together."""
        if self.context == "sentence" or not len(X):
            return None
        if X.documents is None:
            raise SequenceError(
                f"context={self.context!r} needs to know which sentences stand in one document. X of "
                "Corpus.to_sentences() knows it; else pass TokenSequences.from_rows(X).with_documents(document_ids)."
            )
        if self.context == "document":
            return ContextUnits.documents(X.documents)
        return ContextUnits.windows(X.documents, self.context_size)

    def _training_data(
        self, X: Any, tags: Any, groups: np.ndarray | None, rows: Any = slice(None), held_out: bool = False
    ) -> SentenceDataset:
        X, tags, groups = X[rows], tags[rows], None if groups is None else groups[rows]
        unknown = set(tags.data).difference(self.classes_)
        if unknown:
            raise SequenceError(
                f"y holds {len(unknown)} tags that are not among classes_, such as {min(unknown)!r}. "
                "Name all tags in 'classes' at the first call of partial_fit."
            )
        share = 0.0 if held_out else self.span_swap
        if self.augmenter_ is None:
            return SwappingDataset(
                tags, share, **self._arrays(X), tags=encode_tags(tags, self.classes_), units=self._units(X)
            )
        seen = self.augmenter_.transform(X) if held_out else self._augmented(X, tags, groups)
        redrawn = None if held_out else lambda: self._arrays(self._augmented(X, tags, groups))
        arrays = {**self._arrays(seen), "tags": encode_tags(tags, self.classes_), "units": self._units(X)}
        return SwappingDataset(tags, share, redrawn, **arrays)

    def _tagging_data(self, X: Any) -> tuple[SentenceDataset, Tensor | None]:
        """Sentences to tag, and the words encoded once for all batches."""
        self.check_is_fitted()
        X = check_sequences(X)
        units = self._units(X)
        if self.augmenter_ is not None and isinstance(X, TokenSequences):
            X = self.augmenter_.transform(X)
        if self._reads_words != isinstance(X, TokenSequences) and len(X.data):
            trained, given = ("tokens", "vectors") if self._reads_words else ("vectors", "tokens")
            raise SequenceError(f"This tagger was trained on {trained}; X holds {given}.")
        arrays = self._arrays(X)
        if self.module_.words is None:  # vectors, or sub-words, which only their sentence makes vectors of
            return SentenceDataset(**arrays, units=units), None
        features = arrays.pop("features")
        device = next(self.module_.parameters()).device
        self._set_training(False)
        with torch.inference_mode(), self._autocast():
            table = self.module_.encode_words({k: v.to(device) for k, v in features.items()})
        return SentenceDataset(**arrays, units=units), table

    def _outer_tags(self, path: list[int]) -> list[str]:
        tags = self.classes_[path].tolist()
        return repair_tags(tags if self.tag_scheme == "iob2" else convert_tags(tags, self.tag_scheme, "iob2"))

    def _held_out_f1(self, dataset: SentenceDataset) -> float:
        assert isinstance(dataset.tags, np.ndarray)
        gold = TokenSequences(self.classes_[dataset.tags], dataset.offsets)
        predicted: list[list[str]] = [[] for _ in range(len(dataset))]
        for rows, batch, emissions in self._outputs(dataset):
            for row, path in zip(rows, self.module_.decode(emissions, batch.mask), strict=True):
                predicted[row] = self.classes_[path].tolist()
        return float(phi_f1_score(gold, predicted))
