"""Verdicts follow from differences over seeds; what cannot be compared says why."""

import pytest

from benchmarks.reproduce import claims
from benchmarks.reproduce.claims import Claim, judge, read_claims
from benchmarks.reproduce.plan import PAPERS
from benchmarks.reproduce.running import module_of
from benchmarks.reproduce.sources import read_sources

from .canned_runs import perturbation, write

LEFT, RIGHT = ({"arm": arm, "figure": "strict_f1"} for arm in ("neighbors-100", "raw"))


def verdict_of(tmp_path, losses, relation=">=", margin=-1.0, right=None):
    rows = [perturbation("raw", seed, 0.9) for seed in range(len(losses))]
    rows += [perturbation("neighbors-100", seed, 0.9 - loss / 100) for seed, loss in enumerate(losses)]
    write(tmp_path, "runs", rows)
    claim = Claim("friedrich", "here", "It costs little.", "it is short", "perturbations", LEFT, right or RIGHT)
    claim = Claim(**{**vars(claim), "relation": relation, "margin": margin})
    (found,) = judge(claim, read_sources([tmp_path]))
    return found


@pytest.mark.parametrize(
    "losses, relation, verdict",
    [
        ([0.1, 0.2, 0.3], ">=", claims.HOLDS),
        ([3.0, 3.1, 3.2], ">=", claims.FAILS),
        ([0.0, 0.5, 1.9], ">=", claims.OPEN_FOR),
        ([0.1, 1.9, 1.9], ">=", claims.OPEN_AGAINST),
        ([0.5], ">=", claims.ONE_FOR),
        ([1.5], ">=", claims.ONE_AGAINST),
        ([3.0, 3.1, 3.2], "<=", claims.HOLDS),
        ([0.1, 0.2, 0.3], "<=", claims.FAILS),
        ([1.5], "<=", claims.ONE_FOR),
    ],
)
def test_the_verdict_is_where_the_interval_lies(tmp_path, losses, relation, verdict):
    found = verdict_of(tmp_path, losses, relation)
    assert found.verdict == verdict
    assert ("Likely reason: it is short." in found.sentence) == (verdict in claims._AGAINST)


def test_a_bar_stands_for_the_right_side(tmp_path):
    found = verdict_of(tmp_path, [0.0, 0.0], margin=0.0, right={"bar": 0.9})
    assert found.verdict == claims.HOLDS and "90.0 against 90.0" in found.sentence


def test_without_runs_and_without_sides_there_is_a_verdict_too(tmp_path):
    claim = Claim("friedrich", "here", "It costs little.", "it is short", "perturbations", LEFT, RIGHT)
    assert [one.verdict for one in judge(claim, [])] == [claims.NOT_MEASURED]
    (found,) = judge(Claim("ahmed", "here", "99.97 on MIMIC-III.", "it needs a licence"), [])
    assert found.verdict == claims.NOT_COMPARABLE and "because it needs a licence" in found.sentence


def test_in_short_each_claim_stands_once_by_its_best_runs(tmp_path):
    few = [perturbation(arm, 0, f1) for arm, f1 in (("raw", 0.9), ("neighbors-100", 0.5))]
    many = [{**row, "notes": 1000, "binary_token_f1": 0.9} for row in few]
    write(tmp_path, "runs", few + many)
    found = read_claims(["friedrich"])
    text = "\n".join(claims.in_short(found, read_sources([tmp_path])))
    assert all(text.count(f"- {claim.says}") == sum(one.says == claim.says for one in found) for claim in found)
    assert f"{found[0].says} *({claims.ONE_FOR}, R2: generated, 1000 notes)*" in text


def test_each_paper_has_claims_and_their_arms_exist():
    for paper in PAPERS:
        found = read_claims([paper])
        assert found
        for claim in found:
            for side in (claim.left, claim.right):
                if side and "arm" in side:
                    script = module_of(claim.script)
                    assert side["arm"] in getattr(script, "ARMS", getattr(script, "MODELS", ())), claim.says


@pytest.mark.parametrize("wrong", [{"relation": ">"}, {"left": LEFT}, {"left": LEFT, "right": RIGHT}])
def test_a_wrong_claim_is_refused(wrong):
    with pytest.raises(ValueError, match="claim"):
        Claim("friedrich", "here", "It costs little.", "it is short", **wrong)
