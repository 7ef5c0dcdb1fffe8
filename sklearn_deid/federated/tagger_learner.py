"""A `DeidTagger` as the learner of a worker: its network as one flat vector, trained epoch by epoch."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from torch import Tensor

from .._compat import resolve_device
from .._randomness import own_generator
from ..exceptions import ExchangeError
from ..tagging.splits import hold_out_patients
from ..tagging.strategies import plain_parameters
from ..tagging.tagger import DeidTagger
from .layout import ParameterLayout
from .rounds import MapEpochs
from .state_file import generator_from, generator_state
from .worker_data import WorkerData, agreed_labels, checked_part, public_embeddings


def tagger_layout(tagger: DeidTagger) -> ParameterLayout:
    """Order of the network's parameters in the vector that is exchanged.

    Its fingerprint is equal where the same vector means the same network: with the same tags, settings of the network,
    width of given vectors, and word vectors.
    """
    vectors = tagger._vectors
    agreed = {
        "classes": tagger.classes_.tolist(),
        "network": _network_settings(tagger),
        "width": getattr(tagger, "n_features_in_", None),
        "vectors": None if vectors is None else vectors.checksum,
    }
    return ParameterLayout.of(_parameters(tagger), json.dumps(agreed, sort_keys=True))


def _network_settings(tagger: DeidTagger) -> dict[str, Any]:
    """Settings that two networks must share, under the names that fingerprints of running federations hold."""
    chosen = plain_parameters(tagger.get_params(deep=False))
    return {
        "encoder": chosen["encoder"],
        "head": chosen["head"],
        "scheme": chosen["tag_scheme"],
        "characters": chosen["characters"],
        "hidden_size": chosen["hidden_size"],
        "n_layers": chosen["n_layers"],
        "n_heads": chosen.get("encoder__n_heads", 4),
        "constrained": chosen.get("head__constrained", True),
        "context": chosen["context"],
    }


def tagger_from_vector(model: DeidTagger, tagger: DeidTagger, vector: np.ndarray) -> DeidTagger:
    """A fitted tagger with the classes and inputs of ``model``, but nothing of its training.

    Parameters
    ----------
    model : DeidTagger
        Fitted.
    tagger : DeidTagger
        Not fitted; gets ``vector``.
    vector : ndarray of shape (n,)
        In the order of `tagger_layout`.
    """
    tagger.classes_, tagger._reads_words, tagger._vectors = model.classes_, model._reads_words, model._vectors
    tagger._pretrained = model._pretrained
    if hasattr(model, "n_features_in_"):
        tagger.n_features_in_ = model.n_features_in_
    tagger.augmenter_, tagger._tag_weights, tagger._rng = None, None, own_generator(tagger.random_state)
    with tagger._own_random_stream():
        tagger.initialize()
    _load(tagger, tagger_layout(tagger), vector)
    return tagger


class TaggerLearner:
    """A `DeidTagger` as the learner of a `federated.Worker`.

    Training is that of `DeidTagger.fit`, interrupted after each epoch. Learning rate, moving average of the weights,
    optimizer and random numbers continue where they were, whatever was downloaded in between.

    - *Learning rate*: with ``n_epochs`` of `plan` it rises and falls once over all local epochs, as in `fit`; with
      None each epoch is one of `DeidTagger.partial_fit`.
    - *Optimizer*: its moments are never exchanged, and are kept when parameters are downloaded.
    - *Weight average*: is computed over all local epochs. The network trains with the plain weights, and these are
      exchanged. At the end of the last epoch the average replaces them, and is part of the last update.
    - *Span swapping*: drawn anew in each local epoch among the worker's own spans.

    Parameters
    ----------
    tagger : DeidTagger
        Not fitted; it is trained in place. Its ``random_state`` seeds everything.
    part : WorkerData
        Sentences from which the weights of tags are computed.
    labels : sequence of str
        The label set that all workers share.

    Attributes
    ----------
    n_epochs : int
        Number of local epochs that ended.
    metrics : dict of str to float
        Of the last epoch: "train_loss" and, if patients are held out, "valid_loss" and "f1" (typed spans).
    """

    def __init__(self, tagger: DeidTagger, part: WorkerData, labels: list[str]) -> None:
        self.tagger = tagger
        tagger._rng = own_generator(tagger.random_state)
        tagger.augmenter_ = None
        with tagger._own_random_stream():
            tagger._learn_inputs(part.X, part.tags, [f"B-{label}" for label in labels])
            tagger.initialize()
            self._stream = _stream_state(self._device)
        self.layout = tagger_layout(tagger)
        self.n_epochs = 0
        self.metrics: dict[str, float] = {}
        self._planned: int | None = None
        self._data: tuple[Any, Any] | None = None
        self._begun = False
        self._vectors: tuple[Any, Any] | None = None

    # ---- the protocol of `federated.Learner`

    def get_flat(self) -> np.ndarray:
        """The weights in use, shape (n,), float32."""
        return self.layout.flatten(_parameters(self.tagger))

    def set_flat(self, vector: np.ndarray) -> None:
        """Replace the weights; optimizer and moving average stay."""
        _load(self.tagger, self.layout, vector)

    def train_epoch(self) -> Mapping[str, float]:
        """One pass over the worker's sentences; gives `metrics`."""
        assert self._data is not None, "plan comes first"
        with self._random_stream():
            if not self._begun:
                self.tagger.notify("on_train_begin", X=self._data[0], y=None)
                self._begun = True
            # `fit` makes its batches by the lengths before any span was swapped, in every epoch.
            self._data[0].lengths = self._lengths
            self.tagger.fit_loop(self._data, epochs=1)
        self.n_epochs += 1
        row = self.tagger.history[-1]
        names = {"train_loss": "train_loss", "valid_loss": "valid_loss", "valid_f1": "f1"}
        self.metrics = {name: float(row[column]) for column, name in names.items() if column in row}
        if self._planned is None or self.n_epochs == self._planned:
            self._end()
        return self.metrics

    def predict(self, X: Any) -> np.ndarray:
        """Tags of sentences by the weights in use, also between two epochs of a training."""
        tagger, kept = self.tagger, (self.tagger._vectors, self.tagger.embeddings)
        if self._vectors is not None:
            tagger._vectors, tagger.embeddings = self._vectors
        try:
            return tagger.predict(X)
        finally:
            tagger._vectors, tagger.embeddings = kept

    # ---- before and after

    def plan(self, part: WorkerData, n_epochs: int | None, validation_fraction: float | None = None) -> None:
        """Get ready for training on these sentences.

        Parameters
        ----------
        part : WorkerData
        n_epochs : int or None
            Local epochs of a whole training; None for epochs at a constant learning rate.
        validation_fraction : float in (0, 1), optional
            Share of the patients held out to measure F1 after each epoch.
        """
        tagger = self.tagger
        seed = 0
        if n_epochs is None:  # the random numbers that `DeidTagger.partial_fit` draws, and those of `fit`
            with tagger._own_random_stream():
                self._stream = _stream_state(self._device)
        else:
            seed = int(tagger._rng.integers(2**31))
        rows = hold_out_patients(len(part.X), part.groups, validation_fraction, seed)
        train, valid = (
            None if chosen is None else tagger._training_data(part.X, part.tags, None, chosen, held_out=number == 1)
            for number, chosen in enumerate(rows)
        )
        # Features hold the vectors already, and the table need not travel to other processes with every epoch.
        if self._vectors is None:
            self._vectors, tagger._vectors, tagger.embeddings = (tagger._vectors, tagger.embeddings), None, None
        decay = dict(tagger.callbacks_).get("lr_decay")
        if decay is not None:
            decay.n_epochs = n_epochs
        assert train is not None
        self._data, self._lengths, self._begun = (train, valid), train.lengths, False
        self._planned = None if n_epochs is None else self.n_epochs + n_epochs

    def finish(self) -> None:
        """Forget the sentences. After an interruption, also use the average of the weights so far."""
        self._end()
        self._data = None
        if self._vectors is not None:
            (self.tagger._vectors, self.tagger.embeddings), self._vectors = self._vectors, None

    def without_data(self) -> TaggerLearner:
        """Itself without sentences, for the return from another process."""
        self._data = None
        return self

    def with_data_of(self, other: TaggerLearner) -> TaggerLearner:
        """Itself, with the sentences and word vectors of the learner in this process."""
        self._data, self._vectors = other._data, other._vectors
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_vectors": None}

    def _end(self) -> None:
        if self._begun:
            self.tagger.notify("on_train_end", X=None, y=None)
        self._begun = False

    @property
    def _device(self) -> torch.device:
        return resolve_device(self.tagger.device)

    @contextmanager
    def _random_stream(self) -> Iterator[None]:
        """Torch's global stream as it was after the last epoch; of an epoch that fails nothing is kept."""
        with torch.random.fork_rng(devices=[self._device] if self._device.type == "cuda" else []):
            torch.set_rng_state(self._stream[0])
            if len(self._stream) > 1:
                torch.cuda.set_rng_state(self._stream[1], self._device)
            yield
            self._stream = _stream_state(self._device)


