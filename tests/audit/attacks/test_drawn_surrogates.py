"""Drawn surrogates: originals that were left, and keys that return, are named; intact releases are not."""

import random
import unicodedata
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sklearn_deid import SurrogatePseudonymizer, make_clinical_notes
from sklearn_deid.audit.attacks import DrawnSurrogatesAttack, RepeatedSurrogates
from sklearn_deid.audit.attacks.drawn_surrogates import _p_of_largest
from sklearn_deid.sequences import TokenSequences

from ..audited_toys import auditor


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    """Releases have other keys each, the same in every run: an intact one is blamed at a rate of .0005."""
    monkeypatch.setattr("sklearn_deid._randomness.secrets", SimpleNamespace(randbits=random.Random(0).getrandbits))


MADE = {}


class Remembered(SurrogatePseudonymizer):
    """Makes the n-th release of the same notes once; these are the library's own, with which a release is compared."""

    def fit_transform(self, X, y=None, groups=None):
        self.n_made = 1 + getattr(self, "n_made", -1)
        key = (self.n_made, repr(self.get_params()), " ".join(X.data))
        if key not in MADE:
            MADE[key] = super().fit_transform(X, y, groups)
        return MADE[key]


@pytest.fixture(autouse=True)
def own_releases(monkeypatch):
    """The nine own releases are most of the time of an audit, and the same notes are audited many times."""
    monkeypatch.setattr("sklearn_deid.audit.releases.surrogates.SurrogatePseudonymizer", Remembered)


@pytest.fixture(autouse=True)
def no_processes(monkeypatch):
    """`test_new_processes` compares new processes. Their two calls are a tenth of the time here."""
    monkeypatch.setattr("sklearn_deid.audit.releases.global_state.released_in_new_processes", lambda *_: [])


@pytest.fixture(scope="module")
def data():
    # With 12 notes, a twentieth of the tokens is too little to be found under every key.
    some = make_clinical_notes(24, random_state=5).to_sentences()
    return some.X, some.y, some.groups


class OneNote(SurrogatePseudonymizer):
    """Leaves one note as it is."""

    def sample(self, X, y=None, groups=None):
        made, words = super().sample(X, y, groups), X.data.copy()
        own = np.repeat(np.asarray(groups) == groups[0], X.lengths)
        return TokenSequences(np.where(own, words, made.data), X.offsets)


class Twentieth(SurrogatePseudonymizer):
    """Leaves every twentieth token as it is."""

    def sample(self, X, y=None, groups=None):
        made = super().sample(X, y, groups)
        kept = np.random.default_rng(0).random(len(X.data)) < 0.05
        return TokenSequences(np.where(kept, X.data, made.data), X.offsets)


class Postal(SurrogatePseudonymizer):
    """Leaves postal codes as they are."""

    def sample(self, X, y=None, groups=None):
        made = super().sample(X, y, groups)
        kept = np.array([tag.endswith("-ZIP") for tags in y for tag in tags])
        return TokenSequences(np.where(kept, X.data, made.data), X.offsets)


class OneKey(SurrogatePseudonymizer):
    def _key(self):
        return bytes(32)


def test_a_label_of_eight_patients_that_was_left_is_named():
    """Four releases of other keys were too few for it."""
    notes = make_clinical_notes(100, random_state=0).to_sentences()
    has_code = np.array([any(tag.endswith("-ZIP") for tag in tags) for tags in notes.y])
    assert len(set(np.asarray(notes.groups)[has_code])) == 8
    # An eighth of the sentences without a code is of as many patients.
    some = np.flatnonzero(has_code | (np.arange(len(has_code)) % 8 == 0))
    data = notes.X[some], notes.y[some], np.asarray(notes.groups)[some]
    report = auditor("drawn_surrogates").audit(Postal(locale="en").fit(*data), *data)
    assert any("originals were left" in issue for issue in report.blocking_issues)


class Unseen(SurrogatePseudonymizer):
    """A character of no width tells that the original has an even number of letters."""

    def sample(self, X, y=None, groups=None):
        made, phi = super().sample(X, y, groups), [tag != "O" for tags in y for tag in tags]
        words = [
            new + "\u200b" * (some and len(own) % 2 == 0) for own, new, some in zip(X.data, made.data, phi, strict=True)
        ]
        return TokenSequences(np.array(words, dtype=object), X.offsets)


class Capitals(SurrogatePseudonymizer):
    """Capitals tell that the original begins with one of the first letters of the alphabet."""

    def sample(self, X, y=None, groups=None):
        made, phi = super().sample(X, y, groups), [tag != "O" for tags in y for tag in tags]
        pairs = zip(X.data, made.data, phi, strict=True)
        words = [new.upper() if some and own[:1].lower() < "m" else new for own, new, some in pairs]
        return TokenSequences(np.array(words, dtype=object), X.offsets)


