"""Training across sites: the settings of a federation, sessions of the exchange, and files for NVIDIA FLARE.

The modules ``flare_*`` need NVIDIA FLARE, which loads them by name. `flare_kits` and all other modules run without
FLARE.
"""

from .exchange_service import ExchangeService, SessionRules
from .federation_config import FederationConfig
from .flare_kits import STATE_FOLDER, harden_server, harden_site, server_checkpoint, write_federation, write_session
from .json_file import read_settings, write_settings
from .site_settings import SiteSettings
from .site_training import SiteTraining, read_site_corpus
from .wire import pack, unpack

__all__ = [
    "FederationConfig",
    "ExchangeService",
    "STATE_FOLDER",
    "SiteSettings",
    "SiteTraining",
    "SessionRules",
    "harden_server",
    "harden_site",
    "pack",
    "read_settings",
    "read_site_corpus",
    "server_checkpoint",
    "unpack",
    "write_federation",
    "write_settings",
    "write_session",
]
