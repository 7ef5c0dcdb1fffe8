"""Options of ``federate``: settings that all sites share, the end of sessions, and settings of one site."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from .options import LABEL_SCHEMES, count, seed, share

if TYPE_CHECKING:
    from ..federated.sites import FederationConfig, SessionRules

__all__ = ["add_agreement", "add_rules", "add_sharing", "agreement_of", "rules_of", "sharing_of"]

_SHARING = (
    "upload_fraction",
    "download_fraction",
    "clip",
    "threshold",
    "selection",
    "upload_dtype",
    "error_feedback",
    "epsilon",
    "noise_multiplier",
    "norm_bound",
    "validation_fraction",
    "device",
    "threads",
)


def add_agreement(parser: argparse.ArgumentParser) -> None:
    """Add options for the settings that all sites share."""
    parser.add_argument("--project", required=True, metavar="NAME", help="name of the federation")
    parser.add_argument(
        "--site", action="append", required=True, metavar="NAME", help="name of a site; once for each of them"
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
    parser.add_argument("--hidden-size", type=count, metavar="N", help="units of the network (default: 128)")
    parser.add_argument("--lr", type=_positive, metavar="RATE", help="learning rate (default: 0.003)")
    parser.add_argument("--batch-size", type=count, metavar="N", help="words of a batch (default: 900)")
    parser.add_argument(
        "--set",
        type=_parameter,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another parameter of the tagger, such as characters=bilstm or head=softmax; once for each of them",
    )
    parser.add_argument("--epochs", type=count, default=25, metavar="N", help="local epochs of a site (default: 25)")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the first weights (default: 0)")
    parser.add_argument("--max-norm", type=_positive, metavar="X", help="largest norm of an update (default: any)")
    parser.add_argument("--max-abs", type=_positive, metavar="X", help="largest value of an update (default: any)")
    parser.add_argument(
        "--step",
        type=_positive,
        default=1.0,
        metavar="X",
        help="factor of updates at the server (default: 1; 1 / number of sites adds their mean)",
    )
    parser.add_argument(
        "--download-selection",
        choices=("most-updated", "random", "most-changed"),
        default="most-updated",
        help="which parameters a site fetches (default: most-updated)",
    )


def agreement_of(arguments: argparse.Namespace) -> FederationConfig:
    """The agreement that the options describe."""
    from ..federated.sites import FederationConfig
    from ..text import get_label_scheme

    named = arguments.labels in LABEL_SCHEMES
    labels = sorted(get_label_scheme(arguments.labels).labels) if named else arguments.labels.split(",")
    tagger: dict[str, Any] = {"embeddings": None if arguments.embeddings == "none" else arguments.embeddings}
    for name in ("hidden_size", "lr", "batch_size"):
        if getattr(arguments, name) is not None:
            tagger[name] = getattr(arguments, name)
    tagger.update(arguments.set)
    agreement = FederationConfig(
        project=arguments.project,
        sites=arguments.site,
        labels=labels,
        tagger=tagger,
        n_epochs=arguments.epochs,
        seed=arguments.seed,
        max_abs=arguments.max_abs,
        max_norm=arguments.max_norm,
        step=arguments.step,
        download_selection=arguments.download_selection,
    )
    agreement.tagger_to_train()  # refuses what no tagger takes, before anybody has asked for a certificate
    return agreement


def add_rules(parser: argparse.ArgumentParser) -> None:
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
            f"--{name}", type=_positive, default=default, metavar="S", help=f"{text} (default: {default:g})"
        )


def rules_of(arguments: argparse.Namespace) -> SessionRules:
    """The rules that the options describe."""
    from ..federated.sites import SessionRules

    return SessionRules(
        arguments.session_epochs, arguments.first_contact, arguments.silence, arguments.grace, arguments.longest
    )


def add_sharing(parser: argparse.ArgumentParser) -> None:
    """Add options for how much a site shares; they become settings of this site."""
    group = parser.add_argument_group("what this site shares")
    group.add_argument(
        "--upload-fraction", type=_fraction, default=0.5, metavar="X", help="largest share sent (default: 0.5)"
    )
    group.add_argument(
        "--download-fraction", type=_fraction, default=0.1, metavar="X", help="share fetched (default: 0.1)"
    )
    group.add_argument("--clip", type=_positive, default=10.0, metavar="X", help="largest value sent (default: 10)")
    group.add_argument(
        "--threshold",
        type=_not_negative,
        default=1e-4,
        metavar="X",
        help="smaller values are not sent (default: 1e-4)",
    )
    group.add_argument(
        "--selection", choices=("random", "largest"), default="random", help="which values are sent (default: random)"
    )
    group.add_argument(
        "--upload-dtype",
        choices=("float32", "float16"),
        default="float32",
        help="type of the sent values; float16 takes half the bytes (default: float32)",
    )
    group.add_argument(
        "--error-feedback", action="store_true", help="add values that an epoch did not send to the next update"
    )
    group.add_argument(
        "--epsilon", type=_positive, metavar="X", help="sparse-vector noise: privacy loss of an epoch (default: none)"
    )
    group.add_argument(
        "--noise-multiplier", type=_positive, metavar="X", help="Gaussian noise, with --norm-bound (default: none)"
    )
    group.add_argument("--norm-bound", type=_positive, metavar="X", help="longest update before Gaussian noise")
    group.add_argument(
        "--validation-fraction", type=share, metavar="X", help="share of patients held out for F1 in the site's own log"
    )
    group.add_argument("--device", default="cpu", help="auto, cpu or cuda (default: cpu)")
    group.add_argument("--threads", type=count, default=1, metavar="N", help="processor cores to use (default: 1)")


def sharing_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The values of `add_sharing` by their names in `SiteSettings`."""
    return {name: getattr(arguments, name) for name in _SHARING}


def _parameter(written: str) -> tuple[str, Any]:
    name, equals, value = written.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, not {written!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _number(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        return -1.0


def _positive(written: str) -> float:
    value = _number(written)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a positive number, not {written!r}")
    return value


def _not_negative(written: str) -> float:
    value = _number(written)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of at least 0, not {written!r}")
    return value


def _fraction(written: str) -> float:
    value = _number(written)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, not {written!r}")
    return value
