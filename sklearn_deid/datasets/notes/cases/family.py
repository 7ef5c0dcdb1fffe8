"""Cases of women, men and children."""

from __future__ import annotations

from .case import Case

__all__ = ["CASES"]

_BIRTH = Case(
    "birth",
    "ultrasound",
    {
        "complaint": ("contractions", "labor at {#38-41} weeks", "ruptured membranes"),
        "dx": ("term pregnancy", "term labor", "preeclampsia at term", "VBAC at term"),
        "also": ("gestational diabetes", "GBS carrier", "breech excluded"),
        "story": (
            "EDC {date.next} by LMP and first trimester scan at {cl}.",
            "Braxton-Hicks contractions since {date.recent}.",
            "Prenatal care with Dr. {pcp.last}; GBS <negative|positive>.",
            "The father, {kin.full}, works for {employer2}.",
            "Prior C-section in {date.year} at {oh}.",
            "Hope to breast feed. No bleeding.",
        ),
        "findings": (
            "Cervix {#3-9} cm, {#60-100}%, -{#1-2}.",
            "Leopold: vertex, EFW {#6-9} lb.",
            "FHT {#120-155}, reactive.",
            "Bishop score {#4-11}.",
        ),
        "study": ("OB ultrasound", "fetal ultrasound", "biophysical profile"),
        "imaging": (
            "Single live fetus, vertex.",
            "AFI {#6-18} cm.",
            "EFW {#2900-3900} g.",
            "Placenta posterior, no previa.",
            "Cardiac activity {#122-158}.",
            "Dates agree with the scan of {date.prior}.",
        ),
        "impression": ("Normal fetal growth.", "BPP 8/8.", "Vertex presentation, normal fluid."),
        "course": (
            "Delivered a <boy|girl>, {#2800-3950} g, Apgars {#7-9} and 9, on {date.stay} at {time} by Dr. {at.last}.",
            "The baby was named {baby}.",
            "EBL {#250-500} cc. Perineum intact.",
            "Epidural was placed by Dr. {con2.last}.",
            "Postpartum Hct {#27-36}. Rh positive, Coombs negative.",
        ),
        "plan": (
            "Admit to L&D",
            "Pitocin per protocol",
            "Epidural when asks",
            "PCN for GBS",
            "Anticipate NSVD, Dr. {at.last} aware",
        ),
        "drugs": (
            "Motrin 600 mg PO q6h prn",
            "Prenatal vitamin daily",
            "Colace 100 mg BID",
            "Percocet 1-2 tabs prn",
            "Micronor daily",
        ),
        "nursing": (
            "fundus firm, lochia small",
            "baby {baby} to breast, latch good",
            "FHT {#124-150}, ctx q{#2-4} min",
        ),
        "advice": (
            "Nothing in the vagina for six weeks.",
            "Call for heavy bleeding.",
            "Baby {baby} sees Dr. {con.last} on {date.next}.",
        ),
        "clinic": ("Obstetrics", "OB/GYN", "Women's Health"),
    },
    sex="F",
    ages=(18, 44),
)

_BREAST = Case(
    "breast cancer",
    "mammogram",
    {
        "complaint": ("{side} breast mass", "an abnormal mammogram", "{side} breast lump"),
        "dx": ("invasive ductal carcinoma, {side} breast", "DCIS of the {side} breast", "{side} breast CA, T{#1-2}N0"),
        "also": ("Paget disease of the nipple excluded", "fibrocystic change", "Mondor disease in the past"),
        "story": (
            "{He} felt the lump in {date.month}.",
            "{His} {rel.word} {rel.first} was diagnosed at age {kin.age}.",
            "Core biopsy {specimen} on {date.prior} was read by Dr. {con2.last}.",
            "ER/PR positive, HER2 negative, Ki-67 {#8-35}%.",
            "BRCA testing at {oh} was negative.",
            "{He} may choose lumpectomy over mastectomy.",
        ),
        "findings": (
            "{#1.0-3.8} cm mass at {#1-12} o'clock.",
            "No axillary nodes.",
            "Incision clean, JP drains x{#1-2}.",
            "Cooper ligaments not retracted.",
        ),
        "study": ("bilateral mammogram", "diagnostic mammogram, {side}", "{side} mammogram and ultrasound"),
        "imaging": (
            "Spiculated mass {#0.9-3.4} cm, {side} breast, BI-RADS {#4-5}.",
            "Compared to {date.prior}.",
            "No axillary adenopathy.",
            "Scattered densities.",
            "Calcifications spanning {#8-30} mm.",
            "Cooper ligaments are thickened.",
        ),
        "impression": (
            "BI-RADS {#4-5}. Biopsy advised.",
            "Known cancer of the {side} breast, no second focus.",
            "Suspicious mass.",
        ),
        "course": (
            "Lumpectomy and sentinel node biopsy on {date.stay} by Dr. {sur.last}.",
            "Nodes {#0-2}/{#2-5} positive, path {specimen}.",
            "Bloom-Richardson grade {#1-3}.",
            "Oncology (Dr. {con.last}) plans tamoxifen.",
        ),
        "plan": (
            "OR with Dr. {sur.last}",
            "XRT 6 weeks",
            "Oncotype DX",
            "Tamoxifen 20 mg x 5 y",
            "Genetics, {con2.full}",
        ),
        "drugs": ("Tamoxifen 20 mg PO daily", "Arimidex 1 mg PO daily", "Percocet prn", "Effexor 37.5 mg daily"),
        "nursing": ("JP {#20-70} cc, teaching done", "{side} arm no BP or sticks", "incision C/D/I, binder on"),
        "advice": ("Empty the drain twice a day.", "No lifting with the arm.", "Mammogram in {#6-12} months."),
        "clinic": ("Breast Center", "Oncology", "Radiation Oncology"),
    },
    sex="F",
    ages=(35, 95),
)

