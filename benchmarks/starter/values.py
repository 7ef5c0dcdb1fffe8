"""Words of the slots in texts.txt: PHI in many forms, and words of medicine without PHI."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from unicodedata import normalize

from sklearn_deid.surrogates import Chance, dates, identifiers, places
from sklearn_deid.surrogates.names import given_name, surname
from sklearn_deid.surrogates.word_list import read_word_lists

from .names import given_names, invented_name, names, new_name, origins, without_accents

Pieces = list[tuple[str, str | None]]
_FIRST_DAY = date(1990, 1, 1)
_MONTHS = "January February March April May June July August September October November December".split()
_TOWNS = ("de_DE", "pl_PL", "en_IN", "it_IT", "nl_NL", "sv_SE")


@cache
def vocabulary() -> dict[str, tuple[str, ...]]:
    """Lists of vocabulary.txt, and common English words of Faker."""
    lists = read_word_lists(Path(__file__).parent / "vocabulary.txt")
    common = import_module("faker.providers.lorem.en_US").Provider.word_list
    return {**lists, "common": tuple(common)}


@cache
def held_out_words() -> dict[str, tuple[str, ...]]:
    """Words of medicine that the training does not have."""
    return read_word_lists(Path(__file__).parent / "held_out_words.txt")


class Scene:
    """Random draws of one text, with the origins of the names of its people."""

    def __init__(
        self, chance: Chance, *, held_out: bool = False, origin: str | None = None, gender: str | None = None
    ) -> None:
        self.chance, self.held_out, self.origin, self.gender = chance, held_out, origin, gender
        self.accents = chance.happens(0.5)

    def name(self, part: int) -> str:
        """First (0) or family (1) name of a list, or a new one made of two of them."""
        chance = self.chance
        listed = self.origin is None and not self.held_out
        if listed and chance.happens(0.08):
            return invented_name(chance)
        if listed and chance.happens(0.12):
            return given_name(chance, chance.pick("MF")) if part == 0 else surname(chance)
        origin = self.origin or ("english" if chance.happens(0.2) else chance.pick(origins()))
        parts = names(origin, self.held_out)[part] if part or self.gender is None else given_names(self.gender)
        word = new_name(chance, parts) if not self.held_out and chance.happens(0.25) else chance.pick(parts)
        if part == 1 and not self.held_out and chance.happens(0.05):
            word = f"{word}{chance.pick('- ')}{chance.pick(parts)}"
        return normalize("NFC", word) if self.accents else without_accents(word) or word

    def day(self) -> date:
        """A day of the last decades."""
        return _FIRST_DAY + timedelta(days=self.chance.number(0, 13_500))


def slot(name: str, scene: Scene) -> Pieces:
    """Text of a slot with its label; None labels text without PHI."""
    part, _, form = name.partition(".")
    if part in ("pt", "doc"):
        return [(_person(form, scene), "PATIENT" if part == "pt" else "DOCTOR")]
    if name == "addr":
        return _address(scene)
    if name in _PHI:
        label, make = _PHI[name]
        return [(make(scene).strip(), label)]
    return [(_plain(part, form, scene), None)]


def _person(form: str, scene: Scene) -> str:
    chance = scene.chance
    first, last = scene.name(0), scene.name(1)
    middle = chance.pick("ABCDEFGHJKLMNPRSTVWYZ")
    forms = {
        "full": f"{first} {last}",
        "short": f"{first} {last[0]}.",
        "last": last,
        "first": first,
        "header": f"{last}, {first}",
        "init": chance.pick((f"{first[0]}.{last[0]}.", f"{first[0]}{last[0]}", f"{first[0]}. {last[0]}.")),
        "letter": f"{first[0]}. {last}",
        "middle": f"{first} {middle}. {last}",
        "three": f"{first} {scene.name(0)} {last}",
        "joined": f"{last},{first}",
    }
    if form == "full":
        form = chance.weighted((("full", 8), ("middle", 1.5), ("three", 1), ("letter", 0.7)))
    elif form == "header":
        form = chance.weighted((("header", 6), ("full", 3), ("joined", 0.7)))
    elif not form:
        form = chance.weighted(
            (("full", 4), ("last", 2), ("first", 1.5), ("short", 1.5), ("middle", 0.7), ("letter", 0.6), ("init", 0.5))
        )
    written = forms[form]
    if chance.happens(0.06) and form in ("full", "header", "middle"):
        return written.upper()
    return written


def _address(scene: Scene) -> Pieces:
    chance = scene.chance
    street, city = (_street(scene).strip(), "STREET"), (_city(scene).strip(), "CITY")
    state = places.state(chance)
    code = (f"{chance.number(10000, 99999)}" + (f"-{chance.number(1000, 9999)}" if chance.happens(0.15) else ""), "ZIP")
    where = (chance.pick(state), "STATE")
    return chance.pick(
        (
            [street, (", ", None), city, (", ", None), where, (" ", None), code],
            [street, (", ", None), city, (" ", None), where],
            [street, ("\n", None), city, (", ", None), where, (" ", None), code],
            [street, (", ", None), (_foreign_code(chance), "ZIP"), (" ", None), city],
            [street, (", ", None), city],
        )
    )


def _foreign_code(chance: Chance) -> str:
    letter = chance.pick("BCDEGLMNSW")
    return chance.pick(
        (
            f"{letter}{chance.number(1, 19)} {chance.number(1, 9)}{chance.pick('ABDEFGHJ')}{chance.pick('LNPQRSTU')}",
            f"{letter}{chance.number(1, 9)}A {chance.number(1, 9)}B{chance.number(1, 9)}",
            str(chance.number(1000, 9999)),
            str(chance.number(10000, 99999)),
            f"{chance.number(100, 999)} {chance.number(10, 99)}",
        )
    )


@lru_cache
def _towns(locale: str) -> tuple[str, ...]:
    # Sorted, because some of Faker's lists come from sets, whose order changes from run to run.
    return tuple(sorted(import_module(f"faker.providers.address.{locale}").Provider.cities))


def _city(scene: Scene) -> str:
    chance = scene.chance
    kind = chance.uniform()
    if kind < 0.4:
        return chance.pick(vocabulary()["cities"])
    if kind < 0.6:
        town = chance.pick(_towns(chance.pick(_TOWNS)))
        return normalize("NFC", town) if scene.accents else without_accents(town) or town
    if kind < 0.72:
        return f"{chance.pick(('Port ', 'Lake ', 'New ', 'East ', 'South ', 'San ', 'Santa ', ''))}{scene.name(1)}" + (
            chance.pick(("ville", "ton", "burg", "", ""))
        )
    return places.town(chance)


def _street(scene: Scene) -> str:
    chance = scene.chance
    kind = chance.uniform()
    name, number = scene.name(1), chance.number(1, 999)
    if kind < 0.5:
        return places.street(chance)
    if kind < 0.65:
        return (
            f"{number} {name} {chance.pick(('Street', 'St', 'Road', 'Rd', 'Ave', 'Blvd', 'Crescent', 'Close', 'Row'))}"
        )
    if kind < 0.75:
        nth = chance.pick(("1st", "2nd", "3rd", "5th", "10th", "42nd", "W 23rd", "E 7th", "NW 12th", "N. 4th"))
        return f"{number} {nth} {chance.pick(('St', 'Street', 'Ave', 'Avenue'))}"
    if kind < 0.83:
        return f"{chance.pick(('Rue', 'Calle', 'Via', 'Avenida', 'Rua', 'ul.', 'Avenue de'))} {name} {number}"
    if kind < 0.9:
        return f"{name}{chance.pick(('straße', 'strasse', 'str.', 'weg', 'gasse', 'straat', 'gatan', 'vej'))} {number}"
    if kind < 0.96:
        flat = f"{chance.pick(('Flat', 'Unit', 'Apt', 'Suite'))} {chance.number(1, 40)}"
        return f"{flat}, {number} {name} {chance.pick(('Road', 'Lane', 'Street'))}"
    return f"corner of {name} and {scene.name(1)}"


def _hospital(scene: Scene) -> str:
    chance = scene.chance
    kind = chance.uniform()
    if kind < 0.35:
        return chance.pick(vocabulary()["hospitals"])
    if kind < 0.6:
        return places.hospital_name(chance)
    if kind < 0.7:
        return places.named_after(chance, chance.pick(("practices", "nursing homes")))
    base = _city(scene) if chance.happens(0.6) else scene.name(1)
    types = (
        "General|General Hospital|Medical Center|Clinic|Hospital|Memorial|Regional|Health|Health System|Urgent Care|"
    )
    types += (
        "Children's Hospital|University Hospital|Cancer Center|Heart Institute|Community Clinic|Rehab|Family Practice|"
    )
    types += "Wellness Center|Healthcare|Surgery Center|Dialysis Center|Nursing Home|Specialty Clinic|Medical Group"
    return f"{base} {chance.pick(types.split('|'))}"


def _organization(scene: Scene) -> str:
    chance = scene.chance
    if chance.happens(0.3):
        return chance.pick(vocabulary()["companies"])
    if chance.happens(0.5):
        return places.employer(chance)
    types = (
        "Elementary|High School|Middle School|University|College|Church|Inc.|LLC|Corp|& Sons|Logistics|Bakery|Farms|"
    )
    types += (
        "Construction|Insurance|Pharmacy|Daycare|Law Firm|Auto Repair|Steel|Consulting|Hotel|Police Department|Academy"
    )
    return f"{_city(scene) if chance.happens(0.4) else scene.name(1)} {chance.pick(types.split('|'))}"


def _date(scene: Scene) -> str:
    chance, day = scene.chance, scene.day()
    kind = chance.uniform()
    if kind < 0.62:
        return _full_date(scene)
    if kind < 0.76:
        return dates.short_form(day, chance)
    if kind < 0.86:
        return dates.month_form(day, chance)
    if kind < 0.92:
        return dates.weekday_name(day, chance)
    if kind < 0.95:
        return f"{dates.weekday_name(day, chance)}, {_full_date(scene)}"
    return f"{chance.pick(('early ', 'late ', 'mid-', 'mid '))}{_MONTHS[day.month - 1]}" + (
        f" {day.year}" if chance.happens(0.5) else ""
    )


def _full_date(scene: Scene) -> str:
    chance, day = scene.chance, scene.day()
    if chance.happens(0.55):
        return dates.DATE_FORMS[chance.pick(tuple(dates.DATE_FORMS))](day)
    month, nth = _MONTHS[day.month - 1], dates._ordinal(day.day)
    return chance.pick(
        (
            f"{month[:3]} {nth}, {day.year}",
            f"{month} {nth}, {day.year}",
            f"{month} {day.day} {day.year}",
            f"{nth} {month} {day.year}",
            f"{nth} of {month}, {day.year}",
            f"{day.day:02d}/{day.month:02d}/{day.year}",
            f"{day.day}.{day.month}.{day.year}",
            f"{day.day:02d}.{day.month:02d}.{day.year}",
            f"{day.year}/{day.month:02d}/{day.day:02d}",
            f"{month[:3]}. {day.day}, {day.year}",
            f"{month} {day.day}, '{day.year % 100:02d}",
        )
    )


def _form(scene: Scene, *forms: str) -> str:
    """Fill # with digits and @ with letters of one of the forms."""
    chance = scene.chance
    draw: dict[str, Callable[[], str]] = {
        "#": lambda: str(chance.number(0, 9)),
        "@": lambda: identifiers.letters(chance, 1),
    }
    return "".join(draw[c]() if c in draw else c for c in chance.pick(forms))


