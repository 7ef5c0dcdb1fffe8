"""Weights of one network in another: tags are matched by name, and all other sizes must agree."""

import pickle

import numpy as np
import pytest
import torch

from sklearn_deid import DeidTagger
from sklearn_deid.sequences import TokenSequences, TokenVectors
from sklearn_deid.surrogates.locale_words import LISTED_KINDS
from sklearn_deid.tagging import BidirectionalRecurrent, TaggerModule
from sklearn_deid.tagging.batching import CONTEXT_MARKS
from sklearn_deid.tagging.encoders import SelfAttentionEncoder
from sklearn_deid.tagging.initial_weights import copy_weights
from sklearn_deid.tagging.words import CharacterCNN, WordEncoder

from .conftest import SMALL, make_sentences

OLD, NEW = ["O", "B-AGE", "I-AGE", "B-DATE"], ["O", "B-DATE", "B-PHONE", "B-AGE"]


def module(n_tags, hidden=3, seed=0):
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return TaggerModule(n_tags, None, BidirectionalRecurrent(4, hidden))


def test_tags_are_matched_by_name():
    old, new = module(4), module(4, seed=1)
    fresh = {k: v.clone() for k, v in new.state_dict().items()}
    assert copy_weights(new, NEW, old, OLD)
    for i, tag in enumerate(NEW):
        known = tag in OLD
        row = old.emit.weight[OLD.index(tag)] if known else fresh["emit.weight"][i]
        assert (new.emit.weight[i] == row).all()
        for j, other in enumerate(NEW):
            both = known and other in OLD
            score = old.crf.transitions[OLD.index(tag), OLD.index(other)] if both else fresh["crf.transitions"][i, j]
            assert new.crf.transitions[i, j] == score
    assert all((new.state_dict()[k] == v).all() for k, v in old.state_dict().items() if k.startswith("encoder."))


def test_equal_tags_give_an_equal_network():
    old, new = module(4), module(4, seed=1)
    assert copy_weights(new, OLD, old, OLD)
    assert all((new.state_dict()[k] == v).all() for k, v in old.state_dict().items())


def test_another_width_changes_nothing():
    old, new = module(4, hidden=5), module(4, seed=1)
    before = {k: v.clone() for k, v in new.state_dict().items()}
    assert not copy_weights(new, NEW, old, OLD)
    assert all((v == before[k]).all() for k, v in new.state_dict().items())


@pytest.mark.parametrize("marks", [0, CONTEXT_MARKS])
@pytest.mark.parametrize("sentence_encoder", [BidirectionalRecurrent, SelfAttentionEncoder])
def test_listed_words_begin_without_effect(marks, sentence_encoder):
    """Only the inputs for list marks and marks of sentences are new: whatever they are, the emissions stay."""

    def reader(vector_dim, marks):
        words = WordEncoder(3, CharacterCNN(20, 4, 5), n_shapes=6, shape_dim=2, vector_dim=vector_dim)
        return TaggerModule(2, words, sentence_encoder(words.output_size + marks, 8)).eval()

    old, new = reader(7, 0), reader(7 + len(LISTED_KINDS), marks)
    assert copy_weights(new, ["O", "B-AGE"], old, ["O", "B-AGE"])
    rng = torch.Generator().manual_seed(0)
    features = {
        "casing": torch.randint(0, 3, (5,), generator=rng),
        "characters": torch.randint(1, 20, (5, 6), generator=rng),
        "shape": torch.randint(0, 6, (5,), generator=rng),
        "vectors": torch.randn(5, 7, generator=rng),
    }
    listed = {**features, "vectors": torch.cat([features["vectors"], torch.rand(5, len(LISTED_KINDS))], 1)}
    x = torch.cat([new.words(listed), torch.rand(5, marks)], 1)
    lengths = torch.tensor([5])
    torch.testing.assert_close(
        new.encoder(x.unsqueeze(0), lengths), old.encoder(old.words(features).unsqueeze(0), lengths)
    )


