"""Casing and lengths: exact shares, symmetric differences of intact vectors, and casing that vectors hide."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from sklearn_deid import PrivateRepresenter
from sklearn_deid.audit.attacks import CasingLengthsAttack, OpenSentences, VectorsBesideOwn
from sklearn_deid.audit.attacks.casing_lengths import _furthest
from sklearn_deid.audit.registry import named_attacks
from sklearn_deid.sequences import TokenSequences
from sklearn_deid.text import casing_ids

from ...representations.test_private_representer import TINY
from ..audited_toys import audited_sentences, auditor

X = TokenSequences.from_rows([["No", "pain"], ["no", "PAIN"], ["No", "harm"], ["left"], ["left"], ["MRI"]])


def picked(casing, n_candidates=100, X=X):
    attack = CasingLengthsAttack(n_candidates=n_candidates, random_state=0).fit()
    return attack.attack(OpenSentences(X, casing, None))


def test_shares_are_exact():
    """Five distinct sentences: three of two tokens, of which two have equal casing; two of one token."""
    by_length, by_casing = picked(None), picked(casing_ids(X.data.tolist()))
    assert by_length.attack.value == pytest.approx((3 * 1 / 3 + 2 * 1 / 2) / 5)
    assert by_casing.attack.value == pytest.approx((2 * 1 / 2 + 3) / 5)
    assert by_casing.details["by the number of tokens alone"] == by_length.attack.value
    for found in (by_length, by_casing):
        assert found.status == "ok" and found.advantage == 0.0 and found.positive_control.value == 1.0
        assert found.details["guessing among all candidates"] == 1 / 5


def test_wrong_casing_misleads():
    wrong = casing_ids(X.data.tolist())
    wrong[:2] = wrong[2:4]  # the first sentence shows the casing of the second
    # The first is never picked; the third, whose casing only the first has too, in half of the cases.
    assert picked(wrong).attack.value == pytest.approx((0 + 1 + 1 / 2 + 1 + 1) / 5)
    wrong[:] = 6
    assert picked(wrong).attack.value == pytest.approx(1 / 5)


def test_candidates_are_drawn():
    many = TokenSequences.from_rows([[f"w{i}"] for i in range(300)])
    assert picked(None, 3, many).attack.value == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="at least two distinct sentences"):
        picked(None, X=TokenSequences.from_rows([["left"]] * 3))
    with pytest.raises(ValueError, match="'n_candidates' parameter must be at least 2"):
        CasingLengthsAttack(n_candidates=1)


def vectors(n=300, d=4, seed=0, scale=1.0, grid=2.0**-5):
    """Sentences of random casing, with Gaussian vectors on a grid that left, and others with the same law."""
    rng = np.random.default_rng(seed)
    rows = [[["Mr", "pain", "MRI"][k] + "ab"[i % 2] * (i % 7) for k in rng.integers(3, size=5)] for i in range(n)]
    X = TokenSequences.from_rows([[*row, str(i)] for i, row in enumerate(rows)])
    mean = rng.standard_normal((len(X.data), d))
    left, own = (np.rint((mean + scale * rng.standard_normal(mean.shape)) / grid) * grid for _ in range(2))
    return VectorsBesideOwn(X, left, own, mean, grid)


@pytest.mark.parametrize("seed", range(20))
def test_intact_vectors_stay_below_the_limit(seed):
    furthest, limit = _furthest([vectors(seed=seed, scale=[0.1, 1.0, 5.0][seed % 3]), vectors(20, seed=100 + seed)])
    assert furthest < limit and 3.0 < limit < 6.0


def test_standard_errors_are_those_of_one_class_by_hand():
    """Two tokens, one capitalised: the weights are one half and minus one half in their classes."""
    Y = TokenSequences.from_rows([["Mr", "a"], ["Ms", "b"], ["Dr", "c"]])
    zero = np.zeros((6, 1))
    left = np.array([[1.0], [0.0], [3.0], [1.0], [0.0], [2.0]])
    furthest, _ = _furthest([VectorsBesideOwn(Y, left, zero, zero, 2.0**-20)])
    # Numbers: halves of the differences 1, 2 and -2. Squares: halves of 1, 8 and -4.
    assert furthest == pytest.approx(max(1 / 3, 5 / 9))


def test_numbers_that_are_not_finite_are_a_leak():
    found = vectors()
    left = found.left.copy()
    left[0, 0] = np.nan
    sentences = OpenSentences(X, None, None)
    assert "encode the casing" in CasingLengthsAttack().attack(sentences, [replace(found, left=left)]).faults[0]


@pytest.mark.parametrize("how", ["shift", "louder", "last bit"])
def test_hidden_casing_is_found(how):
    part = vectors(600)
    upper = np.isin(casing_ids(part.X.data.tolist()), (4, 5))
    left = part.left.copy()
    if how == "shift":
        left[:, 1] += 0.5 * upper
    elif how == "louder":
        left[:, 2] += 1.5 * upper * np.random.default_rng(1).standard_normal(len(left))
    else:
        steps = np.rint(left[:, 0] / part.grid)
        left[:, 0] = np.where((steps % 2 == 1) == upper, steps, steps + 1) * part.grid
    found = CasingLengthsAttack(random_state=0).attack(OpenSentences(part.X, None, None), [replace(part, left=left)])
    assert found.status == "invalid" and "vectors encode the casing" in found.failures[0]
    shift = [replace(part, left=part.left + 3.0)]
    assert CasingLengthsAttack(random_state=0).attack(OpenSentences(part.X, None, None), shift).status == "ok"


@pytest.fixture(scope="module")
def data():
    return audited_sentences()


@pytest.fixture(scope="module")
def bare(data):
    fitted = PrivateRepresenter(**{**TINY, "casing": False, "max_epochs": 1}).fit(*data)
    return copy.deepcopy(fitted)  # a copy has no seed


class Shouting(PrivateRepresenter):
    """Says that the casing stays, and moves the vectors of capitalised words."""

    def transform(self, X):
        released = super().transform(X)
        upper = np.isin(casing_ids([word for row in X for word in row]), (4, 5))
        moved = released.data + np.float32(0.5) * upper[:, None] * (np.arange(released.d) == 0)
        return type(released)(moved.astype(np.float32), released.offsets, released.origin)


def test_quick_audit_names_the_fault(bare, data):
    assert "casing_lengths" in dict(named_attacks("quick", ["representation"]))
    broken = copy.copy(bare)
    broken.__class__ = Shouting
    some = tuple(part[:80] for part in data[:2])  # without patients, whose linkage takes a third of the time
    for one, attacks, sentences in ((bare, "quick", some), (bare, ["casing_lengths"], data)):
        intact = auditor(attacks).audit(one, *sentences)
        assert not [issue for issue in intact.blocking_issues if "casing" in issue]
        assert [w for w in intact.warnings if w.startswith("Declared as open")]
    issues = auditor(["casing_lengths"]).audit(broken, *data).blocking_issues
    assert [issue for issue in issues if issue.startswith("casing and lengths: The vectors encode the casing")]


def test_declared_casing_is_no_fault(data):
    X, y, groups = data
    open_ = PrivateRepresenter(**{**TINY, "max_epochs": 1}).fit(X, y, groups=groups)
    (found,) = auditor(["casing_lengths"]).audit(open_, X, y, groups).results
    assert found.status == "ok" and found.settings["casing_left"] and "limit" not in found.details
    assert found.attack.value > found.details["by the number of tokens alone"]
