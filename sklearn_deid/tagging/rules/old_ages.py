"""Rules for ages from 90 to 119 years whose number has no unit, is written in words, or is a word for the person.

The Safe Harbor rule of HIPAA removes these ages. Numbers of this size are rare in places where an age may stand, so
that weaker evidence is enough for them than for lower ages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .rule import Rule

_OLD = r"(?:9\d|1[01]\d)"
# The number is no part of a decimal number, a fraction, a date or a range.
_FREE = r"(?=[19])(?<![\d.,/+-])(?<!\d\x1f)"
# Behind a value with a unit, a clock time, a fraction or a decimal number.
_UNITS = (
    r"percent|pct|degrees?|deg|grad|[kcm]?g|mcg|kilos?|lbs?|pounds?|libras?|[cm]?m|mm\x1e?hg|[md]?l|lit\w{2,4}|feet|ft|bpm"
    r"|lpm|slag|beats?|breaths?|points?|punkte?|times|veces|fois|mal|steps|over|units?|ui|iu|ie|u|meq|m?mol|h|hrs?|hours?"
    r"|uhr|heures?|horas?|ore|uur|timer|stunden?|min\w{0,6}|sec\w{0,6}|days?|d[ií]as?|jours?|tagen?|tage|dager|giorni"
    r"|dagen|weeks?|weken|wks?|semanas?|semaines?|wochen?|uker|settimane|months?|mos?|meses|mois|monate?n?|m[åa]neder|mesi"
    r"|maanden|patients?|subjects?|cases|people|sesiones|sess\w{1,2}es|sessions?|s[ée]ances?|[ap]\.?m|ra|on|x"
)
_VALUE = (
    rf"[\d/%°^]|[.,:-]\d|\s?-\s?\d|\s?(?:(?:(?i:{_UNITS})|[FC])(?![^\W\d_])|%)"
    # "The leg was turned 90 to the left."
    r"|\s(?i:(?:counter-?)?clockwise|to(?:wards?)?\s(?:(?:the|his|her)\s)?(?:left|right|front|back))\b"
)
_PEOPLE = (
    r"(?:patient|pt|mother|father|mom|mum|dad|wife|husband|spouse|sister|brother|aunt|uncle|grand(?:ma|pa|mother|father)"
    r"|gm|gf|man|woman|lady|gentleman)"
)
_SEX = r"(?:male|female|man|woman|lady|gentleman)"
# What follows "95 y" in English notes. The Spanish word "y" also stands between two values ("de 95 y 110").
_BEHIND_Y = (
    rf"\.?\s{{0,2}}\Z|\s?[,;):]|\.\s|\s?-\s?[^\W\d_]|\s(?:{_SEX}|w|s|[chpr]/o|with|who|whose|from|in|at|on|admitted"
    r"|present\w{1,3}|seen|brought|found|fell|fallen|liv(?:es|ing)|here|hispanic|white|black|african|caucasian|asian|right"
    r"|left|veteran|widow\w{0,3}|resident|retired|transferr?ed|referred|complain\w{1,3}|status|known|has|had|is|was|for"
    r"|and|dob|rhd|aa[mf]|hr|bp|rr|pulse|chf|copd|cad|ckd|esrd|htn|afib|dementia)\b|\st:?\s(?:9[5-9]|10[0-5])\.\d"
)
_ROOM = r"(?i:\b(?:room|rm|bed|bay|ward|unit|cubicle|suite|apt|no|hr|rr|pulse)\b[\s.:]{0,2}|#\s?)"

# Words directly before an age. The last word is followed by a space.
_AFTER = {
    "en": r"\b(?:turn(?:s|ed|ing)?|ages?|aged|d\.)[\s:]"
    r"|\b(?:died|dies|death|passed(?: away)?|expired|deceased|diagnosed)"
    r" (?:at|(?:at )?(?:the )?age(?:d|(?: of)?)?) |\bliv(?:es|ed|ing) (?:past|to|to be|until|till) "
    rf"|\b{_SEX}[,:/]?\s\(?",
    "es": r"\bcumpl\w{1,6}(?: los)? |\b(?:falleci|muri|fallec|mor)\w{1,5} (?:a los|con) |\bedad (?:de|es) ",
    "de": r"\b(?:(?:ver)?st(?:arb|erben)\w{0,2}|alter von|anfang|mitte|ende)(?: mit)? ",
    "fr": r"\b(?:d[ée]c[ée]d\w{1,4}|morte?|mourut) [àa] (?:l'[âa]ge de )?",
    "nb": r"\b(?:døde|fyl(?:te|ler|t))(?: som| ved)? ",
    "it": r"\b(?:decedut|mort|decess)[aoie] (?:a|all'et[àa] di) |\bcompi\w{2,5} (?:gli )?",
    "pt": r"\b(?:falece|morre|faleci|[óo]bito)\w{0,4} (?:aos|com) |\b(?:complet\w{1,4}|fez) |\bidade de ",
    "nl": r"\b(?:overl(?:eden|eed)|gestorven|stierf) (?:op|met) |\b(?:begin|eind|midden) ",
}
# Letters for the sexes, which stand before a slash and an age.
_SEXES = {"en": "MF", "es": "MVHF", "de": "mwMWF", "fr": "HFM", "nb": "MKmk", "it": "MF", "pt": "MFH", "nl": "MVmv"}
_ONES = {
    "en": "one two three four five six seven eight nine",
    "es": "uno un una dos tres cuatro cinco seis siete ocho nueve",
    "de": "ein eins zwei drei vier fünf fuenf sechs sieben acht neun",
    "fr": "un une deux trois quatre cinq six sept huit neuf",
    "nb": "en ett to tre fire fem seks sju syv åtte ni",
    "it": "due tre tré quattro cinque sei sette nove",
    "pt": "um uma dois duas três tres quatro cinco seis sete oito nove",
    "nl": "een één twee drie vier vijf zes zeven acht negen",
}
_TEENS = {
    "en": "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    "es": "diez once doce trece catorce quince diecis[ée]is diecisiete dieciocho diecinueve",
    "de": "zehn elf zw[öo]e?lf dreizehn vierzehn",
    "fr": "dix onze douze treize quatorze",
    "nb": "ti elleve tolv tretten fjorten",
    "it": "dieci undici dodici tredici uno otto",
    "pt": "dez onze doze treze catorze",
    "nl": "tien elf twaalf dertien veertien",
}
# Numbers from 90 to 119 in words: {ones} and {teens} are the words above.
_WORDS = {
    "en": r"ninety(?:[\s-]{1,2}(?:{ones}))?|(?:one\s)?hundred(?:(?:[\s-]and)?[\s-](?:{ones}|{teens}))?",
    "es": r"noventa(?:\sy\s(?:{ones}))?|cien|ciento\s(?:{ones}|{teens})",
    "de": r"(?:(?:{ones})und)?neunzig|(?:ein)?hundert(?:(?:und)?(?:{ones}|{teens}))?",
    "fr": r"quatre[\s-]vingts?[\s-](?:dix(?:[\s-](?:sept|huit|neuf))?|onze|douze|treize|quatorze|quinze|seize)"
    r"|nonante(?:[\s-](?:et[\s-])?(?:{ones}))?|cent(?:[\s-](?:{ones}|{teens}))?",
    "nb": r"nitti(?:{ones})?|hundre(?:\sog\s(?:{ones}|{teens}))?",
    "it": r"novant(?:a(?:{ones})?|uno|otto)|cento(?:{ones}|{teens})?",
    "pt": r"noventa(?:\se\s(?:{ones}))?|cem|cento\se\s(?:{ones}|{teens})",
    "nl": r"(?:(?:{ones})[eë]n)?negentig|honderd(?:\s?(?:en\s?)?(?:{ones}|{teens}))?",
}
# Parts of all these numbers.
_TENS = {
    "en": ("ninet", "hundred"),
    "es": ("noventa", "cien"),
    "de": ("neunzig", "hundert"),
    "fr": ("vingt", "nonante", "cent"),
    "nb": ("nitti", "hundre"),
    "it": ("novant", "cento"),
    "pt": ("noventa", "cem", "cento"),
    "nl": ("negentig", "honderd"),
}
# Units behind a number in words. In some languages, the unit is a part of the same word.
_YEARS = {
    "en": r"[\s-]{1,2}(?:years?|yrs?|y/?o)",
    "es": r"\saños?",
    "de": r"(?:\sjahren?|\sjahre|-?\s?j[äa]e?hrig\w{0,2})",
    "fr": r"\sans",
    "nb": r"(?:\sårs?|-?åring\w{0,2}|\sårig)",
    "it": r"(?:\sanni|enn[ei])",
    "pt": r"\sanos",
    "nl": r"(?:\sjaar|-?\s?jarigen?|-?\s?jarige)",
}
# Words for a person of such an age.
_NOUNS = {
    "en": "nonagenarians?|(?:super-?)?centenarians?",
    "es": "nonagenari[oa]s?|centenari[oa]s?|noventañer[oa]s?",
    "de": "neunziger(?:in)?|hundertjährige[rn]?",
    "fr": "nonag[ée]naires?|centenaires?",
    "nb": "nittiåring(?:en)?|hundreåring(?:en)?",
    "it": "(?:ultra)?nonagenari[oa]|(?:ultra)?centenari[oa]|(?:ultra)?novantenn[ei]",
    "pt": "nonagen[áa]ri[oa]s?|centen[áa]ri[oa]s?",
    "nl": "negentigers?|honderdjarigen?",
}
_PARTS_OF_NOUNS = (
    "nonag",
    "centen",
    "novent",
    "novant",
    "neunzig",
    "hundert",
    "nitti",
    "hundre",
    "negentig",
    "honderd",
)
# Signs behind a number in order, and the word for a birthday.
_BIRTHDAYS = {
    "en": (r"\x1f?(?:st|nd|rd|th)", r"birthday|b-?day"),
    "es": (r"\s?[º°ª.]?", r"cumpleaños|aniversario"),
    "de": (r"\.?", r"geburtstag\w{0,2}"),
    "fr": (r"\x1f?(?:e|[èe]me|er)", r"anniversaire"),
    "nb": (r"\.?", r"(?:års|bursdag|fødselsdag)\w{0,3}"),
    "it": (r"\s?[º°]?", r"compleanno"),
    "pt": (r"\s?[º°.]?", r"anivers[áa]rio"),
    "nl": (r"\x1f?(?:st|d)?e", r"verjaardag"),
}
_IN_ORDER = (
    r"ninetieth|ninety-(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|(?:one[\s-])?hundredth"
    r"|(?:one[\s-])?hundred(?:[\s-]and)?[\s-](?:first|second|third|fourth|fifth)"
)


def _old(name: str, language: str, pattern: str, **more: Any) -> Rule:
    more = {"needs": "19", "priority": 0, **more}
    return Rule(name, "age", "AGE", pattern, (language,), **more)


def _in_words(language: str) -> str:
    """Pattern of a number from 90 to 119 in the words of a language."""
    ones, teens = ("|".join(reversed(words[language].split())) for words in (_ONES, _TEENS))
    return _WORDS[language].replace("{ones}", ones).replace("{teens}", teens)


# The first letter of the word for years. "100 J" and "95 a 110" are values.
_LETTERS_OF_YEARS = {
    "de": r"J(?:\.(?!\d)|(?=,?\s?[mw]\b))",
    "es": r"a(?=[,;.)])",
    "fr": r"a(?=[,;.)])",
    "pt": r"a(?=[,;.)])",
    "nl": r"j(?![\w/])",
}


def _with_letter(language: str) -> Rule:
    """Rule for a high age before the first letter of the word for years."""
    # No look-behind first: the first digit is looked for in a fraction of the time.
    pattern = rf"(?P<phi>9[1-9]|1[01][1-9])[ \x1f]?{_LETTERS_OF_YEARS[language]}"
    return _old(
        f"age-old-letter-{language}",
        language,
        pattern,
        not_after=r"[\d.,/+-]|\d\x1f|\b(?:mit|met|con|avec|com|je|de)\s",
    )


def _old_in(language: str) -> tuple[Rule, ...]:
    """Rules for high ages that all languages have."""
    words, after = _in_words(language), _AFTER[language].replace(" ", r"\s")
    sign, day = _BIRTHDAYS[language]
    return (
        _old(f"age-old-after-{language}", language, rf"{_FREE}{_OLD}(?!\d)", after=rf"(?i:{after})", not_before=_VALUE),
        _old(
            f"age-old-in-words-after-{language}",
            language,
            rf"(?<![^\W\d_])(?i:{words})(?!\w)",
            needs="nNmM",
            words=_TENS[language],
            after=rf"(?i:{after})",
            not_before=_VALUE,
        ),
        _old(
            f"age-old-in-words-{language}",
            language,
            rf"(?<![^\W\d_])(?P<phi>(?i:{words}))(?i:{_YEARS[language]})(?!\w)",
            priority=1,
            needs="nNmM",
            words=_TENS[language],
        ),
        _old(
            f"age-old-noun-{language}",
            language,
            rf"(?<!\w)(?i:{_NOUNS[language]})(?!\w|\s(?i:hospital|cl[íi]nic|jahre|jaren))",
            needs="nNmM",
            words=_PARTS_OF_NOUNS,
        ),
        _old(f"age-birthday-{language}", language, rf"{_FREE}(?P<phi>{_OLD}){sign}[\s-]{{0,2}}(?i:{day})(?!\w)"),
        _old(
            f"age-old-behind-sex-{language}",
            language,
            rf"(?<![\w/.°-])(?<!\d\s)(?<!\d\x1f)(?<!/\s)[{_SEXES[language]}]\s?/\s?(?P<phi>{_OLD})(?!\s?/)",
            not_before=_VALUE,
        ),
    )


# Also O'Alder and Alder-Roe.
_NAME = r"[^\W\d_][\w'-]{1,20}"
_OF_PERSON = (
    rf"\b(?i:s?he|{_PEOPLE})(?:\s(?i:is|was)|'s|,)\s(?:(?i:now|nearly|almost|about|only|already)\s)?"
    rf"|\b(?i:{_PEOPLE})\s\("
)
_ENDS = r"(?=\.?\s{0,2}\Z|\.\s|[,;:!?)]|\s(?:and|with|who|now|but|so|living)\b)(?![.,:]\d)"
_ENGLISH = (
    # "He is 95.", "Pt is 95 and frail"
    _old("age-old-of-person", "en", rf"{_FREE}{_OLD}{_ENDS}", after=_OF_PERSON),
    _old(
        "age-old-in-words-of-person",
        "en",
        rf"\b(?i:{_in_words('en')})\b{_ENDS}",
        needs="nN",
        words=_TENS["en"],
        after=_OF_PERSON,
    ),
    # "95 woman", "95 WF", "95y", "90+ years", but not the Spanish "95 y 110" or "S100 y CD99"
    _old(
        "age-old-and-person",
        "en",
        rf"{_FREE}(?<![^\W\d_])(?P<phi>{_OLD})(?:[\s-](?i:{_SEX})(?!\w|\s(?i:patients|subjects))|\s?(?:(?:W|B|AA)\s?[FM]|HM)\b"
        rf"|y(?![\w-])|\sy(?=(?i:{_BEHIND_Y}))"
        r"|\s?(?i:y)\s?/?\s?[FM]\b|\s?\+\s?(?i:years?|yrs?|y/?o)\b|\s?(?i:yo)\x1e?(?i:[fm])\b"
        r"|-(?i:years?|yrs?)\b)",
        not_after=_ROOM,
    ),
    # "her 100th", but not "her 95th percentile"
    _old(
        "age-old-in-order",
        "en",
        rf"{_FREE}(?P<phi>{_OLD})\x1f?(?:st|nd|rd|th)(?!\w|\s?(?:%|-?(?i:percentile|centile|pctl|day|dose|visit|treatment"
        r"|session|cycle|admission|procedure|transfusion|rep)))",
        after=r"\b(?i:his|her|their)\s",
    ),
    _old(
        "age-birthday-in-words",
        "en",
        rf"\b(?P<phi>(?i:{_IN_ORDER}))(?=\s(?i:birthday|b-?day|year\sof\slife)\b)",
        needs="nNmM",
        words=_TENS["en"],
    ),
    # "Mrs Alder, 95, was seen"
    _old(
        "age-old-behind-title",
        "en",
        rf"{_FREE}{_OLD}(?=[,;)]|\s?[FM]\b)",
        after=rf"\b(?i:mrs?|ms|miss|dr|prof)\.?\s{_NAME}(?:\s{_NAME})?(?:,\s|\s\()",
    ),
    # "aged 88-92", "ages 92 and 95"
    _old(
        "age-old-in-range",
        "en",
        rf"(?<![\d.,/+-])\d{{1,3}}-{_OLD}(?!\d)",
        priority=2,
        after=r"\b(?i:aged?|ages)[\s:]{1,3}",
        not_before=_VALUE,
    ),
    _old(
        "age-old-second",
        "en",
        rf"{_FREE}{_OLD}(?!\d)",
        after=r"\b(?i:aged?|ages)[\s:]{1,3}\d{1,3}\s(?i:and|to|or)\s",
        not_before=_VALUE,
    ),
)
_ALL = (*_ENGLISH, *map(_with_letter, _LETTERS_OF_YEARS), *(rule for language in _AFTER for rule in _old_in(language)))
OLD_AGE_RULES = (
    *_ALL,
    *(replace(rule, name=f"{rule.name}-over-89", family="age-over-89") for rule in _ALL),
)
