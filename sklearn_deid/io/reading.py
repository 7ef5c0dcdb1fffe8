"""Read a whole corpus at once, or its documents one after another."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, overload

from .._parameters import check_parameter
from ..exceptions import CorpusFormatError, DataNotFoundError, PartlyAnnotatedWarning
from ..text import Corpus, Document, LabelScheme, get_label_scheme
from .checking import SourceLocation, check_strings, check_text, without_traces
from .files import check_regular, links_followed
from .format import Format, Item, document_or_error
from .registry import get_format, guess_format, source_files, unanswered_ids
from .strict_json import dump_meta


class ReadResult(NamedTuple):
    """Result of ``read_corpus(..., on_error="collect")``.

    Parameters
    ----------
    corpus : Corpus
        All valid documents.
    errors : list of CorpusFormatError
        An error for each broken document, in the order of the files. The attributes of an error contain file, document,
        annotation and offsets. The errors contain no text of the notes.
    """

    corpus: Corpus
    errors: list[CorpusFormatError]


@overload
def read_corpus(
    path: str | PathLike[str],
    format: str | None = None,
    *,
    on_error: Literal["raise"] = "raise",
    encoding: str | None = None,
    label_scheme: str | LabelScheme | None = None,
    random_state: int | None = None,
) -> Corpus: ...


@overload
def read_corpus(
    path: str | PathLike[str],
    format: str | None = None,
    *,
    on_error: Literal["collect"],
    encoding: str | None = None,
    label_scheme: str | LabelScheme | None = None,
    random_state: int | None = None,
) -> ReadResult: ...


def read_corpus(
    path: str | PathLike[str],
    format: str | None = None,
    *,
    on_error: Literal["raise", "collect"] = "raise",
    encoding: str | None = None,
    label_scheme: str | LabelScheme | None = None,
    random_state: int | None = None,
) -> Corpus | ReadResult:
    """Read an annotated corpus from a file or folder.

    Parameters
    ----------
    path : str or path-like
        File or folder. In a folder, the function reads the files with the suffixes of the format in the order of their
        names, and skips sub-folders, hidden files and other suffixes.
    format : {"i2b2", "meddocan-xml", "brat", "conll", "jsonl", "docbin", "labelstudio", "doccano", "prodigy", "uima", \
            "text", "mimic"}, optional
        Format of the files. With None, the format is guessed from the suffixes and, for XML, from the root element.
        Four formats are never guessed: ``"text"`` (raw notes without annotations), ``"mimic"`` (notes with
        ``[**...**]`` placeholders, which the reader replaces by invented text with spans), and ``"doccano"`` and
        ``"prodigy"``, whose files have the same suffix as JSON lines.
    on_error : {"raise", "collect"}, default="raise"
        Treatment of broken documents. ``"raise"`` raises an error at the first broken document. ``"collect"`` skips all
        broken documents and lists them in the result.
    encoding : str, optional
        Encoding of the files. With None, the encoding is UTF-8, or the encoding that an XML file declares. A byte order
        mark at the start of a note is a character of the note and counts in offsets, unless the encoding is
        ``"utf-8-sig"``. Newlines are never translated.
    label_scheme : str or LabelScheme, optional
        Scheme that defines the category of spans without a category, such as all spans of brat and CoNLL. If the scheme
        lacks the label of a span without a category, an error is raised, so that a scheme is never applied to only some
        labels.
    random_state : int, optional
        Random seed of the text that ``"mimic"`` invents, at least 0. None means 0. The invented text of a note does not
        depend on the other notes of the corpus. No other format draws random numbers.

    Returns
    -------
    Corpus or ReadResult
        The corpus. With ``on_error="collect"``, the result is the pair ``(corpus, errors)``.

    Raises
    ------
    CorpusFormatError
        If a file is broken, the format cannot be guessed, or a folder contains no file of the format. Broken files are
        files with invalid XML or JSON, a wrong encoding, a repeated id, half of a pair of files, or an invalid span
        (empty, reversed, discontinuous, outside of the text, or inconsistent with the text). The message contains file,
        annotation and offsets, but no note text.
    DataNotFoundError
        If ``path`` does not exist.

    Warns
    -----
    PartlyAnnotatedWarning
        If nobody has marked PHI in some of the notes, such as tasks of Label Studio without an annotation, although
        other notes are annotated. `sklearn_deid.io.read_gold` refuses such notes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "n1.txt").write_text("Seen by Dr. Who.")
    >>> _ = (folder / "n1.ann").write_text("T1\\tDOCTOR 12 15\\tWho")
    >>> read_corpus(folder, format="brat", label_scheme="i2b2-2014")[0].spans
    (Span(start=12, end=15, label='DOCTOR', category='NAME', confidence=None),)
    """
    check_parameter("read_corpus", "on_error", on_error, on_error in ("raise", "collect"), "'raise' or 'collect'")
    errors: list[CorpusFormatError] = []
    handler: Literal["raise"] | Callable[[CorpusFormatError], object] = (
        "raise" if on_error == "raise" else errors.append
    )
    documents = iter_documents(
        path, format, on_error=handler, encoding=encoding, label_scheme=label_scheme, random_state=random_state
    )
    corpus = Corpus(documents)
    _warn_of_partly_annotated(corpus, unanswered_ids(path, format, encoding))
    return corpus if on_error == "raise" else ReadResult(corpus, errors)


def _warn_of_partly_annotated(corpus: Corpus, unanswered: set[str]) -> None:
    """Warn if nobody has marked PHI in some of the notes.

    If no note has an annotation, the notes are raw notes, and no warning is raised.
    """
    n_unanswered = sum(note.doc_id in unanswered for note in corpus)
    if 0 < n_unanswered < len(corpus):
        warnings.warn(
            f"Nobody has marked PHI in {n_unanswered} of {len(corpus)} notes, or said that they have none. A training "
            "would take these notes for notes without PHI. sklearn_deid.io.read_gold names them.",
            PartlyAnnotatedWarning,
            stacklevel=3,
        )


def read_gold(path: str | PathLike[str], format: str | None = None, **options: Any) -> Any:
    """Read a corpus whose annotations are the gold standard, for training or for evaluation.

    Notes in which nobody has marked spans are refused as broken documents. Examples are tasks of Label Studio without
    an annotation, and JSON lines without the key ``spans``. Without this error, notes without annotation would count as
    notes without PHI.

    Parameters
    ----------
    path, format, **options
        Parameters of `read_corpus`, which returns notes without annotation as notes without spans.

    Returns
    -------
    Corpus or ReadResult
        As from `read_corpus`.

    Raises
    ------
    CorpusFormatError, DataNotFoundError
        As for `read_corpus`. Also for a note without annotation, and if all spans of all notes have a confidence.

    Warns
    -----
    PartlyAnnotatedWarning
        If, in some of the annotated notes but not in all, all spans have a confidence. Also if some notes have no span
        in a format that does not show whether somebody has read them, such as brat.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PartlyAnnotatedWarning)  # an error here
        read = read_corpus(path, format, **options)
    corpus, errors = read if isinstance(read, ReadResult) else (read, None)
    unanswered = unanswered_ids(path, format, options.get("encoding"))
    wrong = [
        SourceLocation(str(path), note.doc_id).error(
            "Nobody has marked PHI in this note, or said that it has none. Annotate it, or leave it out."
        )
        for note in corpus
        if note.doc_id in unanswered
    ]
    if wrong and errors is None:
        raise wrong[0]
    kept = Corpus([note for note in corpus if note.doc_id not in unanswered]) if wrong else corpus
    _check_not_predicted(kept, path)
    warn_of_unmarked(kept, path, format)
    return kept if errors is None else ReadResult(kept, [*errors, *wrong])


