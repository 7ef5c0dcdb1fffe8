"""Lookup: find the released sentence in a list of candidates. The attacker needs only the public network."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ...metrics import Estimate
from ...representations.network import Representer
from ...representations.pair_data import PairData
from ..audit_data import random_streams
from ..protocol import CONTROL_CONFIDENCE, AttackResult
from ..released_step import REPRESENTATION
from .candidates import CandidateRanks, CandidateSet, one_token_candidates, unrelated_candidates
from .control_representers import BlindRepresenter, slightly_noisy
from .declaration import AttackPreset, timed
from .pairs import PairRelease
from .released_tokens import TOP
from .untrained import UntrainedAttack

# Averaged noisy templates find less: on open word vectors with a little noise, 76 % of the originals rank first of 101.
_AVERAGED_BAR = 0.5


@dataclass(frozen=True, repr=False)
class LookupKnowledge:
    """Knowledge of the attacker: the published representer, which includes the word vectors.

    Attributes
    ----------
    representer : Representer
        Published network.
    device : torch.device or str, default="cpu"
        Device of the computation.
    """

    representer: Representer
    device: torch.device | str = "cpu"


class LookupAttack(UntrainedAttack):
    """Compare a release with a template of each candidate sentence.

    The audit releases the original. The attacker computes a template of each candidate with the same network. For the
    measure "pairwise" the audit also releases one other candidate of each sentence, so that both candidates of a pair
    are equally likely. The certified bound also assumes that both candidates are equally likely. ``fit`` takes a
    `LookupKnowledge`; the attack trains nothing.

    Parameters
    ----------
    candidates : {"one_token", "unrelated"}, default="one_token"
        Kind of the candidates. "one_token" candidates differ from the original by one PHI token, which was replaced by
        one of its neighbours. "unrelated" candidates are other sentences of equal length.
    score : {"likelihood", "cosine"}, default="likelihood"
        Score of a candidate. "likelihood" uses the standard deviations of the noise, which are published with the
        network. If vectors are scaled to unit length, the likelihood is that of the direction of a Gaussian vector.
        Otherwise, the likelihood is that of the Gaussian vector itself.
    template : "noise_free" or int, default="noise_free"
        Template of a candidate: the encoding without noise, or the mean of K encodings with noise.
    n_releases : int, default=1
        Number r of releases of each sentence.
    casing : bool, default=False
        Whether the attacker excludes candidates by their casing classes, which are released without noise.
    measure : {"top1", "top5", "pairwise"}, default="top1"
        Measure of the result. The details contain the other two measures, and `attack_all` returns all three.
    n_candidates : int, default=100
        Largest number of candidates, the original included.
    n_sentences : int or None, default=500
        Largest number of sentences to look up. More sentences are sampled at random.
    controls : bool, default=True
        Whether to run the positive and the negative control.
    min_positive_control : float, default=0.90
        Smallest valid value of the positive control, which attacks word vectors with a little noise. If candidates have
        equal vectors, no attack can distinguish them, and the largest possible value is lower than 1.
    confidence : float in (0, 1), default=0.95
        Confidence level of the intervals.
    random_state : int, Generator, RandomState or None, default=None
        Random seed of the candidates and of the noise.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sklearn_deid.audit.attacks import LookupAttack, LookupKnowledge, PairRelease, RawVectors
    >>> from sklearn_deid.representations import PairData
    >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
    ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
    >>> attack = LookupAttack(random_state=0).fit(LookupKnowledge(RawVectors(4)))
    >>> result = attack.attack(PairRelease(data))
    >>> result.attack.value, result.baseline.value, result.status
    (1.0, 0.5, 'ok')
    """

    key = "lookup"
    family = "lookup"
    title = "Lookup"
    order = 20
    releases = (REPRESENTATION,)
    presets = (
        AttackPreset("lookup", "Lookup among sentences that differ by one token", 9.0, 7.0, quick=True),
        AttackPreset("lookup_releases", "The same, with several releases", 9.0, 20.0, repeated=True, quick=True),
        AttackPreset(
            "lookup_averaged",
            "The same, with averaged templates",
            2.0,
            46.0,
            {"score": "cosine", "template": 10, "min_positive_control": _AVERAGED_BAR},
        ),
        AttackPreset(
            "lookup_unrelated", "Lookup among unrelated sentences", 4.0, 4.0, {"candidates": "unrelated"}, quick=True
        ),
        AttackPreset(
            "lookup_casing", "The same, with the casing", 3.0, 4.0, {"candidates": "unrelated", "casing": True}
        ),
    )

    def __init__(
        self,
        *,
        candidates: str = "one_token",
        score: str = "likelihood",
        template: str | int = "noise_free",
        n_releases: int = 1,
        casing: bool = False,
        measure: str = "top1",
        n_candidates: int = 100,
        n_sentences: int | None = 500,
        controls: bool = True,
        min_positive_control: float = 0.90,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        if candidates not in ("one_token", "unrelated") or score not in ("likelihood", "cosine"):
            raise ValueError(f"'candidates' must be one_token or unrelated, 'score' likelihood or cosine. Got {score}.")
        if measure not in MEASURES:
            raise ValueError(f"The 'measure' parameter must be top1, top5 or pairwise. Got {measure!r}.")
        if template != "noise_free" and not (isinstance(template, int) and template >= 1):
            raise ValueError(f"The 'template' parameter must be noise_free or a positive int. Got {template!r}.")
        if n_candidates < 2 or n_releases < 1:
            raise ValueError("There must be at least 2 candidates and 1 release.")
        self.candidates, self.score, self.template, self.n_releases = candidates, score, template, n_releases
        self.casing, self.measure_name, self.n_candidates = casing, measure, n_candidates
        self.n_sentences, self.controls, self.min_positive_control = n_sentences, controls, min_positive_control
        self.confidence, self.random_state = confidence, random_state

    @property
    def measure(self) -> str:
        """Meaning of the numbers."""
        return MEASURES[self.measure_name]

    @property
    def name(self) -> str:
        """Name of the attack: candidates, score, template and number of releases."""
        kind = "sentences that differ by one token" if self.candidates == "one_token" else "unrelated sentences"
        free = "noise-free template" if self.template == "noise_free" else f"template of {self.template} encodings"
        times = "1 release" if self.n_releases == 1 else f"{self.n_releases} releases"
        return f"lookup among {kind} by {self.score}, {free}, {times}{', with casing' if self.casing else ''}"

    @property
    def attacker(self) -> str:
        """Description of the attackers and their knowledge."""
        times = "one release" if self.n_releases == 1 else f"{self.n_releases} releases"
        return (
            f"A recipient who holds the published representer, {times} of a sentence{' with its casing' * self.casing} "
            "and a list of candidate sentences. They choose one candidate."
        )

    @property
    def phrase(self) -> str:
        """Action of the attacker, with a gap for the proportion of successful attempts."""
        return self._phrase_of(self.measure_name)

    @property
    def declared(self) -> dict[str, Any]:
        """Declarations of the attack. Each kind of candidates has a separate key, and therefore a separate verdict."""
        return super().declared | {"key": "lookup" if self.candidates == "one_token" else "lookup_unrelated"}

    def requires(self, release: Any) -> str | None:
        """Return why the attack cannot run: the casing is needed and is not released."""
        return "The casing is not released." if self.casing and not release.has_casing else None

    def run(self, release: Any) -> list[AttackResult]:
        """Return the result among all candidates and, for "one_token", the pairwise result of the same run."""
        found = self.fit(LookupKnowledge(release.network, device=release.device)).attack_all(release.pair_release)
        asked = found[self.measure_name]
        if self.candidates != "one_token" or self.measure_name == "pairwise":
            return [asked]
        # Both results come from one run, whose duration is reported with the first result.
        return [asked, replace(found["pairwise"], seconds=0.0)]

    def attack(self, released: PairRelease) -> AttackResult:
        """Look up the sentences of a release.

        Raises
        ------
        ValueError
            If `fit` was not called, or no sentence has candidates.
        """
        return self.attack_all(released)[self.measure_name]

    @timed
    def attack_all(self, released: PairRelease) -> dict[str, AttackResult]:
        """Return the results for "top1", "top5" and "pairwise" of one run."""
        if self._knowledge is None:
            raise ValueError("Call 'fit' first.")
        own = self._knowledge.representer
        if not self.controls:
            (found,) = self._run(released, own)
            return {measure: self._result(measure, found) for measure in MEASURES}
        raw = slightly_noisy(released.data.table.to(self._knowledge.device))
        blind = BlindRepresenter(own.input_noise.size, own.output_noise.size, own.unit_norm)
        found, negative = self._run(released, own, blind.to(self._knowledge.device))
        (positive,) = self._run(released, raw, casing=False)
        return {
            measure: self._result(
                measure,
                found,
                positive_control=positive.estimate(measure, self.confidence),
                min_positive_control=self.min_positive_control,
                negative_control=negative.estimate(measure, CONTROL_CONFIDENCE),
                chance=negative.guessed(measure),
            )
            for measure in MEASURES
        }

    def _result(self, measure: str, found: LookupRanks, **controls: Any) -> AttackResult:
        estimates = {name: found.estimate(name, self.confidence) for name in MEASURES}
        details: dict[str, Any] = {"mean_candidates": found.mean_candidates}
        details |= {name: {"value": e.value, "low": e.low, "high": e.high} for name, e in estimates.items()}
        if self.casing:
            details["mean_candidates_of_that_casing"] = found.mean_compatible
        return self.result(
            estimates[measure],
            found.guessed(measure),
            **controls,
            phrase=self._phrase_of(measure),
            settings=self._settings(measure),
            details=details,
            measure=MEASURES[measure],
        )

    def _phrase_of(self, measure: str) -> str:
        other = "names" if self.candidates == "one_token" else "sentences"
        listed = f"An attacker holding the published representer and a list of candidate {other}"
        return {
            "top1": f"{listed} picks the right candidate in {{}} of cases",
            "top5": f"{listed} has the right candidate among their first five in {{}} of cases",
            "pairwise": f"An attacker holding the published representer and two candidate {other} picks the right "
            "candidate in {} of cases",
        }[measure]

    def _settings(self, measure: str) -> dict[str, Any]:
        names = ("candidates", "score", "template", "n_releases", "casing", "n_candidates", "n_sentences")
        pairwise = measure == "pairwise" and self.candidates == "one_token"
        return {k: getattr(self, k) for k in names} | {"measure": measure, "pairwise": pairwise}

    @torch.no_grad()
    def _run(
        self, released: PairRelease, own: Representer, *blind: Representer, casing: bool = True
    ) -> list[LookupRanks]:
        """Ranks of the originals in the release of ``own`` and in the releases of blind representers, with the same
        templates.

        A blind representer is the negative control, whose true candidate is drawn at random. Otherwise the original
        could score higher than its variants even if the release contained no information.
        """
        rng, generator = random_streams(self.random_state, self._knowledge.device)
        table = released.data.table.to(self._knowledge.device)
        # A control has its own random streams, from a copy of the generator, so that the control changes nothing for
        # the attack. A generator with a key cannot spawn other generators.
        seeds = copy.deepcopy(rng).integers(2**62, size=len(blind)).tolist()
        streams = [(rng, generator), *(random_streams(seed, table.device) for seed in seeds)]
        arms = [(one, LookupRanks(released.groups), *two) for one, two in zip((own, *blind), streams, strict=True)]
        for some in self._sets(released.data, rng):
            # shape: (C, time, e)
            x = torch.nn.functional.embedding(torch.as_tensor(some.words, device=table.device), table)
            template = self._template(own, x, generator)
            for one, ranks, stream, noise in arms:
                truth = some.truth if one is own else int(stream.integers(len(some.words)))
                other = int((truth + stream.integers(1, len(some.words))) % len(some.words))
                scores = [self._scores(own, one, x[i], template, noise) for i in (truth, other)]
                if self.casing and casing and one is own and some.casing is not None:
                    fits = [(some.casing == some.casing[i]).all(axis=1) for i in (truth, other)]
                    scores = [np.where(fit, score, -np.inf) for fit, score in zip(fits, scores, strict=True)]
                # shape: (2, C), for the release of the original and of another candidate
                ranks.add(some.row, (truth, other), np.stack(scores))
        return [ranks for _, ranks, *_ in arms]

    def _sets(self, data: PairData, rng: np.random.Generator) -> Iterator[CandidateSet]:
        """Yield the candidates of the sampled sentences."""
        rows = np.flatnonzero(np.diff(data.offsets) > 0)
        if self.candidates == "one_token":
            able = np.searchsorted(data.offsets, data.eligible, side="right") - 1
            rows = np.unique(able)
        keep = rng.permutation(rows)[: self.n_sentences] if self.n_sentences is not None else rows
        if self.candidates == "one_token":
            yield from one_token_candidates(data, self.n_candidates, rng, np.sort(keep))
        else:
            wanted = set(keep.tolist())
            yield from (c for c in unrelated_candidates(data, self.n_candidates, rng) if c.row in wanted)

    def _template(self, own: Representer, x: Tensor, generator: torch.Generator) -> Tensor:
        """Template of each candidate, shape (C, time, d)."""
        mask = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        # The likelihood needs the mean before the scaling to length 1. The cosine needs the released form.
        encode = own.mean if self.score == "likelihood" else own
        if self.template == "noise_free":
            return encode(x, mask, noise=False)
        total = sum(encode(x, mask, generator=generator).double() for _ in range(int(self.template)))
        return torch.as_tensor(total) / int(self.template)

    def _scores(
        self, own: Representer, releasing: Representer, x: Tensor, template: Tensor, generator: torch.Generator
    ) -> np.ndarray:
        """Score of each candidate, from r releases of the sentence with the word vectors x, shape (time, e)."""
        # shape: (r, time, e)
        several = x.expand(self.n_releases, *x.shape)
        mask = torch.ones(several.shape[:2], dtype=torch.bool, device=x.device)
        seen = releasing(several, mask, generator=generator)
        return candidate_scores(self.score, own, seen, template)


MEASURES = {
    "top1": "share of sentences whose original is ranked first among the candidates",
    "top5": "share of sentences whose original is among the first five candidates",
    "pairwise": "share of right choices between two candidates, one of which was released",
}


class LookupRanks(CandidateRanks):
    """Ranks of the released candidates, and comparisons with one other candidate."""

    def __init__(self, groups: np.ndarray | None) -> None:
        super().__init__(groups)
        self._possible: list[int] = []
        self._pairwise: list[float] = []

    def add(self, row: int, truths: tuple[int, int], scores: np.ndarray) -> None:
        """Add a sentence. The scores have shape (2, C): first for a release of the original, then for a release of
        another candidate."""
        truth, other = truths
        n_better, n_tied = self.rank(row, truth, scores[0])
        # Pairwise, release of the original: expected proportion of the other candidates with a lower score.
        beaten = (scores.shape[1] - n_better - n_tied + (n_tied - 1) / 2) / (scores.shape[1] - 1)
        # Pairwise, release of the other candidate: 1 if the other candidate scores higher than the original.
        back = float(np.sign(scores[1, other] - scores[1, truth]))
        self._pairwise.append((beaten + (1.0 + back) / 2) / 2)
        self._possible.append(int(np.isfinite(scores[0]).sum()))

    def estimate(self, name: str, confidence: float) -> Estimate:
        """Success by a measure, with an interval over patients."""
        return self.share(confidence, self._pairwise if name == "pairwise" else self.hits(TOP[name]))

    def guessed(self, name: str) -> float:
        """Expected success of a random guess among the candidates."""
        return 0.5 if name == "pairwise" else self.chance(TOP[name])

    @property
    def mean_compatible(self) -> float:
        """Mean number of candidates that the casing does not exclude."""
        return float(np.mean(self._possible))


# Smallest standard deviation, relative to a template's size. Smaller noise changes nothing, and a division by this
# noise would overflow.
_SMALLEST = 1e-6


def log_likelihood_of_vectors(released: Tensor, mu: Tensor, std: Tensor) -> Tensor:
    """Log-likelihood of the releases for each candidate, up to a constant, shape (C,).

    Parameters
    ----------
    released : Tensor of shape (r, time, d)
        r releases of one sentence, not scaled to length 1.
    mu : Tensor of shape (C, time, d)
        Mean of each candidate.
    std : Tensor of shape (d,)
        Standard deviations of the noise.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.audit.attacks.lookup import log_likelihood_of_vectors
    >>> log_likelihood_of_vectors(torch.zeros(2, 1, 1), torch.tensor([[[0.0]], [[3.0]]]), torch.tensor([1.0])).tolist()
    [0.0, -9.0]
    """
    s = _usable(std, mu)
    # Only the mean of the releases matters: the remaining sum of squares is equal for all candidates.
    centre = released.double().mean(0)
    return -0.5 * len(released) * ((centre - mu.double()) / s).square().sum((1, 2)) + 0.0


def log_likelihood_of_directions(released: Tensor, mu: Tensor, std: Tensor) -> Tensor:
    """Log-likelihood of releases that were scaled to length 1 (projected normal distribution), shape (C,).

    The scaling removed the length x, so that the density integrates over x. Let ``A = diag(1/std^2)``, ``a = u'Au`` and
    ``b = u'A mu``. The density of the direction u is proportional to ``exp((b^2/a - mu'A mu)/2)`` times the integral of
    ``x^(d-1) exp(-(x - b/sqrt(a))^2 / 2)`` over x > 0.

    Parameters
    ----------
    released : Tensor of shape (r, time, d)
        Unit vectors.
    mu : Tensor of shape (C, time, d)
        Means before the scaling.
    std : Tensor of shape (d,)
        Standard deviations of the noise before the scaling.

    References
    ----------
    Wang & Gelfand (2013), Directional data analysis under the general projected normal distribution.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.audit.attacks.lookup import log_likelihood_of_directions
    >>> u, mu = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[1.0, 0.0]], [[-1.0, 0.0]]])
    >>> (log_likelihood_of_directions(u, mu, torch.ones(2)).diff() < 0).item()
    True
    """
    s = _usable(std, mu)
    d = released.shape[2]
    scaled_mu, u = mu.double() / s, released.double() / s
    root_a = u.norm(dim=2).clamp_min(1e-300)
    # In the notation of the docstring: t = b / sqrt(a).
    # shape: (r, C, time)
    t = torch.einsum("rtd,ctd->rct", u, scaled_mu) / root_a.unsqueeze(1)
    exponent = 0.5 * (t.square() - scaled_mu.square().sum(2))
    return (exponent + _log_length_integral(t, d - 1)).sum((0, 2))


def candidate_scores(score: str, own: Representer, released: Tensor, template: Tensor) -> np.ndarray:
    """Return the score of each candidate, shape (C,): "likelihood" under the noise of ``own``, or "cosine"."""
    if score == "cosine":
        return cosine_score(released, template).cpu().numpy()
    likelihood = log_likelihood_of_directions if own.unit_norm else log_likelihood_of_vectors
    return likelihood(released, template, own.output_std()).cpu().numpy()


def cosine_score(released: Tensor, template: Tensor) -> Tensor:
    """Mean cosine over the tokens, between the mean of the releases and each template, shape (C,).

    Parameters
    ----------
    released : Tensor of shape (r, time, d)
        r releases of one sentence.
    template : Tensor of shape (C, time, d)
        Template of each candidate.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.audit.attacks.lookup import cosine_score
    >>> cosine_score(torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[2.0, 0.0]], [[0.0, 1.0]]])).tolist()
    [1.0, 0.0]
    """
    return F.cosine_similarity(released.double().mean(0, keepdim=True), template.double(), dim=2).mean(1)


def _log_length_integral(t: Tensor, power: int) -> Tensor:
    """Logarithm of the integral of ``x^power exp(-(x - t)^2 / 2)`` over x > 0, by the trapezoidal rule in log x."""
    k = power + 1
    root = (t.square() + 4.0 * k).sqrt()
    # The integrand over log x is largest at the larger root of x(x - t) = k. Both branches avoid cancellation.
    peak = torch.where(t > 0, 0.5 * (t + root), 2.0 * k / (root - t).clamp_min(1e-300))
    # The curvature of the log integrand over log x at the peak is x(2x - t); its inverse root is the width.
    width = (peak * (2.0 * peak - t)).rsqrt()
    # Twice as many points change no logarithm by more than 1e-6 from three dimensions on.
    z = torch.linspace(-10.0, 8.0, 28, dtype=t.dtype, device=t.device)
    # shape: (r, C, time, n_points)
    log_x = peak.log().unsqueeze(-1) + width.unsqueeze(-1) * z
    values = k * log_x - 0.5 * (log_x.exp() - t.unsqueeze(-1)).square()
    return values.logsumexp(-1) + width.log() + (z[1] - z[0]).log()


def _usable(std: Tensor, mu: Tensor) -> Tensor:
    """Standard deviations, raised to a lower limit so that the likelihood stays finite."""
    largest = mu.double().abs().max() if mu.numel() else mu.new_zeros((), dtype=torch.float64)
    return std.double().clamp_min(float(largest) * _SMALLEST + 1e-12)
