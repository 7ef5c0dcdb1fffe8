"""Privacy card of a private representer for the privacy officer: training data, proved bound, and known limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import ROUND_CEILING, Context
from importlib.resources import files
from math import ceil, floor, isfinite, sqrt
from numbers import Integral, Real
from statistics import NormalDist
from typing import Any

from ..metrics.rounding import rounded
from ..sequences import Provenance
from ..text.markdown import markdown_table
from .card_ranges import check_ranges

_BOUND_NAMES = {
    "n_pairs": "pairs of sentences",
    "n_moved": "tokens moved in each pair (k)",
    "n_releases": "releases of each sentence (r)",
    "mean_accuracy": "best attacker, mean over the pairs",
    "quantile": "quantile of the pairs",
    "quantile_accuracy": "best attacker, at this quantile",
    "largest_accuracy": "best attacker, on the pair that is easiest to distinguish",
    "mean_distance": "mean distance d' in units of the noise",
    "slack": "of each of these, for the finite precision of the noise",
    "gdp_mu": "largest distance over the examined words (mu of Gaussian differential privacy)",
}
# Parts of a bound, strongest attackers first; {r} is the number of releases.
_PART_NAMES = {
    "patients": "all PHI of a patient from moved PHI, releases: {r}",
    "patients_repeated": "all PHI of a patient from moved PHI, releases: {r}",
    "worst_neighbor": "a sentence from a copy, if the attacker picks the token and the neighbour",
    "unknown_word": "a word with a vector from a word without",
}
_RANDOM_PAIR = "two sentences that differ in one random token (the smallest of these figures)"
_CASINGS = {"open": "casing_open", "randomized": "casing_randomized", "left out": "casing_left_out"}
_UTILITY_NAMES = {
    "recipient_strict_f1": "recipient trains on one release: strict F1 with types",
    "recipient_token_f1": "recipient trains on one release: F1 of PHI tokens",
    "provider_strict_f1": "provider's own tagger: strict F1 with types",
    "provider_token_f1": "provider's own tagger: F1 of PHI tokens",
    "raw_strict_f1": "tagger of the original notes: strict F1 with types",
    "raw_token_f1": "tagger of the original notes: F1 of PHI tokens",
}
# Of the auditor: opposite to the success of an attack, with which it shares the table.
_AUDIT_NAMES = {"score": "score of the whole audit, not an attack; a high score is good"}
# Numbers that bound the loss of privacy without being proportions, and how their four digits are rounded.
_LOSSES, _UP = ("epsilon", "gdp_mu", "mean_distance", "slack"), Context(prec=4, rounding=ROUND_CEILING)


def privacy_card(
    origin: Provenance,
    *,
    training: Mapping[str, Any],
    bound: Mapping[str, Any] | None,
    audit: Mapping[str, Any] | None,
    utility: Mapping[str, Any] | None = None,
) -> str:
    """Describe a private representer in plain words, as Markdown.

    Parameters
    ----------
    origin : Provenance
        Description of the representer that makes the vectors.
    training : mapping of str to number
        Counts of the training data, for example ``{"n_patients": 20, "n_sentences": 5000}``. Text is refused, since the
        card is shared with the representer.
    bound : mapping of str to number or mapping, or None
        Accuracy of the best attacker, as returned by ``PrivacyBound.to_dict()``; ``x_low`` and ``x_high`` are the
        interval of ``x``. The card lists the bound for patients before the bound for random pairs. With None, the card
        states that no bound is proved.
    audit : mapping, or None
        Results of the attacks by name: a metric, or a mapping of metrics. With None, the card states that no attack was
        run.
    utility : mapping of str to number, optional
        F1 of taggers on other patients, between 0 and 1: ``recipient_strict_f1``, ``recipient_token_f1``, and the
        corresponding names with ``provider`` and ``raw``. With None, the F1 of the bound are shown
        (``certify(..., recipients_of=...)``); without any, the card states that no F1 was measured.

    Returns
    -------
    str
        Markdown text that ends with a line break.

    Raises
    ------
    ValueError
        If a metric is not a number, True, False or None, or if a metric is impossible: a proportion outside of [0, 1],
        a negative epsilon, distance or count, or a value outside of its interval. The message contains the name of the
        metric, but not its value. Also if ``audit`` or ``utility`` is not a mapping.

    Examples
    --------
    >>> from sklearn_deid.sequences import Provenance
    >>> origin = Provenance("3f2a", 50, 100, {"kind": "trainable"}, True, True, "0.1.0", {})
    >>> card = privacy_card(origin, training={"n_patients": 20}, bound={"mean_accuracy": 0.54}, audit=None)
    >>> [line for line in card.splitlines() if line.startswith("| best")]
    ['| best attacker, mean over the pairs | 54.0 % |']
    >>> "**Not audited.**" in card
    True
    """
    for argument, given in (("audit", audit), ("utility", utility)):
        if given is not None and not isinstance(given, Mapping):
            raise ValueError(
                f"The '{argument}' parameter must be a mapping of names to numbers, such as "
                f"{{'score': report.score}}. Got {type(given).__name__} instead."
            )
    utility = (bound or {}).get("utility") if utility is None else utility
    every = {"training": training, "bound": bound, "audit": audit, "utility": utility}
    for argument, metrics in every.items():
        check_ranges(metrics, argument)
    parts = ["# Privacy card of a private representer", _text("what_it_is"), *_warnings(origin)]
    parts += ["## What it is", markdown_table(("", ""), _settings(origin))]
    parts += ["## What it was trained on", "Private notes with annotated PHI; counts only.", _counts(training)]
    parts += ["## What a tagger learns from it", _utility_part(utility)]
    parts += ["## What is proved", *_bound_part(origin, bound)]
    parts += ["## What was tried", *_audit_part(audit)]
    parts += ["## Known limits", _text("limits")]
    return "\n\n".join(parts) + "\n"


def _warnings(origin: Provenance) -> list[str]:
    warnings = [] if origin.public_embeddings else [_text("unsafe")]
    return [*warnings, _text("no_noise")] if origin.noise.get("kind") == "none" else warnings


def _settings(origin: Provenance) -> list[tuple[str, str]]:
    rows = [
        ("fingerprint", f"`{_cell(origin.fingerprint)}`"),
        ("dimension of the vectors (d)", str(origin.n_components)),
        ("words among which a PHI word hides (N)", str(origin.n_neighbors)),
        *((f"noise: {_words(name)}", _plain(value)) for name, value in origin.noise.items()),
        ("casing of each word published with its vector", _plain(origin.casing)),
        ("word vectors from public text only", _plain(origin.public_embeddings)),
        ("version of sklearn-deid", _cell(origin.library_version)),
    ]
    return rows + [(_words(name), _plain(value)) for name, value in origin.settings.items()]


def _counts(training: Mapping[str, Any]) -> str:
    rows = [(_words(name), _number(value, name)) for name, value in training.items()]
    return markdown_table(("", ""), rows) if rows else "No counts are given."


def _utility_part(utility: Mapping[str, Any] | None) -> str:
    if not utility:
        return _text("no_utility")
    # Recipients first, in the order of the names; other metrics follow.
    order = [*(name for name in _UTILITY_NAMES if name in utility), *(n for n in utility if n not in _UTILITY_NAMES)]
    rows = [(_UTILITY_NAMES.get(name, _words(name)), _share_or_number(name, utility[name])) for name in order]
    return markdown_table(("", ""), rows)


def _bound_part(origin: Provenance, bound: Mapping[str, Any] | None) -> list[str]:
    if bound is None:
        return [_text("no_bound")]
    return [
        *_strongest_first(bound),
        *_coverage_part(bound.get("coverage")),
        *_casing_part(bound.get("casing")),
        "Two sentences that differ in one random token, in detail:",
        markdown_table(("", ""), _pair_rows(bound)),
        *_more_releases(bound),
        "The bound covers:",
        _text("covered").format(n_neighbors=origin.n_neighbors),
        "The bound does not cover:",
        _text("not_covered").format(casing=_casing_words(origin, bound.get("casing"))),
    ]


def _strongest_first(bound: Mapping[str, Any]) -> list[str]:
    """Table of all attackers: patients first, random pairs last."""
    if "patients" not in bound:
        return [_text("no_patients")]
    parts = {name: bound[name] for name in _PART_NAMES if name in bound}
    rows = [_part_row(_PART_NAMES[name].format(r=part.get("n_releases", 1)), part) for name, part in parts.items()]
    casing = {f"mean_with_casing{end}": bound.get(f"pairs_with_casing{end}") for end in ("", "_low", "_high")}
    rows.append(_part_row(_RANDOM_PAIR, {**bound, **casing}))
    quantile = _share_or_number("quantile", bound.get("quantile", 0.95))
    head = (
        "the attacker distinguishes",
        "mean",
        f"{quantile} of the cases, at most",
        "largest",
        "mean with the casing",
    )
    warning = [] if bound.get("has_patients") else [_text("unknown_patients")]
    return [*warning, _text("parts"), markdown_table(head, rows)]


def _part_row(title: str, part: Mapping[str, Any]) -> tuple[str, ...]:
    names = ("mean_accuracy", "quantile_accuracy", "largest_accuracy", "mean_with_casing")
    return (title, *("" if part.get(name) is None else _with_interval(name, part) for name in names))


def _with_interval(name: str, numbers: Mapping[str, Any]) -> str:
    shown = _bounded(name, numbers[name], up=True)
    if numbers.get(f"{name}_low") is None or numbers.get(f"{name}_high") is None:
        return shown
    low, high = (_bounded(name, numbers[f"{name}_{end}"], up=end == "high") for end in ("low", "high"))
    return f"{shown} (95 % interval {low} to {high})"


def _pair_rows(bound: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = []
    for name, value in bound.items():
        base = re.sub("_(low|high)$", "", name)
        is_interval = base != name and base in bound  # shown with its base
        if is_interval or isinstance(value, Mapping) or base in ("pairs_with_casing", "has_patients"):
            continue
        rows.append((_BOUND_NAMES.get(name, _words(name)), _with_interval(name, bound)))
    return rows


def _coverage_part(coverage: Mapping[str, Any] | None) -> list[str]:
    """Table of the PHI tokens that the bound does not cover, by reason."""
    if not coverage:
        return []
    counts = {name: _whole(n, name) for name, n in coverage.items()}
    every, covered = counts.pop("n_phi_tokens"), counts.pop("n_covered")
    counts = {
        "not covered by the bound": every - covered,
        **{f"of these: {_words(n.removeprefix('n_'))}": v for n, v in counts.items()},
    }
    shown = ((name, _number(n, name), f"{rounded(n / max(1, every), 1, 100)} %") for name, n in counts.items() if n)
    return [markdown_table(("PHI tokens", "number", "share"), [("all", _number(every, "all"), "100.0 %"), *shown])]


def _casing_part(casing: Mapping[str, Any] | None) -> list[str]:
    if not casing:
        return []
    if casing.get("kind") not in _CASINGS:
        raise ValueError("The casing of a privacy card must be open, randomized or left out. Got another one.")
    epsilon = _bounded("epsilon", casing.get("epsilon"), up=True)
    names = {
        "share_changed": "random pairs whose casing differs, if moved words are written in the casing of their token",
        "sentence_accuracy": "accuracy of casing alone between two sentences with equally many tokens",
    }
    rows = [(names[name], _with_interval(name, casing)) for name in names if casing.get(name) is not None]
    text = _text(_CASINGS[casing["kind"]]).format(epsilon=epsilon)
    return [text, *([markdown_table(("", ""), rows)] if rows else [])]


def _casing_words(origin: Provenance, casing: Mapping[str, Any] | None) -> str:
    """Name the casing among the data that are released without noise."""
    if not origin.casing or (casing or {}).get("kind") == "randomized":
        return ""
    return "the casing of each word, "


def _more_releases(bound: Mapping[str, Any]) -> list[str]:
    """Bound the mean accuracy for several releases, over the examined pairs and over other pairs.

    Phi is concave, so the accuracy at the mean distance is at least the mean accuracy. The accuracy for r releases is
    also a concave function of the accuracy for one release, Phi(sqrt(r) Phi^-1(a)). Over any pairs, its mean is
    therefore at most its value at the mean for one release, and an upper end for one release gives an upper end for r.
    """
    distance = bound.get("mean_distance")
    if not isinstance(distance, Real) or bound.get("n_releases", 1) != 1:
        return []
    slack = float(bound.get("slack") or 0.0)

    def at_most(half: float) -> dict[int, str]:
        # The precision of the noise adds its part in each release.
        accuracies = {r: min(1.0, NormalDist().cdf(sqrt(r) * half) + r * slack) for r in (2, 5, 10)}
        return {r: _bounded("accuracy", accuracy, up=True) for r, accuracy in accuracies.items()}

    examined = "; ".join(f"{r} releases: {shown}" for r, shown in at_most(float(distance) / 2).items())
    told = f"Over the examined pairs, the mean accuracy for several releases of each sentence is at most: {examined}."
    high = bound.get("mean_accuracy_high")
    if not isinstance(high, Real) or float(high) < 0.5:
        return [f"{told} These accuracies have no confidence interval for other pairs."]
    # With few pairs, the upper end for one release can be above the accuracies of the examined pairs.
    others = at_most(NormalDist().inv_cdf(min(float(high), 1.0 - 2.0**-53)))
    ends = ", ".join(f"{shown} with {r} releases" for r, shown in others.items())
    return [f"{told} For other pairs, the upper ends of the 95 % intervals of the mean are at most: {ends}."]


def _audit_part(audit: Mapping[str, Any] | None) -> list[str]:
    if not audit:
        return [_text("no_audit")]
    # One column for each metric that any attack has; a cell without a value stays empty.
    attacks = {name: value if isinstance(value, Mapping) else {"figure": value} for name, value in audit.items()}
    for name, value in audit.items():
        if not isinstance(value, Mapping):
            _number(value, name)  # an error names the attack, not the column
    figures = list(dict.fromkeys(figure for value in attacks.values() for figure in value))
    rows = []
    for name, value in attacks.items():
        shown = (_share_or_number(figure, value[figure]) if figure in value else "" for figure in figures)
        rows.append((_AUDIT_NAMES.get(str(name), _words(name)), *shown))
    return [
        _text("audit"),
        markdown_table(["attack", *map(_words, figures)], rows),
    ]


def _words(name: Any) -> str:
    """Turn a Python name into words."""
    return _cell(re.sub("^n_", "number of ", str(name)).replace("_", " "))


def _cell(text: str) -> str:
    """Remove characters that could end a table cell or act as markup."""
    return re.sub(r"[\s|`<>\[\]\\*]+", " ", text).strip()


def _plain(value: Any) -> str:
    if isinstance(value, (str, Mapping, list)):
        return _cell(str(value))
    return _number(value, "settings")


def _share_or_number(name: str, value: Any) -> str:
    return f"{rounded(float(value), 1, 100)} %" if _is_share(name, value) else _number(value, name)


def _bounded(name: str, value: Any, *, up: bool) -> str:
    """Round the figure of a bound up, or its lower end down: a bound that is rounded to the nearest does not hold."""
    if not _is_share(name, value) or name == "quantile":
        if name in _LOSSES and isinstance(value, Real) and isfinite(value):
            value = float(_UP.create_decimal(repr(float(value))))
        return _share_or_number(name, value)
    steps = round(1000 * float(value), 6)  # a product such as 0.57 * 1000 can lie just above a whole number
    return f"{(ceil(steps) if up else floor(steps)) / 10:.1f} %"


def _is_share(name: str, value: Any) -> bool:
    is_named = (
        re.search("accuracy|quantile|probability|share|with_casing|_f1$|^low|^high|figure", str(name)) is not None
    )
    return is_named and isinstance(value, Real) and not isinstance(value, (bool, Integral)) and 0 <= float(value) <= 1


def _whole(value: Any, name: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise _no_figure(value, name)
    return int(value)


def _number(value: Any, name: Any) -> str:
    if value is None:
        return "not given"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if isinstance(value, Real) and isfinite(value):
        return f"{float(value):.4g}"
    raise _no_figure(value, name)


def _no_figure(value: Any, name: Any) -> ValueError:
    given = str(float(value)) if isinstance(value, Real) else f"a {type(value).__name__}"
    return ValueError(f"The figure {_words(name)!r} of a privacy card must be a number. Got {given}.")


def _text(name: str) -> str:
    """A paragraph of the card; the privacy officer may edit the file."""
    return (files(__package__) / "card_texts" / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")
