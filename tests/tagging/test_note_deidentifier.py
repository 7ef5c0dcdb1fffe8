"""`NoteDeidentifier`: what comes out is what came in, less the spans; nothing that failed passes as clean."""

import io
import sys
import traceback
import warnings
from array import array
from dataclasses import replace
from itertools import count, islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold, HalvingGridSearchCV
from sklearn.pipeline import Pipeline

from sklearn_deid import Corpus, DeidTagger, Document, HybridTagger, NoteDeidentifier, Span, deid_report
from sklearn_deid.exceptions import AlignmentWarning, DeidError, SequenceError, WithheldWarning
from sklearn_deid.tagging.note_deidentifier import checked_notes
from sklearn_deid.text import LearnedSegmenter, Segmentation, Tokens, segment, unreadable_reason
from sklearn_deid.text.other_scripts import words_of_other_scripts
from sklearn_deid.text.segmentation import segment_normalized

from .conftest import make_sentences


class CapitalTagger(BaseEstimator):
    """Every token that begins with a capital is a name; remembers what `fit` was given."""

    def __init__(self, breaks_at=None, cuts=False):
        self.breaks_at = breaks_at
        self.cuts = cuts

    def fit(self, X, y=None, *, groups=None):
        self.groups_ = groups
        return self

    def predict(self, X):
        if any(self.breaks_at in row for row in X):
            raise ValueError(f"cannot tag {self.breaks_at} Zyxwvutski")
        tags = np.empty(len(X), dtype=object)
        for i, row in enumerate(X):
            tags[i] = ["B-NAME" if token[:1].isupper() else "O" for token in row]
        return tags[:-1] if self.cuts else tags


