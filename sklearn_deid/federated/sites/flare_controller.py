"""One session of the exchange at the server, as a controller of NVIDIA FLARE."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from nvflare.apis.controller_spec import Task
from nvflare.apis.impl.controller import Controller
from nvflare.apis.shareable import Shareable
from nvflare.fuel.f3.cellnet.utils import new_cell_message

from ..record import ExchangeRecord
from ..server import ParameterServer
from .checkpoints import keep_checkpoint, keep_round
from .event_file import EventFile
from .exchange_service import SessionRules
from .federation_config import FederationConfig
from .flare_kits import AGREEMENT_FILE, CHECKPOINT
from .flare_peer import CHANNEL, TOPIC, PeerNames
from .json_file import read_settings
from .recorded_exchange import EXCHANGE
from .service_of_agreement import make_service
from .state_lock import StateLock

_TASK = "sklearn_deid_session"
# Seconds for the process of the last session to end.
_PATIENCE = 60.0


class SessionController(Controller):
    """Controller that continues from the checkpoint of the last session, and writes the checkpoint with every upload.

    Parameters
    ----------
    n_epochs, first_contact, silence, grace, longest
        Parameters of `SessionRules`.
    """

    def __init__(self, **rules: Any) -> None:
        super().__init__()
        self.rules = SessionRules(**rules)

    def start_controller(self, fl_ctx: Any) -> None:
        """Load the checkpoint and listen for requests."""
        engine = fl_ctx.get_engine()
        workspace = engine.get_workspace()
        root = Path(workspace.get_root_dir())
        agreement = read_settings(FederationConfig, Path(workspace.get_site_config_dir()) / AGREEMENT_FILE)
        # Until this process ends: of two sessions at the same time, the checkpoint of one would replace that of the
        # other, and the updates of a whole session would be lost.
        self._lock = StateLock((root / CHECKPOINT).parent, patience=_PATIENCE)
        keep_checkpoint(root / CHECKPOINT)
        server = ParameterServer.load(root / CHECKPOINT, keep=True)
        # The log is beside the checkpoint and not in the folder of the job, so that all sessions continue one file.
        self._events = EventFile((root / CHECKPOINT).with_name("events.jsonl"), str(fl_ctx.get_job_id()))
        self.service = make_service(server, agreement, self.rules, self._events)
        self.service.after_round = lambda: keep_round(root / CHECKPOINT)
        self._exchange = root / EXCHANGE if agreement.keep_exchange else None
        if self._exchange is not None:
            self.service.exchange = ExchangeRecord.load(self._exchange) if self._exchange.exists() else ExchangeRecord()
        self._peers = PeerNames(Path(workspace.get_startup_kit_dir()) / "server.crt")
        self._events({"event": "start", "version": server.version, "n_refused": server.n_refused})
        engine.get_cell().register_request_cb(channel=CHANNEL, topic=TOPIC, cb=self._answer)

    def _answer(self, request: Any) -> Any:
        return new_cell_message({}, self.service.answer(self._peers.name_of(request), request.payload))

    def control_flow(self, abort_signal: Any, fl_ctx: Any) -> None:
        """Start the sites, and wait until the session is over."""
        task = Task(name=_TASK, data=Shareable(), timeout=0)
        # No site is waited for here: the service itself decides when the session is over.
        self.broadcast(task=task, fl_ctx=fl_ctx, min_responses=0, wait_time_after_min_received=0)
        while not abort_signal.triggered and not self.service.is_over():
            time.sleep(0.2)
        self.service.close()
        if self._exchange is not None and self.service.exchange is not None:
            self.service.exchange.save(self._exchange)
        self.cancel_all_tasks(fl_ctx=fl_ctx)

    def stop_controller(self, fl_ctx: Any) -> None:
        """Do nothing: every upload is already on the disk."""

    def process_result_of_unknown_task(self, *args: Any, **kwargs: Any) -> None:
        """Handle the result of a site that ends after the session. The uploads of this site have been applied."""
