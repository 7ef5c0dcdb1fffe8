"""Seeded results are bit for bit those of the version that ``golden.json`` was made with."""

import json

import pytest

from ..digests import digest, other_environment
from .cases import CASES, run_case
from .make_golden import GOLDEN

_STORED = json.loads(GOLDEN.read_text())
_HASHES = _STORED["hashes"]
_OTHER = other_environment(_STORED["environment"])


def test_every_case_has_a_hash_and_every_hash_a_case():
    assert sorted(CASES) == sorted(_HASHES)


@pytest.mark.skipif(bool(_OTHER), reason=f"the hashes are of another environment: {_OTHER}")
@pytest.mark.parametrize("name", sorted(CASES))
def test_seeded_result_is_as_it_was(name):
    if "pretrained" in name:
        pytest.importorskip("transformers", reason="the extra 'transformers' is not installed")
    found = digest(run_case(name))
    assert found == _HASHES[name], f"'{name}' gives other values than the version of the golden file"
