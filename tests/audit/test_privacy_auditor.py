"""The auditor: what passes and what does not, which step it finds, and its life as a scorer."""

import copy
import pickle
from datetime import datetime

import numpy as np
import pytest
import sklearn
import torch
from joblib import parallel_config
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import InvalidParameterError

from sklearn_deid import (
    AdversarialPrivacyAuditor,
    DeidTagger,
    NeighborPseudonymizer,
    NoteDeidentifier,
    PrivateRepresenter,
)
from sklearn_deid.audit.attacks import LookupAttack, NoiseAttack, PairAttack
from sklearn_deid.audit.schedule import PlannedAttack, ReportMemory, recent_reports, run_attacks
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.federated import ExchangeRecord
from sklearn_deid.metrics import make_phi_scorer

from ..representations.test_private_representer import TINY, VECTORS
from .audited_toys import PAIRS, READ, TAGGER, audited_sentences, auditor, blind_representer


@pytest.fixture(autouse=True)
def nothing_remembered():
    recent_reports.clear()


@pytest.fixture(scope="module")
def data():
    return audited_sentences()


@pytest.fixture(scope="module")
def some(data):
    """Enough where it does not matter how much is found."""
    return tuple(part[:240] for part in data)


@pytest.fixture(scope="module")
def leaky(trained_leaky):
    """Has a seed, unlike its copies: audits of equal releases are remembered."""
    return trained_leaky


@pytest.fixture(scope="module")
def blind(leaky):
    return blind_representer(leaky)


@pytest.fixture
def counted(monkeypatch):
    """How many lookups were carried out."""
    calls = []
    original = LookupAttack.attack_all
    monkeypatch.setattr(LookupAttack, "attack_all", lambda self, shown: calls.append(1) or original(self, shown))
    return calls


# ---- what passes


def test_almost_no_noise_fails(leaky, data):
    report = auditor(READ).audit(leaky, *data)
    assert report.score < 0.2 and not report.passed(0.5) and report.blocking_issues == ()
    by_name = {(r.name.split(",")[0], r.settings.get("measure")): r for r in report.results}
    assert by_name["pair discrimination", None].attack.value > 0.9
    found = by_name["lookup among sentences that differ by one token by likelihood", "top1"]
    assert found.attack.low > 3 * found.baseline.high
    assert by_name["certified bound", None].attack.value > 0.9
    assert by_name["inversion", "top1"].attack.low > by_name["inversion", "top1"].baseline.high


def test_blind_representation_passes(blind, data):
    # Of ten epochs, the pair attack's positive control is perfect.
    report = auditor([PairAttack(template="noise_free", **{**PAIRS, "n_epochs": 10}), *READ[1:]]).audit(blind, *data)
    (proved,) = (r for r in report.results if r.settings.get("bound"))
    attacks = [r for r in report.results if r is not proved]
    assert report.blocking_issues == () and all(r.advantage_interval[0] == 0.0 for r in attacks)
    # Two distributions that are equal are told apart no better than by the slack of the sampled noise.
    # The report has it rounded up to a power of ten.
    slack = proved.details["slack"]
    assert 0.5 + slack / 10 < proved.attack.value <= 0.5 + slack and slack < 1e-9
    assert report.score > 0.5 and report.score_interval[1] == 1.0


def test_figures_are_of_patients_held_out(leaky, data):
    X, y, groups = data
    report = auditor("bound").audit(leaky, X, y, groups)
    assert 0.25 < report.n_patients / len(set(groups)) < 0.35
    assert report.n_sentences == 4 * report.n_patients
    assert report.settings["released"] == ("representation",) and report.versions["torch"]


def test_whole_patients_are_drawn(leaky, data):
    report = auditor("bound", max_sentences=100).audit(leaky, *data)
    assert report.n_sentences == 4 * report.n_patients <= 40


def test_failed_control_is_no_pass(blind, data):
    weak = PairAttack(hidden_size=2, n_epochs=1, lr=1e-9, random_state=0)
    assert auditor([weak])(blind, *data) == 0.0


def test_same_seed_same_figures(leaky, some):
    a, b, c = (
        auditor(["lookup_unrelated", "linkage"], random_state=seed, n_releases=r)
        for seed, r in ((0, 2), (0, 3), (1, 2))
    )
    found = [[r.attack for r in one.audit(leaky, *some).results] for one in (a, b, c)]
    assert found[0] == found[1] != found[2]