# ---- a tagger that starts from the public tagger of its vectors


@pytest.fixture(scope="module")
def vectors():
    X, y, _ = make_sentences(40)
    X, rng = TokenSequences.from_rows(X), np.random.default_rng(0)
    table = {word: rng.standard_normal(6).astype(np.float32) for word in sorted(set(X.data))}
    return TokenVectors(np.stack([table[word] for word in X.data]), X.offsets), y


def fitted(vectors, **parameters):
    X, y = vectors
    return DeidTagger(**{**SMALL, "random_state": 0, **parameters}).fit(X, y)


def weights(tagger):
    return {k: v.clone() for k, v in tagger.module_.state_dict().items()}


def test_start_is_the_public_tagger(vectors):
    """With a learning rate of almost zero, the weights stay where the training began."""
    public = fitted(vectors)
    X, y = vectors
    begun = fitted((X.with_tagger(public), y), max_epochs=1, lr=1e-12)
    anew = fitted((X, y), max_epochs=1, lr=1e-12, random_state=1)
    assert begun.starts_from_tagger_ and not anew.starts_from_tagger_
    for name, value in public.module_.state_dict().items():
        torch.testing.assert_close(begun.module_.state_dict()[name], value, atol=1e-6, rtol=0)
    assert begun.predict(X).tolist() == public.predict(X).tolist()
    assert (anew.module_.emit.weight - public.module_.emit.weight).abs().max() > 1e-3


def test_start_leaves_the_public_tagger_unchanged(vectors):
    public = fitted(vectors)
    before = weights(public)
    fitted((vectors[0].with_tagger(public), vectors[1]), lr=0.1)
    assert all((value == before[name]).all() for name, value in weights(public).items())


def test_start_from_a_tagger_equals_continuing_it(vectors):
    """Equal seeds draw equal batches, so a start equals `warm_start` of the public tagger at 30 % of the rate."""
    X, y = vectors
    public = fitted(vectors, max_epochs=2)
    options = {"max_epochs": 2, "dropout": 0.0, "span_swap": 0.0}
    begun = fitted((X.with_tagger(public), y), **options, lr=0.05)
    continued = DeidTagger(**{**SMALL, **options, "lr": 0.015}, warm_start=True).partial_fit(X, y)
    continued.module_.load_state_dict(public.module_.state_dict())
    continued.initialize_optimizer()
    continued.fit(X, y)
    for name, value in begun.module_.state_dict().items():
        torch.testing.assert_close(continued.module_.state_dict()[name], value)
    assert (begun.module_.emit.weight - public.module_.emit.weight).abs().max() > 1e-4


def test_new_tags_and_other_networks(vectors):
    X, y = vectors
    public = fitted(vectors)
    renamed = [[tag.replace("AGE", "NEW") for tag in row] for row in y]
    other = fitted((X.with_tagger(public), renamed))
    assert other.starts_from_tagger_ and "B-NEW" in other.classes_
    wide = fitted((X.with_tagger(public), y), hidden_size=SMALL.get("hidden_size", 8) + 1)
    assert not wide.starts_from_tagger_
    assert wide.predict(X).tolist() == fitted((X, y), hidden_size=wide.hidden_size).predict(X).tolist()


def test_container_keeps_the_tagger(vectors):
    X, _ = vectors
    public = fitted(vectors)
    with_tagger = X.with_tagger(public)
    assert with_tagger == X and with_tagger[3:7].tagger is public and with_tagger.with_documents(None).tagger is public
    joined = TokenVectors.concatenate([with_tagger, with_tagger[:2]])
    assert joined.tagger is public and TokenVectors.concatenate([with_tagger, X]).tagger is None
    copied = pickle.loads(pickle.dumps(with_tagger))
    assert copied.tagger.classes_.tolist() == public.classes_.tolist()
    assert with_tagger.with_tagger(None).tagger is None
