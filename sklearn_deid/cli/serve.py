"""``sklearn-deid serve``: redact texts for other programs over HTTP."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._optional import import_optional
from .._storage import bundle_digest
from ..exceptions import DeidError
from .failures import DONE, FATAL
from .options import add_machine_options, add_number, count, model_folder, port, set_machine, settings_of

if TYPE_CHECKING:
    from ..integrations.service.worker import ServiceSettings

SUMMARY = "redact texts for other programs"
DESCRIPTION = """\
Redact texts for other programs, over HTTP and in the forms of Presidio's analyzer and anonymizer.

The service listens on this computer only. For other computers, --token-file is needed, and a proxy that
encrypts the connection: the service itself speaks HTTP without encryption.

A request that fails gets an error without text. Logs and metrics hold request ids, paths, codes and times,
and no text. SIGTERM and Ctrl-C end the service after the accepted requests."""

EPILOG = """\
example: start the service, and redact a note
  sklearn-deid serve --model my-model
  curl -d '{"text": "Seen by Dr. Alder."}' -H 'Content-Type: application/json' http://127.0.0.1:8000/redact

exit codes: 0 ended by a signal, 2 failed"""

_SECONDS_TO_ANSWER = 120


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "--model", required=True, metavar="MODEL", help="model folder that 'train' has written, or starter-en"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this computer only)"
    )
    where.add_argument("--socket", metavar="PATH", help="listen on a Unix socket that only its owner can open")
    add_number(parser, "--port", port, "port (default: 8000)", default=8000)
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="file with a secret of at least 16 characters, which requests send in 'Authorization: Bearer SECRET'",
    )
    add_number(parser, "--max-bytes", count, "largest request (default: 1000000)", default=1_000_000)
    add_number(parser, "--rate", count, "requests of a client in a minute (default: no limit)")
    parser.add_argument(
        "--trust-proxy",
        action="append",
        metavar="ADDRESS",
        help="with --rate: IP address of a proxy whose header X-Forwarded-For names the client; may be repeated. "
        "Without this option, the address of the connection is the client, because any client can write the header",
    )
    parser.add_argument(
        "--timeout", type=count, default=60, metavar="S", help="seconds until a request is given up (default: 60)"
    )
    add_number(
        parser,
        "--workers",
        count,
        "processes that share the requests. Each holds the model and uses --threads cores (default: 1)",
        default=1,
    )
    add_machine_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve until the process receives a signal."""
    uvicorn = import_optional("uvicorn", extra="serve", purpose="the service")
    from ..integrations.service.worker import log_to_standard_error, read_token

    _check(arguments)
    if arguments.token_file is not None:
        read_token(arguments.token_file)
    settings, quiet = _settings(arguments), _connections(arguments)
    listener = _listener(arguments)
    own = _identity(arguments.socket)
    try:
        set_machine(arguments)
        # Several workers load the model themselves. Here the model is loaded to refuse a damaged model before they
        # start.
        app = settings.make()
        print(f"sklearn-deid: the service listens on {_address(arguments)}.", file=sys.stderr)
        with suppress(KeyboardInterrupt):  # the server has ended, and repeats the signal that ended it
            if arguments.workers > 1:
                del app
                return _run_workers(uvicorn, settings, listener, quiet)
            log_to_standard_error()
            uvicorn.Server(uvicorn.Config(app, **quiet)).run(sockets=[listener])
    finally:
        listener.close()
        # While this service answered its last requests, the next service may have taken the name.
        if own is not None and _identity(arguments.socket) == own:
            Path(arguments.socket).unlink()
    return DONE


def _settings(arguments: argparse.Namespace) -> ServiceSettings:
    """Settings that all processes of the service share."""
    from ..integrations.service.worker import ServiceSettings

    model = str(model_folder(arguments.model))
    is_local = arguments.socket is None and _is_loopback(arguments.host)
    own = {"host": _in_brackets(arguments.host) if is_local else None, "n_workers": arguments.workers}
    own |= {"model": model, "digest": bundle_digest(model), "timeout": float(arguments.timeout)}
    return ServiceSettings(**{**settings_of(arguments, ServiceSettings), **own})


