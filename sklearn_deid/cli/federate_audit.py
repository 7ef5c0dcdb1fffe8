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
# Repetitions of each attack on shuffled models: 30 AUCs of three sites.
_N_CONTROLS = 10
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
    from ..audit.attacks.updates import NO_PAIR
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
    for line in _attacks_of_the_host(ensemble, corpora, arguments.label or _LABELS, arguments.seed or 0):
        print(line)
    parts = [corpus.to_sentences() for corpus in corpora.values()]
    X = [sentence for part in parts for sentence in part.X]
    y = [tags for part in parts for tags in part.y]
    owners = np.repeat(list(corpora), [len(part.X) for part in parts])
    report = AdversarialPrivacyAuditor(random_state=arguments.seed or 0).audit(ensemble, X, y, owners)
    show_report(report)
    if any(result.reason in NO_PAIR.values() for result in report.results):
        print(
            "The score says nothing about the updates: the same characters, word shapes or labels occurred at all "
            "sites, so that some attacks had nothing to compare. Read the AUCs."
        )
    return DONE


def _attacks_of_the_host(ensemble: Any, corpora: dict[str, Any], labels: tuple[str, ...], seed: int) -> list[str]:
    """Lines with the AUC of the attacks that use rebuilt models, and of the same attacks on shuffled models."""
    from ..audit.site_models import name_attack, names_of, rebuilt_models, shuffled_models, word_attack, words_of

    model, rng = ensemble.global_estimator_, np.random.default_rng(seed)
    models = {site: rebuilt_models(ensemble.exchange_, model, site) for site in corpora}
    controls = [shuffled_models(models, rng) for _ in range(_N_CONTROLS)]
    attacks: dict[str, tuple[Any, dict[str, set[str]]]]
    attacks = {f"names, {label}": (name_attack, _of_each(corpora, names_of, label)) for label in labels}
    attacks["words outside of PHI"] = word_attack, _of_each(corpora, words_of)
    lines, n_beyond, n_all = [], 0, 0
    for what, (attack, candidates) in attacks.items():
        found = attack(models, candidates)
        # The largest distance from 0.5 that the attack has on models without any knowledge.
        reach = max((abs(auc - 0.5) for one in controls for auc in attack(one, candidates).values()), default=0.0)
        n_beyond, n_all = n_beyond + sum(abs(auc - 0.5) > reach for auc in found.values()), n_all + len(found)
        chance = f"; by chance {0.5 - reach:.3f} to {0.5 + reach:.3f}" if found else ""
        lines.append(f"whose is it? {what}: AUC {_listed(found) or 'none'}{chance}")
    return [*lines, _conclusion(n_beyond, n_all, _one_of(len(corpora)))] if n_all else lines


def _one_of(n_sites: int) -> int:
    """One of how many AUCs of models without knowledge is beyond the range, which is the largest of the controls."""
    # What speaks for one of two sites speaks against the other, so that both AUCs are equal.
    return _N_CONTROLS * (1 if n_sites <= 2 else n_sites) + 1


def _listed(found: dict[str, float]) -> str:
    return ", ".join(f"{site} {auc:.3f}" for site, auc in found.items())


def _conclusion(n_beyond: int, n_all: int, one_of: int) -> str:
    if not n_beyond:
        return (
            f"0 of {counted(n_all, 'AUC')} beyond the range of chance: these attacks found nothing. Other attacks "
            "can be more successful."
        )
    return (
        f"{n_beyond} of {counted(n_all, 'AUC')} beyond the range of chance. Of models that know nothing about the "
        f"notes, about 1 of {one_of} AUCs is beyond the range. An AUC below the range reveals as much as one above the "
        "range."
    )


def _of_each(corpora: dict[str, Any], found_in: Any, *arguments: Any) -> dict[str, set[str]]:
    return {site: found_in(corpus, *arguments) for site, corpus in corpora.items()}