def test_presets_hold_what_can_be_carried_out(leaky, data, monkeypatch):
    X, y, groups = data
    monkeypatch.setattr("sklearn_deid.audit.schedule._timed", lambda one: ([one.attack.skip("a test")], 0.0))
    run = {preset: len(auditor(preset).audit(leaky, X, y, groups).results) for preset in ("default", "quick", "all")}
    # No tagger, no adversaries to continue; "all" trains representers anew.
    assert run == {"default": 22, "quick": 13, "all": 23}
    assert len(auditor("quick").audit(leaky, X, y).results) == 12  # nothing to link
    tagged = Pipeline([("rep", leaky), ("tag", DeidTagger(**TAGGER).fit(leaky.transform(X), y))])
    assert len(auditor("all").audit(tagged, X, y, groups).results) == 26
    report = auditor("default").audit(leaky, X, y, groups)
    assert {r.threat for r in report.results} == {"representation"}  # also of skipped links between sentences
    assert [r.name for r in report.results if "linkage" in r.name] == [
        "document linkage, casing and labels seen",
        "document linkage",
    ]


# ---- which step


class Same(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


def test_step_is_found_wherever_it_is(leaky, some, counted):
    X, y, groups = some
    tagger = DeidTagger(**TAGGER).fit(leaky.transform(X), y)
    pipe = Pipeline(
        [("nothing", "passthrough"), ("same", Same().fit(X)), ("rep", FrozenEstimator(leaky)), ("t", tagger)]
    )
    found = [
        leaky,
        FrozenEstimator(leaky),
        pipe,
        FrozenEstimator(pipe),
        Pipeline([("inner", Pipeline([("rep", leaky)])), ("tag", tagger)]),
        NoteDeidentifier(pipe),
    ]
    found[-1].estimator_ = pipe
    search = GridSearchCV(pipe, {"t__lr": [0.1]})
    search.best_estimator_ = pipe
    scores = {auditor()(estimator, X, y, groups) for estimator in [*found, search]}
    assert len(scores) == 1 and len(counted) == 1


def test_step_that_is_ambiguous_or_absent_is_refused(leaky, blind, some):
    pipe = Pipeline([("a", leaky), ("inner", Pipeline([("b", blind)])), ("t", DeidTagger())])
    with pytest.raises(ValueError, match="Several steps .* 'a', 'inner__b'.*representation_step"):
        auditor()(pipe, *some)
    with pytest.raises(ValueError, match="'c' is not a step .* 'a', 'inner__b'"):
        auditor(representation_step="c")(pipe, *some)
    with pytest.raises(ValueError, match="has no step for a release"):
        auditor()(Pipeline([("same", Same())]), *some)
    with pytest.raises(ValueError, match="no best estimator"):
        auditor()(GridSearchCV(leaky, {}), *some)
    with pytest.raises(ValueError, match="The ExchangeRecord has no step .* UpdateLeakageAttack"):
        auditor().audit(ExchangeRecord(), *some)
    both = Pipeline(
        [("inner", Pipeline([("b", NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=2))])), ("a", leaky)]
    )
    X, y, _ = some
    both.steps[0][1].steps[0][1].fit(X, y)
    assert auditor(representation_step="a")(both, *some) == auditor()(leaky, *some)


def test_unfitted_step_is_refused(data):
    with pytest.raises(sklearn.exceptions.NotFittedError):
        auditor()(PrivateRepresenter(**TINY), *data)


# ---- memory


def test_equal_audits_are_made_once(leaky, some, counted):
    X, y, groups = some
    first = auditor().audit(leaky, X, y, groups)
    assert auditor(verbose=0).audit(leaky, X.tolist(), y.tolist(), list(groups)) is first
    assert len(counted) == 1
    for other in (auditor(random_state=1), auditor(n_candidates=3)):
        other(leaky, X, y, groups)
    auditor()(leaky, X[:200], y[:200], groups[:200])
    assert len(counted) == 4


def test_unseeded_releases_are_audited_anew(leaky, some, counted):
    unseeded = pickle.loads(pickle.dumps(leaky))
    reports = [auditor("lookup_unrelated").audit(unseeded, *some) for _ in range(2)]
    assert reports[0] is not reports[1] and len(counted) == 2


class Silent(PrivateRepresenter):
    """Forgets its noise."""

    def transform(self, X):
        return self.noise_free(X)


