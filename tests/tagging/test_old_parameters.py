"""Parameters that version 0.1.0 saved mean what they meant."""

import pytest

from sklearn_deid import DeidTagger
from sklearn_deid.tagging.old_parameters import current_parameters

# All parameters with the values that 0.1.0 had by default.
DEFAULTS = {
    "scheme": "iob2",
    "encoder": "lstm",
    "head": "crf",
    "constrained": True,
    "n_heads": 4,
    "projection_size": None,
    "context": "sentence",
    "context_size": 2,
    "input_dropout": 0.25,
    "layer_dropout": 0.25,
    "output_dropout": 0.5,
    "recall_weight": None,
    "recall_form": "repaired",
    "train_split": None,
}


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        ({}, "DeidTagger()"),
        ({"scheme": "bioes"}, "DeidTagger(tag_scheme='bioes')"),
        ({"train_split": 0.2}, "DeidTagger(validation_fraction=0.2)"),
        ({"encoder": "transformer"}, "DeidTagger(encoder='transformer')"),
        ({"encoder": "transformer", "n_heads": 2}, "DeidTagger(encoder=SelfAttention(n_heads=2))"),
        ({"n_heads": 2}, "DeidTagger()"),
        ({"constrained": False}, "DeidTagger(head=CRFHead(constrained=False))"),
        ({"projection_size": 3}, "DeidTagger(head=CRFHead(projection_size=3))"),
        ({"head": "softmax", "constrained": False}, "DeidTagger(head='softmax')"),
        ({"head": "softmax", "projection_size": 3}, "DeidTagger(head=SoftmaxHead(projection_size=3))"),
        ({"output_dropout": 0.0}, "DeidTagger(dropout=Dropout(output=0.0))"),
        ({"context": "window"}, "DeidTagger(context='window')"),
        ({"context": "window", "context_size": 1}, "DeidTagger(context=ContextWindow(size=1))"),
        ({"context": "document", "context_size": 1}, "DeidTagger(context='document')"),
        ({"recall_form": "batch"}, "DeidTagger()"),
        (
            {"recall_weight": 4.0, "recall_form": "batch"},
            "DeidTagger(recall_weight=RecallWeight(form='batch', weight=4.0))",
        ),
    ],
)
def test_old_parameters_make_the_same_tagger(changed, shown):
    assert repr(DeidTagger().set_params(**current_parameters({**DEFAULTS, **changed}))) == shown


def test_parameters_of_today_stay():
    today = {"tag_scheme": "bioes", "dropout": "auto", "dropout__input": 0.1, "validation_fraction": 0.2}
    assert current_parameters(today) == today
