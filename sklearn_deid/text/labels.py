"""Label schemes as data: the labels of a corpus, their categories, and the HIPAA labels among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..exceptions import SpanError
from .documents import Document


@dataclass(frozen=True)
class LabelScheme:
    """Labels of a corpus with their categories.

    Parameters
    ----------
    name : str
        Name of the scheme.
    categories : mapping of str to str
        Category of each label.
    hipaa : frozenset of str
        Labels that the official evaluation of the corpus counts as HIPAA identifiers.

    Raises
    ------
    ValueError
        If a label in ``hipaa`` has no category.

    Examples
    --------
    >>> I2B2_2014.category("PATIENT"), I2B2_2014.is_hipaa("DOCTOR")
    ('NAME', False)
    """

    name: str
    categories: Mapping[str, str]
    hipaa: frozenset[str]

    def __post_init__(self) -> None:
        # The mapping is copied, so that a later change of the caller's dict does not change a frozen scheme.
        object.__setattr__(self, "categories", MappingProxyType(dict(self.categories)))
        object.__setattr__(self, "hipaa", frozenset(self.hipaa))
        unknown = sorted(self.hipaa - set(self.categories))
        if unknown:
            raise ValueError(f"Labels of 'hipaa' must have a category in 'categories'. These have none: {unknown}.")

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.categories.items()), self.hipaa))  # a mapping proxy cannot be hashed

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels."""
        return tuple(self.categories)

    def category(self, label: str) -> str | None:
        """Category of a label; None for a label outside of the scheme."""
        return self.categories.get(label)

    def is_hipaa(self, label: str) -> bool:
        """Whether a label counts in the HIPAA scores."""
        return label in self.hipaa

    def __reduce__(self) -> tuple:
        return (type(self), (self.name, dict(self.categories), self.hipaa))  # a mapping proxy cannot be pickled


def _by_label(by_category: Mapping[str, str]) -> dict[str, str]:
    return {label: category for category, labels in by_category.items() for label in labels.split()}


# The annotation scheme of Stubbs and Uzuner 2015, "Annotating longitudinal clinical narratives for de-identification".
I2B2_2014 = LabelScheme(
    "i2b2-2014",
    _by_label(
        {
            "NAME": "PATIENT DOCTOR USERNAME",
            "PROFESSION": "PROFESSION",
            "LOCATION": "ROOM DEPARTMENT HOSPITAL ORGANIZATION STREET CITY STATE COUNTRY ZIP LOCATION-OTHER",
            "AGE": "AGE",
            "DATE": "DATE",
            "CONTACT": "PHONE FAX EMAIL URL IPADDR",
            "ID": "SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID IDNUM",
            "OTHER": "OTHER",
        }
    ),
    # The authors meant IDNUM to count as HIPAA, but the pattern in the official script never matches IDNUM. The label
    # is left out to reproduce the official scores.
    frozenset(
        "PATIENT CITY STREET ZIP ORGANIZATION DATE AGE PHONE FAX EMAIL SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE "
        "VEHICLE DEVICE BIOID".split()
    ),
)

# The 29 types of Marimon et al. 2019, "Automatic de-identification of medical texts in Spanish: the MEDDOCAN track",
# each with the nearest i2b2 type. The categories of the two corpora agree for all 29 types.
_MEDDOCAN_TO_I2B2 = {
    "NOMBRE_SUJETO_ASISTENCIA": "PATIENT",
    "NOMBRE_PERSONAL_SANITARIO": "DOCTOR",
    "PROFESION": "PROFESSION",
    "HOSPITAL": "HOSPITAL",
    "CENTRO_SALUD": "HOSPITAL",
    "INSTITUCION": "ORGANIZATION",
    "CALLE": "STREET",
    "TERRITORIO": "CITY",
    "PAIS": "COUNTRY",
    "EDAD_SUJETO_ASISTENCIA": "AGE",
    "FECHAS": "DATE",
    "NUMERO_TELEFONO": "PHONE",
    "NUMERO_FAX": "FAX",
    "CORREO_ELECTRONICO": "EMAIL",
    "URL_WEB": "URL",
    "DIREC_PROT_INTERNET": "IPADDR",
    "ID_ASEGURAMIENTO": "HEALTHPLAN",
    "ID_SUJETO_ASISTENCIA": "MEDICALRECORD",
    "ID_CONTACTO_ASISTENCIAL": "MEDICALRECORD",
    "NUMERO_BENEF_PLAN_SALUD": "HEALTHPLAN",
    "ID_TITULACION_PERSONAL_SANITARIO": "LICENSE",
    "ID_EMPLEO_PERSONAL_SANITARIO": "IDNUM",
    "IDENTIF_VEHICULOS_NRSERIE_PLACAS": "VEHICLE",
    "IDENTIF_DISPOSITIVOS_NRSERIE": "DEVICE",
    "IDENTIF_BIOMETRICOS": "BIOID",
    "OTRO_NUMERO_IDENTIF": "IDNUM",
    "FAMILIARES_SUJETO_ASISTENCIA": "OTHER",
    "SEXO_SUJETO_ASISTENCIA": "OTHER",
    "OTROS_SUJETO_ASISTENCIA": "OTHER",
}

