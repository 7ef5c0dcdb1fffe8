"""Dates that readers know from the words around them: years of guidelines, equations and articles, and 9/11."""

from __future__ import annotations

import re

# Societies, classifications and scores that are written with the year of their version. No names that are also names of
# persons (McDonald criteria), of devices (ICD) or of other findings.
_NAMES = (
    r"ACC|AHA|HFSA|ESC|ESH|EASL|AASLD|UICC|WHO|OMS|GOLD|GINA|GEMA|ACR|ISHLT|ACOG|ACIP|IDSA|ATS|ERS|ADA|ASCO|ESMO|ELN"
    r"|IMWG|ISUP|AWMF|DSM|[A-Z]{1,5}-?RADS|(?i:CKD[- ]{0,3}EPI|MDRD|EKFC|NCCN|AJCC|FIGO|GesEPOC|KDIGO|KDOQI|EULAR|SLICC"
    r"|ASCCP|USPSTF|HIPAA|Bosniak|Rome?\s[IVX]+|Sepsis|Fleischner)"
)
_NOUNS = (
    r"(?i:guidelines?|criteria|classification|equation|eq|formula|consensus|statement|recommendations?|edition|update"
    r"|gu[i\u00ed]as?|criterios|clasificaci[o\u00f3]n|consenso|edici[o\u00f3]n|leitlinien?|kriterien|klassifikation|auflage"
    r"|recommandations|crit[e\u00e8]res|[e\u00e9]dition|retningslinjer|kriterier|linee\sguida|criteri|classificazione"
    r"|edizione|richtlijn(?:en)?|classificatie|diretriz(?:es)?|crit[e\u00e9]rios|classifica[c\u00e7][a\u00e3]o)"
)
# Further words of such names: "8th ed.", "v2.1", "IV", "of the ESC".
_MORE = (
    rf"[\s./,:()-]{{1,3}}(?:{_NAMES}|{_NOUNS}|[A-Z]{{2,6}}|(?i:v?\d{{1,2}}(?:\.\d{{1,2}})*(?:st|nd|rd|th)?|ed|[ivx]{{1,4}}"
    r"|of|the|de|la|der|del|creatinine|cystatin|egfr|mcdonald|duke|jones|beers))\b"
)
_BEFORE = re.compile(
    rf"(?:(?<!\w)(?:{_NAMES}|{_NOUNS})\b(?:{_MORE}){{0,5}}|(?i:copyright|\(c\)|\u00a9))[\s.,:()/-]{{0,3}}\Z"
)
_BEHIND = re.compile(
    rf"\)?[\s/-]{{1,2}}(?:(?:{_NAMES})\b|(?:[\w/-]{{1,20}}\s){{0,3}}{_NOUNS}\b)|\s?;\s?\d{{1,4}}\s?[(:]\s?\d"
)
_YEAR = re.compile(r"[\s(]*(?:19|20)\d\d(?:\s?[-/\u2013]\s?(?:\d\d|\d{4}))?[\s).]*")
# Dates of forms: "Rev. 03/2015", "Form CMS-1500 (02/12)".
_FORM = re.compile(r"(?i:\brev(?:ision)?(?:\sdate)?[.:]{1,2}\s{0,2}|\bform\s[a-z]{1,5}-?\d{1,5}[a-z]?\s{0,2}\()\Z")
# Days that everybody knows, and words beside them.
_DAYS = (
    (
        r"9[/-]11(?:[/-](?:20)?01)?|(?:the\s)?sept?(?:ember)?\.?\s11(?:th)?(?:,?\s2001)?|11\.?\sSept?ember(?:\s2001)?",
        r"attacks?|terror\w*|world\strade|twin\stowers|ground\szero|survivor|responder|anschl[\u00e4a]g\w*",
    ),
    (
        r"(?:the\s)?(?:july\s4(?:th)?|4th\sof\sjuly|7/4)",
        r"fireworks?|holidays?|weekend|parade|picnic|cook-?out|barbecue|bbq|party|independence",
    ),
    (r"2019", r"(?:2019\s?[-\s])?n-?cov|(?:novel\s)?coronavirus|covid|sars-cov-?2"),
)
# Numbers that count no days, of which a tagger may take one for a day: "8th ed.", "5th toe".
_COUNT = re.compile(r"\d{1,2}(?:st|nd|rd|th|\.)?")
_COUNTED = re.compile(
    r"(?:st|nd|rd|th|\.)?\s(?:ed\.|edition|revision|auflage|edici[o\u00f3]n|[e\u00e9]dition|edizione|toe|finger|digit|ribs?"
    r"|metacarpal|metatarsal|cranial|nerve|degree|trimester|percentile|intercostal|ics|mtp|mcp|grade|floor)(?!\w)",
    re.IGNORECASE,
)
_PATTERNS = tuple((re.compile(day, re.I), re.compile(rf"\b(?:{near})\b", re.I)) for day, near in _DAYS)
_NEAR = 40


def is_public_date(text: str, start: int, end: int) -> bool:
    """Whether a date of a note is none of the patient, but one that everybody knows from the words around it.

    A moved date reveals the shift of the patient: of "CKD-EPI 2021", the reader knows the year.

    Parameters
    ----------
    text : str
        Text of the note.
    start, end : int
        Place of the date.

    Examples
    --------
    >>> text = "eGFR (CKD-EPI 2021) is 45 since 2021"
    >>> is_public_date(text, 14, 18), is_public_date(text, 32, 36)
    (True, False)
    """
    written = text[start:end]
    before, behind = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    # The last sign first: a search at each place takes ten times as long.
    if before.rstrip()[-1:] in (".", ":", "(") and _FORM.search(before) is not None:
        return True
    if _COUNT.fullmatch(written) and _COUNTED.match(behind):
        return True
    if _YEAR.fullmatch(written) and (_BEFORE.search(before) or _BEHIND.match(behind)):
        return True
    beside = (before[-_NEAR // 2 :], behind[: _NEAR // 2])
    return any(day.fullmatch(written) and any(map(near.search, beside)) for day, near in _PATTERNS)
