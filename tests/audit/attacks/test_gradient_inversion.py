"""Gradient inversion: one token by division, short sentences by search, nothing where nothing is sent."""

import numpy as np
import pytest
import torch

from sklearn_deid.audit import Attack
from sklearn_deid.audit.attacks import GradientInversionAttack, GradientKnowledge, SentenceUpdates, one_step_update
from sklearn_deid.federated import SparseUpdate

N_WORDS, N_TAGS, D = 30, 3, 6


class Window(torch.nn.Module):
    """A token and its two neighbours, one hidden layer, tags."""

    def __init__(self):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.hidden = torch.nn.Linear(3 * D, 24)
            self.emit = torch.nn.Linear(24, N_TAGS)

    def forward(self, x):
        padded = torch.nn.functional.pad(x, (0, 0, 1, 1))
        n = x.shape[1]
        return self.emit(torch.tanh(self.hidden(torch.cat([padded[:, i : i + n] for i in range(3)], dim=2))))


@pytest.fixture(scope="module")
def knowledge():
    table = np.random.default_rng(0).standard_normal((N_WORDS, D))
    return GradientKnowledge(Window(), table, learning_rate=0.1)


def sentences(n, length, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.integers(N_WORDS, size=length).tolist(), rng.integers(N_TAGS, size=length).tolist()) for _ in range(n)]


def run(knowledge, updates, words, **options):
    attack = GradientInversionAttack(**{"n_steps": 60, "n_starts": 2, "n_control": 4, "random_state": 0, **options})
    return attack.fit(knowledge).attack(SentenceUpdates(updates, words))


def test_update_is_the_gradient_by_finite_differences(knowledge):
    words, tags = sentences(1, 3)[0]
    sent = knowledge.layout.unflatten(one_step_update(knowledge, words, tags).dense())
    module = Window().double()
    x = torch.as_tensor(knowledge.table)[words][None]

    def loss():
        with torch.no_grad():
            return torch.nn.functional.cross_entropy(module(x)[0], torch.tensor(tags)).item()

    for name, index in (("hidden.weight", (4, 7)), ("hidden.bias", (3,)), ("emit.weight", (1, 2)), ("emit.bias", (0,))):
        parameter, ends = module.get_parameter(name), []
        for step in (1e-5, -2e-5, 1e-5):
            with torch.no_grad():
                parameter[index] += step
            ends.append(loss())
        assert sent[name][index] == pytest.approx(-0.1 * (ends[0] - ends[1]) / 2e-5, abs=1e-6)


def test_one_token_is_a_quotient_and_is_found(knowledge):
    """The gradient of the weights divided by that of the biases is the input itself."""
    data = sentences(5, 1)
    updates = [one_step_update(knowledge, words, tags) for words, tags in data]
    sent = knowledge.layout.unflatten(updates[0].dense())
    middle = sent["hidden.weight"][:, D : 2 * D] / sent["hidden.bias"][:, None]
    assert middle[0] == pytest.approx(knowledge.table[data[0][0][0]], rel=1e-3)
    result = run(knowledge, updates, [words for words, _ in data])
    assert result.attack.value == 1.0
    assert result.status == "ok", result.failures
    assert isinstance(GradientInversionAttack(), Attack)


def test_short_sentences_are_found_in_order(knowledge):
    data = sentences(6, 3, seed=1)
    updates = [one_step_update(knowledge, words, tags) for words, tags in data]
    result = run(knowledge, updates, [words for words, _ in data], n_steps=100, n_starts=4)
    assert result.attack.value > 0.7
    assert result.attack.low > 0.2
    assert result.baseline.value == pytest.approx(1 / N_WORDS)
    assert result.details["named in any order"] >= result.attack.value
    assert result.status == "ok", result.failures


def test_a_tenth_of_the_numbers_or_none_tell_less(knowledge):
    rng = np.random.default_rng(0)
    data = sentences(6, 2, seed=2)
    parts, empty = [], []
    for words, tags in data:
        whole = one_step_update(knowledge, words, tags)
        kept = np.sort(rng.choice(whole.size, whole.size // 50, replace=False))
        parts.append(SparseUpdate(kept, whole.values[kept], whole.size, whole.model))
        empty.append(SparseUpdate(kept[:0], whole.values[:0], whole.size, whole.model))
    words = [words for words, _ in data]
    part, nothing = run(knowledge, parts, words), run(knowledge, empty, words)
    assert part.attack.value < 0.9
    assert nothing.attack.covers(1 / N_WORDS)
    assert nothing.status == "ok", nothing.failures


def test_intervals_cover_chance_where_updates_belong_to_other_sentences(knowledge):
    covered = 0
    for seed in range(100):
        read, others = sentences(5, 1, seed), sentences(5, 1, seed + 1000)
        updates = [one_step_update(knowledge, words, tags) for words, tags in read]
        options = {"n_steps": 2, "n_starts": 1, "n_control": 1, "random_state": seed}
        covered += run(knowledge, updates, [words for words, _ in others], **options).attack.covers(1 / N_WORDS)
    assert covered >= 93, covered


def test_the_module_is_left_as_it_is(knowledge):
    before = {name: p.detach().clone() for name, p in knowledge.module.named_parameters()}
    run(knowledge, [one_step_update(knowledge, [1], [0])], [[1]], n_steps=2, n_control=1)
    for name, parameter in knowledge.module.named_parameters():
        assert parameter.dtype == torch.float32
        assert torch.equal(parameter, before[name])


def test_what_does_not_fit_is_refused(knowledge):
    update = one_step_update(knowledge, [1], [0])
    with pytest.raises(ValueError, match="'n_starts' parameter"):
        GradientInversionAttack(n_starts=0)
    with pytest.raises(ValueError, match="without words"):
        SentenceUpdates([update], [[]])
    other = SparseUpdate(update.indices, update.values, update.size, "0" * 32)
    with pytest.raises(ValueError, match="another model"):
        run(knowledge, [other], [[1]], n_control=1)
    assert "1" not in repr(SentenceUpdates([update, update], [[1], [1]]))
