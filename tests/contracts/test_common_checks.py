"""scikit-learn's common checks, on every estimator that can be put behind a table of numbers.

They check what an estimator keeps, copies, repeats and refuses as well as what its adapter does. What fails by
intention stands in `EXPECTED` with the reason, and in a table of docs/architecture.md; anything else that fails, and
anything of `EXPECTED` that does not fail any longer, is an error.
"""

import re
import warnings
from pathlib import Path

import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import check_estimator

from sklearn_deid import (
    AdversarialPrivacyAuditor,
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
from sklearn_deid.representations import WordClassRepresenter
from sklearn_deid.tagging import LabelLineTagger, NoteAugmenter, NotePriorTagger, PretrainedEncoder, WordBiasTagger

from .estimator_cases import CASES, CORPUS, DEVIATIONS, X, Y
from .two_dimensions import WORDS, NearestTag, RowsAsSentences, RowsAsWords

TINY = {"max_epochs": 1, "hidden_size": 2, "device": "cpu", "random_state": 0}
MOVER = {"embeddings": WORDS, "random_state": 0}
RULES = RuleTagger(label_scheme={"DATE": "C0"})
SMALL_REPRESENTER = {
    "n_components": 2,
    "n_neighbors": 3,
    "hidden_size": 2,
    "tagger_hidden_size": 2,
    "max_epochs": 1,
    "batch_size": 400,
}

ADAPTED = {
    "DeidTagger": RowsAsSentences(DeidTagger(**TINY)),
    "DSSGDEnsemble": RowsAsSentences(DSSGDEnsemble(DeidTagger(**TINY), n_workers=2, n_epochs=1, random_state=0)),
    "RuleTagger": RowsAsSentences(RULES, words=True),
    "HybridTagger": RowsAsSentences(HybridTagger(RULES, NearestTag()), words=True),
    "VotingTagger": RowsAsSentences(VotingTagger([("one", NearestTag()), ("two", NearestTag())])),
    "RecallTunedTagger": RowsAsSentences(
        RecallTunedTagger(NearestTag(), target_recall=0.5, confidence=None, min_precision=0, random_state=0)
    ),
    "TemperatureScaledTagger": RowsAsSentences(TemperatureScaledTagger(NearestTag(), random_state=0)),
    "LabelLineTagger": RowsAsSentences(LabelLineTagger(NearestTag())),
    "NotePriorTagger": RowsAsSentences(NotePriorTagger(NearestTag())),
    "WordBiasTagger": RowsAsSentences(WordBiasTagger(NearestTag()), words=True),
    "NeighborPseudonymizer": RowsAsWords(NeighborPseudonymizer(n_neighbors=5, **MOVER)),
    "CusTextPseudonymizer": RowsAsWords(CusTextPseudonymizer(n_neighbors=5, **MOVER)),
    "MadlibPseudonymizer": RowsAsWords(MadlibPseudonymizer(**MOVER)),
    "SanTextPseudonymizer": RowsAsWords(SanTextPseudonymizer(**MOVER)),
    "GaussianNoisePerturber": RowsAsWords(GaussianNoisePerturber(**MOVER)),
    "RandomVectorPerturber": RowsAsWords(RandomVectorPerturber(**MOVER)),
    "ZeroVectorPerturber": RowsAsWords(ZeroVectorPerturber(**MOVER)),
    "WordClassRepresenter": RowsAsWords(WordClassRepresenter(embeddings=WORDS, class_size=3)),
    "NoteAugmenter": RowsAsWords(NoteAugmenter(random_state=0)),
    "PrivateRepresenter": RowsAsWords(PrivateRepresenter(**MOVER, **SMALL_REPRESENTER, device="cpu")),
}
NOT_ADAPTED = {
    "NoteDeidentifier": "reads whole notes",
    "AdversarialPrivacyAuditor": "is a scorer without fit",
    "PretrainedEncoder": "contains settings, without fit",
    "SurrogatePseudonymizer": "writes names, which the adapter cannot turn back into numbers",
}

_MOVES = "`fit_transform` replaces PHI, `transform` replaces nothing (the methods differ, as in `TargetEncoder`)"
_FLOAT32 = "vectors are always float32"
_NEW_NOISE = "each `transform` draws new noise, also in a copy"
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
    "WordClassRepresenter": {"check_transformer_preserve_dtypes": _FLOAT32},
    "PrivateRepresenter": {
        "check_transformer_preserve_dtypes": _FLOAT32,
        "check_estimators_pickle": _NEW_NOISE,
        "check_methods_sample_order_invariance": _NEW_NOISE,
        "check_methods_subset_invariance": _NEW_NOISE,
        "check_fit2d_1sample": "refuses one patient, and its message names patients instead of samples",
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


# Checks that need no data of their own: they are run on the taggers themselves and not behind a table.
INTERFACE_CHECKS = [
    getattr(estimator_checks, name)
    for name in (
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_estimator_sparse_tag",
        "check_estimator_tags_renamed",
        "check_get_params_invariance",
        "check_mixin_order",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_set_params",
        "check_valid_tag_types",
    )
    if hasattr(estimator_checks, name)  # scikit-learn 1.6 does not have all of them
]
EXPECTED_OF_INTERFACE = {
    ("DeidTagger", "check_no_attributes_set_in_init"): "skorch keeps its history from the start",
    (
        "NoteDeidentifier",
        "check_estimator_sparse_tag",
    ): "refuses a matrix because it is no corpus, not because of zeros",
}
TAGGERS = [
    name
    for name, case in CASES.items()
    if type(case.make()).__module__.startswith("sklearn_deid.tagging.") and not case.is_transformer
]
TAGGERS.remove("PretrainedEncoder")


@pytest.mark.parametrize("check", INTERFACE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", TAGGERS)
def test_interface_of_taggers_themselves(name, check):
    estimator = CASES[name].make()
    if (name, check.__name__) in EXPECTED_OF_INTERFACE:
        with pytest.raises(AssertionError):
            check(name, estimator)
    else:
        check(name, estimator)


@pytest.mark.parametrize("estimator", [AdversarialPrivacyAuditor(), PretrainedEncoder("folder")])
def test_no_object_reads_tables(estimator):
    tags = get_tags(estimator)
    assert (tags.input_tags.two_d_array, tags.input_tags.string) == (False, True)


@pytest.mark.parametrize("name", TAGGERS)
def test_tags_of_taggers_are_honest(name):
    estimator = CASES[name].make()
    tags = get_tags(estimator)
    assert tags.estimator_type is None, "a tag sequence is not a class"
    assert not tags.input_tags.two_d_array
    assert tags.input_tags.string
    assert tags.target_tags.required is (name not in ("RuleTagger", "NoteDeidentifier"))
    # scikit-learn's own choice of checks leaves such estimators out, and says so.
    with pytest.warns(SkipTestWarning, match=f"Can't test estimator {name} which requires input"):
        results = check_estimator(estimator, on_skip=None, on_fail=None)
    assert {result["status"] for result in results} == {"passed"}


@pytest.mark.parametrize("name", TAGGERS)
def test_taggers_have_a_score_that_takes_no_weights(name):
    estimator = CASES[name].make()
    data = (CORPUS, None) if name == "NoteDeidentifier" else (X, Y)
    with pytest.raises(ValueError, match=f"{name}.score does not take sample weights"):
        estimator.score(*data, sample_weight=[1.0] * len(data[0]))
    CASES[name].fit(estimator)
    assert 0 <= estimator.score(*data, sample_weight=None) <= 1


def test_documentation_has_the_tables():
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [re.split(r"\s*\|\s*", line)[1:-1] for line in page.splitlines() if line.startswith("| `")]
    for name, checks in EXPECTED.items():
        for check, reason in checks.items():
            assert any(f"`{name}`" in row[0] and f"`{check}`" in row[1] and reason == row[2] for row in rows), check
    for name, reason in [*NOT_ADAPTED.items(), *((name, reason) for (name, _), reason in DEVIATIONS.items())]:
        assert any(f"`{name}`" in row[0] and reason == row[-1] for row in rows), reason