# The identifiers of HIPAA's Safe Harbor method (45 CFR 164.514) as labels, as in ASQ-PHI (Weatherhead et al. 2026).
_HIPAA_TYPES_TO_I2B2 = {
    "NAME": "PATIENT",
    "GEOGRAPHIC_LOCATION": "CITY",
    "DATE": "DATE",
    "PHONE_NUMBER": "PHONE",
    "FAX_NUMBER": "FAX",
    "EMAIL_ADDRESS": "EMAIL",
    "SOCIAL_SECURITY_NUMBER": "SSN",
    "MEDICAL_RECORD_NUMBER": "MEDICALRECORD",
    "HEALTH_PLAN_BENEFICIARY_NUMBER": "HEALTHPLAN",
    "ACCOUNT_NUMBER": "ACCOUNT",
    "CERTIFICATE_LICENSE_NUMBER": "LICENSE",
    "VEHICLE_IDENTIFIER": "VEHICLE",
    "DEVICE_IDENTIFIER": "DEVICE",
    "URL": "URL",
    "IP_ADDRESS": "IPADDR",
    "BIOMETRIC_IDENTIFIER": "BIOID",
    "UNIQUE_IDENTIFIER": "IDNUM",
}
# Labels of i2b2 2014 that these identifiers cover, too.
_ALSO_HIPAA_TYPES = {
    "DOCTOR": "NAME",
    **dict.fromkeys(("STREET", "ZIP", "HOSPITAL", "ORGANIZATION"), "GEOGRAPHIC_LOCATION"),
}
# Labels of German letters (Lohr et al. 2024, "De-Identifying GRASCCO"). i2b2 annotates no titles.
_GRASCCO_TO_I2B2 = {
    "NAME_PATIENT": "PATIENT",
    "NAME_RELATIVE": "PATIENT",
    "NAME_OTHER": "PATIENT",
    "NAME_EXT": "PATIENT",
    "NAME_DOCTOR": "DOCTOR",
    "NAME_USERNAME": "USERNAME",
    "NAME_TITLE": None,
    "PROFESSION": "PROFESSION",
    "LOCATION_STREET": "STREET",
    "LOCATION_CITY": "CITY",
    "LOCATION_ZIP": "ZIP",
    "LOCATION_STATE": "STATE",
    "LOCATION_COUNTRY": "COUNTRY",
    "LOCATION_HOSPITAL": "HOSPITAL",
    "LOCATION_ORGANIZATION": "ORGANIZATION",
    "LOCATION_OTHER": "LOCATION-OTHER",
    "AGE": "AGE",
    "DATE": "DATE",
    "DATE_BIRTH": "DATE",
    "CONTACT_PHONE": "PHONE",
    "CONTACT_FAX": "FAX",
    "CONTACT_EMAIL": "EMAIL",
    "CONTACT_URL": "URL",
    "ID": "IDNUM",
}
# Labels of EDS-Pseudo (Assistance Publique - Hopitaux de Paris). "NDA" is the number of a stay.
_EDS_PSEUDO_TO_I2B2 = {
    "NOM": "PATIENT",
    "PRENOM": "PATIENT",
    "DATE": "DATE",
    "DATE_NAISSANCE": "DATE",
    "ADRESSE": "STREET",
    "VILLE": "CITY",
    "ZIP": "ZIP",
    "HOPITAL": "HOSPITAL",
    "TEL": "PHONE",
    "MAIL": "EMAIL",
    "IPP": "MEDICALRECORD",
    "SECU": "SSN",
    "NDA": "IDNUM",
}
_TO_I2B2: Mapping[str, Mapping[str, str | None]] = {
    "meddocan": _MEDDOCAN_TO_I2B2,
    "hipaa-types": _HIPAA_TYPES_TO_I2B2,
    "grascco": _GRASCCO_TO_I2B2,
    "eds-pseudo": _EDS_PSEUDO_TO_I2B2,
}


