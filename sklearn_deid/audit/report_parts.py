"""Content of an audit report in its order, as blocks that Markdown and HTML render."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..metrics import Estimate
from .protocol import THREATS, AttackResult
from .report_score import exposure, interval_text, is_bound, is_check, is_weak, percent, percent_range, two_digits
from .report_verdicts import capital

_RANKED = {"top1": "ranked first", "top5": "among the first five", "pairwise": "the right one of two"}

_SCORE = (
    "1 means that none of these attacks does better than guessing. 0 means that one attack is always right, or that "
    "the audit failed. The score is 1 minus the upper end of the largest advantage. The advantage states how far an "
    "attack gets from guessing (0) to certainty (1)."
)
_ARMS = (
    "Each attack has three arms. 'Found' is the result of an attacker who sees the release. 'Guessing' is the result "
    "of an attacker without the release. Controls show that the attack works: 'nothing hidden' must reach its bar, "
    "and 'nothing to learn' must be at chance. If a control fails, the result is invalid. An invalid result is never "
    "a pass. 'Words in this report' explains the terms."
)
_NO_BOUND = "No bound is proved for this release. The verdicts rest only on the attacks that were tried."
_NOT_ATTACKED = {
    "representation": "This audit received no private vectors.",
    "pseudonymised text": "This audit received no text with replaced names.",
    "model": (
        "The attacks on models test whether a trained tagger or the representer remembers its training notes. They "
        "train a model anew several times. They run only with attacks='all' or with their names (membership, "
        "membership_threshold, canaries, membership_representer)."
    ),
    "updates": (
        "Hospitals send each other updates in distributed training. To attack these updates, audit a DSSGDEnsemble "
        "that was fitted with keep_exchange=True."
    ),
}
_WORDS = (
    ("advantage", "How far an attacker gets from guessing (0) to certainty (1)."),
    (
        "interval",
        "In 95 of 100 audits of this kind, a 95 % interval contains the figure for all patients of this kind. The "
        "verdicts state the percentage.",
    ),
    ("release", "One copy of the data that another person receives."),
    (
        "representation, representer",
        "A representation has private vectors: a row of numbers in the place of each word. The representer is the "
        "published program that makes the vectors.",
    ),
    (
        "noise-free template",
        "Vectors that the attacker makes of a candidate: the published representer runs without its noise.",
    ),
    (
        "candidates",
        "Sentences, or names to put into a sentence. The attacker knows that one of the candidates is right.",
    ),
    (
        "by likelihood, by cosine",
        "Two ways to compare a release with a candidate. The comparison by likelihood uses the size of the noise.",
    ),
    (
        "pair discrimination",
        "The attacker sees a sentence and a representation, and decides whether they belong together or whether one "
        "name was exchanged. T1 compares words with vectors, and T2 compares vectors with vectors.",
    ),
    (
        "paper's adversary, strong adversary",
        "The paper's adversary is the weak attacker of Friedrich et al. (2019). The strong adversary is an attacker "
        "of this library that reads much more. Fresh: trained for this audit. Continued: the adversary against which "
        "the representer was trained, with further training.",
    ),
    (
        "inversion, decoder",
        "A decoder is a program that the attacker trains to read the word back from its vector. Seen words are the "
        "words of its training, and unseen words are all others. Context: result of reading only the surroundings. "
        "Frequency: result of guessing frequent words.",
    ),
    (
        "casing, labels",
        "Casing is the use of capital letters, and a label is the kind of PHI of a word. Casing and "
        "labels are shared together with the vectors.",
    ),
    ("linkage", "The attacker decides whether two sentences are about one patient."),
    (
        "bound",
        "Mean accuracy of the best possible attacker over random pairs of sentences that differ in one word, if the "
        "noise cannot be predicted. The bound is about single words, not about patients.",
    ),
)
_LIMITS = (
    "The failure of an attack does not show that all attacks fail. A stronger attack may be found later.",
    "Intervals hold for other sentences of the same kind. They do not hold for other hospitals or for single persons.",
    "Each further release of the same notes discloses more. The figures hold only for the stated number of releases.",
    "Rare events, professions and whole stories can identify a person without any name. They were not attacked.",
    "Attacks on the memory of a tagger or representer train new models with its parameters. The weights of the given "
    "model were not attacked: more can be in them, for example after a longer training.",
    "This report does not decide whether a release is lawful.",
)


class Heading(NamedTuple):
    """Heading of a section of a report."""

    text: str


class Paragraph(NamedTuple):
    """Paragraph of plain text."""

    text: str


class Alert(NamedTuple):
    """Plain text that is shown prominently."""

    text: str


class Items(NamedTuple):
    """List of items; each item has a name, which may be empty, and a text."""

    items: tuple[tuple[str, str], ...]


class Table(NamedTuple):
    """Table of plain text; the first cell of each row is its name."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Figure(NamedTuple):
    """Results of one threat, for formats that can show a drawing."""

    caption: str
    results: tuple[AttackResult, ...]


