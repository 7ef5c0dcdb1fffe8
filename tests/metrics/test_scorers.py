"""Scorers inside scikit-learn's model selection, with an estimator that remembers each token's last tag."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score, cross_validate, learning_curve
from sklearn.pipeline import Pipeline

from sklearn_deid.metrics import PHI_SCORERS, get_scorer, make_phi_scorer, phi_f1_score, phi_recall_score
from sklearn_deid.sequences import TokenSequences, object_rows

X = [["Ana", "left"], ["Ben", "left", "Leeds"], ["left"], ["Ana", "saw", "Ben"], [], ["Sol", "left"]]
Y = [["B-NAME", "O"], ["B-NAME", "O", "B-CITY"], ["O"], ["B-NAME", "O", "B-NAME"], [], ["B-NAME", "O"]]


class Memory(BaseEstimator):
    """Gives known tokens their last tag and others ``unknown``."""

    def __init__(self, unknown="O"):
        self.unknown = unknown

    def fit(self, X, y, sample_weight=None):
        self.tags_ = {token: tag for row, tags in zip(X, y, strict=True) for token, tag in zip(row, tags, strict=True)}
        return self

    def predict(self, X):
        return object_rows([self.tags_.get(token, self.unknown) for token in row] for row in X)


def test_names_say_what_they_score():
    options = {"": {}, "macro_": {"average": "macro"}, "binary_": {"binary": True}, "token_": {"level": "token"}}
    options["binary_token_"] = {"binary": True, "level": "token"}
    assert set(PHI_SCORERS) == {f"phi_{prefix}{m}" for prefix in options for m in ("f1", "precision", "recall")}
    fitted = Memory("B-CITY").fit(X[:2], Y[:2])
    for prefix, variant in options.items():
        expected = phi_f1_score(Y, fitted.predict(X), **variant)
        assert PHI_SCORERS[f"phi_{prefix}f1"](fitted, X, Y) == expected
        assert PHI_SCORERS[f"phi_{prefix}recall"](fitted, X, Y, sample_weight=None) == phi_recall_score(
            Y, fitted.predict(X), **variant
        )


@pytest.mark.parametrize("container", [list, object_rows, TokenSequences.from_rows], ids=["list", "array", "sequences"])
def test_grid_search_finds_what_the_scores_say(container):
    search = GridSearchCV(
        Memory(),
        {"unknown": ["O", "B-NAME"]},
        scoring=PHI_SCORERS,
        refit="phi_token_f1",
        cv=KFold(3),
        error_score="raise",
    ).fit(container(X), container(Y))
    assert np.isfinite([search.cv_results_[f"mean_test_{name}"] for name in PHI_SCORERS]).all()
    for i, unknown in enumerate(("O", "B-NAME")):
        for fold, (train, test) in enumerate(KFold(3).split(X)):
            fitted = Memory(unknown).fit([X[j] for j in train], [Y[j] for j in train])
            expected = phi_f1_score([Y[j] for j in test], fitted.predict([X[j] for j in test]), level="token")
            assert search.cv_results_[f"split{fold}_test_phi_token_f1"][i] == expected


def test_other_ways_in():
    scorer = make_phi_scorer("recall", binary=True)
    patients = [0, 0, 1, 1, 2, 2]
    alone = cross_val_score(Memory(), X, Y, scoring=scorer, cv=GroupKFold(3), groups=patients, error_score="raise")
    out = cross_validate(
        Pipeline([("tag", Memory())]),
        TokenSequences.from_rows(X),
        Y,
        scoring={"r": scorer},
        cv=GroupKFold(3),
        groups=patients,
        error_score="raise",
    )
    assert out["test_r"].tolist() == alone.tolist()
    sizes, _, test = learning_curve(Memory(), X, Y, scoring=scorer, cv=KFold(2), train_sizes=[1.0], error_score="raise")
    assert test.shape == (len(sizes), 2)
    assert check_scoring(Memory(), scoring=scorer) is scorer


def test_labels_of_the_test_fold_that_training_never_saw():
    fitted = Memory().fit(X[:1], Y[:1])
    assert PHI_SCORERS["phi_macro_f1"](fitted, [["Leeds", "Ana"]], [["B-CITY", "B-NAME"]]) == 0.5


def test_metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(Memory(), {"unknown": ["O"]}, scoring=PHI_SCORERS["phi_f1"], cv=2, error_score="raise")
        assert np.isfinite(search.fit(X, Y).best_score_)


def test_pickle_and_one_time_labels():
    scorer = make_phi_scorer("f1", labels=iter(["NAME"]))
    fitted = Memory("B-CITY").fit(X[:1], Y[:1])
    expected = phi_f1_score(Y, fitted.predict(X), labels=["NAME"])
    assert [scorer(fitted, X, Y), scorer(fitted, X, Y), pickle.loads(pickle.dumps(scorer))(fitted, X, Y)] == [
        expected
    ] * 3


def test_wrong_options_are_refused_before_the_search():
    with pytest.raises(
        ValueError, match=r"'measure' parameter of make_phi_scorer must be one of \['f1', 'precision', 'recall'\]"
    ):
        make_phi_scorer("accuracy")
    with pytest.raises(
        ValueError, match="'average' parameter of make_phi_scorer must be 'micro' or 'macro'. Got None instead"
    ):
        make_phi_scorer(average=None)
    with pytest.raises(ValueError, match="'level' parameter must be 'span' or 'token'"):
        make_phi_scorer(level="sentence")
    with pytest.raises(ValueError, match="'labels' parameter must be a collection"):
        make_phi_scorer(labels="NAME")


def test_a_scorer_is_found_by_its_name_and_a_wrong_name_lists_them():
    assert all(get_scorer(name) is scorer for name, scorer in PHI_SCORERS.items())
    with pytest.raises(ValueError, match=r"must be one of \['phi_binary_f1', .*\]. Got 'f1' instead"):
        get_scorer("f1")
    scores = cross_val_score(Memory(), object_rows(X), object_rows(Y), cv=KFold(2), scoring=get_scorer("phi_f1"))
    assert np.isfinite(scores).all()


def test_a_name_alone_is_refused_by_scikit_learn_and_not_scored_as_nan():
    with pytest.raises(ValueError, match="phi_f1"):
        cross_val_score(Memory(), object_rows(X), object_rows(Y), cv=KFold(2), scoring="phi_f1")
