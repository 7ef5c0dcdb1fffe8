"""Document linkage: do two released sentences come from one patient?"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from ...sequences import TokenSequences, TokenVectors
from ..protocol import CONTROL_CONFIDENCE, AttackResult, Estimate
from ..released_step import REPRESENTATION, VECTORS, WORDS
from .declaration import AttackPreset, AttackSettings, AuditAttack
from .sentence_pairs import PairFeatures, ReleasedSentences, SentencePairs, draw_pairs

_POSITIVE_BAR = 0.9


class LinkageAttack(AuditAttack):
    """Tells pairs of sentences of one patient from pairs of two.

    The attacker has sentences of other patients in the same form, knows whose they are, and learns (logistic
    regression) how much what two sentences share says: rare words and surrogates, other words, labels, casing, length;
    of vectors their cosines. A surrogate that is the same throughout a patient (``coherence="patient"``) links their
    sentences even where nobody can tell what it stands for. Words that are not PHI are released as they are and link
    too.

    Parameters
    ----------
    use_casing, use_tags : bool, default=True, True
        Whether casing and labels are looked at; both are released without noise.
    n_pairs : int, default=2,000
        Pairs to learn from and pairs to be told apart, each; half of them of one patient.
    confidence : float in (0, 1), default=0.95
        Interval over patients.
    random_state : int or None, default=None

    References
    ----------
    Friedrich et al. (2019), Adversarial learning of privacy-preserving text representations for de-identification of
    medical records, ACL, section 9. Fellegi & Sunter (1969), A theory for record linkage, JASA 64.

    Examples
    --------
    >>> from sklearn_deid.audit.attacks import LinkageAttack, ReleasedSentences
    >>> def release(first, last):
    ...     names = [f"name{i}" for i in range(first, last) for _ in range(4)]
    ...     return ReleasedSentences([["seen", name] for name in names], names)
    >>> attack = LinkageAttack(n_pairs=100, random_state=0).fit(release(0, 10))
    >>> attack.attack(release(10, 20)).attack.value
    1.0
    """

    key = "linkage"
    family = "linkage"
    title = "Document linkage"
    order = 50
    releases = (REPRESENTATION, WORDS, VECTORS)
    presets = (
        AttackPreset("linkage", "Document linkage", 1.0, 0.5, quick=True),
        AttackPreset(
            "linkage_bare",
            "Document linkage without casing and labels",
            1.0,
            0.5,
            {"use_casing": False, "use_tags": False},
        ),
    )
    phrase = (
        "An attacker who holds sentences of other patients says rightly in {} of pairs whether two released sentences "
        "are about one patient"
    )
    threat: str = "pseudonymised text"  # "representation" of what links vectors, which `attack` sees by itself
    measure = "share of pairs rightly said to be of one patient or of two, equally many of both"

    def __init__(
        self,
        *,
        use_casing: bool = True,
        use_tags: bool = True,
        n_pairs: int = 2_000,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        if n_pairs < 10:
            raise ValueError(f"The 'n_pairs' parameter must be at least 10. Got {n_pairs} instead.")
        self.use_casing, self.use_tags, self.n_pairs = use_casing, use_tags, n_pairs
        self.confidence, self.random_state = confidence, random_state

    @property
    def name(self) -> str:
        """Which attack, in words."""
        beside = [word for word, used in (("casing", self.use_casing), ("labels", self.use_tags)) if used]
        return f"document linkage, {' and '.join(beside)} seen" if beside else "document linkage"

    @property
    def attacker(self) -> str:
        """Who attacks, and what they hold."""
        return (
            "A recipient of the release who holds sentences of other patients in the same form and knows which of "
            "those belong together."
        )

    @classmethod
    def make(cls, preset: AttackPreset, settings: AttackSettings, release: Any) -> LinkageAttack:
        """The attack, about vectors or about text also where it is skipped."""
        attack = cls(**cls.options_of(preset, settings), **settings.shared)
        attack.threat = "pseudonymised text" if release.kind == WORDS else "representation"
        return attack

    def requires(self, release: Any) -> str | None:
        """Patients."""
        return "It is not known which sentences are of one patient." if release.data.groups is None else None

    def run(self, release: Any) -> list[AttackResult]:
        """Links between the measured sentences."""
        return [self.fit(release.sentences("train")).attack(release.sentences("test"))]

    def fit(self, knowledge: ReleasedSentences) -> LinkageAttack:
        """Take sentences of other patients.

        Parameters
        ----------
        knowledge : ReleasedSentences
            At least two patients with two sentences each.
        """
        self._knowledge = knowledge
        return self

    def attack(self, released: ReleasedSentences) -> AttackResult:
        """Tell pairs of released sentences apart.

        Parameters
        ----------
        released : ReleasedSentences
            Of the kind that they learned from: words or vectors, and of other patients.

        Raises
        ------
        ValueError
            If there are too few patients, or one is words and the other vectors.
        """
        started = perf_counter()
        if type(released.X) is not type(self._knowledge.X):
            raise ValueError("What the attacker learns from and the release must both be words, or both vectors.")
        rng = np.random.default_rng(self.random_state)
        hits, pairs, auc = self._told_apart(self._knowledge, released, rng)
        both = (self._knowledge, released)
        open_hits, _, _ = self._told_apart(_marked(both[0], rng), _marked(both[1], rng), rng)
        blind_hits, blind_pairs, _ = self._told_apart(_shuffled(both[0], rng), _shuffled(both[1], rng), rng)
        return AttackResult(
            self.name,
            "representation" if isinstance(released.X, TokenVectors) else self.threat,
            self.attacker,
            self.measure,
            Estimate.from_hits(hits, pairs.patients, self.confidence),
            0.5,
            Estimate.from_hits(open_hits),
            _POSITIVE_BAR,
            Estimate.from_hits(blind_hits, blind_pairs.patients, CONTROL_CONFIDENCE),
            seconds=perf_counter() - started,
            **self.declared,
            settings={"use_casing": self.use_casing, "use_tags": self.use_tags, "n_pairs": self.n_pairs},
            details={"area under the curve": auc, "patients": len(np.unique(pairs.patients)), "pairs": len(pairs)},
        )

    def _told_apart(
        self, known: ReleasedSentences, released: ReleasedSentences, rng: np.random.Generator
    ) -> tuple[np.ndarray, SentencePairs, float]:
        """Hits, their pairs, and the area under the curve."""
        learned, told = draw_pairs(known, self.n_pairs, rng), draw_pairs(released, self.n_pairs, rng)
        # Features of both must mean the same: labels that one side lacks, or tags, are looked at in neither.
        features, tested = self._features(known, released, learned, told)
        model: Pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        score = model.fit(features, learned.same).decision_function(tested)
        hits = np.where(score == 0.0, 0.5, (score > 0.0) == told.same)
        return hits, told, float(roc_auc_score(told.same, score))

    def _features(
        self, known: ReleasedSentences, released: ReleasedSentences, learned: SentencePairs, told: SentencePairs
    ) -> tuple[np.ndarray, np.ndarray]:
        joined = _joined(known, released)
        features = PairFeatures(joined, self.use_casing, self.use_tags)
        shift = len(known)
        moved = SentencePairs(told.first + shift, told.second + shift, told.same, told.patients)
        return features(learned), features(moved)


def _joined(known: ReleasedSentences, released: ReleasedSentences) -> ReleasedSentences:
    """One after the other: how rare a word is, is counted on both, for the attacker sees both."""
    offsets = np.concatenate([known.X.offsets, released.X.offsets[1:] + known.X.offsets[-1]])
    X = type(known.X)(np.concatenate([known.X.data, released.X.data]), offsets)
    tags = None
    if known.tags is not None and released.tags is not None:
        tags = TokenSequences(np.concatenate([known.tags.data, released.tags.data]), offsets)
    casing = None
    if isinstance(X, TokenVectors) and known.casing is not None and released.casing is not None:
        casing = np.split(np.concatenate([known.casing, released.casing]), offsets[1:-1])
    return ReleasedSentences(X, np.zeros(len(X), dtype=np.int64), tags, casing)


def _marked(sentences: ReleasedSentences, rng: np.random.Generator) -> ReleasedSentences:
    """The same sentences, each with one more token that is its patient's alone: the positive control."""
    X, patients = sentences.X, np.unique(sentences.groups, return_inverse=True)[1]
    if isinstance(X, TokenVectors):
        marks: np.ndarray = rng.standard_normal((patients.max() + 1, X.d)).astype(np.float32)
        # The longest vectors of all, so that their direction is that of the sentence.
        marks *= 10.0 * max(1.0, float(np.abs(X.data).max(initial=0.0)))
    else:
        marks = np.array([f"\0{rng.integers(2**62)}" for _ in range(patients.max() + 1)], dtype=object)
    n = len(X)
    data = np.insert(X.data, X.offsets[:-1], marks[patients], axis=0)
    marked = type(X)(data, X.offsets + np.arange(n + 1))
    tags = casing = None
    if sentences.tags is not None:
        # A label that is there already: the mark is to be found by what it is.
        label = next((tag for tag in sentences.tags.data.tolist() if tag != "O"), "O")
        tags = TokenSequences(np.insert(sentences.tags.data, X.offsets[:-1], label), marked.offsets)
    if isinstance(X, TokenVectors) and sentences.casing is not None:
        casing = np.split(np.insert(sentences.casing, X.offsets[:-1], 0), marked.offsets[1:-1])
    return ReleasedSentences(marked, sentences.groups, tags, casing, sentences.documents)


def _shuffled(sentences: ReleasedSentences, rng: np.random.Generator) -> ReleasedSentences:
    """The same sentences dealt out to the patients at random: the negative control."""
    return sentences.with_groups(rng.permutation(sentences.groups))