def _phone(scene: Scene) -> str:
    chance = scene.chance
    if chance.happens(0.5):
        return chance.pick(identifiers.phone_forms(identifiers.phone(chance)))
    # Lines that films use, or forms of other countries with too many zeros to be given out.
    return _form(
        scene,
        "(###) 555-####",
        "###-555-####",
        "555-####",
        "+1 ### 555 ####",
        "+1-###-555-####",
        "1.###.555.####",
        "###555####",
        "020 7946 0###",
        "+44 20 7946 0###",
        "01632 960###",
        "+49 30 23125 ###",
        "030/23125###",
        "+33 1 99 00 ## ##",
        "(###)555-#### ext. ###",
        "###/555-####",
        "+91 00### 0####",
        "x####",
    )


def _mail(scene: Scene) -> str:
    chance = scene.chance
    first, last = (without_accents(scene.name(i)).lower() or "anna" for i in (0, 1))
    if chance.happens(0.5):
        return identifiers.email(first, last.replace(" ", ""), chance)
    user = chance.pick(
        (f"{first}.{last}", f"{first}{last[0]}{chance.number(1, 99)}", f"{first[0]}{last}", f"{last}_{first}")
    )
    domain = chance.pick(
        ("example.com", "mail.example", "clinic.example", "hospital.example.org", "health.example.net")
    )
    return f"{user.replace(' ', '')}@{domain}"