def _stream_state(device: torch.device) -> list[Tensor]:
    states = [torch.get_rng_state()]
    return [*states, torch.cuda.get_rng_state(device)] if device.type == "cuda" else states


def _parameters(tagger: DeidTagger) -> dict[str, np.ndarray]:
    return {name: p.detach().cpu().numpy() for name, p in tagger.module_.named_parameters()}


def _load(tagger: DeidTagger, layout: ParameterLayout, vector: np.ndarray) -> None:
    arrays = layout.unflatten(vector)
    with torch.no_grad():
        for name, p in tagger.module_.named_parameters():
            p.copy_(torch.from_numpy(arrays[name]))


# ---- made for sentences, saved, and taken up again


def make_learner(
    tagger: DeidTagger,
    X: Any,
    y: Any,
    groups: Any,
    labels: Sequence[str],
    *,
    n_epochs: int,
    validation_fraction: float | None = None,
) -> TaggerLearner:
    """A learner with a clone of a tagger, ready for the first local epoch on these sentences.

    Parameters
    ----------
    tagger : DeidTagger
        Its ``embeddings`` must be public; "auto" is the table of random n-gram vectors that `DSSGDEnsemble` uses.
    X, y, groups
        As for `DeidTagger.fit`.
    labels : sequence of str
        The label set that all workers share.
    n_epochs : int
        Local epochs of the whole training.
    validation_fraction : float in (0, 1) or None, default=None
        Share of the patients held out to measure F1.

    Raises
    ------
    SequenceError
        If X and y do not match, or hold labels that are not among ``labels``.

    Examples
    --------
    >>> X, y = [["Mr", "Alder"], ["No", "pain"]], [["O", "B-PATIENT"], ["O", "O"]]
    >>> tagger = DeidTagger(hidden_size=4, embeddings=None, random_state=0)
    >>> make_learner(tagger, X, y, None, ["DATE", "PATIENT"], n_epochs=2).tagger.classes_.tolist()
    ['O', 'B-DATE', 'B-PATIENT', 'I-DATE', 'I-PATIENT']
    """
    own = clone(tagger).set_params(embeddings=public_embeddings(tagger.embeddings), max_epochs=n_epochs)
    part = checked_part(own, X, y, groups)
    learner = TaggerLearner(own, part, agreed_labels([part], labels))
    learner.plan(part, n_epochs, validation_fraction)
    return learner