class OfOthers(SurrogatePseudonymizer):
    """Surrogates of names of patients are names of other patients in the notes."""

    def sample(self, X, y=None, groups=None):
        made, tags = super().sample(X, y, groups), [tag for row in y for tag in row]
        words, rng = made.data.copy(), np.random.default_rng(self.random_state)
        plain = [
            old.istitle() and new.istitle() and len(old) > 1 < len(new) for old, new in zip(X.data, words, strict=True)
        ]
        own = np.flatnonzero([tag.endswith("-PATIENT") and some for tag, some in zip(tags, plain, strict=True)])
        names, taken = np.unique(X.data[own].astype(str)), {}
        for i, patient in zip(own, np.repeat(np.asarray(groups), X.lengths)[own], strict=True):
            words[i] = taken.setdefault((patient, X.data[i]), str(rng.choice(names)))
        return TokenSequences(words, X.offsets)


def test_names_of_other_patients_are_named():
    """The release passed with the score of an intact release."""
    notes = make_clinical_notes(100, random_state=0).to_sentences()
    some = np.flatnonzero([any(tag.endswith("-PATIENT") for tag in tags) for tags in notes.y])
    data = notes.X[some], notes.y[some], np.asarray(notes.groups)[some]
    for kind, is_named in ((OfOthers, True), (SurrogatePseudonymizer, False)):
        report = auditor("drawn_surrogates").audit(kind(locale="en").fit(*data), *data)
        assert any("words of other originals" in issue for issue in report.blocking_issues) == is_named


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (OneNote, "originals were left"),
        (Twentieth, "originals were left"),
        (OneKey, "Two calls draw"),
        (Unseen, "cannot be seen"),
        (Capitals, "another casing than their originals"),
    ],
)
def test_faults_are_named(kind, fault, data):
    report = auditor("drawn_surrogates").audit(kind(locale="en").fit(*data), *data)
    assert any(fault in issue for issue in report.blocking_issues) and not report.passed(0.01)


class SameInitials(SurrogatePseudonymizer):
    """Of four surrogates, takes one that begins as the original."""

    def sample(self, X, y=None, groups=None):
        several = [super(SameInitials, self).sample(X, y, groups) for _ in range(4)]
        words = several[0].data.copy()
        for i, (own, *drawn) in enumerate(zip(X.data, *(one.data for one in several), strict=True)):
            words[i] = next((word for word in drawn if word[0] == own[0] and word != own), words[i])
        return TokenSequences(words, X.offsets)


class OfTheWord(SurrogatePseudonymizer):
    """A word has one surrogate in a release, whoever the patient is."""

    def sample(self, X, y=None, groups=None):
        made, known = super().sample(X, y, groups), {}
        words = [new if own == new else known.setdefault(own, new) for own, new in zip(X.data, made.data, strict=True)]
        return TokenSequences(np.array(words, dtype=object), X.offsets)


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (SameInitials, "the first letter of their originals"),
        (OfTheWord, "patients share a key"),
        (SurrogatePseudonymizer, None),
    ],
)
def test_surrogates_that_depend_on_the_text_are_named(kind, fault):
    """No word is equal to its original, and two calls differ: only a comparison with other keys shows the fault."""
    notes = make_clinical_notes(60, n_patients=60, random_state=5).to_sentences()
    # Pairs of patients show a shared key, and half of the sentences has as many patients.
    data = notes.X[::2], notes.y[::2], np.asarray(notes.groups)[::2]
    (result,) = auditor(["drawn_surrogates"]).audit(kind(locale="en").fit(*data), *data).results
    assert any(fault in one for one in result.faults) if fault else result.faults == ()


@pytest.mark.parametrize("parameters", [{}, {"random_state": 0}, {"keep_gender": False, "ages": "shift"}])
def test_intact_surrogates_are_not_blamed(parameters, data):
    intact = SurrogatePseudonymizer(locale="en", **parameters).fit(*data)
    (result,) = auditor("drawn_surrogates").audit(intact, *data).results
    assert result.status == "ok" and result.faults == ()


def test_labels_that_stay_block_a_pass(data):
    some = SurrogatePseudonymizer(locale="en", labels=["PATIENT", "DATE"]).fit(*data)
    report = auditor("drawn_surrogates").audit(some, *data)
    assert any("PHI tokens are unchanged" in one for one in report.blocking_issues) and not report.passed(0.01)


def test_named_attacks_do_not_pass_what_was_left(data):
    for kind, is_named in ((OneNote, True), (SurrogatePseudonymizer, False)):
        issues = auditor(["surrogates"]).audit(kind(locale="en").fit(*data), *data).blocking_issues
        assert any("originals were left" in issue for issue in issues) == is_named


