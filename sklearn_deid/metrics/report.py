"""`deid_report` computes every official score of a de-identified corpus in one call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .._optional import import_optional
from .._parameters import check_parameter
from ..text import Document, LabelScheme, Span
from .counting import RULES, Counts, compare, compare_by_label, harmonic_mean, merged_counts, other_letters
from .pairing import Pairing, count_sentences, infer_label_scheme, pair_documents
from .rounding import UNDEFINED, rounded

Sides = list[tuple[Document, Iterable[Span], Iterable[Span]]]
"""Text, gold spans and predicted spans of each document."""


def deid_report(
    gold: Iterable[Document],
    predicted: Iterable[Document],
    output: str = "table",
    *,
    label_scheme: str | LabelScheme | None = None,
    missing: str = "raise",
    sentences: str | Mapping[str, int] | None = None,
) -> Any:
    """Compare predicted with gold spans by the rules of the official i2b2 2014 and MEDDOCAN scripts.

    Parameters
    ----------
    gold, predicted : Corpus or sequence of Document
        Documents with the same ids and texts, in any order.
    output : {"table", "dict", "frame"}, default="table"
        Form of the result. ``"table"`` is a printable text that begins with the missed PHI. ``"dict"`` is a nested
        dict. ``"frame"`` is a pandas DataFrame (extra ``frames``) with the index levels ``rule``, ``part`` (micro,
        macro, category, label or document) and ``name``.
    label_scheme : str or LabelScheme, optional
        Scheme that defines the HIPAA labels and the category of each label. By default the first known scheme that
        contains all labels of the corpus.
    missing : {"raise", "count"}, default="raise"
        Treatment of a gold document without a prediction. ``"raise"`` raises an error. ``"count"`` counts all spans of
        the document as missed.
    sentences : {"count"} or mapping of str to int, optional
        Numbers of sentences for MEDDOCAN's leak score. ``"count"`` counts sentences with the sentence splitter of this
        library. A mapping contains the number of sentences for each document id. By default the leak score is not
        computed.

    Returns
    -------
    str, dict or DataFrame
        The dict has a key for each rule of counting:

        - ``strict`` compares typed spans (also MEDDOCAN's sub-track 1);
        - ``relaxed`` compares typed spans whose ends may differ by up to 2 characters;
        - ``token`` compares typed runs of ASCII letters and digits within spans;
        - ``binary_strict`` (also sub-track 2, strict) and ``binary_token`` compare spans and tokens without labels;
        - ``hipaa_strict`` and the other ``hipaa_...`` keys apply these five rules only to gold and predicted spans with
          HIPAA labels. The value of the ``hipaa_...`` keys is None if no scheme is known. ``hipaa_binary_token`` is the
          main score of the i2b2 task;
        - ``merged`` compares spans without labels after neighbouring spans are joined (sub-track 2, merged).

        The value of each key contains precision, recall, f1, support (number of gold items), tp, fp and fn over all
        documents. The entry ``macro`` contains the means of the documents' precision and recall, and the F1 of these
        means. The entries ``by_category`` and ``by_label`` contain these measures for each category and label;
        ``merged`` lacks both entries. Under a binary rule, a gold item counts as found if any label was predicted for
        the item.

        Further keys of the dict are:

        - ``other_letters``, the support, tp and fn of single letters and digits outside of ASCII, under any label. The
          official counts of tokens leave out these letters, so that a part of a Greek or Cyrillic name that was missed
          may not count there;
        - ``n_documents``, the number of documents;
        - ``missing_documents``, the ids of documents without a prediction;
        - ``by_document``, the strict measures of each document;
        - ``leak``, the missed spans per sentence (sub-track 1), a dict of missed, sentences and per_sentence, or None;
        - ``by_category`` and ``by_label``, copies of the strict measures.

        Precision without predictions and recall without gold spans are undefined: None in the dict, NaN in the
        DataFrame, and "-" in the table. The official scripts print 0. The means of ``macro`` count an undefined value
        as 0, as in the official scripts.

    Raises
    ------
    DeidError
        If documents or texts do not match.
    ValueError
        If a parameter has a value that is not listed above.
    MissingDependencyError
        If ``output="frame"`` and pandas is not installed.

    References
    ----------
    Stubbs, Kotfila and Uzuner (2015), "Automated systems for the de-identification of longitudinal clinical
    narratives"; Marimon et al. (2019), "Automatic de-identification of medical texts in Spanish".

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> gold = [Document("n", "Ana Mar works", (Span(0, 7, "PATIENT"),))]
    >>> predicted = [Document("n", "Ana Mar works", (Span(0, 3, "DOCTOR"),))]
    >>> report = deid_report(gold, predicted, output="dict")
    >>> report["strict"]["recall"], report["token"]["recall"], report["binary_token"]["recall"]
    (0.0, 0.0, 0.5)
    """
    is_known = output in ("table", "dict", "frame")
    check_parameter("deid_report", "output", output, is_known, "'table', 'dict' or 'frame'")
    pairing = pair_documents(gold, predicted, missing)
    # Labels of both sides: a predicted label outside of the scheme must not be scored by this scheme.
    known = infer_label_scheme(label_scheme, [d for pair in pairing.pairs for d in pair])
    report = _as_dict(pairing, known, count_sentences([d for d, _ in pairing.pairs], sentences))
    if output == "dict":
        return report
    return as_table(report) if output == "table" else as_frame(report)


def _as_dict(pairing: Pairing, label_scheme: LabelScheme | None, sentences: dict[str, int] | None) -> dict[str, Any]:
    category_of = _categories(pairing, label_scheme)
    everything: Sides = [(d, d.spans, p.spans) for d, p in pairing.pairs]
    report: dict[str, Any] = {"n_documents": len(everything), "missing_documents": pairing.missing}
    for rule in RULES:
        report[rule] = _scores(rule, everything, category_of)
    for rule in RULES:
        report[f"hipaa_{rule}"] = (
            None if label_scheme is None else _scores(rule, _hipaa(everything, label_scheme), category_of)
        )
    report["merged"] = _summary([merged_counts(*side) for side in everything])
    letters = sum((other_letters(*side) for side in everything), start=Counts())
    report["other_letters"] = {name: getattr(letters, name) for name in ("support", "tp", "fn")}
    report["by_document"] = {side[0].doc_id: compare("strict", *side).as_dict() for side in everything}
    # The next line reads the strict scores and adds the leak of each document.
    report["leak"] = _leak(report, sentences)
    report |= {key: report["strict"][key] for key in ("by_category", "by_label")}
    return report


def _hipaa(sides: Sides, label_scheme: LabelScheme) -> Sides:
    def kept(spans: Iterable[Span]) -> list[Span]:
        return [span for span in spans if label_scheme.is_hipaa(span.label)]

    return [(document, kept(wanted), kept(given)) for document, wanted, given in sides]


def _categories(pairing: Pairing, label_scheme: LabelScheme | None) -> Callable[[str], str]:
    """Return a function that maps a label to its category.

    The scheme defines the category. For a label outside of the scheme, the category is that of the first span with a
    category; gold spans come first.
    """
    # zip turns the pairs into all gold documents, then all predicted documents.
    seen: dict[str, str] = {}
    for documents in zip(*pairing.pairs, strict=True):
        for span in (span for document in documents for span in document.spans):
            if span.category is not None:
                # The first annotation decides, and gold comes first: a prediction cannot rename a category.
                seen.setdefault(span.label, span.category)
    return lambda label: (label_scheme and label_scheme.category(label)) or seen.get(label, "(no category)")


def _scores(rule: str, sides: Sides, category_of: Callable[[str], str]) -> dict[str, Any]:
    by_label: dict[str, Counts] = defaultdict(Counts)
    by_category: dict[str, Counts] = defaultdict(Counts)
    for side in sides:
        for label, counts in compare_by_label(rule, *side).items():
            by_label[label] += counts
            by_category[category_of(label)] += counts
    scores = _summary([compare(rule, *side) for side in sides])
    return {**scores, "by_category": _sorted(by_category), "by_label": _sorted(by_label)}


def _sorted(counts: dict[str, Counts]) -> dict[str, dict[str, float | None]]:
    """Scores by name, sorted by the number of gold items, the largest first."""
    return {name: counts[name].as_dict() for name in sorted(counts, key=lambda name: (-counts[name].support, name))}


def _summary(counts: list[Counts]) -> dict[str, Any]:
    """Micro scores of all documents, and macro scores: means over documents, and the F1 of these means."""
    # The macro F1 is not the mean of the documents' F1: the official i2b2 script computes F1 from the mean scores.
    macro: dict[str, float | None] = dict.fromkeys(("precision", "recall", "f1"))
    if counts:
        precision, recall = (sum(getattr(c, name) for c in counts) / len(counts) for name in ("precision", "recall"))
        macro = {"precision": precision, "recall": recall, "f1": harmonic_mean(precision, recall)}
    return {**sum(counts, start=Counts()).as_dict(), "macro": macro}


def _leak(report: dict[str, Any], sentences: dict[str, int] | None) -> dict[str, float | None] | None:
    """MEDDOCAN's leak score of the corpus; None without numbers of sentences. The function also adds the score of each
    document to ``report``."""
    for doc_id, scores in report["by_document"].items():
        n = sentences and sentences[doc_id]
        scores["leak"] = scores["fn"] / n if n else None
    if sentences is None:
        return None
    # The score of the corpus divides the sums. It is not the mean over documents.
    missed, total = report["strict"]["fn"], sum(sentences.values())
    return {"missed": missed, "sentences": total, "per_sentence": missed / total if total else None}


_TITLES = {
    "strict": "spans, typed",
    "relaxed": "spans, typed, ends within 2 characters",
    "binary_strict": "spans, any type",
    "merged": "spans, any type, neighbours joined",
    "token": "tokens, typed",
    "binary_token": "tokens, any type",
}
# Columns of the names: seven numbers of ten columns follow, within a line of 120 columns.
_WIDTH = 46


def as_table(report: dict[str, Any]) -> str:
    """Report as text: first the missed PHI, because a privacy officer needs this part first, then the scores."""
    lines = [f"{report['n_documents']} documents, {report['strict']['support']} PHI spans", ""]
    lines += [*_missed(report), "", *_missed_by_kind(report), "", *_score_lines(report)]
    for key in ("category", "label"):
        lines += ["", _row(f"By {key} (spans, typed)", *_HEADINGS[:-1])]
        lines += [_scores_row(name, scores) for name, scores in report[f"by_{key}"].items()]
    # Ids and labels come from files: a line end or a command for a terminal would forge lines of the report.
    return "\n".join("".join(c if c.isprintable() else " " for c in line).rstrip() for line in lines)


def _missed(report: dict[str, Any]) -> list[str]:
    lines = ["Missed", _row("  tokens, under whatever label", _share(report["binary_token"]))]
    if report["hipaa_binary_token"]:
        lines.append(_row("    of them with a HIPAA label", _share(_hidden_hipaa(report))))
    if report["other_letters"]["support"]:
        lines.append(_row("  letters outside of ASCII, not among tokens", _share(report["other_letters"])))
    lines.append(_row("  spans, under whatever label", _share(report["binary_strict"])))
    lines.append(_row("  spans, with their label", _share(report["strict"])))
    leak = report["leak"]
    per_sentence = rounded(leak["per_sentence"]) if leak else "not available"
    lines.append(_row("  spans with their label, per sentence", f"{per_sentence:>20}"))
    if report["missing_documents"]:
        lines.append(f"  documents without prediction, wholly missed: {', '.join(report['missing_documents'])}")
    return lines


def _hidden_hipaa(report: dict[str, Any]) -> dict[str, int]:
    """Counts of HIPAA tokens found under any label; the official HIPAA score requires a HIPAA label on both sides."""
    by_label = report["binary_token"]["by_label"]
    rows = [by_label[label] for label in report["hipaa_binary_token"]["by_label"]]
    return {measure: sum(row[measure] for row in rows) for measure in ("fn", "support")}


def _share(scores: dict[str, Any]) -> str:
    share = f"{rounded(scores['fn'] / scores['support'], 2, 100)}%" if scores["support"] else UNDEFINED
    return f"{scores['fn']:>8} of {scores['support']:>8}  ({share})"


def _missed_by_kind(report: dict[str, Any]) -> list[str]:
    """Labels with missed tokens, the label with most missed tokens first."""
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
        yield "  HIPAA scores are not available: the labels belong to no known scheme, and no scheme was given."


def _scores_row(name: str, scores: dict[str, Any]) -> str:
    cells = [rounded(scores[measure]) for measure in ("precision", "recall", "f1")]
    cells += [str(scores[measure]) for measure in ("support", "fn", "fp")]
    return _row(f"  {name}", *cells, *([rounded(scores["macro"]["f1"])] if "macro" in scores else []))


def _row(name: str, *cells: str) -> str:
    return f"{name:<{_WIDTH}}" + "".join(f"{cell:>10}" for cell in cells)


def as_frame(report: dict[str, Any]) -> Any:
    """DataFrame with one row for each rule, part and name; counts are missing in macro rows."""
    pandas = import_optional("pandas", extra="frames", purpose="output='frame'")
    keys, rows = [], []
    for rule in (*RULES, *(f"hipaa_{rule}" for rule in RULES), "merged"):
        for part, name, scores in _parts(report, rule):
            keys.append((rule, part, name))
            rows.append(scores)
    # Counts have a nullable type, because macro rows have no counts.
    index = pandas.MultiIndex.from_tuples(keys, names=["rule", "part", "name"])
    measures, counts = ["precision", "recall", "f1"], ["support", "tp", "fp", "fn"]
    frame = pandas.DataFrame(rows, index=index, columns=measures + counts)
    frame = frame.astype(dict.fromkeys(measures, "float64") | dict.fromkeys(counts, "Int64"))
    # The missing documents belong to the whole report and to no row.
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
