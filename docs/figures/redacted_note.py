"""The picture of the README: a generated note, what a small tagger finds in it, and what is left after redaction.

    sklearn-deid demo
    python docs/figures/redacted_note.py deid-demo/model

The note is the first of another seed that fits; what the tagger leaves of the PHI is marked as missed.
"""

import argparse
import re
from html import escape
from pathlib import Path

from sklearn_deid import load, make_clinical_notes
from sklearn_deid.text import rewrite

COLUMNS, CHARACTER, LINE, MARGIN = 56, 7.4, 19, 18  # characters a line; pixels
COLOURS = {
    "NAME": "#f6c6c6",
    "DATE": "#c9e0f7",
    "LOCATION": "#cfe8c8",
    "ID": "#f5dfae",
    "CONTACT": "#e3d0f2",
    "AGE": "#c8e9e6",
    "PROFESSION": "#e5dccb",
}
MISSED = "#c00000"


def folded(text):
    """Half-open character ranges of the lines, cut at blanks where they are too long."""
    start, lines = 0, []
    for line in text.split("\n"):
        end = start + len(line)
        while end - start > COLUMNS:
            cut = text.rfind(" ", start, start + COLUMNS) + 1 or start + COLUMNS
            lines.append((start, cut))
            start = cut
        lines.append((start, end))
        start = end + 1
    return lines


def runs(start, end, marks):
    """A line as (start, end, mark or None) between the borders of marks."""
    borders = sorted({start, end, *(min(max(b, start), end) for a in marks for b in a[:2])})
    for left, right in zip(borders, borders[1:], strict=False):
        yield left, right, next((mark for mark in marks if mark[0] <= left and right <= mark[1]), None)


def panel(title, text, marks, x):
    """A column of the picture: elements and height."""
    parts = [f'<text x="{x}" y="{MARGIN + 6}" class="title">{escape(title)}</text>']
    y = MARGIN + 2.0 * LINE
    for start, end in folded(text):
        for left, right, mark in runs(start, end, marks):
            if not text[left:right].strip():
                continue
            at, width = x + (left - start) * CHARACTER, (right - left) * CHARACTER
            if mark and mark[2] != "missed":
                box = f'x="{at - 1:.1f}" y="{y - 13:.1f}" width="{width + 2:.1f}" height="{LINE - 2}" rx="3"'
                parts.append(f'<rect {box} fill="{COLOURS.get(mark[2], "#dddddd")}"/>')
            elif mark:
                parts.append(f'<path d="M{at:.1f} {y + 3:.1f}h{width:.1f}" stroke="{MISSED}" stroke-width="2"/>')
            run = escape(text[left:right])
            parts.append(f'<text x="{at:.1f}" y="{y:.1f}" textLength="{width:.1f}" xml:space="preserve">{run}</text>')
        y += LINE
    return parts, y


def left_over(text, span, hidden):
    """Half-open character ranges of a span that stay readable, without blanks at their ends."""
    readable = "".join(" " if at in hidden else text[at] for at in range(span.start, span.end))
    return [(span.start + run.start(), span.start + run.end()) for run in re.finditer(r"\S+(?: \S+)*", readable)]


def picture(document, spans):
    """The note with marks on the left, the redacted note on the right, as SVG."""
    category = {span.label: span.category for span in document.spans} | {s.label: s.category for s in spans}
    hidden = {position for span in spans for position in range(span.start, span.end)}
    missed = [part for span in document.spans for part in left_over(document.text, span, hidden)]
    found = [(span.start, span.end, category[span.label]) for span in spans]
    rewritten = rewrite(document.text, spans, lambda span: f"[{span.label}]")
    placeholders = [(span.start, span.end, category[span.label]) for span in rewritten.spans]

    width = 2 * (COLUMNS * CHARACTER + 2 * MARGIN)
    left, height = panel(
        "A generated note, and what is found",
        document.text,
        found + [(start, end, "missed") for start, end in missed],
        MARGIN,
    )
    right, other = panel("sklearn-deid redact", rewritten.text, placeholders, width / 2 + MARGIN)
    height = max(height, other) + (LINE if missed else 0)
    note = f'<text x="{MARGIN}" y="{height - MARGIN / 2}" class="note">underlined: missed</text>' if missed else ""
    style = (
        "text{font:12px 'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#222}"
        ".title{font:bold 14px sans-serif}.note{font:12px sans-serif;fill:" + MISSED + "}"
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}">'
    line = f'<path d="M{width / 2:.0f} {MARGIN}V{height - MARGIN:.0f}" stroke="#cccccc"/>'
    return "\n".join([head, f"<style>{style}</style>", '<rect width="100%" height="100%" fill="#ffffff"/>', line]) + (
        "\n" + "\n".join(left + right) + note + "\n</svg>\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="folder of a saved NoteDeidentifier")
    parser.add_argument("--output", default=Path(__file__).with_suffix(".svg"), type=Path)
    options = parser.parse_args()
    notes = make_clinical_notes(60, random_state=2026)
    document = next(note for note in notes if 350 <= len(note.text) <= 800 and len(note.spans) >= 8)
    spans = load(options.model).annotate([document])[0]
    options.output.write_text(picture(document, spans), encoding="utf-8")


if __name__ == "__main__":
    main()
