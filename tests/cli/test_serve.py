"""``serve``: who can reach it, and how it ends."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from sklearn_deid import NoteDeidentifier, RuleTagger, save
from sklearn_deid.exceptions import DeidError
from sklearn_deid.tagging.shipped_models import starter_folder

pytest.importorskip("uvicorn")
pytest.importorskip("fastapi")
PATIENCE = 300  # seconds, until a service hangs: on a busy machine a worker loads its model for a minute


# Starts services from a process that has loaded their modules, and says when they end. Workers load theirs themselves.
FORKING = """
import json, os, signal, sys, time
import sklearn_deid.integrations.service.connection, sklearn_deid.integrations.service.worker, torch, uvicorn
from sklearn_deid.cli import main
for line in sys.stdin:
    errors, patience, *arguments = json.loads(line)
    end = time.monotonic() + patience
    if pid := os.fork():
        print(pid, flush=True)
        while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        print(os.waitstatus_to_exitcode(ended[1]), flush=True)
        continue
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(0, 1)
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
    sys.exit(main(arguments))
"""


class Service:
    """A service in a process of its own."""

    def __init__(self, forking, errors, arguments):
        self._forking, self._errors, self._code = forking, errors, None
        forking.stdin.write(json.dumps([str(errors), PATIENCE, "serve", *map(str, arguments)]) + "\n")
        forking.stdin.flush()
        self.pid = int(forking.stdout.readline())

    def kill(self, number=signal.SIGKILL):
        if self._code is None:
            os.kill(self.pid, number)

    def ended(self):
        """Wait for the end; exit code and standard error."""
        if self._code is None:
            self._code = int(self._forking.stdout.readline())
        return self._code, self._errors.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def forking():
    with subprocess.Popen(
        [sys.executable, "-c", FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


@pytest.fixture
def serve(forking, tmp_path):
    """Start a service; it is killed where it outlives its test."""
    with ExitStack() as stack:

        def serve(*arguments):
            service = Service(forking, tmp_path / "errors", arguments)
            stack.callback(service.ended)
            stack.callback(service.kill)
            return service

        yield serve


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules") / "model"
    save(NoteDeidentifier(RuleTagger().fit([])), folder)
    return folder


def connected(stack, path):
    """Connection to a service that is about to start."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        connection = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        connection.settimeout(PATIENCE)
        try:
            connection.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):  # refused: the socket has its name, but does not listen yet
            time.sleep(0.05)
        else:
            return connection
    raise AssertionError("The service has not started.")


def begun(stack, path, route, size, part):
    """Connection with an accepted request, a part of whose body is sent."""
    connection = connected(stack, path)
    lines = [f"POST {route} HTTP/1.1", "host: localhost", "content-type: application/json", size]
    connection.sendall("\r\n".join([*lines, "expect: 100-continue", "", ""]).encode())
    # The service asks for the body, or begins with its answer: from here on, the request is accepted.
    assert connection.recv(1000).startswith((b"HTTP/1.1 100 ", b"HTTP/1.1 200 "))
    connection.sendall(part)
    return connection


def answer(connection, rest):
    """Send the rest of a body; all that the service answers."""
    connection.sendall(rest)
    return b"".join(iter(lambda: connection.recv(10_000), b""))


def wait_until_there(path):
    """Wait until the socket has its name."""
    end = time.monotonic() + PATIENCE
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.02)


