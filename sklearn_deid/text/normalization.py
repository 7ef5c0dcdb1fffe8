"""`normalize` replaces unusual forms of letters, digits and punctuation by ordinary characters, with exact offsets.

A name can be written with zero-width characters, in full-width letters, as HTML entities or with a space or a hyphen
after each letter. A tagger that was trained on ordinary notes misses most of these names. A tagger therefore reads the
normalised text, and its spans are mapped back to the note. The note itself is never changed.

`normalize` does not change ordinary text and accents.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from html import unescape
from html.entities import html5
from urllib.parse import unquote

from .coded_line_ends import coded_line_ends
from .line_marks import line_marks
from .marks_of_all_lines import marks_of_all_lines
from .misread_characters import misread_characters
from .normalized_text import Edit, NormalizedText
from .scanner_errors import scanner_repairs
from .separated_letters import letters_in_cells, letters_in_lines

# Letters of scripts whose words are letters in a row: Latin, Greek and Cyrillic. Marks and invisible characters are
# parts of words in other scripts, and stay.
_LETTERS = "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u0370-\u0373\u0376-\u052f\u1e00-\u1fff"
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    "\U000e0001-\U000e007f\U000e0100-\U000e01ef"
)
_BREAK = r"(?:\r{0,2}\n|\r)"
# Programs that escape twice write "&amp;eacute;".
_ENTITY = re.compile(r"&(?:amp;){0,3}(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# Tags without attributes: an attribute could hold text, which must not be skipped. The last tags mark names in messages
# of HL7.
_TAG = re.compile(
    r"</?(?:(?P<line>br|p|div|li|tr|h[1-6])|b|i|u|em|strong|span|sup|sub|td|th|given|family|prefix|suffix)[ ]?/?>",
    re.IGNORECASE,
)
# Blanks and signs of web addresses in names and addresses: after a letter, so that "5%20 ml" is none. Quotes and
# brackets stand beside a word.
_QUOTE = "%(?:2[27-9]|3[CcEe])"
_ESCAPED = re.compile(
    rf"(?<=[{_LETTERS}])%(?:0[AaDd]|20|2[Cc]|2[Ee]|2[Ff]|3[Aa]|40)(?=[{_LETTERS}])"
    rf"|(?<=[{_LETTERS}]){_QUOTE}(?![0-9])|(?<![0-9.,]){_QUOTE}(?=[{_LETTERS}])"
)
# Line breaks and tabs that spreadsheet programs write into cells, beside a word.
_ESCAPED_BREAK = re.compile(r"(?<=\S)(?:_x000[9ADad]_)+|(?:_x000[9ADad]_)+(?=\S)")
# Lines to fill in, such as "Name:____Ann____", and words that underscores join or stress. Underscores of addresses,
# names of files and identifiers are parts of them.
_LINE = re.compile(r"(?<!_)_{2,}(?!_)")
_UNDERSCORED = re.compile(rf"(?<![\w@./\\'-])[{_LETTERS}'\u2019-]*_[{_LETTERS}_'\u2019-]*(?![\w@/\\])(?!\.\w)")
# Text that was rebuilt from tokens has information separators inside of an address: "ann_roe\x1f7@example.org".
_RUN = re.compile(r"[^\s\x1d-\x1f]+(?:[\x1d-\x1f]+[^\s\x1d-\x1f]+)*")
_SIGNS_OF_ADDRESSES = ("@", "://", "www.")
# `tokenize` handles these characters.
_LEFT_TO_TOKENIZER = frozenset("<>&\"'")
_HIDDEN = re.compile(f"[{_INVISIBLE}]+")
_VISIBLE = re.compile(f"[!-~{_LETTERS}{_MARKS}]")
_MARKED = re.compile(rf"[{_LETTERS}0-9][{_MARKS}]+")
_LIGATURES = {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st"}
_LIGATURE = re.compile("[\ufb00-\ufb05]")
# A word that goes on in the next line, or a number. "follow-" and "up" become one word, too: whether a hyphen at the
# end of a line belongs to the word is not known, and a name or an address in lower case must not be cut.
_HYPHENATED = re.compile(
    rf"(?<![{_LETTERS}])[{_LETTERS}]{{1,40}}(?P<hyphen>[-\u00ad\u2010\u2011])(?P<gap>[ \t]{{0,4}}{_BREAK}[ \t]{{0,8}})"
    rf"(?=[{_LETTERS}])"
)
# The hyphen behind these words is a part of a number in words, such as "ninety-four" and "quatre-vingt-dix".
_BEFORE_HYPHENS = frozenset(
    "twenty thirty forty fifty sixty seventy eighty ninety vingt trente quarante cinquante soixante quatre".split()
)
_NUMBER_BREAK = re.compile(rf"(?<=[0-9][-/\u2010\u2011\u2013])[ \t]{{0,4}}{_BREAK}[ \t]{{0,8}}(?=[0-9])")
_SPACED_SIGN = rf"[{_LETTERS}0-9@./:,'_-]"
# Words are one space wide inside and up to three between. A run of digits has no wider gap: it might be a table.
_SPACED = re.compile(rf"(?<!\S)(?:{_SPACED_SIGN} {{1,3}}){{3,}}{_SPACED_SIGN}(?!\S)")
_SPACED_DIGITS = re.compile(rf"(?<!\S)(?:{_SPACED_SIGN} ){{6,}}{_SPACED_SIGN}(?!\S)")
# A whole note with a space after each character: then all of its words are joined, however short.
_SINGLE = re.compile(rf"(?<!\S)[!-~{_LETTERS}](?!\S)")
_BETWEEN_SINGLES = re.compile(rf"(?<=(?<!\S)[!-~{_LETTERS}]) (?=[!-~{_LETTERS}](?!\S))")
_FEWEST_SINGLES, _SHARE_OF_SINGLES = 40, 0.6
_ONE_SPACE = re.compile(r"(?<=\S) (?=\S)")
_FEWEST_LETTERS, _FEWEST_DIGITS = 4, 7
# No-break spaces, and spaces of other widths.
_BLANKS = str.maketrans(dict.fromkeys("\u00a0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))), " "))
# Names that are spelled with one sign between all letters, such as "S-M-I-T-H, A-N-N". Commas are signs of lists.
_SPELLED = re.compile(
    rf"(?<![{_LETTERS}0-9])[{_LETTERS}](?P<sign>[-.*/\u00b7]| - )[{_LETTERS}](?:(?P=sign)[{_LETTERS}])+"
    rf"(?![{_LETTERS}0-9])(?:[ ,]{{1,3}}(?:[{_LETTERS}](?P=sign)){{2,}}[{_LETTERS}](?![{_LETTERS}0-9]))*"
)
# Names in messages of HL7 and headers of images, "ROE^ANN^M", also behind an id, "123^ROE^ANN", and names that were
# typed with caps lock, "rOE, aNN".
_WITH_CARETS = re.compile(
    rf"(?<![{_LETTERS}^'-])\^*(?P<name>[{_LETTERS}'-]+)(?:(?: [{_LETTERS}'-]+)?\^+[{_LETTERS}][{_LETTERS}'.-]*)+"
)
_SMALL, _CAPITAL = "a-z\u00e0-\u00f6\u00f8-\u00fe", "A-Z\u00c0-\u00d6\u00d8-\u00de"
# "mCdONALD", "o'nEIL" and "o'NEIL"
_CAPS_LOCK = f"[{_SMALL}](?:[{_CAPITAL}]{{1,2}}[{_SMALL}]|['\u2019][{_SMALL}]?)?[{_CAPITAL}]+"
_INVERTED = re.compile(rf"(?<!\w){_CAPS_LOCK}(?:[ .,-]{{1,2}}{_CAPS_LOCK})+(?!\w)")
_VOWEL, _LENGTH_OF_NAMES = re.compile("[AEIOUY\u00c0-\u00de]"), 5
# Signs of abbreviations: no vowel, or three consonants in a row.
_ABBREVIATION = re.compile("(?i)[^aeiouy\u00c0-\u00fe]{3}|\\A[^aeiouy\u00c0-\u00fe]+\\Z")
_SMALL_BEHIND = re.compile(f"(?<=['\u2019])[{_SMALL}]")
# Letters of other scripts, and of phonetics, that look like Latin letters.
_LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u04bb\u051b\u051d\u0410\u0412\u0415\u0405"
    "\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u03bf\u0391\u0392\u0395\u0396\u0397\u0399"
    "\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u0578\u057d\u0585\u0570\u0251\u0261",
    "aeopcyxsijdhqwABESIJKMHOPCTYXoABEZHIKMNOPTYXnuohag",
)
_LIKE = "[" + "".join(map(chr, _LOOK_ALIKES)) + "]"
# Each run is read once, from its start: a long run without a Latin letter would take time that grows with its square.
_LOOK_ALIKE = re.compile(rf"(?<=[A-Za-z\u00c0-\u024f]){_LIKE}+|(?<!{_LIKE}){_LIKE}+(?=[A-Za-z\u00c0-\u024f])")
# Signs before a line break, without which no line is joined.
_BREAK_AFTER_SIGN = re.compile(rf"[-/\u00ad\u2010\u2011\u2013][ \t]{{0,4}}{_BREAK}")
# Characters that no rule for unusual forms of single characters changes: ASCII and the letters of Latin-1.
_USUAL = re.compile("[\x00-\x7f\xa0-\xac\xae-\xff]*")
_WIDE_SIGNS = "\uff20\uff0e\uff0d\uff0f\uff0b\uff3f\uff03\uff06\uff07"
_WIDE_SIGN = re.compile(rf"(?<=[A-Za-z0-9])[{_WIDE_SIGNS}]|[{_WIDE_SIGNS}](?=[A-Za-z0-9])")


def normalize(text: str, *, layout: bool = True) -> NormalizedText:
    r"""Text that a tagger reads, with the position of each character in the unchanged text.

    ==============================================  ====================================================
    written                                         read
    ==============================================  ====================================================
    entities of letters, digits, signs and blanks   the character (``&#74;`` is J)
    codes such as ``\\u00fc``, ``\\xc3\\xbc``,        the character
    ``<U+00FC>``, ``%u00fc`` and ``&#252``; codes
    of RTF and HL7; UTF-8 in another encoding
    tags of HTML and of names, without attributes   the end of a line (``<br>``), or a space
    blanks and signs of web addresses in names      the character (``%20`` is a space)
    line breaks of spreadsheets (``_x000D_``)       a space
    codes of line ends, such as ``[CRLF]``,         the end of a line; ``\\n`` and ``\\r\\n`` only in a note
    ``<CR>``, ``\\.br\\`` and ``\\par``             without other line ends
    underscores between words, or of a line to      a space
    fill in; not in addresses and identifiers
    zero-width characters, soft hyphens, marks of   nothing, beside letters, digits and signs of Latin,
    direction                                       Greek or Cyrillic script
    combining marks after a letter of these         the letter, with its accent if there is such a
    scripts                                         letter
    full-width, mathematical and circled letters    the letter
    letters that look like Latin letters, in words  the Latin letter
    digits of any script                            0 to 9
    curly quotes                                    ``'`` and ``"``
    dashes and hyphens of any length                ``-``
    slashes, and small periods and at signs         ``/``, ``.`` and ``@``
    ligatures, such as one character for "fi"       their letters
    controls of Windows-1252                        the sign of that encoding
    ``>`` of quoted mails, bars and other signs     nothing; lists and rows of tables keep their signs
    around the lines of a box
    sign or line number of all lines of a note      nothing; lists keep their signs and numbers
    hyphen and line break in a word                 nothing; the hyphen between capitalised words, and behind the tens
                                                    of a number in words (``ninety-four``)
    line break in a number, after ``-`` or ``/``    nothing
    carets of HL7 between names (``ROE^ANN^M``)     a comma, then spaces
    names typed with caps lock (``aNN rOE``)        the other casing
    letters with a space, hyphen, period or other   the word
    sign after each, in cells, and with a tab
    line ends between all characters of a passage   nothing; a space instead of an empty line
    digits in words and letters in numbers, as a    the letter or digit that was meant
    scanner confuses them (``20l8``, ``M00dy``)
    ==============================================  ====================================================

    Parameters
    ----------
    text : str
        Unchanged text of a note.
    layout : bool, default=True
        Whether to also join hyphenated lines and letters with spaces or line ends between them, and to remove signs
        before and behind lines. Use False for a text that was rebuilt from tokens, whose line breaks and spaces differ
        from the note.

    Returns
    -------
    NormalizedText
        Text to read. `NormalizedText.original` returns the offsets of a passage of ``text`` in the unchanged text.

    Examples
    --------
    >>> reading = normalize("Mr. Al\u200bder, \uff14\uff15yo")
    >>> reading.text
    'Mr. Alder, 45yo'
    >>> reading.original(4, 9)
    (4, 10)
    >>> normalize("Jos\u00e9 &lt; 45").text
    'José &lt; 45'
    """
    reading = NormalizedText(text)
    reading = reading.edited(list(misread_characters(text)))
    if "&" in text:
        reading = reading.edited(_entities(reading.text))
    reading = reading.edited(coded_line_ends(reading.text))
    if "<" in text:
        tags = _TAG.finditer(reading.text)
        reading = reading.edited([Edit(*found.span(), "\n" if found["line"] else " ") for found in tags])
    if "%" in text:
        escaped = _ESCAPED.finditer(reading.text)
        reading = reading.edited([Edit(*found.span(), unquote(found[0])) for found in escaped])
    if "^" in text:
        reading = reading.edited(_carets(reading.text))
    if "_x000" in text:
        reading = reading.edited([Edit(*found.span(), " ") for found in _ESCAPED_BREAK.finditer(reading.text)])
    if "_" in text:
        reading = reading.edited(_underscores(reading.text))
    if layout:
        reading = reading.edited(marks_of_all_lines(reading.text))
        reading = _joined_lines(reading.edited(line_marks(reading.text)))
    if not reading.text.isascii() and not _USUAL.fullmatch(reading.text):
        reading = reading.edited(_hidden(reading.text))
        reading = reading.edited([Edit(*found.span(), _unmarked(found[0])) for found in _MARKED.finditer(reading.text)])
        # After the marks: a digit or letter of another form may have carried one.
        reading = reading.translated(_single_characters())
        seen = _LOOK_ALIKE.finditer(reading.text)
        reading = reading.edited([Edit(*found.span(), found[0].translate(_LOOK_ALIKES)) for found in seen])
        signs = [Edit(*found.span(), chr(ord(found[0]) - 0xFEE0)) for found in _WIDE_SIGN.finditer(reading.text)]
        reading = reading.edited(signs)
        ligatures = [Edit(*found.span(), _LIGATURES[found[0]]) for found in _LIGATURE.finditer(reading.text)]
        reading = reading.edited(ligatures)
    reading = reading.edited(_inverted(reading.text))
    reading = reading.edited(letters_in_cells(reading.text))
    reading = reading.edited(_signs_between_letters(reading.text))
    if layout:
        reading = reading.edited(letters_in_lines(reading.text))
        reading = reading.edited(_spaces_between_letters(reading.text))
    return reading.edited(scanner_repairs(reading.text))


def _entities(text: str) -> list[Edit]:
    edits = []
    for found in _ENTITY.finditer(text):
        name = f"&{found[1]};"
        meaning = unescape(name) if name[1] == "#" or name[1:] in html5 else ""
        # Entities of two characters exist, but in no word of the scripts above.
        if len(meaning) == 1 and meaning not in _LEFT_TO_TOKENIZER:
            edits.append(Edit(*found.span(), meaning))
    return edits


def _carets(text: str) -> list[Edit]:
    """A comma behind the surname, and spaces before the surname and between the other names."""
    edits = []
    for name in _WITH_CARETS.finditer(text):
        comma = text.index("^", name.start("name"))
        places = (at for at in range(*name.span()) if text[at] == "^")
        edits += [Edit(at, at + 1, "," if at == comma else " ") for at in places]
    return edits


def _inverted(text: str) -> list[Edit]:
    """Names with a small first letter and capitals behind it. Abbreviations such as "eGFR, mRNA" are no names."""
    edits = []
    for found in _INVERTED.finditer(text):
        words = re.split("[ .,-]+", re.sub("['\u2019]", "", found[0]))
        names = [word for word in words if _VOWEL.search(word)]
        is_abbreviated = any(_ABBREVIATION.search(word) for word in words if len(word) > 2)
        if any(len(word) >= _LENGTH_OF_NAMES for word in names) or (names and not is_abbreviated):
            name = _SMALL_BEHIND.sub(lambda small: small[0].upper(), found[0].swapcase())
            edits.append(Edit(*found.span(), name))
    return edits


def _underscores(text: str) -> list[Edit]:
    """Underscores that replace blanks."""
    places: set[int] = set()
    for run in _RUN.finditer(text):
        if "_" not in run[0] or any(sign in run[0] for sign in _SIGNS_OF_ADDRESSES):
            continue
        for found in _LINE.finditer(text, *run.span()):
            # A line by itself is kept: it separates the text above from the text below.
            places |= set(range(*found.span()) if found.span() != run.span() else ())
        for word in _UNDERSCORED.finditer(text, *run.span()):
            if word[0].strip("_"):
                places |= {at for at in range(*word.span()) if text[at] == "_"}
    return [Edit(at, at + 1, " ") for at in sorted(places)]


def _hidden(text: str) -> list[Edit]:
    """Invisible characters next to a visible character of the scripts above."""
    edits = []
    for found in _HIDDEN.finditer(text):
        start, end = found.span()
        if _VISIBLE.match(text, max(0, start - 1)) or _VISIBLE.match(text, end):
            edits.append(Edit(start, end))
    return edits


def _joined_lines(reading: NormalizedText) -> NormalizedText:
    if not _BREAK_AFTER_SIGN.search(reading.text):
        return reading
    edits = []
    for found in _HYPHENATED.finditer(reading.text):
        word, after = found[0][: found.start("hyphen") - found.start()], reading.text[found.end() : found.end() + 2]
        capitals = len(word) > 1 and word.isupper() and len(after) > 1 and after.isupper()
        if found["hyphen"] == "\u00ad" and not after[0].islower():
            continue  # an invisible hyphen before a new line
        is_number = word.lower() in _BEFORE_HYPHENS and found["hyphen"] != "\u00ad"
        one_word = (capitals or after[0].islower()) and not is_number
        if one_word or is_number or word[0].isupper():
            # Between capitalised words, the hyphen may be that of a double name, and stays.
            edits.append(Edit(found.start("hyphen") if one_word else found.start("gap"), found.end()))
    reading = reading.edited(edits)
    return reading.edited([Edit(*found.span()) for found in _NUMBER_BREAK.finditer(reading.text)])


def _unmarked(marked: str) -> str:
    """A letter with combining marks as one character: the accented letter, or the letter alone."""
    return unicodedata.normalize("NFC", marked)[0]


def _spaces_between_letters(text: str) -> list[Edit]:
    # Spacing that a program has set, and UTF-16 whose NULs became blanks.
    text = text if text.isascii() else text.translate(_BLANKS)
    runs = list(_SPACED.finditer(text))
    if runs and (n := len(_SINGLE.findall(text))) >= _FEWEST_SINGLES:
        if n >= _SHARE_OF_SINGLES * sum(map(len, text.split())):
            return [Edit(*space.span()) for space in _BETWEEN_SINGLES.finditer(text)]
    edits = []
    for run in runs:
        signs = run[0].replace(" ", "")
        letters = sum(map(str.isalpha, signs))
        # Lists such as "A B C" and scores such as "1 2 0 1" are shorter.
        if letters >= _FEWEST_LETTERS and 2 * letters >= len(signs):
            parts = [run.span()]
        else:
            found = _SPACED_DIGITS.finditer(text, *run.span())
            parts = [part.span() for part in found if sum(map(str.isdigit, part[0])) >= _FEWEST_DIGITS]
        edits += [Edit(*space.span()) for start, end in parts for space in _ONE_SPACE.finditer(text, start, end)]
    return edits


def _signs_between_letters(text: str) -> list[Edit]:
    edits = []
    for found in _SPELLED.finditer(text):
        letters = found[0].replace(found["sign"], "")
        # Abbreviations with periods, such as "P.A.A.F.", are as long as short names.
        if len(letters) >= _FEWEST_LETTERS + (found["sign"] != "-"):
            signs = re.compile(re.escape(found["sign"])).finditer(text, *found.span())
            edits += [Edit(*place.span()) for place in signs]
    return edits


@lru_cache(maxsize=1)
def _single_characters() -> dict[int, str]:
    """Characters that are read as another single character."""
    table = {c: str(unicodedata.decimal(chr(c))) for c in range(0x100, 0x20000) if unicodedata.category(chr(c)) == "Nd"}
    wide = (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
    for code in (*wide, *range(0x1D400, 0x1D7CC), *range(0x2100, 0x2150), *range(0x24B6, 0x24EA)):
        letter = unicodedata.normalize("NFKC", chr(code))
        if len(letter) == 1 and letter.isascii() and letter.isalpha():
            table[code] = letter
    table.update(dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\uff07"), "'"))
    table.update(dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\uff02"), '"'))
    table.update(dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63"), "-"))
    # Slashes of fractions and of mathematics, in dates that were copied from a PDF.
    table.update(dict.fromkeys(map(ord, "\u2044\u2215\u29f8"), "/"))
    table.update({0x2024: ".", 0xFE52: ".", 0xFE6B: "@"})
    for code in range(0x80, 0xA0):
        # C1 control characters are Windows text that was decoded as Latin-1.
        meaning = bytes([code]).decode("cp1252", "ignore")
        if meaning and code != 0x85:  # U+0085 is the end of a line
            table[code] = table.get(ord(meaning), meaning)
    return table
