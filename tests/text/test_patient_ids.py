"""One patient has one id, however a table writes it; a missing id is none."""

from decimal import Decimal

import numpy as np
import pytest

from sklearn_deid.text import known_id


@pytest.mark.parametrize(
    "value",
    [17, 17.0, np.int64(17), np.float32(17), np.float64(17), Decimal("17"), Decimal("17.00"), "17", " 17 ", "17\n"],
)
def test_a_patient_has_one_id(value):
    """pandas reads 17 as 17.0 where another row of the table has no patient: dates moved by another shift."""
    assert known_id(value) == "17"


@pytest.mark.parametrize("value", [17.5, Decimal("17.5"), "17.0", "017", True, "1 7", 10**20 + 1, 1e300])
def test_other_values_stay_apart(value):
    assert known_id(value) == (str(int(value)) if value == 1e300 else str(value)) != "17"


@pytest.mark.parametrize("value", [None, float("nan"), np.nan, Decimal("nan"), "", " ", "NULL", "N/A", '""', "\\N"])
def test_missing_values_are_no_patient(value):
    assert known_id(value) is None


@pytest.mark.parametrize("value", [10**400, Decimal(10**29 + 1), Decimal(f"{10**29}.00")])
def test_long_numbers_are_ids(value):
    """No float holds the first, and the remainder of the others had more digits than decimals have: the run ended."""
    assert known_id(value) == str(int(value))


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_ids_in_bytes(kind):
    """The id of a memoryview was its place in memory, which patients of other rows had, too."""
    assert [known_id(kind(value)) for value in (b"17 ", b"", b"NULL", b"\x00\xff")] == ["17", None, None, "00ff"]
