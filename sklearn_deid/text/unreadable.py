"""`unreadable_reason` detects notes in an encoding or a file format in which no tagger finds PHI.

People or other programs can read RTF, quoted-printable, base64, and UTF-16 that was decoded as UTF-8. A tagger finds no
names in encoded text. A note with encoded text must be withheld: its redaction would be the unchanged note.

The function looks for signs that ordinary notes do not have. The function detects encodings, but no attackers: a text
that was hidden on purpose can look like ordinary words.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections import Counter

from .garbled_words import garbled_reason
from .sql_statements import is_sql
from .tokens import is_latin_1
from .xml_notes import is_xml

_ENCODING = "Pass encoding='{0}' when you read the file."
_CONVERT = "Convert the note to plain text first."
_DECODE = (
    "Decode the note first (decode_body, or --transfer-encoding on the command line, except for tables and documents)."
)
_JOINED_WORDS = "The words of the note are joined by signs in place of spaces, as in web forms and in some exports."
# Controls (category Cc) that are no white space. Form feeds and the separators of HL7 messages are white space. Notes
# that were once converted wrongly hold controls that are signs in Windows-1252; `normalize` reads the sign.
_CONTROL = re.compile("[\x01-\x08\x0e-\x1b\x7f\x81\x8d\x8f\x90\x9d]")
_RTF = re.compile(r"\{\\rtf[0-9]?(?![A-Za-z])")
# Visible ASCII with the two bytes in the wrong order: U+2000, U+2100, ..., U+7E00.
_BYTE_SWAPPED = re.compile(f"[{''.join(map(chr, range(0x2000, 0x7E01, 0x100)))}]")
_BINARY_START = re.compile(r"\s{0,8}(%PDF-|%!PS-Adobe)")
_QP_HEADER = re.compile(r"(?im)^content-transfer-encoding:[ \t]{0,8}quoted-printable")
# A soft line break behind a word (not a row of equal signs), a character of UTF-8 or Latin-1 in hexadecimal digits
# inside a word, or three encoded characters in a row. "HR=80" and "pH=7.4" are none of these.
_QP_SOFT_BREAK = re.compile(r"[^\s=]=\r?\n(?=\S)")
_QP_LETTER = re.compile(r"=C[23]=[89AB][0-9A-F]|(?<=[A-Za-z])=[C-F][0-9A-F](?=[a-z]{2})|(?:=[0-9A-F]{2}){3}")
_BASE64_HEADER = re.compile(r"(?im)^content-transfer-encoding:[ \t]{0,8}base64")
# Base64 or quoted-printable in a header of a mail.
_ENCODED_WORD = re.compile(r"=\?[A-Za-z0-9_.:*-]{1,60}\?[BbQq]\?[^\s?]{1,80}\?=")
# Lines without a space, of which all but the last are equally long in a base64 body.
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/]{24,}(?:\r?\n[A-Za-z0-9+/]{4,})*={0,2}")
_LONG_RUN = 200
# At most 40 characters: the time stays linear without a hyphen.
_UTF_7 = re.compile(r"\+[A-Za-z0-9+/]{2,40}-")
# Text that no reader sees: tag characters, which are only in flags of regions, and rows of variation selectors.
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
_UNSEEN = re.compile("[\U000e0020-\U000e007f]{3}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}")
# Letters that are shown from right to left, and that were written the other way round.
_TURNED = re.compile("\u202e[ -~]{0,40}[A-Za-z0-9]{3}")
# Runs of words of forms and addresses: a letter of UTF-8 or Latin-1, or any characters, in hexadecimal digits.
_RUN = re.compile(r"\S+")
_ADDRESS, _LONGEST_ADDRESS = re.compile(r"[A-Za-z]{2,10}://|www\."), 2_000
_PERCENT_LETTER, _PERCENT = (
    re.compile(r"%C[23]%[89AB][0-9A-F]|(?-i:(?<=[A-Za-z])%[C-F][0-9A-F](?=[a-z]{2}))", re.IGNORECASE),
    re.compile(r"%[0-9A-F]{2}", re.IGNORECASE),
)
_MANY = 6
# Signs that forms and mails write in place of a space, between two words: not in "A+ B+", "CD4+CD8+" and "HR=20". Lists
# such as "HTN+DM+CAD" are shorter than notes, and have no short words in lower case.
_JOINED = tuple(
    re.compile(rf"(?<=[^\W\d_])[^\W\d_][).,:;]{{0,2}}{sign}(?=\(?[^\W\d_]{{2}})")
    for sign in (r"\+{1,2}", "(?:=20){1,2}")
)
_SHORT_WORD = tuple(re.compile(rf"(?<={sign})[a-z\u00df-\u00ff]{{1,3}}{sign}") for sign in (r"\+", "=20"))
_LONGEST_LIST = 15
# Any sign or code that an export writes in place of a space ("_", "~", "--", "{sp}"), between two words. Other scripts
# have no spaces. Accents that follow their letters, soft hyphens and marks of direction stand inside of words.
_LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_CODE = (
    r"(?:\\[ts]){1,3}|\\[A-Z.~]{1,3}\\|\\'[0-9a-f]{2}|\\~|&[a-z]{1,5};"
    r"|[{<\[(](?!(?i:br|p)[}>\])])[A-Za-z]{1,5}[}>\])]"
)
_SIGN = r"(?:_|[^\w\s\u00ad\u0300-\u036f\u200b-\u200f\u2060\ufe0f\ufeff])"
_SIGNS = rf"(?![).,:;]){_SIGN}{{2,3}}"  # these five may belong to the word before: "Roe,_MD"
_BETWEEN_WORDS = re.compile(
    rf"(?<=[{_LATIN}]{{2}})(?:[).,:;]{{0,2}}?({_CODE}|{_SIGN})|({_SIGNS}))(?=\(?[{_LATIN}]{{2}})"
)
_ENTITY_OF_BLANK = re.compile("&(?:nb|en|em|thin)sp;?")
# Words of sentences between two equal signs. Lists and rows of tables have none, or one of them many times: answers
# ("fever,no,cough,no"), values of HL7 ("|no|"), abbreviations (MET, IM).
_OF_SENTENCES = (
    "the|of|and|to|in|for|with|by|at|on|was|is|no|an|her|his|de|la|el|en|con|por|del|los|las|que|der|die|das|und|mit"
    "|von|im|zu|le|les|des|et|du|par|il|di|da|per|non|dos|em|van|het|een|met|og|p\u00e5|av|som|til|med"
)
_WORD_OF_SENTENCES = re.compile(rf"({_CODE}|{_SIGNS}|{_SIGN})(?i:({_OF_SENTENCES}))(?=\1)")
_LETTER = re.compile(r"[^\W\d_]")
_LONG_RUNS, _FEWEST_OF_SENTENCES = re.compile(r"\S{20,}"), 3
_UU = re.compile(r"(?m)^begin [0-7]{3,4} \S[^\r\n]*\r?\nM[!-`]{60}\r?$")
# At least 24 bytes in hexadecimal digits, as programs print them.
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?(?:[0-9A-Fa-f]{2}[ :]?){24,}(?![0-9A-Za-z])")
_HEX_SHARE = 0.04
_FEW = 3
_READABLE_SHARE = 0.95


def unreadable_reason(text: str) -> str | None:
    """Return the reason why a tagger cannot read the text of a note, and a remedy.

    Parameters
    ----------
    text : str
        Text of a note.

    Returns
    -------
    str or None
        None for ordinary text. A sentence that contains no text of the note, if the note is unreadable. The note holds
        NULs, control characters, invisible or reversed text, was not decoded (UTF-16, UTF-32, UTF-7), or is RTF, PDF,
        XML, SQL, quoted-printable, base64, uuencoded, hexadecimal or text of a web form, or holds signs in place of
        spaces. Or its words are reversed, without spaces between them, or broken by spaces, or its letters are in no
        order.

    Examples
    --------
    >>> unreadable_reason("Seen by Dr. Alder.\\n\\tHR=80, stable.") is None
    True
    >>> unreadable_reason("Seen by Dr. Alder.".encode("utf-16-le").decode("utf-8"))
    "The note is UTF-16 that was not decoded. Pass encoding='utf-16-le' when you read the file."
    """
    if "\0" in text:
        return _with_nulls(text)
    if _CONTROL.search(text):
        return f"The note holds control characters. {_CONVERT}"
    has_other_signs = not is_latin_1(text)
    if has_other_signs and _is_byte_swapped(text):
        return f"The note is UTF-16 that was decoded in the wrong byte order. {_ENCODING.format('utf-16-le')}"
    if has_other_signs and (_UNSEEN.search(_FLAG.sub("", text)) or _TURNED.search(text)):
        return f"The note holds invisible text, or text that is shown in the other direction. {_CONVERT}"
    if _RTF.search(text):
        return f"The note is RTF. {_CONVERT}"
    if _BINARY_START.match(text):
        return f"The note is PDF or PostScript. {_CONVERT}"
    if is_xml(text):
        return f"The note is XML, such as a CDA document. {_CONVERT}"
    if is_sql(text):
        return "The note is SQL, such as a dump of a database. Load it, and redact its tables."
    if reason := _transfer_encoding(text):
        return reason
    reason = garbled_reason(text)
    return None if reason is None else f"{reason} Extract the text of the note again."


def _with_nulls(text: str) -> str:
    """Reason for a note with NULs, whose positions distinguish UTF-16 and UTF-32."""
    start = text.lstrip("\ufeff\ufffd")[:4096]
    zeros = [start[i::4].count("\0") / max(1, len(start[i::4])) for i in range(4)]
    # ASCII in UTF-32 has three NULs of four, in UTF-16 one of two.
    signs = {"utf-32-le": (1, 2, 3), "utf-32-be": (0, 1, 2), "utf-16-le": (1, 3), "utf-16-be": (0, 2)}
    for encoding, places in signs.items():
        if all((share > 0.5) == (i in places) for i, share in enumerate(zeros)):
            return f"The note is {encoding[:6].upper()} that was not decoded. {_ENCODING.format(encoding)}"
    return f"The note holds NUL characters. {_CONVERT}"


def _is_byte_swapped(text: str) -> bool:
    """Whether most characters are ASCII with the two bytes in the wrong order, such as U+4A00 for J."""
    return 2 * len(_BYTE_SWAPPED.findall(text)) > len(text)


def _transfer_encoding(text: str) -> str | None:
    """Reason for a note in a transfer encoding of e-mail."""
    if "=" in text:
        breaks, letters = len(_QP_SOFT_BREAK.findall(text)), len(_QP_LETTER.findall(text))
        if letters or breaks >= _FEW or _QP_HEADER.search(text):
            return f"The note is quoted-printable text that was not decoded. {_DECODE}"
        if _ENCODED_WORD.search(text):
            return f"The note holds encoded words of the header of a mail. {_CONVERT}"
    if _BASE64_HEADER.search(text) or any(_is_base64(run[0]) for run in _BASE64_RUN.finditer(text)):
        return f"The note holds a base64 body. {_DECODE}"
    if "+" in text and sum(_is_utf_7(found[0]) for found in _UTF_7.finditer(text)) >= _FEW:
        return f"The note is UTF-7 that was not decoded. {_ENCODING.format('utf-7')}"
    if "begin " in text and _UU.search(text):
        return f"The note holds a uuencoded file. {_CONVERT}"
    if "%" in text and _is_of_a_form(text):
        return f"The note is text of a web form or an address that was not decoded. {_CONVERT}"
    if ("+" in text or "=20" in text) and _is_joined(text):
        return f"{_JOINED_WORDS} {_CONVERT}"
    if _is_joined_by_any_sign(text):
        return f"{_JOINED_WORDS} {_CONVERT}"
    if any(_is_hexadecimal(run[0]) for run in _HEX.finditer(text)):
        return f"The note holds text in hexadecimal digits. {_CONVERT}"
    return None


def _is_of_a_form(text: str) -> bool:
    """Whether words outside of web addresses are percent-encoded."""
    # "\\S*%\\S*" would read a long run once from each of its characters.
    runs = [_without_address(run) for run in _RUN.findall(text) if "%" in run]
    letters = sum(len(_PERCENT_LETTER.findall(run)) for run in runs)
    return letters >= _FEW or any(len(_PERCENT.findall(run)) >= _MANY for run in runs)


def _without_address(run: str) -> str:
    """Run of characters up to a web address. A longer run than any address is a note that holds an address."""
    address = _ADDRESS.search(run)
    return run if address is None or len(run) > _LONGEST_ADDRESS else run[: address.start()]


def _is_joined(text: str) -> bool:
    """Whether signs join many words in a row. Taggers then miss about three times as many names."""
    runs = [_without_address(run) for run in _RUN.findall(text) if "+" in run or "=20" in run]
    for joined, short in zip(_JOINED, _SHORT_WORD, strict=True):
        counts = [len(joined.findall(run)) for run in runs]
        most = max(counts, default=0)
        # A note in capitals has no words in lower case, but hardly any space.
        has_no_spaces = sum(counts) > max(_LONGEST_LIST, text.count(" "))
        if most > _LONGEST_LIST or (most >= _MANY and has_no_spaces):
            return True
        if any(n >= _MANY and short.search(run) is not None for n, run in zip(counts, runs, strict=True)):
            return True
    return False


def _is_joined_by_any_sign(text: str) -> bool:
    """Whether one sign joins more words than spaces do, or many words in a row. Taggers then miss ten times as much.

    Signs that `normalize` reads as spaces, such as no-break spaces, count as spaces.
    """
    text = _ENTITY_OF_BLANK.sub(" ", text) if "&" in text else text
    runs = [_without_address(run) for run in _LONG_RUNS.findall(text)]
    joins, words = Counter[str](), Counter[tuple[str, str]]()
    for run in runs:
        in_run, of_sentences = Counter(map("".join, _BETWEEN_WORDS.findall(run))), _words_of_sentences(run)
        if any(n > _LONGEST_LIST and _has_sentences(of_sentences, sign) for sign, n in in_run.items()):
            return True
        joins += in_run
        words += of_sentences
    n_blanks = text.count(" ") + text.count("\t")
    return any(n > max(_LONGEST_LIST, n_blanks) and _has_sentences(words, sign) for sign, n in joins.items())


def _words_of_sentences(run: str) -> Counter[tuple[str, str]]:
    # Rules of signs are long, and have no words.
    if _LETTER.search(run) is None:
        return Counter()
    return Counter((sign, word.lower()) for sign, word in _WORD_OF_SENTENCES.findall(run))


def _has_sentences(words: Counter[tuple[str, str]], sign: str) -> bool:
    """Whether a sign stands around words of sentences, and not always around the same one."""
    counts = [n for (around, _), n in words.items() if around == sign]
    return sum(counts) >= _FEWEST_OF_SENTENCES and len(counts) > 1


def _is_hexadecimal(run: str) -> bool:
    """Whether hexadecimal digits decode to text with spaces. Identifiers and digests do not count as text."""
    pairs = re.findall("[0-9A-Fa-f]{2}", run.removeprefix("0x"))
    # Rows of measurements are pairs of digits, too. The letters J to O and Z of a text have a letter in their pair.
    if sum(not pair.isdecimal() for pair in pairs) < _HEX_SHARE * len(pairs):
        return False
    data = bytes.fromhex("".join(pairs))
    for encoding in ("utf-16-le", "utf-8"):
        decoded = data.decode(encoding, "ignore")
        is_whole = len(decoded.encode(encoding)) >= len(data) - 3 and (encoding == "utf-8" or decoded.isascii())
        if is_whole and " " in decoded and _is_readable(decoded):
            return True
    return False


def _is_base64(run: str) -> bool:
    """Whether a run of characters is base64 text, or is too long and too mixed to be written words."""
    letters = "".join(run.split()).rstrip("=")
    if len(letters) >= _LONG_RUN and re.search("[a-z]", letters) and re.search("[A-Z]", letters):
        return any(c.isdigit() for c in letters)
    try:
        data = base64.b64decode(letters[: len(letters) // 4 * 4])
        decoded = data.decode("utf-8", "ignore")
    except (binascii.Error, ValueError):
        return False
    return len(data) - len(decoded.encode()) <= 3 and decoded != "" and _is_readable(decoded)


def _is_readable(decoded: str) -> bool:
    return sum(c.isprintable() or c.isspace() for c in decoded) >= _READABLE_SHARE * len(decoded)


def _is_utf_7(sequence: str) -> bool:
    """Whether a sequence ``+...-`` encodes letters or punctuation of European scripts."""
    try:
        decoded = sequence.encode("ascii").decode("utf-7")
    except UnicodeError:
        return False
    return bool(decoded) and all(ord(c) < 0x2100 and unicodedata.category(c)[0] in "LPNZ" for c in decoded)
