"""Distributed selective SGD on flat float32 vectors: workers that share a chosen part of their updates, and a server.

The exchange needs NumPy only, no network and no framework. A learner shows its parameters as one vector and trains for
one epoch. Messages are bytes, so that the same server and workers run in one process and across sites.

Promise: notes stay where they are, and each worker decides how much of its updates others see. Attackers considered:
participants who follow the protocol and are curious. Not promised: updates can reveal the notes that they come from.
Only `GaussianUpload` and `SparseVectorUpload` give a formal guarantee. `FederatedAveraging`, `aggregate` and
`ServerLimits` bound the harm that a malicious worker can do.

References
----------
Shokri & Shmatikov (2015), Privacy-Preserving Deep Learning, CCS.
Festag & Spreckelsen (2020), Privacy-Preserving Deep Learning for the Detection of Protected Health Information in
Real-World Data, JMIR Formative Research 4(5).

Names are resolved on first use (PEP 562): a file is loaded when one of its names is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where each public name lives.
_HOME = {
    "Delivered": "delivered",
    "DSSGDEnsemble": "dssgd_ensemble",
    "FederatedAveraging": "dssgd_ensemble",
    "RandomDelay": "dssgd_ensemble",
    "EpochRecord": "history",
    "History": "history",
    "ParameterLayout": "layout",
    "Learner": "worker",
    "train_one_epoch": "worker",
    "learner_from_state": "tagger_learner",
    "learner_to_state": "tagger_learner",
    "make_learner": "tagger_learner",
    "ServerLimits": "server",
    "GaussianUpload": "noise",
    "SparseVectorUpload": "noise",
    "PrivacyEvent": "privacy_ledger",
    "PrivacyLedger": "privacy_ledger",
    "kth_largest": "ranking",
    "largest_mask": "ranking",
    "random_subset": "ranking",
    "ExchangeRecord": "record",
    "RecordedMessage": "record",
    "AGGREGATES": "robust",
    "aggregate": "robust",
    "clip_norm": "robust",
    "coordinate_median": "robust",
    "trimmed_mean": "robust",
    "Evaluate": "rounds",
    "MapEpochs": "rounds",
    "run_rounds": "rounds",
    "SCHEDULES": "schedules",
    "Step": "schedules",
    "plan_steps": "schedules",
    "DOWNLOAD_SELECTIONS": "selection",
    "SELECTIONS": "selection",
    "Selected": "selection",
    "n_shared": "selection",
    "select_download": "selection",
    "select_upload": "selection",
    "ParameterServer": "server",
    "Refusal": "server",
    "SparseUpdate": "sparse",
    "generator_from": "state_file",
    "generator_state": "state_file",
    "read_state": "state_file",
    "write_state": "state_file",
    "STRATEGIES": "strategies",
    "StrategyPlan": "strategies",
    "Training": "strategies",
    "run_strategy": "strategies",
    "TaggerLearner": "tagger_learner",
    "Worker": "worker",
    "WorkerSettings": "worker",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
