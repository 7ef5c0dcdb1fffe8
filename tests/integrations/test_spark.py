"""Spark frames: the Arrow batches of an executor, and a local Spark where it is installed."""

import sys

import pytest

from sklearn_deid import RuleTagger, save
from sklearn_deid.exceptions import DeidError
from sklearn_deid.integrations import redact_spark
from sklearn_deid.integrations.row_redactor import RowRedactor
from sklearn_deid.integrations.spark import _type_without_texts, arrow_redactor

pa = pytest.importorskip("pyarrow")
ROWS = {
    "n": [2**60 + 1, None, 3, 4],
    "note": ["Mail roe@example.org", None, "a\x00b", "Seen on 3/5/2019."],
    "ward": ["A", "B", None, "C"],
}
COMMENTED = {"comment": "by Zyxwvutski", "ml_attr": {"vals": ["by Zyxwvutski"]}, "unit": "x"}
KEPT = {"unit": "x"}
REDACTED = ["Mail [EMAIL]", None, None, "Seen on [DATE]."]


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules") / "model"
    save(RuleTagger().fit([]), folder)
    return folder


def test_batches_keep_all_other_arrays(rules):
    batch = pa.RecordBatch.from_pydict(
        ROWS, schema=pa.schema({"n": pa.int64(), "note": pa.large_string(), "ward": "string"})
    )
    parts = [batch, batch.slice(0, 0), batch.slice(1, 2)]
    whole, empty, some = arrow_redactor(RowRedactor(rules, "note"))(parts)
    assert whole.schema.names == empty.schema.names == ["n", "note", "ward", "withheld"]
    assert whole.select(["n", "ward"]).equals(batch.select(["n", "ward"]))
    assert whole.schema.field("note").type == pa.large_string() and empty.num_rows == 0
    assert whole.column(1).to_pylist() == REDACTED and some.equals(whole.slice(1, 2))
    assert [reason is not None for reason in whole.column(3).to_pylist()] == [False, False, True, False]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_text_that_is_not_utf_8_is_withheld(rules, kind):
    """One such row ended the job."""
    texts = pa.array([b"Mail roe@example.org", b"\xffZyxwvutski", None], pa.binary()).view(pa.string())
    batch = pa.RecordBatch.from_arrays([texts.cast(kind, safe=False)], names=["note"])
    (done,) = arrow_redactor(RowRedactor(rules, "note"))([batch])
    assert done.column(0).to_pylist() == ["Mail [EMAIL]", None, None]
    assert [reason is not None for reason in done.column(1).to_pylist()] == [False, True, False]
    assert "Zyx" not in str(done.column(1))


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_metadata_inside_of_other_columns_hold_no_text():
    """Spark writes them into the schema of parquet files."""
    types = pytest.importorskip("pyspark.sql.types", reason="needs PySpark")

    def nested(metadata):
        field = types.StructField("code", types.StringType(), False, metadata)
        inner = types.StructType([field, types.StructField("n", types.LongType(), True)])
        lists = types.ArrayType(types.MapType(types.StringType(), inner, False), False)
        return types.StructType([types.StructField("all", lists, True, metadata)])

    assert _type_without_texts(types, nested(COMMENTED)).jsonValue() == nested(KEPT).jsonValue()


# PySpark warns of pandas 3.
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_local_spark(rules, monkeypatch):
    sql = pytest.importorskip("pyspark.sql", reason="needs PySpark and Java")
    # Otherwise the workers would run the first python3 of the search path, which need not have this package.
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    try:
        rows = list(zip(*ROWS.values(), strict=True))
        frame = session.createDataFrame(rows, "n long, note string, ward string")
        for parts in (1, 3):
            done = redact_spark(rules, frame.repartition(parts), "note").collect()
            found = {row["ward"]: row.asDict() for row in done}
            assert [found[ward]["note"] for ward in ROWS["ward"]] == REDACTED
            assert [found[ward]["n"] for ward in ROWS["ward"]] == ROWS["n"]
            assert "control" in found[None]["withheld"].lower() or "NUL" in found[None]["withheld"]
        comments = frame.withMetadata("note", {"comment": "by Zyxwvutski"}).withMetadata("ward", {"unit": "x"})
        schema = redact_spark(rules, comments.withMetadata("n", COMMENTED), "note").schema
        assert [schema[name].metadata for name in ROWS] == [KEPT, {}, {"unit": "x"}]
        with pytest.raises(DeidError, match="holds no strings"):
            redact_spark(rules, frame, "n")
        # Flattened records have such names. Spark's mapInArrow finds neither of them.
        names = frame.withColumn("one", sql.functions.lit(1)).toDF("patient.id", "note", "ward", "ward")
        done = redact_spark(rules, names, "note")
        assert done.columns == ["patient.id", "note", "ward", "ward", "withheld"]
        assert {tuple(row)[:4] for row in done.collect()} == {
            (n, text, ward, 1) for n, text, ward in zip(ROWS["n"], REDACTED, ROWS["ward"], strict=True)
        }
    finally:
        session.stop()
