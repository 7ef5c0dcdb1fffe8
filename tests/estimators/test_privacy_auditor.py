"""The auditor: what passes and what does not, which step it finds, and its life as a scorer."""

import copy
import pickle

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
    DSSGDEnsemble,
    GaussianNoisePerturber,
    NeighborPseudonymizer,
    NoteDeidentifier,
    PrivateRepresenter,
)
from sklearn_deid._sequences import TokenSequences
from sklearn_deid.attacks import BlindRepresenter, InversionAttack, LookupAttack, MembershipAttack, PairAttack
from sklearn_deid.estimators._audit_memory import ReportMemory, recent_reports
from sklearn_deid.estimators._audit_representer_memory import distances_of
from sklearn_deid.estimators._audit_schedule import PlannedAttack, run_attacks
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.federated import ExchangeRecord, SparseUpdate
from sklearn_deid.metrics import make_phi_scorer
from sklearn_deid.training import pair_distances

from .conftest import SMALL, make_sentences
from .test_private_representer import TINY, VECTORS

PAIRS = {"hidden_size": 16, "lr": 5e-3, "n_epochs": 30, "random_state": 0}
READ = [
    PairAttack(template="noise_free", **PAIRS),
    "lookup",
    "bound",
    InversionAttack(decoder="token", n_epochs=3, random_state=0),
]
TAGGER = {**SMALL, "max_epochs": 1}


def auditor(attacks="lookup", **parameters):
    return AdversarialPrivacyAuditor(attacks, **{"random_state": 0, **parameters})


@pytest.fixture(autouse=True)
def nothing_remembered():
    recent_reports.clear()


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_sentences(600)
    return TokenSequences.from_rows(X), TokenSequences.from_rows(y), np.array(groups)


@pytest.fixture(scope="module")
def leaky(data):
    """Noise of a hundredth hides nothing."""
    unbounded = {"max_attack_accuracy": 1.0 - 1e-9, "quantile_attack_accuracy": None}
    learning = {"n_components": 8, "max_epochs": 5, "lr": 1e-2}
    return PrivateRepresenter(**{**TINY, **unbounded, **learning, "noise": 0.01}).fit(*data)


@pytest.fixture(scope="module")
def blind(leaky):
    """A representer that looks at nothing."""
    representer = copy.deepcopy(leaky)
    representer.network_, representer.fingerprint_ = BlindRepresenter(VECTORS.dim, 8), "blind"
    return representer


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
    assert report.score < 0.2 and not report.passed(0.5) and report.obstacles == ()
    by_name = {(r.name.split(",")[0], r.settings.get("measure")): r for r in report.results}
    assert by_name["pair discrimination", None].attack.value > 0.9
    found = by_name["lookup among sentences that differ by one token by likelihood", "top1"]
    assert found.attack.low > 3 * found.baseline.high
    assert by_name["certified bound", None].attack.value > 0.9
    assert by_name["inversion", "top1"].attack.low > by_name["inversion", "top1"].baseline.high


def test_blind_representation_passes(blind, data):
    report = auditor(READ).audit(blind, *data)
    assert report.obstacles == () and all(r.advantage_interval[0] == 0.0 for r in report.results)
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


def test_same_seed_same_figures(leaky, data):
    a, b, c = (
        auditor(["lookup_unrelated", "linkage"], random_state=seed, n_releases=r)
        for seed, r in ((0, 2), (0, 3), (1, 2))
    )
    found = [[r.attack for r in one.audit(leaky, *data).results] for one in (a, b, c)]
    assert found[0] == found[1] != found[2]


def test_presets_hold_what_can_be_carried_out(leaky, data, monkeypatch):
    X, y, groups = data
    monkeypatch.setattr("sklearn_deid.estimators._audit_schedule._outcome", lambda one: [one.attack.skip("a test")])
    run = {preset: len(auditor(preset).audit(leaky, X, y, groups).results) for preset in ("default", "quick", "all")}
    # No tagger, no adversaries to continue; "all" trains representers anew.
    assert run == {"default": 16, "quick": 8, "all": 17}
    assert len(auditor("quick").audit(leaky, X, y).results) == 7  # nothing to link
    tagged = Pipeline([("rep", leaky), ("tag", DeidTagger(**TAGGER).fit(leaky.transform(X), y))])
    assert len(auditor("all").audit(tagged, X, y, groups).results) == 20
    report = auditor("default").audit(leaky, X, y, groups)
    assert {r.threat for r in report.results} == {"representation"}  # also of skipped links between sentences
    assert [r.name for r in report.results if "linkage" in r.name] == [
        "document linkage, casing and labels seen",
        "document linkage",
    ]


