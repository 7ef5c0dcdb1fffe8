"""Distributed selective SGD on flat float32 vectors: workers that share a chosen part of their updates, and a server.

The exchange needs only NumPy, and neither a network connection nor a deep learning framework. A learner presents its
parameters as one vector and trains for one epoch at a time. Messages are bytes, so the same server and workers run in
one process and across sites.

Guarantee: notes never leave their worker, and each worker decides which part of its updates is sent. The threat model
covers participants who follow the protocol and are curious. Without noise there is no formal guarantee: updates can
reveal the notes of their worker. Only `PatientPrivacy`, `GaussianUpload` and `SparseVectorUpload` give a formal
guarantee. `FederatedAveraging`, `aggregate` and `ServerLimits` bound the harm that a malicious worker can do.

References
----------
Shokri & Shmatikov (2015), Privacy-Preserving Deep Learning, CCS.
Festag & Spreckelsen (2020), Privacy-Preserving Deep Learning for the Detection of Protected Health Information in
Real-World Data, JMIR Formative Research 4(5).

Names are resolved on first use (PEP 562): a file is loaded when one of its names is first used.
"""

from __future__ import annotations

from .._lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "agreement_screen": "AgreementScreen",
        "delivered": "Delivered",
        "dssgd_ensemble": "DSSGDEnsemble",
        "federated_averaging": "FederatedAveraging",
        "held_out_guard": "HeldOutGuard",
        "history": "EpochRecord History",
        "learner_state": "learner_from_state learner_to_state",
        "layout": "ParameterLayout",
        "worker": "Learner Worker WorkerSettings train_one_epoch",
        "tagger_learner": "TaggerLearner make_learner",
        "server": "ParameterServer Refusal",
        "server_limits": "ServerLimits",
        "noise": "GaussianUpload SparseVectorUpload",
        "masks": "FixedPoint MaskedRound MaskedSum MaskingSite masked_mean",
        "past_updates": "PastUpdates",
        "patient_ledger": "PatientLedger epsilon_of_steps",
        "patient_privacy": "PatientPrivacy",
        "patient_steps": "PatientSteps noisy_mean",
        "privacy_ledger": "PrivacyEvent PrivacyLedger bounded_epsilon check_promise spent_epsilon",
        "random_delay": "RandomDelay",
        "ranking": "kth_largest largest_mask random_subset",
        "record": "ExchangeRecord RecordedMessage",
        "robust": "AGGREGATES aggregate clip_norm combine_round coordinate_median trimmed_mean",
        "rotating_guard": "RotatingGuard",
        "rotating_patients": "RotatingPatients",
        "rounds": "Evaluate MapEpochs run_rounds",
        "schedules": "SCHEDULES Step plan_steps",
        "selection": "DOWNLOAD_SELECTIONS SELECTIONS Selected n_shared select_download select_upload",
        "sparse": "SparseUpdate",
        "state_file": "generator_from generator_state read_state write_state",
        "strategies": "STRATEGIES StrategyPlan Training run_strategy",
    },
)
