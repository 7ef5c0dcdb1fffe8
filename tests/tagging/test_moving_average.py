"""The moving average of weights against its definition."""

import pytest
import torch

from sklearn_deid.tagging import MovingAverage


@pytest.mark.parametrize("decay", [0.0, 0.5, 0.998])
def test_average_is_the_recursion_with_a_short_memory_at_first(decay):
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2)
    average, expected = MovingAverage(layer, decay), layer.weight.detach().clone()
    for step in range(1, 31):
        with torch.no_grad():
            layer.weight.normal_()
        average.update(layer)
        share = min(decay, (1 + step) / (10 + step))
        expected = share * expected + (1 - share) * layer.weight.detach()
    current = layer.weight.detach().clone()
    with average.in_place(layer):
        torch.testing.assert_close(layer.weight.detach(), expected)
    assert torch.equal(layer.weight, current)
    average.keep(layer)
    torch.testing.assert_close(layer.weight.detach(), expected)


def test_an_error_leaves_the_weights_of_the_last_step():
    layer = torch.nn.Linear(1, 1)
    average, before = MovingAverage(layer), layer.weight.item()
    with torch.no_grad():
        layer.weight.add_(1.0)
    with pytest.raises(KeyError), average.in_place(layer):
        assert layer.weight.item() == before
        raise KeyError
    assert layer.weight.item() == pytest.approx(before + 1.0)
