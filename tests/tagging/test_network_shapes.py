"""Shapes of weights are those of the network itself, and loading a model imports no compiler."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from sklearn_deid import DeidTagger
from sklearn_deid.tagging.network import build_tagger_module
from sklearn_deid.tagging.network_shapes import network_shapes

X, y = [["Mr", "Alder"], ["No", "pain"]], [["O", "B-PATIENT"], ["O", "O"]]


@pytest.mark.parametrize(
    "parameters",
    [{}, {"characters": "bigru", "encoder": "transformer"}, {"encoder": "gru-gru", "head": "softmax"}],
)
def test_shapes_and_types_are_those_of_the_network(parameters):
    tagger = DeidTagger(hidden_size=8, max_epochs=1, random_state=0, **parameters).fit(X, y)
    shapes, built = network_shapes(tagger), build_tagger_module(tagger).state_dict()
    assert list(shapes) == list(built)
    for name, tensor in built.items():
        assert (shapes[name].shape, shapes[name].dtype) == (tensor.shape, tensor.dtype)
        assert shapes[name].device == torch.device("meta")


def test_a_loaded_model_tags_without_the_compiler_of_torch():
    code = (
        "import sys; from sklearn_deid.tagging import load_model; "
        "load_model('starter-en').redact(['Seen by Dr. Alder on 3 May 2021.']); "
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
