"""Rules for examination, vital signs and laboratory: numbers that are no PHI, but look like it."""

# ruff: noqa: E501 - one alternative a line, however long

from __future__ import annotations

__all__ = ["RULES"]

RULES: dict[str, tuple[str, ...]] = {
    "vitals": (
        "T {#96.8-99.9} BP {#106-178}/{#52-94} HR {#54-118} RR {#12-24} O2 sat {#90-100}% <RA|on 2L>",
        "VS: {#97.0-100.2}, {#56-112}, {#100-170}/{#54-96}, {#12-22}, {#91-100}% on room air",
        "Temp {#97.1-99.8}  P {#58-110}  BP {#102-168}/{#58-94}  Wt {kg} kg",
        "BP {#104-164}/{#56-92}, pulse {#60-102}. Sat {#93-100}%",
        "Tm {#98.4-101.8} Tc {#97.6-99.4} {#62-108} {#108-160}/{#60-90} {#14-20} {#92-99}RA",
        "T: {#36.1-38.4} C, HR: {#60-120}, BP: {#96-172}/{#50-96}, SpO2: {#92-100}%",
    ),
    "vitals.table": (
        "Time\tT\tHR\tBP\tSat\n{time}\t{#97.0-99.9}\t{#60-110}\t{#100-160}/{#56-94}\t{#91-99}\n{time}\t{#97.0-100.4}\t{#60-104}\t{#102-158}/{#54-90}\t{#92-100}",
        "T {#97-99}.{#0-9}\tP {#60-100}\tR {#12-22}\tBP {#110-158}/{#60-92}",
    ),
    "exam": (
        "General: <pleasant|frail|tired appearing|well developed> {noun} in <no acute distress|NAD|mild distress>.",
        "HEENT: PERRL, EOMI, OP clear.",
        "Head: normocephalic. Neck: supple, no bruit.",
        "Lungs: good effort, no stridor.",
        "Heart: no rub.",
        "CV: S1 S2, no gallop heard by Dr. {res.last}.",
        "Abd: not distended, +BS.",
        "Ext: warm, no clubbing.",
        "Neuro: A&O x3, CN II-XII intact.",
        "Skin: <no rash|dry|intact, Braden {#12-22}>.",
        "Tinel and Phalen negative.",
        "Rectal deferred.",
        "Foot pulses {#1-2}+.",
        "{trap.exam}",
        "{trap.exam}",
    ),
    "lab": ("{lab.blood}", "{lab.salts}", "{lab.other}", "{lab.other}", "{lab.number}"),
    "lab.blood": (
        "WBC {#3.1-18.9}, Hct {#24.0-46.0}, Plt {#88-412}.",
        "CBC: {#4.1-16.9} {gt} {#10.2-11.8}/{#31.4-35.9} {lt} {#110-390}.",
        "Hct {#24-44} on {date.adm}, {#23-44} on {date.stay}.",
        "WBC {#4.0-17.0}, Plt {#101000-398000}, smear normal.",
    ),
    "lab.salts": (
        "Na {#128-146}, K {#3.1-5.6}, Cl {#94-110}, HCO3 {#17-31}, BUN {#8-48}, Cr {#0.6-1.9}, glu {#78-212}.",
        "Labs from {date.stay} notable for Cr {#0.7-2.1}, K {#3.2-5.4}.",
        "BMP {#130-144}/{#3.3-5.2}/{#96-108}/{#18-30}/{#8-44}/{#0.6-2.4}/{#78-260}.",
        "Cr {#0.6-2.4} (baseline {#0.6-1.4} in {date.month}).",
    ),
    "lab.other": (
        "INR {#0.9-1.6}, PTT {#24-38}.",
        "AST {#12-88} ALT {#10-90} AP {#44-160} TB {#0.2-2.1} lipase {#12-90}.",
        "UA: SG 1.0{#10-30}, {#0-9} WBC, nitrite neg, Gram stain not done.",
        "Lactate {#0.8-3.4}, CRP {#2-188}, ESR {#4-98}.",
        "Coombs negative, LDH {#120-420}.",
        "Blood cx {date.stay}: no growth to date.",
        "Vitamin D {#12-48}, B12 {#180-980}, ferritin {#18-410}.",
    ),
    "lab.number": (
        "Lab no. {specimen}: pending.",
        "Micro {specimen}: {#1000-45000} CFU mixed flora.",
        "Send-out {specimen} (to {oh}) not back.",
        "Reference range {#10-20}-{#30-50}; control {#10-12}.{#0-9}.",
    ),
    "lab.table": (
        "Test\tResult\tUnits\tRange\nNa\t{#128-146}\tmmol/L\t135-145\nK\t{#3.1-5.6}\tmmol/L\t3.5-5.0\nCr\t{#0.6-2.9}\tmg/dL\t0.5-1.2\nHct\t{#24-46}\t%\t36-46",
        "\t{date.adm}\t{date.stay}\nWBC\t{#4.0-18.0}\t{#4.0-12.0}\nHct\t{#26.0-44.0}\t{#26.0-42.0}\nPlt\t{#110-390}\t{#110-390}",
        "{date.stay} {time}  Na {#130-144}  K {#3.3-5.2}  Cr {#0.7-2.4}\n{date.stay} {time}  WBC {#4.4-14.2}  Hct {#27.1-41.8}",
        "COLLECTED {date.stay} {time}\nSPECIMEN {specimen}\nGlucose      {#72-300}\nBUN          {#8-44}\nCreatinine   {#0.6-2.4}\nGFR          {gt}{#30-60}",
        "WBC-{#4.1-16.8} RBC-{#3.31-3.90} HGB-{#9.8-11.6} HCT-{#29.8-34.9} PLT CT-{#101-402}\nPT-{#11.1-16.2} PTT-{#24.1-44.0} INR(PT)-{#0.9-1.8}",
    ),
    "ecg": (
        "EKG: NSR at {#58-104}, no ST changes.",
        "EKG {date.adm}: sinus, PR {#140-198}, QTc {#400-460}, LAD, no Brugada pattern.",
        "ECG: sinus at {#60-100}, LAD, unchanged from {date.prior}.",
        "ECG normal; no Osborn wave, no Wenckebach.",
        "EKG read by Dr. {any.last}: sinus, rate {#56-98}.",
    ),
    "result": (
        "{Study} ({date.stay}): {impression}",
        "{Study}, {hosp}: {imaging}",
        "{Study} on {date.stay}, prelim by Dr. {rad.last}: {impression}",
        "{Study} #{accession}: {imaging} {Impression}",
        "{Study} reviewed with Dr. {rad.last}. {imaging}",
    ),
}
