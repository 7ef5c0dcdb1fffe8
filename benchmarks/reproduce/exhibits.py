"""Tables and figures of the papers as data: what was printed, and which figure of which runs stands beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .sources import Measured, Source
from .toml_files import read_toml

FOLDER = Path(__file__).parent / "printed"
FILES = {"friedrich": ("friedrich", "friedrich_by_category"), "ahmed": ("ahmed",), "festag": ("festag",)}


@dataclass(frozen=True)
class Column:
    """A column as printed; ``arm`` or ``figure`` where they differ from column to column."""

    name: str
    arm: str | None = None
    figure: str | None = None
    scale: float | None = None
    digits: int | None = None


@dataclass(frozen=True)
class Row:
    """A row as printed: a number or text for each column, and where its measured figures come from."""

    name: str
    printed: Sequence[float | str]
    arm: str | None = None
    figure: str | None = None
    figures: Sequence[str] | None = None
    parameter: Sequence[Any] | None = None
    missing: str | None = None


@dataclass(frozen=True)
class Exhibit:
    """One table or figure of a paper.

    Attributes
    ----------
    id, title, where : str
    printed, measured : str
        What the printed and the measured figures are.
    script : str
        Whose runs are shown.
    columns, rows : tuple
    variants : tuple of (name, arm with ``{}`` for the column's)
    differs, needs : str
        Why measured figures differ, and what it would take to measure the printed ones.
    special : str or None
        A way of its own to the measured figures.
    drawn : tuple of str
        Figures of the report that belong to it.
    """

    id: str
    paper: str
    title: str
    where: str
    printed: str
    measured: str
    script: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    differs: str
    needs: str
    variants: tuple[tuple[str, str], ...] = ()
    special: str | None = None
    drawn: tuple[str, ...] = ()
    scale: float = 100.0
    digits: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)

    def arms(self) -> set[str]:
        """All arms that a cell looks for."""
        return {arm for row in self.rows for column in self.columns for arm in self._arms(row, column)}

    def _arms(self, row: Row, column: Column) -> list[str]:
        if self.variants and column.arm is not None:
            return [pattern.format(column.arm) for _, pattern in self.variants]
        arm = row.arm or column.arm
        return [] if arm is None else [arm]

    @property
    def printed_digits(self) -> int:
        """Decimals of the printed figure that has most."""
        numbers = [value for row in self.rows for value in row.printed if not isinstance(value, str)]
        return max((len(str(value).partition(".")[2]) for value in numbers), default=0)

    def reasons(self) -> list[str]:
        """Why rows have no run of their own, each once."""
        return list(dict.fromkeys(row.missing for row in self.rows if row.missing))

    def row_name(self, row: int) -> str:
        """Name of a row, with the number of the reason why it has no run."""
        missing = self.rows[row].missing
        return self.rows[row].name + (f" ({self.reasons().index(missing) + 1})" if missing else "")

    def cell(self, source: Source, row: int, column: int, variant: int = 0) -> Measured | None:
        """What the runs say for a cell; None where they say nothing."""
        line, head = self.rows[row], self.columns[column]
        arms = self._arms(line, head)
        figure = line.figures[column] if line.figures else line.figure or head.figure
        if not arms or not figure:
            return None
        scale = self.scale if head.scale is None else head.scale
        return source.measured(arms[min(variant, len(arms) - 1)], figure, scale)


def read_exhibits(papers: Sequence[str]) -> list[Exhibit]:
    """All tables and figures of the papers."""
    out = []
    for paper in papers:
        for name in FILES[paper]:
            out += [_exhibit(paper, table) for table in read_toml(FOLDER / f"{name}.toml")["exhibit"]]
    return out


def _exhibit(paper: str, table: dict[str, Any]) -> Exhibit:
    columns = tuple(Column(**column) for column in table.pop("columns"))
    rows = tuple(Row(**row) for row in table.pop("rows"))
    variants = tuple((one["name"], one["arm"]) for one in table.pop("variants", []))
    table["drawn"] = tuple(table.get("drawn", ()))
    found = Exhibit(paper=paper, columns=columns, rows=rows, variants=variants, **table)
    for row in rows:
        if len(row.printed) != len(columns):
            raise ValueError(f"{found.id}: {row.name!r} needs a printed value for each of {len(columns)} columns.")
    return found


def shown_sources(exhibit: Exhibit, sources: Sequence[Source]) -> list[Source]:
    """Runs of the script that hold an arm of the exhibit; those of a hyperparameter search only where it is one."""
    search = (exhibit.special or "").startswith("search")
    return [
        source
        for source in sources
        if source.script == exhibit.script
        and bool(source.settings.get("parameters")) == search
        and (search or source.arms & exhibit.arms())
    ]
