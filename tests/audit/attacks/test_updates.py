"""What updates tell: words touched, labels, words in the span of a gradient; calibration, a recorded exchange."""

import numpy as np
import pytest
import torch

from sklearn_deid.audit import Attack
from sklearn_deid.audit.attacks import (
    ReleasedUpdates,
    UpdateKnowledge,
    UpdateLeakageAttack,
    rows_by_bias,
    rows_by_norm,
    rows_by_span,
)
from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import (
    ExchangeRecord,
    ParameterLayout,
    ParameterServer,
    SparseUpdate,
    Worker,
    WorkerSettings,
    run_rounds,
)

N_WORDS, N_TAGS, D = 40, 5, 12


class Tagger(torch.nn.Module):
    """Trainable word vectors, one hidden layer, tags."""

    def __init__(self, seed=0):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.words = torch.nn.Embedding(N_WORDS, D)
            self.hidden = torch.nn.Linear(D, 16)
            self.emit = torch.nn.Linear(16, N_TAGS)

    def forward(self, words):
        return self.emit(torch.tanh(self.hidden(self.words(words))))

    def arrays(self):
        return {name: p.detach().numpy() for name, p in self.named_parameters()}

    def update(self, layout, words, tags, rate=0.1, keep=1.0, rng=None):
        """What a plain step on one sentence sends, or a random part of it."""
        loss = torch.nn.functional.cross_entropy(self(torch.tensor(words)), torch.tensor(tags))
        gradients = torch.autograd.grad(loss, list(self.parameters()))
        named = {n: -rate * g.numpy() for (n, _), g in zip(self.named_parameters(), gradients, strict=True)}
        vector = layout.flatten(named)
        chosen = np.flatnonzero(vector != 0)
        if keep < 1.0:
            chosen = np.sort(rng.choice(chosen, int(keep * len(chosen)), replace=False))
        return SparseUpdate(chosen, vector[chosen], layout.size, layout.fingerprint)


def sentences(n, seed=0, length=5):
    rng = np.random.default_rng(seed)
    return [(rng.integers(N_WORDS, size=length), rng.integers(N_TAGS - 2, size=length)) for _ in range(n)]


@pytest.fixture(scope="module")
def tagger():
    model = Tagger()
    return model, ParameterLayout.of(model.arrays())


def attack_on(tagger, kind, keep=1.0, n=20, against="rows", **knowledge):
    model, layout = tagger
    rng = np.random.default_rng(1)
    data = sentences(n)
    updates = [model.update(layout, words, tags, keep=keep, rng=rng) for words, tags in data]
    which = 1 if kind == "labels" else 0
    parameter = {"words": "words.weight", "labels": "emit.bias", "span": "hidden.weight"}[kind]
    released = ReleasedUpdates(updates, [set(pair[which].tolist()) for pair in data])
    attack = UpdateLeakageAttack(kind, parameter, against=against, random_state=0)
    attack.fit(UpdateKnowledge(layout, **knowledge))
    return attack.attack(released)


def test_touched_words_are_read_from_a_plain_step(tagger):
    result = attack_on(tagger, "words")
    assert result.attack.value == 1.0
    assert result.details["share of them named"] == 1.0
    assert result.status == "ok", result.failures
    assert isinstance(UpdateLeakageAttack("words", "w"), Attack)


@pytest.mark.parametrize("kind", ["words", "labels", "span"])
def test_the_same_row_of_another_update_needs_no_frequencies(tagger, kind):
    table = tagger[0].words.weight.detach().numpy()
    result = attack_on(tagger, kind, n=60, against="updates", table=table)
    assert result.baseline.value == 0.5
    assert result.attack.value > 0.9
    assert result.attack.low > 0.7
    assert result.status == "ok", result.failures


def test_frequencies_decide_ties_only(tagger):
    model, layout = tagger
    empty = SparseUpdate(np.arange(0), np.zeros(0, np.float32), layout.size, layout.fingerprint)
    released = ReleasedUpdates([empty] * 3, [{5}, {6}, {7}])
    rising = UpdateKnowledge(layout, np.arange(N_WORDS))
    result = UpdateLeakageAttack("words", "words.weight", random_state=0).fit(rising).attack(released)
    assert result.attack == result.baseline
    assert result.status == "ok", result.failures
    assert attack_on(tagger, "words", frequencies=-np.arange(N_WORDS)).attack.value == 1.0


