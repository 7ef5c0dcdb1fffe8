"""No text of a note in any repr, message or warning: a word that must not appear is put everywhere and looked for."""

import traceback
import warnings

import numpy as np
import pytest

from sklearn_deid import Corpus, Document, RuleTagger, Span
from sklearn_deid.audit.bayes import bayes_reidentification
from sklearn_deid.exceptions import AlignmentWarning, DeidError
from sklearn_deid.metrics import deid_report, leak_list, pair_documents, phi_f1_score, phi_word_prior, utility_report
from sklearn_deid.sequences import RaggedArray, TokenSequences, TokenVectors, check_sequences, check_tags
from sklearn_deid.tagging.rules import find_phi, rebuild_sentence
from sklearn_deid.text import (
    I2B2_2014,
    labels_of,
    redact,
    relabel,
    repair_tags,
    rewrite,
    segment,
    spans_to_tags,
    tags_to_spans,
    tokenize,
)

WORD = "Zyxwvut"
TEXT = f"{WORD} came. Dr. {WORD}MD\n\n{WORD}"
SPANS = (Span(0, 7, "PATIENT", "NAME"), Span(3, 12, "DOCTOR"), Span(7, 8, "DATE"), Span(19, 23, "DOCTOR"))
NOTE = Document("n1", TEXT, SPANS, "p1", {"header": WORD})


def sentences():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)
        return Corpus([NOTE]).to_sentences()


class Constant:
    def probabilities(self, tokens):
        return np.ones((len(tokens), 1))


OBJECTS = {
    "document": lambda: NOTE,
    "span": lambda: NOTE.spans,
    "tokens": lambda: tokenize(TEXT),
    "segmentation": lambda: segment(TEXT),
    "corpus": lambda: Corpus([NOTE]),
    "sentences": sentences,
    "report": lambda: sentences().report,
    "summary": lambda: sentences().report.summary(),
    "X": lambda: sentences().X,
    "part of X": lambda: sentences().X[:1],
    "y": lambda: sentences().y,
    "ragged array": lambda: RaggedArray(np.array([WORD], dtype=object), np.array([0, 1])),
    "predicted": lambda: sentences().to_documents(sentences().y),
    "vectors": lambda: check_sequences([[[1.0]]]),
    "leaks": lambda: leak_list([NOTE], [Document("n1", TEXT)]),
    "each leak": lambda: leak_list([NOTE], [Document("n1", TEXT)]).leaks,
    "records of leaks": lambda: leak_list([NOTE], [Document("n1", TEXT)]).records(),
    "table": lambda: deid_report([NOTE], [Document("n1", TEXT)]),
    "dict": lambda: deid_report([NOTE], [Document("n1", TEXT)], output="dict"),
    "pairs": lambda: pair_documents([NOTE], [Document("n1", TEXT)]),
    "rewriting": lambda: rewrite(TEXT, SPANS[:1], lambda span: WORD),
    "label_scheme": lambda: I2B2_2014,
    "rebuilt sentence": lambda: rebuild_sentence([WORD]),
    "finds of rules": lambda: find_phi(f"{WORD}@example.org"),
    "usefulness": lambda: utility_report([NOTE], [NOTE], [WORD], n_topics=None, clinical_terms=[WORD]),
    "usefulness as a dict": lambda: utility_report(
        [NOTE], [NOTE], [WORD], n_topics=None, clinical_terms=[WORD]
    ).to_dict(),
    "reidentification": lambda: bayes_reidentification(Constant(), {"PATIENT": {WORD: 1}}),
    "reidentification as a dict": lambda: bayes_reidentification(Constant(), {WORD: 1}).to_dict(),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_a_repr_shows_no_text(name):
    shown = OBJECTS[name]()
    for text in (repr(shown), str(shown), f"{shown}", repr([shown]), repr({"shown": shown})):
        assert WORD.lower() not in text.lower()


def test_the_word_would_be_found():
    assert WORD in repr(sentences().X.tolist())


FAILURES = {
    "span beyond its note": lambda: Document("n1", WORD, (Span(3, 99, "PATIENT"),)),
    "span beyond a text": lambda: redact(WORD, [Span(3, 99, "PATIENT")]),
    "label without a new one": lambda: relabel(NOTE, {}),
    "document twice": lambda: Corpus([NOTE, NOTE]),
    "text instead of a document": lambda: Corpus([TEXT]),
    "text instead of sentences": lambda: check_sequences(TEXT),
    "words instead of sentences": lambda: check_sequences([WORD]),
    "words among vectors": lambda: check_sequences([[[1.0]], [[WORD]]]),
    "vector of words": lambda: check_sequences([[[WORD]]]),
    "vectors of words": lambda: TokenVectors.from_rows([[WORD]]),
    "tokens that are none": lambda: TokenSequences.from_rows([[WORD], [(WORD,)]]),
    "one tag too few": lambda: check_tags([[WORD]], check_sequences([[WORD, WORD]])),
    "tokens as tags": lambda: labels_of([WORD]),
    "tokens as tags, repaired": lambda: repair_tags([WORD]),
    "tokens as tags, with offsets": lambda: tags_to_spans([WORD], [0], [7]),
    "tokens as predicted tags": lambda: sentences().to_documents(sentences().X),
    "tags of another corpus": lambda: sentences().to_documents([[WORD]]),
    "tokens as gold tags": lambda: phi_f1_score([[WORD]], [["O"]]),
    "another text for usefulness": lambda: utility_report([NOTE], [NOTE], [Document("n1", WORD)]),
    "text instead of notes for usefulness": lambda: utility_report(WORD, [NOTE], [NOTE]),
    "labels of y that rules do not know": lambda: RuleTagger().fit([[WORD]], [[WORD]]),
    "vectors for rules": lambda: RuleTagger().fit([]).predict([[[WORD]]]),
    "text instead of tags": lambda: phi_f1_score(WORD, [["O"]]),
    "another text": lambda: deid_report([NOTE], [Document("n1", WORD)]),
    "no prediction": lambda: leak_list([NOTE], []),
    "tags of another sentence for frequencies": lambda: phi_word_prior([[WORD]], [["O", "O"]]),
    "tokens as tags for frequencies": lambda: phi_word_prior([[WORD]], [[WORD]]),
    "nothing that can be attacked": lambda: bayes_reidentification(WORD, {WORD: 1}),
    "offsets of another note": lambda: spans_to_tags(SPANS, [0], [7, 8]),
}


@pytest.mark.parametrize("name", FAILURES)
def test_an_error_shows_no_text(name):
    with pytest.raises((DeidError, TypeError), match=r"\w") as caught:
        FAILURES[name]()
    # With the errors behind it, as far as a traceback prints them; source lines would show this file.
    printed = list(traceback.TracebackException.from_exception(caught.value).format_exception_only())
    behind = caught.value.__cause__ or (None if caught.value.__suppress_context__ else caught.value.__context__)
    assert WORD not in "".join(printed)
    assert WORD not in f"{behind!r} {caught.value!r} {caught.value.args}"


def test_a_warning_shows_no_text():
    with pytest.warns(AlignmentWarning, match="spans fit the tokens exactly") as caught:
        Corpus([NOTE]).to_sentences()
    assert all(WORD not in str(warning.message) for warning in caught)