class PassOn(TransformerMixin, BaseEstimator):
    """A step that changes nothing."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return X


class Records(CapitalTagger):
    """Also remembers the groups of every fit, clones included."""

    seen: list = []

    def fit(self, X, y=None, *, groups=None):
        type(self).seen.append(groups)
        return super().fit(X, y, groups=groups)

    def score(self, X, y):
        return 0.0


@pytest.fixture(scope="module")
def corpus():
    documents = []
    for number, (tokens, tags) in enumerate(zip(*make_sentences(60)[:2], strict=True)):
        spans, position = [], 0
        for token, tag in zip(tokens, tags, strict=True):
            if tag.startswith("B-"):
                spans.append(Span(position, position + len(token), tag[2:], category=tag[2:].title()))
            position += len(token) + 1
        documents.append(Document(f"n{number}", " ".join(tokens), tuple(spans), patient_id=f"p{number // 5}"))
    return Corpus(documents)


@pytest.fixture(scope="module")
def deidentifier(fitted):
    return NoteDeidentifier(fitted)


def capital(**parameters):
    return NoteDeidentifier(CapitalTagger().fit(None), **parameters)


# Control characters are refused (see test_unreadable), so no note of these tests holds any.
ANY_TEXT = st.text(st.characters(exclude_categories=["Cc"]), max_size=200).filter(lambda t: not unreadable_reason(t))
NOTES = st.lists(
    st.one_of(
        ANY_TEXT,
        st.text(alphabet="ABz9 .-\r\n\t\u00a0\u0301\u05d0\u4e2d\U0001f600&;lt", max_size=200),
        st.lists(st.sampled_from(["Mr. ", "Alder", "\r\n", "was seen 3/4/21", "25yo", "&amp;", "\n\n- "])).map("".join),
    ),
    max_size=6,
)


@given(texts=NOTES, batch_size=st.integers(1, 7), trained=st.booleans())
@settings(max_examples=100)
def test_nothing_outside_the_spans_is_lost(deidentifier, texts, batch_size, trained):
    model = deidentifier if trained else capital()
    model = clone(model).set_params(estimator=model.fitted_estimator(), batch_size=batch_size)
    found = model.annotate(texts)
    assert len(found) == len(texts)
    redacted = {mode: model.redact(texts, mode) for mode in ("label", "mask", "remove")}
    for number, (text, spans) in enumerate(zip(texts, found, strict=True)):
        assert all(0 <= span.start < span.end <= len(text) for span in spans)
        assert all(a.end <= b.start for a, b in zip(spans[:-1], spans[1:], strict=True))
        borders = [0, *(border for span in spans for border in (span.start, span.end)), len(text)]
        outside = [text[a:b] for a, b in zip(borders[::2], borders[1::2], strict=True)]
        assert redacted["remove"][number] == "".join(outside)
        for mode in ("label", "mask"):
            rest = redacted[mode][number]
            for piece in outside:  # left to right, in the order of the note, and nothing after the last one
                assert piece in rest
                rest = rest[rest.index(piece) + len(piece) :]
            assert rest == "" or spans


@given(texts=NOTES)
@settings(max_examples=50)
def test_every_token_of_a_kind_is_covered(texts):
    """The tags reach the right characters: the tokens that the tagger marks are those that the spans cover."""
    for text, spans in zip(texts, capital().annotate(texts), strict=True):
        # Names in other scripts are read in Latin letters, with a capital.
        tokens = (segment_normalized if words_of_other_scripts(text) else segment)(text).tokens
        marked = [(a, b) for t, a, b in zip(*tokens, strict=True) if t[:1].isupper()]
        assert [(span.start, span.end) for span in spans] == marked


@pytest.mark.parametrize(
    "text",
    ["", " ", "\r\n", "\U0001f600", "Seen by Dr Alder\r\n\r\nMr . Birch was seen", "\ufeffMr . Birch was seen"],
)
def test_texts_of_any_kind(deidentifier, text):
    (spans,) = deidentifier.annotate([text])
    assert deidentifier.redact([text], "remove") == ["".join(c for i, c in enumerate(text) if not _inside(i, spans))]


@pytest.mark.parametrize("text", ["x" * 100_000, "Mr . Birch was seen\n" * 2_000, "a " * 5_000])
def test_long_texts(deidentifier, text):
    (spans,) = deidentifier.annotate([text])
    assert len(deidentifier.redact([text], "remove")[0]) == len(text) - sum(span.length for span in spans)


def test_text_without_the_end_of_a_sentence_is_cut():
    seen = []

    class Sees(CapitalTagger):
        def predict(self, X):
            seen.extend(map(len, X))
            return super().predict(X)

    text = "pain Ann " * 3_000 + "fever."
    (spans,) = NoteDeidentifier(Sees().fit(None)).annotate([text])
    assert max(seen) == 2000 and sum(seen) == 6_002
    assert [(s.start, s.end) for s in spans] == [(9 * i + 5, 9 * i + 8) for i in range(3_000)]


def _inside(i, spans):
    return any(span.start <= i < span.end for span in spans)


def test_finds_what_it_was_trained_on(deidentifier):
    (spans,) = deidentifier.annotate(["Mr . Birch was seen"])
    assert [(s.start, s.end, s.label, s.category) for s in spans] == [(5, 10, "PATIENT", None)]
    assert deidentifier.redact(["Mr . Birch was seen"]) == ["Mr . [PATIENT] was seen"]


def test_confidence_is_the_smallest_probability_of_the_tokens(deidentifier, corpus):
    tagger = deidentifier.fitted_estimator()
    columns = {tag: i for i, tag in enumerate(tagger.classes_)}
    for document, spans in zip(corpus, deidentifier.annotate(corpus), strict=True):
        cut = segment(document.text)
        rows = cut.rows()
        probabilities = np.concatenate([*tagger.predict_proba(rows), np.zeros((0, len(columns)))])
        tags = [tag for row in tagger.predict(rows) for tag in row]
        for span in spans:
            inside = [i for i, start in enumerate(cut.tokens.starts) if span.start <= start < span.end]
            expected = min(probabilities[i, columns[tags[i]]] for i in inside)
            assert 0.0 <= span.confidence <= 1.0
            assert span.confidence == pytest.approx(expected, abs=1e-5)


def test_spans_of_redacted_notes_do_not_tell_which_of_two_names_was_there(deidentifier):
    notes = [[f"Mr . {name} was seen"] for name in ("Birch", "Larch")]
    assert len({deidentifier.annotate(note)[0][0].confidence for note in notes}) == 2
    first, second = (deidentifier.redact(note, return_documents=True)[0] for note in notes)
    assert (first.text, first.spans) == (second.text, second.spans)


def test_documents_and_texts_give_the_same_in_any_batch(deidentifier, corpus):
    texts = [document.text for document in corpus]
    expected = deidentifier.annotate(texts)
    for batch_size in (1, 7, 1000):
        model = NoteDeidentifier(deidentifier.fitted_estimator(), batch_size=batch_size)
        found = model.annotate(corpus)
        assert [[(s.start, s.end, s.label) for s in spans] for spans in found] == [
            [(s.start, s.end, s.label) for s in spans] for spans in expected
        ]


def test_gold_spans_of_documents_are_not_looked_at(deidentifier):
    document = Document("a", "no pain", (Span(0, 2, "PATIENT"),))
    assert deidentifier.redact([document]) == deidentifier.redact(["no pain"])


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_streams_a_batch_at_a_time(batch_size):
    pulled = []

    def endless():
        for number in count():
            pulled.append(number)
            yield f"Note {number}"

    stream = capital(batch_size=batch_size).iter_redact(endless(), "remove")
    assert pulled == []
    for done, text in enumerate(islice(stream, 200), start=1):
        assert text == f" {done - 1}"
        assert done <= len(pulled) <= done + batch_size - 1


def test_on_error_raise_names_the_note():
    model = capital()
    with pytest.raises(DeidError, match="must be a str or a Document. Got int instead. .document number 1"):
        model.annotate(["Fine", 5])
    with pytest.raises(DeidError, match="Got bytes instead. .document a.$"):
        model.annotate([Document("a", "Fine"), _with_bytes("a")])


def _with_bytes(doc_id):
    document = Document(doc_id, "")
    object.__setattr__(document, "text", b"Zyxwvutski")
    return document


def test_on_error_withhold_gives_none_and_warns():
    model = capital(on_error="withhold", batch_size=2)
    notes = ["Ann", None, _with_bytes("x"), "Bob", Document("b", "Cid")]
    with pytest.warns(WithheldWarning) as caught:
        assert model.redact(notes) == ["[NAME]", None, None, "[NAME]", "[NAME]"]
    messages = [str(warning.message) for warning in caught]
    assert messages == [
        "Note withheld: A note must be a str or a Document. Got NoneType instead. [document number 1]",
        "Note withheld: A note must be a str or a Document. Got bytes instead. [document x]",
    ]


@pytest.mark.parametrize("batch_size", [1, 2, 10])
def test_note_that_the_tagger_fails_on_takes_no_other_with_it(batch_size):
    tagger = CapitalTagger(breaks_at="broken").fit(None)
    notes = ["Ann", Document("bad", "Bob is broken"), "Cid", "Dan is broken too"]
    model = NoteDeidentifier(tagger, batch_size=batch_size, on_error="withhold")
    with pytest.warns(WithheldWarning) as caught:
        assert model.redact(notes) == ["[NAME]", None, "[NAME]", None]
    assert [str(warning.message) for warning in caught] == [
        "Note withheld: The note cannot be processed: ValueError. [document bad]",
        "Note withheld: The note cannot be processed: ValueError. [document number 3]",
    ]
    with pytest.raises(DeidError, match="The note cannot be processed: ValueError. .document bad.") as caught_error:
        model.set_params(on_error="raise").redact(notes)
    assert "Zyxwvutski" not in str(caught_error.value)


def test_text_of_another_kind_is_withheld_with_the_reason():
    notes = ["Ann", "Ann".encode("utf-16-le").decode(), r"{\rtf1 Ann}", Document("q", "Mu=C3=B1oz")]
    model = capital(on_error="withhold")
    with pytest.warns(WithheldWarning) as caught:
        assert model.redact(notes) == ["[NAME]", None, None, None]
    reasons = ["is UTF-16 that was not decoded", "is RTF", "is quoted-printable text"]
    for warning, reason, where in zip(caught, reasons, ("number 1", "number 2", "q"), strict=True):
        assert reason in str(warning.message) and f"[document {where}]" in str(warning.message)
    with pytest.raises(DeidError, match="The note is RTF. Convert the note to plain text first. .document number 2."):
        capital().annotate(["Ann", "Bob", notes[2]])


def test_tagger_that_gives_too_few_tags_is_an_error():
    model = NoteDeidentifier(CapitalTagger(cuts=True).fit(None))
    with pytest.raises(DeidError, match="cannot be processed: SequenceError"):
        model.redact(["Ann", "Bob"])


class Fails(CapitalTagger):
    """A tagger with a bug that shows at one word; its message holds text of the note."""

    def __init__(self, error=TypeError, breaks_at="broken", cuts=False):
        super().__init__(breaks_at, cuts)
        self.error = error

    def predict(self, X):
        if any("broken" in row for row in X):
            raise self.error("Zyxwvutski")
        return super().predict(X)


@pytest.mark.parametrize(
    "error", [TypeError, KeyError, IndexError, MemoryError, AssertionError, AttributeError, OSError]
)
def test_any_error_of_a_tagger_withholds_the_note_without_its_text(error):
    model = NoteDeidentifier(Fails(error).fit(None), on_error="withhold")
    with pytest.warns(WithheldWarning) as caught:
        assert model.redact(["Ann", "Bob is broken", "Cid"]) == ["[NAME]", None, "[NAME]"]
    assert [str(warning.message) for warning in caught] == [
        f"Note withheld: The note cannot be processed: {error.__name__}. [document number 1]"
    ]
    with pytest.raises(DeidError, match=f"cannot be processed: {error.__name__}. .document number 1.") as raised:
        model.set_params(on_error="raise").redact(["Ann", "Bob is broken"])
    assert raised.value.__cause__ is None and raised.value.__context__ is None
    assert "Zyxwvutski" not in str(raised.value)


class Wraps(CapitalTagger):
    """Turns an error that quotes the note into an error of this library, and forgets ``from None``."""

    def predict(self, X):
        try:
            raise KeyError(str(X.data.tolist()))
        except KeyError:
            raise SequenceError("cannot be tagged")  # noqa: B904


def test_errors_behind_an_error_of_the_library_are_not_in_the_traceback():
    notes = ["Zyxwvutski came"]
    with pytest.raises(DeidError, match="SequenceError") as caught:
        NoteDeidentifier(Wraps().fit(None)).redact(notes)
    shown = "".join(traceback.format_exception(caught.value))
    assert ("cannot be tagged" in shown, "Zyxwvutski" in shown) == (True, False)


class Unsure(CapitalTagger):
    """Has a confidence that is no number for Bob, or one too few."""

    def __init__(self, value=0.5, n_less=0):
        self.value, self.n_less = value, n_less

    def predict(self, X, return_confidence=False):
        tags = CapitalTagger.predict(CapitalTagger(), X)
        sure = [[self.value if token == "Bob" else 0.5 for token in row] for row in X]
        return tags, [known[: len(row) - self.n_less * ("Bob" in row)] for row, known in zip(X, sure, strict=True)]


@pytest.mark.parametrize("settings", [{"value": float("nan")}, {"value": float("inf")}, {"n_less": 1}])
def test_a_confidence_that_is_no_number_withholds_the_note(settings):
    """Presidio's analyzer drops a span whose score is no number, whatever its threshold."""
    model = NoteDeidentifier(Unsure(**settings).fit(None), on_error="withhold")
    with pytest.warns(WithheldWarning, match="ValueError"):
        assert model.redact(["Ann came", "Bob came", "Eva came"]) == ["[NAME] came", None, "[NAME] came"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_process_is_not_withheld(error):
    with pytest.raises(error):
        NoteDeidentifier(Fails(error).fit(None), on_error="withhold").redact(["Bob is broken"])


WRONG_CALLS = {
    "set": ({"Ann was seen"}, r"Got set instead. A set has no order"),
    "keys": ({"Ann": 1}.keys(), r"Got dict_keys instead. A set has no order"),
    "file": (io.StringIO("Ann was\nseen"), r"Got StringIO instead. .* {method}\(\[file.read\(\)\]\)"),
    "str": ("Ann was seen", r"Got str instead. A text is read letter by letter. Pass .* {method}\(\[text\]\)"),
    "array": (
        array("w" if sys.version_info >= (3, 13) else "u", "Ann was seen"),
        r"Got array instead.*letter by letter",
    ),
    "numpy str": (np.str_("Ann was seen"), r"Got str_? instead.*{method}\(\[text\]\)"),
    "bytes": (b"Ann was seen", r"Got bytes instead. Decode the bytes .* {method}\(\[data.decode\('utf-8'\)\]\)"),
    "dict": ({"a": "Ann"}, r"Got dict instead. .* Pass its values: {method}\(list\(notes.values\(\)\)\)"),
    "None": (None, r"Got NoneType instead. .* {method}\(\[text\]\)"),
    "number": (5, r"Got int instead. .* {method}\(\[text\]\)"),
    "table": (np.array([["Ann", "Bob"]], dtype=object), r"Got ndarray instead. .* {method}\(table\['text'\]\)"),
    "no dimension": (np.array("Ann"), r"Got ndarray instead. .* {method}\(\[text\]\)"),
}


@pytest.mark.parametrize("method", ["redact", "annotate", "iter_redact", "iter_annotate"])
@pytest.mark.parametrize("name", WRONG_CALLS)
@pytest.mark.parametrize("on_error", ["raise", "withhold"])
def test_a_wrong_call_is_shown_the_right_one(method, name, on_error):
    notes, message = WRONG_CALLS[name]
    with pytest.raises(SequenceError, match=rf"'texts' parameter of NoteDeidentifier.{method} must be an iterable"):
        getattr(capital(on_error=on_error), method)(notes)  # the generators are not even asked for an item
    with pytest.raises(SequenceError, match=message.format(method=method)) as raised:
        getattr(capital(on_error=on_error), method)(notes)
    assert "Ann" not in str(raised.value)


def test_tables_and_their_columns():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"text": ["Ann was seen", "pain"]}, index=[7, 3])
    with pytest.raises(SequenceError, match=r"Got DataFrame instead. .* redact\(table\['text'\]\)"):
        capital().redact(table)
    assert capital().redact(table["text"]) == ["[NAME] was seen", "pain"] == capital().redact(table["text"].to_numpy())


