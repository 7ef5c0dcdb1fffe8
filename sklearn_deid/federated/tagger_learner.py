"""Learner of a worker with a `DeidTagger`: the network as one flat vector, trained epoch by epoch."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from torch import Tensor

from .._randomness import kept_torch_state, own_generator
from .._skorch import resolve_device
from ..exceptions import ExchangeError
from ..tagging.network_size import network_size
from ..tagging.splits import hold_out_patients
from ..tagging.strategies import plain_parameters
from ..tagging.tagger import DeidTagger
from ..tagging.training_loop import RATE_FROM_TAGGER
from ..tagging.warm_start import start_tagger, start_weights
from .layout import ParameterLayout
from .patient_ledger import PatientLedger
from .patient_privacy import ONE_PLAN, PatientPrivacy
from .patient_steps import PatientSteps, check_trainable, freeze_encoder, rate_of_last_layers
from .proximal_term import ProximalTerm
from .rotating_patients import ROTATING, RotatingPatients
from .rounds import MapEpochs
from .worker_data import WorkerData, agreed_labels, checked_part, public_embeddings


def tagger_layout(tagger: DeidTagger) -> ParameterLayout:
    """Order of the network's parameters in the exchanged vector.

    Two layouts have the same fingerprint if the same vector describes the same network. Equal fingerprints mean equal
    tags, settings of the network, width of the input vectors, and word vectors.
    """
    # Everything that gives the same vector another meaning is part of the fingerprint.
    vectors = tagger._vectors
    agreed = {
        "classes": tagger.classes_.tolist(),
        "network": _network_settings(tagger),
        "width": getattr(tagger, "n_features_in_", None),
        "vectors": None if vectors is None else vectors.checksum,
    }
    return ParameterLayout.of(_parameters(tagger), json.dumps(agreed, sort_keys=True))


def _network_settings(tagger: DeidTagger) -> dict[str, Any]:
    """Settings that must be equal in two networks, with the names in the fingerprints of running federations."""
    chosen = plain_parameters(tagger.get_params(deep=False))
    return {
        "encoder": chosen["encoder"],
        "head": chosen["head"],
        "scheme": chosen["tag_scheme"],
        "characters": chosen["characters"],
        "hidden_size": network_size(tagger).hidden_size,
        "n_layers": chosen["n_layers"],
        "n_heads": chosen.get("encoder__n_heads", 4),
        "constrained": chosen.get("head__constrained", True),
        "context": chosen["context"],
    }


def tagger_from_vector(model: DeidTagger, tagger: DeidTagger, vector: np.ndarray) -> DeidTagger:
    """Return a fitted tagger with the classes and inputs of ``model`` and the weights of ``vector``.

    The tagger does not keep the history, optimizer or random numbers of the training of ``model``.

    Parameters
    ----------
    model : DeidTagger
        Fitted tagger that provides classes and inputs.
    tagger : DeidTagger
        Tagger that is not fitted. The function fits this tagger in place.
    vector : ndarray of shape (n,)
        Weights in the order of `tagger_layout`.
    """
    tagger.classes_, tagger._reads_words, tagger._vectors = model.classes_, model._reads_words, model._vectors
    tagger._pretrained = model._pretrained
    tagger.hidden_size_, tagger.n_layers_ = network_size(model)
    if hasattr(model, "n_features_in_"):
        tagger.n_features_in_ = model.n_features_in_
    tagger._vectors_from = model._vectors_from
    # A tagger for predictions has no augmenter, no weights of tags, and a random stream of its own.
    tagger.augmenter_, tagger._tag_weights, tagger._rng = None, None, own_generator(tagger.random_state)
    with tagger._own_random_stream():
        tagger.initialize()
    _load(tagger, tagger_layout(tagger), vector)
    return tagger


def vector_of_tagger(tagger: DeidTagger) -> np.ndarray:
    """Return the weights of a fitted tagger in the order of `tagger_layout`, shape (n,), float32."""
    return tagger_layout(tagger).flatten(_parameters(tagger))


class TaggerLearner:
    """Learner of a `federated.Worker` that trains a `DeidTagger`.

    The learner trains like `DeidTagger.fit`, with a pause after each epoch. Learning rate, moving average of the
    weights, optimizer and random numbers continue after the pause, even if parameters were downloaded.

    - *Learning rate*: with an ``n_epochs`` in `plan`, the learning rate rises and falls once over all local epochs, as
      in `fit`. With None, each epoch trains like a call of `DeidTagger.partial_fit`.
    - *Optimizer*: the moments are never exchanged, and are kept when parameters are downloaded.
    - *Weight average*: the average covers all local epochs. The network trains with the plain weights, and the plain
      weights are exchanged. At the end of the last epoch the average replaces the weights, so the average is part of
      the last update.
    - *Span swapping*: swaps are drawn anew in each local epoch among the worker's own spans and invented spans
      (`tagging.SpanSwap`). With an ``n_epochs`` of None, no spans are invented, because inventing spans would take
      longer than the epoch.
    - *Patient-level privacy*: with ``privacy``, an epoch consists of the noisy steps of `PatientPrivacy`, without span
      swapping. Learning rate and weight average are the same as without noise.

    Parameters
    ----------
    tagger : DeidTagger
        Tagger that is not fitted. The learner trains this tagger in place. The ``random_state`` of the tagger is the
        random seed of the learner.
    part : WorkerData
        Sentences from which the weights of tags are computed.
    labels : sequence of str
        Label set that all workers share.
    privacy : PatientPrivacy, default=None
        Differential privacy of each patient. None trains without noise.
    proximal : float, default=0.0
        Weight of the `ProximalTerm`. Only without ``privacy``.

    Attributes
    ----------
    n_epochs : int
        Number of completed local epochs.
    ledger : PatientLedger or None
        Ledger of the patients, after `plan` with ``privacy``.
    metrics : dict of str to float
        Metrics of the last epoch: "train_loss" and, if patients are held out, "valid_loss" and "f1" (typed spans).
    """

    def __init__(
        self,
        tagger: DeidTagger,
        part: WorkerData,
        labels: list[str],
        privacy: PatientPrivacy | None = None,
        proximal: float = 0.0,
    ) -> None:
        self.tagger, self.privacy = tagger, privacy
        if privacy is not None and proximal:
            # The clipped gradients of patients leave no room for a term that belongs to no patient.
            raise ValueError("The 'proximal' parameter must be 0 with differential privacy for each patient.")
        self.ledger: PatientLedger | None = None
        if privacy is not None:
            check_trainable(tagger, part)
        tagger._rng = own_generator(tagger.random_state)
        tagger.augmenter_ = None
        with tagger._own_random_stream():
            # Every worker learns the same classes from the agreed labels, whatever labels its own notes hold.
            start = None if tagger.warm_start_from is None else start_tagger(tagger.warm_start_from)
            tagger._learn_inputs(part.X, part.tags, [f"B-{label}" for label in labels], start, None)
            tagger.initialize()
            if start is not None:
                # Without tags, labels are matched by name or by a public map: the first weights depend on no note.
                start_weights(tagger, start, [], [])
                tagger.starts_from_tagger_ = True
            self._has_new_labels = start is None or not set(tagger.classes_) <= set(start.classes_)
            self._stream = _stream_state(self._device)
        if self._trains_last_layers:
            freeze_encoder(tagger.module_)
        if proximal:
            # Not a parameter of the tagger: a saved common network needs no proximal term.
            tagger.callbacks_.append(("proximal", ProximalTerm(proximal)))
        self.layout = tagger_layout(tagger)
        self.n_epochs = 0
        self.metrics: dict[str, float] = {}
        # None means a single round: the learner does not know how many epochs will follow.
        self._planned: int | None = None
        # Training data of each part, and held-out data.
        self._data: tuple[list[Any], Any] | None = None
        # Hash of the held-out patients, for the saved state.
        self._held_out: str | None = None
        self._rotating: RotatingPatients | None = None
        self._begun = False
        self._vectors: tuple[Any, Any] | None = None

    # ---- the protocol of `federated.Learner`

    def get_flat(self) -> np.ndarray:
        """Current weights, shape (n,), float32."""
        return self.layout.flatten(_parameters(self.tagger))

    def set_flat(self, vector: np.ndarray) -> None:
        """Replace the weights. Optimizer and moving average are unchanged."""
        _load(self.tagger, self.layout, vector)

    def train_epoch(self) -> Mapping[str, float]:
        """Train for one pass over the worker's sentences, or over the next part of the sentences. Returns `metrics`."""
        assert self._data is not None, "plan comes first"
        with self._random_stream():
            if not self._begun:
                self.tagger.notify("on_train_begin", X=self._data[0][0], y=None)
                self._begun = True
            metrics = self._private_epoch() if self.privacy is not None else self._plain_epoch()
        self.n_epochs, self.metrics = self.n_epochs + 1, metrics
        if self._planned is None or self.n_epochs == self._planned:
            self.stop()
        return self.metrics

    def _plain_epoch(self) -> dict[str, float]:
        assert self._data is not None
        parts, valid = self._data
        number = self.n_epochs % len(parts)
        if self._rotating is not None:
            self._rotating.begin_epoch(parts[number], self.n_epochs)
        # As in `fit`, the batches of every epoch are made by the lengths before any span is swapped.
        parts[number].lengths = self._lengths[number]
        self.tagger.fit_loop((parts[number], valid), epochs=1)
        # The columns of skorch are renamed to the names of the history.
        row = self.tagger.history[-1]
        names = {"train_loss": "train_loss", "valid_loss": "valid_loss", "valid_f1": "f1"}
        return {name: float(row[column]) for column, name in names.items() if column in row}

    def _private_epoch(self) -> dict[str, float]:
        assert self._data is not None and self.ledger is not None
        callbacks = resumable_callbacks(self.tagger).values()
        metrics = {"train_loss": self._data[0][0].epoch(self.tagger, self.ledger, callbacks)}
        with self.tagger.averaged_weights():
            measured = self.held_out()
        return metrics if measured is None else {**metrics, "valid_loss": measured[0], "f1": measured[1]}

    def held_out(self) -> tuple[float, float] | None:
        """Loss and F1 (typed spans) of the current weights on held-out patients. None without held-out patients."""
        loss = self.held_out_loss()
        # A network whose scores are not finite tags nothing.
        if loss is None or math.isinf(loss):
            return None if loss is None else (loss, 0.0)
        return loss, self.tagger._held_out_f1(self._held_out_data())

    def held_out_loss(self) -> float | None:
        """Loss of the current weights on held-out patients, inf if the loss is not finite; None without patients."""
        valid = self._held_out_data()
        if valid is None or not valid.lengths.any():
            return None
        tagger = self.tagger
        tagger._set_training(False)
        total = 0.0
        with torch.no_grad():
            for batch, tags in tagger.get_iterator(valid, training=False):
                total += float(tagger.get_loss(tagger.infer(batch), tags, X=batch)) * len(batch)
        loss = total / max(int(np.count_nonzero(valid.lengths)), 1)
        return loss if math.isfinite(loss) else math.inf

    def _held_out_data(self) -> Any:
        """Held-out sentences for the loss and F1 of the weights. None without held-out sentences."""
        if self._rotating is not None:
            return self._rotating.tests(self.n_epochs)
        return None if self._data is None else self._data[1]

    def predict(self, X: Any) -> np.ndarray:
        """Tag sentences with the current weights, also between two epochs of a training."""
        tagger, kept = self.tagger, (self.tagger._vectors, self.tagger.embeddings)
        if self._vectors is not None:
            tagger._vectors, tagger.embeddings = self._vectors
        try:
            return tagger.predict(X)
        finally:
            tagger._vectors, tagger.embeddings = kept

    # ---- before and after

    @property
    def _trains_last_layers(self) -> bool:
        return self.privacy is not None and self.privacy.trains_last_layers(self.tagger.starts_from_tagger_)

    def plan(
        self,
        part: WorkerData,
        n_epochs: int | None,
        validation_fraction: float | str | None = None,
        n_parts: int = 1,
        fewest: int = 1,
    ) -> None:
        """Prepare the training on the given sentences.

        Parameters
        ----------
        part : WorkerData
            Sentences of the worker.
        n_epochs : int or None
            Number of local epochs of a whole training. None means epochs with a constant learning rate.
        validation_fraction : float in (0, 1) or "rotating", optional
            Fraction of the patients that is held out to measure F1 after each epoch. With "rotating", each pass holds
            out another tenth of the patients, on whom downloads are tested (`RotatingPatients`). "rotating" cannot be
            combined with ``privacy``, because the tests would reveal information about the patients.
        n_parts : int, default=1
            Number of parts into which the sentences are divided. Each epoch trains on the next part, so that workers
            exchange updates several times in a pass. ``n_parts`` has no effect with ``privacy``, because each step then
            draws a sample of patients.
        fewest : int, default=1
            Smallest number of sentences of an epoch with "rotating": parts that would have fewer leave nobody out.
            Without "rotating", smaller parts are refused. ``fewest`` has no effect with ``privacy``.

        Raises
        ------
        ExchangeError
            If a part has fewer than ``fewest`` sentences.
        """
        tagger = self.tagger
        # Draw the same random numbers as `DeidTagger.partial_fit` or, with n_epochs, as `DeidTagger.fit`.
        seed = 0 if n_epochs is None else int(tagger._rng.integers(2**31))
        if n_epochs is None:
            with tagger._own_random_stream():
                self._stream = _stream_state(self._device)
        is_rotating = validation_fraction == ROTATING
        rows, valid = self._hold_out(part, None if is_rotating else validation_fraction, seed)
        patients = self._patients(part, rows, n_epochs)
        train: list[Any] = [patients]
        self._rotating = None
        if patients is None:
            order = np.random.default_rng(seed).permutation(rows) if n_parts > 1 else rows
            own = [np.sort(own) for own in np.array_split(order, min(n_parts, len(rows)))]
            if (n_least := min(map(len, own))) < fewest:
                raise ExchangeError(
                    f"A local epoch would train on {n_least} sentences. An update of fewer than {fewest} sentences can "
                    "reveal their words. Plan the federation with fewer --parts, or hold out fewer patients."
                )
            # From the same seed and the same notes, a saved training that continues invents the same spans again.
            n_invented = 0 if n_epochs is None else None
            train = [tagger._training_data(part.X, part.tags, part.groups, rows, n_invented=n_invented) for rows in own]
            self._rotating = RotatingPatients.of(tagger, part, own, train, seed, fewest) if is_rotating else None
        # The features already contain the word vectors. Without the table, less data goes to other processes in each
        # epoch.
        if self._vectors is None:
            self._vectors, tagger._vectors, tagger.embeddings = (tagger._vectors, tagger.embeddings), None, None
        self._plan_rate(n_epochs, patients)
        self._data, self._begun = (train, valid), False
        self._lengths = [getattr(data, "lengths", None) for data in train]
        self._planned = None if n_epochs is None else self.n_epochs + n_epochs

    def _hold_out(self, part: WorkerData, fraction: Any, seed: int) -> tuple[np.ndarray, Any]:
        """Sentences to train on, and the data set of held-out patients; None without held-out patients."""
        rows, held_out = hold_out_patients(len(part.X), part.groups, fraction, seed)
        self._held_out = None
        if held_out is None:
            return rows, None
        patients = held_out if part.groups is None else part.groups[held_out]
        self._held_out = sha256(repr(np.unique(patients).tolist()).encode()).hexdigest()
        return rows, self.tagger._training_data(part.X, part.tags, None, held_out, held_out=True)

    def _plan_rate(self, n_epochs: int | None, patients: PatientSteps | None) -> None:
        """Set the learning rate schedule over all local epochs."""
        decay = dict(self.tagger.callbacks_).get("lr_decay")
        if decay is None:
            return
        # A first epoch without the patient with most sentences has few batches: the rate would be zero long before the
        # end, and the updates too, so that the server would leave out the sites that still learn.
        decay.n_epochs, decay.even_epochs = n_epochs, self._rotating is not None and self._rotating.leaves_out
        decay.share = RATE_FROM_TAGGER if self.tagger.starts_from_tagger_ else 1.0
        if patients is not None and self._trains_last_layers:
            decay.share = rate_of_last_layers(patients.n_patients, self._has_new_labels, decay.share)

    def _patients(self, part: WorkerData, rows: np.ndarray, n_epochs: int | None) -> PatientSteps | None:
        """Return the steps of a private training, with a ledger for the whole plan; None without ``privacy``."""
        if self.privacy is None:
            return None
        # A second plan would begin with a new ledger, and forget the steps of the first one.
        if n_epochs is None or self.ledger is not None:
            raise ExchangeError(ONE_PLAN)
        check_trainable(self.tagger, part)
        assert part.groups is not None, "check_trainable has checked"
        self.ledger = self.privacy.open_ledger(len(np.unique(part.groups[rows])), n_epochs)
        return PatientSteps(self.tagger, part, rows, self.privacy)

    def stop(self) -> None:
        """End the training. After an interruption the weights are replaced by their average so far."""
        if self._begun:
            self.tagger.notify("on_train_end", X=None, y=None)
        self._begun = False

    def finish(self) -> None:
        """Remove the sentences. After an interruption, also replace the weights by their average so far."""
        self.stop()
        freeze_encoder(self.tagger.module_, False)
        # A hash of few patient ids can be searched, and lengths of sentences tell notes apart.
        self._data = self._rotating = self._held_out = None
        self._lengths = []
        if self._vectors is not None:
            (self.tagger._vectors, self.tagger.embeddings), self._vectors = self._vectors, None

    def without_data(self) -> TaggerLearner:
        """Remove the sentences and return the learner, before the learner is sent back from another process."""
        self._data = self._rotating = None
        return self

    def with_data_of(self, other: TaggerLearner) -> TaggerLearner:
        """Take over the sentences and word vectors of ``other``, the learner in this process. Returns ``self``."""
        self._data, self._rotating, self._vectors = other._data, other._rotating, other._vectors
        return self

    def __getstate__(self) -> dict[str, Any]:
        # A copy for another process leaves the table of word vectors here. The features contain its vectors already.
        return {**vars(self), "_vectors": None}

    @property
    def _device(self) -> torch.device:
        return resolve_device(self.tagger.device)

    @contextmanager
    def _random_stream(self) -> Iterator[None]:
        """Continue torch's global random stream from the end of the last epoch. A failed epoch changes nothing."""
        with kept_torch_state(self._device):
            torch.set_rng_state(self._stream[0])
            if len(self._stream) > 1:
                torch.cuda.set_rng_state(self._stream[1], self._device)
            # The state is stored only if the block ends without an error, so that a repeated epoch draws the same
            # numbers.
            yield
            self._stream = _stream_state(self._device)


