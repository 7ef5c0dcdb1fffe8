"""Reading: a whole corpus, or one document after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple, overload

from ..exceptions import CorpusFormatError, DataNotFoundError
from ..text import Corpus, Document, LabelScheme, get_label_scheme
from .checking import SourceLocation, without_traces
from .format import Format, Item
from .registry import get_format, guess_format, source_files


class ReadResult(NamedTuple):
    """What ``read_corpus(..., on_error="collect")`` returns.

    Parameters
    ----------
    corpus : Corpus
        The documents that are in order.
    errors : list of CorpusFormatError
        One for each that is not, in the order of the files, with file, document, annotation and offsets as
        attributes, and without text of the notes.
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
        A file, or a folder whose files with the format's suffixes are read in the order of their names.
        Sub-folders, hidden files and other suffixes are left aside.
    format : {"i2b2", "meddocan-xml", "brat", "conll", "jsonl", "docbin", "text", "mimic"}, optional
        The format; None guesses it from the suffixes and, for XML, the root element. ``"text"`` (raw notes without
        annotations) and ``"mimic"`` (notes whose ``[**...**]`` placeholders become invented text with spans) are never
        guessed.
    on_error : {"raise", "collect"}, default="raise"
        Whether the first broken document raises, or all broken ones are left out and listed.
    encoding : str, optional
        Encoding of the files; None is UTF-8, or what an XML file declares. A byte order mark at the start of a note
        is a character of the note and offsets count it, unless the encoding is ``"utf-8-sig"``. Newlines are never
        translated.
    label_scheme : str or LabelScheme, optional
        Fills in the category of spans that come without one, such as all of brat and CoNLL.
    random_state : int, optional
        Seed of what ``"mimic"`` invents, at least 0; None is 0. A note is filled in the same way whichever others are
        read with it. No other format draws random numbers.

    Returns
    -------
    Corpus or ReadResult
        The corpus; with ``on_error="collect"`` the pair ``(corpus, errors)``.

    Raises
    ------
    CorpusFormatError
        If a file is broken (bad XML or JSON, wrong encoding, a span that is empty, reversed, discontinuous, outside the
        text or at odds with it, an id twice, half of a pair of files), the format cannot be guessed, or a folder
        holds no file of the format. It names file, annotation and offsets, and holds no note text.
    DataNotFoundError
        If there is nothing at ``path``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "n1.txt").write_text("Seen by Dr. Who.")
    >>> _ = (folder / "n1.ann").write_text("T1\\tDOCTOR 12 15\\tWho")
    >>> read_corpus(folder, format="brat", label_scheme="i2b2-2014")[0].spans
    (Span(start=12, end=15, label='DOCTOR', category='NAME', confidence=None),)
    """
    if on_error not in ("raise", "collect"):
        raise ValueError(f"The 'on_error' parameter must be 'raise' or 'collect'. Got {on_error!r} instead.")
    errors: list[CorpusFormatError] = []
    handler: Literal["raise"] | Callable[[CorpusFormatError], object] = (
        "raise" if on_error == "raise" else errors.append
    )
    documents = iter_documents(
        path, format, on_error=handler, encoding=encoding, label_scheme=label_scheme, random_state=random_state
    )
    corpus = Corpus(documents)
    return corpus if on_error == "raise" else ReadResult(corpus, errors)


def iter_documents(
    path: str | PathLike[str],
    format: str | None = None,
    *,
    on_error: Literal["raise"] | Callable[[CorpusFormatError], object] = "raise",
    encoding: str | None = None,
    label_scheme: str | LabelScheme | None = None,
    random_state: int | None = None,
) -> Iterator[Document]:
    """Read documents one by one, in constant memory but for their ids.

    Parameters
    ----------
    path, format, encoding, label_scheme, random_state
        As for `read_corpus`.
    on_error : "raise" or callable, default="raise"
        A callable gets the CorpusFormatError of each broken document, which is then left out.

    Yields
    ------
    Document

    Raises
    ------
    CorpusFormatError, DataNotFoundError
        As `read_corpus`; problems with path and format are raised by the call itself, not by the first ``next``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "notes.jsonl")
    >>> _ = path.write_text('{"doc_id": "a", "text": "Fine."}\\n{"doc_id": "b"}\\n')
    >>> broken = []
    >>> [document.doc_id for document in iter_documents(path, on_error=broken.append)]
    ['a']
    >>> broken[0].message
    "Line 2 needs a 'doc_id' and a 'text', both strings."
    """
    path = Path(path)
    if not path.exists():
        raise DataNotFoundError("There is no such file or folder.", path=str(path))
    fmt = _with_seed(guess_format(path) if format is None else get_format(format), random_state)
    if encoding is not None:
        _check_encoding(encoding)
    scheme = None if label_scheme is None else get_label_scheme(label_scheme)
    return _documents(_items(source_files(path, fmt), fmt, encoding), on_error, scheme)


def _with_seed(fmt: Format, random_state: int | None) -> Format:
    """The format with a reader that draws from this seed."""
    if random_state is None:
        return fmt
    if fmt.seeded is None:
        raise ValueError(f"The 'random_state' parameter is for format='mimic'. The format is {fmt.name!r}.")
    if not isinstance(random_state, Integral) or isinstance(random_state, bool) or random_state < 0:
        raise ValueError(f"The 'random_state' parameter must be an int of at least 0. Got {random_state!r} instead.")
    seeded, seed = fmt.seeded, int(random_state)
    return replace(fmt, read=lambda path, encoding: seeded(path, encoding, seed))


def _documents(
    items: Iterator[Item],
    on_error: Literal["raise"] | Callable[[CorpusFormatError], object],
    scheme: LabelScheme | None,
) -> Iterator[Document]:
    for item in items:
        if isinstance(item, Document):
            yield item if scheme is None else _with_categories(item, scheme)
        elif callable(on_error):
            on_error(item)
        else:
            raise item


def _items(files: list[Path], fmt: Format, encoding: str | None) -> Iterator[Item]:
    seen: set[str] = set()
    for file in files:
        for item in _read(file, fmt, encoding):
            if isinstance(item, Document):
                if item.doc_id in seen:
                    item = SourceLocation(str(file), item.doc_id).error(
                        "The document id is there twice; this is the second one."
                    )
                else:
                    seen.add(item.doc_id)
            yield item


def _read(file: Path, fmt: Format, encoding: str | None) -> Iterator[Item]:
    failure = None
    try:
        yield from fmt.read(file, encoding)
    except CorpusFormatError as error:
        failure = without_traces(error)
    if failure is not None:
        yield failure


def _with_categories(document: Document, scheme: LabelScheme) -> Document:
    spans = [s if s.category is not None else replace(s, category=scheme.category(s.label)) for s in document.spans]
    return replace(document, spans=tuple(spans))


def _check_encoding(encoding: str) -> None:
    try:
        b"  ".decode(encoding, "replace")  # an empty string is not even looked up
        return
    except LookupError:
        pass
    raise ValueError(f"The 'encoding' parameter must be a text encoding known to Python. Got {encoding!r} instead.")
