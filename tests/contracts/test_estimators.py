"""What holds for every public estimator; `estimator_cases` has a small one of each."""

import inspect
import pickle
import re
from importlib import import_module

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import sklearn_deid
from sklearn_deid import DeidTagger, RecallTunedTagger, TokenSequences, load, save
from sklearn_deid.exceptions import BundleError
from sklearn_deid.sequences import TokenVectors, object_rows

from .estimator_cases import CASES, DEVIATIONS, GROUPS, TEXTS, VECTORS, X, Y, tiny_tagger

FITTED = [name for name, case in CASES.items() if case.fit]
ROWS = [name for name in FITTED if name != "NoteDeidentifier"]
TAGGERS = [name for name in ROWS if not CASES[name].is_transformer]


def as_intended(name, contract):
    return (name, contract) in DEVIATIONS


@pytest.fixture(scope="module")
def fitted():
    """Each estimator fitted once; do not change them."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = CASES[name].fit(CASES[name].make())
        return made[name]

    return get


def assert_same(one, other):
    assert len(one) == len(other)
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(np.asarray(left, dtype=object), np.asarray(right, dtype=object))


def test_every_public_estimator_has_a_case():
    public = {name for name in sklearn_deid.__all__ if hasattr(getattr(sklearn_deid, name), "get_params")}
    for room in ("pseudonyms", "tagging", "representations", "federated", "audit"):
        room = import_module(f"sklearn_deid.{room}")
        parts = {name: getattr(room, name) for name in room.__all__}
        public |= {name for name, part in parts.items() if hasattr(part, "get_params") and hasattr(part, "fit")}
    assert public - {"PhiPerturber", "TokenPerturber", "VectorPerturber"} == set(CASES)  # without the base classes
    assert {name for name, _ in DEVIATIONS} <= set(CASES)


# ---- parameters


def plain(parameters):
    """Without addresses of objects, and without callbacks that skorch adds when it is fitted."""
    shown = {name: value for name, value in parameters.items() if "callbacks__" not in name}
    return re.sub(" at 0x[0-9a-f]+", "", repr(shown))


def named(estimator):
    parameters = list(inspect.signature(type(estimator).__init__).parameters.values())[1:]
    return {p.name for p in parameters if p.kind is not p.VAR_KEYWORD}


@pytest.mark.parametrize("name", CASES)
def test_parameters_are_those_of_the_constructor(name):
    estimator = CASES[name].make()
    given = estimator.get_params(deep=False)
    assert {key for key in given if "__" not in key} == named(estimator)
    assert estimator.set_params(**given) is estimator
    assert all(estimator.get_params(deep=False)[key] is value for key, value in given.items())
    learned = [key for key in vars(estimator) if key.endswith("_") and not key.startswith("_")]
    assert not learned or as_intended(name, "construction")
    with pytest.raises((ValueError, TypeError), match="nonsense"):
        estimator.set_params(nonsense=1)


def documented(docstring):
    """Names in the section "Parameters" of a docstring."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+( \w+)?\n-+$|\Z)", docstring, re.MULTILINE | re.DOTALL).group(1)
    return {
        name.strip("* ") for line in re.findall(r"^[*\w].*", section, re.M) for name in line.split(":")[0].split(",")
    }


@pytest.mark.parametrize("name", CASES)
def test_docstring_has_all_parameters(name):
    estimator = CASES[name].make()
    parameters = inspect.signature(type(estimator).__init__).parameters
    assert documented(inspect.getdoc(type(estimator))) == {*parameters} - {"self"}


@pytest.mark.parametrize("name", CASES)
def test_clone_has_equal_parameters_and_nothing_learned(name, fitted):
    for estimator in [CASES[name].make(), *([fitted(name)] if name in FITTED else [])]:
        twin = clone(estimator)
        assert plain(twin.get_params()) == plain(estimator.get_params())
        if name in FITTED:
            with pytest.raises(NotFittedError):
                CASES[name].output(twin, CASES[name].rows)


@pytest.mark.parametrize("name", CASES)
def test_wrong_value_is_named(name):
    case = CASES[name]
    parameter, value = case.wrong
    estimator = case.make().set_params(**{parameter: value})  # refused where it is used, not before
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter of {name} must be .*Got .* instead"):
        if case.fit:
            case.fit(estimator)
        elif name == "PretrainedEncoder":
            DeidTagger(encoder=estimator).fit(X, Y)
        else:
            estimator(tiny_tagger(), X, Y)