def _stream_state(device: torch.device) -> list[Tensor]:
    states = [torch.get_rng_state()]
    return [*states, torch.cuda.get_rng_state(device)] if device.type == "cuda" else states


def _parameters(tagger: DeidTagger) -> dict[str, np.ndarray]:
    # shape of each array: as in the network; the layout flattens them in sorted order
    return {name: p.detach().cpu().numpy() for name, p in tagger.module_.named_parameters()}


def _load(tagger: DeidTagger, layout: ParameterLayout, vector: np.ndarray) -> None:
    arrays = layout.unflatten(vector)
    with torch.no_grad():
        for name, p in tagger.module_.named_parameters():
            p.copy_(torch.from_numpy(arrays[name]))


def resumable_callbacks(tagger: DeidTagger) -> dict[str, Any]:
    """Callbacks with a state that changes from batch to batch."""
    return {name: cb for name, cb in tagger.callbacks_ if name in ("lr_decay", "weight_average")}


def make_learner(
    tagger: DeidTagger,
    X: Any,
    y: Any,
    groups: Any,
    labels: Sequence[str],
    *,
    privacy: PatientPrivacy | None = None,
    proximal: float = 0.0,
    **plan: Any,
) -> TaggerLearner:
    """Create a learner with a clone of a tagger, ready for the first local epoch on the given sentences.

    Parameters
    ----------
    tagger : DeidTagger
        Tagger with public ``embeddings``. "auto" means the table of random n-gram vectors that `DSSGDEnsemble` uses.
    X, y, groups
        Parameters of `DeidTagger.fit`.
    labels : sequence of str
        Label set that all workers share.
    privacy : PatientPrivacy, default=None
        Differential privacy of each patient; see `TaggerLearner`.
    proximal : float, default=0.0
        Weight of the proximal term; see `TaggerLearner`.
    **plan
        Parameters of `TaggerLearner.plan`: ``n_epochs`` (required), ``validation_fraction``, ``n_parts`` and
        ``fewest``.

    Raises
    ------
    ExchangeError
        If the settings of ``privacy`` give no meaningful guarantee for these sentences.
    SequenceError
        If X and y do not match, or if y contains labels that are not among ``labels``.

    Examples
    --------
    >>> X, y = [["Mr", "Alder"], ["No", "pain"]], [["O", "B-PATIENT"], ["O", "O"]]
    >>> tagger = DeidTagger(hidden_size=4, embeddings=None, random_state=0)
    >>> make_learner(tagger, X, y, None, ["DATE", "PATIENT"], n_epochs=2).tagger.classes_.tolist()
    ['O', 'B-DATE', 'B-PATIENT', 'I-DATE', 'I-PATIENT']
    """
    own = clone(tagger).set_params(embeddings=public_embeddings(tagger.embeddings), max_epochs=plan["n_epochs"])
    part = checked_part(own, X, y, groups)
    learner = TaggerLearner(own, part, agreed_labels([part], labels), privacy, proximal)
    learner.plan(part, **plan)
    return learner


