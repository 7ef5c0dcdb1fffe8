"""Rows on clusters: every row by itself, whatever the partitions, and no row passed on unread."""

import pickle
import shutil
from contextlib import nullcontext

import pytest

from sklearn_deid import NoteDeidentifier, RuleTagger, make_clinical_notes, save
from sklearn_deid.exceptions import BundleError, DeidError
from sklearn_deid.integrations import redact_dask, row_redactor
from sklearn_deid.integrations.deidentifiers import as_deidentifier
from sklearn_deid.integrations.row_redactor import RowRedactor
from sklearn_deid.integrations.spark import arrow_redactor
from sklearn_deid.surrogates import read_or_make_key

HOSTILE = [None, "", "a\x00b", "{\\rtf1 Zyxwvutski}", "é\u2028x roe@example.org"]
NOTES = [note.text for note in make_clinical_notes(12, random_state=0)] + HOSTILE


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules") / "model"
    save(NoteDeidentifier(RuleTagger().fit([])), folder)
    return folder


def expected():
    deidentifier = NoteDeidentifier(RuleTagger().fit([]), on_error="withhold")
    with pytest.warns(UserWarning, match="withheld"):
        done = iter(deidentifier.redact([note for note in NOTES if note is not None]))
        return [None if note is None else next(done) for note in NOTES]


def in_parts(redactor, size, notes=NOTES, patients=None):
    found = []
    for start in range(0, len(notes), size):
        part = {"note": notes[start : start + size]}
        if patients is not None:
            part["mrn"] = patients[start : start + size]
        done = pickle.loads(pickle.dumps(redactor))(part, len(part["note"]))
        found += zip(done["note"], done["withheld"], strict=True)
    return found


def test_partitions_give_the_rows_of_one_process(rules):
    redactor = RowRedactor(rules, "note")
    whole = in_parts(redactor, len(NOTES))
    assert [text for text, _ in whole] == expected()
    assert in_parts(redactor, 1) == in_parts(redactor, 5) == whole
    reasons = [reason for _, reason in whole]
    assert [row for row, reason in enumerate(reasons) if reason] == [14, 15]
    assert reasons[15].startswith("note: The note is RTF.") and "Zyxwvutski" not in str(reasons)


def test_half_a_character_withholds_its_row(rules):
    """As in a table of one process, which could not write such a text."""
    found = in_parts(RowRedactor(rules, "note"), 2, ["no pain \ud83d", "roe@example.org"])
    assert found == [(None, "note: The text holds a lone surrogate, which is not a character."), ("[EMAIL]", None)]


def test_network_reads_each_row_by_itself(small_path):
    notes = ["Mr Alder was seen", "No pain today", "Dr Birch left Northwick ."] * 3
    redactor = RowRedactor(small_path, "note")
    assert in_parts(redactor, 1, notes) == in_parts(redactor, 4, notes) == in_parts(redactor, 9, notes)


def test_surrogates_of_a_patient_are_those_of_the_key(rules, tmp_path, known_keys):
    read_or_make_key(tmp_path / "key")
    options = {"mode": "surrogate", "patient_column": "mrn", "key_file": tmp_path / "key", "locale": "en"}
    redactor = RowRedactor(rules, "note", **options)
    notes, patients = ["Mail roe@example.org", "To roe@example.org."] * 2 + ["x"], ["a", "a", "b", "b", None]
    whole = in_parts(redactor, 5, notes, patients)
    assert in_parts(redactor, 1, notes, patients) == whole
    mails = [text.strip(".").split()[-1] for text, _ in whole[:4]]
    assert mails[0] == mails[1] != mails[2] == mails[3] != "roe@example.org"
    assert whole[4] == (None, "note: The row has no patient, whom surrogates need.")
    for missing in ("patient_column", "key_file", "locale"):
        with pytest.raises(DeidError, match=missing):
            RowRedactor(rules, "note", **{**options, missing: None})
    with pytest.raises(DeidError, match="'locale' parameter"):
        RowRedactor(rules, "note", **{**options, "locale": "auto"})
    with pytest.raises(DeidError, match="64 hexadecimal"):
        RowRedactor(rules, "note", **{**options, "key_file": tmp_path / "none"})


