"""What a worker process of the service is told, and what stays in a file."""

import logging
from copy import copy
from dataclasses import replace

import pytest

from sklearn_deid import RuleTagger, save
from sklearn_deid._storage import bundle_digest
from sklearn_deid.exceptions import DeidError

pytest.importorskip("fastapi")
from sklearn_deid.integrations.service import worker
from sklearn_deid.integrations.service.app import make_app
from sklearn_deid.integrations.service.guard import ServiceLimits
from sklearn_deid.integrations.service.worker import ServiceSettings, make_worker, read_token

TOKEN = "a-secret-of-the-test"


@pytest.fixture
def settings(tmp_path):
    save(RuleTagger(recognizers=["date"]).fit([]), tmp_path / "model")
    (tmp_path / "token").write_text(f" {TOKEN}\n")
    paths = str(tmp_path / "model"), bundle_digest(tmp_path / "model"), str(tmp_path / "token")
    return ServiceSettings(*paths, host=None, max_bytes=7, rate=None, timeout=3.0, device="cpu", threads=1)


@pytest.fixture
def environment(settings, monkeypatch):
    log = logging.getLogger("sklearn_deid.service")
    for name in ("handlers", "propagate", "level"):  # restored afterwards: other tests read the log
        monkeypatch.setattr(log, name, copy(getattr(log, name)))
    written = settings.to_environment()
    for name, value in written.items():
        monkeypatch.setenv(name, value)
    return written


def test_a_worker_makes_the_application_of_its_environment(settings, environment):
    assert TOKEN not in str(environment) and ServiceSettings.from_environment(environment) == settings
    assert "/redact" in make_worker().routes


def test_a_worker_does_not_start_with_another_model(settings, environment, capsys):
    """A worker that replaced another served the new model, and the others the old one."""
    save(RuleTagger(recognizers=["email"]).fit([]), settings.model, overwrite=True)
    with pytest.raises(SystemExit) as caught:
        make_worker()
    assert caught.value.code == 3 and "The model has changed since" in capsys.readouterr().err


def test_a_worker_refuses_a_model_that_is_replaced_while_it_loads(settings, monkeypatch):
    """The digest was compared before the model was read: one worker then served another model than the others."""

    def replaced(model, *args, **options):
        save(RuleTagger(recognizers=["email"]).fit([]), model, overwrite=True)
        return make_app(model, *args, **options)

    monkeypatch.setattr(worker, "make_app", replaced)
    with pytest.raises(DeidError, match="The model has changed since"):
        settings.make()


@pytest.mark.parametrize("host", ["127.0.0.2", "[::ffff:127.0.0.1]"])
def test_the_service_answers_at_its_own_address(settings, host):
    """``--host 127.0.0.2`` refused every request, because the header named another host than localhost."""
    assert host in replace(settings, host=host).make().limits.hosts


def test_the_token_is_in_no_repr():
    assert TOKEN not in repr(ServiceLimits(token=TOKEN))


@pytest.mark.parametrize("content", ["short", "", "a secret of the tést", "two lines of a\nlong secret"])
def test_weak_tokens_are_refused(tmp_path, content):
    (tmp_path / "token").write_text(content)
    with pytest.raises(DeidError, match="at least 16 printable"):
        read_token(tmp_path / "token")
