"""Strategies of `PrivateRepresenter` for the training of private vectors, learned noise, and the release of the casing.

A strategy holds the parameters of one training, of one kind of noise, or of the casing. You pass a strategy to
`PrivateRepresenter` as ``training``, ``noise`` or ``casing``. A string means a strategy with its default parameters.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, NamedTuple
from warnings import warn

import numpy as np
import torch
from sklearn.base import BaseEstimator

from .._compat import Interval, StrOptions
from .._storage import plain_value
from ..exceptions import UnsafeToShareWarning
from ..tagging.training_loop import warn_of_interruption
from .adversarial_run import ThreePartResult, ThreePartSettings
from .bound import PrivacyBound, pairs_bound
from .bounded import train_bounded
from .bounded_settings import BoundedSettings
from .pair_adversaries import PairAdversaries
from .pair_batches import PairBatches
from .pair_data import PairData
from .private_model import PrivateModel, TrainingLog
from .randomized_casing import RandomizedCasing
from .three_part import train_dann, train_three_part

# Epochs with max_epochs="auto": after a start from public notes, also with many PHI tokens, and without such a start.
# 2,000 generated notes (seed 10): strict F1 of the provider's tagger 98.2 to 98.4 with 20 epochs, 98.5 to 99.0 with 40.
_EPOCHS_FROM_START, _EPOCHS_OF_MANY, _EPOCHS_ALONE = 20, 40, 60
_MANY_TOKENS = 40_000  # that can be replaced: about 1,000 generated notes
# Sentences of a batch of bounded training, and batches of an epoch of fewer sentences.
_LARGEST_BATCH, _SMALLEST_BATCH, _FEWEST_BATCHES = 128, 8, 20


class Schedule(NamedTuple):
    """Length and learning rates of a training; a rate of None is the default of the strategy."""

    max_epochs: Any
    lr: float | None = None
    noise_lr: float | None = None

    def with_epochs(self, from_public: bool, n_movable: int) -> Schedule:
        """Replace the number of epochs "auto" by a number, which is lower after a start from public notes.

        Examples
        --------
        >>> [Schedule("auto").with_epochs(True, n_movable=n).max_epochs for n in (1_000, 100_000)]
        [20, 40]
        """
        from_start = _EPOCHS_OF_MANY if n_movable >= _MANY_TOKENS else _EPOCHS_FROM_START
        n_epochs = from_start if from_public else _EPOCHS_ALONE
        return self._replace(max_epochs=n_epochs) if self.max_epochs == "auto" else self


class TrainingRun:
    """Data, random streams, schedule and log of one call of `fit`.

    Parameters
    ----------
    data : PairData
        Sentences as arrays of numbers.
    rows : tuple of ndarray and (ndarray or None)
        Row numbers of the sentences for training, and of the held-out sentences.
    rng : numpy.random.Generator
        Random stream of the training, which also seeds the PyTorch generator.
    device : torch.device
        Device of the training.
    batch_size : int
        Largest number of sentences of a batch.
    schedule : Schedule
        Number of epochs and learning rates.
    verbose : int
        As for `TrainingLog`.
    """

    def __init__(
        self,
        data: PairData,
        rows: tuple[np.ndarray, np.ndarray | None],
        rng: np.random.Generator,
        *,
        device: torch.device,
        batch_size: int,
        schedule: Schedule,
        verbose: int,
    ) -> None:
        train_rows, valid_rows = rows
        # Patients are split before any batch is made: counterfactuals of held-out patients never enter the training.
        self.train = PairBatches(data.take(train_rows), batch_size, device)
        self.valid = None if valid_rows is None else PairBatches(data.take(valid_rows), batch_size, device)
        self._data, self._batch_size = data, batch_size
        self.rng, self.device = rng, device
        self.schedule = schedule
        self.generator = torch.Generator(device).manual_seed(int(rng.integers(2**62)))
        self.log = TrainingLog(verbose)
        self.prices: tuple[float, float] | None = None

    def of_public_notes(self, data: PairData, max_epochs: int, batch_size: int) -> TrainingRun:
        """Return the run of the training on public notes that precedes this run, with separate random streams."""
        return TrainingRun(
            data,
            (np.arange(len(data)), None),
            self.rng.spawn(1)[0],
            device=self.device,
            batch_size=batch_size,
            schedule=self.schedule._replace(max_epochs=max_epochs),
            verbose=self.log.verbose,
        )

    def tell_interruption(self, interrupted: bool) -> None:
        """Warn that Ctrl-C has ended the training; do nothing after a complete training."""
        if interrupted:
            warn_of_interruption(
                f"The training of PrivateRepresenter was interrupted after {len(self.log.rows)} complete epochs of all "
                "its phases. Taggers find less PHI in its vectors than after the whole training.",
                stacklevel=5,
            )

    def streams(self) -> dict[str, Any]:
        """Return random streams and log as keyword arguments of the training functions."""
        return {"rng": self.rng, "generator": self.generator, "log": self.log}

    def all_notes(self) -> PairBatches:
        """Return training and held-out sentences together; only bounded training needs all notes."""
        return self.train if self.valid is None else PairBatches(self._data, self._batch_size, self.device)


class Outcome(NamedTuple):
    """Result of the training of a `PrivateRepresenter`, for all training strategies."""

    bound: PrivacyBound | None
    interrupted: bool
    adversaries: PairAdversaries | None
    control_accuracy: float | None
    selected_round: int
    is_protected: bool = True


class Bounded(BaseEstimator):
    """Bound on the accuracy of the best possible attacker, for the ``training`` parameter of `PrivateRepresenter`.

    The bound holds for ideal noise and tokens that can be replaced. See the notes of `PrivateRepresenter`.

    Parameters
    ----------
    max_attack_accuracy : float in (0.5, 1), default=0.54
        Upper bound on the mean accuracy of the best possible attacker; 0.5 is chance. ``unit`` determines the cases
        over which the mean is taken. The bound covers the vectors; ``bound_`` states how released casing changes the
        accuracy.
    quantile_attack_accuracy : float in (0.5, 1) or None, default=0.6
        Upper bound on the attacker's accuracy for 95 % of the random pairs, which differ in one token. With None, only
        the mean is bounded.
    adversary_weight : float, default=1.0
        lambda, initial weight of the bound in the loss. The weight rises while the bound is violated, and falls while
        the bound holds.
    unit : {"token", "patient"}, default="token"
        "token": the attacker must distinguish a sentence from a copy with one replaced token. The token and the new
        word are drawn at random; the token is drawn from the PHI tokens that can be replaced. The accuracy of an
        attacker who distinguishes patients is much higher. "patient": the attacker must distinguish one release of a
        patient's sentences from a release in which all replaceable PHI tokens are replaced. "patient" needs ``groups``
        in `fit`, and lowers F1 further than "token".

    See Also
    --------
    ThreePart : The training of the paper, against an adversary.

    Examples
    --------
    >>> from sklearn_deid import PrivateRepresenter
    >>> from sklearn_deid.representations import Bounded
    >>> PrivateRepresenter(training=Bounded(max_attack_accuracy=0.6, unit="patient"))
    PrivateRepresenter(training=Bounded(max_attack_accuracy=0.6, unit='patient'))
    """

    _parameter_constraints: dict[str, list] = {
        "max_attack_accuracy": [Interval(Real, 0.5, 1.0, closed="neither")],
        "quantile_attack_accuracy": [Interval(Real, 0.5, 1.0, closed="neither"), None],
        "adversary_weight": [Interval(Real, 0, None, closed="neither")],
        "unit": [StrOptions({"token", "patient"})],
    }
    # The bound needs no noise at the input. Without input noise, the bound is the same for every draw.
    key, has_input_noise, noise_init = "bounded", False, 0.8

    def __init__(
        self,
        *,
        max_attack_accuracy: float = 0.54,
        quantile_attack_accuracy: float | None = 0.6,
        adversary_weight: float = 1.0,
        unit: str = "token",
    ) -> None:
        self.max_attack_accuracy, self.quantile_attack_accuracy = max_attack_accuracy, quantile_attack_accuracy
        self.adversary_weight, self.unit = adversary_weight, unit

    @staticmethod
    def batch_of(n_sentences: int) -> int:
        """Return the batch size: with few sentences, batches are small, so that there are enough steps.

        Examples
        --------
        >>> [Bounded.batch_of(n) for n in (50, 237, 3_000)]
        [8, 12, 128]
        """
        # Rounded up, so that an epoch never has more batches than requested.
        return min(_LARGEST_BATCH, max(_SMALLEST_BATCH, -(-n_sentences // _FEWEST_BATCHES)))

    def train(self, model: PrivateModel, run: TrainingRun) -> Outcome:
        """Train a model in place; see `train_bounded`.

        Parameters
        ----------
        model : PrivateModel
            Model to train.
        run : TrainingRun
            Data, random streams, schedule and log.
        """
        settings = self._settings(run)
        run.log.n_epochs = settings.n_epochs + settings.n_finish_epochs
        found = train_bounded(model, run.train, run.valid, settings=settings, notes=run.all_notes(), **run.streams())
        return Outcome(found.bound, found.interrupted, None, None, found.selected_epoch)

    def learn_public(self, model: PrivateModel, run: TrainingRun) -> tuple[float, float]:
        """Train a model on public notes, in place; return the dual variables, from which the next training starts.

        Parameters
        ----------
        model : PrivateModel
            Model to train.
        run : TrainingRun
            Data, random streams, schedule and log.
        """
        # Public notes name no patients. The training on private notes sets the bound, whatever it starts from.
        settings = replace(self._settings(run), n_finish_epochs=0, unit="token")
        run.log.n_epochs = settings.n_epochs
        return train_bounded(model, run.train, None, settings=settings, **run.streams()).prices

    def _settings(self, run: TrainingRun) -> BoundedSettings:
        lr, price = run.schedule.lr or 4e-3, 0.05 * self.adversary_weight
        return BoundedSettings(
            max_attack_accuracy=self.max_attack_accuracy,
            quantile_attack_accuracy=self.quantile_attack_accuracy,
            n_epochs=run.schedule.max_epochs,
            # Then only the tagger is fine-tuned, for half as many epochs: the noise was scaled after its last step.
            n_finish_epochs=(run.schedule.max_epochs + 1) // 2,
            lr=lr,
            # The noise has one weight for each dimension, and its scale must move by a factor within a few epochs.
            noise_lr=run.schedule.noise_lr or 10 * lr,
            prices=run.prices or (price, price),
            unit=self.unit,
        )


class ThreePart(BaseEstimator):
    """Three-part training of the paper against an adversary, for the ``training`` parameter of `PrivateRepresenter`.

    Parameters
    ----------
    adversary : {"strong", "paper"}, default="strong"
        Networks that attack the representer during training. The paper's networks are much weaker. With "strong", the
        noise is set to 0.3 again after the first phase, since the first phase shrinks the noise.
    stopping : {"robust", "paper"}, default="robust"
        Rule that selects the round. "paper" selects by the combined loss alone. "robust" also requires that a newly
        trained strong adversary is near chance.
    adversary_weight : float, default=1.0
        lambda, weight of the adversary's loss.
    pretrain_epochs : int, default=20
        Largest number of epochs of each of the first two phases.
    patience : int, default=10
        Number of epochs without improvement after which a phase ends.

    See Also
    --------
    Bounded : The default training, without an adversary.
    DANN : Training with the same parameters, and gradient reversal in the last phase.

    References
    ----------
    Friedrich et al. (2019), section 5.4.

    Examples
    --------
    >>> from sklearn_deid import PrivateRepresenter
    >>> from sklearn_deid.representations import ThreePart
    >>> PrivateRepresenter(training=ThreePart(adversary="paper")).set_params(training__stopping="paper")
    PrivateRepresenter(training=ThreePart(adversary='paper', stopping='paper'))
    """

    _parameter_constraints: dict[str, list] = {
        "adversary": [StrOptions({"strong", "paper"})],
        "stopping": [StrOptions({"robust", "paper"})],
        "adversary_weight": [Interval(Real, 0, None, closed="neither")],
        "pretrain_epochs": [Interval(Integral, 1, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
    }
    # Input noise, initial noise and batch size are those of the paper and its code.
    key, has_input_noise, noise_init = "three_part", True, "normal"

    def __init__(
        self,
        *,
        adversary: str = "strong",
        stopping: str = "robust",
        adversary_weight: float = 1.0,
        pretrain_epochs: int = 20,
        patience: int = 10,
    ) -> None:
        self.adversary, self.stopping, self.adversary_weight = adversary, stopping, adversary_weight
        self.pretrain_epochs, self.patience = pretrain_epochs, patience

    @staticmethod
    def batch_of(n_sentences: int) -> int:
        """Return the batch size of the paper.

        Examples
        --------
        >>> ThreePart.batch_of(3_000)
        32
        """
        return 32

    def train(self, model: PrivateModel, run: TrainingRun) -> Outcome:
        """Train a model in place; see `train_three_part`.

        Parameters
        ----------
        model : PrivateModel
            Model to train.
        run : TrainingRun
            Data, random streams, schedule and log.

        Warns
        -----
        UnsafeToShareWarning
            If the training was interrupted before the representer hides PHI.
        """
        settings = self._settings(run)
        run.log.n_epochs = settings.n_epochs_tagger + settings.n_epochs_adversary + 2 * settings.n_rounds
        found = self._trained(model, run, settings)
        if not found.selected_round:
            warn(
                "The training was interrupted before anything was hidden. This representer and its vectors must not "
                "be shared.",
                UnsafeToShareWarning,
                stacklevel=4,
            )
        return Outcome(
            _bound(model, run),
            found.interrupted,
            found.adversaries,
            found.control_accuracy,
            found.selected_round,
            found.selected_round > 0,
        )

    def _trained(self, model: PrivateModel, run: TrainingRun, settings: ThreePartSettings) -> ThreePartResult:
        return train_three_part(model, run.train, run.valid, settings=settings, **run.streams())

    def _settings(self, run: TrainingRun) -> ThreePartSettings:
        strong, lr = self.adversary == "strong", run.schedule.lr or 2e-3
        return ThreePartSettings(
            n_epochs_tagger=self.pretrain_epochs,
            n_epochs_adversary=self.pretrain_epochs,
            n_rounds=run.schedule.max_epochs,
            patience=(self.patience, self.patience, self.patience),
            lr=lr,
            noise_lr=run.schedule.noise_lr or (10 * lr if strong else lr),
            adversary=self.adversary,
            adversary_weight=self.adversary_weight,
            # The first phase shrinks trainable noise to almost nothing. Such small noise hardly grows again in one
            # training.
            noise_restart=0.3 if strong else None,
            stopping=self.stopping,
        )


class DANN(ThreePart):
    """Training against an adversary by gradient reversal, for comparison; the paper found that DANN fails.

    Parameters
    ----------
    adversary, stopping, adversary_weight, pretrain_epochs, patience
        As for `ThreePart`.

    References
    ----------
    Friedrich et al. (2019), sections 5.4 and 7.3; Ganin et al. (2016), Domain-adversarial training of neural networks.

    Examples
    --------
    >>> from sklearn_deid import PrivateRepresenter
    >>> from sklearn_deid.representations import DANN
    >>> PrivateRepresenter(training=DANN(pretrain_epochs=5))
    PrivateRepresenter(training=DANN(pretrain_epochs=5))
    """

    key = "dann"

    def _trained(self, model: PrivateModel, run: TrainingRun, settings: ThreePartSettings) -> ThreePartResult:
        return train_dann(model, run.train, run.valid, settings=settings, **run.streams())


class TrainableNoise(BaseEstimator):
    """Learned standard deviation for each dimension, for the ``noise`` parameter of `PrivateRepresenter`.

    Parameters
    ----------
    init : float, "normal" or None, default=None
        Initial standard deviation; see `GaussianNoise`. With None, the value is 0.8 for bounded training, and "normal"
        for other trainings, as in the paper's code.
    floor : float, default=0.0
        Smallest standard deviation.
    lr : float or None, default=None
        Learning rate of the noise. With None, the rate is ten times the learning rate of the networks. Against the
        paper's adversary, None sets the learning rate of the networks.

    Examples
    --------
    >>> from sklearn_deid import PrivateRepresenter
    >>> from sklearn_deid.representations import TrainableNoise
    >>> PrivateRepresenter(noise=TrainableNoise(floor=0.2)).get_params()["noise__floor"]
    0.2
    """

    _parameter_constraints: dict[str, list] = {
        "init": [StrOptions({"normal"}), Interval(Real, 0, None, closed="neither"), None],
        "floor": [Interval(Real, 0, None, closed="left")],
        "lr": [Interval(Real, 0, None, closed="neither"), None],
    }
    key = "trainable"

    def __init__(self, *, init: float | str | None = None, floor: float = 0.0, lr: float | None = None) -> None:
        self.init, self.floor, self.lr = init, floor, lr


# Strategy classes by the strings that `PrivateRepresenter` accepts for each parameter.
STRATEGIES: dict[str, dict[str, Any]] = {
    "training": {strategy.key: strategy for strategy in (Bounded, ThreePart, DANN)},
    "noise": {TrainableNoise.key: TrainableNoise},
    "casing": {RandomizedCasing.key: RandomizedCasing},
}


def as_strategy(parameter: str, value: Any) -> Any:
    """Return the strategy of this name, with its default parameters; return any other value unchanged.

    Examples
    --------
    >>> as_strategy("training", "bounded"), as_strategy("noise", 0.5)
    (Bounded(), 0.5)
    """
    return STRATEGIES[parameter][value]() if isinstance(value, str) else plain_value(value)


def noise_settings(noise: Any, training: Any) -> dict[str, Any]:
    """Return kind, initial value and floor of the noise that ``noise`` and ``training`` set, as for `GaussianNoise`.

    Examples
    --------
    >>> noise_settings(None, Bounded()), noise_settings(0.5, Bounded())
    ({'kind': 'none', 'init': 0.0, 'floor': 0.0}, {'kind': 'fixed', 'init': 0.5, 'floor': 0.0})
    """
    if isinstance(noise, TrainableNoise):
        init = training.noise_init if noise.init is None else noise.init
        return {"kind": "trainable", "init": init, "floor": float(noise.floor)}
    return {"kind": "none" if noise is None else "fixed", "init": float(noise or 0.0), "floor": 0.0}


# For `set_params`; an unknown string stays, and `fit` names it.
LONG_FORMS = {
    parameter: lambda value, known=known: known[value]() if isinstance(value, str) and value in known else value
    for parameter, known in STRATEGIES.items()
}


def _bound(model: PrivateModel, run: TrainingRun) -> PrivacyBound | None:
    """Compute the bound after a training against adversaries, which did not optimise the bound."""
    has_noise = bool((model.representer.output_std() > 0).all())
    if not has_noise or run.valid is None or not len(run.valid.pair_rows):
        return None
    return pairs_bound(model.representer.eval(), run.valid, run.generator)
