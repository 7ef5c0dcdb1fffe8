"""The character networks against plain ones that read one word at a time."""

import pytest
import torch
from torch.nn import functional as F

from sklearn_deid.tagging import CharacterCNN, CharacterRNN, WordEncoder


def convolved(network, characters):
    """One word at a time, embedded, padded with zeros and convolved."""
    width = network.convolution.kernel_size[0]
    rows = []
    for row in characters:
        word = row[row > 0] if (row > 0).any() else row[:1]
        embedded = F.pad(network.embedding(word).t()[None], (width // 2, width - 1 - width // 2))
        rows.append(network.convolution(embedded).amax(2)[0])
    return torch.stack(rows)


@pytest.mark.parametrize("width", [1, 3, 4])
def test_equals_a_convolution_with_its_gradients(width):
    torch.manual_seed(0)
    network = CharacterCNN(30, embedding_dim=5, n_filters=7, width=width)
    characters = torch.randint(1, 30, (9, 6))
    characters[torch.arange(6) >= torch.tensor([6, 1, 2, 3, 4, 5, 6, 0, 2])[:, None]] = 0
    grads = []
    for forward in (network, lambda c: convolved(network, c)):
        network.zero_grad()
        out = forward(characters)
        out.square().sum().backward()
        grads.append([out.detach(), *[p.grad.clone() for p in network.parameters()]])
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)
    assert not network.embedding.weight.grad[0].any(), "padding is not trained"


def test_equal_positions_share_the_gradient_as_in_torch():
    torch.manual_seed(0)
    network, characters = CharacterCNN(30), torch.tensor([[3, 3, 3, 3, 3, 3], [4, 4, 4, 4, 4, 0]])
    grads = []
    for forward in (network, lambda c: convolved(network, c)):
        network.zero_grad()
        forward(characters).square().sum().backward()
        grads.append([p.grad.clone() for p in network.parameters()])
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b, atol=1e-6, rtol=1e-6)


def test_a_word_does_not_depend_on_the_words_beside_it():
    network = CharacterCNN(30)
    short, long = torch.tensor([[3, 4, 0, 0, 0, 0]]), torch.tensor([[5, 6, 7, 8, 9, 10]])
    torch.testing.assert_close(network(short)[0], network(torch.cat([short, long]))[0])


def test_parts_are_put_together():
    encoder = WordEncoder(7, CharacterCNN(30), n_shapes=5, vector_dim=3)
    features = {
        "casing": torch.tensor([0, 6]),
        "characters": torch.tensor([[1, 2], [3, 0]]),
        "shape": torch.tensor([4, 0]),
        "vectors": torch.randn(2, 3),
    }
    assert encoder(features).shape == (2, encoder.output_size)
    assert encoder.output_size == 7 + 3 + 50 + 25


class TestCharacterRNN:
    @pytest.mark.parametrize("cell", ["gru", "lstm"])
    def test_equals_torch_reading_one_word_at_a_time(self, cell):
        torch.manual_seed(0)
        network = CharacterRNN(30, cell, embedding_dim=5, hidden_size=4)
        plain = {"gru": torch.nn.GRU, "lstm": torch.nn.LSTM}[cell](5, 4, batch_first=True, bidirectional=True)
        with torch.no_grad():
            for suffix, part in (("", network.recurrent.ahead[0]), ("_reverse", network.recurrent.back[0])):
                for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
                    getattr(plain, name + suffix).copy_(getattr(part, name))
        lengths = torch.tensor([20, 1, 4, 5, 8, 9, 14, 15, 3])  # words of all groups of lengths
        characters = torch.randint(1, 30, (9, 20)) * (torch.arange(20) < lengths[:, None])
        out = network(characters)
        for row, n, vector in zip(characters, lengths, out, strict=True):
            states = plain(network.embedding(row[None, :n]))[0][0]
            torch.testing.assert_close(vector, torch.cat([states[-1, :4], states[0, 4:]]))

    def test_a_word_without_characters_and_no_words(self):
        network = CharacterRNN(30)
        assert network(torch.zeros(1, 4, dtype=torch.long)).isfinite().all()
        assert network(torch.zeros(0, 4, dtype=torch.long)).shape == (0, network.output_size)
