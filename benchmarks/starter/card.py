"""Model card of a starter model, from the figures of the run that made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .ordinary_words import TOP, word_levels
from .training import N_UNMIXED, SEED, STAGES

_INTRODUCTION = """\
# starter-en: a model for English without annotated notes

`load_model("starter-en")` and `sklearn-deid redact --model starter-en` load this model. It finds PHI in English
clinical text and needs no training on your notes. **It misses PHI.** A person must check its output before it leaves.

## Data

Generated texts only; no text of a real person. `python -m benchmarks.starter` made the model from
`make_clinical_notes`, with names, places and numbers of many origins in place of its own, from short texts of 14 kinds
(queries, referrals, operation notes, pathology, e-mails, chat, forms, tables, single sentences), and from a grammar of
English sentences: of clinics, services, homes, work, news and forms, and of medicine without PHI. From stage
{first_late} on, the grammar also has notes of visits, conversations, rows of measurements, and scores and instruments
that bear a surname, and from stage {first_charts} on charts of wards and clinics. Names come from the
lists of Faker (MIT licence), from short lists in `benchmarks/starter`, and from random syllables. Texts without PHI
hold diagnoses of ICD-10-CM (in the public domain) from the package simple-icd-10-cm (MIT licence), drugs of DrugBank's
open vocabulary (CC0) from drug-named-entity-recognition (MIT licence), terms that bear a surname of the same lists as
the patients', and any words of English from lemminflect (MIT licence; from the SPECIALIST Lexicon of the National
Library of Medicine). One name of five, one everyday word of five, one category of ICD-10-CM of five and one wording of
six of the grammar were held out for the figures on generated texts. These figures and the bias are those of the model
after stage {n_unmixed}. In the last {n_mixed} stages, one text of four has what was held out, so that the model that
ships knows it, too. ASQ-PHI and GraSCCo measure the model that ships.
Random seed {seed}; {n_notes} notes and {n_texts} short texts in {n_stages} stages.

The model is a `RecallTunedTagger` around a `NotePriorTagger` around a `WordBiasTagger` around a `DeidTagger` with
default settings, trained with other casings and errors of writing. The table of n-grams has 8 bits, the network 16.
Labels: i2b2 2014. It ships with `labels="hipaa"`. The `WordBiasTagger` lowers the log odds of PHI of {n_ordinary}
ordinary words by 1 to {top}, of {n_top} of them by {top}. They are words of English, of diagnoses and drugs, and of
the 200,000 most frequent words of GloVe 6B (vectors of English Wikipedia and news; public domain) those that seem to
be no names. A classifier that reads the vectors decides how much each word needs
(`benchmarks/starter/ordinary_words.py`). It was trained on names, places and ordinary words of the lists above. Words
and names that were held out are not among them. No name of the training texts needs more evidence. All entries of one
word in DrugBank's vocabulary need {top} more.

The `NotePriorTagger` lowers the probabilities of a sentence if the other sentences of its note have less PHI than those
of the training, of which 40 % have some. It takes no note to have PHI in less than 5 % of its sentences. Texts of one
sentence, such as most queries, stay as they are. **A doubtful name in a long note without other PHI is missed more
often for this reason.** A larger bias finds it.

## Bias

The decision bias is **{bias:g}**. Generated texts alone set it, whose templates and names the training does not have:
the largest bias at which at most 10 % of the texts without PHI are touched, and at most 3.25 of 1,000 of their words
are hidden. One word of medicine of five in these texts is not in the training either, and one text of three is a
diagnosis of a held-out category. At this bias, {touched} of the texts without PHI are touched, and {calibrated} of the
PHI words of the others are found.

What is in the training was chosen after figures of earlier models were known. The share of new words was chosen after
scores at several biases: with one of two, the bias was -1, half as many eponyms and brands were hidden, and more names
were missed. The grammar was written after an earlier model of the same kind had missed names in the texts with PHI:
none of their wordings is in the grammar. Diagnoses were added after a model without them had hidden 37 of 1,000 words
of held-out categories, and names of four origins are drawn more often since then. Shorthand (dates without a year
beside scores of the same form, names behind a role) was added, and diagnoses were made more frequent, after an earlier
model had missed such dates in lines that we wrote to look at it, and had hidden 6 of 1,000 words of diagnoses. Network
addresses of any form, more scores ("3/6 murmur") and first names alone were added after that model had missed addresses
like 10.2.33.4 in lines of our own: the training had only had the addresses that are reserved for documentation. The
long lists of words and drugs, surnames in terms, phrases with capitals, short names, names that are words, and more
forms of places and identifiers were added after that model had hidden 20 of 1,000 words of sentences full of eponyms,
phrases with capitals most often, and had missed one Vietnamese name of nine. Three forms of these additions were tried,
one training each. Of ASQ-PHI they found 0.973, 0.973 and 0.974, of 700 sentences in new wordings 0.961, 0.983 and
0.982, and of sentences full of eponyms they hid 19, 19 and 22 of 1,000 words; the third goes on here. The mean of the
weights of the last stages was no better.

