"""Batches of sentences and their twins, against the flat arrays they were made from."""

import dataclasses

import numpy as np
import pytest
import torch

from sklearn_deid.representations import PairBatches, PairData

from .toy_pairs import N_PHI, toy_pairs


def drawn(batches, seed=0, **options):
    rng, generator = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
    return list(batches.epoch(rng, generator, **options))


def sentences(batch):
    return [tuple(w[m].tolist()) for w, m in zip(batch.words, batch.mask, strict=True)]


def in_data(data):
    return [tuple(data.words[a:b].tolist()) for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]


def test_an_epoch_holds_every_sentence_once_with_its_own_tags_casing_and_embeddings():
    data = toy_pairs()
    batches = drawn(PairBatches(data, batch_size=8))
    assert max(len(b.words) for b in batches) <= 8
    assert sorted(s for b in batches for s in sentences(b)) == sorted(in_data(data))
    for b in batches:
        on = b.mask
        torch.testing.assert_close(b.embeddings[on], data.table[b.words[on]])
        assert (b.tags[on] == (b.words[on] < N_PHI)).all()
        assert (b.casing[on].argmax(1) == b.words[on] % 7).all()
        assert not b.embeddings[~on].any() and not b.casing[~on].any() and not b.words[~on].any()


def test_a_twin_differs_in_exactly_one_eligible_token():
    data = toy_pairs()
    n_pairs = 0
    for b in drawn(PairBatches(data, batch_size=8)):
        different = b.words[: b.n_pairs] != b.moved_words
        assert (different.sum(1) == 1).all()
        assert (b.words[: b.n_pairs][different] < N_PHI).all() and (b.moved_words[different] < N_PHI).all()
        torch.testing.assert_close(b.moved[b.pair_mask], data.table[b.moved_words[b.pair_mask]])
        assert not b.tags[b.n_pairs :].any()  # whoever has PHI has a twin
        n_pairs += b.n_pairs
    assert n_pairs == sum(min(s) < N_PHI for s in in_data(data))


def test_token_and_alternative_are_uniform_and_drawn_anew():
    """Two movable tokens, three other words each: six twins, equally likely; the same sentence many times."""
    n = 100
    data = PairData(
        torch.eye(6),
        np.tile([0, 4, 1], n),
        np.arange(0, 3 * n + 1, 3),
        np.zeros(3 * n, dtype=int),
        np.arange(3 * n).reshape(n, 3)[:, [0, 2]].ravel(),
        np.tile([[0, 1, 2, 3], [3, 2, 1, 0]], (n, 1)),
    )
    batches, generator = PairBatches(data, batch_size=n), torch.Generator().manual_seed(0)
    epochs = [next(batches.epoch(None, generator)).moved_words.tolist() for _ in range(30)]
    assert len(set(map(str, epochs))) == 30
    twins = [tuple(twin) for epoch in epochs for twin in epoch]
    assert len(twins) == 3000
    counts = {twin: twins.count(twin) for twin in set(twins)}
    expected = {(w, 4, 1) for w in (1, 2, 3)} | {(0, 4, w) for w in (0, 2, 3)}
    assert set(counts) == expected
    assert all(abs(n - 500) < 5 * np.sqrt(500) for n in counts.values())


def test_a_token_that_can_only_stay_is_not_eligible():
    data = PairData(
        torch.eye(3), np.array([0, 1]), np.array([0, 1, 2]), np.zeros(2, int), np.array([0, 1]), np.array([[0, -1]] * 2)
    )
    batches = PairBatches(data)
    assert batches.pair_rows.tolist() == [1]
    assert sum(b.n_pairs for b in drawn(batches)) == 1


@pytest.mark.parametrize("moved", [True, False])
def test_which_sentences_are_in_an_epoch(moved):
    data = toy_pairs(phi_share=0.3)
    batches = PairBatches(data, batch_size=8)
    assert len(batches.pair_rows) < len(batches.other_rows)
    pairs = drawn(batches, sentences="pairs", moved=moved)
    assert sum(len(b.words) for b in pairs) == len(batches.pair_rows)
    assert sum(b.n_pairs for b in pairs) == moved * len(batches.pair_rows)
    few = drawn(batches, sentences="balanced", max_pairs=10, moved=moved)
    assert sum(len(b.words) for b in few) == 20
    assert sum(b.n_pairs for b in few) == moved * 10


