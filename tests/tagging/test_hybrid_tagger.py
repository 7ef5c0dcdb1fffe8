"""HybridTagger: which spans count, and its behaviour among scikit-learn's tools."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline

from sklearn_deid import (
    Corpus,
    DeidTagger,
    HybridTagger,
    NoteDeidentifier,
    RuleTagger,
    VotingTagger,
    make_clinical_notes,
)
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.sequences import object_rows
from sklearn_deid.text import is_allowed, labels_of, repair_tags

from .conftest import SMALL, assert_rows_equal


class Fixed(BaseEstimator):
    """Gives the same tags whatever X is."""

    def __init__(self, tags=None):
        self.tags = tags

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return object_rows(self.tags)


class Sure(Fixed):
    """The same with a confidence."""

    def predict(self, X, return_confidence=False):
        tags = object_rows(self.tags)
        return (tags, object_rows(np.full(len(row), 0.5) for row in tags)) if return_confidence else tags


def united(rules, tagger, on_conflict):
    X = [["x"] * len(rules)]
    return (
        HybridTagger(Fixed([rules]), Fixed([tagger]), on_conflict=on_conflict)
        .fit(X, [["O"] * len(rules)])
        .predict(X)[0]
    )


def short(tags):
    return " ".join(tag[0] + tag[2:] for tag in tags)


@pytest.mark.parametrize(("rules", "tagger", "rules_first", "tagger_first", "union"), [
    # they agree, or only one has something
    ("BA IA O", "BA IA O", "BA IA O", "BA IA O", "BA IA O"),
    ("BA O O", "O O BC", "BA O BC", "BA O BC", "BA O BC"),
    # same tokens, other labels; of equally long ones the tagger's
    ("BA IA O", "BC IC O", "BA IA O", "BC IC O", "BC IC O"),
    # the rule lies within the tagger's span
    ("O BA O", "BC IC IC", "BC BA BC", "BC IC IC", "BC IC IC"),
    # they overlap, with other and with the same label
    ("BA IA O O", "O BC IC IC", "BA IA BC IC", "BA BC IC IC", "BA BC IC IC"),
    ("BA IA O O", "O BA IA IA", "BA IA IA IA", "BA IA IA IA", "BA IA IA IA"),
    # they touch: two spans
    ("BA IA O O", "O O BA IA", "BA IA BA IA", "BA IA BA IA", "BA IA BA IA"),
])  # fmt: skip
def test_by_hand(rules, tagger, rules_first, tagger_first, union):
    sides = [[f"{t[0]}-{t[1]}" if t != "O" else t for t in side.split()] for side in (rules, tagger)]
    wanted = {"rules_first": rules_first, "tagger_first": tagger_first, "union": union}
    assert {on_conflict: short(united(*sides, on_conflict)) for on_conflict in wanted} == wanted


rows = st.integers(1, 8).flatmap(
    lambda n: st.tuples(*[st.lists(st.sampled_from(["O", "B-A", "I-A", "B-C", "I-C"]), min_size=n, max_size=n)] * 2)
)


@given(sides=rows, on_conflict=st.sampled_from(["rules_first", "tagger_first", "union"]))
def test_laws(sides, on_conflict):
    """Legal; no tagged token is lost, none invented; the first side's spans keep their tokens and labels."""
    rules, tagger = map(repair_tags, sides)
    tags = united(rules, tagger, on_conflict)
    assert all(is_allowed(a, b) for a, b in zip([None, *tags], [*tags, None], strict=True))
    assert [t != "O" for t in tags] == [a != "O" or b != "O" for a, b in zip(rules, tagger, strict=True)]
    first = {"rules_first": rules, "tagger_first": tagger}.get(on_conflict, [])
    for start, end, label in labels_of(first):
        assert all(tags[i][2:] == label for i in range(start, end))
    assert united(tagger, tagger, on_conflict) == tagger


@pytest.fixture(scope="module")
def data():
    return make_clinical_notes(6, random_state=0).to_sentences()  # of two patients


FAST = {**SMALL, "max_epochs": 1, "batch_size": 400}


@pytest.fixture(scope="module")
def fitted(data):
    return HybridTagger(tagger=DeidTagger(**FAST)).fit(data.X, data.y, groups=data.groups)


