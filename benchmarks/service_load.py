"""Load on the service: clients that send notes one after the other, a planted name, wrong requests, SIGTERM at the end.

    python -m benchmarks.service_load --clients 200 --seconds 60 --output docs/results/service_load.json

The service runs with the starter model in a process of its own. Each note has a planted name, and one request in fifty
is wrong and repeats the name. While all clients wait for an answer, the service gets SIGTERM. Writes one JSON object
with answers, times, memory, and the places outside of redacted texts that hold the name; exit code 1 if an accepted
request has no answer, an answer is a 5xx, or the name is in a log, a metric or an error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_deid import load_model, save
from sklearn_deid.datasets import iter_clinical_notes

from .environment import describe

NAME = "Zyxwvutski"


class Load:
    """Clients of one service, and what they got."""

    def __init__(self, port: int, texts: list[str]) -> None:
        self.port, self.texts, self.is_over = port, texts, False
        self.statuses: Counter[int] = Counter()
        self.times: list[float] = []
        self.leaks = self.unanswered = self.sent = 0

    async def client(self, number: int) -> None:
        """Send notes until the time is over or the service ends."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        while not self.is_over:
            n, self.sent = self.sent, self.sent + 1
            form: Any = {"text": self.texts[n % len(self.texts)]}
            if n % 50 == 49:
                form = {"text": [NAME], NAME: 1}
            start = time.perf_counter()
            await self.send(writer, json.dumps(form).encode())
            try:
                status, body = await self.answer(reader)
            except (asyncio.IncompleteReadError, ConnectionError):
                self.unanswered += 1
                return
            self.times.append(time.perf_counter() - start)
            self.statuses[status] += 1
            self.leaks += status != 200 and NAME.encode() in body
        writer.close()

    async def send(self, writer: asyncio.StreamWriter, body: bytes) -> None:
        """Send a request."""
        head = (
            f"POST /redact HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
        )
        writer.write(head.encode() + b"\r\n\r\n" + body)
        await writer.drain()

    async def answer(self, reader: asyncio.StreamReader) -> tuple[int, bytes]:
        """Status and body of an answer."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = next(line for line in head.split("\r\n") if line.startswith("content-length:"))
        return int(head.split()[1]), await reader.readexactly(int(length.partition(":")[2]))


async def get(port: int, path: str) -> str:
    """Answer to a GET request, without its head."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode())
    answer = (await reader.read()).decode()
    writer.close()
    return answer.partition("\r\n\r\n")[2]


async def started(port: int) -> None:
    """Wait until the service is ready."""
    while True:
        try:
            if "ready" in await get(port, "/ready"):
                return
        except ConnectionError:
            pass
        await asyncio.sleep(0.2)


def memory_mib(pid: int) -> float:
    """Resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024, 1)


async def run(service: subprocess.Popen, arguments: argparse.Namespace) -> dict[str, Any]:
    """Put load on the service, and end it while requests are in flight."""
    notes = iter_clinical_notes(500, random_state=arguments.seed)
    load = Load(arguments.port, [f"Seen by Dr. {NAME} today.\n{note.text}" for note in notes])
    await started(arguments.port)
    memory = [memory_mib(service.pid)]
    start = time.perf_counter()
    clients = [asyncio.create_task(load.client(n)) for n in range(arguments.clients)]
    while time.perf_counter() - start < arguments.seconds:
        await asyncio.sleep(min(5, arguments.seconds))
        memory.append(memory_mib(service.pid))
    seconds, metrics = time.perf_counter() - start, await get(arguments.port, "/metrics")
    n_before = len(load.times)
    load.is_over = True  # the next answer is the last one of a client
    service.terminate()
    await asyncio.gather(*clients)
    quantiles = np.quantile(load.times[:n_before], [0.5, 0.95, 0.99]).round(3).tolist()
    return {
        "answers": n_before,
        "answers_per_second": round(n_before / seconds, 1),
        "statuses": dict(load.statuses),
        "seconds_p50_p95_p99": quantiles,
        "in_flight_at_sigterm": load.sent - n_before,
        "answered_after_sigterm": len(load.times) - n_before,
        "unanswered": load.unanswered,
        "memory_mib": memory,
        "errors_with_the_name": load.leaks,
        "metrics_with_the_name": metrics.count(NAME),
    }


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--output", type=Path, help="file of the JSON object; without it, the object is printed only")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as name:
        save(load_model(), Path(name) / "model")
        command = [
            sys.executable,
            "-m",
            "sklearn_deid",
            "serve",
            "--model",
            f"{name}/model",
            "--port",
            str(arguments.port),
        ]
        with (Path(name) / "log").open("w") as log, subprocess.Popen(command, stderr=log, stdout=log) as service:
            result = asyncio.run(run(service, arguments))
        result["exit_code"], written = service.returncode, (Path(name) / "log").read_text()
        result["log_lines"], result["log_lines_with_the_name"] = len(written.splitlines()), written.count(NAME)
    settings = {"clients": arguments.clients, "seconds": arguments.seconds, "seed": arguments.seed}
    text = json.dumps({"benchmark": "service_load", **settings, **result, **describe()}, indent=1) + "\n"
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text)
    leaks = sum(result[name] for name in ("errors_with_the_name", "metrics_with_the_name", "log_lines_with_the_name"))
    n_failed = sum(count for status, count in result["statuses"].items() if status >= 500)
    return 0 if leaks == n_failed == result["unanswered"] == result["exit_code"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