def test_nothing_is_read_before_it_is_asked_for():
    stream = (text for text in ["Ann"])
    assert checked_notes(stream, "redact") is stream
    assert next(stream) == "Ann"


def test_documents_and_iterables_of_them():
    document = Document("a", "Ann was seen")
    for notes in (document, [document], (document,), iter([document]), Corpus([document])):
        assert capital().redact(notes) == ["[NAME] was seen"]


def test_unknown_mode_and_parameters():
    with pytest.raises(ValueError, match="'mode' parameter must be one of .* Got 'hide' instead"):
        capital().redact(["Ann"], mode="hide")
    with pytest.raises(ValueError, match="'batch_size' parameter of NoteDeidentifier"):
        capital(batch_size=0).annotate([])
    with pytest.raises(ValueError, match="'on_error' parameter of NoteDeidentifier"):
        capital(on_error="ignore").annotate([])


def test_unfitted():
    with pytest.raises(NotFittedError, match="call fit, or give it a fitted estimator"):
        NoteDeidentifier().annotate(["Ann"])
    with pytest.raises(NotFittedError):
        NoteDeidentifier(DeidTagger()).annotate(["Ann"])


def test_fitted_estimator_is_used_until_fit(corpus):
    tagger = CapitalTagger().fit(None)
    model = NoteDeidentifier(tagger)
    assert model.redact(["Ann"]) == ["[NAME]"]
    assert model.fitted_estimator() is tagger
    model.fit(corpus)
    assert model.fitted_estimator() is model.estimator_ is not tagger
    assert not hasattr(clone(model), "estimator_")


