"""Exchange that the server of a federation records for an audit, if the agreement permits a record."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...exceptions import ExchangeError
from ..record import ExchangeRecord
from ..server import ParameterServer
from .flare_kits import CHECKPOINT, server_checkpoint

EXCHANGE = CHECKPOINT.with_name("exchange.state")


def recorded_ensemble(kit: str | os.PathLike[str]) -> Any:
    """Create a `DSSGDEnsemble` with the recorded ``exchange_`` and the network of a server, for an audit.

    Parameters
    ----------
    kit : path
        Startup kit of the server. The agreement of the federation must have ``keep_exchange``.

    Returns
    -------
    DSSGDEnsemble
        Ensemble to pass to `AdversarialPrivacyAuditor.audit`, with the names of the sites as groups.

    Raises
    ------
    ExchangeError
        If nothing was recorded.
    """
    from ..dssgd_ensemble import DSSGDEnsemble

    agreement, checkpoint = server_checkpoint(kit)
    path = Path(kit) / EXCHANGE
    if not path.exists():
        raise ExchangeError("The server has recorded nothing: plan the federation with --keep-exchange.", path=str(kit))
    server = ParameterServer.load(checkpoint)
    tagger = agreement.tagger_with(server.parameters, server.model)
    ensemble = DSSGDEnsemble(tagger, n_workers=len(agreement.sites), keep_exchange=True)
    ensemble.exchange_, ensemble.estimators_ = ExchangeRecord.load(path), [tagger]
    ensemble.classes_, ensemble.global_estimator_ = tagger.classes_, tagger
    return ensemble
