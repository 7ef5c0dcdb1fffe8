"""bfloat16 in the LSTM alone, in training alone, and only on processors that are fast at it."""

import pytest
import torch

from sklearn_deid import DeidTagger
from sklearn_deid._skorch import is_fast_in_bfloat16
from sklearn_deid.tagging import BidirectionalRecurrent, training_loop

from .conftest import SMALL, assert_rows_equal, make_sentences

X, Y, _ = make_sentences(40)
HAS_IT = is_fast_in_bfloat16(torch.device("cpu"))


def fitted(**parameters):
    return DeidTagger(**{**SMALL, "max_epochs": 2, **parameters}).fit(X, Y)


def test_narrow_layers_differ_by_rounding_in_training_alone():
    if not HAS_IT:
        pytest.skip("this processor has no bfloat16")
    torch.manual_seed(0)
    encoder = BidirectionalRecurrent(5, 8, 2)
    x, lengths = torch.randn(3, 6, 5), torch.tensor([6, 1, 3])
    exact = encoder(x, lengths)
    encoder.trains_in_bfloat16 = True
    narrow = encoder(x, lengths)
    assert narrow.dtype == torch.float32
    assert not torch.equal(narrow, exact)
    torch.testing.assert_close(narrow, exact, atol=0.02, rtol=0.02)
    narrow.square().sum().backward()
    assert all(p.grad.dtype == torch.float32 and p.grad.any() for p in encoder.parameters())
    assert torch.equal(encoder.eval()(x, lengths), exact)


def test_tagging_is_in_float32_after_a_training_in_bfloat16():
    if not HAS_IT:
        pytest.skip("this processor has no bfloat16")
    tagger = fitted(mixed_precision="training")
    assert not tagger.module_.encoder.trains_in_bfloat16
    assert not torch.equal(tagger.module_.emit.weight, fitted().module_.emit.weight)
    probabilities = tagger.predict_proba(X)
    assert_rows_equal(tagger.set_params(mixed_precision=False).predict_proba(X), probabilities)


@pytest.mark.parametrize(
    "parameters", [{}, *({"encoder": name, "mixed_precision": "training"} for name in ("gru", "lstm-gru"))]
)
def test_nothing_else_trains_in_bfloat16(parameters):
    wide = fitted(**{**parameters, "mixed_precision": False})
    assert torch.equal(fitted(**parameters).module_.emit.weight, wide.module_.emit.weight)


def test_a_processor_without_bfloat16_trains_in_float32(monkeypatch):
    monkeypatch.setattr(training_loop, "is_fast_in_bfloat16", lambda device: False)
    assert torch.equal(fitted(mixed_precision="training").module_.emit.weight, fitted().module_.emit.weight)
