"""Card of sentences with surrogates, for a privacy officer: settings, counts, and what the surrogates still reveal."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ..text.markdown import markdown_table

_SETTINGS = tuple("labels date_shift whole_weeks keep_seasons ages keep_gender check_digits avoid_originals".split())
_COUNTS = {
    "spans": "spans",
    "no_rule": "replaced by the label",
    "no_fit": "drawn letter by letter",
    "drew_itself": "equal to the original",
}


def surrogate_card(settings: Mapping[str, Any], statistics: Mapping[str, Mapping[str, int]]) -> str:
    """Describe sentences with surrogates in plain words, as Markdown. The card contains no word of the sentences.

    Parameters
    ----------
    settings : mapping
        Parameters of a `SurrogatePseudonymizer`.
    statistics : mapping
        Counts for each label, as in ``SurrogatePseudonymizer.statistics_``.

    Returns
    -------
    str
        Card.

    Examples
    --------
    >>> card = surrogate_card({"ages": "keep", "keep_gender": True, "labels": None}, {"AGE": {"spans": 3}})
    >>> [line for line in card.splitlines() if line.startswith("#")]
    ['# Sentences with surrogates', '## What is protected', '## What is still revealed']
    >>> "Ages up to 89 years are unchanged" in card
    True
    """
    head = ["# Sentences with surrogates"]
    shown = [(name, _written(settings[name])) for name in _SETTINGS if name in settings]
    rows = [(label, *(str(counts.get(name, 0)) for name in _COUNTS)) for label, counts in sorted(statistics.items())]
    head.append(markdown_table(("setting", "value"), shown))
    head.append(markdown_table(("label", *_COUNTS.values()), rows))
    text = files("sklearn_deid.pseudonyms").joinpath("card_texts/still_told.md").read_text(encoding="utf-8")
    return "\n\n".join([*head, text.rstrip("\n")]) + "\n" + "".join(f"- {line}\n" for line in _told(settings))


def _written(value: Any) -> str:
    if value is None:
        return "all"
    return str(value) if isinstance(value, (str, int)) else ", ".join(sorted(map(str, value)))


def _told(settings: Mapping[str, Any]) -> list[str]:
    """Information that a release with these settings reveals, in addition to the information in every surrogate."""
    told = []
    if settings.get("ages") == "keep":
        told.append("Ages up to 89 years are unchanged.")
    if settings.get("keep_gender"):
        told.append("Given names, words for the sex and relatives keep their gender.")
    if settings.get("keep_seasons"):
        # Whole weeks are rounded: the shift becomes up to six days shorter.
        weeks = "three" if settings.get("whole_weeks") else "two"
        told.append(f"Each surrogate of a date is within {weeks} weeks of the original time of the year.")
    if settings.get("whole_weeks"):
        told.append("Weekdays are unchanged.")
    if settings.get("labels") is not None:
        told.append("Spans with other labels are unchanged.")
    if settings.get("avoid_originals"):
        told.append(
            "No name of one word among the surrogates is a word of a span, except for countries, regions, departments "
            "and relatives: a surrogate discloses a word that is in no span."
        )
    # A number of numpy, or a RandomState, which somebody has seeded, too.
    if settings.get("random_state") is not None:
        told.append("The draws have a random seed: anyone who knows this seed can repeat the draws and check guesses.")
    return told
