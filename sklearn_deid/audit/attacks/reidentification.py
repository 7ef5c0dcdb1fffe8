"""Re-identification of pseudonymised text: guess the original word of a surrogate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, issparse, vstack

from ...metrics import Estimate, normalised_prior
from ..bayes import bayes_reidentification
from ..protocol import CONTROL_CONFIDENCE, AttackResult
from ..released_step import WORDS
from .declaration import UNKNOWN_MECHANISM, AttackPreset, AuditAttack, check_least, timed
from .pseudonymised_text import Blind, PseudonymisedText, PseudonymKnowledge, Trials, Unmoved, trials_of_text

_POSITIVE_BAR = 0.99
# Count, in draws, of a release that never occurred in the simulation of a word.
_UNSEEN = 0.1

_Categories = dict[str, tuple[list[str], np.ndarray, float]]


class ReidentificationAttack(AuditAttack):
    """Guess the original word of a surrogate.

    The attacker knows the mechanism and the frequencies of the words. If the frequencies are given by label, the
    attacker also knows the label of each token. The attacker does not read the sentence; an attacker who reads the
    sentence may recover more words. If a word is released several times, the attacker multiplies the probabilities of
    all its releases (the overlap attack). If each release is one of N neighbours, this product selects the words that
    are possible for all releases.

    Parameters
    ----------
    attacker : {"exact", "trained"}, default="exact"
        Knowledge of the attacker. The "exact" attacker knows the probability of each release, and no attacker with the
        same information succeeds more often. The "trained" attacker learns the probabilities from simulated releases
        (naive Bayes on counts). On average, "trained" is never better than "exact". The result of "trained" shows
        whether an attacker can reach the exact result in practice.
    n_releases : int, default=1
        Number of independent releases of each word in a simulation. In a given text, the attack counts the releases.
    n_simulated : int, default=2,000
        Number of releases of each word from which the trained attacker learns.
    n_trials : int, default=5,000
        Number of words to guess in simulated releases, unless the result is a sum over all releases.
    in_text : bool, default=False
        Whether the attacker in an audit guesses the words of the released text instead of words of simulated releases.
    confidence : float in (0, 1), default=0.95
        Confidence level of the intervals of counted hits. A sum over all releases has no interval. The interval of the
        exact attacker by Monte Carlo is always at 95 %.
    random_state : int or None, default=None
        Random seed of the simulation and of the controls.

    References
    ----------
    Friedrich et al. (2019), Adversarial learning of privacy-preserving text representations for de-identification of
    medical records, ACL, section 9 (overlap of neighbourhoods). Smith (2009), On the foundations of quantitative
    information flow, FoSSaCS. McCallum & Nigam (1998), A comparison of event models for naive Bayes text
    classification.

    Examples
    --------
    Two names that replace each other; the attacker guesses the more frequent name.

    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks import PseudonymKnowledge, ReidentificationAttack
    >>> class Mix:
    ...     def probabilities(self, tokens):
    ...         return np.array([[0.5, 0.5, 0.0] if token != "oak" else [0.0, 0.0, 1.0] for token in tokens])
    >>> knowledge = PseudonymKnowledge(Mix(), {"alder": 2, "birch": 1, "oak": 1})
    >>> result = ReidentificationAttack().fit(knowledge).attack(None)
    >>> result.attack.value, result.baseline.value, result.status
    (0.75, 0.5, 'ok')
    """

    key = "reidentification"
    family = "reidentification"
    title = "Re-identification"
    order = 60
    releases = (WORDS,)
    presets = (
        AttackPreset("reidentification", "Best attacker on simulated releases", 9.0, 3.0, quick=True),
        AttackPreset(
            "reidentification_trained", "Trained attacker on simulated releases", 3.0, 5.0, {"attacker": "trained"}
        ),
        AttackPreset("overlap", "Best attacker on the released text", 9.0, 3.0, {"in_text": True}, quick=True),
    )
    phrase = (
        "An attacker who knows the method and the word frequencies identifies the word behind a surrogate in {} of "
        "cases"
    )
    attacker = (
        "A recipient of the pseudonymised text who knows the method with its word vectors and settings, and the "
        "frequency of each word. If frequencies are by label, they also know the labels. They do not read the "
        "sentence."
    )
    measure = "share of words identified correctly"

    def __init__(
        self,
        attacker: str = "exact",
        *,
        n_releases: int = 1,
        n_simulated: int = 2_000,
        n_trials: int = 5_000,
        in_text: bool = False,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        if attacker not in ("exact", "trained"):
            raise ValueError(f"The 'attacker' parameter must be 'exact' or 'trained'. Got {attacker!r} instead.")
        check_least(1, n_releases=n_releases, n_simulated=n_simulated, n_trials=n_trials)
        self.kind, self.n_releases, self.n_simulated = attacker, n_releases, n_simulated
        self.n_trials, self.in_text = n_trials, in_text
        self.confidence, self.random_state = confidence, random_state

    @property
    def name(self) -> str:
        """Name of the attack, in words."""
        how = "best attacker" if self.kind == "exact" else "attacker trained on simulated releases"
        return f"re-identification, {how}{', in the released text' if self.in_text else ''}"

    def requires(self, release: Any) -> str | None:
        """Return why the attack cannot run: the mechanism is not known."""
        return UNKNOWN_MECHANISM if release.pseudonymizer is None else None

    def run(self, release: Any) -> list[AttackResult]:
        """Guess the original words of simulated releases or of the released text, and return the result."""
        return [self.fit(release.pseudonym_knowledge).attack(release.pseudonymised_text if self.in_text else None)]

    def fit(self, knowledge: PseudonymKnowledge) -> ReidentificationAttack:
        """Store the attacker's knowledge.

        Parameters
        ----------
        knowledge : PseudonymKnowledge
            Mechanism and word frequencies.
        """
        self._mechanism = getattr(knowledge.mechanism, "mechanism_", knowledge.mechanism)
        self._prior = knowledge.prior
        self._categories: _Categories = normalised_prior(knowledge.prior)
        return self

    @timed
    def attack(self, released: PseudonymisedText | None = None) -> AttackResult:
        """Guess the original words of a release, or of simulated releases.

        Parameters
        ----------
        released : PseudonymisedText or None
            Text to attack. The attacker guesses all words of its patients, each word from all its releases. If None,
            the attack measures the mechanism: words are drawn by their frequency, with ``n_releases`` releases each.

        Raises
        ------
        ValueError
            If the attacker needs probabilities or draws that the mechanism does not provide.
        """
        if released is None and self.kind == "exact":
            return self._computed()
        rng = np.random.default_rng(self.random_state)
        trials = self._simulated(rng) if released is None else self._given(released)
        hits, guessed, groups, by_label = self._arms(self._mechanism, trials, rng)
        details: dict[str, Any] = {"by label": by_label, **self._overlap(trials, rng)}
        positive, negative = (self._control(mechanism, trials, rng) for mechanism in (self._unmoved(), Blind()))
        return self.result(
            Estimate.from_hits(hits, groups, self.confidence),
            Estimate.from_hits(guessed, groups, self.confidence),
            Estimate.from_hits(positive),
            # Words outside the prior cannot be named by this attacker, so that the control does not demand them.
            _POSITIVE_BAR * float(np.mean(self._nameable(trials))),
            Estimate.from_hits(negative, groups, CONTROL_CONFIDENCE),
            settings=self._settings,
            details=details,
        )

    @property
    def _settings(self) -> dict[str, Any]:
        return {"attacker": self.kind, "n_releases": self.n_releases, "n_simulated": self.n_simulated}

    def _unmoved(self) -> Unmoved:
        """Mechanism of the positive control."""
        return Unmoved([token for tokens, _, _ in self._categories.values() for token in tokens])

    # ---- results that are computed from the mechanism

    def _computed(self) -> AttackResult:
        """Result that is computed from the mechanism alone, without a given text."""
        options: dict[str, Any] = {"n_releases": self.n_releases, "n_samples": max(100, self.n_trials)}
        found, open_text, blind = (
            bayes_reidentification(mechanism, self._prior, random_state=self.random_state, **options)
            for mechanism in (self._mechanism, self._unmoved(), Blind())
        )
        # A tolerance: rounding of sums must not fail a control.
        chance = blind.probability
        blind_estimate = Estimate(chance.value, chance.low - 1e-9, chance.high + 1e-9, chance.n, CONTROL_CONFIDENCE)
        details = {
            "worst case": found.worst_case,
            "by label": {name: c.probability.value for name, c in found.by_category.items()},
            "summed over all releases": found.method == "exact",
        }
        arms = found.probability, found.prior_guess, open_text.probability, _POSITIVE_BAR, blind_estimate
        return self.result(*arms, settings=self._settings, details=details)

    # ---- results that are counted on releases

    def _simulated(self, rng: np.random.Generator) -> dict[str, Trials]:
        """Draw words by their frequency, and simulate their releases."""
        names = list(self._categories)
        share = np.array([self._categories[name][2] for name in names])
        out = {}
        for name, n in zip(names, rng.multinomial(self.n_trials, share / share.sum()).tolist(), strict=True):
            if n:
                tokens, weights, _ = self._categories[name]
                words = [tokens[i] for i in rng.choice(len(tokens), size=n, p=weights).tolist()]
                owner = np.repeat(np.arange(n), self.n_releases)
                out[name] = Trials(words, owner, owner).released_by(self._mechanism, rng)
        return out

    def _given(self, released: PseudonymisedText) -> dict[str, Trials]:
        """Words of a released text whose label the attacker knows."""
        trials = trials_of_text(self._mechanism, released, by_label=list(self._categories) != ["all"])
        known = {name: trial for name, trial in trials.items() if name in self._categories}
        if not known:
            raise ValueError("The release holds no token of a label whose words the attacker knows.")
        return known

    def _arms(self, mechanism: Any, trials: dict[str, Trials], rng: np.random.Generator) -> tuple[Any, ...]:
        """Return the hits of the attack, the hits of a guess of the most frequent word, the patients, and the
        proportion of hits by label."""
        hits, guessed = [], []
        for name, trial in trials.items():
            tokens, weights, _ = self._categories[name]
            hits.append(self._named(mechanism, name, trial, rng) == np.array(trial.words, dtype=object))
            guessed.append(np.array(trial.words, dtype=object) == tokens[int(weights.argmax())])
        by_label = {name: float(mine.mean()) for name, mine in zip(trials, hits, strict=True)}
        groups = [trial.groups for trial in trials.values() if trial.groups is not None]
        patients = np.concatenate(groups) if len(groups) == len(trials) else None
        return np.concatenate(hits), np.concatenate(guessed), patients, by_label

    def _control(self, mechanism: Any, trials: dict[str, Trials], rng: np.random.Generator) -> np.ndarray:
        """Hits on the same words, released by the mechanism of a control."""
        released = {name: trial.released_by(mechanism, rng) for name, trial in trials.items()}
        return self._arms(mechanism, released, rng)[0]

    def _overlap(self, trials: dict[str, Trials], rng: np.random.Generator) -> dict[str, float]:
        """Numbers of words and releases and, if words have several releases, the success from the first release of each
        word."""
        n_words = sum(len(trial.words) for trial in trials.values())
        n_releases = sum(len(trial.owner) for trial in trials.values())
        one = {name: trial.first_releases() for name, trial in trials.items()}
        figures = {"words": n_words, "releases of a word": n_releases / n_words}
        if n_releases > n_words:
            figures["from one release"] = float(self._arms(self._mechanism, one, rng)[0].mean())
        return figures

    def _nameable(self, trials: dict[str, Trials]) -> list[bool]:
        """Whether each word is in the prior, so that the attacker can guess the word."""
        known = {name: set(tokens) for name, (tokens, _, _) in self._categories.items()}
        return [word in known[name] for name, trial in trials.items() for word in trial.words]

    def _named(self, mechanism: Any, name: str, trial: Trials, rng: np.random.Generator) -> np.ndarray:
        """Word with the largest posterior for each trial, shape (n_words,), object."""
        tokens, weights, _ = self._categories[name]
        seen = np.unique(trial.numbers)
        if self.kind == "exact":
            table, floor = known_table(mechanism, tokens, seen), 0.0
        else:
            table, floor = learned_table(mechanism, tokens, seen, self.n_simulated, rng), _UNSEEN
        best = most_likely(table, floor, np.log(weights), np.searchsorted(seen, trial.numbers), trial.owner)
        return np.array(tokens, dtype=object)[best]


# Largest number of entries in a block of scores: 32 MB.
_CELLS = 4_000_000
_TOKENS_AT_ONCE = 64
_DRAWS_AT_ONCE = 100_000


def known_table(mechanism: Any, tokens: Sequence[str], seen: np.ndarray) -> csc_array:
    """Probability of each seen release for each token, shape (n_tokens, n_seen)."""
    if not hasattr(mechanism, "probabilities"):
        raise ValueError("The exact attacker on released text needs a mechanism with known probabilities.")
    parts = []
    for start in range(0, len(tokens), _TOKENS_AT_ONCE):
        block = mechanism.probabilities(tokens[start : start + _TOKENS_AT_ONCE])
        block = block.tocsr() if issparse(block) else csr_array(np.atleast_2d(block))
        inside = np.flatnonzero(seen < block.shape[1])
        part = block[:, seen[inside]].tocoo()
        shape = (block.shape[0], len(seen))
        parts.append(coo_array((part.data, (part.coords[0], inside[part.coords[1]])), shape=shape))
    return vstack(parts, format="csc")


def learned_table(
    mechanism: Any, tokens: Sequence[str], seen: np.ndarray, each: int, rng: np.random.Generator
) -> csc_array:
    """Counts of each seen release among ``each`` simulated releases of a token, shape (n_tokens, n_seen)."""
    parts, at_once = [], max(1, _DRAWS_AT_ONCE // each)
    for start in range(0, len(tokens), at_once):
        some = list(tokens[start : start + at_once])
        drawn = np.asarray(mechanism.sample([token for token in some for _ in range(each)], rng))
        # Draws outside of ``seen`` cannot occur in the trials; they are dropped rather than counted.
        place = np.minimum(np.searchsorted(seen, drawn), len(seen) - 1)
        hit = np.flatnonzero(seen[place] == drawn)
        parts.append(coo_array((np.ones(len(hit)), (hit // each, place[hit])), shape=(len(some), len(seen))).tocsr())
    return vstack(parts, format="csc")


def most_likely(
    table: csc_array, floor: float, log_prior: np.ndarray, columns: np.ndarray, owner: np.ndarray
) -> np.ndarray:
    """For each trial, the token with the largest product of its prior and the probabilities of all releases, shape
    (n_trials,)."""
    n_trials = int(owner[-1]) + 1
    # A release that no token can have carries no information.
    useful = np.asarray(table.sum(axis=0)).reshape(-1)[columns] > 0
    counts = coo_array((np.ones(int(useful.sum())), (owner[useful], columns[useful])), (n_trials, table.shape[1]))
    counts = counts.tocsr()
    best, at_once = np.empty(n_trials, dtype=np.int64), max(1, _CELLS // len(log_prior))
    for start in range(0, n_trials, at_once):
        part = counts[start : start + at_once]
        used = np.unique(part.indices)
        with np.errstate(divide="ignore"):
            # shape: (n_used, n_tokens)
            logs = np.log(table[:, used].toarray().T + floor)
        # shape: (n_part, n_tokens)
        score = part[:, used] @ logs + log_prior
        # If no token fits all releases, only the prior decides.
        score[~np.isfinite(score).any(axis=1)] = log_prior
        best[start : start + at_once] = score.argmax(axis=1)
    return best
