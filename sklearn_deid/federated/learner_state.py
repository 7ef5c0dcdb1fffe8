"""A learner between two windows of an exchange: made for a worker's own sentences, saved, and taken up again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from sklearn.base import clone

from ..exceptions import ExchangeError
from ..tagging.tagger import DeidTagger
from .public_inputs import public_embeddings
from .state_file import generator_from, generator_state
from .tagger_learner import TaggerLearner
from .worker_data import agreed_labels, checked_part

__all__ = ["learner_from_state", "learner_to_state", "make_learner"]


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
    """What `learner_from_state` needs so that training goes on bit by bit as if it had not stopped.

    Optimizer, moving average, place in the schedule of the learning rate, and random numbers. The weights are not in
    it: `federated.Worker` saves them.

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
    """Take a learner that `make_learner` has just made to where another one was saved.

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
        _load(learner, state, arrays)
    except (KeyError, IndexError, TypeError, RuntimeError) as error:
        raise ExchangeError("The saved training does not fit the tagger.") from error
    return learner


def _load(learner: TaggerLearner, state: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
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
