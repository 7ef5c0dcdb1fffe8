"""PrivateRepresenter: what it releases, what it claims, and its life as a scikit-learn transformer."""

import copy
import io
import os
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import InvalidParameterError

from sklearn_deid import DeidTagger, PrivateRepresenter, WordVectors, _storage, save
from sklearn_deid._atomic import write_file
from sklearn_deid.exceptions import (
    BundleError,
    SequenceError,
    TrainingDivergedError,
    TrainingInterruptedWarning,
    UnsafeToShareWarning,
)
from sklearn_deid.representations import DANN, Bounded, PrivacyBound, ThreePart, pair_distance
from sklearn_deid.representations.part_bound import published_numbers
from sklearn_deid.sequences import TokenSequences, TokenVectors

from ..tagging.conftest import SMALL, SURNAMES, TOWNS, make_sentences

PLAIN = ["mr", "was", "seen", "lives", "in", "aged", "years", "no", "pain", ".", "12", "34", "56", "77"]
WORDS = [*(name.lower() for name in SURNAMES), *(town.lower() for town in TOWNS), *PLAIN]
VECTORS = WordVectors(WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 6)), is_public=True)
TINY = {
    "embeddings": VECTORS,
    "n_components": 4,
    "n_neighbors": 5,
    "hidden_size": 8,
    "tagger_hidden_size": 8,
    "max_epochs": 3,
    "batch_size": 64,
    "device": "cpu",
    "random_state": 0,
}


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_sentences(40)
    return TokenSequences.from_rows(X), TokenSequences.from_rows(y), np.array(groups)


@pytest.fixture(scope="module")
def fitted(data):
    X, y, groups = data
    return PrivateRepresenter(**TINY).fit(X, y, groups)


def are_other_draws(a, b):
    """Single numbers on a grid may be equal by chance; all numbers of a token, or more than four, are not.

    Equal sentences share a draw, so that each vector counts once.
    """
    both = np.unique(np.hstack([a.data[:, :4], b.data[:, :4]]), axis=0)
    equal = both[:, :4] == both[:, 4:]
    return equal.sum() <= 4 and not equal.all(axis=1).any()


# ---- what is released


def test_shape_casing_and_unit_length(data, fitted):
    X, _, _ = data
    R = fitted.transform(X)
    assert isinstance(R, TokenVectors) and R.data.dtype == np.float32
    assert R.offsets.tolist() == X.offsets.tolist() and R.d == fitted.n_features_out_ == 4 + 7
    assert len(fitted.get_feature_names_out()) == R.d
    np.testing.assert_allclose(np.linalg.norm(R.data[:, :4], axis=1), 1.0, rtol=1e-5)
    assert (R.data[:, 4:].sum(1) == 1.0).all()
    assert PrivateRepresenter(**{**TINY, "casing": False, "max_epochs": 1}).fit(*data).transform(X).d == 4


def test_two_transforms_differ_and_equal_sentences_share_a_draw(data, fitted):
    X, _, _ = data
    first, second = fitted.transform(X), fitted.transform(X)
    assert are_other_draws(first, second)
    twice = fitted.transform(TokenSequences.from_rows([*X.tolist(), *X.tolist()]))
    assert (twice.data[: len(X.data)] == twice.data[len(X.data) :]).all()
    draws = fitted.sample(X, 2)
    assert len(draws) == 2 and draws[0] != draws[1]


def test_noise_free_is_deterministic_and_the_centre_of_the_noise(data):
    """Without unit length the mean of many releases is the noise-free vector."""
    X, y, groups = data
    representer = PrivateRepresenter(**{**TINY, "unit_norm": False}).fit(X, y, groups)
    X = X[:5]
    centre = representer.noise_free(X)
    assert centre == representer.noise_free(X) and centre.origin is None
    mean = np.mean([R.data for R in representer.sample(X, 400)], axis=0)
    std = representer.network_.output_std().detach().numpy()
    assert np.abs((mean - centre.data)[:, :4] / std).max() < 5 / np.sqrt(400)


