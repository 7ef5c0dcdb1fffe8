"""Diagnoses of ICD-10-CM: the words of medicine that no list of ours holds (parts of the body, germs, accidents).

The classification belongs to the public. The package simple-icd-10-cm (MIT licence) carries its text.
"""

from __future__ import annotations

import re
import warnings
from functools import cache
from hashlib import blake2b

from sklearn_deid.surrogates import Chance

_HELD_OUT = 5  # one category of five
# Half of all codes are injuries and accidents: their categories are drawn more rarely than there are.
_RARE, _RARE_SHARE = frozenset("STVWXY"), 0.25
# Ends that the classification needs and notes do not have.
_END = re.compile(r",? ?(?:(?:initial|subsequent) encounter.*|sequela|unspecified.*|not elsewhere classified)$")
_REMARK = re.compile(r" \([^()]*\)| NOS\b|,? not otherwise specified")
_INNER = re.compile(r"(?<=[a-z,] )[A-Z][\w\u2019'-]+")


@cache
def categories(held_out: bool) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Texts of each category: of diseases, and of injuries and accidents."""
    with warnings.catch_warnings():
        # The package reads its files by functions that Python 3.11 and 3.12 call outdated, and 3.13 does not.
        warnings.simplefilter("ignore", DeprecationWarning)
        import simple_icd_10_cm as icd

    texts: dict[str, list[str]] = {}
    for code in icd.get_all_codes(with_dots=False):
        if not icd.is_category_or_subcategory(code) or _is_held_out(code[:3]) != held_out:
            continue
        terms = [icd.get_description(code), *icd.get_inclusion_term(code)]
        texts.setdefault(code[:3], []).extend(term.replace("\t", " ") for term in terms)
    unique = {code: tuple(dict.fromkeys(of)) for code, of in texts.items()}
    return tuple(tuple(of for code, of in unique.items() if (code[0] in _RARE) == rare) for rare in (False, True))


def _is_held_out(category: str) -> bool:
    return blake2b(category.encode(), digest_size=4).digest()[0] % _HELD_OUT == 0


@cache
def _proper() -> frozenset[str]:
    """Words that have a capital inside of texts."""
    texts = (text for part in categories(False) + categories(True) for of in part for text in of)
    return frozenset(word for text in texts for word in _INNER.findall(text))


def diagnosis(chance: Chance, held_out: bool, form: str = "") -> str:
    """A diagnosis as notes write it, or with ``form="full"`` as the classification does."""
    part = categories(held_out)[chance.happens(_RARE_SHARE)]
    text = chance.pick(chance.pick(part))
    if form == "full":
        return text
    text = _REMARK.sub("", _END.sub("", text) or text)
    if chance.happens(0.5):
        text = text.partition(",")[0]
    first = text.partition(" ")[0]
    is_word = first[1:].islower() and first not in _proper()
    return text[0].lower() + text[1:] if is_word else text
