"""Sub-words back to tokens and windows over long texts, with a model that shows what it was given."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from sklearn_deid.tagging import PretrainedTokenEncoder, SpecialPieces, piece_windows

BEGIN, END, PADDING = 101, 102, 0
SPECIAL = SpecialPieces(BEGIN, END, PADDING)


class Echo(nn.Module):
    """Gives each sub-word its own number, its place in the window, and the number of sub-words that it sees."""

    config = SimpleNamespace(hidden_size=3)

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))
        self.widest = 0

    def forward(self, input_ids, attention_mask):
        for ids, seen in zip(input_ids.tolist(), attention_mask.tolist(), strict=True):
            n = sum(seen)
            assert seen == [1] * n + [0] * (len(seen) - n) and all(i == PADDING for i in ids[n:])
        self.widest = max(self.widest, input_ids.shape[1])
        place = torch.arange(input_ids.shape[1]).expand_as(input_ids)
        seen = attention_mask.sum(1, keepdim=True).expand_as(input_ids)
        return SimpleNamespace(last_hidden_state=torch.stack([input_ids, place, seen], 2) * self.weight)


def encoder(window=6, overlap=2, special=SPECIAL, **settings):
    return PretrainedTokenEncoder(Echo(), special, window, overlap, **settings)


FEATURES = {"pieces": torch.tensor([[1, 0, 0], [2, 3, 0], [4, 5, 6]]), "n_pieces": torch.tensor([1, 2, 3])}


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 200), st.integers(2, 20), st.data())
def test_windows_cover_everything_once(n, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    windows = piece_windows(n, size, overlap)
    assert [i for _, _, a, b in windows for i in range(a, b)] == list(range(n))
    for start, stop, first, end in windows:
        assert start <= first <= end <= stop <= n and stop - start <= size
    for (_, stop, _, _), (start, _, first, _) in zip(windows, windows[1:], strict=False):
        assert stop - start == overlap and first - start == overlap // 2
    # What follows a text changes its last window only.
    longer = piece_windows(n + 7, size, overlap)
    assert [w[:3] for w in longer[: len(windows) - 1]] == [w[:3] for w in windows[:-1]]


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_tokens_are_their_first_sub_word_or_the_mean(pooling):
    words, lengths = torch.tensor([[2, 0, 1], [1, 0, 0]]), torch.tensor([3, 1])
    out = encoder(pooling=pooling)(FEATURES, words, lengths)
    expected = {"first": [[4, 1, 2], [2, 0, 0]], "mean": [[5, 1, 2.5], [2.5, 0, 0]]}[pooling]
    assert out[..., 0].tolist() == expected
    assert out[0, :, 2].tolist() == [8, 8, 8] and out[1].tolist()[1:] == [[0, 0, 0]] * 2


@pytest.mark.parametrize("overlap", [0, 2, 5])
def test_long_texts_keep_every_token_in_its_place(overlap):
    words = torch.randint(0, 3, (3, 40), generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([40, 1, 23])
    network = encoder(overlap=overlap)
    out = network(FEATURES, words, lengths)
    on = torch.arange(40) < lengths[:, None]
    assert (out[..., 0] == FEATURES["pieces"][words, 0] * on).all()
    assert network.model.widest <= 8
    # Away from the borders of the text, what is used has half of the overlap on either side.
    inner = out[0, 8:-8, 1]
    assert inner.min() >= 1 + overlap // 2


def test_models_without_special_sub_words():
    out = encoder(special=SpecialPieces(None, None, PADDING))(FEATURES, torch.tensor([[2, 0]]), torch.tensor([2]))
    assert out[0].tolist() == [[4, 0, 4], [1, 3, 4]]


def test_frozen_models_stay_as_they_are():
    network = encoder(frozen=True).train()
    assert not network.model.training and not any(p.requires_grad for p in network.parameters())
    assert not network(FEATURES, torch.tensor([[0]]), torch.tensor([1])).requires_grad
    free = encoder().train()
    assert free.model.training
    free(FEATURES, torch.tensor([[0, 2]]), torch.tensor([2])).sum().backward()
    assert free.model.weight.grad == 1 + 1 + 6 + 4 + 2 + 6
