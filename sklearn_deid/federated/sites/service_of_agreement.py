"""Choice of the service that an agreement requires."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..server import ParameterServer
from .exchange_service import ExchangeService, SessionRules
from .federation_config import FederationConfig
from .masked_exchange import MaskedExchangeService
from .robust_exchange import RobustExchangeService


def make_service(
    server: ParameterServer,
    agreement: FederationConfig,
    rules: SessionRules,
    record: Callable[[dict[str, Any]], None],
    **clock: Callable[[], float],
) -> ExchangeService:
    """Create the server side of a session. The parameters are the same as in `MaskedExchangeService`.

    The server receives the step of the agreement, which `exclude_site` changes. Its other limits stay.
    """
    server.limits = replace(server.limits, step=agreement.limits().step)
    if agreement.mask_keys:
        return MaskedExchangeService(server, agreement, rules, record, **clock)
    server.forget_norms(agreement.sites)
    if agreement.has_rounds:
        return RobustExchangeService(server, agreement, rules, record, **clock)
    return ExchangeService(server, agreement.sites, rules, record, **clock)
