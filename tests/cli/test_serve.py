"""``serve``: who can reach it, and how it ends."""

import signal
import socket
import stat
import subprocess
import sys
import time

import pytest

from sklearn_deid import NoteDeidentifier, RuleTagger, save

httpx2 = pytest.importorskip("httpx2")
pytest.importorskip("uvicorn")
pytest.importorskip("fastapi")


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules") / "model"
    save(NoteDeidentifier(RuleTagger().fit([])), folder)
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no Unix sockets in Python")
def test_service_on_a_socket_ends_after_its_requests(rules, tmp_path):
    path = tmp_path / "socket"
    command = [sys.executable, "-m", "sklearn_deid", "serve", "--model", str(rules), "--socket", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        transport = httpx2.HTTPTransport(uds=str(path), retries=0)
        with httpx2.Client(transport=transport, base_url="http://localhost") as client:
            while not path.exists() and process.poll() is None:
                time.sleep(0.05)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            # The socket listens before the model is loaded: the first request waits.
            answer = client.post("/redact", json={"text": "Zyxwvutski, roe@example.org"}, timeout=60)
            assert answer.json() == {"text": "Zyxwvutski, [EMAIL]"}
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, path.exists()) == (0, False)
    assert "Zyxwvutski" not in err and "/redact 200" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "Set --token-file"),
        (["--host", "::"], "Set --token-file"),
        (["--host", "example.org"], "Set --token-file"),
        (["--token-file", "short"], "at least 16 printable"),
        (["--socket", "short"], "exists already"),
        (["--token-file", "missing"], "No such file"),
    ],
)
def test_unsafe_settings_are_refused(run, rules, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short").write_text("abc\n")
    code, _, err = run("serve", "--model", rules, *options)
    assert (code, message in err) == (2, True)


def test_port_in_use_is_an_error(run, rules):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, err = run("serve", "--model", rules, "--port", taken.getsockname()[1])
    assert (code, "in use" in err) == (2, True)
