"""Modes of torch around a call: no estimator fails in them, and none gives other results."""

import numpy as np
import pytest
import torch

from sklearn_deid import load, save
from sklearn_deid.sequences import TokenVectors

from .estimator_cases import CASES, X, Y, tiny_tagger

NETWORKS = ["DeidTagger", "DSSGDEnsemble", "RecallTunedTagger", "NoteDeidentifier", "PrivateRepresenter"]
MODES = {
    "inference_mode": torch.inference_mode,
    "no_grad": torch.no_grad,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
}
quiet = pytest.mark.filterwarnings("ignore::sklearn_deid.exceptions.FewNotesWarning")


@pytest.fixture
def double_precision():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def fitted(name):
    return CASES[name].fit(CASES[name].make())


def output(name, estimator):
    made = CASES[name].output(estimator, CASES[name].rows)
    return made.data.tolist() if isinstance(made, TokenVectors) else [list(row) for row in made]


@quiet
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NETWORKS)
def test_modes_around_fit_and_output_change_nothing(name, mode):
    plain = fitted(name)
    with MODES[mode]():
        other = fitted(name)
        found = output(name, other)
    assert found == output(name, plain)


@pytest.mark.skipif(
    not getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)(),
    reason="this processor has no LSTM in bfloat16",
)
def test_mixed_precision_inside_of_mixed_precision_reads_the_new_weights():
    plain = tiny_tagger().set_params(mixed_precision=True, max_epochs=3).fit(X, Y)
    with MODES["autocast"]():
        other = tiny_tagger().set_params(mixed_precision=True, max_epochs=3).fit(X, Y)
    assert other.history[:, "train_loss"] == plain.history[:, "train_loss"]


@pytest.mark.parametrize("mode", MODES)
def test_modes_around_load_change_nothing(mode, tmp_path):
    tagger = fitted("DeidTagger")
    save(tagger, tmp_path / "model")
    with MODES[mode]():
        loaded = load(tmp_path / "model")
        found = loaded.predict_proba(X)
    np.testing.assert_array_equal(np.concatenate(list(found)), np.concatenate(list(tagger.predict_proba(X))))


@quiet
@pytest.mark.filterwarnings("ignore::sklearn_deid.exceptions.UnsafeToShareWarning")
@pytest.mark.usefixtures("double_precision")
@pytest.mark.parametrize("training", ["bounded", "three_part", "dann"])
def test_representers_with_another_default_type(training):
    representer = CASES["PrivateRepresenter"].make().set_params(training=training).fit(X, Y)
    assert {p.dtype for p in representer.network_.parameters()} == {torch.float32}
    assert np.isfinite(representer.transform(X).data).all()


@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "PrivateRepresenter"])
def test_taggers_with_another_default_type(name, double_precision):
    assert len(output(name, fitted(name))) == len(CASES[name].rows)


def test_models_with_another_default_type(tmp_path):
    tagger = fitted("DeidTagger")
    save(tagger, tmp_path / "model")
    expected = tagger.predict_proba(X)
    torch.set_default_dtype(torch.float64)
    try:
        found = load(tmp_path / "model").predict_proba(X)
    finally:
        torch.set_default_dtype(torch.float32)
    np.testing.assert_array_equal(np.concatenate(list(found)), np.concatenate(list(expected)))
