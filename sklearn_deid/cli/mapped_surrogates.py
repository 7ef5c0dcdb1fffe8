"""Surrogates of the notes of a run, and their originals in a mapping."""

from __future__ import annotations

import errno
import json
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from .._atomic import naming
from ..exceptions import CorpusFormatError
from ..surrogates import MappingFile, Replacement, SurrogateEngine, read_mapping
from ..surrogates.mapping_file import mapping_row
from ..text import Document, Span


class MappedSurrogates:
    """Surrogates of the notes of a run. With a mapping, the originals of each note are written to it once.

    Parameters
    ----------
    engine : SurrogateEngine
        Makes the surrogates.
    mapping : MappingFile or None, default=None
        Open mapping.
    key : bytes or None, default=None
        Key of the mapping.
    """

    def __init__(self, engine: SurrogateEngine, mapping: MappingFile | None = None, key: bytes | None = None) -> None:
        self._engine, self._mapping = engine, mapping
        # A stopped run may have written a note here and not into its output: the resumed run redacts it again.
        rows = [] if mapping is None or key is None else list(read_mapping(mapping.path, key))
        self._rows, self._ids = frozenset(map(_digest, rows)), {row["doc_id"] for row in rows}

    def replacements(self, document: Document, spans: tuple[Span, ...]) -> list[Replacement]:
        """Surrogates of the spans of a note."""
        annotated = self._engine.with_time_zones(replace(document, spans=spans))
        found = self._engine.replacements(annotated)
        if self._mapping is not None and _digest(mapping_row(annotated, found)) not in self._rows:
            self._write(self._mapping, annotated, found)
        return found

    def learn(self, document: Document, spans: tuple[Span, ...]) -> None:
        """Read a note that an earlier run has finished."""
        if self.lacks(document):
            self.replacements(document, spans)
        else:
            self._engine.replacements(replace(document, spans=spans))

    def lacks(self, document: Document) -> bool:
        """Whether the mapping lacks a note that an earlier run has finished.

        The lines of the mapping can be lost although the outputs are there: after a power failure, or if the mapping
        was moved away.
        """
        return self._mapping is not None and document.doc_id not in self._ids

    def _write(self, mapping: MappingFile, note: Document, replacements: Sequence[Replacement]) -> None:
        """Write a line of the mapping.

        If a line of the mapping cannot be written, the run ends, since later lines could not be written, either.
        """
        reason = None
        with naming(mapping.path):
            try:
                mapping.write(note, replacements)
            except CorpusFormatError as error:
                reason = error.message.removesuffix(".")
        if reason is not None:
            raise OSError(errno.EBUSY, reason, str(mapping.path))


def _digest(row: dict[str, Any]) -> bytes:
    return sha256(json.dumps(row).encode()).digest()