def test_another_key_of_a_worker_is_refused(rules, tmp_path):
    """Each worker wrote surrogates of its own key: a patient had other names and other dates in each partition."""
    key = read_or_make_key(tmp_path / "key")
    redactor = RowRedactor(
        rules, "note", mode="surrogate", patient_column="mrn", key_file=tmp_path / "key", locale="en"
    )
    assert key.hex().encode() not in pickle.dumps(redactor) and key not in pickle.dumps(redactor)
    (tmp_path / "key").unlink()
    with pytest.raises(DeidError, match="64 hexadecimal"):
        redactor({"note": ["roe@example.org"], "mrn": ["a"]}, 1)
    read_or_make_key(tmp_path / "key")
    with pytest.raises(DeidError, match="another key at this path"):
        redactor({"note": ["roe@example.org"], "mrn": ["a"]}, 1)


def test_other_model_of_a_worker_is_refused(rules, tmp_path, monkeypatch):
    monkeypatch.setattr(row_redactor, "_taggers", {})
    shutil.copytree(rules, tmp_path / "model")
    redactor = RowRedactor(tmp_path / "model", "note")
    shutil.rmtree(tmp_path / "model")
    save(RuleTagger(recognizers=["date"]).fit([]), tmp_path / "model")
    with pytest.raises(DeidError, match="another model"):
        redactor({"note": ["x"]}, 1)
    with pytest.raises(BundleError):
        RowRedactor(tmp_path, "note")
    with pytest.raises(ValueError, match="'mode' parameter"):
        RowRedactor(rules, "note", mode="nonsense")


def test_a_model_that_is_replaced_while_it_is_loaded_is_refused(tmp_path, monkeypatch):
    """The digest was compared before the model was read: one worker then used another model than the others."""
    save(RuleTagger().fit([]), tmp_path / "model")
    redactor = RowRedactor(tmp_path / "model", "note")

    def replaced(model):
        save(RuleTagger(recognizers=["date"]).fit([]), model, overwrite=True)
        return as_deidentifier(model)

    monkeypatch.setattr(row_redactor, "as_deidentifier", replaced)
    for _ in range(2):
        with pytest.raises(DeidError, match="another model"):
            redactor({"note": ["roe@example.org"]}, 1)


def test_value_that_is_no_text_is_withheld(rules):
    assert RowRedactor(rules, ["a", "b"])({"a": [7], "b": ["Fine."]}, 1) == {
        "a": [None],
        "b": ["Fine."],
        "withheld": ["a: The cell holds no text."],
    }


def test_no_columns_and_texts_in_the_index_are_refused(rules):
    """The texts stayed as they were."""
    for columns in ([], ()):
        with pytest.raises(DeidError, match="must name a column of texts"):
            RowRedactor(rules, columns)
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = frames.from_pandas(pandas.DataFrame({"note": NOTES[:2], "n": [1, 2]}).set_index("note", drop=False))
    with pytest.raises(DeidError, match="index of the data frame holds the texts of 'note'"):
        redact_dask(rules, frame, "note")
    texts = ["Mail roe@example.org", "a"]
    named = pandas.DataFrame({"note": texts}, index=texts)
    with pytest.raises(DeidError, match="index of the data frame holds a text"):
        redact_dask(rules, frames.from_pandas(named), "note").compute(scheduler="synchronous")
    named.attrs["first"] = texts[0]
    done = redact_dask(rules, frames.from_pandas(named.reset_index(drop=True)), "note").compute(scheduler="synchronous")
    assert (done["note"].tolist(), done.attrs) == (["Mail [EMAIL]", "a"], {}), "attributes of the frame were copied"
    alike = frames.from_pandas(pandas.DataFrame({"note": NOTES[:1], "No te": NOTES[:1]}))
    with pytest.raises(DeidError, match="differs from 'note' in case or blanks only"):
        redact_dask(rules, alike, "note")


