"""The three-part training of a private representation: tagger, adversary, then one against the other."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .adversarial_run import AdversarialRun
from .adversarial_settings import ThreePartResult, ThreePartSettings
from .adversary_steps import AdversaryOptimizer, RunningMeans, chance_deviation, frozen, step
from .noise_metrics import noise_figures
from .pair_batches import PairBatch, PairBatches
from .private_model import PrivateModel, TrainingLog, noise_aware_groups

__all__ = ["train_three_part"]


class _Alternation(AdversarialRun):
    """P3: the representer learns to fool the others (b), then the others catch up (a)."""

    def start_rounds(self) -> None:
        self.restart_noise()
        lr, own = self.settings.lr, {id(p) for p in self.representer.parameters()}
        groups = noise_aware_groups(self.model, lr, self.noise_lr)
        self.fooling = torch.optim.NAdam(
            [{**group, "params": [p for p in group["params"] if id(p) in own]} for group in groups]
        )
        self.tagging = torch.optim.NAdam(self.tagger.parameters(), lr=lr)
        self.judging = AdversaryOptimizer(self.adversaries, lr)
        # Right after P3b the adversary is stale; a rule that asks for robustness waits until it caught up.
        self.scored = "P3b" if self.settings.stopping == "paper" else "P3a"

    def play_round(self, number: int) -> None:
        for phase in self.settings.order:
            numbers = self.fool() if phase == "P3b" else self.catch_up()
            if phase == self.scored:
                numbers |= self.score(number)
            self.log.record(phase, **numbers)

    def fool(self) -> dict[str, float]:
        """P3b: one epoch of the representer; tagger and adversaries are frozen."""
        means = RunningMeans()
        with frozen(self.tagger, self.adversaries):
            for batch in self.balanced_batches():
                step(self.fooling, self.fooling_loss(batch, means))
        return means.compute() | noise_figures(self.representer, self.train)

    def fooling_loss(self, batch: PairBatch, means: RunningMeans) -> Tensor:
        """``l_deid + lambda |l_adv - ln 2|``, the latter of each judge by itself."""
        r = self.representer(batch.embeddings, batch.mask, generator=self.generator)
        deid = self.model.deid_loss(r, batch)
        means.add(len(batch.mask), deid_loss=deid)
        if not batch.n_pairs:
            return deid
        judgement = self.adversaries(self.adversaries.draw(self.representer, batch, self.generator))
        means.add_judgement(judgement)
        deviations = {
            judge: chance_deviation(judgement.cross_entropy(judge), self.settings.deviation)
            for judge in self.adversaries.judges
        }
        means.add(len(judgement.real), **{f"{judge}_deviation": value for judge, value in deviations.items()})
        return deid + self.settings.adversary_weight * torch.stack(list(deviations.values())).sum()

    def catch_up(self) -> dict[str, float]:
        """P3a: one epoch of tagger and adversaries; the representer is frozen."""
        means = RunningMeans()
        with frozen(self.representer):
            for batch in self.balanced_batches():
                r = self.representer(batch.embeddings, batch.mask, generator=self.generator)
                loss = self.model.deid_loss(r, batch)
                step(self.tagging, loss)
                means.add(len(batch.mask), deid_loss=loss)
                if batch.n_pairs:
                    pairs = self.adversaries.draw(self.representer, batch, self.generator)
                    means.add_judgement(self.judging.learn(pairs))
        return means.compute()


def train_three_part(
    model: PrivateModel,
    train: PairBatches,
    valid: PairBatches | None,
    *,
    settings: ThreePartSettings | None = None,
    rng: np.random.Generator,
    generator: torch.Generator,
    log: TrainingLog | None = None,
) -> ThreePartResult:
    """Train a representer so that a tagger can read it and an adversary cannot.

    P1 trains representer and tagger; P2 the adversaries on the frozen representer; P3 alternates between the
    representer, which keeps the tagger's loss low and the adversaries' at that of a guess, and the others, which adapt.

    What comes out is private against these adversaries at best. Attack it with a fresh strong one (`train_probe`): with
    the paper's adversary, training looks finished while a stronger one reads the representation.

    Parameters
    ----------
    model : PrivateModel
        Trained in place, left in its best state, also by KeyboardInterrupt, after which this returns normally.
    train, valid : PairBatches
        Of different patients. Without ``valid`` nothing is chosen, nothing stops early, and there is no control.
    settings : ThreePartSettings, optional
    rng : numpy.random.Generator
        Order of sentences, first weights of adversaries, dropout.
    generator : torch.Generator
        Twins and noise; on the device of the batches.
    log : TrainingLog, optional
        Gets rows "P1", "P2", "control", "P3b", "P3a", and "probe" where one was made. Numbers of held-out patients
        start with ``"valid_"``, except "combined_loss", by which "paper" chooses; the others are of the epoch itself,
        while it was learned.

    Returns
    -------
    ThreePartResult

    Warns
    -----
    UnsafeToShareWarning
        If T2 is right in less than 90 % of pairs at the end of P2, where nothing is hidden, or there are no held-out
        patients to measure it.

    Raises
    ------
    ValueError
        If there are no pairs in train or valid.

    Notes
    -----
    As in the authors' code, P3b comes before P3a and the deviation is taken per pair; the text can be read otherwise,
    and `ThreePartSettings` has both. Unlike that code, which chose the round on training data, rounds are chosen on
    held-out patients, and in P3a tagger and adversaries have an optimizer each.

    References
    ----------
    Friedrich et al. (2019), section 5.4.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np, torch
    >>> from sklearn_deid.representations import Representer
    >>> from sklearn_deid.tagging import BidirectionalRecurrent, TaggerModule
    >>> from sklearn_deid.representations import (
    ...     PairBatches,
    ...     PairData,
    ...     PrivateModel,
    ...     ThreePartSettings,
    ...     train_three_part,
    ... )
    >>> data = PairData(torch.eye(4), np.array([0, 1, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]),
    ...                 eligible=np.array([2]), alternatives=np.array([[2, 3]]))
    >>> model = PrivateModel(Representer(4, 3), TaggerModule(2, None, BidirectionalRecurrent(3, 4)))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # two sentences teach no adversary
    ...     result = train_three_part(model, PairBatches(data), PairBatches(data),
    ...                               settings=ThreePartSettings(1, 1, 2), rng=np.random.default_rng(0),
    ...                               generator=torch.Generator().manual_seed(0))
    >>> result.n_rounds, result.interrupted
    (2, False)
    """
    settings, log = settings or ThreePartSettings(), log or TrainingLog()
    return _Alternation(model, train, valid, settings, rng, generator, log).run()
