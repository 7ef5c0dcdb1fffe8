"""HTML files: texts, also in attributes, are replaced in the source; all other bytes of the page are unchanged.

Strict patterns read the source. A parser reports no positions in the source and repairs broken pages, so that the whole
page would change. A page that the patterns do not cover is refused.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...surrogates import Replacement
from ...text import Edit
from ...text.normalized_text import edited
from ..checking import SourceLocation
from . import html_names as names
from .cut_words import CutWords
from .document_file import DocumentFile
from .passages import Passages

_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'=<>`]+))?""")
_START = re.compile(
    r"""<([A-Za-z][A-Za-z0-9:-]*)((?:\s+[^\s"'<>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?)*)(\s*/?)>"""
)
_TAG_START = re.compile(r"<(?=[A-Za-z/!?])")
_END = re.compile(r"</([A-Za-z][A-Za-z0-9:-]*)\s*>")
_COMMENT = re.compile(r"<!--(?!-?>)(?:(?!--!>).)*?-->", re.DOTALL)
_DOCTYPE = re.compile(
    r'<!DOCTYPE\s+html(\s+(PUBLIC\s+"-//W3C//DTD X?HTML [0-9.]+( [A-Za-z]+)?(//EN)?"|SYSTEM)'
    r'(\s+"(http://www\.w3\.org/[A-Za-z0-9/.-]*|about:legacy-compat)")?)?\s*>',
    re.IGNORECASE,
)
_DECLARATION = re.compile(
    r"""<\?xml version=["']1\.0["']( encoding=["'][A-Za-z0-9-]+["'])?( standalone="yes")?\s*\?>"""
)
# Word writes such instructions. Browsers ignore them up to the first ">".
_IGNORED = re.compile(r"<!\[(?!CDATA)[^>]*>|<\?(?!xml\s)[^>]*>")
# Reference to a character, or a single character.
_CHARACTER = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?|.", re.DOTALL)
# Up to the next tag: a search to the next ">" would read a page of "<meta " again from each "<meta ".
_CHARSET = re.compile(
    rb"""(?:<meta\s[^<>]*charset|<\?xml\s[^<>]*encoding)\s*=\s*["']?\s*([A-Za-z0-9_-]+)""", re.IGNORECASE
)
# A group matches a comment that is not closed: the rest is not searched again, and the page is refused.
_CSS = re.compile(
    r"""/\*.*?(?:\*/|(\Z))|"[^"\n\r\f]*(?:"|())|'[^'\n\r\f]*(?:'|())|(?:url|expression)\([^)]*(?:\)|(\Z))""",
    re.DOTALL | re.IGNORECASE,
)
# A style sheet inside of a comment, for browsers of the last century and in pages of Word. Other browsers ignore the
# marks.
_HIDDEN_SHEET = re.compile(r"(\s*)<!--((?:(?!-->).)*)-->(\s*)", re.DOTALL)
# Declarations of Office, which hold names of authors and bookmarks, and times of comments.
_OFFICE = re.compile(r"(?<![\w-])mso-[\w-]*\s*:[^;{}]*;?", re.IGNORECASE)
# Each character of the text has its place in memory.
_MOST_BYTES = 2**23
# Name behind a number sign or a point in links and style sheets.
_USED = re.compile(r"[#.]([\w-]+)")
_DECLARATIONS = re.compile(r"(\{[^{}]*\})")
_SELECTOR = re.compile(r"([#.]-?[^\W\d][\w-]*)")
# Shows letters in the other order.
_TURNED = re.compile(r"unicode-bidi\s*:[^;}]*override", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{4,}|\d{4,}")
# Shorter numbers are measures of the page.
_IDENTIFIER = re.compile(r"\d{6}")


class _Piece(NamedTuple):
    """Text in the source, with the source position and the spelling of each character.

    ``places[i]`` is the position of character i of the text in the source; the last place is the end.
    """

    number: int
    start: int
    end: int
    places: Sequence[int]
    quote: str


class HtmlFile(DocumentFile):
    """HTML file. Attributes such as ``title`` and ``alt`` are lines at the end of the note.

    Comments, scripts, images, the targets of links, and unknown attributes that could hold text are removed. A
    ``class`` or ``id`` that a style sheet or a link of the page uses is renamed, since the old name could be the name
    of a patient. Each word of a style sheet that is not a word of CSS is also renamed. A file is refused in two cases:
    its style sheet holds a word that is replaced in the text, such as a color, or an attribute holds a six-digit number
    that is replaced in the text. A file is also refused if hidden or deleted text begins or ends inside of a word,
    since readers of the page then see another word than the word in the note.
    """

    def _read(self, data: bytes) -> Passages:
        self._charset = self._charset_of(data)
        return _Page(self._place, self._decoded(data)).passages

    def _written(self, replacements: Sequence[Replacement]) -> bytes:
        page = _Page(self._place, self._decoded(self._data))
        kept = " ".join(page.kept).casefold()
        for replacement in replacements:
            covered = self.text[replacement.span.start : replacement.span.end].casefold()
            if any(word in kept and word not in names.FORM_WORDS for word in _WORD.findall(covered)):
                raise self._place.error("The style sheet or an attribute of the page holds a word that is PHI.")
        return page.written(replacements).encode(self._charset, "xmlcharrefreplace")

    def _charset_of(self, data: bytes) -> str:
        if len(data) > _MOST_BYTES:
            raise self._place.error(f"The page is larger than {_MOST_BYTES // 2**20} MiB.")
        if data.startswith(codecs.BOM_UTF8):
            return "utf-8"
        declared = {names.CHARSETS.get(name.decode("ascii").lower()) for name in _CHARSET.findall(data)} or {"utf-8"}
        charset = declared.pop()
        # A browser uses the first declaration outside of comments, and a declaration behind many bytes only at times.
        if charset is None or declared:
            raise self._place.error("The page is in several encodings, or in one that is not read. Save it in UTF-8.")
        return charset

    def _decoded(self, data: bytes) -> str:
        try:
            text = data.decode(self._charset)
        except UnicodeError:
            text = None
        if text is None:
            raise self._place.error(f"The page is not in its encoding, {self._charset}.")
        return text


class _Page:
    """Source of a page, its pieces of text, and the content that is removed."""

    def __init__(self, place: SourceLocation, source: str) -> None:
        self.place, self.source = place, source
        self.passages = Passages()
        self.pieces: list[_Piece] = []
        self.kept: list[str] = []
        self._changes: list[tuple[int, int, str]] = []
        self._attributes: list[tuple[int, int, str]] = []
        self._in_pre = 0
        self._display, self._cuts = names.Display(source), CutWords()
        self._open: dict[str, list[names.Kind]] = {}
        self._used = set(_USED.findall(source))
        self._names: dict[str, str] = {}
        if names.LONG_REFERENCE.search(source):
            raise self._error("a character reference of many digits")
        position = 0
        while position < len(source):
            position = self._next(position)
        if self._cuts.found:
            raise self._error("hidden or deleted text that cuts a word")
        for start, end, quote in self._attributes:
            self.passages.separate()
            self._text(start, end, quote)

    def written(self, replacements: Sequence[Replacement]) -> str:
        """Return the source with new texts."""
        changes = list(self._changes)
        edits = self.passages.edits(replacements)
        for piece in self.pieces:
            if piece.number in edits:
                changes.append((piece.start, piece.end, self._edited(piece, edits[piece.number])))
        return edited(self.source, sorted(changes))

    def _error(self, what: str) -> Exception:
        return self.place.error(f"The page holds {what}, which is not read. Save the page as plain text.")

    def _next(self, position: int) -> int:
        """Read a tag, or the text up to the next tag."""
        source = self.source
        tag = _TAG_START.search(source, position)
        end = len(source) if tag is None else tag.start()
        if end > position:
            self._text(position, end)
            return end
        for pattern in (_COMMENT, _IGNORED):
            if found := pattern.match(source, position):
                self._changes.append((position, found.end(), ""))
                return found.end()
        if found := _DOCTYPE.match(source, position) or _DECLARATION.match(source, position):
            return found.end()
        if found := _END.match(source, position):
            name = found[1].lower()
            kinds = self._open.get(name)
            self._tag(name, -1, kinds.pop() if kinds else self._display.kind(name, {}))
            return found.end()
        if found := _START.match(source, position):
            return self._element(found)
        raise self._error("a tag or a comment of another form")

    def _element(self, found: re.Match[str]) -> int:
        name = found[1].lower()
        if name == "script":
            end = self._raw_end(name, found).end()
            self._changes.append((found.start(), end, ""))
            return end
        values = {a[1].lower(): html.unescape((a[3] or "").strip("\"'")).lower() for a in _ATTRIBUTE.finditer(found[2])}
        kind = self._display.kind(name, values)
        self._tag(name, 1, kind)
        if name not in names.VOID:
            self._open.setdefault(name, []).append(kind)
        self._read_attributes(name, found, values)
        if name not in names.RAW:
            return found.end()
        end = self._raw_end(name, found).start()
        if name == "style":
            self._change(found.end(), end, self._css(self.source[found.end() : end], sheet=True))
        else:
            self._text(found.end(), end)
        return end

    def _raw_end(self, name: str, found: re.Match[str]) -> re.Match[str]:
        """End tag of an element whose content holds no tags."""
        # Browsers also end the element at an end tag of another form.
        close = re.compile(rf"</{name}(?:\s*(>)|[\s/])", re.IGNORECASE).search(self.source, found.end())
        # In XHTML, such a tag is the whole element, and the text behind it is text of the page.
        is_whole = "/" in found[3]
        if close is None or close[1] is None or (is_whole and self.source[found.end() : close.start()].strip()):
            raise self._error("an element that is not closed")
        return close

    def _tag(self, name: str, step: int, kind: names.Kind) -> None:
        """Begin or end an element."""
        if name in names.REFUSED or name not in names.ELEMENTS:
            raise self._error("a drawing, an embedded page or another element")
        self._in_pre = max(0, self._in_pre + step * (name in ("pre", "textarea")))
        is_passage = kind == "hidden" and name not in names.VOID
        if is_passage and step > 0:
            self._cuts.begin()
        if kind == "block" or (is_passage and name not in names.INLINE):
            self.passages.separate()
            self._cuts.separate()
        if is_passage and step < 0:
            self._cuts.end()

    def _read_attributes(self, element: str, found: re.Match[str], values: dict[str, str]) -> None:
        seen: set[str] = set()
        for attribute in _ATTRIBUTE.finditer(found[2]):
            start = found.start(2) + attribute.start()
            name, written = attribute[1].lower(), attribute[3]
            end = found.start(2) + attribute.end()
            if name in seen:
                raise self._error("an attribute twice")
            seen.add(name)
            if written is None:
                if name not in names.FLAGS:
                    self._change(start, end, "")
                continue
            quote = written[0] if written[0] in "\"'" else ""
            inner = end - len(written) + len(quote), end - len(quote)
            raw = self.source[slice(*inner)]
            if name not in names.TEXTS:
                new = self._new_value(element, name, values, raw, quote)
                self._change(*((start, end, "") if new is None else (*inner, new)))
            elif html.unescape(raw):
                self._attributes.append((*inner, quote or "unquoted"))

    def _new_value(self, element: str, name: str, values: dict[str, str], raw: str, quote: str) -> str | None:
        """New source of the value of an attribute that is not text; None to remove the attribute."""
        value = html.unescape(raw)
        if name == "style":
            return self._css(raw) if value == raw else ""
        if (renamed := self._renamed(element, name, value)) is not None:
            return raw if renamed == value else renamed
        empty = "" if quote else '""'
        if name in ("src", "href"):
            return empty
        if name == "content":
            return raw if names.is_form_of_page(values) else empty
        if not names.is_form(name, value):
            return None
        if _IDENTIFIER.search(value):
            self.kept.append(value)
        return raw

    def _renamed(self, element: str, attribute: str, value: str) -> str | None:
        """New names for an internal link, its target, or a name in a style sheet; None for other values."""
        if attribute == "href":
            return f"#{self._name(value[1:])}" if value.startswith("#") else None
        has_name = attribute in ("class", "id") or (element, attribute) == ("a", "name")
        used = [word for word in value.split() if word in self._used] if has_name else []
        return " ".join(map(self._name, used)) or None

    def _name(self, written: str) -> str:
        """New name that replaces a class or an id. Common words of formatting are kept."""
        if written in names.FORM_WORDS or not written:
            return written
        return self._names.setdefault(written, f"n{len(self._names) + 1}")

    def _css(self, css: str, *, sheet: bool = False) -> str:
        """Declarations, or a whole style sheet, without comments, strings and addresses, and with new names."""
        if sheet and (hidden := _HIDDEN_SHEET.fullmatch(css)):
            css = "".join(hidden.groups())
        if _TURNED.search(css):
            raise self._error("text in the other direction")
        if "\\" in css or "<" in css:
            raise self._error("a style sheet with escapes or tags")
        new = _OFFICE.sub("", _CSS.sub(self._css_part, css))
        if sheet:
            parts = _DECLARATIONS.split(new)
            # Every second part is a block of declarations, in which a number sign begins a colour.
            parts[::2] = map(self._selectors, parts[::2])
            parts[1::2] = [names.without_names(part, self._name) for part in parts[1::2]]
            new = "".join(parts)
        else:
            kept = ";".join(part for part in new.split(";") if names.CSS_RULE.fullmatch(part))
            new = names.without_names(kept, self._name)
        self.kept.append(new)
        return new

    def _selectors(self, css: str) -> str:
        parts = _SELECTOR.split(css)
        parts[::2] = [names.without_names(part, self._name) for part in parts[::2]]
        parts[1::2] = [part[0] + self._name(part[1:]) for part in parts[1::2]]
        return "".join(parts)

    def _css_part(self, found: re.Match[str]) -> str:
        """New form of a comment, a string or an address of a style sheet."""
        if found.lastindex is not None:
            raise self._error("a style sheet with a comment, a string or an address that is not closed")
        return found[0] if names.is_css_word(found[0]) else names.emptied_css(found[0])

    def _change(self, start: int, end: int, new: str) -> None:
        if self.source[start:end] != new:
            self._changes.append((start, end, new))

    def _text(self, start: int, end: int, quote: str = "") -> None:
        """Add a piece of text; character references are replaced by characters."""
        characters: list[str] = []
        places: list[int] = []
        for found in _CHARACTER.finditer(self.source, start, end):
            for character in html.unescape(found[0]):
                characters.append(self._plain(character))
                places.append(found.start())
        if characters:
            text = "".join(characters)
            number = self.passages.add(text)
            if not quote:
                self._cuts.add(text)
            self.pieces.append(_Piece(number, start, end, [*places, end], quote))

    def _plain(self, character: str) -> str:
        # A line feed in the source is a space on the page.
        return " " if character in "\n\r\t" and not self._in_pre else character

    def _edited(self, piece: _Piece, edits: Iterable[Edit]) -> str:
        """Source of a piece with its edits.

        If an edit covers a part of a reference, the whole reference is rewritten.
        """
        text, places = self.passages.pieces[piece.number], piece.places
        parts, position = [], 0
        for start, end, new in [*edits, Edit(len(text), len(text), "")]:
            parts += [self._copied(text, places, position, start), html.escape(new, quote=bool(piece.quote))]
            position = end
        joined = "".join(parts)
        return f'"{joined}"' if piece.quote == "unquoted" else joined

    def _copied(self, text: str, places: Sequence[int], start: int, end: int) -> str:
        """Source of the characters from start to end."""
        out = []
        while start < end:
            stop = start + 1
            while stop < len(text) and places[stop] == places[start]:
                stop += 1
            begins = start == 0 or places[start - 1] != places[start]
            whole = begins and stop <= end
            out.append(
                self.source[places[start] : places[stop]] if whole else html.escape(text[start : min(stop, end)])
            )
            start = min(stop, end)
        return "".join(out)
