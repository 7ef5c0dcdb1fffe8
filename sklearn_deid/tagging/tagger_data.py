"""Conversion of tokens and tags to the data sets of the tagger."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..embeddings import SubwordTable, resolve_embeddings
from ..exceptions import SequenceError
from ..sequences import TokenSequences, TokenVectors
from ..text import CASING_CLASSES, casing_ids, character_ids, convert_tags, repair_tags, shape_ids, split_tag
from .batching import ContextUnits, SentenceBatch, SentenceDataset
from .layout_changes import LayoutChanges
from .listed_vectors import ListedVectors, locale_of
from .ngram_table import train_ngram_table
from .span_swap import Spans, SpanSwapper
from .uniform_casing import NO_CASING


def distinct_words(X: TokenSequences) -> tuple[np.ndarray, list[str]]:
    """Number of the word of each token, shape (n_tokens,), and the distinct words in order of first appearance."""
    number = {word: i for i, word in enumerate(dict.fromkeys(X.data))}
    return np.fromiter(map(number.__getitem__, X.data), dtype=np.int64, count=len(X.data)), list(number)


def word_features(words: list[str], *, characters: bool, vectors: Any = None) -> dict[str, Tensor]:
    """Features of distinct words, with one row for each word.

    Parameters
    ----------
    words : list of str
        Distinct words. `NO_CASING` before a word hides its casing.
    characters : bool
        Whether the features include the characters and the shapes of words.
    vectors : object with a method ``vectors_for(words)``, optional
        Word vectors, such as `WordVectors`. The method returns an array of shape (n_words, d).
    """
    bare = [word.removeprefix(NO_CASING) for word in words]
    casing = casing_ids(bare)
    # No other word of letters is of the class "other".
    is_marked = np.array([word != written for word, written in zip(words, bare, strict=True)], dtype=bool)
    casing[is_marked & (casing == CASING_CLASSES.index("lower"))] = CASING_CLASSES.index("other")
    features, words = {"casing": torch.from_numpy(casing)}, bare
    if characters:
        features["characters"] = torch.from_numpy(character_ids(words))
        features["shape"] = torch.from_numpy(shape_ids(words))
    if vectors is not None:
        features["vectors"] = torch.from_numpy(np.ascontiguousarray(vectors.vectors_for(words), dtype=np.float32))
    return features


def inner_tags(y: TokenSequences, tag_scheme: str) -> TokenSequences:
    """Convert the IOB2 tags of the user to legal tag sequences in the tag scheme of the network."""
    # The tags of the user may be illegal. A constrained CRF would give such sequences almost no probability.
    rows = [repair_tags(row) for row in y]
    return TokenSequences.from_rows(
        rows if tag_scheme == "iob2" else [convert_tags(r, "iob2", tag_scheme) for r in rows]
    )


def encode_tags(tags: TokenSequences, classes: np.ndarray) -> np.ndarray:
    """Number of the class of each tag, shape (n_tokens,). An unknown tag raises KeyError."""
    number = {tag: i for i, tag in enumerate(classes.tolist())}
    return np.fromiter(map(number.__getitem__, tags.data), dtype=np.int64, count=len(tags.data))


def check_labels(tags: Any, classes: np.ndarray) -> None:
    """Refuse labels that are not among the classes of a fitted tagger, because the output layer cannot grow."""
    known = {split_tag(tag)[1] for tag in classes}
    unknown = [tag for tag in ([] if tags is None else tags) if split_tag(str(tag))[1] not in known]
    if unknown:
        raise SequenceError(
            f"'classes' has labels that the tagger does not know, such as that of {unknown[0]!r}. Name all tags at the "
            "first call of partial_fit, or call fit."
        )


def check_like_training(X: TokenSequences | TokenVectors, width: int | None) -> None:
    """Refuse tokens after training on vectors, and vectors of another width than ``width`` (None: words)."""
    given = X.d if isinstance(X, TokenVectors) else None
    if not len(X.data) or given == width:
        return
    if given is not None and width is not None:
        raise SequenceError(f"This tagger was trained on vectors of width {width}; X has {given}.")
    trained, found = ("tokens", "vectors") if width is None else ("vectors", "tokens")
    raise SequenceError(f"This tagger was trained on {trained}; X holds {found}.")


def tag_weights(class_weight: Any, tags: TokenSequences, classes: np.ndarray) -> Tensor | None:
    """Weight of each class in the loss, shape (n_classes,). None if all classes have the same weight.

    Raises
    ------
    ValueError
        If a weight is not a number, is below 0 or is not finite. Also if all weights are 0, because the tagger would
        learn nothing.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, dict):
        _check_weights(class_weight, classes)
        return torch.tensor([float(class_weight.get(tag, 1.0)) for tag in classes], dtype=torch.float32)
    # "balanced", as in scikit-learn: n_tokens / (n_classes * count), so that rare tags weigh more.
    counts = np.bincount(encode_tags(tags, classes), minlength=len(classes))
    return torch.from_numpy(len(tags.data) / (len(classes) * np.maximum(counts, 1))).float()


