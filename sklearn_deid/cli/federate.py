"""``sklearn-deid federate``: prepare a training across sites, as the coordinator or as a site."""

from __future__ import annotations

import argparse
import secrets
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import DeidError
from .counting import counted
from .failures import DONE
from .federate_audit import add_audit_step
from .federate_masks import add_mask_steps
from .federate_plan import add_plan_step
from .federate_sharing import add_sharing
from .federate_simulation import add_simulation
from .federate_state import add_state_steps
from .options import ANNOTATED, add_command, add_encoding, checked_device, settings_of

if TYPE_CHECKING:
    from ..federated.sites import FederationConfig, SiteSettings
    from ..text import Corpus

SUMMARY = "prepare a training across sites"
DESCRIPTION = """\
Prepare a training across sites: one tagger, and no note is moved.

Sites train on their own notes and send their updates to a server, which adds a mean of them (federated
averaging), over NVIDIA FLARE with certificates on both sides. Sites open no port; the server opens one. If
sites should send less, plan distributed selective SGD with --no-screen, and let sites choose --upload-fraction.
Updates can still reveal notes: see docs/federated.md."""

EPILOG = """\
in this order:
  coordinator  sklearn-deid federate plan FOLDER --project NAME --server HOST --site A --site B --lead EMAIL
  everybody    nvflare cert request, then nvflare package (docs/federated_sites.md)
  server       sklearn-deid federate server KIT --agreement federation.json
  each site    sklearn-deid federate site KIT --agreement federation.json --corpus NOTES
  at the end   sklearn-deid federate model KIT --output MODEL

exit codes: 0 done, 2 failed, 130 interrupted"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the steps of this command."""
    steps = parser.add_subparsers(title="steps", metavar="STEP", required=True)
    add_plan_step(steps)
    _add_server(steps)
    _add_site(steps)
    _add_model(steps)
    add_mask_steps(steps)
    add_state_steps(steps)
    add_simulation(steps)
    add_audit_step(steps)


def _add_server(steps: Any) -> None:
    parser = add_command(
        steps,
        server,
        summary="prepare the kit of the server",
        description="Restrict the server to sessions, and write the first weights. Never overwrites weights.",
        epilog="example:\n  sklearn-deid federate server ws/lab/prod_00/deid.example.org --agreement federation.json",
    )
    parser.add_argument("kit", metavar="KIT", help="folder that 'nvflare package' has written")
    parser.add_argument("--agreement", required=True, metavar="FILE", help="federation.json of the federation")


def server(arguments: argparse.Namespace) -> int:
    """Harden the server's kit."""
    from ..federated.sites import FederationConfig, harden_server, read_settings

    checkpoint = harden_server(arguments.kit, read_settings(FederationConfig, arguments.agreement))
    print(f"Server prepared; its state is in {checkpoint}")
    return DONE


def _add_site(steps: Any) -> None:
    parser = add_command(
        steps,
        site,
        summary="prepare the kit of a site",
        description="""\
Write the settings of this site (where its notes are, how much it shares) into its kit, restrict the kit to this
training, and read the notes once to check them. The settings stay on this computer.""",
        epilog="example:\n  sklearn-deid federate site ws/lab/prod_00/hospital-a --agreement federation.json \\\n"
        "    --corpus /data/notes --validation-fraction 0.2",
    )
    parser.add_argument("kit", metavar="KIT", help="folder that 'nvflare package' has written")
    parser.add_argument("--agreement", required=True, metavar="FILE", help="federation.json of the federation")
    parser.add_argument("--corpus", required=True, metavar="PATH", help="file or folder with annotated notes")
    parser.add_argument(
        "--format", choices=ANNOTATED, help="format of the notes (default: the format of their file endings)"
    )
    add_encoding(parser)
    parser.add_argument(
        "--state", metavar="FOLDER", help="folder for the state and the model (default: deid-state in the kit)"
    )
    add_sharing(parser)


