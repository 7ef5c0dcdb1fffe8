"""CoNLL columns: a token on each line, a blank line between sentences, ``-DOCSTART- id`` before each document.

Tokens and tags alone do not preserve the white space and the offsets of a note. The writer therefore adds two columns
and a line with the text, so that the reader restores the documents::

    -DOCSTART- n1
    # text = "Mr.  Roe\\r\\nleft."
    # patient_id = "p1"

    Mr      0       2       O
    .       2       3       O
    Roe     5       8       B-PATIENT

    left    10      14      O
    .       14      15      O

The columns token, start, end and IOB2 tag are separated by tabs. Header lines also store patient id and metadata as
JSON. The format does not store the category and confidence of a span. Sentences are split as by `text.segment`, but no
sentence ends inside a span.

Files of other tools have the token in the first column and the tag in the last column, separated by tabs or spaces. The
reader builds a text for a file of another tool: single spaces join the tokens, and line feeds join the sentences. No
span continues across the end of a sentence. The id of a document without an id consists of the file name and the number
of the document. Tags may be IOB2 or BIOES. Illegal sequences are repaired as in conlleval (an I without a preceding
span starts a span).

Source: Tjong Kim Sang and De Meulder (2003), "Introduction to the CoNLL-2003 Shared Task".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

from ...exceptions import CorpusFormatError
from ...text import Document, Span, segment, spans_to_tags, tags_to_spans
from ..checking import SourceLocation, check_covered, check_label, flatten, parse_offset
from ..files import read_lines
from ..format import Format, Item, document_or_error, has_suffix
from ..strict_json import dump_line, dump_meta, parse_json, parse_meta, parse_patient

_START = "-DOCSTART-"
_HEADER = re.compile(r"# (text|patient_id|meta) = (.*)")
_TAG = re.compile(r"O|[BIES]-\S+")
_NO_ID = {"", "-X-", "O", "_"}


Line = tuple[int, str | CorpusFormatError]


class _Row(NamedTuple):
    where: str  # "line 12", as errors call it
    columns: list[str]


class _Block(NamedTuple):
    """Lines of a document: its id, its header lines, and its sentences."""

    doc_id: str
    header: dict[str, str]
    sentences: list[list[_Row]]

    @property
    def rows(self) -> list[_Row]:
        return [row for sentence in self.sentences for row in sentence]


def read(path: Path, encoding: str | None = None) -> Iterator[Item]:
    """Yield the documents of a file. For a broken document the function yields an error and continues."""
    for number, lines in enumerate(_split_documents(path, encoding or "utf-8"), start=1):
        yield document_or_error(_document, SourceLocation(str(path)), path.stem, number, lines)


def _document(place: SourceLocation, stem: str, number: int, lines: list[Line]) -> Document:
    block = _parse_block(stem, number, lines)
    # Errors from here on name the document.
    place = place._replace(doc_id=block.doc_id)
    return _with_offsets(place, block) if "text" in block.header else _without_offsets(place, block)


def write(document: Document, lossy: bool = False) -> dict[str, str]:
    """Lines of a document, including the offsets.

    Spans that token tags cannot express (inside a token, overlapping, on white space only) raise an error. With
    ``lossy``, these spans are extended to whole tokens, or left out if they overlap another span.
    """
    place = SourceLocation(None, document.doc_id)
    if flatten(document.doc_id) != document.doc_id:
        raise place.error("CoNLL cannot hold a document id with line breaks or tabs.")
    for number, span in enumerate(document.spans, start=1):
        check_label(place, f"number {number}", span.label, spaces=False)
    tokens, sentences = segment(document.text)
    tags, _ = spans_to_tags(document.spans, tokens.starts, tokens.ends, doc_id=document.doc_id)
    # Tags are written and read again, which shows every span that tags cannot express.
    if not lossy:
        _check_expressed(place, document, tags_to_spans(tags, tokens.starts, tokens.ends))
    lines = [f"{_START} {document.doc_id}", *_header_lines(document), ""]
    for first, stop in sentences:
        if lines[-1] and not tags[first].startswith("I-"):  # no sentence ends inside a span
            lines.append("")
        for start, end, tag in zip(tokens.starts[first:stop], tokens.ends[first:stop], tags[first:stop], strict=True):
            lines.append(f"{document.text[start:end]}\t{start}\t{end}\t{tag}")
    return {".conll": "\n".join([*lines, "", ""])}


def _header_lines(document: Document) -> list[str]:
    lines = [f"# text = {dump_line(document.text)}"]
    if document.patient_id is not None:
        lines.append(f"# patient_id = {dump_line(document.patient_id)}")
    if document.meta:
        lines.append(f"# meta = {dump_meta(document)}")
    return lines


def _check_expressed(place: SourceLocation, document: Document, expressed: list[Span]) -> None:
    left = [(span.start, span.end, span.label) for span in expressed]
    for number, span in enumerate(document.spans, start=1):
        if (span.start, span.end, span.label) not in left:
            raise place.error(
                "Token tags cannot express this span: it does not begin and end with tokens, or overlaps another one. "
                "Use another format, or pass lossy=True to write only the expressible spans.",
                f"number {number}",
                span.start,
                span.end,
            )
        left.remove((span.start, span.end, span.label))


def _split_documents(path: Path, encoding: str) -> Iterator[list[Line]]:
    lines: list[Line] = []
    for number, line in read_lines(path, encoding):
        if isinstance(line, str):
            line = line.removesuffix("\r")
            # A document ends where the next one starts, so that one document at a time is in memory.
            if line.split(" ", 1)[0].split("\t", 1)[0] == _START and lines:
                yield lines
                lines = []
        if lines or line:  # not the blank lines before the first document
            lines.append((number, line))
    if lines:
        yield lines


def _parse_block(stem: str, number: int, lines: list[Line]) -> _Block:
    block = _Block(stem, {}, [[]])
    for index, (line_number, line) in enumerate(lines):
        if isinstance(line, CorpusFormatError):
            raise line
        header = _HEADER.fullmatch(line)
        if index == 0 and line.startswith(_START):
            block = block._replace(doc_id=line[len(_START) + 1 :])
        elif header and block.sentences == [[]] and index == len(block.header) + 1:  # directly below the id
            block.header[header[1]] = header[2]
        elif not line.strip():
            block.sentences.append([])
        else:
            block.sentences[-1].append(_Row(f"line {line_number}", _columns(line)))
    # Many files have a fixed mark instead of an id. The number of the document makes the ids distinct.
    if "text" not in block.header and (block.doc_id in _NO_ID or " " in block.doc_id or "\t" in block.doc_id):
        block = block._replace(doc_id=f"{stem}-{number}")
    return block._replace(sentences=[sentence for sentence in block.sentences if sentence])


def _columns(line: str) -> list[str]:
    return line.split("\t") if "\t" in line else line.split()


def _with_offsets(place: SourceLocation, block: _Block) -> Document:
    text = parse_json(place, block.header["text"], "The line with the text")
    if not isinstance(text, str):
        raise place.error("The line with the text must be a JSON string.")
    starts: list[int] = []
    ends: list[int] = []
    tags: list[str] = []
    for where, columns in block.rows:
        if len(columns) != 4:
            raise place.error("There must be four columns separated by tabs: token, start, end, tag.", where)
        start, end = (parse_offset(place, where, column) for column in columns[1:3])
        check_covered(place, where, text, start, end, columns[0])
        # Tokens in order and without overlap: the offsets of spans are computed from the first and the last token.
        if ends and start < ends[-1]:
            raise place.error("The token overlaps with the token before.", where, start, end)
        starts.append(start)
        ends.append(end)
        tags.append(_checked_tag(place, where, columns[3]))
    # The writer leaves out white space and control characters only, also as HTML entities such as "&nbsp;".
    between = zip([0, *ends], [*starts, len(text)], strict=True)
    if any(character.isalnum() for start, end in between for character in unescape(text[start:end])):
        raise place.error("Words of the text have no line, and their tags are missing. Is the file complete?")
    patient = parse_patient(place, block.header["patient_id"]) if "patient_id" in block.header else None
    meta = parse_meta(place, block.header["meta"]) if "meta" in block.header else {}
    return Document(block.doc_id, text, tuple(tags_to_spans(tags, starts, ends)), patient, meta)


def _without_offsets(place: SourceLocation, block: _Block) -> Document:
    parts: list[str] = []
    spans: list[Span] = []
    position = 0
    for sentence in block.sentences:
        starts, ends, tags = [], [], []
        for where, columns in sentence:
            if len(columns) < 2 or not columns[0].strip():
                raise place.error("A line needs a token and a tag, separated by a tab or spaces.", where)
            starts.append(position)
            ends.append(position + len(columns[0]))
            tags.append(_checked_tag(place, where, columns[-1]))
            # Without offsets the text is rebuilt with one space between tokens.
            position = ends[-1] + 1
        parts.append(" ".join(columns[0] for _, columns in sentence))
        spans += tags_to_spans(tags, starts, ends)
    text = "\n".join(parts)
    return Document(block.doc_id, text, tuple(spans))


def _checked_tag(place: SourceLocation, where: str, tag: str) -> str:
    if not _TAG.fullmatch(tag):
        raise place.error("The last column must be a tag: O, or B-, I-, E- or S- and a label.", where)
    return tag


_SUFFIXES = (".conll", ".iob", ".bio")
FORMAT = Format(
    "conll",
    _SUFFIXES,
    read,
    write,
    one_document=False,
    resumable=False,
    recognise=has_suffix(*_SUFFIXES),
)
