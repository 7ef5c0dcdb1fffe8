"""Membership inference: decide whether a sentence was in the training set of a tagger."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from ...metrics import Estimate
from ...sequences import check_groups, check_sequences, check_tags
from ..protocol import CONTROL_CONFIDENCE, AttackResult
from ..released_step import MODEL, REPRESENTATION
from .declaration import AttackPreset, AuditAttack, check_least, timed
from .model_training import LossFunction, TrainingProcedure, losses_of, memorise, row_keys, trained_on

_METHODS = {"threshold": "loss threshold", "shadow": "likelihood ratio over shadow models"}
_POSITIVE_BAR = 0.9
_FALSE_POSITIVES = 0.01


@dataclass(frozen=True, repr=False)
class MembershipKnowledge:
    """Knowledge of an attacker on a tagger: the training procedure, and sentences, some of which may be training data.

    Attributes
    ----------
    train : callable
        Training procedure: ``train(X, y, seed)`` returns a function ``loss(X, y)``, which computes the loss of each
        sentence. A procedure with a parameter ``groups`` also receives the patient of each sentence.
    X : sequence of n sentences
        Sentences that the attacker has.
    y : sequence of n tag sequences
        Tags of the sentences.
    groups : array-like of shape (n,), optional
        Patient of each sentence. A training set contains either all sentences of a patient or none of them.
    """

    train: TrainingProcedure
    X: Any
    y: Any
    groups: Any = None
    _has_patients: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        X = check_sequences(self.X)
        object.__setattr__(self, "_has_patients", self.groups is not None)
        groups = np.arange(len(X)) if self.groups is None else check_groups(self.groups, len(X))
        for name, value in {"X": X, "y": check_tags(self.y, X), "groups": groups}.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"MembershipKnowledge(n={len(self.X)})"


@dataclass(frozen=True, repr=False)
class ReleasedTagger:
    """A trained tagger whose losses the attacker sees, and the sentences in its training set for the measurement.

    Attributes
    ----------
    loss : callable
        Function: ``loss(X, y)`` returns the loss of each sentence.
    members : array-like of bool, shape (n,)
        Whether each sentence of the attacker's knowledge was in the training set.
    """

    loss: LossFunction
    members: Any


class MembershipAttack(AuditAttack):
    """Decide from the losses of a tagger which sentences were in its training set.

    The attacker trains their own taggers ("shadows") in the same way, each on a random half of the sentences. With
    "threshold", the attacker learns a threshold of the loss from the shadows, and a sentence with a smaller loss counts
    as a member of the training set. With "shadow", the attacker learns two distributions of the loss of each sentence:
    with and without the sentence in the training set. The attacker then chooses the more likely case.

    Parameters
    ----------
    method : {"shadow", "threshold"}, default="shadow"
        Decision rule of the attacker.
    n_shadows : int, default=8
        Number of shadow taggers, at least 2. The duration of the attack grows with this number.
    confidence : float in (0, 1), default=0.95
        Confidence level of the interval over patients.
    random_state : int or None, default=None
        Random seed of the shadows and of the measured sentences.

    Notes
    -----
    Half of the measured sentences are members. The attack leaves out sentences that occur several times in the
    attacker's sentences, because their membership is ambiguous. `details` contains the true positive rate at 1 % false
    positives. This rate shows whether a few patients are exposed although most patients are not (Carlini et al. 2022,
    section III).

    References
    ----------
    Yeom et al. (2018), Privacy risk in machine learning: analyzing the connection to overfitting, CSF, section 3
    (threshold, advantage). Shokri et al. (2017), Membership inference attacks against machine learning models, S&P
    (shadow models). Carlini et al. (2022), Membership inference attacks from first principles, S&P, algorithm 1 and
    section VI (one variance for all sentences where shadows are few).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks import MembershipAttack, MembershipKnowledge, ReleasedTagger, memorise
    >>> X, y = [[f"word{i}"] for i in range(80)], [["O"]] * 80
    >>> members = np.arange(80) < 40
    >>> model = memorise(X[:40], y[:40], 0)
    >>> attack = MembershipAttack(n_shadows=4, random_state=0).fit(MembershipKnowledge(memorise, X, y))
    >>> result = attack.attack(ReleasedTagger(model, members))
    >>> result.attack.value, result.details["true positives at 1 % false positives"]
    (1.0, 1.0)
    """

    key = "membership"
    family = "membership"
    title = "Membership inference"
    order = 70
    releases = (MODEL, REPRESENTATION)
    presets = (
        AttackPreset(
            "membership", "Likelihood ratio on a tagger", 5.0, 60.0, {"n_shadows": 4}, releases=(MODEL,), anew=True
        ),
        AttackPreset(
            "membership_threshold",
            "Loss threshold on a tagger",
            3.0,
            36.0,
            {"method": "threshold", "n_shadows": 2},
            releases=(MODEL,),
            anew=True,
        ),
        AttackPreset(
            "membership_representer",
            "Likelihood ratio on a representer",
            5.0,
            600.0,
            {"n_shadows": 4},
            releases=(REPRESENTATION,),
            anew=True,
        ),
    )
    phrase = (
        "A user of the model who knows how it is trained decides correctly for {} of sentences whether they were in "
        "its training data"
    )
    threat = "model"
    attacker = (
        "A user of the tagger who sees its probabilities, knows how it is trained, and holds annotated sentences, some "
        "of which were used."
    )
    measure = "share of right decisions whether a sentence is of the training set; half of the sentences are"

    def __init__(
        self, method: str = "shadow", *, n_shadows: int = 8, confidence: float = 0.95, random_state: Any = None
    ) -> None:
        if method not in _METHODS:
            raise ValueError(f"The 'method' parameter must be one of {tuple(_METHODS)}. Got {method!r} instead.")
        check_least(2, n_shadows=n_shadows)
        self.method, self.n_shadows = method, n_shadows
        self.confidence, self.random_state = confidence, random_state

    @property
    def name(self) -> str:
        """Name of the attack, in words."""
        return f"membership inference, {_METHODS[self.method]}"

    def run(self, release: Any) -> list[AttackResult]:
        """Attack a model that is trained in the same way as the audited model, and return the result."""
        knowledge, released, described = release.memory
        return [described(self.fit(knowledge).attack(released))]

    def fit(self, knowledge: MembershipKnowledge) -> MembershipAttack:
        """Train the shadows.

        Parameters
        ----------
        knowledge : MembershipKnowledge
            Training procedure and the attacker's sentences.
        """
        self._knowledge = knowledge
        self._shadows, self._inside = self._trained(knowledge.train)
        return self

    @timed
    def attack(self, released: ReleasedTagger) -> AttackResult:
        """Classify sentences as members or non-members by the losses of a released tagger.

        Parameters
        ----------
        released : ReleasedTagger
            Attacked tagger, with the sentences in its training set.

        Raises
        ------
        ValueError
            If there are fewer than two distinct members, or fewer than four distinct sentences outside the training
            set.
        """
        members = np.asarray(released.members, dtype=bool)
        pool = self._knowledge
        if members.shape != (len(pool.X),):
            raise ValueError(f"'members' must say of each of {len(pool.X)} sentences whether it was used.")
        rng = np.random.default_rng(self.random_state)
        judged = _distinct(pool)
        inside, outside = judged[members[judged]], judged[~members[judged]]
        if len(inside) < 2 or len(outside) < 4:
            raise ValueError(f"Too few sentences: {len(inside)} members and {len(outside)} others, each distinct.")
        scores = self._scores(losses_of(released.loss, pool.X, pool.y), self._shadows, self._inside)
        estimate = self._estimate(scores, *_equally_many(inside, outside, rng), self.confidence)
        # Negative control: neither half was in the training set, so that no attack can distinguish the halves.
        halves = np.array_split(rng.permutation(outside), 2)
        negative = self._estimate(scores, *_equally_many(halves[0], halves[1], rng), CONTROL_CONFIDENCE)
        return self.result(
            estimate,
            0.5,
            self._positive(members, inside, outside, rng),
            _POSITIVE_BAR,
            negative,
            chance=0.5,
            settings={"method": self.method, "n_shadows": self.n_shadows},
            details=_figures(scores[inside], scores[outside], self.confidence),
        )

    def _trained(self, train: TrainingProcedure) -> tuple[np.ndarray, np.ndarray]:
        """Losses of all sentences under each shadow, and membership in its training set; both (n_shadows, n)."""
        pool, rng = self._knowledge, np.random.default_rng(self.random_state)
        patients = np.unique(pool.groups, return_inverse=True)[1]
        losses, inside = [], []
        for i in range(self.n_shadows):
            # The second shadow of two takes the other half, so that every sentence is in half of the shadows.
            if i % 2 == 0:
                chosen = rng.permutation(patients.max() + 1) < (patients.max() + 1) / 2
            mask = chosen[patients] == (i % 2 == 0)
            rows = np.flatnonzero(mask)
            groups = pool.groups[rows] if pool._has_patients else None
            model = trained_on(train, pool.X[rows], pool.y[rows], int(rng.integers(2**31)), groups)
            losses.append(losses_of(model, pool.X, pool.y))
            inside.append(mask)
        return np.stack(losses), np.stack(inside)

    def _scores(self, losses: np.ndarray, shadows: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """Score of each sentence. If the score is above 0, the attacker classifies the sentence as a member."""
        if self.method == "threshold":
            return best_threshold(shadows, inside) - losses
        return membership_scores(losses, shadows, inside)

    def _estimate(self, scores: np.ndarray, yes: np.ndarray, no: np.ndarray, confidence: float) -> Estimate:
        """Accuracy on members ``yes`` and other sentences ``no``."""
        # A score of 0 counts one half.
        hits = 0.5 + 0.5 * np.sign(np.concatenate([scores[yes], -scores[no]]))
        return Estimate.from_hits(hits, self._knowledge.groups[np.concatenate([yes, no])], confidence)

    def _positive(
        self, members: np.ndarray, inside: np.ndarray, outside: np.ndarray, rng: np.random.Generator
    ) -> Estimate:
        """Run the same attack on a model that only memorises its training set."""
        pool, rows = self._knowledge, np.flatnonzero(members)
        model = memorise(pool.X[rows], pool.y[rows], 0)
        scores = self._scores(losses_of(model, pool.X, pool.y), *self._trained(memorise))
        return Estimate.from_hits(np.concatenate([scores[inside] > 0, scores[outside] < 0]))


def _distinct(pool: MembershipKnowledge) -> np.ndarray:
    """Rows of the sentences that occur only once among the attacker's sentences."""
    keys = row_keys(pool.X, pool.y)
    counts = Counter(keys)
    return np.array([i for i, key in enumerate(keys) if counts[key] == 1], dtype=np.int64)


