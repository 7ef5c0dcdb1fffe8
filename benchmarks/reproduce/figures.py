"""The figures of the papers, with what was printed and what was measured in one picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .exhibits import Exhibit, shown_sources
from .sources import Measured, Source
from .training_histories import history_of, mean_curve

PRINTED = {"color": "0.45", "linestyle": "--", "marker": "x", "linewidth": 1.2}
JUDGES: tuple[tuple[int, str, dict[str, str]], ...] = (
    (3, "the paper's adversary", {"linestyle": "-", "marker": "o"}),
    (4, "strong T2", {"linestyle": "--", "marker": "^"}),
    (5, "bound", {"linestyle": ":", "marker": "s"}),
)
WORKERS = {"A": "A: centralised", "B": "B: round robin", "C-0.1": "C 0.1", "C-0.5": "C 0.5", "D": "D: alone"}


def draw_all(exhibits: Sequence[Exhibit], sources: Sequence[Source], folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Draw what runs are there for: file names and captions by exhibit."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    out: dict[str, list[tuple[str, str]]] = {}
    for exhibit in exhibits:
        for name in exhibit.drawn:
            for source in shown_sources(exhibit, sources):
                figure = DRAWINGS[name](exhibit, source)
                if figure is not None:
                    path = folder / f"{name}_{source.key}.png"
                    figure.savefig(path, dpi=90, bbox_inches="tight")
                    _close(figure)
                    out.setdefault(exhibit.id, []).append((path.name, f"{exhibit.title}; {source.label()}"))
    return out


def _close(figure: Any) -> None:
    from matplotlib import pyplot

    pyplot.close(figure)


def _panels(n: int = 1, width: float = 4.6) -> tuple[Any, list[Any]]:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, n, figsize=(width * n, 3.2), layout="constrained", squeeze=False)
    return figure, list(axes[0])


def _line(ax: Any, points: Mapping[float, Measured], label: str, **style: Any) -> bool:
    """Means with intervals over x; whether there were any."""
    if not points:
        return False
    xs = sorted(points)
    means = [points[x].mean for x in xs]
    widths = [[points[x].mean - points[x].low for x in xs], [points[x].high - points[x].mean for x in xs]]
    single = all(len(points[x].seeds) == 1 for x in xs)
    style = {"marker": "o", **style}
    ax.errorbar(xs, means, yerr=None if single else widths, capsize=2, label=label, **style)
    return True


def _numbered(exhibit: Exhibit, source: Source, column: int, word: str = "") -> dict[float, Measured]:
    """Measured cells of a column by the number in the name of their row."""
    out = {}
    for i, row in enumerate(exhibit.rows):
        found = exhibit.cell(source, i, column)
        if found is not None and word in row.name:
            out[_number(row.name)] = found
    return out


def _number(name: str) -> float:
    digits = [part.strip(",%()") for part in name.split()]
    return next(float(part) for part in digits if part.replace(".", "", 1).isdigit())


def _printed(exhibit: Exhibit, column: int, word: str = "") -> dict[float, float]:
    return {
        _number(row.name): float(row.printed[column])
        for row in exhibit.rows
        if word in row.name and not isinstance(row.printed[column], str)
    }


def pseudonyms(exhibit: Exhibit, source: Source) -> Any:
    """F1 over N."""
    measured = _numbered(exhibit, source, 1)
    if len(measured) < 2:
        return None
    figure, (ax,) = _panels()
    for column, head in enumerate(exhibit.columns):
        printed = _printed(exhibit, column)
        ax.plot(list(printed), list(printed.values()), label=f"printed, {head.name}", **(PRINTED | _shade(column)))
    _line(ax, measured, "measured")
    ax.set(xscale="log", xlabel="Neighbours N", ylabel="Binary HIPAA token F1 (%)")
    return _finished(figure, [ax])


def _shade(column: int) -> dict[str, Any]:
    return {"color": ("0.35", "0.65")[column % 2]}


def adversaries(exhibit: Exhibit, source: Source) -> Any:
    """F1 and accuracies over N, three-part and bounded training."""
    figure, (left, right) = _panels(2)
    drawn = False
    for column in (0, 1):
        printed = _printed(exhibit, column, "three-part")
        label = f"printed, {exhibit.columns[column].name.split()[-1]}"
        left.plot(list(printed), list(printed.values()), label=label, **(PRINTED | _shade(column)))
    for color, word in (("C0", "three-part"), ("C1", "bounded")):
        drawn |= _line(left, _numbered(exhibit, source, 1, word), word, color=color)
        for column, judge, style in JUDGES:
            points = _numbered(exhibit, source, column, word)
            drawn |= _line(right, points, f"{word}: {judge}", color=color, **style)
    if not drawn:
        _close(figure)
        return None
    left.set(xscale="log", xlabel="Neighbours N", ylabel="Binary HIPAA token F1 (%)")
    right.axhline(50, color="0.6", linewidth=1)
    right.set(xscale="log", xlabel="Neighbours N", ylabel="Accuracy of adversaries (%)", ylim=(40, 102))
    return _finished(figure, [left, right])


def learning_curve(exhibit: Exhibit, source: Source) -> Any:
    """F1 over the share of documents."""
    figure, (ax,) = _panels()
    drawn = [
        _line(ax, _numbered(exhibit, source, 0, word), word) for word in ("neural", "default tagger", "linear CRF")
    ]
    if not any(drawn):
        _close(figure)
        return None
    ax.axhline(95, **{**PRINTED, "marker": ""}, label="printed: reached with 50 %")
    ax.set(xlabel="Training documents (%)", ylabel="Binary HIPAA token F1 (%)")
    return _finished(figure, [ax])


def noise_ranks(exhibit: Exhibit, source: Source) -> Any:
    """Share of words that are still nearest to their noisy vector."""
    figure, (ax,) = _panels()
    drawn = [_line(ax, _numbered(exhibit, source, j), head.name) for j, head in enumerate(exhibit.columns)]
    if not any(drawn):
        _close(figure)
        return None
    ax.axvline(0.1, **{**PRINTED, "marker": ""}, label="printed: nearly 100 % up to here")
    ax.set(xlabel="Scale of the noise", ylabel="Words found again (%)", ylim=(-3, 103))
    return _finished(figure, [ax])


def curves(exhibit: Exhibit, source: Source) -> Any:
    """Learning curves of the first seed's training."""
    from sklearn_deid.plotting import TrainingCurvesDisplay

    kept = history_of(source, exhibit.rows[0].arm or "")
    if kept is None:
        return None
    figure: Any = TrainingCurvesDisplay(kept[0], selected_round=kept[1]).plot().figure_
    figure.set_size_inches(9.0, 6.0)
    return figure