def wait_until_closed(path):
    """Wait until the service takes no new connections."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.connect(str(path))
        except OSError:
            return
        time.sleep(0.05)
    raise AssertionError("The service has not taken the signal.")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no Unix sockets in Python")
def test_service_on_a_socket_answers_accepted_requests_and_ends(serve, rules, tmp_path):
    path, note, found = tmp_path / "socket", b'{"text": "Zyxwvutski, roe@example.org"}', b"Zyxwvutski, [EMAIL]"
    line = b'{"id": 1, ' + note[1:]
    chunk, size = b"%x\r\n%b\n\r\n" % (len(line) + 1, line), f"content-length: {len(note)}"
    with ExitStack() as stack:
        service = serve("--model", rules, "--socket", path)
        wait_until_there(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        # The socket listens before the model is loaded: the first request waits.
        whole = [begun(stack, path, "/redact", size, note[:20]) for _ in range(8)]
        batches = [begun(stack, path, "/v1/batch", "transfer-encoding: chunked", chunk) for _ in range(8)]
        service.kill(signal.SIGTERM)
        wait_until_closed(path)
        answers = [answer(connection, note[20:]) for connection in whole]
        assert [(b" 200 OK" in one, one.count(found)) for one in answers] == [(True, 1)] * 8
        answers = [answer(connection, chunk + b"0\r\n\r\n") for connection in batches]
        assert [(one.endswith(b"0\r\n\r\n"), one.count(found)) for one in answers] == [(True, 2)] * 8
        code, err = service.ended()
    assert (code, path.exists()) == (0, False)
    assert "Zyxwvutski" not in err and err.count("/redact 200") == err.count("/v1/batch 200") == 8


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no Unix sockets in Python")
def test_workers_share_one_socket_and_end_together(serve, rules, tmp_path):
    path, token = tmp_path / "socket", "a-secret-of-the-test"
    (tmp_path / "token").write_text(token)

    def ask(route, body=b""):
        with ExitStack() as own:
            connection = connected(own, path)
            lines = [f"{'POST' if body else 'GET'} {route} HTTP/1.1", "host: localhost", "connection: close"]
            lines += [f"authorization: Bearer {token}", "content-type: application/json"]
            return answer(connection, "\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode() + body)

    service = serve("--model", rules, "--socket", path, "--token-file", tmp_path / "token", "--workers", "2")
    wait_until_there(path)
    workers, end = set(), time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert b"Zyx, [EMAIL]" in ask("/redact", b'{"text": "Zyx, roe@example.org"}')
        workers |= set(re.findall(rb'worker="(\d+)"', ask("/metrics")))
        if len(workers) == 2:
            break
        time.sleep(0.05)
    assert len(workers) == 2
    environments = [Path(f"/proc/{int(worker)}/environ") for worker in workers]
    assert not any(token.encode() in one.read_bytes() for one in environments if one.exists())
    service.kill(signal.SIGTERM)
    code, err = service.ended()
    assert (code, path.exists()) == (0, False)
    assert token not in err and "Zyx" not in err
    # Nobody is left who could answer.
    assert not any(Path(f"/proc/{int(worker)}").exists() for worker in workers)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers in /proc")
def test_workers_end_with_a_killed_service(serve, rules, tmp_path):
    """They went on to listen, with the model and the token of their start."""
    path = tmp_path / "socket"
    service = serve("--model", rules, "--socket", path, "--workers", "2")
    with ExitStack() as stack:
        head = b"GET /recognizers HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        assert b" 200 OK" in answer(connected(stack, path), head)
    children = Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text().split()
    service.kill()
    service.ended()
    wait_until_closed(path)
    end = time.monotonic() + PATIENCE
    while any(map(is_running, children)) and time.monotonic() < end:
        time.sleep(0.05)
    assert len(children) >= 2 and not any(map(is_running, children))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers in /proc")
def test_a_changed_model_ends_the_service(serve, rules, tmp_path):
    """uvicorn started one worker after the other for ever, and the exit code was that of a signal."""
    path, model = tmp_path / "socket", tmp_path / "model"
    shutil.copytree(rules, model)
    service = serve("--model", model, "--socket", path, "--workers", "2")
    with ExitStack() as stack:
        head = b"GET /recognizers HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        assert b" 200 OK" in answer(connected(stack, path), head)
    save(RuleTagger(recognizers=["email"]).fit([]), model, overwrite=True)
    children = Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text().split()
    workers = [one for one in children if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]
    os.kill(int(workers[0]), signal.SIGKILL)
    code, err = service.ended()
    assert (code, path.exists(), "The model has changed" in err) == (2, False, True)
    assert "Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no Unix sockets in Python")
def test_a_socket_that_a_killed_service_left_is_replaced(run, rules, tmp_path, monkeypatch):
    """The service did not come back after it was killed."""
    import uvicorn

    path = tmp_path / "socket"
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: None)
    with socket.socket(socket.AF_UNIX) as before:
        before.bind(str(path))
        before.listen()
        assert run("serve", "--model", rules, "--socket", path)[0] == 2 and path.exists()
    assert run("serve", "--model", rules, "--socket", path)[0] == 0 and not path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no Unix sockets in Python")
def test_the_socket_of_the_next_service_is_not_removed(run, rules, tmp_path, monkeypatch):
    """The next service started while this one answered its last requests, and then nobody could reach it."""
    import uvicorn

    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as after:

        def replaced(server, sockets):
            sockets[0].close()  # as uvicorn does after a signal, before the last answers
            path.unlink()
            after.bind(str(path))

        monkeypatch.setattr(uvicorn.Server, "run", replaced)
        assert run("serve", "--model", rules, "--socket", path)[0] == 0 and path.exists()


def is_running(pid):
    """Whether a process lives. One that has ended can wait for whoever takes its exit code."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rate", "5", "--workers", "2"], "for itself"),
        (["--trust-proxy", "127.0.0.1"], "needs --rate"),
        (["--trust-proxy", "*", "--rate", "5"], "must be an IP address"),
        (["--host", "0.0.0.0"], "Set --token-file"),
        (["--host", "::"], "Set --token-file"),
        (["--host", "example.org"], "Set --token-file"),
        (["--token-file", "short"], "at least 16 printable"),
        (["--socket", "short"], "exists already"),
        (["--socket", "missing/socket"], "No such file or directory. [file missing/socket]"),
        (["--token-file", "missing"], "No such file"),
    ],
)
def test_unsafe_settings_are_refused(run, rules, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short").write_text("abc\n")
    code, _, err = run("serve", "--model", rules, *options)
    assert (code, message in err) == (2, True)


def test_the_model_of_the_package_has_a_name(run, monkeypatch):
    from sklearn_deid.integrations.service.worker import ServiceSettings  # needs the extra

    def make(settings):
        raise DeidError("Asked for.", path=settings.model)

    monkeypatch.setattr(ServiceSettings, "make", make)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert f"[file {starter_folder('starter-en')}]" in run("serve", "--model", "starter-en", "--port", port)[2]


def test_port_in_use_is_an_error(run, rules):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, err = run("serve", "--model", rules, "--port", taken.getsockname()[1])
    assert (code, "in use" in err) == (2, True)


@pytest.mark.parametrize(("options", "n_answered"), [([], 2), (["--trust-proxy", "127.0.0.1"], 3)])
def test_a_header_names_the_client_only_from_a_trusted_proxy(run, rules, monkeypatch, options, n_answered):
    """Any program on the computer could take another address for each request, or that of another client."""
    import uvicorn

    configs, codes = [], []
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: configs.append(self.config))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert run("serve", "--model", rules, "--port", port, "--rate", "2", *options)[0] == 0
    configs[0].load()

    async def send(message):
        codes.append(message.get("status"))

    for n in range(3):
        headers = [(b"host", b"localhost"), (b"x-forwarded-for", b"192.0.2.%d" % n)]
        scope = {"type": "http", "method": "GET", "path": "/recognizers", "headers": headers, "query_string": b""}
        scope |= {"client": ("127.0.0.1", 1), "scheme": "http", "server": ("localhost", port), "root_path": ""}
        asyncio.run(configs[0].loaded_app({"http_version": "1.1", **scope}, None, send))
    assert [code for code in codes if code] == [200] * n_answered + [429] * (3 - n_answered)
