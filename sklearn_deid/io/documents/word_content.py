"""Content of the parts of a Word file: which content is removed, renamed or kept, and when the file is refused."""

from __future__ import annotations

import re
from typing import Any

from ..._optional import import_optional
from ..checking import SourceLocation
from . import word_names as names
from .font_names import is_font
from .office_package import Part

# Numbers with units, hexadecimal digits, and words of the format, which all begin with a small letter.
_PLAIN = re.compile(r"|[-+#]?[0-9A-Fa-f]+(\.[0-9]+)?(%|pt|in|cm|mm|px|emu)?|[a-z][A-Za-z0-9]{0,49}|\W{1,3}|[A-Za-z]")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,4}){0,3}")
_FORMULA = re.compile(r"(\*/|\+-|\+/|\?:|abs|at2|cat2|cos|max|min|mod|pin|sat2|sin|sqrt|tan|val)( -?[a-z]*[0-9]*){1,3}")
_NUMBERS = re.compile(r"[-0-9.,;@mlxecvtrqwa#f%! ]*")
_MARKER = re.compile(r"_(Toc|Ref|Hlk)[0-9]{1,12}|_GoBack")
_FIELD = re.compile(
    r"\s*((PAGE|NUMPAGES|SECTION|SECTIONPAGES)|(PAGEREF|REF) _(Toc|Ref)[0-9]{1,12}|TOC)"
    r"(\s+\\[*a-z](\s+\"[0-9]-[0-9]\"|\s?(MERGEFORMAT|Arabic|roman))?)*\s*"
)
_SHAPE = re.compile(r"#?_x0000_[a-z][0-9]{1,5}")
_CSS = re.compile(
    r"(position|left|top|width|height|margin(-(left|top|right|bottom))?|z-index|rotation|flip|visibility|v-text-anchor"
    r"|mso-(wrap|position|width|height|left|top)-[a-z-]{1,30}|mso-fit-shape-to-text):"
    r"(-?[0-9.]{1,9}(pt|in|cm|mm|px|%)?|[xy]{1,2}|[tf]|absolute|relative|static|hidden|visible|top|middle|bottom|left"
    r"|right|center|margin|page|char|line|text|column|inside|outside|square|tight|through|none|around)"
)
_HEX = re.compile(r"[0-9A-Fa-f]{1,4}")
_LETTERS, _LEVEL = re.compile(r"[^\W_]{2}"), re.compile(r"%[1-9]")
_MICROSOFT = "http://schemas.microsoft.com/office/word"
_PLACES = {"align", "posOffset"}
# Fonts in which a code represents a picture and not the letter of this code.
_PICTURE_FONTS = {"symbol", "webdings", "wingdings", "wingdings 2", "wingdings 3"}