@settings(max_examples=10)
@given(st.lists(st.lists(st.sampled_from([*WORDS, "Zzyx", "May"]), max_size=6), max_size=5))
def test_any_sentences_are_encoded_token_by_token(fitted, rows):
    R = fitted.transform(rows)
    assert [len(row) for row in R] == [len(row) for row in rows]
    assert np.isfinite(R.data).all() and R.d == 11
    # What a sentence becomes does not depend on the sentences around it.
    alone = [fitted.noise_free([row]).data for row in rows]
    if alone:
        np.testing.assert_allclose(fitted.noise_free(rows).data, np.concatenate(alone), atol=1e-5)


def test_moving_a_word_of_a_dense_representer_changes_that_token_only(data):
    X, y, groups = data
    dense = PrivateRepresenter(**{**TINY, "encoder": "dense"}).fit(X, y, groups)
    a, b = (dense.noise_free([["Mr", ".", name, "was", "seen"]]).data for name in ("Alder", "Elm"))
    assert ((a != b).any(1) == [False, False, True, False, False]).all()


def test_vectors_can_be_mapped_from_a_file(data, fitted, tmp_path):
    X, _, _ = data
    mapped = copy.deepcopy(fitted).set_params(memmap_dir=tmp_path)
    first, second = mapped.noise_free(X), mapped.transform(X)
    assert first == fitted.noise_free(X) and isinstance(second.data, np.memmap)
    assert len(list(tmp_path.iterdir())) == 2 and isinstance(second[3:9].data, np.memmap)
    # Files without noise were named as those that may be shared, and lay beside them.
    assert sorted(path.name.rpartition("-")[0] for path in tmp_path.iterdir()) == ["noise-free", "representation"]
    assert mapped.transform([]).shape == (0,)


# ---- random numbers


def test_two_fits_with_one_seed_agree_of_lists_too(data, fitted):
    X, y, groups = data
    first = PrivateRepresenter(**TINY).fit(X, y, groups)
    again = PrivateRepresenter(**TINY).fit(X.tolist(), y.tolist(), groups.tolist())
    assert again.fingerprint_ == fitted.fingerprint_ == first.fingerprint_
    assert again.transform(X.tolist()) == first.transform(X) and again.transform(X) == first.transform(X)
    other = PrivateRepresenter(**{**TINY, "random_state": 1}).fit(X, y, groups)
    assert other.fingerprint_ != fitted.fingerprint_


def test_global_generators_are_left_alone(data):
    X, y, groups = data
    torch.manual_seed(7)
    np.random.seed(7)
    expected = torch.rand(1), np.random.rand()
    torch.manual_seed(7)
    np.random.seed(7)
    PrivateRepresenter(**{**TINY, "max_epochs": 1}).fit(X, y, groups).transform(X)
    assert (torch.rand(1), np.random.rand()) == expected


def test_nothing_replayable_is_pickled(data, fitted):
    X, _, _ = data
    blob = pickle.dumps(fitted)
    copies = [pickle.loads(blob), pickle.loads(blob), copy.deepcopy(fitted)]
    releases = [c.transform(X[:3]) for c in copies]
    assert are_other_draws(releases[0], releases[1]) and are_other_draws(releases[0], releases[2])
    assert all(c.fingerprint_ == fitted.fingerprint_ for c in copies)
    assert copies[0].noise_free(X) == fitted.noise_free(X)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no forks")
def test_two_processes_with_a_copy_draw_other_noise(data, fitted, tmp_path):
    X, _, _ = data
    joblib.dump((fitted, X[:3]), tmp_path / "copy.joblib")
    # They share all that was loaded before, too: neither has anything of its own but what it draws from the system.
    code = (
        "import os, joblib, sklearn_deid.representations.private_representer; os.fork(); "
        f"r, X = joblib.load({str(tmp_path / 'copy.joblib')!r}); "
        "os.write(1, r.transform(X).data[:, :4].tobytes().hex().encode() + b' ')"
    )
    releases = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split()
    assert len(releases) == len(set(releases)) == 2


def test_workers_of_joblib_draw_other_noise(data, fitted):
    X, _, _ = data
    a, b = joblib.Parallel(n_jobs=2)(joblib.delayed(fitted.transform)(X[:3]) for _ in range(2))
    assert are_other_draws(a, b)


