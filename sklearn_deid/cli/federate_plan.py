"""``sklearn-deid federate plan``: the settings that all sites of a federation share, and the rules of a session."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._strict_json import load_strict
from ..exceptions import DeidError
from ..surrogates.locale_words import LOCALES
from .counting import counted
from .failures import DONE
from .federate_sharing import add_aggregation
from .options import (
    LABEL_SCHEMES,
    add_command,
    add_number,
    count,
    named_value,
    not_negative,
    port,
    positive,
    seed,
    settings_of,
)

if TYPE_CHECKING:
    from ..federated.sites import FederationConfig

_EPOCHS, _WORDS_OF_A_NOTE = 50, 300
_STARTER = "starter-en"


def add_plan_step(steps: Any) -> None:
    parser = add_command(
        steps,
        plan,
        summary="write the shared settings of all sites",
        description="Write the agreement, the requests for certificates, and the job of a session.",
        epilog="example:\n  sklearn-deid federate plan lab --project lab --server deid.example.org \\\n"
        "    --site hospital-a --site hospital-b --lead researcher@example.org --labels i2b2-2014",
    )
    parser.add_argument("folder", metavar="FOLDER", help="new folder")
    parser.add_argument("--server", required=True, metavar="HOST", help="name of the server as sites reach it")
    add_number(parser, "--port", port, "port of the server (default: 8002)", default=8002)
    parser.add_argument("--lead", required=True, metavar="EMAIL", help="address of the person who starts sessions")
    _add_agreement(parser)
    _add_rules(parser)


def plan(arguments: argparse.Namespace) -> int:
    """Write the folder of a new federation."""
    from ..federated.sites import SessionRules, write_federation, write_session

    # An existing folder may belong to a running federation.
    if Path(arguments.folder).exists():
        raise DeidError("The folder exists already; name another one.", path=arguments.folder)
    agreement = _agreement_of(arguments)
    rules = SessionRules(
        arguments.session_epochs, arguments.first_contact, arguments.silence, arguments.grace, arguments.longest
    )
    write_federation(arguments.folder, agreement, arguments.server, arguments.port, arguments.lead)
    write_session(Path(arguments.folder, "session"), rules)
    # Quotient rounded up: the last session may have fewer epochs.
    n_sessions = -(-agreement.n_epochs // rules.n_epochs)
    print(f"Federation of {counted(len(agreement.sites), 'site')} written to {arguments.folder}")
    epochs, sessions = counted(agreement.n_epochs, "local epoch"), counted(n_sessions, "session")
    print(f"{epochs} in {sessions}; {counted(len(agreement.labels), 'label')}.")
    rate, start = agreement.tagger_to_train().lr, agreement.tagger.get("warm_start_from")
    print(f"Learning rate {rate:g}; first weights: {start or 'random'}.")
    print(_how_updates_travel(agreement))
    return DONE


def _how_updates_travel(agreement: FederationConfig) -> str:
    """Text on what the server learns from the updates of each site, which the sites read before they agree."""
    rule = "adds each update on arrival"
    if agreement.has_rounds:
        against = ", without updates that point against most others" if agreement.screened else ""
        rule = f"combines the updates of a round by their {agreement.aggregation.replace('_', ' ')}{against}"
    return (
        f"The server {rule}. The server sees the update of each site ('federate masks' hides single updates). No "
        "epsilon is promised for each patient, unless a site sets --patient-epsilon."
    )


def _add_agreement(parser: argparse.ArgumentParser) -> None:
    """Add options for the settings that all sites share."""
    parser.add_argument("--project", required=True, metavar="NAME", help="name of the federation")
    parser.add_argument(
        "--site",
        dest="sites",
        action="append",
        required=True,
        metavar="NAME",
        help="name of a site; repeat the option for each site",
    )
    parser.add_argument(
        "--labels",
        default="i2b2-2014",
        metavar="NAMES",
        help=f"label set: {', '.join(LABEL_SCHEMES)}, or labels with commas between them, with a comma behind a single "
        "label (default: i2b2-2014)",
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
    for name, text in (
        ("max-norm", "largest norm of an update (default: that of the first weights)"),
        ("max-ratio", "largest norm of an update as a multiple of the other sites' norms (default: 5)"),
        ("max-abs", "largest value of an update (default: 10)"),
        (
            "step",
            "factor of updates at the server; 1 / number of sites adds their mean (default: 1 / square root of the "
            "number of sites)",
        ),
    ):
        add_number(parser, f"--{name}", positive, text)
    add_aggregation(parser)
    parser.add_argument(
        "--download-selection",
        choices=("most-updated", "random", "most-changed"),
        default="most-updated",
        help="which parameters a site fetches (default: most-updated)",
    )


def _add_training(parser: argparse.ArgumentParser) -> None:
    """Add options for the network and the length of its training."""
    add_number(parser, "--hidden-size", count, "units of the network (default: 128)")
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
    add_number(parser, "--batch-size", count, "words of a batch at a site (default: 900 / number of sites)")
    parser.add_argument(
        "--set",
        type=named_value("NAME=VALUE"),
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another parameter of the tagger, such as characters=bilstm or head=softmax; may be repeated for others",
    )
    add_number(
        parser,
        "--notes",
        count,
        "notes of all sites together, with about 300 words each: decides on --epochs and --parts, so that sites "
        "exchange updates after about 20 batches",
    )
    add_number(parser, "--epochs", count, "local epochs of a site (default: 50)")
    add_number(
        parser, "--parts", count, "divide the notes of each site into N parts; a local epoch is one part (default: 1)"
    )
    parser.add_argument(
        "--proximal",
        type=not_negative,
        default=0.0,
        metavar="MU",
        help="weight of FedProx: keeps each site near the common model while it trains (default: 0)",
    )
    add_number(parser, "--seed", seed, "seed of the first weights (default: 0)", default=0)


def _agreement_of(arguments: argparse.Namespace) -> FederationConfig:
    """Create the configuration of the federation from the options."""
    from ..federated.derived_settings import averaging_step, rounds_per_epoch, shared_epochs
    from ..federated.robust import FEWEST_UPDATES
    from ..federated.sites import FederationConfig
    from ..tagging import DeidTagger

    n_sites, whole = len(arguments.sites), DeidTagger().batch_size
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
    derived = {
        "labels": _labels_of(arguments.labels),
        "tagger": tagger,
        "n_epochs": arguments.epochs or n_epochs,
        "n_parts": arguments.parts or n_parts,
        # Of one update: a part of the mean, times the step of averaging.
        "step": arguments.step or averaging_step(n_sites) / n_sites,
        "screened": screened,
        "lists": lists,
    }
    # Refuses what no tagger takes, before anybody has asked for a certificate.
    agreement = FederationConfig(**{**settings_of(arguments, FederationConfig), **derived}).with_lists_checksum()
    if agreement.tagger.get("warm_start_from") is not None:
        if agreement.tagger.get("embeddings", "auto") != "auto":
            raise DeidError(f"{_STARTER} reads its own vectors of words: leave out --embeddings, or use --start none.")
        agreement.first_learner()
    return agreement


def _labels_of(names: str) -> list[str]:
    """Labels of a set by its name, or the listed labels. A misspelt name of a set is no label."""
    from ..text import get_label_scheme

    if names in LABEL_SCHEMES:
        return sorted(get_label_scheme(names).labels)
    *labels, last = names.split(",")
    # Any text can be a label. Only the comma distinguishes one label from a misspelt name, which no site could use.
    if not labels or {*labels, last} & {*LABEL_SCHEMES}:
        raise DeidError(
            f"--labels takes the name of one label set ({', '.join(LABEL_SCHEMES)}), or labels with commas between "
            'them. Write a single label with a comma behind it, as in "PHI,".'
        )
    return [*labels, last] if last else labels


def _tagger_of(arguments: argparse.Namespace, n_sites: int, has_rounds: bool) -> dict[str, Any]:
    """Parameters of the tagger that all sites share. Parameters without an option depend on the number of sites."""
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
    return {**tagger, **_set_by_name(arguments)}


def _set_by_name(arguments: argparse.Namespace) -> dict[str, Any]:
    """Parameters of ``--set``, which take precedence over the other options."""
    named = [name for name, _ in arguments.set]
    for name in named:
        if named.count(name) > 1:
            raise DeidError(f"--set names a value of {name!r} twice. Leave out one of them.")
    return {name: _plain(written) for name, written in arguments.set}


def _starts_from_starter(arguments: argparse.Namespace) -> bool:
    """Whether the first weights are the weights of the starter.

    With options for another network, the first weights are random.
    """
    if arguments.start != "auto":
        return bool(arguments.start == _STARTER)
    return arguments.hidden_size is None and arguments.embeddings == "auto" and not arguments.set


def _add_rules(parser: argparse.ArgumentParser) -> None:
    """Add options for the end of a session."""
    rules = parser.add_argument_group("sessions", "a site that misses the end of a session goes on in the next one")
    add_number(rules, "--session-epochs", count, "local epochs (default: 5)", default=5)
    for name, default, text in (
        ("first-contact", 300.0, "the server stops waiting for a site that has not called within S seconds"),
        ("silence", 60.0, "the server stops waiting for a site that is silent for S seconds"),
        ("grace", 600.0, "the server waits S seconds for slow sites when most are done"),
        ("longest", 86400.0, "longest duration of a session in seconds"),
    ):
        rules.add_argument(
            f"--{name}", type=positive, default=default, metavar="S", help=f"{text} (default: {default:g})"
        )


def _plain(written: str) -> Any:
    # A value that is no JSON, such as bilstm, is a string.
    try:
        return load_strict(written)
    except (ValueError, RecursionError):
        return written
