"""Workers that train on CUDA."""

import numpy as np
import pytest
import torch

from sklearn_deid.federated import PatientPrivacy

from ..tagging.conftest import make_sentences
from .small_ensembles import TINY, ensemble_of

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device"),
]


@pytest.mark.parametrize("strategy", ["fedavg", "dssgd"])
def test_workers_learn_and_their_network_tags_on_the_cpu(strategy):
    X, y, groups = make_sentences(40)
    ensemble = ensemble_of(strategy=strategy, n_epochs=4)
    ensemble.estimator.set_params(device="cuda")
    tagger = ensemble.fit(X, y, groups=groups).global_estimator_
    assert next(tagger.module_.parameters()).is_cuda
    losses = ensemble.history_.column("train_loss")
    assert np.mean(losses[-2:]) < np.mean(losses[:2])  # of both workers
    found = tagger.predict_proba(X)
    tagger.set_params(device="cpu").module_.cpu()
    for a, b in zip(found, tagger.predict_proba(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4, rtol=1e-3)  # as tests/tagging/test_cuda.py


def test_gradients_of_patients_are_bounded_on_cuda():
    X, y, groups = make_sentences(30)
    private = ensemble_of(strategy="fedavg", privacy=PatientPrivacy(8.0), labels=["AGE", "CITY", "PATIENT"], n_epochs=1)
    private.estimator.set_params(**{**TINY, "device": "cuda"})
    tagger = private.fit(X, y, groups=groups).global_estimator_
    assert next(tagger.module_.parameters()).is_cuda
    assert all(torch.isfinite(p).all() for p in tagger.module_.parameters())