# ---- the bound


def test_bound_is_the_one_of_the_definition(data, fitted):
    """Against a computation by hand for one sentence with one possible move at a time."""
    X, y, _ = data
    row = next(i for i, tags in enumerate(y) if tags.count("B-PATIENT") == 1)
    batches = fitted.pair_batches(X[[row]], y[[row]])
    batch = next(batches.epoch(None, torch.Generator().manual_seed(0), sentences="pairs"))
    network = fitted.network_
    with torch.no_grad():
        mu, moved = network.mean(batch.embeddings, batch.mask), network.mean(batch.moved, batch.mask)
        d = float((((mu - moved) / network.output_std()) ** 2).sum().sqrt())
        assert float(pair_distance(mu, moved, network.output_std(), batch.mask)) == pytest.approx(d, rel=1e-5)
    found = fitted.certify(X[[row]], y[[row]], random_state=0)
    assert found.n_pairs == 1 and 0.5 <= found.mean_accuracy.value <= 1.0


@pytest.mark.parametrize(
    "option", [{"quantile": "a"}, {"quantile": 1.5}, {"max_sentences": -1}, {"max_sentences": "a"}, {"n_releases": 0}]
)
def test_options_of_certify_are_checked(data, fitted, option):
    X, y, _ = data
    with pytest.raises(ValueError, match=f"The '{next(iter(option))}' parameter"):
        fitted.certify(X, y, **option)


def test_bound_grows_with_releases_and_holds_on_held_out_patients(data, fitted):
    X, y, _ = data
    assert fitted.bound_.mean_accuracy.value <= 0.56 and fitted.bound_.n_pairs > 0
    once, four = (fitted.certify(X, y, n_releases=r, random_state=0) for r in (1, 4))
    assert (
        four.mean_distance == pytest.approx(2 * once.mean_distance)
        or four.mean_accuracy.value > once.mean_accuracy.value
    )
    assert once.mean_accuracy.value < four.mean_accuracy.value and four.n_releases == 4


def test_no_attack_beats_the_bound_by_more_than_chance(data, fitted):
    """The best test itself, run on releases: right as often as the bound says, and not more often."""
    X, y, _ = data
    batch = next(fitted.pair_batches(X, y, 200).epoch(None, torch.Generator().manual_seed(0), sentences="pairs"))
    network, generator = fitted.network_, torch.Generator().manual_seed(1)
    with torch.no_grad():
        mu, moved = network.mean(batch.embeddings, batch.mask), network.mean(batch.moved, batch.mask)
        std = network.output_std()
        expected = float(torch.special.ndtr(pair_distance(mu, moved, std, batch.mask) / 2).mean())
        hits = []
        for _ in range(400):
            release = mu + std * torch.randn(mu.shape, generator=generator)
            score = [(((release - m) / std) ** 2 * batch.mask.unsqueeze(2)).sum((1, 2)) for m in (mu, moved)]
            hits.append((score[0] < score[1]).float())
    found = float(torch.stack(hits).mean())
    assert found == pytest.approx(expected, abs=4 * np.sqrt(0.25 / (400 * len(mu))))


def test_a_stricter_bound_is_kept(data):
    X, y, groups = data
    strict = PrivateRepresenter(
        **{**TINY, "training": Bounded(max_attack_accuracy=0.51, quantile_attack_accuracy=None)}
    )
    strict.fit(X, y, groups)
    assert strict.bound_.mean_accuracy.value < 0.52


def test_fixed_noise_stays_as_it_was_asked_for(data):
    X, y, groups = data
    fixed = PrivateRepresenter(**{**TINY, "noise": 0.5}).fit(X, y, groups)
    np.testing.assert_array_equal(fixed.network_.output_std().detach().numpy(), 0.5)
    assert fixed.bound_.mean_accuracy.value < 0.56


# ---- documented behaviour at the edges


def test_without_noise_nothing_is_bounded(data):
    X, y, groups = data
    with pytest.raises(ValueError, match="needs noise"):
        PrivateRepresenter(**{**TINY, "noise": None}).fit(X, y, groups)


