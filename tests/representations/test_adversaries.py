"""Adversaries: last states against single sentences, padding and order, pairs that they must or cannot tell apart."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from sklearn_deid.representations import (
    EmbeddingPairAdversary,
    RepresentationPairAdversary,
    StrongEmbeddingAdversary,
    StrongRepresentationAdversary,
    attack_accuracy,
    average_adversaries,
    cosine_distance,
    pair_distance,
)

BUILD = {
    "T1": lambda: EmbeddingPairAdversary(4, 3, hidden_size=5),
    "T2": lambda: RepresentationPairAdversary(3, hidden_size=5),
    "T1S": lambda: StrongEmbeddingAdversary(4, 3, hidden_size=5),
    "T2S": lambda: StrongRepresentationAdversary(3, hidden_size=5),
}
ALL = pytest.mark.parametrize("name", BUILD)


@pytest.fixture(autouse=True)
def same_numbers_in_every_run():
    torch.manual_seed(0)


def built(name):
    """An adversary, a batch of pairs for it, and the mask; lengths 5, 1 and 3."""
    torch.manual_seed(0)
    mask = torch.arange(5) < torch.tensor([[5], [1], [3]])
    return BUILD[name](), (torch.randn(3, 5, 4 if "1" in name else 3), torch.randn(3, 5, 3)), mask


@ALL
def test_a_sentence_in_a_batch_is_judged_as_alone(name):
    """Oracle of the last states: without padding they stand at the ends of the tensor."""
    adversary, pair, mask = built(name)
    logits = adversary(*pair, mask)
    assert logits.shape == (3,)
    for i, n in enumerate(mask.sum(1).tolist()):
        alone = adversary(*(x[i : i + 1, :n] for x in pair), torch.ones(1, n, dtype=torch.bool))
        torch.testing.assert_close(alone[0], logits[i])


@pytest.mark.parametrize("name", ["T1", "T2"])
def test_logit_comes_from_the_final_states_of_a_bidirectional_lstm(name):
    adversary, pair, mask = built(name)
    read = adversary.read
    for i, n in enumerate(mask.sum(1).tolist()):
        a, b = (x[i : i + 1, :n] for x in pair)
        cosine = ((a * b).sum(2) / a.norm(dim=2) / b.norm(dim=2)).unsqueeze(2) if name == "T2" else a[..., :0]
        x = torch.cat([a, b, cosine], 2)
        _, (ahead, _) = read.encoder.ahead[0](x)
        _, (back, _) = read.encoder.back[0](x.flip(1))
        expected = read.score(torch.cat([ahead[0], back[0]], 1))
        torch.testing.assert_close(adversary(*pair, mask)[i], expected[0, 0])


@ALL
@pytest.mark.parametrize("junk", [0.0, 1e6, float("nan")])
def test_more_padding_changes_neither_logits_nor_gradients(name, junk):
    adversary, pair, mask = built(name)
    results = []
    for extra in (0, 3):
        inputs = [F.pad(x.masked_fill(~mask.unsqueeze(2), junk), (0, 0, 0, extra), value=junk) for x in pair]
        leaves = [x.requires_grad_() for x in inputs]
        adversary.zero_grad()
        logits = adversary(*leaves, F.pad(mask, (0, extra)))
        logits.square().sum().backward()
        assert all((x.grad[:, :5][~mask] == 0).all() for x in leaves)
        results.append([logits, *(x.grad[:, :5] for x in leaves), *(p.grad.clone() for p in adversary.parameters())])
    for left, right in zip(*results, strict=True):
        assert left.isfinite().all()
        torch.testing.assert_close(left, right)


@ALL
def test_order_of_pairs_does_not_matter(name):
    adversary, pair, mask = built(name)
    order = torch.tensor([2, 0, 1])
    turned = adversary(*(x[order] for x in pair), mask[order])
    torch.testing.assert_close(turned, adversary(*pair, mask)[order])


@pytest.mark.parametrize("name", ["T2", "T2S"])
def test_gradients_of_equal_pairs_and_of_zero_vectors_are_finite(name):
    adversary, (first, _), mask = built(name)
    first[0, 1] = 0.0
    leaf = first.clone().requires_grad_()
    adversary(leaf, leaf * 1.0, mask).sum().backward()
    assert leaf.grad.isfinite().all()


def test_strong_representation_adversary_treats_both_members_alike():
    adversary, (first, second), mask = built("T2S")
    torch.testing.assert_close(adversary(first, second, mask), adversary(second, first, mask))


def test_strong_adversaries_pool_over_positions():
    """Which position was moved does not matter to T2S, only what was there."""
    adversary, (first, second), _ = built("T2S")
    mask, order = torch.ones(3, 5, dtype=torch.bool), torch.tensor([3, 1, 4, 0, 2])
    torch.testing.assert_close(adversary(first[:, order], second[:, order], mask), adversary(first, second, mask))


def test_typical_length_is_divided_out_and_saved():
    adversary, pair, mask = built("T2S")
    long = StrongRepresentationAdversary(3, hidden_size=5, norm=7.0)
    weights = {k: v for k, v in adversary.state_dict().items() if k != "scale"}
    long.load_state_dict(weights | {"scale": long.scale})
    expected = adversary(*pair, mask)
    torch.testing.assert_close(long(*(7.0 * x for x in pair), mask), expected)
    long.load_state_dict(adversary.state_dict())
    torch.testing.assert_close(long(*pair, mask), expected)


@pytest.mark.parametrize("norm", [0.0, -1.0, math.inf, math.nan])
def test_typical_length_must_be_a_length(norm):
    with pytest.raises(ValueError, match="length of vectors must be a positive number"):
        StrongEmbeddingAdversary(4, 3, embedding_norm=norm)


class TestAverage:
    def test_is_the_logit_of_the_mean_of_sigmoids(self):
        logits = torch.randn(3, 50, dtype=torch.float64)
        averaged = average_adversaries(*logits)
        torch.testing.assert_close(averaged.sigmoid(), logits.sigmoid().mean(0))
        target = (torch.arange(50) % 2).double()
        one_loss = F.binary_cross_entropy(logits.sigmoid().mean(0), target)
        torch.testing.assert_close(F.binary_cross_entropy_with_logits(averaged, target), one_loss)

    def test_one_adversary_alone_and_two_that_disagree(self):
        logits = torch.tensor([-200.0, -3.0, 0.0, 3.0, 200.0])
        torch.testing.assert_close(average_adversaries(logits), logits)
        torch.testing.assert_close(average_adversaries(logits, -logits), torch.zeros(5))

    def test_gradient_is_finite_where_sigmoids_round_to_0_and_1(self):
        logits = torch.tensor([[500.0, -500.0, 90.0], [500.0, -500.0, -90.0]], requires_grad=True)
        F.binary_cross_entropy_with_logits(average_adversaries(*logits), torch.tensor([0.0, 1.0, 1.0])).backward()
        assert logits.grad.isfinite().all()
        # Both are sure and wrong: each still has its share of the gradient.
        torch.testing.assert_close(logits.grad[:, 0], torch.full((2,), 1 / 6))


def test_cosine_distance_of_each_sentence():
    guess, truth = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    mask = torch.tensor([[True, True, True], [True, False, False]])
    single = 1 - (guess * truth).sum(2) / guess.norm(dim=2) / truth.norm(dim=2)
    expected = torch.stack([single[0].mean(), single[1, 0]])
    torch.testing.assert_close(cosine_distance(guess, truth, mask), expected)
    torch.testing.assert_close(cosine_distance(guess, 9.0 * guess, mask), torch.zeros(2))


class Pairs:
    """Toy sentences of 4 to 12 words out of 60, each word a random direction; in every second pair one word moves."""

    n_words, time, size = 60, 12, 8

    def __init__(self, moved=True, noise=0.0, unit=True):
        self.generator = torch.Generator().manual_seed(0)
        self.table = F.normalize(self.draw(self.n_words, self.size), dim=1)
        self.moved, self.noise, self.unit = moved, noise, unit

    def draw(self, *shape):
        return torch.randn(*shape, generator=self.generator)

    def index(self, n, stop):
        return torch.randint(stop, (n,), generator=self.generator)

    def means(self, n):
        """Noise-free vectors of both members, mask, and whether they are the same sentence."""
        words = self.index(n * self.time, self.n_words).view(n, self.time)
        lengths, row, same = 4 + self.index(n, self.time - 3), torch.arange(n), torch.arange(n) % 2 == 1
        place = self.index(n, 10**6) % lengths
        other = words.clone()
        other[row, place] = (words[row, place] + 1 + self.index(n, self.n_words - 1)) % self.n_words
        second = torch.where(same[:, None], words, other) if self.moved else words
        return self.table[words], self.table[second], torch.arange(self.time) < lengths[:, None], same

    def release(self, mu):
        r = mu + self.noise * self.draw(*mu.shape)
        return F.normalize(r, dim=2) if self.unit else r


def accuracy(adversary: nn.Module, judge, pairs: Pairs, first=True, steps=150, n_test=4000) -> float:
    """Share of right answers on new pairs after training; ``first=False`` leaves the first member without noise."""
    optimizer = torch.optim.Adam(adversary.parameters(), lr=5e-3)

    def batch(n):
        a, b, mask, same = pairs.means(n)
        return pairs.release(a) if first else a, pairs.release(b), mask, same, b

    for _ in range(steps):
        a, b, mask, same, truth = batch(64)
        optimizer.zero_grad()
        logits, extra = judge(a, b, mask, truth)
        (F.binary_cross_entropy_with_logits(logits, same.float()) + extra).backward()
        optimizer.step()
    with torch.no_grad():
        a, b, mask, same, truth = batch(n_test)
        return ((judge(a, b, mask, truth)[0] > 0) == same).double().mean().item()


def representation_attack(pairs, **settings):
    torch.manual_seed(0)
    adversary = StrongRepresentationAdversary(pairs.size, 32)
    return accuracy(adversary, lambda a, b, mask, truth: (adversary(a, b, mask), 0.0), pairs, **settings)


class TestPositiveControl:
    @pytest.mark.parametrize("noise", [0.0, 0.05])
    def test_strong_representation_adversary_tells_moved_pairs(self, noise):
        assert representation_attack(Pairs(noise=noise)) > 0.95

    def test_strong_embedding_adversary_inverts_and_tells_moved_pairs(self):
        """The representation is an unknown rotation of the embeddings."""
        torch.manual_seed(0)
        pairs = Pairs()
        adversary = StrongEmbeddingAdversary(pairs.size, pairs.size, 32)
        rotation = torch.linalg.qr(torch.randn(pairs.size, pairs.size))[0]

        def judge(a, b, mask, truth):
            guess = adversary.invert(b @ rotation, mask)
            return adversary.judge(a, guess, mask), cosine_distance(guess, truth, mask).mean()

        assert accuracy(adversary, judge, pairs) > 0.95

    def test_is_at_chance_where_nothing_moved(self):
        # Four standard errors of a share of a half among 4,000.
        right = representation_attack(Pairs(moved=False, noise=0.3))
        assert right == pytest.approx(0.5, abs=4 * 0.5 / 4000**0.5)

    def test_bound_on_all_attacks_holds_for_a_trained_one(self):
        """An attacker with a noise-free template is better than chance, and not better than the bound."""
        pairs = Pairs(noise=0.7, unit=False)
        right = representation_attack(pairs, first=False)
        mu, other, mask, same = pairs.means(4000)
        distance = pair_distance(mu, other, torch.full((pairs.size,), pairs.noise), mask)[~same]
        bound = attack_accuracy(distance).mean().item()
        interval = 4 * 0.5 / 4000**0.5
        assert 0.5 + interval < right < bound + interval
        assert bound < 0.85
