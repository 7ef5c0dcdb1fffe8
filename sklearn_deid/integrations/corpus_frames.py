"""Annotated notes of pandas, polars and pyarrow data frames as a corpus (extra ``frames``)."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from .._optional import import_optional
from ..exceptions import CorpusFormatError
from ..text import Corpus, Document, Span, known_id
from .frames import check_names, table_of
from .given_span import given_span


def corpus_from_frame(
    frame: Any,
    text_column: str | int,
    *,
    spans: Any = None,
    id_column: str | int | None = None,
    patient_column: str | int | None = None,
) -> Corpus:
    """Convert a data frame of annotated notes to a corpus, for training and evaluation.

    Parameters
    ----------
    frame : DataFrame or Table
        Data frame of pandas or polars, or table of pyarrow, with one note in each row.
    text_column : str or int
        Column of the texts.
    spans : str, int, DataFrame or Table, optional
        Annotations: a frame with a row for each span, as `annotate_frame` returns, or the name of a column. The frame
        counts rows: pass the rows of `annotate_frame` in the same order, or ``id_column`` to both functions. Each cell
        of the column is a list of spans. A span is a dict with ``start``, ``end``, ``label``, and optionally
        ``category`` and ``confidence``, or a tuple in this order. An empty list means a note without PHI. None reads
        notes without annotations.
    id_column, patient_column : str or int, optional
        Columns of the document ids and of the patient ids. Without an id column, the id is ``row-0``, ``row-1``, ...

    Returns
    -------
    Corpus
        Notes in the order of the rows.

    Raises
    ------
    CorpusFormatError
        If a column is missing, if a cell does not contain a text, an id or a list of spans, if an id occurs twice, if a
        span is invalid, or if the id of a span is not the id of its row. The error gives row and id, and contains no
        text.
    SpanError
        If a span lies outside of its text.
    TypeError
        If the frame is of another type, such as a lazy frame.
    MissingDependencyError
        If narwhals is not installed (extra ``frames``).

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_deid import RuleTagger
    >>> from sklearn_deid.integrations import annotate_frame
    >>> frame = pd.DataFrame({"id": ["a", "b"], "note": ["Fine.", "Mail to roe@example.org"]})
    >>> corpus = corpus_from_frame(frame, "note", spans=annotate_frame(RuleTagger().fit([]), frame, "note"))
    >>> [[span.label for span in note.spans] for note in corpus]
    [[], ['EMAIL']]
    >>> list(corpus.to_sentences().y[1])
    ['O', 'O', 'B-EMAIL', 'I-EMAIL', 'I-EMAIL', 'I-EMAIL', 'I-EMAIL']
    """
    nw = import_optional("narwhals", extra="frames", purpose="data frames")
    table = table_of(nw, frame)
    keys = [name for name in (id_column, patient_column) if name is not None]
    check_names(table, [text_column, *([spans] if isinstance(spans, (str, int)) else [])], keys)
    ids = _ids(table, id_column)
    patients = [None] * len(table) if patient_column is None else table.get_column(patient_column).to_list()
    if spans is None:
        found: list[Any] = [[] for _ in ids]
    elif isinstance(spans, (str, int)):
        found = table.get_column(spans).to_list()
    else:
        found = _rows_of_spans(table_of(nw, spans), table, text_column, None if id_column is None else ids)
    documents = []
    missing = table.get_column(text_column).is_null().to_list()
    for row, text in enumerate(table.get_column(text_column).to_list()):
        place = f"row {row}, id {ids[row]}"
        if missing[row] or not isinstance(text, str):
            what = "is empty" if missing[row] else f"holds no text, but {type(text).__name__}"
            raise CorpusFormatError(f"The cell of the text {what}.", doc_id=place)
        documents.append(Document(ids[row], text, _spans(found[row], place), known_id(patients[row])))
    return Corpus(documents)


def _ids(table: Any, id_column: str | int | None) -> list[str]:
    if id_column is None:
        return [f"row-{row}" for row in range(len(table))]
    first: dict[str, int] = {}
    for row, value in enumerate(table.get_column(id_column).to_list()):
        doc_id = known_id(value)
        if doc_id is None:
            raise CorpusFormatError("The id is missing.", doc_id=f"row {row}")
        if doc_id in first:
            message = f"The document id occurs twice; it is also the id of row {first[doc_id]}."
            raise CorpusFormatError(message, doc_id=f"row {row}, id {doc_id}")
        first[doc_id] = row
    return list(first)


def _rows_of_spans(found: Any, table: Any, text_column: str | int, ids: list[str] | None) -> list[list[dict[str, Any]]]:
    """Spans of each row of the notes. Spans of other columns of the notes are left out."""
    check_names(found, ("row", "start", "end", "label"))
    out: list[list[dict[str, Any]]] = [[] for _ in range(len(table))]
    # The frame of spans holds names as strings, also those of columns that pandas has numbered.
    names, own = {str(name) for name in table.columns}, str(text_column)
    for span in found.iter_rows(named=True):
        row = span["row"]
        if not isinstance(row, Integral) or not 0 <= int(row) < len(out):
            raise CorpusFormatError(f"A span belongs to none of the {len(out)} rows of the notes.")
        # After sorting or filtering, the number of a row is that of another note.
        if ids is not None and "row_id" in span and known_id(span["row_id"]) != ids[int(row)]:
            message = "The id of a span is not the id of its row. Pass the rows of annotate_frame, in the same order."
            raise CorpusFormatError(message, doc_id=f"row {row}, id {ids[int(row)]}")
        # After a column was renamed, all notes would be notes without PHI.
        if (name := str(span.get("column", own))) not in names:
            raise CorpusFormatError("A span belongs to a column that the notes do not have.", doc_id=f"row {row}")
        if name == own:
            out[int(row)].append(span)
    return out


def _spans(cell: Any, place: str) -> tuple[Span, ...]:
    # pandas reads lists of parquet files as arrays.
    cell = cell.tolist() if hasattr(cell, "tolist") else cell
    if not isinstance(cell, list | tuple):
        message = f"The cell holds no list of spans, but {type(cell).__name__}. A note without PHI has an empty list."
        raise CorpusFormatError(message, doc_id=place)
    return tuple(given_span(value, place, number) for number, value in enumerate(cell, start=1))