def epochs(exhibit: Exhibit, source: Source) -> Any:
    """F1 of the mean worker, with the range of workers, over epochs."""
    figure, (ax,) = _panels(width=6.0)
    for number, (arm, label) in enumerate(WORKERS.items()):
        curve = mean_curve(source, arm)
        if curve is None:
            continue
        xs = range(1, len(curve) + 1)
        ax.plot(xs, 100 * curve, color=f"C{number}", label=label)
        rows = [row for (name, _), row in source.rows.items() if name == arm and "diverged" not in row]
        ends = [[100 * end(values) for values in zip(*_workers(rows), strict=True)] for end in (min, max)]
        ax.fill_between(xs, *ends, color=f"C{number}", alpha=0.15)
    for value, name, color in ((96.2, "A", "C0"), (95.5, "C 0.1", "C2")):
        ax.axhline(value, color=color, linestyle="--", linewidth=1, label=f"printed after 200 epochs, {name}")
    ax.set(xlabel="Epoch of each worker", ylabel="PHI token F1 (%)")
    return _finished(figure, [ax])


def _workers(rows: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    return [worker for row in rows for worker in row["token_f1_by_epoch"]]


def _finished(figure: Any, axes: Sequence[Any]) -> Any:
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.legend(fontsize="x-small")
    return figure


DRAWINGS: dict[str, Callable[[Exhibit, Source], Any]] = {
    "pseudonyms": pseudonyms,
    "adversaries": adversaries,
    "learning_curve": learning_curve,
    "noise_ranks": noise_ranks,
    "curves_10": curves,
    "curves_1000": curves,
    "epochs": epochs,
}
