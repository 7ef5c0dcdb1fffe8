"""Word files (.docx, extra ``documents``): texts are replaced, and all other content except for formatting is
removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...surrogates import Replacement
from ...text.characters import has_surrogate
from .cut_words import CutWords
from .document_file import DocumentFile
from .html_names import FORM_WORDS
from .office_package import Part, parts_of, read_package, write_package
from .passages import Passages
from .word_content import WordCleaner, is_text_element, numbering_text
from .word_names import DRAWING, WORD

_W = f"{{{WORD}}}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
# Shorter words and numbers are codes and measures of the form, and so are the usual words of three letters.
_WORDS = re.compile(r"[^\W\d_]{3,}|\d{6,}")
_SHORT = frozenset(
    """abs all and any bar bot box cap cnt cos ctr dbl dot dxa end env err fld gap hex inv lin lrt ltr lum max med
    mid min mod nil nob not num off one out pct pos pts rel rgb rnd rtl sat shd sin sld sng sub sup sys tab tan
    tbl top two url val var web""".split()
)
_PARAGRAPHS = (f"{_W}p", f"{{{DRAWING}}}p")
_STYLES = (f"{_W}rStyle", f"{_W}pStyle")
_HIDING = tuple(f"{_W}{name}" for name in ("vanish", "specVanish", "strike", "dstrike"))
_SIGNS = {f"{_W}tab": "\t", f"{_W}ptab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}


class DocxFile(DocumentFile):
    """Word file. The formats of runs, paragraphs, tables and sections are kept.

    A paragraph is a line of the note. Headers, footers, footnotes, comments and text boxes follow the main text. A name
    that spans several runs is replaced in its first run.
    """

    #: Content as it was read. Reading takes most of the time, and writing changes the content: it is used once.
    _letter: _Letter | None = None

    def __getstate__(self) -> dict[str, Any]:
        # A copy in another process, or a deep copy, has the bytes only: elements of XML cannot be pickled.
        return {name: value for name, value in self.__dict__.items() if name != "_letter"}

    def _read(self, data: bytes) -> Passages:
        letter = _Letter(self._place, data)
        if data is self._data:
            self._letter = letter
        return letter.passages

    def _written(self, replacements: Sequence[Replacement]) -> bytes:
        letter, self._letter = self._letter or _Letter(self._place, self._data), None
        covered = [self.text[one.span.start : one.span.end].casefold() for one in replacements]
        if not letter.values().isdisjoint(word for text in covered for word in _WORDS.findall(text)):
            raise self._place.error(
                "The form of the document, such as an attribute, holds a word or number that is PHI."
            )
        is_written = letter.fill(letter.passages.edited(replacements))
        if not is_written:
            raise self._place.error("The new text holds a character that Word files cannot hold.")
        return write_package(letter.main)


class _Letter:
    """Cleaned content of a file, and the elements that hold its text."""

    def __init__(self, place: Any, data: bytes) -> None:
        self.main = read_package(place, data)
        self.parts = list(parts_of(self.main))
        self.passages = Passages()
        self.targets: list[Any] = []
        self._cuts, self._runs_on = CutWords(), False
        cleaner = WordCleaner(place)
        for part in self.parts:
            cleaner.clean(part)
        self._hidden_styles = _hidden_styles(self.parts)
        for part in self.parts:
            for paragraph in part.root.iter(*_PARAGRAPHS):
                self._paragraph(paragraph)
            self._numbering(part)
        n_all = sum(is_text_element(e) and bool(e.text) for part in self.parts for e in part.root.iter())
        if n_all != sum(map(is_text_element, self.targets)):
            raise place.error("The document holds text outside of paragraphs.")
        if self._cuts.found:
            raise place.error("The document holds hidden or struck text that cuts a word. Remove the text.")

    def fill(self, pieces: Sequence[str]) -> bool:
        """Write new texts into the elements; False if XML cannot hold one of the texts."""
        for element, old, new in zip(self.targets, self.passages.pieces, pieces, strict=True):
            if new == old:
                continue
            if has_surrogate(new) or any(c < " " and c not in "\t\n\r" for c in new):
                return False
            if element.tag == f"{_W}lvlText":
                element.set(f"{_W}val", new)
            else:
                element.text = new
                if element.tag == f"{_W}t":
                    element.set(_SPACE, "preserve")
        return True

    def values(self) -> set[str]:
        """Values of attributes whose words suggest text instead of formatting."""
        elements = (element for part in self.parts for element in part.root.iter() if element.tag != f"{_W}lvlText")
        found = {value.casefold() for element in elements for value in element.attrib.values()}
        return {value for value in found if _WORDS.fullmatch(value)} - FORM_WORDS - _SHORT

    def _paragraph(self, paragraph: Any) -> None:
        """Add a paragraph, without the paragraphs of text boxes inside of it."""
        self.passages.separate()
        if not self._runs_on:
            self._cuts.separate()
        was_apart = False
        is_hidden = self._hides(paragraph.iterfind(f"{_W}pPr/{_W}pStyle"))
        for element in _inside(paragraph):
            if is_text_element(element) and element.text:
                self.targets.append(element)
                self.passages.add(element.text)
                # Word splits a hidden passage into several runs.
                if (is_apart := self._is_apart(element, is_hidden)) != was_apart:
                    (self._cuts.begin if is_apart else self._cuts.end)()
                self._cuts.add(element.text)
                was_apart = is_apart
            elif element.tag in _SIGNS and element.getparent().tag == f"{_W}r":
                self._separate(_SIGNS[element.tag])
        self.passages.separate()
        # Behind a hidden mark of a paragraph, the next paragraph goes on in the same line.
        self._runs_on = is_hidden or self._hides(paragraph.iterfind(f"{_W}pPr/{_W}rPr/*"))
        if was_apart and not self._runs_on:
            self._cuts.end()
        elif self._runs_on and not was_apart:
            self._cuts.begin()
        self._cuts.separate()
        if self._runs_on:
            self._cuts.end()

    def _separate(self, sign: str) -> None:
        self.passages.separate(sign)
        if sign == "-":
            self._cuts.add(sign)
        else:
            self._cuts.separate()

    def _is_apart(self, text: Any, is_hidden: bool) -> bool:
        """Whether readers see a text differently: hidden text, struck text, and readings above characters.

        ``is_hidden`` states whether the style of the paragraph hides its text. A run can show its text again.
        """
        run = text.getparent()
        properties = [each for inner in run if inner.tag == f"{_W}rPr" for each in inner]
        is_shown = any(each.tag == f"{_W}vanish" and not _is_hiding(each) for each in properties)
        return self._hides(properties) or (is_hidden and not is_shown) or run.getparent().tag == f"{_W}rt"

    def _hides(self, properties: Iterable[Any]) -> bool:
        """Whether a property hides or strikes text, or names a style that does."""
        return any(
            each.get(f"{_W}val") in self._hidden_styles if each.tag in _STYLES else _is_hiding(each)
            for each in properties
        )

    def _numbering(self, part: Part) -> None:
        for element in part.root.iter(f"{_W}lvlText"):
            text = numbering_text(element)
            if text is not None:
                self.passages.separate()
                self.targets.append(element)
                self.passages.add(text)
                self.passages.separate()


def _hidden_styles(parts: Iterable[Part]) -> set[str]:
    """Styles that hide or strike text, and the styles that are based on them."""
    styles = {style.get(f"{_W}styleId"): style for part in parts for style in part.root.iter(f"{_W}style")}
    bases = {name: {base.get(f"{_W}val") for base in style.iter(f"{_W}basedOn")} for name, style in styles.items()}
    hidden: set[str] = set()
    found = {name for name, style in styles.items() if any(map(_is_hiding, style.iter()))}
    while found:
        hidden |= found
        found = {name for name, of in bases.items() if of & hidden} - hidden
    return hidden


def _is_hiding(property_of_run: Any) -> bool:
    """Whether a property of a run hides or strikes its text."""
    is_on = property_of_run.get(f"{_W}val", "1") not in ("0", "false", "off")
    return property_of_run.tag in _HIDING and is_on


def _inside(element: Any) -> Iterator[Any]:
    for child in element:
        if child.tag not in _PARAGRAPHS:
            yield child
            yield from _inside(child)