def test_errors(data, fitted):
    X, y, groups = data
    with pytest.raises(SequenceError, match="y is required"):
        PrivateRepresenter(**TINY).fit(X)
    with pytest.raises(SequenceError, match="reads words. X holds vectors"):
        fitted.transform(fitted.transform(X))
    with pytest.raises(SequenceError, match="at least two patients"):
        PrivateRepresenter(**TINY).fit(X, y, np.zeros(len(X)))
    with pytest.raises(SequenceError, match="No PHI token of X can move"):
        PrivateRepresenter(**TINY).fit(X, [["O"] * len(row) for row in X])
    with pytest.raises(ValueError, match="at most the number of possible surrogates"):
        PrivateRepresenter(**{**TINY, "n_neighbors": 1000}).fit(X, y)
    with pytest.raises(NotFittedError):
        PrivateRepresenter(**TINY).transform(X)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_neighbors", 1), ("n_components", 0), ("noise", "loud"), ("noise", 0.0), ("training", "best")]
    + [("training", Bounded), ("encoder", "gru"), ("validation_fraction", 1.0), ("embeddings", 3)],
)
def test_parameters_are_checked(data, name, value):
    X, y, groups = data
    with pytest.raises((InvalidParameterError, TypeError), match=name):
        PrivateRepresenter(**{**TINY, name: value}).fit(X, y, groups)


def test_a_single_patient_needs_nothing_held_out(data):
    X, y, _ = data
    representer = PrivateRepresenter(**{**TINY, "validation_fraction": None, "max_epochs": 1})
    assert representer.fit(X, y, np.zeros(len(X))).bound_ is None


def test_vectors_of_the_corpus_warn(data):
    X, y, groups = data
    with pytest.warns(UnsafeToShareWarning):
        representer = PrivateRepresenter(**{**TINY, "embeddings": "corpus", "max_epochs": 1}).fit(X, y, groups)
    assert not representer.transform(X).origin.public_embeddings


@pytest.fixture(scope="module")
def randomized(data):
    X, y, _ = data
    return PrivateRepresenter(**TINY, casing="randomized", verbose=-1).fit(X, y)


@pytest.mark.parametrize(
    "changed",
    [{"casing": True}, {"casing__epsilon": 8.0}, {"n_neighbors": 4}, {"encoder": "dense"}, {"unit_norm": False}],
    ids=lambda changed: next(iter(changed)),
)
def test_a_release_is_what_the_card_describes(data, randomized, tmp_path, changed):
    """With casing=True after the fit, the casing was released as it is, while card and origin named it randomised."""
    X, y, _ = data
    representer = pickle.loads(pickle.dumps(randomized)).set_params(**changed)
    calls = [lambda: representer.transform(X), lambda: representer.sample(X, 2), lambda: representer.noise_free(X)]
    calls += [lambda: representer.certify(X, y), representer.worst_case, lambda: representer.save(tmp_path / "r")]
    for call in calls:
        with pytest.raises(ValueError, match="changed after the fit"):
            call()
    assert not (tmp_path / "r").exists()
    # Other parameters, and equal values, change nothing.
    representer.set_params(casing="randomized", n_neighbors=5, encoder="lstm", unit_norm=True, max_epochs=7)
    assert len(representer.transform(X)) == len(X)


def test_tags_that_were_not_seen_are_moved_all_the_same(data, fitted):
    X, y, _ = data
    renamed = [[tag.replace("PATIENT", "DOCTOR") for tag in row] for row in y]
    assert fitted.certify(X, renamed, random_state=0).n_pairs == fitted.certify(X, y, random_state=0).n_pairs


def test_interruption_keeps_the_best_state(data, monkeypatch):
    from sklearn_deid.representations import TrainingLog

    X, y, groups = data
    record = TrainingLog.record

    def stop_after_two(self, phase, **numbers):
        record(self, phase, **numbers)
        if len(self.rows) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(TrainingLog, "record", stop_after_two)
    with pytest.warns(TrainingInterruptedWarning, match="after 2 complete epochs"):
        representer = PrivateRepresenter(**TINY).fit(X, y, groups)
    assert representer.interrupted_ and len(representer.history_) == 2
    assert np.isfinite(representer.transform(X).data).all() and representer.bound_.mean_accuracy.value < 0.56


