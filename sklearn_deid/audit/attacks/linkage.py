"""Document linkage: decide whether two released sentences concern the same patient."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from ...metrics import Estimate
from ...sequences import TokenSequences, TokenVectors
from ..protocol import CONTROL_CONFIDENCE, AttackResult
from ..released_step import CLASSES, REPRESENTATION, SURROGATES, VECTORS, WORDS
from .declaration import AttackPreset, check_least, timed
from .sentence_pairs import PairFeatures, ReleasedSentences, SentencePairs, draw_pairs
from .untrained import UntrainedAttack

_POSITIVE_BAR = 0.9


class LinkageAttack(UntrainedAttack):
    """Distinguish pairs of sentences of one patient from pairs of two patients.

    The attacker has sentences of other patients in the same form, and knows the patient of each sentence. The attacker
    trains a logistic regression on similarities between two sentences: rare words and surrogates, other words, labels,
    casing and length. For vectors, the attacker uses cosines instead of words. A surrogate that is constant throughout
    a patient (``coherence="patient"``) links the patient's sentences even if no attacker can guess the original. Words
    outside of PHI are released unchanged, and also link sentences. ``fit`` takes `ReleasedSentences` of at least two
    patients with two sentences each.

    Parameters
    ----------
    use_casing, use_tags : bool, default=True, True
        Whether the attacker uses casing and labels, which are released without noise.
    n_pairs : int, default=2,000
        Number of training pairs, and number of measured pairs. Half of the pairs are of one patient.
    confidence : float in (0, 1), default=0.95
        Confidence level of the interval over patients.
    random_state : int or None, default=None
        Random seed of the pairs.

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
    releases = (REPRESENTATION, WORDS, SURROGATES, VECTORS, CLASSES)
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
        "An attacker who holds sentences of other patients decides correctly in {} of pairs whether two released "
        "sentences are about one patient"
    )
    attacker = (
        "A recipient of the release who holds sentences of other patients in the same form, and knows the patient of "
        "each."
    )
    measure = (
        "share of right decisions whether a pair is of one patient or of two; half of the pairs are of one patient"
    )

    def __init__(
        self,
        *,
        use_casing: bool = True,
        use_tags: bool = True,
        n_pairs: int = 2_000,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        check_least(10, n_pairs=n_pairs)
        self.use_casing, self.use_tags, self.n_pairs = use_casing, use_tags, n_pairs
        self.confidence, self.random_state = confidence, random_state

    @property
    def name(self) -> str:
        """Name of the attack, in words."""
        beside = [word for word, used in (("casing", self.use_casing), ("labels", self.use_tags)) if used]
        return f"document linkage, {' and '.join(beside)} seen" if beside else "document linkage"

    def requires(self, release: Any) -> str | None:
        """Return why the attack cannot run: the patients are not known."""
        return "The patients of the sentences are not known." if release.data.groups is None else None

    def run(self, release: Any) -> list[AttackResult]:
        """Link the measured sentences and return the result."""
        return [self.fit(release.sentences("train")).attack(release.sentences("test"))]

    @timed
    def attack(self, released: ReleasedSentences) -> AttackResult:
        """Decide for pairs of released sentences whether they are of one patient.

        Parameters
        ----------
        released : ReleasedSentences
            Words or vectors, as in `fit`, of other patients.

        Raises
        ------
        ValueError
            If there are too few patients, or if ``fit`` and the release do not have sentences of one kind (words or
            vectors).
        """
        if type(released.X) is not type(self._knowledge.X):
            raise ValueError(
                "The training data of the attacker and the release must both be words, or both be vectors."
            )
        rng = np.random.default_rng(self.random_state)
        both = [self._knowledge, released]
        hits, pairs, auc = self._told_apart(both, rng)
        open_hits, _, _ = self._told_apart([_marked(one, rng) for one in both], rng)
        # Negative control: the same sentences, assigned to the patients at random.
        blind = [one.with_groups(rng.permutation(one.groups)) for one in both]
        blind_hits, blind_pairs, _ = self._told_apart(blind, rng)
        return self.result(
            Estimate.from_hits(hits, pairs.patients, self.confidence),
            0.5,
            Estimate.from_hits(open_hits),
            _POSITIVE_BAR,
            Estimate.from_hits(blind_hits, blind_pairs.patients, CONTROL_CONFIDENCE),
            settings={"use_casing": self.use_casing, "use_tags": self.use_tags, "n_pairs": self.n_pairs},
            details={"area under the curve": auc, "patients": len(np.unique(pairs.patients)), "pairs": len(pairs)},
            threat="representation" if isinstance(released.X, TokenVectors) else "pseudonymised text",
        )

    def _told_apart(
        self, both: list[ReleasedSentences], rng: np.random.Generator
    ) -> tuple[np.ndarray, SentencePairs, float]:
        """Train the attacker on the first part, and return the hits on the second part, the pairs, and the area under
        the ROC curve."""
        learned, told = (draw_pairs(one, self.n_pairs, rng) for one in both)
        # Features of both sides must mean the same: if one side lacks labels or casing, the attack uses neither side's.
        features = PairFeatures(_joined(*both), self.use_casing, self.use_tags)
        shift = len(both[0])
        moved = SentencePairs(told.first + shift, told.second + shift, told.same, told.patients)
        model: Pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        score = model.fit(features(learned), learned.same).decision_function(features(moved))
        # A score of exactly 0 counts one half.
        hits = np.where(score == 0.0, 0.5, (score > 0.0) == told.same)
        return hits, told, float(roc_auc_score(told.same, score))


def _joined(known: ReleasedSentences, released: ReleasedSentences) -> ReleasedSentences:
    """Join both sets of sentences. The attacker sees both sets, and counts word frequencies over both sets."""
    offsets = np.concatenate([known.X.offsets, released.X.offsets[1:] + known.X.offsets[-1]])
    X = type(known.X)(np.concatenate([known.X.data, released.X.data]), offsets)
    tags = None
    if known.tags is not None and released.tags is not None:
        tags = TokenSequences(np.concatenate([known.tags.data, released.tags.data]), offsets)
    casing = None
    if known.casing is not None and released.casing is not None:
        casing = np.concatenate([known.casing, released.casing])
    return ReleasedSentences(X, np.zeros(len(X), dtype=np.int64), tags, casing)


def _marked(sentences: ReleasedSentences, rng: np.random.Generator) -> ReleasedSentences:
    """Positive control: insert into each sentence a token that belongs to its patient alone."""
    X, patients = sentences.X, np.unique(sentences.groups, return_inverse=True)[1]
    if isinstance(X, TokenVectors):
        marks: np.ndarray = rng.standard_normal((patients.max() + 1, X.d)).astype(np.float32)
        # The mark is longer than all other vectors, so that its direction dominates the mean of the sentence.
        marks *= 10.0 * max(1.0, float(np.abs(X.data).max(initial=0.0)))
    else:
        marks = np.array([f"\0{rng.integers(2**62)}" for _ in range(patients.max() + 1)], dtype=object)
    n = len(X)
    data = np.insert(X.data, X.offsets[:-1], marks[patients], axis=0)
    marked = type(X)(data, X.offsets + np.arange(n + 1))
    tags = casing = None
    if sentences.tags is not None:
        # The mark has a label that already occurs: the attack must find the mark by its word or vector, not its label.
        label = next((tag for tag in sentences.tags.data.tolist() if tag != "O"), "O")
        tags = TokenSequences(np.insert(sentences.tags.data, X.offsets[:-1], label), marked.offsets)
    if sentences.casing is not None:
        casing = np.insert(sentences.casing, X.offsets[:-1], 0)
    return ReleasedSentences(marked, sentences.groups, tags, casing, sentences.documents)
