"""Words of the slots in texts.txt: PHI in many forms, and words of medicine without PHI."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from sklearn_deid.surrogates import dates, identifiers, places

from . import ages, institutions
from .addresses import Pieces, address, city, clinic, hospital, organization, region, rural_route, street, street_name
from .names import without_accents
from .scene import Scene
from .word_places import word_clinic, word_company, word_place
from .words import plain

_MONTHS = "January February March April May June July August September October November December".split()


def slot(name: str, scene: Scene) -> Pieces:
    """Text of a slot with its label; None labels text without PHI."""
    part, _, form = name.partition(".")
    if name in _NEW_FORMS and scene.new_forms and scene.chance.happens(scene.new_forms):
        label = "PATIENT" if part == "pt" else _PHI[name][0]
        return [(_NEW_FORMS[name](scene).strip(), label)]
    if part in ("pt", "doc"):
        return [(_person(form, scene), "PATIENT" if part == "pt" else "DOCTOR")]
    if name == "addr":
        return address(scene)
    if name == "loc":
        return region(scene)
    if name in _PHI:
        label, make = _PHI[name]
        return [(make(scene).strip(), label)]
    return [(plain(part, form, scene), None)]


def _person(form: str, scene: Scene) -> str:
    chance = scene.chance
    if form == "caps":
        return _person(chance.pick(("first", "first", "last", "full", "letter")), scene).upper()
    if form == "shout":
        return scene.name(1).upper()
    if form == "quoted":
        opening, closing = chance.pick(('""', "''", "()", "\u201c\u201d", "\u2018\u2019"))
        return f"{scene.name(0)} {opening}{scene.name(0)}{closing} {scene.name(1)}"
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
        "low": chance.pick((first, first, last, f"{first} {last}")).lower(),
        "rank": f"{first} {last}{chance.pick((' Jr.', ' Jr', ', Jr.', ' Sr.', ' II', ' III'))}",
        "roll": chance.pick((f"{last}, {first} {middle}.", f"{last}, {first} {middle}", f"{last} {first}")),
        "four": f"{first} {scene.name(0)} {scene.name(1)} {last}",
    }
    if form == "full":
        form = chance.weighted(
            (("full", 8), ("middle", 1.5), ("three", 1), ("letter", 0.7), ("rank", 0.2), ("four", 0.3))
        )
    elif form == "header":
        form = chance.weighted((("header", 7), ("full", 3), ("joined", 0.7), ("roll", 1.5)))
    elif not form:
        form = chance.weighted(
            (("full", 4), ("last", 2), ("first", 1.5), ("short", 1.5), ("middle", 0.7), ("letter", 0.6), ("init", 0.5))
        )
    written = forms[form]
    if chance.happens(0.06) and form in ("full", "header", "middle"):
        return written.upper()
    # Some people write names small in sentences that have capitals elsewhere.
    return written.lower() if chance.happens(0.02) else written


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


def _noted_date(scene: Scene) -> str:
    """A date as people scribble it."""
    chance, day = scene.chance, scene.day()
    if chance.happens(0.2):
        return dates.short_form(day, chance)
    month_and_day = chance.pick((f"{day.month}/{day.day}", f"{day.month}/{day.day}", f"{day.month:02d}/{day.day:02d}"))
    return month_and_day + f"/{day.year % 100:02d}" * chance.happens(0.2)


def _day_first(scene: Scene) -> str:
    """A date of a country that writes the day before the month, or in other forms that few people write."""
    chance, day = scene.chance, scene.day()
    month, nth = _MONTHS[day.month - 1], dates._ordinal(day.day)
    if chance.happens(0.25):
        short = month[:3]
        forms = (f"{nth} of {month}", f"{nth} {month}", f"{month} the {nth}", f"{day.day} {month}", f"{nth} of {short}")
        forms += (
            f"{day.day:02d}-{short}",
            f"{short.upper()} {day.day}",
            f"{day.day}{short.upper()}",
            f"{short}{day.day}",
        )
        return chance.pick(forms)
    sign = chance.pick("/./-")
    numbers = f"{day.day:02d}{sign}{day.month:02d}" if chance.happens(0.4) else f"{day.day}{sign}{day.month}"
    if chance.happens(0.3):
        return f"{day.day} {month[:3]}"
    return numbers + (f"{sign}{day.year % 100:02d}" if sign == "-" or chance.happens(0.4) else "." * (sign == "."))


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


_ID_FORMS = (
    "##-#####|@##-####|########|@@#######|@@-##-####|@@@-###|#####|@@@@-####-##|@#-####-@#|####-@@-##|ID#####"
).split("|")
_ID_WORDS = "PT SUBJ STUDY SITE CASE REF TKT ENC ACC VISIT LAB RX CLM ORD TRIAL BATCH DEV PID UID EMP REG NHS".split()


def _identifier(scene: Scene) -> str:
    """A number of one of some forms, or of parts of any length with any sign between them."""
    chance = scene.chance
    if chance.happens(0.5):
        return _form(scene, *_ID_FORMS)
    if chance.happens(0.12):
        return _hexadecimal(chance.pick(("########-####-####-####-############", "########", "####-####")), scene)
    parts = [chance.pick(_PARTS)(scene) for _ in range(chance.number(1, 3))]
    parts += [_form(scene, "###", "####", "#####", "######")]
    if chance.happens(0.4):
        parts.insert(0, chance.pick(_ID_WORDS))
    made = chance.pick(("-", "-", "-", "/", "_", ".", "")).join(parts)
    return made.lower() if chance.happens(0.1) else made


_PARTS: tuple[Callable[[Scene], str], ...] = (
    lambda s: str(s.day().year),
    lambda s: _form(s, "##", "###", "####", "#"),
    lambda s: _form(s, "@", "@@", "@@@", "@@@@"),
    lambda s: _form(s, "@#", "#@", "@##", "##@", "@#@#", "@@##"),
)


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
        "0113 496 0###",
        "07700 900 ###",
        "+44 (0)7700 900###",
        "+44-20-7946-0###",
        "(02) 5550 ####",
        "+61 2 7010 ####",
        "0491 570 ###",
        "+33 1.99.00.##.##",
        "06 39 98 ## ##",
        "0171-39200##",
        "(0)69/90009-###",
        "+49(0)30 23125-###",
        "+46 8 465 004 ##",
        "070-174 06 ##",
        "+## 00 ### ## ##",
        "+## 000 ### ###",
        "00## 00 #### ####",
        "+##-00-####-####",
        "0## 00# ## ##",
        "(00) 0###-####",
        "+1 (###) 555-####",
        "1-###-555-####",
        "001-###-555-####x###",
        "### 555 ####",
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
        (
            *("example.com", "mail.example", "clinic.example", "hospital.example.org", "health.example.net"),
            *("example.org", "post.example.net", "mail.test", f"{last.replace(' ', '-')}.example", "shop.test"),
        )
    )
    return f"{user.replace(' ', '')}@{domain}"


def _url(scene: Scene) -> str:
    chance = scene.chance
    name = without_accents(scene.name(1)).lower() or "clinic"
    host = f"{name.replace(' ', '-')}.{chance.pick(('example', 'example.org', 'example.com'))}"
    return chance.pick(
        (
            f"https://{host}/{scene.chance.pick(('shop', 'a/b', 'news?id=7', '~home', 'index.html', 'login#top'))}",
            f"https://{host}/portal",
            f"www.{host}",
            f"http://www.{host}/results/{chance.number(100, 9999)}",
            host,
        )
    )


def _ip(scene: Scene) -> str:
    """Address of any network: those that are reserved for documentation have three digits in each part."""
    chance = scene.chance
    if chance.happens(0.15):
        return _hexadecimal(
            chance.pick(("2001:db8::####:###:####", "fe80::###:####:####:####", "fd##::#", "::1")), scene
        )
    parts = [str(chance.number(0, 255)) for _ in range(4)]
    start = chance.pick(("10", "192.168", "172.16", "127.0.0", "", "", "", ""))
    known = start.split(".") if start else []
    return ".".join((*known, *parts[len(known) :])) + f":{chance.number(80, 9999)}" * chance.happens(0.1)


def _hexadecimal(form: str, scene: Scene) -> str:
    digits = scene.chance.pick(("0123456789abcdef", "0123456789ABCDEF"))
    return "".join(scene.chance.pick(digits) if c == "#" else c for c in form)


def _country(scene: Scene) -> str:
    """A country, of which some are written with periods."""
    chance = scene.chance
    return chance.pick(("U.S.", "U.S.A.", "U.K.", "U.S", "U.A.E.")) if chance.happens(0.15) else places.country(chance)


def _age(scene: Scene) -> str:
    chance = scene.chance
    age = chance.number(90, 104) if chance.happens(0.15) else chance.number(1, 89)
    return str(age)


@cache
def _professions() -> tuple[str, ...]:
    jobs = import_module("faker.providers.job.en_US").Provider.jobs
    return tuple(sorted({job.partition(",")[0].lower() for job in jobs if "/" not in job and "(" not in job}))


_PHI: dict[str, tuple[str, Callable[[Scene], str]]] = {
    "age": ("AGE", _age),
    "age.any": ("AGE", lambda s: ages.any_age(s.chance)),
    "age.word": ("AGE", lambda s: ages.in_words(s.chance)),
    "age.decade": ("AGE", lambda s: ages.decade(s.chance)),
    "age.nth": ("AGE", lambda s: ages.birthday(s.chance)),
    "age.term": ("AGE", lambda s: ages.noun(s.chance)),
    "date": ("DATE", _date),
    "date.full": ("DATE", _full_date),
    "date.short": ("DATE", lambda s: dates.short_form(s.day(), s.chance)),
    "date.note": ("DATE", _noted_date),
    "month": ("DATE", lambda s: dates.month_form(s.day(), s.chance)),
    "year": ("DATE", lambda s: str(s.day().year)),
    "weekday": ("DATE", lambda s: dates.weekday_name(s.day(), s.chance)),
    "holiday": ("DATE", lambda s: dates.holiday(s.chance)),
    "season": ("DATE", lambda s: dates.season_form(s.day(), s.chance)),
    "hosp": ("HOSPITAL", hospital),
    "hosp.abbr": ("HOSPITAL", institutions.hospital_initials),
    "home": ("HOSPITAL", institutions.nursing_home),
    "clin": ("HOSPITAL", clinic),
    "school": ("ORGANIZATION", institutions.school),
    "church": ("ORGANIZATION", institutions.church),
    "emp": ("ORGANIZATION", institutions.employer),
    "handle": ("USERNAME", institutions.handle),
    "day.nth": ("DATE", lambda s: institutions.day_of_month(s.chance)),
    "street.name": ("STREET", street_name),
    "rural": ("STREET", rural_route),
    "org": ("ORGANIZATION", organization),
    "city": ("CITY", city),
    "state": ("STATE", lambda s: s.chance.pick(places.state(s.chance))),
    "country": ("COUNTRY", _country),
    "street": ("STREET", street),
    "zip": ("ZIP", lambda s: str(s.chance.number(10000, 99999))),
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
        lambda s: _form(
            s,
            "4###-####-####-####",
            "5### #### #### ####",
            "4###############",
            "37## ###### #####",
            "6011############",
            "5###############",
            "3#############",
            "4############",
            "4### #### #### ####",
        ),
    ),
    "iban": (
        "ACCOUNT",
        lambda s: _form(
            s,
            "@@##@@@@##############",
            "@@## #### #### #### #### ##",
            "@@##@@@@##########",
            "@@####################",
            "@@## @@@@ #### #### ####",
        ),
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
    "id": ("IDNUM", _identifier),
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
    "ip": ("IPADDR", _ip),
    "mac": ("DEVICE", lambda s: _hexadecimal(s.chance.pick(("##:##:##:##:##:##", "##-##-##-##-##-##")), s)),
    "user": (
        "USERNAME",
        lambda s: identifiers.user_name(
            without_accents(s.name(0)) or "Al", without_accents(s.name(1)) or "Le", s.chance
        ),
    ),
}
# Forms of the texts that ask for them (see `Scene.new_forms`).
_NEW_FORMS: dict[str, Callable[[Scene], str]] = {
    "hosp": word_clinic,
    "clin": word_clinic,
    "home": word_clinic,
    "city": word_place,
    "street.name": word_place,
    "org": word_company,
    "emp": word_company,
    "school": word_company,
    "church": word_company,
    "date.note": _day_first,
    "date.short": _day_first,
    "pt.short": lambda s: f"{s.name(0)} {s.name(1)[0]}",
}
