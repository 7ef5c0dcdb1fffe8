"""`DSSGDEnsemble`: train one tagger at several places without moving notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, StrOptions
from ..metrics import phi_f1_score
from ..sequences import object_rows
from ..tagging.marginals import majority_tags
from ..tagging.tagger import DeidTagger
from .ensemble_training import EnsembleTraining
from .noise import GaussianUpload, SparseVectorUpload
from .privacy_spent import spent_epsilon
from .robust import AGGREGATES
from .schedules import SCHEDULES
from .selection import DOWNLOAD_SELECTIONS, SELECTIONS
from .strategies import STRATEGIES
from .worker_data import checked_part

__all__ = ["DSSGDEnsemble"]


class DSSGDEnsemble(EnsembleTraining):
    """Workers that train one tagger together and exchange a chosen part of their updates instead of notes.

    Everything runs on this machine, with the messages, server and workers of `sklearn_deid.federated`: it shows what
    an exchange would bring and cost before hospitals set one up. What each strategy gives away, and what the privacy
    options promise, is in ``docs/federated.md``.

    Parameters
    ----------
    estimator : DeidTagger, default=None
        The tagger of each worker; None is ``DeidTagger()``. Its ``embeddings`` must be public; "auto" is a table of
        random vectors of hashed character n-grams here, the same for all. Its ``max_epochs`` is replaced by
        ``n_epochs``, its ``random_state`` by seeds drawn from the one of the ensemble. ``validation_fraction``,
        ``patience`` and ``augmenter`` must be None.
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
