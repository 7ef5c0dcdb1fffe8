"""Categories of Arrow columns that no row has: a blanked column of names can still list the names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def used_categories(pa: Any, batches: Iterable[Any]) -> dict[str, Any]:
    """Values that occur in the rows, for each column of categories.

    Parameters
    ----------
    pa : module
        pyarrow, with its ``compute`` imported.
    batches : iterable of RecordBatch
        All rows of the columns of categories.

    Returns
    -------
    dict of str to Array
        Distinct values by the name of the column.
    """
    used: dict[str, Any] = {}
    for batch in batches:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            values = pa.compute.unique(column.drop_null()).dictionary_decode()
            used[name] = pa.compute.unique(pa.concat_arrays([used[name], values])) if name in used else values
    return used


def without_unused(pa: Any, column: Any, used: Any) -> Any:
    """Column of categories without those that are not in ``used``. Order and type stay.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.compute
    >>> column = pa.array(["low", "Roe", "high"]).dictionary_encode().take(pa.array([2, 0]))
    >>> without_unused(pa, column, pa.array(["low", "high"])).to_pylist(), column.dictionary.to_pylist()
    (['high', 'low'], ['low', 'Roe', 'high'])
    """
    kept = pa.compute.is_in(column.dictionary, value_set=used)
    places = pa.compute.subtract(pa.compute.cumulative_sum(kept.cast(pa.int64())), 1)
    indices = places.take(column.indices).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary.filter(kept), ordered=column.type.ordered)
