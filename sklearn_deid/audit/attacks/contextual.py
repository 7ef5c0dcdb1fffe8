"""Contextual attacker: decode PHI words from the release and a language model of public notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...metrics import Estimate, normalised_prior
from ...pseudonyms.phi_tokens import find_phi_tokens
from ...pseudonyms.policy import EXCLUDED
from ...tagging.tagger_data import distinct_words
from ..protocol import AttackResult
from ..released_step import REPRESENTATION, WORDS
from .control_representers import slightly_noisy
from .declaration import UNKNOWN_MECHANISM, AttackPreset, AuditAttack, timed
from .lookup import LookupKnowledge
from .pairs import PairRelease
from .pseudonymised_text import PseudonymisedText, PseudonymKnowledge, Unmoved, release_numbers
from .reidentification import known_table
from .sentence_prior import Choices, SentencePrior
from .template import TemplateAttack

_POSITIVE_BAR = 0.9


class Lattice(NamedTuple):
    """A sentence in which the attacker does not know some words.

    Attributes
    ----------
    group : object
        Patient of the sentence.
    sentence : ndarray of int, shape (time,)
        Number of each word in the vocabulary of the prior.
    choices : dict of int to Choices
        Possible words at the unknown positions, with the evidence of the release.
    truths : dict of int to int
        Number of the original word at each unknown position.
    """

    group: Any
    sentence: np.ndarray
    choices: dict[int, Choices]
    truths: dict[int, int]


@dataclass(frozen=True, repr=False)
class PublicNotes:
    """Knowledge of a contextual attacker: sentences of the same kind. The object contains words and must not be shared.

    Attributes
    ----------
    sentences : sequence of n sentences
        Public or generated notes, or notes of other patients.
    mechanism : PseudonymKnowledge or None
        Mechanism of pseudonymised text, and the possible originals of a surrogate.
    representer : LookupKnowledge or None
        Published network of private vectors.
    words : sequence of str or None
        Word of each row of the table of word vectors, for private vectors.
    """

    sentences: Any
    mechanism: PseudonymKnowledge | None = None
    representer: LookupKnowledge | None = None
    words: Sequence[str] | None = None


class ContextualAttack(AuditAttack):
    """Guess PHI words from the release and from the sentence around each word.

    The attacker learns trigrams from public notes of the same kind, and combines the probability of a sentence with the
    likelihood of the release. The attacker also knows the frequency of each word of a label, as in
    `ReidentificationAttack`. For pseudonymised text the likelihood is the exact probability of each surrogate, and a
    beam search decodes all PHI words of a sentence together. For private vectors the likelihood is Gaussian around the
    noise-free encoding of each candidate; one PHI word of a sentence is unknown, and the candidates are its neighbours.

    The main result is the gain over the prior alone. With the prior alone, the attacker guesses from the sentence
    without the release. The details show the success with the prior alone, with the release alone, and with prior and
    release together. The positive control decodes a release that hides almost nothing.

    With ``coherence`` a surrogate can occur several times; this attacker decodes each token separately.
    `ReidentificationAttack` with ``in_text=True`` combines all tokens of a word, but does not read the sentence.

    Parameters
    ----------
    n_candidates : int, default=100
        Largest number of candidates for a private vector, the original included.
    n_sentences : int or None, default=500
        Largest number of sentences. More sentences are sampled at random.
    confidence : float in (0, 1), default=0.95
        Confidence level of the intervals.
    random_state : int, Generator, RandomState or None, default=None
        Random seed of the samples and of the control.

    References
    ----------
    Bayesian attacks that use the context of released text: Zhang et al. (2024), arXiv 2410.17052. Decoding of noisy
    vectors with a language model: BeamClean (2025), arXiv 2505.13758.

    Examples
    --------
    >>> from sklearn_deid import NeighborPseudonymizer, WordVectors
    >>> from sklearn_deid.audit.attacks import ContextualAttack, PseudonymisedText, PseudonymKnowledge, PublicNotes
    >>> vectors = WordVectors(["alder", "birch"], [[1, 0], [1, 0.1]])
    >>> X, y = [["Dr", "Alder", "left"], ["Mr", "Birch", "fell"]] * 20, [["O", "B-NAME", "O"]] * 40
    >>> moved = NeighborPseudonymizer(embeddings=vectors, n_neighbors=2, random_state=0).fit(X, y)
    >>> known = PublicNotes(X, PseudonymKnowledge(moved, {"NAME": {"Alder": 1, "Birch": 1}}))
    >>> result = ContextualAttack(random_state=0).fit(known).attack(PseudonymisedText(moved.sample(X, y), X, y))
    >>> result.attack.value, result.baseline.value, result.details["release alone"]
    (1.0, 1.0, 0.5)
    """

    key = "contextual"
    family = "contextual"
    title = "Contextual attacker"
    order = 62
    releases = (REPRESENTATION, WORDS)
    presets = (AttackPreset("contextual", "Language model of public notes and the release", 6.0, 20.0),)
    phrase = (
        "An attacker who reads the sentence with a language model of other notes identifies the word behind the "
        "release in {} of cases"
    )
    name = "contextual attacker"
    attacker = (
        "A recipient who knows the published method, holds notes of the same kind about other patients, and reads the "
        "whole sentence around a word of PHI."
    )
    measure = "share of words identified correctly; guessing reads the sentence without the release"

    def __init__(
        self,
        *,
        n_candidates: int = 100,
        n_sentences: int | None = 500,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        self.n_candidates, self.n_sentences = n_candidates, n_sentences
        self.confidence, self.random_state = confidence, random_state

    def requires(self, release: Any) -> str | None:
        """Return why the attack cannot run: the probabilities of the surrogates are not known."""
        if release.kind != WORDS:
            return None
        if release.pseudonymizer is None:
            return UNKNOWN_MECHANISM
        known = hasattr(release.pseudonymizer.mechanism_, "probabilities")
        return None if known else "The probabilities of this mechanism have no closed form."

    def run(self, release: Any) -> list[AttackResult]:
        """Decode the measured sentences and return the result."""
        data = release.data
        # Measured sentences are left out, because the language model would learn the names in these sentences.
        others = data.X[np.concatenate([data.train, data.valid])]
        if release.kind == WORDS:
            return [self.fit(PublicNotes(others, release.pseudonym_knowledge)).attack(release.pseudonymised_text)]
        network = LookupKnowledge(release.network, device=release.device)
        known = PublicNotes(others, representer=network, words=_words_of_table(release))
        return [self.fit(known).attack(replace(release.pair_release, vectors=release.vectors("test")))]

    def fit(self, knowledge: PublicNotes) -> ContextualAttack:
        """Learn the language model from public notes."""
        self._knowledge = knowledge
        words = knowledge.words or ()
        if knowledge.mechanism is not None:
            self._pool = normalised_prior(knowledge.mechanism.prior)
            words = [word for of_label, _, _ in self._pool.values() for word in of_label]
        self._prior = SentencePrior(knowledge.sentences, words)
        return self

    @timed
    def attack(self, released: PseudonymisedText | PairRelease) -> AttackResult:
        """Decode a release.

        Parameters
        ----------
        released : PseudonymisedText, or PairRelease with the vectors that left
            Release with its originals.

        Raises
        ------
        ValueError
            If there is no word to decode.
        """
        in_text = isinstance(released, PseudonymisedText)
        lattices = list(self._lattices(released, False))
        if not lattices:
            raise ValueError("The release holds no word of PHI that could be decoded.")
        both, groups = self._hits(lattices)
        # The same search without the release: the difference is what the release adds.
        prior, _ = self._hits([_without_evidence(one) for one in lattices])
        alone = np.concatenate([_hits_of_evidence(one) for one in lattices])
        return self.result(
            Estimate.from_hits(both, groups, self.confidence),
            Estimate.from_hits(prior, groups, self.confidence),
            Estimate.from_hits(self._hits(self._lattices(released, True))[0]),
            _POSITIVE_BAR,
            settings={"order": 3, "n_candidates": self.n_candidates, "n_sentences": self.n_sentences},
            details=_figures(both, prior, alone, groups, self.confidence),
            threat="pseudonymised text" if in_text else "representation",
        )

    def _hits(self, lattices: Any) -> tuple[np.ndarray, np.ndarray]:
        """Whether the attacker decoded each unknown word correctly, and the patient of each word."""
        hits, groups = [], []
        for one in lattices:
            found = self._prior.decode(one.sentence, one.choices)
            for position, truth in one.truths.items():
                hits.append(int(one.choices[position].words[found[position]]) == truth)
                groups.append(one.group)
        return np.array(hits, dtype=bool), np.array(groups)

    # ---- pseudonymised text

    def _lattices(self, released: PseudonymisedText | PairRelease, openly: bool) -> Iterator[Lattice]:
        if isinstance(released, PseudonymisedText):
            return self._of_text(released, openly)
        return self._of_vectors(released, openly)

    def _of_text(self, text: PseudonymisedText, openly: bool) -> Iterator[Lattice]:
        """Sentences with surrogates. In the control every word is released unchanged."""
        known = self._knowledge.mechanism
        assert known is not None
        mechanism = getattr(known.mechanism, "mechanism_", known.mechanism)
        asked = self._asked(text, mechanism)
        original, shown = (x.data[asked.positions].tolist() for x in (text.original, text.released))
        if openly:
            mechanism = Unmoved([word for words, _, _ in self._pool.values() for word in words])
            numbers = mechanism.sample(original, np.random.default_rng(0))
        else:
            numbers = release_numbers(mechanism, original, shown)
        evidence = {
            label: _Evidence(mechanism, list(words), weights, numbers, self._prior)
            for label, (words, weights, _) in self._pool.items()
        }
        truths = self._prior.numbers(original).tolist()
        for row in np.unique(asked.sentences).tolist():
            here = np.flatnonzero(asked.sentences == row).tolist()
            place = {i: int(asked.positions[i] - text.original.offsets[row]) for i in here}
            yield Lattice(
                text.groups[row],
                self._prior.numbers(list(text.released[row])),
                {place[i]: evidence[asked.labels[i]].of(int(numbers[i])) for i in here},
                {place[i]: truths[i] for i in here},
            )

    def _asked(self, text: PseudonymisedText, mechanism: Any) -> _Asked:
        """Tokens of the sampled sentences that the mechanism replaces and whose label the attacker knows."""
        phi = find_phi_tokens(text.original, text.tags)
        # Words that the mechanism never moves are read as they are.
        moved = (mechanism.policy.actions(phi.words)[0] < EXCLUDED)[phi.word_ids]
        names = np.array(["all" if "all" in self._pool else label for label in phi.labels], dtype=object)
        labels = names[phi.label_ids]
        moved &= np.array([label in self._pool for label in labels], dtype=bool)
        rows = np.random.default_rng(self.random_state).permutation(np.unique(phi.sentences[moved]))
        wanted = np.flatnonzero(moved & np.isin(phi.sentences, rows[: self.n_sentences]))
        return _Asked(phi.positions[wanted], phi.sentences[wanted], labels[wanted].tolist())

    # ---- private vectors

    def _of_vectors(self, released: PairRelease, openly: bool) -> Iterator[Lattice]:
        """Sentences with one unknown word. In the control the vectors are word vectors with a little noise."""
        known, words = self._knowledge.representer, self._knowledge.words
        assert known is not None and words is not None
        template = TemplateAttack(
            n_candidates=self.n_candidates, n_sentences=self.n_sentences, random_state=self.random_state
        ).fit(known)
        own = slightly_noisy(released.data.table.to(known.device)) if openly else known.representer
        numbers = self._prior.numbers(words)
        for some, scores in template.scored(released, own, own if openly else None):
            at = int((some.words != some.words[some.truth]).any(axis=0).argmax())
            sentences = numbers[some.words]
            group = some.row if released.groups is None else released.groups[some.row]
            choices, truth = {at: Choices(sentences[:, at], scores[0])}, sentences[some.truth]
            yield Lattice(group, truth, choices, {at: int(truth[at])})


class _Asked(NamedTuple):
    """Tokens to guess: position among all tokens, sentence, and label; all of length n."""

    positions: np.ndarray
    sentences: np.ndarray
    labels: list[str]


class _Evidence:
    """Log-probability of releases for the possible words of a label."""

    def __init__(
        self, mechanism: Any, words: list[str], weights: np.ndarray, numbers: np.ndarray, prior: SentencePrior
    ) -> None:
        self._numbers, self._seen, self._base = prior.numbers(words), np.unique(numbers), weights
        self._table = known_table(mechanism, words, self._seen).tocsc()

    def of(self, number: int) -> Choices:
        """Possible original words of a surrogate. If no word of the label has a positive probability, all words of the
        label are possible."""
        column = self._table[:, [int(np.searchsorted(self._seen, number))]].tocoo()
        fitting = column.coords[0][column.data > 0]
        if not len(fitting):
            return Choices(self._numbers, np.zeros(len(self._numbers)), self._base)
        evidence = np.full(len(self._numbers), -np.inf)
        evidence[fitting] = np.log(column.data[column.data > 0])
        return Choices(self._numbers, evidence, self._base)


def _words_of_table(release: Any) -> list[str]:
    """Word of each row of the table: the words of the sentences, then their neighbours."""
    own, stored = distinct_words(release.data.X)[1], release.representer._vectors.words
    return [*own, *(stored[row] for row in release.pairs.vector_rows[len(own) :].tolist())]


def _without_evidence(one: Lattice) -> Lattice:
    """Sentence as known to an attacker who does not see the release."""
    blank = {p: c._replace(log_evidence=np.zeros(len(c.words))) for p, c in one.choices.items()}
    return one._replace(choices=blank)


def _hits_of_evidence(one: Lattice) -> np.ndarray:
    """Expected hits of an attacker who does not read the sentence, with ties in random order."""
    choices = [(one.choices[position], truth) for position, truth in one.truths.items()]
    return np.array([np.mean(words[evidence == evidence.max()] == truth) for (words, evidence, _), truth in choices])


def _figures(
    both: np.ndarray, prior: np.ndarray, alone: np.ndarray, groups: np.ndarray, confidence: float
) -> dict[str, Any]:
    """Success with the prior alone, with the release alone and with both together, and the gain over the prior alone
    with its interval."""
    gain = Estimate.from_differences(both.astype(float) - prior, groups, confidence)
    return {
        "words": len(both),
        "prior alone": float(prior.mean()),
        "release alone": float(alone.mean()),
        "both": float(both.mean()),
        "gain over the prior": {"value": gain.value, "low": gain.low, "high": gain.high},
    }
