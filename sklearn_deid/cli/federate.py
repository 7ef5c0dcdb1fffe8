"""``sklearn-deid federate``: prepare a training across sites, as the coordinator or as a site."""

from __future__ import annotations

import argparse
import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import DeidError
from ..surrogates.locale_words import LOCALES
from .failures import DONE
from .federate_audit import add_audit_step
from .federate_masks import add_mask_steps
from .federate_sharing import add_aggregation, add_sharing, sharing_of
from .federate_simulation import add_simulation
from .federate_state import add_state_steps
from .options import ANNOTATED, LABEL_SCHEMES, add_encoding, count, not_negative, port, positive, seed
from .options import add_command as add

if TYPE_CHECKING:
    from ..federated.sites import FederationConfig, SessionRules, SiteSettings

_EPOCHS, _WORDS_OF_A_NOTE = 50, 300
_STARTER = "starter-en"

SUMMARY = "prepare a training across sites"
DESCRIPTION = """\
Prepare a training across sites: one tagger, and no note is moved.

Sites train on their own notes and send their updates to a server, which adds a mean of them (federated
averaging), over NVIDIA FLARE with certificates on both sides. Sites open no port; the server opens one. Where
sites shall send less, plan distributed selective SGD with --no-screen, and let them choose --upload-fraction.
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
    _add_plan(steps)
    _add_server(steps)
    _add_site(steps)
    _add_model(steps)
    add_mask_steps(steps)
    add_state_steps(steps)
    add_simulation(steps)
    add_audit_step(steps)


def _add_plan(steps: Any) -> None:
    parser = add(
        steps,
        "plan",
        plan,
        summary="write the shared settings of all sites",
        description="Write the agreement, the requests for certificates, and the job of a session.",
        epilog="example:\n  sklearn-deid federate plan lab --project lab --server deid.example.org \\\n"
        "    --site hospital-a --site hospital-b --lead researcher@example.org --labels i2b2-2014",
    )
    parser.add_argument("folder", metavar="FOLDER", help="new folder")
    parser.add_argument("--server", required=True, metavar="HOST", help="name of the server as sites reach it")
    parser.add_argument("--port", type=port, default=8002, metavar="N", help="port of the server (default: 8002)")
    parser.add_argument("--lead", required=True, metavar="EMAIL", help="address of the person who starts sessions")
    _add_agreement(parser)
    _add_rules(parser)


def plan(arguments: argparse.Namespace) -> int:
    """Write the folder of a new federation."""
    from ..federated.sites import write_federation, write_session

    # An existing folder may belong to a running federation.
    if Path(arguments.folder).exists():
        raise DeidError("The folder exists already; name another one.", path=arguments.folder)
    agreement, rules = _agreement_of(arguments), _rules_of(arguments)
    write_federation(arguments.folder, agreement, arguments.server, arguments.port, arguments.lead)
    write_session(Path(arguments.folder, "session"), rules)
    # Quotient rounded up: the last session may have fewer epochs.
    n_sessions = -(-agreement.n_epochs // rules.n_epochs)
    print(f"Federation of {len(agreement.sites)} sites written to {arguments.folder}")
    print(f"{agreement.n_epochs} local epochs in {n_sessions} sessions; {len(agreement.labels)} labels.")
    rate, start = agreement.tagger_to_train().lr, agreement.tagger.get("warm_start_from")
    print(f"Learning rate {rate:g}; first weights: {start or 'random'}.")
    print(_how_updates_travel(agreement))
    return DONE


def _how_updates_travel(agreement: FederationConfig) -> str:
    """Text about what the server sees of each site, to read before anybody agrees."""
    rule = "adds each update on arrival"
    if agreement.has_rounds:
        against = ", without those that point against most others" if agreement.screened else ""
        rule = f"combines the updates of a round by their {agreement.aggregation.replace('_', ' ')}{against}"
    return (
        f"The server {rule}. It sees the update of each site ('federate masks' hides single updates). Each patient: no "
        "epsilon is promised, unless a site asks for it with --patient-epsilon."
    )


def _add_server(steps: Any) -> None:
    parser = add(
        steps,
        "server",
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
    parser = add(
        steps,
        "site",
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
    """Harden a site's kit and check its notes."""
    from ..federated.noise import SparseVectorUpload
    from ..federated.sites import (
        MASK_KEY,
        STATE_FOLDER,
        FederationConfig,
        SiteSettings,
        check_masks,
        check_robust,
        harden_site,
        read_settings,
        read_site_corpus,
    )

    agreement = read_settings(FederationConfig, arguments.agreement)
    shared = sharing_of(arguments)
    if arguments.epsilon is not None:
        # The option is the total; the settings have the noise of one epoch.
        shared["epsilon"] = SparseVectorUpload.for_total(arguments.epsilon, agreement.n_epochs).epsilon
    settings = SiteSettings(
        corpus=str(Path(arguments.corpus).resolve()),
        state=str(Path(arguments.state or Path(arguments.kit, STATE_FOLDER)).resolve()),
        # of training alone; 32 bits are what scikit-learn allows, and noise does not come from it
        random_state=secrets.randbits(32),
        format=arguments.format,
        encoding=arguments.encoding,
        mask_key=str(Path(arguments.kit, MASK_KEY).resolve()) if agreement.mask_keys else None,
        **shared,
    )
    settings.promise(agreement.n_epochs)  # refuses noise that promises nothing
    corpus = read_site_corpus(settings)
    # Labels are compared now, because an unknown label would stop the training at this site later.
    unknown = {span.label for document in corpus for span in document.spans} - set(agreement.labels)
    if unknown:
        raise DeidError(
            f"The notes have {len(unknown)} labels that the agreement does not name, such as {min(unknown)!r}."
        )
    if agreement.mask_keys:
        check_masks(agreement, settings)
    if agreement.has_rounds:
        check_robust(settings)
    promise = _promise(settings, agreement, len(corpus.patients))
    harden_site(arguments.kit, agreement, settings)
    _say_what_leaves(agreement, settings, corpus, promise)
    return DONE


