"""Scores of recipients agree with a count by hand, and stand on the card."""

from dataclasses import replace

import pytest

from sklearn_deid import DeidTagger, save
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.metrics import phi_f1_score
from sklearn_deid.representations import PrivacyBound, PrivateRepresenter, privacy_card, recipient_scores
from sklearn_deid.representations.saving import origin_of

from ..tagging.conftest import SMALL, make_sentences
from .test_private_representer import TINY

TAGGER = DeidTagger(**{**SMALL, "max_epochs": 4, "random_state": 0})


@pytest.fixture(scope="module")
def halves():
    X, y, _ = make_sentences(40)
    return (X[::2], y[::2]), (X[1::2], y[1::2])


@pytest.fixture(scope="module")
def representer(halves):
    return PrivateRepresenter(**TINY).fit(*halves[0])


def token_f1(gold, predicted):
    pairs = [(a != "O", b != "O") for x, z in zip(gold, predicted, strict=True) for a, b in zip(x, z, strict=True)]
    right = sum(a and b for a, b in pairs)
    return 2 * right / (sum(a for a, _ in pairs) + sum(b for _, b in pairs))


def test_scores_are_those_of_taggers_trained_by_hand(halves, representer):
    (X, y), (X_test, y_test) = halves
    scores = recipient_scores(representer, X, y, X_test, y_test, tagger=TAGGER, original=True)
    # Without random_state of its own, the noise of the same seeded representer fitted again is the same.
    again = PrivateRepresenter(**TINY).fit(X, y)
    R, T = again.transform(X), again.transform(X_test)
    taggers = {"recipient": (TAGGER.fit(R, y), T), "provider": (again.tagger_, T)}
    for name, (tagger, read) in taggers.items():
        predicted = tagger.predict(read)
        assert scores[f"{name}_strict_f1"] == pytest.approx(phi_f1_score(y_test, predicted))
        assert scores[f"{name}_token_f1"] == pytest.approx(token_f1(y_test, predicted))
    assert scores["raw_token_f1"] == pytest.approx(token_f1(y_test, TAGGER.fit(X, y).predict(X_test)))
    assert all(0.0 <= score <= 1.0 for score in scores.values())


def test_scores_stand_on_the_card(halves, representer, tmp_path):
    (X, y), (X_test, y_test) = halves
    scores = recipient_scores(representer, X, y, X_test, y_test, tagger=TAGGER)
    save(PrivateRepresenter(**{**TINY, "random_state": None}).fit(X, y), tmp_path / "rep", utility=scores)
    card = (tmp_path / "rep" / "README.md").read_text()
    assert "recipient trains on one release: strict F1 with types" in card
    assert "provider's own tagger: strict F1 with types" in card


def test_wrong_tags_are_refused_before_the_training(halves, representer):
    (X, y), (X_test, y_test) = halves
    with pytest.raises(SequenceError, match="y"):
        recipient_scores(representer, X, y, X_test, y_test[:-1], tagger=None)


@pytest.mark.parametrize("n", [0, 5])
def test_sentences_without_phi_have_no_scores(halves, representer, n):
    """The card stated an F1 of 0 %, as if it had been measured."""
    (X, y), (X_test, _) = halves
    with pytest.raises(SequenceError, match="no PHI"):
        recipient_scores(representer, X, y, X_test[:n], [["O"] * len(row) for row in X_test[:n]], tagger=TAGGER)


def test_a_certificate_states_the_f1_of_a_recipient(halves, monkeypatch):
    (X, y), (X_test, y_test) = halves
    monkeypatch.setattr("sklearn_deid.representations.recipients.DeidTagger", lambda random_state: TAGGER)
    first, again = (PrivateRepresenter(**TINY).fit(X, y) for _ in range(2))  # with a seed, both draw the same noise
    bound = first.certify(iter(X_test), iter(y_test), recipients_of=(X, y), random_state=3)  # each is read once
    assert bound.utility == recipient_scores(again, X, y, X_test, y_test, tagger=TAGGER)
    assert replace(bound, utility=None) == again.certify(X_test, y_test, random_state=3)
    assert f"recipient {bound.utility['recipient_strict_f1']:.3f}, provider" in repr(bound)
    assert PrivacyBound.from_dict(bound.to_dict()) == bound
    card = privacy_card(origin_of(first), training={}, bound=bound.to_dict(), audit=None)
    assert "recipient trains on one release: strict F1 with types" in card


def test_a_bound_without_recipients_says_so(halves, representer):
    assert "not measured; certify(X, y, recipients_of=...)" in repr(representer.bound_)
    with pytest.raises(SequenceError, match="recipients_of.*Got str"):
        representer.certify(*halves[1], recipients_of="X, y", random_state=0)
