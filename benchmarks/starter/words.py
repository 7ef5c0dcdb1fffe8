"""Words without PHI: words of medicine, everyday words and numbers."""

from __future__ import annotations

from collections.abc import Callable

from sklearn_deid.surrogates import Chance, dates, identifiers

from .ages import ordinal
from .diagnoses import diagnosis
from .lists import everyday, held_out_words, only_held_out, vocabulary
from .names import invented_name
from .open_words import drug_names, english_words
from .scene import Scene

_STEMS = "ab al bri car da ela fo gal ibu ka lor mir na ola pex qui ri sa tel ul va zo pe lu mo ti".split()
_MIDDLES = "li ra to xi ne mu da ci lo ri va te pi so".split()
_DRUG_ENDS = (
    "mab nib pril sartan olol statin azole mycin cillin floxacin gliptin gliflozin tide vir pam prazole dipine".split()
)
_DRUG_ENDS += "triptan setron parin xaban caine barbital cycline oxetine lukast terol sone nide fen".split()
_BRAND_ENDS = (
    "xa ra vy zyn lix trex vant quis pro ta dia zia lyn tex via nex fen rix qua max kya pta cor tiq XR HCT".split()
)
_ROOTS = (
    "cardi nephr hepat gastr enter col neur encephal myel oste arthr derm angi phleb thromb aden bronch pneum".split()
)
_ROOTS += (
    "pleur pancreat splen cyst ureter hyster salping oophor orch mast thyr laryng pharyng rhin ot kerat retin".split()
)
_ENDS = (
    "itis opathy osis omegaly ectasia algia oma oplasty oscopy ectomy otomy ostomy orrhea omalacia osclerosis".split()
)
_ENDS += "ogenic otoxicity ocele olithiasis ospasm oplegia emia".split()
_SIDES = "acute chronic mild severe bilateral left right diffuse focal moderate small large recurrent benign".split()


def plain(part: str, form: str, scene: Scene) -> str:
    """A word or a number of a slot without PHI."""
    chance = scene.chance
    if part == "o":
        return _NUMBERS[form](chance)
    kind = {**_LISTS, "drug": "drugs"}.get(part, "")
    if scene.held_out and kind in held_out_words() and chance.happens(scene.new_words):
        made = chance.pick(held_out_words()[kind])
    elif part == "icd" or (part == "dis" and chance.happens(_CLASSIFIED)):
        made = diagnosis(chance, scene.held_out, form)
    elif part in _EVERYDAY:
        made = _everyday(part, scene)
    elif part in _OF_SCENE and (part in _ALWAYS or (not scene.held_out and chance.happens(_RARE.get(part, _OPEN)))):
        made = _OF_SCENE[part](scene)
    else:
        made = _WORDS[part](chance) if part in _WORDS else chance.pick(vocabulary()[_LISTS[part]])
    if form == "cap":
        return made[:1].upper() + made[1:]
    return {"caps": made.upper(), "title": made.title()}.get(form, made)


def _everyday(part: str, scene: Scene) -> str:
    """An everyday word; one word of five is held out, and one of 25 is of random syllables."""
    chance, kind = scene.chance, _EVERYDAY[part]
    if chance.happens(0.04):
        return invented_name(chance).lower()
    if scene.held_out:
        return chance.pick(everyday(kind, chance.happens(0.5)))
    # Half of the words of the training are any English words, so that it meets many thousand of them.
    return chance.pick(english_words(_ENGLISH[part]) if chance.happens(_OPEN) else everyday(kind, False))


_EVERYDAY = {"noun": "nouns", "med": "clinical", "did": "past", "do": "verbs", "adj": "adjectives", "adv": "adverbs"}
_ENGLISH = {"noun": "noun", "med": "noun", "did": "past", "do": "verb", "adj": "adj", "adv": "adv"}
_LISTS = {
    "dis": "diseases",
    "sym": "symptoms",
    "test": "tests",
    "proc": "procedures",
    "spc": "specialties",
    "brand": "brands",
    "abb": "abbreviations",
    "epo": "eponyms",
    "body": "bodies",
    "race": "races",
    "dur": "durations",
    "finding": "findings",
    "heading": "headings",
    "verb": "verbs",
    "nat": "nationalities",
}