def test_fit_keeps_categories_and_alignment():
    corpus = Corpus([Document("a", "Seen by Anna", (Span(8, 10, "NAME", "Names"), Span(4, 5, "AGE")), "p")])
    model = NoteDeidentifier(CapitalTagger())
    with pytest.warns(AlignmentWarning):
        model.fit(corpus)
    assert model.categories_ == {"NAME": "Names"}
    assert [span.category for span in model.annotate(["Ann"])[0]] == ["Names"]
    assert model.alignment_report_ == corpus_report(corpus)
    assert "Anna" not in repr(model) + repr(model.alignment_report_)


def corpus_report(corpus):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)
        return corpus.to_sentences().report


def test_fit_tells_patients_apart(corpus):
    model = NoteDeidentifier(CapitalTagger()).fit(corpus)
    groups = list(corpus.to_sentences(segmenter=model.segmenter_).groups)
    assert list(model.estimator_.groups_) == groups
    pipe = NoteDeidentifier(Pipeline([("same", PassOn()), ("in", Pipeline([("tag", CapitalTagger())]))])).fit(corpus)
    assert list(pipe.estimator_.steps[-1][1].steps[-1][1].groups_) == groups
    with config_context(enable_metadata_routing=True):
        for wanted in (True, False):
            tagger = CapitalTagger().set_fit_request(groups=wanted)
            routed = NoteDeidentifier(Pipeline([("same", PassOn()), ("tag", tagger)])).fit(corpus)
            assert (routed.estimator_.steps[-1][1].groups_ is not None) is wanted


