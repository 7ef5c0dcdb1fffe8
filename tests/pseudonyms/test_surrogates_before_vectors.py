"""Surrogates in front of private vectors: annotated PHI leaves nothing in the release, and what the theorem excepts."""

import numpy as np
import pytest

from sklearn_deid import PrivateRepresenter, SurrogatePseudonymizer, WordVectors
from sklearn_deid.surrogates import patient_chance, surrogate_engine
from sklearn_deid.surrogates.chance import Chance

# Invented words that no list of names or places holds, so that sentences of both columns have equal forms.
FIRST = {"name": "Qualdex", "other": "Vimborth", "town": "Zuxmere", "mrn": "48213", "age": "47", "date": "03/05/2011"}
SECOND = {"name": "Jostrilk", "other": "Bexwany", "town": "Fyndole", "mrn": "90377", "age": "47", "date": "03/05/2011"}
TEXT = (
    "Mr {name} of {town} , aged {age} , seen {date}",
    "{name} ( {mrn} ) has pain , says Dr {other}",
    "no pain today",
    "Dr {other} called {name} in {town}",
)
LABELS = {"name": "PATIENT", "other": "DOCTOR", "town": "CITY", "mrn": "MEDICALRECORD", "age": "AGE", "date": "DATE"}
N = 12  # patients


class IdealChance(Chance):
    """The keyed hash as the theorem takes it: each new description has independent draws, by order of the questions."""

    numbers: dict = {}

    def __init__(self, key, *parts):
        super().__init__(np.random.SeedSequence(self.numbers.setdefault((key, *parts), len(self.numbers))))


def corpus(words):
    """Sentences, tags and patients; the words of each patient are other ones, of the same form."""
    X, y, groups = [], [], []
    for patient in range(N):
        for text in TEXT:
            parts = [part.strip("{}") if part[0] == "{" else None for part in text.split()]
            own = {k: filled(v, patient) if k not in ("age", "date") else v for k, v in words.items()}
            row = [part if k is None else own[k] for part, k in zip(text.split(), parts, strict=True)]
            tokens, tags = [], []
            for token, k in zip(row, parts, strict=True):
                pieces = token.replace("/", " / ").split()
                tokens += pieces
                tags += ["O"] * len(pieces) if k is None else [f"{'IB'[not i]}-{LABELS[k]}" for i in range(len(pieces))]
            X.append(tokens)
            y.append(tags)
            groups.append(str(patient))
    return X, y, groups


def filled(word, patient):
    """A word of the same form for each patient."""
    return str(int(word) + patient) if word.isdigit() else word[:-1] + chr(ord("a") + patient)


def ideal_hash(monkeypatch):
    for module in (patient_chance, surrogate_engine):
        monkeypatch.setattr(module, "KeyedChance", IdealChance)
    monkeypatch.setattr(IdealChance, "numbers", {})


def surrogates(monkeypatch, data, **options):
    ideal_hash(monkeypatch)
    return SurrogatePseudonymizer(locale="en", random_state=0, **options).fit_transform(*data)


def copies(monkeypatch, data, n_copies):
    ideal_hash(monkeypatch)
    return SurrogatePseudonymizer(locale="en", random_state=0).fit_resample(*data, n_copies=n_copies)


@pytest.fixture
def pair():
    return corpus(FIRST), corpus(SECOND)


def released(X, y, groups):
    words = sorted({str(token).lower() for row in X for token in row})
    vectors = WordVectors(words, np.random.default_rng(0).standard_normal((len(words), 4)), is_public=True)
    sizes = {"n_components": 2, "n_neighbors": 3, "hidden_size": 2, "tagger_hidden_size": 2}
    representer = PrivateRepresenter(embeddings=vectors, max_epochs=1, device="cpu", random_state=0, **sizes)
    R = representer.fit(X, y, groups).transform(X)
    return R.data.tobytes(), representer.fingerprint_, R.tagger.module_.state_dict(), representer.bound_.to_dict()


def test_letters_of_annotated_phi_leave_nothing_in_the_release(monkeypatch, pair):
    """Two corpora that differ in such letters alone give the same bytes, weights, tagger and bound."""
    (X, y, groups), (other, tags, _) = pair
    assert y == tags and sum(a != b for row, twin in zip(X, other, strict=True) for a, b in zip(row, twin, strict=True))
    first, second = (surrogates(monkeypatch, data) for data in pair)
    assert first == second and first != X
    (bytes_1, name_1, tagger_1, bound_1), (bytes_2, name_2, tagger_2, bound_2) = (
        released(moved, y, groups) for moved in (first, second)
    )
    assert bytes_1 == bytes_2 and name_1 == name_2 and bound_1 == bound_2
    assert all(bool((tagger_1[k] == tagger_2[k]).all()) for k in tagger_1)


def test_letters_of_annotated_phi_leave_nothing_in_several_copies(monkeypatch, pair):
    """A representer may read copies with different surrogates: all copies together are equal for both corpora."""
    first, second = (copies(monkeypatch, data, 2) for data in pair)
    assert [list(rows) for rows in first[0]] == [list(rows) for rows in second[0]]
    assert len({tuple(row) for row in first[0] if "pain" in row and "says" in row}) == 2 * N


def test_no_span_keeps_its_letters(monkeypatch, pair):
    moved = surrogates(monkeypatch, pair[0])
    originals = {
        word
        for row, tags in zip(*pair[0][:2], strict=True)
        for word, tag in zip(row, tags, strict=True)
        if tag != "O" and not word.isdigit()
    } - {"/"}
    assert originals and not originals & {str(token) for row in moved for token in row}


@pytest.mark.parametrize(
    ("excepted", "value"),
    [
        ("age", "52"),  # ages up to 89 stay
        ("date", "03/05/1987"),  # the dates of a patient move by a limited number of days
        ("name", "Jostrilk Bexwany"),  # the number of words is a part of the form
    ],
)
def test_what_the_theorem_excepts_does_change_the_release(monkeypatch, excepted, value):
    if " " in value:
        X, y, groups = corpus(FIRST)
        longer = [
            [part for token in row for part in (value.split() if token[:6] == "Qualde" else [token])] for row in X
        ]
        tags = [
            [
                t
                for token, tag in zip(row, own, strict=True)
                for t in ([tag, "I-PATIENT"] if token[:6] == "Qualde" else [tag])
            ]
            for row, own in zip(X, y, strict=True)
        ]
        pair = (X, y, groups), (longer, tags, groups)
    else:
        pair = corpus(FIRST), corpus({**FIRST, excepted: value})
    first, second = (surrogates(monkeypatch, data) for data in pair)
    assert first != second


def test_missed_phi_changes_the_release(monkeypatch, pair):
    first, second = (
        surrogates(monkeypatch, (X, [["O"] * len(row) if i == 3 else row for i, row in enumerate(y)], groups))
        for X, y, groups in pair
    )
    assert first[3] != second[3] and first[:3] == second[:3]


def test_same_letters_recur_in_the_same_places(monkeypatch, pair):
    """Who recurs is told: other letters for one of two equal names change the release."""
    (X, y, groups), _ = pair
    other = [list(row) for row in X]
    other[3][other[3].index("Qualdea")] = "Jostrilk"
    assert surrogates(monkeypatch, (X, y, groups)) != surrogates(monkeypatch, (other, y, groups))