class Renamed(dict):
    """New names in place of names that users choose, such as names of styles and bookmarks: a word and a number."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self.word = word

    def __missing__(self, name: str) -> str:
        self[name] = f"{self.word}{len(self) + 1}"
        return self[name]


class WordCleaner:
    """Removes all content of a document except for formatting and the text to redact.

    Parameters
    ----------
    place : SourceLocation
        File, for messages.
    """

    def __init__(self, place: SourceLocation) -> None:
        self.place = place
        self.styles, self.titles, self.bookmarks = Renamed("Style"), Renamed("Style "), Renamed("Bookmark")
        self._etree = import_optional("lxml.etree", extra="documents", purpose=".docx files")
        # Names of elements and attributes in these namespaces have this form.
        self._word = f"{{{names.WORD}}}"

    def clean(self, part: Part) -> None:
        """Clean the content of a part in place.

        Raises
        ------
        CorpusFormatError
            If the part holds an element or attribute that could hold text.
        """
        if part.kind == "settings":
            for child in [*part.root, *part.root.iterfind(f"{self._word}compat/*")]:
                if self._name(child)[1] not in names.SETTINGS:
                    self._drop(child)
        self._prune(part.root)
        for element in part.root.iter():
            if not isinstance(element.tag, str):
                raise self._error("an entity")
            self._check_element(element, part)
        # Prefixes are names, too. The declarations of removed elements are removed with the elements.
        self._etree.cleanup_namespaces(part.root)
        for element in part.root.iter():
            if any(names.PREFIXES.get(uri) != (prefix or "") for prefix, uri in element.nsmap.items()):
                raise self._error("a prefix")

    def _error(self, what: str) -> Exception:
        return self.place.error(
            f"The document holds {what} that this library does not know, and that could hold text. Save the document "
            "anew, or as plain text."
        )

    def _name(self, element: Any) -> tuple[str, str]:
        found = self._etree.QName(element)
        return found.namespace or "", found.localname

    def _prune(self, root: Any) -> None:
        """Remove and unwrap elements; keep one branch of each alternative."""
        for element in list(root.iter()):
            if not isinstance(element.tag, str):
                raise self._error("an entity")
            space, name = self._name(element)
            if space == names.WORD and name in names.TRACKED:
                raise self.place.error(
                    "The document has tracked changes. Accept or reject all changes, and save the document."
                )
            extension = names.EXTENSION.match(space) and space not in names.SHAPES
            if extension or (space == names.WORD and name in names.REMOVED) or name in names.REMOVED_OF_DRAWINGS:
                self._drop(element)
            elif space == names.COMPATIBLE and name == "AlternateContent":
                self._choose(element)
            elif space == names.WORD and name in names.UNWRAPPED:
                self._unwrap(element)

    def _choose(self, alternative: Any) -> None:
        """Keep the first branch whose namespaces are known; Word also shows this branch."""
        chosen = None
        for branch in list(alternative):
            needed = {branch.nsmap.get(prefix) for prefix in branch.get("Requires", "").split() or [""]}
            if chosen is None and (self._name(branch)[1] == "Fallback" or needed <= set(names.SHAPES)):
                chosen = branch
            else:
                self._drop(branch)
        if chosen is not None:
            self._unwrap(chosen)
        self._unwrap(alternative)

    def _drop(self, element: Any) -> None:
        parent = element.getparent()
        if parent is None:
            return
        if (element.tail or "").strip():
            raise self._error("text outside of paragraphs")
        parent.remove(element)

    def _unwrap(self, element: Any) -> None:
        parent = element.getparent()
        if parent is None:
            return
        if (element.text or "").strip() or (element.tail or "").strip():
            raise self._error("text outside of paragraphs")
        # The place in the parent is never searched: the time would grow with the square of a long document.
        for child in list(element):
            element.addprevious(child)
        parent.remove(element)

    def _check_element(self, element: Any, part: Part) -> None:
        space, name = self._name(element)
        if name in names.EMBEDDED:
            raise self.place.error("The document holds an embedded object, which is not read.")
        known = space in names.DRAWINGS or space in names.VML or space == names.MATH
        if not known and not (space == names.WORD and (name in names.WORD_ELEMENTS or name in names.SETTINGS)):
            raise self._error("an element")
        if name == "graphicData" and element.get("uri") not in names.GRAPHICS:
            raise self.place.error("The document holds a chart, a diagram or another graphic that is not read.")
        if space == names.WORD and name == "sym" and self._is_letter(element):
            raise self.place.error("The document holds a letter or digit as a symbol, which is not read.")
        if name == "instrText" and not _FIELD.fullmatch(element.text or ""):
            element.text = ""
        is_text = is_text_element(element)
        if (element.text or "").strip() and not is_text and not self._is_place(name, element.text):
            if name != "instrText":
                raise self._error("text outside of paragraphs")
        if (element.tail or "").strip():
            raise self._error("text outside of paragraphs")
        for key, value in list(element.attrib.items()):
            new = self._attribute(element, space, name, key, value, part)
            if new is None:
                del element.attrib[key]
            elif new != value:
                element.set(key, new)

    def _is_letter(self, symbol: Any) -> bool:
        """Whether a symbol shows a letter or digit."""
        font, code = (symbol.get(f"{self._word}{name}", "") for name in ("font", "char"))
        if font.lower() in _PICTURE_FONTS:
            return False
        value = int(code, 16) if _HEX.fullmatch(code) else ord("A")
        # Codes from F000 belong to fonts of pictures. In other fonts, these codes show letters.
        return chr(value - 0xF000 if 0xF000 <= value <= 0xF0FF else value).isalnum()

    def _is_place(self, name: str, text: str) -> bool:
        return name in _PLACES and _PLAIN.fullmatch(text.strip()) is not None

    def _attribute(self, element: Any, space: str, name: str, key: str, value: str, part: Part) -> str | None:
        """New value of an attribute; None to remove it."""
        found = self._etree.QName(key)
        of, local = found.namespace or "", found.localname
        if of == names.XML:
            return value if local == "space" and value in ("preserve", "default") else None
        if of == names.RELATION:
            return self._relation(value, part)
        # Attributes of extensions, of which other programs know nothing.
        if of not in ("", names.WORD, names.MATH, *names.VML) or local.startswith("rsid"):
            return None
        if space in names.VML or of in names.VML:
            return self._vml(local, value)
        if space in names.DRAWINGS:
            return self._drawing(name, local, value)
        # Attributes of these elements have a namespace. Word ignores others, and nobody reads them as text.
        return None if of == "" else self._word_attribute(name, local, value)

    def _relation(self, value: str, part: Part) -> str | None:
        if value == "":
            return None
        if value not in part.ids:
            raise self.place.error("The document refers to a part that is missing or is not read.")
        return part.ids[value]

    def _vml(self, local: str, value: str) -> str | None:
        if local == "style":
            return ";".join(rule for rule in value.split(";") if _CSS.fullmatch(rule.strip()))
        if local in ("id", "type") and _SHAPE.fullmatch(value):
            return value
        if local not in names.VML_ATTRIBUTES:
            return None
        return value if _PLAIN.fullmatch(value) or _NUMBERS.fullmatch(value) else None

    def _drawing(self, name: str, local: str, value: str) -> str | None:
        if local == "name":
            return value if name in ("gd", "avLst") and _PLAIN.fullmatch(value) else ""
        if local in ("descr", "title", "tooltip", "action", "tgtFrame", "invalidUrl", "macro", "textlink"):
            return None
        if local in ("typeface", "panose"):
            return value if is_font(value) or value.startswith("+") and _PLAIN.fullmatch(value[1:4]) else ""
        if (name, local) == ("graphicData", "uri") or (local == "fmla" and _FORMULA.fullmatch(value)):
            return value
        is_language = local in ("lang", "altLang") and _LANGUAGE.fullmatch(value) is not None
        if not is_language and not _PLAIN.fullmatch(value):
            raise self._error("an attribute of a drawing")
        return value

    def _word_attribute(self, name: str, local: str, value: str) -> str | None:
        if local in ("tooltip", "docLocation", "tgtFrame", "history", "displacedByCustomXml", "format"):
            return None
        if name in names.STYLE_REFERENCES or local == "styleId":
            return self.styles[value]
        if name == "style" and local in ("type", "default", "customStyle"):
            return value if _PLAIN.fullmatch(value) else None
        if name == "name":
            words = value.lower().split()
            return value if words and all(word in names.STYLE_NAMES for word in words) else self.titles[value]
        if (name, local) == ("lvlText", "val"):
            return value
        if (name, local) in (("bookmarkStart", "name"), ("hyperlink", "anchor")):
            return value if _MARKER.fullmatch(value) else self.bookmarks[value]
        if local == "instr":
            return value if _FIELD.fullmatch(value) else ""
        if name == "compatSetting" and local == "uri" and value == _MICROSOFT:
            return value
        if name == "comment" and local in ("author", "initials", "date"):
            return "Author" if local == "author" else None
        if name == "rFonts" or local == "font":
            return value if is_font(value) or value in ("eastAsia", "default", "cs") else self._theme_font(local, value)
        if _PLAIN.fullmatch(value) or (name in ("lang", "themeFontLang", "lid") and _LANGUAGE.fullmatch(value)):
            return value
        raise self._error("an attribute")

    def _theme_font(self, local: str, value: str) -> str | None:
        return value if local.lower().endswith("theme") and _PLAIN.fullmatch(value) else None


def is_text_element(element: Any) -> bool:
    """Whether the characters of an element are text that readers see."""
    space, _, name = element.tag[1:].partition("}")
    return name == "t" and space in (names.WORD, names.MATH, names.DRAWING)


def numbering_text(element: Any) -> str | None:
    """Text in the number of a list, such as "Section %1."; None without two letters or digits in a row."""
    if element.tag != f"{{{names.WORD}}}lvlText":
        return None
    value = element.get(f"{{{names.WORD}}}val", "")
    return value if _LETTERS.search(_LEVEL.sub(" ", value)) else None
