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
    """Position of each named array in the flat vector; made by `of`.

    Arrays are ordered by name, so that sites agree that list their parameters in different orders.

    Parameters
    ----------
    names : tuple of str
        Sorted.
    shapes : tuple of tuple of int
        One shape a name.
    tag : str, default=""
        Other content that must be equal at all sites (the label set, the settings of the network). It is part of the
        fingerprint and is shown nowhere.

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
        """Layout of these arrays of floats.

        Raises
        ------
        ExchangeError
            If a name is no text, or an array does not hold real floating point numbers.
        """
        for name, array in parameters.items():
            if not isinstance(name, str):
                raise ExchangeError("Names of parameters must be text.")
            if np.asarray(array).dtype.kind != "f":
                raise ExchangeError(f"Parameter {name} must hold floats. Got {np.asarray(array).dtype}.")
        names = tuple(sorted(parameters))
        return cls(names, tuple(tuple(int(n) for n in np.shape(parameters[name])) for name in names), tag)

    @property
    def size(self) -> int:
        """Length of the flat vector."""
        return sum(math.prod(shape) for shape in self.shapes)

    @property
    def fingerprint(self) -> str:
        """32 hexadecimal digits of names, shapes and tag: equal where vectors may be exchanged."""
        content = json.dumps([self.names, self.shapes, self.tag], ensure_ascii=True)
        return sha256(content.encode("ascii")).hexdigest()[:32]

    def flatten(self, parameters: Mapping[str, np.ndarray]) -> np.ndarray:
        """One vector of shape (size,), float32: a copy.

        Raises
        ------
        ExchangeError
            If names or shapes are others than those of the layout.
        """
        if set(parameters) != set(self.names):
            unknown, missing = set(parameters) - set(self.names), set(self.names) - set(parameters)
            raise ExchangeError(f"Other parameters than agreed: {len(missing)} are missing, {len(unknown)} are new.")
        vector = np.empty(self.size, dtype=np.float32)
        start = 0
        for name, shape in zip(self.names, self.shapes, strict=True):
            array = np.asarray(parameters[name])
            if array.shape != shape:
                raise ExchangeError(f"Parameter {name} must have shape {shape}. Got {array.shape}.")
            vector[start : start + array.size] = array.reshape(-1)  # row by row, as C and NumPy store it
            start += array.size
        return vector

    def unflatten(self, vector: np.ndarray) -> dict[str, np.ndarray]:
        """Named arrays of float32, each a copy of its part of the vector.

        Raises
        ------
        ExchangeError
            If the vector has another length.
        """
        vector = np.asarray(vector)
        if vector.shape != (self.size,):
            raise ExchangeError(f"The vector must have shape ({self.size},). Got {vector.shape}.")
        parameters, start = {}, 0
        for name, shape in zip(self.names, self.shapes, strict=True):
            stop = start + math.prod(shape)
            parameters[name] = vector[start:stop].reshape(shape).astype(np.float32)
            start = stop
        return parameters
