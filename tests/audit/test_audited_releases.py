"""The auditor on each kind of release: text, vectors, recorded exchanges, models and representers."""

import copy
import pickle

import numpy as np
import pytest
import torch
from sklearn.pipeline import Pipeline

from sklearn_deid import (
    DeidTagger,
    DSSGDEnsemble,
    GaussianNoisePerturber,
    NeighborPseudonymizer,
    PrivateRepresenter,
    save_representation,
)
from sklearn_deid.audit.attacks import InversionAttack, MembershipAttack
from sklearn_deid.audit.releases.representer import distances_of
from sklearn_deid.audit.schedule import recent_reports
from sklearn_deid.exceptions import SequenceError, UnsafeToShareWarning
from sklearn_deid.federated import ExchangeRecord, GaussianUpload, PatientPrivacy, SparseUpdate, SparseVectorUpload
from sklearn_deid.representations import pair_distances

from ..representations.test_private_representer import TINY, VECTORS
from .audited_toys import TAGGER, audited_sentences, auditor


@pytest.fixture(autouse=True)
def nothing_remembered():
    recent_reports.clear()


@pytest.fixture(scope="module")
def data():
    return audited_sentences()


@pytest.fixture(scope="module")
def leaky(trained_leaky):
    return copy.deepcopy(trained_leaky)  # a copy has no seed


@pytest.mark.parametrize("kind", [PrivateRepresenter, NeighborPseudonymizer, GaussianNoisePerturber])
def test_word_vectors_of_private_notes_block_a_pass(data, kind):
    """`save` refuses what depends on such vectors; the audit passed it without a word."""
    parameters = {} if kind is GaussianNoisePerturber else {"n_neighbors": 10}
    if kind is PrivateRepresenter:
        parameters |= {"max_epochs": 1}
    with pytest.warns(UnsafeToShareWarning):
        moved = kind(embeddings="corpus", **parameters).fit(*data)
    report = auditor(["noise" if kind is PrivateRepresenter else "linkage"]).audit(moved, *data)
    assert "word vectors were trained on private notes" in " ".join(report.blocking_issues) and report.score == 0.0


@pytest.mark.parametrize("n_neighbors", [1, 12])
def test_pseudonymised_text(data, n_neighbors):
    X, y, groups = data
    moved = NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=n_neighbors, unknown="keep", random_state=0).fit(X, y)
    report = auditor().set_params(attacks="default").audit(moved, X, y, groups)
    names = {r.name: r for r in report.results}
    exact, trained = (
        names["re-identification, best attacker"],
        names["re-identification, attacker trained on simulated releases"],
    )
    assert trained.attack.low - 0.01 <= exact.attack.value <= trained.attack.high + 0.03
    assert "re-identification, best attacker, in the released text" in names and report.blocking_issues == ()
    assert (exact.attack.value > 0.95) == (n_neighbors == 1)
    assert report.n_sentences and set(report.verdicts) >= {"pseudonymised text"}


def test_perturbed_vectors_are_read(data):
    X, y, groups = data
    noisy = GaussianNoisePerturber(embeddings=VECTORS, scale=0.01).fit(X, y)
    attacks = [InversionAttack(decoder="token", n_epochs=2, random_state=0)]
    assert auditor(attacks)(noisy, X, y, groups) < 0.2


def test_released_data(leaky, data):
    X, y, groups = (part[:240] for part in data)
    report = auditor("linkage").audit(X, X, y, groups)
    assert [r.threat for r in report.results] == ["pseudonymised text"]
    report = auditor("linkage").audit(leaky.transform(X), X, y, groups)
    assert [r.threat for r in report.results] == ["representation"]
    # Without the representer, nothing tests the noise: vectors with half of their noise passed with a score of 0.92.
    assert report.score == 0.0 and "their noise was not tested" in report.blocking_issues[0]
    # Further sentences, such as the notes, were ignored. Fewer sentences were an error of NumPy.
    for other in (X[::-1], [*X, *X[:5]], X[:200]):
        with pytest.raises(SequenceError, match="must be those of X"):
            auditor("linkage").audit(other, X, y, groups)


def test_sentences_of_a_given_release_that_were_left_out_are_counted(leaky, data, tmp_path):
    """A folder of two halves passed although the second half had a tenth of its noise, and the report did not say so.

    An estimator is audited by a release of a sample, and leaves no sentence without a check.
    """
    X, y, groups = data
    given, some = leaky.transform(X), auditor("noise", max_sentences=100)
    save_representation(tmp_path / "folder", given, y)
    left_out = f"left out {len(X) - 100} sentences of the release"
    assert left_out in some.audit(tmp_path / "folder", *data, representer=leaky).warnings[0]
    some.set_params(attacks="linkage")
    assert left_out in some.audit(given, *data).warnings[-1]
    assert not any("left out" in one for one in some.audit(leaky, *data).warnings)
    assert not any("left out" in one for one in some.set_params(max_sentences=None).audit(given, *data).warnings)


