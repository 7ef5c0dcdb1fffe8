"""Kinds of surrogates, and the kind for each label of the known label schemes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from .word_list import read_word_lists

_FILE = Path(__file__).parent / "schemes" / "labels.txt"


@cache
def known_labels() -> Mapping[str, str]:
    """Kind of surrogate for each label of the known schemes (i2b2 2014, MEDDOCAN, GraSCCo, HIPAA types, Presidio).

    Examples
    --------
    >>> known_labels()["FECHAS"], known_labels()["DOCTOR"], "OTHER" in known_labels()
    ('date', 'person', False)
    """
    return {label: kind for kind, labels in read_word_lists(_FILE).items() for label in labels}


def kinds() -> tuple[str, ...]:
    """All kinds of surrogates.

    Examples
    --------
    >>> "person" in kinds()
    True
    """
    return tuple(dict.fromkeys(known_labels().values()))


def label_kinds(mapping: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """Kind for each label: the known labels, changed and extended by a mapping.

    Parameters
    ----------
    mapping : mapping of str to str or None, optional
        Kinds of further labels, or other kinds of known labels. A label that is mapped to None has no rule: its spans
        are replaced by the label in brackets.

    Raises
    ------
    ValueError
        If a kind is unknown.

    Examples
    --------
    >>> label_kinds({"CASE_NUMBER": "identifier"})["CASE_NUMBER"]
    'identifier'
    """
    table: dict[str, str | None] = {**known_labels(), **(mapping or {})}
    known = (*kinds(), None)
    wrong = sorted(str(kind) for kind in table.values() if kind not in known)
    if wrong:
        raise ValueError(
            f"The 'kinds' parameter must map labels to kinds of surrogates or None. Got the kind {wrong[0]!r} "
            f"instead; the kinds are {sorted(kinds())}."
        )
    return {label: kind for label, kind in table.items() if kind is not None}
