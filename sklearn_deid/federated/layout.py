"""Conversion of named parameters to one flat vector, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from ..exceptions import ExchangeError


@dataclass(frozen=True)
class ParameterLayout:
    """Position of each named array in the flat vector. Use `of` to create a layout.

    Arrays are ordered by name, so that the order is the same at all sites.

    Parameters
    ----------
    names : tuple of str
        Sorted names of the arrays.
    shapes : tuple of tuple of int
        Shape of each array, in the order of the names.
    tag : str, default=""
        Other content that must be equal at all sites, such as the label set and the settings of the network. The tag is
        part of the fingerprint and is never displayed.

    Examples
    --------
    >>> import numpy as np
    >>> layout = ParameterLayout.of({"weight": np.ones((2, 2)), "bias": np.zeros(2)})
    >>> layout.size, layout.names
    (6, ('bias', 'weight'))
    >>> vector = layout.flatten({"weight": np.ones((2, 2)), "bias": np.zeros(2)})
    >>> layout.unflatten(vector)["weight"].tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    tag: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, np.ndarray], tag: str = "") -> ParameterLayout:
        """Create the layout of named arrays.

        Raises
        ------
        ExchangeError
            If a name is not a string, or if an array does not hold real floating point numbers.
        """
        for name, array in parameters.items():
            if not isinstance(name, str):
                raise ExchangeError("Names of parameters must be text.")
            if np.asarray(array).dtype.kind != "f":
                raise ExchangeError(f"Parameter {name} must hold floats. Got {np.asarray(array).dtype} instead.")
        # Sorted names give the same order at all sites, in whatever order a network lists its parameters.
        names = tuple(sorted(parameters))
        return cls(names, tuple(tuple(int(n) for n in np.shape(parameters[name])) for name in names), tag)

    @property
    def size(self) -> int:
        """Length of the flat vector."""
        return sum(math.prod(shape) for shape in self.shapes)

    @property
    def fingerprint(self) -> str:
        """Hash of names, shapes and tag as 32 hexadecimal digits. Equal fingerprints allow an exchange of vectors."""
        # Escaped ASCII and fixed separators make the same text, and therefore the same hash, everywhere.
        content = json.dumps([self.names, self.shapes, self.tag], ensure_ascii=True)
        return sha256(content.encode("ascii")).hexdigest()[:32]

    def flatten(self, parameters: Mapping[str, np.ndarray]) -> np.ndarray:
        """Copy named arrays into one vector of shape (size,), float32.

        Raises
        ------
        ExchangeError
            If names or shapes differ from the layout.
        """
        if set(parameters) != set(self.names):
            unknown, missing = set(parameters) - set(self.names), set(self.names) - set(parameters)
            raise ExchangeError(
                f"The parameters are not the agreed ones: {len(missing)} are missing, {len(unknown)} are new."
            )
        vectors = [np.zeros(0, np.float32)]
        for name, shape in zip(self.names, self.shapes, strict=True):
            array = np.asarray(parameters[name])
            if array.shape != shape:
                raise ExchangeError(f"Parameter {name} must have shape {shape}. Got {array.shape} instead.")
            # row by row (C order): shape -> (array.size,)
            vectors.append(array.reshape(-1).astype(np.float32))
        return np.concatenate(vectors)

    def unflatten(self, vector: np.ndarray) -> dict[str, np.ndarray]:
        """Split a vector into named arrays of float32. Each array is a copy of its part of the vector.

        Raises
        ------
        ExchangeError
            If the shape of the vector is not (size,).
        """
        vector = np.asarray(vector)
        if vector.shape != (self.size,):
            raise ExchangeError(f"The vector must have shape ({self.size},). Got {vector.shape} instead.")
        parts = np.split(vector, np.cumsum([math.prod(shape) for shape in self.shapes], dtype=np.intp))
        # (size of a part,) -> shape; behind the last part nothing is left
        return {
            name: part.reshape(shape).astype(np.float32)
            for name, shape, part in zip(self.names, self.shapes, parts, strict=False)
        }
