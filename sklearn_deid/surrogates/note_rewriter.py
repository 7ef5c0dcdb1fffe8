"""The function that redacts an annotated note, for each mode of redaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..text import REDACTION_MODES, Document, merge_spans, redact_document
from ..text.rewriting import span_replacement
from .surrogate_engine import Replacement, SurrogateEngine

SURROGATE = "surrogate"
MODES = (*REDACTION_MODES, SURROGATE)
# Number of the rules. Raise it when the same key gives other surrogates: a run that goes on with other rules would give
# one person two surrogates.
RULES = 79


def note_rewriter(mode: str | SurrogateEngine = "label", **settings: Any) -> Callable[[Document], Document]:
    """Function from a note with PHI spans to the redacted note with the spans of its new text.

    Parameters
    ----------
    mode : {"label", "mask", "remove", "surrogate"} or SurrogateEngine, default="label"
        Replacement of a span.
    **settings
        Parameters of `SurrogateEngine`, for mode="surrogate" only.

    Raises
    ------
    ValueError
        If the mode is unknown, or if settings of surrogates are given for another mode.

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> note_rewriter("label")(Document("n1", "Seen by Who.", (Span(8, 11, "DOCTOR"),))).text
    'Seen by [DOCTOR].'
    """
    if isinstance(mode, SurrogateEngine):
        if settings:
            raise ValueError(f"A SurrogateEngine has its own settings. Got {sorted(settings)} beside it.")
        return mode.rewrite
    if mode not in MODES:
        raise ValueError(f"The 'mode' parameter must be one of {MODES} or a SurrogateEngine. Got {mode!r} instead.")
    if mode == SURROGATE:
        return SurrogateEngine(**settings).rewrite
    if settings:
        raise ValueError(f"The settings {sorted(settings)} need mode='surrogate'. Got mode={mode!r} instead.")
    return lambda document: redact_document(document, mode)


def note_replacements(mode: str | SurrogateEngine = "label") -> Callable[[Document], list[Replacement]]:
    """Function from a note with PHI spans to the replacements of `note_rewriter`, without inserting them.

    Use the function if the text of a note consists of pieces, as in a file with formatting.

    Parameters
    ----------
    mode : {"label", "mask", "remove", "surrogate"} or SurrogateEngine, default="label"
        Replacement of a span.

    Raises
    ------
    ValueError
        If the mode is unknown.

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> found = note_replacements("mask")(Document("n1", "Seen by Who.", (Span(8, 11, "DOCTOR"),)))
    >>> [(each.span.start, each.span.end, each.surrogate) for each in found]
    [(8, 11, '***')]
    """
    if mode == SURROGATE:
        mode = SurrogateEngine()
    if isinstance(mode, SurrogateEngine):
        engine = mode
        return lambda document: engine.replacements(engine.with_time_zones(document))
    note_rewriter(mode)  # refuses an unknown mode
    replacement = span_replacement(mode)
    return lambda document: [Replacement(s, replacement(s), False) for s in merge_spans(document.spans)]
