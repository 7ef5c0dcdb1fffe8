"""Training against adversaries: the three-part training of the paper, and gradient reversal, which is expected to fail.

The three parts train the tagger, the adversary, and the representer against the adversary. Gradient reversal (DANN)
trains representer and adversary in the same step: the representer receives the gradient of the adversary with reversed
sign.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .adversarial_run import AdversarialRun, ThreePartResult, ThreePartSettings
from .adversary_training import CLIP_NORM, AdversaryOptimizer, RunningMeans, chance_deviation, frozen, step
from .pair_batches import PairBatch, PairBatches
from .private_model import PrivateModel, TrainingLog, noise_aware_groups, noise_figures


class _Alternation(AdversarialRun):
    """P3: the representer learns to mislead the adversaries (b), then tagger and adversaries adapt to the representer
    (a)."""

    def start_rounds(self) -> None:
        self.restart_noise()
        lr, own = self.settings.lr, {id(p) for p in self.representer.parameters()}
        groups = noise_aware_groups(self.model, lr, self.noise_lr)
        # P3b must change the representer alone, so its optimizer has only the representer's weights of each group.
        self.fooling = torch.optim.NAdam(
            [{**group, "params": [p for p in group["params"] if id(p) in own]} for group in groups]
        )
        self.tagging = torch.optim.NAdam(self.tagger.parameters(), lr=lr)
        self.judging = AdversaryOptimizer(self.adversaries, lr)
        # Right after P3b, the adversaries have not adapted to the new representer. The "robust" rule measures after
        # P3a, when they have caught up.
        self.scored = "P3b" if self.settings.stopping == "paper" else "P3a"

    def play_round(self, number: int) -> None:
        for phase in ("P3b", "P3a"):
            numbers = self.fool() if phase == "P3b" else self.catch_up()
            if phase == self.scored:
                numbers |= self.score(number)
            self.log.record(phase, **numbers)

    def fool(self) -> dict[str, float]:
        """P3b: train the representer for one epoch; tagger and adversaries are frozen."""
        means = RunningMeans()
        with frozen(self.tagger, self.adversaries):
            for batch in self.balanced_batches():
                step(self.fooling, self.fooling_loss(batch, means))
        return means.compute() | noise_figures(self.representer, self.train)

    def fooling_loss(self, batch: PairBatch, means: RunningMeans) -> Tensor:
        """Compute ``l_deid + lambda |l_adv - ln 2|``; the second term is the sum over the judges.

        The loss of a guess is ln 2, so the second term is smallest when the judges can only guess.
        """
        # shape: (batch, time, d)
        r = self.representer(batch.embeddings, batch.mask, generator=self.generator)
        deid = self.model.deid_loss(r, batch)
        means.add(len(batch.mask), deid_loss=deid)
        # A batch without PHI teaches the tagger alone.
        if not batch.n_pairs:
            return deid
        judgement = self.adversaries(self.adversaries.draw(self.representer, batch, self.generator))
        means.add_judgement(judgement)
        deviations = {judge: chance_deviation(judgement.cross_entropy(judge)) for judge in self.adversaries.judges}
        # Deviations are means over pairs, the loss of the tagger over sentences: they have weights of their own in the
        # epoch.
        means.add(len(judgement.real), **{f"{judge}_deviation": value for judge, value in deviations.items()})
        return deid + self.settings.adversary_weight * torch.stack(list(deviations.values())).sum()

    def catch_up(self) -> dict[str, float]:
        """P3a: train tagger and adversaries for one epoch; the representer is frozen."""
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
    """Train a representer from whose vectors a tagger can find PHI, but an adversary cannot recognise PHI words.

    P1 trains representer and tagger. P2 trains the adversaries on the frozen representer. P3 alternates between two
    steps. In P3b, the representer learns to keep the tagger's loss low and to keep the adversaries' loss at the loss of
    a guess. In P3a, tagger and adversaries adapt to the new representer.

    The result of the training is private only against the adversaries of this training, at best. Attack the result with
    a newly trained strong adversary (`train_probe`). With the paper's adversary, the training can look successful
    although a stronger adversary still succeeds.

    Parameters
    ----------
    model : PrivateModel
        Model that is trained in place and left in its best state. After KeyboardInterrupt, the model is also left in
        its best state, and the function returns normally.
    train, valid : PairBatches
        Sentences of different patients. Without ``valid``, no round is selected, no phase stops early, and no positive
        control is measured.
    settings : ThreePartSettings, optional
        Schedule and losses.
    rng : numpy.random.Generator
        Random stream for the order of sentences, the initial weights of the adversaries, and dropout.
    generator : torch.Generator
        Random stream for counterfactuals and noise, on the device of the batches.
    log : TrainingLog, optional
        Log that receives rows "P1", "P2", "control", "P3b", "P3a", and "probe" for each probe. Names of metrics on
        held-out patients start with ``"valid_"``. The exception is "combined_loss", by which the rule "paper" selects
        the round. All other metrics are means over the training batches of the epoch.

    Returns
    -------
    ThreePartResult

    Warns
    -----
    UnsafeToShareWarning
        If T2 is right in less than 90 % of the pairs at the end of P2, when nothing is hidden, or if there are no
        held-out patients to measure T2.

    Raises
    ------
    ValueError
        If there are no pairs in train or valid.

    Notes
    -----
    As in the authors' code, P3b comes before P3a, and the deviation from chance is computed for each pair. The paper's
    text can be read differently, and `ThreePartSettings` offers the other readings. Two details differ from the
    authors' code. First, rounds are selected on held-out patients, not on training data. Second, tagger and adversaries
    have separate optimizers in P3a.

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


