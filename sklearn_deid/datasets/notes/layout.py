"""How a note is laid out: head, sections in a loosely fixed order, foot."""

from __future__ import annotations

from .context import NoteContext
from .kind import Kind

__all__ = ["write_kind"]


def write_kind(context: NoteContext, kind: Kind) -> None:
    """Write one note of a kind into the context.

    Sections keep their usual order by and large: now and then one changes places with the next,
    as it does between two writers.
    """
    chance = context.chance
    context.write(chance.pick(kind.heads))
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
