"""Tags and confidences of a tagger as `NoteTagger` reads them."""

import numpy as np
import pytest

from sklearn_deid.sequences import check_sequences
from sklearn_deid.tagging.note_tagger import flat_tags


class SureTagger:
    """Returns the given confidences for one sentence."""

    def __init__(self, *sure):
        self.sure = [np.array(sure, dtype=np.float32)]

    def predict(self, X, return_confidence=False):
        return [["B-AGE"] * len(row) for row in X], self.sure


def test_confidences_do_not_contain_the_last_digits_of_float32():
    """The digits depend on the other notes of a batch, so that a resumed run wrote other bytes than a whole run."""
    exact, other = (0.9134567, 0.25, 1.0, 0.0), (0.9134566, 0.25000006, 0.99999994, 1e-8)
    found = [flat_tags(SureTagger(*sure), check_sequences([["95", "96", "97", "98"]]))[1] for sure in (exact, other)]
    assert found == [[0.913457, 0.25, 1.0, 0.0]] * 2


@pytest.mark.parametrize("sure", [(float("nan"), 0.5), (0.5,), (0.5, 0.5, 0.5), (float("inf"), 0.5)])
def test_confidences_that_are_no_numbers_or_not_one_for_each_token_are_refused(sure):
    """NaN is neither below nor above a threshold."""
    with pytest.raises(ValueError, match="no numbers, or not one for each token"):
        flat_tags(SureTagger(*sure), check_sequences([["95", "96"]]))
