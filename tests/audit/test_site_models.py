"""A host that rebuilds the models of sites: exact vectors, and attacks that find planted names and nothing else."""

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_deid import DeidTagger
from sklearn_deid.audit.site_models import name_attack, rebuilt_models, shuffled_models, word_attack
from sklearn_deid.cli.federate_audit import _one_of
from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import ExchangeRecord, SparseUpdate
from sklearn_deid.federated.tagger_learner import tagger_from_vector, tagger_layout, vector_of_tagger

NAMES = {"a": {"Ada Alder", "Bo Birch", "Both Of"}, "b": {"Cy Cedar", "Di Dahlia", "Both Of"}}


@pytest.fixture(scope="module")
def tagger():
    small = DeidTagger(hidden_size=2, embeddings=None, max_epochs=1, random_state=0, augmenter=None)
    return small.fit([["Mr", "Alder"]] * 4, [["O", "B-PATIENT"]] * 4)


def message(values, kind, version=0):
    values = np.asarray(values, dtype=np.float32)
    return SparseUpdate(np.arange(len(values)), values, len(values), "0" * 32, version, kind).to_bytes()


def test_a_model_is_what_the_site_fetched_plus_what_it_sent(tagger):
    layout, rng = tagger_layout(tagger), np.random.default_rng(0)
    starts, updates = rng.normal(size=(2, 3, layout.size)).astype(np.float32)
    record = ExchangeRecord()
    for epoch, (start, update) in enumerate(zip(starts, updates, strict=True)):
        record.add("down", "a", epoch, message(start, "parameters"))
        record.add("down", "b", epoch, message(np.zeros(layout.size), "parameters"))
        record.add("up", "a", epoch + 1, message(update, "update"))
    models = rebuilt_models(record, tagger, "a", n_seen=2)
    for model, start, update in zip(models, starts[1:], updates[1:], strict=True):
        np.testing.assert_array_equal(tagger_layout(model).flatten(model.module_.state_dict()), start + update)
    with pytest.raises(ValueError, match="no update of the site 'b'"):
        rebuilt_models(record, tagger, "b")


def test_a_site_keeps_the_parameters_that_it_does_not_fetch(tagger):
    """An audit of sites that fetch a part of the parameters ended with a traceback and without a report."""
    layout, rng = tagger_layout(tagger), np.random.default_rng(0)
    start, first, second = rng.normal(size=(3, layout.size)).astype(np.float32)
    part = SparseUpdate(np.array([1, 4]), np.array([5.0, 6.0], np.float32), layout.size, "0" * 32, 1, "parameters")
    record = ExchangeRecord()
    record.add("down", "a", 0, message(start, "parameters"))
    record.add("up", "a", 1, message(first, "update"))
    record.add("down", "a", 1, part.to_bytes())
    record.add("up", "a", 2, message(second, "update"))
    expected = start + first
    expected[[1, 4]] = 5.0, 6.0
    models = rebuilt_models(record, tagger, "a")
    for model, vector in zip(models, (start + first, expected + second), strict=True):
        np.testing.assert_array_equal(tagger_layout(model).flatten(model.module_.state_dict()), vector)
    short = ExchangeRecord()
    for sent in list(record)[2:]:
        short.add(*sent)
    with pytest.raises(ExchangeError, match="no update of the site 'a' after a download of all parameters"):
        rebuilt_models(short, tagger, "a")


def test_a_control_has_the_differences_of_the_sites_in_another_order(tagger):
    layout, rng = tagger_layout(tagger), np.random.default_rng(0)
    vectors = dict(zip("ab", rng.normal(size=(2, layout.size)).astype(np.float32), strict=True))
    models = {site: [tagger, tagger_from_vector(tagger, clone(tagger), own)] for site, own in vectors.items()}
    shuffled = shuffled_models(models, rng)
    middle = (vectors["a"] + vectors["b"]) / 2
    for site, [model] in shuffled.items():
        before, after = (layout.unflatten(own - middle) for own in (vectors[site], vector_of_tagger(model)))
        for name in layout.names:
            np.testing.assert_allclose(np.sort(after[name], axis=None), np.sort(before[name], axis=None), atol=1e-5)
        assert np.mean(np.abs(vector_of_tagger(model) - vectors[site])) > 0.5


class Vague:
    """A model that is sure of names in an order of its own."""

    classes_ = np.array(["O", "B-NAME"])

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def predict_proba(self, sentences):
        outside = [self.rng.uniform(0.1, 0.9, len(sentence)) for sentence in sentences]
        return [np.column_stack([p, 1 - p]) for p in outside]


def test_two_sites_have_one_auc_that_can_be_beyond_the_range_of_chance():
    """The command counted both, and so stated half of the AUCs that are beyond the range by chance."""
    names = {"a": {f"Alder {i}" for i in range(9)}, "b": {f"Birch {i}" for i in range(7)}}
    for seed in range(5):
        found = name_attack({"a": [Vague(seed)], "b": [Vague(-seed % 97 + 100)]}, names)
        assert found["a"] == pytest.approx(found["b"])
    assert [_one_of(n) for n in (2, 3, 4)] == [11, 31, 41]


class Knowing:
    """A model that is surest of the words it knows, and the same of all others."""

    classes_ = np.array(["B-PATIENT", "O"])

    def __init__(self, known):
        self.known = {word for name in known for word in name.split()}

    def predict_proba(self, sentences):
        return [np.array([[p, 1 - p] for p in (0.9 if w in self.known else 0.5 for w in s)]) for s in sentences]


@pytest.mark.parametrize("attack", [name_attack, word_attack])
def test_names_of_one_site_are_told_and_common_ones_left_out(attack):
    candidates = NAMES if attack is name_attack else {s: {n.split()[0] for n in own} for s, own in NAMES.items()}
    models = {site: [Knowing(own - {"Both Of"})] for site, own in NAMES.items()}
    assert attack(models, candidates) == {"a": 1.0, "b": 1.0}
    assert attack({site: [Knowing(())] for site in NAMES}, candidates) == {"a": 0.5, "b": 0.5}
    assert attack({"a": models["b"], "b": models["a"]}, candidates) == {"a": 0.0, "b": 0.0}
    assert attack(models, {"a": candidates["a"], "b": set()}) == {}


class Certain(Knowing):
    """A model whose float32 probabilities are exactly 0 and 1, as of a network rebuilt from masked updates."""

    def predict_proba(self, sentences):
        return [np.array([[w in self.known, w not in self.known] for w in s], np.float32) for s in sentences]


def test_a_certain_model_has_finite_odds():
    models = {site: [Certain(own - {"Both Of"})] for site, own in NAMES.items()}
    assert name_attack(models, NAMES) == {"a": 1.0, "b": 1.0}
