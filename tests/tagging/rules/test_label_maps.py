"""Kinds of finds in the words of the label schemes."""

import pytest

from sklearn_deid.tagging.rules import KINDS, LABEL_MAPS, infer_label_map, rule_label_map
from sklearn_deid.text import get_label_scheme


@pytest.mark.parametrize("name", LABEL_MAPS)
def test_every_kind_has_a_label_of_the_scheme(name):
    assert set(LABEL_MAPS[name]) == set(KINDS)
    assert set(LABEL_MAPS[name].values()) <= set(get_label_scheme(name).labels)


def test_inferred_from_labels():
    assert infer_label_map(["PATIENT"])["NATIONALID"] == "IDNUM"
    assert infer_label_map(["PAIS"])["DATE"] == "FECHAS"
    assert infer_label_map(["PHI"])["DATE"] == "PHI"
    assert infer_label_map([]) == rule_label_map("i2b2-2014")
    with pytest.raises(ValueError, match="Set 'label_scheme' to a mapping"):
        infer_label_map(["WHO"])


def test_errors():
    with pytest.raises(ValueError, match="do not find the kind 'NAME'"):
        rule_label_map({"NAME": "X"})
    with pytest.raises(ValueError, match="must be one of"):
        rule_label_map("i2b2")
    with pytest.raises(ValueError, match="must be a str or None"):
        rule_label_map({"DATE": 3})
