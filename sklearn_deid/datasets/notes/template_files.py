"""Reading of a folder of template files into a library. Errors contain the file and the line.

=====================  ===========================================================================================
``kinds/*.txt``        a kind of note: ``[head]``, ``[section]`` as often as needed, ``[foot]``, its own phrases
``cases/*.txt``        a clinical case: the phrases that every case has; ``cases/order.txt`` lists the cases
``modalities/*.txt``   how imaging studies are made
``phrases/*.txt``      phrases for every note; those of ``children.txt`` and ``elders.txt`` replace others
``patients.txt``       problems, drugs and allergies
=====================  ===========================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from ...surrogates import Block, DataFile, Entry, read_data_file
from .case import CASE_PHRASES, MODALITY_PHRASES, STAY_FACTS, Case
from .grammar import Choice, Node, Slot, compile_template
from .kind import KINDS, Kind, Section
from .library import Pairs, Phrases, TemplateLibrary

_PARTS = ("head", "section", "foot")
_REPLACING = ("children", "elders")
_OF_CASES = ("modality", "sex", "ages")
_SHARE = re.compile(r"([1-9]\d?|100) %")
_AGES = re.compile(r"(\d{1,3})-(\d{1,3})")


def read_library(folder: Path, words: Collection[str]) -> TemplateLibrary:
    """Read and check all templates of a folder.

    Parameters
    ----------
    folder : Path
        Folder with the files of this module's table.
    words : collection of str
        Names in templates that are replaced by exactly one text.

    Returns
    -------
    TemplateLibrary
        All templates of the folder.

    Raises
    ------
    CorpusFormatError
        If a file is missing, if a line cannot be read, if a slot has an unknown name, or if a phrase contains itself.
        The error contains the file and the line.
    """
    order = _read(folder / "cases" / "order.txt", ())
    kinds = {name: _read(folder / "kinds" / f"{name}.txt", ("headed",)) for name in KINDS}
    cases = {name: _read(folder / "cases" / f"{_stem(name)}.txt", _OF_CASES) for name in _case_names(folder, order)}
    modalities = {path.stem.replace("_", " "): _read(path, ()) for path in _files_of(folder / "modalities")}
    phrases = [_read(path, ()) for path in _files_of(folder / "phrases") if path.stem not in _REPLACING]
    replacing = [_read(folder / "phrases" / f"{name}.txt", ()) for name in _REPLACING]
    _check_all([*phrases, *kinds.values()], replacing, [*cases.values(), *modalities.values()], words)
    adults = _phrases_of([*phrases, *kinds.values()])
    children, elders = (_phrases_of([file]) for file in replacing)
    imaging = {name: _exactly(file, MODALITY_PHRASES) for name, file in modalities.items()}
    return TemplateLibrary(
        kinds={name: _kind(file) for name, file in kinds.items()},
        cases=_check_that_everybody_fits([_case(name, file, imaging) for name, file in cases.items()], order),
        phrases=adults,
        child_phrases={**adults, **children},
        elder_phrases={**adults, **elders},
        **_patients(_read(folder / "patients.txt", ())),
    )


def _read(path: Path, settings: tuple[str, ...]) -> DataFile:
    file = read_data_file(path)
    file.check_settings(settings)
    return file


def _files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.txt"))


def _check_all(
    shared: list[DataFile], replacing: list[DataFile], of_cases: list[DataFile], words: Collection[str]
) -> None:
    case_names = (*CASE_PHRASES, *MODALITY_PHRASES)
    check_phrases(shared, replacing, (*words, *case_names), _PARTS)
    known = {block.name for file in shared for block in file.blocks if block.name not in _PARTS}
    check_slots([*shared, *replacing, *of_cases], words, {*known, *case_names})


def _stem(name: str) -> str:
    return name.replace(" ", "_")


def _case_names(folder: Path, order: DataFile) -> list[str]:
    """Names of the cases in their order. The list and the files must contain the same names."""
    entries = [entry for block in order.blocks for entry in block.entries]
    names = [entry.text for entry in entries]
    for i, entry in enumerate(entries):
        if entry.text in names[:i]:
            raise order.error(f"The case {entry.text!r} is listed twice.", entry.line)
    # A file that is not in the list would be silently unused.
    unlisted = {path.stem for path in _files_of(folder / "cases")} - {"order", *map(_stem, names)}
    if unlisted:
        raise order.error(f"{min(unlisted)}.txt is in the folder, but not in this list. Add the case at the end.")
    return names


def _phrases_of(files: list[DataFile]) -> dict[str, tuple[str, ...]]:
    return {block.name: _templates(file, block) for file in files for block in file.blocks if block.name not in _PARTS}


def _templates(file: DataFile, block: Block) -> tuple[str, ...]:
    """Templates of a block, and of the blocks of the same file that are listed in its setting ``with``."""
    file.check_settings(("titles", "share") if block.name == "section" else ("with",), block)
    found = [template_of(file, entry) for entry in block.entries]
    if "with" in block.settings:
        line, names = block.settings["with"]
        for name in names.split(", "):
            others = [other for other in file.blocks if other.name == name and "with" not in other.settings]
            if len(others) != 1:
                raise file.error(f"[{name}] must be another block of this file, without a setting 'with'.", line)
            found += _templates(file, others[0])
    if not found:
        raise file.error(f"[{block.name}] has no entry ('- ').", block.line)
    return tuple(found)


def _exactly(file: DataFile, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Phrases of a file. Check that the file has exactly these blocks."""
    found: dict[str, tuple[str, ...]] = {}
    for block in file.blocks:
        if block.name not in names or block.name in found:
            reason = "occurs twice" if block.name in found else "is unknown"
            raise file.error(f"The block [{block.name}] {reason}. The blocks are {', '.join(names)}.", block.line)
        found[block.name] = _templates(file, block)
    for name in names:
        if name not in found:
            raise file.error(f"The block [{name}] is missing.")
    return found


