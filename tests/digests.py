"""Hashes of what estimators give: of content only, never of the names of classes, modules, weights or fields."""

import contextlib
import warnings
from collections.abc import Mapping
from hashlib import sha256
from numbers import Integral, Real

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from sklearn_deid.metrics import Estimate

# Seconds differ from run to run, versions from one release to the next; settings are parameters, which may be renamed.
NOT_HASHED = ("seconds", "versions", "settings", "dur")


def digest(*values):
    """Hash of nested plain values and arrays; floats and arrays count by their exact bits."""
    total = sha256()
    for value in values:
        total.update(_bytes_of(value))
    return total.hexdigest()


def weights(*networks):
    """Hash of the tensors of networks, whatever they are called and in whatever order they stand."""
    tensors = [tensor for network in networks for tensor in network.state_dict().values()]
    return digest(sorted(digest(tensor.detach().cpu().numpy()) for tensor in tensors))


def numbers(value):
    """All numbers in nested values, sorted: names of fields and texts may change, and fields may change places."""
    return sorted(map(repr, _numbers_in(value)))


def of_random_pairs(bound):
    """The figures of a bound on random pairs, without the parts that version 0.2.0 added."""
    added = ("pairs_with_casing", "has_patients")
    plain = bound.to_dict()
    return {name: v for name, v in plain.items() if not isinstance(v, Mapping) and not name.startswith(added)}


@contextlib.contextmanager
def one_thread():
    """Sums of floats depend on how many threads share them."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tiny data draw warnings, which are tested elsewhere
            yield
    finally:
        torch.set_num_threads(before)


def _numbers_in(value):
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not str(name).endswith(NOT_HASHED):
                yield from _numbers_in(inner)
    elif isinstance(value, (list, tuple, np.ndarray)):
        for inner in value:
            yield from _numbers_in(inner)
    elif isinstance(value, Estimate):  # its ends only where there is an interval
        yield from _numbers_in([value.value, *([value.low, value.high] if value.has_interval else [])])
    elif isinstance(value, Integral) and not isinstance(value, (bool, np.bool_)):
        yield int(value)
    elif isinstance(value, Real) and not isinstance(value, (bool, np.bool_)):
        yield float(value)


def _bytes_of(value):
    if isinstance(value, np.ndarray) and value.dtype != object:
        head = f"array {value.dtype.str} {value.shape}"
        return _framed(head, np.ascontiguousarray(value).tobytes())
    if isinstance(value, Mapping):
        return _framed("mapping", b"".join(sorted(_bytes_of([key, inner]) for key, inner in value.items())))
    if isinstance(value, (set, frozenset)):
        return _framed("set", b"".join(sorted(map(_bytes_of, value))))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (str, int, float, bool, type(None))):
        return _framed(type(value).__name__, repr(value).encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes):
        return _framed("bytes", value)
    return _framed("list", b"".join(map(_bytes_of, value)))  # also arrays of objects and rows of ragged containers


def _framed(head, data):
    return f"{head} {len(data)}\n".encode() + data
