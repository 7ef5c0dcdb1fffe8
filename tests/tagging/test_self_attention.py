"""Self-attention against attention written out for one sentence, and what padding and position may not change."""

import pytest
import torch

from sklearn_deid.tagging import SelfAttentionEncoder
from sklearn_deid.tagging.encoders import rotate


def written_out(encoder, x):
    """One sentence of shape (time, d), head by head, with explicit rotation matrices."""
    x = encoder.project(x)
    for layer in encoder.layers:
        parts = layer.attend(layer.before_attention(x)).chunk(3, dim=1)
        heads = [p.split(p.shape[1] // layer.n_heads, dim=1) for p in parts]
        looked = []
        for query, key, value in zip(*heads, strict=True):
            query, key = turned(query), turned(key)
            looked.append((query @ key.t() / query.shape[1] ** 0.5).softmax(1) @ value)
        x = x + layer.join(torch.cat(looked, 1))
        x = x + layer.network(layer.before_network(x))
    return encoder.norm(x)


def turned(x):
    time, d = x.shape
    rows = []
    for t in range(time):
        matrix = torch.zeros(d, d)
        for i in range(0, d, 2):
            a = torch.tensor(t * 10_000.0 ** (-i / d))
            matrix[i : i + 2, i : i + 2] = torch.stack([a.cos(), -a.sin(), a.sin(), a.cos()]).view(2, 2)
        rows.append(matrix @ x[t])
    return torch.stack(rows)


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return SelfAttentionEncoder(5, 16, n_layers=2, n_heads=2)


def test_equals_attention_written_out(encoder):
    lengths, x = torch.tensor([7, 1, 4]), torch.randn(3, 7, 5)
    out = encoder(x, lengths)
    for i, n in enumerate(lengths.tolist()):
        torch.testing.assert_close(out[i, :n], written_out(encoder, x[i, :n]), atol=1e-5, rtol=1e-4)


def test_products_of_rotated_vectors_depend_on_the_distance_alone():
    torch.manual_seed(0)
    x, y = torch.randn(8), torch.randn(8)
    left, right = rotate(x.expand(10, 8)), rotate(y.expand(10, 8))
    torch.testing.assert_close(left[2] @ right[5], left[6] @ right[9], atol=1e-5, rtol=1e-5)
    assert not torch.isclose(left[2] @ right[5], left[2] @ right[6])


def test_order_of_the_words_counts(encoder):
    x = torch.randn(1, 3, 5)
    turned_round = encoder(x.flip(1), torch.tensor([3])).flip(1)
    assert not torch.allclose(encoder(x, torch.tensor([3])), turned_round, atol=1e-3)


def test_width_must_fit_the_heads():
    with pytest.raises(ValueError, match=r"multiple of 2 \* n_heads \(6\)"):
        SelfAttentionEncoder(5, 16, n_heads=3)