def test_a_broken_release_never_gets_the_report_of_the_intact_one(leaky, some, monkeypatch):
    intact = auditor("bound").audit(leaky, *some)
    subclass, patched, weights = (copy.copy(leaky) for _ in range(3))
    subclass.__class__ = Silent
    patched.transform = leaky.noise_free
    weights.network_ = copy.deepcopy(leaky.network_)
    weights.network_.output_noise.scale(2.0)
    for broken in (subclass, patched, weights):
        broken._noise_seeds = np.random.default_rng(0)  # copies have none
        assert auditor("bound").audit(broken, *some) is not intact
    assert auditor("bound").audit(leaky, *some) is intact
    with monkeypatch.context() as patch:
        patch.setattr(PrivateRepresenter, "transform", PrivateRepresenter.noise_free)
        assert auditor("bound").audit(leaky, *some) is not intact


def test_an_audit_leaves_the_estimator_and_its_stream_as_they_were(leaky, some):
    state = leaky._noise_seeds.bit_generator.state
    auditor(["lookup_unrelated", "linkage"]).audit(leaky, *some)
    assert leaky._noise_seeds.bit_generator.state == state


def test_memory_forgets_the_oldest():
    memory = ReportMemory(2)
    for key in ("a", "b", "a", "c"):
        memory.get(key, lambda key=key: key.upper())
    assert memory.get("a", lambda: "new") == "A" and memory.get("b", lambda: "new") == "new"
    assert memory.get(None, lambda: 1) == 1 and memory.get(None, lambda: 2) == 2


# ---- a scorer


def test_grid_over_the_tagger_audits_each_representation_once(some, counted):
    X, y, groups = (part[:120] for part in some)
    pipe = Pipeline([("rep", PrivateRepresenter(**{**TINY, "max_epochs": 1})), ("tag", DeidTagger(**TAGGER))])
    scoring = {"f1": make_phi_scorer(), "privacy": auditor()}
    grid = {"tag__lr": [1e-3, 1e-2], "rep__n_neighbors": [3, 5]}
    search = GridSearchCV(pipe, grid, scoring=scoring, refit="f1", cv=GroupKFold(2), error_score="raise")
    results = search.fit(X, y, groups=groups).cv_results_
    assert len(counted) == 4  # two representers in two splits, for eight fits
    assert ((results["mean_test_privacy"] >= 0) & (results["mean_test_privacy"] <= 1)).all()
    same = [results["split0_test_privacy"][np.array(results["param_rep__n_neighbors"]) == n] for n in (3, 5)]
    assert all(len(set(values)) == 1 for values in same)


def test_scorer_that_returns_several_numbers(leaky, some):
    X, y, groups = some
    measured = auditor(["lookup", "noise"])
    search = GridSearchCV(
        Pipeline([("rep", FrozenEstimator(leaky)), ("tag", DeidTagger(**TAGGER))]),
        {"tag__lr": [1e-3, 1e-2]},
        scoring=measured.scores,
        refit=lambda results: int(np.argmax(results["mean_test_privacy"])),
        cv=GroupKFold(2),
        error_score="raise",
    ).fit(X, y, groups=groups)
    assert {"mean_test_privacy", "mean_test_privacy_lookup", "mean_test_privacy_noise"} <= set(search.cv_results_)
    scores = measured.scores(leaky, X, y, groups)
    assert scores["privacy"] == min(scores.values())


def test_groups_are_routed(data, leaky, monkeypatch):
    X, y, groups = data
    seen = []
    original = AdversarialPrivacyAuditor.audit
    monkeypatch.setattr(
        AdversarialPrivacyAuditor,
        "audit",
        lambda self, e, X, y, groups=None: seen.append(groups) or original(self, e, X, y, groups),
    )
    with sklearn.config_context(enable_metadata_routing=True):
        asked = auditor("bound").set_score_request(groups=True)
        pipe = Pipeline([("rep", FrozenEstimator(leaky))])
        options = {"cv": GroupKFold(2), "error_score": "raise", "params": {"groups": groups}}
        cross_validate(pipe, X, y, scoring={"privacy": asked}, **options)
        cross_validate(pipe, X, y, scoring=clone(asked), **options)
    assert len(seen) == 4 and all(len(set(some)) == 75 for some in seen)


def test_threads_and_processes_find_the_same(leaky, some):
    alone = auditor(["lookup", "lookup_unrelated"], n_releases=2).audit(leaky, *some)
    recent_reports.clear()
    with parallel_config("threading"):
        together = auditor(["lookup", "lookup_unrelated"], n_releases=2, n_jobs=2).audit(leaky, *some)
    assert [r.attack for r in alone.results] == [r.attack for r in together.results]
    pickled = pickle.loads(pickle.dumps(auditor(READ)))
    assert pickled.get_params().keys() == auditor(READ).get_params().keys()