def _connections(arguments: argparse.Namespace) -> dict[str, Any]:
    """Settings of uvicorn for connections: no logs, and no connections that bypass the guard."""
    from ..integrations.service.connection import PatientConnection

    # uvicorn's default is to believe the header of any program on this computer.
    proxies = arguments.trust_proxy or []
    return {
        # uvicorn's access log would hold paths and queries as they are sent, and its errors messages with text.
        **{"access_log": False, "log_config": None, "server_header": False, "lifespan": "off"},
        # A request for a WebSocket would pass by the guard.
        **{"ws": "none", "http": PatientConnection},
        **{"proxy_headers": bool(proxies), "forwarded_allow_ips": proxies},
    }


def _run_workers(uvicorn: Any, settings: ServiceSettings, listener: socket.socket, quiet: dict[str, Any]) -> int:
    """Share the listening socket among processes that a supervisor starts, replaces and ends. Return the exit code."""
    from ..integrations.service.supervisor import WorkerSupervisor
    from ..integrations.service.worker import CANNOT_START

    os.environ.update(settings.to_environment())
    failed: list[int] = []

    def end(number: int, frame: Any) -> None:
        failed.append(number)
        signal.raise_signal(signal.SIGTERM)

    signal.signal(CANNOT_START, end)
    config = uvicorn.Config(
        "sklearn_deid.integrations.service.worker:make_worker",
        factory=True,
        workers=settings.n_workers,
        # A worker that loads its model on a busy machine must not count as a hung worker.
        timeout_worker_healthcheck=_SECONDS_TO_ANSWER,
        **quiet,
    )
    WorkerSupervisor(config, [listener]).run()
    return FATAL if failed else DONE


def _check(arguments: argparse.Namespace) -> None:
    if arguments.token_file is None and arguments.socket is None and not _is_loopback(arguments.host):
        raise DeidError("Other computers could send requests to this address. Set --token-file, or use --socket.")
    if arguments.workers > 1 and arguments.rate is not None:
        raise DeidError("Each worker would count the requests of a client for itself. Leave out --rate or --workers.")
    if arguments.trust_proxy and arguments.rate is None:
        raise DeidError("--trust-proxy needs --rate.")
    if not all(map(_is_address, arguments.trust_proxy or ())):
        raise DeidError("--trust-proxy must be an IP address, such as 127.0.0.1.")


def _is_loopback(host: str) -> bool:
    return ip_address(host).is_loopback if _is_address(host) else host == "localhost"


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_left_over(path: Path) -> bool:
    """Whether a file is a socket to which no process listens, as a killed service leaves behind."""
    if not path.is_socket():
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(str(path))
        except ConnectionRefusedError:
            return True
    return False


def _identity(path: str | None) -> tuple[int, ...] | None:
    """Numbers that tell a file from a later file of the same name; None without a file."""
    try:
        found = None if path is None else os.lstat(path)
    except FileNotFoundError:
        return None
    # File systems give the number of a removed file to the next file.
    return None if found is None else (found.st_dev, found.st_ino, found.st_mtime_ns)


def _in_brackets(host: str) -> str:
    """Host in the form that a URL needs."""
    return f"[{host}]" if ":" in host else host


def _address(arguments: argparse.Namespace) -> str:
    return arguments.socket or f"http://{_in_brackets(arguments.host)}:{arguments.port}"


def _listener(arguments: argparse.Namespace) -> socket.socket:
    if arguments.socket is None:
        family = socket.AF_INET6 if ":" in arguments.host else socket.AF_INET
        return socket.create_server((arguments.host, arguments.port), family=family)
    path = Path(arguments.socket)
    if path.exists():
        if not _is_left_over(path):
            raise DeidError("The socket exists already. Remove it if no service uses it.", path=str(path))
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # The mask is set before the socket has its name: nobody else can ever open it.
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        # The system's error for a socket does not name the file.
        raise DeidError(f"{error.strerror or error}.", path=str(path)) from None
    finally:
        os.umask(before)
    listener.listen()
    return listener
