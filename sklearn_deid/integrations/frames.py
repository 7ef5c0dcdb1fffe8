"""Redaction of the text columns of pandas, polars and pyarrow data frames (extra ``frames``)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from .._optional import import_optional
from ..exceptions import CorpusFormatError, DeidError, WithheldWarning
from ..text import Document, known_id
from ..text.arrow_metadata import schema_without_texts
from ..text.characters import LONE_SURROGATE, has_surrogate
from ..text.column_names import (
    ALIKE,
    IN_NAME,
    INSIDE,
    NAME_IS_TEXT,
    REPEATED,
    is_alike,
    is_text_name,
    named_text,
    names_inside,
    repeats,
    resembled,
    strings_inside,
)
from ..text.row_copies import RowCopies
from ..text.word_counts import count_words
from .deidentifiers import as_deidentifier

#: Description of the problem of a frame whose index repeats its texts.
TEXT_IN_INDEX = "The index of the data frame holds a text of a column of texts. Reset it first."


def redact_frame(
    model: Any,
    frame: Any,
    columns: str | int | Sequence[str | int],
    *,
    id_column: str | int | None = None,
    patient_column: str | int | None = None,
    mode: Any = "label",
    on_error: str = "raise",
) -> Any:
    """Redact text columns of a data frame.

    Parameters
    ----------
    model : path, NoteDeidentifier or tagger
        Path of a model that `save` wrote, or a fitted model.
    frame : DataFrame or Table
        Data frame of pandas or polars, or table of pyarrow.
    columns : str, int, or sequence of them
        Columns of texts. Missing values stay missing. pandas numbers the columns of a file without a header: pass the
        numbers.
    id_column, patient_column : str or int, optional
        ``id_column`` contains the names of rows in messages. ``patient_column`` contains the patients, for surrogates.
        Without a patient column, the id identifies the patient.
    mode : {"label", "mask", "remove", "surrogate"} or SurrogateEngine, default="label"
        Replacement of PHI, as in `NoteDeidentifier.redact`.
    on_error : {"raise", "withhold"}, default="raise"
        Reaction to a text that cannot be processed. "raise" raises an error with row and column. "withhold" warns, and
        the cell has no value in the result.

    Returns
    -------
    DataFrame or Table
        New object of the same kind. The other columns and a pandas index are unchanged. Pyarrow metadata of several
        words are left out. Categories that occur in no row are kept and written to files of the frame, also those of
        pyarrow and the enumerations of polars: remove these categories first, in pandas by
        ``cat.remove_unused_categories()``.

    Raises
    ------
    CorpusFormatError
        If a column is missing, if a cell holds no text, or if a column of texts is also the id or patient column. Also
        if the name of another column differs from the name of a column of texts only in case, blanks or look-alike
        characters, if another column repeats a text, also one of another row, or if the name of a column or of an index
        holds a whole text.
    DeidError
        If the name of a column of texts has a line break or more than 128 characters, as a note that was read as a
        header. Also if a text cannot be processed, and ``on_error="raise"``.
    TypeError
        If the frame is of another type, such as a lazy frame.
    MissingDependencyError
        If narwhals is not installed (extra ``frames``).

    Warns
    -----
    WithheldWarning
        For each cell that is withheld.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_deid import RuleTagger
    >>> frame = pd.DataFrame({"ward": ["A1"], "note": ["Mail to roe@example.org"]})
    >>> redact_frame(RuleTagger().fit([]), frame, "note").to_dict("list")
    {'ward': ['A1'], 'note': ['Mail to [EMAIL]']}
    """
    names, deidentifier = text_columns(columns), as_deidentifier(model).set_params(on_error=on_error)
    nw = import_optional("narwhals", extra="frames", purpose="data frames")
    table = table_of(nw, frame)
    cells = _cells(table, names, id_column, patient_column)
    keys = [name for name in (id_column, patient_column) if name is not None]
    if (alike := resembled(table.columns, names, [*names, *keys])) is not None:
        raise CorpusFormatError(f"The data frame has a column {ALIKE.format(alike)}")
    redacted = iter(deidentifier.iter_redact([document for _, _, document in cells], mode))
    values: dict[str, list[str | None]] = {name: [None] * len(table) for name in names}
    for row, name, cell in cells:
        values[name][row] = _storable(next(redacted), cell.doc_id, on_error)
    new = [nw.new_series(name, values[name], dtype=nw.String(), backend=table.implementation) for name in names]
    return _without_comments(table.with_columns(*new).to_native())


def _storable(text: str | None, place: str, on_error: str) -> str | None:
    """Redacted text, or None if Arrow cannot store the text: the error of Arrow would contain the text."""
    if text is None or not has_surrogate(text):
        return text
    error = DeidError(LONE_SURROGATE, doc_id=place)
    if on_error == "raise":
        raise error
    warnings.warn(WithheldWarning(f"Note withheld: {error}", error), stacklevel=3)
    return None


def _without_comments(table: Any) -> Any:
    """Table of pyarrow without metadata that can quote a text; other frames unchanged."""
    if not hasattr(table, "replace_schema_metadata"):
        return table
    import pyarrow as pa

    return table.cast(schema_without_texts(pa, table.schema))


def annotate_frame(
    model: Any,
    frame: Any,
    columns: str | int | Sequence[str | int],
    *,
    id_column: str | int | None = None,
    on_error: str = "raise",
) -> Any:
    """Find the PHI in text columns of a data frame.

    Parameters
    ----------
    model, frame, columns, on_error
        As in `redact_frame`. A withheld cell has no spans and no row in the result; see the warnings.
    id_column : str or int, optional
        Column with the names of rows in messages and in the result.

    Returns
    -------
    DataFrame or Table
        Object of the same kind with one row for each span: ``row`` (from 0), ``column``, ``start``, ``end``, ``label``
        and ``confidence`` (missing without probabilities). Offsets count characters of the cell. ``row`` counts the
        rows of the frame, and is no index of pandas: after sorting or filtering, the numbers are those of other notes.
        With ``id_column``, the column ``row_id`` contains the id of the row, and `corpus_from_frame` compares the ids.

    Raises
    ------
    CorpusFormatError, DeidError, TypeError, MissingDependencyError
        In the same cases as `redact_frame`.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_deid import RuleTagger
    >>> frame = pd.DataFrame({"note": ["Fine.", "Mail to roe@example.org"]})
    >>> annotate_frame(RuleTagger().fit([]), frame, "note")[["row", "start", "end", "label"]].values.tolist()
    [[1, 8, 23, 'EMAIL']]
    """
    names, deidentifier = text_columns(columns), as_deidentifier(model).set_params(on_error=on_error)
    nw = import_optional("narwhals", extra="frames", purpose="data frames")
    table = table_of(nw, frame)
    cells = _cells(table, names, id_column, None)
    found = deidentifier.iter_annotate([document for _, _, document in cells])
    rows = [
        (row, name, span.start, span.end, span.label, span.confidence)
        for (row, name, _), (_, spans) in zip(cells, found, strict=True)
        for span in spans or ()
    ]
    kinds = {"row": nw.Int64(), "column": nw.String(), "start": nw.Int64(), "end": nw.Int64(), "label": nw.String()}
    kinds["confidence"] = nw.Float64()
    data = {name: [row[n] for row in rows] for n, name in enumerate(kinds)}
    if id_column is not None:
        ids = table.get_column(id_column).to_list()
        data["row_id"], kinds["row_id"] = [known_id(ids[row[0]]) for row in rows], nw.String()
    return nw.from_dict(data, schema=kinds, backend=table.implementation).to_native()


def table_of(nw: Any, frame: Any) -> Any:
    """Data frame of narwhals, or an error that names the allowed types."""
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        pass
    raise TypeError(
        f"The frame must be a DataFrame of pandas or polars, or a Table of pyarrow. Got {type(frame).__name__} instead."
    )


def text_columns(columns: Any) -> list[Any]:
    """Distinct names of the columns of texts. Raises an error if there is no name, or if a name may be a text."""
    # A name of pandas can be any value, such as the number of the column.
    is_name = isinstance(columns, str) or not isinstance(columns, Iterable)
    names = [columns] if is_name else list(dict.fromkeys(columns))
    if not names:
        raise DeidError("The 'columns' parameter must name a column of texts: without one, all texts would stay.")
    if any(map(is_text_name, names)):
        raise DeidError(NAME_IS_TEXT)
    return names


def check_names(table: Any, names: Sequence[Any], keys: Sequence[Any] = ()) -> None:
    """Refuse a table that lacks one of the columns. Id and patient columns (``keys``) must not be in ``names``."""
    for name in (*names, *keys):
        if name not in table.columns:
            raise CorpusFormatError(f"The data frame has no column of the name {name!r}.")
    if texts := sorted({*names}.intersection(keys), key=str):
        raise CorpusFormatError(f"The column {texts[0]!r} holds texts and cannot name rows: messages show ids.")


def _cells(table: Any, names: Sequence[Any], id_column: Any, patient_column: Any) -> list[tuple[int, str, Document]]:
    """Row, column and text of each cell that has a value."""
    # An index of pandas would keep the texts beside their redaction.
    index = getattr(getattr(table.to_native(), "index", None), "names", ())
    if indexed := [name for name in names if any(isinstance(other, str) and is_alike(other, name) for other in index)]:
        raise CorpusFormatError(f"The index of the data frame holds the texts of {indexed[0]!r}. Reset it first.")
    keys = [name for name in (id_column, patient_column) if name is not None]
    check_names(table, names, keys)
    ids, patients = (
        [None] * len(table) if name is None else table.get_column(name).to_list()
        for name in (id_column, patient_column or id_column)
    )
    cells = []
    for name in names:
        column = table.get_column(name)
        for row, (value, is_missing) in enumerate(zip(column.to_list(), column.is_null().to_list(), strict=True)):
            if is_missing:
                continue
            place = f"row {row}, column {name}" if id_column is None else f"row {row}, id {ids[row]}, column {name}"
            if not isinstance(value, str):
                raise CorpusFormatError(f"The cell holds no text, but {type(value).__name__}.", doc_id=place)
            cells.append((row, name, Document(place, value, (), known_id(patients[row]))))
    if index_has_text(getattr(table.to_native(), "index", None), ((row, cell.text) for row, _, cell in cells)):
        raise CorpusFormatError(TEXT_IN_INDEX)
    if (named := named_text(names_of(table.to_native()), ((name, cell.text) for _, name, cell in cells))) is not None:
        raise CorpusFormatError(IN_NAME.format(named))
    copies = RowCopies()
    for _, name, cell in cells:
        copies.add(name, [cell.text])
    for other in set(table.columns).difference(names):
        values = table.get_column(other).to_list() if _may_hold_texts(table.schema[other]) else ()
        copied = [name for row, name, cell in cells if values and repeats(cell.text, values[row : row + 1])]
        if copied:
            raise CorpusFormatError(REPEATED.format(copied[0]))
        if (alike := resembled(names_inside(values), names, ())) is not None:
            raise CorpusFormatError(INSIDE.format(alike))
        copies.add_copied(values)
    if (repeated := copies.repeated()) is not None:
        raise CorpusFormatError(REPEATED.format(repeated))
    return cells


def names_of(frame: Any) -> list[Any]:
    """All names that a frame has: those of its columns and indexes, and those in the metadata of a pyarrow table."""
    schema: Any = getattr(frame, "schema", None)
    if hasattr(schema, "pandas_metadata"):
        return [*schema.names, schema.pandas_metadata]
    levels = [getattr(getattr(frame, axis, None), "names", ()) for axis in ("index", "columns")]
    return [*frame.columns, *(name for names in levels for name in names)]


def _may_hold_texts(kind: Any) -> bool:
    """Whether values of a type of narwhals can be, or contain, texts: also categories, lists and structures."""
    return not (kind.is_numeric() or kind.is_temporal() or str(kind) == "Boolean")


def index_has_text(index: Any, texts: Iterable[tuple[int, Any]]) -> bool:
    """Whether a label of a pandas index equals a text of several words, or repeats the text of its row.

    Of a text of at least twelve words, case and repeated blanks are ignored in the labels of all rows.
    """
    if not hasattr(index, "nlevels"):
        return False
    copies, found = RowCopies(), [index.get_level_values(n) for n in range(index.nlevels)]
    # All types but numbers and times. Labels can also be bytes.
    levels = [list(level) for level in found if getattr(level.dtype, "kind", "O") not in "biufcmM"]
    labels = {text for level in levels for text in strings_inside(level)}
    copies.add_copied(label for level in levels for label in level)
    for row, text in texts if levels else ():
        if isinstance(text, str):
            if (text in labels and count_words(text) > 1) or repeats(text, [level[row] for level in levels]):
                return True
            copies.add(True, [text])
    return copies.repeated() is not None
