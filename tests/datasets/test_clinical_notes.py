"""The generated corpus: parameters, repetition, offsets, variety."""

from __future__ import annotations

import gc
import hashlib
import os
import subprocess
import sys
from collections import Counter
from itertools import combinations, islice

import numpy as np
import pytest

from sklearn_deid.datasets import iter_clinical_notes, make_clinical_notes
from sklearn_deid.datasets.notes.builder import NoteBuilder
from sklearn_deid.text import I2B2_2014, Document, segment

FINGERPRINT = """
import hashlib
from sklearn_deid.datasets import make_clinical_notes
print(hashlib.sha256(repr([(d.text, d.spans) for d in make_clinical_notes(12, random_state=3)]).encode()).hexdigest())
"""


def test_ids_patients_and_counts():
    corpus = make_clinical_notes(n_notes=20, n_patients=6, random_state=1)

    assert [d.doc_id for d in corpus] == [f"note-{i:05d}" for i in range(1, 21)]
    assert list(dict.fromkeys(corpus.groups)) == [f"patient-{i:04d}" for i in range(1, 7)]
    assert list(corpus.groups) == sorted(corpus.groups)  # the notes of a patient stand together


@pytest.mark.parametrize(("n_notes", "expected"), [(1, 1), (2, 1), (9, 3), (10, 3)])
def test_a_third_as_many_patients_as_notes(n_notes, expected):
    assert len(make_clinical_notes(n_notes, random_state=0).patients) == expected


def test_every_patient_has_a_note_even_if_there_are_as_many():
    assert len(make_clinical_notes(8, n_patients=8, random_state=0).patients) == 8


def test_equal_seeds_give_equal_notes_and_others_do_not():
    first, again, other = (make_clinical_notes(9, random_state=seed) for seed in (5, 5, 6))

    assert list(first) == list(again)
    assert not {d.text for d in first} & {d.text for d in other}
    assert make_clinical_notes(2)[0].text != make_clinical_notes(2)[0].text


def test_generators_are_asked_for_one_number():
    seeds = [np.random.default_rng(2), np.random.default_rng(2)]
    first, again = (make_clinical_notes(3, random_state=seed) for seed in seeds)

    assert list(first) == list(again)
    assert seeds[0].random() == seeds[1].random()
    assert len(make_clinical_notes(2, random_state=np.random.RandomState(0))) == 2


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_notes_do_not_depend_on_the_hash_seed(hash_seed):
    here = [(d.text, d.spans) for d in make_clinical_notes(12, random_state=3)]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    run = subprocess.run(
        [sys.executable, "-c", FINGERPRINT], env=environment, capture_output=True, text=True, check=True
    )

    assert run.stdout.strip() == hashlib.sha256(repr(here).encode()).hexdigest()


def live_notes():
    """Number of documents that are in memory. Bytes would also count what other tests of the process leave."""
    gc.collect()
    return sum(type(thing) is Document for thing in gc.get_objects())


def test_the_iterator_gives_the_same_notes_without_holding_them():
    assert list(iter_clinical_notes(9, 4, 0)) == list(make_clinical_notes(9, 4, 0))

    before = live_notes()
    streamed = [live_notes() for number, _ in enumerate(iter_clinical_notes(40, random_state=0)) if number % 10 == 9]
    assert max(streamed) - before <= 3  # the note at hand, and the next one
    held = list(iter_clinical_notes(40, random_state=0))
    assert live_notes() - before >= len(held)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_notes": 0}, "The 'n_notes' parameter of make_clinical_notes must be an int of at least 1. Got 0 instead"),
        ({"n_notes": 2.0}, "'n_notes' parameter"),
        ({"n_notes": True}, "'n_notes' parameter"),
        (
            {"n_notes": 3, "n_patients": 4},
            "'n_patients' parameter .* must be an int from 1 to n_notes=3, or None. Got 4",
        ),
        ({"n_patients": 0}, "'n_patients' parameter"),
        ({"random_state": -1}, "'random_state' parameter .* must be an int of at least 0"),
        ({"random_state": "7"}, "'random_state' parameter"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(ValueError, match=message):
        iter_clinical_notes(**parameters)


def test_spans_cover_what_the_templates_put_in(monkeypatch):
    put_in: list[tuple[str, str]] = []
    write = NoteBuilder.phi
    monkeypatch.setattr(NoteBuilder, "phi", lambda self, *args: put_in.append(args) or write(self, *args))
    documents = list(iter_clinical_notes(60, random_state=7))

    covered = [(" ".join(d.text[s.start : s.end].split()).upper(), s.label) for d in documents for s in d.spans]
    assert covered == [(value.upper(), label) for value, label in put_in]


def test_spans_do_not_overlap_and_have_the_scheme_s_categories(notes):
    for document in notes:
        assert all(a.end <= b.start for a, b in zip(document.spans, document.spans[1:], strict=False))
        assert all(span.category == I2B2_2014.category(span.label) is not None for span in document.spans)


def test_every_span_begins_and_ends_where_a_token_does(notes):
    report = notes.to_sentences().report  # warns, and so fails here, where one does not

    assert report.n_spans == notes.n_spans
    assert not report.n_lost and not report.inside_token
    assert len(report.split_by_sentence) < 0.01 * report.n_spans


def test_every_label_is_frequent_enough_to_learn_and_score(notes):
    expected = {*I2B2_2014.labels} - {"DEPARTMENT", "LOCATION-OTHER", "BIOID", "OTHER"}

    assert set(notes.label_counts) == expected
    assert min(notes.label_counts.values()) >= 8


def test_kinds_and_lengths(notes):
    kinds = Counter(d.meta["kind"] for d in notes)
    lengths = [len(segment(d.text).tokens.texts) for d in notes]

    assert set(kinds) == {"admission", "discharge", "nursing", "radiology", "letter", "message"}
    assert min(kinds.values()) >= 15
    assert 220 < np.mean(lengths) < 400
    assert 100 < np.percentile(lengths, 5) < np.percentile(lengths, 95) < 520


def test_no_two_notes_look_alike(notes):
    def shingles(text: str) -> set[tuple[str, ...]]:
        tokens = segment(text).tokens.texts
        return set(zip(*(tokens[i:] for i in range(6)), strict=False))

    by_kind: dict[str, list[set]] = {}
    for document in islice(notes, 120):
        by_kind.setdefault(document.meta["kind"], []).append(shingles(document.text))
    shared = [len(a & b) / min(len(a), len(b)) for some in by_kind.values() for a, b in combinations(some, 2)]

    assert len({d.text for d in notes}) == len(notes)
    assert max(shared) < 0.5  # two notes about one stay share its facts
    assert np.mean(shared) < 0.1


def test_notes_are_as_untidy_as_real_ones(notes):
    texts = [d.text for d in notes]

    assert any("\r\n" in t for t in texts)
    assert any("\t" in t for t in texts)
    assert any(t == t.upper() for t in texts)
    assert any("&lt;" in t for t in texts)
    assert any("\n- " in t for t in texts)
    assert any("\n2. " in t for t in texts)
    assert any("\n" in t[s.start : s.end] for t, d in zip(texts, notes, strict=True) for s in d.spans)  # wrapped PHI
    wrapped = [t for t in texts if 60 < max(map(len, t.splitlines())) <= 84]
    assert len(wrapped) > 30
