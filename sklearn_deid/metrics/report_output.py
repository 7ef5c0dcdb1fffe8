"""A report as a table to read and as a DataFrame to compute with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._optional import import_optional
from .counting import RULES

__all__ = ["as_frame", "as_table"]

_TITLES = {
    "strict": "spans, typed",
    "relaxed": "spans, typed, ends within 2 characters",
    "binary_strict": "spans, any type",
    "merged": "spans, any type, neighbours joined",
    "token": "tokens, typed",
    "binary_token": "tokens, any type",
}
_WIDTH = 46


def as_table(report: dict[str, Any]) -> str:
    """What a privacy officer needs first stands first: what was missed, then how good the rest is."""
    lines = [f"{report['n_documents']} documents, {report['strict']['support']} PHI spans", ""]
    lines += [*_missed(report), "", *_missed_by_kind(report), "", *_score_lines(report)]
    for key in ("category", "label"):
        lines += ["", _row(f"By {key} (spans, typed)", *_HEADINGS[:-1])]
        lines += [_scores_row(name, scores) for name, scores in report[f"by_{key}"].items()]
    return "\n".join(line.rstrip() for line in lines)


def _missed(report: dict[str, Any]) -> list[str]:
    lines = ["Missed", _row("  tokens, under whatever label", _share(report["binary_token"]))]
    if report["hipaa_binary_token"]:
        lines.append(_row("    of them with a HIPAA label", _share(_hidden_hipaa(report))))
    lines.append(_row("  spans, under whatever label", _share(report["binary_strict"])))
    lines.append(_row("  spans, with their label", _share(report["strict"])))
    leak = report["leak"]
    per_sentence = f"{leak['per_sentence']:.4f}" if leak else "not available"
    lines.append(_row("  spans with their label, per sentence", f"{per_sentence:>20}"))
    if report["missing_documents"]:
        lines.append(f"  documents without prediction, wholly missed: {', '.join(report['missing_documents'])}")
    return lines


def _hidden_hipaa(report: dict[str, Any]) -> dict[str, int]:
    """HIPAA tokens found under whatever label; the official HIPAA score wants a HIPAA label on both sides."""
    by_label = report["binary_token"]["by_label"]
    rows = [by_label[label] for label in report["hipaa_binary_token"]["by_label"]]
    return {measure: sum(row[measure] for row in rows) for measure in ("fn", "support")}


def _share(scores: dict[str, Any]) -> str:
    share = scores["fn"] / scores["support"] if scores["support"] else 0.0
    return f"{scores['fn']:>8} of {scores['support']:>8}  ({share:.2%})"


def _missed_by_kind(report: dict[str, Any]) -> list[str]:
    """Labels with missed tokens, worst first."""
    by_label = report["binary_token"]["by_label"]
    worst = sorted((name for name in by_label if by_label[name]["fn"]), key=lambda name: -by_label[name]["fn"])
    lines = [_row(f"  {name}", _share(by_label[name])) for name in worst]
    return ["Missed tokens by their label", *(lines or ["  none"])]


_HEADINGS = ("precision", "recall", "f1", "gold", "missed", "invented", "macro f1")


def _score_lines(report: dict[str, Any]) -> Iterator[str]:
    yield _row("Scores", *_HEADINGS)
    for prefix in ("", "hipaa_"):
        for key, title in _TITLES.items():
            scores = report.get(prefix + key)
            if scores:
                yield _scores_row(("HIPAA " if prefix else "") + title, scores)
    if report["hipaa_strict"] is None:
        yield "  HIPAA scores are not available: the labels are of no known scheme, and none was given."


def _scores_row(name: str, scores: dict[str, Any]) -> str:
    cells = [f"{scores[measure]:.4f}" for measure in ("precision", "recall", "f1")]
    cells += [str(scores[measure]) for measure in ("support", "fn", "fp")]
    return _row(f"  {name}", *cells, *([f"{scores['macro']['f1']:.4f}"] if "macro" in scores else []))


def _row(name: str, *cells: str) -> str:
    return f"{name:<{_WIDTH}}" + "".join(f"{cell:>10}" for cell in cells)


def as_frame(report: dict[str, Any]) -> Any:
    """One row for each rule, part and name; counts are missing where a part has only scores."""
    pandas = import_optional("pandas", extra="frames", purpose="output='frame'")
    keys, rows = [], []
    for rule in (*RULES, *(f"hipaa_{rule}" for rule in RULES), "merged"):
        for part, name, scores in _parts(report, rule):
            keys.append((rule, part, name))
            rows.append(scores)
    index = pandas.MultiIndex.from_tuples(keys, names=["rule", "part", "name"])
    measures, counts = ["precision", "recall", "f1"], ["support", "tp", "fp", "fn"]
    frame = pandas.DataFrame(rows, index=index, columns=measures + counts)
    frame = frame.astype(dict.fromkeys(measures, "float64") | dict.fromkeys(counts, "Int64"))
    frame.attrs["missing_documents"] = list(report["missing_documents"])
    return frame


def _parts(report: dict[str, Any], rule: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    scores = report[rule]
    if scores is None:
        return
    yield "micro", "", scores
    yield "macro", "", scores["macro"]
    for part in ("category", "label"):
        for name, row in scores.get(f"by_{part}", {}).items():
            yield part, name, row
    if rule == "strict":
        for name, row in report["by_document"].items():
            yield "document", name, row
