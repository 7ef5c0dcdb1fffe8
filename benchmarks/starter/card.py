"""Model card of a starter model, from the figures of the run that made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .training import SEED, STAGES

_INTRODUCTION = """\
# starter-en: a model for English without annotated notes

`load_model("starter-en")` and `sklearn-deid redact --model starter-en` load this model. It finds PHI in English
clinical text and needs no training on your notes. **It misses PHI.** A person must check its output before it leaves.

## Data

Generated texts only; no text of a real person. `python -m benchmarks.starter` made the model from
`make_clinical_notes`, with names, places and numbers of many origins in place of its own, and from short texts of 14
kinds (queries, referrals, operation notes, pathology, e-mails, chat, forms, tables, single sentences). Names come from
the lists of Faker (MIT licence) and from short lists in `benchmarks/starter`. One name of five was held out for the
figures below. Random seed {seed}; {n_notes} notes and {n_texts} short texts in {n_stages} stages.

The model is a `RecallTunedTagger` around a `DeidTagger` with default settings, trained with other casings and errors of
writing. The table of n-grams has 8 bits, the network 16. Labels: i2b2 2014. It ships with `labels="hipaa"`.

## Bias

The decision bias is **{bias:g}**. Generated texts alone set it, whose templates the training does not have: the
largest bias at which at most 10 % of the texts without PHI are touched, and at most 5 of 1,000 of their words are
hidden. Half of the words of medicine in these texts, and all names, are not in the training either. At this bias,
{touched} of the texts without PHI are touched, and {calibrated} of the PHI words of the others are found. This recall
is the most honest one for contexts that are new to the model. The share of new words was chosen after scores on
ASQ-PHI dev at several biases were known.
"""
_MISSES = """\
## Known shortfalls

- The figures on generated names use contexts that the training has, and are optimistic for that reason.
- Bare years and ages under 90 stay with `labels="hipaa"`, also a year of birth of a person over 89.
- Relative dates ("yesterday", "last week") are not marked. Titles ("Dr.") stay.
- Words such as "our clinic" or "the Emergency Department" are not marked, although some corpora annotate them.
- Notes in other languages: names and dates are found in part, other PHI rarely.
- The order of Faker's Italian towns was not fixed when this model was trained. A new run of the command draws others.
- No real clinical note was used, in the training or in a measurement. Measure the model on your own notes.
"""


def write_card(path: Path, result: dict[str, Any]) -> None:
    """Write the card; scores are left out if nothing was measured."""
    calibration = result["calibration"]
    parts = [
        _INTRODUCTION.format(
            seed=SEED,
            n_notes=f"{sum(s.n_notes for s in STAGES):,}",
            n_texts=f"{sum(s.n_texts for s in STAGES):,}",
            n_stages=len(STAGES),
            bias=calibration["decision_bias"],
            touched=f"{calibration['touched']:.3f}",
            calibrated=f"{calibration['recall_of_phi_words']:.3f}",
        )
    ]
    if "asq" in result:
        parts += [_queries(result), _labels(result), _names(result)]
    path.write_text("\n".join([*parts, _MISSES]), encoding="utf-8")


def _queries(result: dict[str, Any]) -> str:
    """Table of the corpora that were never trained on."""
    rows = [("ASQ-PHI dev, " + casing, figures) for casing, figures in result["asq"].items()]
    rows.append(("GraSCCo dev (German letters)", result["grascco"]))
    lines = [
        "## Scores on corpora that the training never saw",
        "",
        'One training, the bias that ships, `labels="hipaa"`. A word is found if a span covers a part of it. Intervals',
        "of 95 % over documents. ASQ-PHI (MIT licence): English clinical search queries. GraSCCo (CC BY 4.0).",
        "Development halves. ASQ-PHI annotates titles and states as well, which this model leaves. The shape of its",
        "queries was known when the templates were written, and errors of an earlier model on this half were read: its",
        "figures are optimistic.",
        "",
        "| corpus | PHI words | recall | precision | texts without PHI touched |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {f['words']:,} | {f['recall']:.3f} ({_interval(f)}) "
        f"| {f['precision']:.3f} | {'' if f['touched'] is None else format(f['touched'], '.2f')} |"
        for name, f in rows
    ]
    lines += ["", "Other biases on ASQ-PHI dev, looked at afterwards:", ""]
    lines += ["| bias | recall | precision | queries without PHI touched |", "|---|---|---|---|"]
    lines += [
        f"| {float(bias):g} | {f['recall']:.3f} | {f['precision']:.3f} | {f['touched']:.2f} |"
        for bias, f in result["asq_by_bias"].items()
    ]
    return "\n".join([*lines, ""])


def _labels(result: dict[str, Any]) -> str:
    lines = ["Recall of the words of each category of ASQ-PHI dev:", "", "| category | recall |", "|---|---|"]
    lines += [f"| {label} | {recall:.3f} |" for label, recall in result["asq_by_label"].items()]
    return "\n".join([*lines, ""])


def _names(result: dict[str, Any]) -> str:
    """Table of the recall of held-out names."""
    rows = sorted(result["names"].items(), key=lambda item: item[1]["recall"])
    n_words = min(figures["words"] for _, figures in rows)
    lines = [
        "## Names by origin",
        "",
        f"Recall of the words of held-out names in the same generated contexts, at least {n_words:,} words an origin,",
        "at the bias that ships.",
        "",
        "| origin | recall | 95 % interval |",
        "|---|---|---|",
    ]
    lines += [f"| {origin.replace('_', ', ')} | {f['recall']:.3f} | {_interval(f)} |" for origin, f in rows]
    return "\n".join([*lines, ""])


def _interval(figures: dict[str, Any]) -> str:
    low, high = figures["recall_interval"]
    return f"{low:.3f} to {high:.3f}"