def test_sentences_without_tokens_and_data_without_phi():
    data = PairData(
        torch.eye(2), np.array([1]), np.array([0, 0, 1, 1]), np.zeros(1, int), np.empty(0, int), np.empty((0, 3), int)
    )
    assert [sentences(b) for b in drawn(PairBatches(data))] == [[(1,)]]
    assert drawn(PairBatches(data), sentences="pairs") == []


def test_same_generators_same_batches_other_generators_others():
    def flat(seed):
        return [x.tolist() for b in drawn(PairBatches(toy_pairs(), 8), seed) for x in (b.words, b.moved_words)]

    assert flat(1) == flat(1) != flat(2)


def test_take_keeps_sentences_and_what_may_move():
    data = toy_pairs(40)
    rows = np.array([7, 3, 21])
    part = data.take(rows)
    assert in_data(part) == [in_data(data)[i] for i in rows]
    assert (part.tags == (part.words < N_PHI)).all() and (part.casing == part.words % 7).all()
    assert part.eligible.tolist() == np.flatnonzero(part.words < N_PHI).tolist()
    assert (part.alternatives[part.choices_] == np.arange(N_PHI)).all() and len(part.choices_) == len(part.eligible)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tags": np.zeros(1, int)}, "Tags, casing and spans"),
        ({"spans": np.zeros(1, int)}, "Tags, casing and spans"),
        ({"offsets": np.array([0, 1])}, "run from 0 to the number of tokens"),
        ({"words": np.array([0, 9, 0])}, "'words' must be between 0 and 3"),
        ({"eligible": np.array([1, 0])}, "must ascend"),
        ({"alternatives": np.zeros((1, 2), int)}, "'choices' must be between 0 and 0"),
        ({"alternatives": np.full((2, 2), 4)}, "'alternatives' must be between -1 and 3"),
        ({"choices": np.zeros(3, int)}, "for each of 2 tokens"),
        ({"casing": np.full(3, 7)}, "'casing' must be between 0 and 6"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, message):
    data = PairData(
        torch.eye(4), np.arange(3), np.array([0, 3]), np.zeros(3, int), np.array([0, 1]), np.zeros((2, 2), int)
    )
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(data, **change)


def test_unknown_choice_of_sentences_is_refused():
    with pytest.raises(ValueError, match="must be all, pairs or balanced"):
        drawn(PairBatches(toy_pairs(3)), sentences="some")


def test_varied_sentences_hold_alternatives_of_their_own_tokens_only():
    data = toy_pairs()
    batches = PairBatches(data, batch_size=8)
    plain, varied = drawn(batches, seed=3), drawn(batches, seed=3, varied=1.0)
    n_changed = n_movable = 0
    for a, b in zip(plain, varied, strict=True):
        changed = a.words != b.words
        assert (a.words[changed] < N_PHI).all() and (b.words[changed] < N_PHI).all()
        assert (changed[b.n_pairs :] == 0).all() and torch.equal(a.tags, b.tags) and torch.equal(a.casing, b.casing)
        torch.testing.assert_close(b.embeddings[b.mask], data.table[b.words[b.mask]])
        # The twin still differs from its sentence in one token.
        assert ((b.words[: b.n_pairs] != b.moved_words).sum(1) == 1).all()
        n_changed += int(changed.sum())
        n_movable += int((a.words[a.mask] < N_PHI).sum())
    # A token stays where its own word is drawn, one time in 16.
    assert n_changed / n_movable == pytest.approx(15 / 16, abs=0.08)
    share = sum(
        int((a.words != b.words).any(1).sum()) for a, b in zip(plain, drawn(batches, 3, varied=0.5), strict=True)
    )
    assert 0.3 < share / len(batches.pair_rows) < 0.7


def test_tokens_of_one_word_share_their_alternatives():
    data = toy_pairs()
    words, choices = np.unique(data.words[data.eligible], return_inverse=True)
    shared = dataclasses.replace(data, alternatives=np.tile(np.arange(N_PHI), (len(words), 1)), choices=choices)
    for a, b in zip(drawn(PairBatches(data), varied=0.5), drawn(PairBatches(shared), varied=0.5), strict=True):
        assert torch.equal(a.words, b.words) and torch.equal(a.moved_words, b.moved_words)


def test_a_token_whose_only_alternative_is_itself_has_no_twin():
    for row, n in (([1, 1], 0), ([1, -1], 0), ([-1, -1], 0), ([1, 2], 1)):
        data = PairData(torch.eye(4), np.array([1]), np.array([0, 1]), np.zeros(1, int), np.array([0]), np.array([row]))
        assert len(PairBatches(data).pair_rows) == n
