"""Options of ``sklearn-deid federate``: how much a site shares, with which noise, and how updates are aggregated."""

from __future__ import annotations

import argparse
from typing import Any

from ..federated.rotating_patients import ROTATING
from .options import add_number, count, fraction, not_negative, positive, share


def add_aggregation(parser: argparse.ArgumentParser) -> None:
    """Add options for the aggregation of the updates, which become a part of the agreement."""
    parser.add_argument(
        "--aggregation",
        choices=("mean", "median", "trimmed_mean"),
        default="mean",
        help="how the server combines updates; a median or trimmed mean outvotes a hostile site, in common rounds of "
        "at least three sites (default: mean)",
    )
    add_number(
        parser,
        "--n-trim",
        count,
        "smallest and largest values that the trimmed mean leaves out (default: 1)",
        default=1,
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
    """Add options for how much a site shares, which become settings of this site."""
    group = parser.add_argument_group("what this site shares")
    add_number(group, "--upload-fraction", fraction, "largest proportion of values sent (default: 1)", default=1.0)
    add_number(group, "--download-fraction", fraction, "proportion of values fetched (default: 1)", default=1.0)
    add_number(group, "--clip", positive, "largest value sent (default: 10)", default=10.0)
    add_number(group, "--threshold", not_negative, "smaller values are not sent (default: 0)", default=0.0)
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
        "--report-f1", action="store_true", help="report the F1 of held-out patients to the server after each session"
    )
    _add_patient_privacy(group)
    group.add_argument("--device", default="cpu", help="auto, cpu or cuda (default: cpu)")
    add_number(group, "--threads", count, "processor cores to use (default: 1)", default=1)


def _tested_patients(written: str) -> float | str | None:
    if written in ("none", ROTATING):
        return None if written == "none" else ROTATING
    return share(written)


def _add_noise(group: Any) -> None:
    """Add options for noise on uploads, which protects the site as a whole."""
    add_number(group, "--epsilon", positive, "sparse-vector noise: total epsilon of this site over all epochs")
    add_number(group, "--noise-multiplier", positive, "Gaussian noise, with --norm-bound (default: none)")
    add_number(group, "--norm-bound", positive, "longest update before Gaussian noise")


def _add_patient_privacy(group: Any) -> None:
    """Add options for the privacy of each patient."""
    add_number(group, "--patient-epsilon", positive, "total epsilon of each patient, by noise on gradients")
    group.add_argument("--patient-delta", type=share, default=1e-5, metavar="X", help="total delta (default: 1e-5)")
    add_number(group, "--patient-clip", positive, "largest gradient of a patient (default: 1)", default=1.0)
    add_number(
        group,
        "--patient-sampling-rate",
        fraction,
        "probability that a patient takes part in a step (default: 0.25)",
        default=0.25,
    )
    group.add_argument(
        "--notes-are-patients",
        action="store_true",
        help="each note without a patient id counts as a patient (default: --patient-epsilon refuses these notes)",
    )
