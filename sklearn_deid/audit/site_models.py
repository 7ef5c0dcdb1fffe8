"""Attacks of a host that reconstructs the model of each site from the recorded exchange, and decides which site has a
name in its notes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from ..exceptions import ExchangeError
from ..federated.record import ExchangeRecord
from ..federated.tagger_learner import tagger_from_vector, tagger_layout, vector_of_tagger
from ..text import Corpus

# Number of uploads of a site from which its models are rebuilt: the last uploads reveal most.
N_SEEN = 10


def rebuilt_models(record: ExchangeRecord, model: Any, site: str, n_seen: int = N_SEEN) -> list[Any]:
    """Models of a site after its last uploads: the downloaded parameters plus the update of the site.

    Parameters that the site has not fetched have the values after its last upload. A site that sends only a part of its
    updates has other values, so that its models are known approximately.

    Parameters
    ----------
    record : ExchangeRecord
        Messages in the order in which the server received them. The first download of the site must contain all
        parameters.
    model : fitted DeidTagger
        Tagger with the classes and inputs of the federation.
    site : str
        Name of the site.
    n_seen : int, default=10
        Number of the last uploads of the site to use.

    Returns
    -------
    list of DeidTagger
        Fitted taggers, one for each upload.

    Raises
    ------
    ExchangeError
        If the record has no upload of the site after a download of all parameters.
    """
    own: np.ndarray | None = None  # shape: (n,), the network of the site as the host knows it
    vectors = []
    for message in record:
        if message.worker != site:
            continue
        update = message.decode()
        if message.direction == "down" and len(update) == update.size:
            own = update.dense()
        elif own is not None and message.direction == "down":
            # Of the other parameters, the site keeps its own values.
            own = own.copy()
            own[update.indices] = update.values
        elif own is not None:
            own = own + update.dense()
            vectors.append(own)
    if not vectors:
        raise ExchangeError(f"The record has no update of the site {site!r} after a download of all parameters.")
    return [tagger_from_vector(model, clone(model), vector) for vector in vectors[-n_seen:]]


def shuffled_models(models: Mapping[str, Sequence[Any]], rng: np.random.Generator) -> dict[str, list[Any]]:
    """Models that differ as much as the last models of the sites, and know nothing of the difference of their notes.

    The differences of each parameter are in random order. An attack on these models is a control: the AUC of the
    control shows how far an AUC differs from 0.5 by chance. Forms of one name count as several candidates, so that this
    distance is larger than for independent candidates.

    Parameters
    ----------
    models : mapping of str to list of DeidTagger
        Models of each site (`rebuilt_models`).
    rng : Generator
        Generator of the random order.

    Returns
    -------
    dict of str to list of DeidTagger
        One model for each site.
    """
    last = {site: own[-1] for site, own in models.items()}
    vectors = {site: vector_of_tagger(model) for site, model in last.items()}  # shape of each: (n,)
    middle = np.mean(list(vectors.values()), axis=0)
    shuffled = {}
    for site, model in last.items():
        ends = np.cumsum([math.prod(shape) for shape in tagger_layout(model).shapes])[:-1]
        parts = [rng.permutation(part) for part in np.split(vectors[site] - middle, ends)]
        shuffled[site] = [tagger_from_vector(model, clone(model), middle + np.concatenate(parts))]
    return shuffled


def name_attack(models: Mapping[str, Sequence[Any]], names: Mapping[str, Collection[str]]) -> dict[str, float]:
    """Area under the ROC curve (AUC) of a host that assigns names to sites; 0.5 is chance level.

    The host assigns a name to the site whose models are most certain that the name is PHI, compared with the models of
    the other sites. The host needs candidate names, but no word vectors. Names that occur at several sites are left
    out.

    Parameters
    ----------
    models : mapping of str to list of DeidTagger
        Models of each site (`rebuilt_models`).
    names : mapping of str to collection of str
        Names of each site.

    Returns
    -------
    dict of str to float
        AUC for each site. A site without a name that occurs only at this site is left out.
    """
    return _attack(models, names, lambda words: ["Seen", "by", *words, "."], _phi_log_odds)


def word_attack(models: Mapping[str, Sequence[Any]], words: Mapping[str, Collection[str]]) -> dict[str, float]:
    """AUC of a host that assigns each word, PHI or not, to the site whose models are most certain of the tag of the
    word.

    `name_attack` describes the parameters; the words replace the names.
    """
    return _attack(models, words, lambda words: ["The", *words, "was"], _certainty)


def names_of(corpus: Corpus, label: str) -> set[str]:
    """Distinct texts of the spans with a label."""
    spans = [(note, span) for note in corpus for span in note.spans if span.label == label]
    return {" ".join(note.text[span.start : span.end].split()) for note, span in spans}


def words_of(corpus: Corpus) -> set[str]:
    """Distinct words of letters outside of spans."""
    rows = corpus.to_sentences()
    return {
        word
        for sentence, tags in zip(rows.X, rows.y, strict=True)
        for word, tag in zip(sentence, tags, strict=True)
        if tag == "O" and word.isalpha()
    }


def _attack(
    models: Mapping[str, Sequence[Any]],
    candidates: Mapping[str, Collection[str]],
    sentence: Callable[[list[str]], list[str]],
    score: Callable[[Any, list[list[str]]], np.ndarray],
) -> dict[str, float]:
    sites = list(models)
    unique = sorted(
        name for name in set().union(*candidates.values()) if sum(name in candidates[site] for site in sites) == 1
    )
    sentences = [sentence(name.split()) for name in unique]
    # shape: sites x candidates
    scores = np.stack([np.mean([score(model, sentences) for model in models[site]], axis=0) for site in sites])
    scores -= scores.mean(axis=0)
    is_own = {site: [name in candidates[site] for name in unique] for site in sites}
    return {
        site: float(roc_auc_score(is_own[site], row))
        for site, row in zip(sites, scores, strict=True)
        if 0 < sum(is_own[site]) < len(unique)
    }


def _phi_log_odds(model: Any, sentences: list[list[str]]) -> np.ndarray:
    """Mean log-odds that the words of a name are PHI, shape (names,)."""
    outside = list(model.classes_).index("O")
    # In float32, 1 - 1e-9 is 1, and a certain network would have infinite odds.
    inner = [p[2:-1, outside].astype(np.float64).clip(1e-9, 1 - 1e-9) for p in model.predict_proba(sentences)]
    return np.array([np.mean(np.log1p(-p) - np.log(p)) for p in inner])


def _certainty(model: Any, sentences: list[list[str]]) -> np.ndarray:
    """Negative entropy of the tag of a word, shape (words,)."""
    inner = [p[1].clip(1e-9, 1.0) for p in model.predict_proba(sentences)]
    return np.array([np.sum(p * np.log(p)) for p in inner])
