"""Settings objects of DeidTagger: short forms, nested parameters, searches, refusals, and what a tagger shows."""

import inspect

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from sklearn_deid import DeidTagger, PretrainedEncoder
from sklearn_deid.tagging import ContextBlock, ContextWindow, CRFHead, Dropout, RecallWeight, SelfAttention, SoftmaxHead
from sklearn_deid.tagging.strategies import plain_parameters, strategy

from .conftest import SMALL, assert_rows_equal

SAME = {
    "transformer": ("encoder", "transformer", SelfAttention(n_heads=4)),
    "crf": ("head", "crf", CRFHead(constrained=True, projection_size=None)),
    "softmax": ("head", "softmax", SoftmaxHead()),
    "dropout": ("dropout", "auto", Dropout(input=0.25, layer=0.25, output=0.5)),
    "one dropout": ("dropout", 0.3, Dropout(0.3, 0.3, 0.3)),
    "no dropout": ("dropout", 0, Dropout(0.0, 0.0, 0.0)),
    "recall": ("recall_weight", 3, RecallWeight(3.0, "repaired")),
}
OBJECTS = [
    SelfAttention(2),
    CRFHead(False, 3),
    SoftmaxHead(3),
    Dropout(0.1),
    ContextWindow(1),
    ContextBlock(9),
    RecallWeight(2, "batch"),
]
NAMES = ["encoder", "head", "head", "dropout", "context", "context", "recall_weight"]


@pytest.mark.parametrize(("name", "short", "long"), list(SAME.values()), ids=list(SAME))
def test_short_form_trains_the_same_network(name, short, long, sentences):
    X, y, _ = sentences
    settings = {**SMALL, "max_epochs": 1, "hidden_size": 8}
    one, other = (DeidTagger(**settings).set_params(**{name: value}).fit(X[:20], y[:20]) for value in (short, long))
    assert_rows_equal(one.predict_proba(X[:20]), other.predict_proba(X[:20]))


@pytest.mark.parametrize(("name", "value"), list(zip(NAMES, OBJECTS, strict=True)), ids=list(map(repr, OBJECTS)))
def test_settings_survive_clones_and_plain_values(name, value):
    tagger = DeidTagger(**{name: value})
    copy = clone(tagger)
    assert getattr(copy, name) is not value
    assert repr(copy) == repr(tagger)
    plain = plain_parameters(tagger.get_params(deep=False))
    assert not [one for one in plain.values() if hasattr(one, "get_params")]
    assert repr(DeidTagger().set_params(**plain)) == repr(tagger)


def test_nested_settings_make_objects_of_short_forms():
    tagger = DeidTagger().set_params(dropout__input=0.1, context="window", context__size=3, recall_weight=2)
    tagger.set_params(recall_weight__form="batch", encoder="transformer", encoder__n_heads=2, head__constrained=False)
    assert (tagger.dropout.input, tagger.dropout.output, tagger.context.size) == (0.1, 0.5, 3)
    assert (tagger.recall_weight.weight, tagger.recall_weight.form) == (2.0, "batch")
    assert (tagger.encoder.n_heads, tagger.head.constrained) == (2, False)
    assert tagger.get_params()["dropout__input"] == 0.1


def test_settings_of_one_tagger_are_not_those_of_another():
    first, second = DeidTagger(), DeidTagger()
    first.set_params(dropout__input=0.1)
    assert strategy("dropout", second.dropout).input == 0.25


