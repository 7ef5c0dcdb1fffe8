"""Redaction of Spark data frames (extra ``spark``)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .._optional import import_optional
from ..exceptions import DeidError
from ..text.arrow_values import names_inside, texts_by_row
from ..text.column_names import INSIDE, has_words, resembled
from ..text.row_copies import RowCopies
from .row_redactor import RowRedactor


def redact_spark(
    model: str | os.PathLike[str],
    frame: Any,
    columns: str | Sequence[str],
    **options: Any,
) -> Any:
    """Redact text columns of a Spark data frame. Spark computes the result lazily.

    The rows pass through ``mapInArrow``. ``mapInPandas`` would convert columns of whole numbers with NULL to
    floating-point numbers, and change other columns.

    Parameters
    ----------
    model : path
        Folder that `save` wrote, at a path that the driver and all executors read. Each Python process of an executor
        loads the model once.
    frame : pyspark.sql.DataFrame
        Data frame.
    columns : str or sequence of str
        Columns of the type string. NULL stays NULL.
    **options
        ``patient_column``, ``mode``, ``key_file``, ``locale`` and ``reason_column`` of `RowRedactor`: replacement of
        PHI, settings of surrogates, and the new column with the reason why a text is withheld. A withheld text is NULL.

    Returns
    -------
    pyspark.sql.DataFrame
        The same rows with the new column. All other columns are unchanged and not de-identified. Metadata of several
        words, such as a comment, are left out, also inside of structures: they can quote a text.

    Raises
    ------
    BundleError, DeidError
        If there is no model, if a column is missing or holds no strings, or if an option of surrogates is missing.
        During the computation, Spark reports an error if another column repeats a text or a long part of a text, or a
        whole text of another row of its partition, or if the name of a column holds a whole text.
    MissingDependencyError
        If PySpark is not installed.
    """
    types = import_optional("pyspark.sql.types", extra="spark", purpose="Spark data frames")
    redactor = RowRedactor(model, columns, **options)
    redactor.check_columns(frame.columns)
    # Spark looks columns up by their names, and finds neither a name with a dot nor a name that occurs twice.
    names = [*frame.columns, redactor.reason_column]
    plain = [f"column{at}" for at in range(len(names))]
    fields = []
    for field, name in zip(frame.schema.fields, plain, strict=False):
        is_text = field.name in redactor.columns
        if is_text and not isinstance(field.dataType, types.StringType):
            raise DeidError(f"The column {field.name!r} holds no strings.")
        # A comment on a column of texts can quote a text.
        metadata = {} if is_text else _without_texts(field.metadata)
        kind = _type_without_texts(types, field.dataType)
        fields.append(types.StructField(name, kind, field.nullable or is_text, metadata))
    fields.append(types.StructField(plain[-1], types.StringType(), True))
    function = arrow_redactor(redactor, names[:-1], plain)
    return frame.toDF(*plain[:-1]).mapInArrow(function, types.StructType(fields)).toDF(*names)


def _without_texts(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata without the entries that hold several words, such as the list of all values of an indexed column."""
    return {key: value for key, value in metadata.items() if not has_words({key: value})}


def _type_without_texts(types: Any, kind: Any) -> Any:
    """Type of Spark whose inner fields have no metadata of several words."""
    if isinstance(kind, types.StructType):
        inner = [(field, _type_without_texts(types, field.dataType)) for field in kind.fields]
        return types.StructType(
            [types.StructField(one.name, of, one.nullable, _without_texts(one.metadata)) for one, of in inner]
        )
    if isinstance(kind, types.ArrayType):
        return types.ArrayType(_type_without_texts(types, kind.elementType), kind.containsNull)
    if isinstance(kind, types.MapType):
        key, value = (_type_without_texts(types, part) for part in (kind.keyType, kind.valueType))
        return types.MapType(key, value, kind.valueContainsNull)
    return kind


def arrow_redactor(
    redactor: RowRedactor, names: Sequence[str] | None = None, written: Sequence[str] | None = None
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Function over Arrow batches, for ``mapInArrow``.

    Parameters
    ----------
    redactor : RowRedactor
        Function of the rows.
    names, written : sequence of str, optional
        Names of the columns that are read and written, if the batches have others.
    """

    def redacted(batches: Iterable[Any]) -> Iterator[Any]:
        copies = RowCopies()
        for batch in batches:
            yield _redacted_batch(batch, redactor, names or batch.schema.names, written, copies)

    return redacted


def _redacted_batch(
    batch: Any, redactor: RowRedactor, names: Sequence[str], written: Sequence[str] | None, copies: RowCopies
) -> Any:
    """Batch with new texts. All other arrays are the same objects."""
    import pyarrow as pa

    values = {name: _values(batch.column(names.index(name))) for name in redactor.read_columns}
    copied = [at for at, name in enumerate(names) if name not in redactor.columns]
    inner = (name for at in copied for name in names_inside(batch.schema.types[at]))
    if (alike := resembled(inner, redactor.columns, ())) is not None:
        raise DeidError(INSIDE.format(alike))
    others = [list(texts_by_row(batch.column(at))) for at in copied]
    redactor.check_copies(values, others, names)
    redactor.check_rows(values, others, copies)
    new = redactor(values, batch.num_rows)
    arrays = list(batch.columns)
    for name in redactor.columns:
        at = names.index(name)
        arrays[at] = pa.array(new[name], type=arrays[at].type)
    arrays.append(pa.array(new[redactor.reason_column], type=pa.string()))
    return pa.RecordBatch.from_arrays(arrays, names=written or [*names, redactor.reason_column])


def _values(array: Any) -> list[Any]:
    """Values of a column; bytes instead of a string that is not UTF-8, so that only its row is withheld."""
    if str(array.type) not in ("string", "large_string", "string_view"):
        return array.to_pylist()
    return [_decoded(value) for value in array.cast("large_binary").to_pylist()]


def _decoded(value: bytes | None) -> str | bytes | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return value
