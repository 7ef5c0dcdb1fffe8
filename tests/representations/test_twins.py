"""Twins of whole patients, of unknown words and of all neighbours, against loops over the flat arrays."""

import dataclasses

import numpy as np
import pytest
import torch

from sklearn_deid.representations import PairBatches, worst_neighbors
from sklearn_deid.representations.twin_distances import twin_distances

from .toy_models import small_model
from .toy_pairs import N_PHI, toy_pairs


def patient_pairs(n=120, seed=0, n_patients=10):
    """Toy sentences of patients; each alternative has a casing class of its own when written."""
    data = toy_pairs(n, seed)
    rng = np.random.default_rng(seed)
    written = np.broadcast_to(np.arange(N_PHI) % 5, data.alternatives.shape).astype(np.int8)
    return dataclasses.replace(data, patients=rng.integers(n_patients, size=n), written=written.copy())


def drawn(batches, seed=0, **options):
    return list(batches.epoch(None, torch.Generator().manual_seed(seed), **options))


def test_all_movable_tokens_move_and_a_word_of_a_patient_moves_to_one_word():
    data = patient_pairs()
    moves, seen = {}, 0
    for b in drawn(PairBatches(data, 8), twins="all"):
        for i, row in enumerate(b.rows[: b.n_pairs].tolist()):
            on = b.mask[i]
            before, after = b.words[i][on], b.moved_words[i][on]
            assert ((before != after) == (before < N_PHI)).all() and (after[before < N_PHI] < N_PHI).all()
            torch.testing.assert_close(b.moved[i][on], data.table[after])
            for word, new in zip(before.tolist(), after.tolist(), strict=True):
                assert moves.setdefault((data.patients[row], word), new) == new
                seen += word != new
    assert seen == (data.words < N_PHI).sum()
    # Patients have their own moves: with one map for everybody, each word had one new word.
    new_words = {}
    for (_, word), new in moves.items():
        new_words.setdefault(word, set()).add(new)
    assert max(map(len, new_words.values())) > 2


def test_alternatives_of_all_moves_are_uniform():
    data = patient_pairs(n=40)
    batches, generator = PairBatches(data, 64), torch.Generator().manual_seed(0)
    counts = np.zeros(N_PHI)
    for _ in range(300):
        for b in batches.epoch(None, generator, sentences="pairs", twins="all"):
            of_word = b.words[: b.n_pairs] == int(data.words[data.eligible[0]])
            counts += np.bincount(b.moved_words[of_word].numpy(), minlength=N_PHI)
    own = int(data.words[data.eligible[0]])
    others = np.delete(counts, own)
    assert counts[own] == 0 and others.min() > 0.5 * others.mean() and others.max() < 1.5 * others.mean()


def test_an_unknown_word_has_no_embedding():
    for b in drawn(PairBatches(patient_pairs(), 8), twins="unknown"):
        unknown = b.moved_words == -1
        assert (unknown.sum(1) == 1).all() and (b.words[: b.n_pairs][unknown] < N_PHI).all()
        assert not b.moved[unknown].any()
        rest = b.pair_mask & ~unknown
        torch.testing.assert_close(b.moved[rest], b.embeddings[: b.n_pairs][rest])


@pytest.mark.parametrize("twins", ["one", "all"])
def test_changes_of_casing_are_counted(twins):
    data = patient_pairs()
    batches = PairBatches(data, 8)
    n_changed = 0
    for b in drawn(batches, twins=twins):
        expected = [
            sum(int(new % 5 != old % 7) for old, new in zip(*map(torch.Tensor.tolist, pair), strict=True) if old != new)
            for pair in zip(b.words[: b.n_pairs], b.moved_words, strict=True)
        ]
        assert batches.casing_changes(b).tolist() == expected
        n_changed += sum(expected)
    assert n_changed > 0
    unknown = drawn(batches, twins="unknown")
    assert not any(batches.casing_changes(b).any() for b in unknown)
    plain = PairBatches(dataclasses.replace(data, written=None))
    assert not any(plain.casing_changes(b).any() for b in drawn(plain, twins=twins))


def test_an_unknown_kind_of_twin():
    with pytest.raises(ValueError, match="'twins' parameter must be one, all or unknown. Got 'two'"):
        drawn(PairBatches(toy_pairs()), twins="two")


