"""What a worker process of the service is told, and what stays in a file."""

import logging
from copy import copy

import pytest

from sklearn_deid import RuleTagger, save
from sklearn_deid.exceptions import DeidError

pytest.importorskip("fastapi")
from sklearn_deid.integrations.service.guard import ServiceLimits
from sklearn_deid.integrations.service.worker import ServiceSettings, make_worker, read_token

TOKEN = "a-secret-of-the-test"


@pytest.fixture
def settings(tmp_path):
    save(RuleTagger(recognizers=["date"]).fit([]), tmp_path / "model")
    (tmp_path / "token").write_text(f" {TOKEN}\n")
    paths = str(tmp_path / "model"), str(tmp_path / "token")
    return ServiceSettings(*paths, is_local=False, max_bytes=7, rate=None, timeout=3.0, device="cpu", threads=1)


def test_a_worker_makes_the_application_of_its_environment(settings, monkeypatch):
    log = logging.getLogger("sklearn_deid.service")
    for name in ("handlers", "propagate", "level"):  # restored afterwards: other tests read the log
        monkeypatch.setattr(log, name, copy(getattr(log, name)))
    written = settings.to_environment()
    assert TOKEN not in str(written) and ServiceSettings.from_environment(written) == settings
    for name, value in written.items():
        monkeypatch.setenv(name, value)
    assert "/redact" in make_worker().routes


def test_the_token_is_in_no_repr():
    assert TOKEN not in repr(ServiceLimits(token=TOKEN))


@pytest.mark.parametrize("content", ["short", "", "a secret of the tést", "two lines of a\nlong secret"])
def test_weak_tokens_are_refused(tmp_path, content):
    (tmp_path / "token").write_text(content)
    with pytest.raises(DeidError, match="at least 16 printable"):
        read_token(tmp_path / "token")