def test_dask_frames_and_bags(rules):
    pd, bag = pytest.importorskip("pandas"), pytest.importorskip("dask.bag")
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"n": range(len(NOTES)), "note": NOTES}, index=range(5, 5 + len(NOTES)))
    for parts in (1, 4):
        lazy = redact_dask(rules, dd.from_pandas(frame, npartitions=parts), "note")
        done = lazy.compute(scheduler="synchronous")
        assert list(lazy.columns) == list(done.columns) == ["n", "note", "withheld"]
        assert [None if pd.isna(text) else text for text in done["note"]] == expected()
        assert done["n"].equals(frame["n"]) and done["withheld"].notna().sum() == 2
        records = [{"n": n, "note": note} for n, note in enumerate(NOTES)] + [{"n": -1}]
        found = redact_dask(rules, bag.from_sequence(records, npartitions=parts), "note").compute(scheduler="threads")
        assert [record.get("note") for record in found] == [*expected(), None]
        assert found[-1] == {"n": -1, "withheld": None}
    for wrong, error, reason in ((frame, TypeError, "Dask data frame"), (7, TypeError, "Got int")):
        with pytest.raises(error, match=reason):
            redact_dask(rules, wrong, "note")
    with pytest.raises(DeidError, match="'plan'"):
        redact_dask(rules, dd.from_pandas(frame, npartitions=1), "plan")
    with pytest.raises(DeidError, match="Choose another"):
        redact_dask(rules, dd.from_pandas(frame, npartitions=1), "note", reason_column="n")


@pytest.mark.parametrize("kind", [object, "str", "category"])
@pytest.mark.parametrize("notes", [["a", "b", "c\x00"], [None, None, None]])
def test_a_dask_frame_can_be_written(rules, tmp_path, notes, kind):
    """The reasons were objects, whose type Dask does not know, so that no redacted frame could be written."""
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"note": pd.Series(notes, dtype=kind)})
    lazy = redact_dask(rules, dd.from_pandas(frame, npartitions=3), "note")
    lazy.to_parquet(tmp_path, write_index=False, compute_kwargs={"scheduler": "synchronous"})
    done = pd.read_parquet(tmp_path)
    kept = [None if text is None or "\x00" in text else text for text in notes]
    assert [None if pd.isna(text) else text for text in done["note"]] == kept
    assert done["withheld"].notna().sum() == sum("\x00" in (text or "") for text in notes)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"nota": "roe@example.org"}], "No record of a partition has the key 'note'"),
        ([{"note": "a"}, {"Note ": "roe@example.org"}], "differs from 'note' in case or blanks"),
        ([{"note": "a", "n\u043ete": "roe@example.org"}], "differs from 'note' in case or blanks"),
        ([{"n": 1}, {"n": 2}], "No record of a partition has the key 'note'"),
        ([{"note": "a"}, {"noet": "Mail roe@example.org"}], "no key 'note', and has a text under another key"),
        ([{"note": "a"}, {"parts": [{"text": "Mail roe@example.org"}]}], "no key 'note', and has a text under another"),
    ],
)
def test_bag_whose_texts_have_another_name_is_refused(rules, records, message):
    """The texts came back in clear, without a reason."""
    bag = pytest.importorskip("dask.bag")
    pytest.importorskip("dask.dataframe")
    with pytest.raises(DeidError, match=message):
        redact_dask(rules, bag.from_sequence(records, npartitions=1), "note").compute(scheduler="synchronous")
    other = [{"note": None}, {"n": 1}]  # a missing text
    found = redact_dask(rules, bag.from_sequence(other, npartitions=1), "note").compute(scheduler="synchronous")
    assert found == [{"note": None, "withheld": None}, {"n": 1, "withheld": None}]


