"""DocBin files: spaCy sees the same notes, all comes back, and a file from strangers can do nothing but be refused."""

import zlib

import numpy as np
import pytest
import spacy
import srsly
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin

from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io import DocumentWriter, completed_ids, read_corpus, write_corpus
from sklearn_deid.text import Document, Span

from .corpora_for_io import CONTROL, PIECES, documents, there_and_back

SECRET = "Quillfeather"
NOTE = Document(
    "n1", f"Seen by {SECRET}.", (Span(8, 20, "DOCTOR", "NAME", 0.25), Span(5, 13, "DATE")), "p1", {"ward": [3]}
)
NLP = spacy.blank("en")


def corpora(**options):
    return st.lists(documents(**options), min_size=1, max_size=3, unique_by=lambda document: document.doc_id.casefold())


def by_id(corpus):
    return sorted(corpus, key=lambda document: document.doc_id)


def written(tmp_path, *corpus):
    path = tmp_path / "x.spacy"
    write_corpus(corpus or [NOTE], path)
    return path


@settings(max_examples=40, deadline=None)
@given(
    corpora(
        pieces=[*PIECES, *CONTROL, "DATE", "PERSON"],
        labels=["A", "DATE", "any label", "\t\u00e9\u2028"],
        categories=[None, "N"],
        confidences=True,
    )
)
def test_everything_comes_back(corpus):
    assert there_and_back(corpus, "docbin") == by_id(corpus)


@settings(max_examples=25, deadline=None)
@given(corpora(pieces=[*PIECES, *CONTROL]))
def test_spacy_reads_the_same_texts_and_spans(tmp_path_factory, corpus):
    path = tmp_path_factory.mktemp("bin") / "x.spacy"
    write_corpus(corpus, path)
    for document, doc in zip(corpus, DocBin().from_disk(path).get_docs(NLP.vocab), strict=True):
        assert doc.text == document.text
        found = [(s.start_char, s.end_char, s.label_) for s in doc.spans["phi"]]
        assert found == [(s.start, s.end, s.label) for s in document.spans]
        assert doc.user_data == {}
        assert {(s.start_char, s.end_char, s.label_) for s in doc.ents} <= set(found)
        assert bool(doc.ents) == bool(found)


