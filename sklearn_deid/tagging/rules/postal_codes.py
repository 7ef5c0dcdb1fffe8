"""Rules for postal codes."""

from __future__ import annotations

from typing import Any

from .rule import Rule

_CODES = (
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR "
    "PA RI SC SD TN TX UT VT VA WA WV WI WY PR"
).split()
# Last words of the names of states: "Hampshire" also matches "New Hampshire".
_NAMES = (
    "Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware Florida Georgia Hawaii Idaho Illinois "
    "Indiana Iowa Kansas Kentucky Louisiana Maine Maryland Massachusetts Michigan Minnesota Mississippi Missouri "
    "Montana Nebraska Nevada Hampshire Jersey Mexico York Carolina Dakota Ohio Oklahoma Oregon Pennsylvania Island "
    "Tennessee Texas Utah Vermont Virginia Washington Wisconsin Wyoming"
).split()
_STATE = "(?:" + "|".join([*_CODES, *_NAMES]) + ")"
_END = r"(?!\d)(?![-/]\d)"


def _spanish_length(text: str) -> int:
    """Length of a Spanish postal code, whose first two digits are the number of one of 52 provinces."""
    return len(text) * (1 <= int(text[:2]) <= 52)


def _zip(name: str, pattern: str, language: str, *more: Any, **settings: Any) -> Rule:
    return Rule(name, "zip", "ZIP", pattern, (language,), *more, **settings)


# A number before a capital is also "20000 Leukozyten". A house number, a comma or the start of a line stands before a
# postal code, and no word for cells or doses behind.
_START = (
    r"(?:\A|[\n,;(|][\s]?|(?<!\d)\d{1,3}\s?[a-zA-Z]?(?:\s-)?\s{1,2}|\b(?:in|aus|nach|à|em|i|a|te)\s|\b(?:D|F|I|N|B|L)-)"
)
_NO_CELLS = (
    r"(?!\s{1,2}(?i:einheit|leu[ck]oc|leuko|tromboc|thrombo|ery|eritro|lympho|linfo|keime|zellen|c[ée]lulas|unit|plaq"
    r"|piastr|hemat[íi]e))"
)
_TOWN = r"(?=[\s-]{1,2}(?:[A-ZÀ-ÖØ-Þ][^\W\d_A-Z]|[A-ZÀ-ÖØ-Þ]{4}))" + _NO_CELLS
_FIVE = r"\d{2}\s?\d{3}"
_FORMS = {
    "de": (_START + rf"(?P<phi>\d{{5}}){_TOWN}", r"plz|postleitzahl", r"\d{5}"),
    "fr": (_START + rf"(?P<phi>{_FIVE}){_TOWN.replace('Þ][^', 'Þ][A-ZÀ-Þ]?[^')}", r"cp|code\spostal", _FIVE),
    "it": (_START + rf"(?P<phi>\d{{5}}){_TOWN}", r"c\.?a\.?p|codice\spostale", r"\d{5}"),
    # 1900 to 2099 are years more often than codes.
    "nb": (_START + rf"(?P<phi>(?!19|20)\d{{4}}){_TOWN}", r"postnummer|postnr", r"\d{4}"),
    "pt": (
        r"(?<![\d-])(?P<phi>(?:[1-9]\d{3}|\d{5})-\d{3})(?=[\s,.]{1,2}[A-ZÀ-Þ])",
        r"c[óo]digo\spostal|cp|cep",
        r"\d{5}-?\d{3}|\d{4}(?:-\d{3})?",
    ),
    "nl": (
        # "1500 ML NaCl" is a dose.
        r"(?<![\d-])(?P<phi>(?!\d{2}00\s?(?:ML|MG|KG|CC|IE|EH))[1-9]\d{3}\s?(?!SA|SD|SS)[A-Z]{2})(?![\w-])"
        r"(?=\s{1,2}[A-Z])",
        "postcode",
        r"\d{4}\s?[A-Z]{2}",
    ),
}


def _codes_of(language: str) -> tuple[Rule, ...]:
    """Rules for postal codes before a town, and for postal codes after a keyword."""
    form, name, code = _FORMS[language]
    named = rf"\b(?i:{name})[\s.:]{{1,3}}(?P<phi>{code}){_END}"
    return (
        _zip(f"zip-{language}", form, language, 0),
        _zip(f"zip-named-{language}", named, language, 2),
    )


POSTAL_RULES = (
    # Letters and digits of the British and Canadian codes; "T1N 0M0" is a stage of a tumour.
    _zip(
        "zip-uk",
        r"(?=[A-Z])(?<![\w-])(?P<phi>[A-Z]{1,2}\x1f?\d(?:\d|\x1f?[A-Z])?[ \x1f]"
        r"\d\x1f?[ABD-HJLNP-UW-Z]{2})(?![\w\x1f-])",
        "en",
        0,
    ),
    _zip(
        "zip-ca",
        r"(?=[A-Z])(?<![\w-])(?!T\x1f?\d\x1f?N)(?P<phi>[A-Z]\x1f?\d\x1f?[A-Z][ \x1f]\d\x1f?[A-Z]\x1f?\d)(?![\w-])",
        "en",
        0,
    ),
    _zip("zip-at-ch", r"\b(?:A|CH)-(?P<phi>\d{4})(?=\s{1,2}[A-ZÄÖÜ][^\W\d_A-Z])", "de", 0),
    # The number first, because many more texts have a word for a state than five digits in a row.
    _zip(
        "zip-after-state",
        rf"(?=\d)(?<=\s)\d{{5}}(?:-\d{{4}})?{_END}",
        "en",
        1,
        after=rf"\b{_STATE}\.?,?\s{{1,3}}",
    ),
    _zip("zip-named", rf"\b(?i:zip(?: code)?)[\s:]{{1,3}}(?P<phi>\d{{5}}(?:-\d{{4}})?){_END}", "en", 2, words=("zip",)),
    _zip("codigo-postal", r"\b(?i:cp|c\.p|c[óo]digo postal)[\s.:]{1,4}(?P<phi>\d{5})(?!\d)", "es", 2, _spanish_length),
    _zip(
        "codigo-postal-y-lugar",
        r"(?=\d)(?<![^\W_])(?<!\d[-./ ])(?P<phi>\d{5})(?=[\s,.(-]{1,3}[A-ZÁÉÍÓÚÑ][^\W\d_A-Z])" + _NO_CELLS,
        "es",
        0,
        _spanish_length,
    ),
    *(rule for language in _FORMS for rule in _codes_of(language)),
)
