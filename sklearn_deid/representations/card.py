"""Privacy card of a private representer for the privacy officer: training data, proved bound, and known limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import sqrt
from numbers import Integral, Real
from statistics import NormalDist
from typing import Any

from ..sequences import Provenance
from ..text.markdown import markdown_table

_WHAT_IT_IS = """\
This network turns the words of clinical notes into noisy vectors. Vectors and tags can be given to others, who train a
program on them that finds protected health information (PHI). Names and dates should not be readable from the vectors.
This page says how far that is proved, how far it was tried, and what nobody has shown."""

_COVERED = """\
- **The question.** An attacker holds one released sentence and two candidates for its original, which differ in the
  PHI tokens that were moved to one of their {n_neighbors} nearest words. Which of the two was it? Guessing is right in
  50 % of the cases.
- **The attacker** owns this network and its weights, knows both candidates, and may compute without limit, but cannot
  predict the noise: the noise is held for exactly Gaussian.
- **One release** of the sentence. With r releases, each with new noise, the distance on which the bound rests grows by
  the square root of r: four releases double it.
- **An average** over random pairs of held-out sentences that differ in one PHI token of those that can move, and the
  share of them that is named with the quantile. It is about single tokens, not about patients. Single pairs may be told
  apart better, above all if the attacker picks them. The interval is about other pairs of the same kind."""

_NOT_COVERED = """\
- Pairs beyond the quantile; moves of more tokens than were moved here, such as all PHI of a patient in one release;
  words further away than the N nearest; PHI tokens that cannot move (stop words, punctuation, words without a vector).
- What stands beside the vectors without noise: {casing}the tags, the number of tokens of each sentence, and which
  sentences belong to one patient, if that is published.
- Several sentences about one person: what each of them gives away adds up.
- What the attacker knows beforehand. If one candidate is the likelier one anyway, guessing is right more often than
  half of the time, and the release adds to that.
- The weights of the network. They were trained on private notes and may hold some of them; no noise was added to them.
- Vectors that were made with another network, without noise, or from a random seed that somebody knows or finds.
- Releases of format version 1 (before version 0.2.0): their noise can be taken off.
- An attacker who breaks the cipher (ChaCha20) that the noise is drawn from."""

_LIMITS = """\
- This is no anonymisation in the sense of the law by itself. Whether a release is lawful must be decided for the case.
- PHI that nobody annotated was not protected on purpose: the network learnt from the tags what PHI is.
- Rare events, professions and whole stories can point to a person without any name.
- Release each sentence once. The same notes, transformed again, give away more each time.
- A low score of an attack means that this attack failed, not that all do."""

_NO_BOUND = """\
> **No bound.** Nothing is proved about this network: its privacy rests on attacks that were tried, or on nothing."""
_NO_AUDIT = """\
> **Not audited.** Nobody has attacked this network before it was saved. Do so before anything is shared."""
_UNSAFE = """\
> **Do not share.** The word vectors behind this network were trained on private notes and hold their words."""
_NO_NOISE = """\
> **Do not share.** This network adds no noise: everybody who owns it can look sentences up."""

_BOUND_NAMES = {
    "n_pairs": "pairs of sentences",
    "n_moved": "tokens moved in each pair (k)",
    "n_releases": "releases of each sentence (r)",
    "mean_accuracy": "best attacker, mean over the pairs",
    "quantile": "quantile of the pairs",
    "quantile_accuracy": "best attacker, at this quantile",
    "largest_accuracy": "best attacker, on the pair told apart best",
    "mean_distance": "mean distance d' in units of the noise",
    "slack": "of each of these, for the finite precision of the noise",
    "gdp_mu": "largest distance over the words looked at (mu of Gaussian differential privacy)",
}


def privacy_card(
    origin: Provenance,
    *,
    training: Mapping[str, Any],
    bound: Mapping[str, Any] | None,
    audit: Mapping[str, Any] | None,
) -> str:
    """Describe a private representer in plain words, as Markdown.

    Parameters
    ----------
    origin : Provenance
        Description of the representer that makes the vectors.
    training : mapping of str to number
        Counts of the training data, for example ``{"n_patients": 20, "n_sentences": 5000}``. Text is refused, since the
        card is shared with the representer.
    bound : mapping of str to number, or None
        Accuracy of the best attacker, as returned by ``PrivacyBound.to_dict()``; ``x_low`` and ``x_high`` are the
        interval of ``x``. With None, the card says that nothing is proved.
    audit : mapping, or None
        Attacks that were tried: name to metric, or name to a mapping of metrics. With None, the card says that nobody
        attacked the representer.

    Returns
    -------
    str
        Markdown text that ends with a line break.

    Raises
    ------
    ValueError
        If a metric is neither a number, True, False nor None. The message names the metric and does not show its value.

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
    parts = ["# Privacy card of a private representer", _WHAT_IT_IS, *_warnings(origin)]
    parts += ["## What it is", markdown_table(("", ""), _settings(origin))]
    parts += ["## What it was trained on", "Private notes with annotated PHI; counts only.", _counts(training)]
    parts += ["## What is proved", *_bound_part(origin, bound)]
    parts += ["## What was tried", *_audit_part(audit)]
    parts += ["## Known limits", _LIMITS]
    return "\n\n".join(parts) + "\n"


