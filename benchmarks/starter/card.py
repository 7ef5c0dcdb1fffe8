"""Model card of a starter model, from the figures of the run that made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .cases import case_files, case_notes
from .measuring import WORD
from .ordinary_words import TOP, word_levels
from .public_vectors import N_KNOWN
from .texts import templates
from .training import N_UNMIXED, READS_VECTORS, SEED, STAGES

_INTRODUCTION = """\
# starter-en: a model for English without annotated notes

`load_model("starter-en")` and `sklearn-deid redact --model starter-en` load this model. The model finds PHI in English
clinical text and needs no training on your notes. **It misses PHI.** A person must check the redacted text before the
text leaves. In 48 notes of all kinds with PHI whose errors nobody read ("rounds" and "handovers"), the model finds
{rounds} and {handovers} of the PHI words. In 48 such notes without PHI ("stations" and "counters"), it hides
{stations} and {counters} of 1,000 words.

## Data

The training texts are generated or written by us; they contain no text of a real person. `python -m
benchmarks.starter` made the model from:

- notes of `make_clinical_notes`, with names, places and numbers of many origins instead of those of the generator;
- short texts of 14 kinds (queries, referrals, operation notes, pathology, e-mails, chat, forms, tables, single
  sentences);
- a grammar of English sentences: sentences about clinics, services, homes, work, news and forms, and sentences about
  medicine without PHI. From stage {first_charts} of {n_stages} on, the grammar also has notes of visits, \
conversations, rows of
  measurements, scores and instruments named after people, charts of wards and clinics, ages in many forms, the
  shorthand of wards, and sentences about patients, families, schools and homes. From stage {first_rooms} on, it also
  has rows of numbers, conversations, foods and titles;
- from stage {first_cases} on, pieces of {n_cases} notes ({n_case_words} words) of many departments that we wrote
  (`benchmarks/starter/cases`), with random people, places, dates and numbers. Half of these notes were added later, so
  that the command gives a slightly different model.

In three of ten texts and notes, the abbreviations have periods ("b.i.d.", "H.T.N.", "8 a.m.").

| words | source |
|---|---|
| names | lists of Faker (MIT licence), short lists in `benchmarks/starter`, random syllables |
| diagnoses in texts without PHI | ICD-10-CM (in the public domain), from the package simple-icd-10-cm (MIT licence) |
| drugs in texts without PHI | DrugBank's open vocabulary (CC0), from drug-named-entity-recognition (MIT licence) |
| terms with a surname in texts without PHI | the lists of the patients' surnames |
| any English words in texts without PHI | lemminflect (MIT licence), from the SPECIALIST Lexicon of the National \
Library of Medicine |

From stage {first_vectors} on, the network also reads public vectors of {n_known} words (GloVe 6B; English Wikipedia \
and
news; public domain), in 10 bytes for each word. The words are the ordinary words of the lists above that have a vector,
and the most frequent other words with one. Words and names that are held out have a vector only if they are frequent.
The weights of the new inputs began at zero, and all other weights stayed.

For the figures on generated texts, one name in five, one everyday word in five, one category of ICD-10-CM in five and
one wording of the grammar in six were held out. These figures and the bias come from the model after stage \
{n_unmixed}.
In the last {n_mixed} stages, one text in four contains held-out words and wordings, so that the model that ships has
seen them, too. ASQ-PHI and GraSCCo measure the model that ships. The random seed is {seed}. The {n_stages} stages read
{n_notes} notes and {n_texts} short texts.

The model is a `RecallTunedTagger` around a `NotePriorTagger` around a `LabelLineTagger` around a `WordBiasTagger`
around a `DeidTagger` with default settings. The `DeidTagger` was trained with altered casing and writing errors. The
table of n-grams has 8 bits, the network 16. The labels are those of i2b2 2014, and the model ships with
`labels="hipaa"`.

The `WordBiasTagger` lowers the log odds of PHI of {n_ordinary} ordinary words by 1 to {top} (the *level* of the word).
{n_top} of them have level {top}. Ordinary words are English words, words of diagnoses and drugs, and those of the
200,000 most frequent words of GloVe 6B (vectors of English Wikipedia and news; public domain) that do not seem to be
names. A classifier reads the vector of a word and sets its level (`benchmarks/starter/ordinary_words.py`). The
classifier was trained on names, places and ordinary words of the lists above, without held-out words and names. No \
name
of the training texts has a level. All entries of DrugBank's vocabulary with a single word have level {top}.

