"""Taggers trained on surrogates, and the form of surrogate notes.

    python -m benchmarks.surrogates --runs runs.jsonl
    python -m benchmarks.surrogates --corpus meddocan --data DATA --notes 500 --runs meddocan.jsonl
    python -m benchmarks.surrogates --corpus grascco --data DATA --seeds 0 1 2 3 4 --runs grascco.jsonl
    python -m benchmarks.surrogates --forms --corpus meddocan --data DATA
    python -m benchmarks.surrogates --independence --corpus meddocan --data DATA --notes 500

A tagger with default parameters is trained on the notes as they are ("raw"), on surrogates with the default number of
copies, one copy or five copies, on neighbours with N = 100, or on label placeholders, and scored on untouched notes of
other patients. With ``--forms``, no tagger is trained: the notes are written with surrogates, broken forms are counted
per 1,000 spans, and the merging and splitting of people is counted. With ``--independence``, the attackers of
`sklearn_deid.audit` on surrogates run on the notes: half of the patients teach them. Finished runs are kept in the file
of ``--runs``, from which an interrupted benchmark goes on. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from typing import Any

import numpy as np
import torch
from sklearn.metrics import mutual_info_score

from sklearn_deid import Corpus, DeidTagger, NeighborPseudonymizer, SurrogatePseudonymizer
from sklearn_deid.audit.attacks import MissedPhiAttack, SurrogatePairAttack, spans_of_notes
from sklearn_deid.audit.attacks.surrogate_spans import DATES
from sklearn_deid.embeddings import train_fasttext
from sklearn_deid.surrogates import SurrogateEngine
from sklearn_deid.text import SentenceData, patient_of, split_tag

from .corpora import add_corpus_options, load, sentences
from .environment import describe
from .official_scores import official_scores
from .resumable import by_arm, finish_runs, interval
from .surrogate_forms import broken_forms, one_person_one_surrogate

ARMS = ("raw", "default", "one-copy", "five-copies", "neighbors-100", "placeholders")
FIGURES = (("binary_token", "f1"), ("binary_token", "recall"), ("strict", "f1"))


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_corpus_options(parser, notes=100, test_notes=None)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS[:4]))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--start", help="model that each tagger starts from, such as starter-en (default: none)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", default="surrogates.jsonl", help="file of finished runs")
    parser.add_argument("--forms", action="store_true", help="count broken forms instead of training taggers")
    parser.add_argument("--independence", action="store_true", help="attack the surrogates instead")
    return parser.parse_args(argv)


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """Train one tagger and score it on untouched notes."""
    torch.set_num_threads(1)
    start = time.process_time()
    train, test = (sentences(corpus) for corpus in load(arguments, seed))
    X, y, groups = training_data(arguments, arm, train, seed)
    tagger = DeidTagger(warm_start_from=arguments.start, random_state=seed)
    tags = tagger.fit(X, y, groups=groups).predict(test.X)
    scores = official_scores(test, tags)
    # Labels that are missed most show which surrogates are least like the originals.
    missed = Counter(
        split_tag(gold)[1]
        for row, found in zip(test.y, tags, strict=True)
        for gold, tag in zip(row, found, strict=True)
        if gold != "O" and tag == "O"
    )
    row = {"arm": arm, "seed": seed, "scores": scores, "missed_tokens": dict(missed.most_common())}
    return {**row, "cpu_seconds": round(time.process_time() - start, 1)}


def training_data(arguments: argparse.Namespace, arm: str, train: SentenceData, seed: int) -> tuple[Any, Any, Any]:
    """Sentences, tags and patients to train on."""
    if arm == "raw":
        return train.X, train.y, train.groups
    if n_copies := {"default": "auto", "one-copy": 1, "five-copies": 5}.get(arm):
        return SurrogatePseudonymizer(random_state=seed).fit_resample(train.X, train.y, train.groups, n_copies=n_copies)
    if arm == "neighbors-100":
        vectors = "auto" if arguments.corpus != "meddocan" else train_fasttext(train.X, random_state=0)
        language = "es" if arguments.corpus == "meddocan" else "en"
        moved = NeighborPseudonymizer(embeddings=vectors, exclude=language, random_state=seed)
        return moved.fit_transform(train.X, train.y), train.y, train.groups
    data = train.X.data.copy()
    labels = [split_tag(tag)[1] for row in train.y for tag in row]
    for i, label in enumerate(labels):
        data[i] = data[i] if label is None else f"[{label}]"
    return type(train.X)(data, train.X.offsets).with_documents(train.X.documents), train.y, train.groups


def forms(corpus: Corpus) -> dict[str, Any]:
    """Counts of the form of surrogate notes, their speed, and the errors of the rules for one person."""
    engine = SurrogateEngine(key=bytes(32))
    engine.rewrite(corpus[0])  # Faker is imported with the first note
    start = time.process_time()
    replacements = [engine.replacements(document) for document in corpus]
    seconds = time.process_time() - start
    n_spans = sum(map(len, replacements))
    counts: Counter = Counter()
    for document, made in zip(corpus, replacements, strict=True):
        counts.update(broken_forms(document, made))
    no_rule = Counter(one.span.label for made in replacements for one in made if not one.has_rule)
    return {
        "notes": len(corpus),
        "spans": n_spans,
        "no_rule": dict(no_rule.most_common()),
        "broken": dict(counts.most_common()),
        "broken_per_1000_spans": round(1000 * sum(counts.values()) / max(n_spans, 1), 3),
        "notes_per_second": round(len(corpus) / seconds, 1),
        **one_person_one_surrogate(corpus, replacements),
    }


def independence(corpus: Corpus, seed: int) -> dict[str, Any]:
    """Attackers on the surrogates of half of the patients, who know originals and surrogates of the other half."""
    patients = sorted({patient_of(document) for document in corpus})
    known = set(np.random.default_rng(seed).permutation(patients)[: len(patients) // 2].tolist())
    halves = [Corpus(d for d in corpus if (patient_of(d) in known) == is_known) for is_known in (True, False)]
    spans = [spans_of_notes(half, [SurrogateEngine().rewrite_all(half)]) for half in halves]
    attacks = [SurrogatePairAttack(random_state=seed), SurrogatePairAttack(dates=True, random_state=seed)]
    out: dict[str, Any] = {}
    for attack in (*attacks, MissedPhiAttack(random_state=seed)):
        result = attack.fit(spans[0]).attack(spans[1])
        assert result.attack is not None
        found = {"value": result.attack.value, "low": result.attack.low, "high": result.attack.high}
        out[result.name] = {**found, "n": result.attack.n, "failures": list(result.failures), **result.details}
    out["mutual information"] = information_by_label(spans[1], seed)
    return out


def information_by_label(spans: Any, seed: int, n_permutations: int = 199) -> dict[str, dict[str, float]]:
    """Permutation test for each label: mutual information of the first letters of originals and surrogates.

    Originals change places within one written form, so that what the form tells is in the permutations, too. Each
    patient counts with one span of a label: several written names of one person have one surrogate.
    """
    _, once = np.unique([f"{g}|{name}" for g, name in zip(spans.groups, spans.labels, strict=True)], return_index=True)
    rng = np.random.default_rng(seed)
    out = {}
    for label in np.unique(spans.labels[~np.isin(spans.kinds, DATES)]).tolist():
        rows = once[spans.labels[once] == label]
        secret, seen = (
            np.array([ord(text.casefold()[0]) % 32 for text in texts])
            for texts in ([spans.originals[i] for i in rows], [spans.surrogates[i][0] for i in rows])
        )
        groups = [np.flatnonzero(spans.forms[rows] == form) for form in np.unique(spans.forms[rows])]
        observed = mutual_info_score(secret, seen)
        larger = 0
        for _ in range(n_permutations):
            permuted = secret.copy()
            for group in groups:
                permuted[group] = rng.permutation(secret[group])
            larger += mutual_info_score(permuted, seen) >= observed
        out[label] = {"spans": len(rows), "nats": float(observed), "p": (1 + larger) / (1 + n_permutations)}
    return out


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    settings = {name: getattr(arguments, name) for name in ("corpus", "notes", "test_notes", "start")}
    if arguments.independence:
        results: dict[str, Any] = {str(seed): independence(load(arguments, seed)[0], seed) for seed in arguments.seeds}
    elif arguments.forms:
        results = {name: forms(corpus) for name, corpus in zip(("train", "test"), load(arguments, 0), strict=True)}
    else:
        rows = by_arm(finish_runs(run, arguments, settings))
        results = {
            arm: {
                f"{rule}_{figure}": [round(v, 5) for v in interval([r["scores"][rule][figure] for r in seeds.values()])]
                for rule, figure in FIGURES
            }
            | {"cpu_seconds": float(np.mean([r["cpu_seconds"] for r in seeds.values()]))}
            for arm, seeds in rows.items()
        }
    print(json.dumps({"benchmark": "surrogates", **settings, "results": results, **describe()}, indent=1))


if __name__ == "__main__":
    main()
