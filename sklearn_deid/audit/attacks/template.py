"""Template: compare the released vectors with the noise-free encoding of each candidate sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ...representations.network import Representer
from ..audit_data import random_streams
from ..protocol import CONTROL_CONFIDENCE, AttackResult
from ..released_step import REPRESENTATION
from .candidates import CandidateRanks, CandidateSet, one_token_candidates
from .control_representers import BlindRepresenter, slightly_noisy
from .declaration import AttackPreset, check_least, timed
from .lookup import LookupKnowledge, candidate_scores
from .pairs import PairRelease
from .untrained import UntrainedAttack

SCORES = ("likelihood", "cosine")
_POSITIVE_BAR = 0.9


class TemplateAttack(UntrainedAttack):
    """Find the released sentence among sentences that differ by one PHI token, from the released vectors.

    `LookupAttack` makes its own release of each sentence with the noise of the network, and measures the mechanism.
    `TemplateAttack` reads the vectors that the public ``transform`` returned, or the vectors of a saved folder. The
    attacker encodes each candidate with the published network, without noise, and ranks the candidates by two scores.
    Each score has a separate result, and the more successful score determines the score of an audit. The Gaussian
    likelihood is the best score if the noise has its stated standard deviations. The cosine needs no standard
    deviations. If the noise is smaller than stated, the likelihood may fail, but the cosine still finds the sentence.
    ``fit`` takes a `LookupKnowledge`; the attack trains nothing.

    Parameters
    ----------
    n_candidates : int, default=100
        Largest number of candidates, the original included.
    n_sentences : int or None, default=500
        Largest number of sentences. More sentences are sampled at random.
    confidence : float in (0, 1), default=0.95
        Confidence level of the intervals.
    random_state : int, Generator, RandomState or None, default=None
        Random seed of the candidates and of the controls.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from sklearn_deid.audit.attacks import LookupKnowledge, PairRelease, RawVectors, TemplateAttack
    >>> from sklearn_deid.representations import PairData
    >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
    ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
    >>> attack = TemplateAttack(random_state=0).fit(LookupKnowledge(RawVectors(4)))
    >>> results = attack.attack_all(PairRelease(data, vectors=np.eye(4)[[0, 1, 2]]))
    >>> [(name, found.attack.value, found.baseline.value) for name, found in results.items()]
    [('likelihood', 1.0, 0.5), ('cosine', 1.0, 0.5)]
    """

    key = "template"
    family = "template"
    title = "Template"
    order = 15
    releases = (REPRESENTATION,)
    presets = (AttackPreset("template", "Noise-free templates against the vectors that left", 9.0, 7.0, quick=True),)
    phrase = (
        "An attacker holding the published network and a list of candidate names picks the right name from the vectors "
        "that left in {} of cases"
    )
    name = "template, vectors that left"
    attacker = (
        "A recipient of the vectors who holds the published representer and knows the sentence except for one word of "
        "PHI, for which they have a list of candidates."
    )
    measure = "share of sentences whose original is ranked first among the candidates"

    def __init__(
        self,
        *,
        n_candidates: int = 100,
        n_sentences: int | None = 500,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        check_least(2, n_candidates=n_candidates)
        self.n_candidates, self.n_sentences = n_candidates, n_sentences
        self.confidence, self.random_state = confidence, random_state

    def run(self, release: Any) -> list[AttackResult]:
        """Attack the measured sentences; one result for each score."""
        known = LookupKnowledge(release.network, device=release.device)
        found = self.fit(known).attack_all(replace(release.pair_release, vectors=release.vectors("test")))
        # Both results come from one run, whose duration is reported with the first result.
        return [found[SCORES[0]], replace(found[SCORES[1]], seconds=0.0)]

    def attack(self, released: PairRelease) -> AttackResult:
        """Return the result of the score that finds more originals."""
        return max(self.attack_all(released).values(), key=lambda found: found.advantage_interval)

    @timed
    def attack_all(self, released: PairRelease) -> dict[str, AttackResult]:
        """Rank the candidates of each sentence, and return the result of each score.

        Parameters
        ----------
        released : PairRelease
            Sentences with the released vectors.

        Raises
        ------
        ValueError
            If no sentence has candidates, or the vectors are missing.
        """
        if released.vectors is None:
            raise ValueError("The 'vectors' of the release are needed: those that left.")
        own, device = self._knowledge.representer, self._knowledge.device
        raw = slightly_noisy(released.data.table.to(device))
        blind = BlindRepresenter(own.input_noise.size, own.output_noise.size, own.unit_norm).to(device)
        found, open_ranks, blind_ranks = (
            self._ranked(released, own, None),
            self._ranked(released, raw, raw),
            self._ranked(released, own, blind, at_random=True),
        )
        return {
            score: self.result(
                found[score].share(self.confidence),
                found[score].chance(),
                open_ranks[score].share(self.confidence),
                _POSITIVE_BAR,
                blind_ranks[score].share(CONTROL_CONFIDENCE),
                blind_ranks[score].chance(),
                settings={"score": score, "n_candidates": self.n_candidates, "measure": "top1"},
                details={
                    "mean_candidates": found[score].mean_candidates,
                    "top5": float(np.mean(found[score].hits(5))),
                },
                name=f"template by {score}, vectors that left",
            )
            for score in SCORES
        }

    def _ranked(
        self, released: PairRelease, own: Representer, releasing: Representer | None, at_random: bool = False
    ) -> dict[str, CandidateRanks]:
        """Rank the candidates of all sentences by each score; parameters as in `scored`."""
        ranked = {score: CandidateRanks(released.groups) for score in SCORES}
        for some, scores in self.scored(released, own, releasing, at_random):
            for score, own_scores in zip(SCORES, scores, strict=True):
                ranked[score].rank(some.row, some.truth, own_scores)
        return ranked

    @torch.no_grad()
    def scored(
        self, released: PairRelease, own: Representer, releasing: Representer | None, at_random: bool = False
    ) -> Iterator[tuple[CandidateSet, np.ndarray]]:
        """Yield the candidates of each sentence with their scores, shape (2, C), in the order of ``SCORES``.

        Parameters
        ----------
        released : PairRelease
            Sentences with the released vectors.
        own : Representer
            Network that computes the templates.
        releasing : Representer or None
            Network that releases the true candidate in a control. If None, the attack uses the released vectors.
        at_random : bool, default=False
            Whether the true candidate is drawn at random, for a negative control. Otherwise the original could score
            higher than its variants even if the release contained no information.
        """
        device = self._knowledge.device
        rng, generator = random_streams(self.random_state, device)
        table, offsets = released.data.table.to(device), released.data.offsets
        # Sentences with a token that has alternatives.
        able = np.unique(np.searchsorted(offsets, released.data.eligible, side="right") - 1)
        part = np.sort(rng.permutation(able)[: self.n_sentences])
        for some in one_token_candidates(released.data, self.n_candidates, rng, part):
            # shape: (C, time, e)
            x = torch.nn.functional.embedding(torch.as_tensor(some.words, device=table.device), table)
            mask = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
            truth = int(rng.integers(len(x))) if at_random else some.truth
            if releasing is None:
                assert released.vectors is not None
                # shape: (1, time, d)
                seen = torch.as_tensor(released.vectors[offsets[some.row] : offsets[some.row + 1]], device=x.device)[
                    None
                ]
            else:
                seen = releasing(x[truth : truth + 1], mask[:1], generator=generator)
            # The mean before the scaling to length 1 has the same cosines as the scaled vector.
            mean = own.mean(x, mask, noise=False)
            scores = np.stack([candidate_scores(score, own, seen, mean) for score in SCORES])
            yield replace(some, truth=truth), scores
