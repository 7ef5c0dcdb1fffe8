"""Seeds of the window are found in both generators, in files without order too; nothing is found in keyed noise."""

import random

import numpy as np
import pytest
import torch

from sklearn_deid._randomness import release_generator
from sklearn_deid.audit.attacks import SeedSearch, SeedTarget
from sklearn_deid.audit.attacks.seed_search import NoiseLayout
from sklearn_deid.audit.attacks.seeded_streams import of_numpy, of_python_normalvariate, of_torch
from sklearn_deid.tagging import LengthBucketSampler

LENGTHS = np.random.default_rng(0).integers(1, 9, 120)
D = 10


def noise_of(generator, seed, width=0, lengths=LENGTHS):
    """Noise of all tokens in their order, drawn batch after batch."""
    torch_stream, numpy_stream = torch.Generator().manual_seed(seed), np.random.default_rng(seed)
    offsets, out = np.concatenate([[0], np.cumsum(lengths)]), np.zeros((lengths.sum(), D))
    for rows in LengthBucketSampler(lengths, 4096, max_rows=4096):
        mask = np.arange(lengths[rows].max()) < lengths[rows][:, None]
        item = np.where(mask, offsets[:-1][rows][:, None] + np.arange(mask.shape[1]), 0)[mask]
        if generator == "torch":
            if width:
                torch.randn((*mask.shape, width), generator=torch_stream)
            out[item] = torch.randn((*mask.shape, D), generator=torch_stream).numpy()[mask]
        else:
            if width:
                numpy_stream.standard_normal((len(item), width))
            out[item] = numpy_stream.standard_normal((len(item), D))
    return out


def means(n, seed=1):
    """Means with two strong directions, as those of trained networks have."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, D)) + 0.1 * rng.normal(size=(n, D)) + 1.0


@pytest.mark.parametrize("generator", ["torch", "numpy"])
@pytest.mark.parametrize("width", [0, 7])
def test_a_planted_seed_is_found(generator, width):
    vectors = means(LENGTHS.sum()) + noise_of(generator, 77, width)
    found = SeedSearch(n_seeds=128, random_state=0).attack(SeedTarget(vectors, LENGTHS, width))
    assert len(found.faults) == 1 and "with seed 77" in found.faults[0] and found.positive_control.value == 1.0
    other = SeedSearch(first=78, n_seeds=128, random_state=0).attack(SeedTarget(vectors, LENGTHS, width))
    assert other.faults == () and other.status == "ok"


def own_noise(kind, seed, shape):
    """Noise that a data scientist adds to all vectors."""
    python, state = random.Random(seed), np.random.RandomState(seed)
    if kind == "torch":
        return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).numpy()
    if kind == "default_rng":
        return np.random.default_rng(seed).normal(size=shape)
    if kind == "np.random.seed":
        return state.normal(size=shape)
    draw = python.gauss if kind == "random.gauss" else python.normalvariate
    return np.array([draw(0.0, 1.0) for _ in range(shape[0] * shape[1])]).reshape(shape)


@pytest.mark.parametrize("kind", ["torch", "default_rng", "np.random.seed", "random.gauss", "random.normalvariate"])
def test_own_noise_in_the_order_of_the_release_is_found(kind):
    """Only noise in the order of the library's batches was found, and none of `np.random.seed` and `random.seed`."""
    n = int(LENGTHS.sum())
    vectors = means(n) + own_noise(kind, 42, (n, D))
    found = SeedSearch(n_seeds=64, random_state=0).attack(SeedTarget(vectors, LENGTHS))
    assert len(found.faults) == 1 and "with seed 42" in found.faults[0] and found.positive_control.value == 1.0
    # The noise was drawn for sentences that the release repeats, too, or the order of the sentences is unknown.
    places = np.arange(n) + 30 * (np.arange(n) >= 60)
    vectors = means(n) + own_noise(kind, 42, (n + 30, D))[places]
    again = SeedSearch(n_seeds=64, random_state=0).attack(SeedTarget(vectors, LENGTHS, 0, False, places))
    assert again.faults == found.faults


def test_streams_are_those_of_their_generators():
    """A rare draw of `normalvariate` needs more pairs than expected; other draws come before those of the output."""
    python = random.Random(2**40 + 3)
    drawn = [python.normalvariate(0.0, 1.0) for _ in range(2000)]
    np.testing.assert_allclose(of_python_normalvariate(2**40 + 3, 2000), drawn, rtol=1e-12)
    np.testing.assert_array_equal(of_numpy(5, 7, 3), of_numpy(5, 10)[3:])
    generator = torch.Generator().manual_seed(5)
    torch.randn(48, generator=generator)
    np.testing.assert_array_equal(of_torch(5, 32, 48), torch.randn(32, generator=generator).numpy())


def test_the_order_of_sentences_of_equal_length_is_not_needed():
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
    vectors = means(LENGTHS.sum()) + noise_of("torch", 5)
    order = np.random.default_rng(3).permutation(len(LENGTHS))
    shuffled = np.concatenate([vectors[offsets[i] : offsets[i + 1]] for i in order])
    target = SeedTarget(shuffled, LENGTHS[order], in_order=False)
    assert "with seed 5" in SeedSearch(n_seeds=64, random_state=0).attack(target).faults[0]


def test_keyed_noise_has_no_seed_and_scores_are_standard_normal():
    for _ in range(3):
        vectors = means(LENGTHS.sum()) + release_generator().standard_normal((LENGTHS.sum(), D))
        found = SeedSearch(n_seeds=256, random_state=0).attack(SeedTarget(vectors, LENGTHS))
        assert found.faults == () and found.status == "ok"
    layout = NoiseLayout(SeedTarget(vectors, LENGTHS))
    scores = layout.scores(layout.direction(vectors)[None], "torch", range(2000))
    assert abs(scores.mean()) < 4.5 / np.sqrt(2000) and abs(scores.var() - 1) < 4.5 * np.sqrt(2 / 2000)


def test_large_batches_are_compared_in_part():
    lengths = np.full(900, 8)
    vectors = means(lengths.sum()) + noise_of("torch", 3, lengths=lengths)
    layout = NoiseLayout(SeedTarget(vectors, lengths))
    assert 16_000 < layout.n_numbers < 20_000
    assert np.abs(layout.scores(layout.direction(vectors)[None], "torch", range(8))[0]).argmax() == 3


def test_too_little_is_refused():
    with pytest.raises(ValueError, match="too few sentences"):
        SeedSearch().attack(SeedTarget(np.ones((2, 4)), np.array([2])))
    # All tokens are in one sum. Without their mean the sum is 0, and the control could not find any seed.
    one = SeedTarget(np.random.default_rng(3).standard_normal((400, 50)), np.ones(400, dtype=np.int64), in_order=False)
    with pytest.raises(ValueError, match="Only 0 numbers .* too few lengths of sentences"):
        SeedSearch(n_seeds=8).attack(one)
    with pytest.raises(ValueError, match="'n_seeds' must be at least 1"):
        SeedSearch(n_seeds=0)


def test_many_sentences_of_one_token_do_not_hide_the_others():
    """In unknown order, the sums of one length are few numbers: longer sentences count until the control has power."""
    rng = np.random.default_rng(3)
    lengths = rng.permutation(np.repeat([1, 2, 3, 4, 5, 6], [400, 40, 40, 40, 40, 40]))
    released = rng.standard_normal((lengths.sum(), 50)) * 3.0
    found = SeedSearch(n_seeds=64, random_state=0).attack(SeedTarget(released, lengths, in_order=False))
    assert found.status == "ok" and found.faults == () and found.details["numbers compared"] > 400