def _kind(file: DataFile) -> Kind:
    parts: dict[str, tuple[str, ...]] = {}
    sections = []
    for block in file.blocks:
        if block.name == "section":
            titles = block.settings.get("titles")
            share = _share(file, block.settings.get("share"))
            sections.append(
                Section(tuple(titles.text.split(" | ")) if titles else ("",), _templates(file, block), share)
            )
        elif block.name in _PARTS:
            parts[block.name] = _templates(file, block)
    for name, found in (("head", "head" in parts), ("section", sections), ("foot", "foot" in parts)):
        if not found:
            raise file.error(f"The block [{name}] is missing.")
    return Kind(parts["head"], tuple(sections), parts["foot"], _share(file, file.settings.get("headed")))


def _share(file: DataFile, setting: Entry | None) -> float:
    if setting is None:
        return 1.0
    found = _SHARE.fullmatch(setting.text)
    if found is None:
        raise file.error("A share is a whole number from 1 to 100, then ' %'.", setting.line)
    return int(found[1]) / 100


def _case(name: str, file: DataFile, imaging: Mapping[str, Phrases]) -> Case:
    for setting in ("modality", "ages"):
        if setting not in file.settings:
            raise file.error(f"The setting '{setting}: ...' above the blocks is missing.")
    modality, sex = file.settings["modality"], file.settings.get("sex")
    if modality.text not in imaging:
        raise file.error(f"There is no modality {modality.text!r}, only {', '.join(imaging)}.", modality.line)
    if sex is not None and sex.text not in ("M", "F"):
        raise file.error("The sex is M or F; leave the line out for both.", sex.line)
    phrases = {**imaging[modality.text], **_exactly(file, CASE_PHRASES)}
    return Case(name, phrases, None if sex is None else sex.text, _ages(file, file.settings["ages"]))


def _ages(file: DataFile, setting: Entry) -> tuple[int, int]:
    found = _AGES.fullmatch(setting.text)
    if found is None or int(found[1]) > int(found[2]):
        raise file.error("Ages are written as 18-110: the youngest, a hyphen, the oldest.", setting.line)
    return int(found[1]), int(found[2])


def _patients(file: DataFile) -> dict[str, Pairs]:
    names = {"problems": "problems", "child problems": "child_problems", "allergies": "allergies"}
    found: dict[str, Pairs] = {}
    for block in file.blocks:
        file.check_settings((), block)
        if block.name not in names or names[block.name] in found or not block.entries:
            raise file.error(f"Each of [{'], ['.join(names)}] appears once and has entries.", block.line)
        found[names[block.name]] = tuple(_pair(file, entry) for entry in block.entries)
    if len(found) < len(names):
        raise file.error(f"Each of [{'], ['.join(names)}] appears once.")
    return found


