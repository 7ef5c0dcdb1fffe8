"""Record of a sign-off as a page that can be printed and filed. The page holds no id and no text of a note."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from ..metrics.rounding import UNDEFINED, rounded

_FIELD = re.compile(r"\{\{([A-Z]+)\}\}")
_HEAD = ("sample", "leaking", "read", "share", "at most", "patients")


def record_html(record: Mapping[str, Any]) -> str:
    """Return the record of a sign-off as HTML.

    Parameters
    ----------
    record : mapping
        ``{"result": SignOff.to_dict(), "provenance": {...}}``; the provenance is shown unchanged. The optional key
        ``"n_samples"`` is the number of samples that were drawn, with the sample of this record.
        ``"earlier_confidences"`` holds the known confidence levels of the samples before; others count with the level
        of this sample. ``"n_readings"`` is the number of different readings of this sample that were assessed, with
        this reading.

    Returns
    -------
    str
        A page without scripts and requests.

    Examples
    --------
    >>> from sklearn_deid import Document
    >>> from sklearn_deid.review import SignOff
    >>> sign_off = SignOff(1).assess([Document("n1", "Seen by [DOCTOR].")])
    >>> "0 of 1 notes" in record_html({"result": sign_off.to_dict(), "provenance": {}})
    True
    """
    result = record["result"]
    bounds = [("notes", result["notes"]), *((f"notes: {name}", found) for name, found in result["by_type"].items())]
    if result["items"] is not None:
        bounds.append(("PHI items", result["items"]))
    fields = {
        "CLASS": "passed" if result["passed"] else "failed",
        "VERDICT": escape(verdict(record)),
        "BOUNDS": _table("Bounds", _HEAD, (_bound_row(name, found) for name, found in bounds)),
        # Without a row, a reader cannot tell whether there is no leak or whether the numbers are missing.
        "LABELS": _table("Leaks by label", ("label", "leaks"), result["leaks_by_label"].items() or [("no label", 0)]),
        "RECORD": _table("Record", ("what", "value"), {**result["settings"], **record["provenance"]}.items()),
    }
    page = files(__package__).joinpath("page/record.html").read_text(encoding="utf-8")
    return _FIELD.sub(lambda field: fields[field[1]], page)


def verdict(record: Mapping[str, Any]) -> str:
    """Sentences about the notes of a record: leaks, bound, whether the bound reaches the target, and how many more
    notes to read."""
    result = record["result"]
    notes, settings = result["notes"], result["settings"]
    found = (
        f"{notes['n_leaks']} of {notes['n']} notes of a random sample {'leaks' if notes['n_leaks'] == 1 else 'leak'} "
        f"PHI. With {_exactly(settings['confidence'])} confidence, at most {_at_most(notes['upper'])} of the notes of "
        f"the release leak. The target is {_exactly(settings['target'])}. "
        # In words: a print in black and white, a screen reader and a terminal do not show the colour.
        f"The target is {'reached' if result['passed'] else 'not reached'}."
        f"{_of_several(record.get('n_samples', 1), settings['confidence'], record.get('earlier_confidences', ()))}"
        f"{_read_again(record.get('n_readings', 1))}"
    )
    if result["passed"]:
        return found
    more = result["more_notes"]
    ways = [
        f"{count} if {condition}"
        for count, condition in (
            (more["no_more_leaks"], "none of them leaks"),
            (more["same_share"], "further notes leak at the measured share"),
        )
        if count is not None
    ]
    return f"{found} Further notes to read for this target: {'; '.join(ways) if ways else 'no number suffices'}."


def _of_several(n_samples: int, confidence: float, earlier: Sequence[float]) -> str:
    """Sentence about the confidence of several samples."""
    if n_samples < 2:
        return ""
    # Probability that all bounds hold: the error probabilities of the samples add up (Bonferroni).
    n_others = max(1, n_samples - len(earlier))
    together = round(1 - sum(1 - level for level in earlier) - n_others * (1 - confidence), 12)
    left = f"the confidence is only {_exactly(together)}" if together > 0 else "no confidence remains"
    return f" This is sample {n_samples}. If the results of earlier samples led to this sample, {left}."


def _read_again(n_readings: int) -> str:
    """Sentence about several readings of one sample, whose marks differ."""
    if n_readings < 2:
        return ""
    return (
        f" {n_readings} different readings of this sample were assessed. If marks were removed because of an earlier "
        "result, the bound is too low."
    )


def _bound_row(name: str, found: Mapping[str, Any]) -> tuple[Any, ...]:
    share = UNDEFINED if found["share"] is None else f"{rounded(found['share'], 2, 100)}%"
    return (name, found["n_leaks"], found["n"], share, _at_most(found["upper"]), found["n_patients"])


def _exactly(share: float) -> str:
    # A confidence of 99.5 % would be rounded to 100 %.
    return f"{100 * share:.10g}%"


def _at_most(share: float) -> str:
    # A bound that is rounded down does not hold.
    return f"{math.ceil(1e4 * share - 1e-9) / 100:.2f}%"


def _table(caption: str, head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
