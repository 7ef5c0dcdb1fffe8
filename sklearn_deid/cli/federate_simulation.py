"""``sklearn-deid federate simulate``: a training of several sites on this computer, before any site is set up."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..exceptions import DeidError, TrainingInterruptedWarning
from .counting import counted
from .failures import DONE
from .options import ANNOTATED, add_command, add_machine_options, add_number, add_seed, count, set_machine

_N_SITES, _N_NOTES, _HELD_OUT = 3, 20, 0.3
_DESCRIPTION = """\
Train sites alone, together by federated averaging, and with all notes in one place, and compare strict F1
on patients that nobody trained on. Without folders the notes are generated."""


def add_simulation(steps: Any) -> None:
    """Add the parser of the step."""
    parser = add_command(
        steps,
        simulate,
        summary="compare training alone and together on this computer",
        description=_DESCRIPTION,
        epilog="example:\n  sklearn-deid federate simulate\n  sklearn-deid federate simulate notes-a notes-b notes-c",
    )
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="annotated notes of a site (default: generated)")
    parser.add_argument("--format", choices=ANNOTATED, help="format of the notes in the folders")
    add_number(parser, "--notes", count, "generated notes of a site", default=_N_NOTES)
    add_number(parser, "--epochs", count, "local epochs (default: 20 to 100, by the number of words)")
    add_number(parser, "--hidden-size", count, "units of the network (default: 64)", default=64)
    parser.add_argument("--patient-epsilon", type=float, metavar="X", help="total epsilon of each patient")
    add_seed(parser)
    add_machine_options(parser)


def simulate(arguments: argparse.Namespace) -> int:
    """Train and print the comparison."""
    from ..federated.privacy_ledger import epsilon_text
    from ..tagging import DeidTagger

    device = set_machine(arguments)
    sites, test = _notes_of(arguments)
    # Generated patients of two sites have the same ids, and are different patients.
    for caution in _cautions(sites, test, arguments.patient_epsilon is not None) if arguments.folders else ():
        print(caution, file=sys.stderr)
    labels = sorted({span.label for corpus in (*sites, test) for note in corpus for span in note.spans})
    parts = [(data.X, data.y, data.groups) for data in (corpus.to_sentences() for corpus in sites)]
    tagger = DeidTagger(hidden_size=arguments.hidden_size, device=device)
    scored = test.to_sentences()
    sizes = ", ".join(str(len(corpus)) for corpus in sites)
    print(f"{len(sites)} sites with {sizes} notes; {counted(len(test), 'test note')}.")
    options = {"n_epochs": arguments.epochs or "auto", "labels": labels, "random_state": arguments.seed}
    results = {name: _trained(tagger, name, parts, arguments, options) for name in ("local", "fedavg", "centralized")}
    for number, f1 in enumerate(results["local"].score_workers(scored.X, scored.y), start=1):
        print(f"site {number} alone            strict F1 {f1:.3f}")
    for name, title in (("fedavg", "common model"), ("centralized", "all notes in one place")):
        print(f"{title:<24}strict F1 {results[name].global_estimator_.score(scored.X, scored.y):.3f}")
    history, n_epochs = results["fedavg"].history_, len(results["fedavg"].history_)
    print(f"bytes of a site and epoch: {history.bytes_up // n_epochs} up, {history.bytes_down // n_epochs} down")
    if arguments.patient_epsilon is None:
        print("Updates are sent without noise: no epsilon is promised.")
    else:
        spent, delta = epsilon_text(max(results["fedavg"].epsilon_)), results["fedavg"].privacy.delta
        print(f"epsilon of each patient, common model: {spent} at delta {delta:g}. The other models have no noise.")
    return DONE


def _trained(tagger: Any, name: str, parts: list, arguments: argparse.Namespace, options: dict[str, Any]) -> Any:
    from ..federated import DSSGDEnsemble, PatientPrivacy

    private = name == "fedavg" and arguments.patient_epsilon is not None
    try:
        privacy = PatientPrivacy(arguments.patient_epsilon) if private else None
    except ValueError as error:
        raise DeidError(str(error)) from None
    predict_with = "vote" if name == "local" else "global"
    ensemble = DSSGDEnsemble(tagger, strategy=name, privacy=privacy, predict_with=predict_with, **options)
    with warnings.catch_warnings():
        # Ctrl-C ends the command, and not only the training that is running.
        warnings.simplefilter("error", TrainingInterruptedWarning)
        return ensemble.fit_workers(parts)


def _cautions(sites: list[Any], test: Any, has_epsilon: bool) -> Iterator[str]:
    """Sentences about patients who may be in the training and in the test, or have more than the printed epsilon."""
    from ..text import known_id

    notes = [note for corpus in sites for note in corpus]
    n_unknown = sum(known_id(note.patient_id) is None for note in (*notes, *test))
    if n_unknown:
        yield (
            f"{n_unknown} of {len(notes) + len(test)} notes have no patient id, and each of them counts as a patient. "
            "If patients have several of these notes, the scores are too high, and the epsilons of the notes add up."
        )
    common = {known_id(note.patient_id) for note in notes} & {known_id(note.patient_id) for note in test} - {None}
    if common:
        ids = counted(len(common), "patient id of the test notes is", "patient ids of the test notes are")
        yield f"{ids} also in training notes of another site. If the patients are the same, the scores are too high."
    n_sites = Counter(known for corpus in sites for known in {known_id(note.patient_id) for note in corpus} - {None})
    most, n_shared = max(n_sites.values(), default=0), sum(n > 1 for n in n_sites.values())
    if has_epsilon and n_shared:
        ids = counted(n_shared, "patient id is", "patient ids are")
        yield (
            f"{ids} in training notes of several sites, at most {most}. If the patients are the same, each of them has "
            "the epsilon of each site, and the epsilons add up."
        )


def _notes_of(arguments: argparse.Namespace) -> tuple[list[Any], Any]:
    """Training notes of each site, and test notes of other patients."""
    from ..datasets import make_clinical_notes
    from ..io import read_gold
    from ..text import Corpus

    if not arguments.folders:
        seed = arguments.seed or 0
        sites = [make_clinical_notes(arguments.notes, random_state=1000 * seed + n) for n in range(_N_SITES)]
        return sites, make_clinical_notes(3 * arguments.notes, random_state=1000 * seed + 900)
    if len(arguments.folders) < 2:
        raise DeidError("A simulation needs the notes of at least two sites.")
    sites, test = [], []
    for place, folder in enumerate(arguments.folders):
        corpus = read_gold(folder, arguments.format)
        patients = np.random.default_rng([arguments.seed or 0, place]).permutation(sorted(corpus.patients))
        held_out = set(patients[: max(1, round(_HELD_OUT * len(patients)))].tolist())
        if len(held_out) == len(patients):
            raise DeidError("A site needs notes of at least two patients.", path=str(folder))
        is_test = [patient in held_out for patient in corpus.groups]
        sites.append(Corpus([note for note, tested in zip(corpus, is_test, strict=True) if not tested]))
        # Two sites may use the same document ids.
        tests = (note for note, tested in zip(corpus, is_test, strict=True) if tested)
        test += [replace(note, doc_id=f"{place}/{note.doc_id}") for note in tests]
    return sites, Corpus(test)