The stages from {first_late} on were added after that model had hidden 41 of 1,147 words without PHI in 59 lines that we
wrote in the manner of many documents: scores such as 18/28, classes such as "Hinchey III", instruments, relatives, and
common nouns in conversations. Clinics with a common word ("Boston clinic") were added after misses on ASQ-PHI dev. Two
forms were tried, one training each: 5 more stages (bias 1; 0.976 of ASQ-PHI found, 0.05 of the texts without PHI
touched; 26 of 1,000 words of the sentences full of eponyms and 5.6 of 1,000 of diagnoses hidden), and 9 with more texts
without PHI, which ship. The steps of the bias were halved then, from 0.5 to 0.25, so that less of the allowance is left
unused; at 0.5 the model finds fewer names. The model that ships hides 27 of the 1,147 words and misses 16 of 143 words
of PHI (before 13); it was made with these lines in mind. On sentences full of eponyms, the gain is small.

The stages from {first_charts} on and the ordinary words were added after that model (bias 0.75) had hidden 12 and 18 of
1,000 words of our notes of visits that are crowded with eponyms, and 7 of the ordinary ones (see below). Two forms of
the stages were tried, one training each, and means of their weights. Alone, they were no better than the model before
with a smaller bias: fewer false words, fewer names. The ordinary words moved both. With the earlier allowance of 5 of
1,000 words, the bias would be 1.75 and the gain would go to recall alone; 3.25 was chosen after figures of notes of
visits, names and ASQ-PHI at several biases were known.

Until then, the ordinary words were 58,076 that all needed 1 more. The levels of words were chosen after figures of
ASQ-PHI, of other draws of the generated texts and of the "read", "crowded" and "ordinary" notes were known; the rule
for the bias is the same. The network is the same, too. The "later" notes were written before any figure of them was
known, and do not confirm the gain: {later_before} of 1,000 words before. They have a term that bears a name in nearly
every sentence, and such names seem to be names in the vectors, too. That model hid 34.1 of 1,000 words of them.

The priors of notes, and level {top} for all names of medicines, were added after its errors on the notes of visits had
been read, also on the "crowded", "later" and "ordinary" ones. The strength of the prior and its limit were chosen after
figures of these notes were known. The network and the rule for the bias are the same; the bias was 1.5. The "fresh"
notes and the single sentences were written before these errors were read, and measured once: 26 of 2,081 words and 7
of 342 before, 13 and 7 now. Of the PHI words of sentences between the lines of the notes (see below), 98.6, 97.9 and
98.3 % were found before. Single texts pay for the larger bias: 16.2 of 1,000 words of sentences full of eponyms and 3.6
of diagnoses were hidden before.
"""
_MISSES = """\
## Known shortfalls

- The wordings of the generated sentences are new, but most of their words are not: real sentences vary more.
- Bare years and ages under 90 stay with `labels="hipaa"`, also a year of birth of a person over 89.
- A doubtful name, date or place in a long note without other PHI is missed more often than in a single sentence.
- Eponyms, brands and abbreviations that the training texts lack are hidden more often than other words, and so are
  headings of two words with capitals ("Bed Rest") that stand alone.
- Names that are words ("Long", "My") are missed more often than other names.
- Relative dates ("yesterday", "last week") are not marked. Titles ("Dr.") stay.
- Words such as "our clinic" or "the Emergency Department" are not marked, although some corpora annotate them.
- Notes in other languages: names and dates are found in part, other PHI rarely.
- No real clinical note was used, in the training or in a measurement. Measure the model on your own notes.
"""


#: False words of 1,000 of the "later" notes with the model before the levels of words.
LATER_BEFORE = "33.0"
VISITS = {
    "read": "an eponym, a product or an abbreviation in nearly every line; errors were read",
    "crowded": "the same, errors were read later",
    "later": "as crowded, written after the levels of words, errors were read later",
    "ordinary": "ordinary ones, errors were read later",
    "fresh": "ordinary and crowded ones, written before the priors of notes, errors were not read",
    "lines": "single sentences, crowded, written before the priors of notes, errors were not read",
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
            first_late=next(number for number, stage in enumerate(STAGES, 1) if stage.mix == "late"),
            first_charts=next(number for number, stage in enumerate(STAGES, 1) if stage.mix == "charts"),
            n_unmixed=N_UNMIXED,
            n_mixed=len(STAGES) - N_UNMIXED,
            n_ordinary=f"{len(levels):,}",
            top=TOP,
            n_top=f"{sum(level == TOP for level in levels.values()):,}",
            later_before=LATER_BEFORE,
            bias=calibration["decision_bias"],
            touched=f"{calibration['touched']:.3f}",
            calibrated=f"{calibration['recall_of_phi_words']:.3f}",
        )
    ]
    if "asq" in result:
        parts += [_queries(result), _labels(result), _sentences(result), _names(result)]
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


def _sentences(result: dict[str, Any]) -> str:
    """Table of generated sentences in wordings that the training does not have."""
    hard, icd = result["hard_words"], result["diagnoses"]
    lines = [
        "## Generated sentences in new wordings",
        "",
        f"The model after stage {N_UNMIXED}: held-out names in wordings that it does not know, at the bias that ships.",
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
        *(f"| notes of visits, {VISITS[kind]} | {f['false_per_1000']:.1f} |" for kind, f in result["visits"].items()),
        "",
        "The notes of visits are ours (`benchmarks/starter/visit_notes.txt`), and the model that ships reads them.",
    ]
    lines += [
        "",
        "The same notes (without the single sentences), with sentences with PHI between their lines, three draws:",
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
        f"The model after stage {N_UNMIXED}: recall of the words of held-out names in the same new contexts, at least",
        f"{n_words:,} words an origin, at the bias that ships. One half of the contexts comes from the texts that set",
        "the bias.",
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
