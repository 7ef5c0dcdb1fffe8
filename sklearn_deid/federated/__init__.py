"""Distributed selective SGD on flat float32 vectors: workers that share a chosen part of their updates, and a server.

Needs NumPy only, no network and no framework: a learner shows its parameters as one vector and trains for an epoch.
What travels are bytes, so that the same server and workers run in one process and across sites.

What it promises: notes stay where they are, and a worker decides how much of its updates others see. Against whom:
participants that follow the protocol and are curious. Not by itself: updates can tell about the notes they come from.
Only `GaussianUpload` and `SparseVectorUpload` come with a formal promise; ``robust`` and `ServerLimits` bound what a
malicious worker can spoil.

References
----------
Shokri & Shmatikov (2015), Privacy-Preserving Deep Learning, CCS.
Festag & Spreckelsen (2020), Privacy-Preserving Deep Learning for the Detection of Protected Health Information in
Real-World Data, JMIR Formative Research 4(5).
"""

from .delivered import Delivered
from .history import EpochRecord, History
from .layout import ParameterLayout
from .learner import Learner, train_one_epoch
from .limits import ServerLimits
from .noise import GaussianUpload, SparseVectorUpload
from .privacy_ledger import PrivacyEvent, PrivacyLedger
from .ranking import kth_largest, largest_mask, random_subset
from .record import ExchangeRecord, RecordedMessage
from .robust import AGGREGATES, aggregate, clip_norm, coordinate_median, trimmed_mean
from .rounds import Evaluate, MapEpochs, run_rounds
from .schedules import SCHEDULES, Step, plan_steps
from .selection import DOWNLOAD_SELECTIONS, SELECTIONS, Selected, n_shared, select_download, select_upload
from .server import ParameterServer, Refusal
from .sparse import SparseUpdate
from .state_file import generator_from, generator_state, read_state, write_state
from .strategies import STRATEGIES, StrategyPlan, Training, run_strategy
from .worker import Worker, WorkerSettings

__all__ = [
    "AGGREGATES",
    "Delivered",
    "EpochRecord",
    "Evaluate",
    "ExchangeRecord",
    "GaussianUpload",
    "History",
    "Learner",
    "MapEpochs",
    "ParameterLayout",
    "ParameterServer",
    "PrivacyEvent",
    "PrivacyLedger",
    "RecordedMessage",
    "Refusal",
    "SCHEDULES",
    "DOWNLOAD_SELECTIONS",
    "SELECTIONS",
    "STRATEGIES",
    "Selected",
    "ServerLimits",
    "SparseUpdate",
    "SparseVectorUpload",
    "Step",
    "StrategyPlan",
    "Training",
    "Worker",
    "WorkerSettings",
    "aggregate",
    "clip_norm",
    "coordinate_median",
    "generator_from",
    "generator_state",
    "kth_largest",
    "largest_mask",
    "n_shared",
    "plan_steps",
    "random_subset",
    "read_state",
    "run_rounds",
    "run_strategy",
    "select_download",
    "select_upload",
    "train_one_epoch",
    "trimmed_mean",
    "write_state",
]
