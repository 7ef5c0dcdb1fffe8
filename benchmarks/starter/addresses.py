"""Addresses, towns, hospitals and companies, in the forms of many countries."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from unicodedata import normalize

from sklearn_deid.surrogates import Chance, places

from .lists import vocabulary
from .names import without_accents
from .scene import Scene

Pieces = list[tuple[str, str | None]]
# Locales of Faker with a list of towns, or of streets, in Latin letters.
_TOWNS = (
    "de_DE de_AT de_CH pl_PL cs_CZ sk_SK hr_HR fi_FI da_DK sv_SE nl_NL nl_BE it_IT pt_PT ro_RO en_IN en_BD id_ID fr_DZ"
).split()
_STREETS = ("pl_PL", "cs_CZ", "hr_HR", "id_ID", "vi_VN", "sl_SI")
_SUFFIXES = (
    "Street|St|St.|Road|Rd|Avenue|Ave|Ave.|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Circle|Place|Pl|Terrace|Way|Square|"
    "Parkway|Pkwy|Trail|Highway|Crescent|Close|Row|Mews|Gardens|Grove|Hill|Plaza|Loop"
).split("|")


def address(scene: Scene) -> Pieces:
    """A whole address with its parts."""
    chance = scene.chance
    road, town = (street(scene).strip(), "STREET"), (city(scene).strip(), "CITY")
    code = (f"{chance.number(10000, 99999)}" + (f"-{chance.number(1000, 9999)}" if chance.happens(0.15) else ""), "ZIP")
    where, land = (chance.pick(places.state(chance)), "STATE"), (places.country(chance), "COUNTRY")
    comma, line, space = (", ", None), ("\n", None), (" ", None)
    foreign = (foreign_code(chance), "ZIP")
    flat = (_flat(chance), "STREET")
    return chance.pick(
        (
            [road, comma, town, comma, where, space, code],
            [road, comma, town, space, where],
            [road, line, town, comma, where, space, code],
            [road, line, town, space, where, line, code],
            [road, comma, foreign, space, town],
            [road, comma, town],
            [road, space, flat, line, town, comma, where, space, code],
            [road, comma, flat, comma, town, comma, where, comma, code],
            [road, line, flat, line, town, line, foreign],
            [road, comma, foreign, space, town, comma, land],
            [road, comma, town, space, foreign, comma, land],
            [road, line, town, space, foreign, line, land],
        )
    )


def foreign_code(chance: Chance) -> str:
    """A postal code of a country other than the United States."""
    letter = chance.pick("BCDEGLMNSW")
    return chance.pick(
        (
            f"{letter}{chance.number(1, 19)} {chance.number(1, 9)}{chance.pick('ABDEFGHJ')}{chance.pick('LNPQRSTU')}",
            f"{letter}{chance.number(1, 9)}A {chance.number(1, 9)}B{chance.number(1, 9)}",
            str(chance.number(1000, 9999)),
            str(chance.number(10000, 99999)),
            f"{chance.number(100, 999)} {chance.number(10, 99)}",
            f"{chance.number(1000, 9999)} {letter}{chance.pick('ABDEFGHJ')}",
            f"{chance.number(1000, 9999)}-{chance.number(100, 999)}",
        )
    )


def _flat(chance: Chance) -> str:
    kind = chance.pick(("Flat", "Unit", "Apt", "Apt.", "Suite", "Ste", "Floor", "Room", "#", "Building", "Studio"))
    return f"{kind} {chance.number(1, 999)}".replace("# ", "#") + (chance.pick("ABCDE") if chance.happens(0.2) else "")


@lru_cache
def _of_locale(locale: str, kind: str) -> tuple[str, ...]:
    # Sorted, because some of Faker's lists come from sets, whose order changes from run to run.
    return tuple(sorted(getattr(import_module(f"faker.providers.address.{locale}").Provider, kind)))


def _written(name: str, scene: Scene) -> str:
    return normalize("NFC", name) if scene.accents else without_accents(name) or name


def foreign_towns() -> list[str]:
    """Names of towns in the lists of Faker, in Latin letters as they are written there."""
    return [name for locale in _TOWNS for name in _of_locale(locale, "cities")]


def city(scene: Scene) -> str:
    """A town: a real one, one of another country, or one that bears a name."""
    chance = scene.chance
    kind = chance.uniform()
    if kind < 0.33:
        return chance.pick(vocabulary()["cities"])
    if kind < 0.6:
        return _written(chance.pick(_of_locale(chance.pick(_TOWNS), "cities")), scene)
    if kind < 0.75:
        before = chance.pick(("Port ", "Lake ", "New ", "East ", "South ", "North ", "West ", "San ", "Santa ", "", ""))
        return f"{before}{scene.name(1)}" + chance.pick(
            ("ville", "ton", "burg", "burgh", "bury", "town", "", "", "", "")
        )
    return places.town(chance)


_REGIONS = (
    "{} County|{} County|Lake {}|{} Lake|{} Valley|{} Island|{} Beach|{} Heights|{} Hills|{} Park|{} Bay|{} District|"
    "Fort {}|Camp {}|Port {}|{} Bridge|{} Airport|{} Mountains|Mount {}|Cape {}|{} River|{} Province|{} Parish|"
    "{} Falls|{} Reservation|{} Forest|{} Square|{} Quarter|{} Township|{} Peninsula|{} Station|{} Village|{} Campus|"
    "{} Mall"
).split("|")
_AROUND = "downtown |central |greater |suburban |rural |metropolitan |midtown |just outside of |near ".split("|")


def region(scene: Scene) -> Pieces:
    """A place that is no town, or a town with a word before it."""
    chance = scene.chance
    kind = chance.uniform()
    if kind < 0.3:
        return [(chance.pick(vocabulary()["regions"]), "LOCATION-OTHER")]
    if kind < 0.5:
        return [(chance.pick(_AROUND), None), (city(scene).strip(), "CITY")]
    base = city(scene).strip() if chance.happens(0.4) else scene.name(1)
    return [(chance.pick(_REGIONS).format(base), "LOCATION-OTHER")]


@cache
def _suffixes() -> tuple[str, ...]:
    return tuple(import_module("faker.providers.address.en_US").Provider.street_suffixes)


def street(scene: Scene) -> str:
    """A street with a number, in the forms of several countries."""
    chance = scene.chance
    kind = chance.uniform()
    name, number = scene.name(1), chance.number(1, 999)
    if kind < 0.35:
        return places.street(chance)
    if kind < 0.6:
        far = chance.number(1000, 99999) if chance.happens(0.3) else number
        way = chance.pick(_suffixes()) if chance.happens(0.4) else chance.pick(_SUFFIXES)
        side = chance.pick(("North ", "N ", "W. ", "East ", "Old ", "Upper ")) if chance.happens(0.2) else ""
        return f"{far} {side}{name} {way}"
    if kind < 0.67:
        nth = chance.pick(("1st", "2nd", "3rd", "5th", "10th", "42nd", "W 23rd", "E 7th", "NW 12th", "N. 4th"))
        return f"{number} {nth} {chance.pick(('St', 'Street', 'Ave', 'Avenue'))}"
    if kind < 0.76:
        way = chance.pick(("Rue", "Rue de", "Calle", "Via", "Avenida", "Rua", "ul.", "Avenue de", "Jalan", "Plaza de"))
        return f"{way} {name} {number}" if chance.happens(0.6) else f"{number} {way} {name}"
    if kind < 0.83:
        way = chance.pick(("straße", "strasse", "str.", "weg", "gasse", "straat", "gatan", "vej", "katu", "gata"))
        return f"{name}{way} {number}"
    if kind < 0.88:
        return f"{_written(chance.pick(_of_locale(chance.pick(_STREETS), 'streets')), scene)} {number}"
    if kind < 0.94:
        return f"{_flat(chance)}, {number} {name} {chance.pick(_SUFFIXES)}"
    if kind < 0.97:
        box = chance.pick(("P.O. Box", "PO Box", "Box", "Post Office Box", "Postfach", "Plot", "House No."))
        return f"{box} {chance.number(1, 9999)}"
    return f"corner of {name} and {scene.name(1)}"


def street_name(scene: Scene) -> str:
    """A street without a number."""
    chance = scene.chance
    name = vocabulary()["cities"] if chance.happens(0.2) else (scene.name(1),)
    return f"{chance.pick(name)} {chance.pick(_SUFFIXES)}"


def rural_route(scene: Scene) -> str:
    """A box on a rural route or in a post office."""
    chance = scene.chance
    route = chance.pick(("RR", "RR", "R.R.", "Rural Route", "HC", "Route", "Rt.", "RFD", "Star Route", "SR"))
    box = f"{chance.pick(('Box', 'Box', 'box', 'BOX', '#'))} {chance.number(1, 999)}".replace("# ", "#")
    if chance.happens(0.2):
        return (
            f"{chance.pick(('PO Box', 'P.O. Box', 'POB', 'P O Box', 'General Delivery, Box'))} {chance.number(1, 9999)}"
        )
    return f"{route} {chance.number(1, 99)}{chance.pick((' ', ', '))}{box}" if chance.happens(0.85) else box


# Forms in which the place or the name does not come first.
_HOSPITAL_FORMS = (
    "Children's Hospital {}|Children's Hospital of {}|Children's {}|University of {} Medical Center|University of {}|"
    "University Hospital {}|University Hospitals of {}|Hospital of {}|Hospital {}|Clinic of {}|VA {}|{} VA|{} VAMC|"
    "VA Medical Center {}|Mount {}|Mt. {} Hospital|St. {}|St. {}'s|Saint {} Hospital|St {} Medical Center|"
    "{} Children's|{} General Hospital ER|{} ED|{} ICU|{} Medical Center, West Campus|{} Health - North|"
    "Royal {} Hospital|Royal {} Infirmary|Queen {} Hospital|Our Lady of {}|Clinica {}|Hopital {}|Hospital San {}|"
    "Klinikum {}|Ospedale {}|{} University Medical Center|{} Presbyterian|{} Methodist|{} Baptist|{} Adventist|"
    "{} Jewish|The {} Clinic|The {} Center for Rehabilitation|Institute of {}|{} Institute|{} Clinic at the Lake|"
    "{} & Associates|{} Orthopedics|{} Pediatrics|{} Oncology Associates|{} Imaging|{} Eye Institute|{} Pain Clinic|"
    "{} Birth Center"
).split("|")


def hospital(scene: Scene) -> str:
    """A hospital, a practice or a clinic."""
    chance = scene.chance
    kind = chance.uniform()
    if kind < 0.35:
        return chance.pick(vocabulary()["hospitals"])
    if kind < 0.6:
        return places.hospital_name(chance)
    if kind < 0.7:
        return places.named_after(chance, chance.pick(("practices", "nursing homes")))
    base = city(scene) if chance.happens(0.6) else scene.name(1)
    if kind < 0.8:
        return chance.pick(_HOSPITAL_FORMS).format(base)
    types = (
        "General|General Hospital|Medical Center|Clinic|Hospital|Memorial|Regional|Health|Health System|Urgent Care|"
        "Children's Hospital|University Hospital|Cancer Center|Heart Institute|Community Clinic|Rehab|Family Practice|"
        "Wellness Center|Healthcare|Surgery Center|Dialysis Center|Nursing Home|Specialty Clinic|Medical Group|Med|"
        "Med Center|Med. Ctr|Hosp|Infirmary|Eye Clinic|Hospice|Women's Hospital|Psychiatric Hospital|Health Center"
    )
    return f"{base} {chance.pick(types.split('|'))}"


_CLINICS = (
    "{} clinic|{} clinic|{} office|{} hospital|{} campus|{} location|{} branch|{} practice|{} emergency room|{} ER|"
    "{} downtown clinic|{} Med. Center|{} Med. Ctr.|{} med center|{} urgent care|{} pediatrics|{} dialysis unit|"
    "{} cancer center|{} walk-in clinic|{} satellite office|{} outpatient clinic|{} health center|{} lab|{} pharmacy"
).split("|")


def clinic(scene: Scene) -> str:
    """A clinic with the name of a town or a person and a common word."""
    chance = scene.chance
    return chance.pick(_CLINICS).format(city(scene).strip() if chance.happens(0.65) else scene.name(1))


def organization(scene: Scene) -> str:
    """A company, a school or a club."""
    chance = scene.chance
    kind = chance.uniform()
    if kind < 0.25:
        return chance.pick(vocabulary()["companies"])
    if kind < 0.4:
        return places.employer(chance)
    if kind < 0.5:
        joined = chance.pick((" and ", " & ", ", ", "-", "/"))
        return f"{scene.name(1)}{joined}{scene.name(1)}"
    types = (
        "Elementary|High School|Middle School|University|College|Church|Inc.|Inc|LLC|Ltd|Ltd.|PLC|Corp|& Sons|and Sons|"
        "Logistics|Bakery|Farms|Construction|Insurance|Pharmacy|Daycare|Law Firm|Auto Repair|Steel|Consulting|Hotel|"
        "Police Department|Academy|Group|GmbH|Bank|Airlines|Electronics|Foods|Motors|Media|Books|Coffee|Travel|Energy|"
        "Systems|Studios|Partners|Foundation|Museum|Library|Theatre|Cafe|Brothers|Industries|Labs"
    )
    return f"{city(scene) if chance.happens(0.4) else scene.name(1)} {chance.pick(types.split('|'))}"
