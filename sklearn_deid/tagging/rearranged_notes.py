"""Further readings of notes without the prefix of their lines, column by column, or with whole words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from ..text import Span
from ..text.cut_lines import without_cuts
from ..text.line_prefixes import without_prefixes
from ..text.page_columns import columns_one_by_one
from ..text.rearranged_text import RearrangedText


def rearranged(text: str) -> RearrangedText | None:
    r"""Text of a note in the order in which a person reads its lines; None if the note has this order.

    Examples
    --------
    >>> rearranged("Seen by Ann"), rearranged("\n".join(f"NTE|{i}||Seen" for i in range(7)))
    (None, RearrangedText(34 characters))
    """
    return without_cuts(text) or without_prefixes(text) or columns_one_by_one(text)


def with_spans_of(spans: Sequence[Span], further: Sequence[Span], reading: RearrangedText, text: str) -> list[Span]:
    """Spans of a note, and the parts of the spans of a further reading that are in none of them.

    A span of the further reading replaces spans of its label that are parts of it.

    Parameters
    ----------
    spans : sequence of Span
        Spans of the note, sorted and without overlap.
    further : sequence of Span
        Spans of the rearranged text, sorted and without overlap.
    reading : RearrangedText
        Rearranged text of the note.
    text : str
        Text of the note.

    Returns
    -------
    list of Span
        Spans of the note, sorted and without overlap.

    Examples
    --------
    >>> text = "10:42 Ann\\n10:45 Roe"
    >>> reading = RearrangedText(text, [(6, 9), (16, 19)])
    >>> found = with_spans_of([Span(6, 9, "DOCTOR")], [Span(0, 7, "PATIENT")], reading, text)
    >>> [(span.start, span.end, span.label) for span in found]
    [(6, 9, 'DOCTOR'), (16, 19, 'PATIENT')]
    """
    ends = [span.end for span in spans]
    replaced: set[int] = set()
    added: list[Span] = []
    for span in further:
        for start, end in reading.originals(span.start, span.end):
            first = stop = bisect_right(ends, start)
            while stop < len(spans) and spans[stop].start < end:
                stop += 1
            inside = spans[first:stop]
            # A span without letters, such as letters in circles, stays.
            if inside and not any(map(str.isalnum, text[start:end])):
                continue
            if all(one.label == span.label and start <= one.start and one.end <= end for one in inside):
                replaced.update(range(first, stop))
                added.append(replace(span, start=start, end=end))
            else:
                borders = [start, *(at for one in inside for at in (one.start, one.end)), end]
                pairs = zip(borders[::2], borders[1::2], strict=True)
                added += [replace(span, start=a, end=b) for a, b in pairs if a < b]
    added = [span for span in added if any(map(str.isalnum, text[span.start : span.end]))]
    kept = [span for number, span in enumerate(spans) if number not in replaced]
    return sorted([*kept, *added], key=lambda span: span.start)
