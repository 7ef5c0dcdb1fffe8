"""Noise of a site beside the limits of the server, before a session."""

from __future__ import annotations

import pytest

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated.sites import FederationConfig, SiteSettings
from sklearn_deid.federated.sites.noise_limits import check_noise

AGREEMENT = FederationConfig("lab", ["site-1"], ["DATE", "PATIENT"], {"hidden_size": 4, "embeddings": None}, n_epochs=2)


def settings(**noise):
    return SiteSettings("/notes", "/state", 5, **noise)


def test_a_site_without_noise_or_with_little_noise_passes():
    check_noise(AGREEMENT, settings())
    check_noise(AGREEMENT, settings(clip=0.001, epsilon=50.0))


def test_noise_that_the_server_would_refuse_is_refused_with_the_way_out():
    with pytest.raises(ExchangeError, match=r"The server would refuse updates with this noise: .* a smaller --clip"):
        check_noise(AGREEMENT, settings(clip=1000.0, epsilon=1.0))
