"""Parameters by name and shape."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sklearn_deid.exceptions import ExchangeError
from sklearn_deid.federated import ParameterLayout

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
FLOATS = st.floats(width=32, allow_nan=False)
ARRAYS = st.dictionaries(st.text(max_size=5), SHAPES.flatmap(lambda s: hnp.arrays(np.float32, s, elements=FLOATS)))


@given(ARRAYS)
def test_flatten_and_back(parameters):
    layout = ParameterLayout.of(parameters)
    vector = layout.flatten(parameters)
    assert vector.dtype == np.float32
    assert vector.shape == (layout.size,) == (sum(array.size for array in parameters.values()),)
    again = layout.unflatten(vector)
    assert set(again) == set(parameters)
    for name, array in parameters.items():
        assert again[name].shape == array.shape
        np.testing.assert_array_equal(again[name], array)


@given(ARRAYS)
def test_order_of_names_does_not_matter(parameters):
    other = dict(reversed(parameters.items()))
    one, two = ParameterLayout.of(parameters), ParameterLayout.of(other)
    assert one == two
    assert one.fingerprint == two.fingerprint
    np.testing.assert_array_equal(one.flatten(parameters), one.flatten(other))


def test_fingerprint_tells_models_apart():
    a, b = np.zeros((2, 3)), np.zeros((3, 2))
    layouts = [
        ParameterLayout.of({"w": a}),
        ParameterLayout.of({"w": b}),
        ParameterLayout.of({"v": a}),
        ParameterLayout.of({"w": a}, tag="labels"),
        ParameterLayout.of({"w": a, "v": a}),
    ]
    assert len({layout.fingerprint for layout in layouts}) == len(layouts)
    assert all(len(layout.fingerprint) == 32 for layout in layouts)
    assert ParameterLayout.of({"w": a}).fingerprint == ParameterLayout.of({"w": a + 1}).fingerprint


def test_copies_are_independent():
    parameters = {"w": np.ones(3, dtype=np.float32)}
    layout = ParameterLayout.of(parameters)
    vector = layout.flatten(parameters)
    layout.unflatten(vector)["w"][0] = 7
    vector[1] = 8
    assert parameters["w"].tolist() == [1, 1, 1]
    assert vector.tolist() == [1, 8, 1]


def test_what_does_not_fit_is_refused():
    layout = ParameterLayout.of({"w": np.ones((2, 3)), "v": np.ones(1)})
    with pytest.raises(ExchangeError, match="1 are missing, 1 are new"):
        layout.flatten({"w": np.ones((2, 3)), "u": np.ones(1)})
    with pytest.raises(ExchangeError, match=r"w must have shape \(2, 3\). Got \(3, 2\)"):
        layout.flatten({"w": np.ones((3, 2)), "v": np.ones(1)})
    with pytest.raises(ExchangeError, match=r"shape \(7,\). Got \(6,\)"):
        layout.unflatten(np.ones(6))
    with pytest.raises(ExchangeError, match="must hold floats. Got int64"):
        ParameterLayout.of({"w": np.ones(2, dtype=np.int64)})
    with pytest.raises(ExchangeError, match="must be text"):
        ParameterLayout.of({3: np.ones(2)})
