"""Inversion: recover words from released vectors with a decoder that the attacker trained on their own text."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ...metrics import Estimate
from ..audit_data import random_streams
from ..protocol import CONTROL_CONFIDENCE, AttackResult
from ..released_step import CLASSES, REPRESENTATION, VECTORS
from .declaration import AttackPreset, AuditAttack, timed
from .decoders import DecoderSettings, EmbeddingDecoder, TokenVectors, ranks_of, train_decoder
from .released_tokens import (
    TOP,
    InversionKnowledge,
    Ranks,
    ReleasedTokens,
    equal_rows,
    expected_hits,
    frequency_hits,
    surroundings,
)

_N_CASING = 7


class InversionAttack(AuditAttack):
    """Train a decoder from released vectors to word vectors, and rank the vocabulary for each PHI token.

    The baseline is the better of two guesses without the vectors of the PHI tokens. The first guess is the most
    frequent PHI words of the attacker's text. The second guess is the result of an equal decoder on the surrounding
    tokens alone. The positive control attacks raw word vectors. In the negative control vectors and PHI words are drawn
    at random.

    Parameters
    ----------
    decoder : {"sequence", "token"}, default="sequence"
        Network of the decoder: a bidirectional LSTM over the sentence, or dense layers on each token.
    casing, labels : bool, default=False
        Whether the attacker uses the casing and the labels that are released in addition to the vectors.
    measure : {"top1", "top5"}, default="top1"
        Measure of the result; `attack_all` returns both.
    hidden_size, n_epochs, patience, lr, n_negatives
        Same as in `DecoderSettings`.
    controls : bool, default=True
        Whether to run the positive and the negative control.
    min_positive_control : float, default=0.99
        Smallest valid value of the positive control. Words with equal vectors, such as different spellings of a name,
        count as one word.
    confidence : float in (0, 1), default=0.95
        Confidence level of the intervals.
    random_state : int, Generator, RandomState or None, default=None
        Random seed of the training and of the negative control.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks import InversionAttack, InversionKnowledge, ReleasedTokens
    >>> table, rng = np.random.default_rng(0).normal(size=(20, 4)), np.random.default_rng(1)
    >>> def sentences():
    ...     words = rng.integers(0, 20, 60)
    ...     return ReleasedTokens(table[words], np.arange(0, 61, 3), words, words < 8)
    >>> attack = InversionAttack(n_epochs=1, random_state=0).fit(InversionKnowledge(table, sentences(), sentences()))
    >>> result = attack.attack(sentences())
    >>> result.attack.value, result.status
    (1.0, 'ok')
    """

    key = "inversion"
    family = "inversion"
    title = "Inversion"
    order = 40
    releases = (REPRESENTATION, VECTORS, CLASSES)
    presets = (
        AttackPreset("inversion_token", "Inversion of single tokens", 3.0, 11.0, {"decoder": "token"}, quick=True),
        AttackPreset("inversion_sequence", "Inversion of sentences", 3.0, 18.0),
        AttackPreset(
            "inversion_labels", "The same, with casing and labels", 3.0, 35.0, {"casing": True, "labels": True}
        ),
    )

    def __init__(
        self,
        *,
        decoder: str = "sequence",
        casing: bool = False,
        labels: bool = False,
        measure: str = "top1",
        hidden_size: int = 128,
        n_epochs: int = 30,
        patience: int | None = 5,
        lr: float = 2e-3,
        n_negatives: int = 2048,
        controls: bool = True,
        min_positive_control: float = 0.99,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        if decoder not in ("sequence", "token") or measure not in TOP:
            raise ValueError(f"'decoder' must be sequence or token, 'measure' top1 or top5. Got {decoder}, {measure}.")
        self.decoder, self.casing, self.labels, self.measure_name = decoder, casing, labels, measure
        self.settings = DecoderSettings(decoder, hidden_size, n_epochs, patience, lr, n_negatives)
        self.controls, self.min_positive_control = controls, min_positive_control
        self.confidence, self.random_state = confidence, random_state

    @property
    def measure(self) -> str:
        """Meaning of the numbers."""
        return _meaning(self.measure_name)

    @property
    def name(self) -> str:
        """Name of the attack: the decoder and its inputs."""
        beside = [word for word, on in (("casing", self.casing), ("labels", self.labels)) if on]
        return f"inversion, {self.decoder} decoder{', with ' + ' and '.join(beside) if beside else ''}"

    @property
    def attacker(self) -> str:
        """Description of the attackers and their knowledge."""
        beside = [word for word, on in (("their casing", self.casing), ("their tags", self.labels)) if on]
        return (
            "A recipient who holds the published representer, public word vectors, annotated text of other patients, "
            f"and the released vectors{' with ' + ' and '.join(beside) if beside else ''}, and reads words back."
        )

    @property
    def phrase(self) -> str:
        """Action of the attacker, with a gap for the proportion of successful attempts."""
        return _phrase_of(self.measure_name)

    def requires(self, release: Any) -> str | None:
        """Return the reason why the attack cannot run: the casing is needed and is not released."""
        return "The casing is not released." if self.casing and release.casing("test") is None else None

    def run(self, release: Any) -> list[AttackResult]:
        """Recover words from the measured sentences and return the result."""
        own = (release.tokens("train"), release.tokens("valid"))
        return [self.fit(InversionKnowledge(release.table, *own, device=release.device)).attack(release.tokens("test"))]

    def fit(self, knowledge: InversionKnowledge) -> InversionAttack:
        """Train the decoder, and a second decoder that sees only the surrounding tokens.

        Raises
        ------
        ValueError
            If casing or labels are needed and missing, or the attacker's text has no PHI token of the vocabulary.
        """
        since = time.perf_counter()
        self._rng, _ = random_streams(self.random_state, knowledge.device)
        device = torch.device(knowledge.device)
        self._table = F.normalize(torch.as_tensor(np.asarray(knowledge.table, dtype=np.float32)), dim=1).to(device)
        first, number = equal_rows(self._table.cpu().numpy())
        self._same_as = first[number]
        train, valid = self._merged(knowledge.train), self._merged(knowledge.valid)
        self._knowledge = replace(knowledge, train=train, valid=valid)
        # Words without a vector (zeros) cannot be recovered.
        usable = self._table.any(dim=1).cpu()
        rows = np.arange(len(self._table)) if knowledge.vocabulary is None else knowledge.vocabulary
        rows = np.unique(self._same_as[rows])
        self._vocabulary = torch.as_tensor(rows)[usable[torch.as_tensor(rows)]]
        tags = [d.labels for d in self._own() if d.labels is not None]
        self._n_labels = 1 + max((int(some.max()) for some in tags if some.size), default=0)
        # The second decoder is the baseline: it recovers PHI words from their surroundings alone.
        self._full = self._trained(*self._own())
        self._context = self._trained(*(surroundings(d) for d in self._own()))
        self._seconds = time.perf_counter() - since
        return self

    def attack(self, released: ReleasedTokens) -> AttackResult:
        """Recover the PHI tokens of a release.

        Raises
        ------
        ValueError
            If `fit` was not called, or no PHI token is in the vocabulary.
        """
        return self.attack_all(released)[self.measure_name]

    @timed
    def attack_all(self, released: ReleasedTokens) -> dict[str, AttackResult]:
        """Return the results for "top1" and "top5" of one run."""
        if self._knowledge is None:
            raise ValueError("Call 'fit' first.")
        released = self._merged(released)
        found = self._ranks(self._full, released)
        context = self._ranks(self._context, surroundings(released))
        controls = self._controls(released) if self.controls else None
        return {k: self._result(k, released, (found, context), controls) for k in TOP}

    def _result(self, measure: str, released: ReleasedTokens, found: Any, controls: Any) -> AttackResult:
        k, groups = TOP[measure], self._groups(released)
        full, context = (expected_hits(ranks, k) for ranks in found)
        guesses = {
            "context": Estimate.from_hits(context, groups, self.confidence),
            "frequency": Estimate.from_hits(self._by_frequency(released, k), groups, self.confidence),
        }
        seen = np.isin(released.words[self._asked(released)], self._own()[0].words)
        arms: dict[str, Any] = {}
        if controls is not None:
            open_hits, blind_hits = (expected_hits(ranks, k) for ranks in controls)
            arms = {
                "positive_control": Estimate.from_hits(open_hits, groups, self.confidence),
                "min_positive_control": self.min_positive_control,
                "negative_control": Estimate.from_hits(blind_hits, groups, CONTROL_CONFIDENCE),
                "chance": min(1.0, k / len(self._vocabulary)),
            }
        details: dict[str, Any] = {name: _figures(e) for name, e in guesses.items()}
        for name, which in (("seen", seen), ("unseen", ~seen)):
            some = Estimate.from_hits(full[which], groups[which], self.confidence) if which.any() else None
            details[name] = some and _figures(some)
        return self.result(
            Estimate.from_hits(full, groups, self.confidence),
            max(guesses.values(), key=lambda e: e.value),
            **arms,
            phrase=_phrase_of(measure),
            settings={"decoder": self.decoder, "casing": self.casing, "labels": self.labels, "measure": measure}
            | {k: v for k, v in vars(self.settings).items() if k != "kind"},
            details=details | {"n_words": len(self._vocabulary)},
            measure=_meaning(measure),
        )

    def _controls(self, released: ReleasedTokens) -> tuple[Ranks, Ranks]:
        """Ranks in the positive control (nothing is hidden) and in the negative control (nothing can be learnt)."""
        table = self._table.cpu().numpy()
        # Each control trains its own decoder, because a decoder for the release would fail for another reason.
        *own, there = (replace(d, vectors=table[d.words]) for d in (*self._own(), released))
        open_ranks = self._ranks(self._trained(*own), there)
        *own, there = (self._blinded(d) for d in (*self._own(), released))
        return open_ranks, self._ranks(self._trained(*own), there)

    def _blinded(self, data: ReleasedTokens) -> ReleasedTokens:
        """Draw PHI words and all vectors at random; the tokens to recover stay the same."""
        # The tokens to recover are chosen before the words change.
        words, asked = data.words.copy(), self._asked(data)
        words[asked] = self._rng.choice(self._vocabulary.numpy(), int(asked.sum()))
        vectors = self._rng.normal(size=data.vectors.shape).astype(np.float32)
        return replace(data, words=words, vectors=vectors)

    def _merged(self, data: ReleasedTokens) -> ReleasedTokens:
        """Merge words with equal vectors: no attacker can distinguish them."""
        return replace(data, words=self._same_as[data.words])

    def _own(self) -> tuple[ReleasedTokens, ReleasedTokens]:
        """The attacker's training and validation text."""
        return self._knowledge.train, self._knowledge.valid

    def _trained(self, train: ReleasedTokens, valid: ReleasedTokens) -> EmbeddingDecoder:
        """Train a decoder on ``train``, and choose the epoch on ``valid``."""
        texts, among = (self._tensors(train), self._tensors(valid)), (self._table, self._vocabulary)
        return train_decoder(*texts, *among, self.settings, self._rng, self._knowledge.device)

    def _ranks(self, decoder: EmbeddingDecoder, data: ReleasedTokens) -> Ranks:
        return ranks_of(decoder, self._tensors(data), self._table, self._vocabulary)

    def _asked(self, data: ReleasedTokens) -> np.ndarray:
        """Whether each token must be recovered: PHI with a word of the vocabulary."""
        return np.asarray(data.phi, dtype=bool) & np.isin(data.words, self._vocabulary.numpy())

    def _tensors(self, data: ReleasedTokens) -> TokenVectors:
        """Convert released sentences into the decoder's input and target."""
        asked = self._asked(data)
        if not asked.any():
            raise ValueError("No PHI token has a word vector in the vocabulary: there is nothing to recover.")
        extra = [torch.zeros(len(data.words), 0, dtype=torch.float32)]
        for name, values, width in (("casing", data.casing, _N_CASING), ("labels", data.labels, self._n_labels)):
            if getattr(self, name):
                if values is None:
                    raise ValueError(f"The attack is to use {name}, but none are given.")
                # A tag that is absent from the attacker's text becomes a zero vector, because the attacker knows
                # nothing about the tag. shape: (n_tokens, width)
                known = torch.as_tensor(np.where(values < width, values, width))
                extra.append(F.one_hot(known, width + 1)[:, :width].float())
        vectors = torch.as_tensor(np.asarray(data.vectors, dtype=np.float32))
        words: Tensor = torch.as_tensor(np.asarray(data.words, dtype=np.int64))
        return TokenVectors(vectors, torch.cat(extra, 1), np.asarray(data.offsets), words, torch.as_tensor(asked))

    def _groups(self, data: ReleasedTokens) -> np.ndarray:
        """Patient of each token to recover."""
        of_sentence = np.arange(len(data.offsets) - 1) if data.groups is None else np.asarray(data.groups)
        return np.repeat(of_sentence, np.diff(data.offsets))[self._asked(data)]

    def _by_frequency(self, released: ReleasedTokens, k: int) -> np.ndarray:
        """Whether each word is among the k most frequent words with the same visible properties."""
        train = self._own()[0]
        there, here = self._asked(train), self._asked(released)
        keys = self._keys(train)[there], self._keys(released)[here]
        return frequency_hits(train.words[there], released.words[here], k, *keys)

    def _keys(self, data: ReleasedTokens) -> np.ndarray:
        """Number of the combination of visible properties (casing, label) of each token, shape (n_tokens,)."""
        casing = data.casing if self.casing and data.casing is not None else 0
        labels = data.labels if self.labels and data.labels is not None else 0
        return np.zeros(len(data.words), dtype=np.int64) + casing + _N_CASING * labels


def _figures(estimate: Estimate) -> dict[str, float]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "n": estimate.n}


def _phrase_of(measure: str) -> str:
    trained = "An attacker who trained a decoder on the published representer and public word vectors"
    if measure == "top1":
        return f"{trained} reads the right name from a released vector in {{}} of cases"
    return f"{trained} has the right name among their first five guesses in {{}} of cases"


def _meaning(measure: str) -> str:
    first = "ranked first" if measure == "top1" else "among the first five"
    return f"share of PHI tokens whose word is {first} in the vocabulary"
