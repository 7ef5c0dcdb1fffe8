"""The proximal term of FedProx: its gradient, and that workers stay nearer to the common network."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sklearn_deid import DeidTagger, DSSGDEnsemble
from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import FederatedAveraging, PatientPrivacy
from sklearn_deid.federated.proximal_term import ProximalTerm
from sklearn_deid.federated.sites import FederationConfig

from ..tagging.conftest import make_sentences
from .small_ensembles import TINY, parts_of, weights


def test_the_gradient_is_that_of_the_added_loss():
    torch.manual_seed(0)
    module, x = torch.nn.Linear(3, 2), torch.randn(5, 3)
    net, term = SimpleNamespace(module_=module), ProximalTerm(0.7)
    term.on_epoch_begin(net)
    start = [p.detach().clone() for p in module.parameters()]
    with torch.no_grad():
        for p in module.parameters():
            p.add_(torch.randn_like(p))
    added = sum(((p - s) ** 2).sum() for p, s in zip(module.parameters(), start, strict=True))
    wanted = torch.autograd.grad(module(x).pow(2).sum() + 0.35 * added, list(module.parameters()))
    module(x).pow(2).sum().backward()
    term.on_grad_computed(net, module.named_parameters(), training=False)  # held-out sentences
    term.on_grad_computed(net, module.named_parameters(), training=True)
    for p, gradient in zip(module.parameters(), wanted, strict=True):
        torch.testing.assert_close(p.grad, gradient)


def _update_norms(proximal, parts):
    strategy = FederatedAveraging(proximal=proximal)
    ensemble = DSSGDEnsemble(DeidTagger(**TINY), strategy=strategy, n_epochs=2, random_state=0, keep_exchange=True)
    ensemble.fit_workers(parts)
    norms = [np.linalg.norm(message.decode().dense()) for message in ensemble.exchange_.uploads()]
    return ensemble, np.mean(norms)


def test_workers_stay_nearer_the_larger_the_weight():
    parts = parts_of(make_sentences(48), 3)
    plain = DSSGDEnsemble(DeidTagger(**TINY), n_epochs=2, random_state=0).fit_workers(parts)
    without, norm = _update_norms(0.0, parts)
    np.testing.assert_array_equal(weights(without.global_estimator_), weights(plain.global_estimator_))
    norms = [norm, *(_update_norms(weight, parts)[1] for weight in (1.0, 100.0))]
    assert norms[0] > norms[1] > norms[2]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        *((value, "'proximal' must be a number of at least 0") for value in (-1.0, float("inf"), 1e308)),
        *((value, r"'proximal' must be a number\.") for value in (float("nan"), True, None, "much")),
    ],
)
def test_a_federation_refuses_other_weights(wrong, message):
    with pytest.raises(ExchangeError, match=message):
        FederationConfig("lab", ["a", "b"], ["PATIENT"], proximal=wrong)


@pytest.mark.parametrize("wrong", [-1.0, float("inf"), float("nan"), 1e308, None])
def test_an_ensemble_refuses_other_weights_before_it_trains(wrong):
    parts = parts_of(make_sentences(48), 3)
    with pytest.raises(ValueError, match="'proximal' parameter of FederatedAveraging must be"):
        DSSGDEnsemble(DeidTagger(**TINY), strategy=FederatedAveraging(proximal=wrong), n_epochs=1).fit_workers(parts)


def test_privacy_for_each_patient_refuses_the_term():
    parts = parts_of(make_sentences(48), 3)
    labels = DSSGDEnsemble(DeidTagger(**TINY), n_epochs=1, random_state=0).fit_workers(parts).labels_
    strategy, privacy = FederatedAveraging(proximal=0.1), PatientPrivacy(8.0)
    ensemble = DSSGDEnsemble(DeidTagger(**TINY), strategy=strategy, privacy=privacy, n_epochs=1, labels=labels)
    with pytest.raises(ValueError, match="'proximal' parameter must be 0 with differential privacy"):
        ensemble.fit_workers(parts)
