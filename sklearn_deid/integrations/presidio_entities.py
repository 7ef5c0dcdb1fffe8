"""Presidio's entity names for the labels of PHI."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..text import I2B2_2014, MEDDOCAN, label_map

# Labels for which Presidio has another name. All other labels keep their names; Presidio lets recognisers add entities.
_OF_I2B2 = {
    **dict.fromkeys(("PATIENT", "DOCTOR"), "PERSON"),
    **dict.fromkeys(("STREET", "CITY", "STATE", "COUNTRY", "ZIP", "LOCATION-OTHER"), "LOCATION"),
    **dict.fromkeys(("HOSPITAL", "ORGANIZATION"), "ORGANIZATION"),
    **dict.fromkeys(("PHONE", "FAX"), "PHONE_NUMBER"),
    "DATE": "DATE_TIME",
    "EMAIL": "EMAIL_ADDRESS",
    "URL": "URL",
    "IPADDR": "IP_ADDRESS",
    # Not US_SSN: a span that a tagger labels SSN need not have the form of a social security number.
    **dict.fromkeys(("SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE", "BIOID", "IDNUM"), "ID"),
    **dict.fromkeys(("VEHICLE", "DEVICE", "USERNAME"), "ID"),
    "AGE": "AGE",
}

#: Presidio's entity of each label of the i2b2 2014 and MEDDOCAN schemes.
PRESIDIO_ENTITIES: Mapping[str, str] = MappingProxyType(
    {
        **{label: _OF_I2B2.get(label, label) for label in I2B2_2014.labels},
        **{label: _OF_I2B2.get(str(i2b2), label) for label, i2b2 in label_map(MEDDOCAN, I2B2_2014).items()},
    }
)


def entity_of(label: str, entities: Mapping[str, str]) -> str:
    """Presidio's entity of a label: the entity of the mapping, or the label itself. No label is left out.

    Parameters
    ----------
    label : str
        Label of the tagger.
    entities : mapping of str to str
        Entities by label.

    Examples
    --------
    >>> entity_of("FECHAS", PRESIDIO_ENTITIES), entity_of("PET", PRESIDIO_ENTITIES)
    ('DATE_TIME', 'PET')
    """
    return entities.get(label, label)