def _check_weights(class_weight: dict[str, float], classes: np.ndarray) -> None:
    """Refuse negative weights, which would invert the loss, and warn of keys that are not tags of the network."""
    are_numbers = all(isinstance(weight, Real) and 0 <= weight < math.inf for weight in class_weight.values())
    if not are_numbers or not any(class_weight.get(tag, 1.0) for tag in classes):
        raise ValueError(
            "The weights in 'class_weight' of DeidTagger must be finite numbers of at least 0, and not 0 for all tags."
        )
    unused = sorted(map(str, set(class_weight).difference(classes)))
    if unused:
        warnings.warn(
            f"'class_weight' of DeidTagger has weights of {unused}, and the network has no such tags. Its tags are "
            f"{list(classes)}.",
            stacklevel=2,
        )


class GrowingFeatures:
    """Features of distinct words. Each draw of an augmenter adds the words that are new.

    Parameters
    ----------
    features_of : callable
        Function that returns the features of a list of words, such as `word_features`.
    """

    def __init__(self, features_of: Callable[[list[str]], dict[str, Tensor]]) -> None:
        self._features_of = features_of
        self._number: dict[str, int] = {}
        self._features: dict[str, Tensor] = {}

    def __call__(self, tokens: np.ndarray) -> dict[str, Any]:
        """Row of each token, and the features of all words so far: two arguments of a `SentenceDataset`."""
        known = len(self._number)
        words = [self._number.setdefault(token, len(self._number)) for token in tokens]
        new = list(self._number)[known:]
        if new:
            added = self._features_of(new)
            before = self._features
            self._features = {k: torch.cat([before[k], v]) if known else v for k, v in added.items()}
        return {"words": np.asarray(words, dtype=np.int64), "features": self._features}


