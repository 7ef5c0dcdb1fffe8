"""Checks of the template files: every slot has a meaning, and no phrase has two."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter

from ...surrogates import DataFile, Entry
from .case import STAY_FACTS
from .grammar import Choice, Node, Slot, compile_template


def template_of(file: DataFile, entry: Entry) -> str:
    """Return the template of an entry; refuse an entry that is no template."""
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
    """Raise an error for a phrase with a used name, and for a replacing phrase that replaces no other.

    Parameters
    ----------
    files : sequence of DataFile
        Files whose phrases every note may use.
    replacing : sequence of DataFile
        Files whose phrases replace those of ``files``.
    taken : collection of str
        Names of words, and of phrases of cases.
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
    """Raise an error for slots without meaning, repeated words, PHI in facts, and phrases that contain themselves."""
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