def test_sending_a_part_hides_few_words(tagger):
    """Half of the numbers: a row of 12 is wholly left out in one of 4,096 cases."""
    assert attack_on(tagger, "words", keep=0.5).attack.value > 0.99
    few = attack_on(tagger, "words", keep=0.02)
    assert 0.5 < few.attack.value < 0.95
    assert few.status == "ok", few.failures


def test_labels_are_read_from_the_output_bias(tagger):
    result = attack_on(tagger, "labels", n=40)
    assert result.attack.low > 0.9
    assert result.status == "ok", result.failures


def test_a_single_token_gives_its_label_by_the_sign(tagger):
    model, layout = tagger
    for words, tags in sentences(20, seed=3, length=1):
        bias = layout.unflatten(model.update(layout, words, tags).dense())["emit.bias"]
        assert np.flatnonzero(rows_by_bias(bias) > 0).tolist() == tags.tolist()


def test_fixed_words_are_read_from_the_span_of_a_gradient(tagger):
    model, layout = tagger
    table = model.words.weight.detach().numpy()
    result = attack_on(tagger, "span", table=table)
    assert result.attack.value == 1.0
    assert result.details["share of them named"] == 1.0
    assert result.status == "ok", result.failures
    assert attack_on(tagger, "span", keep=0.5, table=table).attack.value < 0.8


def test_the_span_of_more_words_than_dimensions_tells_nothing(tagger):
    model, layout = tagger
    table = model.words.weight.detach().numpy().astype(float)
    rng = np.random.default_rng(0)
    everything = rng.standard_normal((16, 30)) @ table[:30]
    assert rows_by_span(everything, table).tolist() == [0.0] * N_WORDS