class AlteredCopies:
    """Draw altered copies of training sentences. An epoch reads the copies in addition to the training sentences.

    Parameters
    ----------
    X : TokenSequences
        Training sentences.
    share : float
        Share of documents that are copied in an epoch. If X has no documents, share of sentences.
    written : callable
        ``written(sentences)`` returns a draw of a `NoteAugmenter`.
    arrays : callable
        ``arrays(tokens)`` returns the words and features of a `SentenceDataset`.
    layout : LayoutChanges
        Changes of the layout of the copies.
    units : callable
        ``units(sentences, rng)`` returns the units that the encoder reads in an epoch, or None.
    tokens : ndarray of shape (n_tokens,), optional
        Tokens of X, followed by the tokens of further spans that may replace spans of the sentences.
    """

    def __init__(
        self,
        X: TokenSequences,
        share: float,
        written: Callable[[TokenSequences], TokenSequences],
        arrays: Callable[[np.ndarray], dict[str, Any]],
        layout: LayoutChanges,
        units: Callable[[TokenSequences, np.random.Generator], ContextUnits | None],
        tokens: np.ndarray | None = None,
    ) -> None:
        self._tokens = X.data if tokens is None else tokens
        self._documents, self.share = X.documents, share
        self._written, self._arrays, self._layout, self._units = written, arrays, layout, units
        alike = np.arange(len(X)) if X.documents is None else X.documents
        # shape: (n_sentences,): what is copied or left out as a whole
        _, self._parts = np.unique(alike, return_inverse=True)

    def draw(
        self,
        index: np.ndarray,
        offsets: np.ndarray,
        tags: np.ndarray,
        units: ContextUnits | None,
        rng: np.random.Generator,
    ) -> dict[str, Any]:
        """Arrays of a `SentenceDataset`: the given sentences, then the copies.

        Parameters
        ----------
        index, tags : ndarray of shape (n_items,)
            Number of each token among `tokens`, and its class.
        offsets : ndarray of shape (n + 1,)
            Borders of the sentences.
        units : ContextUnits or None
            Units of the given sentences.
        """
        copied = (rng.random(self._parts.max(initial=-1) + 1) < self.share)[self._parts]
        # shape: (n_copied_items,): number of each copied token among the given ones
        items = np.flatnonzero(np.repeat(copied, np.diff(offsets)))
        borders = np.append(0, np.cumsum(np.diff(offsets)[copied]))
        words, borders, copied_tags, rows = self._layout.draw(
            index[items], borders, tags[items], self._parts[copied], rng
        )
        documents = None if self._documents is None else self._documents[copied][rows]
        copies = TokenSequences(self._tokens[words], borders).with_documents(documents)
        tokens = np.concatenate([self._tokens[index], self._written(copies).data])
        added = self._units(copies, rng)
        return {
            "offsets": np.append(offsets, offsets[-1] + borders[1:]),
            "tags": np.append(tags, copied_tags),
            "units": units if units is None or added is None else units.followed_by(added, len(offsets) - 1),
            **self._arrays(tokens),
        }


class SwappingDataset(SentenceDataset):
    """Training sentences with PHI spans that are swapped anew in every epoch (see `SpanSwapper`).

    Parameters
    ----------
    legal_tags : TokenSequences
        Legal tags, from which the data set finds the spans.
    share : float
        Probability that a span is replaced. 0 swaps no span.
    redrawn : callable, optional
        Function that returns new arrays of words or vectors in every epoch, for the ``augmenter`` of `DeidTagger`.
        Offsets and tags do not change.
    copies : AlteredCopies, optional
        Altered copies of the sentences with swapped spans, for a `NoteAugmenter`. A swapped span has the casing and the
        errors of its sentence.
    more : tuple of three ndarrays of shape (n_more,), optional
        Starts, ends and label numbers (`span_ranges`) of further spans for the swaps. These spans are stored after the
        sentences in the arrays of words and tags.
    moved : callable, optional
        ``moved(rng)`` draws the units of an epoch, for blocks with random borders. Units with numbers in ``drawn`` do
        not change.
    **arrays
        Parameters of `SentenceDataset`.
    """

    def __init__(
        self,
        legal_tags: TokenSequences,
        share: float,
        redrawn: Callable[[], dict[str, Any]] | None = None,
        copies: AlteredCopies | None = None,
        more: Spans | None = None,
        moved: Callable[[np.random.Generator], ContextUnits | None] | None = None,
        **arrays: Any,
    ) -> None:
        super().__init__(**arrays)
        self._redrawn, self._copies, self._moved = redrawn, copies, moved
        # Numbers of the items of an epoch, for a worker that leaves patients out in turn. None means all items once.
        # Spans of sentences that are left out replace no others.
        self.drawn: np.ndarray | None = None
        self.n_copied_epochs = 0
        self._n_draws = 0
        changing = ("offsets", "words", "vectors", "tags", "features", "units")
        self._original = {name: getattr(self, name) for name in changing}
        starts, ends, labels = span_ranges(legal_tags)
        swaps = share and len(starts)
        self._swapper = SpanSwapper(self.offsets, starts, ends, labels, share, more) if swaps else None

    @property
    def copied_share(self) -> float:
        """Size of the copies of an epoch, relative to the training sentences."""
        return 0.0 if self._copies is None else self._copies.share

    def drawn_lengths(self) -> np.ndarray:
        """Lengths of the last draw, for the sampler of the batches: a swapped span can be much longer than the original
        span."""
        lengths = self.unit_lengths
        return lengths if self.drawn is None else lengths[self.drawn]

    def collate(self, units: Sequence[int]) -> tuple[SentenceBatch, Tensor]:
        """Build the padded batch and the padded tags of items that the sampler has drawn."""
        return super().collate(units if self.drawn is None else self.drawn[list(units)].tolist())

    def redraw(self, rng: np.random.Generator) -> None:
        """Perturb the sentences, swap spans and draw copies anew. The given sentences keep their number and order."""
        if self._redrawn is not None:
            self._original |= self._redrawn()
        # Each draw starts from the original arrays, so that swaps of earlier epochs do not add up.
        vars(self).update(self._original)
        if self._moved is not None and self.drawn is None:
            self.units = self._moved(rng)
        index = np.arange(int(self.offsets[-1]))
        if self._swapper is not None:
            index, self.offsets = self._swapper.draw(rng, self._spans_of_the_epoch())
            flat = (self.words, self.vectors, self.tags)
            self.words, self.vectors, self.tags = (None if array is None else array[index] for array in flat)
        self._n_draws += 1
        if self._copies is not None and self._n_draws <= self.n_copied_epochs:
            assert self.tags is not None  # training data
            vars(self).update(self._copies.draw(index, self.offsets, self.tags, self.units, rng))
        self.lengths = np.diff(self.offsets)

    def _spans_of_the_epoch(self) -> np.ndarray | None:
        """Whether each span of the swapper is in a sentence of the epoch, shape (n_spans + n_more,); None means all."""
        if self.drawn is None or self._swapper is None:
            return None
        is_read = np.zeros(len(self.offsets) - 1, dtype=bool)
        is_read[self.drawn if self.units is None else self.units.rows[self.units.places(self.drawn.tolist())]] = True
        begins = self._swapper.begins
        inside = begins < self.offsets[-1]  # the others follow the sentences, and belong to no patient
        is_free = np.ones(len(begins), dtype=bool)
        is_free[inside] = is_read[np.searchsorted(self.offsets, begins[inside], side="right") - 1]
        return is_free


