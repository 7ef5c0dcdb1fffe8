"""A small example of each public estimator, for the tests that hold for all of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sklearn_deid import (
    AdversarialPrivacyAuditor,
    Corpus,
    CusTextPseudonymizer,
    DeidTagger,
    Document,
    DSSGDEnsemble,
    GaussianNoisePerturber,
    HybridTagger,
    MadlibPseudonymizer,
    NeighborPseudonymizer,
    NoteDeidentifier,
    PretrainedEncoder,
    PrivateRepresenter,
    RandomVectorPerturber,
    RecallTunedTagger,
    RuleTagger,
    SanTextPseudonymizer,
    Span,
    SurrogatePseudonymizer,
    TemperatureScaledTagger,
    VotingTagger,
    WordVectors,
    ZeroVectorPerturber,
)
from sklearn_deid.representations import WordClassRepresenter
from sklearn_deid.tagging import LabelLineTagger, NoteAugmenter, NotePriorTagger, SpanSwap, WordBiasTagger

NAMES, TOWNS = ["Alder", "Birch", "Cedar", "Damson"], ["Northwick", "Eastham", "Southby"]


def make_data(n=24):
    """n sentences, their tags and the patient of each."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(n):
        name, town, age = str(rng.choice(NAMES)), str(rng.choice(TOWNS)), str(rng.integers(20, 90))
        row, tags = [
            (["Mr", ".", name, "was", "seen"], ["O", "O", "B-PATIENT", "O", "O"]),
            (["Lives", "in", town], ["O", "O", "B-CITY"]),
            (["Aged", age, "years", "."], ["O", "B-AGE", "O", "O"]),
        ][rng.integers(3)]
        X.append(row)
        y.append(tags)
    return X, y, [f"patient-{i // 2}" for i in range(n)]


X, Y, GROUPS = make_data()
_WORDS = sorted({word.lower() for row in X for word in row})
VECTORS = WordVectors(_WORDS, np.random.default_rng(1).standard_normal((len(_WORDS), 4)), is_public=True)
TEXTS = [f"Mr. {name} was seen. Lives in {town}." for name, town in zip(NAMES, TOWNS * 2, strict=False)]


def _note(number, text):
    name, town = (4, text.index(" was")), (text.rindex(" ") + 1, len(text) - 1)
    return Document(f"n{number}", text, (Span(*name, "PATIENT"), Span(*town, "CITY")))


CORPUS = Corpus([_note(number, text) for number, text in enumerate(TEXTS)])
_TAGGER = {
    "max_epochs": 1,
    "hidden_size": 4,
    "embeddings": None,
    "span_swap": SpanSwap(invented=8),  # drawing the default number takes longer than the training
    "device": "cpu",
    "random_state": 0,
}
_MOVER = {"embeddings": VECTORS, "random_state": 0}


def tiny_tagger():
    return DeidTagger(**_TAGGER)


def fit_rows(estimator, X=X, y=Y, groups=GROUPS):
    return estimator.fit(X, y) if isinstance(estimator, RuleTagger) else estimator.fit(X, y, groups=groups)


def fit_notes(estimator, X=CORPUS, y=None, groups=None):
    return estimator.fit(X)


@dataclass(frozen=True)
class Case:
    """How to try an estimator.

    Parameters
    ----------
    make : callable
        A small one, not fitted.
    wrong : (str, object)
        A parameter and a value that it refuses.
    fit, output : callable or None
        ``fit(estimator, X, y, groups)``; ``output(fitted, X)``, a sequence with an element for each row of X.
    grid : dict
        A parameter and values for a search.
    rows : sequence
        What ``output`` is asked for.
    is_saved : bool
        Whether `save` takes it.
    """

    make: Callable[[], Any]
    wrong: tuple[str, Any]
    fit: Callable[..., Any] | None = fit_rows
    output: Callable[[Any, Any], Any] | None = lambda estimator, X: estimator.predict(X)
    grid: dict[str, list] = field(default_factory=dict)
    rows: Any = field(default_factory=lambda: X)
    is_saved: bool = True

    @property
    def is_transformer(self):
        return hasattr(self.make(), "transform")


def mover(cls, wrong, **parameters):
    """A perturber, whose `transform` moves nothing; what `fit_transform` moves has a test of its own."""
    return Case(
        lambda: cls(**_MOVER, **parameters),
        wrong,
        output=lambda estimator, X: estimator.transform(X),
        grid={"max_replacements": [None, 1]},
        is_saved=False,
    )