def test_a_column_that_repeats_a_text_is_refused(rules):
    """A copy of the notes under another name came back in clear."""
    long = "seen today on the ward by Zyxwvutski"
    pd, bag, pa = (pytest.importorskip(name) for name in ("pandas", "dask.bag", "pyarrow"))
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"n": [1, 2], "note": ["No pain", long], "raw": ["No pain", long]})
    records = frame.to_dict("records")
    for lazy in (dd.from_pandas(frame, npartitions=1), bag.from_sequence(records, npartitions=1)):
        with pytest.raises(DeidError, match="repeats a text of the column 'note'"):
            redact_dask(rules, lazy, "note").compute(scheduler="synchronous")
        redact_dask(rules, lazy, ["note", "raw"]).compute(scheduler="synchronous")
    for kind in (pa.string(), pa.binary()):
        arrow = frame.assign(raw=pd.Series(frame["raw"], dtype=pd.ArrowDtype(pa.string())).astype(pd.ArrowDtype(kind)))
        with pytest.raises(DeidError, match="repeats a text of the column 'note'"):
            redact_dask(rules, dd.from_pandas(arrow, npartitions=1), "note").compute(scheduler="synchronous")
    batch = pa.RecordBatch.from_pandas(frame)
    with pytest.raises(DeidError, match="repeats a text of the column 'note'"):
        list(arrow_redactor(RowRedactor(rules, "note"))([batch]))
    assert len(list(arrow_redactor(RowRedactor(rules, ["note", "raw"]))([batch]))) == 1
    for raw in (pa.array([["b"], ["a", long]]), pa.array([None, {"a": long}]), pa.array([b"b", long.encode()])):
        with pytest.raises(DeidError, match="repeats a text of the column 'note'"):
            list(arrow_redactor(RowRedactor(rules, "note"))([batch.set_column(2, "raw", raw)]))


def test_a_column_that_repeats_a_text_of_another_row_is_refused(rules):
    """``note.shift()`` came back in clear."""
    notes = [" ".join(f"{row}w{n}" for n in range(11)) + " Zyxwvutski" for row in range(3)]
    pd, bag, pa = (pytest.importorskip(name) for name in ("pandas", "dask.bag", "pyarrow"))
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"n": [1, 2, 3], "note": notes, "raw": ["b", *notes[:-1]]})
    keyed = [{"note": notes[0]}, {"note": "Fine", notes[0].upper(): 1}]
    twice = pd.DataFrame({"n": [1, 2, 3], "note": [notes[0]] * 3, "raw": ["b", notes[1], "c"]})
    collections = (
        dd.from_pandas(frame, npartitions=1),
        bag.from_sequence(frame.to_dict("records"), npartitions=1),
        bag.from_sequence(keyed, npartitions=1),
    )
    for lazy in collections:
        with pytest.raises(DeidError, match="repeats a text of the column 'note'") as caught:
            redact_dask(rules, lazy, "note").compute(scheduler="synchronous")
        assert "Zyxwvutski" not in str(caught.value)
    with pytest.raises(DeidError, match="index of the data frame holds a text"):
        redact_dask(rules, dd.from_pandas(frame.set_index("raw"), npartitions=1, sort=False), "note").compute(
            scheduler="synchronous"
        )
    for lazy in (dd.from_pandas(twice, npartitions=1), bag.from_sequence(twice.to_dict("records"), npartitions=1)):
        redact_dask(rules, lazy, "note").compute(scheduler="synchronous")
    # Spark passes the batches of a partition one after the other.
    batch = pa.RecordBatch.from_pandas(frame)
    redacted = arrow_redactor(RowRedactor(rules, "note"))
    for batches in ([batch], [batch.slice(0, 1), batch.slice(1)], [batch.slice(1), batch.slice(0, 1)]):
        with pytest.raises(DeidError, match="repeats a text of the column 'note'"):
            list(redacted(batches))
    assert len(list(redacted([pa.RecordBatch.from_pandas(twice)]))) == 1


def test_a_name_that_holds_a_text_is_refused(rules):
    """Columns of indicators are named after the texts, and the names were copied."""
    long = "seen today on the ward by Zyxwvutski"
    pd, pa = (pytest.importorskip(name) for name in ("pandas", "pyarrow"))
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"note": [long], f"note_{long}": [1]})
    for named in (frame, frame[["note"]].rename_axis(long)):
        with pytest.raises(DeidError, match="name of a column, or of an index"):
            redact_dask(rules, dd.from_pandas(named, npartitions=1), "note").compute(scheduler="synchronous")
    with pytest.raises(DeidError, match="name of a column, or of an index"):
        list(arrow_redactor(RowRedactor(rules, "note"))([pa.RecordBatch.from_pandas(frame)]))
    with pytest.raises(DeidError, match="file without a header"):
        RowRedactor(rules, "Seen today.\nNo pain.")