def _near_i2b2(name: str) -> LabelScheme:
    """Scheme whose labels have the categories of their nearest i2b2 labels."""
    # The corpora define no HIPAA subset. A label counts as HIPAA if its nearest i2b2 label counts as HIPAA. MEDDOCAN's
    # TERRITORIO covers cities, postal codes and regions; counting all of them is the cautious choice.
    nearest = _TO_I2B2[name]
    categories = {label: "NAME" if goal is None else I2B2_2014.categories[goal] for label, goal in nearest.items()}
    return LabelScheme(name, categories, frozenset(label for label, goal in nearest.items() if goal in I2B2_2014.hipaa))


MEDDOCAN = _near_i2b2("meddocan")
# The law lists URLs, IP addresses and other identifiers, which the i2b2 evaluation leaves out.
_HIPAA_TYPES = replace(_near_i2b2("hipaa-types"), hipaa=frozenset(_HIPAA_TYPES_TO_I2B2))
BINARY = LabelScheme("binary", {"PHI": "PHI"}, frozenset({"PHI"}))

_SCHEMES = {
    scheme.name: scheme
    for scheme in (I2B2_2014, MEDDOCAN, _HIPAA_TYPES, _near_i2b2("grascco"), _near_i2b2("eds-pseudo"), BINARY)
}


def get_label_scheme(scheme: str | LabelScheme) -> LabelScheme:
    """Label scheme by name.

    Parameters
    ----------
    scheme : {"i2b2-2014", "meddocan", "hipaa-types", "grascco", "eds-pseudo", "binary"} or LabelScheme
        Name of a known scheme: of a corpus, or "hipaa-types", whose labels are the identifiers of HIPAA, as in ASQ-PHI.
        The function returns a LabelScheme unchanged.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> len(get_label_scheme("meddocan").labels)
    29
    """
    if isinstance(scheme, LabelScheme):
        return scheme
    if scheme not in _SCHEMES:
        raise ValueError(
            f"The label scheme must be one of {sorted(_SCHEMES)} or a LabelScheme. Got {scheme!r} instead."
        )
    return _SCHEMES[scheme]


def label_map(source: str | LabelScheme, target: str | LabelScheme) -> Mapping[str, str | None]:
    """Map from the labels of one scheme to the labels of another scheme.

    The function has four kinds of maps: every scheme but "binary" to i2b2 2014, every scheme to itself, every scheme to
    ``"hipaa"`` (HIPAA labels are kept, other labels are dropped), and every scheme to ``"binary"``. There is no map
    from i2b2 2014 to another scheme because several labels of a scheme share an i2b2 label.

    Parameters
    ----------
    source : str or LabelScheme
        Scheme of the old labels.
    target : str or LabelScheme
        Scheme of the new labels, or ``"hipaa"``.

    Returns
    -------
    mapping of str to str or None
        New label of every label of the source; None for a dropped label.

    Raises
    ------
    ValueError
        If the function has no map between the two schemes.

    Examples
    --------
    >>> label_map("meddocan", "i2b2-2014")["FECHAS"], label_map("i2b2-2014", "hipaa")["DOCTOR"]
    ('DATE', None)
    """
    origin = get_label_scheme(source)
    if target == "hipaa":
        return {label: label if origin.is_hipaa(label) else None for label in origin.labels}
    goal = get_label_scheme(target)
    if goal == origin:
        return {label: label for label in origin.labels}
    if goal is BINARY:
        return {label: "PHI" for label in origin.labels}
    if goal is I2B2_2014 and _SCHEMES.get(origin.name) == origin and origin.name in _TO_I2B2:
        return dict(_TO_I2B2[origin.name])
    raise ValueError(f"There is no map from {origin.name} to {goal.name}. Pass a dict of labels instead.")


def nearest_i2b2() -> dict[str, str]:
    """Nearest label of i2b2 2014 of each label of the other schemes. Labels without a nearest label are missing.

    Examples
    --------
    >>> nearest_i2b2()["FECHAS"], nearest_i2b2()["NOM"], "NAME_TITLE" in nearest_i2b2()
    ('DATE', 'PATIENT', False)
    """
    return {label: goal for table in _TO_I2B2.values() for label, goal in table.items() if goal is not None}


