"""Strategy, number of epochs, and configuration of a run, from the parameters of a `DSSGDEnsemble`.

Only this module replaces parameters of "auto" by values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

from ..tagging.tagger import DeidTagger
from .derived_settings import averaging_step, rounds_per_epoch, shared_epochs
from .federated_averaging import FederatedAveraging
from .patient_privacy import PatientPrivacy
from .privacy_ledger import check_promise
from .random_delay import RandomDelay
from .server_limits import NO_LIMITS
from .strategies import StrategyPlan
from .worker import Worker, WorkerSettings
from .worker_data import WorkerData

# Parameters of selective SGD. Any of them chooses it under strategy="auto": averaging would send what they hold back.
_ONLY_DSSGD = (
    "upload_fraction download_fraction clip threshold selection upload_dtype error_feedback schedule "
    "download_selection max_norm"
).split()
# Epochs of noisy trainings: a number that depends on the notes would reveal their amount.
_NOISY_EPOCHS = 25


def strategy_of(ensemble: Any) -> str:
    """Name of the strategy.

    Examples
    --------
    >>> from sklearn_deid import DSSGDEnsemble
    >>> strategy_of(DSSGDEnsemble()), strategy_of(DSSGDEnsemble(clip=0.5))
    ('fedavg', 'dssgd')
    """
    if isinstance(ensemble.strategy, FederatedAveraging):
        return "fedavg"
    if ensemble.strategy != "auto":
        return str(ensemble.strategy)
    defaults = signature(type(ensemble)).parameters
    changed = any(getattr(ensemble, name) != defaults[name].default for name in _ONLY_DSSGD)
    noisy_uploads = ensemble.privacy is not None and patient_privacy_of(ensemble) is None
    return "dssgd" if changed or noisy_uploads else "fedavg"


def averaging_of(ensemble: Any) -> FederatedAveraging:
    """Settings of federated averaging; the defaults for another strategy."""
    return ensemble.strategy if isinstance(ensemble.strategy, FederatedAveraging) else FederatedAveraging()


def patient_privacy_of(ensemble: Any) -> PatientPrivacy | None:
    """Privacy of each patient; None without noise, and with noise on uploads."""
    return ensemble.privacy if isinstance(ensemble.privacy, PatientPrivacy) else None


def length_of(ensemble: Any, n_epochs: int | str, n_tokens: int) -> tuple[int, int]:
    """Number of local epochs of a training on this number of tokens, and number of epochs in a pass over the notes."""
    tagger = DeidTagger() if ensemble.estimator is None else ensemble.estimator
    if isinstance(n_epochs, str):
        n_epochs = shared_epochs(n_tokens, tagger.batch_size) if ensemble.privacy is None else _NOISY_EPOCHS
    n_parts: int | str = 1
    if strategy_of(ensemble) == "fedavg" and ensemble.privacy is None:
        n_parts = averaging_of(ensemble).rounds_per_epoch
    if isinstance(n_parts, str):
        n_parts = rounds_per_epoch(n_tokens, tagger.batch_size)
    return n_epochs * n_parts, n_parts


def plan_of(ensemble: Any, parts: Sequence[WorkerData], n_epochs: int) -> StrategyPlan:
    """Configuration of a run on the data of these workers."""
    strategy, averaging, is_private = strategy_of(ensemble), averaging_of(ensemble), patient_privacy_of(ensemble)
    # In averaging the bound belongs to the strategy object. Selective SGD has its own parameter.
    max_norm = averaging.max_norm if strategy == "fedavg" else ensemble.max_norm
    # Numbers of sentences depend on the notes, and PatientPrivacy does not cover them.
    # With masks, the weights would have to be part of what is masked.
    equal = is_private is not None or averaging.masks is not None
    weighted = strategy == "fedavg" and averaging.aggregation == "mean" and not equal
    step = ensemble.server_step
    if isinstance(step, str):
        step = averaging_step(len(parts)) if strategy == "fedavg" and ensemble.privacy is None else 1.0
    return StrategyPlan(
        strategy=strategy,
        n_epochs=n_epochs,
        settings=WorkerSettings.of(ensemble),
        schedule="random-delay" if isinstance(ensemble.schedule, RandomDelay) else ensemble.schedule,
        mean_delay=getattr(ensemble.schedule, "mean_delay", RandomDelay().mean_delay),
        limits=replace(
            NO_LIMITS,
            max_norm=math.inf if max_norm is None else max_norm,
            step=step,
            download_selection=ensemble.download_selection,
        ),
        privacy=ensemble.privacy if is_private is None else None,
        delta=ensemble.delta,
        aggregation=averaging.aggregation,
        n_trim=averaging.n_trim,
        max_ratio=averaging.max_ratio,
        screened=averaging.screen,
        masks=averaging.masks,
        guarded=ensemble.validation_fraction or False,
        keyed=ensemble.random_state is None,
        weights={f"worker-{i}": float(len(part.X)) for i, part in enumerate(parts)} if weighted else None,
    )


def check_next_round(ensemble: Any, workers: Sequence[Worker]) -> None:
    """Check the noise of one more upload of each worker, before anything is trained.

    Raises
    ------
    ValueError
        If the noise gives no guarantee, or if the epsilon of all uploads of a worker would be above 100.
    """
    if ensemble.privacy is None or patient_privacy_of(ensemble) is not None:
        return
    WorkerSettings.of(ensemble).check_privacy(ensemble.privacy)
    for worker in workers:
        check_promise(ensemble.privacy.event(), 1, ensemble.delta, worker.ledger)
