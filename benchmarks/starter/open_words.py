"""Words of general English and names of drugs, thousands each, which no list of ours holds.

English words: the table of inflections of lemminflect (MIT licence; from the SPECIALIST Lexicon, which the National
Library of Medicine gives away). Drugs: the entries of DrugBank's open vocabulary (CC0) that MedlinePlus knows as well,
from the package drug-named-entity-recognition (MIT licence). Only the training draws them. A word of the lists that
are held out for the bias and the measurements is left out.
"""

from __future__ import annotations

import gzip
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from .lists import only_held_out

_WORD = re.compile(r"[a-z]{3,14}")
_DRUG = re.compile(r"[a-z]{4,14}")
_LETTERS = re.compile(r"[a-z]{4,}")


@cache
def english_words(kind: str) -> tuple[str, ...]:
    """Nouns and their plurals, verbs, their past forms, adjectives or adverbs, in lower case."""
    found: dict[str, None] = {}
    for word, part, inflected in _table():
        forms = inflected[0].split("/")
        if part == kind == "noun":
            found |= dict.fromkeys((word, *forms))
        elif part == "verb" and kind == "past":
            found |= dict.fromkeys(forms)
        elif part == kind:
            found[word] = None
    return tuple(word for word in found if _WORD.fullmatch(word) and word not in only_held_out())


@cache
def _table() -> tuple[tuple[str, str, list[str]], ...]:
    """Lemma, part of speech and inflected forms."""
    spec = find_spec("lemminflect")
    if spec is None or spec.origin is None:
        raise ImportError("The texts of the starter need the package lemminflect.")
    with gzip.open(Path(spec.origin).parent / "resources" / "infl_lu.csv.gz", "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split(",") for line in file]
    return tuple((row[0], row[1], row[2:]) for row in rows if row[0].islower())


@cache
def drug_names() -> tuple[str, ...]:
    """Generic names and brands of medicines, in lower case."""
    from drug_named_entity_recognition import drugs_finder

    known = drugs_finder.drug_canonical_to_data
    medicines = {name for name, data in known.items() if {"drugbank_id", "medline_plus_id"} <= data.keys()}
    written = drugs_finder.drug_variant_to_canonical
    return tuple(
        name
        for name, of in written.items()
        if _DRUG.fullmatch(name) and name not in only_held_out() and not medicines.isdisjoint(of)
    )


@cache
def medicine_words() -> frozenset[str]:
    """All entries of one word in the list of medicines, also chemical names and brands that no patient leaflet has."""
    from drug_named_entity_recognition import drugs_finder

    written = drugs_finder.drug_variant_to_canonical
    return frozenset(name for name in written if _LETTERS.fullmatch(name) and name not in only_held_out())
