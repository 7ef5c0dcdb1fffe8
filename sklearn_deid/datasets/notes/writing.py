"""Generation of a stream of notes from a random seed, patient by patient."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np

from ...surrogates import Chance, shift
from ...text import Document
from .builder import NoteBuilder
from .context import NoteContext, Style
from .kind import Kind
from .library import TemplateLibrary
from .people import Hospital, make_hospital, make_patient
from .stays import Stay, make_stay, plan_notes
from .template_files import read_library
from .words import WORDS

_FOLDER = Path(__file__).parent / "templates"
# Some stays are in a few hospitals that all patients share, so that names of hospitals and doctors recur over patients,
# as in the notes of one region. The other stays have separate hospitals.
_N_SHARED_HOSPITALS = 6
_N_DOCTORS = 8
_SHARE_IN_SHARED_HOSPITALS = 0.35


@cache
def shipped_library() -> TemplateLibrary:
    """Read and check the templates of this package on first use."""
    return read_library(_FOLDER, WORDS)


def write_notes(
    n_notes: int, n_patients: int, entropy: int, library: TemplateLibrary | None = None
) -> Iterator[Document]:
    """Write the notes of a corpus, one patient after another; only one patient is held in memory at a time.

    Every patient has a separate stream of random numbers. A third of the patients are treated in hospitals that occur
    several times in the corpus, with the same doctors. The other patients have their own hospitals and doctors. If
    ``library`` is None, the templates of this package are used.
    """
    library = shipped_library() if library is None else library
    shared = [make_hospital(chance, _N_DOCTORS) for chance in _chances(entropy, 0, _N_SHARED_HOSPITALS)]
    written = 0
    for number, n_own in enumerate(_spread(n_notes, n_patients, entropy)):
        # Each patient has a random stream of their own, so that a patient does not change with the number of notes
        # before.
        chance = Chance(np.random.SeedSequence(entropy, spawn_key=(2, number)))
        yield from _notes_of_patient(library, chance, shared, n_own, f"patient-{number + 1:04d}", written)
        written += n_own


def _chances(entropy: int, key: int, number: int) -> list[Chance]:
    return [Chance(np.random.SeedSequence(entropy, spawn_key=(key, i))) for i in range(number)]


def _spread(n_notes: int, n_patients: int, entropy: int) -> list[int]:
    """Draw the number of notes of each patient. Every patient has at least one note."""
    # Key 0 belongs to the hospitals, key 1 to the numbers of notes, key 2 to the patients.
    chance = Chance(np.random.SeedSequence(entropy, spawn_key=(1,)))
    counts = [1] * n_patients
    for _ in range(n_notes - n_patients):
        counts[chance.number(0, n_patients - 1)] += 1
    return counts


def _notes_of_patient(
    library: TemplateLibrary, chance: Chance, shared: list[Hospital], n_notes: int, patient_id: str, written: int
) -> Iterator[Document]:
    local = chance.happens(_SHARE_IN_SHARED_HOSPITALS)
    hospital = chance.pick(shared) if local else make_hospital(chance, _N_DOCTORS)
    other = chance.pick(shared) if chance.happens(_SHARE_IN_SHARED_HOSPITALS) else make_hospital(chance, 2)
    patient = make_patient(chance, hospital)
    stays: list[Stay] = []
    earliest = patient.first_stay
    for i, (number, kind) in enumerate(plan_notes(chance, n_notes)):
        if number == len(stays):
            stays.append(make_stay(chance, patient, hospital, other, earliest, library.cases))
            # Stays of a patient never overlap.
            earliest = shift(stays[-1].discharged, chance.number(45, 700))
        stay = stays[number]
        context = NoteContext(chance, patient, stay, stay.day_of(kind, chance), WORDS, library)
        write_kind(context, library.kinds[kind])
        add_noise(context.note, context.style, chance)
        meta = {"kind": kind, "case": stay.case.name}
        yield context.note.build(f"note-{written + i + 1:05d}", patient_id=patient_id, meta=meta)


def write_kind(context: NoteContext, kind: Kind) -> None:
    """Write one note of a kind into the context.

    Sections are usually in their usual order. Sometimes a section is swapped with the next section, because clinicians
    differ in their order of sections.
    """
    chance = context.chance
    context.write(chance.pick(kind.heads))
    # Sections keep their rough order. The random term exchanges neighbours now and then.
    ranked = [(i + 1.35 * chance.uniform() ** 2, section) for i, section in enumerate(kind.sections)]
    headed = chance.happens(kind.headed)
    for _, section in sorted(ranked, key=lambda pair: pair[0]):
        if not chance.happens(section.share):
            continue
        context.note.text(context.style.gap)
        if headed and section.titles[0]:
            _write_title(context, chance.pick(section.titles))
        context.write(chance.pick(section.bodies))
    foot = chance.pick(kind.feet)
    if foot:
        context.note.text(context.style.gap)
        context.write(foot)


def _write_title(context: NoteContext, title: str) -> None:
    style = context.style
    title = title.upper() if "CAPITALS" in style.heading else title
    context.note.text(style.heading.replace("CAPITALS", title).replace("Title", title))
    context.note.text(" " if style.same_line and style.heading.endswith(":") else "\n")


_LONG_WORD = re.compile(r"[a-z]{6,}")
_STOP = re.compile(r"(?<=[a-z])\.(?=\n| [A-Z]|$)")


def add_noise(note: NoteBuilder, style: Style, chance: Chance) -> None:
    """Add noise to a finished note, according to the style of the note. The offsets of the gold spans are adjusted.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from sklearn_deid.datasets.notes.context import make_style
    >>> note = NoteBuilder().text("seen by ").phi("Hope", "DOCTOR")
    >>> style = replace(make_style(Chance(0)), sloppy=False, capitals=True, wrap=None, crlf=False)
    >>> add_noise(note, style, Chance(0)); note.pieces
    [('SEEN BY ', None), ('HOPE', 'DOCTOR')]
    """
    # Misspellings and dropped full stops change plain text only. Capitals and line ends change PHI too.
    if style.sloppy:
        note.change_text(partial(_misspell, chance=chance))
        note.change_text(partial(_drop_stops, chance=chance))
    if style.capitals:
        note.change_all(str.upper)
    if style.wrap is not None:
        note.wrap(style.wrap)
    if style.crlf:
        note.change_all(lambda text: text.replace("\n", "\r\n"))


def _drop_stops(text: str, chance: Chance) -> str:
    return _STOP.sub(lambda match: "" if chance.happens(0.25) else ".", text)


def _misspell(text: str, chance: Chance) -> str:
    def spoil(match: re.Match[str]) -> str:
        word = match[0]
        if not chance.happens(0.03):
            return word
        i = chance.number(1, len(word) - 2)
        # Three kinds of misspellings: a letter is left out, doubled, or exchanged with the next one.
        return chance.pick(
            (word[:i] + word[i + 1 :], word[: i + 1] + word[i:], word[:i] + word[i + 1] + word[i] + word[i + 2 :])
        )

    return _LONG_WORD.sub(spoil, text)