_PROSTATE = Case(
    "prostate",
    "ultrasound",
    {
        "complaint": ("urinary retention", "elevated PSA", "hematuria", "weak stream"),
        "dx": ("prostate cancer, Gleason {#3-4}+{#3-4}", "BPH with retention", "gross hematuria, enlarged prostate"),
        "also": ("Peyronie disease", "elevated PSA", "hydronephrosis excluded"),
        "story": (
            "PSA rose from {#2.1-4.0} in {date.year} to {#5.2-28.4}.",
            "Biopsy by Dr. {sur.last} on {date.prior}, path {specimen}: Gleason {#6-9}.",
            "{He} could not void since {weekday}.",
            "TURP in {date.year} at {oh}.",
            "{His} {rel.word} {rel.first} had prostate cancer.",
            "Retired <{profession}|> from {employer}.",
        ),
        "findings": (
            "Prostate {#40-110} g, firm on the {side}.",
            "Foley drained {#600-1300} cc.",
            "No CVA tenderness.",
            "No rib or spine tenderness.",
        ),
        "study": ("renal/bladder ultrasound", "US bladder and prostate", "transrectal ultrasound"),
        "imaging": (
            "The prostate measures {#42-118} cc.",
            "Post-void residual {#120-480} cc.",
            "No hydronephrosis.",
            "Bladder wall is thick.",
            "Denonvilliers fascia intact.",
            "Foley balloon in place.",
        ),
        "impression": ("Enlarged prostate.", "Large residual volume.", "No hydronephrosis."),
        "course": (
            "Robotic prostatectomy on {date.stay} by Dr. {sur.last}, EBL {#100-400} cc.",
            "Path {specimen}: Gleason {#3-4}+{#3-4}, margins clear.",
            "CBI was stopped on {date.stay}; urine was clear.",
            "JP (Jackson-Pratt) out on POD {#1-3}.",
        ),
        "plan": (
            "Foley to gravity, 18 Fr",
            "Flomax 0.4",
            "Voiding trial {weekday}",
            "Urology: Dr. {sur.last}",
            "PSA in {#6-12} weeks",
        ),
        "drugs": ("Flomax 0.4 mg PO qHS", "Proscar 5 mg PO daily", "Lupron 22.5 mg IM q3mo", "Ditropan 5 mg prn spasm"),
        "nursing": ("CBI pink, no clots", "3-way Foley, {#1200-3000} cc out", "bladder spasm, B&O given"),
        "advice": ("Leave the catheter until {date.next}.", "Drink plenty of water.", "No straining for six weeks."),
        "clinic": ("Urology", "Radiation Oncology", "Prostate Center"),
    },
    sex="M",
    ages=(50, 100),
)

