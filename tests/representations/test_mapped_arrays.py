"""Arrays of a file of safetensors are mapped, and a header that claims anything else is refused."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from sklearn_deid.exceptions import BundleError
from sklearn_deid.representations.mapped_arrays import map_arrays


def written(path, arrays):
    save_file(arrays, path)
    return path


def test_mapped_arrays_are_those_that_were_saved(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {
        "vectors": rng.standard_normal((5, 3)).astype(np.float32),
        "offsets": np.array([0, 2, 5]),
        "tags": np.arange(5, dtype=np.uint16),
    }
    found = map_arrays(written(tmp_path / "arrays", arrays))
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    assert isinstance(found["vectors"], np.memmap) and not found["vectors"].flags.writeable


def test_an_empty_array_cannot_be_mapped_and_is_made(tmp_path):
    found = map_arrays(written(tmp_path / "arrays", {"vectors": np.zeros((0, 3), dtype=np.float32)}))
    assert found["vectors"].shape == (0, 3)


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "F33"},
        {"shape": [5, -3]},
        {"shape": [50, 3]},
        {"data_offsets": [0, 600]},
        {"data_offsets": [-60, 0]},
        {"data_offsets": None},
    ],
)
def test_a_header_that_does_not_fit_is_refused(tmp_path, change):
    path = written(tmp_path / "arrays", {"vectors": np.zeros((5, 3), dtype=np.float32)})
    whole = path.read_bytes()
    size = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + size])
    header["vectors"].update(change)
    forged = json.dumps(header).encode()
    path.write_bytes(len(forged).to_bytes(8, "little") + forged + whole[8 + size :])
    with pytest.raises(BundleError):
        map_arrays(path)


@pytest.mark.parametrize("kept", [0, 7, 20])
def test_a_file_that_ends_early_is_refused(tmp_path, kept):
    path = written(tmp_path / "arrays", {"vectors": np.zeros((5, 3), dtype=np.float32)})
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(BundleError):
        map_arrays(path)
