"""Train the starter model that the package ships, from generated texts and notes that we wrote, and write its card.

    python -m benchmarks.starter sklearn_deid/tagging/starter_en --measure DATA

About 110 processor minutes. The state after each stage is kept in the folder of ``--work``, and an interrupted run
goes on. The bias is fixed on generated texts, before any corpus is read. With ``--measure``, the saved model is loaded
and scored on the corpora in DATA, and the figures are written into its card. Generated texts measure the model before
the last stages, which read the names, words and wordings that are held out until then.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.frozen import FrozenEstimator

from sklearn_deid import Corpus, DeidTagger, Document, NoteDeidentifier, RecallTunedTagger, load, save
from sklearn_deid.tagging import LabelLineTagger, NotePriorTagger, WordBiasTagger
from sklearn_deid.tagging.note_likeness import LANGUAGE, NoteLikeness, learned_likeness
from sklearn_deid.text import I2B2_2014

from ..environment import describe
from .card import write_card
from .measuring import calibration_texts, deciding, diagnoses, sweep
from .ordinary_words import word_levels
from .report import on_corpora, on_generated, rates
from .rewriting import make_notes
from .training import N_UNMIXED, SEED, STAGES, new_tagger, train_stage

#: The largest bias at which at most this share of the calibration texts without PHI is touched, and at most so many of
#: 1,000 of their words are hidden.
#: In notes of visits, 5 of 1,000 words are the aim. These texts have held-out words of medicine, and many eponyms.
MOST_TOUCHED, MOST_FALSE = 0.10, 4.25
#: Added to the log odds of PHI of ordinary words, once for each level.
WORD_BIAS = -1.0
#: Share of the training sentences that have PHI: of 47,791 sentences of the notes and texts of a stage, 20,883.
SHARE = 0.44
GRID = tuple(np.arange(-5, 4.01, 0.25).tolist())
#: How many times wider than among these texts the letters of notes may spread. Without it, 21 of 2,000 lines of
#: generated notes are unlike, such as rows of blood counts, and with it none. Of 116 French texts 83 instead of 86 are.
MARGIN = 2.0
CALIBRATION_SEED, N_PLAIN, N_DIAGNOSES, N_PHI, N_NOTES = 20_261_200, 1000, 500, 400, 300


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="folder to make")
    parser.add_argument("--work", default="starter-work", help="folder of the states after each stage")
    parser.add_argument("--stages", type=int, default=len(STAGES), help="stop after so many stages in all")
    parser.add_argument("--measure", metavar="DATA", help="folder with the corpora to measure on")
    parser.add_argument("--names", type=int, default=5000, help="words of names of each origin to measure")
    return parser.parse_args(argv)


def trained(work: Path, n_stages: int) -> DeidTagger:
    """The tagger after the given number of stages."""
    work.mkdir(parents=True, exist_ok=True)
    done = [n for n in range(n_stages + 1) if (work / f"stage{n}.pkl").exists()]
    if not done:
        _keep(new_tagger(), work / "stage0.pkl")
        done = [0]
    for number in range(max(done), n_stages):
        # Our own file of an interrupted run, not data of others.
        tagger = pickle.loads((work / f"stage{number}.pkl").read_bytes())  # noqa: S301
        _keep(train_stage(tagger, number), work / f"stage{number + 1}.pkl")
        print(f"stage {number + 1} of {n_stages}: loss {tagger.history_[-1]['train_loss']:.3f}", flush=True)
    return pickle.loads((work / f"stage{n_stages}.pkl").read_bytes())  # noqa: S301


def _keep(tagger: DeidTagger, path: Path) -> None:
    part = path.with_suffix(".part")
    part.write_bytes(pickle.dumps(tagger))
    os.replace(part, path)


def chosen_bias(tagger: DeidTagger) -> dict[str, Any]:
    """The bias that the calibration texts give, and their figures at this bias."""
    plain, phi = _calibration()
    model = deciding(_with_priors(tagger))
    costs = {bias: rates(figures) for bias, figures in sweep(model, plain, GRID).items()}
    allowed = [b for b, f in costs.items() if f["touched"] <= MOST_TOUCHED and f["false_per_1000"] <= MOST_FALSE]
    if not allowed:
        raise ValueError(f"No bias from {min(GRID):g} on keeps the false alarms on the calibration texts low enough.")
    bias = max(allowed)
    figures = {"decision_bias": bias, "recall_of_phi_words": sweep(model, phi, [bias])[bias].recall}
    return figures | {name: costs[bias][name] for name in ("touched", "false_per_1000")}


def _calibration() -> tuple[list[Document], list[Document]]:
    """Texts without PHI, and texts with it, whose templates the training does not have."""
    plain = calibration_texts("plain", N_PLAIN, CALIBRATION_SEED) + diagnoses(N_DIAGNOSES, CALIBRATION_SEED)
    return plain, calibration_texts("phi", N_PHI, CALIBRATION_SEED)


def _with_priors(tagger: DeidTagger, held_out: bool = False) -> NotePriorTagger:
    """The tagger, which needs more evidence for ordinary words and in notes with little PHI. Nothing is trained."""
    data = Corpus(_calibration()[1][:2]).to_sentences()
    biased = WordBiasTagger(FrozenEstimator(tagger), words=word_levels(held_out), bias=WORD_BIAS)
    # Values of forms stand below their labels, and the network reads single sentences.
    return NotePriorTagger(LabelLineTagger(biased), share=SHARE).fit(data.X, data.y)


def with_bias(tagger: DeidTagger, bias: float, held_out: bool) -> NoteDeidentifier:
    """A de-identifier with this bias, which knows the language of the calibration texts and of generated notes.

    With ``held_out``, no name needs more evidence that is held out in most stages.
    """
    plain, phi = _calibration()
    data = Corpus([*phi, *plain]).to_sentences()
    priors = _with_priors(tagger.set_params(warm_start=False), held_out)
    tuned = RecallTunedTagger(priors, decision_bias=bias, cv="prefit")
    tuned.fit(data.X, data.y, groups=data.groups)
    final = NoteDeidentifier(tuned, labels="hipaa")
    final.categories_ = dict(I2B2_2014.categories)
    # A note in another language is unlike. A long note or a table is not: the generated texts are mostly short.
    # Shorthand of wards has other letters than sentences, and is in the notes alone.
    notes = make_notes(N_NOTES, CALIBRATION_SEED)
    state = learned_likeness(Corpus([*phi, *plain, *notes]), judged=LANGUAGE).to_state()
    wider = {name: [MARGIN * figure for figure in state[name]] for name in ("low", "high")}
    final.likeness_ = NoteLikeness.from_state(state | wider | {"language": "en"})
    return final


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    torch.set_num_threads(1)
    work = Path(arguments.work)
    # The last stages mix in what is held out from the others. Only the model before them has never seen it.
    before = trained(work, min(N_UNMIXED, arguments.stages))
    figures = chosen_bias(before)
    save(with_bias(before, figures["decision_bias"], held_out=False), work / "before", overwrite=True, compact=True)
    model = with_bias(trained(work, arguments.stages), figures["decision_bias"], held_out=arguments.stages > N_UNMIXED)
    save(model, arguments.folder, overwrite=True, compact=True)
    result: dict[str, Any] = {"benchmark": "starter", "seed": SEED, "calibration": figures, **describe()}
    if arguments.measure is not None:
        # What is measured is what was saved, with its rounded numbers.
        result |= on_corpora(load(arguments.folder), Path(arguments.measure))
        result |= on_generated(load(work / "before"), arguments.names)
    write_card(Path(arguments.folder) / "README.md", result)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
