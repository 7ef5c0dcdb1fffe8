"""Pairs, adversaries side by side, and losses against literal computations."""

import math

import numpy as np
import pytest
import torch

from sklearn_deid.representations import (
    AdversaryOptimizer,
    PairAdversaries,
    RunningMeans,
    chance_deviation,
    frozen,
    release_pairs,
    typical_norms,
)

from .toy_models import Copying, D, chance, same_weights, small_model, toy_batches, weights
from .toy_pairs import SIZE


@pytest.fixture
def batch():
    return next(toy_batches()[0].epoch(**chance(), sentences="balanced"))


def test_real_pairs_hold_a_sentence_twice_and_fake_ones_its_twin(batch):
    pairs = release_pairs(Copying(), batch, None)
    n = batch.n_pairs
    x, moved = batch.embeddings[:n], batch.moved
    assert len(pairs) == 2 * n and pairs.real.tolist() == [True] * n + [False] * n
    for kept in (pairs.embeddings, pairs.first):
        torch.testing.assert_close(kept, torch.cat([x, x]))
    for kept in (pairs.source, pairs.second):
        torch.testing.assert_close(kept, torch.cat([x, moved]))
    assert torch.equal(pairs.mask, torch.cat([batch.pair_mask] * 2))


def test_each_member_has_its_own_noise(batch):
    pairs = release_pairs(small_model().representer, batch, torch.Generator().manual_seed(0))
    n = batch.n_pairs
    members = [pairs.first[:n], pairs.first[n:], pairs.second[:n], pairs.second[n:]]
    on = batch.pair_mask
    for i, a in enumerate(members):
        for b in members[:i]:
            assert not torch.isclose(a[on], b[on], atol=1e-6).all(1).any()


def test_noise_free_template_is_the_same_in_every_draw(batch):
    representer = small_model().representer
    draws = [release_pairs(representer, batch, torch.Generator().manual_seed(s), "noise_free") for s in (0, 1)]
    torch.testing.assert_close(draws[0].first, draws[1].first)
    n = batch.n_pairs
    torch.testing.assert_close(draws[0].first[:n], representer(batch.embeddings[:n], batch.pair_mask, noise=False))
    assert not torch.equal(draws[0].second, draws[1].second)


def test_losses_of_the_papers_kind_are_of_the_mean_probability(batch):
    adversaries = PairAdversaries(SIZE, D, kind="paper", hidden_size=5)
    judgement = adversaries(adversaries.draw(small_model().representer, batch, None))
    p = (judgement.logits["t1"].sigmoid() + judgement.logits["t2"].sigmoid()) / 2
    by_hand = [-math.log(q if real else 1 - q) for q, real in zip(p.tolist(), judgement.real.tolist(), strict=True)]
    np.testing.assert_allclose(judgement.cross_entropy("average").tolist(), by_hand, rtol=1e-5)
    right = np.mean([(q > 0.5) == real for q, real in zip(p.tolist(), judgement.real.tolist(), strict=True)])
    assert judgement.accuracy("average").item() == pytest.approx(right)
    assert judgement.auxiliary == {}


def test_deviation_is_the_mean_over_pairs():
    losses = torch.tensor([0.1, 0.7, 2.5, 0.69])
    by_hand = [abs(x - math.log(2)) for x in losses.tolist()]
    assert chance_deviation(losses).item() == pytest.approx(np.mean(by_hand))


def test_deviation_has_its_minimum_at_one_half_only():
    logits = torch.tensor([3.0, -2.0, 0.5, 1.0], requires_grad=True)
    target = torch.tensor([1.0, 1.0, 0.0, 0.0])
    optimizer = torch.optim.Adam([logits], lr=0.01)
    for _ in range(1500):
        optimizer.zero_grad()
        entropy = torch.nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
        chance_deviation(entropy).backward()
        optimizer.step()
    assert logits.detach().abs().max() < 0.05


def test_each_strong_adversary_learns_as_if_it_were_alone(batch):
    """One backward pass on the sum gives each the gradient of its own loss."""
    torch.manual_seed(0)
    adversaries = PairAdversaries(SIZE, D, hidden_size=5)
    pairs = adversaries.draw(small_model(kind="none", noise=0.0).representer, batch, None)
    with torch.no_grad():
        pairs = release_pairs(small_model().representer, batch, torch.Generator().manual_seed(0))
    optimizer = AdversaryOptimizer(adversaries, 1e-2)
    judgement = adversaries(pairs)
    alone = judgement.cross_entropy("t2").mean()
    expected = torch.autograd.grad(alone, list(adversaries.members["t2"].parameters()))
    optimizer.learning_loss(adversaries(pairs)).backward()
    for p, gradient in zip(adversaries.members["t2"].parameters(), expected, strict=True):
        torch.testing.assert_close(p.grad, gradient)


def test_auxiliary_loss_compares_with_what_was_represented(batch):
    adversaries = PairAdversaries(SIZE, SIZE, tasks=("t1",), hidden_size=5)
    pairs = adversaries.draw(Copying(), batch, None)
    guess = adversaries.members["t1"].invert(pairs.second, pairs.mask)
    cosine = torch.nn.functional.cosine_similarity(guess, pairs.source, dim=2)
    by_hand = [(1 - c[m]).mean().item() for c, m in zip(cosine, pairs.mask, strict=True)]
    assert adversaries(pairs).auxiliary["t1"].item() == pytest.approx(np.mean(by_hand), rel=1e-5)


def test_frozen_parts_keep_their_weights_but_pass_gradients():
    model = small_model()
    model.tagger.emit.bias.requires_grad_(False)  # stays so afterwards
    batch = next(toy_batches()[0].epoch(**chance()))
    with frozen(model.tagger):
        r = model.representer(batch.embeddings, batch.mask)
        model.deid_loss(r, batch).backward()
    assert all(p.grad is None for p in model.tagger.parameters())
    assert all(p.grad is not None for p in model.representer.parameters())
    assert [k for k, p in model.tagger.named_parameters() if not p.requires_grad] == ["emit.bias"]


def test_norms_are_means_over_tokens():
    train, _ = toy_batches()
    norms = typical_norms(Copying(), train)
    lengths = [b.embeddings[b.mask].norm(dim=1) for b in train.epoch(**chance(), sentences="pairs")]
    assert norms == pytest.approx([torch.cat(lengths).mean().item()] * 2)
    assert typical_norms(small_model().representer, train)[1] == pytest.approx(1.0)


def test_running_means_weigh_by_count():
    means = RunningMeans()
    means.add(3, a=torch.tensor(1.0))
    means.add(1, a=torch.tensor(5.0), b=torch.tensor(2.0))
    assert means.compute("x_") == {"x_a": 2.0, "x_b": 2.0}
    assert RunningMeans().compute() == {}


def test_copies_and_originals_learn_apart(batch):
    adversaries = PairAdversaries(SIZE, D, hidden_size=5)
    before = weights(adversaries)
    with torch.no_grad():
        pairs = adversaries.draw(small_model().representer, batch, None)
    AdversaryOptimizer(adversaries, 1e-2).learn(pairs)
    assert not same_weights(before, weights(adversaries))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "weak"}, "'kind' parameter must be paper or strong"),
        ({"template": "x"}, "'template' parameter must be noisy or noise_free"),
        ({"tasks": ()}, "'tasks' parameter must name t1, t2"),
        ({"tasks": ("t3",)}, "'tasks' parameter must name t1, t2"),
    ],
)
def test_unknown_adversaries_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        PairAdversaries(SIZE, D, **options)