def test_search_over_settings(sentences):
    X, y, groups = sentences
    pipeline = Pipeline([("tag", DeidTagger(**{**SMALL, "max_epochs": 1}))])
    grid = {"tag__dropout__input": [0.0, 0.4], "tag__hidden_size": [4]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, y)
    assert sorted(candidate["tag__dropout__input"] for candidate in search.cv_results_["params"]) == [0.0, 0.4]
    best = search.best_estimator_.named_steps["tag"]
    assert best.module_.input_dropout.p == search.best_params_["tag__dropout__input"]
    assert best.hidden_size == 4


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dropout": Dropout(output=1.0)}, "The 'output' parameter of Dropout must be"),
        ({"dropout": "none"}, "The 'dropout' parameter of DeidTagger must be"),
        ({"head": SoftmaxHead(projection_size=0)}, "The 'projection_size' parameter of SoftmaxHead must be"),
        ({"head": Dropout()}, "The 'head' parameter of DeidTagger must be"),
        ({"context": ContextWindow(size=0)}, "The 'size' parameter of ContextWindow must be"),
        ({"context": ContextBlock(size=0)}, "The 'size' parameter of ContextBlock must be"),
        ({"encoder": SelfAttention(n_heads=0)}, "The 'n_heads' parameter of SelfAttention must be"),
        ({"encoder": "pretrained"}, "The 'encoder' parameter of DeidTagger must be"),
        ({"recall_weight": RecallWeight(0.5)}, "The 'weight' parameter of RecallWeight must be"),
    ],
)
def test_bad_settings_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        DeidTagger(**parameters).fit([["a"]], [["O"]])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hiden_size", "DeidTagger has no parameter 'hiden_size'. Did you mean 'hidden_size'?"),
        ("optimiser", "Did you mean 'optimizer'?"),
        ("optimiser__momentum", "Did you mean 'optimizer__momentum'?"),
        ("dropout__input", "Settings of 'dropout' are set by set_params"),
        ("zzz", "DeidTagger has no parameter 'zzz'. Parameters are encoder, head"),
        # They would have no effect.
        ("module__n_tags", "DeidTagger has no parameter 'module__n_tags'"),
        ("train_split", "DeidTagger has no parameter 'train_split'"),
    ],
)
def test_unknown_parameters_are_refused_at_construction(name, message):
    with pytest.raises(TypeError) as caught:
        DeidTagger(**{name: 1})
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["hiden_size", "hidden_size__x", "optimiser__momentum", "module__n_tags"])
def test_unknown_parameters_cannot_be_set(name):
    with pytest.raises(ValueError, match=f"DeidTagger has no parameter '{name}'"):
        DeidTagger().set_params(**{name: 1})


@pytest.mark.parametrize(
    ("parameters", "setting"),
    [
        ({}, "encoder__n_heads"),
        ({"context": "document"}, "context__size"),
        ({}, "recall_weight__form"),
        ({"head": "softmaks"}, "head__projection_size"),
        ({"dropout": "none"}, "dropout__input"),
    ],
)
def test_settings_that_a_value_does_not_have_are_refused(parameters, setting):
    with pytest.raises(ValueError, match=f"has no setting '{setting.partition('__')[2]}'"):
        DeidTagger(**parameters).set_params(**{setting: 1})
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        DeidTagger().set_params(head__nonsense=1)


def test_dunder_parameters_of_skorch_pass():
    given = {"optimizer__weight_decay": 0.1, "callbacks__lr_decay": None, "iterator_train__num_workers": 0}
    assert given.items() <= DeidTagger(**given).get_params(deep=False).items()


def test_constructor_is_of_a_readable_size():
    named = [p for p in inspect.signature(DeidTagger.__init__).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert len(named) <= 24


def test_repr_shows_changed_parameters_only(sentences):
    X, y, _ = sentences
    assert repr(DeidTagger()) == "DeidTagger()"
    tagger = DeidTagger(dropout=Dropout(input=0.1), max_epochs=1, embeddings=None, warm_start=True)
    shown = "DeidTagger(dropout=Dropout(input=0.1), embeddings=None, max_epochs=1, warm_start=True)"
    assert " ".join(repr(tagger).split()) == shown
    assert " ".join(repr(tagger.fit(X, y)).split()) == shown


def test_pretrained_encoder_is_nested():
    tagger = DeidTagger(encoder=PretrainedEncoder("somewhere"))
    assert clone(tagger).set_params(encoder__pooling="mean").encoder.pooling == "mean"
    assert tagger.encoder.pooling == "first"
