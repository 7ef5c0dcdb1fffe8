"""Context of a note: all facts of the note, and the writer that replaces the names in templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from ...surrogates import DATE_FORMS, Chance, years_between
from .builder import NoteBuilder
from .grammar import Choice, Node, Number, Slot, compile_template
from .library import TemplateLibrary
from .people import Patient
from .stays import Stay

Word = tuple[str | None, Callable[["NoteContext"], str]]
"""Label of the PHI, or None for plain text, and how to find the text in a context."""

_HEADINGS = ("CAPITALS:", "Title:", "Title", "*Title*", "== CAPITALS ==", "CAPITALS")
_BULLETS = ("- ", "* ", "1. ", "1) ", "", "\u2022 ", "  - ", "#")


@dataclass(frozen=True, slots=True)
class Style:
    """Habits of the writer and of the record system, one set for each note."""

    date_form: str
    phone_form: int
    clock_form: int
    heading: str
    same_line: bool
    bullet: str
    gap: str
    wrap: int | None
    capitals: bool
    crlf: bool
    sloppy: bool


def make_style(chance: Chance) -> Style:
    """Draw the writing habits of one author of notes, such as forms of dates."""
    return Style(
        date_form=chance.pick(tuple(DATE_FORMS)),
        phone_form=chance.number(0, 6),
        clock_form=chance.number(0, 3),
        heading=chance.pick(_HEADINGS),
        same_line=chance.happens(0.45),
        bullet=chance.pick(_BULLETS),
        gap=chance.pick(("\n", "\n\n", "\n\n", "\n\n\n")),
        wrap=chance.number(68, 84) if chance.happens(0.3) else None,
        capitals=chance.happens(0.05),
        crlf=chance.happens(0.04),
        sloppy=chance.happens(0.25),
    )


class NoteContext:
    """Writes a single note.

    Parameters
    ----------
    chance : Chance
        Random draws of this note.
    patient, stay : Patient, Stay
        Patient and stay that the note describes.
    day : date
        Day on which the note is written.
    words : mapping of str to Word
        Names in templates that are replaced by exactly one text, which is PHI or other text.
    library : TemplateLibrary
        Phrases, each of which is replaced by a random template. Phrases of the case have priority.
    """

    def __init__(
        self,
        chance: Chance,
        patient: Patient,
        stay: Stay,
        day: date,
        words: Mapping[str, Word],
        library: TemplateLibrary,
    ) -> None:
        self.chance = chance
        self.patient = patient
        self.stay = stay
        self.day = day
        self.style = make_style(chance)
        self.note = NoteBuilder()
        self.minutes: int | None = None  # time of the last entry of a log
        self.library = library
        self._words = words
        self._phrases = library.phrases_for(years_between(patient.birth, day))
        self._left: dict[str, list[str]] = {}
        self._case = "as is"

    def write(self, template: str) -> None:
        """Replace the names in a template and append the text to the note."""
        self._write_nodes(compile_template(template))

    def _write_nodes(self, nodes: tuple[Node, ...]) -> None:
        for node in nodes:
            if isinstance(node, str):
                self._append(node, None)
            elif isinstance(node, Slot):
                self._write_slot(node)
            elif isinstance(node, Number):
                self._append(self.chance.decimal(node.low, node.high, node.places), None)
            else:
                assert isinstance(node, Choice)
                self._write_nodes(self.chance.pick(node.options))

    def _write_slot(self, slot: Slot) -> None:
        # The casing of a slot also applies to nested phrases.
        before = self._case
        if slot.case != "as is":
            self._case = slot.case
        word = self._words.get(slot.name)
        if word is not None:
            label, find = word
            self._append(find(self), label)
        elif slot.high == 1:
            self.write(self._alternative(slot.name))
        else:
            self._write_several(slot)
        # Capitals end with the slot. A capital first letter ends with the first text that is written.
        if slot.case == "upper":
            self._case = before

    def _write_several(self, slot: Slot) -> None:
        unused = len(self._left.get(slot.name) or self._phrase(slot.name))  # fewer rather than repeated
        # The number of alternatives is limited, so that a note rarely repeats a sentence.
        number = min(self.chance.number(slot.low, slot.high), unused)
        for i in range(number):
            self._append(self._joint(slot.joiner, i, number), None)
            self.write(self._alternative(slot.name))

    def _joint(self, joiner: str, i: int, number: int) -> str:
        if joiner == "list":
            bullet = self.style.bullet
            # Numbered lists count up. All other bullets are the same in each line.
            mark = f"#{i + 1} " if bullet == "#" else bullet.replace("1", str(i + 1))
            return ("\n" if i else "") + mark
        if not i:
            return ""
        if joiner == "and":
            return " and " if i == number - 1 else ", "
        return {"space": " ", "line": "\n", "comma": ", "}[joiner]

    def _phrase(self, name: str) -> tuple[str, ...]:
        # Phrases of the case have priority over general phrases.
        found = self.stay.case.phrases.get(name) or self._phrases.get(name)
        if found is None:
            raise KeyError(f"There is no word or phrase with the name {name!r}.")
        return found

    def _alternative(self, name: str) -> str:
        # All alternatives are used before one is repeated, so that a note does not repeat its sentences.
        left = self._left.get(name)
        if not left:
            left = self._left[name] = self.chance.shuffled(self._phrase(name))
        return left.pop()

    def _append(self, value: str, label: str | None) -> None:
        if not value:
            return
        if self._case == "upper":
            value = value.upper()
        elif self._case == "capital":
            value = value[0].upper() + value[1:]
            self._case = "as is"
        if label is None:
            self.note.text(value)
        else:
            self.note.phi(value, label)