_ASTHMA = Case(
    "asthma",
    "chest film",
    {
        "complaint": ("wheezing", "trouble breathing", "cough at night", "asthma attack"),
        "dx": ("status asthmaticus", "asthma exacerbation", "viral bronchiolitis"),
        "also": ("croup excluded", "allergic rhinitis", "RSV positive"),
        "story": (
            "{His} {rel.word} {rel.full} gave {#2-5} nebs at home.",
            "{He} has been out of school ({employer}) since {date.recent}.",
            "ED visits in {date.month} and {date.month}.",
            "Triggers are cats, cold air and <spring pollen|the fall>.",
            "Immunizations current per Dr. {pcp.last}, last {date.prior}.",
            "{His} cousin {baby} has eczema.",
        ),
        "findings": (
            "Subcostal retractions, RR {#28-46}.",
            "Wheeze throughout, peak flow {#110-260}.",
            "Alert, playful, TMs clear.",
            "Harrison sulcus not seen.",
            "Cap refill &lt;2 s.",
        ),
        "study": ("chest, 2 views", "CXR AP", "portable chest"),
        "imaging": (
            "Peribronchial thickening.",
            "Hyperinflation, no focal infiltrate.",
            "No foreign body.",
            "Normal thymus and heart.",
            "Unchanged since {date.prior}.",
        ),
        "impression": ("Viral or reactive airway disease.", "No pneumonia.", "Hyperinflation only."),
        "course": (
            "Continuous albuterol was weaned to q4h by {date.stay}.",
            "Orapred {#15-40} mg daily x 5.",
            "{He} was on {#0.5-3.0} L for one night.",
            "Asthma teaching with {rel.word} {rel.first} by {rn.full}.",
        ),
        "plan": (
            "Albuterol q2h, space as able",
            "Orapred 1 mg/kg BID",
            "O2 for sat {lt} 92",
            "Asthma action plan for school",
            "May go home when q4h",
        ),
        "drugs": (
            "Albuterol MDI 2 puffs q4h prn",
            "Flovent 44 mcg 2 puffs BID",
            "Orapred 15 mg PO BID",
            "Singulair 4 mg chew qHS",
        ),
        "nursing": (
            "RR {#24-44}, mild retractions, neb at {time}",
            "{rel.word} {rel.first} at bedside, will room in",
            "wt {#12.4-48.9} kg, Tylenol 15 mg/kg",
        ),
        "advice": (
            "Use the spacer each time.",
            "No smoking in the house or car.",
            "Dr. {pcp.last} wants to see {him} on {date.next}.",
        ),
        "clinic": ("Pediatrics", "Pediatric Pulmonary", "Asthma Clinic"),
    },
    ages=(2, 17),
)

_GASTRO = Case(
    "gastroenteritis",
    "abdomen film",
    {
        "complaint": ("vomiting and diarrhea", "vomiting", "diarrhea and fever", "poor intake and vomiting"),
        "dx": ("viral gastroenteritis", "dehydration", "rotavirus enteritis"),
        "also": ("Kawasaki disease excluded", "Henoch-Schonlein purpura unlikely", "Coxsackie virus in question"),
        "story": (
            "{#4-12} stools since {weekday}; {his} class at {employer} is sick, too.",
            "{He} drank Pedialyte given by {his} {rel.word} {rel.first}.",
            "Seen by Dr. {pcp.last} on {date.recent}, sent home.",
            "No tears, {#1-3} wet diapers or voids today.",
            "They came back from {country} on {date.recent}.",
            "Rash on hand, foot and mouth.",
        ),
        "findings": (
            "Dry lips, cap refill {#2-4} s.",
            "Abd soft, hyperactive BS.",
            "Koplik spots absent.",
            "HR {#120-158}, T {#99.9-103.6}.",
        ),
        "study": ("abdomen, 2 views", "KUB", "abdominal film"),
        "imaging": (
            "Nonspecific bowel gas.",
            "No obstruction.",
            "Stool in the colon, no Hirschsprung pattern.",
            "Normal lung bases.",
            "No free air.",
        ),
        "impression": ("Normal bowel gas.", "No obstruction.", "Air-fluid levels of gastroenteritis."),
        "course": (
            "NS bolus {#20-40} cc/kg, then D5 1/2 NS.",
            "Rotavirus <positive|negative>; norovirus pending.",
            "Took {#6-24} oz of Pedialyte by {date.stay}.",
            "Kawasaki criteria were not met (Dr. {con.last}).",
        ),
        "plan": (
            "NS 20 cc/kg",
            "Zofran 2 mg",
            "Stool for rota",
            "Strict I/O, daily wt",
            "ID if rash grows, Dr. {con.last}",
        ),
        "drugs": ("Zofran 2 mg ODT prn", "Tylenol 160 mg/5 mL prn", "Motrin 100 mg/5 mL prn", "Culturelle daily"),
        "nursing": (
            "emesis x{#1-3}, PO trial at {time}",
            "diaper wt {#40-140} g",
            "{rel.word} {rel.first} holding pt, IV intact",
        ),
        "advice": ("Small sips every {#5-10} minutes.", "Wash hands.", "Call {cl} if there is no urine for 8 hours."),
        "clinic": ("Pediatrics", "Pediatric GI", "Primary Care"),
    },
    ages=(2, 15),
)

CASES = (_BIRTH, _BREAST, _PROSTATE, _ASTHMA, _GASTRO)
