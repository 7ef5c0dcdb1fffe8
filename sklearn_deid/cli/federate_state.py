"""``sklearn-deid federate status``, ``rollback`` and ``exclude``: the state of a federation at its server."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
from typing import Any

from .failures import DONE, one_line
from .options import add_command, count

_KIT = "kit of the server"


def add_state_steps(steps: Any) -> None:
    """Add the parsers of the three steps."""
    example = "example:\n  sklearn-deid federate {} workspace/lab/prod_00/deid.example.org{}"
    parser = add_command(
        steps,
        status,
        summary="show what each site has sent",
        description="Show the version, the kept checkpoints, and for each site: last contact, uploads, norm of "
        "the last upload, F1 on held-out patients if the site reports it, refusals.",
        epilog=example.format("status", ""),
    )
    parser.add_argument("kit", metavar="KIT", help=_KIT)
    parser = add_command(
        steps,
        rollback,
        summary="return the server to an earlier version",
        description="Return the server to a checkpoint. Every session begins with one, and each of the last 100 rounds "
        "ends with one. Stop the server first.",
        epilog=example.format("rollback", " --to 12"),
    )
    parser.add_argument("kit", metavar="KIT", help=_KIT)
    parser.add_argument("--to", type=_version, required=True, metavar="VERSION", help="version of a kept checkpoint")
    parser = add_command(
        steps,
        exclude,
        summary="refuse a site from the next session on",
        description="Remove a site from the server's agreement. Its earlier updates stay: roll back to undo them.",
        epilog=example.format("exclude", " --site hospital-c"),
    )
    parser.add_argument("kit", metavar="KIT", help=_KIT)
    parser.add_argument("--site", required=True, metavar="NAME", help="name of the site")


def status(arguments: argparse.Namespace) -> int:
    """Print the state of the federation."""
    from ..federated.server import ParameterServer
    from ..federated.sites import list_checkpoints, server_checkpoint, site_events

    server = ParameterServer.load(server_checkpoint(arguments.kit)[1])
    kept = _shortened([str(version) for version in list_checkpoints(arguments.kit)])
    print(f"Version {server.version}; kept checkpoints: {kept}.")
    columns = f"{'uploads':>8}{'bytes':>12}{'norm':>8}{'F1':>7}{'refused':>9}"
    events = site_events(arguments.kit)
    # Names of sites have up to 63 characters.
    width = max([20, *(len(site) + 2 for site in events)])
    print(f"{'site':<{width}}{'last contact (UTC)':<22}{columns}  last reason")
    for site, row in events.items():
        last = "never"
        if row["last"] is not None:
            last = datetime.fromtimestamp(row["last"], timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
        norm, f1 = ("-" if value is None else f"{value:.3f}" for value in (row["norm"], row["f1"]))
        sent = f"{row['uploads']:>8} {row['bytes']:>11} {norm:>7} {f1:>6}"
        print(f"{site:<{width}}{last:<22}{sent} {row['refused']:>8}  {one_line(row['reason'] or '-')}")
    return DONE


def rollback(arguments: argparse.Namespace) -> int:
    """Return to a checkpoint."""
    from ..federated.server import ParameterServer
    from ..federated.sites import roll_back, server_checkpoint

    before = roll_back(arguments.kit, arguments.to)
    number = ParameterServer.load(server_checkpoint(arguments.kit)[1]).version
    # In rounds and with masks versions never repeat, so that 'status' shows another number than the asked one.
    counted = "" if number == arguments.to else f" Rounds go on from version {number}, which has the same parameters."
    print(f"The server is back at version {arguments.to}. Version {before} is kept as a checkpoint.{counted}")
    return DONE


def exclude(arguments: argparse.Namespace) -> int:
    """Remove a site from the agreement of the server."""
    from ..federated.robust import FEWEST_UPDATES
    from ..federated.sites import exclude_site, server_checkpoint

    left = exclude_site(arguments.kit, arguments.site)
    print(f"{arguments.site} is refused from the next session on. Remaining sites: {', '.join(left)}.")
    agreement = server_checkpoint(arguments.kit)[0]
    if agreement.screened and len(left) < FEWEST_UPDATES:
        print("Updates are no longer screened: with two sites, nobody can decide which site is hostile.")
    if agreement.mask_keys:
        print("Send local/federation.json of this kit to all sites: masks cancel between equal agreements only.")
    return DONE


def _shortened(versions: list[str]) -> str:
    """Versions as one line; the middle of a long list is left out."""
    if len(versions) > 12:
        versions = [*versions[:4], "...", *versions[-6:]]
    return ", ".join(versions) or "none"


def _version(written: str) -> int:
    return 0 if written == "0" else count(written)
