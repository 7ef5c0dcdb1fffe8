"""spaCy's ``DocBin`` files (``.spacy``), for ``spacy train`` and for the output of spaCy pipelines.

Each note is a spaCy ``Doc`` with the unchanged text. The tokens of the Doc are the tokens of `text.tokenize`,
additionally split at every border of a span, so all offsets are exact. ``doc.spans["phi"]`` holds all spans, which may
overlap. ``doc.ents`` holds the longest of overlapping spans. The attributes of the group (``doc.spans["phi"].attrs``)
hold document id, patient id, metadata, categories and confidences. User data of a Doc are neither written nor read.

The reader also accepts files of other tools. In files of other tools, the spans of the group ``"phi"`` are read.
Without the group ``"phi"``, the reader uses the named entities, if the tokens are annotated with entities. Otherwise,
the reader uses the only group of spans. The reader refuses a file without any annotation of entities, since the notes
would look like notes without PHI. The id of a document without an id consists of the file name and the number of the
document.

`packed_docs` explains why files from untrusted sources are safe to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...exceptions import CorpusFormatError
from ...text import Document, Span, tags_to_spans, tokenize
from ..checking import SourceLocation, check_label, is_share
from ..files import read_bytes
from ..format import Format, Item, document_or_error, has_suffix
from ..packed_docs import PackedDocs, PackedGroup, parse_groups, unpack_docs
from ..strict_json import dump_meta, parse_meta
from . import jsonl

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.tokens import Span as SpacySpan
    from spacy.vocab import Vocab

#: Key of the spans in ``doc.spans``.
SPANS_KEY = "phi"
# spaCy's numbers.
_NOT_ANNOTATED, _OUTSIDE = 0, 2
_PREFIXES = {1: "I", _OUTSIDE: "O", 3: "B"}


def read(path: Path, encoding: str | None = None) -> Iterator[Item]:
    """Yield the documents of a file. For a broken document the function yields an error and continues."""
    from spacy.attrs import ORTH

    place = SourceLocation(str(path))
    packed = unpack_docs(place, read_bytes(place, path))
    if ORTH not in packed.columns:
        raise place.error("The file is not a DocBin: its tokens have no text.")
    for number in range(len(packed.tokens)):
        yield document_or_error(_document, place._replace(doc_id=f"{path.stem}-{number + 1}"), packed, number)


def write(document: Document, lossy: bool = False) -> dict[str, str]:
    """Document as a line of JSON. The writer collects JSON lines and packs them after the last document (`pack`)."""
    for number, span in enumerate(document.spans, start=1):
        check_label(SourceLocation(None, document.doc_id), f"number {number}", span.label)
    return {".spacy": jsonl.write(document, lossy)[".jsonl"]}


def pack(lines: Path) -> bytes:
    """Bytes of a DocBin with the documents of a JSON lines file."""
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    packed = DocBin(attrs=["ORTH", "SPACY", "ENT_IOB", "ENT_TYPE"], store_user_data=False)
    vocab = Vocab()
    for document in jsonl.read(lines):
        if isinstance(document, CorpusFormatError):
            # A DocBin without one of its documents would look complete.
            raise document
        packed.add(_doc(document, vocab))
    return packed.to_bytes()


def _doc(document: Document, vocab: Vocab) -> Doc:
    from spacy.tokens import Doc
    from spacy.util import filter_spans

    words, spaces = _words(document)
    doc = Doc(vocab, words=words, spaces=spaces)
    spans = [_span(doc, span) for span in document.spans]
    doc.spans[SPANS_KEY] = spans
    doc.spans[SPANS_KEY].attrs.update(
        doc_id=document.doc_id,
        patient_id=document.patient_id,
        meta=dump_meta(document),
        categories=[span.category for span in document.spans],
        scores=[span.confidence for span in document.spans],
    )
    # doc.ents cannot overlap, so that entities keep the longest spans only. The group above holds all spans.
    doc.set_ents(filter_spans(spans), default="outside")
    return doc


def _span(doc: Doc, span: Span) -> SpacySpan:
    found = doc.char_span(span.start, span.end, label=span.label)
    if found is None:  # impossible, because the tokens were cut there
        raise SourceLocation(None).error("The tokens do not end where a span does.", None, span.start, span.end)
    return found


def _words(document: Document) -> tuple[list[str], list[bool]]:
    """Tokens, split at every border of a span, and whether a space follows each token."""
    text, tokens = document.text, tokenize(document.text)
    firsts, lasts = {span.start for span in document.spans}, {span.end for span in document.spans}
    cuts = sorted({0, len(text), *tokens.starts, *tokens.ends, *firsts, *lasts})
    words: list[str] = []
    spaces: list[bool] = []
    for start, end in zip(cuts[:-1], cuts[1:], strict=True):
        space = text[start] == " " and bool(words) and not spaces[-1] and start not in firsts
        # spaCy keeps one space with the token before it, where no span begins or ends with the space.
        if space and (end > start + 1 or end not in lasts):
            spaces[-1] = True
            start += 1
        if start < end:
            words.append(text[start:end])
            spaces.append(False)
    return words, spaces


def _document(place: SourceLocation, packed: PackedDocs, number: int) -> Document:
    text, starts, ends = _text(place, packed, number)
    groups = parse_groups(place, packed.groups[number])
    attrs = groups[SPANS_KEY].attrs if SPANS_KEY in groups else {}
    doc_id, patient, meta = attrs.get("doc_id", place.doc_id), attrs.get("patient_id"), attrs.get("meta", "{}")
    if not isinstance(doc_id, str) or not doc_id or not isinstance(patient, str | None) or not isinstance(meta, str):
        raise place.error("'doc_id', 'patient_id' and 'meta' of a group of spans must be strings.")
    place = place._replace(doc_id=doc_id)
    borders = (starts, ends)
    entities = _entities(place, packed, number, borders)
    source = _source(place, groups, entities)
    spans = entities or [] if source is None else _grouped(place, packed, groups[source], borders)
    return Document(doc_id, text, tuple(spans), patient, parse_meta(place, meta))


def _text(place: SourceLocation, packed: PackedDocs, number: int) -> tuple[str, list[int], list[int]]:
    """Text of a document, and start and end offsets of its tokens."""
    from spacy.attrs import ORTH

    hashes, spaces = packed.tokens[number][:, packed.columns[ORTH]], packed.spaces[number]
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    for word, space in zip(hashes.tolist(), spaces.tolist(), strict=True):
        string = packed.strings.get(word)
        # Hash 0 is the empty string in spaCy, and a token is never empty.
        if not string:
            raise place.error("The text of a token is not among the strings of the file.", f"token {len(starts) + 1}")
        starts.append(position)
        ends.append(position + len(string))
        parts += [string, " "] if space else [string]
        position = ends[-1] + bool(space)
    return "".join(parts), starts, ends


def _source(place: SourceLocation, groups: dict[str, PackedGroup], entities: list[Span] | None) -> str | None:
    """Group of spans that holds the PHI; None if the named entities hold the PHI."""
    if SPANS_KEY in groups:
        return SPANS_KEY
    # Empty groups do not show where the PHI is as long as another group has spans.
    filled = [key for key, group in groups.items() if group.spans]
    if entities is not None and not filled:
        return None
    candidates = filled or list(groups)
    if len(candidates) == 1 and not entities:
        return candidates[0]
    if not candidates:
        raise place.error(
            "The document is not annotated: there is neither a group of spans nor an entity annotation of all tokens."
        )
    raise place.error(f"There are several kinds of spans. Name the group with the PHI {SPANS_KEY!r}.")


def _entities(
    place: SourceLocation, packed: PackedDocs, number: int, borders: tuple[list[int], list[int]]
) -> list[Span] | None:
    """Spans of the named entities; None if some tokens have no entity annotation."""
    from spacy.attrs import ENT_IOB, ENT_TYPE

    if ENT_IOB not in packed.columns or ENT_TYPE not in packed.columns:
        return None
    rows = packed.tokens[number][:, [packed.columns[ENT_IOB], packed.columns[ENT_TYPE]]].tolist()
    # One token without an annotation means that nobody has looked for entities in the document.
    if any(iob == _NOT_ANNOTATED for iob, _ in rows):
        return None
    tags: list[str] = []
    for iob, kind in rows:
        label = packed.strings.get(kind)
        if iob not in _PREFIXES or (iob != _OUTSIDE and not label):
            raise place.error("The named entity of a token is damaged.", f"token {len(tags) + 1}")
        tags.append("O" if iob == _OUTSIDE else f"{_PREFIXES[iob]}-{label}")
    return tags_to_spans(tags, *borders)


def _grouped(
    place: SourceLocation, packed: PackedDocs, group: PackedGroup, borders: tuple[list[int], list[int]]
) -> list[Span]:
    starts, ends = borders
    categories = _noted(place, group, "categories", str)
    scores = _noted(place, group, "scores", float)
    spans = []
    for number, (label_hash, first, stop, start, end) in enumerate(group.spans):
        name = f"number {number + 1}"
        label = packed.strings.get(label_hash)
        if label is None:
            raise place.error("The label of a span is not among the strings of the file.", name, start, end)
        check_label(place, name, label)
        # Borders in tokens and in characters are saved separately. A damaged file may have only one of them right.
        if not 0 <= first < stop <= len(starts) or (starts[first], ends[stop - 1]) != (start, end):
            raise place.error("The tokens and the offsets of a span do not agree.", name, start, end)
        if not is_share(scores[number]):
            raise place.error("A span's score must be a number in [0, 1].", name, start, end)
        spans.append(Span(start, end, label, categories[number], scores[number]))
    return spans


def _noted(place: SourceLocation, group: PackedGroup, name: str, kind: type) -> list[Any]:
    """Attribute of each span of a group; a list of None if the group lacks the attribute."""
    values = group.attrs.get(name)
    if isinstance(values, dict):  # scores of spaCy's own components
        values = _floats(values)
    if values is None:
        return [None] * len(group.spans)
    if not isinstance(values, list) or len(values) != len(group.spans):
        raise place.error(f"'{name}' must hold one value for each span of a group.")
    if any(value is not None and type(value) is not kind for value in values):
        raise place.error(f"'{name}' of a group of spans must be of the type {kind.__name__}.")
    return values


def _floats(packed: dict) -> list[float] | None:
    """One-dimensional array of floats, packed by srsly; None for any other value."""
    data, dtype = packed.get(b"data"), packed.get(b"type")
    if packed.get(b"nd") is not True or dtype not in ("<f4", "<f8") or not isinstance(data, bytes):
        return None
    return np.frombuffer(data, dtype=dtype).tolist() if len(data) % int(dtype[-1]) == 0 else None


FORMAT = Format(
    "docbin", (".spacy",), read, write, one_document=False, resumable=False, pack=pack, recognise=has_suffix(".spacy")
)