# ---- pseudonymised text, vectors, models, data


@pytest.mark.parametrize("n_neighbors", [1, 12])
def test_pseudonymised_text(data, n_neighbors):
    X, y, groups = data
    moved = NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=n_neighbors, unknown="keep").fit(X, y)
    report = auditor().set_params(attacks="default").audit(moved, X, y, groups)
    names = {r.name: r for r in report.results}
    exact, trained = (
        names["re-identification, best attacker"],
        names["re-identification, attacker trained on simulated releases"],
    )
    assert trained.attack.low - 0.01 <= exact.attack.value <= trained.attack.high + 0.03
    assert "re-identification, best attacker, in the released text" in names and report.obstacles == ()
    assert (exact.attack.value > 0.95) == (n_neighbors == 1)
    assert report.n_sentences and set(report.verdicts) >= {"pseudonymised text"}


def test_perturbed_vectors_are_read(data):
    X, y, groups = data
    noisy = GaussianNoisePerturber(embeddings=VECTORS, scale=0.01).fit(X, y)
    attacks = [InversionAttack(decoder="token", n_epochs=2, random_state=0)]
    assert auditor(attacks)(noisy, X, y, groups) < 0.2


def test_released_data(leaky, data):
    X, y, groups = data
    report = auditor("linkage").audit(X, X, y, groups)
    assert [r.threat for r in report.results] == ["pseudonymised text"]
    report = auditor("linkage").audit(leaky.transform(X), X, y, groups)
    assert [r.threat for r in report.results] == ["representation"]
    with pytest.raises(SequenceError, match="must be those of X"):
        auditor("linkage").audit(X[::-1], X, y, groups)


@pytest.fixture(scope="module")
def exchange(data):
    """Three workers of patients whose sentences hold different characters."""
    X, y, groups = (part[:120].tolist() for part in data)
    marked = [[*row, chr(0x3B1 + int(group.split("-")[1]) % 20)] for row, group in zip(X, groups, strict=True)]
    y = [[*row, "O"] for row in y]
    tagger = DeidTagger(**{**TAGGER, "embeddings": VECTORS})
    ensemble = DSSGDEnsemble(tagger, n_workers=3, n_epochs=6, keep_exchange=True, random_state=0)
    return ensemble.fit(marked, y, groups=groups), (marked, y, groups)


def test_recorded_exchange_is_attacked(exchange):
    ensemble, told = exchange
    report = auditor("default").audit(ensemble, *told)
    by_name = {r.name.removeprefix("update leakage, "): r for r in report.results}
    touched = by_name["which vectors of characters were touched, against other updates"]
    assert touched.attack.value > 0.95 and touched.attack.low > 0.5 and touched.status == "ok"
    assert by_name["labels from the gradient of the output layer"].baseline.n > 0
    assert "many sentences" in by_name["gradient inversion, one sentence"].reason
    assert report.obstacles == () and report.score < 0.3 and list(report.verdicts) == ["updates"]
    assert (report.n_sentences, report.n_patients) == (120, len(set(told[2])))
    assert report.settings["released"] == ("updates",)
    assert auditor("default").audit(ensemble, *told) is report


def test_exchange_without_uploads_tells_nothing(exchange):
    """The same record with all values drawn at random: every attack is at chance."""
    ensemble, told = exchange
    noisy, rng = copy.deepcopy(ensemble), np.random.default_rng(0)
    noisy._patients, noisy.exchange_ = ensemble._patients, ExchangeRecord()
    for upload in ensemble.exchange_.uploads():
        one = upload.decode()
        vector = rng.standard_normal(one.size).astype(np.float32)
        sent = SparseUpdate(np.arange(one.size), vector, one.size, one.model)
        noisy.exchange_.add("up", upload.worker, upload.epoch, sent.to_bytes())
    report = auditor("quick").audit(noisy, *told)
    assert report.obstacles == () and len(report.with_status("ok")) >= 3
    assert all(r.attack.covers(0.5) for r in report.with_status("ok"))


