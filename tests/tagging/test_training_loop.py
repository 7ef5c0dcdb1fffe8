"""How many epochs "auto" means, and that the loop's own random stream is given back."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sklearn_deid.tagging import NoteAugmenter
from sklearn_deid.tagging.batching import LengthBucketSampler
from sklearn_deid.tagging.training_loop import SequenceNet


def planned(n_sentences, max_epochs="auto", batch_size=20, augmenter=None, **start):
    lengths = np.full(n_sentences, 10)
    net = SimpleNamespace(max_epochs=max_epochs, batch_size=batch_size, augmenter_=augmenter)
    unchanged = {"warm_start_from": None, "learns_another_language_": False}
    vars(net).update({"starts_from_tagger_": bool(start), **unchanged, **start})
    n_batches = len(LengthBucketSampler(lengths, batch_size, max_rows=batch_size))
    share = 0.0 if augmenter is None else augmenter.copies
    return SequenceNet._planned_epochs(net, SimpleNamespace(unit_lengths=lengths, copied_share=share)), n_batches


@pytest.mark.parametrize("n_sentences", [1, 30, 70, 199, 500, 2000])
def test_auto_sees_enough_batches_within_20_to_100_epochs(n_sentences):
    n_epochs, n_batches = planned(n_sentences)
    assert 20 <= n_epochs <= 100
    assert n_epochs == 100 or n_epochs * n_batches >= 2000
    assert n_epochs == 20 or (n_epochs - 1) * n_batches < 2000


@pytest.mark.parametrize("n_sentences", [30, 70, 199, 500, 2000])
def test_copies_count_as_batches(n_sentences):
    n_epochs, n_batches = planned(n_sentences, augmenter=NoteAugmenter(copies=0.5))
    # In 80 % of the epochs, half of the sentences are copied.
    assert n_epochs == 100 or n_epochs * n_batches * 1.4 >= 3000
    assert n_epochs == 20 or (n_epochs - 1) * n_batches * 1.4 < 3000


@pytest.mark.parametrize("copies", [0.0, 0.5])
@pytest.mark.parametrize("n_sentences", [1, 3, 8, 13, 30, 500])
def test_a_start_from_a_model_sees_enough_batches_of_few_notes(n_sentences, copies):
    augmenter = NoteAugmenter(copies=copies)
    n_epochs, n_batches = planned(n_sentences, augmenter=augmenter, warm_start_from="starter-en")
    n_batches *= 1 + 0.8 * copies
    assert n_epochs == 100 or n_epochs * n_batches >= 200
    assert n_epochs == 20 or (n_epochs - 1) * n_batches < 200
    assert 20 <= n_epochs <= 100


@pytest.mark.parametrize(("n_sentences", "n_epochs"), [(1, 20), (100, 20), (200, 10), (10_000, 2)])
def test_a_start_from_a_public_tagger_has_2_to_20_epochs(n_sentences, n_epochs):
    assert planned(n_sentences, starts_from_tagger_=True)[0] == n_epochs


@pytest.mark.parametrize("n_sentences", [30, 500])
def test_a_start_in_another_language_saves_no_epoch(n_sentences):
    start = {"warm_start_from": "starter-en", "learns_another_language_": True}
    assert planned(n_sentences, **start) == planned(n_sentences)


def test_a_number_of_epochs_is_taken_as_it_is():
    assert planned(500, max_epochs=3)[0] == 3


@pytest.mark.parametrize(
    ("starts", "model", "share"), [(False, None, 1.0), (True, None, 0.3), (True, "starter-en", 0.6)]
)
def test_training_from_a_tagger_begins_with_a_smaller_rate(starts, model, share):
    assert SequenceNet._rate_share(SimpleNamespace(starts_from_tagger_=starts, warm_start_from=model)) == share


def test_random_stream_is_seeded_for_a_while_and_given_back():
    before = torch.get_rng_state()
    drawn = []
    for _ in range(2):
        net = SimpleNamespace(device="cpu", _rng=np.random.default_rng(0))
        with SequenceNet._own_random_stream(net):
            drawn.append(torch.rand(3))
    assert torch.equal(*drawn)
    assert torch.equal(torch.get_rng_state(), before)
