"""Data of an attack on pseudonymised text: the attacker's knowledge, and the release with its originals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...exceptions import SequenceError
from ...pseudonyms.phi_tokens import find_phi_tokens
from ...pseudonyms.policy import SHAPE
from ...pseudonyms.token_mechanism import TokenMechanism
from ...sequences import TokenSequences, check_groups, check_sequences, check_tags

COHERENCE = ("token", "sentence", "document", "patient")


@dataclass(frozen=True, repr=False)
class PseudonymKnowledge:
    """Knowledge of an attacker on pseudonymised text. The object contains words and must not be shared.

    Attributes
    ----------
    mechanism : fitted transformer with ``mechanism_``, or a mechanism
        Public mechanism (the vectors, N, the noise), as in `sklearn_deid.audit.bayes.bayes_reidentification`.
    prior : mapping
        Frequencies: mapping of words to weights, or mapping of labels to mappings of words to weights (see
        `sklearn_deid.metrics.phi_word_prior`). With labels the attacker knows the label of each released token.
    """

    mechanism: Any
    prior: Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class PseudonymisedText:
    """A release and, for the measurement only, its originals.

    Attributes
    ----------
    released, original : sequence of n sentences
        Released and original words, word by word.
    tags : sequence of n tag sequences
        Tags of the words.
    groups : array-like of shape (n,), optional
        Patient of each sentence. If None, each sentence counts as a separate patient.
    coherence : {"token", "sentence", "document", "patient"}, default="token"
        Unit within which a word has a single surrogate. Each unit draws a new surrogate, which is a further release of
        the word.
    documents : array-like of shape (n,), optional
        Document of each sentence; required for ``coherence="document"``.

    Raises
    ------
    SequenceError
        If rows do not match, or the sentences contain vectors.
    """

    released: Any
    original: Any
    tags: Any
    groups: Any = None
    coherence: str = "token"
    documents: Any = None

    def __post_init__(self) -> None:
        if self.coherence not in COHERENCE:
            raise ValueError(f"The 'coherence' parameter must be one of {COHERENCE}. Got {self.coherence!r} instead.")
        original, released = check_sequences(self.original), check_sequences(self.released, name="released")
        if not isinstance(original, TokenSequences) or not isinstance(released, TokenSequences):
            raise SequenceError("Pseudonymised text must hold words; it holds vectors.")
        if not np.array_equal(original.offsets, released.offsets):
            raise SequenceError("The released sentences must have the lengths of the original ones.")
        n = len(original)
        groups = np.arange(n) if self.groups is None else check_groups(self.groups, n)
        documents = None if self.documents is None else check_groups(self.documents, n)
        if self.coherence == "document" and documents is None:
            raise ValueError("coherence='document' needs 'documents': the document of each sentence.")
        checked = {"original": original, "released": released, "tags": check_tags(self.tags, original)}
        for name, value in {**checked, "groups": groups, "documents": documents}.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.original)

    def __repr__(self) -> str:
        return f"PseudonymisedText(n={len(self)}, coherence={self.coherence!r})"

    def draws_of(self, sentences: np.ndarray) -> np.ndarray:
        """For each token, the number of the unit within which its word has a single surrogate; ``sentences`` contains
        the sentence of each token."""
        if self.coherence == "token":
            return np.arange(len(sentences))
        if self.coherence == "sentence":
            return sentences
        units = self.groups if self.coherence == "patient" else self.documents
        return np.unique(units, return_inverse=True)[1][sentences]


@dataclass(frozen=True, repr=False)
class Trials:
    """Words of one label that the attacker must guess, each with all its releases.

    Attributes
    ----------
    words : list of str
        Original words.
    owner : ndarray of int64, shape (n_releases,)
        Position of each release's word in ``words``, in non-decreasing order.
    numbers : ndarray of int64, shape (n_releases,)
        Releases, as the numbers that the mechanism assigns.
    groups : ndarray of shape (n_words,) or None
        Patient of each word.
    """

    words: list[str]
    owner: np.ndarray
    numbers: np.ndarray
    groups: np.ndarray | None = None

    def first_releases(self) -> Trials:
        """Return the words of the trials, each with its first release only."""
        _, first = np.unique(self.owner, return_index=True)
        return Trials(self.words, self.owner[first], self.numbers[first], self.groups)

    def released_by(self, mechanism: Any, rng: np.random.Generator) -> Trials:
        """Return the words of the trials with equally many releases by another mechanism."""
        numbers = np.asarray(mechanism.sample([self.words[i] for i in self.owner.tolist()], rng))
        return Trials(self.words, self.owner, numbers, self.groups)


class Unmoved:
    """Mechanism that releases every token unchanged, so that nothing is hidden.

    Parameters
    ----------
    tokens : sequence of str
        Tokens with a release of their own. All other tokens share a single release.
    """

    def __init__(self, tokens: Sequence[str]) -> None:
        self._number = {token: i for i, token in enumerate(dict.fromkeys(tokens))}

    def sample(self, tokens: Sequence[str], rng: np.random.Generator) -> np.ndarray:
        """Return the number of each token."""
        other = len(self._number)
        return np.fromiter((self._number.get(token, other) for token in tokens), np.int64, count=len(tokens))

    def probabilities(self, tokens: Sequence[str]) -> csr_array:
        """Return probability 1 at the token's own number, shape (n_tokens, n_releases)."""
        columns = self.sample(tokens, np.random.default_rng(0))
        shape = (len(tokens), len(self._number) + 1)
        return csr_array((np.ones(len(tokens)), (np.arange(len(tokens)), columns)), shape=shape)