# ---- parallel training

_Task = Callable[[TaggerLearner], tuple[TaggerLearner, dict[str, float]]]


def map_in_processes(n_jobs: int | None) -> MapEpochs:
    """Create the ``map_epochs`` of `federated.run_strategy`, which trains in this process or in joblib tasks.

    Each local epoch is one task. The tasks run in processes, because dropout draws from torch's global random stream,
    which threads would share.
    """

    def run(task: Any, learners: Sequence[Any]) -> Iterable[tuple[Any, dict[str, float]]]:
        if effective_n_jobs(n_jobs) == 1 or len(learners) == 1:
            return map(task, learners)
        return _elsewhere(task, learners, n_jobs)

    return run


def _elsewhere(
    task: _Task, learners: Sequence[TaggerLearner], n_jobs: int | None
) -> Iterator[tuple[TaggerLearner, dict[str, float]]]:
    # Processes, not threads: dropout draws from the global stream of torch, which threads would share.
    pool = Parallel(n_jobs=min(effective_n_jobs(n_jobs), len(learners)), backend="loky", return_as="generator")
    trained = pool(delayed(_train)(task, learner) for learner in learners)
    try:
        for learner, (back, metrics) in zip(learners, trained, strict=True):
            yield back.with_data_of(learner), metrics
    finally:
        # The caller that ends the rounds early reports the reason. The warning of joblib about cancelled epochs would
        # add nothing.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trained.close()


def _train(task: _Task, learner: TaggerLearner) -> tuple[TaggerLearner, dict[str, float]]:
    learner, metrics = task(learner)
    return learner.without_data(), metrics
