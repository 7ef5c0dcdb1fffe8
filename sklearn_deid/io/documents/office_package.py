"""Parts of an Office file: which parts are kept, which parts are left out, and which parts make the reader refuse the
file.

Only parts to which the main text refers are read, and all these parts are renamed. All other content of the ZIP file
(properties, thumbnail, custom XML, comments of the ZIP file) is left out.
"""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from ..._optional import import_optional
from ..checking import SourceLocation

_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml."
_MAIN = f"{_WORD}document.main+xml"
#: Content type of each kind of part that is kept.
KINDS: Mapping[str, str] = {
    "officeDocument": _MAIN,
    "styles": f"{_WORD}styles+xml",
    "numbering": f"{_WORD}numbering+xml",
    "settings": f"{_WORD}settings+xml",
    "header": f"{_WORD}header+xml",
    "footer": f"{_WORD}footer+xml",
    "footnotes": f"{_WORD}footnotes+xml",
    "endnotes": f"{_WORD}endnotes+xml",
    "comments": f"{_WORD}comments+xml",
    "theme": "application/vnd.openxmlformats-officedocument.theme+xml",
}
# The text is shown without these parts.
_LEFT_OUT = {
    *("fontTable", "webSettings", "customXml", "glossaryDocument", "attachedTemplate", "printerSettings", "font"),
    *("stylesWithEffects", "people", "commentsExtended", "commentsIds", "commentsExtensible", "keyMapCustomizations"),
    *("mailMergeSource", "mailMergeHeaderSource", "recipientData", "transform", "documenttasks", "hdphoto"),
}
# White image of one pixel (PNG).
_BLANK_IMAGE = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==")
_OLD_WORD = bytes.fromhex("d0cf11e0a1b11ae1")
_MOST_PARTS, _MOST_BYTES = 2_000, 2**28
# The main part leads to all other parts. No program writes longer chains, and Python limits recursions.
_DEEPEST = 8
# Office files have no other compression. Other compressions raise errors of other modules for damaged content.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass
class Part:
    """XML part of a file.

    Parameters
    ----------
    kind : str
        Last word of the type of the relationship that refers to the part.
    root : lxml.etree.Element
        Content.
    ids : dict of str to str
        New identifier of each relationship of the part.
    relations : list of (str, str, Part or None)
        New identifier and kind of each relationship. The part is None for images and hyperlinks, which refer to no part
        that is read.
    """

    kind: str
    root: Any
    ids: dict[str, str] = field(default_factory=dict)
    relations: list[tuple[str, str, Part | None]] = field(default_factory=list)


def read_package(place: SourceLocation, data: bytes) -> Part:
    """Read the main part of a Word file, and the parts to which it refers.

    Raises
    ------
    CorpusFormatError
        If the file is encrypted, damaged, too large or not a ZIP file, declares entities, or refers to parts that could
        hold text and are not read.
    """
    return _Reader(place, _entries(place, data)).main()


def write_package(main: Part) -> bytes:
    """Content of the file. The same parts give the same bytes."""
    order = list(parts_of(main))
    names: dict[int, str] = {}
    for kind in KINDS:
        for number, part in enumerate((part for part in order if part.kind == kind), start=1):
            names[id(part)] = "document" if part is main else f"{kind}{number}"
    files = {
        "[Content_Types].xml": _types(order, names),
        "_rels/.rels": _links([("rId1", main.kind, main)], names, "word/"),
    }
    for part in order:
        name = names[id(part)]
        files[f"word/{name}.xml"] = _bytes_of(part.root)
        if part.relations:
            files[f"word/_rels/{name}.xml.rels"] = _links(part.relations, names)
    if any(kind == "image" for part in order for _, kind, _ in part.relations):
        files["word/blank.png"] = _BLANK_IMAGE
    return _zipped(files)


def parts_of(main: Part) -> Iterator[Part]:
    """Return each part once, the main part first."""
    found: set[int] = set()
    waiting = [main]
    while waiting:
        part = waiting.pop(0)
        if id(part) not in found:
            found.add(id(part))
            yield part
            waiting += [inner for _, _, inner in part.relations if inner is not None]


def _etree() -> Any:
    return import_optional("lxml.etree", extra="documents", purpose=".docx files")


