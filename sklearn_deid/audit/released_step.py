"""Find the step of an estimator whose output is released, and the steps before this step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

# Estimators that make a release carry this attribute. Its value names the kind of release.
MARKER = "_releases"
REPRESENTATION, WORDS, VECTORS, UPDATES = "representation", "words", "vectors", "updates"
# Kind of release with words that do not come from a mechanism over word vectors.
SURROGATES = "surrogates"
# Public classes of words, without noise. The first kind is made by an estimator. The second is a saved folder, and no
# step is marked with this kind.
CLASSES, CLASS_FILE = "classes", "classes in a file"
# A saved folder of vectors, of which only the bytes are known. No step is marked with this kind of release.
RELEASE_FILE = "file"
# The published tagger at the end of a pipeline. No step is marked with this kind of release.
MODEL = "model"
# Fault of a release whose word vectors come from private notes. `save` refuses such estimators, too.
PRIVATE_VECTORS = (
    "The word vectors were trained on private notes. The release depends on these notes and must not be shared."
)


def is_of_private_notes(estimator: Any, vectors: Any) -> bool:
    """Whether an estimator trained its word vectors on the notes of its `fit`.

    Vectors that were read from a file again are not marked as public, also if the saved estimator was.
    """
    spec = getattr(estimator, "embeddings", None)
    return isinstance(spec, str) and spec in ("auto", "corpus") and not vectors.is_public


@dataclass(frozen=True, repr=False)
class AuditedStep:
    """A fitted transformer that makes a release, or an ensemble that recorded the uploads of its workers.

    Attributes
    ----------
    path : str
        Names of the pipeline steps that lead to the estimator, joined by two underscores. Empty if the estimator is
        not inside a pipeline.
    estimator : transformer
        Estimator that makes the release.
    before : tuple of transformers
        Transformers that X passes through before the estimator.
    """

    path: str
    estimator: Any
    before: tuple[Any, ...] = ()

    @property
    def kind(self) -> str:
        """ "representation", "words", "surrogates", "vectors", "classes" or "updates"."""
        return str(getattr(self.estimator, MARKER))

    def inputs(self, X: Any) -> Any:
        """Transform X into the input of the step."""
        for transformer in self.before:
            X = transformer.transform(X)
        return X


def find_released_step(estimator: Any, path: str | None = None) -> AuditedStep | None:
    """Find the only step that makes a release; return None if no step makes a release.

    Parameters
    ----------
    estimator : fitted estimator
        Transformer, tagger or Pipeline. The estimator may be nested, frozen, in a fitted search or in a
        `NoteDeidentifier`.
    path : str, optional
        Name of the step. Two underscores separate the names of nested pipelines; the last name is sufficient.

    Raises
    ------
    ValueError
        If several steps make a release, no step has the given name, or a search has no best estimator.

    Examples
    --------
    >>> from sklearn.pipeline import Pipeline
    >>> from sklearn_deid import DeidTagger, PrivateRepresenter
    >>> find_released_step(Pipeline([("rep", PrivateRepresenter()), ("tag", DeidTagger())])).path
    'rep'
    >>> find_released_step(DeidTagger()) is None
    True
    """
    found = list(_marked_steps(estimator, (), ()))
    names = [step.path for step in found]
    if path is not None:
        found = [step for step in found if path in (step.path, step.path.rpartition("__")[2])]
        if not found:
            raise ValueError(
                f"representation_step={path!r} is not a step with an output to release. "
                f"Such steps: {', '.join(map(repr, names)) or 'none'}."
            )
    if len(found) > 1:
        raise ValueError(
            f"Several steps have an output to release: {', '.join(repr(step.path) for step in found)}. Say which "
            "one is shared by representation_step=..."
        )
    return found[0] if found else None


def unwrapped(estimator: Any) -> Any:
    """Return the estimator inside of frozen estimators, fitted searches and `NoteDeidentifier`.

    Raises
    ------
    ValueError
        If a search has no best estimator.
    """
    if isinstance(estimator, FrozenEstimator):
        return unwrapped(estimator.estimator)
    if hasattr(estimator, "param_grid") or hasattr(estimator, "param_distributions"):
        if not hasattr(estimator, "best_estimator_"):
            raise ValueError(
                f"The {type(estimator).__name__} has no best estimator to audit: fit it, with 'refit' other than False."
            )
        return unwrapped(estimator.best_estimator_)
    # A NoteDeidentifier, or another meta-estimator that is no pipeline, keeps its fitted estimator in this attribute.
    if not isinstance(estimator, Pipeline) and hasattr(estimator, "estimator_"):
        return unwrapped(estimator.estimator_)
    return estimator


def final_tagger(estimator: Any) -> Any:
    """Return the last step if this step is a fitted tagger with predicted probabilities; otherwise None."""
    estimator = unwrapped(estimator)
    if isinstance(estimator, Pipeline):
        return final_tagger(estimator.steps[-1][1]) if estimator.steps else None
    is_tagger = hasattr(estimator, "predict_proba") and hasattr(estimator, "classes_")
    return estimator if is_tagger and not hasattr(estimator, "transform") else None


def _marked_steps(estimator: Any, path: tuple[str, ...], before: tuple[Any, ...]) -> Iterator[AuditedStep]:
    """Yield the steps that make a release, with the transformers before each step."""
    inner = unwrapped(estimator)
    if getattr(inner, MARKER, None) is not None:
        yield AuditedStep("__".join(path), inner, before)
    elif isinstance(inner, Pipeline):
        earlier = before
        for name, step in inner.steps:
            yield from _marked_steps(step, (*path, name), earlier)
            if step is not None and step != "passthrough":
                earlier = (*earlier, step)
