"""Original notes beside redacted ones: which tokens are left, whoever redacted them and however."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from ..exceptions import DeidError, SequenceError
from ..text import Document, Tokens, patient_of, rewrite, tokenize

# What redactors put in the place of PHI: [PATIENT], ***, [**First Name 12**].
PLACEHOLDER = r"\[[A-Z][A-Z0-9_-]+\]|\*{3,}|\[\*\*[^\[\]]{0,80}\*\*\]"


@dataclass(frozen=True, repr=False)
class OriginalNotes:
    """Notes before redaction.

    Attributes
    ----------
    names : list of str
        Document ids, or numbers where texts without ids were given; for errors.
    texts : list of str
    tokens : list of Tokens
        A placeholder that stands in the original is one token.
    groups : ndarray of shape (n_notes,)
        Patient of each note, or the note itself.
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
    """The same notes after redaction, in the order of the original ones.

    Attributes
    ----------
    texts : list of str
        The text that is left; a space stands where something was removed.
    tokens : list of list of str
        Tokens of the redacted note without placeholders. Surrogates are among them.
    kept : list of ndarray of bool
        For each token of the original note whether it is left.
    n_withheld : int
        Notes of which nothing is left because they were given as None.
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
    placeholder : str
        Regular expression of what stands for something removed.

    Raises
    ------
    SequenceError
        If there is no note.
    TypeError
        If one is neither a text nor a Document.

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
    groups = [patient_of(n) if isinstance(n, Document) else name for n, name in zip(listed, names, strict=True)]
    with_ids = all(isinstance(n, Document) for n in listed)
    tokens = [_tokens(text, pattern) for text in texts]
    return OriginalNotes(names, texts, tokens, np.array(groups, dtype=object), pattern, with_ids)


def align_redacted(
    original: OriginalNotes, notes: Iterable[str | Document | None], name: str = "redacted"
) -> RedactedNotes:
    """Find out what redaction left of each note.

    Parameters
    ----------
    original : OriginalNotes
    notes : Corpus or sequence of Document, str or None
        A Document has the original text and spans that are removed: exact. A str is a note that something else has
        redacted: its tokens are aligned with the original ones, and where a word stands several times near a removed
        one, either of them may count as the one that is left. None is a note that was withheld: nothing is left.
        Documents are matched by their ids if all of ``original`` are Documents too, else all are matched by position.
    name : str, default="redacted"
        How the argument is called in errors.

    Raises
    ------
    SequenceError
        If there is not one for each original note.
    DeidError
        If a Document has another text than the original note.
    TypeError
        If one is nothing of the above.

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
            f"'{name}' must hold one note for each of {len(original)} original ones. Got {len(notes)}. A note that was "
            "withheld is given as None."
        )
    if not (original.has_ids and notes and all(isinstance(note, Document) for note in notes)):
        return notes
    by_id = {note.doc_id: note for note in notes}
    for doc_id in original.names:
        if doc_id not in by_id:
            raise SequenceError(f"'{name}' lacks a note.", doc_id=doc_id)
    return [by_id[doc_id] for doc_id in original.names]


def _tokens(text: str, placeholder: re.Pattern[str]) -> Tokens:
    """Tokens of a text in which each placeholder is one."""
    result = Tokens([], [], [])
    position = 0
    for match in placeholder.finditer(text):
        if match[0]:
            _extend(result, text[position : match.start()], position)
            result.texts.append(match[0])
            result.starts.append(match.start())
            result.ends.append(match.end())
            position = match.end()
    _extend(result, text[position:], position)
    return result


def _extend(result: Tokens, text: str, offset: int) -> None:
    piece = tokenize(text)
    result.texts.extend(piece.texts)
    result.starts.extend([start + offset for start in piece.starts])
    result.ends.extend([end + offset for end in piece.ends])


def _by_spans(original: OriginalNotes, number: int, note: Document, name: str) -> tuple[str, list[str], np.ndarray]:
    if note.text != original.texts[number]:
        raise DeidError(
            f"A Document of '{name}' must have the untouched text, of which its spans are removed. Its text differs "
            "from the original one. Give texts that are redacted already as str.",
            doc_id=original.names[number],
        )
    tokens = original.tokens[number]
    covered = np.zeros(len(note.text) + 1, dtype=np.int64)
    for span in note.spans:
        covered[span.start : span.end] = 1
    total = np.concatenate(([0], np.cumsum(covered)))
    kept = total[np.asarray(tokens.ends, dtype=np.intp)] == total[np.asarray(tokens.starts, dtype=np.intp)]
    left = [token for token, stays in zip(tokens.texts, kept, strict=True) if stays]
    return rewrite(note.text, note.spans, lambda span: " ").text, left, kept


def _by_alignment(original: OriginalNotes, number: int, text: str) -> tuple[str, list[str], np.ndarray]:
    before, after = original.tokens[number], _tokens(text, original.placeholder)
    kept = np.zeros(len(before.texts), dtype=bool)
    found = np.zeros(len(after.texts), dtype=bool)
    for a, b, size in SequenceMatcher(None, before.texts, after.texts, autojunk=False).get_matching_blocks():
        kept[a : a + size] = True
        found[b : b + size] = True
    # A placeholder that has no counterpart stands for something removed; one that has was in the note before.
    stays = [bool(f) or not original.placeholder.fullmatch(t) for f, t in zip(found, after.texts, strict=True)]
    return _without(text, after, stays), [t for t, s in zip(after.texts, stays, strict=True) if s], kept


def _without(text: str, tokens: Tokens, stays: Sequence[bool]) -> str:
    parts, position = [], 0
    for start, end, stay in zip(tokens.starts, tokens.ends, stays, strict=True):
        if not stay:
            parts += [text[position:start], " "]
            position = end
    return "".join([*parts, text[position:]])