def _say_what_leaves(agreement: FederationConfig, settings: SiteSettings, corpus: Any, promise: str) -> None:
    """Print what the officer of the site reads before the first session."""
    print(f"Site prepared: {len(corpus)} notes of {len(corpus.patients)} patients, {corpus.n_spans} annotations.")
    share = f"{settings.upload_fraction:.0%} of the parameters' updates"
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
    """Planned epsilon of the whole training, for the officer of the site; spent epsilon of a site with a ledger."""
    from ..federated.privacy_ledger import SITE_DELTA, spent_epsilon

    patients, uploads = settings.patient_privacy(), settings.promise(agreement.n_epochs)
    if patients is not None:
        patients.check(n_patients)
        if patients.ledger is not None and Path(patients.ledger).exists():
            # A site that is set up again: refuses another plan, which would spend a second budget.
            return patients.open_ledger(n_patients, agreement.n_epochs).line()
        return (
            f"Each patient: epsilon {patients.epsilon:g} at delta {patients.delta:g} for all {agreement.n_epochs} "
            f"local epochs of {patients.n_steps} steps; nothing is spent yet."
        )
    # The spent part is in the state of the worker, which no command reads.
    has_begun = Path(settings.state, "worker.state").exists()
    spent = "; officer.log tells what is spent" if has_begun else "; nothing is spent yet"
    if uploads is None:
        return "Updates are sent without noise: the information about the notes in them is not bounded."
    return (
        f"This site as a whole, and so each of its patients: epsilon {spent_epsilon(uploads, SITE_DELTA):.3f} at delta "
        f"{SITE_DELTA:g} for the uploads of all {agreement.n_epochs} local epochs{spent}."
    )


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
    print(f"Model saved in {arguments.output}, after {state.version} updates.")
    return DONE


def run(arguments: argparse.Namespace) -> int:
    """Refuse to run: each step has its own function."""
    raise AssertionError("argparse asks for a step")


# ---- options


