"""`DSSGDEnsemble`: training of one tagger by several workers without moving notes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, StrOptions, check_constraints, unfitted_if_failed, with_objects
from .._randomness import own_generator
from ..exceptions import ExchangeError, SequenceError
from ..sequences import object_rows
from ..tagging.marginals import TokenTagger, majority_tags
from ..tagging.tagger import DeidTagger
from .derived_settings import worker_settings
from .ended_training import ended_taggers, tell_interruption
from .ensemble_plan import averaging_of, check_next_round, length_of, patient_privacy_of, plan_of, strategy_of
from .federated_averaging import FederatedAveraging
from .noise import GaussianUpload, SparseVectorUpload
from .patient_privacy import ONE_PLAN, PatientPrivacy
from .patient_steps import check_trainable
from .privacy_ledger import spent_epsilon
from .random_delay import RandomDelay
from .record import ExchangeRecord
from .schedules import SCHEDULES
from .selection import DOWNLOAD_SELECTIONS, SELECTIONS
from .sparse import DTYPES
from .strategies import STRATEGIES, Training, go_on, run_strategy
from .tagger_learner import TaggerLearner, map_in_processes, tagger_from_vector
from .worker_data import (
    WorkerData,
    agreed_labels,
    check_alike,
    check_public_start,
    checked_part,
    checked_parts,
    divided,
    joined,
    public_embeddings,
)

_NO_GLOBAL = "strategy='local' has no global network: set predict_with='vote' or the index of a worker."
# Meaning of the short forms, so that their parameters can be set by name.
_LONG_FORMS = {
    "strategy": lambda value: FederatedAveraging() if value in ("auto", "fedavg") else value,
    "schedule": lambda value: RandomDelay() if value == "random-delay" else value,
}


class DSSGDEnsemble(TokenTagger, BaseEstimator):
    """Workers that train one tagger together and exchange a chosen part of their updates instead of notes.

    Everything runs on this machine, with the messages, the server and the workers of `sklearn_deid.federated`. You can
    therefore measure the benefit and the cost of an exchange between hospitals before you set up an exchange.
    ``docs/federated.md`` describes the information that each strategy reveals, and the guarantees of the privacy
    options.

    Parameters
    ----------
    estimator : DeidTagger, default=None
        Tagger that is cloned for each worker. None means ``DeidTagger()``. The ``embeddings`` of the tagger must be
        public. In the ensemble, "auto" means random vectors of hashed character n-grams, which are equal for all
        workers. Each vector is followed by the kinds of public lists that contain the word, as in `DeidTagger`. If the
        notes of all workers are in one language, the lists of this language are included, except with ``privacy``.
        ``n_epochs`` of the ensemble replaces ``max_epochs`` of the tagger. Seeds drawn from the ``random_state`` of the
        ensemble replace the ``random_state`` of the tagger. ``validation_fraction``, ``patience`` and ``augmenter`` of
        the tagger must be None. ``warm_start_from`` may be a model of the package, which was trained on generated
        notes. The weights of a label then start from the weights of the model's label with the same name.
    n_workers : int, default=5
        Number of workers among which `fit` splits the patients. `fit_workers` instead creates one worker for each part.
    strategy : {"auto", "centralized", "round_robin", "dssgd", "local", "fedavg"} or FederatedAveraging, default="auto"
        Strategy of the training.

        - ``"auto"``: distributed selective SGD if ``privacy`` adds noise to uploads, or if a parameter marked with
          "dssgd" differs from its default. In all other cases, "auto" is federated averaging, which had a higher F1
          (``docs/federated.md``).
        - ``"centralized"``: one tagger on all data. The centralized tagger is the upper bound of a comparison.
        - ``"round_robin"``: each worker passes the whole model to the next worker.
        - ``"dssgd"``: distributed selective SGD.
        - ``"local"``: each worker trains alone. Local taggers are the lower bound of a comparison.
        - ``"fedavg"``: federated averaging, short for `FederatedAveraging` with its defaults.
    upload_fraction : float in [0, 1], default=0.5
        theta_u, the largest fraction of all parameters that a worker sends after a local epoch ("dssgd" only).
    download_fraction : float in [0, 1], default=0.1
        theta_d, the fraction of all parameters that a worker fetches before a local epoch ("dssgd" only).
    clip : float, default=10.0
        gamma, the largest magnitude of a sent value ("dssgd" only); ``inf`` means no limit. With other strategies,
        `fit` refuses all values except 10 and ``inf``.
    threshold : float, default=1e-4
        tau. Values whose magnitude is at most tau are not sent ("dssgd" only).
    selection : {"random", "largest"}, default="random"
        Selection among the values above the threshold: a random part, or the largest values ("dssgd" only).
    upload_dtype : {"float32", "float16"}, default="float32"
        Type of the values in messages ("dssgd" only). With "float16", uploads and the downloads before each local epoch
        take about half the bytes. The first copy of the model is always float32.
    error_feedback : bool, default=False
        Whether unsent values of an epoch are added to the update of the next epoch ("dssgd" only). Combine error
        feedback with ``selection="largest"``, ``download_selection="most-changed"`` and a ``server_step`` between 1 /
        n_workers and 1. With these settings, F1 is higher with a tenth of the parameters than with half of the
        parameters and the settings of the papers (``docs/federated.md``).
    schedule : {"sequential", "concurrent", "random-delay"} or RandomDelay, default="concurrent"
        Order of downloads, epochs and uploads ("dssgd" only), see `federated.plan_steps`. "random-delay" is short for
        `RandomDelay` with its defaults.
    server_step : float or "auto", default="auto"
        Factor by which the server multiplies updates ("dssgd") or the mean of the updates ("fedavg"). "auto" is the
        square root of the number of workers for federated averaging without ``privacy``, else 1.
    download_selection : {"most-updated", "random", "most-changed"}, default="most-updated"
        Selection of the parameters that a worker fetches ("dssgd" only).

        - "most-updated": the parameters with the highest update counters, as in the papers. With optimizers that change
          all weights by similar amounts, the same parameters keep being chosen.
        - "random": a random part of all updated parameters.
        - "most-changed": the parameters that have changed most since the worker last fetched them.
    max_norm : float or None, default=None
        Largest Euclidean norm of an update that the server accepts. The server refuses longer updates ("dssgd" only).
        `FederatedAveraging` has its own ``max_norm`` and shrinks longer updates to this norm.
    n_epochs : int or "auto", default="auto"
        Number of passes of each worker over its notes. Federated averaging may divide a pass into several rounds.
        "auto" is 20 passes, and up to 100 passes if 20 passes over the notes of all workers have fewer than 3,000
        batches. With ``privacy``, "auto" is 25.
    predict_with : {"global", "vote"} or int, default="global"
        Tagger that predicts: the global network, the majority of the workers' taggers, or the tagger of the worker with
        this index. The strategy "local" has no global network.
    privacy : None, PatientPrivacy, GaussianUpload or SparseVectorUpload, default=None
        `PatientPrivacy` trains every worker with differential privacy for each patient, under any strategy. `fit` then
        needs ``groups`` and ``labels``, and all workers have the same weight in an average. The guarantee treats the
        assignment of patients to workers as public: `fit` computes the assignment from the numbers of sentences of all
        patients.

        `GaussianUpload` and `SparseVectorUpload` add noise to the uploads ("dssgd" only). The guarantee of noise on
        uploads protects all data of a worker. The guarantee covers all values that the server receives, and therefore
        the global network. The guarantee does not cover the workers' own taggers and ``history_``, which are computed
        from the data without noise. The guarantee treats the label set and the assignment of patients as public. `fit`
        therefore needs ``labels``, because a label of a single note would otherwise change the network. Noise needs
        ``random_state=None``, because anyone who knows the seed can subtract the noise. The noise of `PatientPrivacy`
        never comes from a seed.
    delta : float in (0, 1), default=1e-5
        delta of ``epsilon_`` with `GaussianUpload`. `PatientPrivacy` has its own delta.
    validation_fraction : float in (0, 1), "rotating" or None, default=None
        Fraction of each worker's patients that `fit` holds out to measure F1 after each local epoch. With "dssgd" and
        "fedavg", each worker then also tests every download on these patients. The worker rejects downloads that would
        make its network much worse, and ends with its best network (`federated.HeldOutGuard`). With "rotating", each
        pass holds out other patients to test downloads, as at real sites (`federated.RotatingPatients`), and no F1 is
        measured.
    labels : sequence of str or None, default=None
        Label set of all workers. None means the union of the labels that occur in the data of the first call. With
        ``privacy``, None is refused.
    keep_exchange : bool, default=False
        Whether all messages are kept in ``exchange_``, so that ``AdversarialPrivacyAuditor().audit(ensemble, X, y,
        groups)`` can attack the messages. Pass the training data as X, y and groups. A further round without
        ``keep_exchange`` deletes the messages of the earlier rounds.
    n_jobs : int or None, default=None
        Number of processes for local epochs that do not wait for each other. The parameter has no effect with the
        schedule "sequential".
    verbose : int, default=0
        Whether to print a line for each local epoch (1) or nothing (0).
    random_state : int, RandomState or None, default=None
        Random seed of the split, the taggers, the selection, ties and delays. With one torch thread, the result does
        not depend on ``n_jobs``. With several torch threads, sums are rounded differently. With None, the fitted
        taggers do not keep the seeds that were drawn for the workers.

    Attributes
    ----------
    estimators_ : list of DeidTagger
        Taggers of the workers.
    global_estimator_ : DeidTagger
        Tagger with the global network. The strategy "local" has none.
    classes_ : ndarray of shape (n_classes,)
        Tags, in the order of the columns of `predict_proba`.
    labels_ : list of str
        Label set of all workers.
    history_ : federated.History
        Record for each worker and local epoch: bytes, staleness (`federated.EpochRecord`), losses, F1 of held-out
        patients.
    exchange_ : federated.ExchangeRecord
        All messages, if ``keep_exchange`` is True.
    epsilon_ : ndarray of shape (n_workers,)
        Privacy loss of each worker, if ``privacy`` is set.
    n_features_in_ : int
        Width of the vectors, if X was a `TokenVectors`.

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
        "strategy": [StrOptions({"auto", *STRATEGIES}), FederatedAveraging],
        "upload_fraction": [Interval(Real, 0, 1, closed="both")],
        "download_fraction": [Interval(Real, 0, 1, closed="both")],
        "clip": [Interval(Real, 0, math.inf, closed="right")],
        "threshold": [Interval(Real, 0, None, closed="left")],
        "selection": [StrOptions(set(SELECTIONS))],
        "upload_dtype": [StrOptions(set(DTYPES))],
        "error_feedback": ["boolean"],
        "schedule": [StrOptions(set(SCHEDULES)), RandomDelay],
        "server_step": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "download_selection": [StrOptions(set(DOWNLOAD_SELECTIONS))],
        "max_norm": [Interval(Real, 0, None, closed="neither"), None],
        "n_epochs": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "predict_with": [StrOptions({"global", "vote"}), Interval(Integral, 0, None, closed="left")],
        "privacy": [PatientPrivacy, GaussianUpload, SparseVectorUpload, None],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), StrOptions({"rotating"}), None],
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
        strategy: str | FederatedAveraging = "auto",
        upload_fraction: float = 0.5,
        download_fraction: float = 0.1,
        clip: float = 10.0,
        threshold: float = 1e-4,
        selection: str = "random",
        upload_dtype: str = "float32",
        error_feedback: bool = False,
        schedule: str | RandomDelay = "concurrent",
        server_step: float | str = "auto",
        download_selection: str = "most-updated",
        max_norm: float | None = None,
        n_epochs: int | str = "auto",
        predict_with: str | int = "global",
        privacy: PatientPrivacy | GaussianUpload | SparseVectorUpload | None = None,
        delta: float = 1e-5,
        validation_fraction: float | str | None = None,
        labels: Sequence[str] | None = None,
        keep_exchange: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_workers, self.strategy, self.n_epochs = n_workers, strategy, n_epochs
        self.upload_fraction, self.download_fraction = upload_fraction, download_fraction
        self.clip, self.threshold, self.selection, self.upload_dtype = clip, threshold, selection, upload_dtype
        self.schedule, self.server_step, self.max_norm = schedule, server_step, max_norm
        self.download_selection, self.error_feedback = download_selection, error_feedback
        self.predict_with, self.privacy, self.delta = predict_with, privacy, delta
        self.validation_fraction, self.labels, self.keep_exchange = validation_fraction, labels, keep_exchange
        self.n_jobs, self.verbose, self.random_state = n_jobs, verbose, random_state

    def set_params(self, **params: Any) -> DSSGDEnsemble:
        """Set parameters, including parameters of the tagger and of strategy objects, as in ``strategy__n_trim=2``.

        If you set a parameter of the short form "auto" or "fedavg" (``strategy``) or "random-delay" (``schedule``), an
        object with this parameter replaces the short form.
        """
        return super().set_params(**with_objects(self, params, _LONG_FORMS))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Without a seed, uploads are chosen with keys from the operating system, and two runs differ.
        tags.non_deterministic = self.random_state is None
        return tags

    # ---- training

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> DSSGDEnsemble:
        """Split the patients over the workers and train.

        Parameters
        ----------
        X : sequence of n sentences, `TokenSequences` or `TokenVectors`
            Training sentences.
        y : sequence of n tag sequences
            Tags of the sentences.
        groups : array-like of shape (n,), optional
            Patient of each sentence. All sentences of a patient go to one worker.

        Returns
        -------
        self
            Fitted ensemble. After an interruption by Ctrl-C, the ensemble keeps the completed epochs, and
            ``history_.interrupted`` is True.

        Raises
        ------
        SequenceError
            If X and y do not match, or if there are fewer patients than workers.
        ExchangeError
            If the training of a worker diverges.

        Warns
        -----
        UserWarning
            If ``groups`` are missing.
        TrainingInterruptedWarning
            If Ctrl-C ended the training. Before each worker has completed a local epoch, Ctrl-C raises
            KeyboardInterrupt.
        """
        return self._start(checked_part(self._checked_tagger(), X, y, groups), self.n_epochs)

    def fit_workers(self, parts: Sequence[tuple]) -> DSSGDEnsemble:
        """Train with data that are already split over the workers.

        Parameters
        ----------
        parts : sequence of (X, y) or (X, y, groups)
            Data of each worker, with the parameters of `fit`.

        Returns
        -------
        self
            Fitted ensemble.

        Raises
        ------
        SequenceError
            If a worker has no data, or if workers have different kinds of inputs: tokens, or vectors of different
            widths.
        """
        return self._start(checked_parts(self._checked_tagger(), parts), self.n_epochs)

    def partial_fit(self, X: Any, y: Any, *, groups: Any = None) -> DSSGDEnsemble:
        """Train one more round: a local epoch of each worker at a constant learning rate.

        Parameters
        ----------
        X, y, groups
            Parameters of `fit`. Known patients go to their earlier worker.

        Raises
        ------
        SequenceError
            If X and y do not match, if there are fewer patients than workers, or if y holds labels that are not among
            ``labels_``.
        ValueError
            If the noise on uploads would have an epsilon above 100 after this round. The ensemble is unchanged in this
            case.
        """
        return self._round(checked_part(self._checked_tagger(), X, y, groups))

    def partial_fit_workers(self, parts: Sequence[tuple]) -> DSSGDEnsemble:
        """Train one more round with data that are already split over the workers, one part for each worker."""
        return self._round(checked_parts(self._checked_tagger(), parts))

    # ---- what training needs

    def _checked_tagger(self, parts: Sequence[WorkerData] = ()) -> DeidTagger:
        """Check the parameters, and return the tagger that is cloned for each worker. Its embeddings are public."""
        for checked in (self, self.strategy, self.schedule):
            if isinstance(checked, BaseEstimator):
                check_constraints(checked)
        # The check comes before the training, which may take hours.
        if self.predict_with == "global" and self.strategy == "local":
            raise ValueError(_NO_GLOBAL)
        # A limit that is not applied would send values that the user holds back.
        for name, unlimited in (("max_norm", (None,)), ("clip", (10.0, math.inf))):
            if getattr(self, name) not in unlimited and strategy_of(self) != "dssgd":
                raise ValueError(
                    f"The '{name}' parameter of DSSGDEnsemble must be {unlimited[0]} unless strategy='dssgd'. Got "
                    f"{getattr(self, name)!r} instead. For averaging, use strategy=FederatedAveraging(max_norm=...)."
                )
        privacy = patient_privacy_of(self)
        if privacy is not None:
            # One ledger file for several workers would count the steps of all of them.
            if privacy.ledger is not None:
                raise ValueError("The 'ledger' of PatientPrivacy must be None in a DSSGDEnsemble: each worker has one.")
            # The union of the labels that occur would reveal that a patient has a rare label.
            if self.labels is None:
                raise ValueError("The 'labels' parameter of DSSGDEnsemble must be set with PatientPrivacy.")
        if isinstance(self.strategy, FederatedAveraging) and self.strategy.masks is not None and self.keep_exchange:
            raise ValueError("'keep_exchange' must be False with masks: an audit reads single updates.")
        tagger = DeidTagger() if self.estimator is None else clone(self.estimator)
        for name, reason in (
            ("validation_fraction", "set 'validation_fraction' of the ensemble to measure F1"),
            ("patience", "all workers train 'n_epochs'"),
            ("augmenter", "an augmenter would learn from each worker's own notes; perturb the sentences beforehand"),
        ):
            if getattr(tagger, name) not in (None, "auto"):
                raise ValueError(f"The '{name}' parameter of the estimator must be None in a DSSGDEnsemble: {reason}.")
        tagger.check_parameters()
        check_public_start(tagger.warm_start_from)
        # No guarantee would cover a language that all notes together decide.
        vectors = public_embeddings(tagger.embeddings, parts if self.privacy is None else ())
        return tagger.set_params(embeddings=vectors, max_epochs=self.n_epochs, warm_start=False)

    def _parts(
        self, data: WorkerData | list[WorkerData], n_workers: int, known: dict[Hashable, int] | None, rng: Any
    ) -> list[WorkerData]:
        """Data of each learner. Undivided data are split over the workers. A single learner has all data."""
        # A single learner reads all sentences, so that no patient has to be assigned.
        if strategy_of(self) == "centralized":
            parts = [data] if isinstance(data, WorkerData) else data
            check_alike(parts)
            if patient_privacy_of(self) is not None:
                # Joined parts have numbers of sentences where patients are missing, each of them with an epsilon.
                for part in parts:
                    check_trainable(self._checked_tagger(), part)
            return [joined(parts)]
        return divided(data, n_workers, known, rng) if isinstance(data, WorkerData) else data

    # ---- rounds

    def _start(self, data: WorkerData | list[WorkerData], n_epochs: int | str | None = None) -> Any:
        """Split undivided data, and train from new weights. With ``n_epochs`` of None, train one round."""
        known: dict[Hashable, int] | None = {} if isinstance(data, WorkerData) else None
        rng = own_generator(self.random_state)
        # The split has its own random stream, so that taggers have the same seeds in fit and fit_workers.
        parts = self._parts(data, self.n_workers, known, rng.spawn(1)[0])
        planned, n_parts = None, 1
        if n_epochs is not None:
            planned, n_parts = length_of(self, n_epochs, sum(len(part.X.data) for part in parts))
        plan = plan_of(self, parts, planned or 1)
        tested = None if planned is None else plan.tested(self.validation_fraction)
        check_alike(parts)
        # No noise hides that a label occurs: a label of a single note would change the network of all workers.
        if self.privacy is not None and self.labels is None:
            raise ValueError("The 'labels' parameter of DSSGDEnsemble must be set with noise on uploads.")
        labels = agreed_labels(parts, self.labels)
        learners = self._learners(parts, labels, rng)
        for learner, part in zip(learners.values(), parts, strict=True):
            learner.plan(part, planned, tested, n_parts)
        # All workers begin with the weights of the first learner.
        first = next(iter(learners.values()))
        start = first.get_flat(), first.layout.fingerprint
        # A new training begins a new record. `_watching` creates the record if it is asked for.
        for name in ("exchange_", "_training"):
            self.__dict__.pop(name, None)
        with unfitted_if_failed(self):
            training = run_strategy(plan, learners, *start, random_state=rng, **self._watching(planned))
            self._rng, self._trained_by, self._patients = rng, strategy_of(self), known
            self.labels_ = labels
            return self._keep(training)

    def _learners(
        self, parts: Sequence[WorkerData], labels: list[str], rng: np.random.Generator
    ) -> dict[str, TaggerLearner]:
        """Create one learner for each worker, with one label set for all workers."""
        tagger = self._checked_tagger(parts)
        privacy, averaging, proximal = patient_privacy_of(self), averaging_of(self), 0.0
        if strategy_of(self) == "fedavg":
            proximal = averaging.proximal
            if averaging.divide_batches:
                tagger.set_params(**worker_settings(tagger.batch_size, tagger.lr, len(parts), privacy is not None))
        # Own seeds: with a common one all workers would drop the same units and swap the same spans.
        seeds = rng.integers(2**31, size=len(parts)).tolist()
        return {
            f"worker-{i}": TaggerLearner(clone(tagger).set_params(random_state=seed), part, labels, privacy, proximal)
            for i, (part, seed) in enumerate(zip(parts, seeds, strict=True))
        }

    def _round(self, data: WorkerData | list[WorkerData]) -> Any:
        """Train the workers of an earlier call for one more round; without an earlier call, a first round."""
        if not hasattr(self, "_training"):
            return self._start(data)
        training = self._training
        if strategy_of(self) != self._trained_by:
            raise ValueError(f"These workers were trained with strategy={self._trained_by!r}; call fit to begin anew.")
        if patient_privacy_of(self) is not None:
            raise ExchangeError(ONE_PLAN)
        check_next_round(self, training.workers)
        # An audit of some rounds would report less than the server has seen.
        if self.keep_exchange and not hasattr(self, "exchange_"):
            raise ValueError("'keep_exchange' must be True from the first round on: earlier messages were not kept.")
        # Data that are split already draw no random numbers.
        splitting = self._rng.spawn(1)[0] if isinstance(data, WorkerData) else None
        parts = self._parts(data, len(training.workers), self._patients, splitting)
        if len(parts) != len(training.workers):
            raise SequenceError(f"There are {len(training.workers)} workers. Got data of {len(parts)} instead.")
        check_alike(parts, self.estimators_[0])
        agreed_labels(parts, self.labels_)
        learners: list[Any] = [worker.learner for worker in training.workers]
        # If a round fails, the learners keep no sentences, and their weights become the averages.
        try:
            for learner, part in zip(learners, parts, strict=True):
                learner.plan(part, None)
            if not self.keep_exchange:
                self.__dict__.pop("exchange_", None)
            training = go_on(plan_of(self, parts, 1), training, self._rng, **self._watching(None))
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
            "evaluate": partial(_print_epoch, n_epochs) if self.verbose else None,
        }

    def _keep(self, training: Training) -> Any:
        """Set the fitted attributes from the result of a training."""
        keeps_seeds = self.random_state is not None
        self.estimators_: list[DeidTagger] = ended_taggers(training.workers, keeps_seeds=keeps_seeds)
        self.history_ = training.history
        first = self.estimators_[0]
        self.classes_ = first.classes_
        # An earlier fit may have set these attributes, and the new training may not set them again.
        for name in ("n_features_in_", "global_estimator_"):
            self.__dict__.pop(name, None)
        if hasattr(first, "n_features_in_"):
            self.n_features_in_ = first.n_features_in_
        if training.parameters is not None:
            # After an interruption, finish() has replaced the weights by their average. The result of the run does not
            # have this average yet.
            is_alone = strategy_of(self) == "centralized"
            vector = training.workers[0].learner.get_flat() if is_alone else training.parameters
            self.global_estimator_ = tagger_from_vector(first, clone(first), vector)
        tell_interruption(training.history, training.workers)
        # Last: after an error there is nothing to continue.
        self._training = training
        return self

    def __getstate__(self) -> dict[str, Any]:
        # Patient ids stay out of files.
        return {name: value for name, value in super().__getstate__().items() if name != "_patients"}

    # ---- tagging

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Tag sentences with the tagger or taggers that ``predict_with`` selects.

        Parameters
        ----------
        X : sequence of n sentences
            Sentences in the format of `fit`.
        return_confidence : bool, default=False
            Whether to return the probability of each chosen tag too. With "vote", the confidence is the sum of the
            probabilities of the workers that voted for the tag, divided by the number of workers.

        Returns
        -------
        y : ndarray of shape (n,), dtype object
            One list of IOB2 tags for each sentence.
        confidence : ndarray of shape (n,), dtype object
            One float array for each sentence. Returned only if ``return_confidence`` is True.
        """
        taggers = self._taggers()
        # A single tagger needs no vote, and its tags are legal already.
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
            One array of shape (n_tokens, n_classes) for each sentence. The columns have the order of ``classes_``.
        """
        answers = [tagger.predict_proba(X) for tagger in self._taggers()]
        # for each sentence: (n_taggers, n_tokens, n_classes) -> (n_tokens, n_classes)
        return object_rows(np.mean(np.stack(rows), axis=0) for rows in zip(*answers, strict=True))

    def score_workers(self, X: Any, y: Any) -> np.ndarray:
        """Micro F1 of typed spans of each worker's own tagger, shape (n_workers,)."""
        check_is_fitted(self)
        return np.array([tagger.score(X, y) for tagger in self.estimators_])

    def _taggers(self) -> list[DeidTagger]:
        """Taggers that predict, according to ``predict_with``."""
        check_is_fitted(self)
        if self.predict_with == "vote":
            return self.estimators_
        if self.predict_with == "global":
            if not hasattr(self, "global_estimator_"):
                raise ValueError(_NO_GLOBAL)
            return [self.global_estimator_]
        if not isinstance(self.predict_with, Integral) or not 0 <= self.predict_with < len(self.estimators_):
            raise ValueError(
                "The 'predict_with' parameter of DSSGDEnsemble must be 'global', 'vote' or the index of a worker, from "
                f"0 to {len(self.estimators_) - 1}. Got {self.predict_with!r} instead."
            )
        return [self.estimators_[int(self.predict_with)]]

    # ---- privacy

    @property
    def _releases(self) -> str | None:
        """Target of an audit: "updates" if ``exchange_`` was kept, else None."""
        return "updates" if hasattr(self, "exchange_") else None

    @property
    def epsilon_(self) -> np.ndarray:
        """Epsilon that each worker has spent, shape (n_workers,); see `federated.PrivacyLedger`.

        With `PatientPrivacy`, the result is the epsilon of each patient, at the delta of `PatientPrivacy`. Otherwise
        the guarantee holds for any change of a worker's data: a note, a patient, or all data. With Gaussian noise the
        guarantee also has the ``delta`` of the ensemble. The guarantee covers the uploads. The guarantee does not cover
        ``history_`` and the workers' own taggers. Each `fit` starts `epsilon_` anew: after several fits on the same
        notes, add up the epsilons (and the deltas) of all fits. Epsilon is infinite if a worker has also sent updates
        without noise, because ``privacy`` was changed between two rounds.

        Raises
        ------
        MissingDependencyError
            If the noise is Gaussian and the extra ``privacy`` is not installed.
        """
        check_is_fitted(self)
        workers = self._training.workers
        learners: list[Any] = [worker.learner for worker in workers]
        if learners[0].ledger is not None:
            return np.array([learner.ledger.spent_epsilon() for learner in learners])
        # The parameter may have changed since the training: the workers know what they have done.
        if not any(worker.privacy is not None or len(worker.ledger) for worker in workers):
            raise AttributeError(
                "epsilon_ exists only if 'privacy' is set: uploads without noise have no formal guarantee."
            )
        return np.array(
            [
                spent_epsilon(worker.ledger, self.delta) if len(worker.ledger) == worker.sequence else math.inf
                for worker in workers
            ]
        )


def _print_epoch(n_epochs: int | None, name: str, learner: Any) -> dict[str, float]:
    """Print a line of metrics of a local epoch. The line holds no text of notes."""
    metrics = ", ".join(f"{key} {value:.4f}" for key, value in learner.metrics.items())
    of_all = "" if n_epochs is None else f" of {n_epochs}"
    print(f"{name}, epoch {learner.n_epochs}{of_all}: {metrics}", flush=True)
    return {}