@pytest.fixture(scope="module")
def exchange(data):
    """Three workers of patients whose sentences hold different characters."""
    X, y, groups = (part[:120].tolist() for part in data)
    marked = [[*row, chr(0x3B1 + int(group.split("-")[1]) % 20)] for row, group in zip(X, groups, strict=True)]
    y = [[*row, "O"] for row in y]
    tagger = DeidTagger(**{**TAGGER, "embeddings": VECTORS})
    ensemble = DSSGDEnsemble(tagger, strategy="dssgd", n_workers=3, n_epochs=6, keep_exchange=True, random_state=0)
    return ensemble.fit(marked, y, groups=groups), (marked, y, groups)


def assert_blocked_by_what_was_not_run(report):
    """Attacks that updates call for and that three workers leave without a comparison block a pass; nothing else."""
    blocking = {r.name for r in report.with_status("skipped") if r.blocks}
    assert "update leakage, labels from the gradient of the output layer, against other updates" in blocking
    assert len(report.blocking_issues) == len(blocking)
    assert all(any(issue.startswith(f"{name} was not run") for name in blocking) for issue in report.blocking_issues)


@pytest.mark.parametrize("attacks", ["linkage", ["linkage"], ["linkage", "reidentification"], "reidentification"])
def test_originals_do_not_pass_an_audit_that_names_its_attacks(data, attacks):
    """Linkage alone finds nothing in raw words, since it reads no originals."""
    X, y, groups = data
    report = auditor(attacks).audit(X, X, y, groups)
    assert not report.passed(0.01) and report.score == 0.0
    assert "The mechanism that made the text is not known" in report.blocking_issues[-1] + report.blocking_issues[0]
    assert all("No pass" in verdict for verdict in report.verdicts.values())


def test_recorded_exchange_is_attacked(exchange):
    ensemble, told = exchange
    report = auditor("default").audit(ensemble, *told)
    by_name = {r.name.removeprefix("update leakage, "): r for r in report.results}
    touched = by_name["which vectors of characters were touched, against other updates"]
    assert touched.attack.value > 0.95 and touched.attack.low > 0.5 and touched.status == "ok"
    assert by_name["labels from the gradient of the output layer"].baseline.n > 0
    assert "many sentences" in by_name["gradient inversion, one sentence"].reason
    assert_blocked_by_what_was_not_run(report)
    assert report.score < 0.3 and list(report.verdicts) == ["updates"]
    assert (report.n_sentences, report.n_patients) == (120, len(set(told[2])))
    assert report.settings["released"] == ("updates",)
    assert auditor("default").audit(ensemble, *told) is report
    scores = auditor("default").scores(ensemble, *told)
    # Nothing is known of gradient inversion where it was not run, which is no pass.
    assert scores == {"privacy": report.score, "privacy_updates": report.score, "privacy_gradient_inversion": 0.0}


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
    assert_blocked_by_what_was_not_run(report)
    assert len(report.with_status("ok")) >= 3
    assert all(r.attack.covers(0.5) for r in report.with_status("ok"))


@pytest.mark.parametrize("privacy", [GaussianUpload(1.0, 0.5), SparseVectorUpload(50.0)])
def test_noise_is_tested_in_uploads_of_float16(data, privacy):
    """The check was left out without a word if the values were sent in half precision."""
    told = [part[:60].tolist() for part in data]
    settings = {"privacy": privacy, "threshold": 0.0, "clip": 0.05, "upload_dtype": "float16", "keep_exchange": True}
    labels = sorted({tag[2:] for tags in told[1] for tag in tags} - {""})
    ensemble = DSSGDEnsemble(DeidTagger(**TAGGER), n_workers=2, n_epochs=1, labels=labels, random_state=0, **settings)
    ensemble.fit(*told[:2], groups=told[2])
    [found] = auditor("upload_noise").audit(ensemble, *told).results
    assert found.status == "ok" and found.details["uploads"] == 2
    if isinstance(privacy, GaussianUpload):
        ensemble.set_params(privacy=GaussianUpload(2.0, 0.5))  # half of the stated noise
        [found] = auditor("upload_noise").audit(ensemble, *told).results
        assert found.faults[0] == "An upload carries less noise than stated, or none."