def _equally_many(a: np.ndarray, b: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw equally many rows of both kinds."""
    n = min(len(a), len(b))
    return rng.choice(a, n, replace=False), rng.choice(b, n, replace=False)


def _figures(inside: np.ndarray, outside: np.ndarray, confidence: float) -> dict[str, Any]:
    """Advantage, area under the ROC curve, and true positive rate at 1 % false positives."""
    allowed = int(_FALSE_POSITIVES * len(outside))
    # At most 1 % of the others lie strictly above this value.
    bar = np.sort(outside)[::-1][allowed]
    found = Estimate.from_hits(inside > bar, confidence=confidence)
    truth = np.repeat([True, False], [len(inside), len(outside)])
    return {
        "true positives at 1 % false positives": found.value,
        "true positives at 1 % false positives, low": found.low,
        "true positives at 1 % false positives, high": found.high,
        "area under the curve": float(roc_auc_score(truth, np.concatenate([inside, outside]))),
        "advantage": float((inside > 0).mean() - (outside > 0).mean()),
    }


# Outside of this range, probabilities are 0 or 1 in single precision.
_LOSS_RANGE = (1e-7, 30.0)


def membership_scores(losses: np.ndarray, shadows: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Log-likelihood ratio of the loss of each sentence: sentence in the training set versus sentence outside the
    training set.

    Losses are converted to log odds of the mean probability of a tag, which are nearly normal. The two means are
    estimated for each sentence. The two variances are common to all sentences, because there are few shadows.

    Parameters
    ----------
    losses : ndarray of shape (n,)
        Losses of the attacked model.
    shadows : ndarray of shape (n_shadows, n)
        Losses of the shadow models.
    inside : ndarray of bool, shape (n_shadows, n)
        Whether each sentence was in the training set of a shadow; at least one True and one False for each sentence.

    Returns
    -------
    ndarray of shape (n,)
        Log-likelihood ratios. A ratio above 0 indicates a member.

    References
    ----------
    Carlini et al. (2022), algorithm 1, with the variances of section VI.

    Examples
    --------
    >>> shadows = np.array([[0.1, 0.9], [0.9, 0.1], [0.11, 1.0], [1.0, 0.12]])
    >>> inside = np.array([[True, False], [False, True], [True, False], [False, True]])
    >>> (membership_scores(np.array([0.1, 0.95]), shadows, inside) > 0).tolist()
    [True, False]
    """
    target, seen = _log_odds(losses), _log_odds(shadows)
    densities = []
    for mask in (inside, ~inside):
        n = mask.sum(axis=0)
        mean = np.where(mask, seen, 0.0).sum(axis=0) / np.maximum(n, 1)
        # shapes: seen (n_shadows, n), mean (n,)
        spread = np.where(mask, (seen - mean) ** 2, 0.0).sum()
        # A mean over n shadows has an error of its own, with 1 / n of the variance.
        variance = max(float(spread / max(1, (n - 1).sum())), 1e-6) * (1.0 + 1.0 / np.maximum(n, 1))
        densities.append(-0.5 * ((target - mean) ** 2 / variance + np.log(variance)))
    return densities[0] - densities[1]


def _log_odds(losses: np.ndarray) -> np.ndarray:
    """Convert losses to the log odds of a tag's mean probability."""
    # With p = exp(-loss), the log odds log(p / (1 - p)) are -loss - log(1 - exp(-loss)).
    clipped = np.clip(losses, *_LOSS_RANGE)
    return -clipped - np.log(-np.expm1(-clipped))


def best_threshold(losses: np.ndarray, inside: np.ndarray) -> float:
    """Loss that separates the shadows' training sentences from the other sentences with the fewest errors."""
    values, order = np.unique(losses.reshape(-1), return_inverse=True)
    member = inside.reshape(-1)
    below_in = np.cumsum(np.bincount(order.reshape(-1)[member], minlength=len(values))) / member.sum()
    below_out = np.cumsum(np.bincount(order.reshape(-1)[~member], minlength=len(values))) / (~member).sum()
    # The errors are fewest where the true positive rate exceeds the false positive rate most.
    best = int((below_in - below_out).argmax())
    # Halfway to the next value, so that no training loss lies on the threshold.
    return float(values[best : best + 2].mean())
