"""``sklearn-deid federate``: prepare a training across sites, as the coordinator or as a site."""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path
from typing import Any

from ..exceptions import DeidError
from .failures import DONE
from .federate_options import add_agreement, add_rules, add_sharing, agreement_of, rules_of, sharing_of
from .options import ANNOTATED, add_encoding, count
from .options import add_command as add

__all__ = ["add_command"]

_DESCRIPTION = """\
Prepare a training across sites: one tagger, and no note is moved.

Sites train on their own notes and exchange a chosen part of clipped updates with a server (distributed
selective SGD), over NVIDIA FLARE with certificates on both sides. Sites open no port; the server opens one.
Updates can still reveal notes: see docs/federated.md."""

_EPILOG = """\
in this order:
  coordinator  sklearn-deid federate plan FOLDER --project NAME --server HOST --site A --site B --lead EMAIL
  everybody    nvflare cert request, then nvflare package (docs/federated_sites.md)
  server       sklearn-deid federate server KIT --agreement federation.json
  each site    sklearn-deid federate site KIT --agreement federation.json --corpus NOTES
  at the end   sklearn-deid federate model KIT --output MODEL

exit codes: 0 done, 2 failed, 130 interrupted"""


def add_command(commands: Any) -> None:
    """Add the parser of this command and of its steps."""
    parser = add(
        commands,
        "federate",
        _no_step,
        summary="prepare a training across sites",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    steps = parser.add_subparsers(title="steps", metavar="STEP", required=True)
    _add_plan(steps)
    _add_server(steps)
    _add_site(steps)
    _add_model(steps)


def _add_plan(steps: Any) -> None:
    parser = add(
        steps,
        "plan",
        plan,
        summary="write what all places agree on",
        description="Write the agreement, the requests for certificates, and the job of a session.",
        epilog="example:\n  sklearn-deid federate plan lab --project lab --server deid.example.org \\\n"
        "    --site hospital-a --site hospital-b --lead researcher@example.org --labels i2b2-2014",
    )
    parser.add_argument("folder", metavar="FOLDER", help="folder to make")
    parser.add_argument("--server", required=True, metavar="HOST", help="name of the server as sites reach it")
    parser.add_argument("--port", type=count, default=8002, metavar="N", help="port of the server (default: 8002)")
    parser.add_argument("--lead", required=True, metavar="EMAIL", help="address of the person who starts sessions")
    add_agreement(parser)
    add_rules(parser)


def plan(arguments: argparse.Namespace) -> int:
    """Write the folder of a federation."""
    from ..federated.sites import write_federation, write_session

    if Path(arguments.folder).exists():
        raise DeidError("The folder exists already; name another one.", path=arguments.folder)
    agreement, rules = agreement_of(arguments), rules_of(arguments)
    write_federation(arguments.folder, agreement, arguments.server, arguments.port, arguments.lead)
    write_session(Path(arguments.folder, "session"), rules)
    n_sessions = -(-agreement.n_epochs // rules.n_epochs)
    print(f"Federation of {len(agreement.sites)} sites written to {arguments.folder}")
    print(f"{agreement.n_epochs} local epochs in {n_sessions} sessions; {len(agreement.labels)} labels.")
    return DONE


def _add_server(steps: Any) -> None:
    parser = add(
        steps,
        "server",
        server,
        summary="prepare the kit of the server",
        description="Restrict the server to sessions, and write the first weights. Never overwrites weights.",
        epilog="example:\n  sklearn-deid federate server ws/lab/prod_00/deid.example.org --agreement federation.json",
    )
    parser.add_argument("kit", metavar="KIT", help="folder that 'nvflare package' has made")
    parser.add_argument("--agreement", required=True, metavar="FILE", help="federation.json of the federation")


def server(arguments: argparse.Namespace) -> int:
    """Harden the server's kit."""
    from ..federated.sites import FederationConfig, harden_server, read_settings

    checkpoint = harden_server(arguments.kit, read_settings(FederationConfig, arguments.agreement))
    print(f"Server prepared; its state is in {checkpoint}")
    return DONE


def _add_site(steps: Any) -> None:
    parser = add(
        steps,
        "site",
        site,
        summary="prepare the kit of a site",
        description="""\
Write the settings of this site (where its notes are, how much it shares) into its kit, restrict the kit to this
training, and read the notes once to check them. The settings stay on this computer.""",
        epilog="example:\n  sklearn-deid federate site ws/lab/prod_00/hospital-a --agreement federation.json \\\n"
        "    --corpus /data/notes --upload-fraction 0.1",
    )
    parser.add_argument("kit", metavar="KIT", help="folder that 'nvflare package' has made")
    parser.add_argument("--agreement", required=True, metavar="FILE", help="federation.json of the federation")
    parser.add_argument("--corpus", required=True, metavar="PATH", help="file or folder with annotated notes")
    parser.add_argument(
        "--format", choices=ANNOTATED, help="format of the notes (default: what the endings of the files say)"
    )
    add_encoding(parser)
    parser.add_argument(
        "--state", metavar="FOLDER", help="folder for the state and the model (default: deid-state in the kit)"
    )
    add_sharing(parser)


def site(arguments: argparse.Namespace) -> int:
    """Harden a site's kit and check its notes."""
    from ..federated.sites import (
        STATE_FOLDER,
        FederationConfig,
        SiteSettings,
        harden_site,
        read_settings,
        read_site_corpus,
    )

    agreement = read_settings(FederationConfig, arguments.agreement)
    settings = SiteSettings(
        corpus=str(Path(arguments.corpus).resolve()),
        state=str(Path(arguments.state or Path(arguments.kit, STATE_FOLDER)).resolve()),
        # of training alone; 32 bits are what scikit-learn allows, and noise does not come from it
        random_state=secrets.randbits(32),
        format=arguments.format,
        encoding=arguments.encoding,
        **sharing_of(arguments),
    )
    corpus = read_site_corpus(settings)
    unknown = {span.label for document in corpus for span in document.spans} - set(agreement.labels)
    if unknown:
        raise DeidError(f"The notes have {len(unknown)} labels that are not agreed on, such as {min(unknown)!r}.")
    harden_site(arguments.kit, agreement, settings)
    print(f"Site prepared: {len(corpus)} notes of {len(corpus.patients)} patients, {corpus.n_spans} annotations.")
    print(f"After each epoch at most {settings.upload_fraction:.0%} of the parameters' updates are sent.")
    if settings.privacy() is None:
        print("Updates are sent without noise: the information about the notes in them is not bounded.")
    return DONE


def _add_model(steps: Any) -> None:
    parser = add(
        steps,
        "model",
        model,
        summary="save the network of the server as a model",
        description="Save the current global network as a folder that 'redact' and 'tag' read.",
        epilog="example:\n  sklearn-deid federate model workspace/lab/prod_00/deid.example.org --output my-model",
    )
    parser.add_argument("kit", metavar="KIT", help="kit of the server")
    parser.add_argument("--output", required=True, metavar="FOLDER", help="folder to save the model in")
    parser.add_argument("--overwrite", action="store_true", help="replace a model that is saved there")


def model(arguments: argparse.Namespace) -> int:
    """Save the server's network."""
    from .._storage import check_bundle_target
    from ..federated.server import ParameterServer
    from ..federated.sites import server_checkpoint
    from ..tagging.saving import save_model

    check_bundle_target(arguments.output, arguments.overwrite)
    agreement, checkpoint = server_checkpoint(arguments.kit)
    state = ParameterServer.load(checkpoint)
    save_model(agreement.tagger_with(state.parameters, state.model), arguments.output, overwrite=arguments.overwrite)
    print(f"Model saved in {arguments.output}, after {state.version} updates.")
    return DONE


def _no_step(arguments: argparse.Namespace) -> int:
    raise AssertionError("argparse asks for a step")
