"""Messages of the exchange: entries of a flat parameter vector, encoded as checked bytes without pickle."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exceptions import ExchangeError

KINDS = ("update", "parameters")
DTYPES = ("float32", "float16")
# Messages encode indices as int32.
LARGEST_SIZE = 2**31 - 1
_MAGIC = b"SDX1"
# Fields: magic, kind, form of the positions, bytes per value, reserved; size, count, version; fingerprint of the model.
_HEADER = struct.Struct("<4sBBBBQQQ16s")
_CHECKSUM = struct.Struct("<I")
_OVERHEAD = _HEADER.size + _CHECKSUM.size
_BITMAP, _INDICES, _DENSE = range(3)
_VALUE_TYPES: dict[int, np.dtype] = {4: np.dtype("<f4"), 2: np.dtype("<f2")}


@dataclass(frozen=True, eq=False, repr=False)
class SparseUpdate:
    """Entries of a flat vector of float32: a worker's update, or parameters that a worker downloads.

    Parameters
    ----------
    indices : ndarray of shape (k,), integers
        Strictly increasing positions of the values, from 0 to ``size - 1``.
    values : ndarray of shape (k,), float32
        Finite values. The values of an ``"update"`` are added to the parameters. The values of ``"parameters"`` replace
        parameters.
    size : int
        Length of the whole vector.
    model : str
        Fingerprint of the model (32 hexadecimal digits, `ParameterLayout.fingerprint`).
    version : int, default=0
        Number of updates that the server had applied at the time of the download. For an update, the version belongs to
        the download before the epoch.
    kind : {"update", "parameters"}, default="update"
        Kind of message: an update of a worker, or parameters from the server.

    Raises
    ------
    ExchangeError
        If a parameter is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> update = SparseUpdate(np.array([1, 4]), np.array([0.5, -2.0], dtype=np.float32), size=6, model="0" * 32)
    >>> data = update.to_bytes()
    >>> SparseUpdate.from_bytes(data, size=6, model="0" * 32) == update
    True
    >>> update.dense().tolist()
    [0.0, 0.5, 0.0, 0.0, -2.0, 0.0]
    """

    indices: np.ndarray
    values: np.ndarray
    size: int
    model: str
    version: int = 0
    kind: str = "update"

    def __post_init__(self) -> None:
        _check_header(self.size, self.model, self.version, self.kind)
        # Shapes and types first: the comparisons below need one-dimensional integers.
        indices, values = np.asarray(self.indices), np.asarray(self.values)
        if indices.ndim != 1 or indices.shape != values.shape or indices.dtype.kind not in "iu":
            raise ExchangeError(
                "'indices' and 'values' must be one-dimensional and equally long, and 'indices' integers."
            )
        if values.dtype != np.float32:
            raise ExchangeError(f"'values' must be float32. Got {values.dtype} instead.")
        if len(indices) and not (0 <= indices[0] and indices[-1] < self.size and (indices[1:] > indices[:-1]).all()):
            raise ExchangeError(f"'indices' must increase strictly from 0 to at most {self.size - 1}.")
        if not np.isfinite(values).all():
            raise ExchangeError("Values that are not finite cannot be exchanged.")
        for name, array in (("indices", indices.astype(np.intp, copy=False)), ("values", values)):
            object.__setattr__(self, name, read_only(array))

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        return (
            f"SparseUpdate({self.kind}, {len(self)} of {self.size}, version={self.version}, model={self.model[:8]}...)"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseUpdate):
            return NotImplemented
        same = all(getattr(self, name) == getattr(other, name) for name in ("size", "model", "version", "kind"))
        return (
            same
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.values.view(np.uint32), other.values.view(np.uint32))  # -0.0 is not 0.0
        )

    __hash__ = None  # type: ignore[assignment]

    def dense(self) -> np.ndarray:
        """Whole vector of shape (size,), float32, with zeros at positions without a value."""
        vector = np.zeros(self.size, dtype=np.float32)
        vector[self.indices] = self.values
        return vector

    def largest(self) -> float:
        """Largest magnitude of the values; 0.0 if there is no value."""
        return float(max(self.values.max(), -self.values.min())) if len(self) else 0.0

    def norm(self) -> float:
        """Euclidean norm of the values."""
        # Squares are summed in float64: squares of finite float32 values can overflow float32.
        return float(np.sqrt(np.einsum("i,i->", self.values, self.values, dtype=np.float64)))

    def to_bytes(self, dtype: str = "float32") -> bytes:
        """Encode the message in the smallest of three forms: bitmap and values, int32 indices and values, all values.

        Parameters
        ----------
        dtype : {"float32", "float16"}, default="float32"
            Type of the values. float16 takes half the bytes and keeps about three decimal digits.

        Returns
        -------
        bytes
            Header of 48 bytes, positions, values, and a CRC-32. The CRC-32 detects damage and does not protect against
            forgery.

        Raises
        ------
        ExchangeError
            If the magnitude of a value is too large for float16 (above 65504).
        ValueError
            If ``dtype`` is not one of the allowed types.
        """
        if dtype not in DTYPES:
            raise ValueError(f"The 'dtype' parameter must be one of {', '.join(DTYPES)}. Got {dtype!r} instead.")
        width = 2 if dtype == "float16" else 4
        # Values beyond the range of float16 become infinite here and raise an error below.
        with np.errstate(over="ignore"):
            values = self.values.astype(_VALUE_TYPES[width], copy=False)
        if width == 2 and not np.isfinite(values).all():
            raise ExchangeError("A value does not fit float16 (beyond 65504); send float32.")
        form, positions = self._positions()
        types, model = (KINDS.index(self.kind), form, width, 0), bytes.fromhex(self.model)
        header = _HEADER.pack(_MAGIC, *types, self.size, len(self), self.version, model)
        content = b"".join((header, positions, np.ascontiguousarray(values).view(np.uint8).data))
        return content + _CHECKSUM.pack(zlib.crc32(content))

    def _positions(self) -> tuple[int, bytes | memoryview]:
        if len(self) == self.size:
            return _DENSE, b""
        # An index takes 32 bits, a place in the bitmap one bit. With few values the indices are shorter.
        if 4 * len(self) < _bitmap_bytes(self.size):
            return _INDICES, np.ascontiguousarray(self.indices, dtype="<i4").view(np.uint8).data
        # one bit for each parameter: (size,) bool -> (_bitmap_bytes(size),) uint8
        mask = np.zeros(self.size, dtype=bool)
        mask[self.indices] = True
        return _BITMAP, np.packbits(mask, bitorder="little").data

    @classmethod
    def from_bytes(
        cls,
        data: bytes | bytearray | memoryview,
        *,
        size: int | None = None,
        model: str | None = None,
        kind: str | None = None,
    ) -> SparseUpdate:
        """Decode a message. Raises an error for any data that `to_bytes` could not have produced.

        Parameters
        ----------
        data : bytes
            Encoded message.
        size, model, kind : optional
            Expected fields of the header. The header is checked before any value is decoded. Pass all three parameters
            for data from other people: memory use is then bounded by the size of your own model.

        Raises
        ------
        ExchangeError
            If the data are truncated, damaged, too long, out of range or not finite, or if the header differs from the
            expected fields.
        """
        raw = _as_bytes(data)
        form, width, count, known = _read_header(raw)
        expected = {"size": size, "model": model, "kind": kind}
        for name, value in expected.items():
            if value is not None and known[name] != value:
                raise ExchangeError(
                    f"The message belongs to another {name}: {value!r} is expected. Got {known[name]!r} instead."
                )
        n_positions = {_BITMAP: _bitmap_bytes(known["size"]), _INDICES: 4 * count, _DENSE: 0}[form]
        # Lengths first: a short message with a large count must not make this process allocate memory for it.
        if len(raw) != _OVERHEAD + n_positions + width * count:
            raise ExchangeError(f"The message has {len(raw)} bytes, but its header announces another number.")
        # The checksum finds damage in transit. It is no proof of origin, which the transport must give.
        if zlib.crc32(raw[: -_CHECKSUM.size]) != _CHECKSUM.unpack(raw[-_CHECKSUM.size :])[0]:
            raise ExchangeError("The message is damaged: its checksum is wrong.")
        body = raw[_HEADER.size : -_CHECKSUM.size]
        indices = _read_positions(form, body[:n_positions], known["size"], count)
        values = np.frombuffer(body[n_positions:], dtype=_VALUE_TYPES[width]).astype(np.float32, copy=False)
        return cls(indices, values, **known)


def read_only(array: np.ndarray) -> np.ndarray:
    """Read-only view of an array. The owner of the array can still change the values."""
    view = array.view()
    view.flags.writeable = False
    return view


def _bitmap_bytes(size: int) -> int:
    return (size + 7) // 8


def _as_bytes(data: Any) -> memoryview:
    if not isinstance(data, (bytes, bytearray, memoryview)) or not (view := memoryview(data)).c_contiguous:
        raise ExchangeError(f"A message must be bytes in one piece of memory. Got {type(data).__name__} instead.")
    return view.cast("B") if view.nbytes else memoryview(b"")


def _check_header(size: Any, model: Any, version: Any, kind: Any) -> None:
    for name, value, bound in (("size", size, LARGEST_SIZE), ("version", version, 2**63 - 1)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not 0 <= value <= bound:
            raise ExchangeError(f"'{name}' must be an integer from 0 to {bound}.")
    if not isinstance(model, str) or len(model) != 32 or set(model) - set("0123456789abcdef"):
        raise ExchangeError("'model' must be a fingerprint: 32 hexadecimal digits in lower case.")
    if kind not in KINDS:
        raise ExchangeError(f"'kind' must be one of {', '.join(KINDS)}.")


def _read_header(raw: memoryview) -> tuple[int, int, int, dict[str, Any]]:
    """Form of the positions, bytes per value, number of values, and the fields of the update."""
    if len(raw) < _OVERHEAD:
        raise ExchangeError(f"The message is truncated: {len(raw)} bytes are less than a header.")
    magic, kind, form, width, reserved, size, count, version, model = _HEADER.unpack(raw[: _HEADER.size])
    if magic != _MAGIC:
        raise ExchangeError("The bytes are not a message of this format.")
    if kind >= len(KINDS) or form not in (_BITMAP, _INDICES, _DENSE) or width not in _VALUE_TYPES or reserved:
        raise ExchangeError("The message is damaged: its header names unknown types.")
    known = {"size": size, "model": model.hex(), "version": version, "kind": KINDS[kind]}
    _check_header(**known)
    if count > size or (form == _DENSE and count != size):
        raise ExchangeError(f"The message announces {count} values for a vector of {size}.")
    return form, width, count, known


def _read_positions(form: int, raw: memoryview, size: int, count: int) -> np.ndarray:
    if form == _DENSE:
        return np.arange(size)
    if form == _INDICES:
        return np.frombuffer(raw, dtype="<i4").astype(np.intp)
    # (n_bytes,) -> (8 * n_bytes,); the last byte may hold unused bits, which must be 0
    bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8), bitorder="little")
    indices = np.flatnonzero(bits.view(bool))
    if len(indices) != count or (count and indices[-1] >= size):
        raise ExchangeError(f"The bitmap of the message does not mark {count} of {size} parameters.")
    return indices
