"""Requests of a site to the server: refusals, and questions that are repeated until the server answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ...exceptions import ExchangeError

Ask = Callable[..., tuple[Mapping[str, Any], bytes]]


def granted(reply: tuple[Mapping[str, Any], bytes]) -> tuple[Mapping[str, Any], bytes]:
    """Return a reply that is no refusal.

    Raises
    ------
    ExchangeError
        If the server refuses the request.
    """
    if reply[0].get("status") not in ("ok", "closed"):
        raise ExchangeError(f"The server refuses: {reply[0].get('reason')}")
    return reply


def wait_for(ask: Ask, fields: Mapping[str, Any], wanted: str, stopped: Callable[[], bool], pause: float) -> Any:
    """Repeat a question until a field of the reply has a value. None if the session ends before."""
    while not stopped():
        reply = granted(ask(fields))[0]
        if reply.get(wanted) is not None or reply["status"] == "closed":
            return reply.get(wanted)
        time.sleep(pause)
    return None
