"""No public name gets lost: each is still in some room, or ``renamed.json`` says where it went.

A key of ``renamed.json`` is an old name; its value is the new place ("sklearn_deid.room.Name"), or "gone: why". Of a
name that had several objects it is a list.
"""

import importlib
import json
from pathlib import Path

import pytest

from .public_names import NAMES, public_names

_BEFORE = json.loads(NAMES.read_text())
_RENAMED = json.loads(Path(__file__).with_name("renamed.json").read_text())


def places_of(name):
    value = _RENAMED.get(name, [])
    return [value] if isinstance(value, str) else value


@pytest.fixture(scope="module")
def now():
    return public_names()


@pytest.mark.parametrize("name", sorted(_BEFORE))
def test_every_public_name_is_somewhere(name, now):
    n_left = len(now.get(name, [])) + len(places_of(name))
    assert n_left >= len(_BEFORE[name]), f"'{name}' of {_BEFORE[name]} is in no room, and renamed.json has no new place"


def test_renamed_names_were_there_and_are_where_it_says():
    assert set(_RENAMED) <= set(_BEFORE)
    for place in (place for name in _RENAMED for place in places_of(name)):
        if not place.startswith("gone: "):
            room, _, name = place.rpartition(".")
            assert hasattr(importlib.import_module(room), name), place
