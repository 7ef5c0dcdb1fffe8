"""Templates against vectors that left: open ones are read by both scores, quieter noise than stated by the cosine."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from sklearn_deid.audit.attacks import LookupKnowledge, TemplateAttack
from sklearn_deid.representations import GaussianNoise, Representer
from tests.representations.toy_pairs import N_PHI, toy_pairs

from .toy_released import blind, raw, release


@torch.no_grad()
def left(representer, n=200, seed=2):
    """Sentences with their vectors, encoded one sentence at a time."""
    shown, generator = release(n, seed), torch.Generator().manual_seed(seed)
    data = shown.data
    rows = [torch.from_numpy(data.words[a:b]) for a, b in zip(data.offsets, data.offsets[1:], strict=False)]
    encoded = [
        representer(data.table[row][None], torch.ones(1, len(row), dtype=torch.bool), generator=generator)[0]
        for row in rows
    ]
    return replace(shown, vectors=torch.cat(encoded).numpy())


def found(network, shown, **options):
    return TemplateAttack(random_state=0, **options).fit(LookupKnowledge(network)).attack_all(shown)


def network(std, unit_norm=True):
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        none, noise = GaussianNoise(6, kind="none"), GaussianNoise(4, kind="fixed", init=std)
        return Representer(6, 4, hidden_size=8, input_noise=none, output_noise=noise, unit_norm=unit_norm)


def test_open_vectors_are_read():
    for result in found(raw(0.01), left(raw(0.01))).values():
        assert result.attack.value > 0.98 and result.baseline.value == 1 / N_PHI and result.status == "ok"
        assert result.negative_control.covers(result.chance) and result.positive_control.value > 0.98


@pytest.mark.parametrize("unit_norm", [True, False])
def test_vectors_without_the_stated_noise_are_found_by_the_cosine(unit_norm):
    """Stated: noise in one dimension that drowns it. What left has none, and the likelihood looks elsewhere."""
    stated, quiet = network(1.0, unit_norm), network(1e-6, unit_norm)
    loud, shown = found(stated, left(stated, 100)), left(quiet, 100)
    open_ = found(stated, shown)
    assert open_["cosine"].attack.low > 0.9 > 2 * loud["cosine"].attack.high
    attack = TemplateAttack(random_state=0).fit(LookupKnowledge(stated))
    assert attack.attack(shown).attack.value == max(r.attack.value for r in open_.values())


def test_vectors_of_other_sentences_tell_nothing():
    shown = left(blind(), 400)
    for result in found(network(0.5), shown).values():
        assert result.attack.low <= result.baseline.value and result.status == "ok"


def test_likelihood_is_that_of_a_full_enumeration():
    """One sentence, Gaussian vectors: the rank is that of the sum of squares over the standard deviations."""
    own, shown = raw(0.7), left(raw(0.7), 60)
    data = shown.data
    hits = []
    for row in range(60):
        span = slice(data.offsets[row], data.offsets[row + 1])
        words = data.words[span]
        at = np.flatnonzero(np.isin(np.arange(span.start, span.stop), data.eligible))
        if len(at) != 1:  # the attack draws one of several tokens: here only sentences with one are compared
            continue
        variants = np.tile(words, (N_PHI, 1))
        variants[:, at[0]] = np.arange(N_PHI)
        squares = ((shown.vectors[span] - data.table.numpy()[variants]) ** 2).sum((1, 2))
        hits.append((row, squares.argmin() == words[at[0]]))
    rows = np.array([row for row, _ in hits])
    part = replace(shown, data=data.take(rows), vectors=np.concatenate([_of(shown, row) for row in rows]))
    result = found(own, part, n_sentences=None)["likelihood"]
    assert len(rows) > 10 and result.attack.value == pytest.approx(np.mean([hit for _, hit in hits]))


def _of(shown, row):
    return shown.vectors[shown.data.offsets[row] : shown.data.offsets[row + 1]]


def test_what_is_missing_is_refused():
    with pytest.raises(ValueError, match="The 'vectors' of the release are needed"):
        found(raw(), release())
    with pytest.raises(ValueError, match="there is nothing to look up"):
        found(raw(), replace(release(), data=toy_pairs(10, phi_share=0.0), vectors=np.zeros((1000, 6))))
    with pytest.raises(ValueError, match="'n_candidates' parameter must be at least 2"):
        TemplateAttack(n_candidates=1)
    assert copy.copy(TemplateAttack()).n_sentences == 500
