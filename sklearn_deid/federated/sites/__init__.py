"""Training across sites: the settings of a federation, sessions of the exchange, and files for NVIDIA FLARE.

The modules ``flare_*`` need NVIDIA FLARE, which loads them by name. ``flare_kits`` and all other modules run without
FLARE.
"""

from __future__ import annotations

from ..._lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "checkpoints": "exclude_site keep_checkpoint keep_round list_checkpoints roll_back site_events",
        "exchange_service": "ExchangeService SessionRules",
        "federation_config": "FederationConfig",
        "flare_kits": "MASK_KEY SITE_FILE STATE_FOLDER harden_server harden_site mask_key_path server_checkpoint "
        "write_federation write_session",
        "mask_key": "MaskKey make_mask_key read_mask_key",
        "masked_exchange": "MaskedExchangeService",
        "masked_site": "MaskedSite check_masks",
        "json_file": "read_settings write_settings",
        "recorded_exchange": "EXCHANGE recorded_ensemble",
        "robust_exchange": "RobustExchangeService",
        "robust_site": "RobustSite check_robust",
        "service_of_agreement": "make_service",
        "site_settings": "SiteSettings",
        "site_training": "SiteTraining check_held_out check_ledger check_parts check_patient_privacy promise_of "
        "read_site_corpus",
        "wire": "pack unpack",
    },
)