def _check_not_predicted(notes: Corpus, path: str | PathLike[str]) -> None:
    """Refuse the output of a model as gold annotation, and warn if only some notes could be output of a model.

    Only a model assigns a confidence to a span. The review page writes no confidences; other annotation tools keep the
    confidences of the spans that the annotator accepted.
    """
    annotated = [note for note in notes if note.spans]
    predicted = [note.doc_id for note in annotated if is_predicted(note)]
    if predicted and len(predicted) == len(annotated):
        raise SourceLocation(str(path)).error(
            "All spans have the confidence of a model, as in the output of tag and suggest. PHI that the model missed "
            "would count as no PHI. Correct the notes with 'review', and name the file that the reader saved. If "
            "somebody has accepted all spans in another tool, take the confidences out (in JSON lines: 'confidence')."
        )
    if predicted:
        warnings.warn(
            f"All spans of {len(predicted)} of {len(annotated)} annotated notes have the confidence of a model, such "
            f"as those of {predicted[0]!r}, as in the output of tag or suggest. If nobody has read them, leave them "
            "out.",
            PartlyAnnotatedWarning,
            stacklevel=3,
        )


def warn_of_unmarked(notes: Corpus, path: str | PathLike[str], format: str | None = None) -> None:
    """Warn of notes without spans in a format that does not distinguish them from notes that nobody has read.

    Parameters
    ----------
    notes : Corpus
        Notes that were read.
    path, format
        As for `read_corpus`.
    """
    fmt = guess_format(Path(path)) if format is None else get_format(format)
    # The notes of "mimic", which is only read, were all searched by the program that wrote the placeholders.
    if fmt.unanswered is not None or not fmt.writable:
        return
    unmarked = [note.doc_id for note in notes if not note.spans]
    if 0 < len(unmarked) < len(notes):
        warnings.warn(
            f"{len(unmarked)} of {len(notes)} notes have no span and count as notes without PHI, such as "
            f"{unmarked[0]!r}. The format {fmt.name} does not show whether somebody has read them: leave out notes "
            "that nobody has read.",
            PartlyAnnotatedWarning,
            stacklevel=3,
        )


