"""Options of ``sklearn-deid federate``: how much a site shares, with which noise, and how updates are combined."""

from __future__ import annotations

import argparse
from typing import Any

from ..federated.rotating_patients import ROTATING
from .options import count, fraction, not_negative, positive, share


def add_aggregation(parser: argparse.ArgumentParser) -> None:
    """Add options for the combination of the updates; they become a part of the agreement."""
    parser.add_argument(
        "--aggregation",
        choices=("mean", "median", "trimmed_mean"),
        default="mean",
        help="how the server combines updates; a median or trimmed mean outvotes a hostile site, in common rounds of "
        "at least three sites (default: mean)",
    )
    parser.add_argument(
        "--n-trim",
        type=count,
        default=1,
        metavar="N",
        help="smallest and largest values that the trimmed mean leaves out (default: 1)",
    )
    parser.add_argument(
        "--no-screen",
        dest="screened",
        action="store_false",
        help="add the update of each site on arrival, as selective SGD needs (default with three or more sites: common "
        "rounds, in which the server leaves out updates that point against most others)",
    )
    parser.add_argument(
        "--keep-exchange", action="store_true", help="the server keeps all messages, so that 'audit' can attack them"
    )


def add_sharing(parser: argparse.ArgumentParser) -> None:
    """Add options for how much a site shares; they become settings of this site."""
    group = parser.add_argument_group("what this site shares")
    group.add_argument(
        "--upload-fraction",
        type=fraction,
        default=1.0,
        metavar="X",
        help="largest proportion of values sent (default: 1)",
    )
    group.add_argument(
        "--download-fraction",
        type=fraction,
        default=1.0,
        metavar="X",
        help="proportion of values fetched (default: 1)",
    )
    group.add_argument("--clip", type=positive, default=10.0, metavar="X", help="largest value sent (default: 10)")
    group.add_argument(
        "--threshold",
        type=not_negative,
        default=0.0,
        metavar="X",
        help="smaller values are not sent (default: 0)",
    )
    group.add_argument(
        "--selection", choices=("random", "largest"), default="random", help="which values are sent (default: random)"
    )
    group.add_argument(
        "--upload-dtype",
        choices=("float32", "float16"),
        default="float16",
        help="type of the sent and fetched values; float16 takes half the bytes (default: float16)",
    )
    group.add_argument(
        "--error-feedback", action="store_true", help="add values that an epoch did not send to the next update"
    )
    _add_noise(group)
    group.add_argument(
        "--validation-fraction",
        type=_tested_patients,
        default=ROTATING,
        metavar="X",
        help="patients on whom the site tests each download: rotating (a tenth in turn), none, or a share held out of "
        "the whole training, also for F1 in the site's own log (default: rotating)",
    )
    group.add_argument(
        "--report-f1", action="store_true", help="tell the server the F1 of held-out patients after each session"
    )
    _add_patient_privacy(group)
    group.add_argument("--device", default="cpu", help="auto, cpu or cuda (default: cpu)")
    group.add_argument("--threads", type=count, default=1, metavar="N", help="processor cores to use (default: 1)")


def _tested_patients(written: str) -> float | str | None:
    if written in ("none", ROTATING):
        return None if written == "none" else ROTATING
    return share(written)


def _add_noise(group: Any) -> None:
    """Add options for noise on uploads, whose unit is the site."""
    group.add_argument(
        "--epsilon", type=positive, metavar="X", help="sparse-vector noise: total epsilon of this site over all epochs"
    )
    group.add_argument(
        "--noise-multiplier", type=positive, metavar="X", help="Gaussian noise, with --norm-bound (default: none)"
    )
    group.add_argument("--norm-bound", type=positive, metavar="X", help="longest update before Gaussian noise")


def _add_patient_privacy(group: Any) -> None:
    """Add options for the privacy of each patient."""
    group.add_argument(
        "--patient-epsilon", type=positive, metavar="X", help="total epsilon of each patient, by noise on gradients"
    )
    group.add_argument("--patient-delta", type=share, default=1e-5, metavar="X", help="total delta (default: 1e-5)")
    group.add_argument(
        "--patient-clip", type=positive, default=1.0, metavar="X", help="largest gradient of a patient (default: 1)"
    )
    group.add_argument(
        "--patient-sampling-rate",
        type=fraction,
        default=0.25,
        metavar="X",
        help="probability that a patient takes part in a step (default: 0.25)",
    )
    group.add_argument(
        "--notes-are-patients",
        action="store_true",
        help="notes without a patient id have a patient each (default: --patient-epsilon refuses them)",
    )
