"""Surrogates with the same number of tokens as the originals, for sentences that are lists of tokens."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from ..sequences import TokenSequences
from ..text import Document, Span, known_id, tokenize
from .number_surrogates import random_of_form
from .surrogate_engine import Replacement, SurrogateEngine

_GLUED = frozenset("@._-/:'\u2019&+")
_GLUED_BEFORE = _GLUED | frozenset("\u00ba\u00aa")
_ORDINALS = frozenset(("st", "nd", "rd", "th"))


class SpanTokens(NamedTuple):
    """Tokens ``first`` to ``stop`` of a sentence with a label.

    Parameters
    ----------
    row : int
        Number of the sentence.
    first, stop : int
        Half-open range of tokens.
    label : str
        Label of the span.
    """

    row: int
    first: int
    stop: int
    label: str


class TokenSurrogates:
    """Sentences whose spans are replaced note by note.

    The tokens of a note are joined to a text, since many rules need the text next to a span. Each surrogate is then
    split into tokens. Places and institutions are drawn again until a surrogate has as many tokens as the original.

    Parameters
    ----------
    engine : SurrogateEngine
        Source of the surrogates.
    X : TokenSequences
        Sentences.

    Attributes
    ----------
    data : ndarray of shape (n_tokens,), dtype object
        Tokens of all sentences, replaced so far.
    follows_rule : ndarray of shape (n_tokens,), dtype bool
        Whether the token is a surrogate, or a part of a longer surrogate.
    statistics : dict
        Counts for each label.
    """

    def __init__(self, engine: SurrogateEngine, X: TokenSequences) -> None:
        self._engine, self._X = engine, X
        self.data: np.ndarray = X.data.copy()
        self.follows_rule = np.zeros(len(X.data), dtype=bool)
        self.statistics: dict[str, dict[str, int]] = {}

    def replace(self, owner: str, note: str, rows: list[int], spans: dict[int, list[SpanTokens]]) -> None:
        """Replace the spans of one note.

        Parameters
        ----------
        owner, note : str
            Patient and id of the note.
        rows : list of int
            Sentences of the note.
        spans : dict of int to list of SpanTokens
            Spans of each sentence, in order.
        """
        parts: list[str] = []
        marked: list[Span] = []
        listed: list[SpanTokens] = []
        length = 0
        for row in rows:
            tokens = list(map(str, self._X[row]))
            position = 0
            for span in spans.get(row, ()):
                before = " ".join(tokens[position : span.first]) + " "
                text = joined(tokens[span.first : span.stop])
                marked.append(Span(length + len(before), length + len(before) + len(text), span.label))
                listed.append(span)
                parts += [before, text, " "]
                length += len(before) + len(text) + 1
                position = span.stop
            rest = " ".join(tokens[position:]) + "\n"
            parts.append(rest)
            length += len(rest)
        # The engine draws until a surrogate has as many tokens: X and y must keep their lengths.
        sizes = {mark.start: span.stop - span.first for mark, span in zip(marked, listed, strict=True)}
        document = Document(note, "".join(parts), tuple(marked), owner)
        made = self._engine.replacements(document, lambda text, span: n_tokens(text) == sizes[span.start])
        for span, replacement in zip(listed, made, strict=True):
            self._put(span, replacement, owner)

    def _put(self, span: SpanTokens, made: Replacement, owner: str) -> None:
        start = int(self._X.offsets[span.row])
        where = slice(start + span.first, start + span.stop)
        old = list(map(str, self._X.data[where]))
        new, is_fitting = self._tokens(old, made, owner)
        counts = self.statistics.setdefault(span.label, defaultdict(int))
        for name, count in (
            ("spans", 1),
            ("tokens", len(old)),
            ("no_rule", not made.has_rule),
            ("no_fit", not is_fitting),
            ("drew_itself", new == old),
        ):
            counts[name] += int(count)
        self.data[where] = np.array(new, dtype=object)
        self.follows_rule[where] = made.has_rule and is_fitting

    def _tokens(self, old: list[str], made: Replacement, owner: str) -> tuple[list[str], bool]:
        """Tokens of a surrogate, and whether their number equals the number of the original."""
        if not made.has_rule:
            return [made.surrogate] * len(old), True
        # The sign of "90+" is a token of its own.
        for text in (made.surrogate, made.surrogate.replace("90+", "90")):
            tokens: list[Any] = tokenize(text).texts
            if len(tokens) == len(old):
                return tokens, True
        # No name of this length fits. Letters and digits of the same form hide as much, but do not read like a name.
        chance = self._engine.chance(owner, "token by token", *old)
        return [random_of_form(token, chance) for token in old], False


def sentences_by_note(X: TokenSequences, groups: Any) -> dict[tuple[str, str], list[int]]:
    """Sentences of each note, by patient and note. A sentence of an unknown note is treated as a note of its own.

    Examples
    --------
    >>> sentences_by_note(TokenSequences.from_rows([["a"], ["b"], ["c"]]).with_documents([7, 7, 8]), None)
    {('document 0', 'document 0'): [0, 1], ('document 1', 'document 1'): [2]}
    """
    notes: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in range(len(X)):
        note = f"sentence {row}" if X.documents is None else f"document {X.documents[row]}"
        notes[(groups is not None and known_id(groups[row])) or note, note].append(row)
    return dict(notes)


def n_tokens(text: str) -> int:
    """Number of tokens of a text."""
    return len(tokenize(text).texts)


def joined(tokens: list[str]) -> str:
    """Text of the tokens of a span, as it is usually written.

    Examples
    --------
    >>> joined(["Alder", ",", "John"]), joined(["ann", "7", "@", "x", ".", "org"])
    ('Alder, John', 'ann7@x.org')
    """
    if "@" in tokens or "www" in map(str.lower, tokens):
        return "".join(tokens)
    out = ""
    for i, token in enumerate(tokens):
        last = tokens[i - 1] if i else ""
        is_glued = (
            last[-1:] in _GLUED
            or token[:1] in _GLUED_BEFORE
            or last == "("
            or token in (",", ")")
            or (last.isdigit() and token.lower() in _ORDINALS)
        )
        out += token if not i or is_glued else f" {token}"
    return out