Block = Heading | Paragraph | Alert | Items | Table | Figure


def parts(report: Any) -> Iterator[Block]:
    """Parts of an `AuditReport`: first the results, last the details for repeating the audit."""
    for section in _SECTIONS:
        yield from section(report)


def row_label(result: AttackResult) -> str:
    """Name of an attack, and the rank that counts as success if there are several ranks."""
    ranked = _RANKED.get(result.settings.get("measure", ""))
    return result.name if ranked is None else f"{result.name}: {ranked}"


def status_of(result: AttackResult) -> str:
    """Status of a result: valid, invalid, skipped, a bound, or "weak" for the paper's adversary."""
    if is_weak(result):
        return "too weak for a conclusion"
    if result.status == "ok":
        return "bound" if is_bound(result) else "no fault found" if is_check(result) else "valid"
    if result.faults:
        return "FAULT"
    return {"invalid": "INVALID", "skipped": "skipped"}[result.status]


def _summary(report: Any) -> Iterator[Block]:
    yield Heading(f"Score: {two_digits(report.score)}, where 1 is best")
    yield Paragraph(_SCORE)
    if report.blocking_issues:
        yield Alert("This audit cannot be passed, regardless of the figures:")
        yield Items(tuple(("", text) for text in report.blocking_issues))
    yield from map(Alert, report.warnings)
    worst = report.worst
    if worst is not None and worst.attack is not None:
        yield Paragraph(f"The worst attack: {row_label(worst)}; advantage {interval_text(exposure(worst))}.")
    numbers = [(report.n_sentences, "sentence"), (report.n_patients, "patient")]
    attacked = " of ".join(f"{n:,} {what}{'s' * (n != 1)}" for n, what in numbers if n is not None)
    if attacked:
        yield Paragraph(f"Attacked: {attacked}.")
    yield from _items("Verdicts", report.verdicts.items())


def _attacks(report: Any) -> Iterator[Block]:
    yield Heading("Attacks")
    yield Paragraph(_ARMS)
    for threat in THREATS:
        own = tuple(r for r in report.results if r.threat == threat and r.attack is not None)
        if own:
            yield Figure(f"Attacks on: {threat}", own)
            yield Table(f"Attacks on: {threat}", _HEAD, tuple(map(_cells, own)))
    # Results of one run for different ranks share their details. Details of bounds are in the section on bounds.
    details = {r.name: "; ".join(_details(r.details)) for r in report.results if not is_bound(r) and r.details}
    if details:
        yield Table("Further figures of the attacks", ("attack", "figures"), tuple(details.items()))
    weak = ((row_label(r), " ".join(r.failures)) for r in report.results if is_weak(r))
    yield from _items("Adversaries too weak for a conclusion", weak)
    faulty = ((row_label(r), " ".join(r.faults)) for r in report.results if r.faults)
    yield from _items(
        "Faults of the release", faulty, "The release differs from its statements. Do not share the release:"
    )
    invalid = ((row_label(r), " ".join(r.failures)) for r in report.results if status_of(r) == "INVALID")
    yield from _items("Errors of the audit", invalid, "These results are invalid and must not be used:")


_HEAD = (
    "attack",
    "what is counted",
    "found",
    "guessing",
    "advantage",
    "nothing hidden",
    "nothing to learn",
    "trials",
    "status",
)


def _cells(result: AttackResult) -> tuple[str, ...]:
    attack = result.attack
    assert attack is not None  # of all in the table
    bar = "" if result.min_positive_control is None else f"; bar {percent(result.min_positive_control)}"
    return (
        row_label(result),
        result.measure,
        _bound_text(attack) if is_bound(result) else _with_interval(attack),
        _with_interval(result.baseline),
        "" if is_bound(result) else interval_text(exposure(result)),
        _with_interval(result.positive_control) + bar,
        _with_interval(result.negative_control),
        f"{attack.n:,}" if attack.n else "exact",
        status_of(result),
    )