def test_rate_of_false_alarms():
    """Five equal rows: none of them is the first of so many cells more often than the level says."""
    rng, members, cells = np.random.default_rng(0), np.repeat(np.arange(10), 6), np.repeat(np.arange(60), 10)
    parts = [np.arange(600) % 6 == i for i in range(6)] + [np.arange(600) < 200]
    p = np.array([_p_of_largest(rng.random((5, 600)) < 0.1, cells, members, parts) for _ in range(1500)])
    for level in (0.1, 0.02):
        assert (p < level).mean() < level + 3 * np.sqrt(level / len(p))


@pytest.mark.parametrize("part", ["label", "long"])
@pytest.mark.parametrize("kept", [0.1, 0.0])
def test_words_of_a_label_or_a_length_that_were_left_are_named(part, kept):
    """A tenth of the words of one of twelve labels, or of the words of nine letters; no other word is left."""
    rng, n = np.random.default_rng(0), 4800
    patients, labels = np.repeat(np.arange(40), n // 40), np.tile(np.repeat([f"L{i:02}" for i in range(12)], 10), 40)
    lengths = np.where(rng.random(n) < 0.06, 9, 4)
    words, *more = (rng.integers(10 ** (lengths - 1), 10**lengths).astype(str).astype(object) for _ in range(7))
    chance = np.where(labels == "L03" if part == "label" else lengths == 9, kept, 0.0)
    shown = np.where(rng.random(n) < chance, words, more[0])
    # In each own release some other words stay, as "Street" does, and decide cells of all labels.
    shown, *own = (np.where(rng.random(n) < 0.01, words, one) for one in (shown, *more[2:]))
    faults = DrawnSurrogatesAttack().attack(RepeatedSurrogates(words, shown, more[1], own, patients, labels)).faults
    assert [fault.split(":")[0] for fault in faults] == (
        ["The text contains more words of the originals than surrogates of other keys"] if kept else []
    )


def made_releases(shown_of):
    """Words of 400 tokens, a release that a function makes of words and surrogates, and five further releases."""
    rng = np.random.default_rng(0)
    words = np.array(["Mül" + "ler"[: i % 4] + str(i) for i in range(400)], dtype=object)
    drawn = [np.array(["X" * k + "y" for k in rng.integers(1, 9, 400)], dtype=object) for _ in range(6)]
    patients, labels = np.repeat(np.arange(20), 20), np.array(["PATIENT"] * 400)
    return RepeatedSurrogates(words, shown_of(words, drawn[0]), drawn[1], drawn[2:], patients, labels)


@pytest.mark.parametrize(
    ("first", "second", "fault"), [(1, 5, "forked processes"), (4, 4, "Two new processes"), (4, 5, "")]
)
def test_calls_that_repeat_their_surrogates_are_named(first, second, fault):
    """The first number is that of the fork (1 is the second call) or of the new process; the second is another one."""
    found = made_releases(lambda words, drawn: drawn)
    calls = [found.shown, found.again, *found.own]
    further = (calls[first] if first == 1 else calls[3], calls[first], calls[second])
    found = replace(found, own=found.own[:1] + found.own[3:], further=further)
    faults = DrawnSurrogatesAttack().attack(found).faults
    assert fault in " ".join(faults) and len(faults) == bool(fault)


class OfGlobalState(SurrogatePseudonymizer):
    """Takes its seed from the global generator of NumPy, which forked processes share."""

    def sample(self, X, y=None, groups=None):
        self.random_state = int(np.random.randint(2**31))
        return super().sample(X, y, groups)


def test_keys_of_a_global_generator_are_named(data):
    """Each pair of forked workers wrote the same surrogates, and the release passed."""
    X, y, groups = data
    report = auditor(["drawn_surrogates"]).audit(OfGlobalState(locale="en").fit(X, y), X, y, groups)
    assert "forked processes draw the same surrogates" in " ".join(report.blocking_issues)


@pytest.mark.parametrize("sign", ["\ufe00", "\u034f", "\u3164", "\u2800", "\U000e0100"])
def test_invisible_marks_and_letters_are_named(sign):
    found = made_releases(lambda words, drawn: np.where(np.arange(400) % 7 == 3, drawn + sign, drawn))
    assert "cannot be seen" in " ".join(DrawnSurrogatesAttack().attack(found).faults)


@pytest.mark.parametrize("form", ["NFD", "wide"])
def test_originals_in_another_form_of_unicode_are_named(form):
    def written(word):
        wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in word)
        return unicodedata.normalize("NFD", word) if form == "NFD" else wide

    found = made_releases(lambda words, drawn: np.where(np.arange(400) < 200, [*map(written, words)], drawn))
    assert "originals were left" in " ".join(DrawnSurrogatesAttack().attack(found).faults)
