"""File with the state of a server or worker, without pickle. The file is always replaced as a whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from .._atomic import new_file
from ..exceptions import DeidError, ExchangeError

_DIGEST_LENGTH = 32


def write_state(path: str | os.PathLike[str], kind: str, state: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write the state of a server or worker. A crash leaves the complete old file or the complete new file.

    Parameters
    ----------
    path : path
        File to create or replace.
    kind : str
        Kind of state, such as "worker". `read_state` checks the kind.
    state : dict
        JSON values.
    arrays : dict of str to ndarray
        Arrays by name.
    """
    from safetensors.numpy import save

    content = json.dumps({"kind": kind, **state}, sort_keys=True)
    data = save({name: np.ascontiguousarray(array) for name, array in arrays.items()}, metadata={"state": content})
    # Only the owner may read the file: a state reveals more than the messages that a worker sends.
    with new_file(Path(path).resolve(), private=True) as stream:
        stream.write(data)
        # The digest detects damage. It does not detect forgery: anyone who can write the file can write a digest.
        stream.write(sha256(data).digest())


def read_state(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a state that `write_state` wrote.

    Raises
    ------
    ExchangeError
        If the file is missing, truncated or damaged, or holds a state of another kind.
    """
    try:
        data = Path(path).read_bytes()
    except OSError:
        raise ExchangeError("The saved state cannot be read.", path=str(path)) from None
    body, digest = data[:-_DIGEST_LENGTH], data[-_DIGEST_LENGTH:]
    if len(digest) != _DIGEST_LENGTH or sha256(body).digest() != digest:
        raise ExchangeError("The saved state is truncated or damaged.", path=str(path))
    return _parse(body, kind, str(path))


def _parse(body: bytes, kind: str, path: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays = load(body)
        # ``load`` has checked the header: 8 bytes with the length, then JSON. It does not return the metadata itself.
        header = json.loads(body[8 : 8 + int.from_bytes(body[:8], "little")])
        state = json.loads(header["__metadata__"]["state"])
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError):
        raise ExchangeError("The file is not a saved state.", path=path) from None
    if not isinstance(state, dict) or state.pop("kind", None) != kind:
        raise ExchangeError(f"The file is not a saved {kind}.", path=path)
    return state, arrays


@contextmanager
def valid_fields(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Refuse a state whose fields are missing or of another kind, as in a file that other software has written.

    Raises
    ------
    ExchangeError
        If the code of the ``with`` block raises an error for a missing or invalid value.
    """
    try:
        yield
    except DeidError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        raise ExchangeError(f"The file is not a saved {kind}: a field is missing or invalid.", path=str(path)) from None


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """Convert the state of a generator to JSON values."""
    # The state of PCG64 holds integers of 128 bits, which many JSON readers would round: they are written as text.
    state = rng.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise ExchangeError(f"Only the state of PCG64 can be saved, not that of {state['bit_generator']}.")
    return {
        key: {k: str(v) for k, v in value.items()} if isinstance(value, dict) else value for key, value in state.items()
    }


def generator_from(state: dict[str, Any]) -> np.random.Generator:
    """Create a generator from the values of `generator_state`."""
    # The seed of this generator is of no importance, because the saved state replaces the state.
    rng = np.random.Generator(np.random.PCG64())
    rng.bit_generator.state = {**state, "state": {key: int(value) for key, value in state["state"].items()}}
    return rng