def _new_drug(chance: Chance) -> str:
    return chance.pick(_STEMS) + (chance.pick(_MIDDLES) if chance.happens(0.6) else "") + chance.pick(_DRUG_ENDS)


def _new_brand(chance: Chance) -> str:
    """A brand that no list has: not every unknown word with a capital is a name."""
    stem = chance.pick(_STEMS).capitalize() + (chance.pick(_MIDDLES) if chance.happens(0.5) else "")
    return stem + chance.pick(_BRAND_ENDS)


def _new_term(chance: Chance) -> str:
    prefix = chance.pick(("", "", "peri", "endo", "hyper", "hypo", "poly", "intra", "micro", "dys"))
    return f"{chance.pick(_SIDES)} " * chance.happens(0.5) + prefix + chance.pick(_ROOTS) + chance.pick(_ENDS)


def _drug(chance: Chance) -> str:
    kind = chance.uniform()
    if kind < 0.12:
        return _new_drug(chance)
    written = chance.pick(vocabulary()["brands" if kind < 0.4 else "drugs"])
    return written[:1].upper() + written[1:] if chance.happens(0.15) else written


def _disease(chance: Chance) -> str:
    kind = chance.uniform()
    if kind < 0.15:
        return _new_term(chance)
    return chance.pick(vocabulary()["eponyms" if kind < 0.3 else "abbreviations" if kind < 0.35 else "diseases"])


def _open_drug(scene: Scene) -> str:
    name = scene.chance.pick(drug_names())
    return name.capitalize() if scene.chance.happens(0.3) else name


def _open_words(scene: Scene) -> str:
    """Words of all kinds in no order, a third of them rare ones."""
    chance = scene.chance
    kinds = ("noun", "noun", "past", "adj", "adv")
    common = vocabulary()["common"]
    words = (english_words(chance.pick(kinds)) if chance.happens(0.35) else common for _ in range(chance.number(3, 9)))
    return " ".join(chance.pick(of) for of in words)


def _surname(scene: Scene) -> str:
    """A surname that names no person here, from the lists that give patients and doctors theirs."""
    while True:
        name = scene.name(1)
        if " " not in name and not (not scene.held_out and name.lower() in only_held_out()):
            return name


def _eponym(scene: Scene) -> str:
    """A term that bears a surname: the words around decide whether a surname is that of a person."""
    chance = scene.chance
    name, head, kind = _surname(scene), chance.pick(vocabulary()["eponym heads"]), chance.uniform()
    if kind < 0.42:
        return f"{name} {head}"
    if kind < 0.64:
        return f"{name}{chance.pick(_POSSESSIVES)} {head}"
    if kind < 0.76:
        return f"{name}-{_surname(scene)} {head}"
    if kind < 0.84:
        return f"{name} {chance.pick(_DEGREES)} {chance.pick(_RANKS)}"
    if kind < 0.89:
        return f"{name} and {_surname(scene)} {head}"
    return f"{chance.pick(_BEFORE_EPONYMS)} {name} {head}"


_POSSESSIVES = ("'s", "'s", "'s", "\u2019s")
_DEGREES = "grade stage class type level classification score category group zone".split()
_RANKS = "I II III IV 1 2 3 4 A B C".split()
_BEFORE_EPONYMS = (
    "modified|revised|positive|negative|equivocal|classic|early|late|severe|mild|known|suspected|possible|no|bilateral|"
    "left|right|anterior|posterior|primary|secondary|familial|juvenile|atypical|refractory|non|anti|repeat|standard|the"
).split("|")
_OPEN = 0.5  # probability that a word of the training comes from a long list or from the names of people
# Well-known drugs and brands must stay known.
_RARE = {"drug": 0.35, "brand": 0.35}
_OF_SCENE: dict[str, Callable[[Scene], str]] = {
    "drug": _open_drug,
    "brand": lambda s: s.chance.pick(drug_names()).capitalize(),
    "words": _open_words,
    "epo": _eponym,
    "eponym": _eponym,
    "epn": _surname,
}
_ALWAYS = ("eponym", "epn")  # no list has them