def _warnings(origin: Provenance) -> list[str]:
    warnings = [] if origin.public_embeddings else [_UNSAFE]
    return [*warnings, _NO_NOISE] if origin.noise.get("kind") == "none" else warnings


def _settings(origin: Provenance) -> list[tuple[str, str]]:
    rows = [
        ("fingerprint", f"`{_cell(origin.fingerprint)}`"),
        ("dimension of the vectors (d)", str(origin.n_components)),
        ("words among which a PHI word hides (N)", str(origin.n_neighbors)),
        *((f"noise: {_words(name)}", _plain(value)) for name, value in origin.noise.items()),
        ("casing of each word published beside its vector", _plain(origin.casing)),
        ("word vectors from public text only", _plain(origin.public_embeddings)),
        ("version of sklearn-deid", _cell(origin.library_version)),
    ]
    return rows + [(_words(name), _plain(value)) for name, value in origin.settings.items()]


def _counts(training: Mapping[str, Any]) -> str:
    rows = [(_words(name), _number(value, name)) for name, value in training.items()]
    return markdown_table(("", ""), rows) if rows else "No counts are given."


def _bound_part(origin: Provenance, bound: Mapping[str, Any] | None) -> list[str]:
    if bound is None:
        return [_NO_BOUND]
    rows = []
    for name, value in bound.items():
        base = re.sub("_(low|high)$", "", name)
        if base != name and base in bound:
            continue  # shown as the interval of its base
        shown = _share_or_number(name, value)
        if f"{name}_low" in bound and f"{name}_high" in bound:
            low, high = (_share_or_number(name, bound[f"{name}_{end}"]) for end in ("low", "high"))
            shown = f"{shown} (95 % interval {low} to {high})"
        rows.append((_BOUND_NAMES.get(name, _words(name)), shown))
    casing = "the casing of each word, " if origin.casing else ""
    return [
        markdown_table(("", ""), rows),
        *_more_releases(bound),
        "This covers:",
        _COVERED.format(n_neighbors=origin.n_neighbors),
        "This does not cover:",
        _NOT_COVERED.format(casing=casing),
    ]


def _more_releases(bound: Mapping[str, Any]) -> list[str]:
    """Bound the mean accuracy for several releases.

    Phi is concave, so the accuracy at the mean distance is at least the mean accuracy.
    """
    distance = bound.get("mean_distance")
    if not isinstance(distance, Real) or bound.get("n_releases", 1) != 1:
        return []
    at_most = [f"{r} times {100 * NormalDist().cdf(sqrt(r) * float(distance) / 2):.1f} %" for r in (2, 5, 10)]
    return [f"If each sentence were released several times, the mean would be at most: {'; '.join(at_most)}."]


def _audit_part(audit: Mapping[str, Any] | None) -> list[str]:
    if not audit:
        return [_NO_AUDIT]
    # One column for each metric that any attack has; a cell without a value stays empty.
    attacks = {name: value if isinstance(value, Mapping) else {"figure": value} for name, value in audit.items()}
    figures = list(dict.fromkeys(figure for value in attacks.values() for figure in value))
    rows = []
    for name, value in attacks.items():
        shown = (_share_or_number(figure, value[figure]) if figure in value else "" for figure in figures)
        rows.append((_words(name), *shown))
    return [
        "Accuracies of 50 % are those of guessing between two sentences.",
        markdown_table(["attack", *map(_words, figures)], rows),
    ]


def _words(name: Any) -> str:
    """Turn a Python name into words."""
    return _cell(re.sub("^n_", "number of ", str(name)).replace("_", " "))


def _cell(text: str) -> str:
    """Remove the characters with which text could leave its table cell or become markup."""
    return re.sub(r"[\s|`<>\[\]\\*]+", " ", text).strip()


def _plain(value: Any) -> str:
    if isinstance(value, (str, Mapping, list)):
        return _cell(str(value))
    return _number(value, "settings")


def _share_or_number(name: str, value: Any) -> str:
    is_share = re.search("accuracy|quantile|probability|share|^low|^high|figure", str(name)) is not None
    if is_share and isinstance(value, Real) and not isinstance(value, (bool, Integral)) and 0 <= float(value) <= 1:
        return f"{100 * float(value):.1f} %"
    return _number(value, name)


def _number(value: Any, name: Any) -> str:
    if value is None:
        return "not given"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if isinstance(value, Real):
        return f"{float(value):.4g}"
    raise ValueError(f"The figure {_words(name)!r} of a privacy card must be a number. Got a {type(value).__name__}.")
