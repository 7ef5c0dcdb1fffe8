"""Candidates of a search have different names if their parameters differ."""

from sklearn_deid.plotting.candidate_names import candidate_names
from sklearn_deid.representations import Bounded


def test_candidates_with_other_objects_are_on_other_lines():
    """Two objects of one class had one text: one line joined their candidates."""
    strict, loose = Bounded(max_attack_accuracy=0.52), Bounded(max_attack_accuracy=0.6)
    candidates = [{"n": n, "rep__training": training} for training in (strict, loose) for n in (10, 100)]
    lines = ["training=Bounded 1", "training=Bounded 2"]
    assert candidate_names(candidates, "n") == [(n, line) for line in lines for n in ("10", "100")]
    assert candidate_names(candidates, None)[2] == ("n=10, training=Bounded 2", "")


def test_numbers_that_agree_in_six_digits_are_numbered():
    assert candidate_names([{"seed": 1_000_000 + i} for i in (0, 1, 0)], None) == [
        ("1e+06 1", ""),
        ("1e+06 2", ""),
        ("1e+06 1", ""),
    ]


def test_equal_objects_and_lacking_parameters():
    one = Bounded()
    assert candidate_names([{"training": one, "n": 1}, {"training": one, "n": 2}], None) == [("1", ""), ("2", "")]
    assert candidate_names([{"n": 1}, {"n": 1, "kind": None}], "n") == [("1", ""), ("1", "kind=None")]
    assert candidate_names([{"n": 1}, {"kind": True}], "n") == [("1", ""), ("", "kind=True")]
