"""Files for NVIDIA FLARE: input of its provisioning, permissions of its startup kits, and the job of a session.

All files are JSON, which YAML readers can read too. This module does not need FLARE.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...exceptions import DeidError, ExchangeError
from ..server import ParameterServer
from .exchange_service import SessionRules
from .federation_config import FederationConfig
from .json_file import read_settings, write_json, write_settings
from .site_settings import SiteSettings

AGREEMENT_FILE = "federation.json"
SITE_FILE = "site.json"
# The hyphen is necessary: kits are working directories, and Python could import a folder with the name of a package.
STATE_FOLDER = "deid-state"
MASK_KEY = Path("local", "mask.key")
CHECKPOINT = Path(STATE_FOLDER, "server.state")
_EXECUTOR = "sklearn_deid.federated.sites.flare_executor.SiteExecutor"
_CONTROLLER = "sklearn_deid.federated.sites.flare_controller.SessionController"
_TASK = "sklearn_deid_session"
_NOBODY = {
    right: "none"
    for right in ("submit_job", "clone_job", "manage_job", "download_job", "operate", "shell_commands", "byoc")
}


def write_federation(
    folder: str | os.PathLike[str], agreement: FederationConfig, host: str, port: int, lead: str
) -> None:
    """Write the files with which the coordinator and each participant request certificates.

    Parameters
    ----------
    folder : path
        New or empty folder for ``federation.json``, ``profile.yml``, and ``participants/NAME.yml`` for the server, each
        site and the person who starts sessions.
    agreement : FederationConfig
        Settings that all members of the federation share.
    host : str
        Name under which sites reach the server. The certificate of the server holds the same name.
    port : int
        Port of the server. No other port needs to be open.
    lead : str
        E-mail address of the person who may start sessions.

    Raises
    ------
    DeidError
        If the name of the server or of the person is not a valid file name.
    """
    for name in (host, lead):
        # Each participant has a file of this name.
        if not name.isprintable() or not name or name.startswith(".") or set(name) & set("/\\"):
            raise DeidError("The name of the server, and the address of the lead, must be names of files.")
    # One file would replace the other, also on disks that do not distinguish capital letters.
    if len({name.casefold() for name in (host, lead, *agreement.sites)}) < 2 + len(agreement.sites):
        raise DeidError("The server, the lead and the sites need different names.")
    root = Path(folder)
    # An existing folder raises an error: a second call must not replace the files of a running federation.
    (root / "participants").mkdir(parents=True)
    write_settings(agreement, root / AGREEMENT_FILE)
    server = {"host": host, "fed_learn_port": port, "admin_port": port}
    profile = {"name": agreement.project, "scheme": "grpc", "connection_security": "mtls", "server": server}
    write_json(profile, root / "profile.yml")
    # The file format is YAML, and every JSON document is valid YAML.
    people = [
        {"name": host, "type": "server", "org": "coordinator"},
        {"name": lead, "type": "admin", "org": "coordinator", "role": "lead"},
        *({"name": site, "type": "client", "org": _organisation(site)} for site in agreement.sites),
    ]
    for person in people:
        participant = {"name": agreement.project, "participants": [person]}
        write_json(participant, root / "participants" / f"{person['name']}.yml")


def write_session(folder: str | os.PathLike[str], rules: SessionRules) -> None:
    """Write the job of a session: two JSON files with the names of two installed classes, and without code.

    Parameters
    ----------
    folder : path
        New folder for the job. Submit the same job for each session.
    rules : SessionRules
        Rules for the end of a session. Only the server reads the rules of a session.
    """
    root = Path(folder)
    config = root / "app" / "config"
    config.mkdir(parents=True)
    write_json(
        {"name": "session", "resource_spec": {}, "min_clients": 1, "deploy_map": {"app": ["@ALL"]}}, root / "meta.json"
    )
    controller = {"id": "session", "path": _CONTROLLER, "args": asdict(rules)}
    write_json({"format_version": 2, "workflows": [controller], "components": []}, config / "config_fed_server.json")
    executor = {"tasks": [_TASK], "executor": {"path": _EXECUTOR, "args": {}}}
    write_json({"format_version": 2, "executors": [executor], "components": []}, config / "config_fed_client.json")


def harden_site(kit: str | os.PathLike[str], agreement: FederationConfig, settings: SiteSettings) -> None:
    """Restrict the kit of a site to one class, and write the settings of the site.

    The restricted kit refuses code, shell commands, and jobs with other components than the executor of this library.
    Logs stay at the site. The site can read the files of its kit before the start, and can change the files at any
    time.

    Parameters
    ----------
    kit : path
        Folder that ``nvflare package`` (or ``provision``) made.
    agreement : FederationConfig
        Settings that all members of the federation share.
    settings : SiteSettings
        Settings of this site.

    Raises
    ------
    DeidError
        If the folder is not the kit of a site.
    """
    local = _local(kit, "fed_client.json")
    resources = _resources(local, _EXECUTOR)
    # The logs of FLARE lie in the kit. They name the files of notes that cannot be read.
    make_private(Path(kit))
    # The log streamer would send log lines of the site to the server.
    resources["components"] = [part for part in resources["components"] if part["id"] != "site_log_streamer"]
    resources["client"] = {**resources.get("client", {}), "allow_log_streaming": False}
    write_json(resources, local / "resources.json")
    # Jobs come from the lead. `class_allow_list` limits their components, and jobs must not contain code.
    roles = {"project_admin": _NOBODY, "org_admin": _NOBODY, "lead": {**_NOBODY, "submit_job": "any", "view": "any"}}
    write_json({"format_version": "1.0", "permissions": {**roles, "member": _NOBODY}}, local / "authorization.json")
    write_settings(agreement, local / AGREEMENT_FILE)
    write_settings(settings, local / SITE_FILE, private=True)


def harden_server(kit: str | os.PathLike[str], agreement: FederationConfig) -> Path:
    """Restrict the kit of the server to one class, store its jobs in the kit, and write the first weights.

    Returns
    -------
    Path
        Path of the checkpoint. An existing checkpoint is never overwritten, so that a federation can be continued.

    Raises
    ------
    DeidError
        If the folder is not the kit of a server, or if its checkpoint belongs to another federation.
    """
    local, checkpoint = _local(kit, "fed_server.json"), Path(kit) / CHECKPOINT
    # An existing checkpoint holds the training so far and is never replaced.
    is_new = not checkpoint.exists()
    server = agreement.new_server() if is_new else ParameterServer.load(checkpoint)
    if not is_new and agreement.first_learner().layout.fingerprint != server.model:
        raise ExchangeError(
            "The kit holds the checkpoint of another federation, whose network or labels differ from the agreement. "
            "Use a new kit, or the agreement of the checkpoint.",
            path=str(checkpoint),
        )
    resources = _resources(local, _CONTROLLER)
    own = Path(kit).resolve() / STATE_FOLDER
    for folder in (own.parent, own):
        make_private(folder)
    resources["snapshot_persistor"]["args"]["storage"]["args"]["root_dir"] = str(own / "snapshots")
    for part in resources["components"]:
        if part["id"] == "job_manager":
            part["args"]["uri_root"] = str(own / "jobs")
        if part["id"] == "job_scheduler":
            # Sessions that are submitted together run one after the other.
            part["args"] = {**part.get("args", {}), "max_jobs": 1}
    resources["components"] = [part for part in resources["components"] if part["id"] != "log_receiver"]
    write_json(resources, local / "resources.json")
    lead = {**_NOBODY, "submit_job": "any", "manage_job": "n:submitter", "download_job": "n:submitter", "view": "any"}
    roles = {"project_admin": {**lead, "operate": "any"}, "org_admin": _NOBODY, "lead": {**lead, "operate": "any"}}
    write_json({"format_version": "1.0", "permissions": {**roles, "member": _NOBODY}}, local / "authorization.json")
    write_settings(agreement, local / AGREEMENT_FILE)
    if is_new:
        server.save(checkpoint)
    return checkpoint


def server_checkpoint(kit: str | os.PathLike[str]) -> tuple[FederationConfig, Path]:
    """Paths of the federation config and of the checkpoint in the kit of a server."""
    local = _local(kit, "fed_server.json")
    return read_settings(FederationConfig, local / AGREEMENT_FILE), Path(kit) / CHECKPOINT


def mask_key_path(kit: str | os.PathLike[str]) -> Path:
    """Path of the key for masks in the kit of a site.

    Raises
    ------
    DeidError
        If the folder is not the kit of a site. In the kit of the server, the key would belong to the host.
    """
    return _local(kit, "fed_client.json").parent / MASK_KEY


def _local(kit: str | os.PathLike[str], startup: str) -> Path:
    root = Path(kit)
    if not (root / "startup" / startup).is_file():
        kind = "server" if "server" in startup else "site"
        raise DeidError(f"The folder is not a kit of a {kind}: startup/{startup} is missing.", path=str(kit))
    return root / "local"


def make_private(folder: Path) -> None:
    """Make a folder that only its owner can read, or remove the access of other users to an existing folder."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "posix" and folder.stat().st_mode & 0o077:
        folder.chmod(0o700)


def _resources(local: Path, allowed: str) -> dict[str, Any]:
    """Resources of the kit, restricted to a single class that jobs may name."""
    try:
        resources: Mapping[str, Any] = json.loads((local / "resources.json.default").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise DeidError("The kit has no readable resources.json.default.", path=str(local)) from None
    # FLARE reads resources.json instead of resources.json.default if both exist.
    return {
        **resources,
        "class_allow_list": [allowed],
        "class_list_enforcement_mode": "enforce",
        "allow_log_streaming": False,
    }


def _organisation(site: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in site)