def test_exchange_needs_to_know_who_had_what(exchange):
    ensemble, (X, y, groups) = exchange
    with pytest.raises(ValueError, match="Pass as 'groups' the patients"):
        auditor("quick").audit(ensemble, X, y)
    with pytest.raises(ValueError, match="patients with whom the DSSGDEnsemble was fitted"):
        auditor("quick").audit(ensemble, X, y, ["nobody"] * len(X))
    copied = pickle.loads(pickle.dumps(ensemble))
    with pytest.raises(ValueError, match="names of workers, such as 'worker-0'"):
        auditor("quick").audit(copied, X, y, groups)
    owners = [f"worker-{ensemble._patients[group]}" for group in groups]
    found, known = (auditor("quick").audit(e, X, y, g) for e, g in ((copied, owners), (ensemble, groups)))
    assert [r.attack for r in found.results] == [r.attack for r in known.results] and found.n_patients is None
    held_out = copy.copy(ensemble).set_params(validation_fraction=0.5)
    with pytest.raises(ValueError, match="validation_fraction=None"):
        auditor("updates_labels", random_state=5).audit(held_out, X, y, groups)
    with pytest.raises(ValueError, match="'membership' is on model, and here is"):
        auditor(["membership"]).audit(ensemble, X, y, groups)


def test_taggers_are_attacked_if_asked_for(leaky, data):
    X, y, groups = (part[:160] for part in data)
    tagger = DeidTagger(**TAGGER).fit(X, y)
    report = auditor(["membership_threshold", "canaries"]).audit(tagger, X, y, groups)
    assert {r.threat for r in report.results} == {"model"} and report.with_status("ok")
    pipe = Pipeline([("rep", leaky), ("tag", DeidTagger(**TAGGER).fit(leaky.transform(X), y))])
    report = auditor("membership_threshold").audit(pipe, X, y, groups)
    assert [r.attack.n > 0 for r in report.results] == [True]
    with pytest.raises(ValueError, match="nothing is made to be released.*attacks='all'"):
        auditor("quick").audit(tagger, X, y, groups)


def test_distances_are_those_of_the_bound(leaky, data, monkeypatch):
    X, y, _ = (part[:60] for part in data)
    monkeypatch.setattr("sklearn_deid.estimators._audit_representer_memory._N_DRAWS", 1)
    found = distances_of(leaky, X, y)
    batches = leaky.pair_batches(X, y, 128)
    oracle = pair_distances(leaky.network_, batches, torch.Generator().manual_seed(0))
    movable = np.unique(np.searchsorted(leaky.pair_data(X, y).offsets, leaky.pair_data(X, y).eligible, "right") - 1)
    assert set(np.flatnonzero(found)) <= set(movable)
    assert np.sort(found[movable]) == pytest.approx(np.sort(oracle.numpy()), rel=1e-4)
    assert (distances_of(leaky, X, y) == found).all()


class Remembering(PrivateRepresenter):
    """Keeps what it was fitted on."""

    def fit(self, X, y=None, groups=None):
        self.seen = set(map(tuple, X))
        return super().fit(X, y, groups)


def test_membership_on_a_representer(data, monkeypatch):
    X, y, groups = (part[:160].tolist() for part in data)
    X, y = [[*row, f"n{i}"] for i, row in enumerate(X)], [[*row, "O"] for row in y]  # no sentence twice
    own = [MembershipAttack("threshold", n_shadows=2, random_state=0)]
    representer = Remembering(**{**TINY, "max_epochs": 1}).fit(X, y, groups)
    report = auditor(own).audit(representer, X, y, groups)
    (found,) = report.results
    assert found.threat == "model" and found.name.endswith("of the representer") and "representer" in found.attacker
    assert found.status == "ok" and found.attack.covers(0.5)
    # One whose distances tell what it has seen is found out.
    where = "sklearn_deid.estimators._audit_representer_memory.distances_of"
    monkeypatch.setattr(where, lambda model, X, y: np.array([0.1 if tuple(row) in model.seen else 1.0 for row in X]))
    (found,) = auditor(own, random_state=1).audit(representer, X, y, groups).results
    assert found.attack.value > 0.95


# ---- which step


class Same(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


def test_step_is_found_wherever_it_is(leaky, data, counted):
    X, y, groups = data
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


def test_step_that_is_ambiguous_or_absent_is_refused(leaky, blind, data):
    pipe = Pipeline([("a", leaky), ("inner", Pipeline([("b", blind)])), ("t", DeidTagger())])
    with pytest.raises(ValueError, match="Several steps .* 'a', 'inner__b'.*representation_step"):
        auditor()(pipe, *data)
    with pytest.raises(ValueError, match="'c' names no step .* 'a', 'inner__b'"):
        auditor(representation_step="c")(pipe, *data)
    with pytest.raises(ValueError, match="nothing is made to be released"):
        auditor()(Pipeline([("same", Same())]), *data)
    with pytest.raises(ValueError, match="no best estimator"):
        auditor()(GridSearchCV(leaky, {}), *data)
    with pytest.raises(ValueError, match="In the ExchangeRecord nothing .* UpdateLeakageAttack"):
        auditor().audit(ExchangeRecord(), *data)
    both = Pipeline(
        [("inner", Pipeline([("b", NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=2))])), ("a", leaky)]
    )
    X, y, _ = data
    both.steps[0][1].steps[0][1].fit(X, y)
    assert auditor(representation_step="a")(both, *data) == auditor()(leaky, *data)