def _add_agreement(parser: argparse.ArgumentParser) -> None:
    """Add options for the settings that all sites share."""
    parser.add_argument("--project", required=True, metavar="NAME", help="name of the federation")
    parser.add_argument(
        "--site", action="append", required=True, metavar="NAME", help="name of a site; repeat the option for each site"
    )
    parser.add_argument(
        "--labels",
        default="i2b2-2014",
        metavar="NAMES",
        help=f"label set: {', '.join(LABEL_SCHEMES)}, or labels with commas between them (default: i2b2-2014)",
    )
    parser.add_argument(
        "--embeddings",
        choices=("auto", "glove-6b-50d", "none"),
        default="auto",
        help="public word vectors: random n-grams (auto), GloVe, or characters only (default: auto)",
    )
    parser.add_argument(
        "--lists",
        choices=("any", *LOCALES, "none"),
        default="any",
        help="public lists of names and places for 'auto': of all languages, or also of one (default: any)",
    )
    _add_training(parser)
    parser.add_argument(
        "--max-norm", type=positive, metavar="X", help="largest norm of an update (default: that of the first weights)"
    )
    parser.add_argument(
        "--max-ratio",
        type=positive,
        metavar="X",
        help="largest norm of an update as a multiple of the other sites' norms (default: 5)",
    )
    parser.add_argument("--max-abs", type=positive, metavar="X", help="largest value of an update (default: 10)")
    parser.add_argument(
        "--step",
        type=positive,
        metavar="X",
        help="factor of updates at the server; 1 / number of sites adds their mean (default: 1 / square root of the "
        "number of sites)",
    )
    add_aggregation(parser)
    parser.add_argument(
        "--download-selection",
        choices=("most-updated", "random", "most-changed"),
        default="most-updated",
        help="which parameters a site fetches (default: most-updated)",
    )


