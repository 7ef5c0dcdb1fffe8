"""`DSSGDEnsemble`: train one tagger at several places without moving notes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from numbers import Integral, Real
from typing import Any
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, StrOptions, check_constraints
from .._randomness import own_generator
from ..exceptions import SequenceError
from ..metrics import phi_f1_score
from ..sequences import object_rows
from ..tagging.tagger import DeidTagger
from ..tagging.votes import majority_tags
from .noise import GaussianUpload, SparseVectorUpload
from .privacy_ledger import spent_epsilon
from .record import ExchangeRecord
from .robust import AGGREGATES
from .schedules import SCHEDULES
from .selection import DOWNLOAD_SELECTIONS, SELECTIONS
from .server import ServerLimits
from .strategies import STRATEGIES, StrategyPlan, Training, go_on, run_strategy
from .tagger_learner import TaggerLearner, map_in_processes, tagger_from_vector
from .worker import WorkerSettings
from .worker_data import (
    WorkerData,
    agreed_labels,
    check_alike,
    checked_part,
    joined,
    public_embeddings,
    split_patients,
)

__all__ = ["DSSGDEnsemble"]


class DSSGDEnsemble(BaseEstimator):
    """Workers that train one tagger together and exchange a chosen part of their updates instead of notes.

    Everything runs on this machine, with the messages, server and workers of `sklearn_deid.federated`: it shows what
    an exchange would bring and cost before hospitals set one up. What each strategy gives away, and what the privacy
    options promise, is in ``docs/federated.md``.

    Parameters
    ----------
    estimator : DeidTagger, default=None
        The tagger of each worker; None is ``DeidTagger()``. Its ``embeddings`` must be public; "auto" is a table of
        random vectors of hashed character n-grams here, the same for all. Its ``max_epochs`` is replaced by
        ``n_epochs``, its ``random_state`` by seeds drawn from the one of the ensemble. ``train_split``, ``patience``
        and ``augmenter`` must be None.
    n_workers : int, default=5
        Over which `fit` splits the patients; `fit_workers` takes as many as it gets.
    strategy : {"centralized", "round_robin", "dssgd", "local", "fedavg"}, default="dssgd"
        One tagger on all data (the upper bound); the whole model going round; distributed selective SGD; everybody
        alone (the lower bound); federated averaging.
    upload_fraction, download_fraction : float in [0, 1], default=0.5, 0.1
        theta_u and theta_d: largest share of all parameters that a worker sends after, and fetches before, a local
        epoch. "dssgd" only, like the next four.
    clip : float, default=10.0
        gamma, largest magnitude of a sent value; ``inf`` for none.
    threshold : float, default=1e-4
        tau, smaller updates are not sent.
    selection : {"random", "largest"}, default="random"
        Which of the others are sent.
    half : bool, default=False
        Send values as float16.
    error_feedback : bool, default=False
        Add what an epoch did not send to the update of the next ("dssgd"). With ``selection="largest"``,
        ``download_selection="most-changed"`` and a ``server_step`` between 1 / n_workers and 1 a tenth of the
        parameters does more than half of them as in the papers (``docs/federated.md``).
    schedule : {"sequential", "concurrent", "random-delay"}, default="concurrent"
        Who trains when; see `federated.plan_steps`.
    mean_delay : float, default=1.0
        Of an upload, in epochs; "random-delay" only.
    server_step : float, default=1.0
        What the server multiplies updates by ("dssgd", "fedavg").
    download_selection : {"most-updated", "random", "most-changed"}, default="most-updated"
        Which parameters a worker fetches ("dssgd"). The papers' are those with the highest update counters; with
        optimizers that change all weights alike these are much the same each time, and random ones serve better, or
        those that have changed most since the worker got them last.
    n_epochs : int, default=25
        Local epochs of each worker.
    predict_with : {"global", "vote", "worker"}, default="global"
        Who predicts: the network of the server, the majority of the workers' taggers, or the tagger of one worker.
        "local" has no global network.
    worker : int, default=0
        Which one, with ``predict_with="worker"``.
    aggregation : {"mean", "median", "trimmed_mean"}, default="mean"
        How "fedavg" combines updates. The mean counts workers by their sentences; the other two bound what a
        malicious worker can do.
    n_trim : int, default=1
        Workers left out at each end by "trimmed_mean".
    max_norm : float or None, default=None
        Norm bound of updates: "fedavg" shrinks longer ones, "dssgd" refuses them.
    privacy : None, GaussianUpload or SparseVectorUpload, default=None
        Randomises what workers send ("dssgd"). The promise covers what the server gets, thus the global network; the
        workers' own taggers and ``history_`` have seen their data without noise. It needs ``random_state=None``:
        whoever knows the seed can take the noise off. It protects a worker as a whole, and supposes noise that
        cannot be predicted.
    delta : float in (0, 1), default=1e-5
        Of ``epsilon_`` with Gaussian noise.
    validation_fraction : float in (0, 1) or None, default=None
        Share of each worker's patients that `fit` holds out to measure F1 after each local epoch.
    labels : sequence of str or None, default=None
        Label set of all workers; None is the union of those that occur in the data of the first call.
    keep_exchange : bool, default=False
        Keep all messages in ``exchange_``, to attack them: ``AdversarialPrivacyAuditor().audit(ensemble, X, y,
        groups)``, with what it was fitted on.
    n_jobs : int or None, default=None
        Processes for local epochs that do not wait for each other; needs a schedule other than "sequential".
    verbose : int, default=0
        1 prints a line for each local epoch.
    random_state : int, RandomState or None, default=None
        Of the split, the taggers, what is sent, ties and delays. The result does not depend on ``n_jobs``.

    Attributes
    ----------
    estimators_ : list of DeidTagger
        The workers' taggers.
    global_estimator_ : DeidTagger
        The global network; not with "local".
    classes_ : ndarray of shape (n_classes,)
        Tags; the columns of `predict_proba`.
    labels_ : list of str
    history_ : federated.History
        A line for each worker and local epoch: bytes, staleness, losses, F1 of held-out patients.
    exchange_ : federated.ExchangeRecord
        With ``keep_exchange``.
    epsilon_ : ndarray of shape (n_workers,)
        With ``privacy``.
    n_features_in_ : int
        Width of the vectors, where X was a `TokenVectors`.

    References
    ----------
    Shokri & Shmatikov (2015), Privacy-Preserving Deep Learning, CCS.
    Festag & Spreckelsen (2020), Privacy-Preserving Deep Learning for the Detection of Protected Health Information in
    Real-World Data, JMIR Formative Research 4(5).

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, DSSGDEnsemble
    >>> X = [["Mr", "Alder", "was", "seen"], ["No", "pain"]] * 8
    >>> y = [["O", "B-PATIENT", "O", "O"], ["O", "O"]] * 8
    >>> tagger = DeidTagger(hidden_size=8, batch_size=20, lr=0.01)
    >>> ensemble = DSSGDEnsemble(tagger, n_workers=2, strategy="fedavg", n_epochs=15, random_state=0)
    >>> ensemble.fit(X, y, groups=[i // 2 for i in range(16)]).predict([["Mr", "Alder", "was", "seen"]])[0]
    ['O', 'B-PATIENT', 'O', 'O']
    """

    _training: Training
    _rng: np.random.Generator
    _patients: dict[Hashable, int] | None = None

    _parameter_constraints: dict[str, list] = {
        "estimator": [DeidTagger, None],
        "n_workers": [Interval(Integral, 1, None, closed="left")],
        "strategy": [StrOptions(set(STRATEGIES))],
        "upload_fraction": [Interval(Real, 0, 1, closed="both")],
        "download_fraction": [Interval(Real, 0, 1, closed="both")],
        "clip": [Interval(Real, 0, math.inf, closed="right")],
        "threshold": [Interval(Real, 0, None, closed="left")],
        "selection": [StrOptions(set(SELECTIONS))],
        "half": ["boolean"],
        "error_feedback": ["boolean"],
        "schedule": [StrOptions(set(SCHEDULES))],
        "mean_delay": [Interval(Real, 0, None, closed="left")],
        "server_step": [Interval(Real, 0, None, closed="neither")],
        "download_selection": [StrOptions(set(DOWNLOAD_SELECTIONS))],
        "n_epochs": [Interval(Integral, 1, None, closed="left")],
        "predict_with": [StrOptions({"global", "vote", "worker"})],
        "worker": [Interval(Integral, 0, None, closed="left")],
        "aggregation": [StrOptions(set(AGGREGATES))],
        "n_trim": [Interval(Integral, 0, None, closed="left")],
        "max_norm": [Interval(Real, 0, None, closed="neither"), None],
        "privacy": [GaussianUpload, SparseVectorUpload, None],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), None],
        "labels": [list, tuple, np.ndarray, None],
        "keep_exchange": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: DeidTagger | None = None,
        *,
        n_workers: int = 5,
        strategy: str = "dssgd",
        upload_fraction: float = 0.5,
        download_fraction: float = 0.1,
        clip: float = 10.0,
        threshold: float = 1e-4,
        selection: str = "random",
        half: bool = False,
        error_feedback: bool = False,
        schedule: str = "concurrent",
        mean_delay: float = 1.0,
        server_step: float = 1.0,
        download_selection: str = "most-updated",
        n_epochs: int = 25,
        predict_with: str = "global",
        worker: int = 0,
        aggregation: str = "mean",
        n_trim: int = 1,
        max_norm: float | None = None,
        privacy: GaussianUpload | SparseVectorUpload | None = None,
        delta: float = 1e-5,
        validation_fraction: float | None = None,
        labels: Sequence[str] | None = None,
        keep_exchange: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_workers, self.strategy, self.n_epochs = n_workers, strategy, n_epochs
        self.upload_fraction, self.download_fraction = upload_fraction, download_fraction
        self.clip, self.threshold, self.selection, self.half = clip, threshold, selection, half
        self.schedule, self.mean_delay, self.server_step = schedule, mean_delay, server_step
        self.download_selection, self.error_feedback = download_selection, error_feedback
        self.predict_with, self.worker = predict_with, worker
        self.aggregation, self.n_trim, self.max_norm = aggregation, n_trim, max_norm
        self.privacy, self.delta = privacy, delta
        self.validation_fraction, self.labels, self.keep_exchange = validation_fraction, labels, keep_exchange
        self.n_jobs, self.verbose, self.random_state = n_jobs, verbose, random_state

    # ---- training

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> DSSGDEnsemble:
        """Split the patients over the workers and train.

        Parameters
        ----------
        X : sequence of n sentences, `TokenSequences` or `TokenVectors`
        y : sequence of n tag sequences
        groups : array-like of shape (n,), optional
            Patient of each sentence; a patient stays with one worker.

        Returns
        -------
        self
            If it is interrupted from the keyboard, with the epochs that ended; ``history_.interrupted`` says so.

        Raises
        ------
        SequenceError
            If X and y do not match, or there are fewer patients than workers.
        ExchangeError
            If the training of a worker diverges.

        Warns
        -----
        UserWarning
            If ``groups`` are missing.
        """
        everything = checked_part(self._checked_tagger(), X, y, groups)
        return self._start(everything, None, self.n_epochs)

    def fit_workers(self, parts: Sequence[tuple]) -> DSSGDEnsemble:
        """Train with data that are apart already.

        Parameters
        ----------
        parts : sequence of (X, y) or (X, y, groups)
            One a worker, each as in `fit`.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If a worker has no data or other inputs than the first.
        """
        return self._start(None, self._apart(self._checked_tagger(), parts), self.n_epochs)

    def partial_fit(self, X: Any, y: Any, *, groups: Any = None) -> DSSGDEnsemble:
        """Train one more round: a local epoch of each worker at a constant learning rate.

        Parameters
        ----------
        X, y, groups
            As in `fit`. Patients that were seen before go to the worker that had them.

        Raises
        ------
        SequenceError
            Also if y holds labels that are not among ``labels_``.
        """
        everything = checked_part(self._checked_tagger(), X, y, groups)
        if hasattr(self, "_training"):
            return self._round(everything, None)
        return self._start(everything, None, None)

    def partial_fit_workers(self, parts: Sequence[tuple]) -> DSSGDEnsemble:
        """As `partial_fit`, with data that are apart already, one part for each worker."""
        apart = self._apart(self._checked_tagger(), parts)
        if hasattr(self, "_training"):
            return self._round(None, apart)
        return self._start(None, apart, None)

    # ---- what training needs

    def _checked_tagger(self) -> DeidTagger:
        """A tagger to clone for each worker, which reads nothing private."""
        check_constraints(self)
        if self.predict_with == "global" and self.strategy == "local":
            raise ValueError("strategy='local' has no global network: set predict_with='vote' or 'worker'.")
        tagger = DeidTagger() if self.estimator is None else clone(self.estimator)
        for name, reason in (
            ("train_split", "set 'validation_fraction' of the ensemble to measure F1"),
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
        first = next(iter(learners.values()))  # all workers begin with its weights
        training = run_strategy(
            plan, learners, first.get_flat(), first.layout.fingerprint, random_state=rng, **self._watching(n_epochs)
        )
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
            "evaluate": _Progress(n_epochs) if self.verbose else None,
        }

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

    # ---- tagging

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Tag sentences, by whom ``predict_with`` says.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`
        return_confidence : bool, default=False
            Also return the probability of each chosen tag; with "vote", the summed probabilities of those who voted
            for it, divided by the number of workers.

        Returns
        -------
        y : ndarray of shape (n,), dtype object
            One list of IOB2 tags for each sentence.
        confidence : ndarray of shape (n,), dtype object
            One float array for each sentence; only with ``return_confidence``.
        """
        taggers = self._taggers()
        if len(taggers) == 1:
            return taggers[0].predict(X, return_confidence)
        if not return_confidence:
            return object_rows(majority_tags([tagger.predict(X) for tagger in taggers])[0])
        answers, sure = zip(*(tagger.predict(X, True) for tagger in taggers), strict=True)
        tags, confidence = majority_tags(answers, sure)
        return object_rows(tags), object_rows(confidence)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Marginal probability of each tag at each token; with "vote", the mean over the workers.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`

        Returns
        -------
        ndarray of shape (n,), dtype object
            Of arrays of shape (n_tokens, n_classes); columns as in ``classes_``.
        """
        answers = [tagger.predict_proba(X) for tagger in self._taggers()]
        return object_rows(np.mean(np.stack(rows), axis=0) for rows in zip(*answers, strict=True))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Micro F1 of typed spans; ``sample_weight`` is not supported."""
        if sample_weight is not None:
            raise ValueError("DSSGDEnsemble.score does not take sample weights: spans are counted, not averaged.")
        return float(phi_f1_score(y, self.predict(X)))

    def score_workers(self, X: Any, y: Any) -> np.ndarray:
        """As `score`, of each worker's own tagger: shape (n_workers,)."""
        check_is_fitted(self)
        return np.array([tagger.score(X, y) for tagger in self.estimators_])

    def _taggers(self) -> list[DeidTagger]:
        """Who predicts."""
        check_is_fitted(self)
        if self.predict_with == "vote":
            return self.estimators_
        if self.predict_with == "global":
            if not hasattr(self, "global_estimator_"):
                raise ValueError("strategy='local' has no global network: set predict_with='vote' or 'worker'.")
            return [self.global_estimator_]
        if self.worker >= len(self.estimators_):
            raise ValueError(
                f"The 'worker' parameter must be from 0 to {len(self.estimators_) - 1}. Got {self.worker!r} instead."
            )
        return [self.estimators_[self.worker]]

    # ---- privacy

    @property
    def _releases(self) -> str | None:
        """What an audit attacks: the updates, if they were kept."""
        return "updates" if hasattr(self, "exchange_") else None

    @property
    def epsilon_(self) -> np.ndarray:
        """Differential privacy that each worker has spent, shape (n_workers,); see `federated.PrivacyLedger`.

        For any change of a worker's data (a note, a patient, all of them), and with ``delta`` if the noise is
        Gaussian. It covers uploads, not ``history_`` and not the workers' own taggers.

        Raises
        ------
        MissingDependencyError
            If the noise is Gaussian and the extra ``privacy`` is not installed.
        """
        check_is_fitted(self)
        ledgers = [worker.ledger for worker in self._training.workers]
        if self.privacy is None and not any(map(len, ledgers)):
            raise AttributeError("epsilon_ is there only if 'privacy' is set: plain uploads promise nothing formal.")
        return np.array([spent_epsilon(ledger, self.delta) for ledger in ledgers])


class _Progress:
    """Prints a line for each local epoch: numbers, no text of notes."""

    def __init__(self, n_epochs: int | None) -> None:
        self.n_epochs = n_epochs

    def __call__(self, name: str, learner: Any) -> dict[str, float]:
        figures = ", ".join(f"{key} {value:.4f}" for key, value in learner.figures.items())
        of_all = "" if self.n_epochs is None else f" of {self.n_epochs}"
        print(f"{name}, epoch {learner.n_epochs}{of_all}: {figures}", flush=True)
        return {}
