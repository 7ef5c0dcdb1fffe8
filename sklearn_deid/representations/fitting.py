"""From `PrivateRepresenter`'s parameters to networks, and from networks to trained ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import warn

import numpy as np
import torch

from ..exceptions import UnsafeToShareWarning
from ..tagging.encoders import BidirectionalRecurrent
from ..tagging.network import TaggerModule
from ..text import CASING_CLASSES
from .adversarial_run import ThreePartSettings
from .bound import PrivacyBound, pair_distances, pair_slack, privacy_bound
from .bounded import BoundedSettings, train_bounded
from .network import Representer
from .noise import GaussianNoise
from .pair_adversaries import PairAdversaries
from .pair_batches import PairBatches
from .pair_data import PairData
from .private_model import PrivateModel, TrainingLog
from .three_part import train_dann, train_three_part

if TYPE_CHECKING:
    from .private_representer import PrivateRepresenter

__all__ = ["TrainingRun", "build_representer", "build_tagger", "train_representer"]


class TrainingRun:
    """Data, streams of numbers and log of one `fit`.

    Parameters
    ----------
    data : PairData
    train_rows, valid_rows : ndarray; the latter may be None
    rng : numpy.random.Generator
    device : torch.device
    batch_size, verbose : int
    """

    def __init__(
        self,
        data: PairData,
        rows: tuple[np.ndarray, np.ndarray | None],
        rng: np.random.Generator,
        *,
        device: torch.device,
        batch_size: int,
        verbose: int,
    ) -> None:
        train_rows, valid_rows = rows
        self.train = PairBatches(data.take(train_rows), batch_size, device)
        self.valid = None if valid_rows is None else PairBatches(data.take(valid_rows), batch_size, device)
        self._data, self._batch_size = data, batch_size
        self.rng, self.device = rng, device
        self.generator = torch.Generator(device).manual_seed(int(rng.integers(2**62)))
        self.log = TrainingLog(verbose)

    def all_notes(self) -> PairBatches:
        """Sentences of both, which only bounded training asks for."""
        return self.train if self.valid is None else PairBatches(self._data, self._batch_size, self.device)


def build_representer(estimator: PrivateRepresenter, input_size: int) -> Representer:
    """The network from embeddings to the representation, with noise as the parameters ask for."""
    noise, init, floor = estimator.noise, estimator.noise_init, float(estimator.noise_floor)
    if init is None:
        init = 0.8 if estimator.training == "bounded" else "normal"
    if noise is None:
        kind, init, floor = "none", 0.0, 0.0
    elif noise == "trainable":
        kind = "trainable"
    else:
        kind, init, floor = "fixed", float(noise), 0.0
    # The bound needs no noise at the input, and is then the same for every draw; the paper's training has both.
    at_input = kind if estimator.training != "bounded" else "none"
    size, d = input_size, estimator.n_components
    return Representer(
        size,
        d,
        kind=estimator.encoder,
        hidden_size=estimator.hidden_size,
        input_noise=GaussianNoise(size, kind=at_input, init=init, floor=floor if at_input != "none" else 0.0),
        output_noise=GaussianNoise(d, kind=kind, init=init, floor=floor),
        unit_norm=estimator.unit_norm,
    )


def build_tagger(estimator: PrivateRepresenter, n_tags: int) -> TaggerModule:
    """The tagger that is trained along, which reads representation and casing."""
    width = estimator.n_components + len(CASING_CLASSES) * estimator.casing
    encoder = BidirectionalRecurrent(width, estimator.tagger_hidden_size)
    return TaggerModule(n_tags, None, encoder, input_dropout=0.1, output_dropout=0.5)


class Outcome(NamedTuple):
    """What a training ended with, whichever it was."""

    bound: PrivacyBound | None
    interrupted: bool
    adversaries: PairAdversaries | None
    control_accuracy: float | None
    selected_round: int
    is_protected: bool = True


def train_representer(estimator: PrivateRepresenter, model: PrivateModel, run: TrainingRun) -> Outcome:
    """Train as the ``training`` parameter says."""
    common: dict[str, Any] = {"rng": run.rng, "generator": run.generator, "log": run.log}
    if estimator.training == "bounded":
        settings = _bounded_settings(estimator)
        bounded = train_bounded(model, run.train, run.valid, settings=settings, notes=run.all_notes(), **common)
        return Outcome(bounded.bound, bounded.interrupted, None, None, bounded.selected_epoch)
    train = train_three_part if estimator.training == "three_part" else train_dann
    found = train(model, run.train, run.valid, settings=_adversarial_settings(estimator), **common)
    if not found.selected_round:
        warn(
            "The training was interrupted before anything was hidden. This representer must not be shared, and neither "
            "must what it makes.",
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


def _bound(model: PrivateModel, run: TrainingRun) -> PrivacyBound | None:
    """No adversary knows of the bound, but it holds all the same."""
    has_noise = bool((model.representer.output_std() > 0).all())
    if not has_noise or run.valid is None or not len(run.valid.pair_rows):
        return None
    distances = pair_distances(model.representer.eval(), run.valid, run.generator)
    return privacy_bound(distances, slack=pair_slack(model.representer, run.valid))


def _bounded_settings(estimator: PrivateRepresenter) -> BoundedSettings:
    lr = estimator.lr or 4e-3
    return BoundedSettings(
        max_attack_accuracy=estimator.max_attack_accuracy,
        quantile_attack_accuracy=estimator.quantile_attack_accuracy,
        n_epochs=estimator.max_epochs,
        n_finish_epochs=(estimator.max_epochs + 1) // 2,
        lr=lr,
        noise_lr=estimator.noise_lr or 10 * lr,
        price=0.05 * estimator.adversary_weight,
    )


def _adversarial_settings(estimator: PrivateRepresenter) -> ThreePartSettings:
    strong, lr = estimator.adversary == "strong", estimator.lr or 2e-3
    return ThreePartSettings(
        n_epochs_tagger=estimator.pretrain_epochs,
        n_epochs_adversary=estimator.pretrain_epochs,
        n_rounds=estimator.max_epochs,
        patience=(estimator.patience, estimator.patience, estimator.patience),
        lr=lr,
        noise_lr=estimator.noise_lr or (10 * lr if strong else lr),
        adversary=estimator.adversary,
        adversary_weight=estimator.adversary_weight,
        noise_restart=0.3 if strong and estimator.noise == "trainable" else None,
        stopping=estimator.stopping,
    )
