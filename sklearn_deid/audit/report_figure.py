"""Drawing of the attacks of one threat as SVG, without a plotting library."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from html import escape

from ..metrics import Estimate
from .protocol import AttackResult
from .report_parts import row_label, status_of
from .report_score import is_bound

_LEFT, _PLOT, _RIGHT, _TOP, _ROW, _LINE = 390, 500, 40, 64, 54, 16
_CHARACTERS = 56
_BLACK = "#000000"
_COLORS = {"attack": "#0072B2", "guessing": "#555555", "nothing hidden": "#00735a", "nothing to learn": "#b34a00"}
_COLORS["bound"] = _BLACK
# Arm of each mark but those of the attack and of a bound.
_ARMS = {"guessing": "baseline", "nothing hidden": "positive_control", "nothing to learn": "negative_control"}
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_ABOVE = -9.0


def draw_attacks(results: Sequence[AttackResult], caption: str, name: str) -> str:
    """Draw each attack with its interval, the baseline and both controls on one axis from 0 to 1.

    Marks differ in shape as well as in colour. Screen readers read the title. The table of the report contains the
    numbers.

    Parameters
    ----------
    results : sequence of AttackResult
        Attacks that were carried out, and bounds.
    caption, name : str
        Title, and an id that is unique on the page.

    Returns
    -------
    str
        One ``svg`` element.

    Examples
    --------
    >>> from sklearn_deid.audit import AttackResult
    >>> from sklearn_deid.metrics import Estimate
    >>> found = AttackResult("pairs", "representation", "A recipient.", "share", Estimate.from_counts(62, 100), 0.5)
    >>> drawing = draw_attacks([found], "Attacks on: representation", "figure-1")
    >>> drawing.startswith("<svg"), drawing.count("<text")
    (True, 9)
    """
    bottom = _TOP + _ROW * len(results)
    width, height = _LEFT + _PLOT + _RIGHT, bottom + 44
    body = [*_axis(bottom), *_legend(results)]
    for number, result in enumerate(results):
        body += _row(result, _TOP + _ROW * (number + 0.5))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-labelledby="{name}-title {name}-text" font-family="system-ui, sans-serif" font-size="13">\n'
        f'<title id="{name}-title">{escape(caption)}</title>\n'
        f'<desc id="{name}-text">Share that each attack achieves, with its interval, beside guessing and controls; the '
        "table below holds the numbers.</desc>\n" + "\n".join(body) + "\n</svg>"
    )


def _x(share: float) -> float:
    return round(_LEFT + _PLOT * share, 1)


def _axis(bottom: float) -> Iterator[str]:
    for tick in _TICKS:
        x = _x(tick)
        yield f'<path d="M{x} {_TOP - 6}V{bottom}" stroke="#ddd"/>'
        yield _text(x, bottom + 18, f"{100 * tick:.0f} %", "middle")
    yield _text(_x(0.5), bottom + 36, "share that is right", "middle")


def _row(result: AttackResult, y: float) -> Iterator[str]:
    status = status_of(result)
    lines = _label(row_label(result), "" if status in ("valid", "bound") else f"({status})")
    for number, line in enumerate(lines):
        place = y + 4 + _LINE * (number - (len(lines) - 1) / 2)
        yield _text(_LEFT - 14, place, line, "end", "#a40000" if status in ("INVALID", "FAULT") else _BLACK)
    if isinstance(result.baseline, Estimate):
        yield _mark("guessing", result.baseline.value, y)
    for kind in ("nothing hidden", "nothing to learn"):
        control = getattr(result, _ARMS[kind])
        if control is not None:
            yield _bar(control, y + _ABOVE, _COLORS[kind], 1)
            yield _mark(kind, control.value, y + _ABOVE)
    attack = result.attack
    if attack is not None:
        kind = "bound" if is_bound(result) else "attack"
        yield _bar(attack, y + 4, _COLORS[kind], 3)
        yield _mark(kind, attack.value, y + 4)


def _label(name: str, status: str) -> list[str]:
    """Up to three lines with the name and the status. A name that is too long is cut, but never its status."""
    lines = textwrap.wrap(f"{name} {status}", _CHARACTERS)
    if len(lines) <= 3:
        return lines
    kept = [status] if status else []
    return [*textwrap.wrap(name, _CHARACTERS, max_lines=3 - len(kept), placeholder=" ..."), *kept]


def _legend(results: Sequence[AttackResult]) -> Iterator[str]:
    x = 20.0
    for key in _COLORS:
        if not any(_has(result, key) for result in results):
            continue
        yield _mark(key, (x - _LEFT) / _PLOT, 24)
        yield _text(x + 14, 28, key, "start")
        x += 40 + 8 * len(key)


def _has(result: AttackResult, key: str) -> bool:
    return getattr(result, _ARMS[key]) is not None if key in _ARMS else is_bound(result) == (key == "bound")


def _mark(kind: str, share: float, y: float) -> str:
    """Draw a dot, diamond, upward triangle or square, or a line for guessing."""
    x, color = _x(share), _COLORS[kind]
    if kind == "attack":
        return f'<circle cx="{x}" cy="{y}" r="5.5" fill="{color}"/>'
    if kind == "guessing":
        return f'<path d="M{x} {y - 16}V{y + 16}" stroke="{color}" stroke-width="2" stroke-dasharray="4 3"/>'
    if kind == "bound":
        return f'<path d="M{x} {y - 7}l7 7l-7 7l-7 -7Z" fill="{color}"/>'
    shape = f"M{x} {y - 5.5}l5.5 9.5h-11Z" if kind == "nothing hidden" else f"M{x - 4.5} {y - 4.5}h9v9h-9Z"
    return f'<path d="{shape}" fill="#fff" stroke="{color}" stroke-width="1.8"/>'


def _bar(estimate: Estimate, y: float, color: str, width: int) -> str:
    return f'<path d="M{_x(estimate.low)} {y}H{_x(estimate.high)}" stroke="{color}" stroke-width="{width}"/>'


def _text(x: float, y: float, text: str, anchor: str, color: str = "#1a1a1a") -> str:
    return f'<text x="{x}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{escape(text)}</text>'
