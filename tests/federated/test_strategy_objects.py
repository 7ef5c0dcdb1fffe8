"""Strategy objects of DSSGDEnsemble, and its habits as a scikit-learn estimator: nothing here is trained long."""

import inspect

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from sklearn_deid import DeidTagger, DSSGDEnsemble
from sklearn_deid.federated import FederatedAveraging, GaussianUpload, RandomDelay, WorkerSettings, plan_steps

from ..tagging.conftest import make_sentences
from .small_ensembles import FEW, TINY, ensemble_of, parts_of, weights

MOST_PARAMETERS = 24


def test_constructor_is_short_enough_to_read():
    assert len(inspect.signature(DSSGDEnsemble).parameters) <= MOST_PARAMETERS


def test_short_form_is_the_object_with_its_defaults():
    data = make_sentences(16)
    for short, objects in (
        ({"strategy": "fedavg"}, {"strategy": FederatedAveraging()}),
        ({"schedule": "random-delay"}, {"schedule": RandomDelay()}),
    ):
        one, other = (ensemble_of(n_epochs=1, **own).fit_workers(parts_of(data)) for own in (short, objects))
        np.testing.assert_array_equal(weights(one.global_estimator_), weights(other.global_estimator_))
        assert one.history_.to_list() == other.history_.to_list()


def test_parameters_of_objects_reach_the_training():
    """Against the results that the same numbers give by hand."""
    X, y, groups = make_sentences(16)
    parts = parts_of((X, y, groups))
    free = ensemble_of(strategy="fedavg", n_epochs=1, keep_exchange=True).fit_workers(parts)
    first = free.exchange_.downloads()[0].decode().dense()
    sent = [message.decode().dense() for message in free.exchange_.uploads()]
    bound = float(np.linalg.norm(sent[0])) / 2
    shrunk = [update * min(1.0, bound / np.linalg.norm(update)) for update in sent]
    bounded = ensemble_of(strategy=FederatedAveraging(max_norm=bound), n_epochs=1).fit_workers(parts)
    moved = bounded.estimators_[0].module_, bounded.global_estimator_.module_
    assert moved[0] is not moved[1]
    given = np.average(shrunk, axis=0, weights=[len(part[0]) for part in parts])
    layout = bounded._training.workers[0].learner.layout
    found = layout.flatten({name: p.detach().numpy() for name, p in moved[1].named_parameters()})
    np.testing.assert_allclose(found, first + given, atol=1e-5)


def test_delays_reach_the_plan(monkeypatch):
    seen = []

    def watched(schedule, n_workers, n_epochs, rng, mean_delay):
        seen.append((schedule, mean_delay))
        return plan_steps("concurrent", n_workers, n_epochs)

    monkeypatch.setattr("sklearn_deid.federated.strategies.plan_steps", watched)
    data = make_sentences(16)
    ensemble_of(n_epochs=1, schedule=RandomDelay(2.5)).fit_workers(parts_of(data))
    ensemble_of(n_epochs=1, schedule="sequential").fit_workers(parts_of(data))
    assert [seen[0], seen[1][0]] == [("random-delay", 2.5), "sequential"]