def _url(scene: Scene) -> str:
    chance = scene.chance
    name = without_accents(scene.name(1)).lower() or "clinic"
    host = f"{name.replace(' ', '-')}.{chance.pick(('example', 'example.org', 'example.com'))}"
    return chance.pick(
        (f"https://{host}/portal", f"www.{host}", f"http://www.{host}/results/{chance.number(100, 9999)}", host)
    )


def _age(scene: Scene) -> str:
    chance = scene.chance
    age = chance.number(90, 104) if chance.happens(0.15) else chance.number(1, 89)
    return str(age)


_PHI: dict[str, tuple[str, Callable[[Scene], str]]] = {
    "age": ("AGE", _age),
    "date": ("DATE", _date),
    "date.full": ("DATE", _full_date),
    "date.short": ("DATE", lambda s: dates.short_form(s.day(), s.chance)),
    "month": ("DATE", lambda s: dates.month_form(s.day(), s.chance)),
    "year": ("DATE", lambda s: str(s.day().year)),
    "weekday": ("DATE", lambda s: dates.weekday_name(s.day(), s.chance)),
    "holiday": ("DATE", lambda s: dates.holiday(s.chance)),
    "season": ("DATE", lambda s: dates.season_form(s.day(), s.chance)),
    "hosp": ("HOSPITAL", _hospital),
    "org": ("ORGANIZATION", _organization),
    "city": ("CITY", _city),
    "state": ("STATE", lambda s: s.chance.pick(places.state(s.chance))),
    "country": ("COUNTRY", lambda s: places.country(s.chance)),
    "street": ("STREET", _street),
    "zip": ("ZIP", lambda s: str(s.chance.number(10000, 99999))),
    "loc": ("LOCATION-OTHER", lambda s: s.chance.pick(vocabulary()["regions"])),
    "room": ("ROOM", lambda s: identifiers.room(s.chance)),
    "prof": ("PROFESSION", lambda s: s.chance.pick(_professions())),
    "mrn": (
        "MEDICALRECORD",
        lambda s: _form(
            s,
            "#######",
            "########",
            "######",
            "##########",
            "###-##-##",
            "##-##-##",
            "###-###",
            "@#######",
            "@@######",
            "@@-####",
            "@@@#####",
            "@-######",
            "##@#####",
            "MRN#####",
            "#####-@",
            "@@@-####-##",
        ),
    ),
    "ssn": (
        "SSN",
        lambda s: identifiers.ssn(s.chance) if s.chance.happens(0.8) else _form(s, "9########", "000 ## ####"),
    ),
    "acct": ("ACCOUNT", lambda s: identifiers.account(s.chance)),
    "card": (
        "ACCOUNT",
        lambda s: _form(s, "4###-####-####-####", "5### #### #### ####", "4###############", "37## ###### #####"),
    ),
    "iban": (
        "ACCOUNT",
        lambda s: _form(s, "@@##@@@@##############", "@@## #### #### #### #### ##", "@@##@@@@##########"),
    ),
    "plan": (
        "HEALTHPLAN",
        lambda s: _form(
            s,
            "@@@#########",
            "@########-##",
            "#########",
            "@@-#####",
            "@@@####",
            "@####@##",
            "@@@-##-####",
            "##########@",
            "@@@@@######",
            "HP#######",
            "XYZ-######",
            "@@@ #### ####",
        ),
    ),
    "id": (
        "IDNUM",
        lambda s: _form(
            s,
            "##-#####",
            "@##-####",
            "########",
            "@@#######",
            "@@-##-####",
            "@@@-###",
            "#####",
            "@@@@-####-##",
            "@#-####-@#",
            "####-@@-##",
            "ID#####",
        ),
    ),
    "lic": ("LICENSE", lambda s: identifiers.license_number(s.chance)),
    "device": ("DEVICE", lambda s: identifiers.device(s.chance)),
    "vehicle": (
        "VEHICLE",
        lambda s: identifiers.plate(s.chance) if s.chance.happens(0.8) else _form(s, "#@@@@##@##@######"),
    ),
    "bio": ("BIOID", lambda s: _form(s, "FP-######", "BIO-#####", "@@####@@")),
    "phone": ("PHONE", _phone),
    "phone.short": ("PHONE", lambda s: identifiers.pager(s.chance)),
    "fax": ("FAX", _phone),
    "email": ("EMAIL", _mail),
    "url": ("URL", _url),
    "ip": ("IPADDR", lambda s: identifiers.ip_address(s.chance)),
    "user": (
        "USERNAME",
        lambda s: identifiers.user_name(
            without_accents(s.name(0)) or "Al", without_accents(s.name(1)) or "Le", s.chance
        ),
    ),
}