def site(arguments: argparse.Namespace) -> int:
    """Harden the file permissions of a site's kit and check its notes."""
    from ..federated import sites
    from ..federated.noise import SparseVectorUpload
    from ..federated.sites import FederationConfig, SiteSettings
    from ..federated.sites.noise_limits import check_noise

    agreement = sites.read_settings(FederationConfig, arguments.agreement)
    checked_device(arguments.device)
    agreement.tagger_to_train()  # refuses other public lists of words, as every session would
    chosen = settings_of(arguments, SiteSettings)
    if arguments.epsilon is not None:
        # The option is the total; the settings have the noise of one epoch.
        chosen["epsilon"] = SparseVectorUpload.for_total(arguments.epsilon, agreement.n_epochs).epsilon
    chosen["corpus"] = str(Path(arguments.corpus).resolve())
    chosen["state"] = str(Path(arguments.state or Path(arguments.kit, sites.STATE_FOLDER)).resolve())
    earlier = _earlier_settings(Path(arguments.kit, "local", sites.SITE_FILE))
    if earlier is not None and _has_begun(earlier.state) and not _has_begun(chosen["state"]):
        raise DeidError(
            "The training of this site has begun in another state folder. A new folder would forget the spent epsilon, "
            "and the server would refuse the site. Pass the folder as --state, or move it to the new place.",
            path=earlier.state,
        )
    # With another seed, a saved training would hold out other patients. 32 bits are what scikit-learn allows: the seed
    # is one of training alone, and noise does not come from it.
    seed = None if earlier is None else earlier.random_state
    chosen["random_state"] = secrets.randbits(32) if seed is None else seed
    chosen["mask_key"] = str(Path(arguments.kit, sites.MASK_KEY).resolve()) if agreement.mask_keys else None
    settings = SiteSettings(**chosen)
    sites.promise_of(agreement, settings)  # refuses noise that promises nothing
    sites.check_patient_privacy(agreement, settings)
    corpus = _checked_corpus(settings, agreement)
    promise = _promise(settings, agreement, len(corpus.patients))
    check_noise(agreement, settings)
    sites.harden_site(arguments.kit, agreement, settings)
    _say_what_leaves(agreement, settings, corpus, promise)
    return DONE


def _checked_corpus(settings: SiteSettings, agreement: FederationConfig) -> Corpus:
    """Notes of the site, after a check against the agreement."""
    from ..federated.sites import check_held_out, check_masks, check_parts, check_robust, read_site_corpus

    corpus = read_site_corpus(settings)
    # Labels are compared now, because an unknown label would stop the training at this site later.
    unknown = {span.label for document in corpus for span in document.spans} - set(agreement.labels)
    if unknown:
        raise DeidError(
            f"The notes have {counted(len(unknown), 'label')} that the agreement does not name, such as "
            f"{min(unknown)!r}."
        )
    sentences = corpus.to_sentences()
    check_parts(agreement, settings, len(sentences.X))
    check_held_out(settings, sentences.groups)
    if agreement.mask_keys:
        check_masks(agreement, settings)
    if agreement.has_rounds:
        check_robust(settings)
    return corpus


def _earlier_settings(path: Path) -> SiteSettings | None:
    """Settings of a site that is set up again; None for a new site, or if the settings cannot be read."""
    from ..federated.sites import SiteSettings, read_settings

    try:
        return read_settings(SiteSettings, path)
    except DeidError:
        return None


def _has_begun(state: str) -> bool:
    """Whether a state folder holds a training, or steps that a session has charged before it failed."""
    from ..federated.sites.site_settings import PATIENT_LEDGER

    return any(Path(state, name).exists() for name in ("worker.state", PATIENT_LEDGER))


