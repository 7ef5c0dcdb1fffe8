"""Training together: which inputs can be shared, and what the privacy options promise."""

import math
import pickle
import sys
from functools import partial
from types import ModuleType

import joblib
import numpy as np
import pytest

from sklearn_deid import DeidTagger, DSSGDEnsemble, WordVectors
from sklearn_deid.embeddings import SubwordTable
from sklearn_deid.exceptions import ExchangeError, MissingDependencyError, SequenceError
from sklearn_deid.federated import GaussianUpload, PrivacyEvent, PrivacyLedger, SparseVectorUpload, tagger_learner
from sklearn_deid.federated.privacy_ledger import spent_epsilon
from sklearn_deid.federated.worker_data import WorkerData, common_language, listed_ngram_vectors
from sklearn_deid.sequences import TokenSequences, TokenVectors
from sklearn_deid.surrogates.locale_words import LISTED_KINDS
from sklearn_deid.tagging.listed_vectors import ListedVectors

from ..tagging.conftest import make_sentences
from .small_ensembles import FEW, TINY, ensemble_of, weights

LABELS = ["AGE", "CITY", "PATIENT"]


@pytest.fixture(scope="module")
def data():
    return make_sentences(32)


@pytest.fixture(scope="module")
def trained(data):
    X, y, groups = data
    ensemble = ensemble_of(n_workers=3, keep_exchange=True, validation_fraction=0.3)
    return ensemble.fit(X, y, groups=groups)


