"""Names of invented people: lists, syllables, and the words that are names as well.

A third of the surnames are drawn from words that clinical English uses otherwise (eponyms, ordinary words), a quarter
from common surnames, and the rest are assembled from syllables, so that patients who are not in the training notes
bring names that are not either.
"""

from __future__ import annotations

from .chance import Chance

__all__ = ["EPONYM_SURNAMES", "WORD_GIVEN", "WORD_SURNAMES", "given_name", "initials_of", "misspell_name", "surname"]

# Diseases, signs, scores, tubes and drains are called like these people; see the traps.
EPONYM_SURNAMES = tuple(
    """Parkinson Graves Hodgkin Bell Addison Cushing Crohn Wilson Huntington Raynaud Marfan Foley Murphy Allen Kelly
    Jackson Pratt Warren Baker Barrett Weber Norton Braden Morse Wells Gleason Clark Duke Ranson Hunt Hess Rankin
    Salter Harris Holter Swan Miller Fisher Turner Paget Charcot Osler Hill Apgar Coombs Gram Whipple Nissen Horner
    Meckel Bartlett Gilbert Byrd Blair Mallory Weiss Burton Glasgow Boston Bristol Denver Lyme Norwood Ross Bishop
    Hickman Cooper Dawson Hutchinson""".split()
)
WORD_SURNAMES = tuple(
    """Brown May Hope Reading Black White Green Gray Long Short Small Little Best Cook Day Walker Case Price Stone
    Burns Payne Ward Love Banks Fields Ball Cross English French Temple Church Sharp Strong Swift Hardy Savage Sweet
    Noble Waters Marsh Grant Rose Frank Chase Heath Miles Carpenter Mason Porter Singer Hand Bone Head Legg
    Coffey Rice Berry Salmon Fry Lamb Bath Orange Booth Bridges Brooks Winter Summers Friday Holiday Weeks Monday
    Knight Farmer Shepherd Gardner Judge Pope March Dyer Page Call Wall Bland Moody Loud Hurt
    Pick Self Power Cane Ash Born Gross Blood Bright Gall Root Major Minor""".split()
)
_COMMON_SURNAMES = tuple(
    """Smith Johnson Williams Jones Garcia Davis Rodriguez Martinez Hernandez Lopez Gonzalez Anderson Thomas Taylor
    Moore Martin Lee Perez Thompson Sanchez Ramirez Robinson Lewis Young Wright Torres Nguyen Flores Adams Nelson Hall
    Rivera Campbell Mitchell Carter Roberts Gomez Phillips Evans Diaz Parker Cruz Edwards Collins Reyes Stewart Morris
    Morales Rogers Gutierrez Ortiz Morgan Peterson Bailey Reed Howard Ramos Kim Cox Richardson Watson Chavez Wood
    James Bennett Mendoza Ruiz Hughes Alvarez Castillo Sanders Patel Myers Foster Jimenez O'Brien O'Connor McCarthy
    McDonald MacLeod D'Angelo De_Luca Van_Horn Cohen Kaplan Singh Chen Wong Tran Kowalski Novak Schmidt
    Fischer""".split()
)  # "_" stands for the blank inside of a name
_STEMS = tuple(
    """Hal Wex Bram Thorn Kess Mor Dun Farr Gil Hath Ing Jar Kel Lath Marl Nor Oak Pem Quin Rad Sel Tarl Ul Vern Wick
    Yar Ash Bel Cald Dray Ell Fen Gar Hol Ives Jen Kirk Lind Mer Nash Or Pres Rav Stan Tre Ven Wal Ald Birch Crom Dor
    Eck Fal Glen Hart Isl Kem Lock Mul Nev Ost Pol Ros Shel Tam Und Var Whit Zel Bos Cor Dal Em Fitz Grum
    Hum""".split()
)
_ENDS = tuple(
    """ton ford well ham ley man more wick son sen by worth field bury croft den hurst low ridge stead thorpe wood ard
    ell ing ett ock over ander ick""".split()
)
_FOREIGN_STEMS = tuple(
    """Kostr Bran Petr Vas Radz Marek Jabl Dragom Szym Anton Bened Carav Delg Esposit Ferrar Gallin Marchett Palaz
    Ricciard Santor Vecch Zamb Arroy Bustam Cabrall Dominq Escal Figuer Iturr Lazcan Montoy Oquend Quesad Okaf Adey
    Nwach Chuk Mbek Tesf Hadd Khour Nass Rahm Yilm Karag Demirk Ozt Takem Nakag Yoshik Hash""".split()
)
_FOREIGN_ENDS = tuple(
    """ov ova ski ska ic enko ini elli etti one ano ez ero ado ara ana oru emi eji ami ari oglu ian amoto awa ura
    ita""".split()
)
_ASIAN = "Baek Cho Dinh Doan Gao Hsu Huynh Jeong Kwon Luong Ma Ngo Pak Quach Shin Tam Ung Vuong Xie Yoon Zhao".split()

