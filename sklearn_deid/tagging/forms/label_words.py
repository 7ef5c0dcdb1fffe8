"""Words of labels in forms and tables, and the kind of the values that belong to a label."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Words that name the kind of a value.
_HEADS = {
    "person": """
        name names surname surnames forename forenames lastname firstname maiden alias patient patients pt client
        attending physician physicians doctor doctors dr md pcp gp provider providers practitioner clinician consultant
        consultants surgeon surgeons assistant resident intern fellow registrar hospitalist nurse nurses rn np midwife
        therapist pharmacist technician tech radiographer sonographer paramedic officer preceptor supervisor manager
        coordinator counselor chaplain team staff author scribe reviewer signature signer witness interpreter informant
        interviewer examiner operator referrer performer verifier recorder requester kin contact contacts relative
        guardian spouse partner husband wife mother father parent parents son daughter brother sister aunt uncle cousin
        niece nephew grandmother grandfather friend neighbor caregiver carer proxy guarantor subscriber donor recipient
        teacher attorney anesthetist anaesthetist nok attn roommate landlord sitter circulator mgr msw poa dpoa hcp
        vorname nachname familienname patientin arzt ärztin hausarzt oberarzt chefarzt stationsarzt operateur pflegerin
        überweiser mutter vater nombre apellido apellidos paciente médico médica medico doctora cirujano enfermera
        enfermero madre padre nom prénom prenom médecin medecin chirurgien infirmière mère père navn fornavn etternavn
        pasient lege fastlege sykepleier nome cognome paziente chirurgo infermiera sobrenome naam voornaam achternaam
        patiënt huisarts verpleegkundige moeder vader
    """,
    "number": """
        mrn number id identifier record accession account ssn npi license licence nhs uhid csn fin policy passport
        serial fallnummer patientennummer nhc expediente numéro ipp numero nummer fødselsnummer personnummer bsn
    """,
    "date": """
        date dob birth born birthdate birthday admitted discharged geburtsdatum geboren fecha nacimiento naissance né
        née fødselsdato født nascita geboortedatum
    """,
    "age": "age alter edad âge età idade leeftijd",
    "phone": "phone telephone tel mobile cell fax pager beeper telefon teléfono telefono téléphone telefone telefoon",
    "place": """
        address street city town county hospital facility employer school pharmacy adresse anschrift dirección indirizzo
        endereço adres
    """,
}
# Words inside of labels, with which no label begins.
_INSIDE = frozenset(
    """
    a and by for in no of on or s the to with de del la las los du des le di da do dos van von der het og et y e und
    """.split()
)
# Words inside of labels of ages, such as "Age in years", but not of "Patient in bed".
_OF_AGES = frozenset("at in today onset death year years yr yrs jahren jahre años anni ans jaar".split())
# Words around the word that names the kind.
_BESIDE = frozenset(
    """
    nr num current full legal preferred given first last middle family primary secondary care admitting admit referring
    ordering requesting consulting treating responsible reporting supervising covering performing discharge discharging
    admission emergency next person medical health home work personal charge call senior junior lead chief head second
    registered practical clinical print printed electronic electronically signed given title social worker case
    encounter chart member certified verantwortlicher behandelnder tratante traitant
    """.split()
)
# Labels whose values are not read here. They show that a line holds labels.
_OTHERS = frozenset(
    """
    sex gender room bed ward unit location service department floor diagnosis dx problem problems reason complaint
    allergies allergy diet code status procedure access modality specimen result results language race ethnicity
    religion relationship relation height weight level condition disposition type time visit plan role position
    specialty occupation insurance side hand views contrast anesthesia anaesthetic anaesthesia mi ext notes comment
    comments geschlecht station zimmer diagnose sexo habitación sexe chambre sesso geslacht afdeling kamer kjønn
    """.split()
)
# Beside such a column, a name is that of a drug, a test or a device.
_OF_THINGS = frozenset(
    """
    dose doses dosage strength route frequency freq sig refills quantity qty units unit range reference value values
    flag test tests component analyte drug drugs medication medications medicine lot manufacturer model generic brand
    size dosierung posologie
    """.split()
)
_ENDINGS = frozenset("ist ian ogy try ics ery ine are".split())
# Not "Lindqvist", which is a name.
_PROFESSION = re.compile(r"dietitian|\w{2,}(?:ician|(?:olog|iatr|etr|ial|al|ap|et|mac|ion|ien|ent|ont|tom|siv)ist)")
_SPECIALTY = re.compile(r"\w{3,}(?:ology|iatry|iatrics|surgery|etrics|medicine|care)")
#: Signs inside of labels.
SIGNS = frozenset("/.'-&#()_,")
_KINDS = {word: kind for kind, words in _HEADS.items() for word in words.split()}
_FIRST = frozenset(_KINDS) | _BESIDE | _OTHERS | _OF_THINGS
_PLURAL = frozenset(
    "names patients physicians doctors providers consultants surgeons nurses parents contacts team staff".split()
)
#: Kind of labels whose values are not read.
OTHER = "other"
#: Kind of labels of things: beside them, "name" is no label of people.
THING = "thing"


def may_begin_label(token: str) -> bool:
    """Whether a token may be the first word of a label.

    Examples
    --------
    >>> may_begin_label("Attending"), may_begin_label("Radiologist"), may_begin_label("The"), may_begin_label("Lungs")
    (True, True, False, False)
    """
    word = token.lower()
    return word in _FIRST or (word[-3:] in _ENDINGS and (_is_profession(word) or _is_specialty(word)))


def is_label_word(token: str) -> bool:
    """Whether a token may be a further word of a label.

    Examples
    --------
    >>> is_label_word("Attending"), is_label_word("the"), is_label_word("Lungs")
    (True, True, False)
    """
    word = token.lower()
    return word in _INSIDE or word in _OF_AGES or may_begin_label(token)


def label_kind(tokens: Sequence[str]) -> str | None:
    """Kind of the values of a label; None if the tokens are no label.

    Returns
    -------
    {"person", "number", "date", "age", "phone", "place", "other", "thing"} or None

    Examples
    --------
    >>> label_kind(["Attending", "Physician"]), label_kind(["Date", "of", "Birth"]), label_kind(["Seen", "by"])
    ('person', 'date', 'person')
    >>> label_kind(["Diet"]), label_kind(["Dose"]), label_kind(["Lungs"]), label_kind(["Next"])
    ('other', 'thing', None, None)
    """
    words = [token.lower() for token in tokens if token not in SIGNS]
    if not words:
        return None
    if any(word in _OF_THINGS for word in words):
        return THING
    if len(words) > 1 and words[-1] == "by" and words[-2].endswith(("ed", "en", "n", "by", "read", "done")):
        return "person"
    kinds = ["person" if _is_profession(word) else _KINDS.get(word) for word in words]
    if "age" not in kinds and any(word in _OF_AGES for word in words):
        return None
    # "Patient ID" and "Date of birth of the patient": the numbers name the kind.
    for kind in ("number", "date", "age", "phone", "place", "person"):
        if kind in kinds:
            return kind
    if words[-1] in ("no", "nr") and len(words) > 1:
        return "number"
    if words in (["last"], ["first"], ["middle"], ["given"]):
        return "person"
    return OTHER if any(word in _OTHERS for word in words) else None


def is_name_alone(tokens: Sequence[str]) -> bool:
    """Whether a label does not tell whose name it is.

    Examples
    --------
    >>> is_name_alone(["Name"]), is_name_alone(["Patient", "Name"])
    (True, False)
    """
    return len(tokens) == 1 and tokens[0].lower() in ("name", "nombre", "nom", "navn", "nome", "naam")


def has_many_values(tokens: Sequence[str]) -> bool:
    """Whether the values of a label may be on several lines.

    Examples
    --------
    >>> has_many_values(["Care", "team"]), has_many_values(["Nurse"])
    (True, False)
    """
    return any(token.lower() in _PLURAL for token in tokens)


def _is_specialty(word: str) -> bool:
    return _SPECIALTY.fullmatch(word) is not None


def _is_profession(word: str) -> bool:
    return _PROFESSION.fullmatch(word) is not None
