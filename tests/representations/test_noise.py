"""Noise against its stated standard deviation, its derivative, and what a reload keeps."""

import copy

import pytest
import torch

from sklearn_deid.representations import GaussianNoise


@pytest.fixture(autouse=True)
def same_numbers_in_every_run():
    torch.manual_seed(0)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("kind", ["trainable", "fixed"])
def test_noise_has_the_stated_std_in_each_dimension(kind):
    noise = GaussianNoise(4, kind=kind, floor=0.1)
    with torch.no_grad():
        noise.weight.copy_(torch.tensor([-0.4, 0.0, 0.9, 2.0]))
    expected = torch.tensor([0.5, 0.1, 1.0, 2.1])
    torch.testing.assert_close(noise.std().detach(), expected)
    n = 100_000
    drawn = noise(torch.zeros(n // 10, 10, 4), generator=seeded()).detach().reshape(n, 4)
    # The standard error of a standard deviation is std / sqrt(2 n), that of a mean std / sqrt(n).
    assert ((drawn.std(0) - expected).abs() < 4 * expected / (2 * n) ** 0.5).all()
    assert (drawn.mean(0).abs() < 4 * expected / n**0.5).all()
    correlation = torch.corrcoef(drawn.T) - torch.eye(4)
    assert (correlation.abs() < 4.5 / n**0.5).all()


def test_noise_is_fresh_for_each_token_dimension_and_call():
    noise = GaussianNoise(6)
    generator = seeded()
    first, second = (noise(torch.zeros(3, 5, 6), generator=generator) for _ in range(2))
    assert torch.cat([first, second]).unique().numel() == 2 * 3 * 5 * 6


def test_noise_does_not_depend_on_training_or_evaluation():
    noise = GaussianNoise(3)
    x = torch.randn(2, 4, 3)
    trained = noise.train()(x, generator=seeded())
    torch.testing.assert_close(noise.eval()(x, generator=seeded()), trained)
    assert not (trained == x).any()


def test_equal_generators_give_equal_noise_and_others_do_not():
    noise, x = GaussianNoise(3), torch.zeros(2, 4, 3)
    torch.testing.assert_close(noise(x, generator=seeded(1)), noise(x, generator=seeded(1)), rtol=0, atol=0)
    assert not (noise(x, generator=seeded(1)) == noise(x, generator=seeded(2))).any()


def test_a_copy_does_not_replay_noise():
    """Nothing that could be replayed travels with the layer: its state is the weights and the floor."""
    noise = GaussianNoise(3, floor=0.2)
    assert sorted(noise.state_dict()) == ["floor", "weight"]
    x = torch.zeros(2, 4, 3)
    assert not (noise(x) == copy.deepcopy(noise)(x)).any()


def test_derivative_by_std_is_eps_and_by_input_one():
    noise, x = GaussianNoise(3, init=0.5, floor=0.1), torch.randn(2, 4, 3, requires_grad=True)
    with torch.no_grad():
        noise.weight[1] = -0.5
    eps, outer = noise.draw(x, seeded()), torch.randn(2, 4, 3)
    (noise(x, eps=eps) * outer).sum().backward()
    sign = torch.tensor([1.0, -1.0, 1.0])
    torch.testing.assert_close(noise.weight.grad, (eps * outer).sum((0, 1)) * sign)
    torch.testing.assert_close(x.grad, outer)


def test_given_numbers_are_the_drawn_ones():
    noise, x = GaussianNoise(3), torch.randn(2, 4, 3)
    torch.testing.assert_close(noise(x, eps=noise.draw(x, seeded())), noise(x, generator=seeded()), rtol=0, atol=0)


@pytest.mark.parametrize("kind", ["trainable", "fixed"])
def test_switched_off_is_the_identity(kind):
    x = torch.randn(2, 4, 3)
    assert GaussianNoise(3, kind=kind, floor=1.0)(x, apply=False) is x


def test_none_is_the_identity_without_state():
    noise, x = GaussianNoise(3, kind="none"), torch.randn(2, 4, 3)
    assert noise(x) is x
    assert noise.state_dict() == {}
    assert noise.std().tolist() == [0.0, 0.0, 0.0]
    assert list(noise.parameters()) == []


@pytest.mark.parametrize("kind", ["trainable", "fixed"])
def test_floor_survives_a_reload(kind):
    saved = GaussianNoise(3, kind=kind, init=0.2, floor=0.4)
    loaded = GaussianNoise(3, kind=kind, init=0.9, floor=0.0)
    loaded.load_state_dict(saved.state_dict())
    torch.testing.assert_close(loaded.std(), torch.full((3,), 0.6))


def test_noise_and_no_noise_do_not_load_each_other():
    noisy, silent = GaussianNoise(3), GaussianNoise(3, kind="none")
    with pytest.raises(RuntimeError, match="Unexpected key"):
        silent.load_state_dict(noisy.state_dict())
    with pytest.raises(RuntimeError, match="Missing key"):
        noisy.load_state_dict(silent.state_dict())


def test_noise_never_falls_under_its_floor():
    noise = GaussianNoise(3, init=0.5, floor=0.25)
    optimizer = torch.optim.SGD(noise.parameters(), lr=0.05)
    for _ in range(50):
        optimizer.zero_grad()
        noise.std().sum().backward()
        optimizer.step()
        assert (noise.std() >= 0.25).all()
    assert (noise.std() < 0.31).all()


def test_only_trainable_noise_has_parameters():
    trainable = GaussianNoise(3)
    assert [p is trainable.weight for p in trainable.parameters()] == [True]
    assert list(GaussianNoise(3, kind="fixed").parameters()) == []


def test_start_of_the_paper_is_a_normal_draw_and_restart_returns_to_a_number():
    torch.manual_seed(0)
    noise = GaussianNoise(20_000, init="normal")
    assert abs(noise.weight.std().item() - 0.05) < 4 * 0.05 / 200
    assert abs(noise.weight.mean().item()) < 4 * 0.05 / 20_000**0.5
    noise.restart(0.3)
    torch.testing.assert_close(noise.std().detach(), torch.full((20_000,), 0.3))
    assert noise.weight.requires_grad


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "loud"}, "'kind' parameter must be trainable, fixed or none. Got 'loud'"),
        ({"floor": -0.1}, "'floor' parameter must be a number that is not negative. Got -0.1"),
        ({"floor": float("nan")}, "'floor' parameter must be a number"),
        ({"init": -0.1}, "'init' parameter must be a number that is not negative, or normal. Got -0.1"),
        ({"init": float("inf")}, "'init' parameter must be a number"),
        ({"init": "uniform"}, "'init' parameter must be a number that is not negative, or normal. Got 'uniform'"),
        ({"kind": "none", "floor": 0.1}, "floor of 0.1 needs noise"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        GaussianNoise(3, **settings)


def test_no_noise_cannot_restart():
    with pytest.raises(ValueError, match="no noise to restart"):
        GaussianNoise(3, kind="none").restart(0.3)
