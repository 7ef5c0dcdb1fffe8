"""Conversion of the parameters of a `DeidTagger` in models and federations saved by version 0.1.0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Old name -> new name, for parameters with an unchanged meaning.
_RENAMED = {"scheme": "tag_scheme", "train_split": "validation_fraction"}
# Old name -> nested parameter, old default, and the values of the outer parameter for which the nested parameter exists
# (None: all values).
_MOVED: dict[str, tuple[str, Any, tuple[str, ...] | None]] = {
    "n_heads": ("encoder__n_heads", 4, ("transformer",)),
    "constrained": ("head__constrained", True, ("crf",)),
    "projection_size": ("head__projection_size", None, None),
    "input_dropout": ("dropout__input", 0.25, None),
    "layer_dropout": ("dropout__layer", 0.25, None),
    "output_dropout": ("dropout__output", 0.5, None),
    "context_size": ("context__size", 2, ("window",)),
}
_DEFAULTS = {"encoder": "lstm", "head": "crf", "context": "sentence"}


def current_parameters(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Convert saved parameters to their current names, for `DeidTagger.set_params`.

    Parameters saved by the current version do not change.

    Examples
    --------
    >>> current_parameters({"scheme": "iob2", "input_dropout": 0.1, "context": "document", "context_size": 3})
    {'tag_scheme': 'iob2', 'context': 'document', 'dropout__input': 0.1}
    """
    pretrained = saved.get("pretrained")
    moved = {*_MOVED, "recall_form", *(["pretrained"] if pretrained is None or isinstance(pretrained, Mapping) else [])}
    new = {_RENAMED.get(name, name): value for name, value in saved.items() if name not in moved}
    for name, (setting, default, kinds) in _MOVED.items():
        parameter = setting.partition("__")[0]
        kind = saved.get(parameter, _DEFAULTS.get(parameter))
        if name in saved and saved[name] != default and (kinds is None or kind in kinds):
            new[setting] = saved[name]
    # The old parameter `recall_form` had no effect without a weight.
    if saved.get("recall_weight") is not None and saved.get("recall_form", "repaired") != "repaired":
        new["recall_weight__form"] = saved["recall_form"]
    if isinstance(pretrained, Mapping):
        new |= {f"encoder__{name}": value for name, value in pretrained.items()}
    return new