class _Reader:
    def __init__(self, place: SourceLocation, entries: dict[str, bytes]) -> None:
        self.place, self.entries = place, entries
        self.parts: dict[str, Part] = {}

    def main(self) -> Part:
        found = [target for _, kind, target, is_out in self._relations("", "_rels/.rels") if kind == "officeDocument"]
        if len(found) != 1 or not self._is_word(found[0]):
            raise self.place.error("The file is no Word document without macros (.docx).")
        return self._part(found[0], "officeDocument")

    def _is_word(self, name: str) -> bool:
        root = self.xml("[Content_Types].xml")
        types = {e.get("PartName", "").lstrip("/"): e.get("ContentType") for e in root if "PartName" in e.attrib}
        return types.get(name) == _MAIN

    def _part(self, name: str, kind: str, depth: int = 0) -> Part:
        if name in self.parts:
            return self.parts[name]
        if depth > _DEEPEST:
            raise self.place.error("The document has parts in a long chain, which is not read.")
        part = self.parts[name] = Part(kind, self.xml(name))
        folder, base = posixpath.split(name)
        for number, (known, inner, target, is_out) in enumerate(
            self._relations(folder, posixpath.join(folder, "_rels", f"{base}.rels")), start=1
        ):
            if inner in _LEFT_OUT:
                continue
            if inner not in ("image", "hyperlink") and (inner not in KINDS or inner == "officeDocument" or is_out):
                raise self.place.error(
                    "The document holds an embedded object, a chart, a diagram or another part that is not read."
                )
            leads_on = inner in KINDS
            part.ids[known] = f"rId{number}"
            next_part = self._part(target, inner, depth + 1) if leads_on else None
            part.relations.append((f"rId{number}", inner, next_part))
        return part

    def _relations(self, folder: str, name: str) -> list[tuple[str, str, str, bool]]:
        """Identifier, kind, target and whether the target is outside of the file."""
        if name not in self.entries:
            return []
        found = []
        for each in self.xml(name).iter(f"{{{_PACKAGE}relationships}}Relationship"):
            kind = each.get("Type", "").rpartition("/")[2]
            target = unquote(each.get("Target", ""))
            joined = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            found.append((each.get("Id", ""), kind, joined, each.get("TargetMode") == "External"))
        return found

    def xml(self, name: str) -> Any:
        """Root of an XML part. Comments and instructions are left out; declarations of entities raise an error."""
        etree = _etree()
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
        )
        root = None
        try:
            root = etree.fromstring(self.entries[name], parser)
        except (KeyError, ValueError, etree.XMLSyntaxError):
            pass
        if root is None:
            raise self.place.error("A part of the document is missing or is no valid XML.")
        if root.getroottree().docinfo.doctype:
            raise self.place.error("A part of the document declares entities or a document type.")
        return root


def _entries(place: SourceLocation, data: bytes) -> dict[str, bytes]:
    """Content of the ZIP file by name, within limits of size."""
    if data.startswith(_OLD_WORD):
        raise place.error("The document is encrypted, or is of Word 97 to 2003. Save it as .docx without a password.")
    entries: dict[str, bytes] | None = None
    reason = "The file is no .docx file, or is damaged."
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            problem = _problem_of(infos)
            if problem is None:
                # The sizes in the directory are claims. At most the claimed bytes are read, and more bytes are an
                # error.
                entries = {info.filename: archive.read(info) for info in infos if _is_read(info.filename)}
            else:
                reason = problem
    # zipfile raises a ValueError for offsets before the start of the file.
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError, zlib.error, struct.error):
        entries = None
    if entries is None:
        raise place.error(reason)
    return entries


def _problem_of(infos: Sequence[zipfile.ZipInfo]) -> str | None:
    if len(infos) > _MOST_PARTS or sum(info.file_size for info in infos) > _MOST_BYTES:
        return "The document is too large when it is unpacked."
    if len({info.filename for info in infos}) < len(infos) or any(info.flag_bits & 1 for info in infos):
        return "The document is encrypted, or has two parts of the same name."
    if any(info.compress_type not in _COMPRESSIONS for info in infos):
        return "The document is compressed in a way that Word does not read."
    return None


def _is_read(name: str) -> bool:
    return name.endswith((".xml", ".rels"))


def _types(order: list[Part], names: dict[int, str]) -> bytes:
    kinds = {"rels": "application/vnd.openxmlformats-package.relationships+xml", "xml": "application/xml"}
    kinds["png"] = "image/png"
    rows = [("Default", {"Extension": ending, "ContentType": kind}) for ending, kind in kinds.items()]
    rows += [
        ("Override", {"PartName": f"/word/{names[id(part)]}.xml", "ContentType": KINDS[part.kind]}) for part in order
    ]
    return _listed("content-types", "Types", rows)


def _links(relations: Iterable[tuple[str, str, Part | None]], names: dict[int, str], folder: str = "") -> bytes:
    rows = []
    for known, kind, part in relations:
        attributes = {"Id": known, "Type": _RELATIONS + kind}
        if kind == "hyperlink":
            attributes |= {"Target": "about:blank", "TargetMode": "External"}
        else:
            attributes["Target"] = f"{folder}{names[id(part)]}.xml" if part is not None else "blank.png"
        rows.append(("Relationship", attributes))
    return _listed("relationships", "Relationships", rows)


def _listed(space: str, name: str, rows: Iterable[tuple[str, dict[str, str]]]) -> bytes:
    """Part of the package that lists other parts."""
    etree = _etree()
    root = etree.Element(f"{{{_PACKAGE}{space}}}{name}", nsmap={None: f"{_PACKAGE}{space}"})
    for tag, attributes in rows:
        etree.SubElement(root, f"{{{_PACKAGE}{space}}}{tag}", attributes)
    return _bytes_of(root)


def _bytes_of(root: Any) -> bytes:
    return _etree().tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)


def _zipped(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            # The attributes of ZipInfo differ between systems.
            info.create_system = 3
            archive.writestr(info, content)
    return stream.getvalue()
