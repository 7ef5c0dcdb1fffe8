"""Predictions of a fitted network: input, tags and marginals, corrected by the memory of each note."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import NotFittedError
from skorch.exceptions import NotInitializedError
from torch import Tensor

from .._skorch import plain_torch
from ..exceptions import SequenceError
from ..metrics import phi_f1_score
from ..sequences import RaggedArray, TokenSequences, check_representer, check_sequences, object_rows
from ..text import convert_tags, repair_tags
from .batching import ContextUnits, SentenceBatch, SentenceDataset
from .note_memory import NoteMemory, Repeats
from .strategies import ContextBlock, strategy
from .tagger_data import check_like_training, distinct_words, word_features
from .training_loop import SequenceNet
from .uniform_casing import lower_uniform_casing

_NOTHING = np.zeros(0)
# Padded cells whose best paths are searched together: most steps then have many sentences.
_DECODED_CELLS = 16_384


class TaggingNet(SequenceNet):
    """Prediction of a `DeidTagger`: Viterbi paths and marginals of the network, corrected by the memory of a note."""

    # None without a fit on notes: taggers of earlier versions, and of `partial_fit`.
    note_memory_: NoteMemory | None = None
    _vectors_from: str | None = None  # fingerprint of a representer
    _reads_context = False  # whether the network was built for a ``context`` other than "sentence"
    # As attributes of the class: taggers of earlier versions have no such attributes.
    lowers_uniform_casing_ = False
    marks_uniform_casing_ = False

    def check_is_fitted(self, attributes: Any = None, *args: Any, **kwargs: Any) -> None:
        """Raise NotFittedError if the tagger has no network; skorch would advise to call `initialize`."""
        if attributes is None and not hasattr(self, "module_"):
            raise NotInitializedError(
                f"This {type(self).__name__} is not fitted yet: call fit, or load a saved tagger."
            )
        super().check_is_fitted(attributes, *args, **kwargs)

    @plain_torch()
    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Tag sentences.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`
            Sentences to tag.
        return_confidence : bool, default=False
            Whether to also return the marginal probability of each predicted tag.

        Returns
        -------
        y : ndarray of shape (n,), dtype object
            One list of IOB2 tags for each sentence.
        confidence : ndarray of shape (n,), dtype object
            One float array for each sentence. Returned only with ``return_confidence=True``.
        """
        dataset, table = self._tagging_data(X)
        repeats = self._repeats(X)
        # Sentences whose marginals the memory reads.
        kept: dict[int, np.ndarray] = {} if repeats is None else dict.fromkeys(repeats.sentences.tolist(), _NOTHING)
        # Sentences without tokens are in no batch. Their results stay empty.
        tags: list[list[str]] = [[] for _ in range(len(dataset))]
        confidence = [np.zeros(0, dtype=np.float32) for _ in range(len(dataset) if return_confidence else 0)]
        for rows, batch, emissions, paths in self._decoded(dataset, table):
            for row, path in zip(rows, paths, strict=True):
                tags[row] = self._outer_tags(path)
            if return_confidence or not kept.keys().isdisjoint(rows):
                # shape: (batch, time, n_classes)
                probabilities = self.module_.marginals(emissions, batch.mask).cpu().numpy()
                for i, (row, path) in enumerate(zip(rows, paths, strict=True)):
                    if return_confidence:
                        confidence[row] = probabilities[i, np.arange(len(path)), path]
                    if row in kept:
                        kept[row] = probabilities[i, : len(path)].copy()
        if repeats is not None and self.note_memory_ is not None:
            for row, decided, sure in self.note_memory_.decided(kept, repeats, self.classes_):
                tags[row] = decided
                if return_confidence:
                    confidence[row] = sure.astype(np.float32)
        return (object_rows(tags), object_rows(confidence)) if return_confidence else object_rows(tags)

    @plain_torch()
    def predict_proba(self, X: Any) -> np.ndarray:
        """Marginal probability of each tag at each token.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`
            Sentences to tag.

        Returns
        -------
        ndarray of shape (n,), dtype object
            One float32 array of shape (n_tokens, n_classes) for each sentence, with columns in the order of
            ``classes_``.
        """
        dataset, table = self._tagging_data(X)
        out = [np.zeros((0, len(self.classes_)), dtype=np.float32) for _ in range(len(dataset))]
        for rows, batch, emissions in self._outputs(dataset, table):
            # shape: (batch, time, n_classes)
            probabilities = self.module_.marginals(emissions, batch.mask).cpu().numpy()
            for i, row in enumerate(rows):
                # The copy releases the padded array of the whole batch.
                out[row] = probabilities[i, : dataset.lengths[row]].copy()
        repeats = self._repeats(X)
        if repeats is not None and self.note_memory_ is not None:
            self.note_memory_.correct(out, repeats, self.classes_)
        return object_rows(out)

    def _decoded(
        self, dataset: SentenceDataset, table: Tensor | None
    ) -> Iterator[tuple[list[int], SentenceBatch, Tensor, list[list[int]]]]:
        """Yield the batches of `_outputs`, with the tags of their sentences; a few batches are decoded together."""
        held: list[tuple[list[int], SentenceBatch, Tensor]] = []
        for output in chain(self._outputs(dataset, table), [None]):
            held += [] if output is None else [output]
            n_cells = sum(batch.mask.numel() for _, batch, _ in held)
            if n_cells >= _DECODED_CELLS or (output is None and held):
                found = self.module_.decode_all([(emissions, batch.mask) for _, batch, emissions in held])
                yield from ((*one, paths) for one, paths in zip(held, found, strict=True))
                held = []

    def _learn_memory(self, X: RaggedArray, tags: TokenSequences) -> None:
        """Count repeated words of the training notes."""
        self.note_memory_ = NoteMemory.counted(X, tags, self.classes_)

    def _repeats(self, X: Any) -> Repeats | None:
        """Words whose probabilities the memory corrects; None without a memory or without the documents of X."""
        return None if self.note_memory_ is None else Repeats.of(check_sequences(X))

    def _outer_tags(self, path: list[int]) -> list[str]:
        """Convert the numbers of tags to legal IOB2 tags."""
        if not any(path):
            return ["O"] * len(path)
        tags = self.classes_[path].tolist()
        return repair_tags(tags if self.tag_scheme == "iob2" else convert_tags(tags, self.tag_scheme, "iob2"))

    def _held_out_f1(self, dataset: SentenceDataset) -> float:
        """Micro F1 of typed spans on held-out sentences, computed from the tags of the network."""
        assert isinstance(dataset.tags, np.ndarray)
        # shape: flat tags (n_tokens,), offsets (n_sentences + 1,)
        gold = TokenSequences(self.classes_[dataset.tags], dataset.offsets)
        predicted: list[list[str]] = [[] for _ in range(len(dataset))]
        for rows, batch, emissions in self._outputs(dataset):
            for row, path in zip(rows, self.module_.decode(emissions, batch.mask), strict=True):
                predicted[row] = self.classes_[path].tolist()
        return float(phi_f1_score(gold, predicted))

    def _tagging_data(self, X: Any) -> tuple[SentenceDataset, Tensor | None]:
        """Sentences to tag, and a table with the encoding of each distinct word (None without word features)."""
        self.check_is_fitted()
        X = check_sequences(X)
        units = self._units(X)
        if self.augmenter_ is not None and isinstance(X, TokenSequences):
            X = self._as_long(X, self.augmenter_.transform(X))
        if self.lowers_uniform_casing_ and isinstance(X, TokenSequences):
            X = lower_uniform_casing(X, self.marks_uniform_casing_)
        self._check_like_training(X)
        # Token vectors need no encoding, and the vectors of sub-words depend on the sentence: no table for either.
        if self.module_.words is None:
            return SentenceDataset(X.offsets, **self._arrays(X), units=units), None
        words, distinct = distinct_words(X)
        self._set_training(False)
        # Each distinct word is encoded once here, and not again in each batch.
        with torch.inference_mode(), self._autocast(tagging=True):
            table = self.module_.encode_words(distinct, self._features)
        return SentenceDataset(X.offsets, words=words, units=units), table

    def _check_like_training(self, X: Any) -> None:
        """Refuse X if kind (words or vectors), vector width or representer differ from the training data."""
        check_like_training(X, None if self._reads_words else self.n_features_in_)
        check_representer(X, self._vectors_from)

    def _as_long(self, X: RaggedArray, perturbed: Any) -> Any:
        """Return perturbed sentences; raise an error if the number of tokens has changed."""
        perturbed = check_sequences(perturbed)
        if not np.array_equal(perturbed.offsets, X.offsets):
            raise SequenceError(f"{type(self.augmenter_).__name__} changed the number of tokens of a sentence.")
        return perturbed

    def _units(self, X: RaggedArray, rng: np.random.Generator | None = None) -> ContextUnits | None:
        """Sentences that the encoder reads together; None if the encoder reads each sentence alone.

        With ``rng``, blocks have random borders if ``random_borders`` of the `ContextBlock` is True.
        """
        context = strategy("context", self.context)
        if self._reads_context != (context != "sentence"):
            raise NotFittedError(
                f"This {type(self).__name__} was trained with another context. With context={self.context!r}, call fit "
                "again."
            )
        if context == "sentence" or not len(X):
            return None
        if X.documents is None:
            raise SequenceError(
                f"context={self.context!r} needs the document of each sentence. Take X from Corpus.to_sentences(), "
                "or pass TokenSequences.from_rows(X).with_documents(document_ids)."
            )
        if context == "document":
            return ContextUnits.documents(X.documents)
        if isinstance(context, ContextBlock):
            return ContextUnits.blocks(X.documents, X.lengths, context.size, rng if context.random_borders else None)
        return ContextUnits.windows(X.documents, context.size)

    def _arrays(self, X: RaggedArray) -> dict[str, Any]:
        """Arrays of a `SentenceDataset`: token vectors, or numbers and features of the distinct words."""
        if not isinstance(X, TokenSequences):
            return {"vectors": X.data}
        if not self._reads_words:  # a list without any token does not show whether it holds words or vectors
            return {"vectors": np.zeros((0, self.n_features_in_), dtype=np.float32)}
        words, distinct = distinct_words(X)
        return {"words": words, "features": self._features(distinct)}

    def _features(self, words: list[str]) -> dict[str, Tensor]:
        if self._pretrained is not None:
            return self._pretrained.features(words)
        # Not the parameter `characters`, which takes effect at the next `fit`.
        reads_characters = self.module_.words.characters is not None
        return word_features(words, characters=reads_characters, vectors=self._vectors)