_CLASSIFIED = 0.4  # probability that a disease is one of ICD-10-CM
_AMOUNTS = (2.5, 5, 10, 20, 25, 40, 50, 75, 81, 100, 250, 500, 1000)
_CLOCKS = ("{:02d}{:02d}", "{:02d}{:02d}", "{:02d}:{:02d}")
_UNITS = ("mg", "mg", "mcg", "g", "mL", "units")
_WORDS: dict[str, Callable[[Chance], str]] = {
    "drug": _drug,
    "dis": _disease,
    "newdrug": _new_drug,
    "newbrand": _new_brand,
    "newterm": _new_term,
    "words": lambda c: " ".join(c.pick(vocabulary()["common"]) for _ in range(c.number(3, 9))),
    "dose": lambda c: f"{c.pick(_AMOUNTS)} {c.pick(_UNITS)}",
    "num": lambda c: c.pick(
        (str(c.number(1, 400)), c.decimal(0.1, 15, 1), f"{c.number(10, 99)}%", f"{c.decimal(1, 9, 1)} mg/dL")
    ),
    "yo": lambda c: c.pick(("-year-old", "-year-old", " year old", " yo", "yo", " y/o", "y", "-yr-old", "-yo")),
    "cred": lambda c: c.pick(
        ("MD", "M.D.", "DO", "RN", "NP", "PA-C", "PhD", "MBBS", "FACS", "MD, FACC", "PT, DPT", "LCSW")
    ),
    "rel": lambda c: c.pick(
        ("wife", "husband", "son", "daughter", "mother", "father", "brother", "sister", "aunt", "friend")
    ),
    "sex": lambda c: c.pick("MF"),
    "clock": lambda c: c.pick(_CLOCKS).format(c.number(0, 23), c.number(0, 59)),
    "nl": lambda c: "\n",
    "tab": lambda c: "\t",
    "verb": lambda c: c.pick(vocabulary()["verbs"]),
}

_MONEY = ("${}", "${},000", "{} dollars", "\u20ac{}", "{} EUR", "\u00a3{}", "USD {}", "{} pounds", "{}.50", "Rs. {}")


def _made(*forms: str) -> Callable[[Chance], str]:
    """Numbers of several forms; # is a digit, and + a digit that is not zero."""

    def make(chance: Chance) -> str:
        form = chance.pick(forms)
        return "".join(str(chance.number(c == "+", 9)) if c in "#+" else c for c in form)

    return make


_LETTERS = "AABCCDDEFGHIIKLLMMNOPPRRSSTTUVWX"


def _abbreviation(chance: Chance) -> str:
    """Some capitals: abbreviations of wards are more than any list has."""
    letters = [chance.pick(_LETTERS) for _ in range(chance.weighted(((2, 2), (3, 5), (4, 3), (5, 1))))]
    kind = chance.uniform()
    if kind < 0.08:
        letters[-1] = letters[-1].lower()
    elif kind < 0.16:
        letters.insert(1, chance.pick("/&-"))
    elif kind < 0.24:
        letters[0] = letters[0].lower()
    elif kind < 0.34:
        return ".".join(letters) + chance.pick(("", "."))
    return "".join(letters)


def _dotted(chance: Chance) -> str:
    """An abbreviation with a period after each letter."""
    listed = chance.pick(vocabulary()["abbreviations"])
    word = listed if listed.isalpha() and len(listed) < 6 and chance.happens(0.6) else ""
    word = word or "".join(chance.pick(_LETTERS) for _ in range(chance.weighted(((2, 5), (3, 4), (4, 1)))))
    return ".".join(word.lower() if chance.happens(0.25) else word.upper()) + "."


