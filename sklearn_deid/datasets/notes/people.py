"""Invented patients, clinicians and hospitals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from ...surrogates import (
    Chance,
    given_name,
    identifiers,
    initials_of,
    places,
    shift,
    surname,
    word_list,
)


@dataclass(frozen=True, slots=True)
class Person:
    """A name and a sex (``"M"`` or ``"F"``)."""

    given: str
    middle: str
    family: str
    sex: str

    @property
    def initials(self) -> str:
        """Initials of the person, such as ``"JMS"``."""
        return initials_of(self.given, self.middle, self.family)


@dataclass(frozen=True, slots=True)
class Clinician:
    """A doctor, nurse or therapist, with contact details."""

    person: Person
    credential: str
    user: str
    pager: str
    phone: str
    email: str
    license: str


@dataclass(frozen=True, slots=True)
class Hospital:
    """A hospital with its address and its staff."""

    name: str
    short: str
    abbreviation: str
    street: str
    city: str
    state: tuple[str, str]
    zip: str
    phone: str
    fax: str
    domain: str
    url: str
    doctors: tuple[Clinician, ...] = ()
    nurses: tuple[Clinician, ...] = ()


@dataclass(frozen=True, slots=True)
class Patient:
    """Patient with all facts that are equal in all notes of this patient."""

    person: Person
    birth: date
    first_stay: date
    mrn: str
    ssn: str
    plan: str
    license: str
    device: str
    plate: str
    street: str
    city: str
    state: tuple[str, str]
    zip: str
    phone: str
    work_phone: str
    email: str
    user: str
    country: str
    profession: str
    employer: str
    school: str
    supplier: str
    relation: str
    relative: Person
    relative_phone: str
    partner: Person
    baby: str
    doctor: Clinician
    clinic: Hospital
    home: Hospital
    problems: tuple[int, int]
    allergy: int


def make_person(chance: Chance, sex: str | None = None, family: str | None = None) -> Person:
    """Draw a person, with the given family name if it is set."""
    sex = sex or chance.pick("MF")
    # Letters with which hardly any name begins are left out.
    middle = chance.pick("ABCDEFGHJKLMNPRSTVW") if chance.happens(0.75) else ""
    return Person(given_name(chance, sex), middle, family or surname(chance), sex)


def make_clinician(
    chance: Chance, domain: str, credentials: tuple[str, ...] = ("MD", "M.D.", "MD", "DO", "MD PhD")
) -> Clinician:
    """Draw a clinician of the hospital with this ``domain``."""
    person = make_person(chance)
    return Clinician(
        person=person,
        credential=chance.pick(credentials),
        user=identifiers.user_name(person.given, person.family, chance),
        pager=identifiers.pager(chance),
        phone=identifiers.phone(chance),
        email=identifiers.email(person.given, person.family, chance, domain),
        license=identifiers.license_number(chance),
    )


def make_hospital(chance: Chance, n_doctors: int = 0, name: str | None = None) -> Hospital:
    """Draw a hospital, clinic or nursing home with ``n_doctors`` doctors and half as many nurses."""
    name = name or places.hospital_name(chance)
    words = name.replace(".", "").split()
    domain = identifiers.web_domain(name, chance)
    return Hospital(
        name=name,
        short=" ".join(name.split()[:2]) if name.startswith("St.") else words[0],
        abbreviation=initials_of(*(word for word in words if word[0].isupper())),
        street=places.street(chance),
        city=places.town(chance),
        state=places.state(chance),
        zip=_zip(chance),
        phone=identifiers.phone(chance),
        fax=identifiers.phone(chance),
        domain=domain,
        url=identifiers.url(domain, chance),
        doctors=tuple(make_clinician(chance, domain) for _ in range(n_doctors)),
        nurses=tuple(make_clinician(chance, domain, ("RN", "R.N.", "LPN", "RN, BSN")) for _ in range(n_doctors // 2)),
    )


def make_patient(chance: Chance, hospital: Hospital) -> Patient:
    """Draw a patient of ``hospital``.

    One patient in eight is a child at the first stay, and one in twelve is over 89.
    """
    # First stays lie in the 31 years from 1993.
    first = shift(date(1993, 1, 1), chance.number(0, 11400))
    age = chance.number(*chance.weighted((((2, 17), 12), ((18, 64), 42), ((65, 89), 38), ((90, 103), 8))))
    person = make_person(chance)
    relation, relative = _relative(chance, person, age)
    return Patient(
        person=person,
        # Days from the birthday, since rounding to years of 365.25 days must not change the age at the first stay.
        birth=shift(first, -int(age * 365.25) - chance.number(5, 350)),
        first_stay=first,
        relation=relation,
        relative=relative,
        relative_phone=identifiers.phone(chance),
        partner=make_person(chance, "M"),
        baby=given_name(chance, chance.pick("MF")),
        state=hospital.state if chance.happens(0.8) else places.state(chance),
        doctor=make_clinician(chance, hospital.domain),
        clinic=make_hospital(chance, name=places.named_after(chance, "practices")),
        home=make_hospital(chance, name=places.named_after(chance, "nursing homes")),
        problems=(chance.number(0, 999), chance.number(0, 999)),
        allergy=chance.number(0, 999),
        **_numbers(chance, person),
        **_whereabouts(chance),
    )


def _numbers(chance: Chance, person: Person) -> dict[str, str]:
    return {
        "mrn": identifiers.mrn(chance),
        "ssn": identifiers.ssn(chance),
        "plan": identifiers.health_plan(chance),
        "license": identifiers.license_number(chance),
        "device": identifiers.device(chance),
        "plate": identifiers.plate(chance),
        "phone": identifiers.phone(chance),
        "work_phone": identifiers.phone(chance),
        "email": identifiers.email(person.given, person.family, chance),
        "user": identifiers.user_name(person.given, person.family, chance),
    }


def _whereabouts(chance: Chance) -> dict[str, str]:
    return {
        "street": places.street(chance),
        "city": places.town(chance),
        "zip": _zip(chance),
        "country": places.country(chance),
        "profession": chance.pick(word_list("professions", "professions")),
        "employer": places.employer(chance),
        "school": places.named_after(chance, "schools"),
        "supplier": places.named_after(chance, "suppliers"),
    }


def _relative(chance: Chance, person: Person, age: int) -> tuple[str, Person]:
    if age < 18:
        relation = chance.pick(("mother", "father", "mother", "grandmother", "aunt"))
    elif age < 60:
        relation = chance.pick(
            ("husband" if person.sex == "F" else "wife", "sister", "brother", "mother", "partner", "friend")
        )
    else:
        relation = chance.pick(
            ("husband" if person.sex == "F" else "wife", "daughter", "son", "niece", "sister", "neighbor")
        )
    sex = "F" if relation in ("mother", "grandmother", "aunt", "wife", "sister", "daughter", "niece") else "M"
    if relation in ("partner", "friend", "neighbor"):
        sex = chance.pick("MF")
    # Relatives often share the family name of the patient.
    own = relation in ("mother", "father", "wife", "husband", "son", "brother") and chance.happens(0.8)
    return relation, make_person(chance, sex, person.family if own else None)


def _zip(chance: Chance) -> str:
    digits = f"{chance.number(501, 99950):05d}"
    return f"{digits}-{chance.number(1000, 9999)}" if chance.happens(0.1) else digits
