"""The examples in the docstrings run and print what they say."""

import doctest

import pytest

from sklearn_deid.metrics import counting, leaks, pairing, report, scorers, sequences


@pytest.mark.parametrize("module", [counting, leaks, pairing, report, scorers, sequences], ids=lambda m: m.__name__)
def test_examples(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