class Blind:
    """Mechanism that ignores the token and draws one of two releases with equal probability."""

    def sample(self, tokens: Sequence[str], rng: np.random.Generator) -> np.ndarray:
        """Draw 0 or 1 for each token."""
        return rng.integers(2, size=len(tokens))

    def probabilities(self, tokens: Sequence[str]) -> csr_array:
        """Return probability 0.5 everywhere, shape (n_tokens, 2)."""
        return csr_array(np.full((len(tokens), 2), 0.5))


def trials_of_text(mechanism: Any, text: PseudonymisedText, by_label: bool) -> dict[str, Trials]:
    """Collect the original words of a release, each with all its releases. Each word of a patient is one trial.

    Tokens without a letter or digit stay unchanged and are not trials. The function assumes the worst case: the
    attacker knows which releases belong to the same word. The position in a form, or a phrase such as "Mr", often
    reveals that two releases belong to the same word.

    Parameters
    ----------
    mechanism : TokenMechanism, or a mechanism with ``numbers(original, released)``
        Mechanism that made the release.
    text : PseudonymisedText
        Release with its originals.
    by_label : bool
        Whether the trials are separated by label. Otherwise all trials have the key "all".
    """
    phi = find_phi_tokens(text.original, text.tags)
    shown = np.flatnonzero([any(map(str.isalnum, word)) for word in phi.words])
    kept = np.flatnonzero(np.isin(phi.word_ids, shown))
    sentences, word_ids, label_ids = phi.sentences[kept], phi.word_ids[kept], phi.label_ids[kept]
    original, released = (rows.data[phi.positions[kept]].tolist() for rows in (text.original, text.released))
    patients = np.unique(text.groups, return_inverse=True)[1][sentences]
    # Within a unit of coherence a word has one release, even if the word occurs several times.
    # shape: (n_tokens, 4)
    draws = np.stack([text.draws_of(sentences), patients, word_ids, label_ids], axis=1)
    _, once = np.unique(draws, axis=0, return_index=True)
    once.sort()
    numbers = release_numbers(mechanism, [original[i] for i in once], [released[i] for i in once])
    trials = {}
    for label in range(len(phi.labels)) if by_label else [None]:
        mine = np.flatnonzero(label_ids[once] == label) if label is not None else np.arange(len(once))
        if len(mine):
            rows = once[mine]
            name = "all" if label is None else phi.labels[label]
            trials[name] = _gathered([original[i] for i in rows], patients[rows], word_ids[rows], numbers[mine])
    return trials


def _gathered(words: list[str], patients: np.ndarray, word_ids: np.ndarray, numbers: np.ndarray) -> Trials:
    """Group the releases by patient and word."""
    # One trial for each pair of patient and word: the owner of a release is the number of this pair.
    _, first, owner = np.unique(np.stack([patients, word_ids], axis=1), axis=0, return_index=True, return_inverse=True)
    owner = owner.reshape(-1)
    order = np.argsort(owner, kind="stable")
    return Trials([words[i] for i in first], owner[order], numbers[order], patients[first])


def release_numbers(mechanism: Any, original: list[str], released: list[str]) -> np.ndarray:
    """Numbers that the mechanism assigns to the releases."""
    if hasattr(mechanism, "numbers"):
        return np.asarray(mechanism.numbers(original, released))
    if not isinstance(mechanism, TokenMechanism):
        raise ValueError("Released text can be attacked if the mechanism moves words, or has 'numbers'.")
    numbers = mechanism.releases().of_tokens(released)
    # A random string depends only on the shape of the word, so that all strings of a shape count as one release.
    for i in np.flatnonzero(mechanism.policy.actions(original)[0] == SHAPE).tolist():
        numbers[i] = mechanism.shape_release(original[i])
    return numbers
