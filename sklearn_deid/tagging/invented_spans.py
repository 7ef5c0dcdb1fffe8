"""Invented spans, which span swapping uses in addition to the spans of the training sentences."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from ..sequences import TokenSequences
from ..surrogates import LOCALES, SurrogateEngine
from ..surrogates.token_surrogates import SpanTokens, TokenSurrogates, sentences_by_note
from ..text import split_tag
from .listed_vectors import locale_of
from .span_swap import Spans
from .tagger_data import span_ranges


class InventedSpans(NamedTuple):
    """Spans of surrogates, one after the other.

    Parameters
    ----------
    tokens : ndarray of shape (n_tokens,), dtype object
        Tokens of all spans.
    places : ndarray of shape (n_tokens,)
        For each token, the number of the token of the training sentences whose tag the token has.
    lengths : ndarray of shape (n_spans,)
        Number of tokens of each span.
    stands_for : ndarray of shape (n_spans,)
        For each span, the number of the replaced span of the training sentences.
    """

    tokens: np.ndarray
    places: np.ndarray
    lengths: np.ndarray
    stands_for: np.ndarray


def invent_spans(
    X: TokenSequences, tags: TokenSequences, groups: np.ndarray | None, n: int, rng: np.random.Generator
) -> InventedSpans | None:
    """Draw surrogates of the spans: other names, places and numbers of the same kind, in the language of X.

    The numbers of surrogates of two spans differ by at most one. Spans with a label or form without a rule have no
    surrogates.

    Parameters
    ----------
    X : TokenSequences of n sentences
        Training sentences.
    tags : TokenSequences of n tag sequences
        Legal tags.
    groups : ndarray of shape (n,), or None
        Patient of each sentence.
    n : int
        Number of surrogates to draw. The result is smaller if spans have no rule.
    rng : Generator
        Source of random numbers.

    Returns
    -------
    InventedSpans or None
        None if there is no surrogate: the language is not among `sklearn_deid.surrogates.LOCALES`, or no span has a
        rule.

    Examples
    --------
    >>> X = TokenSequences.from_rows([["Herr", "Alder", "wurde", "in", "der", "Klinik", "mit", "Fieber", "gesehen"]])
    >>> tags = TokenSequences.from_rows([["O", "B-PATIENT", "O", "O", "O", "O", "O", "O", "O"]])
    >>> found = invent_spans(X, tags, None, 3, np.random.default_rng(0))
    >>> len(found.tokens), found.places.tolist(), found.stands_for.tolist()
    (3, [1, 1, 1], [0, 0, 0])
    """
    starts, ends, _ = span_ranges(tags)
    locale = locale_of(X.data)
    if not len(starts) or locale not in LOCALES:
        return None
    notes = sentences_by_note(X, groups)
    parts: list[tuple[np.ndarray, np.ndarray, int]] = []
    for left in range(n, 0, -len(starts)):
        chosen = np.sort(rng.permutation(len(starts))[:left])
        drawn = TokenSurrogates(SurrogateEngine(key=rng.bytes(32), locale=locale), X)
        spans = _spans_by_row(X, tags, starts[chosen], ends[chosen])
        for (owner, note), rows in notes.items():
            if any(row in spans for row in rows):
                drawn.replace(owner, note, rows, spans)
        for number in chosen.tolist():
            if drawn.follows_rule[starts[number]]:
                where = np.arange(starts[number], ends[number])
                parts.append((drawn.data[where], where, number))
    if not parts:
        return None
    tokens, places, numbers = zip(*parts, strict=True)
    lengths = np.array([len(part) for part in tokens])
    return InventedSpans(np.concatenate(tokens), np.concatenate(places), lengths, np.array(numbers))


def followed_by(
    X: TokenSequences, tags: TokenSequences, invented: InventedSpans
) -> tuple[TokenSequences, TokenSequences, Spans]:
    """Append the invented spans to the sentences.

    Returns
    -------
    X, tags : TokenSequences of n + 1 rows
        The last row holds the tokens and tags of all invented spans.
    spans : tuple of three ndarrays
        Starts, ends and label numbers (`span_ranges`) of the invented spans.

    Examples
    --------
    >>> X, tags = TokenSequences.from_rows([["Mr", "Alder"]]), TokenSequences.from_rows([["O", "B-PATIENT"]])
    >>> invented = InventedSpans(np.array(["Birch"], dtype=object), np.array([1]), np.array([1]), np.array([0]))
    >>> longer, longer_tags, (starts, ends, labels) = followed_by(X, tags, invented)
    >>> longer.tolist(), longer_tags.tolist(), starts.tolist(), ends.tolist()
    ([['Mr', 'Alder'], ['Birch']], [['O', 'B-PATIENT'], ['B-PATIENT']], [2], [3])
    """
    ends = len(X.data) + np.cumsum(invented.lengths)
    offsets = np.append(X.offsets, ends[-1])
    longer = TokenSequences(np.concatenate([X.data, invented.tokens]), offsets)
    longer_tags = TokenSequences(np.concatenate([tags.data, tags.data[invented.places]]), offsets)
    return longer, longer_tags, (ends - invented.lengths, ends, span_ranges(tags)[2][invented.stands_for])


def _spans_by_row(
    X: TokenSequences, tags: TokenSequences, starts: np.ndarray, ends: np.ndarray
) -> dict[int, list[SpanTokens]]:
    by_row: dict[int, list[SpanTokens]] = defaultdict(list)
    rows = np.searchsorted(X.offsets, starts, side="right") - 1
    for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True):
        first = int(X.offsets[row])
        by_row[row].append(SpanTokens(row, start - first, end - first, str(split_tag(tags.data[start])[1])))
    return by_row