The `NotePriorTagger` lowers the probability of PHI in a sentence if the other sentences of the note have less PHI than
the training texts, in which 44 % of the sentences have PHI. The tagger assumes PHI in at least 5 % of the sentences of
a note. Texts of one sentence, such as most queries, are not changed. **A doubtful name in a long note without other \
PHI
is missed more often for this reason.** A larger bias finds such a name.

## Bias

The decision bias is **{bias:g}**. Only generated texts set the bias. The training does not contain the templates and
names of these texts. The bias is the largest bias with which the model touches at most 10 % of the texts without PHI
(hides at least one word), and hides at most 4.25 of 1,000 words of these texts. One medical word in five of these \
texts
is not in the training either, and one text in three is a diagnosis of a held-out category. With this bias, {touched} \
of
the texts without PHI are touched, and {calibrated} of the PHI words of the other texts are found.

The share of one medical word in five was chosen after scores at several biases were known. With one such word in two,
the bias was -1: half as many eponyms and brands were hidden, and more names were missed.

## What was known before

The content of the training was chosen after figures of earlier models were known, and after errors of earlier models
were read. Each table names the texts whose errors we had read; `docs/starter_history.md` lists what was chosen when.
"""
_MISSES = """\
## Known shortfalls

- The wordings of the generated sentences are new, but most of their words are not: real sentences vary more.
- Bare years and ages under 90 stay with `labels="hipaa"`, including the year of birth of a person over 89.
- A doubtful name, date or place in a long note without other PHI is missed more often than in a single sentence.
- Eponyms, brands and abbreviations that the training texts lack are hidden more often than other words. Headings of
  two words with capitals ("Bed Rest") that stand alone are also hidden more often.