@cache
def _professions() -> tuple[str, ...]:
    jobs = import_module("faker.providers.job.en_US").Provider.jobs
    return tuple(sorted({job.partition(",")[0].lower() for job in jobs if "/" not in job and "(" not in job}))


_STEMS = "ab al bri car da ela fo gal ibu ka lor mir na ola pex qui ri sa tel ul va zo pe lu mo ti".split()
_MIDDLES = "li ra to xi ne mu da ci lo ri va te pi so".split()
_DRUG_ENDS = (
    "mab nib pril sartan olol statin azole mycin cillin floxacin gliptin gliflozin tide vir pam prazole dipine".split()
)
_DRUG_ENDS += "triptan setron parin xaban caine barbital cycline oxetine lukast terol sone nide fen".split()
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


def _plain(part: str, form: str, scene: Scene) -> str:
    chance = scene.chance
    if part == "o":
        return _NUMBERS[form](chance)
    kind = {**_LISTS, "drug": "drugs"}.get(part, "")
    # As in real text, about half of the words are known.
    if scene.held_out and kind in held_out_words() and chance.happens(0.5):
        made = chance.pick(held_out_words()[kind])
    else:
        made = _WORDS[part](chance) if part in _WORDS else chance.pick(vocabulary()[_LISTS[part]])
    if form == "cap":
        return made[:1].upper() + made[1:]
    return {"caps": made.upper(), "title": made.title()}.get(form, made)


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


