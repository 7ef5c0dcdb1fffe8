"""Executor of NVIDIA FLARE for one session at a site. Jobs may name no other class."""

from __future__ import annotations

import atexit
import gc
import threading
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from nvflare.apis.executor import Executor
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.shareable import Shareable, make_reply
from nvflare.fuel.f3.cellnet.defs import MessageHeaderKey
from nvflare.fuel.f3.cellnet.defs import ReturnCode as CellReturnCode
from nvflare.fuel.f3.cellnet.fqcn import FQCN
from nvflare.fuel.f3.message import Message

from ..._lazy import quick_imports
from ...exceptions import DeidError, ExchangeError
from .federation_config import FederationConfig
from .flare_kits import AGREEMENT_FILE, SITE_FILE
from .flare_peer import CHANNEL, TOPIC
from .json_file import read_settings
from .site_settings import SiteSettings
from .site_training import SiteTraining
from .wire import pack, unpack

_ANSWER_TIMEOUT, _GIVE_UP_AFTER = 30.0, 300.0
_PING_EVERY, _PING_TIMEOUT = 10.0, 5.0


class SiteExecutor(Executor):
    """Executor that reads the site's own settings, trains, and calls the server. A job cannot pass arguments."""

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: Any, abort_signal: Any) -> Shareable:
        """Train until the session ends. Errors are logged without text of notes."""
        engine = fl_ctx.get_engine()
        local = Path(engine.get_workspace().get_site_config_dir())
        line = _Line(engine.get_cell(), fl_ctx.get_job_id(), abort_signal)
        quiet = threading.Event()
        # The interpreter would search all modules for garbage when it ends: about a second.
        atexit.register(gc.freeze)
        try:
            settings = read_settings(SiteSettings, local / SITE_FILE)
            agreement = read_settings(FederationConfig, local / AGREEMENT_FILE)
            # A daemon thread does not keep the process alive after the session.
            threading.Thread(target=_show_life, args=(line, quiet), daemon=True).start()
            with _OnlyKindAndPlace():
                _use_threads(settings.threads)
                training = SiteTraining(agreement, settings, fl_ctx.get_identity_name())

                def stopped() -> bool:
                    return bool(abort_signal.triggered)

                n_trained = training.run_session(line.ask, stopped, lambda text: self.log_info(fl_ctx, text))
            self.log_info(fl_ctx, f"trained {n_trained} epochs in this session, {training.n_left} are left")
            return make_reply(ReturnCode.OK)
        except (DeidError, OSError) as error:
            # Errors of this library hold no text of notes. Errors of the system hold names of files only.
            self.log_error(fl_ctx, f"{type(error).__name__}: {error}", fire_event=False)
            return make_reply(ReturnCode.EXECUTION_EXCEPTION)
        finally:
            quiet.set()


class _OnlyKindAndPlace:
    """Replace an error of another library by its type and line: the original message could quote a note."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(error, Exception) or isinstance(error, (DeidError, OSError)):
            return
        last = traceback.extract_tb(trace)[-1]
        raise DeidError(f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}.") from None


class _Line:
    """Connection to the server's process of this job."""

    def __init__(self, cell: Any, job_id: str, abort_signal: Any) -> None:
        self._cell, self._abort = cell, abort_signal
        self._target = FQCN.join([FQCN.ROOT_SERVER, job_id])

    def ask(self, fields: Mapping[str, Any], body: bytes = b"") -> tuple[dict[str, Any], bytes]:
        """Repeat the request until there is an answer. The server applies no upload twice."""
        begin = time.monotonic()
        while time.monotonic() - begin < _GIVE_UP_AFTER and not self._abort.triggered:
            reply = self.ask_once(fields, body)
            # A missing answer may be a restart of the server, so that the request is repeated.
            if reply is not None:
                return reply
            time.sleep(1.0)
        raise ExchangeError("The server does not answer. The training is saved; the next session sends its update.")

    def ask_once(
        self, fields: Mapping[str, Any], body: bytes = b"", timeout: float = _ANSWER_TIMEOUT
    ) -> tuple[dict[str, Any], bytes] | None:
        """Send the request once. Returns None if there is no answer."""
        reply = self._cell.send_request(
            channel=CHANNEL,
            topic=TOPIC,
            target=self._target,
            request=Message(payload=pack(fields, body)),
            timeout=timeout,
            optional=True,
        )
        code = reply.get_header(MessageHeaderKey.RETURN_CODE, CellReturnCode.OK)
        return unpack(reply.payload) if code == CellReturnCode.OK else None


def _show_life(line: _Line, quiet: threading.Event) -> None:
    """Send a request to the server at regular intervals, also during long epochs."""
    while not quiet.wait(_PING_EVERY):
        line.ask_once({"ask": "ping"}, timeout=_PING_TIMEOUT)


def _use_threads(n: int) -> None:
    with quick_imports():
        import torch

    torch.set_num_threads(max(n, 1))