def _add_training(parser: argparse.ArgumentParser) -> None:
    """Add options for the network and the length of its training."""
    parser.add_argument("--hidden-size", type=count, metavar="N", help="units of the network (default: 128)")
    parser.add_argument(
        "--start",
        choices=("auto", _STARTER, "none"),
        default="auto",
        help=f"first weights: of the model of the package, or random; auto means {_STARTER}, unless --hidden-size, "
        "--embeddings or --set ask for another network (default: auto)",
    )
    parser.add_argument(
        "--lr",
        type=positive,
        metavar="RATE",
        help="learning rate (default: 0.003; in common rounds, times the square root of the number of sites)",
    )
    parser.add_argument(
        "--batch-size", type=count, metavar="N", help="words of a batch at a site (default: 900 / number of sites)"
    )
    parser.add_argument(
        "--set",
        type=_parameter,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another parameter of the tagger, such as characters=bilstm or head=softmax; may be repeated",
    )
    parser.add_argument(
        "--notes",
        type=count,
        metavar="N",
        help="notes of all sites together, with about 300 words each: decides on --epochs and --parts, so that sites "
        "exchange updates after about 20 batches",
    )
    parser.add_argument("--epochs", type=count, metavar="N", help="local epochs of a site (default: 50)")
    parser.add_argument(
        "--parts",
        type=count,
        metavar="N",
        help="divide the notes of each site into N parts; a local epoch is one part (default: 1)",
    )
    parser.add_argument(
        "--proximal",
        type=not_negative,
        default=0.0,
        metavar="MU",
        help="weight of FedProx: keeps each site near the common model while it trains (default: 0)",
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the first weights (default: 0)")


def _agreement_of(arguments: argparse.Namespace) -> FederationConfig:
    """Create the configuration of the federation from the options."""
    from ..federated.derived_settings import averaging_step, rounds_per_epoch, shared_epochs
    from ..federated.robust import FEWEST_UPDATES
    from ..federated.sites import FederationConfig
    from ..tagging import DeidTagger
    from ..text import get_label_scheme

    named = arguments.labels in LABEL_SCHEMES
    labels = sorted(get_label_scheme(arguments.labels).labels) if named else arguments.labels.split(",")
    n_sites, whole = len(arguments.site), DeidTagger().batch_size
    # Two sites cannot tell which of them is hostile.
    screened = arguments.screened and n_sites >= FEWEST_UPDATES
    tagger = _tagger_of(arguments, n_sites, has_rounds=screened or arguments.aggregation != "mean")
    n_epochs, n_parts = _EPOCHS, 1
    if arguments.notes is not None:
        size = arguments.notes * _WORDS_OF_A_NOTE, whole
        n_parts = rounds_per_epoch(*size)
        n_epochs = shared_epochs(*size) * n_parts
    # GloVe and characters alone have no place for lists.
    lists = arguments.lists if tagger.get("embeddings", "auto") == "auto" and arguments.lists != "none" else None
    agreement = FederationConfig(
        project=arguments.project,
        sites=arguments.site,
        labels=labels,
        tagger=tagger,
        n_epochs=arguments.epochs or n_epochs,
        n_parts=arguments.parts or n_parts,
        proximal=arguments.proximal,
        seed=arguments.seed,
        max_abs=arguments.max_abs,
        max_norm=arguments.max_norm,
        max_ratio=arguments.max_ratio,
        # Of one update: a part of the mean, times the step of averaging.
        step=arguments.step or averaging_step(n_sites) / n_sites,
        download_selection=arguments.download_selection,
        aggregation=arguments.aggregation,
        n_trim=arguments.n_trim,
        screened=screened,
        keep_exchange=arguments.keep_exchange,
        lists=lists,
    )
    # Refuses what no tagger takes, before anybody has asked for a certificate.
    return agreement.with_lists_checksum()


def _tagger_of(arguments: argparse.Namespace, n_sites: int, has_rounds: bool) -> dict[str, Any]:
    """Parameters of the tagger that all sites share. Parameters that no option sets follow from the number of sites."""
    from ..federated.derived_settings import averaging_rate, divided_batch_size
    from ..tagging import DeidTagger

    usual = DeidTagger()
    tagger: dict[str, Any] = {"embeddings": None if arguments.embeddings == "none" else arguments.embeddings}
    # Options without a value stay out of the agreement, so that the defaults of `DeidTagger` apply.
    for name in ("hidden_size", "lr"):
        if getattr(arguments, name) is not None:
            tagger[name] = getattr(arguments, name)
    tagger["batch_size"] = arguments.batch_size or divided_batch_size(usual.batch_size, n_sites)
    # Updates that are added on arrival were measured with the rate of the tagger only.
    if arguments.lr is None and has_rounds:
        tagger["lr"] = round(averaging_rate(usual.lr, n_sites), 5)
    if _starts_from_starter(arguments):
        tagger["warm_start_from"] = _STARTER
    return {**tagger, **dict(arguments.set)}


def _starts_from_starter(arguments: argparse.Namespace) -> bool:
    """Whether the first weights are those of the starter. Options for another network mean random weights."""
    if arguments.start != "auto":
        return bool(arguments.start == _STARTER)
    return arguments.hidden_size is None and arguments.embeddings == "auto" and not arguments.set


def _add_rules(parser: argparse.ArgumentParser) -> None:
    """Add options for the end of a session."""
    rules = parser.add_argument_group("sessions", "a site that misses the end of a session goes on in the next one")
    rules.add_argument("--session-epochs", type=count, default=5, metavar="N", help="local epochs (default: 5)")
    for name, default, text in (
        ("first-contact", 300.0, "the server stops waiting for a site that has not called within S seconds"),
        ("silence", 60.0, "the server stops waiting for a site that is silent for S seconds"),
        ("grace", 600.0, "the server waits S seconds for slow sites when most are done"),
        ("longest", 86400.0, "longest duration of a session in seconds"),
    ):
        rules.add_argument(
            f"--{name}", type=positive, default=default, metavar="S", help=f"{text} (default: {default:g})"
        )


def _rules_of(arguments: argparse.Namespace) -> SessionRules:
    """Create the session rules from the options."""
    from ..federated.sites import SessionRules

    return SessionRules(
        arguments.session_epochs, arguments.first_contact, arguments.silence, arguments.grace, arguments.longest
    )


def _parameter(written: str) -> tuple[str, Any]:
    name, equals, value = written.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, not {written!r}")
    # A value that is no JSON, such as bilstm, is a string.
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