def is_predicted(note: Document) -> bool:
    """Whether a note has spans, and each span has the confidence of a model.

    Examples
    --------
    >>> from sklearn_deid import Span
    >>> is_predicted(Document("n1", "Seen by Alder.", (Span(8, 13, "DOCTOR", confidence=0.8),)))
    True
    """
    return bool(note.spans) and all(span.confidence is not None for span in note.spans)


def iter_documents(
    path: str | PathLike[str],
    format: str | None = None,
    *,
    on_error: Literal["raise"] | Callable[[CorpusFormatError], object] = "raise",
    encoding: str | None = None,
    label_scheme: str | LabelScheme | None = None,
    random_state: int | None = None,
    follow_links: bool = True,
) -> Iterator[Document]:
    """Read documents one by one. Only the document ids are held in memory.

    Parameters
    ----------
    path, format, encoding, label_scheme, random_state
        As for `read_corpus`.
    on_error : "raise" or callable, default="raise"
        Treatment of broken documents. With a callable, each broken document is skipped, and the callable receives its
        CorpusFormatError.
    follow_links : bool, default=True
        Whether files may be symbolic links. With False, a link counts as a broken document, because the target of a
        link may be outside of the folder.

    Yields
    ------
    Document
        Next valid document.

    Raises
    ------
    CorpusFormatError, DataNotFoundError
        As for `read_corpus`. Errors about path and format are raised by the call itself, before the first ``next``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "notes.jsonl")
    >>> _ = path.write_text('{"doc_id": "a", "text": "Fine."}\\n{"doc_id": "b"}\\n')
    >>> broken = []
    >>> [document.doc_id for document in iter_documents(path, on_error=broken.append)]
    ['a']
    >>> broken[0].message
    "Line 2 must be a JSON object with a 'text'."
    """
    path = Path(path)
    if not path.exists():
        raise DataNotFoundError("There is no such file or folder.", path=str(path))
    if not path.is_dir():
        check_regular(SourceLocation(str(path)), path, follow_links=follow_links)
    # All parameters are checked now and not with the first document, because this function is no generator itself.
    fmt = _with_seed(guess_format(path) if format is None else get_format(format), random_state)
    if encoding is not None:
        _check_encoding(encoding)
    scheme = None if label_scheme is None else get_label_scheme(label_scheme)
    return _documents(_items(source_files(path, fmt), fmt, encoding, follow_links), on_error, scheme)


