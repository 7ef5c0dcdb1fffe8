"""DeidTagger with scikit-learn's tools, beyond what `tests/contracts` holds for every estimator."""

import pickle

import joblib
import numpy as np
import pytest
import torch
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline

from sklearn_deid import DeidTagger

from .conftest import SMALL, assert_rows_equal


class Lower(TransformerMixin, BaseEstimator):
    """A transformer of tokens."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return [[token.lower() for token in row] for row in X]


@pytest.fixture(scope="module")
def few(sentences):
    X, y, groups = sentences
    return X[:40], y[:40], groups[:40]


FAST = {**SMALL, "max_epochs": 2}


class TestParameters:
    def test_get_params_lists_the_constructor_and_four_of_skorch(self, fitted):
        import inspect

        named = [n for n, p in inspect.signature(DeidTagger.__init__).parameters.items() if p.kind == p.KEYWORD_ONLY]
        for tagger in (DeidTagger(), fitted):
            found = {k for k in tagger.get_params() if not k.startswith(("callbacks__", "span_swap__"))}
            assert found == {*named, "optimizer", "callbacks", "verbose", "warm_start"}
            assert {k for k in tagger.get_params(deep=False) if not k.startswith("callbacks__")} == {*named}

    def test_dunder_parameters_are_listed_and_cloned(self):
        tagger = clone(DeidTagger(optimizer__weight_decay=0.1))
        assert tagger.get_params()["optimizer__weight_decay"] == 0.1

    def test_cuda_without_a_cuda_device_is_refused_by_name(self, few, monkeypatch):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        X, y = few[0], few[1]
        with pytest.raises(ValueError, match=r"'device' parameter is 'cuda', but torch finds no CUDA device"):
            DeidTagger(**{**FAST, "device": "cuda"}).fit(X, y)

    def test_device_auto_stays_auto(self, few):
        X, y, _ = few
        tagger = DeidTagger(**{**FAST, "device": "auto"}).fit(X, y)
        assert tagger.get_params()["device"] == "auto"
        assert clone(tagger).device == "auto"
        assert pickle.loads(pickle.dumps(tagger)).device == "auto"

    def test_set_params_on_a_fitted_tagger_takes_effect_at_the_next_fit(self, few):
        X, y, _ = few
        tagger = DeidTagger(**FAST).fit(X, y)
        before = tagger.predict(X)
        tagger.set_params(hidden_size=20, optimizer__weight_decay=0.01, characters=None)
        assert_rows_equal(tagger.predict(X), before)
        tagger.fit(X, y)
        assert tagger.module_.encoder.output_size == 40
        assert tagger.module_.words.characters is None
        assert tagger.optimizer_.param_groups[0]["weight_decay"] == 0.01

    def test_another_optimizer_and_iterator_take_effect_at_the_next_fit(self, few):
        """skorch asked users to open an issue."""
        X, y, _ = few
        tagger = DeidTagger(**FAST).fit(X, y)
        changed = {"optimizer": torch.optim.SGD, "optimizer__momentum": 0.5, "iterator_train__num_workers": 0}
        before = tagger.set_params(**changed).predict(X)
        assert {key: tagger.get_params()[key] for key in changed} == changed
        assert clone(tagger).get_params(deep=False)["iterator_train__num_workers"] == 0
        assert_rows_equal(tagger.predict(X), before)
        tagger.fit(X, y)
        assert isinstance(tagger.optimizer_, torch.optim.SGD) and tagger.optimizer_.param_groups[0]["momentum"] == 0.5

    def test_init_stores_and_does_not_learn(self):
        tagger = DeidTagger(hidden_size="nonsense")
        assert tagger.hidden_size == "nonsense"


class TestComposition:
    def test_pipeline(self, few):
        X, y, _ = few
        pipe = Pipeline([("low", Lower()), ("tag", DeidTagger(**FAST))]).fit(X, y)
        assert 0.0 <= pipe.score(X, y) <= 1.0
        assert len(pipe.predict_proba(X)) == len(X)

    def test_grid_search_over_patients(self, few):
        X, y, groups = few
        grid = {"tag__hidden_size": [4, 8], "tag__optimizer__weight_decay": [0.0, 0.1]}
        pipe = Pipeline([("low", Lower()), ("tag", DeidTagger(**FAST))])
        search = GridSearchCV(pipe, grid, cv=GroupKFold(2), error_score="raise").fit(X, y, groups=groups)
        assert len(search.cv_results_["params"]) == 4
        assert search.best_estimator_.predict(X).shape == (len(X),)

    def test_plain_folds_and_cross_val_predict(self, few):
        X, y, _ = few
        assert cross_val_score(DeidTagger(**FAST), X, y, cv=2, error_score="raise").shape == (2,)
        assert [len(r) for r in cross_val_predict(DeidTagger(**FAST), X, y, cv=2)] == [len(r) for r in X]

    def test_joblib_processes(self, few):
        X, y, _ = few
        scores = [cross_val_score(DeidTagger(**FAST), X, y, cv=2, n_jobs=n, error_score="raise") for n in (None, 2)]
        np.testing.assert_array_equal(*scores)

    def test_metadata_routing(self, few):
        import sklearn

        X, y, groups = few
        with sklearn.config_context(enable_metadata_routing=True):
            tagger = DeidTagger(**{**FAST, "validation_fraction": 0.3}).set_fit_request(groups=True)
            pipe = Pipeline([("low", Lower()), ("tag", tagger)])
            pipe.fit(X, y, groups=groups)
            assert 0.0 <= pipe.score(X, y) <= 1.0
            search = GridSearchCV(pipe, {"tag__hidden_size": [4]}, cv=GroupKFold(2), error_score="raise")
            search.fit(X, y, groups=groups)


class TestStoring:
    def test_pickle_of_a_live_tagger(self, fitted, few, tmp_path):
        X, _, _ = few
        expected = fitted.predict(X)
        assert_rows_equal(pickle.loads(pickle.dumps(fitted)).predict(X), expected)
        joblib.dump(fitted, tmp_path / "tagger.joblib")
        assert_rows_equal(joblib.load(tmp_path / "tagger.joblib").predict(X), expected)

    def test_reprs_hold_no_token(self, fitted, sentences):
        shown = repr(fitted) + str(fitted) + fitted._repr_html_() + repr(fitted.history)
        assert not any(token in shown for row in sentences[0] for token in row if len(token) > 3)
