"""Measurements of a starter model: corpora that it never saw, casings, names by origin, and texts without PHI."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_deid import Document, NoteDeidentifier, Span, read_corpus
from sklearn_deid.sequences import object_rows
from sklearn_deid.surrogates import Chance
from sklearn_deid.tagging import is_safe_harbor
from sklearn_deid.tagging.held_out import threshold_of
from sklearn_deid.tagging.marginals import labels_in, read_marginals

from .diagnoses import diagnosis
from .names import origins
from .texts import pick_template, templates, write
from .values import Scene

WORD = re.compile(r"\w+")
_SHORT = 20  # characters of a line that may be a heading
_MARKED = re.compile(r"\[\[([A-Z]+):(.*?)\]\]")  # PHI in general.txt and marked_notes.txt
#: Kinds of notes of visits that get no sentences with PHI: single sentences, and notes that came later.
_WITHOUT_PHI = ("lines", "clinics", "practices", "offices", "services", "stations", "counters")
BIASES = (-2.0, 0.0, 2.0, 4.0)
#: Share of held-out words of medicine in the texts that set the bias, one in five as of names. With one in two, the
#: training texts lack 14 of 100 words of these texts (with one in five 11, of queries of ASQ-PHI dev 8). The bias is
#: then 1.5 lower, hides fewer eponyms and brands, and misses more names.
NEW_WORDS = 0.2
CASINGS: dict[str, Callable[[str], str]] = {"as written": str, "lower": str.lower, "capitals": str.upper}


class Decision(BaseEstimator):
    """Tagger that computes the probabilities of a corpus once and decides with any bias, as `RecallTunedTagger`."""

    def __init__(self, tagger: Any = None, bias: float = 0.0) -> None:
        self.tagger, self.bias = tagger, bias
        self.classes_ = tagger.classes_
        self._known: dict[tuple[int, str], Any] = {}

    def fit(self, X: Any, y: Any) -> Decision:
        raise NotImplementedError("Trained already.")

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        key = (len(X.data), "".join(map(str, X.data[:200])))
        if key not in self._known:
            self._known[key] = read_marginals(self.tagger, X, labels_in(self.tagger.classes_))
        tags, confidence = self._known[key].decode(threshold_of(self.bias))
        return (object_rows(tags), object_rows(confidence)) if return_confidence else object_rows(tags)


class Figures(dict):
    """Counts of one corpus at one bias; ``each`` holds the found and all PHI words of each document."""

    each: list[tuple[int, int]]

    @property
    def recall(self) -> float:
        return self["found"] / max(1, self["words"])


def deciding(tagger: Any, labels: str = "hipaa") -> NoteDeidentifier:
    """A de-identifier whose bias can be changed without computing anew."""
    return NoteDeidentifier(Decision(tagger), labels=labels, batch_size=100_000)


def words_of(text: str, spans: Iterable[Span]) -> list[tuple[int, int]]:
    """Words (runs of letters and digits) that lie in spans."""
    inside = [(m.start(), m.end()) for m in WORD.finditer(text)]
    kept = list(spans)
    return [(a, b) for a, b in inside if any(s.start < b and a < s.end for s in kept)]


def count(documents: Sequence[Document], found: Sequence[Any]) -> Figures:
    """PHI words and those hidden, other words and those hidden, documents without PHI and those touched."""
    total: Counter[str] = Counter()
    each = []
    for document, spans in zip(documents, found, strict=True):
        gold, hidden = set(words_of(document.text, document.spans)), set(words_of(document.text, spans))
        n_words = len(WORD.findall(document.text))
        each.append((len(gold & hidden), len(gold)))
        total.update(words=len(gold), found=len(gold & hidden), hidden=len(hidden), other=n_words - len(gold))
        total.update(false=len(hidden - gold), plain=not document.spans, touched=not document.spans and bool(spans))
        for span in document.spans:
            own = set(words_of(document.text, [span]))
            total.update({f"{span.label} words": len(own), f"{span.label} found": len(own & hidden)})
    figures = Figures(total)
    figures.each = each
    return figures


def sweep(model: NoteDeidentifier, documents: Sequence[Document], biases: Iterable[float]) -> dict[float, Figures]:
    """Counts at each bias."""
    result = {}
    for bias in biases:
        model.fitted_estimator().bias = bias
        result[bias] = count(documents, model.annotate(documents))
    return result


def asq(folder: Path) -> list[Document]:
    """Clinical search queries (ASQ-PHI). Ages under 90 are no PHI there."""
    return list(read_corpus(folder / "asq-phi" / "dev.jsonl", format="jsonl"))


def grascco(folder: Path) -> list[Document]:
    """German clinical letters (GraSCCo), in a language that the starter never saw."""
    return list(read_corpus(folder / "grascco" / "dev.jsonl", format="jsonl"))


def cased(documents: Iterable[Document], casing: str) -> list[Document]:
    """Documents in another casing, without those whose length changes."""
    changed = [(d, CASINGS[casing](d.text)) for d in documents]
    return [replace(d, text=text) for d, text in changed if len(text) == len(d.text)]


def calibration_texts(kind: str, n: int, seed: int) -> list[Document]:
    """Texts of templates that the training does not have: "plain" ones without PHI, or "phi" with held-out names."""
    documents = []
    for number in range(n):
        chance = Chance(np.random.SeedSequence(seed, spawn_key=(kind == "phi", number)))
        scene = Scene(chance, held_out=True)
        scene.new_words = NEW_WORDS
        text = write(chance.pick(templates("calibration.txt")[kind]), scene)
        document = text.build(f"{kind}-{number}", patient_id=f"{kind}-{number}")
        # Ages under 90, states and bare years are no PHI of the Safe Harbor rule.
        kept = tuple(span for span in document.spans if is_safe_harbor(span, document.text))
        documents.append(replace(document, spans=kept))
    return documents


def new_sentences(kinds: Sequence[str], n: int, seed: int) -> list[Document]:
    """Texts of the grammar in wordings that the training does not have, with held-out names."""
    documents = []
    for number in range(n):
        scene = Scene(Chance(np.random.SeedSequence(seed, spawn_key=(number,))), held_out=True)
        text = write(pick_template(scene.chance.pick(kinds), scene), scene).build(f"s{number}", patient_id=f"s{number}")
        kept = tuple(span for span in text.spans if is_safe_harbor(span, text.text))
        documents.append(replace(text, spans=kept))
    return documents


def diagnoses(n: int, seed: int) -> list[Document]:
    """Diagnoses of ICD-10-CM of the categories that the training does not have, none of which holds PHI."""
    draws = (Chance(np.random.SeedSequence(seed, spawn_key=(number,))) for number in range(n))
    return [Document(f"icd-{number}", diagnosis(chance, True, "full")) for number, chance in enumerate(draws)]


def visit_notes() -> dict[str, list[Document]]:
    """Notes of visits without PHI that we wrote, by kind (see visit_notes.txt)."""
    return _notes("visit_notes.txt")


def marked_notes() -> dict[str, list[Document]]:
    """Notes with PHI that we wrote, by kind (see marked_notes.txt)."""
    return _notes("marked_notes.txt")


def _notes(file: str) -> dict[str, list[Document]]:
    _, *parts = (Path(__file__).parent / file).read_text(encoding="utf-8").split("\n===== ")
    notes: dict[str, list[Document]] = {}
    for number, part in enumerate(parts):
        kind, _, text = part.partition("\n")
        notes.setdefault(kind, []).append(_unmarked(f"{file}-{number}", text))
    return notes


def general_sentences() -> list[Document]:
    """English sentences outside of medicine that we wrote, with names of many countries (see general.txt)."""
    lines = (Path(__file__).parent / "general.txt").read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if not line.startswith("#")]
    return [_unmarked(f"general-{number}", line) for number, line in enumerate(lines)]


def _unmarked(doc_id: str, marked: str) -> Document:
    """A text without its marks, and the PHI of the Safe Harbor rule in them."""
    text, spans, end = "", [], 0
    for found in _MARKED.finditer(marked):
        text += marked[end : found.start()]
        spans.append(Span(len(text), len(text) + len(found[2]), found[1]))
        text, end = text + found[2], found.end()
    text += marked[end:]
    return Document(doc_id, text, tuple(span for span in spans if is_safe_harbor(span, text)))


def visits_with(n_sentences: int, kinds: Sequence[str], seed: int, draws: int = 3) -> list[Document]:
    """Our notes of visits, with sentences with PHI between their lines: held-out names in new wordings."""
    notes = [note for kind, of in visit_notes().items() if kind not in _WITHOUT_PHI for note in of]
    pool = [d for d in new_sentences(kinds, 900, seed) if d.spans and "\n" not in d.text]
    rng = np.random.default_rng(seed)
    documents = []
    for number, note in enumerate(notes * draws):
        parts = [Document("", line) for line in note.text.split("\n")]
        for chosen in rng.choice(len(pool), n_sentences, replace=False):
            parts.insert(int(rng.integers(len(parts) + 1)), pool[chosen])
        text, spans = "", []
        for part in parts:
            moved = (replace(s, start=s.start + len(text), end=s.end + len(text)) for s in part.spans)
            spans, text = [*spans, *moved], f"{text}{part.text}\n"
        documents.append(Document(f"with-{number}", text, tuple(spans)))
    return documents


def contexts(n: int, seed: int) -> dict[str, list[Document]]:
    """Contexts of PHI in notes by kind (see contexts.txt), with held-out names, each between lines without PHI."""
    ordinary = [line for note in visit_notes()["ordinary"] for line in note.text.split("\n") if len(line) > _SHORT]
    result: dict[str, list[Document]] = {}
    for kind_number, (kind, texts) in enumerate(templates("contexts.txt").items()):
        for number in range(n):
            chance = Chance(np.random.SeedSequence(seed, spawn_key=(kind_number, number)))
            text = write(texts[number % len(texts)], Scene(chance, held_out=True)).build("", patient_id="")
            before, after = ("\n".join(chance.pick(ordinary) for _ in range(lines)) for lines in (2, 3))
            shift = len(before) + 1
            moved = (replace(span, start=span.start + shift, end=span.end + shift) for span in text.spans)
            whole = f"{before}\n{text.text}\n{after}"
            kept = tuple(span for span in moved if is_safe_harbor(span, whole))
            result.setdefault(kind, []).append(Document(f"{kind}-{number}", whole, kept))
    return result


def names_of(n_words: int, seed: int, **people: str) -> list[Document]:
    """Texts with held-out names of one origin or gender, in the same new contexts for every one of them."""
    contexts = [t for t in templates("calibration.txt")["phi"] if "{pt" in t or "{doc" in t]
    documents: list[Document] = []
    written, number = 0, 0
    while written < n_words:
        chance = Chance(np.random.SeedSequence(seed, spawn_key=(number,)))
        scene = Scene(chance, held_out=True, **people)
        template = chance.pick(contexts) if chance.happens(0.5) else pick_template("sentence", scene)
        text = write(template, scene).build(f"n{number}", patient_id="")
        # Other PHI of the text would blur the comparison.
        text = replace(text, spans=tuple(s for s in text.spans if s.label in ("PATIENT", "DOCTOR")))
        documents.append(text)
        written += len(words_of(text.text, text.spans))
        number += 1
    return documents


def by_origin(model: NoteDeidentifier, n_words: int, seed: int = 77) -> dict[str, Figures]:
    """Recall of the words of names of each origin, at the bias that the model has."""
    texts = {origin: names_of(n_words, seed, origin=origin) for origin in origins()}
    return {origin: count(documents, model.annotate(documents)) for origin, documents in texts.items()}


def by_gender(model: NoteDeidentifier, n_words: int, seed: int = 78) -> dict[str, Figures]:
    """Recall of the words of names with female and with male first names, at the bias that the model has."""
    texts = {gender: names_of(n_words, seed, gender=gender) for gender in ("female", "male")}
    return {gender: count(documents, model.annotate(documents)) for gender, documents in texts.items()}


def labels_of(figures: Figures) -> dict[str, float]:
    """Recall of the words of each label."""
    names = sorted(name.removesuffix(" words") for name in figures if name.endswith(" words"))
    return {name: figures[f"{name} found"] / figures[f"{name} words"] for name in names}