# ---- fit


@pytest.mark.parametrize("name", FITTED)
def test_what_is_not_fitted_says_so(name):
    with pytest.raises(NotFittedError):
        CASES[name].output(CASES[name].make(), CASES[name].rows)


@pytest.mark.parametrize("name", FITTED)
def test_fit_changes_neither_parameters_nor_data(name):
    case = CASES[name]
    estimator = case.make()
    before, data = estimator.get_params(deep=False), repr((X, Y, GROUPS, TEXTS))
    assert case.fit(estimator) is estimator
    after = estimator.get_params(deep=False)
    assert after.keys() == before.keys()
    assert all(after[key] is before[key] for key in before)
    assert repr((X, Y, GROUPS, TEXTS)) == data


@pytest.mark.parametrize("name", FITTED)
def test_same_seed_gives_the_same(name):
    case = CASES[name]
    first, second = (case.output(case.fit(case.make()), case.rows) for _ in range(2))
    assert_same(first, second)
    if case.is_transformer:
        first, second = (list(case.make().fit_transform(X, Y, groups=GROUPS)) for _ in range(2))
        assert_same(first, second)


@pytest.mark.parametrize("name", ROWS)
def test_lists_and_containers_give_the_same(name):
    case = CASES[name]
    tokens, tags = TokenSequences.from_rows(X), object_rows(Y)
    expected = case.output(case.fit(case.make()), X)
    assert_same(case.output(case.fit(case.make(), tokens, tags, np.array(GROUPS)), tokens), expected)
    rows = [tuple(row) for row in X]
    assert_same(case.output(case.fit(case.make(), rows, Y, GROUPS), object_rows(X)), expected)


# ---- what is fitted


@pytest.mark.parametrize("name", FITTED)
def test_pickled_copy_gives_the_same(name, fitted):
    case, estimator = CASES[name], fitted(name)
    before = case.output(estimator, case.rows)
    after = case.output(pickle.loads(pickle.dumps(estimator)), case.rows)
    if as_intended(name, "copies"):
        assert [row.shape for row in after] == [row.shape for row in before]
    else:
        assert_same(after, before)


@pytest.mark.parametrize("name", FITTED)
def test_saved_model_gives_the_same_or_is_refused(name, fitted, tmp_path):
    case, estimator = CASES[name], fitted(name)
    if case.is_saved:
        save(estimator, tmp_path / "model")
        assert_same(case.output(load(tmp_path / "model"), case.rows), case.output(estimator, case.rows))
    elif name in ("PrivateRepresenter", "WordClassRepresenter"):  # their word vectors are public and not saved
        save(estimator, tmp_path / "model")
        assert load(tmp_path / "model", embeddings=VECTORS).fingerprint_ == estimator.fingerprint_
    else:
        with pytest.raises(BundleError, match=f"A {name} cannot be saved"):
            save(estimator, tmp_path / "model")


@pytest.mark.parametrize("name", FITTED)
def test_order_and_batches_do_not_matter(name, fitted):
    case, estimator = CASES[name], fitted(name)
    whole = list(case.output(estimator, case.rows))
    turned = list(case.output(estimator, list(case.rows)[::-1]))[::-1]
    alone = [case.output(estimator, [row])[0] for row in case.rows]
    for other in (turned, alone):
        if as_intended(name, "order"):
            assert [row.shape for row in other] == [row.shape for row in whole]
        else:
            assert_same(other, whole)
    assert len(case.output(estimator, [])) == 0


@pytest.mark.parametrize("name", FITTED)
def test_no_word_of_the_notes_is_shown(name, fitted):
    estimator = fitted(name)
    shown = repr(estimator) + str(estimator) + estimator._repr_html_()
    words = {word for row in X for word in row if len(word) > 4}
    assert not [word for word in words if word in shown]


