"""scikit-learn's common checks, on every estimator that can be put behind a table of numbers.

They check what an estimator keeps, copies, repeats and refuses as well as what its adapter does. What fails by
intention stands in `EXPECTED` with the reason, and in a table of docs/architecture.md; anything else that fails, and
anything of `EXPECTED` that does not fail any longer, is an error.
"""

import re
import warnings
from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import check_estimator

from sklearn_deid import (
    CusTextPseudonymizer,
    DeidTagger,
    DSSGDEnsemble,
    GaussianNoisePerturber,
    HybridTagger,
    MadlibPseudonymizer,
    NeighborPseudonymizer,
    PrivateRepresenter,
    RandomVectorPerturber,
    RecallTunedTagger,
    RuleTagger,
    SanTextPseudonymizer,
    TemperatureScaledTagger,
    VotingTagger,
    ZeroVectorPerturber,
)

from .estimator_cases import CASES, DEVIATIONS
from .two_dimensions import WORDS, NearestTag, RowsAsSentences, RowsAsWords

TINY = {"max_epochs": 1, "hidden_size": 2, "device": "cpu", "random_state": 0}
MOVER = {"embeddings": WORDS, "random_state": 0}
RULES = RuleTagger(label_scheme={"DATE": "C0"})
SMALL_REPRESENTER = {"n_components": 2, "n_neighbors": 3, "hidden_size": 2, "tagger_hidden_size": 2, "max_epochs": 1}

ADAPTED = {
    "DeidTagger": RowsAsSentences(DeidTagger(**TINY)),
    "DSSGDEnsemble": RowsAsSentences(DSSGDEnsemble(DeidTagger(**TINY), n_workers=2, n_epochs=1, random_state=0)),
    "RuleTagger": RowsAsSentences(RULES, words=True),
    "HybridTagger": RowsAsSentences(HybridTagger(RULES, NearestTag()), words=True),
    "VotingTagger": RowsAsSentences(VotingTagger([("one", NearestTag()), ("two", NearestTag())])),
    "RecallTunedTagger": RowsAsSentences(
        RecallTunedTagger(NearestTag(), target_recall=0.5, confidence=None, random_state=0)
    ),
    "TemperatureScaledTagger": RowsAsSentences(TemperatureScaledTagger(NearestTag(), random_state=0)),
    "NeighborPseudonymizer": RowsAsWords(NeighborPseudonymizer(n_neighbors=5, **MOVER)),
    "CusTextPseudonymizer": RowsAsWords(CusTextPseudonymizer(n_neighbors=5, **MOVER)),
    "MadlibPseudonymizer": RowsAsWords(MadlibPseudonymizer(**MOVER)),
    "SanTextPseudonymizer": RowsAsWords(SanTextPseudonymizer(**MOVER)),
    "GaussianNoisePerturber": RowsAsWords(GaussianNoisePerturber(**MOVER)),
    "RandomVectorPerturber": RowsAsWords(RandomVectorPerturber(**MOVER)),
    "ZeroVectorPerturber": RowsAsWords(ZeroVectorPerturber(**MOVER)),
    "PrivateRepresenter": RowsAsWords(PrivateRepresenter(**MOVER, **SMALL_REPRESENTER, device="cpu")),
}
NOT_ADAPTED = {
    "NoteDeidentifier": "reads whole notes",
    "AdversarialPrivacyAuditor": "is a scorer: it has no fit",
    "PretrainedEncoder": "holds settings: it has no fit",
}

_MOVES = "`fit_transform` moves the PHI it was given, `transform` moves nothing (as in `TargetEncoder` they differ)"
_FLOAT32 = "vectors are float32, whatever went in"
_NEW_NOISE = "each `transform` draws new noise, also that of a copy"
_MOVING = {"check_transformer_general": _MOVES, "check_transformer_data_not_an_array": _MOVES}
_MOVING_VECTORS = {**_MOVING, "check_transformer_preserve_dtypes": _FLOAT32}
EXPECTED = {
    "NeighborPseudonymizer": _MOVING,
    "CusTextPseudonymizer": _MOVING,
    "MadlibPseudonymizer": _MOVING,
    "SanTextPseudonymizer": _MOVING,
    "GaussianNoisePerturber": _MOVING_VECTORS,
    "RandomVectorPerturber": _MOVING_VECTORS,
    "ZeroVectorPerturber": _MOVING_VECTORS,
    "PrivateRepresenter": {
        "check_transformer_preserve_dtypes": _FLOAT32,
        "check_estimators_pickle": _NEW_NOISE,
        "check_methods_sample_order_invariance": _NEW_NOISE,
        "check_methods_subset_invariance": _NEW_NOISE,
        "check_fit2d_1sample": "refuses one patient, and says so of patients, not of samples",
    },
}


def test_every_public_estimator_is_adapted_or_says_why_not():
    assert {*ADAPTED, *NOT_ADAPTED} == set(CASES)
    assert not set(ADAPTED) & set(NOT_ADAPTED)


@pytest.mark.parametrize("name", ADAPTED)
def test_common_checks_fail_where_intended_and_nowhere_else(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the tiny data of the checks
        results = check_estimator(ADAPTED[name], on_skip=None, on_fail=None)
    assert len(results) > 40
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    expected = EXPECTED.get(name, {})
    assert not {check: error for check, error in failed.items() if check not in expected}
    ran = {result["check_name"] for result in results if result["status"] != "skipped"}
    assert not (set(expected) & ran) - set(failed), "does not fail any longer"


def test_documentation_has_the_tables():
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [re.split(r"\s*\|\s*", line)[1:-1] for line in page.splitlines() if line.startswith("| `")]
    for name, checks in EXPECTED.items():
        for check, reason in checks.items():
            assert any(f"`{name}`" in row[0] and f"`{check}`" in row[1] and reason == row[2] for row in rows), check
    for name, reason in [*NOT_ADAPTED.items(), *((name, reason) for (name, _), reason in DEVIATIONS.items())]:
        assert any(f"`{name}`" in row[0] and reason == row[-1] for row in rows), reason
