"""How a note is laid out: head, sections in a loosely fixed order, foot."""

from __future__ import annotations

from typing import NamedTuple

from ..scene import Scene

__all__ = ["Kind", "Section", "write_kind"]


class Section(NamedTuple):
    """A part of a note under its own heading.

    Parameters
    ----------
    titles : tuple of str
        Ways to call it; an empty title leaves out the heading.
    bodies : tuple of str
        Templates, one of which is written.
    share : float, default=1.0
        Share of the notes that have it.
    """

    titles: tuple[str, ...]
    bodies: tuple[str, ...]
    share: float = 1.0


class Kind(NamedTuple):
    """A kind of note: alternatives for its head and foot, its sections, and the rules that only it has."""

    heads: tuple[str, ...]
    sections: tuple[Section, ...]
    feet: tuple[str, ...]
    rules: dict[str, tuple[str, ...]]
    headed: float = 1.0  # share of the notes whose sections bear headings at all


def write_kind(scene: Scene, kind: Kind) -> None:
    """Write one note of a kind into the scene.

    Sections keep their usual order by and large: now and then one changes places with the next,
    as it does between two writers.
    """
    chance = scene.chance
    scene.write(chance.pick(kind.heads))
    ranked = [(i + 1.35 * chance.uniform() ** 2, section) for i, section in enumerate(kind.sections)]
    headed = chance.happens(kind.headed)
    for _, section in sorted(ranked, key=lambda pair: pair[0]):
        if not chance.happens(section.share):
            continue
        scene.note.text(scene.style.gap)
        if headed and section.titles[0]:
            _write_title(scene, chance.pick(section.titles))
        scene.write(chance.pick(section.bodies))
    foot = chance.pick(kind.feet)
    if foot:
        scene.note.text(scene.style.gap)
        scene.write(foot)


def _write_title(scene: Scene, title: str) -> None:
    style = scene.style
    title = title.upper() if "CAPITALS" in style.heading else title
    scene.note.text(style.heading.replace("CAPITALS", title).replace("Title", title))
    scene.note.text(" " if style.same_line and style.heading.endswith(":") else "\n")
