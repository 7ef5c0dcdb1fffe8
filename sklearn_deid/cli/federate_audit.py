"""``sklearn-deid federate audit``: attack the exchange that the server of a federation has recorded."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ..exceptions import DeidError
from .audit import show_report
from .counting import counted
from .failures import DONE
from .options import ANNOTATED, add_command, add_machine_options, add_seed, named_value, set_machine

_LABELS = ("PATIENT", "DOCTOR")
_DESCRIPTION = """\
Attack the exchange that the server has recorded (plan --keep-exchange), as a host could: whose name is this,
whose word is this, and which characters, shapes and labels occurred at a site. The notes of the sites are
the ground truth. Use notes that may be on one computer, such as generated notes."""


def add_audit_step(steps: Any) -> None:
    """Add the parser of the step."""
    parser = add_command(
        steps,
        audit,
        summary="attack the recorded exchange of a training",
        description=_DESCRIPTION,
        epilog="example:\n  sklearn-deid federate audit lab/prod_00/deid.example.org --notes site-1=notes/site-1 \\\n"
        "    --notes site-2=notes/site-2 --notes site-3=notes/site-3\n\n"
        "exit codes: 0 attacked, also if an attack succeeded or the audit failed, 2 failed, 130 interrupted",
    )
    parser.add_argument("kit", metavar="KIT", help="kit of the server")
    parser.add_argument(
        "--notes",
        type=named_value("SITE=FOLDER"),
        action="append",
        required=True,
        metavar="SITE=FOLDER",
        help="annotated notes of a site",
    )
    parser.add_argument("--format", choices=ANNOTATED, help="format of the notes")
    parser.add_argument(
        "--label", action="append", metavar="NAME", help="label of the names to attack (default: PATIENT and DOCTOR)"
    )
    add_seed(parser)
    add_machine_options(parser)


def audit(arguments: argparse.Namespace) -> int:
    """Attack the record, and print what a host learns."""
    from ..audit import AdversarialPrivacyAuditor
    from ..federated.sites import recorded_ensemble, site_events
    from ..io import read_gold

    set_machine(arguments)
    ensemble = recorded_ensemble(arguments.kit)
    if len(dict(arguments.notes)) < len(arguments.notes):
        raise DeidError("--notes names a site twice: the other notes would be left out. Put them into one folder.")
    corpora = {site: read_gold(folder, arguments.format) for site, folder in arguments.notes}
    senders = {message.worker for message in ensemble.exchange_.uploads()}
    if senders != corpora.keys():
        raise DeidError(f"The record has updates of {', '.join(sorted(senders))}: name the notes of each by --notes.")
    for site, row in site_events(arguments.kit).items():
        n_lost = row["uploads"] - len(ensemble.exchange_.uploads(site))
        if n_lost > 0:
            # The record is written at the end of a session.
            print(
                f"The record lacks {n_lost} of {counted(row['uploads'], 'update')} of {site}, because the server was "
                "killed in a session. A host knows more than these attacks: repeat the rehearsal."
            )
    for line in _attacks_of_the_host(ensemble, corpora, arguments.label or _LABELS):
        print(line)
    parts = [corpus.to_sentences() for corpus in corpora.values()]
    X = [sentence for part in parts for sentence in part.X]
    y = [tags for part in parts for tags in part.y]
    owners = np.repeat(list(corpora), [len(part.X) for part in parts])
    show_report(AdversarialPrivacyAuditor(random_state=arguments.seed or 0).audit(ensemble, X, y, owners))
    return DONE


def _attacks_of_the_host(ensemble: Any, corpora: dict[str, Any], labels: tuple[str, ...]) -> list[str]:
    """Lines with the AUC of the attacks that use rebuilt models."""
    from ..audit.site_models import name_attack, names_of, rebuilt_models, word_attack, words_of

    model = ensemble.global_estimator_
    models = {site: rebuilt_models(ensemble.exchange_, model, site) for site in corpora}
    found = {f"names, {label}": name_attack(models, _of_each(corpora, names_of, label)) for label in labels}
    found["words outside of PHI"] = word_attack(models, _of_each(corpora, words_of))
    return [
        f"whose is it? {what}: AUC {', '.join(f'{site} {value:.3f}' for site, value in values.items()) or 'none'}"
        for what, values in found.items()
    ]


def _of_each(corpora: dict[str, Any], found_in: Any, *arguments: Any) -> dict[str, set[str]]:
    return {site: found_in(corpus, *arguments) for site, corpus in corpora.items()}
