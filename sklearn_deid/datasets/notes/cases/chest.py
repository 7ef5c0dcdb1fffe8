"""Cases of the lungs."""

# ruff: noqa: E501 - one alternative a line, however long

from __future__ import annotations

from .case import Case

__all__ = ["CASES"]

_PNEUMONIA = Case(
    "pneumonia",
    "chest film",
    {
        "complaint": ("cough and fever", "productive cough", "fever, chills and pleuritic pain", "worsening cough"),
        "dx": (
            "community acquired pneumonia",
            "{side} lower lobe pneumonia",
            "PNA with sepsis",
            "aspiration pneumonia",
        ),
        "also": ("parapneumonic effusion", "Legionella excluded", "reactive airways"),
        "story": (
            "{He} has had a cough productive of <green|rusty|yellow> sputum since {date.recent}.",
            "Temp at home was {#100.8-103.9}.",
            "{He} was started on a Z-pak by Dr. {pcp.last} on {date.recent} without improvement.",
            "Sick contact: {his} <grandson|{rel.word}> had the flu around {holiday}.",
            "No recent travel<| except a trip to {country} in {date.month}>.",
            "PPD was placed at {employer} in {date.year} and was <negative|{#0-9} mm>.",
            "Received the Pneumovax {date.year}.",
        ),
        "findings": (
            "Lungs: <rhonchi and|> decreased breath sounds at the {side} base with egophony.",
            "RR {#20-32}, using accessory muscles.",
            "T {#100.4-103.2}, flushed.",
            "Dullness to percussion {#2-5} cm above the diaphragm.",
        ),
        "study": ("chest, PA and lateral", "CXR, 2 views", "portable chest radiograph"),
        "imaging": (
            "There is an air-space opacity in the {side} lower lobe.",
            "A small parapneumonic effusion is <present|not seen>.",
            "The heart size is normal.",
            "No cavitation. Ghon complex in the apex, old.",
            "Compared with {date.prior}, the opacity is new.",
            "A {#3-9} mm calcified nodule is again seen, unchanged since {date.year}.",
            "No pneumothorax.",
        ),
        "impression": (
            "{Side} lower lobe pneumonia. Follow to resolution in {#4-8} weeks.",
            "New consolidation, likely infectious.",
            "{Side} basilar pneumonia.",
        ),
        "course": (
            "Ceftriaxone and azithromycin were given and changed to levofloxacin by mouth on {date.stay}.",
            "Blood cultures x{#2-4} from {date.adm} grew <nothing|Strep pneumoniae in 1 of 4 bottles>. Gram stain: GPC in pairs.",
            "Legionella antigen was negative.",
            "{He} was weaned to room air by {date.stay}.",
            "Swallow study was done because of the question of aspiration; a soft diet was advised.",
        ),
        "plan": (
            "Ceftriaxone 1 g IV q24h and azithromycin 500 mg",
            "Sputum for Gram stain and cx",
            "Urine Legionella antigen",
            "Incentive spirometry 10x/hr",
            "O2 to keep SpO2 over 92%",
            "Repeat CXR on {date.next}",
        ),
        "drugs": (
            "Levaquin 750 mg PO daily x {#4-7} days",
            "Azithromycin 250 mg PO daily",
            "Augmentin 875 mg PO BID",
            "Guaifenesin 600 mg PO BID",
            "Albuterol nebs q4h prn",
        ),
        "nursing": (
            "coughing up thick <green|tan> sputum, spec sent",
            "T {#99.8-102.4}, Tylenol 650 given at {time}",
            "sat 91% RA, placed on 2L NC",
        ),
        "advice": (
            "Finish all of the antibiotics.",
            "Repeat the chest film in six weeks.",
            "Get the flu shot in the fall.",
        ),
        "clinic": ("Pulmonary", "Primary Care", "Infectious Disease"),
    },
)

