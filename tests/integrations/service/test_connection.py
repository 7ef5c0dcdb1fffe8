"""A client that does not send its request or read its answer holds neither a connection nor the service."""

import asyncio
import importlib.util
import socket
from contextlib import suppress

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("fastapi")
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from sklearn_deid.integrations.service.connection import PatientConnection
from sklearn_deid.integrations.service.guard import Guard, ServiceLimits
from sklearn_deid.integrations.service.metrics import ServiceMetrics

REQUEST = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
PART, PARTS = b"x" * 2**20, 64  # far more than the buffers of both sides
HANGS = 60  # seconds


async def big_answer(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(PARTS if scope["path"] == "/" else 0):
        await send({"type": "http.response.body", "body": PART, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def served(timeout, client, sent=REQUEST):
    """Result of a client of a service with a time limit, after the service has ended."""
    guard = Guard(big_answer, ServiceLimits(timeout=timeout), ServiceMetrics(), ())
    options = {"http": PatientConnection, "lifespan": "off", "log_config": None, "ws": "none"}

    async def run():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            server = uvicorn.Server(uvicorn.Config(guard, **options))
            running = asyncio.create_task(server.serve(sockets=[listener]))
            reader, writer = await asyncio.open_connection(*listener.getsockname(), limit=2**16)
            try:
                writer.write(sent)
                return await asyncio.wait_for(client(reader, writer, server, running), HANGS)
            finally:
                writer.transport.abort()
                server.should_exit = True
                await running

    return asyncio.run(run())


def test_a_client_that_does_not_read_is_cut_off():
    """Such a request never ended, nor did the service after a signal: it waited for the client without a limit."""

    async def client(reader, writer, server, running):
        await reader.readexactly(15)
        server.should_exit = True
        await asyncio.shield(running)

    served(0.2, client)


def test_a_client_that_reads_slowly_gets_the_whole_answer():
    async def client(reader, writer, server, running):
        n = 0
        while part := await reader.read(2**20):
            n += part.count(b"x")
            await asyncio.sleep(0.01)  # longer than the time limit in all
        return n

    assert served(2.0, client) >= PARTS * len(PART)


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost"])
def test_headers_that_do_not_arrive_are_not_waited_for(sent):
    """Before the token is checked, anybody could hold connections until the service had no more of them."""

    async def client(reader, writer, server, running):
        with suppress(ConnectionError):
            assert await reader.read() == b""

    served(0.2, client, sent)


def test_headers_of_a_second_request_are_not_waited_for():
    async def client(reader, writer, server, running):
        await reader.readuntil(b"\r\n0\r\n\r\n")
        writer.write(b"GET / HT")
        with suppress(ConnectionError):
            assert await reader.read() == b""

    served(0.2, client, b"GET /small HTTP/1.1\r\nhost: x\r\n\r\n")


def test_an_answer_that_has_begun_is_not_dropped_when_its_client_leaves():
    """The client of a batch may leave behind its last line."""
    done = []

    async def begun_answer(scope, receive, send):
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(0.01)
        done.append(scope["path"])

    messages = [{"type": "http.disconnect"}, {"type": "http.request", "body": b""}]

    async def receive():
        return messages.pop()

    async def send(message):
        pass

    scope = {"type": "http", "method": "POST", "path": "/v1/batch", "headers": [], "client": ("127.0.0.1", 1)}
    asyncio.run(Guard(begun_answer, ServiceLimits(), ServiceMetrics(), ())(scope, receive, send))
    assert done == ["/v1/batch"]


def test_the_parser_of_requests_does_not_depend_on_what_is_installed(monkeypatch):
    """With httptools beside uvicorn, headers without end filled the memory, also those of clients without a token."""
    monkeypatch.setattr("uvicorn.protocols.http.auto.AutoHTTPProtocol", type("HttpToolsProtocol", (), {}))
    spec = importlib.util.find_spec(PatientConnection.__module__)
    anew = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(anew)
    assert issubclass(anew.PatientConnection, H11Protocol)
