"""The part of `DSSGDEnsemble` below its parameters and public methods: checks, workers, rounds, results."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator, clone

from .._compat import check_constraints
from .._randomness import own_generator
from ..exceptions import SequenceError
from ..tagging.tagger import DeidTagger
from .limits import ServerLimits
from .public_inputs import public_embeddings
from .record import ExchangeRecord
from .strategies import StrategyPlan, Training
from .tagger_learner import TaggerLearner, tagger_from_vector
from .training_together import Progress, begin, go_on
from .worker import WorkerSettings
from .worker_data import WorkerData, agreed_labels, check_alike, checked_part, joined, split_patients
from .worker_processes import map_in_processes

__all__ = ["EnsembleTraining"]


class EnsembleTraining(BaseEstimator):
    """Turns sentences into workers, trains them, and keeps what the next round needs."""

    _training: Training
    _rng: np.random.Generator
    _patients: dict[Hashable, int] | None = None

    # ---- before

    def _checked_tagger(self) -> DeidTagger:
        """A tagger to clone for each worker, which reads nothing private."""
        check_constraints(self)
        if self.predict_with == "global" and self.strategy == "local":
            raise ValueError("strategy='local' has no global network: set predict_with='vote' or 'worker'.")
        tagger = DeidTagger() if self.estimator is None else clone(self.estimator)
        for name, reason in (
            ("validation_fraction", "set 'validation_fraction' of the ensemble to measure F1"),
            ("patience", "all workers train 'n_epochs'"),
            ("augmenter", "it would learn from each worker's own notes; give it the sentences beforehand"),
        ):
            if getattr(tagger, name) is not None:
                raise ValueError(f"The '{name}' parameter of the estimator must be None in a DSSGDEnsemble: {reason}.")
        return tagger.set_params(
            embeddings=public_embeddings(tagger.embeddings), max_epochs=self.n_epochs, warm_start=False
        )

    def _split(
        self, everything: WorkerData, n_workers: int, known: dict[Hashable, int] | None, rng: np.random.Generator
    ) -> list[WorkerData]:
        """Parts of the workers; patients stay where they are, and new ones are added to ``known``."""
        if self.strategy == "centralized":
            return [everything]
        if known is None:
            raise ValueError(
                "Which patient belongs to which worker is not known here: the workers came with data of their own, or "
                "this is a copy from a file, which does not hold patient ids. Use partial_fit_workers."
            )
        if everything.groups is None:
            warn(
                "Without 'groups' each sentence counts as a patient: sentences of one patient get to several workers, "
                "who then look better than they are. Pass the patient of each sentence as 'groups'.",
                UserWarning,
                stacklevel=4,
            )
        rows = split_patients(everything.groups, len(everything.X), n_workers, rng, known)
        parts = [everything.rows(chosen) for chosen in rows]
        empty = [number for number, part in enumerate(parts) if not len(part.X.data)]
        if empty:
            raise SequenceError(f"The patients of worker {empty[0]} have no token: there is nothing to train on.")
        return parts

    def _apart(self, tagger: DeidTagger, parts: Sequence[tuple]) -> list[WorkerData]:
        """Checked parts of data that are apart already."""
        parts = list(parts)
        if not parts or not all(isinstance(part, (tuple, list)) and len(part) in (2, 3) for part in parts):
            raise SequenceError("Each worker needs a pair (X, y) or a triple (X, y, groups), and there must be one.")
        return [
            checked_part(tagger, part[0], part[1], part[2] if len(part) == 3 else None, number)
            for number, part in enumerate(parts)
        ]

    def _plan(self, parts: Sequence[WorkerData], n_epochs: int) -> StrategyPlan:
        mean = self.strategy == "fedavg" and self.aggregation == "mean"
        return StrategyPlan(
            strategy=self.strategy,
            n_epochs=n_epochs,
            settings=WorkerSettings.of(self),
            schedule=self.schedule,
            mean_delay=self.mean_delay,
            limits=self._limits(),
            privacy=self.privacy,
            aggregation=self.aggregation,
            n_trim=self.n_trim,
            keyed=self.random_state is None,
            weights={f"worker-{i}": float(len(part.X)) for i, part in enumerate(parts)} if mean else None,
        )

    def _limits(self) -> ServerLimits:
        return ServerLimits(
            max_norm=math.inf if self.max_norm is None else self.max_norm,
            step=self.server_step,
            download_selection=self.download_selection,
        )

    # ---- rounds

    def _start(self, everything: WorkerData | None, parts: list[WorkerData] | None, n_epochs: int | None) -> Any:
        """Split if need be, and train from the first weights; without ``n_epochs`` one round."""
        known: dict[Hashable, int] | None = None if everything is None else {}
        rng = own_generator(self.random_state)
        splitting = rng.spawn(1)[0]
        if everything is not None:
            parts = self._split(everything, self.n_workers, known, splitting)
        assert parts is not None
        if self.strategy == "centralized":
            check_alike(parts)
            parts = [joined(parts)]
        plan = self._plan(parts, n_epochs or 1)
        learners = self._learners(parts, rng)
        for learner, part in zip(learners.values(), parts, strict=True):
            learner.plan(part, n_epochs, None if n_epochs is None else self.validation_fraction)
        self.__dict__.pop("exchange_", None)
        training = begin(plan, learners, rng, **self._watching(n_epochs))
        self._rng, self._trained_by, self._patients = rng, self.strategy, known
        return self._keep(training)

    def _learners(self, parts: Sequence[WorkerData], rng: np.random.Generator) -> dict[str, TaggerLearner]:
        """One learner a worker; sets what all agree on."""
        check_alike(parts)
        self.labels_ = agreed_labels(parts, self.labels)
        tagger = self._checked_tagger()
        seeds = rng.integers(2**31, size=len(parts)).tolist()
        return {
            f"worker-{i}": TaggerLearner(clone(tagger).set_params(random_state=seed), part, self.labels_)
            for i, (part, seed) in enumerate(zip(parts, seeds, strict=True))
        }

    def _round(self, everything: WorkerData | None, parts: list[WorkerData] | None) -> Any:
        """One more round of the workers of an earlier call."""
        training = self._training
        if everything is not None:
            parts = self._split(everything, len(training.workers), self._patients, self._rng.spawn(1)[0])
        assert parts is not None
        if self.strategy != self._trained_by:
            raise ValueError(f"These workers were trained with strategy={self._trained_by!r}; call fit to begin anew.")
        if self.strategy == "centralized":
            check_alike(parts)
            parts = [joined(parts)]
        if len(parts) != len(training.workers):
            raise SequenceError(f"There are {len(training.workers)} workers, but data of {len(parts)}.")
        check_alike(parts, self.estimators_[0])
        agreed_labels(parts, self.labels_)
        learners: list[Any] = [worker.learner for worker in training.workers]
        try:
            for learner, part in zip(learners, parts, strict=True):
                learner.plan(part, None)
            training = go_on(self._plan(parts, 1), training, self._rng, **self._watching(None))
        finally:
            for worker in self._training.workers:
                worker.learner.finish()  # type: ignore[attr-defined]
        return self._keep(training)

    def _watching(self, n_epochs: int | None) -> dict[str, Any]:
        if self.keep_exchange and not hasattr(self, "exchange_"):
            self.exchange_ = ExchangeRecord()
        return {
            "record": self.exchange_ if self.keep_exchange else None,
            "map_epochs": map_in_processes(self.n_jobs),
            "evaluate": Progress(n_epochs) if self.verbose else None,
        }

    # ---- after

    def _keep(self, training: Training) -> Any:
        """Fitted attributes of what came out."""
        learners: list[Any] = [worker.learner for worker in training.workers]
        for learner in learners:
            learner.finish()
        self._training, self.history_ = training, training.history
        self.estimators_: list[DeidTagger] = [learner.tagger for learner in learners]
        first = self.estimators_[0]
        self.classes_ = first.classes_
        for name in ("n_features_in_", "global_estimator_"):
            self.__dict__.pop(name, None)
        if hasattr(first, "n_features_in_"):
            self.n_features_in_ = first.n_features_in_
        if training.parameters is not None:
            vector = learners[0].get_flat() if self.strategy == "centralized" else training.parameters
            self.global_estimator_ = tagger_from_vector(first, clone(first), vector)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_patients"}
