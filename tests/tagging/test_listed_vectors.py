"""Words of public lists: what a tagger knows of a word before it has seen it in a note."""

import copy
import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from sklearn_deid import DeidTagger, load, save
from sklearn_deid.embeddings import SubwordTable
from sklearn_deid.exceptions import BundleError
from sklearn_deid.surrogates import LOCALES
from sklearn_deid.surrogates.folding import fold
from sklearn_deid.surrogates.locale_words import LISTED_KINDS, listed_words, locale_words
from sklearn_deid.tagging import listed_vectors
from sklearn_deid.tagging.listed_vectors import ListedVectors, locale_of

from .conftest import SMALL, assert_rows_equal, make_sentences

NGRAMS = SubwordTable(np.ones((10, 4), dtype=np.float32))
WORDS = ["Garcia", "GARCÍA", "Anna", "Berlin", "chirurgien", "fiebre", "", "\ud800", "x" * 300]


def kinds_of(vectors, words):
    rows = vectors.vectors_for(words)[:, NGRAMS.dim :].astype(bool)
    return [{kind for kind, is_listed in zip(LISTED_KINDS, row, strict=True) if is_listed} for row in rows]


@pytest.mark.parametrize("locale", [*LOCALES, ""])
def test_kinds_are_those_of_the_lists(locale):
    vectors, lists = ListedVectors.in_language(NGRAMS, locale), listed_words(locale)
    listed = sorted(set().union(*lists.values()))[::50] + list(map(fold, WORDS))
    expected = [{kind for kind in LISTED_KINDS if word in lists[kind]} for word in listed]
    assert kinds_of(vectors, listed) == expected
    assert any(expected) and not expected[-1]


@pytest.mark.parametrize("locale", LOCALES)
def test_lists_hold_the_names_of_the_surrogates(locale):
    words, lists = locale_words(locale), listed_words(locale)
    closed = set(map(fold, words.block("function words")))
    for kind, names in (
        ("surname", words.surnames),
        ("given name, female", words.given_names["F"]),
        ("given name", words.given_names["M"]),
    ):
        assert {fold(name) for name in names} - closed <= lists[kind]
    assert lists["surname"] <= lists["surname, any language"] and not closed & lists["town"]


def test_casing_and_accents_do_not_matter():
    upper, lower, plain = kinds_of(ListedVectors.in_language(NGRAMS, "es"), ["GARCÍA", "garcía", "Garcia"])
    assert upper == lower == plain and "surname" in plain


def test_other_languages_have_the_common_lists_alone():
    (kinds,) = kinds_of(ListedVectors.in_language(NGRAMS, ""), ["García"])
    assert kinds and all(kind.endswith("any language") for kind in kinds)
    assert locale_of(np.array(["Zyx"] * 50, dtype=object)) == ""


def test_the_ngrams_come_first_and_nothing_is_copied():
    vectors = ListedVectors.in_language(NGRAMS, "de")
    assert np.array_equal(vectors.vectors_for(WORDS)[:, : NGRAMS.dim], NGRAMS.vectors_for(WORDS))
    assert vectors.vectors_for([]).shape == (0, vectors.dim)
    assert copy.deepcopy(vectors) is vectors


@pytest.fixture(scope="module")
def tagger():
    X, y, groups = make_sentences(40)
    return DeidTagger(**{**SMALL, "embeddings": "auto", "max_epochs": 1, "random_state": 0}).fit(X, y, groups=groups)


def test_lists_do_not_depend_on_the_notes(tagger):
    """A reader of a saved tagger learns the language of the notes from them, and nothing else."""
    vectors = tagger._vectors
    same = ListedVectors.in_language(
        NGRAMS, locale_of(np.concatenate([np.array(row) for row in make_sentences(40)[0]]))
    )
    assert np.array_equal(vectors.hashes, same.hashes) and np.array_equal(vectors.kinds, same.kinds)


def test_a_saved_tagger_brings_its_lists(tagger, tmp_path, monkeypatch):
    """Another version of Faker has other lists, and the canary of the model would refuse it."""
    save(tagger, tmp_path / "model")
    monkeypatch.setattr(listed_vectors, "_table", None)
    loaded = load(tmp_path / "model")
    X = [*make_sentences(20, seed=1)[0], ["Seen", "by", "García", "and", "Zhang", "in", "Berlin", "."]]
    assert_rows_equal(loaded.predict_proba(X), tagger.predict_proba(X))


@pytest.mark.parametrize(
    "damage",
    [
        lambda arrays: arrays.pop("listed.kinds"),
        lambda arrays: arrays.update({"listed.kinds": arrays["listed.kinds"][1:]}),
        lambda arrays: arrays.update({"listed.hashes": arrays["listed.hashes"].astype(np.int64)}),
    ],
)
def test_damaged_lists_are_refused(tagger, tmp_path, damage):
    folder = tmp_path / "model"
    save(tagger, folder)
    arrays = load_file(folder / "arrays.safetensors")
    damage(arrays)
    save_file(arrays, folder / "arrays.safetensors")
    with pytest.raises(BundleError):
        load(folder)


def test_lists_without_a_mention_are_refused(tagger, tmp_path):
    folder = tmp_path / "model"
    save(tagger, folder)
    (name,) = (path for path in folder.iterdir() if path.suffix == ".json")
    manifest = json.loads(name.read_text())
    manifest["state"].pop("listed_words")
    name.write_text(json.dumps(manifest))
    with pytest.raises(BundleError):
        load(folder)
