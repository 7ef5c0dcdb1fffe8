"""Files that the version before 0.2.0 saved load, and say what they said then.

``make_files.py`` made them. Tags, settings, counts and weights must be equal; probabilities equal to 1e-6. The last
bits of a sum depend on the processor, also among processors with the same vector instructions.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from sklearn_deid.embeddings import glove_is_installed

from ..digests import one_thread
from .loaded import LOADERS

_FOLDER = Path(__file__).parent
_STORED = json.loads((_FOLDER / "expected.json").read_text(encoding="utf-8"))
_EXPECTED = _STORED["said"]


def needs(name):
    if "pretrained" in name:
        pytest.importorskip("transformers", reason="the extra 'transformers' is not installed")
    if "glove" in name and not glove_is_installed():
        pytest.skip("the extra 'glove' is not installed")


def test_every_loader_is_expected_to_say_something():
    assert sorted(LOADERS) == sorted(_EXPECTED)


@pytest.mark.parametrize("name", sorted(LOADERS))
def test_old_file_says_what_it_said(name):
    needs(name)
    with one_thread():
        found = LOADERS[name](_FOLDER / "files")
    expected = _EXPECTED[name]
    assert found["exact"] == expected["exact"]
    np.testing.assert_allclose(found["close"], expected["close"], rtol=0, atol=1e-6)
