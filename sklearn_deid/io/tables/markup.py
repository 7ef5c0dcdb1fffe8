"""Simple HTML as plain text with a mark for each tag, and conversion back to HTML."""

from __future__ import annotations

import html
import re
from typing import NamedTuple

from ..documents.html_names import CSS_RULE, ELEMENTS, FORM_WORDS, INLINE, LONG_REFERENCE, is_css_word, is_form

# An invisible character represents each tag: `normalize` removes it, so that the tagger reads the words as a reader
# sees them. A text that holds this character is refused.
_MARK = "\u2064"
# Attributes whose values are no text for readers. Other attributes, such as title, alt and href, can hold names.
_ATTRIBUTES = (
    "xmlns|lang|xml:lang|dir|class|style|colspan|rowspan|border|width|height|align|valign|cellpadding|cellspacing"
)
_TAG = re.compile(
    r"<(/\s*)?([A-Za-z][A-Za-z0-9]*)"
    # An end tag has no attributes.
    rf"""(?(1)|(?:\s+(?:{_ATTRIBUTES})\s*=\s*(?:"[^"<>]*"|'[^'<>]*'))*)\s*/?>|<!DOCTYPE html>""",
    re.IGNORECASE,
)
_VALUE = re.compile(r"""([A-Za-z:]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
# Parts of a style that can hold any text: escapes, comments, addresses and strings.
_NO_STYLE = re.compile(r"""\\|/\*|(?:url|expression)\(|"[^"]*"?|'[^']*'?""", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2,}|\d{4,}")
# Attributes with few possible values, all of which are public (`is_form`).
_PUBLIC = {"xmlns", "lang", "xml:lang"}
# Elements whose content is no text, or is text that no reader sees.
_REFUSED = {"script", "style", "object", "embed", "iframe", "template", "svg", "math", "img", "input", "noscript"}


class MarkedText(NamedTuple):
    """Plain text with a mark for each tag.

    Parameters
    ----------
    text : str
        Text to redact. Marks of blocks are between line feeds.
    tags : tuple of str or None
        Tags in their order. None for a text that is not HTML.
    """

    text: str
    tags: tuple[str, ...] | None


def marked_text(markup: str) -> MarkedText | None:
    """Plain text of HTML, or None if parts of the HTML could hold text that is not read.

    These parts are comments, scripts, images, unknown elements, attributes such as ``title``, and a ``<`` that begins
    no tag.

    Examples
    --------
    >>> marked_text("<p>Seen by <b>Ann</b> &amp; Eva</p>").text
    '\\n\\u2064\\nSeen by \\u2064Ann\\u2064 & Eva\\n\\u2064\\n'
    >>> marked_text("<p title='Ann'>Seen</p>") is None
    True
    """
    if _MARK in markup or LONG_REFERENCE.search(markup):
        return None
    parts, tags, position = [], [], 0
    for tag in _TAG.finditer(markup):
        name = (tag[2] or "html").lower()
        parts += [html.unescape(markup[position : tag.start()]), _MARK if name in INLINE else f"\n{_MARK}\n"]
        tags.append(tag[0])
        position = tag.end()
        # "<Alder>" is no element, but a name between angle brackets.
        if name in _REFUSED or name not in ELEMENTS or not _has_form(tag[0]):
            return None
    rest = [*parts[::2], html.unescape(markup[position:])]
    # What is left of a tag that the pattern does not know begins with "<" in the markup itself.
    if "<" in _TAG.sub("", markup) or any(_MARK in part for part in rest):
        return None
    return MarkedText("".join([*parts, rest[-1]]), tuple(tags))


def _has_form(tag: str) -> bool:
    """Whether all attributes except class are known to contain formatting only."""
    found = ((each[1].lower(), html.unescape(each[2] or each[3] or "")) for each in _VALUE.finditer(tag))
    known = (_is_style(value) if name == "style" else is_form(name, value) for name, value in found if name != "class")
    return all(known)


def _is_style(value: str) -> bool:
    """Whether a style consists of declarations whose only strings are names of common fonts."""
    return all(map(CSS_RULE.fullmatch, value.split(";"))) and all(map(is_css_word, _NO_STYLE.findall(value)))


def tags_tell(old: str, new: str, tags: tuple[str, ...]) -> bool:
    """Whether an attribute of a tag holds a word that is replaced in the text.

    Namespaces and languages do not count. Each narrative of FHIR has a namespace with the words "http", "org" and
    "1999", and names hold the codes of languages, as in "de Vries".

    Examples
    --------
    >>> tags_tell("Seen by Ann", "Seen by [DOCTOR]", ('<p class="of-ann">',))
    True
    >>> tags_tell("On 1 May 1999", "On [DATE]", ('<div xmlns="http://www.w3.org/1999/xhtml">',))
    False
    """
    replaced = {word.casefold() for word in {*_WORD.findall(old)}.difference(_WORD.findall(new))} - FORM_WORDS
    values = [each for tag in tags for each in _VALUE.finditer(tag) if each[1].lower() not in _PUBLIC]
    return any(word.casefold() in replaced for each in values for word in _words(each))


def _words(attribute: re.Match[str]) -> list[str]:
    return _WORD.findall(html.unescape(f"{attribute[2] or ''} {attribute[3] or ''}"))


def with_tags(text: str, tags: tuple[str, ...]) -> str | None:
    """Put the tags back into a redacted text. None if a mark is missing, because a replaced name extended across a tag.

    Examples
    --------
    >>> marked = marked_text("<p>Seen by <b>Ann</b></p>")
    >>> with_tags(marked.text.replace("Ann", "[DOCTOR]"), marked.tags)
    '<p>Seen by <b>[DOCTOR]</b></p>'
    """
    parts = text.split(_MARK)
    if len(parts) != len(tags) + 1:
        return None
    out = []
    for number, part in enumerate(parts):
        before = number > 0 and _is_block(tags[number - 1])
        after = number < len(tags) and _is_block(tags[number])
        part = part.removeprefix("\n") if before else part
        part = part.removesuffix("\n") if after else part
        out += [html.escape(part, quote=False), tags[number] if number < len(tags) else ""]
    return "".join(out)


def _is_block(tag: str) -> bool:
    name = re.match(r"<(?:/\s*)?([A-Za-z0-9]*)", tag)
    return name is None or name[1].lower() not in INLINE
