"""One session of a server at a time. NVIDIA FLARE is replaced by the parts that a controller asks for."""

import json
import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import ParameterServer, SparseUpdate
from sklearn_deid.federated.sites import (
    FederationConfig,
    harden_server,
    pack,
    server_checkpoint,
    unpack,
    write_settings,
)

MODEL = "0" * 32
FLARE = {
    "apis.controller_spec": {"Task": object},
    "apis.fl_constant": {"CellMessageAuthHeaderKey": object},
    "apis.impl.controller": {"Controller": object},
    "apis.shareable": {"Shareable": dict},
    "fuel.f3.cellnet.defs": {"MessageHeaderKey": object},
    "fuel.f3.cellnet.utils": {"new_cell_message": None},
    "lighter.utils": {"load_crt": lambda path: SimpleNamespace(public_key=lambda: None), "verify_content": None},
}


@pytest.fixture
def controllers(monkeypatch):
    """The module of the controller, whatever is installed."""
    for name in ("flare_controller", "flare_peer"):
        monkeypatch.delitem(sys.modules, f"sklearn_deid.federated.sites.{name}", raising=False)
    for path, content in FLARE.items():
        parts = ["nvflare", *path.split(".")]
        for end in range(1, len(parts)):
            monkeypatch.setitem(sys.modules, ".".join(parts[:end]), ModuleType(".".join(parts[:end])))
        module = ModuleType(".".join(parts))
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, ".".join(parts), module)
    yield import_module("sklearn_deid.federated.sites.flare_controller")
    for name in ("flare_controller", "flare_peer"):
        sys.modules.pop(f"sklearn_deid.federated.sites.{name}", None)


@pytest.fixture
def kit(tmp_path):
    for folder in ("startup", "local", "deid-state"):
        (tmp_path / folder).mkdir()
    (tmp_path / "startup" / "fed_server.json").write_text("{}")
    agreement = FederationConfig("lab", ["a", "b"], ["DATE"])
    write_settings(agreement, tmp_path / "local" / "federation.json")
    ParameterServer(np.ones(4, np.float32), MODEL, agreement.limits()).save(server_checkpoint(tmp_path)[1])
    return tmp_path


def context(kit, job):
    """The context of a job, as FLARE passes it."""
    workspace = SimpleNamespace(
        get_root_dir=lambda: str(kit),
        get_site_config_dir=lambda: str(kit / "local"),
        get_startup_kit_dir=lambda: str(kit / "startup"),
    )
    cell = SimpleNamespace(register_request_cb=lambda **options: None)
    engine = SimpleNamespace(get_workspace=lambda: workspace, get_cell=lambda: cell)
    return SimpleNamespace(get_engine=lambda: engine, get_job_id=lambda: job)


def test_a_second_session_does_not_replace_the_checkpoint_of_the_first(kit, controllers, monkeypatch):
    """Two jobs that are submitted together ran together, and the end of the idle one undid the other one."""
    monkeypatch.setattr(controllers, "_PATIENCE", 0.0)
    first, second = controllers.SessionController(), controllers.SessionController()
    first.start_controller(context(kit, "1"))
    with pytest.raises(ExchangeError, match="Another process still works with the same state folder"):
        second.start_controller(context(kit, "2"))
    update = SparseUpdate(np.arange(4), np.full(4, 0.25, np.float32), 4, MODEL)
    reply = first.service.answer("a", pack({"ask": "upload", "sequence": 0}, update.to_bytes()))
    assert unpack(reply)[0]["applied"]
    if hasattr(second, "service"):
        second.service.close()
    assert ParameterServer.load(server_checkpoint(kit)[1]).version == 1
    first._lock.release()  # as at the end of its process
    second.start_controller(context(kit, "2"))
    assert second.service.server.version == 1
    second._lock.release()


def test_sessions_that_are_submitted_together_wait_for_each_other(tmp_path):
    for folder in ("startup", "local"):
        (tmp_path / folder).mkdir()
    (tmp_path / "startup" / "fed_server.json").write_text("{}")
    components = [{"id": "job_scheduler", "args": {"max_jobs": 4}}, {"id": "job_manager", "args": {}}]
    storage = {"args": {"storage": {"args": {}}}}
    resources = {"components": components, "snapshot_persistor": storage}
    (tmp_path / "local" / "resources.json.default").write_text(json.dumps(resources))
    harden_server(tmp_path, FederationConfig("lab", ["a"], ["DATE"], {"hidden_size": 4, "embeddings": None}))
    hardened = json.loads((tmp_path / "local" / "resources.json").read_text())
    assert hardened["components"][0] == {"id": "job_scheduler", "args": {"max_jobs": 1}}
