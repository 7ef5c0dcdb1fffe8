"""Small Word files made part by part, with a name in a place of choice."""

import io
import zipfile

NAME = "Zyxwvutski"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
SPACES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "r": f"{_OFFICE}/relationships",
    "m": f"{_OFFICE}/math",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
    "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office",
}
_DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in SPACES.items())


def xml(element, inner, extra=""):
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<w:{element} {_DECLARED} {extra}>{inner}</w:{element}>'


def paragraph(*texts, properties=""):
    runs = "".join(f'<w:r>{properties}<w:t xml:space="preserve">{text}</w:t></w:r>' for text in texts)
    return f"<w:p>{runs}</w:p>"


def word_file(body="", *, parts=(), files=(), content=None, root_extra="", comment=b"", prolog=None):
    """Bytes of a Word file.

    ``parts`` are (kind, file name, text) of XML parts, or (kind, target, None) of links to the outside. ``files`` are
    further entries of the ZIP file by name.
    """
    document = xml("document", f"<w:body>{paragraph('Seen today.')}{body}<w:sectPr/></w:body>", root_extra)
    entries = {"word/document.xml": document if prolog is None else document.replace("\n", f"\n{prolog}\n", 1)}
    links, types = [], []
    for number, (kind, target, text) in enumerate(parts, start=1):
        mode = ' TargetMode="External"' if text is None else ""
        address = kind if "/" in kind else f"{_OFFICE}/relationships/{kind}"
        links.append(f'<Relationship Id="rId{number}" Type="{address}" Target="{target}"{mode}/>')
        if text is not None:
            entries[f"word/{target}"] = text
            types.append(f'<Override PartName="/word/{target}" ContentType="{_WORD}.{kind}+xml"/>')
    entries["word/_rels/document.xml.rels"] = f'<Relationships xmlns="{RELATIONS}">{"".join(links)}</Relationships>'
    entries["_rels/.rels"] = (
        f'<Relationships xmlns="{RELATIONS}"><Relationship Id="rId1" Type="{_OFFICE}/relationships/officeDocument" '
        'Target="word/document.xml"/></Relationships>'
    )
    main = content or f"{_WORD}.document.main+xml"
    entries["[Content_Types].xml"] = (
        f'<Types xmlns="{_TYPES}"><Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{main}"/>{"".join(types)}</Types>'
    )
    entries.update(files)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = comment
        for name, text in entries.items():
            archive.writestr(name, text)
    return stream.getvalue()


def holds(data, name=NAME):
    """Names of the entries of a ZIP file that hold a name in any usual encoding; the whole file by its raw bytes."""
    wanted = {form.encode(code) for form in (name, name.lower(), name.upper()) for code in ("utf-8", "utf-16-le")}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found = [entry for entry in archive.namelist() if name.lower() in entry.lower()]
        found += [entry for entry in archive.namelist() if any(form in archive.read(entry) for form in wanted)]
    return found + ["raw bytes"] * any(form in data for form in wanted)
