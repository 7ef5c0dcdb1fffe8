"""Time of the look for XML."""

import time

import pytest

from sklearn_deid.text.xml_notes import is_xml


@pytest.mark.parametrize("unit", ["<a>b</a>", "<a "])
@pytest.mark.parametrize("outer", ["<div>{}</div>", "<rec>{}</rec>"])
def test_time_is_linear(unit, outer):
    def seconds(n):
        start = time.process_time()
        is_xml(outer.format(unit * n))
        return time.process_time() - start

    assert min(seconds(4000) for _ in range(3)) < 20 * min(seconds(500) for _ in range(3)) + 0.01