@pytest.mark.parametrize("record", ["Seen today", ("note", "Seen today"), [("note", "Seen today")], None])
def test_a_bag_of_other_values_than_dicts_is_refused(rules, record):
    """A bag of texts ended in an error about the elements of a dictionary update."""
    bag = pytest.importorskip("dask.bag")
    with pytest.raises(DeidError, match="no dict. Put each text into a dict"):
        redact_dask(rules, bag.from_sequence([record], npartitions=1), "note").compute(scheduler="synchronous")


def test_a_key_that_repeats_a_text_is_refused(rules):
    """The keys of a record were copied unread."""
    bag = pytest.importorskip("dask.bag")
    long = "seen today on the ward by Zyxwvutski"
    lazy = bag.from_sequence([{"note": long, long: 1}], npartitions=1)
    with pytest.raises(DeidError, match="repeats a text of the column 'note'"):
        redact_dask(rules, lazy, "note").compute(scheduler="synchronous")


def test_a_name_of_a_text_inside_of_another_value_is_refused(rules):
    """Texts of spans in another column came back in clear."""
    bag, pa = (pytest.importorskip(name) for name in ("dask.bag", "pyarrow"))
    for name, is_refused in (("Note", True), ("end", False)):
        records = [{"note": "fine", "spans": [{"start": 1, name: 4}]}]
        with pytest.raises(DeidError, match="a name like 'note'") if is_refused else nullcontext():
            lazy = bag.from_sequence(records, npartitions=1)
            redact_dask(rules, lazy, "note").compute(scheduler="synchronous")
        with pytest.raises(DeidError, match="a name like 'note'") if is_refused else nullcontext():
            list(arrow_redactor(RowRedactor(rules, "note"))([pa.RecordBatch.from_pylist(records)]))


def test_rows_with_surrogates_shift_bare_years_too(tmp_path):
    text = "Operated in 1999 and seen on 3 May 2019."
    read_or_make_key(tmp_path / "key")
    options = {"patient_column": "mrn", "mode": "surrogate", "key_file": tmp_path / "key", "locale": "en"}
    found = {}
    for labels in ("all", "hipaa"):
        save(NoteDeidentifier(RuleTagger(["date"]).fit([]), labels=labels), tmp_path / labels)
        found[labels] = in_parts(RowRedactor(tmp_path / labels, "note", **options), 1, [text], ["p"])
        redacted = in_parts(RowRedactor(tmp_path / labels, "note"), 1, [text])[0][0]
        assert ("2019" not in redacted) and ("1999" in redacted) == (labels == "hipaa")
    assert found["all"] == found["hipaa"]


@pytest.mark.parametrize("patient", [None, "", " ", float("nan"), "NULL"])
def test_row_without_a_patient_has_no_surrogates(rules, tmp_path, patient):
    read_or_make_key(tmp_path / "key")
    redactor = RowRedactor(
        rules, "note", patient_column="mrn", mode="surrogate", key_file=tmp_path / "key", locale="en"
    )
    ((text, reason),) = in_parts(redactor, 1, ["roe@example.org"], [patient])
    assert text is None and "The row has no patient" in reason


@pytest.mark.parametrize("name", ["withheld", "Withheld"])
def test_a_column_named_like_the_new_column_is_refused(rules, name):
    """Spark ignores case, so that neither of the two columns could be read."""
    with pytest.raises(DeidError, match="Choose another"):
        RowRedactor(rules, "note").check_columns(["note", name, 7])


def test_a_frame_with_numbered_columns_can_be_redacted(rules):
    """The page on data frames advises ``header=None`` for files without a header; Dask then got a TypeError."""
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    frame = pandas.DataFrame([[7, "Mail roe@example.org"]], index=[4])
    found = redact_dask(rules, frames.from_pandas(frame, npartitions=1), 1).compute(scheduler="synchronous")
    assert found.drop(columns="withheld").to_dict("split") == {
        "index": [4],
        "columns": [0, 1],
        "data": [[7, "Mail [EMAIL]"]],
    }
    assert found["withheld"].isna().all()
