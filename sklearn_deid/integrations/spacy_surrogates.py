"""spaCy component that writes surrogates: ``nlp.add_pipe("sklearn_deid_surrogates")``.

spaCy finds the factory by an entry point and imports this module whenever a pipeline is created. The module therefore
imports the surrogates only when the first component is created. The module does not postpone its annotations, because
spaCy 3.7 reads the annotations of the factory and cannot resolve strings.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import SimpleFrozenList, raise_error

from .spacy_words import ReadWords, has_read_words
from .surrogate_texts import surrogate_doc


class SurrogateComponent:
    """spaCy component that replaces the spans of a doc by surrogates.

    The component returns a new doc, whose text contains surrogates, and whose ``doc.spans[spans_key]`` are the
    surrogates. The vocabulary of the pipeline still contains the words of the old doc. ``nlp.to_disk`` and a pickle of
    the doc contain this vocabulary; ``doc.to_disk`` and ``DocBin`` do not contain the words of the old doc. Add the
    component directly after the component that marks the PHI. Other components then read the new text.
    ``doc.user_data["patient_id"]`` names the patient of a doc. A doc without ``patient_id`` counts as a patient of its
    own.

    The component raises an error for a doc without the span group, even if the pipeline has an error handler.
    Otherwise, spaCy would pass on the original doc.

    Parameters
    ----------
    spans_key : str, default="phi"
        Key of the PHI in ``doc.spans``.
    key_file : path, optional
        File with the secret key; see `sklearn_deid.surrogates.read_key`. None draws a key that is not stored.
    settings : dict, optional
        Parameters of `SurrogateEngine`, such as ``locale`` and ``date_shift``, without the key.
    vocab : spacy.vocab.Vocab, optional
        Vocabulary of the pipeline. `to_disk` warns if the vocabulary has grown since the component was made.

    Raises
    ------
    DeidError
        If the key file does not hold a key.
    ValueError
        If a setting is not allowed.

    Examples
    --------
    >>> import spacy
    >>> from spacy.tokens import Span
    >>> nlp = spacy.blank("en")
    >>> component = nlp.add_pipe("sklearn_deid_surrogates", config={"settings": {"locale": "en"}})
    >>> doc = nlp.make_doc("101 years")
    >>> doc.spans["phi"] = [Span(doc, 0, 1, label="AGE")]
    >>> nlp(doc).text
    '90+ years'
    """

    def __init__(
        self,
        *,
        spans_key: str = "phi",
        key_file: str | Path | None = None,
        settings: dict[str, Any] | None = None,
        vocab: Any = None,
    ) -> None:
        from ..surrogates import SurrogateEngine, read_key

        self.spans_key = spans_key
        # Drawn here and not with the first doc: the processes of nlp.pipe must have one key.
        key = None if key_file is None else read_key(Path(key_file))
        self._engine = SurrogateEngine(key=key, **(settings or {}))
        self._words = ReadWords(vocab)

    def __call__(self, doc: Doc) -> Doc:
        """Return a new doc with surrogates.

        Raises
        ------
        ValueError
            If the doc has no spans with the key.
        """
        self._words.mark()
        new: Doc = surrogate_doc(
            doc, self._engine, spans_key=self.spans_key, patient_id=doc.user_data.get("patient_id")
        )
        # Context that the caller of nlp.pipe passed with the text, to identify the doc.
        new._context = doc._context
        return new

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> None:
        """Save nothing: the configuration of the pipeline holds the settings.

        Warns
        -----
        UnsafeToShareWarning
            If this pipeline has read docs, because spaCy saves the vocabulary, which contains all words of these docs.
        """
        self._words.warn("replaced words of notes", stacklevel=2)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = SimpleFrozenList()) -> "SurrogateComponent":
        """Return the component: there is nothing to load."""
        return self

    def to_bytes(self, *, exclude: Iterable[str] = SimpleFrozenList()) -> bytes:
        """Return no bytes, with the same warning as `to_disk`."""
        self.to_disk("")
        return b""

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()) -> "SurrogateComponent":
        """Return the component: there is nothing to load."""
        return self

    def get_error_handler(self) -> Any:
        """Handler that raises every error, even if the pipeline has another handler."""
        return raise_error


@Language.factory(
    "sklearn_deid_surrogates",
    default_config={"spans_key": "phi", "key_file": None, "settings": {}},
    requires=["doc.spans"],
    assigns=["doc.spans"],
)
def make_surrogate_component(
    nlp: Language, name: str, spans_key: str, key_file: str | None, settings: dict[str, Any]
) -> SurrogateComponent:
    """Create the component. ``nlp.add_pipe("sklearn_deid_surrogates", config=...)`` calls this factory.

    Parameters
    ----------
    nlp : Language
        Pipeline that the component joins.
    name : str
        Name in the pipeline.
    spans_key, key_file, settings
        Parameters of `SurrogateComponent`.

    Returns
    -------
    SurrogateComponent
        Component with these settings.

    Examples
    --------
    >>> import spacy
    >>> spacy.blank("es").add_pipe("sklearn_deid_surrogates", config={"spans_key": "sensible"}).spans_key
    'sensible'
    """
    component = SurrogateComponent(spans_key=spans_key, key_file=key_file, settings=settings, vocab=nlp.vocab)
    if has_read_words(nlp):
        component._words.mark()
    return component
