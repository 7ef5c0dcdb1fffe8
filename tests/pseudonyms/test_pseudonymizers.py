"""The transformers that move PHI tokens: laws of the data, groups, errors, statistics, scikit-learn."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline

from sklearn_deid import (
    CusTextPseudonymizer,
    DeidTagger,
    GaussianNoisePerturber,
    MadlibPseudonymizer,
    NeighborPseudonymizer,
    RandomVectorPerturber,
    SanTextPseudonymizer,
    SurrogatePseudonymizer,
    WordVectors,
    ZeroVectorPerturber,
    make_clinical_notes,
)
from sklearn_deid.exceptions import SequenceError
from sklearn_deid.sequences import TokenSequences, TokenVectors

from ..tagging.conftest import SMALL, SURNAMES, TOWNS, make_sentences

PLAIN = ["mr", "was", "seen", "lives", "in", "aged", "years", "no", "pain", ".", "12", "34", "56", "77"]
WORDS = [*(name.lower() for name in SURNAMES), *(town.lower() for town in TOWNS), *PLAIN]
VECTORS = WordVectors(WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 6)), is_public=True)
TOKEN_SIBLINGS = [NeighborPseudonymizer, CusTextPseudonymizer, SanTextPseudonymizer, MadlibPseudonymizer]
VECTOR_SIBLINGS = [RandomVectorPerturber, GaussianNoisePerturber, ZeroVectorPerturber]


def make(cls, **parameters):
    small = {"n_neighbors": 5} if cls in (NeighborPseudonymizer, CusTextPseudonymizer) else {}
    return cls(**{"embeddings": VECTORS, "random_state": 0, **small, **parameters})


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_sentences(60)
    return TokenSequences.from_rows(X), TokenSequences.from_rows(y), np.array(groups)


def is_phi(y):
    return np.array([tag != "O" for tag in y.data])


# ---- what moves and what does not


@pytest.mark.parametrize("cls", TOKEN_SIBLINGS)
def test_only_phi_tokens_move(data, cls):
    X, y, _ = data
    made = make(cls).fit_transform(X, y)
    assert made.offsets.tolist() == X.offsets.tolist()
    changed = made.data != X.data
    assert not changed[~is_phi(y)].any()
    assert changed[is_phi(y)].any()


@pytest.mark.parametrize("cls", VECTOR_SIBLINGS)
def test_only_vectors_of_phi_tokens_change(data, cls):
    X, y, _ = data
    perturber = make(cls)
    made = perturber.fit_transform(X, y)
    assert isinstance(made, TokenVectors)
    same = (made.data == perturber.transform(X).data).all(axis=1)
    assert same[~is_phi(y)].all()
    # A vector of zeros is what an unknown word has already.
    assert not same[is_phi(y) & VECTORS.vectors_for(X.data).any(axis=1)].any()
    assert made.d == VECTORS.dim + 7
    assert make(cls, casing=False).fit_transform(X, y).d == VECTORS.dim


@pytest.mark.parametrize("cls", TOKEN_SIBLINGS)
def test_transform_leaves_words_as_they_are(data, cls):
    X, y, _ = data
    assert make(cls).fit(X, y).transform(X.tolist()) == X


@pytest.mark.parametrize("cls", TOKEN_SIBLINGS + VECTOR_SIBLINGS)
def test_draws(data, cls):
    X, y, _ = data
    fixed = make(cls)
    first = fixed.fit_transform(X, y)
    assert fixed.sample(X, y) == first
    assert clone(fixed).fit(X, y).sample(X, y) == first
    if cls is not ZeroVectorPerturber:
        for state in (None, np.random.RandomState(0)):
            free = make(cls, random_state=state)
            assert free.fit_transform(X, y) != free.sample(X, y)


def test_one_neighbour_is_the_identity(data):
    X, y, _ = data
    assert make(NeighborPseudonymizer, n_neighbors=1, unknown="keep").fit_transform(X, y) == X


def test_surrogates_are_neighbours(data):
    X, y, _ = data
    made = make(NeighborPseudonymizer, n_neighbors=3, digits="same").fit_transform(X, y)
    table = VECTORS.matrix()
    nearest = np.argsort(-table @ table.T, axis=1)[:, :3]
    for token, surrogate in zip(X.data, made.data, strict=True):
        if token != surrogate and token.lower() in WORDS:
            assert surrogate.lower() in {WORDS[i] for i in nearest[WORDS.index(token.lower())]}


def test_labels_choose_what_moves(data):
    X, y, _ = data
    pseudonymizer = make(NeighborPseudonymizer, labels=["CITY"], n_neighbors=10)
    made = pseudonymizer.fit_transform(X, y)
    moved = {tag for tag, a, b in zip(y.data, X.data, made.data, strict=True) if a != b}
    assert moved == {"B-CITY", "I-CITY"}
    assert list(pseudonymizer.statistics_) == ["CITY"]


def test_labels_that_do_not_occur_are_named(data):
    X, y, _ = data
    with pytest.warns(UserWarning, match=r"labels: \['TOWN'\]. y has \['AGE', 'CITY', 'PATIENT'\]"):
        make(NeighborPseudonymizer, labels=["TOWN", "CITY"]).fit(X, y)


def test_at_most_so_many_in_a_sentence():
    X, y = [["Alder", "Birch", "Cedar", "pain"]] * 200, [["B-DOCTOR", "B-DOCTOR", "B-DOCTOR", "O"]] * 200
    pseudonymizer = make(NeighborPseudonymizer, max_replacements=1, n_neighbors=len(VECTORS))
    made = pseudonymizer.fit_transform(X, y)
    changed = np.array([[a != b for a, b in zip(*rows, strict=True)] for rows in zip(X, made, strict=True)])
    assert changed.sum(axis=1).max() == 1
    assert (changed.sum(axis=0)[:3] > 30).all()  # each has its turn
    counts = pseudonymizer.statistics_["DOCTOR"]
    assert (counts["moved"], counts["kept_limit"]) == (200, 400)


def test_stop_words_and_punctuation_stay():
    X, y = [["The", "House", "of", "-", "Alder"]], [["B-HOSPITAL"] + ["I-HOSPITAL"] * 4]
    vectors = WordVectors(["the", "house", "of", "-", "alder", "a", "b", "c"], np.eye(8))
    pseudonymizer = NeighborPseudonymizer(embeddings=vectors, n_neighbors=8, random_state=1)
    for seed in range(20):
        made = pseudonymizer.set_params(random_state=seed).fit_transform(X, y)[0]
        assert made[2:4] == ["of", "-"]
    assert pseudonymizer.statistics_["HOSPITAL"]["kept_excluded"] == 2
    moved = {pseudonymizer.set_params(random_state=s).fit_transform(X, y)[0][0] for s in range(20)}
    assert len(moved) > 1  # a capitalised stop word may be a name
    everything = NeighborPseudonymizer(embeddings=vectors, n_neighbors=8, exclude=None, random_state=0).fit(X, y)
    assert everything.statistics_["HOSPITAL"]["kept_excluded"] == 1  # punctuation


@pytest.mark.parametrize(("unknown", "counted"), [("keep", "kept_unknown"), ("shape", "moved"), ("random", "moved")])
def test_unknown_words(unknown, counted):
    X, y = [["Mr", "Qwrtz-4"]] * 30, [["O", "B-PATIENT"]] * 30
    pseudonymizer = make(NeighborPseudonymizer, unknown=unknown)
    made = pseudonymizer.fit_transform(X, y)
    assert pseudonymizer.statistics_["PATIENT"][counted] == 30
    surrogates = {row[1] for row in made}
    if unknown == "keep":
        assert surrogates == {"Qwrtz-4"}
    elif unknown == "shape":
        assert len(surrogates) == 30
        assert all(len(s) == 7 and s[5] == "-" and s[6].isdigit() for s in surrogates)
    else:
        assert {s.lower() for s in surrogates} <= set(WORDS)


def test_random_digits():
    X, y = [["Aged", "12"]] * 50, [["O", "B-AGE"]] * 50
    made = make(NeighborPseudonymizer, digits="random", n_neighbors=1).fit_transform(X, y)
    assert {row[1] for row in made} == {"12", "34", "56", "77"}


@pytest.mark.parametrize("cls", [NeighborPseudonymizer, CusTextPseudonymizer])
def test_digits_near_stay_digits(cls):
    X, y = [["Aged", "12", "Alder"]] * 50, [["O", "B-AGE", "B-PATIENT"]] * 50
    made = make(cls, digits="near", n_neighbors=10).fit_transform(X, y)
    assert {row[1] for row in made} == {"12", "34", "56", "77"}
    assert len({row[2] for row in made}) > 4


@given(
    st.lists(
        st.lists(st.tuples(st.text(max_size=6), st.sampled_from(["O", "B-A", "I-A", "B-B"])), max_size=5), max_size=5
    )
)
@settings(deadline=None, max_examples=50)
def test_any_text_keeps_its_form(rows):
    X, y = [[t for t, _ in row] for row in rows], [[g for _, g in row] for row in rows]
    made = make(NeighborPseudonymizer, n_neighbors=3).fit_transform(X, y)
    assert [len(row) for row in made] == [len(row) for row in X]
    for row, new, tags in zip(X, made, y, strict=True):
        for a, b, tag in zip(row, new, tags, strict=True):
            assert isinstance(b, str)
            assert a == b or tag != "O"


# ---- coherence


def test_patient_coherence_maps_every_repeated_mention_to_one_surrogate():
    notes = make_clinical_notes(60, random_state=0).to_sentences()
    made = NeighborPseudonymizer(
        coherence="patient", n_neighbors=20, random_state=0, embeddings=_spread(notes)
    ).fit_transform(notes.X, notes.y, notes.groups)
    tags = TokenSequences.from_rows(notes.y).data
    patient = np.repeat(notes.groups, notes.X.lengths)
    surrogates = {}
    for tag, who, token, new in zip(tags, patient, notes.X.data, made.data, strict=True):
        if tag != "O":
            surrogates.setdefault((who, token.casefold()), set()).add(new.casefold())
    assert {len(s) for s in surrogates.values()} == {1}
    different = {next(iter(s)) for (_, token), s in surrogates.items() if token == "smith"}
    assert not different or len(different) > 1


def _spread(notes):
    """Vectors of all words of the notes in random directions."""
    words = sorted({token.lower() for token in notes.X.data if token.strip()})
    return WordVectors(words, np.random.default_rng(1).standard_normal((len(words), 8)), is_public=True)


def test_coherence_within_a_sentence_and_a_document():
    X, y = [["Alder", "alder", "ALDER"]] * 40, [["B-DOCTOR"] * 3] * 40
    each = make(NeighborPseudonymizer, coherence="sentence", n_neighbors=10).fit_transform(X, y)
    assert all(len({word.casefold() for word in row}) == 1 for row in each)
    assert len({row[1] for row in each}) > 3
    letters = [row for row in each if row[0].isalpha()]
    assert all(row[0].istitle() and row[1].islower() and row[2].isupper() for row in letters)
    one = make(NeighborPseudonymizer, coherence="document", n_neighbors=10).fit_transform(X, y, ["d"] * 40)
    assert len({word.casefold() for row in one for word in row}) == 1


def test_misspelt_names_follow():
    X, y = [["Alder", "Alder", "Aldre", "Allder"]], [["B-DOCTOR"] * 4]
    for seed in range(10):
        made = make(NeighborPseudonymizer, coherence="sentence", random_state=seed, n_neighbors=10).fit_transform(X, y)
        assert made[0][0] == made[0][1] == made[0][3]


@pytest.mark.parametrize("coherence", ["document", "patient"])
def test_coherence_needs_groups(data, coherence):
    X, y, _ = data
    with pytest.raises(ValueError, match=f"needs groups: the {coherence} of each sentence"):
        make(NeighborPseudonymizer, coherence=coherence).fit(X, y)


def test_guard_leaves_no_surrogate_that_holds_the_source():
    words = ["ann", "anna", "hannah", "joan", "jo", "eve", "bea", "zoe"]
    vectors = WordVectors(words, np.random.default_rng(0).standard_normal((8, 4)))
    X, y = [[word.title() for word in words]] * 50, [["B-PATIENT"] * 8] * 50
    made = NeighborPseudonymizer(embeddings=vectors, n_neighbors=4, guard_substring=True, random_state=0).fit_transform(
        X, y
    )
    for row, new in zip(X, made, strict=True):
        for a, b in zip(row, new, strict=True):
            assert a.lower() not in b.lower()
            assert b.lower() not in a.lower()


# ---- errors


def test_y_is_required(data):
    X, y, _ = data
    for call in ("fit", "fit_transform", "fit_resample"):
        with pytest.raises(SequenceError, match="y is required"):
            getattr(make(NeighborPseudonymizer), call)(X)
    with pytest.raises(SequenceError, match="y is required"):
        make(NeighborPseudonymizer).fit(X, y).sample(X)


def test_y_of_another_shape(data):
    X, y, _ = data
    with pytest.raises(SequenceError, match="X has 60 sentences, y has 59"):
        make(NeighborPseudonymizer).fit(X, y[:-1])


def test_vectors_are_no_words():
    with pytest.raises(SequenceError, match="NeighborPseudonymizer reads words. X holds vectors"):
        make(NeighborPseudonymizer).fit([[[1.0, 2.0]]], [["O"]])


@pytest.mark.parametrize("cls", [NeighborPseudonymizer, CusTextPseudonymizer])
def test_more_neighbours_than_words(data, cls):
    X, y, _ = data
    with pytest.raises(ValueError, match=f"possible surrogates, {len(VECTORS)}. Got {len(VECTORS) + 1} instead"):
        make(cls, n_neighbors=len(VECTORS) + 1).fit(X, y)


def test_too_few_usable_neighbours_are_counted_by_label_and_not_named():
    vectors = WordVectors(["xena", "xenas", "xenasia", "fern"], np.eye(4))
    X, y = [["Xena", "Xenasia", "Fern"]] * 2, [["B-PATIENT", "B-CITY", "B-PATIENT"]] * 2
    with pytest.raises(ValueError, match=r"4 PHI tokens have fewer than 2 usable .*\(CITY: 2, PATIENT: 2\)") as error:
        NeighborPseudonymizer(embeddings=vectors, n_neighbors=2, guard_substring=True).fit(X, y)
    assert "xena" not in str(error.value).lower()


def test_unknown_words_are_refused_by_label_and_not_named():
    with pytest.raises(ValueError, match=r"1 PHI tokens are not among the word vectors \(PATIENT: 1\)") as error:
        make(NeighborPseudonymizer, unknown="raise").fit([["Qwrtz", "Alder"]], [["B-PATIENT", "B-DOCTOR"]])
    assert "Qwrtz" not in str(error.value)


def test_a_fit_that_fails_leaves_no_counts_of_an_earlier_fit():
    perturber = make(NeighborPseudonymizer, unknown="raise").fit([["Alder"]], [["B-DOCTOR"]])
    with pytest.raises(ValueError, match="are not among the word vectors"):
        perturber.fit([["Qwrtz"]], [["B-PATIENT"]])
    assert not hasattr(perturber, "statistics_")
    with pytest.raises(NotFittedError):
        perturber.transform([["Alder"]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "'n_neighbors' parameter of NeighborPseudonymizer must be an int"),
        ({"coherence": "note"}, "'coherence' parameter of NeighborPseudonymizer must be a str among"),
        ({"unknown": "drop"}, "'unknown' parameter of NeighborPseudonymizer must be a str among"),
        ({"max_replacements": 0}, "'max_replacements' parameter"),
        ({"exclude": "klingon"}, "must be a language code that spaCy knows"),
        ({"exclude": "os.path"}, "must be a language code that spaCy knows"),
        ({"embeddings": None}, "'embeddings' parameter of NeighborPseudonymizer must not be None"),
        ({"labels": "CITY"}, "'labels' parameter"),
    ],
)
def test_wrong_parameters(data, parameters, message):
    X, y, _ = data
    with pytest.raises((ValueError, TypeError), match=message):
        make(NeighborPseudonymizer, **parameters).fit(X, y)


@pytest.mark.parametrize("cls", TOKEN_SIBLINGS + VECTOR_SIBLINGS)
def test_unfitted(data, cls):
    X, y, _ = data
    for call in (lambda: make(cls).transform(X), lambda: make(cls).sample(X, y)):
        with pytest.raises(NotFittedError):
            call()


@pytest.mark.parametrize("cls", TOKEN_SIBLINGS + VECTOR_SIBLINGS)
def test_no_phi_and_no_sentences(cls):
    perturber = make(cls)
    assert perturber.fit_transform([["no", "pain"]], [["O", "O"]]).lengths.tolist() == [2]
    assert perturber.statistics_ == {}
    assert len(perturber.fit_transform([], [])) == 0


# ---- statistics


def test_statistics_count_every_phi_token_once(data):
    X, y, _ = data
    pseudonymizer = make(NeighborPseudonymizer)
    made = pseudonymizer.fit_transform(X, y)
    counts = pseudonymizer.statistics_
    for label, row in counts.items():
        mine = np.array([tag[2:] == label for tag in y.data])
        assert row["tokens"] == mine.sum()
        assert row["moved"] + row["kept_excluded"] + row["kept_unknown"] + row["kept_limit"] == row["tokens"]
        assert row["moved"] - row["drew_itself"] == (made.data != X.data)[mine].sum() or label == "AGE"
        assert 1 <= row["mean_rank"] <= 5 or label == "AGE"
    assert make(NeighborPseudonymizer).fit(X, y).statistics_.keys() == counts.keys()


@pytest.mark.parametrize("cls", TOKEN_SIBLINGS + VECTOR_SIBLINGS)
def test_nothing_shows_or_stores_a_word_of_the_notes(cls):
    X, y = [["Mr", "Qwrtz", "met", "Alder"]], [["O", "B-PATIENT", "O", "B-DOCTOR"]]
    perturber = make(cls).fit(X, y)
    shown = repr(perturber) + perturber._repr_html_() + str(perturber.statistics_) + repr(perturber.mechanism_)
    assert "Qwrtz" not in shown
    assert "lder" not in shown
    assert b"Qwrtz" not in pickle.dumps(perturber)


# ---- scikit-learn


def test_resampling_gives_every_sentence_twice_with_its_group(data):
    X, y, groups = data
    pseudonymizer = make(NeighborPseudonymizer)
    both, tags, patients = pseudonymizer.fit_resample(X, y, groups)
    moved = pseudonymizer.sample(X, y)
    expected = sorted(
        (*zip(X.tolist(), y.tolist(), groups, strict=True), *zip(moved.tolist(), y.tolist(), groups, strict=True))
    )
    assert sorted(zip(both.tolist(), list(tags), patients, strict=True)) == expected
    assert both[: len(X)] != X  # shuffled
    assert len(pseudonymizer.fit_resample(X, y)) == 2


def test_pipeline_trains_on_moved_and_predicts_on_untouched_sentences(data, tmp_path):
    X, y, groups = data
    steps = [("ps", make(NeighborPseudonymizer)), ("tag", DeidTagger(**{**SMALL, "max_epochs": 2}))]
    pipe = Pipeline(steps, memory=str(tmp_path)).fit(X, y)
    assert pipe[0].transform(X) == X
    assert 0.0 <= pipe.score(X, y) <= 1.0
    assert pipe.set_output(transform="default") is pipe


def test_grid_search_over_neighbours_in_two_processes(data, tmp_path):
    X, y, groups = data
    steps = [("ps", make(NeighborPseudonymizer)), ("tag", DeidTagger(**{**SMALL, "max_epochs": 1}))]
    search = GridSearchCV(
        Pipeline(steps, memory=str(tmp_path)),
        {"ps__n_neighbors": [1, 5]},
        cv=GroupKFold(2),
        n_jobs=2,
        error_score="raise",
    ).fit(X, y, groups=groups)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_groups_reach_a_step_of_a_pipeline(data):
    X, y, groups = data
    pipe = Pipeline(
        [("ps", make(NeighborPseudonymizer, coherence="patient")), ("tag", DeidTagger(**{**SMALL, "max_epochs": 1}))]
    )
    pipe.fit(X, y, ps__groups=groups)
    assert pipe[0].statistics_


# ---- augmenter of the tagger


class Recorder(NeighborPseudonymizer):
    """Keeps what it gave."""

    seen: list = []

    def __init__(self, *, embeddings="auto", n_neighbors=5, random_state=None):
        super().__init__(embeddings=embeddings, n_neighbors=n_neighbors, random_state=random_state)

    def sample(self, X, y=None, groups=None):
        drawn = super().sample(X, y, groups)
        self.seen.append(drawn)
        return drawn


def test_augmenter_draws_anew_in_every_epoch(data):
    X, y, _ = data
    Recorder.seen.clear()
    tagger = DeidTagger(augmenter=make(Recorder), **{**SMALL, "max_epochs": 3}).fit(X, y)
    assert len(Recorder.seen) >= 3
    assert all(a != b for i, a in enumerate(Recorder.seen) for b in Recorder.seen[:i])
    assert len(tagger.predict(X)) == len(X)


def test_augmented_training_is_repeatable_and_differs_from_plain(data):
    X, y, _ = data
    small = {**SMALL, "max_epochs": 2}
    both = [DeidTagger(augmenter=make(NeighborPseudonymizer), **small).fit(X, y).predict_proba(X) for _ in range(2)]
    for a, b in zip(*both, strict=True):
        np.testing.assert_array_equal(a, b)
    plain = DeidTagger(**small).fit(X, y).predict_proba(X)
    assert any((a != b).any() for a, b in zip(both[0], plain, strict=True))


@pytest.mark.parametrize("cls", VECTOR_SIBLINGS)
def test_tagger_reads_vectors_of_its_augmenter(data, cls):
    X, y, groups = data
    tagger = DeidTagger(augmenter=make(cls), **{**SMALL, "max_epochs": 2, "validation_fraction": 0.3}).fit(
        X, y, groups=groups
    )
    assert tagger.n_features_in_ == VECTORS.dim + 7
    assert [len(row) for row in tagger.predict(X)] == X.lengths.tolist()
    copy = pickle.loads(pickle.dumps(tagger))
    assert [list(row) for row in copy.predict(X)] == [list(row) for row in tagger.predict(X)]


def test_parameters_of_the_augmenter_can_be_searched(data):
    X, y, groups = data
    tagger = DeidTagger(augmenter=make(NeighborPseudonymizer), **{**SMALL, "max_epochs": 1})
    search = GridSearchCV(
        tagger, {"augmenter__n_neighbors": [2, 4]}, cv=GroupKFold(2), error_score="raise", refit=False
    )
    search.fit(X, y, groups=groups)
    tagger.set_params(augmenter__n_neighbors=7)
    assert tagger.augmenter.n_neighbors == 7
    assert clone(tagger).get_params()["augmenter__n_neighbors"] == 7
    assert not [name for name in vars(tagger) if name.startswith("augmenter__")]


def test_augmenter_with_groups_and_partial_fit(data):
    X, y, groups = data
    augmenter = make(NeighborPseudonymizer, coherence="patient")
    tagger = DeidTagger(augmenter=augmenter, **{**SMALL, "max_epochs": 1}).partial_fit(X, y, groups=groups)
    tagger.partial_fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="needs groups"):
        DeidTagger(augmenter=augmenter, **SMALL).fit(X, y)


def test_something_that_is_no_augmenter(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="'augmenter' parameter of DeidTagger must be"):
        DeidTagger(augmenter=3, **SMALL).fit(X, y)


CHANGES = [
    (NeighborPseudonymizer, {"n_neighbors": 9}),
    (NeighborPseudonymizer, {"exclude": None}),
    (NeighborPseudonymizer, {"digits": "random", "keep_casing": False}),
    (CusTextPseudonymizer, {"epsilon": 0.5}),
    (SanTextPseudonymizer, {"epsilon": 0.5}),
    (MadlibPseudonymizer, {"epsilon": 0.5}),
    (GaussianNoisePerturber, {"scale": 7.0}),
    (RandomVectorPerturber, {"unknown": "keep"}),
]


@pytest.mark.parametrize(("cls", "changed"), CHANGES)
def test_a_draw_after_a_change_of_the_mechanism_is_refused(data, cls, changed):
    X, y, _ = data
    perturber = make(cls).fit(X, y)
    before = perturber.get_params()
    perturber.set_params(**changed)
    with pytest.raises(ValueError, match=f"{next(iter(changed))!r}.*changed after the fit.*Fit again"):
        perturber.sample(X, y)
    perturber.set_params(**{name: before[name] for name in changed})
    assert perturber.sample(X, y) == make(cls).fit(X, y).sample(X, y)


def test_parameters_of_a_draw_may_change(data):
    X, y, _ = data
    perturber = pickle.loads(pickle.dumps(make(NeighborPseudonymizer).fit(X, y)))
    perturber.set_params(labels=["AGE"], max_replacements=1, random_state=1, n_neighbors=np.int64(5))
    assert len(perturber.sample(X, y)) == len(X)


@pytest.mark.parametrize("cls", [*TOKEN_SIBLINGS, *VECTOR_SIBLINGS, SurrogatePseudonymizer])
def test_no_labels_would_leave_all_phi(data, cls):
    X, y, _ = data
    transformer = SurrogatePseudonymizer(labels=[]) if cls is SurrogatePseudonymizer else make(cls, labels=[])
    with pytest.raises(ValueError, match=f"'labels' parameter of {cls.__name__}.*all PHI would be unchanged"):
        transformer.fit_transform(X, y)
    fitted = transformer.set_params(labels=None).fit(X, y)
    with pytest.raises(ValueError, match=f"'labels' parameter of {cls.__name__}.*all PHI would be unchanged"):
        fitted.set_params(labels=[]).sample(X, y)
