"""Training across sites: what they agree on, sessions of the exchange, and the files that NVIDIA FLARE runs by.

The files ``flare_*`` but ``flare_kits`` need NVIDIA FLARE; it loads them by name. Everything else runs without it.
"""

from __future__ import annotations

from ..._lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "exchange_service": "ExchangeService SessionRules",
        "federation_config": "FederationConfig",
        "flare_kits": "STATE_FOLDER harden_server harden_site server_checkpoint write_federation write_session",
        "json_file": "read_settings write_settings",
        "site_settings": "SiteSettings",
        "site_training": "SiteTraining read_site_corpus",
        "wire": "pack unpack",
    },
)