def test_metadata_routing_without_requests_keeps_the_patients(corpus):
    with config_context(enable_metadata_routing=True):
        plain = NoteDeidentifier(CapitalTagger()).fit(corpus)
        assert list(plain.estimator_.groups_) == list(corpus.to_sentences(segmenter=plain.segmenter_).groups)
        around = NoteDeidentifier(HybridTagger(tagger=CapitalTagger())).fit(corpus)
        assert list(around.estimator_.tagger_.groups_) == list(plain.estimator_.groups_)
        with pytest.raises(UnsetMetadataPassedError, match="not explicitly set as requested"):
            NoteDeidentifier(Pipeline([("tag", CapitalTagger())])).fit(corpus)


@pytest.mark.parametrize("kind", [GridSearchCV, HalvingGridSearchCV])
def test_searches_get_the_groups(corpus, kind):
    search = kind(Records(), {"cuts": [False]}, cv=GroupKFold(3), error_score="raise")
    model = NoteDeidentifier(search).fit(corpus)
    assert model.redact(["Ann"]) == ["[NAME]"]
    assert model.annotate(["Ann"])[0][0].confidence is None


def test_pipelines_and_frozen_taggers_give_the_same(deidentifier, corpus):
    tagger = deidentifier.fitted_estimator()
    expected = [[(s.start, s.end, s.label) for s in spans] for spans in deidentifier.annotate(corpus)]
    pipe = Pipeline([("same", PassOn()), ("tag", tagger)])
    pipe[0].fit(None)
    for estimator in (pipe, FrozenEstimator(tagger), Pipeline([("tag", tagger)])):
        found = NoteDeidentifier(estimator).annotate(corpus)
        assert [[(s.start, s.end, s.label) for s in spans] for spans in found] == expected
        assert all(span.confidence is not None for spans in found for span in spans)


