"""``sklearn-deid federate key`` and ``masks``: the keys with which sites hide their updates from the server."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from ..exceptions import DeidError
from .failures import DONE
from .options import add_command, add_number, fraction, named_value, positive


def add_mask_steps(steps: Any) -> None:
    """Add the parsers of the two steps."""
    parser = add_command(
        steps,
        key,
        summary="make the key of a site for masks",
        description="Make the private key of the site, which stays in the kit, and print the public key.",
        epilog="example:\n  sklearn-deid federate key workspace/lab/prod_00/hospital-a",
    )
    parser.add_argument("kit", metavar="KIT", help="kit of the site")
    parser = add_command(
        steps,
        masks,
        summary="write the keys of all sites into the agreement",
        description="""\
Write the public keys of all sites into the agreement. From then on the server learns the sum of the updates
only. Needs 3 to 127 sites, and all of them in every round.""",
        epilog="example:\n  sklearn-deid federate masks federation.json --key hospital-a=3f... --key hospital-b=90... "
        "--key hospital-c=c1...",
    )
    parser.add_argument("agreement", metavar="FILE", help="federation.json of the federation")
    parser.add_argument(
        "--key",
        type=named_value("NAME=KEY"),
        action="append",
        required=True,
        metavar="NAME=KEY",
        help="public key of a site",
    )
    add_number(parser, "--bound", positive, "largest value of an update (default: 0.25)", default=0.25)
    add_number(parser, "--fraction", fraction, "proportion of the values sent (default: 1)", default=1.0)


def key(arguments: argparse.Namespace) -> int:
    """Make and print a key."""
    from ..federated.sites import make_mask_key, mask_key_path

    print(make_mask_key(mask_key_path(arguments.kit)))
    return DONE


def masks(arguments: argparse.Namespace) -> int:
    """Write the keys into the agreement."""
    from ..federated.sites import FederationConfig, read_settings, write_settings

    if len(dict(arguments.key)) < len(arguments.key):
        raise DeidError("--key names a site twice. Give each site one key.")
    agreement = read_settings(FederationConfig, arguments.agreement)
    chosen = {"mask_bound": arguments.bound, "mask_fraction": arguments.fraction}
    # The screen compares single updates, which the server no longer sees.
    masked = replace(agreement, mask_keys=dict(arguments.key), screened=False, **chosen)
    write_settings(masked, arguments.agreement)
    print(f"The server will learn the sum of {len(masked.sites)} updates, and no single update.")
    print(f"Fingerprint of the keys: {masked.mask_fingerprint()}")
    return DONE