class TestParameters:
    def test_nested_parameters_are_listed_and_set(self):
        ensemble = DSSGDEnsemble(strategy=FederatedAveraging("trimmed_mean"), schedule=RandomDelay())
        listed = ensemble.get_params()
        assert (listed["strategy__aggregation"], listed["strategy__n_trim"]) == ("trimmed_mean", 1)
        assert listed["schedule__mean_delay"] == 1.0
        ensemble.set_params(strategy__n_trim=2, schedule__mean_delay=0.0)
        assert (ensemble.strategy.n_trim, ensemble.schedule.mean_delay) == (2, 0.0)

    def test_short_forms_become_objects_when_their_parameters_are_set(self):
        ensemble = DSSGDEnsemble(strategy="fedavg").set_params(strategy__aggregation="median")
        assert repr(ensemble.strategy) == "FederatedAveraging(aggregation='median')"
        ensemble = DSSGDEnsemble().set_params(strategy="fedavg", strategy__max_norm=2.0, clip=3.0)
        assert (ensemble.strategy.max_norm, ensemble.clip) == (2.0, 3.0)
        with pytest.raises(ValueError, match="has no setting 'n_trim'.* Set 'strategy' to an object"):
            DSSGDEnsemble(strategy="local").set_params(strategy__n_trim=2)

    def test_clones_share_no_object(self):
        ensemble = DSSGDEnsemble(DeidTagger(**TINY), strategy=FederatedAveraging("median"), schedule=RandomDelay(2.0))
        copy = clone(ensemble)
        assert copy.strategy is not ensemble.strategy
        assert repr(copy) == repr(ensemble)
        assert "strategy=FederatedAveraging(aggregation='median')" in repr(ensemble)

    def test_search_over_parameters_of_a_strategy(self):
        X, y, groups = make_sentences(24)
        grid = {"strategy__aggregation": ["mean", "median"]}
        with config_context(enable_metadata_routing=True):
            ensemble = ensemble_of(strategy=FederatedAveraging(), n_epochs=1).set_fit_request(groups=True)
            search = GridSearchCV(ensemble, grid, cv=GroupKFold(2), error_score="raise").fit(X, y, groups=groups)
        assert search.best_estimator_.strategy.aggregation in grid["strategy__aggregation"]
        assert ensemble.strategy.aggregation == "mean"

    @pytest.mark.parametrize("name", ["half", "worker", "mean_delay", "aggregation", "n_trim", "upload_fractoin"])
    def test_what_is_no_parameter_is_refused_at_construction(self, name):
        with pytest.raises(TypeError, match=name):
            DSSGDEnsemble(**{name: 1})
        with pytest.raises(ValueError, match=f"Invalid parameter '{name}'"):
            DSSGDEnsemble().set_params(**{name: 1})

    @pytest.mark.parametrize(
        ("own", "message"),
        [
            ({"strategy": FederatedAveraging("sum")}, "The 'aggregation' parameter of FederatedAveraging must be"),
            ({"strategy": FederatedAveraging(n_trim=-1)}, "The 'n_trim' parameter of FederatedAveraging must be"),
            ({"strategy": FederatedAveraging(max_norm=0.0)}, "The 'max_norm' parameter of FederatedAveraging must be"),
            ({"schedule": RandomDelay(-1.0)}, "The 'mean_delay' parameter of RandomDelay must be"),
            (
                {"strategy": "fedavg", "max_norm": 1.0},
                r"'max_norm' .* must be None unless strategy='dssgd'. Got 1.0 .*FederatedAveraging\(max_norm=...\)",
            ),
            ({"strategy": "fedavg", "clip": 0.5}, "The 'clip' .* must be 10.0 unless strategy='dssgd'"),
            ({"strategy": "local", "predict_with": "vote", "max_norm": 1.0}, "must be None unless strategy='dssgd'"),
            ({"privacy": GaussianUpload(1.0, 1.0), "strategy": FederatedAveraging()}, "belong to strategy='dssgd'"),
        ],
    )
    def test_wrong_settings_are_named(self, own, message):
        data = make_sentences(16)
        with pytest.raises(ValueError, match=message):
            ensemble_of(**own).fit_workers(parts_of(data))

    def test_too_many_trimmed_workers_are_refused(self):
        data = make_sentences(16)
        ensemble = ensemble_of(strategy=FederatedAveraging("trimmed_mean"), n_epochs=1)
        with pytest.raises(ValueError, match="'n_trim' parameter of trimmed_mean must be from 0 to 0 for 2 workers"):
            ensemble.fit_workers(parts_of(data))

    def test_a_server_with_a_norm_bound_refuses_longer_updates(self):
        data = make_sentences(16)
        ensemble = ensemble_of(n_epochs=1, max_norm=1e-6, keep_exchange=True).fit_workers(parts_of(data))
        assert all("norm of the update" in reason for reason in ensemble.history_.column("refused"))
        assert ensemble._training.server.version == 0

    def test_the_settings_of_a_worker_are_parameters_of_the_ensemble(self):
        assert set(WorkerSettings.__dataclass_fields__) <= set(DSSGDEnsemble().get_params(deep=False))


class TestTags:
    def test_they_say_that_sentences_are_no_table(self):
        tags = get_tags(DSSGDEnsemble(random_state=0))
        assert (tags.input_tags.two_d_array, tags.input_tags.string) == (False, True)
        assert tags.target_tags.required
        assert not tags.non_deterministic
        assert get_tags(DSSGDEnsemble()).non_deterministic

    def test_checks_that_apply_to_such_tags_pass(self):
        ensemble = DSSGDEnsemble(DeidTagger(**TINY), **FEW)
        # scikit-learn has no data of this kind: what it can check is that the ensemble is cloned.
        with pytest.warns(SkipTestWarning, match="Can't test estimator DSSGDEnsemble which requires input"):
            results = check_estimator(ensemble, on_skip=None, on_fail=None)
        assert results
        assert [result["check_name"] for result in results if result["status"] == "failed"] == []