def test_no_texts():
    assert capital().annotate([]) == [] == capital().redact([])
    assert list(capital().iter_redact(iter(()))) == []


def test_score_of_texts_without_gold_spans_is_refused(deidentifier):
    with pytest.raises(TypeError, match="score needs Document objects with gold spans. Got str instead"):
        deidentifier.score(["Seen today by Dr. Roe."])


def test_score_is_the_strict_figure_of_the_report(deidentifier, corpus):
    notes = list(corpus)[:20]
    wrong = [replace(notes[0], spans=(Span(0, 1, "CITY"),)), *notes[1:]]
    found = Corpus(replace(note, spans=spans) for note, spans in zip(wrong, deidentifier.annotate(wrong), strict=True))
    expected = deid_report(Corpus(wrong), found, output="dict")["strict"]["f1"]
    assert 0 < expected < 1
    assert deidentifier.score(wrong) == deidentifier.score(Corpus(wrong)) == pytest.approx(expected, abs=1e-12)


def test_spans_of_withheld_notes_count_as_missed():
    notes = [Document("a", "Alder", (Span(0, 5, "NAME"),)), Document("b", "Birch", (Span(0, 5, "NAME"),))]
    model = NoteDeidentifier(CapitalTagger(breaks_at="Birch").fit(None), on_error="withhold")
    with pytest.warns(WithheldWarning):
        assert model.score(notes) == pytest.approx(2 / 3)  # one of two is found, none invented