def test_the_suffix_says_the_format_and_no_folder_is_made(tmp_path):
    path = written(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["x.spacy"]
    assert list(read_corpus(path)) == list(read_corpus(tmp_path)) == [NOTE]
    with pytest.raises(FileExistsError, match="overwrite=True"):
        write_corpus([NOTE], path)
    with pytest.raises(ValueError, match="must be a file, not a folder"):
        write_corpus([NOTE], tmp_path, "docbin")


def test_documents_are_collected_until_the_last_one(tmp_path):
    path = tmp_path / "x.spacy"
    with pytest.raises(RuntimeError, match="stopped"), DocumentWriter(path) as writer:
        writer.write(NOTE)
        raise RuntimeError("stopped")
    assert not path.exists()
    with pytest.raises(ValueError, match="'docbin' cannot be resumed"):
        DocumentWriter(path, resume=True)
    with pytest.raises(ValueError, match="cannot be listed"):
        completed_ids(path)
    with DocumentWriter(path, overwrite=True) as writer:
        writer.write(NOTE)
    assert list(read_corpus(path)) == [NOTE]
    assert [file.name for file in tmp_path.iterdir()] == ["x.spacy"]


def test_the_empty_corpus_and_the_empty_note(tmp_path):
    path = tmp_path / "x.spacy"
    write_corpus([], path)
    assert len(read_corpus(path)) == 0
    write_corpus([Document("n", "")], path, overwrite=True)
    assert list(read_corpus(path)) == [Document("n", "")]


# Files of others.


def foreign(tmp_path, *docs, **options):
    path = tmp_path / "other.spacy"
    DocBin(docs=docs, **options).to_disk(path)
    return path


def a_doc():
    return NLP("Seen by Dr Alder in Ely")


def test_named_entities_are_read_where_no_group_is_there(tmp_path):
    doc = a_doc()
    doc.set_ents([doc.char_span(8, 16, "DOCTOR"), doc.char_span(20, 23, "CITY")], default="outside")
    read = read_corpus(foreign(tmp_path, doc, NLP("")))
    assert read[0] == Document("other-1", doc.text, (Span(8, 16, "DOCTOR"), Span(20, 23, "CITY")))
    assert read[1] == Document("other-2", "")


def test_adjacent_entities_stay_two(tmp_path):
    doc = NLP("Ann Bob")
    doc.set_ents([doc.char_span(0, 3, "A"), doc.char_span(4, 7, "A")], default="outside")
    assert read_corpus(foreign(tmp_path, doc))[0].spans == (Span(0, 3, "A"), Span(4, 7, "A"))


def test_the_only_group_is_read_with_its_scores(tmp_path):
    doc = a_doc()
    doc.spans["sc"] = [doc.char_span(8, 16, "DOCTOR"), doc.char_span(11, 16, "NAME")]
    doc.spans["sc"].attrs["scores"] = np.array([0.5, 0.75], dtype=np.float32)  # as spaCy's spancat leaves them
    spans = read_corpus(foreign(tmp_path, doc))[0].spans
    assert spans == (Span(8, 16, "DOCTOR", None, 0.5), Span(11, 16, "NAME", None, 0.75))


@pytest.mark.parametrize("annotate", ["nothing", "some tokens", "no entity columns"])
def test_a_doc_that_nobody_annotated_is_refused(annotate, tmp_path):
    doc = a_doc()
    if annotate == "some tokens":
        doc.set_ents([doc.char_span(8, 16, "DOCTOR")], default="missing")
    attrs = ["LEMMA"] if annotate == "no entity columns" else ["ENT_IOB", "ENT_TYPE"]
    with pytest.raises(CorpusFormatError, match="The document is not annotated.*document other-1"):
        read_corpus(foreign(tmp_path, doc, attrs=attrs))


@pytest.mark.parametrize("entities", [True, False])
def test_several_kinds_of_spans_are_not_guessed_between(entities, tmp_path):
    doc = a_doc()
    doc.spans["a"] = [doc[0:1]]
    if entities:
        doc.set_ents([doc.char_span(8, 16, "DOCTOR")], default="outside")
    else:
        doc.spans["b"] = [doc[1:2]]
    with pytest.raises(CorpusFormatError, match="Name the group with the PHI 'phi'"):
        read_corpus(foreign(tmp_path, doc))


def test_unknown_spaces_are_read_as_spacy_reads_them(tmp_path):
    doc = Doc(NLP.vocab, words=["Ann", "Roe"])
    doc.spans["phi"] = [doc.char_span(0, 3, "A")]
    assert read_corpus(foreign(tmp_path, doc))[0].text == doc.text == "Ann Roe "


class Trap:
    """Reading this by pickle would run code."""

    def __reduce__(self):
        return (pytest.fail, ("code of the file was run",))


def test_user_data_are_not_looked_at(tmp_path):
    import pickle

    content = unpacked(written(tmp_path))
    content["user_data"] = [pickle.dumps(Trap())]
    assert list(read_corpus(repacked(tmp_path, content))) == [NOTE]


# Damaged and hostile files.


def unpacked(path):
    return srsly.msgpack_loads(zlib.decompress(path.read_bytes()))


def repacked(tmp_path, content):
    path = tmp_path / "a.spacy"
    path.write_bytes(zlib.compress(srsly.msgpack_dumps(content)))
    return path


def changed(key, value):
    return lambda content: {**content, key: value(content[key]) if callable(value) else value}


def in_group(change):
    """Change the map inside of the only group of the only document."""

    def apply(content):
        ((group, keys),) = srsly.msgpack_loads(content["span_groups"][0]).items()
        inner = srsly.msgpack_dumps(change(srsly.msgpack_loads(group)))
        return {**content, "span_groups": [srsly.msgpack_dumps({inner: keys})]}

    return apply


def in_attrs(**attrs):
    return in_group(lambda group: {**group, "attrs": {**group["attrs"], **attrs}})


def in_spans(at, value):
    """Put a number over four or eight bytes of the second span."""

    def apply(group):
        first, second = group["spans"]
        return {**group, "spans": [first, second[:at] + value + second[at + len(value) :]]}

    return in_group(apply)


BROKEN = {
    "a list": (lambda content: [1], "there is no map"),
    "no tokens": (changed("tokens", None), "'tokens' must be the bytes"),
    "tokens cut": (changed("tokens", lambda b: b[:-3]), "'tokens' must be the bytes"),
    "one token less": (changed("tokens", lambda b: b[:-24]), "numbers of tokens"),
    "one space more": (changed("spaces", lambda b: b + b"\0"), "numbers of tokens"),
    "negative length": (changed("lengths", lambda b: b + b"\xff\xff\xff\xff"), "numbers of tokens"),
    "huge length": (changed("lengths", b"\xff\xff\xff\x7f"), "numbers of tokens"),
    "attributes": (changed("attrs", ["ORTH"]), "'attrs' must list"),
    "no text": (changed("attrs", lambda a: [7, *a[1:]]), "tokens have no text"),
    "strings": (changed("strings", [1]), "'strings' must list"),
    "strings gone": (changed("strings", []), "text of a token is not among"),
    "label gone": (
        changed("strings", lambda s: [x for x in s if x != "DOCTOR"]),
        "label of a span is not among|entity",
    ),
    "groups": (changed("span_groups", []), "for each document"),
    "groups of numbers": (changed("span_groups", [srsly.msgpack_dumps(7)]), "groups of spans are damaged"),
    "groups cut": (changed("span_groups", lambda g: [g[0][:-1]]), "msgpack content"),
    "group no map": (changed("span_groups", [srsly.msgpack_dumps([b"\x07"])]), "group of spans is damaged"),
    "short span": (in_group(lambda g: {**g, "spans": [b"1"]}), "group of spans is damaged"),
    "token outside": (in_spans(28, b"\x00\x00\x00\x63"), "tokens and the offsets"),
    "token negative": (in_spans(24, b"\xff\xff\xff\xff"), "tokens and the offsets"),
    "offset moved": (in_spans(32, b"\x00\x00\x00\x09"), "tokens and the offsets"),
    "no label": (in_spans(16, b"\0" * 8), "has no label"),
    "score too few": (in_attrs(scores=[0.5]), "'scores' must hold one value for each span"),
    "score text": (in_attrs(scores=[SECRET, None]), "type float"),
    "score range": (in_attrs(scores=[1.5, None]), r"in \[0, 1\]"),
    "score array": (in_attrs(scores=np.array([float("nan"), 0.5])), r"in \[0, 1\]"),
    "category": (in_attrs(categories=[1, 2]), "type str"),
    "id": (in_attrs(doc_id=7), "must be strings"),
    "patient": (in_attrs(patient_id=[SECRET]), "must be strings"),
    "meta": (in_attrs(meta=f"{{{SECRET}"), "not valid JSON"),
    "meta list": (in_attrs(meta="[]"), "must be a JSON object"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_raises_without_text(case, tmp_path):
    change, message = BROKEN[case]
    path = repacked(tmp_path, change(unpacked(written(tmp_path))))
    with pytest.raises(CorpusFormatError, match=message) as caught:
        read_corpus(path)
    assert SECRET not in str(caught.value)
    error = caught.value
    while error is not None:
        assert SECRET not in f"{error!r} {vars(error)}"
        error = error.__cause__ or error.__context__


def test_a_broken_document_does_not_hide_the_others(tmp_path):
    other = Document("n2", "Fine.")
    content = unpacked(written(tmp_path, NOTE, other))
    content["span_groups"][0] = b"\x07"
    corpus, errors = read_corpus(repacked(tmp_path, content), on_error="collect")
    assert list(corpus) == [other]
    assert [error.doc_id for error in errors] == ["a-1"]


@pytest.mark.parametrize("ending", [b"more", zlib.compress(b"")])
def test_what_comes_after_the_end_is_refused(ending, tmp_path):
    path = written(tmp_path)
    path.write_bytes(path.read_bytes() + ending)
    with pytest.raises(CorpusFormatError, match="continues after its end"):
        read_corpus(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(CorpusFormatError, match="is cut off"):
        read_corpus(path)


def test_a_bomb_is_not_expanded(tmp_path, monkeypatch):
    monkeypatch.setattr("sklearn_deid.io.packed_docs._ALWAYS_ALLOWED", 2**16)
    path = tmp_path / "bomb.spacy"
    press = zlib.compressobj(9)
    path.write_bytes(b"".join(press.compress(bytes(2**20)) for _ in range(2)) + press.flush())
    with pytest.raises(CorpusFormatError, match="too large when expanded"):
        read_corpus(path)


def test_extension_types_are_refused(tmp_path):
    path = tmp_path / "ext.spacy"
    path.write_bytes(zlib.compress(b"\xd4\x01\x00"))
    with pytest.raises(CorpusFormatError, match="msgpack content"):
        read_corpus(path)


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_damaged_bytes_give_documents_or_errors(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    content = bytearray(zlib.decompress(written(folder).read_bytes()))
    for _ in range(data.draw(st.integers(1, 3))):
        at, length = data.draw(st.integers(0, len(content))), data.draw(st.integers(0, 4))
        content[at : at + length] = data.draw(st.binary(max_size=4))
    path = folder / "a.spacy"
    path.write_bytes(zlib.compress(content))
    corpus, errors = read_corpus(path, on_error="collect")
    assert all(SECRET not in str(error) for error in errors)
    for document in corpus:
        assert all(0 <= span.start < span.end <= len(document.text) for span in document.spans)
