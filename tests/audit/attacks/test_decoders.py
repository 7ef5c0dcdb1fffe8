"""The network that guesses words from released vectors, by itself."""

import pytest
import torch

from sklearn_deid.audit.attacks.decoders import EmbeddingDecoder


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("kind", ["token", "sequence"])
def test_padding_changes_no_guess(kind, generator):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        decoder = EmbeddingDecoder(3, 1, 4, kind, 5)
    x = torch.randn(2, 5, 4, generator=generator)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    padded = decoder(x, mask)[1, :3]
    alone = decoder(x[1:, :3], mask[1:, :3])[0]
    assert torch.allclose(padded, alone, atol=1e-6)


@pytest.mark.parametrize("kind", ["token", "sequence"])
def test_it_starts_as_the_linear_map_that_undoes_a_linear_release(kind, generator):
    words = torch.randn(200, 4, generator=generator)
    # shape: (200, 3), of words that a plane of three dimensions holds
    plane = torch.randn(4, 3, generator=generator)
    released = words @ plane
    targets = released @ torch.linalg.pinv(plane)
    decoder = EmbeddingDecoder(3, 0, 4, kind, 5)
    decoder.start(released, targets, torch.ones(200))
    guess = decoder(released[None], torch.ones(1, 200, dtype=torch.bool))[0]
    assert torch.nn.functional.cosine_similarity(guess, targets).min() > 0.999