class LineSegmenter:
    """A segmenter of the user: sentences of three tokens."""

    def segment(self, text):
        cut = segment(text)
        n = len(cut.tokens.texts)
        return cut._replace(sentences=[(first, min(first + 3, n)) for first in range(0, n, 3)])


class GoldTagger(BaseEstimator):
    """Returns the tags of `fit`, for the corpus of `fit`."""

    def fit(self, X, y=None):
        self.tags_ = y
        return self

    def predict(self, X):
        return self.tags_


def letter(doc_id, marked):
    """Document of a text with marked spans: {LABEL|text}."""
    text, spans = "", []
    for part in marked.split("{"):
        label, bar, rest = part.partition("|")
        found, _, after = rest.partition("}")
        if bar:
            spans.append(Span(len(text), len(text) + len(found), label))
        text += found + after if bar else part
    return Document(doc_id, text, tuple(spans))


LETTERS = Corpus(
    [
        letter(
            "a",
            "{HOSPITAL|Ulmenklinik Erlenau\nHaus der Ulmen}\n\nDr. {DOCTOR|Erle} kam am {DATE|27. Mai}. "
            "Die Haut ist rot. Es sah Dr. {DOCTOR|Linde}.",
        ),
        letter(
            "b",
            "{DOCTOR|Buche}\n{DOCTOR|Eiche}\n\nDr. {DOCTOR|Fichte} sah am {DATE|3. Mai} die Haut, es war die Frage, "
            "ob Dr. {DOCTOR|Linde} kommt.",
        ),
    ]
)


@pytest.mark.parametrize("segmenter", ["learned", "rules", LearnedSegmenter()])
def test_gold_tags_give_the_gold_spans(segmenter):
    """Spans cut by a border are whole again, and neighbours of one label stay apart, whatever cuts the sentences."""
    model = NoteDeidentifier(GoldTagger(), segmenter=segmenter, batch_size=8).fit(LETTERS)
    assert model.border_counts_["DOCTOR"][0] * 2 <= model.border_counts_["DOCTOR"][1]
    assert model.border_counts_["HOSPITAL"][0] > 0
    for note, spans in zip(LETTERS, model.annotate(LETTERS), strict=True):
        assert [(s.start, s.end, s.label) for s in spans] == [(s.start, s.end, s.label) for s in note.spans]


def test_segmenter_of_the_user_cuts_the_notes():
    model = NoteDeidentifier(GoldTagger(), segmenter=LineSegmenter()).fit(LETTERS)
    assert {len(tags) for tags in model.estimator_.tags_[:8]} == {3}
    assert model.annotate(LETTERS)[1][0].label == "DOCTOR"