def _say_what_leaves(agreement: FederationConfig, settings: SiteSettings, corpus: Any, promise: str) -> None:
    """Print the information that the officer of the site should read before the first session."""
    size = f"{counted(len(corpus), 'note')} of {counted(len(corpus.patients), 'patient')}"
    print(f"Site prepared: {size}, {counted(corpus.n_spans, 'annotation')}.")
    # Without rounding: 12.349 % are not "at most 12.3 %".
    share = f"{100 * settings.upload_fraction:g}% of the parameters' updates"
    print(f"After each epoch at most {share} are sent, to the server of {agreement.project}.")
    if not agreement.mask_keys:
        print("The server sees each update of this site: the agreement has no masks.")
    else:
        print(f"Updates are masked: the server learns the sum of {', '.join(agreement.sites)}.")
        print(f"Fingerprint of the keys: {agreement.mask_fingerprint()}. Compare it with the other sites by telephone.")
    if agreement.keep_exchange:
        kept = "masked updates" if agreement.mask_keys else "updates"
        print(f"The server keeps all {kept} of this site on its disk, for an audit.")
    print(promise)


def _promise(settings: SiteSettings, agreement: FederationConfig, n_patients: int) -> str:
    """Line for the officer of the site: planned epsilon of the whole training, or spent epsilon if a ledger exists."""
    from ..federated.privacy_ledger import SITE_DELTA, epsilon_text, spent_epsilon
    from ..federated.sites import check_ledger, promise_of

    patients, uploads = settings.patient_privacy(), promise_of(agreement, settings)
    has_begun = Path(settings.state, "worker.state").exists()
    if patients is not None:
        patients.check(n_patients)
        if patients.ledger is not None and Path(patients.ledger).exists():
            # A site that is set up again: refuses another plan, which would spend a second budget.
            ledger = patients.open_ledger(n_patients, agreement.n_epochs)
            check_ledger(settings, ledger, patients.n_steps)
            return ledger.line()
        if has_begun:
            raise DeidError(
                "The state folder holds a training, but no privacy ledger: earlier epochs had no noise for each "
                "patient, or the ledger was deleted. Put the newest ledger back, or leave out --patient-epsilon.",
                path=settings.state,
            )
        replace(patients, ledger=None).open_ledger(n_patients, agreement.n_epochs)  # refuses a plan that no noise keeps
        return (
            f"Each patient: epsilon {patients.epsilon:g} at delta {patients.delta:g} for all {agreement.n_epochs} "
            f"local epochs of {patients.n_steps} steps; nothing is spent yet."
        )
    spent = "; officer.log states the spent epsilon" if has_begun else "; nothing is spent yet"
    if uploads is None:
        return "Updates are sent without noise: the information about the notes in them is not bounded."
    epsilon = epsilon_text(spent_epsilon(uploads, SITE_DELTA))
    return (
        f"This site as a whole, and so each of its patients: epsilon {epsilon} at delta {SITE_DELTA:g} for the "
        f"uploads of all {agreement.n_epochs} local epochs{spent}."
    )


def _add_model(steps: Any) -> None:
    parser = add_command(
        steps,
        model,
        summary="save the network of the server as a model",
        description="Save the current global network as a folder that 'redact' and 'tag' read.",
        epilog="example:\n  sklearn-deid federate model workspace/lab/prod_00/deid.example.org --output my-model",
    )
    parser.add_argument("kit", metavar="KIT", help="kit of the server")
    parser.add_argument("--output", required=True, metavar="FOLDER", help="folder to save the model in")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing model")


def model(arguments: argparse.Namespace) -> int:
    """Save the server's network."""
    from .._storage import check_bundle_target
    from ..federated.server import ParameterServer
    from ..federated.sites import server_checkpoint
    from ..saving import save

    # The output is checked before the checkpoint is read, so that a wrong path is reported at once.
    check_bundle_target(arguments.output, arguments.overwrite)
    agreement, checkpoint = server_checkpoint(arguments.kit)
    state = ParameterServer.load(checkpoint)
    save(agreement.tagger_with(state.parameters, state.model), arguments.output, overwrite=arguments.overwrite)
    print(f"Model saved in {arguments.output}: version {state.version} of the server.")
    return DONE


def run(arguments: argparse.Namespace) -> int:
    """Refuse to run: each step has its own function."""
    raise AssertionError("argparse asks for a step")