def test_a_failed_fit_releases_nothing_under_new_settings(data, fitted, monkeypatch):
    X, y, groups = data
    representer = copy.deepcopy(fitted).set_params(n_neighbors=2)

    def broken(self, *args):
        raise MemoryError

    monkeypatch.setattr(PrivateRepresenter, "_fit_networks", broken)
    with pytest.raises(MemoryError):
        representer.fit(X, y, groups)
    with pytest.raises(NotFittedError):
        representer.transform(X)


def test_verbose_prints_a_line_an_epoch(data, capsys):
    X, y, groups = data
    PrivateRepresenter(**{**TINY, "verbose": 1}).fit(X, y, groups)
    assert len([line for line in capsys.readouterr().out.splitlines() if "bounded" in line]) == 3


def test_no_word_of_the_notes_is_in_the_repr_or_the_origin(data, fitted):
    X, _, _ = data
    shown = repr(fitted) + str(fitted.transform(X).origin) + str(fitted.history_) + fitted._repr_html_()
    assert not any(name in shown for name in [*SURNAMES, *TOWNS])


# ---- scikit-learn


def test_clone_and_parameters(fitted):
    copied = clone(fitted)
    assert not hasattr(copied, "network_") and copied.get_params()["n_components"] == 4
    assert copied.set_params(n_neighbors=7).n_neighbors == 7


def test_pipeline_with_memory_frozen_and_set_output(data, tmp_path):
    (X, y, groups), short = data, DeidTagger(**{**SMALL, "max_epochs": 1})
    pipe = Pipeline([("rep", PrivateRepresenter(**TINY)), ("tag", short)], memory=str(tmp_path))
    pipe.fit(X, y, rep__groups=groups)
    again = clone(pipe).fit(X, y, rep__groups=groups)
    assert again.named_steps["rep"].fingerprint_ == pipe.named_steps["rep"].fingerprint_
    frozen = Pipeline([("rep", FrozenEstimator(pipe.named_steps["rep"])), ("tag", short)]).fit(X, y)
    assert len(frozen.predict(X)) == len(X) and 0.0 <= frozen.score(X, y) <= 1.0
    assert pipe.set_output(transform="default") is pipe


def test_grid_over_the_three_parameters(data):
    X, y, groups = data
    small = PrivateRepresenter(**{**TINY, "max_epochs": 1, "validation_fraction": None})
    pipe = Pipeline([("rep", small), ("tag", DeidTagger(**{**SMALL, "max_epochs": 2}))])
    grid = {"rep__n_neighbors": [3, 5], "rep__n_components": [3], "rep__noise": ["trainable", 0.5]}
    search = GridSearchCV(pipe, grid, cv=GroupKFold(2), n_jobs=2).fit(X, y, groups=groups)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all() and len(search.cv_results_["params"]) == 4


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device")
def test_fitted_on_cpu_used_on_cuda_and_back(data, fitted):
    X, _, _ = data
    on_cuda = copy.deepcopy(fitted).set_params(device="cuda")
    np.testing.assert_allclose(on_cuda.noise_free(X).data, fitted.noise_free(X).data, atol=1e-4)
    back = pickle.load(io.BytesIO(pickle.dumps(on_cuda))).set_params(device="cpu")
    assert back.noise_free(X) == fitted.noise_free(X)


# ---- worst case, saving


@pytest.fixture(scope="module")
def dense(data):
    X, y, groups = data
    return PrivateRepresenter(**{**TINY, "encoder": "dense", "digits": "same"}).fit(X, y, groups)