def test_clone_keeps_parameters_and_attacks_are_not_changed(leaky, some):
    mine = PairAttack(**{**PAIRS, "n_epochs": 1, "control": None})
    one = auditor([mine])
    one(leaky, *some)
    assert mine.probe_ is None  # a copy was trained
    parameters = clone(auditor(["bound"], n_releases=3)).get_params()
    assert parameters["attacks"] == ["bound"] and parameters["n_releases"] == 3


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"attacks": "fast"}, "'attacks' parameter"),
        ({"n_epochs": 0}, "'n_epochs' parameter"),
        ({"confidence": 1.0}, "'confidence' parameter"),
        ({"n_candidates": 1}, "'n_candidates' parameter"),
        ({"max_seconds": -1}, "'max_seconds' parameter"),
    ],
)
def test_wrong_parameters_are_refused(leaky, data, wrong, match):
    with pytest.raises(InvalidParameterError, match=match):
        auditor().set_params(**wrong)(leaky, *data)


def test_attacks_that_do_not_fit_are_refused(leaky, data):
    with pytest.raises(ValueError, match="There is no attack 'guess'"):
        auditor(["guess"])(leaky, *data)
    with pytest.raises(ValueError, match="must name at least one attack"):  # spoke of a parameter 'results'
        auditor([])(leaky, *data)
    with pytest.raises(ValueError, match="'reidentification' is on words"):
        auditor(["reidentification"])(leaky, *data)


def test_too_few_patients_are_refused(leaky, data):
    X, y, groups = data
    with pytest.raises(SequenceError, match="at least three patients"):
        auditor()(leaky, X[:8], y[:8], groups[:8])


# ---- time


def test_no_time_skips_and_says_so(leaky, data):
    report = auditor(["lookup", "pairs"], max_seconds=0).audit(leaky, *data)
    assert [r.status for r in report.results] == ["skipped"] * 2 and report.score == 0.0
    assert "max_seconds=0" in report.results[0].reason


class Watched:
    """An attack that takes its time on a clock of the test."""

    def __init__(self, name, clock, took):
        self.name, self.clock, self.took = name, clock, took

    def run(self, attack):
        self.clock[0] += self.took
        return [self.name]

    def skip(self, reason):
        return f"no {self.name}"


def test_strongest_per_second_first_and_pace_is_learnt(monkeypatch):
    clock, order = [0.0], []
    monkeypatch.setattr("sklearn_deid.audit.schedule.time.perf_counter", lambda: clock[0])
    attacks = [
        # name, took, strength, expected
        ("slow", 10.0, 10.0, 5.0),
        ("cheap", 2.0, 10.0, 1.0),  # twice as long as expected: so will be the others
        ("weak", 1.0, 0.1, 0.5),
        ("strong", 4.0, 8.0, 2.0),
    ]
    planned = [
        PlannedAttack(name, Watched(name, clock, took), Watched(name, clock, took).run, strength, expected)
        for name, took, strength, expected in attacks
    ]
    assert run_attacks(planned, 9.0, say=order.append) == ["no slow", "cheap", "weak", "strong"]
    assert [line.split(":")[0] for line in order] == ["cheap", "strong", "slow", "weak"]
    clock[0] = 0.0
    assert run_attacks(planned) == ["slow", "cheap", "weak", "strong"]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (lambda attack: datetime.strptime("Roe", "%d"), "ended with a ValueError of other code"),
        (lambda attack: torch.nn.Linear(2, 1)(torch.zeros(3)), "ended with a RuntimeError of other code"),
        (lambda attack: NoiseAttack(controls=False).attack(None), "needs the template of the released tokens"),
    ],
)
def test_an_error_inside_an_attack_skips_the_attack(broken, reason):
    """Other results are kept, and only messages of the library and of the attack can enter the report."""
    (found,) = run_attacks([PlannedAttack("noise", NoiseAttack(), broken)])
    assert found.status == "skipped" and found.blocks and reason in found.reason and "Roe" not in found.reason


def test_attack_that_cannot_be_carried_out_is_named(leaky, data):
    X, y, groups = data
    report = auditor(["pairs_continued", "bound"]).audit(leaky, X, y, groups)
    assert [r.status for r in report.results] == ["skipped", "ok"]
    assert "needs trained adversaries" in report.results[0].reason


def test_progress_holds_no_words(leaky, some, capsys):
    auditor(["lookup"], verbose=1)(leaky, *some)
    err = capsys.readouterr().err
    assert "lookup" in err and not [word for word in set(some[0].data) if len(word) > 4 and word in err]
