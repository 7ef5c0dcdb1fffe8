"""Places, clinics and companies whose names are made of ordinary words, such as two nouns and a kind of clinic."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from sklearn_deid.surrogates import Chance, read_data_file

from .addresses import city
from .ages import ordinal
from .names import invented_name, is_held_out
from .open_words import english_words
from .scene import Scene

_CHOICE = re.compile(r"<([^<>]*)>")
_SLOT = re.compile(r"\{([a-z#]+)\}")
_LISTED = 0.6  # share of the names of clinics and companies whose form stands in institutions.txt
_FIRST = (
    "Copper|Silver|Golden|Iron|Stone|Granite|Marble|Crystal|Amber|Ivory|Blue|Green|Red|White|Black|Grey|Clear|Bright|"
    "Fair|Rolling|Quiet|Broken|Crooked|Twin|Three|Big|Little|Long|High|Low|North|South|East|West|Upper|Lower|Old|New|"
    "Oak|Maple|Elm|Ash|Cedar|Pine|Birch|Willow|Aspen|Alder|Laurel|Cypress|Juniper|Sage|Clover|Heather|Fern|Thistle|"
    "Eagle|Hawk|Falcon|Raven|Swan|Heron|Fox|Bear|Elk|Deer|Wolf|Bison|Otter|Turtle|Trout|Salmon|Medicine|Harbor|Bay|"
    "River|Lake|Brook|Spring|Summer|Winter|Autumn|Sun|Moon|Star|Sky|Cloud|Wind|Rain|Snow|Mill|Bell|Tower|Market|Castle|"
    "King's|Queen's|Bishop's|Abbot's|Tanner's|Miller's|Hunter's|Sailor's|Pilgrim|Quarry|Orchard|Garden|Prairie|Desert"
).split("|")
_SECOND = (
    "Basin|Ridge|Bell|Bend|Bow|Creek|Hollow|Point|View|Sky|Gap|Crossing|Springs|Falls|Rock|Meadow|Meadows|Grove|"
    "Landing|Harbor|Cove|Mesa|Butte|Prairie|Bluff|Bluffs|Fork|Forks|Mill|Mills|Bridge|Junction|Flats|Glen|Dale|Field|"
    "Fields|Hill|Hills|Heights|Shore|Haven|Oaks|Pines|Cedars|Elms|Woods|Park|Gate|Corner|Valley|Canyon|Trail|Summit|"
    "Bay|Beach|Island|Isle|Lake|River|Run|Branch|Row|Green|Common|Cross|Well|Wells|Rise|Edge|End|Moor|Marsh|Heath"
).split("|")
_JOINED_FIRST = "lake ridge brook river stone oak maple clear fair green silver north west sun spring mill ash elm wood"
_JOINED_LAST = "view haven crest dale field brook side gate wood ford bridge mont light land stone water well ridge ton"
_VIRTUES = (
    "Hope|Compassion|Unity|Harmony|Horizon|Summit|Pinnacle|Sanctuary|Beacon|Cornerstone|Lighthouse|Serenity|Cascade|"
    "New Beginnings|Second Chance|Healing Hands|Open Door|Safe Harbor|Bridges|Pathways|Stepping Stones|Crossroads|"
    "Evergreen|Liberty|Heritage|Legacy|Premier|Pioneer|Frontier|Keystone|Capstone|Phoenix|Renaissance|Trinity|Mercy|"
    "Providence|Good Shepherd|Sacred Heart|Holy Cross|Holy Family|Assumption|Resurrection|Samaritan|Covenant|Grace"
).split("|")
_CARE = (
    "Family Medicine|Family Health|Internal Medicine|Imaging|Radiology|Recovery|Neurological|Neurology|Dermatology|"
    "Eye Associates|Eye Care|Vision|Dental|Orthodontics|Women's Health|Urgent Care|Hospice|Home Health|Home Care|Rehab|"
    "Rehab & Nursing|Behavioral Health|Counseling|Medical Group|Medical Center|Hospital|Surgery Center|Infusion|Sleep|"
    "Cancer Care|Heart & Vascular|Kidney Care|Dialysis|Physical Therapy|PT|Pediatrics|Child Clinic|Birth Center|Spine|"
    "Orthopedics|Pain Management|Primary Care|Health|Clinic|Health Centre|Surgery|Medical Practice|Nursing Home|Manor|"
    "Care Home|Community Hospital|Regional|Memorial|Oncology|Allergy|GI Associates|Urology|ENT|Wellness|Treatment"
).split("|")
_WORK = (
    "Cold Storage|LifeLift|Air Ambulance|EMS|Ambulance|Fire & Rescue|Primary|Preschool|Nursery|Academy|School|"
    "Middle School|High|College|Sight Bank|Tissue Bank|Donor Network|Food Bank|Shelter|Youth Services|Social Services|"
    "Housing|Church|Chapel|Fellowship|Pharmacy|Medical Supply|Diagnostics|Labs|Funeral Home|Transport|Freight|Trucking|"
    "Logistics|Farms|Poultry|Foods|Bakery|Diner|Grill|Pub|Coffee|Brewing|Landscaping|Roofing|Concrete|Quarry|Timber|"
    "Mining|Energy|Software|Analytics|Insurance|Credit Union|Bank|Realty|Law|Legal Aid|Theatre|Gym|Fitness|FC|Rovers|"
    "Swim Club|Riding School|Kennels|Stables|Vet|Garage|Motors|Salon|Spa|Hotel|Inn|Resort|Cruises|Airlines|Museum|Press"
).split("|")


def word_place(scene: Scene) -> str:
    """A place whose name is made of ordinary words."""
    chance = scene.chance
    kind = chance.uniform()
    if kind < 0.2:
        made = chance.pick(_JOINED_FIRST.split()) + chance.pick(_JOINED_LAST.split())
        return made.capitalize()
    first = chance.pick(_FIRST) if chance.happens(0.6) else _noun(chance)
    return f"{first} {chance.pick(_SECOND)}" + (f" {chance.pick(_SECOND)}" if chance.happens(0.06) else "")


def word_clinic(scene: Scene) -> str:
    """A hospital or a practice with such a name; some people leave out what it is, or write it small."""
    chance = scene.chance
    made = _listed("clinic", scene) if chance.happens(_LISTED) else f"{_base(scene)} {chance.pick(_CARE)}"
    return made.lower() if chance.happens(0.06) else made


def word_company(scene: Scene) -> str:
    """A company, a school or an agency with such a name."""
    chance = scene.chance
    if chance.happens(_LISTED):
        return _listed("company", scene)
    if chance.happens(0.1):
        return f"Little {_noun(chance)}" + ("s" if chance.happens(0.7) else "")
    return f"{_base(scene)} {chance.pick(_WORK)}"


@cache
def _forms() -> dict[str, tuple[str, ...]]:
    blocks = read_data_file(Path(__file__).parent / "institutions.txt").blocks
    return {block.name: tuple(entry.text for entry in block.entries) for block in blocks}


def _listed(kind: str, scene: Scene) -> str:
    """A name of one of the forms in institutions.txt."""
    chance = scene.chance
    form = _CHOICE.sub(lambda found: chance.pick(found[1].split("|")), chance.pick(_forms()[kind]))
    return _SLOT.sub(lambda found: _part(found[1], scene), form).strip()


def _part(name: str, scene: Scene) -> str:
    chance = scene.chance
    if name in ("first", "last"):
        return scene.name(int(name == "last"))
    if name == "place":
        return city(scene).strip() if chance.happens(0.5) else _base(scene)
    if name == "made":
        return invented_name(chance, 3)
    if name == "word":
        return _noun(chance)
    number = chance.number(2, 250)
    return ordinal(number) if name == "nth" else str(number)


def _base(scene: Scene) -> str:
    chance = scene.chance
    kind = chance.uniform()
    if kind < 0.45:
        return word_place(scene)
    return chance.pick(_VIRTUES) if kind < 0.6 else scene.name(1)


def _noun(chance: Chance) -> str:
    while True:
        word = chance.pick(english_words("noun"))
        if len(word) < 10 and not is_held_out(word):
            return word.capitalize()