def test_worst_case_is_the_largest_over_all_words_and_their_neighbours(dense):
    found = dense.worst_case()
    nearest = np.argsort(-VECTORS.matrix() @ VECTORS.matrix().T, axis=1)[:, :5]
    network = dense.network_
    with torch.no_grad():
        x = torch.from_numpy(VECTORS.matrix() * np.sqrt(6)).float().unsqueeze(1)
        mu = (network.mean(x, torch.ones(len(x), 1, dtype=torch.bool)) / network.output_std()).squeeze(1)
        largest = max(float((mu[i] - mu[j]).norm()) for i in range(len(x)) for j in nearest[i])
    assert found.gdp_mu == pytest.approx(largest, rel=1e-5) and found.n_words == len(WORDS)
    assert found.n_pairs == 4 * len(WORDS)
    assert dense.worst_case(["alder"]).gdp_mu <= found.gdp_mu


@pytest.mark.parametrize("words", [["Zyxwvutski"], []])
def test_words_without_a_vector_have_no_worst_case(dense, words):
    """The result was an accuracy of one half, as of perfect privacy."""
    with pytest.raises(ValueError, match="None of the words has a vector with neighbours"):
        dense.worst_case(words)


def test_no_pair_of_the_corpus_exceeds_the_worst_case(data, dense):
    X, y, _ = data
    assert dense.certify(X, y, random_state=0).largest_accuracy <= dense.worst_case().accuracy + 1e-6


def test_worst_case_of_an_lstm_is_not_claimed(fitted):
    with pytest.raises(ValueError, match="worst case is known for"):
        fitted.worst_case()


def test_save_and_load(data, fitted, tmp_path):
    X, _, _ = data
    fitted.save(tmp_path / "rep")
    loaded = PrivateRepresenter.load(tmp_path / "rep", embeddings=VECTORS, device="cpu")
    assert loaded.noise_free(X) == fitted.noise_free(X) and loaded.fingerprint_ == fitted.fingerprint_
    assert are_other_draws(loaded.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(loaded.network_.output_std().detach(), fitted.network_.output_std().detach())
    assert loaded.bound_ == PrivacyBound.from_dict(published_numbers(fitted.bound_.to_dict()))
    assert [row.keys() for row in loaded.history_] == [row.keys() for row in fitted.history_]
    assert loaded.history_[0]["mean_accuracy"] == pytest.approx(fitted.history_[0]["mean_accuracy"], abs=5e-4)
    # All digits of two prices were all digits of the mean distance of the held-out pairs in between.
    assert all(
        value == float(f"{value:.3g}") for row in loaded.history_ for value in row.values() if value != row["phase"]
    )
    card = (tmp_path / "rep" / "README.md").read_text()
    assert "Not audited" in card and f"| number of sentences | {len(X)} |" in card
    written = b"".join(path.read_bytes() for path in (tmp_path / "rep").iterdir())
    assert not any(name.encode() in written for name in [*SURNAMES, *TOWNS])


def test_a_representer_is_saved_with_its_card_or_not_at_all(fitted, tmp_path, monkeypatch):
    def full(path, content, **options):
        if path.name == "README.md":
            raise OSError("No space left on device")
        return write_file(path, content, **options)

    monkeypatch.setattr(_storage, "write_file", full)
    with pytest.raises(OSError, match="No space left"):
        fitted.save(tmp_path / "rep")
    assert list(tmp_path.iterdir()) == []


def test_misspelt_labels_are_told(data):
    X, y = data[:2]
    with pytest.warns(UserWarning, match=r"No token has one of these labels: \['PATIENTS'\]"):
        PrivateRepresenter(**{**TINY, "max_epochs": 1, "labels": ["PATIENT", "PATIENTS"]}).fit(X, y)


@pytest.mark.parametrize("settings", [{"noise": 0.5}, {"noise": 0.5, "validation_fraction": None}])
def test_a_training_that_diverged_is_no_representer(data, settings):
    representer = PrivateRepresenter(**{**TINY, "lr": 1e30, **settings})
    with pytest.raises(TrainingDivergedError, match="Lower the 'lr' parameter"):
        representer.fit(*data)
    assert not hasattr(representer, "network_")


def test_what_does_not_belong_together_is_not_loaded(data, fitted, tmp_path):
    X, y, groups = data
    fitted.save(tmp_path / "rep")
    with pytest.raises(BundleError, match="exists"):
        fitted.save(tmp_path / "rep")
    with pytest.raises(BundleError, match="pass them as 'embeddings'"):
        PrivateRepresenter.load(tmp_path / "rep")
    others = WordVectors(WORDS, np.random.default_rng(1).standard_normal((len(WORDS), 6)), is_public=True)
    with pytest.raises(BundleError, match="with other word vectors"):
        PrivateRepresenter.load(tmp_path / "rep", embeddings=others)

    save(DeidTagger(**{**SMALL, "max_epochs": 1}).fit(X, y), tmp_path / "tagger")
    with pytest.raises(BundleError, match="another kind"):
        PrivateRepresenter.load(tmp_path / "tagger")
    private = WordVectors(WORDS, VECTORS.matrix(), is_public=False)
    with pytest.raises(BundleError, match="not public"):
        PrivateRepresenter(**{**TINY, "embeddings": private, "max_epochs": 1}).fit(X, y, groups).save(tmp_path / "no")


@pytest.mark.parametrize("name", ["manifest.json", "arrays.safetensors"])
def test_damaged_files_are_not_loaded(fitted, tmp_path, name):
    fitted.save(tmp_path / "rep")
    path = tmp_path / "rep" / name
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:-9] + b"x" + whole[-8:], b""):
        path.write_bytes(damaged)
        with pytest.raises(BundleError):
            PrivateRepresenter.load(tmp_path / "rep", embeddings=VECTORS)