- Names that are words ("Long", "My") are missed more often than other names.
- Relative dates ("yesterday", "last week") are not marked. Titles ("Dr.") stay.
- Words such as "our clinic" or "the Emergency Department" are not marked, although some corpora annotate them.
- In notes in other languages, the model finds a part of the names and dates, and rarely finds other PHI.
- No real clinical note was used in training or in a measurement. Measure the model on your own notes.
"""


_N_WORST = 20  # kinds of contexts in the card
VISITS = {
    "read": "an eponym, a product or an abbreviation in nearly every line; we read the errors",
    "crowded": 'like "read"; we read the errors later',
    "later": 'like "crowded", written after the levels of words; we read the errors later',
    "ordinary": "ordinary notes; we read the errors later",
    "fresh": "ordinary and crowded notes, written before the priors of notes; we read the errors later",
    "dotted": "abbreviations with periods in every line; we read the errors",
    "departments": "notes of twelve departments, written before the last training; we read the errors before its end",
    "specialties": "the same, of twelve other departments; we read the errors later",
    "clinics": "notes of twenty other specialties, written without knowledge of the training; we read the errors "
    "before the last stages",
    "practices": "the same, of twenty other specialties; we did not read the errors",
    "offices": "notes of 24 other specialties and kinds of documents, written in the same way; we read the errors "
    "before the last stages",
    "services": "the same, of 24 others; we read the errors before the last stages",
    "stations": "24 kinds of documents, written in the same way before the last stages; we did not read the errors",
    "counters": "the same, of 24 others; we did not read the errors",
    "lines": "crowded single sentences, written before the priors of notes; we did not read the errors",
}
MARKED = {
    "wards": "24 kinds of documents, written without knowledge of the training; we read the errors before the last "
    "stages",
    "desks": "the same, of 24 others; we read the errors before the last stages",
    "rounds": "24 kinds of documents, written in the same way before the last stages; we did not read the errors",
    "handovers": "the same, of 24 others; we did not read the errors",
}


def write_card(path: Path, result: dict[str, Any]) -> None:
    """Write the card; scores are left out if nothing was measured."""
    calibration, levels = result["calibration"], word_levels(True)
    parts = [
        _INTRODUCTION.format(
            seed=SEED,
            n_notes=f"{sum(s.n_notes for s in STAGES):,}",
            n_texts=f"{sum(s.n_texts for s in STAGES):,}",
            n_stages=len(STAGES),
            first_charts=next(number for number, stage in enumerate(STAGES, 1) if stage.mix == "charts"),
            first_rooms=next(number for number, stage in enumerate(STAGES, 1) if stage.mix == "rooms"),
            first_vectors=READS_VECTORS + 1,
            n_known=f"{N_KNOWN:,}",
            n_unmixed=N_UNMIXED,
            n_mixed=len(STAGES) - N_UNMIXED,
            n_ordinary=f"{len(levels):,}",
            top=TOP,
            n_top=f"{sum(level == TOP for level in levels.values()):,}",
            n_kinds=len(templates("contexts.txt")),
            **_of_cases(),
            **_unread(result),
            bias=calibration["decision_bias"],
            touched=f"{calibration['touched']:.3f}",
            calibrated=f"{calibration['recall_of_phi_words']:.3f}",
        )
    ]
    if "asq" in result:
        parts += [_queries(result), _labels(result), _contexts(result), _sentences(result), _names(result)]
    path.write_text("\n".join([*parts, _MISSES]), encoding="utf-8")


def _of_cases() -> dict[str, Any]:
    """Size of the notes of many departments, and when they are read."""
    notes, files = case_notes(), case_files()
    return {
        "n_cases": f"{len(notes):,}",
        "n_case_words": f"{sum(len(WORD.findall(file.read_text(encoding='utf-8'))) for file in files):,}",
        "first_cases": next(number for number, stage in enumerate(STAGES, 1) if stage.mix == "cases"),
    }


def _unread(result: dict[str, Any]) -> dict[str, str]:
    """Figures of the notes whose errors nobody read; "-" where nothing was measured."""
    hidden = {kind: f"{figures['false_per_1000']:.1f}" for kind, figures in result.get("visits", {}).items()}
    found = {kind: f"{figures['recall']:.3f}" for kind, figures in result.get("marked", {}).items()}
    both = hidden | found
    return {kind: both.get(kind, "-") for kind in ("rounds", "handovers", "stations", "counters")}


def _queries(result: dict[str, Any]) -> str:
    """Table of the corpora that were never trained on."""
    rows = [("ASQ-PHI dev, " + casing, figures) for casing, figures in result["asq"].items()]
    rows.append(('ASQ-PHI dev, as written, `labels="hipaa-wide"`', result["asq_wide"]))
    rows.append(("GraSCCo dev (German letters)", result["grascco"]))
    lines = [
        "## Scores on corpora that the training never saw",
        "",
        'The table shows one training with the bias that ships and `labels="hipaa"`, on the development halves of two',
        "corpora, with 95 % intervals over documents. A word is found if a span covers a part of the word. ASQ-PHI",
        "(MIT licence) contains English clinical search queries, GraSCCo (CC BY 4.0) German letters. ASQ-PHI also",
        'annotates titles and states, which this model leaves in the text unless `labels="hipaa-wide"` is set.',
        "When the templates were written, the form of the queries of ASQ-PHI was known, and errors of an earlier",
        "model on this half had been read. The figures on ASQ-PHI are therefore optimistic.",
        "",
        "| corpus | PHI words | recall | precision | texts without PHI touched |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {f['words']:,} | {f['recall']:.3f} ({_interval(f)}) "
        f"| {f['precision']:.3f} | {'' if f['touched'] is None else format(f['touched'], '.2f')} |"
        for name, f in rows
    ]
    lines += ["", "Other biases on ASQ-PHI dev, read after the bias was chosen:", ""]
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


def _contexts(result: dict[str, Any]) -> str:
    """Table of contexts of notes, with the kinds of which least is found."""
    every, kinds = result["contexts"], result["contexts_by_kind"]
    worst = sorted(kinds.items(), key=lambda item: item[1]["recall"])[:_N_WORST]
    lines = [
        "## Contexts of notes that we wrote",
        "",
        f"Held-out names in the {len(kinds)} kinds of contexts of `contexts.txt`, each context between five lines of",
        f"ordinary notes, for the model after stage {N_UNMIXED} with the bias that ships. Of {every['words']:,} words",
        f"of PHI, the model finds {every['recall']:.3f} ({_interval(every)}). Of 1,000 words without PHI beside them,",
        f"{every['false_per_1000']:.1f} are hidden. The {_N_WORST} kinds of which the model finds least:",
        "",
        "| kind | PHI words | recall |",
        "|---|---|---|",
        *(f"| {kind.replace('age90', 'ages over 89:')} | {f['words']} | {f['recall']:.2f} |" for kind, f in worst),
    ]
    return "\n".join([*lines, ""])


def _sentences(result: dict[str, Any]) -> str:
    """Table of generated sentences in wordings that the training does not have."""
    hard, icd, general = result["hard_words"], result["diagnoses"], result["general"]
    lines = [
        "## Generated sentences in new wordings",
        "",
        f"The table shows held-out names in wordings that the model after stage {N_UNMIXED} does not know. The bias",
        "is the bias that ships.",
        "",
        "| sentences | PHI words | recall | precision |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {f['words']:,} | {f['recall']:.3f} ({_interval(f)}) | {f['precision']:.3f} |"
        for name, f in result["new_sentences"].items()
    ]
    lines += [
        "",
        "Texts without PHI:",
        "",
        "| texts | words of 1,000 that are hidden |",
        "|---|---|",
        f"| sentences full of words that are names elsewhere (eponyms, drugs, headings, May, Hope) "
        f"| {hard['false_per_1000']:.1f} |",
        f"| diagnoses of held-out categories of ICD-10-CM | {icd['false_per_1000']:.1f} |",
        *(
            f'| notes of visits "{kind}": {VISITS[kind]} | {f["false_per_1000"]:.1f} |'
            for kind, f in result["visits"].items()
        ),
        "",
        "We wrote the notes of visits (`benchmarks/starter/visit_notes.txt`). They measure the model that ships, and",
        f"so do 400 sentences outside of medicine (`general.txt`). Of their {general['words']:,} words of PHI, the",
        f"model finds {general['recall']:.3f} ({_interval(general)}), with a precision of",
        f"{general['precision']:.3f}. Weekdays count as hidden wrongly in these sentences and in the notes.",
    ]
    lines += [
        "",
        "Notes with PHI that we wrote (`marked_notes.txt`), for the model that ships:",
        "",
        "| notes | PHI words | recall | precision | words of 1,000 that are hidden in vain |",
        "|---|---|---|---|---|",
        *(
            f'| "{kind}": {MARKED[kind]} | {f["words"]:,} | {f["recall"]:.3f} ({_interval(f)}) '
            f"| {f['precision']:.3f} | {f['false_per_1000']:.1f} |"
            for kind, f in result["marked"].items()
        ),
    ]
    lines += [
        "",
        "The next table shows three draws of the notes of visits, without the single sentences. Sentences with PHI are",
        "between the lines of the notes:",
        "",
    ]
    lines += ["| sentences with PHI in a note | PHI words | recall | words of 1,000 that are hidden in vain |"]
    lines += ["|---|---|---|---|"]
    lines += [
        f"| {n} | {f['words']:,} | {f['recall']:.3f} ({_interval(f)}) | {f['false_per_1000']:.1f} |"
        for n, f in result["visits_with"].items()
    ]
    return "\n".join([*lines, ""])


def _names(result: dict[str, Any]) -> str:
    """Table of the recall of held-out names."""
    rows = sorted(result["names"].items(), key=lambda item: item[1]["recall"])
    n_words = min(figures["words"] for _, figures in rows)
    lines = [
        "## Names by origin",
        "",
        "The table shows the recall of the words of held-out names in the same new contexts, for the model after",
        f"stage {N_UNMIXED} with the bias that ships. Each origin has at least {n_words:,} words. One half of the",
        "contexts comes from the texts that set the bias.",
        "",
        "| origin | recall | 95 % interval |",
        "|---|---|---|",
    ]
    lines += [f"| {origin.replace('_', ', ')} | {f['recall']:.3f} | {_interval(f)} |" for origin, f in rows]
    lines += ["", "First names that Faker lists for one gender only:", "", "| first names | recall | 95 % interval |"]
    lines += ["|---|---|---|"]
    lines += [f"| {gender} | {f['recall']:.3f} | {_interval(f)} |" for gender, f in result["gender"].items()]
    return "\n".join([*lines, ""])


def _interval(figures: dict[str, Any]) -> str:
    low, high = figures["recall_interval"]
    return f"{low:.3f} to {high:.3f}"