class TestComposition:
    def test_equals_its_parts(self, fitted, data):
        alone = DeidTagger(**FAST).fit(data.X, data.y, groups=data.groups)
        assert_rows_equal(fitted.tagger_.predict(data.X), alone.predict(data.X))
        assert_rows_equal(fitted.rules_.predict(data.X), RuleTagger().fit(data.X, data.y).predict(data.X))
        assert fitted.score(data.X, data.y) > alone.score(data.X, data.y)

    def test_clone_and_pickle(self, fitted, data):
        copy = clone(fitted)
        assert copy.get_params()["tagger__hidden_size"] == 12
        with pytest.raises(NotFittedError):
            copy.predict(data.X)
        assert_rows_equal(pickle.loads(pickle.dumps(fitted)).predict(data.X), fitted.predict(data.X))

    def test_search(self, data):
        united_tagger = HybridTagger(RuleTagger(), DeidTagger(**FAST))
        choices = {"rules_first": ["date"], "union": None}
        grid = [{"on_conflict": [one], "rules__recognizers": [names]} for one, names in choices.items()]
        search = GridSearchCV(united_tagger, grid, cv=GroupKFold(2), error_score="raise")
        search.fit(data.X, data.y, groups=data.groups)
        assert search.best_params_["rules__recognizers"] is None

    def test_within_and_around_a_pipeline(self, data):
        inside = Pipeline([("same", Same()), ("tag", HybridTagger(tagger=DeidTagger(**FAST)))]).fit(data.X, data.y)
        around = HybridTagger(tagger=Pipeline([("same", Same()), ("tag", DeidTagger(**FAST))])).fit(data.X, data.y)
        assert_rows_equal(inside.predict(data.X), around.predict(data.X))

    def test_in_a_note_deidentifier(self, data):
        tagger = HybridTagger(tagger=DeidTagger(**FAST))
        deidentifier = NoteDeidentifier(tagger).fit(data.corpus)
        (spans,) = deidentifier.annotate(["Mail ana97@example.org"])
        assert spans[-1].label == "EMAIL"
        assert all(0 <= span.confidence <= 1 for span in spans)
        assert deidentifier.redact(["Mail ana97@example.org"])[0].endswith("[EMAIL]")

    def test_it_lists_the_labels_of_both_parts(self, fitted):
        """Without the list, a vote of such taggers failed at labels of rules that the training notes do not have, and
        Presidio refused the model."""
        X, y = [["Mr", "Alder"], ["a", "@", "b", ".", "org"]], [["O", "B-PATIENT"], ["O"] * 5]
        one = HybridTagger(RuleTagger(["email"]), RuleTagger(["date"]))
        vote = VotingTagger([("one", one), ("two", clone(one))]).fit(X, y)
        assert vote.estimators_[0].classes_.tolist() == ["O", "B-DATE", "B-EMAIL", "I-DATE", "I-EMAIL"]
        assert vote.predict(X)[1] == ["B-EMAIL", *["I-EMAIL"] * 4]
        assert {*fitted.rules_.classes_, *fitted.tagger_.classes_} <= set(fitted.classes_)
        assert not hasattr(HybridTagger(), "classes_")

    def test_a_tagger_without_confidence_in_a_note_deidentifier(self):
        plain = HybridTagger(RuleTagger(), RuleTagger(recognizers=["email"])).fit([["a"]], [["O"]])
        (spans,) = NoteDeidentifier(plain).annotate(["12/03/2019"])
        assert (spans[0].label, spans[0].confidence) == ("DATE", None)

    def test_no_sentence(self, fitted):
        assert len(fitted.predict([])) == 0
        assert fitted.predict([], return_confidence=True)[1].tolist() == []
        assert NoteDeidentifier(fitted).annotate([""]) == [()]


class Same(TransformerMixin, BaseEstimator):
    """Changes nothing."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return X


def test_confidence():
    rules, tagger = ["B-A", "B-A", "O", "O"], ["O", "B-A", "B-C", "O"]
    both = HybridTagger(Fixed([rules]), Sure([tagger])).fit([["x"] * 4], [["O", "B-A", "O", "O"]])
    assert both.rules_precision_ == (1 + 1) / (2 + 2)  # one of two tokens is right
    both.rules_precision_ = 0.75
    tags, confidence = both.predict([["x"] * 4], return_confidence=True)
    assert tags[0] == ["B-A", "B-A", "B-C", "O"]
    assert confidence[0].tolist() == [0.75, 0.75, 0.5, 0.5]


def test_errors():
    with pytest.raises(ValueError, match="'on_conflict' parameter of HybridTagger must be"):
        HybridTagger(on_conflict="both").fit([["a"]], [["O"]])
    with pytest.raises(ValueError, match="'tagger' parameter of HybridTagger must be"):
        HybridTagger(tagger="lstm").fit([["a"]], [["O"]])
    with pytest.raises(SequenceError, match="HybridTagger reads tokens. X holds vectors"):
        HybridTagger().fit([[[1.0]]], [["O"]])
    with pytest.raises(ValueError, match="does not take sample weights"):
        HybridTagger().score([], [], sample_weight=[1])


def test_reprs_hold_no_token(fitted, data):
    shown = repr(fitted) + fitted._repr_html_()
    names = {span.label for d in data.corpus for span in d.spans}
    words = {token for row in data.X for token in row if len(token) > 6 and token[:1].isupper()} - names
    assert isinstance(data.corpus, Corpus)
    assert not any(word in shown for word in words - {"Interval"})