class _ReversedGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        return x.view_as(x)  # a new tensor: the same tensor would keep its own place in the graph

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return -ctx.factor * gradients[0], None


def reverse_gradient(x: Tensor, factor: float = 1.0) -> Tensor:
    """Return x unchanged, and send the gradient back multiplied by ``-factor``.

    Place this function between a representation and its adversary. A single step on the sum of the losses then trains
    the adversary to distinguish the pairs, and the representer to make the pairs indistinguishable.

    Parameters
    ----------
    x : Tensor
        Input of the adversary.
    factor : float, default=1.0
        Weight of the adversary's gradient in the layers below, not negative; 0 cuts the gradient.

    Raises
    ------
    ValueError
        If the factor is negative: the gradient would then not be reversed.

    References
    ----------
    Ganin et al. (2016), Domain-adversarial training of neural networks, section 4.

    Examples
    --------
    >>> import torch
    >>> from sklearn_deid.representations import reverse_gradient
    >>> x = torch.ones(2, requires_grad=True)
    >>> reverse_gradient(3 * x, 0.5).sum().backward()
    >>> x.grad.tolist()
    [-1.5, -1.5]
    """
    if not factor >= 0.0:
        raise ValueError(f"The 'factor' parameter must be a number that is not negative. Got {factor!r}.")
    return _ReversedGradient.apply(x, factor)


class _Reversal(AdversarialRun):
    """Rounds of one epoch each, in which all networks learn from the sum of the losses."""

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
        """Train on a batch; the representer receives the adversaries' gradient times -lambda."""
        r = self.representer(batch.embeddings, batch.mask, generator=self.generator)
        loss = self.model.deid_loss(r, batch)
        means.add(len(batch.mask), deid_loss=loss)
        if batch.n_pairs:
            pairs = self.adversaries.draw(self.representer, batch, self.generator)
            factor = self.settings.adversary_weight
            # Only the representations send a gradient to the representer; the embeddings of T1 are not learned.
            turned = {k: reverse_gradient(getattr(pairs, k), factor) for k in ("first", "second")}
            judgement = self.adversaries(replace(pairs, **turned))
            means.add_judgement(judgement)
            # One backward pass for both: the judges descend their loss, and the reversed gradient lets the representer
            # ascend it.
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
    """Train like `train_three_part`, with gradient reversal in place of the alternating steps of P3.

    Each batch makes one step on ``l_deid + l_adv``. The gradient of l_adv reaches the representer multiplied by
    ``-lambda``. The adversary has no time to adapt to the representer, so the representation looks private until
    another adversary is trained on it. In the paper, an adversary that was trained for 20 more epochs was right in over
    80 % of pairs.

    Parameters
    ----------
    model, train, valid, rng, generator
        As for `train_three_part`.
    settings : ThreePartSettings, optional
        Schedule and losses. P1, P2 and the selection of a round are as in `train_three_part`. A round is one epoch.
        ``order`` is not used, and ``deviation`` is used for the selection only.
    log : TrainingLog, optional
        Log that receives rows "P1", "P2", "control", "DANN", and "probe" for each probe.

    Returns
    -------
    ThreePartResult

    Notes
    -----
    The paper trains all parts together from the start. In `train_dann`, P1 and P2 come first, since the positive
    control needs both phases. With ``n_epochs_tagger=0, n_epochs_adversary=0``, P1 and P2 are left out, and the control
    then fails.

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
