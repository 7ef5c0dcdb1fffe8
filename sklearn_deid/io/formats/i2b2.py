"""i2b2 2014 de-identification XML: root ``deIdi2b2``, one file per note.

File names have the form ``XXX-YY.xml``: the number of the patient and the number of the note. A document id of this
form therefore implies its patient id. Offsets count the characters of TEXT after XML parsing. `note_xml` lists the
information that the format does not store.

Source: Stubbs and Uzuner (2015), "Annotating longitudinal clinical narratives for de-identification: The 2014
i2b2/UTHealth corpus", J Biomed Inform 58:S20-S29.
"""

from __future__ import annotations

import re

from ...text import I2B2_2014
from ..note_xml import Dialect, xml_format

_FILE_NAME = re.compile(r"([0-9]+)-[0-9]+")


def _patient_of(doc_id: str) -> str | None:
    match = _FILE_NAME.fullmatch(doc_id)
    return match[1] if match else None


FORMAT = xml_format("i2b2", Dialect("deIdi2b2", I2B2_2014.category, _patient_of))
