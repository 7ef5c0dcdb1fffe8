"""Invented towns, streets, hospitals and employers, and states and countries, which cannot be invented."""

from __future__ import annotations

from .chance import Chance
from .names import given_name, surname

__all__ = ["COUNTRIES", "STATES", "employer", "hospital_name", "street", "town"]

# The abbreviations are words of the ward as well: OR, PA, MA, ME, IN, NC, CT, LA, MS, MI, VT, DC, ...
_STATE_LIST = """
Alabama=AL;Alaska=AK;Arizona=AZ;Arkansas=AR;California=CA;Colorado=CO;Connecticut=CT;Delaware=DE;Florida=FL;
Georgia=GA;Hawaii=HI;Idaho=ID;Illinois=IL;Indiana=IN;Iowa=IA;Kansas=KS;Kentucky=KY;Louisiana=LA;Maine=ME;Maryland=MD;
Massachusetts=MA;Michigan=MI;Minnesota=MN;Mississippi=MS;Missouri=MO;Montana=MT;Nebraska=NE;Nevada=NV;New Hampshire=NH;
New Jersey=NJ;New Mexico=NM;New York=NY;North Carolina=NC;North Dakota=ND;Ohio=OH;Oklahoma=OK;Oregon=OR;Pennsylvania=PA;
Rhode Island=RI;South Carolina=SC;South Dakota=SD;Tennessee=TN;Texas=TX;Utah=UT;Vermont=VT;Virginia=VA;Washington=WA;
West Virginia=WV;Wisconsin=WI;Wyoming=WY
"""
STATES = tuple(tuple(" ".join(row.split()).split("=")) for row in _STATE_LIST.split(";"))
_COUNTRY_LIST = """
Guatemala;Brazil;Turkey;Jordan;China;Chad;Cuba;Haiti;Vietnam;Poland;Ireland;Portugal;Ghana;Nigeria;India;Japan;Mexico;
Colombia;Peru;Ecuador;Italy;Greece;Germany;France;Spain;Lebanon;Syria;Iran;Russia;Ukraine;Kenya;Ethiopia;Philippines;
Thailand;Cambodia;Korea;Pakistan;Nepal;Cape Verde;El Salvador;Jamaica;Canada;England;Scotland;Guinea;Mali;Norway;
Armenia;Albania;Hungary;Trinidad;Honduras;Dominican Republic
"""
COUNTRIES = tuple(" ".join(name.split()) for name in _COUNTRY_LIST.split(";"))
# Towns whose names are words, eponyms or people besides.
_WORD_TOWNS = tuple(
    """Reading Bath Mobile Normal Orange Hope Lyme Glasgow Boston Bristol Denver Lincoln Jackson Warren Norton Clinton
    Marion Weston Milton Burlington Salem Independence Home Commerce Paradise Friendship Liberty Union Eagle Sandwich
    Tulsa Helena Charlotte Florence Victoria Augusta Cambridge Dover Rome Troy Athens Paris Medina Temple Mason Hazard
    Speed Waters Comfort Peculiar Rough Wing Cool Speedwell Rest Accident""".split()
)
_STARTS = tuple(
    """Haver Elms Wex Brook Stone Marl Pem Thorn Clear Fair Green Ash Oak Maple Cedar Bran Sher Wind Lake Fox Deer Ham
    Lang Mill Nor Ox Pine Quill Red Silver Tall Under Val West Wood Yard Beck Crest Dun East Fern Grand High Iron
    Kings Lock Mont Nash Over Plain Rock Salt Three Water White Black Bridge Cold Dry Fall Gold""".split()
)
_ENDS = tuple(
    """field brook ville port ton dale mere bury bridge haven wood ford view crest side burg land mont ridge water shore
    gate well""".split()
)
_PREFIXES = ("North", "South", "East", "West", "New", "Fort", "Lake", "Port", "Mount", "Upper", "St.")
_SUFFIXES = ("Falls", "Springs", "Heights", "Park", "Center", "Grove", "Beach", "Hills", "Junction", "Point")
_STREET_TYPES = tuple(
    "St. Street Ave Avenue Rd. Road Lane Ln Drive Dr. Blvd Court Ct. Place Way Terrace Circle Pkwy".split()
)
_STREET_WORDS = tuple(
    """Main Church School Park Center Spring Pleasant Washington Lincoln Chestnut Walnut Summer Winter Mill Court
    Bridge Prospect Highland Union Liberty Hospital Station Pond High Front Grove Beacon Lakeview First Second Third
    Fourth Martin Broad""".split()
)
_HOSPITAL_TYPES = (
    ("{} Hospital", 3),
    ("{} General Hospital", 3),
    ("{} Medical Center", 3),
    ("{} Memorial Hospital", 2),
    ("{} Regional Medical Center", 2),
    ("{} Community Hospital", 1),
    ("{} Valley Health", 1),
    ("{} VA Medical Center", 1),
    ("University of {} Hospital", 1),
    ("Mercy {}", 1),
)
_SAINTS = tuple("Mary Luke Joseph Anne Vincent Elizabeth Agnes Brendan Clare Dymphna Gerard Hilda Jude Roch".split())
_EMPLOYERS = tuple(
    " ".join(form.split())
    for form in """
{} Foods; {} Trucking; {} & Sons; {} Public Schools; {} Savings Bank; {} Paper Mill; {} Insurance; {} Motors;
{} Fire Department; {} Post Office; {} Aviation; {} Dairy; {} Textiles; Bank of {}; {} University; {} Hardware;
{} Electric; The {} Herald; {} Police Department; {} Shipyard; {} Elementary School; {} Granite Co.; {} Inc.
""".split(";")
)


def town(chance: Chance) -> str:
    """An invented town, or one whose name is a word besides.

    Examples
    --------
    >>> isinstance(town(Chance(0)), str)
    True
    """
    kind = chance.uniform()
    if kind < 0.22:
        return chance.pick(_WORD_TOWNS)
    made = chance.pick(_STARTS) + chance.pick(_ENDS)
    if kind < 0.4:
        return f"{chance.pick(_PREFIXES)} {made}"
    return f"{made} {chance.pick(_SUFFIXES)}" if kind < 0.5 else made


def street(chance: Chance) -> str:
    """House number and street, sometimes with a flat, or a post box."""
    if chance.happens(0.07):
        return f"{chance.pick(('PO Box', 'P.O. Box', 'Box'))} {chance.number(11, 9800)}"
    name = chance.pick(_STREET_WORDS) if chance.happens(0.4) else surname(chance)
    where = f"{chance.number(1, 2999)} {name} {chance.pick(_STREET_TYPES)}"
    if chance.happens(0.25):
        where += chance.pick((", Apt {}", " Apt. {}B", ", Unit {}", " #{}")).format(chance.number(1, 48))
    return where


def hospital_name(chance: Chance) -> str:
    """Name of a hospital, after a town, a saint or a benefactor."""
    kind = chance.uniform()
    if kind < 0.2:
        saint = f"St. {chance.pick(_SAINTS)}"
        return saint + chance.pick(("'s Hospital", "'s", " Medical Center", "'s Health Center", " Hospital"))
    if kind < 0.3:
        return f"{given_name(chance, chance.pick('MF'))} {surname(chance)} Hospital"
    base = surname(chance) if kind < 0.55 else town(chance)
    return chance.weighted(_HOSPITAL_TYPES).format(base)


def employer(chance: Chance) -> str:
    """Name of a firm, school or office."""
    base = surname(chance) if chance.happens(0.5) else town(chance)
    return chance.pick(_EMPLOYERS).format(base)
