"""Messages: what goes in comes out, and whatever is broken is refused by name."""

import struct
import zlib

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sklearn_deid.exceptions import DeidError, ExchangeError
from sklearn_deid.federated import SparseUpdate

from .learners import MODEL

FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
HEADER, OVERHEAD = 48, 52


@st.composite
def updates(draw, largest=40):
    size = draw(st.integers(0, largest))
    mask = draw(hnp.arrays(bool, size))
    values = draw(hnp.arrays(np.float32, int(mask.sum()), elements=FINITE))
    kind = draw(st.sampled_from(["update", "parameters"]))
    version = draw(st.integers(0, 2**63 - 1))
    return SparseUpdate(np.flatnonzero(mask), values, size, MODEL, version, kind)


def make(indices=(1, 4), values=(0.5, -2.0), size=6, **fields):
    return SparseUpdate(np.array(indices, dtype=int), np.array(values, dtype=np.float32), size, MODEL, **fields)


@given(updates())
def test_round_trip_loses_nothing(update):
    data = update.to_bytes()
    assert SparseUpdate.from_bytes(data) == update
    assert SparseUpdate.from_bytes(bytearray(data), size=update.size, model=MODEL, kind=update.kind) == update


@given(updates())
def test_length_is_that_of_the_smallest_form(update):
    k, n = len(update), update.size
    forms = [(n + 7) // 8 + 4 * k, 4 * k + 4 * k] + ([4 * n] if k == n else [])
    assert len(update.to_bytes()) == OVERHEAD + min(forms)


@given(updates())
def test_half_precision_is_rounding_to_float16(update):
    with np.errstate(over="ignore"):
        rounded = update.values.astype(np.float16)
    if not np.isfinite(rounded).all():
        with pytest.raises(ExchangeError, match="does not fit float16"):
            update.to_bytes("float16")
        return
    again = SparseUpdate.from_bytes(update.to_bytes("float16"))
    assert np.array_equal(again.indices, update.indices)
    assert np.array_equal(again.values, rounded.astype(np.float32))


@given(updates(), st.data())
def test_any_damage_is_refused(update, data):
    raw = bytearray(update.to_bytes())
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ExchangeError, match=r"\w"):
        SparseUpdate.from_bytes(raw)


@given(updates(), st.data())
def test_any_cut_or_addition_is_refused(update, data):
    raw = update.to_bytes()
    with pytest.raises(ExchangeError, match="truncated|header announces"):
        SparseUpdate.from_bytes(raw[: data.draw(st.integers(0, len(raw) - 1))])
    with pytest.raises(ExchangeError, match="header announces"):
        SparseUpdate.from_bytes(raw + data.draw(st.binary(min_size=1, max_size=5)))


@given(st.binary(max_size=200))
def test_noise_is_refused(raw):
    with pytest.raises(ExchangeError, match=r"\w"):
        SparseUpdate.from_bytes(raw)


@given(updates(), st.data())
def test_damage_with_a_fitting_checksum_is_refused_or_a_valid_update(update, data):
    """Whoever forges a message can compute the checksum too: nothing else than our error may come of it."""
    raw = bytearray(update.to_bytes()[:-4])
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(4, len(raw) - 1))] = data.draw(st.integers(0, 255))
    forged = bytes(raw) + struct.pack("<I", zlib.crc32(raw))
    try:
        read = SparseUpdate.from_bytes(forged, size=update.size, model=MODEL)
    except ExchangeError:
        return
    assert read.size == update.size
    assert np.isfinite(read.values).all()
    assert (np.diff(read.indices) > 0).all()
    assert SparseUpdate.from_bytes(read.to_bytes()) == read


def forge(update, place, content, **expected):
    raw = bytearray(update.to_bytes()[:-4])
    raw[place : place + len(content)] = content
    return SparseUpdate.from_bytes(bytes(raw) + struct.pack("<I", zlib.crc32(raw)), **expected)


NAN = struct.pack("<f", float("nan"))


