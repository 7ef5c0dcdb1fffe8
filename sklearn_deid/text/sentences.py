"""Sentences of clinical notes, as ranges of tokens.

A wrong split can divide a name or an address, so that no tagger can find the whole name. A missed split only makes a
sentence longer. In doubt, the splitter therefore does not split.

Some systems write one statement per line. Other systems wrap lines at about 80 columns. Splitting at every line break
would cut names and streets in wrapped notes. Ignoring all line breaks would join the fields of unwrapped notes. The
splitter therefore first decides whether a note is wrapped.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate, pairwise
from string import ascii_lowercase
from typing import NamedTuple

from .tokens import Tokens, is_latin_1

# Abbreviations: a full stop after one of these words does not end a sentence, even before a capital letter. The words
# are titles, parts of addresses and names, and references.
_ABBREVIATIONS = frozenset(
    # English
    """dr drs mr mrs ms messrs prof rev hon st mt ft capt col gen lt sgt maj gov sen rep jr sr dept univ hosp
    ave blvd apt ste vs cf approx fig figs ref tel ext attn inc ltd pt pts viz"""
    # Spanish
    """ dra dres dras sra sres sras srta srtas srs d dña lic lcda lcdo ing arq profa gral cap cnel tte fray pbro
    hno hna hnos fco sta sto av avd avda ctra carr crta cra crt cl c pza plza pl pso pº urb edif edf apdo apto
    apdos esc pta ptal bl blq dpto depto núm num nº n tlf tlfn telf km kms cp pol col cdad cd prov mpio del ee
    aprox ej p pág pag v máx mín calle avenida paseo plaza""".split()
)
# Words that continue an address after a stray full stop: "Calle Mayor. Nº 3", "Mayor 3. Bajo B".
_NUMBER_SIGNS = frozenset(("nº", "núm"))
_ADDRESS_PARTS = frozenset("bajo piso puerta planta portal escalera apt apto suite floor unit".split())
AFTER_FINAL = re.compile(r"(?<=[.!?…؟۔।\"'”’»)\]])\s+(?=\S)")
_IDEOGRAPHIC_FINAL = re.compile(r"[。！？｡]+[」』）”’]*")
_WORD = re.compile(r"[^\W\d_]+")
_ITEM_NUMBER = re.compile(r"\d{1,3}|[ivxIVX]{2,4}")
FINALS = ".!?…؟۔।"
_CLOSING, _OPENING = "\"'”’»)]", "\"'“‘«(["
_LONGEST_ABBREVIATION = 8


def starts_sentence(text: str, position: int, after_full_stop: bool) -> bool:
    """Whether the character at an offset could start a sentence: a capital, a letter without case, or an opening mark.

    A digit could start a sentence, unless the sentence before the digit ends with a full stop.
    """
    first = text[position]
    if first in "¿¡":
        return True
    if first in _OPENING:
        first = text[position + 1 : position + 2]
    if first.isdigit():
        # "No. 5", "km. 9", "12 Elm St. 02114": a number after a full stop usually continues the sentence.
        return not after_full_stop
    return first.isalpha() and not first.islower()


def _is_abbreviation(text: str, stop: int, following: int, starts: set[int]) -> bool:
    """Whether the full stop at offset ``stop`` belongs to the word before it; ``starts`` as in `_ends_sentence`."""
    word = word_before(text, stop, _LONGEST_ABBREVIATION + 1)
    if not word:
        return text[stop - 1 : stop] == "/"  # "C/. Mayor"
    start = stop - len(word)
    if len(word) == 1 and word.isalpha():
        # Initials and the last letter of "e.g." are abbreviations. The unit in "5 g. Then" ends the sentence.
        return word.isupper() or word in _ABBREVIATIONS or text[start - 1 : start] == "."
    if start in starts and _ITEM_NUMBER.fullmatch(word):
        return True  # "2. Home"
    match = _WORD.match(text, following)
    after = match[0].lower() if match else ""
    if word.isdigit() and (len(after) == 1 or after in _ADDRESS_PARTS):
        return True  # "Mayor 3. B", "Mayor 3. Bajo"
    return after in _NUMBER_SIGNS or word.lower() in _ABBREVIATIONS


def _ends_sentence(text: str, gap_start: int, gap_end: int, starts: set[int]) -> bool:
    """Whether a sentence ends before a gap of white space; ``starts`` holds the offsets from `line_starts`."""
    final = final_mark(text, gap_start)
    if text[final] not in FINALS or not starts_sentence(text, gap_end, text[final] == "."):
        return False
    return text[final] != "." or not _is_abbreviation(text, final, gap_end, starts)


def word_before(text: str, end: int, longest: int) -> str:
    """Letters and digits before an offset, at most ``longest`` of them.

    Examples
    --------
    >>> word_before("Seen by Dr. Who", 10, 40), word_before("Seen by Dr. Who", 10, 1), word_before("(3)", 3, 40)
    ('Dr', 'r', '')
    """
    # A regular expression that must end at the offset would be tried from each of the characters before.
    start, first = end, max(0, end - longest)
    while start > first and text[start - 1].isalnum():
        start -= 1
    return text[start:end]


def final_mark(text: str, gap_start: int) -> int:
    """Offset of the last character before a gap that is not a closing quote or bracket."""
    final = gap_start - 1
    while final > 0 and text[final] in _CLOSING:
        final -= 1
    return final


def split_sentences(text: str, tokens: Tokens) -> list[tuple[int, int]]:
    """Split the tokens of a note into sentences.

    A sentence ends at the end of a line, unless the next line continues the line (see `line_starts`). A sentence also
    ends after ``.``, ``!``, ``?`` or ``…`` (with closing quotes or brackets), if white space and then a capital letter,
    a letter of a caseless script, ``¿`` or ``¡`` follow. After ``!`` and ``?`` a digit may follow as well. A full stop
    does not end a sentence after an initial, a known English or Spanish abbreviation, or the number of a list item.
    Ideographic full stops need no white space. Sentences have no length limit.

    Parameters
    ----------
    text : str
        Unchanged text of the note.
    tokens : Tokens
        Result of ``tokenize(text)``.

    Returns
    -------
    list of (int, int)
        Half-open token range of each sentence. The ranges cover all tokens in order, and no range is empty.

    Examples
    --------
    >>> from sklearn_deid.text import tokenize
    >>> text = "Seen by Dr. Who. Stable."
    >>> split_sentences(text, tokenize(text))
    [(0, 6), (6, 8)]
    """
    # Two kinds of borders: starts of lines that continue nothing, and final punctuation before white space.
    # Starts of lines come first: "2." is an item of a list at the start of a line, and a number elsewhere.
    starts = set(line_starts(text))
    gaps = [gap.span() for gap in AFTER_FINAL.finditer(text)]
    borders = starts.union([end for start, end in gaps if _ends_sentence(text, start, end, starts)])
    return sentence_ranges(text, tokens, borders)


def sentence_ranges(text: str, tokens: Tokens, borders: Iterable[int]) -> list[tuple[int, int]]:
    """Token ranges between the given offsets and the ideographic full stops of a text."""
    borders = {*borders, *(() if is_latin_1(text) else (final.end() for final in _IDEOGRAPHIC_FINAL.finditer(text)))}
    # A border inside a token moves to the start of the next token: a sentence never cuts a token.
    n_tokens = len(tokens.starts)
    cuts = sorted({0, n_tokens, *(bisect_left(tokens.starts, border) for border in borders)})
    return list(zip(cuts[:-1], cuts[1:], strict=True))


def in_order(sentences: Iterable[tuple[int, int]], n_tokens: int) -> bool:
    """Whether token ranges cover all tokens in order, each token once.

    Examples
    --------
    >>> in_order([(0, 2), (2, 4)], 4), in_order([(0, 2), (0, 2)], 4)
    (True, False)
    """
    borders = [0, *(border for sentence in sentences for border in sentence), n_tokens]
    return borders[::2] == borders[1::2] and borders == sorted(borders)


# Two carriage returns before a line feed occur in files whose newlines were converted twice; they are a single break.
_LINE_BREAK = re.compile(r"\r{0,2}\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_ITEM = re.compile(
    r"[-*+•·▪◦‣⁃∙●○■□–—>»#]"  # bullets and rows of dashes
    r"|o\s"  # what word processors export as a round bullet
    r"|\(?\d{1,3}[.)](?!\S)|\(?[A-Za-z]\)(?!\S)|\(?[ivxIVX]{2,4}[.)](?!\S)"  # 1. 2) (3) a) ii.
)
_FIELD_WORD = r"[^\W\d_](?:[^\W\d_]|['/&])*"
_FIELD = re.compile(rf"{_FIELD_WORD}(?: {_FIELD_WORD}){{0,2}}:(?!\S)")  # "Discharge medications:"
# Columns between which a width of wrapping is looked for: lists have shorter lines, and longer lines are paragraphs.
_NARROWEST, _WIDEST = 40, 140
_MIN_EVIDENCE = 2  # breaks in the middle of a sentence, below which a note does not count as wrapped
_MIN_EVIDENCE_SHARE = 0.3  # of the breaks at full lines; in wrapped prose it is about two thirds
_MAX_OVERLONG_SHARE = 0.1  # lines beyond the width; a pasted address or table row may be
# Words of a line on average, in notes that are cut into words; other notes of at least 20 lines have at least 3.7.
_WORDS_OF_A_PART, _FEWEST_LINES = 2.5, 20
_MIN_STOP_SHARE = 0.02  # lines of such notes that end in a full stop; lists, forms and tables have none
_ASCII, _ASCII_LOWER = re.compile("[\x00-\x7f]+"), ascii_lowercase.encode()
_MAX_CASELESS_SHARE = 0.05  # lower case characters in a note "without" lower case: a few units such as mg


class _Line(NamedTuple):
    """A line with at least one visible character."""

    start: int  # offset of the first visible character
    length: int  # columns up to the last visible character, indentation included
    needed: int  # columns that its first word would have needed at the end of the line before, with its space
    text: str  # visible part
    begins: bool  # an item of a list, or nothing but white space in the line before
    is_row: bool  # a row of dashes


def _visible_lines(text: str) -> list[_Line]:
    lines = []
    start, after_blank = 0, True
    breaks = [(gap.start(), gap.end()) for gap in _LINE_BREAK.finditer(text)]
    for end, following in [*breaks, (len(text), len(text))]:
        raw = text[start:end].rstrip()
        visible = raw.lstrip()
        if visible:
            # With this many more columns, the first word and a space would have fitted into the line before.
            needed = 1 + len(visible.split(None, 1)[0])
            begins, is_row = after_blank or _ITEM.match(visible) is not None, not visible.strip("-=_*~#. ")
            lines.append(_Line(start + len(raw) - len(visible), len(raw), needed, visible, begins, is_row))
        after_blank = not visible
        start = following
    return lines


def _is_full(line: _Line, following: _Line, width: int) -> bool:
    """Whether a width explains the break: the line fits into the width, but not the line with the next word."""
    return line.length <= width < line.length + following.needed


def _breaks_off(line: _Line, following: _Line, caseless: bool) -> bool:
    """Whether the break is inside a sentence: no final punctuation before the break, and no capital after the break."""
    first = following.text[0]
    return line.text[-1] not in ".:;!?" and first.isalpha() and (caseless or not first.isupper())


def _may_run_on(line: _Line, following: _Line) -> bool:
    """False if a line starts a paragraph for any width: after a blank line or a row of dashes, or as a list item."""
    return not (following.begins or line.is_row)


def _wrap_width(lines: list[_Line], caseless: bool) -> int | None:
    """Width at which a note was wrapped; None if the author of the note chose the line ends."""
    pairs = [(line, after) for line, after in pairwise(lines) if _may_run_on(line, after)]
    # A break is explained by an interval of widths. Counting the ends of the intervals and summing up gives the number
    # of explained breaks for all widths in one pass.
    changes = [0] * (_WIDEST + 2)  # how many more breaks each width explains than the width before
    for line, after in pairs:
        first, stop = max(line.length, _NARROWEST), min(line.length + after.needed, _WIDEST + 1)
        if first < stop:
            changes[first] += 1
            changes[stop] -= 1
    explained = list(accumulate(changes))
    width = max(range(len(explained)), key=explained.__getitem__)  # the narrowest of the best
    evidence = sum(_is_full(line, after, width) and _breaks_off(line, after, caseless) for line, after in pairs)
    if evidence < max(_MIN_EVIDENCE, _MIN_EVIDENCE_SHARE * explained[width]):
        return None
    # A wrapped note has hardly any line beyond its width. Prose with many such lines was broken by hand.
    overlong = sum(line.length > width for line in lines)
    return width if overlong <= max(1, _MAX_OVERLONG_SHARE * len(lines)) else None


def is_wrapped(text: str) -> bool:
    r"""Whether a width explains the line breaks of a note, and enough of these breaks are inside a sentence.

    Examples
    --------
    >>> text = "She was seen in the clinic with her mother and\ntold us that she had slept badly for a week and\n"
    >>> is_wrapped(text + "that she had no pain at the time of the visit"), is_wrapped("pain\ncough\nfever")
    (True, False)
    """
    return _wrap_width(_visible_lines(text), is_caseless(text)) is not None


def _is_cut_into_words(text: str, lines: list[_Line], caseless: bool) -> bool:
    """Whether hardly any line of a note has more than two words, and the lines are parts of sentences.

    Programs write such lines if they read a page word by word. The lines of a form are as short, but most of them begin
    with a capital or a digit. Lines of a form in capitals, of a list and of a table look like parts of sentences, and
    so do lines in scripts without spaces between words, but these lines have no full stops.
    """
    if len(lines) < _FEWEST_LINES or len(text.split()) > _WORDS_OF_A_PART * len(lines):
        return False
    if sum(line.text[-1] == "." for line in lines) < _MIN_STOP_SHARE * len(lines):
        return False
    pairs = ((line, after) for line, after in pairwise(lines) if not (_is_entry(line) or _is_entry(after)))
    n_broken = sum(_breaks_off(line, after, caseless) for line, after in pairs)
    return n_broken >= _MIN_EVIDENCE_SHARE * len(lines)


def _is_entry(line: _Line) -> bool:
    """Whether a line is a field with its value. A page that was read word by word has hardly any."""
    field = _FIELD.match(line.text)
    return field is not None and field.end() < len(line.text)


def _runs_on(line: _Line, following: _Line, width: int | None, caseless: bool) -> bool:
    """Whether the following line continues the line."""
    if not _may_run_on(line, following):
        return False
    # Without a known width, only a long line followed by a lower-case letter counts as continued.
    if width is None:
        return line.length >= _NARROWEST and not caseless and _breaks_off(line, following, caseless)
    if not _is_full(line, following, width):
        return False
    # A field name with a colon starts a new sentence, even after a full line.
    return not (following.text[0].isupper() and _FIELD.match(following.text))


def is_caseless(text: str) -> bool:
    """Whether a note has hardly any lower-case letters, so that capitals do not show where a sentence starts."""
    plain = text.encode("ascii", "ignore")
    n_lower = len(plain) - len(plain.translate(None, _ASCII_LOWER)) + sum(map(str.islower, _ASCII.sub("", text)))
    return n_lower <= _MAX_CASELESS_SHARE * len(text)


def line_starts(text: str) -> list[int]:
    r"""Offsets of the lines that do not continue the preceding line.

    A visible line starts a new unit of text, with three exceptions:

    - In a note that is cut into words, every line continues the preceding line.
    - In a hard-wrapped note, a line continues the preceding line if its first word did not fit into the preceding line.
    - In any other note, a line continues the preceding line if the preceding line has 40 or more columns and the break
      is inside a sentence.

    Lines after a blank line or a row of dashes, and list items (``-``, ``*``, ``•``, ``o``, ``1.``, ``2)``, ``a)``),
    always start a new unit. In a hard-wrapped note, fields of up to three words (``Allergies: ...``) also start a new
    unit.

    A note of at least 20 lines is cut into words if its lines have at most 2.5 words on average, at least 30 % of the
    breaks are inside a sentence, and at least 2 % of the lines end in a full stop. Of these breaks, those before and
    behind a field with its value (``Name: Roe``) do not count.

    A note is hard-wrapped if a width of 40 to 140 columns meets two conditions. (a) At most a tenth of the lines, or
    one line, exceed the width. (b) Of the breaks that the width explains, at least two, and at least 30 %, are inside a
    sentence. A width explains a break if the line fits into the width, and the line plus the next line's first word
    does not fit. A break is inside a sentence if no final punctuation precedes the break and a lower-case letter
    follows (any letter in notes without lower case). Breaks at blank lines, rows and list items are not counted.

    Parameters
    ----------
    text : str
        Unchanged text of the note.

    Returns
    -------
    list of int
        Increasing offsets of the first visible characters of these lines.

    Examples
    --------
    >>> line_starts("Name: Roe\nAge: 40\n\n- pain")
    [0, 10, 19]
    """
    return line_borders(text).starts


class LineBorders(NamedTuple):
    """Lines of a note that do not continue the preceding line.

    Parameters
    ----------
    starts : list of int
        Result of `line_starts`.
    bare : list of int
        Offsets of ``starts`` that follow a bare break. A break is bare if no final punctuation, colon, row of dashes or
        blank line precedes the break, and neither a list item nor a field name of up to three words with a colon
        follows.
    bare_share : float
        Number of bare breaks, divided by the number of all breaks between visible lines plus 4.
    """

    starts: list[int]
    bare: list[int]
    bare_share: float


def line_borders(text: str, caseless: bool | None = None) -> LineBorders:
    r"""Find the lines that do not continue the preceding line, and report which of these lines follow a bare break.

    Parameters
    ----------
    text : str
        Unchanged text of the note.
    caseless : bool, optional
        Result of ``is_caseless(text)``, if it is known.

    Examples
    --------
    >>> line_borders("Name: Roe\nWard\nAge: 40\nSeen by\nRoe.\nNo pain")
    LineBorders(starts=[0, 10, 15, 23, 31, 36], bare=[10, 23, 31], bare_share=0.3333333333333333)
    """
    lines = _visible_lines(text)
    if not lines:
        return LineBorders([], [], 0.0)
    caseless = is_caseless(text) if caseless is None else caseless
    pairs = pairwise(lines)
    if _is_cut_into_words(text, lines, caseless):
        borders = [(line, after) for line, after in pairs if not _may_run_on(line, after)]
    else:
        width = _wrap_width(lines, caseless)
        borders = [(line, after) for line, after in pairs if not _runs_on(line, after, width, caseless)]
    bare = [after.start for line, after in borders if _is_bare(line, after)]
    starts = [lines[0].start, *(after.start for _, after in borders)]
    # Three more lines, so that a note of two or three lines never has a large share.
    return LineBorders(starts, bare, len(bare) / (len(lines) + 3))


def _is_bare(line: _Line, following: _Line) -> bool:
    return _may_run_on(line, following) and line.text[-1] not in ".:;!?" and not _FIELD.match(following.text)
