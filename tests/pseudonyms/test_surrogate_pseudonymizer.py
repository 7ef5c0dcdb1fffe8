"""`SurrogatePseudonymizer`: sentences keep their tokens and tags, and lose the letters of their PHI."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from sklearn_deid import DeidTagger, PrivateRepresenter, SurrogatePseudonymizer, WordVectors, make_clinical_notes
from sklearn_deid.exceptions import AlignmentWarning
from sklearn_deid.sequences import TokenSequences
from sklearn_deid.surrogates.token_surrogates import joined, n_tokens
from sklearn_deid.text import tokenize

SMALL = {"max_epochs": 1, "hidden_size": 4, "embeddings": None, "device": "cpu", "random_state": 0}


@pytest.fixture(scope="module")
def data():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)
        return make_clinical_notes(20, n_patients=8, random_state=5).to_sentences()


@pytest.fixture(scope="module")
def moved(data):
    pseudonymizer = SurrogatePseudonymizer(locale="en", random_state=0)
    return pseudonymizer.fit_transform(data.X, data.y, data.groups), pseudonymizer


def is_phi(data):
    return np.array([tag != "O" for row in data.y for tag in row])


def test_tokens_outside_of_spans_stay_and_rows_keep_their_length(data, moved):
    new, _ = moved
    assert [len(row) for row in new] == [len(row) for row in data.X]
    assert (new.data[~is_phi(data)] == data.X.data[~is_phi(data)]).all()


def test_words_of_spans_are_gone(data, moved):
    new, pseudonymizer = moved
    labels = np.array([tag.partition("-")[2] for row in data.y for tag in row])
    is_name = np.isin(labels, ["PATIENT", "DOCTOR", "CITY"]) & (np.char.str_len(data.X.data.astype(str)) > 3)
    assert is_name.sum() > 100
    assert (new.data == data.X.data)[is_name].mean() < 0.02  # by chance
    assert sum(row["no_fit"] for row in pseudonymizer.statistics_.values()) < 0.06 * sum(
        row["spans"] for row in pseudonymizer.statistics_.values()
    )
    assert sum(row["no_rule"] for row in pseudonymizer.statistics_.values()) <= 3


def test_a_patient_has_one_surrogate_for_a_name(data, moved):
    new, _ = moved
    seen, wrong = {}, 0
    labels = [tag.partition("-")[2] for row in data.y for tag in row]
    sizes = [len(row) for row in data.X]
    patients = np.repeat(data.groups, sizes)
    for old, token, label, patient in zip(data.X.data, new.data, labels, patients, strict=True):
        if label in ("PATIENT", "DOCTOR") and old.isalpha() and len(old) > 2:
            wrong += seen.setdefault((patient, old.lower()), token.lower()) != token.lower()
    assert len(seen) > 50 and wrong < 0.03 * len(seen)


def test_surrogates_of_other_draws_differ(data):
    pseudonymizer = SurrogatePseudonymizer(locale="en")
    first = pseudonymizer.fit_transform(data.X, data.y, data.groups)
    assert first != pseudonymizer.sample(data.X, data.y, data.groups)
    seeded = SurrogatePseudonymizer(locale="en", random_state=0)
    assert seeded.fit_transform(data.X, data.y) == seeded.sample(data.X, data.y)


def test_transform_moves_nothing(data, moved):
    assert moved[1].transform(data.X) == data.X


def test_labels_choose_what_moves(data):
    new = SurrogatePseudonymizer(labels=["PATIENT"], locale="en", random_state=0).fit_transform(data.X, data.y)
    labels = np.array([tag.partition("-")[2] for row in data.y for tag in row])
    changed = new.data != data.X.data
    assert changed[labels == "PATIENT"].any() and not changed[labels != "PATIENT"].any()
    with pytest.warns(UserWarning, match="No token has one of these labels"):
        SurrogatePseudonymizer(labels=["X"], locale="en").fit(data.X, data.y)


def test_copies_have_the_dates_of_one_shift():
    X, y, _ = SurrogatePseudonymizer(locale="en").fit_resample(
        [["seen", "March", "5", "2011"]], [["O", "B-DATE", "I-DATE", "I-DATE"]], ["p1"], n_copies=4
    )
    assert len({tuple(row) for row in X}) == 1


def test_copies_are_different_and_hold_no_sentence_of_X(data):
    pseudonymizer = SurrogatePseudonymizer(locale="en", random_state=0)
    X, y, groups = pseudonymizer.fit_resample(data.X, data.y, data.groups, n_copies=3)
    assert len(X) == len(y) == len(groups) == 3 * len(data.X)
    assert [len(row) for row in X] == [len(row) for row in y]
    originals = {
        tuple(row) for row, tags in zip(data.X, data.y, strict=True) if any(tag.endswith("PATIENT") for tag in tags)
    }
    assert not originals & {tuple(row) for row in X}
    names = [tuple(row) for row, tags in zip(X, y, strict=True) if any(tag.endswith("PATIENT") for tag in tags)]
    assert len(set(names)) > 0.8 * len(names)
    assert sorted(map(tuple, y)) == sorted(tuple(row) for row in data.y for _ in range(3))
    for wrong in (0, True, 1.5, "all"):
        with pytest.raises(ValueError, match=f"'n_copies' parameter must be 'auto' or a whole number .* Got {wrong!r}"):
            pseudonymizer.fit_resample(data.X, data.y, n_copies=wrong)


@pytest.mark.parametrize(("n_tokens", "n_copies"), [(20_000, 5), (20_001, 4), (50_000, 2), (50_001, 1), (200_000, 1)])
def test_few_sentences_have_several_copies_by_default(n_tokens, n_copies):
    X = TokenSequences.from_rows([["seen"] * (n_tokens - 1), ["Alder"]])
    y = [["O"] * (n_tokens - 1), ["B-PATIENT"]]
    assert len(SurrogatePseudonymizer(locale="en").fit_resample(X, y)[0]) == 2 * n_copies


def test_originals_can_be_avoided():
    X = [["Mr", "Nilsen", "was", "seen"], ["Mr", "Hansen", "was", "seen"]] * 40
    y = [["O", "B-PATIENT", "O", "O"]] * 80
    plain = SurrogatePseudonymizer(locale="nb", random_state=0).fit_transform(X, y)
    avoided = SurrogatePseudonymizer(locale="nb", avoid_originals=True, random_state=0).fit_transform(X, y)
    assert {row[1] for row in plain} & {"Nilsen", "Hansen"}
    assert not {row[1] for row in avoided} & {"Nilsen", "Hansen"}


def test_what_has_no_rule_becomes_its_label():
    X, y = [["saw", "Zyxwvutski", "there"]], [["O", "B-OTHER", "I-OTHER"]]
    pseudonymizer = SurrogatePseudonymizer(locale="en", random_state=0)
    assert pseudonymizer.fit_transform(X, y)[0] == ["saw", "[OTHER]", "[OTHER]"]
    assert pseudonymizer.statistics_["OTHER"]["no_rule"] == 1
    shown = repr(pseudonymizer) + str(pseudonymizer.statistics_) + repr(pickle.dumps(pseudonymizer))
    assert "yxwv" not in shown


def test_old_ages_stay_one_token():
    X, y = [["aged", "97", "years"]], [["O", "B-AGE", "O"]]
    assert SurrogatePseudonymizer(locale="en").fit_transform(X, y)[0] == ["aged", "90", "years"]


@pytest.mark.parametrize(
    "text", ["12/03/2011", "Alder, John", "ann7@x.org", "(617) 555-0123", "Dec 1st", "3º 1", "J.M. Alder", "s/n"]
)
def test_joined_tokens_are_cut_into_the_same_tokens(text):
    tokens = tokenize(text).texts
    assert tokenize(joined(tokens)).texts == tokens
    assert n_tokens(joined(tokens)) == len(tokens)


def test_steps_after_it_train_on_surrogates(data):
    tagger = DeidTagger(**SMALL)
    pipe = Pipeline([("surrogates", SurrogatePseudonymizer(locale="en", random_state=0)), ("tag", tagger)])
    assert len(pipe.fit(data.X, data.y).predict(data.X)) == len(data.X)
    assert pipe[0].transform(data.X) == data.X


def test_it_is_an_augmenter(data):
    tagger = DeidTagger(**SMALL, augmenter=SurrogatePseudonymizer(locale="en"))
    tags = tagger.fit(data.X, data.y, groups=data.groups).predict(data.X)
    assert [len(row) for row in tags] == [len(row) for row in data.X]


def test_it_comes_before_a_private_representation(data):
    words = sorted({str(token).lower() for token in data.X.data})
    vectors = WordVectors(words, np.random.default_rng(0).standard_normal((len(words), 4)), is_public=True)
    representer = PrivateRepresenter(
        embeddings=vectors,
        n_components=2,
        n_neighbors=3,
        hidden_size=2,
        tagger_hidden_size=2,
        max_epochs=1,
        device="cpu",
        random_state=0,
    )
    pipe = Pipeline([("surrogates", SurrogatePseudonymizer(locale="en", random_state=0)), ("private", representer)])
    rows = 120
    released = pipe.fit(data.X[:rows], data.y[:rows], private__groups=data.groups[:rows]).transform(data.X[:rows])
    assert len(released) == rows


def test_sentences_without_a_group_are_not_one_patient():
    """Missing groups are no patient, whose dates and numbers would all be replaced alike."""
    X, y = [["Nr", "7131"]] * 4, [["O", "B-IDNUM"]] * 4
    new = SurrogatePseudonymizer(locale="en", random_state=0).fit_transform(X, y, [1, 1, np.nan, np.nan])
    assert new[0][1] == new[1][1] and len({row[1] for row in new}) == 3


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "Ages up to 89 years are unchanged"),
        ({}, "keep their gender"),
        ({"keep_seasons": True}, "within two weeks of the original time of the year"),
        ({"keep_seasons": True, "whole_weeks": True}, "within three weeks of the original time of the year"),
        ({"whole_weeks": True}, "Weekdays are unchanged"),
        ({"labels": ["DOCTOR"]}, "other labels are unchanged"),
        ({"avoid_originals": True}, "word that is in no span"),
        ({"random_state": 0}, "repeat the draws"),
        ({"random_state": np.int64(0)}, "repeat the draws"),
        ({"random_state": np.random.RandomState(0)}, "repeat the draws"),
        ({"keep_gender": np.True_}, "keep their gender"),
    ],
)
def test_a_card_says_what_is_still_told(settings, told):
    X, y = [["Dr", "Quillwick", "asked"], ["Zyxw", "90"]], [["O", "B-DOCTOR", "O"], ["B-PATIENT", "B-AGE"]]
    plain = SurrogatePseudonymizer(locale="en", ages="shift", keep_gender=False).fit(X, y).card()
    card = SurrogatePseudonymizer(locale="en", **settings).fit(X, y).card()
    assert told in card and told not in plain
    for text in (
        "PHI without a label stays",
        "Intervals between the dates",
        "written form",
        "Recurrence",
        "rare diseases",
    ):
        assert text in card
    # no word of the sentences
    assert not any(word in card for word in ("Quillwick", "Zyxw", "asked"))
    assert "| DOCTOR | 1 | 0 | 0 | 0 |" in card


@pytest.mark.parametrize("method", ["fit_transform", "fit_resample"])
def test_a_card_has_the_settings_of_the_fit(method):
    """A card after set_params named settings that no sentence had, and could leave out the random seed."""
    pseudonymizer = SurrogatePseudonymizer(locale="en", random_state=0, keep_gender=True, date_shift=100)
    getattr(pseudonymizer, method)([["Quillwick", "90"]], [["B-DOCTOR", "B-AGE"]])
    card = pseudonymizer.card()
    pseudonymizer.set_params(random_state=None, keep_gender=False, date_shift=3650, labels=["AGE"])
    assert pseudonymizer.card() == card and "repeat the draws" in card
