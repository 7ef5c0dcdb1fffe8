"""The encoder without packing against PyTorch's packed sequences."""

import pickle

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from sklearn_deid.tagging import BidirectionalRecurrent, LockedDropout
from sklearn_deid.tagging.encoders import permute_cells, reversed_cells


def packed_twin(encoder, cell, n_layers, width, hidden):
    """torch's own bidirectional network with the same weights."""
    twin = {"lstm": nn.LSTM, "gru": nn.GRU}[cell](width, hidden, n_layers, batch_first=True, bidirectional=True)
    with torch.no_grad():
        for layer in range(n_layers):
            for suffix, part in (("", encoder.ahead[layer]), ("_reverse", encoder.back[layer])):
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                    getattr(twin, f"{name}_l{layer}{suffix}").copy_(getattr(part, f"{name}_l0"))
    return twin


@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("n_layers", [1, 2])
def test_equals_packing(cell, n_layers):
    torch.manual_seed(0)
    encoder = BidirectionalRecurrent(5, 4, n_layers, cell)
    twin = packed_twin(encoder, cell, n_layers, 5, 4)
    lengths = torch.tensor([6, 1, 3])
    x = torch.randn(3, 6, 5)
    ours, twins = x.clone().requires_grad_(), x.clone().requires_grad_()
    mask = (torch.arange(6) < lengths[:, None]).unsqueeze(2)
    packed = pack_padded_sequence(twins, lengths, batch_first=True, enforce_sorted=False)
    expected, _ = pad_packed_sequence(twin(packed)[0], batch_first=True)
    out = encoder(ours, lengths) * mask
    torch.testing.assert_close(out, expected)
    out.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(ours.grad, twins.grad)


def test_reversing_twice_is_the_identity_and_padding_stays():
    x = torch.arange(12.0).reshape(2, 6, 1)
    lengths = torch.tensor([4, 6])
    order = reversed_cells(lengths, 6)
    turned = permute_cells(x, order)
    assert turned[0, :, 0].tolist() == [3, 2, 1, 0, 4, 5]
    torch.testing.assert_close(permute_cells(turned, order), x)


class TestLockedDropout:
    def test_one_mask_for_all_tokens(self):
        torch.manual_seed(0)
        out = LockedDropout(0.5)(torch.ones(4, 7, 20))
        assert (out == out[:, :1]).all()
        assert set(out.unique().tolist()) == {0.0, 2.0}
        assert not (out[0] == out[1]).all()

    def test_off_when_evaluating(self):
        x = torch.randn(2, 3, 4)
        assert LockedDropout(0.5).eval()(x) is x


@pytest.mark.parametrize(("cell", "kinds"), [("gru-gru", (nn.GRU, nn.GRU)), ("lstm-gru", (nn.LSTM, nn.GRU))])
def test_stack_of_two_cells_is_one_after_the_other(cell, kinds):
    torch.manual_seed(0)
    encoder = BidirectionalRecurrent(5, 4, cell=cell)
    assert tuple(type(layer) for layer in encoder.ahead) == kinds
    lengths = torch.tensor([6, 1, 3])
    x = hidden = torch.randn(3, 6, 5)
    for layer, kind in enumerate(kinds):
        one = BidirectionalRecurrent(hidden.shape[2], 4, cell=kind.__name__.lower())
        one.ahead[0], one.back[0] = encoder.ahead[layer], encoder.back[layer]
        hidden = one(hidden, lengths)
    torch.testing.assert_close(encoder(x, lengths), hidden)


def test_unpickled_weights_are_put_in_one_piece(monkeypatch):
    """Weights in several pieces made cuDNN copy them in each call of every process that tags notes."""
    done = []
    monkeypatch.setattr(torch.nn.LSTM, "flatten_parameters", lambda layer: done.append(layer))
    network = BidirectionalRecurrent(3, 2, n_layers=2)
    done.clear()
    copied = pickle.loads(pickle.dumps(network))
    assert set(map(id, done)) == {id(layer) for layer in (*copied.ahead, *copied.back)}
