"""spaCy component that marks PHI: ``nlp.add_pipe("sklearn_deid", config={"model": path})``.

spaCy finds the factory by an entry point, so you need not import this library. spaCy imports this module whenever a
pipeline is created, even if the pipeline does not contain the component. The module therefore loads neither torch nor
scikit-learn. The module does not postpone its annotations, because spaCy 3.7 reads the annotations of the factory and
cannot resolve strings.
"""

import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span, SpanGroup
from spacy.util import SimpleFrozenList, minibatch

from ..exceptions import BundleError, DeidError
from ..text import Document
from .deidentifiers import as_deidentifier, labels_of_model, labels_of_spans
from .spacy_words import ReadWords, has_read_words
from .token_spans import TokenSpan, expand_to_tokens, join_overlapping

# Name of a file in the folder of a model. Other names, such as "..", could lead out of the folder.
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


class DeidComponent(Pipe):
    """spaCy component that stores the PHI of a doc in ``doc.spans[spans_key]`` and, optionally, in ``doc.ents``.

    A span that begins or ends inside a spaCy token is widened to the whole token. A span therefore never covers less
    text than the tagger found. ``span._.phi_confidence`` and ``span._.phi_category`` hold the confidence and the
    category of a span. ``doc.spans[spans_key].attrs["scores"]`` and ``["categories"]`` hold the same values for all
    spans of the group, and are kept in a ``DocBin``.

    The component raises an error for a doc that cannot be processed. If you set an error handler with
    ``nlp.set_error_handler``, the handler receives this doc, and ``nlp.pipe`` leaves the doc out. ``nlp(text)`` must
    return a doc, and therefore raises the error after it has called the handler. No doc is passed on without its spans.

    Parameters
    ----------
    name : str, default="sklearn_deid"
        Name in the pipeline.
    model : path, NoteDeidentifier or tagger, optional
        Path of a model that `save` wrote, or a fitted model. A path is loaded when the first doc is processed. Use None
        if ``nlp.from_disk`` loads the model later.
    spans_key : str, default="phi"
        Key in ``doc.spans``. Spans that are already stored under ``spans_key`` are replaced.
    set_ents : bool, default=False
        Whether to store the spans in ``doc.ents`` too. Spans that overlap are joined in ``doc.ents``. Entities of other
        components stay if they do not overlap with PHI.
    device : str, optional
        Device of `load`.
    labels : {"all", "hipaa", "hipaa-wide", "hipaa-surrogate"}, optional
        PHI to mark, as in `NoteDeidentifier`. None means the value of the model. In front of the component for
        surrogates, use "hipaa-surrogate" instead of "hipaa" and "hipaa-wide", which that component refuses.
    vocab : spacy.vocab.Vocab, optional
        Vocabulary of the pipeline. `to_disk` warns if the vocabulary has grown since the component was made.

    Examples
    --------
    >>> import spacy
    >>> from sklearn_deid import RuleTagger, save
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> save(RuleTagger(recognizers=["date"]).fit([]), f"{folder}/model")
    >>> nlp = spacy.blank("en")
    >>> _ = nlp.add_pipe("sklearn_deid", config={"model": f"{folder}/model"})
    >>> doc = nlp("Seen on 3/5/2019 again")
    >>> [(span.text, span.label_) for span in doc.spans["phi"]]
    [('3/5/2019', 'DATE')]
    """

    def __init__(
        self,
        name: str = "sklearn_deid",
        *,
        model: Any = None,
        spans_key: str = "phi",
        set_ents: bool = False,
        device: str | None = None,
        labels: str | None = None,
        vocab: Any = None,
    ) -> None:
        self.name = name
        # An absolute path: the working directory may change before the first doc loads the model.
        self.model = str(Path(model).absolute()) if isinstance(model, (str, Path)) else model
        self.spans_key = spans_key
        self.set_ents = set_ents
        self.device = device
        self.asked_labels = labels
        self._deidentifier: Any = None
        self._words = ReadWords(vocab)
        _register_extensions()

    @property
    def deidentifier(self) -> Any:
        """The `NoteDeidentifier` in use. The first access loads the model.

        Raises
        ------
        DeidError
            If the component has no model, or if the path does not hold a saved model.
        """
        if self._deidentifier is None:
            if self.model is None:
                raise DeidError(
                    f"The component '{self.name}' has no model. Pass config={{'model': path}} to nlp.add_pipe, or load "
                    "a saved pipeline."
                )
            self._deidentifier = as_deidentifier(self.model, self.device, self.asked_labels)
        return self._deidentifier

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels that the model can predict; empty until the model is loaded."""
        return () if self._deidentifier is None else tuple(labels_of_model(self._deidentifier))

    def __call__(self, doc: Doc) -> Doc:
        """Mark the PHI of one doc.

        Raises
        ------
        DeidError
            If the doc cannot be processed. The error holds no text.
        """
        return self._mark(doc, next(self._found([doc], 0)))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Mark the PHI of a stream of docs, ``batch_size`` docs at a time.

        Raises
        ------
        DeidError
            If a doc cannot be processed and no error handler was set. The error gives the number of the doc in the
            stream.
        """
        number = 0
        for docs in minibatch(stream, size=batch_size):
            try:
                # All docs of the batch are processed before the first doc is yielded, so that a failure marks no doc
                # twice.
                found = list(self._found(docs, number))
            # One faulty doc must not discard the other docs of its batch, so they are processed again one by one.
            except DeidError:
                yield from self._pipe_each(docs, number)
            else:
                for doc, spans in zip(docs, found, strict=True):
                    yield self._mark(doc, spans)
            number += len(docs)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> None:
        """Save the model in the format of `save`. The configuration of the pipeline holds the other settings.

        Warns
        -----
        UnsafeToShareWarning
            If this pipeline has read docs, because spaCy saves the vocabulary, which contains all words of these docs.
        """
        from ..saving import save

        self._words.warn("read notes or other texts", stacklevel=2)
        save(self.deidentifier, path, overwrite=True)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> "DeidComponent":
        """Load a model that `to_disk` saved, even if the configuration names another path; no saved code is run."""
        self._deidentifier = as_deidentifier(path, self.device, self.asked_labels)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = SimpleFrozenList()) -> bytes:
        """Save the model as bytes, with the same warning as `to_disk`."""
        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(Path(folder, "model"))
            return srsly.msgpack_dumps({file.name: file.read_bytes() for file in Path(folder, "model").iterdir()})

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()) -> "DeidComponent":
        """Load a model from the bytes of `to_bytes`; no saved code is run."""
        files = srsly.msgpack_loads(bytes_data)
        if not isinstance(files, dict) or not all(
            isinstance(name, str) and _FILE.fullmatch(name) and isinstance(content, bytes)
            for name, content in files.items()
        ):
            raise BundleError("The bytes hold no saved model.")
        with tempfile.TemporaryDirectory() as folder:
            for name, content in files.items():
                Path(folder, name).write_bytes(content)
            return self.from_disk(folder)

    def get_error_handler(self) -> Any:
        """Error handler of ``nlp(text)``: call the handler of the pipeline, then raise the error."""
        handler = super().get_error_handler()

        def handle(name: str, component: Any, docs: list[Doc], error: Exception) -> None:
            handler(name, component, docs, error)
            raise error

        return handle

    def _pipe_each(self, docs: list[Doc], number: int) -> Iterator[Doc]:
        handler = super().get_error_handler()
        for position, doc in enumerate(docs):
            try:
                spans = next(self._found([doc], number + position))
            except DeidError as error:
                handler(self.name, self, [doc], error)
            else:
                yield self._mark(doc, spans)

    def _found(self, docs: list[Doc], number: int) -> Iterator[list[TokenSpan]]:
        """PHI of docs. ``number`` is the number of the first doc in the stream."""
        notes = [Document(f"number {number + position}", doc.text) for position, doc in enumerate(docs)]
        # spaCy has stored the words of the doc in its vocabulary at this point.
        self._words.mark()
        for doc, note, spans in zip(docs, notes, self.deidentifier.annotate(notes), strict=True):
            starts = [token.idx for token in doc]
            ends = [token.idx + len(token) for token in doc]
            yield expand_to_tokens(spans, starts, ends, doc_id=note.doc_id)

    def _mark(self, doc: Doc, spans: list[TokenSpan]) -> Doc:
        # Confidences are in the group, because spaCy spans have no field for them.
        attrs: dict[str, Any] = {
            "scores": [span.confidence for span in spans],
            "categories": [span.category for span in spans],
        }
        if (asked := labels_of_spans(self.deidentifier)) is not None:
            attrs["labels"] = asked
        marked = [Span(doc, span.first, span.stop, label=span.label) for span in spans]
        doc.spans[self.spans_key] = SpanGroup(doc, name=self.spans_key, attrs=attrs, spans=marked)
        if self.set_ents:
            joined = [Span(doc, span.first, span.stop, label=span.label) for span in join_overlapping(spans)]
            # spaCy refuses overlapping entities, and PHI has priority over the entities of other components.
            taken = {token.i for span in joined for token in span}
            others = [entity for entity in doc.ents if not any(token.i in taken for token in entity)]
            doc.set_ents([*joined, *others], default="outside")
        return doc


