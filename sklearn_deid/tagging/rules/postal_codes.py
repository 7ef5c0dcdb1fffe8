"""Rules for postal codes of the United States and of Spain."""

from __future__ import annotations

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


POSTAL_RULES = (
    Rule("zip-after-state", "zip", "ZIP", rf"\b{_STATE}\.?,?\s{{1,3}}(?P<phi>\d{{5}}(?:-\d{{4}})?){_END}", ("en",), 1),
    Rule(
        "zip-named", "zip", "ZIP", rf"\b(?i:zip(?: code)?)[\s:]{{1,3}}(?P<phi>\d{{5}}(?:-\d{{4}})?){_END}", ("en",), 2
    ),
    Rule(
        "codigo-postal",
        "zip",
        "ZIP",
        r"\b(?i:cp|c\.p|c[óo]digo postal)[\s.:]{1,4}(?P<phi>\d{5})(?!\d)",
        ("es",),
        2,
        _spanish_length,
    ),
    Rule(
        "codigo-postal-y-lugar",
        "zip",
        "ZIP",
        r"(?<!\d)(?<!\d[-./ ])(?P<phi>\d{5})(?=[\s,.(-]{1,3}[A-ZÁÉÍÓÚÑ][^\W\d_A-Z])",
        ("es",),
        0,
        _spanish_length,
    ),
)
