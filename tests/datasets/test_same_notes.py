"""A seed gives the same notes in every version: hashes of what version 0.1.0 wrote.

A template or word that is added changes what a seed gives. The hashes then change on purpose, and the
changelog says so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from itertools import islice

import numpy as np
import pytest

from sklearn_deid.datasets import iter_clinical_notes, make_clinical_notes
from sklearn_deid.surrogates import Chance, PlaceholderFiller, dates, identifiers, names, places
from sklearn_deid.text import Document

# every option of make_clinical_notes; 200 notes unless something else is tested
CORPORA = {
    "default": lambda: make_clinical_notes(random_state=0),
    "seed 1": lambda: make_clinical_notes(200, random_state=1),
    "seed 20261122": lambda: make_clinical_notes(200, random_state=20261122),
    "one patient": lambda: make_clinical_notes(200, n_patients=1, random_state=2),
    "as many patients as notes": lambda: make_clinical_notes(200, n_patients=200, random_state=3),
    "50 patients": lambda: make_clinical_notes(n_notes=200, n_patients=50, random_state=4),
    "one note": lambda: make_clinical_notes(1, random_state=5),
    "numpy int": lambda: make_clinical_notes(np.int64(200), np.int64(40), np.int64(6)),
    "Generator": lambda: make_clinical_notes(200, random_state=np.random.default_rng(7)),
    "RandomState": lambda: make_clinical_notes(200, random_state=np.random.RandomState(8)),
    "iterator": lambda: iter_clinical_notes(200, 70, 9),
    "first of 2000 notes": lambda: islice(iter_clinical_notes(2000, random_state=10), 300),
}
NOTES = {
    "default": "c33f8932650062009b8eda21b647c73f5ee997ec9da60a8a21cd5227e0f490ac",
    "seed 1": "af27093db2e5afb11f69ac885ab5c45e778f8eea1dd5983795727e8d02216a50",
    "seed 20261122": "af31e41a665092a5776123eb4a2953fcefc63346a00f4b0aab37599ae35084af",
    "one patient": "2817d3086f1202c1c369a3b7f113b282a4a4cda5173cbb85bc7834e13c25b089",
    "as many patients as notes": "42b8e5b235baf9047e7cb8a0fe409b08b065e26a17f519c8da5bd92a99fb1281",
    "50 patients": "a64edc170d61089b90156ce808dfef20da0f711507eab98b26fb510171db73ef",
    "one note": "843ce36f7e4e58a3c2afc8a6c96549c9a7fc5ce270852a919cd9c40efff75340",
    "numpy int": "c6c8b0bde1e5b9162dd8b64f8c5380edce6614348eaa9e1449f08c39a30ae3c6",
    "Generator": "84fc477b4eed02c3acf855d3815e2fcd3c7cba1744cdde8b0d6029c9c7269fac",
    "RandomState": "9726161633baec0c023e2dd526b9180a0e30dc1aee1306f923bc2d0293b372b3",
    "iterator": "45e7893c1d4c28a98dc10980660209ddf3b0a128ed880a2f1efcb97cf7a5a36c",
    "first of 2000 notes": "13cb04dcd1f8c84c46369c6d0df7821317ec8811b32a4b2268c1d750b3fc2e5f",
}
SURROGATES = "8059a92fe1a50f28bb99c003ebde950917b059730b0ed106db7bdf1ef93446f0"

PLACEHOLDERS = (
    "Hospital1 18;Known lastname 123;First Name8 (NamePattern2);Last Name (Titles);Name;State/Zipcode;Country;Location;"
    "Company;Holiday;Street Address(2);Female First Name (un);University/College;Ward;Initials (NamePattern4);E-mail;"
    "Medical Record Number;2151-7-16;7-16;Month/Year 12;Age over 90;URL;Season"
).split(";")

#: Dates differ from those of the first version, in which three days of a month became one (tests of the format MIMIC).
DAY = "7-16"


def hash_of(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def told(documents: Iterable[Document]) -> list:
    return [
        [d.doc_id, d.patient_id, dict(d.meta), d.text, [[s.start, s.end, s.label, s.category] for s in d.spans]]
        for d in documents
    ]


@pytest.mark.parametrize("name", CORPORA)
def test_notes_and_spans_are_those_of_the_first_version(name):
    assert hash_of(told(CORPORA[name]())) == NOTES[name]


def test_surrogates_are_those_of_the_first_version():
    drawn = []
    for seed in range(300):
        chance = Chance(seed)
        draws = (names.surname, places.town, places.street, places.hospital_name, places.employer, identifiers.mrn)
        drawn.append([draw(chance) for draw in draws] + [names.given_name(chance, sex) for sex in "MF"])
        drawn.append(dates.clock(chance.number(0, 1439), seed % 4))
        filler = PlaceholderFiller(chance)
        filled = {content: filler.fill(content, is_doctor=seed % 2 == 0) for content in PLACEHOLDERS}
        drawn.append([found for content, found in filled.items() if not content.endswith(DAY)])

    assert hash_of(drawn) == SURROGATES