def test_segmenter_of_the_user_may_unescape_html_entities():
    cut = LineSegmenter().segment("Ann &lt; &amp; came")
    assert cut.tokens.texts == ["Ann", "<", "&", "came"]
    model = NoteDeidentifier(CapitalTagger().fit([]), segmenter=LineSegmenter())
    assert model.redact(["Ann &lt; &amp; came"]) == ["[NAME] &lt; &amp; came"]


class EverythingTagger(CapitalTagger):
    """Finds every token, each as a span of its own."""

    def predict(self, X):
        return [["B-NAME"] * len(row) for row in X]


def test_signs_alone_are_no_phi():
    # Letters in a circle, signs of currencies, a letter of Chinese and one of Braille may be a name.
    words = "Dayton 12 \u24b6\u24c1 \u20b3\u20a6 \u5f20 \u2803".split()
    text = "{}, or (+---) \u2026 \xa7 | {}; {} : {} / {} = {}.".format(*words)
    (spans,) = NoteDeidentifier(EverythingTagger().fit([]), on_unlike="pass").annotate([text])
    found = "".join(text[span.start : span.end] for span in spans)
    assert found == "".join(words[:1]) + "or" + "".join(words[1:])


def test_sentences_of_fit_are_those_of_annotate():
    model = NoteDeidentifier(CapitalTagger(), segmenter="learned").fit(LETTERS)
    assert isinstance(model.segmenter_, LearnedSegmenter)
    rows = [" ".join(row) for row in model.segmenter_.segment(LETTERS[0].text).rows()]
    assert rows[2:] == ["Dr . Erle kam am 27 . Mai .", "Die Haut ist rot .", "Es sah Dr . Linde ."]
    assert not hasattr(NoteDeidentifier(CapitalTagger().fit([])), "segmenter_")


@pytest.mark.parametrize(
    ("tokens", "sentences", "message"),
    [
        (Tokens(["Ann"], [0], [3]), [(0, 1)], "no token for the text from 3 to 8"),
        (Tokens(["Ann", "nn", "came"], [0, 1, 4], [3, 3, 8]), [(0, 3)], "overlap"),
        (Tokens(["Ann", "came"], [0, 4], [3, 9]), [(0, 2)], "leave the text"),
        (Tokens(["Ann", "came"], [0, 4], [3, 8]), [(0, 1)], "cover all tokens"),
        (Tokens(["Ann", "came"], [0, 4], [3, 8]), [(0, 0), (0, 2)], "cover all tokens"),
        (Tokens(["Ann"], [0, 4], [3, 8]), [(0, 2)], "different lengths"),
        (Tokens(["ann", "came"], [0, 4], [3, 8]), [(0, 2)], "not the text from 0 to 3"),
        (None, None, "must return a Segmentation"),
    ],
)
def test_segmenter_that_would_hide_text_withholds_the_note(tokens, sentences, message):
    class Broken:
        def segment(self, text):
            return None if tokens is None else Segmentation(tokens, sentences)

    deidentifier = NoteDeidentifier(CapitalTagger().fit([]), segmenter=Broken())
    with pytest.raises(DeidError) as caught:
        deidentifier.redact(["Ann came"])
    assert message in str(caught.value.__cause__) and "Ann" not in str(caught.value.__cause__)


@pytest.mark.parametrize("label", ["X\x1b[31m", "X\nforged", "<script>", ""])
def test_labels_of_an_own_tagger_that_could_act_are_refused(label):
    """A class of a user can return any label, which stood in redacted notes as it was."""

    class Own(CapitalTagger):
        def predict(self, X):
            return [[f"B-{label}"] * len(row) for row in X]

    with pytest.raises(DeidError) as caught:
        NoteDeidentifier(Own().fit([])).redact(["Ann came"])
    assert "The tagger returns tags that cannot be used" in str(caught.value.__cause__)


def test_the_name_of_a_model_is_no_tagger():
    """The message of scikit-learn did not say how to load a model."""
    with pytest.raises(TypeError, match=r"load_model\(name\) and load\(path\)"):
        NoteDeidentifier("starter-en").redact(["Ann came"])