def names_of_i2b2(labels: Iterable[str]) -> dict[str, str]:
    """Names of the labels of i2b2 2014 in the scheme to which some labels belong.

    If several labels of a scheme share an i2b2 label, the first label in the scheme gives the name.

    Parameters
    ----------
    labels : iterable of str
        Labels of a corpus.

    Returns
    -------
    dict of str to str
        Names by label of i2b2 2014. Empty if no scheme or several schemes have all labels, or if the scheme is i2b2
        2014.

    Examples
    --------
    >>> names_of_i2b2(["NAME", "DATE"])["EMAIL"], names_of_i2b2(["NOM"])["EMAIL"], names_of_i2b2(["DATE"])
    ('EMAIL_ADDRESS', 'MAIL', {})
    """
    own = set(labels)
    fitting = [name for name, scheme in _SCHEMES.items() if own <= set(scheme.labels)]
    if len(fitting) != 1:
        return {}
    names = dict(_ALSO_HIPAA_TYPES) if fitting[0] == _HIPAA_TYPES.name else {}
    for label, goal in _TO_I2B2.get(fitting[0], {}).items():
        if goal is not None:
            names.setdefault(goal, label)
    return names


def propose_label_map(labels: Iterable[str], target: str | LabelScheme) -> dict[str, str]:
    """Propose labels of a known scheme for the labels of an unknown scheme; you must check and complete the result.

    A label of the known scheme is proposed if its name is made of whole words of the unknown label, such as "ZIP" for
    "LOCATION_ZIP", and if no other label of the known scheme fits. Labels without a proposal are missing in the result.
    `relabel` raises an error for a missing label, so that no label is mapped or dropped without a decision.

    Parameters
    ----------
    labels : iterable of str
        Labels of the unknown scheme, such as ``corpus.label_counts``.
    target : str or LabelScheme
        Scheme of the new labels.

    Returns
    -------
    dict of str to str
        Map from each unknown label with a proposal to the proposed label.

    Examples
    --------
    >>> propose_label_map(["LOCATION_ZIP", "medicalRecordNumber", "NAME_TITLE"], "i2b2-2014")
    {'LOCATION_ZIP': 'ZIP', 'medicalRecordNumber': 'MEDICALRECORD'}
    """
    goals = {"".join(_words(label)): label for label in get_label_scheme(target).labels}
    proposed = {}
    for label in labels:
        words = _words(label)
        ends = range(1, len(words) + 1)
        found = {"".join(words[i:j]) for j in ends for i in range(j)} & set(goals)
        if len(found) == 1:
            proposed[label] = goals[found.pop()]
    return proposed


def _words(label: str) -> list[str]:
    """Words of a label in lower case; divided at signs, and before a capital that follows a small letter."""
    return [word.lower() for word in re.findall(r"[^\W\d_a-z]+(?![a-z])|[^\W\d_]?[a-z]+|\d+", label)]


def relabel(document: Document, mapping: Mapping[str, str | None], target: str | LabelScheme | None = None) -> Document:
    """Replace the labels of a document.

    Parameters
    ----------
    document : Document
        Document with the old labels.
    mapping : mapping of str to str or None
        New label of each old label. Spans whose label maps to None are dropped.
    target : str or LabelScheme, optional
        Scheme that defines the categories of the new labels. By default the new spans have no category.

    Returns
    -------
    Document
        Document with the same text and the new labels.

    Raises
    ------
    SpanError
        If the mapping lacks a label of the document. The error prevents an accidental loss of spans.

    Examples
    --------
    >>> from sklearn_deid import Document, Span
    >>> note = Document("n1", "Visto el 3 de mayo", (Span(9, 18, "FECHAS"),))
    >>> relabel(note, label_map("meddocan", "i2b2-2014"), "i2b2-2014").spans
    (Span(start=9, end=18, label='DATE', category='DATE', confidence=None),)
    """
    # All labels are checked before the first one is replaced: a forgotten label must not drop its spans silently.
    for span in document.spans:
        if span.label not in mapping:
            message = f"The mapping has no entry for the label {span.label!r}. The entry None leaves spans out."
            raise SpanError(message, doc_id=document.doc_id, start=span.start, end=span.end)
    scheme = None if target is None else get_label_scheme(target)
    spans = []
    for span in document.spans:
        label = mapping[span.label]
        if label is not None:
            spans.append(replace(span, label=label, category=None if scheme is None else scheme.category(label)))
    return replace(document, spans=tuple(spans))
