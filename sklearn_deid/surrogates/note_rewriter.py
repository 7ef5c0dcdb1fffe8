"""The function that redacts an annotated note, for each mode of redaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..text import REDACTION_MODES, Document, redact_document
from .surrogate_engine import SurrogateEngine

SURROGATE = "surrogate"
MODES = (*REDACTION_MODES, SURROGATE)


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
        If the mode is unknown, or if another mode gets settings of surrogates.

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
