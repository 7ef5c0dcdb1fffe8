"""A client that does not read its answer holds neither its request nor the service."""

import asyncio
import socket

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("fastapi")
import uvicorn

from sklearn_deid.integrations.service.connection import PatientConnection
from sklearn_deid.integrations.service.guard import Guard, ServiceLimits
from sklearn_deid.integrations.service.metrics import ServiceMetrics

PART, PARTS = b"x" * 2**20, 64  # far more than the buffers of both sides
HANGS = 60  # seconds


async def big_answer(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(PARTS):
        await send({"type": "http.response.body", "body": PART, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def served(timeout, client):
    """Result of a client of a service with a time limit, after the service has ended."""
    guard = Guard(big_answer, ServiceLimits(timeout=timeout), ServiceMetrics(), ())
    options = {"http": PatientConnection, "lifespan": "off", "log_config": None, "ws": "none"}

    async def run():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            server = uvicorn.Server(uvicorn.Config(guard, **options))
            running = asyncio.create_task(server.serve(sockets=[listener]))
            reader, writer = await asyncio.open_connection(*listener.getsockname(), limit=2**16)
            try:
                writer.write(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
                await reader.readexactly(15)
                return await asyncio.wait_for(client(reader, server, running), HANGS)
            finally:
                writer.transport.abort()
                server.should_exit = True
                await running

    return asyncio.run(run())


def test_a_client_that_does_not_read_is_cut_off():
    """Such a request never ended, nor did the service after a signal: it waited for the client without a limit."""

    async def client(reader, server, running):
        server.should_exit = True
        await asyncio.shield(running)

    served(0.2, client)


def test_a_client_that_reads_slowly_gets_the_whole_answer():
    async def client(reader, server, running):
        n = 0
        while part := await reader.read(2**20):
            n += part.count(b"x")
            await asyncio.sleep(0.06)  # longer than the time limit in all
        return n

    assert served(2.0, client) >= PARTS * len(PART)