def _with_seed(fmt: Format, random_state: int | None) -> Format:
    """The format with a reader that uses this random seed."""
    if random_state is None:
        return fmt
    if fmt.seeded is None:
        raise ValueError(
            f"The 'random_state' parameter must be None for the format {fmt.name!r}; only 'mimic' uses a seed."
        )
    if not isinstance(random_state, Integral) or isinstance(random_state, bool) or random_state < 0:
        raise ValueError(f"The 'random_state' parameter must be an int of at least 0. Got {random_state!r} instead.")
    seeded, seed = fmt.seeded, int(random_state)
    return replace(fmt, read=lambda path, encoding: seeded(path, encoding, seed))


def _documents(
    items: Generator[Item, None, None],
    on_error: Literal["raise"] | Callable[[CorpusFormatError], object],
    scheme: LabelScheme | None,
) -> Iterator[Document]:
    # An error holds this frame: the file would stay open as long as the error lives.
    with closing(items):
        for item in items:
            if isinstance(item, Document) and scheme is not None:
                item = _with_categories(item, scheme)
            if isinstance(item, Document):
                yield item
            elif callable(on_error):
                on_error(item)
            else:
                raise item


def _items(files: list[Path], fmt: Format, encoding: str | None, follow_links: bool) -> Generator[Item, None, None]:
    seen: set[str] = set()
    for file in files:
        for item in _read(file, fmt, encoding, follow_links):
            if isinstance(item, Document):
                # The second document with an id is an error item, so that on_error="collect" continues behind it.
                item = document_or_error(_checked, SourceLocation(str(file), item.doc_id), item, fmt, seen)
            yield item


def _checked(place: SourceLocation, document: Document, fmt: Format, seen: set[str]) -> Document:
    if document.doc_id in seen:
        raise place.error("The document id occurs twice; this is the second document.")
    seen.add(document.doc_id)
    check_text(place, document.text)
    # On Linux, the name of a file can be any bytes. Only strings of a file must be characters.
    named = (document.patient_id or "", "" if fmt.one_document else document.doc_id)
    labels = (text for span in document.spans for text in (span.label, span.category or ""))
    check_strings(place, *named, *labels, dump_meta(document))
    return document


def _read(file: Path, fmt: Format, encoding: str | None, follow_links: bool) -> Iterator[Item]:
    failure = None
    try:
        # A reader opens its files when it is asked for an item. The caller's own files may be links.
        with closing(cast("Generator[Item, None, None]", fmt.read(file, encoding))) as items:
            while True:
                with links_followed(follow_links):
                    item = next(items, None)
                if item is None:
                    return
                yield item
    except CorpusFormatError as error:
        # The error is yielded after the except block: an error kept for later must not hold the frames with the note.
        failure = without_traces(error)
    if failure is not None:
        yield failure


def _with_categories(document: Document, scheme: LabelScheme) -> Item:
    """Document whose spans have categories; raises an error for a label that the scheme lacks."""
    for span in document.spans:
        if span.category is None and span.label not in scheme.labels:
            message = (
                f"The label {span.label!r} is not in the label scheme {scheme.name}. Leave out the scheme, pass your "
                "own LabelScheme, or map the labels with text.relabel; text.propose_label_map makes a table to check."
            )
            return CorpusFormatError(message, doc_id=document.doc_id, start=span.start, end=span.end)
    spans = [s if s.category is not None else replace(s, category=scheme.category(s.label)) for s in document.spans]
    return replace(document, spans=tuple(spans))


def _check_encoding(encoding: str) -> None:
    try:
        # Python does not look up the encoding for an empty string, so two spaces are decoded.
        b"  ".decode(encoding, "replace")
        return
    except LookupError:
        pass
    raise ValueError(f"The 'encoding' parameter must be a text encoding known to Python. Got {encoding!r} instead.")
