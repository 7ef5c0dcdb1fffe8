"""`deid_report`: every official score of a de-identified corpus in one call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from .._optional import import_optional
from ..text import Document, LabelScheme, Span
from .counting import RULES, Counts, compare, harmonic_mean, merged_counts
from .pairing import infer_label_scheme, pair_documents

__all__ = ["deid_report"]

Pairs = list[tuple[Document, Document]]
_MEASURES = ("precision", "recall", "f1", "support")


def deid_report(
    gold: Iterable[Document],
    predicted: Iterable[Document],
    output: str = "table",
    *,
    scheme: str | LabelScheme | None = None,
    missing: str = "raise",
) -> Any:
    """Compare predicted with gold spans.

    Parameters
    ----------
    gold, predicted : Corpus or sequence of Document
        Documents with the same ids and texts.
    output : {"table", "dict", "frame"}, default="table"
        Text to print, nested dict, or pandas DataFrame (extra ``frames``).
    scheme : str or LabelScheme, optional
        Says which labels are HIPAA's and which category a label has; by default the known scheme that has all labels.
    missing : {"raise", "count"}, default="raise"
        Whether a gold document without prediction is an error or counts as missed.

    Returns
    -------
    str, dict or DataFrame
        The dict has the keys ``strict`` (typed spans), ``relaxed`` (ends up to 2 characters apart), ``token`` (typed
        runs of letters and digits), ``binary_strict`` and ``binary_token`` (without labels), each also as ``hipaa_...``
        (None where no scheme is known), and ``merged`` (MEDDOCAN). Each holds precision, recall, f1, support, tp, fp
        and fn over all documents, and ``macro``, the means over documents. ``by_label`` and ``by_category`` hold strict
        counts.
        Precision without predictions and recall without gold spans are 0, as in the official scripts.

    Raises
    ------
    DeidError
        If documents or texts do not match.

    References
    ----------
    Stubbs, Kotfila & Uzuner (2015) for i2b2 2014; Marimon et al. (2019) for MEDDOCAN.

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> gold = [Document("n", "Ana works", (Span(0, 3, "PATIENT"),))]
    >>> deid_report(gold, gold, output="dict")["hipaa_binary_token"]["f1"]
    1.0
    """
    if output not in ("table", "dict", "frame"):
        raise ValueError(f"The 'output' parameter must be 'table', 'dict' or 'frame'. Got {output!r} instead.")
    pairs = pair_documents(gold, predicted, missing)
    report = _as_dict(pairs, infer_label_scheme(scheme, [d for pair in pairs for d in pair]))
    if output == "dict":
        return report
    return _as_table(report) if output == "table" else _as_frame(report)


def _as_dict(pairs: Pairs, scheme: LabelScheme | None) -> dict[str, Any]:
    report: dict[str, Any] = {"n_documents": len(pairs)}
    for rule in RULES:
        report[rule] = _scores([compare(rule, d, d.spans, p.spans) for d, p in pairs])
        report[f"hipaa_{rule}"] = None
        if scheme is not None:
            report[f"hipaa_{rule}"] = _scores(
                [compare(rule, d, _hipaa(d.spans, scheme), _hipaa(p.spans, scheme)) for d, p in pairs]
            )
    report["merged"] = _scores([merged_counts(d, d.spans, p.spans) for d, p in pairs])
    report["by_label"] = _by(pairs, lambda span: span.label)
    report["by_category"] = _by(pairs, lambda span: span.category or (scheme and scheme.category(span.label)) or "?")
    return report


def _hipaa(spans: Iterable[Span], scheme: LabelScheme) -> list[Span]:
    return [span for span in spans if scheme.is_hipaa(span.label)]


def _scores(counts: list[Counts]) -> dict[str, Any]:
    """Micro scores of all documents, and macro scores: means over documents, F1 from the means."""
    n = max(1, len(counts))
    precision, recall = sum(c.precision for c in counts) / n, sum(c.recall for c in counts) / n
    macro = {"precision": precision, "recall": recall, "f1": harmonic_mean(precision, recall)}
    return {**sum(counts, start=Counts()).as_dict(), "macro": macro}


def _by(pairs: Pairs, key: Any) -> dict[str, dict[str, float]]:
    """Strict counts of the spans of each kind."""
    total: dict[str, Counts] = defaultdict(Counts)
    for gold, predicted in pairs:
        for kind in {key(span) for d in (gold, predicted) for span in d.spans}:
            sides = [[span for span in d.spans if key(span) == kind] for d in (gold, predicted)]
            total[kind] += compare("strict", gold, *sides)
    return {kind: total[kind].as_dict() for kind in sorted(total, key=lambda k: (-total[k].support, k))}


_TITLES = {
    "strict": "spans, typed",
    "relaxed": "spans, typed, end within 2 characters",
    "binary_strict": "spans, any type",
    "merged": "spans, any type, neighbours merged",
    "token": "tokens, typed",
    "binary_token": "tokens, any type",
}


def _as_table(report: dict[str, Any]) -> str:
    """What a reader needs first stands first: how much was missed."""
    missed, total = report["binary_token"]["fn"], report["binary_token"]["support"]
    lines = [f"{report['n_documents']} documents; {missed} of {total} PHI tokens missed.", ""]
    lines += [_row("", *_MEASURES, "missed")]
    for key, title in _TITLES.items():
        lines.append(_score_row(title, report[key]))
    for key, title in _TITLES.items():
        if report.get(f"hipaa_{key}"):
            lines.append(_score_row(f"HIPAA {title}", report[f"hipaa_{key}"]))
    for key in ("by_category", "by_label"):
        lines += ["", _row(key.replace("_", " ") + " (spans, typed)", *_MEASURES, "missed")]
        lines += [_score_row(name, scores) for name, scores in report[key].items()]
    return "\n".join(lines)


def _score_row(name: str, scores: dict[str, float]) -> str:
    measures = [f"{scores[m]:.4f}" for m in _MEASURES[:-1]]
    return _row(name, *measures, f"{scores['support']:d}", f"{scores['fn']:d}")


def _row(name: str, *cells: str) -> str:
    return f"{name:<44}" + "".join(f"{cell:>11}" for cell in cells)


def _as_frame(report: dict[str, Any]) -> Any:
    pandas = import_optional("pandas", extra="frames", purpose="output='frame'")
    rows = {("all", key): report[key] for key in report if isinstance(report[key], dict) and "f1" in report[key]}
    for kind in ("label", "category"):
        rows |= {(kind, name): scores for name, scores in report[f"by_{kind}"].items()}
    columns = [*_MEASURES, "tp", "fp", "fn"]
    index = pandas.MultiIndex.from_tuples(list(rows), names=["group", "name"])
    return pandas.DataFrame([[scores[c] for c in columns] for scores in rows.values()], index=index, columns=columns)