# ---- the other trainings


@pytest.mark.parametrize(("training", "phases"), [(ThreePart, {"P1", "P2", "P3b", "P3a"}), (DANN, {"P1", "DANN"})])
@pytest.mark.parametrize("adversary", ["paper", "strong"])
@pytest.mark.filterwarnings("ignore::sklearn_deid.exceptions.UnsafeToShareWarning")  # toy data teach no adversary
def test_training_against_an_adversary(data, training, phases, adversary):
    X, y, groups = data
    settings = {"training": training(adversary=adversary, pretrain_epochs=2), "max_epochs": 2}
    first, again = (PrivateRepresenter(**{**TINY, **settings}).fit(X, y, groups) for _ in range(2))
    assert phases <= {row["phase"] for row in first.history_}
    assert first.fingerprint_ == again.fingerprint_ and first.transform(X) == again.transform(X)
    assert 0.0 <= first.control_accuracy_ <= 1.0 and first.bound_.mean_accuracy.value > 0.5
    assert first.adversaries_ is not None


@pytest.mark.filterwarnings("ignore::sklearn_deid.exceptions.UnsafeToShareWarning")
def test_without_noise_there_is_a_representation_but_no_bound(data, tmp_path):
    X, y, groups = data
    settings = {"training": DANN(pretrain_epochs=1), "noise": None, "max_epochs": 1}
    plain = PrivateRepresenter(**{**TINY, **settings}).fit(X, y, groups)
    assert plain.bound_ is None and plain.transform(X).data.tolist() == plain.noise_free(X).data.tolist()
    with pytest.raises(ValueError, match="Without noise"):
        plain.certify(X, y)
    plain.save(tmp_path / "rep")
    loaded = PrivateRepresenter.load(tmp_path / "rep", embeddings=VECTORS, device="cpu")
    assert loaded.noise_free(X) == plain.noise_free(X)
    assert not any("signal_to_noise" in row for row in loaded.history_)


def test_what_was_interrupted_before_anything_was_hidden_is_not_shared(data, monkeypatch, tmp_path):
    from sklearn_deid.representations import TrainingLog

    def stop(self, phase, **numbers):
        raise KeyboardInterrupt

    X, y, groups = data
    monkeypatch.setattr(TrainingLog, "record", stop)
    representer = PrivateRepresenter(**{**TINY, "training": "three_part"})
    with (
        pytest.warns(UnsafeToShareWarning, match="before anything was hidden"),
        pytest.warns(TrainingInterruptedWarning, match="interrupted after 0"),
    ):
        representer.fit(X, y, groups)
    assert representer.interrupted_ and representer.transform(X).origin is None
    with pytest.raises(BundleError, match="before anything was hidden"):
        representer.save(tmp_path / "no")