def test_span_by_an_oracle(tagger):
    """Least squares from the rows of the update to each word's vector."""
    rng = np.random.default_rng(2)
    table = rng.standard_normal((8, 5))
    part = rng.standard_normal((4, 2)) @ table[[1, 6]]
    left = [np.linalg.norm(part.T @ np.linalg.lstsq(part.T, w, rcond=1e-9)[0] - w) / np.linalg.norm(w) for w in table]
    found = rows_by_span(part, np.vstack([table, np.zeros(5)]))
    assert found[:-1] == pytest.approx(-np.array(left), abs=1e-9)
    assert found[-1] == -1.0  # a word without a vector
    assert rows_by_norm(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [5.0, 0.0]


def test_span_survives_the_rounding_of_parameters(tagger):
    """What a worker sends is a difference of two float32 vectors."""
    model, layout = tagger
    table = model.words.weight.detach().numpy().astype(float)
    for words, tags in sentences(10, seed=4):
        step = layout.unflatten(model.update(layout, words, tags, rate=0.01).dense())["hidden.weight"]
        before = model.hidden.weight.detach().numpy()
        sent = (before + step) - before
        score = rows_by_span(sent, table)
        rows = set(words.tolist())
        assert set(np.argsort(-score)[: len(rows)].tolist()) == rows


@pytest.mark.parametrize(
    ("kind", "shape", "against"),
    [
        ("words", (N_WORDS, 4), "rows"),
        ("labels", (12,), "rows"),
        ("labels", (12,), "updates"),
        ("span", (6, 30), "rows"),
    ],
)
def test_intervals_cover_chance_where_updates_are_noise(kind, shape, against):
    layout = ParameterLayout.of({"p": np.zeros(shape)})
    table = np.random.default_rng(0).standard_normal((N_WORDS, 30)) if kind == "span" else None
    n_rows = N_WORDS if kind == "span" else shape[0]
    covered = valid = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        noise = [rng.standard_normal(layout.size).astype(np.float32) for _ in range(24)]
        updates = [SparseUpdate(np.arange(layout.size), v, layout.size, layout.fingerprint) for v in noise]
        present = [set(rng.choice(n_rows, 3, replace=False).tolist()) for _ in updates]
        attack = UpdateLeakageAttack(kind, "p", against=against, n_pairs=10, random_state=seed)
        result = attack.fit(UpdateKnowledge(layout, table=table)).attack(ReleasedUpdates(updates, present))
        covered += result.attack.covers(0.5)
        valid += result.status == "ok"
    assert covered >= 93, covered
    assert valid >= 98, valid


def test_the_baseline_guesses_by_frequency(tagger):
    counts = np.bincount(np.concatenate([words for words, _ in sentences(20)]), minlength=N_WORDS)
    result = attack_on(tagger, "words", frequencies=counts)
    assert 0.5 < result.baseline.value < 1.0
    assert result.negative_control.covers(0.5)
    assert result.status == "ok", result.failures


class Learner:
    """Trains the tagger on one sentence an epoch."""

    def __init__(self, layout, data):
        self.model, self.layout, self.data, self.epoch = Tagger(), layout, data, 0

    def get_flat(self):
        return self.layout.flatten(self.model.arrays())

    def set_flat(self, vector):
        with torch.no_grad():
            for name, values in self.layout.unflatten(vector).items():
                self.model.get_parameter(name).copy_(torch.from_numpy(values))

    def train_epoch(self):
        step = self.model.update(self.layout, *self.data[self.epoch])
        self.set_flat(self.get_flat() + step.dense())
        self.epoch += 1
        return {}


def test_a_recorded_exchange_is_attacked_as_it_travelled(tagger):
    model, layout = tagger
    data = sentences(8, seed=5)
    record = ExchangeRecord()
    learner = Learner(layout, data)
    server = ParameterServer(learner.get_flat(), layout.fingerprint)
    worker = Worker("a", learner, layout.fingerprint, WorkerSettings(upload_fraction=0.2), random_state=0)
    run_rounds(server, [worker], n_epochs=8, record=record)
    released = ReleasedUpdates(record, [set(words.tolist()) for words, _ in data])
    attack = UpdateLeakageAttack("words", "words.weight", random_state=0)
    result = attack.fit(UpdateKnowledge(layout)).attack(released)
    assert result.attack.value > 0.9
    assert result.status == "ok", result.failures


@pytest.mark.parametrize("sites", [2, 3, 5])
@pytest.mark.parametrize("seed", range(10))
def test_each_update_is_compared_with_one_of_another_site(tagger, sites, seed):
    """Two updates of one site have nothing to compare: the order of a seed decided whether the audit failed."""
    model, layout = tagger
    released = ReleasedUpdates(
        [model.update(layout, [i % sites, 9], [0, 1]) for i in range(2 * sites)],
        [{i % sites, 9} for i in range(2 * sites)],
    )
    attack = UpdateLeakageAttack("words", "words.weight", against="updates", random_state=seed)
    found = attack.fit(UpdateKnowledge(layout)).attack(released)
    assert (found.attack.value, found.attack.n_groups) == (1.0, sites)


def test_a_skipped_attack_names_its_rows(tagger):
    """An audit without word vectors failed because of word vectors."""
    model, layout = tagger
    attack = UpdateLeakageAttack("words", "words.shapes.weight", against="updates")
    assert "which vectors of word shapes were touched" in attack.skip("no time").name
    attack = UpdateLeakageAttack("words", "words.weight", against="updates").fit(UpdateKnowledge(layout))
    with pytest.raises(ValueError, match="The same rows occurred in all updates"):
        attack.attack(ReleasedUpdates([model.update(layout, [1, 2], [0, 1])] * 4, [{1, 2}] * 4))


def test_what_does_not_fit_is_refused(tagger):
    model, layout = tagger
    update = model.update(layout, [1, 2], [0, 1])
    knowledge = UpdateKnowledge(layout)

    def run(kind, parameter, released=None, knowledge=knowledge):
        return (
            UpdateLeakageAttack(kind, parameter).fit(knowledge).attack(released or ReleasedUpdates([update], [{1, 2}]))
        )

    with pytest.raises(ValueError, match="'kind' parameter"):
        UpdateLeakageAttack("guess", "emit.bias")
    with pytest.raises(ValueError, match="'against' parameter"):
        UpdateLeakageAttack("labels", "emit.bias", against="time")
    with pytest.raises(ValueError, match="no parameter of that name"):
        run("words", "nothing")
    with pytest.raises(ValueError, match="needs a parameter of 2 axes"):
        run("words", "emit.bias")
    with pytest.raises(ValueError, match="needs the 'table'"):
        run("span", "hidden.weight")
    with pytest.raises(ValueError, match="reads 12 numbers"):
        run("span", "hidden.weight", knowledge=UpdateKnowledge(layout, table=np.ones((3, 2))))
    with pytest.raises(ValueError, match="numbers of 40 rows"):
        run("words", "words.weight", ReleasedUpdates([update], [{99}]))
    with pytest.raises(ValueError, match="something to compare them with"):
        run("labels", "emit.bias", ReleasedUpdates([update], [set()]))
    with pytest.raises(ValueError, match="say of each of 1 updates"):
        ReleasedUpdates([update], [])
    with pytest.raises(ExchangeError, match="another model"):
        run("labels", "emit.bias", knowledge=UpdateKnowledge(ParameterLayout.of({"emit.bias": np.zeros(3)})))
    assert "1, 2" not in repr(ReleasedUpdates([update], [{1, 2}]))
