"""MEDDOCAN XML: root ``MEDDOCAN``, one file per clinical case, otherwise like i2b2 2014.

A document id implies no patient id, because the cases come from articles. `note_xml` lists the information that the
format does not store.

Source: Marimon et al. (2019), "Automatic De-identification of Medical Texts in Spanish: the MEDDOCAN Track, Corpus,
Guidelines, Methods and Evaluation of Results", IberLEF.
"""

from __future__ import annotations

from ...text import MEDDOCAN
from ..note_xml import Dialect, xml_format

FORMAT = xml_format("meddocan-xml", Dialect("MEDDOCAN", MEDDOCAN.category, lambda doc_id: None))
