"""Requests of a site to the server: refusals, and requests that are repeated until the server answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ...exceptions import ExchangeError

Ask = Callable[..., tuple[Mapping[str, Any], bytes]]
# Of a reply that is not a refusal.
ANSWERED = ("ok", "closed")
# Characters of a reason of the server that goes to the log of the site.
_LONGEST_REASON = 300


def granted(reply: tuple[Mapping[str, Any], bytes]) -> tuple[Mapping[str, Any], bytes]:
    """Return a reply that is not a refusal.

    Raises
    ------
    ExchangeError
        If the server refuses the request.
    """
    if reply[0].get("status") not in ANSWERED:
        # A hostile server could otherwise write lines of its own into the log of the site.
        reason = str(reply[0].get("reason"))[:_LONGEST_REASON]
        raise ExchangeError(f"The server refuses: {''.join(c if c.isprintable() else '?' for c in reason)}")
    return reply


def known_result(told: Any, known: Collection[str]) -> str | None:
    """Return the result of a round that the server reports. None if the round has not ended.

    Raises
    ------
    ExchangeError
        If the result is not one of the known words. The result is written to ``officer.log``: a hostile server could
        otherwise write sentences about epsilon into this file.
    """
    if told is not None and told not in known:
        raise ExchangeError("The server reports an unknown result of the round.")
    return told


def wait_for(ask: Ask, fields: Mapping[str, Any], wanted: str, stopped: Callable[[], bool], pause: float) -> Any:
    """Repeat a request until a field of the reply has a value. None if the session ends first."""
    while not stopped():
        reply = granted(ask(fields))[0]
        if reply.get(wanted) is not None or reply["status"] == "closed":
            return reply.get(wanted)
        time.sleep(pause)
    return None
