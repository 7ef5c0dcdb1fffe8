"""Dictionary attack on the n-gram table of a saved tagger: was a word among the training notes?

    python -m benchmarks.saved_words --notes 100
    python -m benchmarks.saved_words --corpus meddocan --notes 100 --test-notes 250

Training moves the rows of n-grams that occur. The attacker scores a word by the shortest of the rows of its n-grams,
and knows neither seed nor notes. Members are words of the notes, in PHI alone or also elsewhere; the others are words
of the same kind in notes of other patients. Prints one JSON object with the area under the ROC curve (AUC, chance .5)
for the table that `DeidTagger` trains, and for one that was trained on all words, as in earlier versions.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
from sklearn.metrics import roc_auc_score

from sklearn_deid.embeddings import SubwordTable, normalise_words, train_subword_table
from sklearn_deid.sequences import check_tags
from sklearn_deid.tagging.ngram_table import train_ngram_table
from sklearn_deid.text import SentenceData

from .corpora import add_corpus_options, load, sentences
from .environment import describe

_SHORTEST = 4


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_corpus_options(parser, notes=100, test_notes=None)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    return parser.parse_args(argv)


def words_of(data: SentenceData) -> tuple[set[str], set[str]]:
    """Words in PHI alone, and the other words."""
    inside: set[str] = set()
    outside: set[str] = set()
    for tokens, tags in zip(data.X, data.y, strict=True):
        for word, tag in zip(normalise_words(tokens), tags, strict=True):
            if len(word) >= _SHORTEST and word.isalpha():
                (outside if tag == "O" else inside).add(word)
    return inside - outside, outside


def scores(table: SubwordTable, words: list[str]) -> np.ndarray:
    """Length of the shortest row of each word."""
    rows, offsets = table.ngram_ids(words)
    return np.minimum.reduceat(np.linalg.norm(table.table, axis=1)[rows], offsets[:-1])


def auc(table: SubwordTable, members: set[str], others: set[str]) -> float:
    """Area under the ROC curve of the attacker."""
    is_member = np.repeat([True, False], [len(members), len(others)])
    return float(roc_auc_score(is_member, scores(table, [*sorted(members), *sorted(others)])))


def run(arguments: argparse.Namespace, seed: int) -> dict:
    """Attack both tables."""
    data, other = (sentences(corpus) for corpus in load(arguments, seed))
    (phi, rest), (other_phi, other_rest) = words_of(data), words_of(other)
    known = phi | rest
    tables = {
        "table": train_ngram_table(data.X, check_tags(data.y, data.X), data.groups, seed=seed),
        "trained on all words": train_subword_table(data.X, bucket=32_768, random_state=seed),
    }
    row: dict = {
        "seed": seed,
        "words": {"PHI": [len(phi), len(other_phi - known)], "other": [len(rest), len(other_rest - known)]},
    }
    for name, table in tables.items():
        row[name] = {
            "PHI": round(auc(table, phi, other_phi - known), 3),
            "other": round(auc(table, rest, other_rest - known), 3),
        }
    return row


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    rows = [run(arguments, seed) for seed in arguments.seeds]
    print(
        json.dumps({"benchmark": "saved_words", "settings": vars(arguments), "results": rows, **describe()}, indent=1)
    )


if __name__ == "__main__":
    main()