def _pair(file: DataFile, entry: Entry) -> tuple[str, str]:
    first, _, second = entry.text.partition(" | ")
    if not first or not second or set("{}<>|\n") & set(first + second):
        raise file.error("An entry is two texts with ' | ' between, without braces and '<'.", entry.line)
    return first, second


def _check_that_everybody_fits(cases: list[Case], order: DataFile) -> tuple[Case, ...]:
    for sex in "MF":
        # The generator draws ages from 2 years on, and patients grow older between stays.
        for age in range(2, 111):
            if not any(case.fits(sex, age) for case in cases):
                raise order.error(f"No case fits a patient of sex {sex} and age {age}. Widen the ages of a case.")
    return tuple(cases)


def template_of(file: DataFile, entry: Entry) -> str:
    """Return the template of an entry; refuse an entry that is not a template."""
    template = entry.text.replace("{tab}", "\t")
    try:
        compile_template(template)
    except ValueError as error:
        raise file.error(str(error), entry.line) from None
    return template


def slots_of(nodes: tuple[Node, ...]) -> Iterator[Slot]:
    """All slots of a template in order, including the slots of choices."""
    for node in nodes:
        if isinstance(node, Slot):
            yield node
        elif isinstance(node, Choice):
            for option in node.options:
                yield from slots_of(option)


def check_phrases(
    files: Sequence[DataFile], replacing: Sequence[DataFile], taken: Collection[str], parts: Collection[str]
) -> None:
    """Raise an error for a phrase whose name is already used, and for a replacing phrase that replaces no other phrase.

    Parameters
    ----------
    files : sequence of DataFile
        Files whose phrases every note may use.
    replacing : sequence of DataFile
        Files whose phrases replace the phrases of ``files``.
    taken : collection of str
        Names of words, and names of the phrases of cases.
    parts : collection of str
        Names of blocks that are not phrases.
    """
    known: dict[str, str] = {}
    for file in files:
        for block in file.blocks:
            if block.name in parts:
                if block.name != "section" and sum(other.name == block.name for other in file.blocks) > 1:
                    raise file.error(f"The block [{block.name}] occurs twice.", block.line)
            elif block.name in taken:
                raise file.error(f"'{block.name}' is a word or a phrase of cases. Choose another name.", block.line)
            elif block.name in known:
                raise file.error(f"The block [{block.name}] also occurs in {known[block.name]}.", block.line)
            else:
                known[block.name] = file.path.name
    for file in replacing:
        seen = set()
        for block in file.blocks:
            if block.name not in known or block.name in seen:
                reason = "occurs twice" if block.name in seen else "replaces no phrase"
                raise file.error(f"The block [{block.name}] {reason}.", block.line)
            seen.add(block.name)


def check_slots(files: Sequence[DataFile], words: Collection[str], phrases: Collection[str]) -> None:
    """Raise an error for unknown slots, repeated words, PHI in facts, and phrases that contain themselves."""
    uses: dict[str, set[str]] = {}
    for file in files:
        for block in file.blocks:
            for entry in block.entries:
                for slot in slots_of(compile_template(template_of(file, entry))):
                    wrong = _what_is_wrong(slot, block.name, words, phrases)
                    if wrong:
                        raise file.error(wrong, entry.line)
                    if slot.name not in words:
                        uses.setdefault(block.name, set()).add(slot.name)
    try:
        # A phrase that contains itself would never end. The sorter finds such circles in the graph of uses.
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        file, line = next((f, b.line) for f in files for b in f.blocks if b.name == error.args[1][0])
        raise file.error(f"A phrase must not contain itself: {circle}.", line) from None


def _what_is_wrong(slot: Slot, block: str, words: Collection[str], phrases: Collection[str]) -> str | None:
    if slot.name not in words and slot.name not in phrases:
        return f"{{{slot.name}}} is neither a word nor a phrase."
    if slot.name in words and slot.high > 1:
        return f"{{{slot.name}}} is a word. Only phrases can be repeated."
    if block in STAY_FACTS and slot.name not in ("side", "other.side"):
        return f"[{block}] is the same in all notes of a stay. Only {{side}} and {{other.side}} are allowed, no PHI."
    return None
