"""Documents and files that several tests of this room use."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import strategies as st

from sklearn_deid.io import read_corpus, write_corpus
from sklearn_deid.text import Document, Span, segment

# What formats stumble over: line ends of all kinds, markup, quotes, the end of CDATA, wide and combining characters,
# right-to-left, byte order mark, a note that looks like a file of the format.
PIECES = [
    *["\r\n", "\n", "\r", "\t", " ", "  ", "\x85", "\u2028", "\u2029", "\ufeff", "\u00a0", "\u200f"],
    *["]]>", "]]", ">", "&lt;", "&amp;", "<", "&", '"', "'", "\\", "\\n", "#", "# ", "T1\tX 0 1\ta", "-DOCSTART- x"],
    *["\U0001f469\u200d\u2695\ufe0f", "e\u0301", "\u0639\u0644\u064a", "\u5f20\u4e09", "\U00020000"],
    *["Ann", "Roe", "25yo", "12/03/2019", "O'Neil", "a", ",", ".", "-", "O"],
]
CONTROL = ["\x00", "\x0b", "\x0c", "\x1c", "\x1f", "\x7f", "\ufffe", "\uffff"]


def texts(pieces: list[str] = PIECES) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=12).map("".join)


def names() -> st.SearchStrategy[str]:
    """Ids that can be file names: hypothesis would mostly draw others."""
    return st.text("abcXYZ019_- \u00e9\u4e09.", min_size=1, max_size=8).filter(lambda s: ".." not in s and s[0] != ".")


META = st.dictionaries(
    st.text(max_size=3).filter(str.isprintable),
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.text("a\u00e9\u2028\t\n\"'&<]>", max_size=4), st.floats(0, 1)
    ),
    max_size=2,
)


@st.composite
def documents(draw, pieces=PIECES, labels="AB", categories=(None,), confidences=False, on_tokens=False):
    """A document with any spans, or with disjoint ones that begin and end with tokens."""
    text = draw(texts(pieces))
    if on_tokens:
        tokens = segment(text).tokens
        cuts = (
            draw(st.lists(st.sampled_from(range(len(tokens.starts))), unique=True, max_size=6)) if tokens.starts else []
        )
        cuts.sort()
        borders = [(tokens.starts[a], tokens.ends[b]) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    else:
        offsets = st.integers(0, len(text))
        drawn = draw(st.lists(st.tuples(offsets, offsets), max_size=4))
        borders = [(min(pair), max(pair)) for pair in drawn if pair[0] != pair[1]]
    spans = [
        Span(
            start,
            end,
            draw(st.sampled_from(labels)),
            draw(st.sampled_from(categories)),
            draw(st.none() | st.floats(0, 1)) if confidences else None,
        )
        for start, end in borders
    ]
    patient = draw(st.none() | st.text('p1 \u00e9&"<\t\n', min_size=1, max_size=4))
    return Document(draw(names()), text, tuple(spans), patient, draw(META))


def there_and_back(corpus: list[Document], format: str, **options: object) -> list[Document]:
    """Write and read again; sorted by id, as folders are."""
    one_file = {"jsonl": "x.jsonl", "conll": "x.conll", "docbin": "x.spacy"}
    one_file |= {"doccano": "x.doccano.jsonl", "prodigy": "x.prodigy.jsonl", "labelstudio": "x.json"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, one_file.get(format, "out"))
        write_corpus(corpus, path, format=format, **options)
        return sorted(read_corpus(path, format=format), key=lambda document: document.doc_id)


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Write files as they are, without translating newlines."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