def _with_interval(estimate: Estimate | float | None) -> str:
    if not isinstance(estimate, Estimate):
        return "none"
    if estimate.low == estimate.high:
        return percent(estimate.value)
    return f"{percent(estimate.value)} ({percent_range(estimate.low, estimate.high)})"


def _bound_text(bound: Any) -> str:
    """Write a proved accuracy, rounded up: a bound that is rounded to the nearest does not hold."""
    if not isinstance(bound, Estimate) or math.isnan(bound.low):
        return _with_interval(bound)
    value, high = map(_rounded_up, (bound.value, bound.high))
    low = f"{math.floor(round(1000 * bound.low, 6)) / 10:g} %"
    return value if bound.low == bound.high else f"{value} ({low} to {high})"


def _rounded_up(share: float) -> str:
    return f"{math.ceil(round(1000 * share, 6)) / 10:g} %"


def _proved(report: Any) -> Iterator[Block]:
    if not any(r.threat == "representation" for r in report.results):
        return
    yield Heading("What is proved")
    rows = [r for r in report.results if is_bound(r) and r.attack is not None]
    if not rows and not report.bounds:
        yield Paragraph(_NO_BOUND)
    yield from (
        Paragraph(f"{capital(r.measure)}, {r.name}: {_bound_text(r.attack)}.{_tail(r.details)} {r.attacker}")
        for r in rows
    )
    for name, bound in (report.bounds or {}).items():
        yield Table(f"Bound: {name}", ("figure", "value"), tuple(_flat(bound)))


def _tail(details: Mapping[str, Any]) -> str:
    """Quantile and largest value of a bound, in addition to its mean."""
    if not {"quantile", "quantile_accuracy", "largest_accuracy"} <= set(details):
        return ""
    accuracy, largest = (_rounded_up(details[name]) for name in ("quantile_accuracy", "largest_accuracy"))
    quantile = percent(details["quantile"])
    return f" For {quantile} of the pairs, the accuracy is at most {accuracy}. The largest accuracy is {largest}."


def _details(details: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Further numbers of a result, proportions with their intervals."""
    for key, value in details.items():
        name = prefix + _RANKED.get(key, key.replace("_", " "))
        if isinstance(value, Mapping) and {"value", "low", "high"} <= set(value):
            yield f"{name} {percent(value['value'])} ({percent_range(value['low'], value['high'])})"
        elif isinstance(value, Mapping):
            yield from _details(value, f"{name}, ")
        elif value is not None:
            yield f"{name} {_plain(value)}"


def _not_attacked(report: Any) -> Iterator[Block]:
    skipped = ((row_label(r), r.reason) for r in report.results if r.status == "skipped")
    yield from _items("What was skipped, and why", skipped)
    attacked = {r.threat for r in report.results if r.attack is not None and not is_bound(r)}
    missing = ((threat, _NOT_ATTACKED[threat]) for threat in THREATS if threat not in attacked)
    yield from _items("What was not attacked at all", missing)


def _attackers(report: Any) -> Iterator[Block]:
    yield from _items("Who the attackers are", dict.fromkeys((r.name, r.attacker) for r in report.results))


def _explained(report: Any) -> Iterator[Block]:
    yield from _items("Words in this report", _WORDS)


def _limits(report: Any) -> Iterator[Block]:
    yield from _items("What this report does not say", (("", text) for text in _LIMITS))


def _settings(report: Any) -> Iterator[Block]:
    yield Heading("How to repeat the audit")
    rows = [*_flat(report.settings), *(("version of " + name, text) for name, text in report.versions.items())]
    yield Table("Settings and versions", ("setting", "value"), tuple((*rows, ("seconds", f"{report.seconds:.0f}"))))


# A section is a function of the report. Write a new section in this file and add its function to this list. The type of
# the report is not imported, because the report imports these sections.
_SECTIONS: tuple[Callable[[Any], Iterator[Block]], ...] = (
    _summary,
    _attacks,
    _proved,
    _not_attacked,
    _attackers,
    _explained,
    _limits,
    _settings,
)


def _items(title: str, items: Iterable[tuple[str, str]], alert: str = "") -> Iterator[Block]:
    """Section with a list; no section if the list is empty."""
    listed = tuple(items)
    if listed:
        yield Heading(title)
        yield from [Alert(alert)] if alert else []
        yield Items(listed)


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}, ")
        else:
            yield prefix + key, _plain(value)


def _plain(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "not set", True: "yes", False: "no"}[value]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_plain, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
