"""Training against adversaries in one step with gradient reversal: the comparison that is expected to fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from .adversarial_run import AdversarialRun
from .adversarial_settings import ThreePartResult, ThreePartSettings
from .adversary_steps import CLIP_NORM, AdversaryOptimizer, RunningMeans
from .noise_metrics import noise_figures
from .pair_batches import PairBatch, PairBatches
from .private_model import PrivateModel, TrainingLog, noise_aware_groups
from .reversal import reverse_gradient

__all__ = ["train_dann"]


class _Reversal(AdversarialRun):
    """Rounds of one epoch, in which everything learns from the sum of the losses."""

    def start_rounds(self) -> None:
        self.restart_noise()
        self.modelling = torch.optim.NAdam(noise_aware_groups(self.model, self.settings.lr, self.noise_lr))
        self.judging = AdversaryOptimizer(self.adversaries, self.settings.lr)

    def play_round(self, number: int) -> None:
        means = RunningMeans()
        for batch in self.balanced_batches():
            self.learn(batch, means)
        numbers = means.compute() | noise_figures(self.representer, self.train) | self.score(number)
        self.log.record("DANN", **numbers)

    def learn(self, batch: PairBatch, means: RunningMeans) -> None:
        """One step; the representer gets the adversaries' gradient times -lambda."""
        r = self.representer(batch.embeddings, batch.mask, generator=self.generator)
        loss = self.model.deid_loss(r, batch)
        means.add(len(batch.mask), deid_loss=loss)
        if batch.n_pairs:
            pairs = self.adversaries.draw(self.representer, batch, self.generator)
            factor = self.settings.adversary_weight
            turned = {k: reverse_gradient(getattr(pairs, k), factor) for k in ("first", "second")}
            judgement = self.adversaries(replace(pairs, **turned))
            means.add_judgement(judgement)
            loss = loss + self.judging.learning_loss(judgement)
        self.modelling.zero_grad()
        self.judging.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP_NORM)
        self.modelling.step()
        if batch.n_pairs:
            self.judging.apply()


def train_dann(
    model: PrivateModel,
    train: PairBatches,
    valid: PairBatches | None,
    *,
    settings: ThreePartSettings | None = None,
    rng: np.random.Generator,
    generator: torch.Generator,
    log: TrainingLog | None = None,
) -> ThreePartResult:
    """As `train_three_part`, with one step of gradient reversal in place of the alternation of P3.

    Each batch makes one step on ``l_deid + l_adv``, where the gradient of l_adv reaches the representer times
    ``-lambda``. An adversary that is beaten has no time to adapt, so the representation looks private for as long as
    nobody trains another adversary on it: in the paper one that went on for 20 epochs was right in over 80 % of pairs.

    Parameters
    ----------
    model, train, valid, rng, generator
        See `train_three_part`.
    settings : ThreePartSettings, optional
        P1, P2 and the choice of a round are those of `train_three_part`; a round is one epoch. ``order`` is not used,
        and ``deviation`` in the choice only.
    log : TrainingLog, optional
        Gets rows "P1", "P2", "control", "DANN", and "probe" where one was made.

    Returns
    -------
    ThreePartResult

    Notes
    -----
    The paper trains all parts together from the start. Here P1 and P2 come first, since without them there is no
    positive control; ``n_epochs_tagger=0, n_epochs_adversary=0`` leaves them out, and the control then fails.

    References
    ----------
    Friedrich et al. (2019), sections 5.4 and 7.3; Ganin et al. (2016), Domain-adversarial training of neural networks.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np, torch
    >>> from sklearn_deid.representations import Representer
    >>> from sklearn_deid.tagging import BidirectionalRecurrent, TaggerModule
    >>> from sklearn_deid.representations import PairBatches, PairData, PrivateModel, ThreePartSettings, train_dann
    >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
    ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
    >>> model = PrivateModel(Representer(4, 3), TaggerModule(2, None, BidirectionalRecurrent(3, 4)))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # two sentences teach no adversary
    ...     result = train_dann(model, PairBatches(data), PairBatches(data), settings=ThreePartSettings(1, 1, 2),
    ...                         rng=np.random.default_rng(0), generator=torch.Generator().manual_seed(0))
    >>> result.n_rounds
    2
    """
    settings, log = settings or ThreePartSettings(), log or TrainingLog()
    return _Reversal(model, train, valid, settings, rng, generator, log).run()