@pytest.mark.parametrize("name", [name for name in FITTED if CASES[name].is_transformer])
def test_transformers_name_each_column_and_refuse_data_frames(name, fitted):
    estimator = fitted(name)
    made = estimator.transform(X)
    names = estimator.get_feature_names_out()
    assert len(names) == len(set(names)) == (made.d if isinstance(made, TokenVectors) else 1)
    with pytest.raises(ValueError, match=f"{name}.set_output must be 'default' or None"):
        clone(estimator).set_output(transform="pandas")
    with config_context(transform_output="pandas"):  # asked of all transformers, of which some make tables
        assert type(estimator.transform(X)) is type(made)


def numbers_of_numpy(estimator):
    """Parameters whose values are numbers, as a grid of numpy would set them."""
    kinds = {bool: np.bool_, int: np.int64, float: np.float32}
    given = estimator.get_params()
    return {key: kinds[type(value)](value) for key, value in given.items() if type(value) in kinds}


@pytest.mark.filterwarnings("ignore::sklearn_deid.exceptions.FewNotesWarning")
@pytest.mark.parametrize("name", FITTED)
def test_parameters_may_be_numbers_of_numpy(name):
    case = CASES[name]
    estimator = case.make()
    estimator.set_params(**numbers_of_numpy(estimator))
    assert len(case.output(case.fit(estimator), case.rows)) == len(case.rows)


@pytest.mark.filterwarnings("ignore::sklearn_deid.exceptions.FewNotesWarning")
@pytest.mark.parametrize("name", ["PrivateRepresenter", "WordClassRepresenter"])
def test_representers_with_numbers_of_numpy_are_saved(name, tmp_path):
    """The best representer of a search over np.arange of n_components could not be saved."""
    estimator = CASES[name].make()
    estimator = CASES[name].fit(estimator.set_params(**numbers_of_numpy(estimator)))
    save(estimator, tmp_path / "model")
    assert load(tmp_path / "model", embeddings=VECTORS).fingerprint_ == estimator.fingerprint_


def test_saved_numbers_of_numpy_are_loaded(tmp_path):
    tagger = tiny_tagger().set_params(batch_size=np.int64(77), lr=np.float32(0.5), dropout__input=np.float32(0.5))
    tuned = RecallTunedTagger(tagger, decision_bias=np.int64(2), min_precision=np.float32(0))
    save(tuned.fit(X, Y), tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert (loaded.decision_bias, loaded.estimator_.batch_size, loaded.estimator_.lr) == (2, 77, 0.5)
    assert loaded.estimator_.dropout.input == 0.5


# ---- with scikit-learn's tools


def step_of(name):
    """The estimator in a pipeline that ends with a tagger, and its parameters there."""
    case = CASES[name]
    if case.is_transformer:
        steps = [
            ("step", case.make().set_fit_request(groups=True)),
            ("tag", tiny_tagger().set_fit_request(groups=True)),
        ]
    else:
        estimator = case.make() if name == "RuleTagger" else case.make().set_fit_request(groups=True)
        for part in ("estimator", "tagger"):
            if getattr(estimator, part, None) is not None:
                getattr(estimator, part).set_fit_request(groups=True)
        for _, part in getattr(estimator, "estimators", []):
            part.set_fit_request(groups=True)
        steps = [("same", FunctionTransformer()), ("step", estimator)]
    return Pipeline(steps), {f"step__{key}": values for key, values in case.grid.items()}


@pytest.mark.parametrize("name", ROWS)
def test_pipeline_and_search_over_patients(name):
    with config_context(enable_metadata_routing=True):
        pipe, grid = step_of(name)
        data = {} if name == "RuleTagger" else {"groups": GROUPS}
        tags = pipe.fit(X, Y, **data).predict(X)
        assert [len(row) for row in tags] == [len(row) for row in X]
        assert 0.0 <= pipe.score(X, Y) <= 1.0
        search = GridSearchCV(pipe, grid, cv=GroupKFold(2), error_score="raise").fit(X, Y, groups=GROUPS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.predict(X).shape == (len(X),)


@pytest.mark.parametrize("name", TAGGERS)
def test_score_refuses_sample_weights_and_takes_none(name, fitted):
    assert 0.0 <= fitted(name).score(X, Y, sample_weight=None) <= 1.0
    with pytest.raises(ValueError, match="does not take sample weights"):
        fitted(name).score(X, Y, sample_weight=np.ones(len(X)))
