"""Short texts of many kinds, made from the templates in texts.txt and the grammar in GRAMMAR."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from sklearn_deid import Document
from sklearn_deid.datasets.notes.builder import NoteBuilder
from sklearn_deid.surrogates import Chance, read_data_file

from .cases import piece, with_casing_of_lines
from .periods import with_periods
from .values import Scene, slot

#: Files of the grammar.
GRAMMAR = ("sentences.txt", "ordinary.txt", "clinical.txt", "visits.txt", "charts.txt", "wards.txt", "rooms.txt")
GRAMMAR += ("brief.txt",)
_CHOICE = re.compile(r"<([^<>]*)>")
_SLOT = re.compile(r"\{([a-z.]+)\}")
_TITLE = r"(?:Dr|Mr|Mrs|Ms|Prof)\b"
# A person in a frame, with the title before the name.
_PERSON = re.compile(rf"(?:<[^<>]*\b{_TITLE}[^<>{{}}]*> |\b{_TITLE}\.? )?\{{(?:pt|doc)(?:\.[a-z]+)?\}}")
_RULE = re.compile(r"@([a-z]+(?:\.[a-z]+)*)")
_FRAMES_HELD_OUT = 6  # one wording of six, in the blocks of the grammar that ask for it
_CAPITAL = 0.85  # probability that a sentence of the grammar begins with a capital
# Shares of the texts in lower case and in capitals. A tagger does not mark the casing of a short text, as the copies of
# its augmenter are marked.
_LOWER, _CAPITALS = 0.18, 0.08
# Years, ages, lots and so on that i2b2 2014 would annotate although they say little about a person.
_ANNOTATED = {"o.age": "AGE", "o.year": "DATE", "o.expiry": "DATE"}
_PERIODS = 0.3  # share of texts whose abbreviations have periods
_MIXED = 0.25  # share of texts with what is held out otherwise, in the stages that mix both
_NEW_FORMS = 0.35  # share of the places, companies and dates of pieces of notes that have a new form
# Share of each kind of text.
KINDS = {
    "query": 10, "plain query": 9, "query sentence": 12, "plain query sentence": 9, "name": 14, "place": 7, "number": 6,
    "date": 6, "referral": 2, "operation": 2, "pathology": 2, "mail": 2, "chat": 4, "form": 3, "table": 3,
    "clinical": 30, "sentence": 24, "place sentence": 10,
    "number sentence": 8, "date sentence": 6, "salad": 10, "plain sentence": 18, "service sentence": 18,
    "daily sentence": 22, "work sentence": 14, "news sentence": 14, "form lines": 8, "roster lines": 9,
    "everyday plain": 12, "hard sentence": 46, "twin sentence": 14, "twin daily sentence": 9, "twin place sentence": 2,
    "twin work sentence": 2, "twin roster lines": 2, "twin news sentence": 4, "twin service sentence": 2,
    "twin query sentence": 3, "terse sentence": 20, "eponym sentence": 18, "twin eponym sentence": 5, "title lines": 14,
    "compound sentence": 10, "family sentence": 14, "role sentence": 12, "account lines": 6, "address lines": 9,
    "bare title": 10, "brand sentence": 16,
}  # fmt: skip
#: Kinds of the later stages: notes of visits, conversations and charts as well, and fewer words in no order.
CHART_KINDS = KINDS | {
    "salad": 6, "visit lines": 60, "talk lines": 18, "talk plain lines": 24, "flow lines": 14, "class sentence": 36,
    "letter lines": 16, "clinic sentence": 8, "title lines": 24, "everyday plain": 20, "plain sentence": 24,
    "hard sentence": 58, "chart sentence": 90, "chart lines": 50, "twin chart lines": 20, "eponym sentence": 24,
    "twin eponym sentence": 10, "age sentence": 36, "age plain": 24, "ward lines": 60, "ward plain lines": 50,
    "story sentence": 110, "story plain": 80,
}  # fmt: skip
#: Kinds of the last stages: more numbers, addresses, ages, and names in few words.
NOTE_KINDS = CHART_KINDS | {
    "number": 12, "number sentence": 16, "account lines": 10, "address lines": 12, "name": 18, "query": 14,
    "age sentence": 50, "age plain": 30, "number lines": 50, "dotted plain": 40,
}  # fmt: skip
#: The same with fewer texts without PHI, but for numbers.
LAST_KINDS = NOTE_KINDS | {
    "sentence": 50, "place sentence": 18, "name": 26, "place": 12, "query sentence": 22, "chart lines": 70,
    "service sentence": 26, "daily sentence": 32, "family sentence": 22, "role sentence": 22, "ward lines": 80,
    "story sentence": 150, "number lines": 70, "number plain": 40,
}  # fmt: skip
#: The same with more sentences outside of medicine, whose names the stages with notes made less certain.
WIDE_KINDS = LAST_KINDS | {
    "sentence": 80, "name": 40, "service sentence": 60, "daily sentence": 75, "work sentence": 45, "news sentence": 45,
    "place sentence": 30, "number sentence": 24, "date sentence": 16, "family sentence": 36, "role sentence": 32,
    "query sentence": 36, "query": 24, "roster lines": 22, "form lines": 16, "terse sentence": 40, "title lines": 36,
    "everyday plain": 30, "eponym sentence": 40,
}  # fmt: skip
#: The same with rows, conversations, foods and titles of many specialties.
ROOM_KINDS = WIDE_KINDS | {
    "room plain": 110, "room talk plain": 30, "room talk": 24, "room lines": 40, "hard sentence": 70,
    "eponym sentence": 50, "chart sentence": 100,
}  # fmt: skip
#: The same with more names.
PEOPLE_KINDS = ROOM_KINDS | {
    "name": 80, "sentence": 110, "query": 36, "role sentence": 50, "family sentence": 50, "terse sentence": 60,
    "news sentence": 65, "work sentence": 60, "daily sentence": 90, "roster lines": 32, "title lines": 46,
}  # fmt: skip
#: The same with people, hospitals, days and ages in very few words, and lines of this form without them.
BRIEF_KINDS = PEOPLE_KINDS | {"brief lines": 150, "brief plain": 120, "room plain": 130}
#: The same with pieces of notes of many departments.
CASE_KINDS = BRIEF_KINDS | {"case": 1100}
#: The same with more questions, and more sentences outside of medicine.
OUTSIDE_KINDS = CASE_KINDS | {"case question": 60, "case outside": 260}
#: Kinds of the texts of a stage, by the name of the mix.
MIXES = {"first": KINDS, "charts": CHART_KINDS, "notes": NOTE_KINDS, "last": LAST_KINDS, "wide": WIDE_KINDS}
MIXES |= {"rooms": ROOM_KINDS, "people": PEOPLE_KINDS, "brief": BRIEF_KINDS, "cases": CASE_KINDS}
MIXES |= {"outside": OUTSIDE_KINDS}


def make_texts(n: int, random_state: int, *, mix: str = "first", mixed: bool = False) -> Iterator[Document]:
    """Generate short texts with gold spans in the i2b2 2014 scheme, one after the other.

    With ``mixed``, some texts have the names, words and wordings that other texts of the training lack.
    """
    kinds = list(MIXES[mix].items())
    for number in range(n):
        chance = Chance(np.random.SeedSequence(random_state, spawn_key=(number,)))
        kind = chance.weighted(kinds)
        scene = Scene(chance, held_out=mixed and chance.happens(_MIXED))
        text = write(pick_template(kind, scene), scene)
        document = text.build(f"text-{number:05d}", patient_id=f"text-{number:05d}", meta={"kind": kind})
        document = with_casing_of_lines(document, chance) if kind.startswith("case") else document
        document = with_periods(document, chance) if chance.happens(_PERIODS) else document
        casing = chance.weighted((("", 1 - _LOWER - _CAPITALS), ("lower", _LOWER), ("upper", _CAPITALS)))
        recased = getattr(document.text, casing)() if casing else document.text
        yield replace(document, text=recased) if len(recased) == len(document.text) else document


@cache
def templates(file: str = "texts.txt") -> dict[str, tuple[str, ...]]:
    """Templates of each kind, in a file of this folder."""
    blocks = read_data_file(Path(__file__).parent / file).blocks
    return {block.name: tuple(entry.text for entry in block.entries) for block in blocks}


@cache
def grammar(held_out: bool) -> dict[str, tuple[str, ...]]:
    """Entries of each block of the grammar, for the training or with the wordings that the training does not have."""
    rules = {}
    for block in (b for name in GRAMMAR for b in read_data_file(Path(__file__).parent / name).blocks):
        entries = tuple(entry.text for entry in block.entries)
        if "frames" in block.settings:
            entries = tuple(e for e in entries if _held(e) == held_out)
        rules[block.name] = entries
    return rules


def _held(entry: str) -> bool:
    digest = blake2b(entry.encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") % _FRAMES_HELD_OUT == 0


def pick_template(kind: str, scene: Scene) -> str:
    """A template of a kind; a wording of the grammar is written out up to its slots.

    A "twin" of a kind has its frames, with words that are no PHI in the place of people, places and times.
    """
    chance = scene.chance
    if kind.startswith("case"):
        scene.new_forms = _NEW_FORMS
        return piece(kind, chance)
    if kind in templates():
        return chance.pick(templates()[kind])
    rules, start = grammar(scene.held_out), kind.removeprefix("twin ")
    is_twin = start != kind
    text = chance.pick(rules[start])
    while True:
        text = _PERSON.sub("@who.none", text) if is_twin else text
        found = _CHOICE.search(text) or _RULE.search(text)
        if found is None:
            break
        twin = f"{found[1]}.none"
        name = twin if is_twin and twin in rules else found[1]
        options = found[1].split("|") if found[0][0] == "<" else rules[name]
        text = text[: found.start()] + chance.pick(options) + text[found.end() :]
    return text[:1].upper() + text[1:] if chance.happens(_CAPITAL) else text


def write(template: str, scene: Scene) -> NoteBuilder:
    """Fill in one template."""
    while (found := _CHOICE.search(template)) is not None:
        chosen = scene.chance.pick(found[1].split("|"))
        template = template[: found.start()] + chosen + template[found.end() :]
    note = NoteBuilder()
    # Odd parts are the names of slots.
    for number, part in enumerate(_SLOT.split(template)):
        if number % 2 == 0:
            note.text(part)
            continue
        for value, label in slot(part, scene):
            label = label or _ANNOTATED.get(part)
            note.text(value) if label is None else note.phi(value, label)
    return note