def span_ranges(tags: TokenSequences) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First tokens, end tokens and label numbers of all spans of legal tag sequences, each of shape (n_spans,)."""
    # Tags are split once each, not once a token.
    codes, known = distinct_words(tags)
    parts = [split_tag(tag) for tag in known]
    first, inside = (np.array([p in kinds for p, _ in parts], dtype=bool)[codes] for kinds in ("BS", "IE"))
    starts = np.flatnonzero(first)
    # A span ends before the next token that is not I or E, or at the end of all tokens.
    stops = np.flatnonzero(np.append(~inside, True))
    ends = stops[np.searchsorted(stops, starts, side="right")]
    number: dict[str, int] = {}
    labels = [number.setdefault(str(parts[code][1]), len(number)) for code in codes[starts]]
    return starts, ends, np.asarray(labels, dtype=np.int64)


def tagger_vectors(
    embeddings: Any,
    X: TokenSequences,
    rng: np.random.Generator,
    tags: TokenSequences,
    groups: Any = None,
    raw: TokenSequences | None = None,
) -> Any:
    """Word vectors for the ``embeddings`` parameter of `DeidTagger`, or None.

    "auto" trains vectors of character n-grams (`train_ngram_table`). Vectors of character n-grams need no download and
    store no word. After the vector, the tagger reads which kinds of public lists contain the word (`ListedVectors`). On
    development data, F1 was higher with these vectors than with characters alone.
    """
    # The seed is drawn in any case, so that the choice of word vectors does not change the later random numbers.
    seed = int(rng.integers(2**31))
    if embeddings is None or isinstance(embeddings, (SubwordTable, ListedVectors)):
        return embeddings
    if isinstance(embeddings, str) and embeddings == "auto":
        return ListedVectors.in_language(train_ngram_table(X, tags, groups, raw, seed), locale_of(X.data))
    return resolve_embeddings(embeddings, X, random_state=seed)