_COPD = Case(
    "copd",
    "chest film",
    {
        "complaint": ("wheezing and dyspnea", "SOB x {#2-6} days", "increasing shortness of breath", "COPD flare"),
        "dx": ("COPD exacerbation", "acute on chronic bronchitis", "hypercapnic respiratory failure"),
        "also": ("emphysema", "cor pulmonale", "alpha-1 antitrypsin normal"),
        "story": (
            "{He} has a {#30-90} pack-year history and still smokes {#4-20} cigarettes daily.",
            "Uses {#2-4} L home oxygen from {employer2}.",
            "Was intubated in {date.year} at {oh}.",
            "Increased {his} Combivent to q2h without relief.",
            "PFTs from {date.prior}: FEV1 {#0.7-1.9} L, {#24-58}% predicted.",
            "{He} used to work as {a} {profession} and was exposed to <dust|asbestos|fumes>.",
            "Prednisone taper ended {date.recent}.",
        ),
        "findings": (
            "Barrel chest, pursed-lip breathing.",
            "Diffuse expiratory wheezes, prolonged I:E of 1:{#3-5}.",
            "Speaks in {#2-5} word sentences.",
            "No clubbing. Hoover sign positive.",
        ),
        "study": ("chest, portable", "PA/lateral chest", "CXR"),
        "imaging": (
            "Hyperinflated lungs with flattened diaphragms.",
            "Bullae in both apices.",
            "No infiltrate or pneumothorax.",
            "Old rib fractures on the {side}.",
            "Calcified granuloma, unchanged from {date.year}.",
        ),
        "impression": (
            "COPD without acute infiltrate.",
            "Hyperinflation. No pneumonia.",
            "Stable apical scarring, no infiltrate.",
        ),
        "course": (
            "BiPAP was used for the first night in the <MICU|step-down unit>, ABG 7.{#26-38}/{#48-78}/{#58-92}.",
            "Solu-Medrol was changed to prednisone {#40-60} mg on {date.stay}.",
            "Smoking cessation was discussed, {he} wants to try Chantix.",
            "{He} ambulated {#50-300} feet with sats of {#86-93}% on {#2-4} L.",
        ),
        "plan": (
            "Nebs q4h and prn",
            "Solu-Medrol 60 mg IV q8h",
            "BiPAP 12/5 if tires",
            "Doxycycline 100 mg BID",
            "Pulm consult (Dr. {con.last})",
            "Nicotine patch 21 mg",
        ),
        "drugs": (
            "Spiriva 18 mcg inh daily",
            "Advair 250/50 1 puff BID",
            "Prednisone taper 60-40-20 mg",
            "Combivent 2 puffs QID",
            "Singulair 10 mg PO qHS",
        ),
        "nursing": (
            "wheezy, neb given by RT at {time}",
            "on BiPAP 12/5 overnight, tolerated",
            "up to chair, SOB w/ minimal exertion",
        ),
        "advice": (
            "Use the oxygen at {#2-3} liters at rest and {#3-4} with walking.",
            "Call if you need the inhaler more than every four hours.",
            "Stop smoking. The quit line is free.",
        ),
        "clinic": ("Pulmonary", "Pulmonary Rehabilitation", "Chest Clinic"),
    },
    ages=(45, 110),
)

_EMBOLISM = Case(
    "embolism",
    "body CT",
    {
        "complaint": ("pleuritic chest pain", "calf pain and dyspnea", "sudden shortness of breath", "leg swelling"),
        "dx": ("pulmonary embolism", "submassive PE", "bilateral pulmonary emboli"),
        "also": ("DVT of the {side} leg", "factor V Leiden, heterozygous", "Baker's cyst"),
        "story": (
            "{He} flew home from {country} on {date.recent}.",
            "The {side} calf has been swollen since {weekday}.",
            "{He} had <knee|hip> surgery with Dr. {con.last} on {date.prior}.",
            "{His} {rel.word} had a clot in {date.year}. Testing at {oh} showed factor V Leiden.",
            "Wells score {#4-9}.",
            "No hemoptysis. No Homans sign noted by the VNA.",
        ),
        "findings": (
            "Calf circumference {#36-44} cm vs {#33-35} cm, Homans sign negative.",
            "Tachycardic to {#104-138}.",
            "Sat {#86-94}% on room air.",
            "No RV heave. Lungs clear.",
        ),
        "study": ("CT pulmonary angiogram", "CTA chest", "chest CT with contrast, PE protocol"),
        "imaging": (
            "Filling defects in the {side} lower lobe pulmonary artery.",
            "RV/LV ratio {#0.8-1.4}.",
            "Hampton hump at the {side} base.",
            "Westermark sign is not appreciated.",
            "No pneumothorax or effusion.",
            "No adenopathy. Heart size is normal.",
        ),
        "impression": (
            "Acute pulmonary embolism.",
            "Acute PE without right heart strain.",
            "Lobar and segmental emboli.",
        ),
        "course": (
            "Heparin was started and bridged to Coumadin, INR {#2.0-3.1} on {date.stay}.",
            "BNP {#88-1210}, troponin negative.",
            "Echo on {date.stay}: McConnell sign <absent|present>.",
            "An IVC filter (Greenfield, lot {device.new}) was placed by Dr. {con.last}.",
            "{He} was taught Lovenox injections; {his} {rel.word} {rel.first} will help.",
        ),
        "plan": (
            "Lovenox 1 mg/kg BID",
            "Coumadin 5 mg tonight, INR daily",
            "LE Doppler of the {side} leg",
            "Hypercoag labs before Coumadin",
            "Heme c/s, Dr. {con.last} may see {weekday}",
        ),
        "drugs": (
            "Lovenox 80 mg SC q12h",
            "Warfarin 5 mg PO daily",
            "Xarelto 15 mg PO BID x 21 days",
            "Tylenol 650 mg PO q6h prn",
        ),
        "nursing": (
            "heparin at {#900-1800} units/hr, PTT {#48-94}",
            "{side} calf {#38-44} cm, elevated",
            "Lovenox teaching done w/ pt and {rel.word}",
        ),
        "advice": (
            "Wear the stockings when you fly.",
            "Watch for black stools or bruises.",
            "Your INR will be drawn at {cl} on {date.next}.",
        ),
        "clinic": ("Hematology", "Anticoagulation Clinic", "Vascular Medicine"),
    },
)

CASES = (_PNEUMONIA, _COPD, _EMBOLISM)