class TestInputs:
    def test_auto_is_a_public_table_and_the_same_for_all(self, data):
        X, y, groups = data
        tagger = DeidTagger(**{**TINY, "embeddings": "auto"})
        ensemble = DSSGDEnsemble(tagger, **FEW).fit(X, y, groups=groups)
        tables = [t._vectors for t in [*ensemble.estimators_, ensemble.global_estimator_]]
        assert all(isinstance(table, ListedVectors) and table.is_public for table in tables)
        assert len({table.checksum for table in tables}) == 1
        assert tables[0].vectors_for(["Smith"])[0, -len(LISTED_KINDS) :].any()
        assert tagger.embeddings == "auto"

    def test_lists_of_a_language_that_all_workers_share(self):
        german = TokenSequences.from_rows(["Der Patient wurde am Montag in die Klinik aufgenommen .".split()])
        spanish = TokenSequences.from_rows(["El paciente fue ingresado en el hospital por la fiebre .".split()])
        parts = {name: WorkerData(X, X, None) for name, X in (("de", german), ("es", spanish))}
        assert common_language([parts["de"], parts["de"]]) == "de"
        assert common_language([parts["de"], parts["es"]]) == ""
        vectors = WorkerData(TokenVectors(np.zeros((10, 2), dtype=np.float32), german.offsets), german, None)
        assert common_language([vectors, parts["de"]]) == ""

    def test_no_patient_decides_on_the_lists(self, data, monkeypatch):
        from sklearn_deid.federated import PatientPrivacy, worker_data

        X, y, groups = data
        monkeypatch.setattr(worker_data, "common_language", lambda parts: "es" if parts else "")
        tagger, labels = DeidTagger(**{**TINY, "embeddings": "auto"}), {tag[2:] for row in y for tag in row} - {""}
        for privacy, language in ((None, "es"), (PatientPrivacy(8.0), ""), (SparseVectorUpload(1.0), "")):
            options = {"n_workers": 2, "n_epochs": 1, "privacy": privacy, "labels": sorted(labels)}
            ensemble = DSSGDEnsemble(tagger, random_state=None if privacy else 0, **options)
            fitted = ensemble.fit(X, y, groups=groups).global_estimator_
            assert fitted._vectors.checksum == listed_ngram_vectors(language).checksum

    def test_public_vectors(self, data):
        X, y, groups = data
        public = WordVectors(["pain", "years"], np.eye(2, dtype=np.float32), is_public=True)
        tagger = DeidTagger(**{**TINY, "embeddings": public})
        ensemble = DSSGDEnsemble(tagger, **FEW, n_jobs=2).fit(X, y, groups=groups)
        assert all(t._vectors is t.embeddings and t._vectors.checksum == public.checksum for t in ensemble.estimators_)
        assert len(ensemble.predict(X)) == len(X)

    def test_private_vectors_are_refused(self, data):
        X, y, groups = data
        private = WordVectors(["pain"], [[1.0]])
        for embeddings, message in (
            ("corpus", "embeddings='corpus' trains word vectors on each worker's own notes.*cannot be shared"),
            (private, "not known to be public"),
            (SubwordTable(np.ones((2, 2))), "not known to be public"),
        ):
            with pytest.raises(ValueError, match=message):
                DSSGDEnsemble(DeidTagger(**{**TINY, "embeddings": embeddings})).fit(X, y, groups=groups)

    def test_representations(self):
        rng = np.random.default_rng(0)
        X = TokenVectors.from_rows([rng.normal(size=(n, 4)) for n in rng.integers(1, 6, 80)])
        y = [["B-AGE" if v[0] > 0 else "O" for v in row] for row in X]
        ensemble = ensemble_of(strategy="fedavg", lr=0.03, n_epochs=10).fit(X, y, groups=np.arange(80) // 4)
        assert ensemble.n_features_in_ == 4
        assert ensemble.score(X, y) > 0.8
        other = TokenVectors.from_rows([np.ones((2, 3))])
        parts = [(X, y), (other, [["O", "O"]])]
        with pytest.raises(SequenceError, match="worker 0 has vectors of width 4, but worker 1 has vectors of width 3"):
            ensemble.fit_workers(parts)
        with pytest.raises(SequenceError, match="worker 0 has vectors of width 4, but worker 1 has tokens"):
            ensemble.fit_workers([(X, y), ([["a"]], [["O"]])])
        with pytest.raises(SequenceError, match="the network reads vectors of width 4, but worker 0 has vectors of"):
            ensemble.partial_fit_workers([(other, [["O", "O"]])] * 2)

    def test_labels_are_united(self):
        parts = [([["Elm"]] * 2, [["B-PATIENT"]] * 2), ([["40"]] * 2, [["B-AGE"]] * 2)]
        ensemble = ensemble_of(n_epochs=1).fit_workers(parts)
        assert ensemble.labels_ == ["AGE", "PATIENT"]
        assert ensemble.classes_.tolist() == ["O", "B-AGE", "B-PATIENT", "I-AGE", "I-PATIENT"]
        with pytest.raises(SequenceError, match="1 labels that the workers have not agreed on, such as 'CITY'"):
            ensemble.partial_fit_workers([([["Elm"]], [["B-CITY"]]), ([["40"]], [["B-AGE"]])])
        with pytest.raises(SequenceError, match="Name all labels in the 'labels' parameter"):
            ensemble_of(labels=["AGE"]).fit_workers(parts)
        wide = ensemble_of(n_epochs=1, labels=["AGE", "CITY", "PATIENT"]).fit_workers(parts)
        wide.partial_fit_workers([([["Elm"]], [["B-CITY"]]), ([["40"]], [["B-AGE"]])])

    def test_workers_without_data_are_named(self):
        good = ([["a"]], [["B-AGE"]])
        for parts, message in (
            ([good, ([], [])], "Worker 1: X holds no token"),
            ([good, ([["a", "b"]], [["O"]])], "Worker 1: .*2 tokens, 1 tags"),
            ([], "each needs a pair"),
            ([good, [["a"]]], "each needs a pair"),
        ):
            with pytest.raises(SequenceError, match=message):
                ensemble_of().fit_workers(parts)
        ensemble = ensemble_of(n_epochs=1).fit_workers([good, good])
        with pytest.raises(SequenceError, match="There are 2 workers. Got data of 3"):
            ensemble.partial_fit_workers([good] * 3)
        with pytest.raises(ValueError, match="trained with strategy='dssgd'; call fit"):
            ensemble.set_params(strategy="fedavg").partial_fit_workers([good] * 2)

    @pytest.mark.parametrize(("name", "value"), [("validation_fraction", 0.5), ("patience", 3), ("augmenter", "any")])
    def test_parameters_of_the_tagger_that_make_no_sense_here(self, name, value):
        with pytest.raises(ValueError, match=f"The '{name}' parameter of the estimator must be None"):
            DSSGDEnsemble(DeidTagger(**{name: value})).fit([["a"]], [["O"]], groups=[1])

    @pytest.mark.parametrize("n_jobs", [None, 2])
    def test_divergence_names_the_worker(self, data, n_jobs, monkeypatch):
        # An error ends the processes of joblib, and the next test would have to start others. What a process raises
        # arrives as a pickled copy.
        tasks_here = partial(joblib.Parallel, 2, "sequential", return_as="generator")
        monkeypatch.setattr(tagger_learner, "Parallel", lambda **options: tasks_here())
        X, y, groups = data
        wild = DeidTagger(**{**TINY, "lr": 1e38, "gradient_clip": None, "weight_average": 0.0})
        with pytest.raises(ExchangeError, match="Worker worker-0: .*not finite.*learning rate") as caught:
            DSSGDEnsemble(wild, **{**FEW, "n_workers": 4}, n_jobs=n_jobs).fit(X, y, groups=groups)
        assert repr(pickle.loads(pickle.dumps(caught.value))) == repr(caught.value)


class TestPrivacy:
    def test_sparse_vectors_report_their_exact_epsilon(self, data):
        X, y, groups = data
        noisy = ensemble_of(privacy=SparseVectorUpload(epsilon=0.9), labels=LABELS, upload_fraction=0.01, clip=0.001)
        assert noisy.fit(X, y, groups=groups).epsilon_ == pytest.approx([2 * 0.5, 2 * 0.5])  # 5/9 of 0.9, two epochs
        assert noisy.partial_fit(X, y, groups=groups).epsilon_ == pytest.approx([1.5, 1.5])

    def test_a_round_beyond_the_largest_epsilon_is_refused_before_training(self, data):
        """Each upload has an epsilon of 40, so that two of them are allowed and three are not."""
        X, y, groups = data
        noise = {"privacy": SparseVectorUpload(72.0), "labels": LABELS, "upload_fraction": 0.01, "clip": 0.001}
        noisy = ensemble_of(**noise, n_epochs=2)
        twin = ensemble_of(**noise, n_epochs=2)
        for one in (noisy, twin):
            one.fit(X, y, groups=groups)
        with pytest.raises(ValueError, match="epsilon 120 at delta 1e-05 for the 2 sent and 1 planned uploads"):
            noisy.partial_fit(X, y, groups=groups)
        assert (len(noisy.history_), noisy.epsilon_.tolist()) == (4, pytest.approx([80.0, 80.0]))
        for one in (noisy, twin):
            one.set_params(privacy=SparseVectorUpload(36.0)).partial_fit(X, y, groups=groups)
        assert (weights(noisy.global_estimator_) == weights(twin.global_estimator_)).all()
        assert noisy.epsilon_ == pytest.approx([100.0, 100.0])
        with pytest.raises(ValueError, match="epsilon 100.556"):
            noisy.set_params(privacy=SparseVectorUpload(1.0)).partial_fit(X, y, groups=groups)

    def test_the_largest_epsilon_holds_at_the_delta_of_the_ensemble(self, data):
        X, y, groups = data
        noise = {"privacy": GaussianUpload(1.0, 0.1), "labels": LABELS, "threshold": 0.0, "n_epochs": 15}
        with pytest.raises(ValueError, match="epsilon 147.5.* at delta 1e-50"):
            ensemble_of(**noise, delta=1e-50).fit(X, y, groups=groups)
        started = ensemble_of(**{**noise, "n_epochs": 1}).fit(X, y, groups=groups)
        with pytest.raises(ValueError, match="at delta 1e-300 for the 1 sent and 1 planned uploads"):
            started.set_params(delta=1e-300).partial_fit(X, y, groups=groups)

    def test_settings_between_two_rounds_are_refused_before_training(self, data):
        X, y, groups = data
        noise = {"privacy": SparseVectorUpload(1.0), "labels": LABELS, "upload_fraction": 0.01, "clip": 0.001}
        for change, message in (({"error_feedback": True}, "error_feedback"), ({"clip": math.inf}, "a finite clip")):
            noisy = ensemble_of(**noise, n_epochs=1).fit(X, y, groups=groups)
            with pytest.raises(ValueError, match=message):
                noisy.set_params(**change).partial_fit(X, y, groups=groups)
            assert noisy._training.workers[0].n_epochs == 1

    def test_gaussian_noise_is_accounted_by_the_library(self, data, monkeypatch):
        """With a stand-in that writes down what it is told."""
        told = []

        class Accountant:
            def compose(self, event, count):
                told.append((event, count))

            def get_epsilon(self, delta):
                return 100 * delta

        package, accounting = ModuleType("dp_accounting"), ModuleType("dp_accounting.rdp")
        package.GaussianDpEvent, accounting.RdpAccountant = float, Accountant
        monkeypatch.setitem(sys.modules, "dp_accounting", package)
        monkeypatch.setitem(sys.modules, "dp_accounting.rdp", accounting)
        X, y, groups = data
        private = ensemble_of(privacy=GaussianUpload(3.0, 0.1), labels=LABELS, threshold=0.0, delta=0.01)
        private.fit(X, y, groups=groups)
        assert private.epsilon_.tolist() == [1.0, 1.0]
        assert told == [(1.5, 2)] * 2  # half the multiplier: data are replaced, not left out

    def test_the_accountant(self):
        pytest.importorskip("dp_accounting", reason="the extra 'privacy' is not installed")
        ledger = PrivacyLedger()
        ledger.add(PrivacyEvent("gaussian", noise_multiplier=8.0), 4)
        ledger.add(PrivacyEvent("sparse-vector", epsilon=0.25))
        # Four of multiplier 8, halved, are one of multiplier 2, whose exact curve is known (Balle & Wang 2018).
        exact = gaussian_epsilon(2.0, 1e-5)
        assert exact < spent_epsilon(ledger, 1e-5) - 0.25 < 1.15 * exact

    def test_missing_library_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "dp_accounting", None)
        ledger = PrivacyLedger()
        assert spent_epsilon(ledger, 1e-5) == 0.0
        ledger.add(PrivacyEvent("gaussian", noise_multiplier=1.0))
        with pytest.raises(MissingDependencyError, match=r"sklearn-deid\[privacy\]"):
            spent_epsilon(ledger, 1e-5)

    def test_settings_that_do_not_protect_are_refused(self, data, trained):
        X, y, groups = data
        with pytest.raises(ValueError, match="threshold=0.0 and selection='random'"):
            ensemble_of(privacy=GaussianUpload(1.0, 1.0), labels=LABELS).fit(X, y, groups=groups)
        with pytest.raises(ValueError, match="Randomised uploads belong to strategy='dssgd'"):
            ensemble_of(privacy=SparseVectorUpload(1.0), strategy="fedavg").fit(X, y, groups=groups)
        # A label that occurs in one note changed the network, and epsilon_ did not cover the change.
        for noise in ({"privacy": GaussianUpload(1.0, 1.0), "threshold": 0.0}, {"privacy": SparseVectorUpload(1.0)}):
            with pytest.raises(ValueError, match="'labels' parameter of DSSGDEnsemble must be set"):
                ensemble_of(**noise).fit(X, y, groups=groups)
        with pytest.raises(AttributeError, match="only if 'privacy' is set"):
            _ = trained.epsilon_


def gaussian_epsilon(multiplier, delta):
    """Smallest epsilon of one Gaussian mechanism, by bisection of the analytic curve."""
    from scipy.stats import norm

    def delta_of(eps):
        a, b = 0.5 / multiplier, eps * multiplier
        return norm.cdf(a - b) - math.exp(eps) * norm.cdf(-a - b)

    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle) > delta else (low, middle)
    return high