def learner_to_state(learner: TaggerLearner) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The state from which `learner_from_state` continues, bit by bit as if training had not stopped.

    It holds the optimizer, the moving average, the position in the schedule of the learning rate, and the random
    generators. It does not hold the weights, which `federated.Worker` saves.

    Returns
    -------
    state : dict
        JSON values.
    arrays : dict of str to ndarray
    """
    tagger = learner.tagger
    state: dict[str, Any] = {
        "n_epochs": learner.n_epochs,
        "planned": learner._planned,
        "begun": learner._begun,
        "generator": generator_state(tagger._rng),
        "callbacks": {},
        "optimizer": {},
    }
    arrays = {f"stream-{i}": stream.cpu().numpy() for i, stream in enumerate(learner._stream)}
    for number, values in tagger.optimizer_.state_dict()["state"].items():
        for key, value in values.items():
            if isinstance(value, torch.Tensor) and value.ndim:
                arrays[f"optimizer-{number}-{key}"] = value.detach().cpu().numpy()
            else:
                is_tensor = isinstance(value, torch.Tensor)
                state["optimizer"][f"{number}-{key}"] = [is_tensor, value.item() if is_tensor else value]
    if learner._begun:
        for name, callback in _resumable(tagger).items():
            state["callbacks"][name] = {key: getattr(counting, key) for counting, key in _counters(callback)}
            for i, mean in enumerate(_averages(callback)):
                arrays[f"average-{i}"] = mean.detach().cpu().numpy()
    return state, arrays


def learner_from_state(
    learner: TaggerLearner, state: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> TaggerLearner:
    """Bring a learner that `make_learner` has just made to the state of a saved one.

    Raises
    ------
    ExchangeError
        If the state is that of another training.
    """
    try:
        if state["planned"] != learner._planned:
            raise ExchangeError(
                f"The saved training has {state['planned']} epochs, but {learner._planned} are agreed on now."
            )
        _resume(learner, state, arrays)
    except (KeyError, IndexError, TypeError, RuntimeError) as error:
        raise ExchangeError("The saved training does not fit the tagger.") from error
    return learner


def _resume(learner: TaggerLearner, state: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    tagger = learner.tagger
    if state["begun"]:
        data = learner._data
        assert data is not None, "make_learner has planned"
        tagger.notify("on_train_begin", X=data[0], y=None)
        for name, callback in _resumable(tagger).items():
            for counting, key in _counters(callback):
                setattr(counting, key, state["callbacks"][name][key])
            for i, mean in enumerate(_averages(callback)):
                mean.copy_(torch.from_numpy(arrays[f"average-{i}"]))
    _load_optimizer(tagger, state["optimizer"], arrays)
    tagger._rng = generator_from(state["generator"])
    learner._stream = [torch.from_numpy(arrays[f"stream-{i}"].copy()) for i in range(len(learner._stream))]
    learner.n_epochs, learner._begun = state["n_epochs"], state["begun"]


def _load_optimizer(tagger: DeidTagger, numbers: Mapping[str, list], arrays: Mapping[str, np.ndarray]) -> None:
    moments: dict[int, dict[str, Any]] = {}
    for name, (is_tensor, value) in numbers.items():
        number, _, key = name.partition("-")
        moments.setdefault(int(number), {})[key] = torch.tensor(value) if is_tensor else value
    for name, array in arrays.items():
        if name.startswith("optimizer-"):
            _, number, key = name.split("-", 2)
            moments.setdefault(int(number), {})[key] = torch.from_numpy(array.copy())
    optimizer = tagger.optimizer_
    optimizer.load_state_dict({"state": moments, "param_groups": optimizer.state_dict()["param_groups"]})


def _resumable(tagger: DeidTagger) -> dict[str, Any]:
    """Callbacks that remember something from batch to batch."""
    return {name: cb for name, cb in tagger.callbacks_ if name in ("lr_decay", "weight_average")}


def _counters(callback: Any) -> list[tuple[Any, str]]:
    """Objects and names of what a callback counts."""
    moving = getattr(callback, "moving_", None)
    return [(callback, "step_"), (callback, "total_")] if moving is None else [(moving, "n_steps")]


def _averages(callback: Any) -> list[torch.Tensor]:
    moving = getattr(callback, "moving_", None)
    return [] if moving is None else moving.weights


# ---- several at the same time

_Task = Callable[[TaggerLearner], tuple[TaggerLearner, dict[str, float]]]


def map_in_processes(n_jobs: int | None) -> MapEpochs:
    """``map`` for `federated.run_strategy`: in this process, or as one joblib task for each local epoch.

    Processes, because random numbers of dropout come from torch's global stream, which threads would share.
    """

    def run(task: Any, learners: Sequence[Any]) -> Iterable[tuple[Any, dict[str, float]]]:
        if effective_n_jobs(n_jobs) == 1 or len(learners) == 1:
            return map(task, learners)
        return _elsewhere(task, learners, n_jobs)

    return run


def _elsewhere(
    task: _Task, learners: Sequence[TaggerLearner], n_jobs: int | None
) -> Iterator[tuple[TaggerLearner, dict[str, float]]]:
    pool = Parallel(n_jobs=min(effective_n_jobs(n_jobs), len(learners)), backend="loky", return_as="generator")
    trained = pool(delayed(_train)(task, learner) for learner in learners)
    try:
        for learner, (back, metrics) in zip(learners, trained, strict=True):
            yield back.with_data_of(learner), metrics
    finally:
        # Whoever ends the rounds early says why; joblib would add a warning about the epochs that it cancels.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trained.close()


def _train(task: _Task, learner: TaggerLearner) -> tuple[TaggerLearner, dict[str, float]]:
    learner, metrics = task(learner)
    return learner.without_data(), metrics