def _scale(chance: Chance) -> str:
    """The abbreviation of a score: capitals of any casing, some with a number or a part behind."""
    made = "".join(chance.pick(_LETTERS).lower() if chance.happens(0.2) else chance.pick(_LETTERS) for _ in range(4))
    made = made[: chance.number(3, 4)]
    return made + chance.pick(
        ("", "", "", f"-{chance.number(2, 30)}", f"-{chance.pick(_LETTERS)}", f" {chance.pick(_LETTERS)}")
    )


_NUMBERS: dict[str, Callable[[Chance], str]] = {
    "age": lambda c: str(c.number(1, 89)),  # replaced by an annotated age: see `texts`
    "year": lambda c: str(c.number(1995, 2026)),
    "digit": lambda c: str(c.number(1, 9)),
    "num": lambda c: str(c.number(5, 90)),
    "tens": lambda c: str(10 * c.number(4, 12)),
    "nth": lambda c: ordinal(c.number(3, 99)),
    "hour": lambda c: str(c.number(1, 9)),
    "time": lambda c: dates.clock(c.number(0, 1439), c.number(0, 3)),
    "bp": lambda c: f"{c.number(90, 190)}/{c.number(40, 110)}",
    "hr": lambda c: str(c.number(45, 150)),
    "rr": lambda c: str(c.number(8, 32)),
    "temp": lambda c: c.decimal(96, 104, 1),
    "sat": lambda c: str(c.number(80, 100)),
    "icd": lambda c: f"{c.pick('EIJKMNRZ')}{c.number(10, 99)}.{c.number(0, 9)}",
    "cpt": lambda c: str(c.number(99201, 99499)),
    "service": lambda c: str(c.pick((c.number(90_000, 99_499), c.number(97_000, 97_799), c.number(10_021, 79_999)))),
    "lot": lambda c: f"{identifiers.letters(c, 2)}{c.number(1000, 9999)}",
    "expiry": lambda c: f"{c.number(1, 12)}/{c.number(25, 30)}",
    "tail": lambda c: c.pick((" today.", " and is better.", ".", " without complaints.", " since the visit.")),
    "o": lambda c: "",
    "money": lambda c: c.pick(_MONEY).format(c.number(1, 900)),
    "range": _made("+-#", "+-+#", "+ to +", "+#-+#", "+0-+5", "0.#-+.#", "+\u2013#"),
    "ratio": _made("+/10", "+/5", "+:+", "+#:+", "1:+0", "+#/+#", "x+", "+x", "+x+x+", "+.# x +.#", "#+%", "+.#%"),
    "big": _made("+,###", "+##", "+#,###", "+.# million", "+##,000", "+###", "10^+", "+.#e+"),
    "lab": _made("+.#", "0.##", "++.#", "+#", "+##", "<0.0#", ">+#", "+.# mg/dL", "+## mmol/L", "+# U/L", "+#%"),
    "size": _made("+ mm", "+.# cm", "+ x + cm", "+ x + x + mm", "+#F", "+# Fr", "+-0", "size +", "+#g", "+ L", "+# kg"),
    "gene": lambda c: c.pick(
        ("BRCA{}", "EGFR L{}R", "KRAS G{}C", "HER{}", "CD{}", "IL-{}", "JAK{}", "MLH{}", "TP{}", "CYP2C{}", "FGFR{}")
    ).format(c.number(1, 60)),
    "abbr": lambda c: _abbreviation(c),
    "dot": lambda c: _dotted(c),
    "scale": lambda c: _scale(c),
    "code": _made("C+", "L+-S1", "T+#", "V+", "E+#.#", "A#", "Q+H", "P+", "H+N+", "B+", "G+P#", "pT+N#", "M#", "F+#.#"),
}