@Language.factory(
    "sklearn_deid",
    default_config={"model": None, "spans_key": "phi", "set_ents": False, "device": None, "labels": None},
    assigns=["doc.spans"],
)
def make_component(
    nlp: Language,
    name: str,
    model: str | None,
    spans_key: str,
    set_ents: bool,
    device: str | None,
    labels: str | None,
) -> DeidComponent:
    """Create the component. ``nlp.add_pipe("sklearn_deid", config=...)`` calls this factory.

    Parameters
    ----------
    nlp : Language
        Pipeline that the component joins.
    name : str
        Name in the pipeline.
    model : str or None
        Path of a model that `save` wrote. The model is loaded when the first doc is processed.
    spans_key, set_ents, device, labels
        Parameters of `DeidComponent`.

    Returns
    -------
    DeidComponent
        Component with these settings.

    Examples
    --------
    >>> import spacy
    >>> spacy.blank("es").add_pipe("sklearn_deid", config={"spans_key": "sensible"}).spans_key
    'sensible'
    """
    settings: dict[str, Any] = {"spans_key": spans_key, "set_ents": set_ents, "device": device, "labels": labels}
    component = DeidComponent(name, model=model, vocab=nlp.vocab, **settings)
    if has_read_words(nlp):
        component._words.mark()
    return component


def _register_extensions() -> None:
    for name, attribute in (("phi_confidence", "scores"), ("phi_category", "categories")):
        if not Span.has_extension(name):
            Span.set_extension(name, getter=_Noted(attribute))


class _Noted:
    """Getter that finds the confidence or category of a span in its group.

    The values are not in spaCy's user data, because equal spans share their user data.
    """

    def __init__(self, attribute: str) -> None:
        self.attribute = attribute

    def __call__(self, span: Span) -> Any:
        # The extension is a property of all spans, so that the span is searched in the groups of its doc.
        for group in span.doc.spans.values():
            if {"scores", "categories"} <= group.attrs.keys():
                for other, noted in zip(group, group.attrs[self.attribute], strict=True):
                    if (other.start, other.end, other.label) == (span.start, span.end, span.label):
                        return noted
        return None
