"""All figures of a starter model for its card."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_deid import NoteDeidentifier
from sklearn_deid.metrics import Estimate

from .measuring import (
    BIASES,
    CASINGS,
    Figures,
    asq,
    by_gender,
    by_origin,
    cased,
    contexts,
    count,
    deciding,
    diagnoses,
    general_sentences,
    grascco,
    labels_of,
    marked_notes,
    new_sentences,
    sweep,
    visit_notes,
    visits_with,
)

#: Kinds of the grammar with PHI, those outside of medicine, and those without PHI.
KINDS_PHI = ("sentence", "place sentence", "number sentence", "date sentence")
KINDS_ORDINARY = ("service sentence", "daily sentence", "work sentence", "news sentence", "form lines", "roster lines")
KINDS_PLAIN = ("plain sentence", "hard sentence", "everyday plain")
#: Sentences with PHI that a note of a visit is given.
SENTENCES_WITH_PHI = (1, 3, 10)
N_NEW, NEW_SEED = 1500, 20_261_202
N_CONTEXTS = 30  # of each kind


def on_corpora(model: NoteDeidentifier, folder: Path) -> dict[str, Any]:
    """Score a loaded model on corpora that it never saw, with the bias that ships and with others."""
    model.set_params(on_unlike="pass")
    queries = asq(folder)
    tuned = model.fitted_estimator()
    shipped = {name: count(cased(queries, name), model.annotate(cased(queries, name))) for name in CASINGS}
    wide = count(queries, copy(model).set_params(labels="hipaa-wide").annotate(queries))
    biased = sweep(deciding(tuned.estimator_), queries, BIASES)
    letters, general = grascco(folder), general_sentences()
    return {
        "bias": tuned.decision_bias_,
        "asq": {name: rates(figures) for name, figures in shipped.items()},
        "asq_wide": rates(wide),
        "asq_by_label": labels_of(shipped["as written"]),
        "asq_by_bias": {bias: rates(figures) for bias, figures in biased.items()},
        "grascco": rates(count(letters, model.annotate(letters))),
        "general": rates(count(general, model.annotate(general))),
        "visits": {kind: rates(count(notes, model.annotate(notes))) for kind, notes in visit_notes().items()},
        "marked": {kind: rates(count(notes, model.annotate(notes))) for kind, notes in marked_notes().items()},
    }


def on_generated(model: NoteDeidentifier, n_name_words: int) -> dict[str, Any]:
    """Score a loaded model on generated texts whose names, words and wordings it never saw."""
    model.set_params(on_unlike="pass")
    origins = by_origin(model, n_name_words)
    new = new_sentences(KINDS_PHI, N_NEW, NEW_SEED)
    ordinary = new_sentences(KINDS_ORDINARY, N_NEW, NEW_SEED)
    visits = {n: visits_with(n, KINDS_PHI, NEW_SEED) for n in SENTENCES_WITH_PHI}
    plain, icd = new_sentences(KINDS_PLAIN, N_NEW, NEW_SEED), diagnoses(N_NEW, NEW_SEED)
    return {
        "new_sentences": {
            f"{kind}, {name}": rates(count(cased(texts, name), model.annotate(cased(texts, name))))
            for kind, texts in (("with clinical words", new), ("ordinary", ordinary))
            for name in CASINGS
        },
        "visits_with": {n: rates(count(notes, model.annotate(notes))) for n, notes in visits.items()},
        **on_contexts(model),
        "hard_words": rates(count(plain, model.annotate(plain))),
        "diagnoses": rates(count(icd, model.annotate(icd))),
        "gender": {name: rates(figures) for name, figures in by_gender(model, n_name_words).items()},
        "names": {origin: rates(figures) for origin, figures in origins.items()},
    }


def on_contexts(model: NoteDeidentifier) -> dict[str, Any]:
    """Score a loaded model on contexts of notes that no training has."""
    notes = contexts(N_CONTEXTS, NEW_SEED)
    found = {kind: model.annotate(of) for kind, of in notes.items()}
    everything = count([note for of in notes.values() for note in of], [spans for of in found.values() for spans in of])
    return {
        "contexts": rates(everything),
        "contexts_by_kind": {kind: rates(count(of, found[kind])) for kind, of in notes.items()},
    }


def rates(figures: Figures) -> dict[str, Any]:
    """Recall with its 95 % interval over documents, precision, and what is touched without PHI."""
    interval = Estimate.from_groups(*np.array(figures.each).T, np.arange(len(figures.each)))
    return {
        "recall": figures.recall,
        "recall_interval": [interval.low, interval.high],
        "words": figures["words"],
        "precision": figures["found"] / max(1, figures["hidden"]),
        "false_per_1000": 1000 * figures["false"] / max(1, figures["other"]),
        "touched": figures["touched"] / figures["plain"] if figures["plain"] else None,
        "plain": figures["plain"],
    }
