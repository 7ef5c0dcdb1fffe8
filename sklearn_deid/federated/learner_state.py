"""State of a `TaggerLearner` for a file: the result of a training is the same with and without a restart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..exceptions import DeidError, ExchangeError
from ..tagging.tagger import DeidTagger
from .state_file import generator_from, generator_state
from .tagger_learner import TaggerLearner, resumable_callbacks


def learner_to_state(learner: TaggerLearner) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the state of a learner. With `learner_from_state`, training continues as without an interruption.

    The results are then equal bit for bit. The state holds the optimizer, the moving average, the position in the
    schedule of the learning rate, and the random generators. The state does not hold the weights, which
    `federated.Worker` saves.

    Returns
    -------
    state : dict
        JSON values.
    arrays : dict of str to ndarray
        Arrays by name.
    """
    tagger = learner.tagger
    state: dict[str, Any] = {
        "n_epochs": learner.n_epochs,
        "planned": learner._planned,
        "begun": learner._begun,
        "held_out": learner._held_out,
        "spent": 0 if learner.ledger is None else learner.ledger.n_spent,
        "generator": generator_state(tagger._rng),
        "callbacks": {},
        "optimizer": {},
    }
    arrays = {f"stream-{i}": stream.cpu().numpy() for i, stream in enumerate(learner._stream)}
    # The state of an optimizer has arrays (moments) and single numbers (steps). Arrays go to safetensors, numbers to
    # JSON.
    for number, values in tagger.optimizer_.state_dict()["state"].items():
        for key, value in values.items():
            is_tensor = isinstance(value, Tensor)
            if is_tensor and value.ndim:
                arrays[f"optimizer-{number}-{key}"] = value.detach().cpu().numpy()
            else:
                state["optimizer"][f"{number}-{key}"] = [is_tensor, value.item() if is_tensor else value]
    if learner._begun:
        for name, callback in resumable_callbacks(tagger).items():
            state["callbacks"][name] = {key: getattr(counting, key) for counting, key in _counters(callback)}
            for i, mean in enumerate(_averages(callback)):
                arrays[f"average-{i}"] = mean.detach().cpu().numpy()
    return state, arrays


def learner_from_state(
    learner: TaggerLearner, state: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> TaggerLearner:
    """Restore a saved state in a new learner from `make_learner`.

    Raises
    ------
    ExchangeError
        If the state belongs to another training.
    """
    try:
        if state["planned"] != learner._planned:
            raise ExchangeError(
                f"The saved training has {state['planned']} epochs, but the agreement has {learner._planned}."
            )
        if learner.privacy is not None and learner.ledger is not None:
            learner.ledger.check_charged(state, learner.privacy.n_steps)
        # Saved states of earlier versions do not tell their held-out patients.
        if learner._held_out is not None and state.get("held_out", learner._held_out) != learner._held_out:
            raise ExchangeError(
                "The saved training has held out other patients, so that F1 would be that of patients in the training. "
                "Use the same notes, 'validation_fraction' and 'random_state', or hold no patient out."
            )
        _resume(learner, state, arrays)
    except DeidError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RuntimeError) as error:
        raise ExchangeError("The saved training does not fit the tagger.") from error
    return learner


def _resume(learner: TaggerLearner, state: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    tagger = learner.tagger
    # Without "on_train_begin" the callbacks would not have the attributes that are restored here.
    if state["begun"]:
        data = learner._data
        assert data is not None, "make_learner has planned"
        tagger.notify("on_train_begin", X=data[0][0], y=None)
        for name, callback in resumable_callbacks(tagger).items():
            for counting, key in _counters(callback):
                setattr(counting, key, state["callbacks"][name][key])
            for i, mean in enumerate(_averages(callback)):
                mean.copy_(_fitting(arrays[f"average-{i}"], mean))
    _load_optimizer(tagger, state["optimizer"], arrays)
    tagger._rng = generator_from(state["generator"])
    learner._stream = [torch.from_numpy(arrays[f"stream-{i}"].copy()) for i in range(len(learner._stream))]
    learner.n_epochs, learner._begun = state["n_epochs"], state["begun"]


def _load_optimizer(tagger: DeidTagger, numbers: Mapping[str, list], arrays: Mapping[str, np.ndarray]) -> None:
    moments: dict[int, dict[str, Any]] = {}
    optimizer = tagger.optimizer_
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for name, (is_tensor, value) in numbers.items():
        number, _, key = name.partition("-")
        moments.setdefault(int(number), {})[key] = torch.tensor(value) if is_tensor else value
    for name, array in arrays.items():
        if name.startswith("optimizer-"):
            _, number, key = name.split("-", 2)
            moments.setdefault(int(number), {})[key] = _fitting(array, parameters[int(number)])
    # The parameter groups come from the new optimizer. Only the moments are restored.
    optimizer.load_state_dict({"state": moments, "param_groups": optimizer.state_dict()["param_groups"]})


def _fitting(array: np.ndarray, parameter: Tensor) -> Tensor:
    """Saved values of a parameter. Other shapes are refused: PyTorch would repeat values, or fail in the next step."""
    if array.shape != tuple(parameter.shape) or not np.isfinite(array).all():
        raise ValueError("values of another parameter, or values that are not finite")
    return torch.from_numpy(array.copy())


def _counters(callback: Any) -> list[tuple[Any, str]]:
    """Counters of a callback, as pairs of an object and the name of its attribute."""
    moving = getattr(callback, "moving_", None)
    return [(callback, "step_"), (callback, "total_")] if moving is None else [(moving, "n_steps")]


def _averages(callback: Any) -> list[Tensor]:
    moving = getattr(callback, "moving_", None)
    return [] if moving is None else moving.weights
