"""Align redacted notes of any tool with the original notes, and find the remaining tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from ..exceptions import DeidError, SequenceError
from ..text import Corpus, Document, Edit, Tokens, rewrite, tokenize
from ..text.corpus import patients_of
from ..text.normalized_text import edited

# Common placeholders of redaction tools: [PATIENT], ***, [**First Name 12**].
PLACEHOLDER = r"\[[A-Z][A-Z0-9_-]+\]|\*{3,}|\[\*\*[^\[\]]{0,80}\*\*\]"


@dataclass(frozen=True, repr=False)
class OriginalNotes:
    """Notes before redaction.

    Attributes
    ----------
    names : list of str
        Names of the notes in error messages: document ids, or positions for texts without an id.
    texts : list of str
        Text of each note.
    tokens : list of Tokens
        Tokens of each note. A placeholder in an original note is a single token.
    groups : ndarray of shape (n_notes,)
        Patient of each note; a note without a patient is a separate group.
    """

    names: list[str]
    texts: list[str]
    tokens: list[Tokens]
    groups: np.ndarray
    placeholder: re.Pattern[str]
    has_ids: bool

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"OriginalNotes({len(self)} notes)"


@dataclass(frozen=True, repr=False)
class RedactedNotes:
    """The same notes after redaction, in the order of the original notes.

    Attributes
    ----------
    texts : list of str
        Remaining text of each note. A space replaces each removed passage.
    tokens : list of list of str
        Tokens of each redacted note without placeholders. Surrogates are included.
    kept : list of ndarray of bool
        For each token of the original note, whether the token remains.
    n_withheld : int
        Number of withheld notes (passed as None). No token of a withheld note remains.
    """

    texts: list[str]
    tokens: list[list[str]]
    kept: list[np.ndarray]
    n_withheld: int = 0

    def __repr__(self) -> str:
        return f"RedactedNotes({len(self.texts)} notes, {self.n_withheld} withheld)"


def original_notes(notes: Iterable[str | Document], placeholder: str = PLACEHOLDER) -> OriginalNotes:
    r"""Read and check the notes before redaction.

    Parameters
    ----------
    notes : Corpus or sequence of Document or str
        Original notes.
    placeholder : str
        Regular expression that matches the placeholders of redacted passages.

    Raises
    ------
    SequenceError
        If there is no note.
    TypeError
        If a note is neither a text nor a Document.

    Examples
    --------
    >>> original_notes(["Seen by Who."]).tokens[0].texts
    ['Seen', 'by', 'Who', '.']
    """
    listed = _listed(notes, "original")
    if not listed:
        raise SequenceError("'original' holds no note.")
    for number, note in enumerate(listed):
        if not isinstance(note, (str, Document)):
            _refuse(note, "original", f"number {number}")
    pattern = re.compile(placeholder)
    names = [n.doc_id if isinstance(n, Document) else f"number {i}" for i, n in enumerate(listed)]
    texts = [n.text if isinstance(n, Document) else n for n in listed]
    patients = iter(patients_of([n for n in listed if isinstance(n, Document)]))
    groups = [next(patients) if isinstance(n, Document) else name for n, name in zip(listed, names, strict=True)]
    with_ids = all(isinstance(n, Document) for n in listed)
    tokens = [_tokens(text, pattern) for text in texts]
    return OriginalNotes(names, texts, tokens, np.array(groups, dtype=object), pattern, with_ids)


def align_redacted(
    original: OriginalNotes, notes: Iterable[str | Document | None], name: str = "redacted"
) -> RedactedNotes:
    """Find the tokens of each original note that remain after redaction.

    Parameters
    ----------
    original : OriginalNotes
        Notes before redaction, from `original_notes`.
    notes : Corpus or sequence of Document, str or None
        Redacted notes in one of three forms. A Document contains the original text, and the removed passages as spans;
        this form is exact. A str is a note that any other tool redacted. The tokens of a str are aligned with the
        original tokens. If a removed word occurs several times near the removed passage, the alignment may choose the
        wrong occurrence. None is a withheld note, of which no token remains. If all original notes are Documents, the
        function matches Documents by their ids; otherwise, the function matches notes by position.
    name : str, default="redacted"
        Name of the argument in error messages.

    Raises
    ------
    SequenceError
        If the number of redacted notes differs from the number of original notes, or a document id is missing.
    DeidError
        If the text of a Document differs from the original note.
    TypeError
        If a note is not a Document, a str or None.

    Examples
    --------
    >>> original = original_notes(["Seen by Who.", "No pain."])
    >>> redacted = align_redacted(original, ["Seen by [DOCTOR].", None])
    >>> redacted.tokens, redacted.kept[0].tolist()
    ([['Seen', 'by', '.'], []], [True, True, False, True])
    """
    listed = _in_order(original, _listed(notes, name), name)
    texts, tokens, kept = [], [], []
    for number, note in enumerate(listed):
        if isinstance(note, Document):
            one = _by_spans(original, number, note, name)
        elif isinstance(note, str):
            one = _by_alignment(original, number, note)
        elif note is None:
            # A withheld note keeps no token.
            one = "", [], np.zeros(len(original.tokens[number].texts), dtype=bool)
        else:
            _refuse(note, name, original.names[number])
        texts.append(one[0])
        tokens.append(one[1])
        kept.append(one[2])
    return RedactedNotes(texts, tokens, kept, sum(note is None for note in listed))


def _listed(notes: Any, name: str) -> list:
    if isinstance(notes, (str, bytes, Document)) or not hasattr(notes, "__iter__"):
        raise TypeError(f"'{name}' must be a sequence of notes. Got {type(notes).__name__} instead.")
    return list(notes)


def _refuse(note: Any, name: str, where: str) -> None:
    raise TypeError(f"'{name}' must hold texts or Documents. Got {type(note).__name__} instead [document {where}].")


def _in_order(original: OriginalNotes, notes: list, name: str) -> list:
    if len(notes) != len(original):
        raise SequenceError(
            f"'{name}' must hold one note for each of {len(original)} original notes. Got {len(notes)} instead. Pass "
            "None for a withheld note."
        )
    if not (original.has_ids and notes and all(isinstance(note, Document) for note in notes)):
        return notes
    # With ids on both sides the order of the notes does not matter.
    by_id = {note.doc_id: note for note in Corpus(notes)}
    for doc_id in original.names:
        if doc_id not in by_id:
            raise SequenceError(f"'{name}' lacks a note.", doc_id=doc_id)
    return [by_id[doc_id] for doc_id in original.names]


def _tokens(text: str, placeholder: re.Pattern[str]) -> Tokens:
    """Tokens of a text; each placeholder is a single token."""
    rows: list[tuple[str, int, int]] = []
    position = 0
    # A pattern of the user may also match the empty string, which is no placeholder.
    spans = [match.span() for match in placeholder.finditer(text) if match[0]]
    for start, end in [*spans, (len(text), len(text))]:
        tokens = zip(*tokenize(text[position:start]), strict=True)
        rows += [(token, position + first, position + stop) for token, first, stop in tokens]
        rows += [(text[start:end], start, end)] if start < end else []
        position = end
    return Tokens([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])


def _by_spans(original: OriginalNotes, number: int, note: Document, name: str) -> tuple[str, list[str], np.ndarray]:
    if note.text != original.texts[number]:
        raise DeidError(
            f"A Document of '{name}' must have the original text and the spans to remove. This text differs from the "
            "original text. Pass redacted texts as str.",
            doc_id=original.names[number],
        )
    tokens = original.tokens[number]
    covered = np.zeros(len(note.text), dtype=bool)  # shape: (n_characters,)
    for span in note.spans:
        covered[span.start : span.end] = True
    # A token is left if no character of the token is covered.
    kept = np.array([not covered[a:b].any() for a, b in zip(tokens.starts, tokens.ends, strict=True)], dtype=bool)
    left = [token for token, stays in zip(tokens.texts, kept, strict=True) if stays]
    # A space replaces each span, so that the words on both sides stay apart.
    return rewrite(note.text, note.spans, lambda span: " ").text, left, kept


def _by_alignment(original: OriginalNotes, number: int, text: str) -> tuple[str, list[str], np.ndarray]:
    # Notes of other tools have no spans.
    before, after = original.tokens[number], _tokens(text, original.placeholder)
    kept = np.zeros(len(before.texts), dtype=bool)
    found = np.zeros(len(after.texts), dtype=bool)
    blocks = _blocks_between_placeholders(before.texts, after.texts, original.placeholder)
    if blocks is None:
        # The longest common runs of tokens show what is left. In repetitive notes, the time grows with the cube of the
        # length. Without autojunk: it ignores tokens that are frequent in long notes, which would count as removed.
        matcher = SequenceMatcher(None, before.texts, after.texts, autojunk=False)
        blocks = [(a, b, size) for a, b, size in matcher.get_matching_blocks()]
    for a, b, size in blocks:
        kept[a : a + size] = True
        found[b : b + size] = True
    # A placeholder without a counterpart replaces removed text. A placeholder with a counterpart was already in the
    # original note.
    stays = [bool(f) or not original.placeholder.fullmatch(t) for f, t in zip(found, after.texts, strict=True)]
    edits = [Edit(a, b, " ") for a, b, stay in zip(after.starts, after.ends, stays, strict=True) if not stay]
    return edited(text, edits), [t for t, s in zip(after.texts, stays, strict=True) if s], kept


def _blocks_between_placeholders(
    before: Sequence[str], after: Sequence[str], placeholder: re.Pattern[str]
) -> list[tuple[int, int, int]] | None:
    """Blocks of equal tokens if each run between placeholders is in the original note, as whole and in order.

    Returns None if the texts differ in other ways, such as surrogates, or if the original note has placeholders.
    """
    holes = [i for i, token in enumerate(after) if placeholder.fullmatch(token)]
    if not holes or any(map(placeholder.fullmatch, before)):
        return None
    blocks: list[tuple[int, int, int]] = []
    position = 0
    for start, end in zip([-1, *holes], [*holes, len(after)], strict=True):
        run = after[start + 1 : end]
        # A placeholder replaces at least one token.
        at = _place_of(before, run, position + (start >= 0), is_first=start < 0, is_last=end == len(after))
        if at is None:
            return None
        blocks.append((at, start + 1, len(run)))
        position = at + len(run)
    return blocks


def _place_of(tokens: Sequence[str], run: Sequence[str], start: int, *, is_first: bool, is_last: bool) -> int | None:
    """First place of a run of tokens from a start on; the first run is at the start, and the last run at the end."""
    stop = len(tokens) - len(run)
    places = range(start, stop + 1)
    if is_first or is_last:
        places = places[:1] if is_first else places[-1:]
    return next((at for at in places if tokens[at : at + len(run)] == run), None)
