"""Redaction of Dask data frames and bags (extra ``dask``)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._optional import import_optional
from ..exceptions import DeidError
from ..text.column_names import ALIKE, has_words, is_alike, resembled
from .frames import TEXT_IN_INDEX, index_has_text, names_of
from .row_redactor import RowRedactor


def redact_dask(
    model: str | os.PathLike[str],
    collection: Any,
    columns: str | int | Sequence[str | int],
    **options: Any,
) -> Any:
    """Redact text columns of a Dask data frame, or texts in the records of a Dask bag.

    Dask computes the result only when you call ``compute()``. The result of a row does not depend on the partitions.

    Parameters
    ----------
    model : path
        Folder that `save` wrote, on a disk that all workers read. Each worker process loads the model once.
    collection : dask.dataframe.DataFrame or dask.bag.Bag
        Data frame, or bag of dicts.
    columns : str, int, or sequence of them
        Columns, or keys, of texts. Missing values stay missing.
    **options
        ``patient_column``, ``mode``, ``key_file``, ``locale`` and ``reason_column`` of `RowRedactor`: replacement of
        PHI, settings of surrogates, and the new column with the reason why a text is withheld. A withheld text is
        missing.

    Returns
    -------
    DataFrame or Bag
        The same rows with the new column. All other columns are unchanged and not de-identified.

    Raises
    ------
    BundleError, DeidError
        If there is no model, if a column is missing, or if an option of surrogates is missing. During the computation,
        if another column or key repeats a text or a long part of a text, or a whole text of another row of the
        partition, or if the name of a column or of an index holds a whole text. For a bag, also during the computation:
        if no record of a partition has a named key; if another key differs from a named key only in case, blanks or
        look-alike characters; or if a record lacks a named key and has a text of several words under another key.
    TypeError
        If the collection is neither a data frame nor a bag of Dask.
    MissingDependencyError
        If Dask is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import dask.bag
    >>> from sklearn_deid import RuleTagger, save
    >>> path = tempfile.mkdtemp() + "/model"
    >>> save(RuleTagger().fit([]), path)
    >>> notes = dask.bag.from_sequence([{"id": 1, "note": "Mail to roe@example.org"}])
    >>> redact_dask(path, notes, "note").compute(scheduler="synchronous")
    [{'id': 1, 'note': 'Mail to [EMAIL]', 'withheld': None}]
    """
    bags = import_optional("dask.bag", extra="dask", purpose="Dask collections")
    redactor = RowRedactor(model, columns, **options)
    if isinstance(collection, bags.Bag):
        return collection.map_partitions(_redacted_records, redactor)
    frames = import_optional("dask.dataframe", extra="dask", purpose="Dask data frames")
    if not isinstance(collection, frames.DataFrame):
        raise TypeError(f"The collection must be a Dask data frame or bag. Got {type(collection).__name__} instead.")
    redactor.check_columns(list(collection.columns))
    if any(is_alike(str(collection.index.name), name) for name in redactor.columns):
        raise DeidError(f"The index of the data frame holds the texts of {collection.index.name!r}. Reset it first.")
    return collection.map_partitions(_redacted_frame, redactor, meta=_redacted_frame(_empty(collection), redactor))


def _empty(collection: Any) -> Any:
    """Frame of the types of a Dask frame, without rows."""
    import pandas as pd

    index = pd.Index([], dtype=collection.index.dtype, name=collection.index.name)
    return pd.DataFrame({name: pd.Series([], dtype=kind) for name, kind in collection.dtypes.items()}).set_index(index)


def _redacted_frame(frame: Any, redactor: RowRedactor) -> Any:
    """Partition of a data frame with new texts."""
    import pandas as pd

    values = {
        name: [None if missing else value for value, missing in zip(frame[name], frame[name].isna(), strict=True)]
        for name in redactor.read_columns
    }
    if any(index_has_text(frame.index, enumerate(values[name])) for name in redactor.columns):
        raise DeidError(TEXT_IN_INDEX)
    copied = [name for name in frame.columns if name not in redactor.columns]
    others = [list(frame[name]) for name in copied if _may_hold_texts(frame[name].dtype)]
    redactor.check_copies(values, others, names_of(frame))
    redactor.check_rows(values, others)
    new = redactor(values, len(frame))
    result = frame.copy(deep=False)
    for name, texts in new.items():
        result[name] = pd.Series(texts, index=frame.index, dtype=_text_type(frame, name, pd))
    result.attrs = {}  # notes of users, which can quote a text
    return result


def _may_hold_texts(kind: Any) -> bool:
    # All types but numbers and times. Strings of Arrow have the kind "U", and other strings "O".
    return getattr(kind, "kind", "O") not in "biufcmM"


def _text_type(frame: Any, name: str, pd: Any) -> Any:
    # Dask cannot write a column of objects to parquet: it would not know the type of a partition without values.
    kind = frame[name].dtype if name in frame.columns else None
    return kind if isinstance(kind, pd.StringDtype) else pd.StringDtype()


def _redacted_records(records: Iterable[Mapping[str, Any]], redactor: RowRedactor) -> list[dict[str, Any]]:
    """Partition of a bag with new texts."""
    given = list(records)
    if not all(isinstance(record, Mapping) for record in given):
        raise DeidError("A record of the bag is no dict. Put each text into a dict, under the key of the texts.")
    rows = [dict(record) for record in given]
    for row in rows:
        if redactor.reason_column in row:
            raise DeidError(f"A record has a key {redactor.reason_column!r}. Choose another reason_column.")
    for name in redactor.read_columns if rows else ():
        if not any(name in row for row in rows):
            message = f"No record of a partition has the key {name!r}. Where all texts are missing, set it to None."
            raise DeidError(message)
    # Texts under a key that resembles a key of texts would be copied.
    keys = dict.fromkeys(key for row in rows for key in row)
    if (alike := resembled(keys, redactor.read_columns, redactor.read_columns)) is not None:
        raise DeidError(f"A record has a key {ALIKE.format(alike)}")
    for name in redactor.columns:
        if any(name not in row and has_words([row[key] for key in row.keys() - redactor.columns]) for row in rows):
            raise DeidError(
                f"A record has no key {name!r}, and has a text under another key. If the key is misspelt, correct it; "
                "if the text is missing, set it to None."
            )
    copied = [[copy for item in row.items() if item[0] not in redactor.columns for copy in item] for row in rows]
    for row, others in zip(rows, copied, strict=True):
        redactor.check_copies({name: [row.get(name)] for name in redactor.columns}, ([other] for other in others))
    redactor.check_rows({name: [row.get(name) for row in rows] for name in redactor.columns}, copied)
    new = redactor({name: [row.get(name) for row in rows] for name in redactor.read_columns}, len(rows))
    changed = [dict(zip(new, values, strict=True)) for values in zip(*new.values(), strict=True)]
    # A key that a record lacks is not added.
    return [
        row | {name: text for name, text in change.items() if name in row or name == redactor.reason_column}
        for row, change in zip(rows, changed, strict=True)
    ]