def test_unfitted_step_is_refused(data):
    with pytest.raises(sklearn.exceptions.NotFittedError):
        auditor()(PrivateRepresenter(**TINY), *data)


# ---- memory


def test_equal_audits_are_made_once(leaky, data, counted):
    X, y, groups = data
    first = auditor().audit(leaky, X, y, groups)
    assert auditor(verbose=0).audit(pickle.loads(pickle.dumps(leaky)), X.tolist(), y.tolist(), list(groups)) is first
    assert len(counted) == 1
    for other in (auditor(random_state=1), auditor(n_candidates=3)):
        other(leaky, X, y, groups)
    auditor()(leaky, X[:200], y[:200], groups[:200])
    assert len(counted) == 4


def test_memory_forgets_the_oldest():
    memory = ReportMemory(2)
    for key in ("a", "b", "a", "c"):
        memory.get(key, lambda key=key: key.upper())
    assert memory.get("a", lambda: "new") == "A" and memory.get("b", lambda: "new") == "new"
    assert memory.get(None, lambda: 1) == 1 and memory.get(None, lambda: 2) == 2


# ---- a scorer


def test_grid_over_the_tagger_audits_each_representation_once(data, counted):
    X, y, groups = data
    pipe = Pipeline([("rep", PrivateRepresenter(**{**TINY, "max_epochs": 1})), ("tag", DeidTagger(**TAGGER))])
    scoring = {"f1": make_phi_scorer(), "privacy": auditor()}
    grid = {"tag__lr": [1e-3, 1e-2], "rep__n_neighbors": [3, 5]}
    search = GridSearchCV(pipe, grid, scoring=scoring, refit="f1", cv=GroupKFold(2), error_score="raise")
    results = search.fit(X, y, groups=groups).cv_results_
    assert len(counted) == 4  # two representers in two splits, for eight fits
    assert ((results["mean_test_privacy"] >= 0) & (results["mean_test_privacy"] <= 1)).all()
    same = [results["split0_test_privacy"][np.array(results["param_rep__n_neighbors"]) == n] for n in (3, 5)]
    assert all(len(set(values)) == 1 for values in same)


def test_scorer_that_returns_several_numbers(leaky, data):
    X, y, groups = data
    measured = auditor(["lookup", "linkage"])
    search = GridSearchCV(
        Pipeline([("rep", FrozenEstimator(leaky)), ("tag", DeidTagger(**TAGGER))]),
        {"tag__lr": [1e-3, 1e-2]},
        scoring=measured.scores,
        refit=lambda results: int(np.argmax(results["mean_test_privacy"])),
        cv=GroupKFold(2),
        error_score="raise",
    ).fit(X, y, groups=groups)
    assert {"mean_test_privacy", "mean_test_privacy_lookup", "mean_test_privacy_linkage"} <= set(search.cv_results_)
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


def test_threads_and_processes_find_the_same(leaky, data):
    alone = auditor(["lookup", "linkage"], n_releases=2).audit(leaky, *data)
    recent_reports.clear()
    with parallel_config("threading"):
        together = auditor(["lookup", "linkage"], n_releases=2, n_jobs=2).audit(leaky, *data)
    assert [r.attack for r in alone.results] == [r.attack for r in together.results]
    pickled = pickle.loads(pickle.dumps(auditor(READ)))
    assert pickled.get_params().keys() == auditor(READ).get_params().keys()


def test_clone_keeps_parameters_and_attacks_are_not_changed(leaky, data):
    mine = PairAttack(**{**PAIRS, "n_epochs": 1, "control": None})
    one = auditor([mine])
    one(leaky, *data)
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
    monkeypatch.setattr("sklearn_deid.estimators._audit_schedule.time.perf_counter", lambda: clock[0])
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


def test_attack_that_cannot_be_carried_out_is_named(leaky, data):
    X, y, groups = data
    report = auditor(["pairs_continued", "bound"]).audit(leaky, X, y, groups)
    assert [r.status for r in report.results] == ["skipped", "ok"]
    assert "needs trained adversaries" in report.results[0].reason


def test_progress_holds_no_words(leaky, data, capsys):
    auditor(["lookup"], verbose=1)(leaky, *data)
    err = capsys.readouterr().err
    assert "lookup" in err and not [word for word in set(data[0].data) if len(word) > 4 and word in err]