@pytest.mark.parametrize(("layers", "is_tested"), [("all", True), ("last", False)])
def test_layers_that_are_not_trained_have_no_noise(data, layers, is_tested):
    """With the last layers alone, parameters that no note reads stay as they are, and the audit blamed the noise."""
    X, y, groups = (part[:90].tolist() for part in data)
    labels = sorted({tag[2:] for row in y for tag in row if tag != "O"})
    settings = {"privacy": PatientPrivacy(8.0, layers=layers), "labels": labels, "keep_exchange": True}
    ensemble = DSSGDEnsemble(DeidTagger(**TAGGER), n_workers=2, n_epochs=1, random_state=0, **settings)
    report = auditor("quick").audit(ensemble.fit(X, y, groups=groups), X, y, groups)
    assert [r.status for r in report.results if r.key == "upload_noise"] == ["ok"] * is_tested


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
    # Words of the missing notes would count as words that a site does not have: plain updates would be at chance.
    one = [i for i, group in enumerate(groups) if group != groups[0]]
    some = [[part[i] for i in one] for part in (X, y, groups)]
    with pytest.raises(ValueError, match="The 'groups' lack 1 of [0-9]+ patients of the training"):
        auditor("quick").audit(ensemble, *some)
    two = [i for i, owner in enumerate(owners) if owner != "worker-0"]
    with pytest.raises(ValueError, match="The 'groups' lack 1 of 3 workers of the training"):
        auditor("quick").audit(copied, *([part[i] for i in two] for part in (X, y, owners)))
    held_out = copy.copy(ensemble).set_params(validation_fraction=0.5)
    with pytest.raises(ValueError, match="validation_fraction=None"):
        auditor("updates_labels", random_state=5).audit(held_out, X, y, groups)
    with pytest.raises(ValueError, match="'membership' is on model, but this audit is on"):
        auditor(["membership"]).audit(ensemble, X, y, groups)


def test_taggers_are_attacked_if_asked_for(leaky, data):
    X, y, groups = (part[:160] for part in data)
    tagger = DeidTagger(**TAGGER).fit(X, y)
    report = auditor(["membership_threshold", "canaries"]).audit(tagger, X, y, groups)
    assert {r.threat for r in report.results} == {"model"} and report.with_status("ok")
    # The report read as if the given weights had been attacked, so that an overfitted tagger seemed to be tested.
    phrases = [result.phrase for result in report.results]
    assert (
        "a new tagger that was trained with the parameters of this tagger" in phrases[0] and "new model" in phrases[1]
    )
    assert "The weights of the given model were not attacked" in report.to_markdown()
    pipe = Pipeline([("rep", leaky), ("tag", DeidTagger(**TAGGER).fit(leaky.transform(X), y))])
    report = auditor("membership_threshold").audit(pipe, X, y, groups)
    assert [r.attack.n > 0 for r in report.results] == [True]
    with pytest.raises(ValueError, match="has no step for a release.*attacks='all'"):
        auditor("quick").audit(tagger, X, y, groups)


def test_distances_are_those_of_the_bound(leaky, data, monkeypatch):
    X, y, _ = (part[:60] for part in data)
    monkeypatch.setattr("sklearn_deid.audit.releases.representer._N_DRAWS", 1)
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
    found_by_seed = []
    for seed in range(3):
        own = [MembershipAttack("threshold", n_shadows=2, random_state=seed)]
        representer = Remembering(**{**TINY, "max_epochs": 1, "random_state": seed}).fit(X, y, groups)
        (found,) = auditor(own, random_state=seed).audit(representer, X, y, groups).results
        assert found.threat == "model" and found.name.endswith("of the representer") and "representer" in found.attacker
        assert found.status == "ok"
        found_by_seed.append(found.attack)
    # An interval of one seed misses chance once in 20 times; that of the mean of three is narrower than any of them.
    mean = np.mean([found.value for found in found_by_seed])
    margin = np.sqrt(sum((found.high - found.low) ** 2 for found in found_by_seed)) / 2 / len(found_by_seed)
    assert margin < min(found.high - found.low for found in found_by_seed) / 2
    assert mean == pytest.approx(0.5, abs=margin)
    # One whose distances tell what it has seen is found out.
    where = "sklearn_deid.audit.releases.representer.distances_of"
    monkeypatch.setattr(where, lambda model, X, y: np.array([0.1 if tuple(row) in model.seen else 1.0 for row in X]))
    (found,) = auditor(own, random_state=1).audit(representer, X, y, groups).results
    assert found.attack.value > 0.95
