"""Schools, churches, nursing homes and employers, and hospitals and days in the short forms of notes."""

from __future__ import annotations

from sklearn_deid.surrogates import Chance

from .addresses import city
from .ages import ordinal
from .lists import vocabulary
from .names import without_accents
from .scene import Scene

_SCHOOLS = (
    "{} Elementary|{} Elementary School|{} Primary|{} Primary School|{} Middle|{} Middle School|{} Junior High|{} High|"
    "{} High School|{} HS|{} Preschool|{} Montessori|{} Academy|{} Prep|{} Charter School|{} School for the Deaf|"
    "{} Community College|{} State|{} Tech|{} University|University of {}|{} Day School|{} Head Start|PS {#}|"
    "{} Daycare|{} Kindergarten|{} School|{} School District|{} College|St. {}'s School|Little {} Child Care"
).split("|")
_CHURCHES = (
    "St. {}|St. {}'s|Saint {}|{} Baptist|{} Baptist Church|First Baptist of {}|First Presbyterian of {}|{} Methodist|"
    "{} Lutheran|{} Chapel|{} Church|{} Synagogue|Temple {}|{} Mosque|{} Islamic Center|{} Gurdwara|Iglesia {}|"
    "Our Lady of {}|{} Parish|{} AME|{} Church of Christ|Congregation {}|{} Cathedral|{} Tabernacle|{} Temple"
).split("|")
_HOMES = (
    "{} Manor|{} Gardens|{} Village|{} Place|{} House|{} Rehab|{} Nursing Home|{} Nursing & Rehab|{} Care Center|"
    "{} Assisted Living|{} Senior Living|{} Memory Care|{} Terrace|{} Commons|{} Court|{} Lodge|{} SNF|{} LTC|"
    "{} Skilled Nursing|{} Group Home|{} Shelter|{} Hospice House|{} Convalescent|The {}|{} Heights|{} Retirement Home|"
    "{} Health Care Center|{} Estates|{} Woods|{} Meadows|{} Ridge Rehab"
).split("|")
_EMPLOYERS = (
    "{} Foods|{} Trucking|{} Diner|{} Plumbing|{} Roofing|{} Motors|{} Mill|{} Mine|{} Steel|{} Farm|{} Dairy|"
    "{} Grocery|{} Hardware|{} Salon|{} Landscaping|{} Shipyard|{} Cannery|{} Casino|{} Fire Department|{} PD|"
    "City of {}|{} County|{} Transit|{} Parks Department|{} Post Office|{} Bakery|{} Brewery|{} Logistics|{} Lumber|"
    "{} Auto|{} Cleaners|{} Law|{} & Sons|{} Warehouse|{} Packing|{} Plant|{} Library|{} Marathon|{} Fair|{} Festival"
).split("|")
_AMBIGUOUS = frozenset("ED ER OR ICU PCP OSH SNF MD RN PT OT IV PO CT MRI AM PM US UA".split())
_DAYS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth fifteenth twentieth".split()
_DOMAIN = "_.-"


def _named(forms: list[str], scene: Scene) -> str:
    base = city(scene).strip() if scene.chance.happens(0.45) else scene.name(1 if scene.chance.happens(0.8) else 0)
    return scene.chance.pick(forms).replace("{#}", str(scene.chance.number(2, 310))).format(base)


def school(scene: Scene) -> str:
    """A school, a college or a day-care centre."""
    return _named(_SCHOOLS, scene)


def church(scene: Scene) -> str:
    """A church or another place of worship."""
    return _named(_CHURCHES, scene)


def nursing_home(scene: Scene) -> str:
    """A home for old or ill people."""
    return _named(_HOMES, scene)


def employer(scene: Scene) -> str:
    """A company, an office or an event."""
    return scene.chance.pick(vocabulary()["companies"]) if scene.chance.happens(0.3) else _named(_EMPLOYERS, scene)


def hospital_initials(scene: Scene) -> str:
    """Initials of a hospital, such as those of its town and "General Hospital"."""
    chance = scene.chance
    ends = chance.pick(("GH", "MC", "H", "MH", "CH", "UH", "RMC", "VA", "UMC", "HS", "CC", "GH", "MC"))
    if chance.happens(0.2):
        letters = "".join(chance.pick("ABCDEFGHJKLMNPRSTVW") for _ in range(chance.number(1, 2)))
        return (
            chance.pick(("St. ", "St ", "Q", "R", "P", "K", "U", "W"))
            + letters
            + chance.pick(("H", "'s", "MC", "I", "CH"))
        )
    while True:
        base = without_accents(city(scene)) or "A"
        made = "".join(word[0] for word in base.split() if word[0].isalpha()).upper()[:3] + ends
        if made not in _AMBIGUOUS:
            return made if chance.happens(0.85) else f"{made} {chance.pick(('West', 'East', 'Main', 'North'))}"


def handle(scene: Scene) -> str:
    """A name on a network, without and with a sign before it."""
    chance = scene.chance
    first, last = (without_accents(scene.name(i)).lower().replace(" ", "") or "al" for i in (0, 1))
    number = str(chance.number(1, 99)) if chance.happens(0.5) else ""
    made = chance.pick((f"{first}{last}", f"{first}{chance.pick(_DOMAIN)}{last}", f"{last}{first[0]}", f"the{first}"))
    return f"{'@' * chance.happens(0.6)}{made}{number}"


def day_of_month(chance: Chance) -> str:
    """A day without its month, such as "14th"; some people write the word."""
    if chance.happens(0.06):
        return chance.pick(_DAYS)
    return ordinal(chance.number(1, 31))