CASES = {
    "DeidTagger": Case(tiny_tagger, ("head", "tail"), grid={"hidden_size": [2]}),
    "DSSGDEnsemble": Case(
        lambda: DSSGDEnsemble(tiny_tagger(), n_workers=2, n_epochs=1, random_state=0),
        ("upload_fraction", 2.0),
        grid={"upload_fraction": [0.1]},
        is_saved=False,
    ),
    "RuleTagger": Case(lambda: RuleTagger(), ("language", 3), grid={"language": ["en"]}),
    "HybridTagger": Case(lambda: HybridTagger(tagger=tiny_tagger()), ("on_conflict", "x"), grid={"tagger__lr": [0.1]}),
    "VotingTagger": Case(
        lambda: VotingTagger([("one", tiny_tagger()), ("two", tiny_tagger().set_params(random_state=1))]),
        ("n_jobs", "x"),
        grid={"one__lr": [0.1]},
    ),
    "RecallTunedTagger": Case(
        lambda: RecallTunedTagger(
            tiny_tagger(), target_recall=0.5, confidence=None, cv=0.25, min_precision=0, random_state=0
        ),
        ("target_recall", 2.0),
        grid={"target_recall": [0.6]},
    ),
    "TemperatureScaledTagger": Case(
        lambda: TemperatureScaledTagger(tiny_tagger(), random_state=0), ("refit", "x"), grid={"estimator__lr": [0.1]}
    ),
    "LabelLineTagger": Case(lambda: LabelLineTagger(tiny_tagger()), ("estimator", "x"), grid={"estimator__lr": [0.1]}),
    "NotePriorTagger": Case(lambda: NotePriorTagger(tiny_tagger()), ("share", 1.5), grid={"strength": [2.0]}),
    "WordBiasTagger": Case(
        lambda: WordBiasTagger(tiny_tagger(), words=["mr", "seen"]), ("bias", "x"), grid={"bias": [-2.0]}
    ),
    "NoteDeidentifier": Case(
        lambda: NoteDeidentifier(tiny_tagger(), segmenter="rules"),
        ("batch_size", 0),
        fit=fit_notes,
        output=lambda estimator, texts: estimator.annotate(texts),
        rows=TEXTS,
    ),
    "NeighborPseudonymizer": mover(NeighborPseudonymizer, ("coherence", "x"), n_neighbors=3),
    "CusTextPseudonymizer": mover(CusTextPseudonymizer, ("epsilon", -1.0), n_neighbors=3),
    "MadlibPseudonymizer": mover(MadlibPseudonymizer, ("epsilon", -1.0)),
    "SanTextPseudonymizer": mover(SanTextPseudonymizer, ("epsilon", -1.0)),
    "GaussianNoisePerturber": mover(GaussianNoisePerturber, ("scale", -1.0)),
    "RandomVectorPerturber": mover(RandomVectorPerturber, ("unknown", "x")),
    "ZeroVectorPerturber": mover(ZeroVectorPerturber, ("unknown", "x")),
    "SurrogatePseudonymizer": Case(
        lambda: SurrogatePseudonymizer(locale="en", random_state=0),
        ("ages", "x"),
        output=lambda estimator, X: estimator.transform(X),
        grid={"keep_gender": [True, False]},
        is_saved=False,
    ),
    "PrivateRepresenter": Case(
        lambda: PrivateRepresenter(
            embeddings=VECTORS,
            n_components=2,
            n_neighbors=3,
            hidden_size=2,
            tagger_hidden_size=2,
            max_epochs=1,
            device="cpu",
            random_state=0,
        ),
        ("training", "x"),
        output=lambda estimator, X: estimator.transform(X),
        grid={"n_components": [3]},
        is_saved=False,
    ),
    "WordClassRepresenter": Case(
        lambda: WordClassRepresenter(embeddings=VECTORS, class_size=3),
        ("class_size", 1),
        output=lambda estimator, X: estimator.transform(X),
        grid={"class_size": [4]},
        is_saved=False,
    ),
    "NoteAugmenter": Case(
        lambda: NoteAugmenter(random_state=0),
        ("ocr_errors", 2.0),
        output=lambda estimator, X: estimator.transform(X),
        grid={"copies": [0.1]},
        is_saved=False,
    ),
    "AdversarialPrivacyAuditor": Case(
        lambda: AdversarialPrivacyAuditor(n_epochs=1, random_state=0), ("n_epochs", 0), fit=None, output=None
    ),
    "PretrainedEncoder": Case(lambda: PretrainedEncoder("a-model"), ("pooling", "x"), fit=None, output=None),
}

# What an estimator does otherwise, by intention: (estimator, contract) -> reason. docs/architecture.md has the table.
DEVIATIONS = {
    ("DeidTagger", "construction"): "skorch creates empty history_, callbacks_ and similar attributes at construction",
    ("PrivateRepresenter", "copies"): (
        "a copy must not draw the noise of the original: an attacker with both could remove the noise"
    ),
    ("PrivateRepresenter", "order"): (
        "each transform draws new noise, so that nobody can build tables of words and vectors"
    ),
    ("NoteDeidentifier", "composition"): "reads whole notes, which scikit-learn's tools cannot split into sentences",
}