_AMOUNTS = (2.5, 5, 10, 20, 25, 40, 50, 75, 81, 100, 250, 500, 1000)
_UNITS = ("mg", "mg", "mcg", "g", "mL", "units")
_WORDS: dict[str, Callable[[Chance], str]] = {
    "drug": _drug,
    "dis": _disease,
    "newdrug": _new_drug,
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
    "nl": lambda c: "\n",
    "tab": lambda c: "\t",
    "verb": lambda c: c.pick(vocabulary()["verbs"]),
}

_NUMBERS: dict[str, Callable[[Chance], str]] = {
    "age": lambda c: str(c.number(1, 89)),  # replaced by an annotated age: see `texts`
    "year": lambda c: str(c.number(1995, 2026)),
    "digit": lambda c: str(c.number(1, 9)),
    "num": lambda c: str(c.number(5, 90)),
    "hour": lambda c: str(c.number(1, 9)),
    "time": lambda c: dates.clock(c.number(0, 1439), c.number(0, 3)),
    "bp": lambda c: f"{c.number(90, 190)}/{c.number(40, 110)}",
    "hr": lambda c: str(c.number(45, 150)),
    "rr": lambda c: str(c.number(8, 32)),
    "temp": lambda c: c.decimal(96, 104, 1),
    "sat": lambda c: str(c.number(80, 100)),
    "icd": lambda c: f"{c.pick('EIJKMNRZ')}{c.number(10, 99)}.{c.number(0, 9)}",
    "cpt": lambda c: str(c.number(99201, 99499)),
    "lot": lambda c: f"{identifiers.letters(c, 2)}{c.number(1000, 9999)}",
    "expiry": lambda c: f"{c.number(1, 12)}/{c.number(25, 30)}",
    "tail": lambda c: c.pick((" today.", " and is better.", ".", " without complaints.", " since the visit.")),
    "o": lambda c: "",
}
