"""Free text in values of HL7 version 2 that do not have the type of text: texts of codes, and words in place of
numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection

#: Types whose components are codes and texts, such as ``I10^Hypertension^ICD10``.
CODED = frozenset(("CE", "CF", "CNE", "CWE"))
#: Types of numbers and times. A value with a word is no number or time, and is read as text.
NUMBERS = frozenset("DR DT DTM NM NR SI SN TM TS".split())
#: Types of identifiers, places, prices and others without texts. A component with a blank is no such value, and is read
#: as text.
CODES = frozenset("CK CP CQ EI FC GTS HD ID IS JCC MA MO NA PL PT SPD VR".split())
#: Types that hold names, addresses and identifiers of people.
PEOPLE = frozenset("AD CN CX DLN PN PPN TN XAD XCN XON XPN XTN".split())
#: Segments of HL7 2. Other segments hold content of a site, or of a faulty program.
SEGMENTS = frozenset(
    """ABS ACC ADD ADJ AFF AIG AIL AIP AIS AL1 APR ARQ ARV AUT BHS BLC BLG BPO BPX BTS BTX BUI CDM CDO CER CM0 CM1 CM2
    CNS CON CSP CSR CSS CTD CTI CTR DB1 DEV DG1 DMI DON DPS DRG DSC DSP DST ECD ECR EDU EQL EQP EQU ERQ ERR EVN FAC FHS
    FT1 FTS GOL GP1 GP2 GT1 IAM IAR IIM ILT IN1 IN2 IN3 INV IPC IPR ISD ITM IVC IVT LAN LCC LCH LDP LOC LRL MCP MFA MFE
    MFI MRG MSA MSH NCK NDS NK1 NPU NSC NST NTE OBR OBX ODS ODT OH1 OH2 OH3 OH4 OM1 OM2 OM3 OM4 OM5 OM6 OM7 OMC ORC ORG
    OVR PAC PCE PCR PD1 PDA PDC PEO PES PID PKG PM1 PMT PR1 PRA PRB PRC PRD PRT PSG PSH PSL PSS PTH PV1 PV2 PYE QAK QID
    QPD QRD QRF QRI RCP RDF RDT REL RF1 RFI RGS RMI ROL RQ1 RQD RXA RXC RXD RXE RXG RXO RXR RXV SAC SCD SCH SCP SDD SFT
    SGH SGT SHP SID SLT SPM SPR STF STZ TCC TCD TQ1 TQ2 TXA UAC UB1 UB2 URD URS VAR VND VTQ""".split()
)
# Text, alternative text, original text and second alternative text of CWE, counted from 0.
_TEXT_COMPONENTS = (1, 4, 8, 10)
_WORD = re.compile(r"[^\W\d_]{2}")
_BLANK = re.compile(r"\s")


def text_parts(kind: str, value: str, component: str, repetition: str, escape: str = "\\") -> list[tuple[int, int]]:
    """Half-open offsets of the texts in a value.

    Parameters
    ----------
    kind : str
        Type of the value. For types that this module does not know, the whole value is text.
    value : str
        Field of the message.
    component, repetition, escape : str
        Separators of the message, and the sign of its escape sequences, which can represent blanks.

    Examples
    --------
    >>> text_parts("CWE", "I10^Hypertension^ICD", "^", "~"), text_parts("NM", "5.0", "^", "~")
    ([(4, 16)], [])
    >>> text_parts("NM", "see Ann", "^", "~"), text_parts("TX", "a~b", "^", "~")
    ([(0, 7)], [(0, 1), (2, 3)])
    """
    found, start = [], 0
    for one in value.split(repetition):
        if kind in CODED or kind in CODES:
            texts = _TEXT_COMPONENTS if kind in CODED else ()
            found += _of_code(one, start, component, escape, texts)
        elif kind not in NUMBERS or _WORD.search(one):
            found.append((start, start + len(one)))
        start += len(one) + 1
    return found


def _of_code(value: str, start: int, component: str, escape: str, texts: Collection[int]) -> list[tuple[int, int]]:
    """Texts of a coded value: the components of texts, and other components with a blank, which are not codes."""
    found = []
    for number, part in enumerate(value.split(component)):
        if part and (number in texts or _BLANK.search(part) or escape in part):
            found.append((start, start + len(part)))
        start += len(part) + 1
    return found
