"""Training steps of the network against the plain formula: packed sequences, convolved words and pytorch-crf."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torchcrf import CRF

from sklearn_deid.tagging import (
    BidirectionalRecurrent,
    CharacterCNN,
    ContextUnits,
    LockedDropout,
    SentenceDataset,
    TaggerModule,
    WordEncoder,
)
from sklearn_deid.tagging.encoders import permute_cells, reversed_cells

from .test_recurrent import packed_twin
from .test_words import convolved

N_TAGS, N_WORDS, HIDDEN = 5, 40, 6


def make_data(context):
    """Sentences of 0 to 12 tokens in three documents, of words of 0 to 9 characters."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 13, 30)
    offsets = np.append(0, np.cumsum(lengths))
    characters = torch.from_numpy(rng.integers(1, 20, (N_WORDS, 9)))
    characters[torch.arange(9) >= torch.from_numpy(rng.integers(0, 10, N_WORDS))[:, None]] = 0
    features = {
        "casing": torch.from_numpy(rng.integers(0, 3, N_WORDS)),
        "characters": characters,
        "shape": torch.from_numpy(rng.integers(0, 4, N_WORDS)),
    }
    documents = np.repeat([0, 1, 2], 10)
    units = {
        "sentence": None,
        "block": ContextUnits.blocks(documents, lengths, 20),
        "window": ContextUnits.windows(documents, 1),
    }[context]
    words, tags = rng.integers(0, N_WORDS, offsets[-1]), rng.integers(0, N_TAGS, offsets[-1])
    return SentenceDataset(offsets, words=words, features=features, tags=tags, units=units)


def make_network(context):
    torch.manual_seed(0)
    words = WordEncoder(3, CharacterCNN(20, embedding_dim=4, n_filters=7), n_shapes=4, shape_dim=3)
    width = words.output_size + (0 if context == "sentence" else 2)
    encoder = BidirectionalRecurrent(width, HIDDEN)
    return TaggerModule(N_TAGS, words, encoder, input_dropout=0.0, output_dropout=0.0)


class PlainNetwork(nn.Module):
    """The weights of a network, read in the plain way."""

    def __init__(self, network):
        super().__init__()
        self.words, self.emit = copy.deepcopy(network.words), copy.deepcopy(network.emit)
        self.lstm = packed_twin(network.encoder, "lstm", 1, network.encoder.ahead[0].input_size, HIDDEN)
        self.crf = CRF(N_TAGS, batch_first=True)
        self.crf.load_state_dict(network.crf.state_dict())

    def loss(self, batch, tags):
        features = batch.features
        table = torch.cat(
            [
                nn.functional.one_hot(features["casing"], 3).float(),
                convolved(self.words.characters, features["characters"]),
                self.words.shapes(features["shape"]),
            ],
            1,
        )
        x = table[batch.words]
        lengths = batch.lengths if batch.view is None else batch.view.lengths
        x = x if batch.view is None else torch.cat([x, batch.view.marks], 2)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        hidden = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0]
        hidden = hidden if batch.view is None else hidden.flatten(0, 1)[batch.view.places]
        return -self.crf(self.emit(hidden), tags, batch.mask, reduction="mean")

    def named(self):
        """Parameters under the names of the network."""
        lstm = dict(self.lstm.named_parameters())
        return {
            **{f"encoder.ahead.0.{k}": p for k, p in lstm.items() if not k.endswith("_reverse")},
            **{f"encoder.back.0.{k.removesuffix('_reverse')}": p for k, p in lstm.items() if k.endswith("_reverse")},
            **{k: p for k, p in self.named_parameters() if not k.startswith("lstm.")},
        }


@pytest.mark.parametrize("context", ["sentence", "block", "window"])
def test_steps_equal_the_plain_formula(context):
    data, network = make_data(context), make_network(context)
    plain = PlainNetwork(network)
    drawn = np.random.default_rng(1).permutation(np.flatnonzero(data.unit_lengths))
    named = plain.named()
    assert named.keys() == dict(network.named_parameters()).keys()
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.5) for model in (network, plain)]
    for units in np.array_split(drawn, 4):
        batch, tags = data.collate(units)
        losses = [network.loss(network(batch), tags, batch.mask), plain.loss(batch, tags)]
        for loss, model, optimizer in zip(losses, (network, plain), optimizers, strict=True):
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        torch.testing.assert_close(*losses, atol=1e-6, rtol=1e-6)
        for name, p in network.named_parameters():
            torch.testing.assert_close(p, named[name], atol=1e-6, rtol=1e-6, msg=name)


def test_one_mask_for_the_tokens_of_a_sentence_of_a_unit():
    torch.manual_seed(0)
    rows = torch.tensor([0, 0, 2, 1, 2])
    masks = LockedDropout(0.5)(torch.ones(5, 20), rows, 3)
    torch.manual_seed(0)
    padded = LockedDropout(0.5)(torch.ones(3, 4, 20))
    assert torch.equal(masks, padded[:, 0][rows])


def test_gradient_of_the_reversal_is_the_reversal_of_the_gradient():
    x, weight = torch.randn(2, 4, 3, requires_grad=True), torch.randn(2, 4, 3)
    order = reversed_cells(torch.tensor([3, 4]), 4)
    (permute_cells(x, order) * weight).sum().backward()
    torch.testing.assert_close(x.grad, permute_cells(weight, order))
