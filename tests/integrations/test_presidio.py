"""The recogniser inside of Presidio's own analyzer, without network and without a model of its own."""

import sys

import pytest
import spacy

from sklearn_deid import HybridTagger, NoteDeidentifier, RuleTagger
from sklearn_deid.exceptions import DeidError, MissingDependencyError
from sklearn_deid.integrations.deidentifiers import as_deidentifier, labels_of_model
from sklearn_deid.integrations.presidio_entities import PRESIDIO_ENTITIES
from sklearn_deid.text import I2B2_2014, MEDDOCAN

from ..docs.pages import ROOT, blocks_of
from .conftest import TRAP, CapitalTagger

TEXT = "Write to a.roe@example.org or call 555-014-2333, seen 3/5/2019."


@pytest.fixture(scope="module")
def presidio():
    return pytest.importorskip("presidio_analyzer", reason="the extra 'presidio' is not installed")


@pytest.fixture(scope="module")
def recognizer_class(presidio):
    from sklearn_deid.integrations.presidio import DeidRecognizer

    return DeidRecognizer


@pytest.fixture(scope="module")
def analyzer(presidio):
    """Makes an analyzer with one recogniser, on a blank spaCy pipeline."""
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    class BlankEngine(SpacyNlpEngine):
        def __init__(self, language):
            super().__init__()
            self.nlp = {language: spacy.blank(language)}

    def make(recognizer):
        language = recognizer.supported_language
        registry = presidio.RecognizerRegistry(recognizers=[recognizer], supported_languages=[language])
        return presidio.AnalyzerEngine(
            registry=registry, nlp_engine=BlankEngine(language), supported_languages=[language]
        )

    return make


def found(results):
    return sorted((r.start, r.end, r.entity_type) for r in results)


def test_rules_around_a_tagger_list_the_labels_of_both():
    """The recogniser refuses a model without labels, and the service announced no entities of such a model."""
    model = HybridTagger(RuleTagger(["email"]), RuleTagger(["date"])).fit([["a"]], [["O"]])
    assert labels_of_model(as_deidentifier(model)) == ["DATE", "EMAIL"]


def test_each_label_of_the_schemes_has_an_entity():
    assert set(PRESIDIO_ENTITIES) == {*I2B2_2014.labels, *MEDDOCAN.labels}
    assert PRESIDIO_ENTITIES["FECHAS"] == PRESIDIO_ENTITIES["DATE"] == "DATE_TIME"
    assert all(entity.isupper() for entity in PRESIDIO_ENTITIES.values())


def test_entities_are_those_that_presidio_knows(presidio):
    own = {"AGE", "ID", "OTHER", "PROFESSION", "ROOM", "DEPARTMENT", "SEXO_SUJETO_ASISTENCIA"}
    known = {"PERSON", "LOCATION", "PHONE_NUMBER", "DATE_TIME", "EMAIL_ADDRESS", "URL", "IP_ADDRESS", "ORGANIZATION"}
    assert {e for e in PRESIDIO_ENTITIES.values()} - own - {e for e in MEDDOCAN.labels} <= known


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_analyzer_finds_what_the_deidentifier_finds(language, analyzer, recognizer_class, rules_path):
    engine = analyzer(recognizer_class(rules_path, supported_language=language))
    expected = [(9, 26, "EMAIL_ADDRESS"), (35, 47, "PHONE_NUMBER"), (54, 62, "DATE_TIME")]
    results = engine.analyze(TEXT, language=language)
    assert found(results) == expected
    assert {r.score for r in results} == {1.0}
    assert {r.recognition_metadata["label"] for r in results} == {"EMAIL", "PHONE", "DATE"}
    assert found(engine.analyze(TEXT, language=language, entities=["DATE_TIME"])) == expected[2:]
    assert engine.analyze("", language=language) == []


def test_results_name_the_part_of_the_phi_that_the_model_returns(recognizer_class):
    """Surrogates need bare years, too: without the name, they were written beside the years."""
    model = NoteDeidentifier(RuleTagger(recognizers=["date"]).fit([]), labels="hipaa")
    for labels, n, name in ((None, 2, "hipaa"), ("hipaa-surrogate", 3, "hipaa-surrogate"), ("all", 3, None)):
        results = recognizer_class(model, labels=labels).analyze("Admitted January 2019 and 3/5/2019, in 2019.", None)
        assert [one.recognition_metadata.get("labels") for one in results] == [name] * n
    with pytest.raises(ValueError, match="'labels' parameter"):
        recognizer_class(model, labels="names")
    assert model.labels == "hipaa"


def test_the_score_is_the_confidence(analyzer, recognizer_class, capitals):
    engine = analyzer(recognizer_class(capitals, entities={"NAME": "PERSON"}))
    results = engine.analyze("by Ann and Theodora", language="en")
    assert {(r.start, r.end, r.entity_type, r.score) for r in results} == {
        (3, 6, "PERSON", 3 / 8),
        (11, 19, "PERSON", 1.0),
    }
    assert found(engine.analyze("by Ann and Theodora", language="en", score_threshold=0.5)) == [(11, 19, "PERSON")]


class Unsure(CapitalTagger):
    def predict(self, X, return_confidence=False):
        tags, sure = super().predict(X, return_confidence=True)
        for row in sure:
            row[:] = [0.0] * len(row)
        return (tags, sure) if return_confidence else tags


def test_the_analyzer_does_not_drop_a_span_without_confidence(analyzer, recognizer_class):
    engine = analyzer(recognizer_class(NoteDeidentifier(Unsure().fit([]))))
    assert found(engine.analyze("by Ann", language="en")) == [(3, 6, "NAME")]


def test_a_label_that_the_mapping_does_not_have_keeps_its_name(recognizer_class):
    recognizer = recognizer_class(RuleTagger().fit([]), entities={})
    assert "EMAIL" in recognizer.get_supported_entities()
    assert found(recognizer.analyze(TEXT, None)) == [(9, 26, "EMAIL"), (35, 47, "PHONE"), (54, 62, "DATE")]


def test_a_text_that_fails_stops_the_analyzer_and_is_not_shown(analyzer, recognizer_class, capitals, caplog):
    engine = analyzer(recognizer_class(NoteDeidentifier(capitals.estimator, on_error="withhold")))
    with pytest.raises(DeidError, match="cannot be processed.*given to the analyzer") as caught:
        engine.analyze(f"by {TRAP}", language="en")
    assert TRAP not in f"{caught.value!r} {caught.value.__cause__!r} {caplog.text}"


class Silent(CapitalTagger):
    classes_ = ()


def test_a_model_that_does_not_say_its_labels_is_refused(recognizer_class):
    with pytest.raises(ValueError, match="must list its tags"):
        recognizer_class(Silent().fit([]))


def test_the_block_of_the_guide_runs(presidio, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for block in blocks_of(ROOT / "docs" / "integrations.md", "py"):
        exec(compile(block, "integrations.md", "exec"), namespace)
    assert namespace["results"]


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    monkeypatch.delitem(sys.modules, "sklearn_deid.integrations.presidio", raising=False)
    with pytest.raises(MissingDependencyError, match=r"sklearn-deid\[presidio\]"):
        import sklearn_deid.integrations.presidio  # noqa: F401
