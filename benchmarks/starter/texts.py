"""Short texts of many kinds, made from the templates in texts.txt and the grammar in sentences.txt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from sklearn_deid import Document
from sklearn_deid.datasets.notes.builder import NoteBuilder
from sklearn_deid.surrogates import Chance, read_data_file

from .values import Scene, slot

_CHOICE = re.compile(r"<([^<>]*)>")
_SLOT = re.compile(r"\{([a-z.]+)\}")
_RULE = re.compile(r"@([a-z]+(?:\.[a-z]+)*)")
_FRAMES_HELD_OUT = 6  # one wording of six, in the blocks of the grammar that ask for it
_CAPITAL = 0.85  # probability that a sentence of the grammar begins with a capital
# Years, ages, lots and so on that i2b2 2014 would annotate although they say little about a person.
_ANNOTATED = {"o.age": "AGE", "o.year": "DATE", "o.expiry": "DATE"}
# Share of each kind of text.
KINDS = {
    "query": 16, "plain query": 11, "name": 17, "place": 8, "number": 7, "date": 6, "referral": 2, "operation": 2,
    "pathology": 2, "mail": 2, "chat": 4, "form": 3, "table": 3, "clinical": 26, "sentence": 38, "place sentence": 13,
    "number sentence": 9, "date sentence": 6, "salad": 15, "plain sentence": 28,
}  # fmt: skip


def make_texts(n: int, random_state: int) -> Iterator[Document]:
    """Generate short texts with gold spans in the i2b2 2014 scheme, one after the other."""
    kinds = list(KINDS.items())
    for number in range(n):
        chance = Chance(np.random.SeedSequence(random_state, spawn_key=(number,)))
        kind = chance.weighted(kinds)
        scene = Scene(chance)
        text = write(pick_template(kind, scene), scene)
        yield text.build(f"text-{number:05d}", patient_id=f"text-{number:05d}", meta={"kind": kind})


@cache
def templates(file: str = "texts.txt") -> dict[str, tuple[str, ...]]:
    """Templates of each kind, in a file of this folder."""
    blocks = read_data_file(Path(__file__).parent / file).blocks
    return {block.name: tuple(entry.text for entry in block.entries) for block in blocks}


@cache
def grammar(held_out: bool) -> dict[str, tuple[str, ...]]:
    """Entries of each block of sentences.txt, for the training or with the wordings that the training does not have."""
    rules = {}
    for block in read_data_file(Path(__file__).parent / "sentences.txt").blocks:
        entries = tuple(entry.text for entry in block.entries)
        if "frames" in block.settings:
            entries = tuple(e for e in entries if _held(e) == held_out)
        rules[block.name] = entries
    return rules


def _held(entry: str) -> bool:
    digest = blake2b(entry.encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") % _FRAMES_HELD_OUT == 0


def pick_template(kind: str, scene: Scene) -> str:
    """A template of a kind; a wording of the grammar is written out up to its slots."""
    if kind in templates():
        return scene.chance.pick(templates()[kind])
    text = scene.chance.pick(grammar(scene.held_out)[kind])
    while (found := _CHOICE.search(text) or _RULE.search(text)) is not None:
        options = found[1].split("|") if found[0][0] == "<" else grammar(scene.held_out)[found[1]]
        text = text[: found.start()] + scene.chance.pick(options) + text[found.end() :]
    return text[:1].upper() + text[1:] if scene.chance.happens(_CAPITAL) else text


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