_MALE = tuple(
    """James Robert John Michael David William Richard Joseph Thomas Charles Daniel Matthew Anthony Donald Steven Paul
    Andrew Joshua Kenneth Kevin Brian George Timothy Ronald Jason Edward Jeffrey Ryan Jacob Gary Nicholas Eric
    Jonathan Stephen Larry Justin Scott Brandon Benjamin Samuel Gregory Patrick Jack Dennis Jerry Tyler Aaron Jose
    Adam Nathan Henry Zachary Douglas Peter Kyle Noah Ethan Walter Keith Roger Terry Sean Gerald Carl Harold Dylan
    Arthur Lawrence Jesus Bryan Billy Bruce Ralph Roy Eugene Louis Philip Bobby Johnny Wayne Vincent Elijah Luis Ahmed
    Hiroshi Ivan Giorgio Rafael Kwame Omar Pavel Sanjay""".split()
)
_FEMALE = tuple(
    """Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Lisa Nancy Betty Sandra Margaret
    Ashley Kimberly Emily Donna Michelle Carol Amanda Melissa Deborah Stephanie Rebecca Sharon Laura Cynthia Dorothy
    Amy Kathleen Angela Shirley Emma Brenda Pamela Nicole Anna Samantha Katherine Christine Debra Rachel Carolyn Janet
    Maria Olivia Heather Helen Catherine Diane Julie Victoria Joyce Lauren Kelly Christina Ruth Joan Virginia Judith
    Evelyn Hannah Andrea Megan Cheryl Jacqueline Madison Teresa Abigail Sophia Martha Sara Gloria Janice Kathryn Ann
    Isabella Judy Charlotte Fatima Mei Yuki Ingrid Olga Priya Rosa Carmen Lucia Nadia""".split()
)
# Given names that are also words, months, places or states.
WORD_GIVEN = {
    "M": tuple(
        """Mark Will Bill Frank Grant Chase Art Gene Rich Drew Pat Miles Chad Jordan Jack Rusty Chuck Norm Cliff Dean
        Guy Ray Rod Max Hunter Grady Dale Glen Lance Bud Earl Major""".split()
    ),
    "F": tuple(
        """May Hope Grace Faith Joy Rose Iris Sue Dawn Violet Ivy April June Summer Autumn Georgia Virginia Carolina
        Pearl Ruby Ginger Sandy Penny Patience Constance Melody Brook Lily Olive Crystal Amber Misty Eve""".split()
    ),
}
_GIVEN_STEMS = {
    "M": "Dar Jov Tal Mar Kev Ran Bel Cor Al Fen Gav Lor Rom Sil Ver Zan Or Eth Tor Han".split(),
    "F": "Tal Mar Jov El Ari Bri Cal Del Eli Fal Ili Kat Lor Mir Nor Ori Ros Sel Vel Zan".split(),
}
_GIVEN_ENDS = {
    "M": "ian on ko ius o en ric mir win ard an ek in as el".split(),
    "F": "ira ena ka ia inda elle ora ys ina etta anne eya ita une ara".split(),
}


def surname(chance: Chance) -> str:
    """An invented surname.

    Examples
    --------
    >>> isinstance(surname(Chance(0)), str)
    True
    """
    kind = chance.uniform()
    if kind < 0.32:  # the first twenty of each list stand in the traps most often, and make half of these names
        names = EPONYM_SURNAMES if kind < 0.15 else WORD_SURNAMES
        return chance.pick(names[:20] if chance.happens(0.5) else names)
    if kind < 0.55:
        return chance.pick(_COMMON_SURNAMES).replace("_", " ")
    if kind < 0.58:
        return chance.pick(_ASIAN)
    if kind < 0.74:
        return chance.pick(_FOREIGN_STEMS) + chance.pick(_FOREIGN_ENDS)
    made = chance.pick(_STEMS) + chance.pick(_ENDS)
    if kind < 0.95:
        return made
    return f"{made}-{chance.pick(_COMMON_SURNAMES).replace('_', ' ')}"


def given_name(chance: Chance, sex: str) -> str:
    """An invented given name for ``sex`` ``"M"`` or ``"F"``."""
    kind = chance.uniform()
    if kind < 0.2:
        return chance.pick(WORD_GIVEN[sex])
    if kind < 0.75:
        return chance.pick(_MALE if sex == "M" else _FEMALE)
    return chance.pick(_GIVEN_STEMS[sex]) + chance.pick(_GIVEN_ENDS[sex])


def misspell_name(name: str, chance: Chance) -> str:
    """``name`` with one inner letter doubled, dropped or swapped with the next; short names stay."""
    if len(name) < 5:
        return name
    i = chance.number(1, len(name) - 3)
    if not name[i : i + 2].isalpha():
        return name
    return chance.pick(
        (
            name[:i] + name[i] + name[i:],
            name[:i] + name[i + 1 :],
            name[:i] + name[i + 1] + name[i] + name[i + 2 :],
        )
    )


def initials_of(*names: str) -> str:
    """Capital initials, such as ``"JMS"``."""
    return "".join(name[0] for name in names if name).upper()
