"""What the parameters of `DeidTagger` may be."""

from __future__ import annotations

from numbers import Integral, Real
from os import PathLike

from .._compat import HasMethods, Interval, StrOptions
from .pretrained_encoder import PretrainedEncoder
from .recall_weight import RECALL_FORMS

__all__ = ["TAGGER_CONSTRAINTS"]

TAGGER_CONSTRAINTS: dict[str, list] = {
    "encoder": [StrOptions({"lstm", "gru", "gru-gru", "lstm-gru", "transformer", "pretrained"})],
    "head": [StrOptions({"crf", "softmax"})],
    "tag_scheme": [StrOptions({"iob2", "bioes"})],
    "characters": [StrOptions({"cnn", "bigru", "bilstm"}), None],
    "hidden_size": [Interval(Integral, 1, None, closed="left")],
    "n_layers": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "pretrained": [str, PathLike, PretrainedEncoder, None],
    "n_heads": [Interval(Integral, 1, None, closed="left")],
    "projection_size": [Interval(Integral, 1, None, closed="left"), None],
    "constrained": ["boolean"],
    "input_dropout": [Interval(Real, 0, 1, closed="left")],
    "layer_dropout": [Interval(Real, 0, 1, closed="left")],
    "output_dropout": [Interval(Real, 0, 1, closed="left")],
    "span_swap": [Interval(Real, 0, 1, closed="both")],
    "augmenter": [HasMethods(["fit_transform", "sample", "transform"]), None],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "recall_weight": [Interval(Real, 1, None, closed="left"), None],
    "recall_form": [StrOptions(set(RECALL_FORMS))],
    "context": [StrOptions({"sentence", "window", "document"})],
    "context_size": [Interval(Integral, 1, None, closed="left")],
    "max_epochs": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "lr": [Interval(Real, 0, None, closed="neither")],
    "batch_size": [Interval(Integral, 1, None, closed="left")],
    "gradient_clip": [Interval(Real, 0, None, closed="neither"), None],
    "weight_average": [Interval(Real, 0, 1, closed="left")],
    "train_split": [Interval(Real, 0, 1, closed="neither"), "cv_object", None],
    "patience": [Interval(Integral, 1, None, closed="left"), None],
    "mixed_precision": ["boolean", StrOptions({"auto"})],
    "warm_start": ["boolean"],
    "verbose": ["verbose"],
    "random_state": ["random_state"],
}
