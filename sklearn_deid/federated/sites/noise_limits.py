"""Comparison of the noise of a site with the limits of the server, before the first session."""

from __future__ import annotations

import numpy as np

from ...exceptions import ExchangeError
from ..sparse import SparseUpdate
from .federation_config import FederationConfig
from .site_settings import SiteSettings


def check_noise(agreement: FederationConfig, settings: SiteSettings) -> None:
    """Refuse noise that is so large that the server would refuse the updates.

    Raises
    ------
    ExchangeError
        If the server would refuse an update of noise alone. The site would spend its epsilon, and no update would
        become a part of the common network.
    """
    privacy = settings.privacy()
    if privacy is None:
        return
    server = agreement.new_server()
    # Nothing is sent, and no value depends on notes: a constant generator makes the result reproducible.
    worker = settings.worker_settings()
    options = (worker.upload_fraction, worker.threshold, worker.sent_clip, np.random.default_rng(0))
    chosen = privacy.select(np.zeros(server.size, np.float32), *options)[0]
    try:
        update = SparseUpdate(chosen.indices, chosen.values, server.size, server.model)
        server.check(update.to_bytes(worker.upload_dtype), "site", 0)
    except ExchangeError as error:
        raise ExchangeError(
            f"The server would refuse updates with this noise: {error.message} With the same epsilon, a smaller --clip "
            "(--epsilon) or --norm-bound (--noise-multiplier) lowers the noise."
        ) from None