@pytest.mark.parametrize(
    ("place", "content", "match"),
    [
        (0, b"SDX9", "not a message of this format"),
        (4, b"\x07", "unknown types"),
        (5, b"\x07", "unknown types"),
        (6, b"\x03", "unknown types"),
        (7, b"\x01", "unknown types"),
        (8, struct.pack("<Q", 2**40), "'size' must be an integer"),
        (8, struct.pack("<Q", 1), "announces 2 values for a vector of 1"),
        (16, struct.pack("<Q", 3), "header announces"),
        (24, struct.pack("<Q", 2**63), "'version' must be an integer"),
        (HEADER, b"\x00", "does not mark 2 of 6"),
        (HEADER, b"\x82", "does not mark 2 of 6"),  # bit 7 of a vector of 6
        (HEADER + 1, NAN, "not finite"),
        (HEADER + 1, struct.pack("<f", float("inf")), "not finite"),
    ],
)
def test_each_kind_of_damage_has_its_message(place, content, match):
    with pytest.raises(ExchangeError, match=match):
        forge(make(), place, content)


@pytest.mark.parametrize("indices", [(-1, 4), (4, 1), (4, 4), (1, 1000)])
def test_forged_indices_are_refused(indices):
    update = make((1, 4), size=1000)
    with pytest.raises(ExchangeError, match="increase strictly"):
        forge(update, HEADER, struct.pack("<ii", *indices))


@pytest.mark.parametrize(
    ("expected", "match"),
    [
        ({"size": 7}, "another size: 7 is expected. Got 6"),
        ({"model": "f" * 32}, "another model"),
        ({"kind": "parameters"}, "another kind"),
    ],
)
def test_what_is_not_expected_is_refused(expected, match):
    with pytest.raises(ExchangeError, match=match):
        SparseUpdate.from_bytes(make().to_bytes(), **expected)


@pytest.mark.parametrize("data", [None, "text", 3, memoryview(b"0123456789")[::2]])
def test_what_is_no_bytes_is_refused(data):
    with pytest.raises(ExchangeError, match="bytes|one piece"):
        SparseUpdate.from_bytes(data)


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"indices": (1,)}, "equally long"),
        ({"indices": (4, 1)}, "increase strictly"),
        ({"indices": (1, 6)}, "at most 5"),
        ({"values": (np.nan, 1)}, "not finite"),
        ({"size": -1}, "'size'"),
        ({"size": True}, "'size'"),
        ({"version": -1}, "'version'"),
        ({"kind": "other"}, "'kind'"),
    ],
)
def test_a_wrong_update_cannot_be_made(fields, match):
    with pytest.raises(ExchangeError, match=match):
        make(**fields)


@pytest.mark.parametrize("model", ["", "0" * 31, "G" * 32, "A" * 32, None])
def test_a_model_is_a_fingerprint(model):
    with pytest.raises(ExchangeError, match="32 hexadecimal digits"):
        SparseUpdate(np.zeros(0, int), np.zeros(0, np.float32), 3, model)


def test_other_types_of_arrays_are_refused():
    with pytest.raises(ExchangeError, match="float32. Got float64"):
        SparseUpdate(np.array([1]), np.array([1.0]), 3, MODEL)
    with pytest.raises(ExchangeError, match="'indices' integers"):
        SparseUpdate(np.array([1.0]), np.array([1.0], np.float32), 3, MODEL)


def test_arrays_are_read_only_and_those_handed_in_are_not():
    values = np.array([1.0], dtype=np.float32)
    update = SparseUpdate(np.array([1]), values, 3, MODEL)
    with pytest.raises(ValueError, match="read-only"):
        update.values[0] = 2
    values[0] = 2.0


def test_repr_shows_no_values():
    assert repr(make()) == "SparseUpdate(update, 2 of 6, version=0, model=01234567...)"
    assert make() != make(version=1)
    assert make() != "something else"
    assert issubclass(ExchangeError, (DeidError, ValueError))


@given(updates())
def test_largest_and_norm(update):
    assume(len(update))
    assert update.largest() == np.abs(update.values).max()
    np.testing.assert_allclose(update.norm(), np.linalg.norm(update.values.astype(np.float64)), rtol=1e-6)


def test_expected_bytes_of_the_paper_settings():
    """Half of the parameters with int32 indices would be as large as all of them: the bitmap nearly halves it."""
    n = 19_210
    update = SparseUpdate(np.arange(0, n, 2), np.ones(n // 2, np.float32), n, MODEL)
    assert len(update.to_bytes()) == 52 + 2_402 + 38_420
    assert len(update.to_bytes("float16")) == 52 + 2_402 + 19_210


def test_values_have_one_of_two_types():
    update = SparseUpdate(np.array([0]), np.ones(1, np.float32), 1, "0" * 32)
    with pytest.raises(ValueError, match="The 'dtype' parameter must be one of float32, float16. Got 'float64'"):
        update.to_bytes("float64")
