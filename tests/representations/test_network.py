"""Representer: equation 1 written out, padding and order, and that the noise is the one that the bound speaks of."""

import pytest
import torch
from torch.nn import functional as F

from sklearn_deid.representations import (
    GaussianNoise,
    PrivateModel,
    Representer,
    noise_aware_groups,
    pair_distance,
    reverse_gradient,
)

KINDS = pytest.mark.parametrize("kind", ["lstm", "dense"])


@pytest.fixture(autouse=True)
def same_numbers_in_every_run():
    torch.manual_seed(0)


def small(kind="lstm", **settings):
    torch.manual_seed(0)
    return Representer(4, 3, kind=kind, hidden_size=5, **settings)


def sentences(lengths=(5, 1, 3), time=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    mask = torch.arange(time) < torch.tensor(lengths)[:, None]
    return torch.randn(len(lengths), time, 4, generator=generator), mask


def padded(x, junk):
    return torch.cat([x, torch.full((x.shape[0], 2, x.shape[2]), junk)], 1)


@KINDS
def test_shape_unit_length_and_zeros_at_padding(kind):
    x, mask = sentences()
    r = small(kind)(x, mask)
    assert r.shape == (3, 5, 3)
    torch.testing.assert_close(r.norm(dim=2), mask.float())


@KINDS
def test_forward_is_equation_1_with_its_steps_in_order(kind):
    representer, (x, mask) = small(kind), sentences()
    eps_in, eps_out = torch.randn(3, 5, 4), torch.randn(3, 5, 3)
    representer.output_noise.draw = lambda like, generator: eps_out
    noisy = x + representer.input_noise.std() * eps_in
    if kind == "dense":
        first, second = representer.body.layers
        hidden = F.relu(second(F.relu(first(noisy))))
        assert first.weight.shape == second.weight.shape == (4, 4)
    else:
        hidden = torch.zeros(3, 5, 10)
        for i, n in enumerate(mask.sum(1).tolist()):  # sentence by sentence, without any padding
            ahead = representer.body.ahead[0](noisy[i : i + 1, :n])[0]
            back = representer.body.back[0](noisy[i : i + 1, :n].flip(1))[0].flip(1)
            hidden[i, :n] = torch.cat([ahead, back], 2)[0]
    expected = representer.project(hidden) + representer.output_std() * eps_out
    expected = expected / expected.norm(dim=2, keepdim=True) * mask.unsqueeze(2)
    torch.testing.assert_close(representer(x, mask, input_eps=eps_in), expected)


@KINDS
@pytest.mark.parametrize("junk", [0.0, 1e6, float("nan")])
def test_more_padding_changes_nothing(kind, junk):
    representer, (x, mask) = small(kind), sentences()
    x[~mask] = junk
    eps = torch.randn(3, 5, 4)
    longer_mask = F.pad(mask, (0, 2))
    outer = torch.randn(3, 5, 3)
    gradients = []
    for run in (
        lambda: representer.mean(x, mask, input_eps=eps),
        lambda: representer.mean(padded(x, junk), longer_mask, input_eps=padded(eps, 3.0))[:, :5],
        lambda: representer(x, mask, noise=False),
        lambda: representer(padded(x, junk), longer_mask, noise=False)[:, :5],
    ):
        representer.zero_grad()
        out = run()
        (out * outer).sum().backward()
        gradients.append((out.detach(), *(p.grad.clone() for p in representer.parameters() if p.grad is not None)))
    for left, right in zip(gradients[0] + gradients[2], gradients[1] + gradients[3], strict=True):
        assert left.isfinite().all()
        torch.testing.assert_close(left, right)


@KINDS
def test_order_of_sentences_does_not_matter(kind):
    representer, (x, mask) = small(kind), sentences()
    eps, order = torch.randn(3, 5, 4), torch.tensor([2, 0, 1])
    turned = representer.mean(x[order], mask[order], input_eps=eps[order])
    torch.testing.assert_close(turned, representer.mean(x, mask, input_eps=eps)[order])


@KINDS
def test_forward_is_mean_then_release(kind):
    representer, (x, mask) = small(kind), sentences()
    whole = representer(x, mask, generator=torch.Generator().manual_seed(7))
    generator = torch.Generator().manual_seed(7)
    mu = representer.mean(x, mask, generator=generator)
    torch.testing.assert_close(representer.release(mu, mask, generator=generator), whole)


def test_releases_scatter_around_the_mean_with_the_stated_std():
    """The Gaussian of the bound is the one that is released."""
    representer = small(unit_norm=False, output_noise=GaussianNoise(3, init=0.4, floor=0.2))
    with torch.no_grad():
        representer.output_noise.weight.copy_(torch.tensor([0.1, -0.8, 2.0]))
    x, mask = sentences((2,), time=2)
    n, eps = 20_000, torch.randn(1, 2, 4)
    with torch.no_grad():
        mu, std = representer.mean(x, mask, input_eps=eps), representer.output_std()
        many = representer(
            x.expand(n, -1, -1),
            mask.expand(n, -1),
            input_eps=eps.expand(n, -1, -1),
            generator=torch.Generator().manual_seed(0),
        )
    torch.testing.assert_close(std, torch.tensor([0.3, 1.0, 2.2]))
    assert ((many.mean(0) - mu[0]).abs() < 4.5 * std / n**0.5).all()
    assert ((many.std(0) - std).abs() < 4.5 * std / (2 * n) ** 0.5).all()


@KINDS
def test_one_draw_of_input_noise_serves_a_pair(kind):
    representer, (x, mask) = small(kind), sentences()
    eps, std = representer.input_noise.draw(x), representer.output_std()
    mu = representer.mean(x, mask, input_eps=eps)
    assert (pair_distance(mu, representer.mean(x, mask, input_eps=eps), std, mask) == 0).all()
    assert (pair_distance(mu, representer.mean(x, mask), std, mask) > 0).all()


def test_dense_layers_see_one_token_and_the_lstm_all():
    (x, mask), moved = sentences((5,)), sentences((5,))[0]
    moved[0, 2] += 1.0
    changed = {}
    for kind in ("lstm", "dense"):
        with torch.no_grad():
            representer = small(kind)
            difference = representer.mean(x, mask, noise=False) - representer.mean(moved, mask, noise=False)
        changed[kind] = difference.abs().sum(2)[0] > 0
    assert changed["dense"].tolist() == [False, False, True, False, False]
    assert changed["lstm"].all()


@KINDS
def test_noise_is_on_when_evaluating_and_off_only_on_request(kind):
    representer, (x, mask) = small(kind).eval(), sentences()
    first, second = representer(x, mask), representer(x, mask)
    assert not (first == second)[mask].any()
    silent = [representer(x, mask, noise=False) for _ in range(2)]
    torch.testing.assert_close(*silent, rtol=0, atol=0)


def test_state_keeps_noise_and_floors():
    saved = small(input_noise=GaussianNoise(4, init=0.7), output_noise=GaussianNoise(3, init=0.1, floor=0.5))
    loaded = small()
    loaded.load_state_dict(saved.state_dict())
    torch.testing.assert_close(loaded.output_std(), torch.full((3,), 0.6))
    torch.testing.assert_close(loaded.input_noise.std(), torch.full((4,), 0.7))
    x, mask = sentences()
    draws = [m(x, mask, generator=torch.Generator().manual_seed(0)) for m in (saved, loaded)]
    torch.testing.assert_close(*draws, rtol=0, atol=0)


def test_noise_weights_form_a_group():
    representer = small(input_noise=GaussianNoise(4, kind="fixed"))
    others, noise = noise_aware_groups(PrivateModel(representer, None), 0.1, 0.2)
    assert [p is representer.output_noise.weight for p in noise["params"]] == [True]
    assert (others["lr"], noise["lr"]) == (0.1, 0.2) and len(others["params"]) == len(
        list(representer.parameters())
    ) - 1
    x, mask = sentences()
    representer(x, mask).sum().backward()
    assert (representer.output_noise.weight.grad != 0).all()


def test_layers_can_be_counted():
    assert len(small(n_layers=3).body.ahead) == 3
    assert len(small("dense", n_layers=1).body.layers) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "gru"}, "'kind' parameter must be lstm or dense. Got 'gru'"),
        ({"input_noise": GaussianNoise(3)}, "'input_noise' parameter must have 4 dimensions. Got 3"),
        ({"output_noise": GaussianNoise(4)}, "'output_noise' parameter must have 3 dimensions. Got 4"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        small(**settings)


class TestReverseGradient:
    @pytest.mark.parametrize("factor", [0.0, 0.3, 1.0, 4.0])
    def test_value_stays_and_gradient_is_turned_and_scaled(self, factor):
        x = torch.randn(3, 4, requires_grad=True)
        weights = torch.randn(4)
        (plain,) = torch.autograd.grad((x * weights).tanh().sum(), x)
        turned = reverse_gradient(x, factor)
        torch.testing.assert_close(turned, x, rtol=0, atol=0)
        (turned * weights).tanh().sum().backward()
        torch.testing.assert_close(x.grad, -factor * plain, rtol=0, atol=0)

    def test_other_uses_of_the_same_tensor_keep_their_gradient(self):
        x = torch.ones(2, requires_grad=True)
        (5 * x + 2 * reverse_gradient(x)).sum().backward()
        assert x.grad.tolist() == [3.0, 3.0]

    @pytest.mark.parametrize("factor", [-1.0, float("nan")])
    def test_factor_must_reverse(self, factor):
        with pytest.raises(ValueError, match="'factor' parameter must be a number that is not negative"):
            reverse_gradient(torch.ones(1), factor)