def test_squared_distances_add_up_and_equal_sentences_count_once():
    data = patient_pairs(n_patients=6)
    repeated = data.take(np.concatenate([np.arange(len(data)), np.arange(40)]))  # the same sentences of the patients
    representer, found = small_model().representer.eval(), []
    for some in (data, repeated):
        batches = PairBatches(some, 16)
        twins = twin_distances(representer, batches, torch.Generator().manual_seed(0), twins="all")
        squared, tokens, seen = {}, {}, set()
        for row, d, n in zip(twins.rows, twins.distances, twins.n_tokens, strict=True):
            patient, words = some.patients[row], tuple(some.words[some.offsets[row] : some.offsets[row + 1]])
            if (patient, words) not in seen:
                seen.add((patient, words))
                squared[patient] = squared.get(patient, 0.0) + d**2
                tokens[patient] = tokens.get(patient, 0) + n
        patients = twins.over_patients(batches)
        assert patients.rows.tolist() == sorted(squared)
        np.testing.assert_allclose(patients.distances**2, [squared[p] for p in patients.rows])
        assert patients.n_tokens.tolist() == [tokens[p] for p in patients.rows]
        found.append(patients)
    assert found[0].n_tokens.tolist() == found[1].n_tokens.tolist()


def test_without_patients_each_sentence_is_one():
    batches = PairBatches(toy_pairs(), 16)
    twins = twin_distances(small_model().representer, batches, torch.Generator().manual_seed(0), twins="all")
    alone = twins.over_patients(batches)
    assert not batches.has_patients and sorted(alone.rows) == sorted(twins.rows) == batches.pair_rows.tolist()
    np.testing.assert_allclose(np.sort(alone.distances), np.sort(twins.distances))


def largest_by_hand(data, representer):
    """A loop over sentences, tokens and neighbours, one sentence of one twin at a time."""
    found = []
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        words, best = torch.from_numpy(data.words[start:stop]), [-np.inf, -np.inf]
        mask = torch.ones(1, len(words), dtype=torch.bool)
        with torch.no_grad():
            mu = representer.mean(data.table[words][None], mask, noise=False)
            for at in (words < N_PHI).nonzero()[:, 0].tolist():
                for new in set(range(N_PHI)) - {int(words[at])}:
                    twin = words.clone()
                    twin[at] = new
                    moved = representer.mean(data.table[twin][None], mask, noise=False)
                    d = float((((mu - moved) / representer.output_std()) ** 2).sum().sqrt())
                    changed = int(new % 5 != int(words[at]) % 7)
                    best[changed] = max(best[changed], d)
        if max(best) >= 0:
            found.append(best)
    return sorted(found)


def test_worst_neighbours_are_those_of_a_loop():
    data, representer = patient_pairs(30), small_model().representer.eval()
    representer.input_noise.weight.data.zero_()  # the loop draws no input noise
    batches, streams = PairBatches(data, 8), (np.random.default_rng(0), torch.Generator().manual_seed(0))
    worst = worst_neighbors(representer, batches, *streams)
    expected = largest_by_hand(data, representer)
    np.testing.assert_allclose(sorted(worst.distances.tolist()), expected, rtol=1e-4)
    assert worst.n_twins == (N_PHI - 1) * (data.words < N_PHI).sum()
    some = worst_neighbors(representer, batches, *streams, max_sentences=5)
    assert len(some) == 5 and {round(d, 4) for d in some.distances.max(1)} <= {round(max(d), 4) for d in expected}


def test_worst_neighbours_share_the_input_noise_of_their_sentence():
    """With other input noise than its sentence, each twin would be far away."""
    data, model = patient_pairs(20), small_model(noise=50.0)
    representer = model.representer.eval()
    representer.output_noise.weight.data.fill_(1.0)
    for table in (data.table, torch.zeros_like(data.table)):
        worst = worst_neighbors(
            representer,
            PairBatches(dataclasses.replace(data, table=table), 8),
            np.random.default_rng(0),
            torch.Generator().manual_seed(0),
        )
        equal = worst.distances[np.isfinite(worst.distances)]
        assert (equal == 0.0).all() if table is not data.table else (equal > 0.0).any()
