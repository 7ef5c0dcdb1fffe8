"""Errors say where, are what a caller would expect, and survive the way between processes."""

import copy
import pickle
from pathlib import Path

import joblib
import pytest

from sklearn_deid import exceptions
from sklearn_deid.exceptions import DeidError

ERRORS = [getattr(exceptions, name) for name in exceptions.__all__ if name.endswith("Error")]
WARNINGS = [getattr(exceptions, name) for name in exceptions.__all__ if name.endswith("Warning")]
WHERE = {"path": "notes.xml", "doc_id": "n1", "annotation_id": "T3", "start": 4, "end": 9}


def fail(cls):
    raise cls("It is broken.", **WHERE)


def test_every_class_is_listed():
    defined = {name for name, value in vars(exceptions).items() if isinstance(value, type)}
    assert defined == set(exceptions.__all__)
    assert len(ERRORS) + len(WARNINGS) == len(exceptions.__all__)


@pytest.mark.parametrize("cls", ERRORS)
def test_an_error_is_ours_and_a_built_in_one(cls):
    assert issubclass(cls, DeidError)
    assert cls is DeidError or issubclass(cls, (ValueError, OSError, ImportError))


@pytest.mark.parametrize("cls", WARNINGS)
def test_a_warning_can_be_filtered_as_user_warning(cls):
    assert issubclass(cls, UserWarning)


@pytest.mark.parametrize("cls", ERRORS)
@pytest.mark.parametrize(
    ("where", "text"),
    [
        ({}, "It is broken."),
        ({"doc_id": "n1"}, "It is broken. [document n1]"),
        ({"start": 0, "end": 9}, "It is broken. [characters 0-9]"),
        ({"start": 4}, "It is broken. [from character 4]"),
        ({"end": 9}, "It is broken. [up to character 9]"),
        (WHERE, "It is broken. [file notes.xml, document n1, annotation T3, characters 4-9]"),
    ],
)
def test_the_message_says_where(cls, where, text):
    error = cls("It is broken.", **where)
    assert str(error) == text
    assert error.message == "It is broken."
    assert {name: getattr(error, name) for name in where} == where


def test_a_path_object_becomes_text():
    assert DeidError("It is broken.", path=Path("notes.xml")).path == "notes.xml"


@pytest.mark.parametrize("cls", ERRORS)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_copies_keep_everything(cls, copied):
    error = cls("It is broken.", **WHERE)
    twin = copied(error)
    assert type(twin) is cls
    assert str(twin) == str(error)
    assert {name: getattr(twin, name) for name in WHERE} == WHERE


def test_an_error_comes_back_from_a_joblib_worker():
    with pytest.raises(exceptions.SpanError, match="document n1, annotation T3") as caught:
        joblib.Parallel(n_jobs=2, backend="threading")([joblib.delayed(fail)(exceptions.SpanError)])
    assert caught.value.end == 9
