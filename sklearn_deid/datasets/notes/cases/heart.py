"""Cases of heart and vessels."""

# ruff: noqa: E501 - one alternative a line, however long

from __future__ import annotations

from .case import Case

__all__ = ["CASES"]

_INFARCTION = Case(
    "infarction",
    "chest film",
    {
        "complaint": ("chest pain", "substernal chest pressure", "CP and diaphoresis", "chest tightness"),
        "dx": (
            "NSTEMI",
            "acute MI",
            "<non-ST elevation|inferior ST elevation> myocardial infarction",
            "unstable angina",
        ),
        "also": ("coronary artery disease", "Dressler syndrome unlikely", "Prinzmetal angina"),
        "story": (
            "The pain started <while shoveling snow|at rest|while climbing stairs|during dinner> and radiated to the <left arm|jaw|back>.",
            "{He} took {#1-3} nitroglycerin at home with <partial|no|some> relief.",
            "<EMS gave ASA 325 mg.|{He} was given aspirin en route.|{He} chewed an aspirin before calling 911.>",
            "A <stress test|Bruce protocol stress test|catheterization> at {oh} in {date.month} was reported as <negative|equivocal|normal>.",
            "{He} denies <orthopnea|palpitations>, PND or syncope.",
            "Last cath was {date.prior} by Dr. {con.last}, who placed a stent in the <LAD|RCA|circumflex>.",
            "Pain was a sharp {#6-10}/10, now {#0-3}/10.",
        ),
        "findings": (
            "Cardiac: <RRR|regular|irregular>, S1 S2, {#1-3}/6 systolic murmur at the <apex|base>.",
            "JVP {#6-12} cm. No Kussmaul sign.",
            "No edema, DP {#1-2}+ bilaterally.",
            "Skin diaphoretic on arrival; now warm and dry.",
        ),
        "study": ("portable chest radiograph", "chest, PA and lateral", "CXR"),
        "imaging": (
            "The cardiac silhouette is <mildly|moderately> enlarged.",
            "There is <no|mild> pulmonary vascular congestion.",
            "No focal consolidation, effusion or pneumothorax.",
            "Kerley B lines are <present at the bases|not seen>.",
            "Sternal wires are intact from CABG in {date.year}.",
            "Calcified plaque is noted in the aortic arch.",
            "Heart size is unchanged from {date.prior}.",
        ),
        "impression": (
            "Mild cardiomegaly without overt failure.",
            "No acute cardiopulmonary process.",
            "Mild interstitial edema.",
        ),
        "course": (
            "{He} was taken to the cath lab by Dr. {con.last} and a drug-eluting stent was placed in the <mid LAD|proximal RCA|OM1>.",
            "Troponin peaked at {#2.1-48.9} and trended down.",
            "Echo on {date.stay} showed an EF of {#25-60}% with <apical|inferior> hypokinesis.",
            "Heparin was stopped after {#24-72} hours; no bleeding from the right radial site, Allen test normal.",
            "{He} had one {#4-9} beat run of VT on telemetry and no further ectopy.",
        ),
        "plan": (
            "ASA 81 mg and clopidogrel 75 mg daily, may not stop either for 12 months",
            "Metoprolol, titrate to HR {#55-65}",
            "Cycle troponins q{#6-8}h x 3",
            "Heparin gtt per protocol, goal PTT {#60-80}",
            "NPO after midnight for cath with Dr. {con.last}",
            "TTE in AM",
            "Lipid panel, HbA1c, TSH",
        ),
        "drugs": (
            "Aspirin 81 mg PO daily",
            "Plavix 75 mg PO daily",
            "Lipitor 80 mg PO qHS",
            "Metoprolol tartrate 25 mg PO BID",
            "Nitroglycerin 0.4 mg SL prn chest pain",
        ),
        "nursing": (
            "denies CP, tele <SR|sinus brady> {#52-98}, no ectopy",
            "R groin site soft, no hematoma, pulses by Doppler",
            "c/o chest pressure {#2-6}/10, EKG done, Dr. {res.last} paged at {res.pager}, NTG x1 w/ relief",
        ),
        "advice": (
            "Call 911 for chest pain that lasts longer than {#5-15} minutes.",
            "No lifting over 10 lbs for one week.",
            "You may shower, no bath for 3 days.",
        ),
        "clinic": ("Cardiology", "Cardiac Rehabilitation", "Heart Center"),
    },
    ages=(35, 110),
)

_FAILURE = Case(
    "heart failure",
    "chest film",
    {
        "complaint": (
            "shortness of breath",
            "SOB and leg swelling",
            "dyspnea on exertion",
            "weight gain and orthopnea",
        ),
        "dx": ("decompensated congestive heart failure", "acute on chronic systolic heart failure", "CHF exacerbation"),
        "also": ("ischemic cardiomyopathy", "mitral regurgitation", "Lown-Ganong-Levine pattern"),
        "story": (
            "{He} reports {#2-5} pillow orthopnea and a weight gain of {#6-22} lbs since {date.recent}.",
            "{He} ran out of <Lasix|furosemide|{his} water pill> <on {date.recent}|last week|after {holiday}>.",
            "Dietary indiscretion <at {holiday} dinner|with canned soup|at a church supper> was noted.",
            "{His} {rel.word} <{rel.first} |>called the clinic because {he} could not lie flat.",
            "Dry weight at the last visit with Dr. {pcp.last} on {date.prior} was {#134-248} lbs.",
            "No chest pain, fever or cough.",
            "{His} pacemaker (serial no. {device}) was interrogated at {oh} on {date.prior}.",
        ),
        "findings": (
            "JVP to the angle of the jaw. Hepatojugular reflux present.",
            "Lungs: crackles <halfway up|at both bases>.",
            "{#1-4}+ pitting edema to the <knees|shins|sacrum>.",
            "S3 gallop. MR murmur {#2-4}/6.",
            "Cheyne-Stokes pattern when asleep.",
        ),
        "study": ("chest, single view", "portable CXR", "PA and lateral chest"),
        "imaging": (
            "Cardiomegaly is <stable|increased> compared with {date.prior}.",
            "Small {side} pleural effusion.",
            "Perihilar haze with cephalization, consistent with edema.",
            "Left-sided dual-lead pacemaker, leads unchanged.",
            "There is no pneumothorax.",
        ),
        "impression": (
            "Congestive failure with small effusions.",
            "Worsening pulmonary edema.",
            "Cardiomegaly with mild edema.",
        ),
        "course": (
            "{He} was diuresed with IV Lasix {#40-120} mg BID, net negative {#3.0-11.0} L over the stay.",
            "Creatinine rose to {#1.4-2.6} and came back to baseline by {date.stay}.",
            "TTE showed LVEF {#15-40}%, <moderate|severe> MR, LA dilated.",
            "Electrophysiology (Dr. {con.last}) checked the device, serial {device}; no events since {date.prior}.",
            "Weight on discharge {#128-240} lbs.",
        ),
        "plan": (
            "Lasix gtt at {#5-20} mg/hr, strict I/O, daily weights",
            "2 g sodium diet, fluid restriction {#1.2-2.0} L",
            "Hold lisinopril until Cr {lt} {#1.3-1.8}",
            "Replete K to 4.0 and Mg to 2.0",
            "O2 via NC to keep sat {#90-94}% or above",
            "Device check with EP (Dr. {con.last})",
        ),
        "drugs": (
            "Furosemide 40 mg PO BID",
            "Lisinopril 10 mg PO daily",
            "Carvedilol 6.25 mg PO BID",
            "Aldactone 25 mg PO daily",
            "Digoxin 0.125 mg PO daily",
        ),
        "nursing": (
            "I/O {#400-900}/{#1800-3600} this shift, Foley draining clear yellow",
            "wt {#128-240} lb on standing scale, down from yesterday",
            "sats {#88-95}% on {#2-4} L NC, HOB up 45",
        ),
        "advice": (
            "Weigh yourself every morning and call if you gain more than 3 lbs in a day.",
            "Keep to a 2 gram sodium diet.",
            "Your fluid limit is {#1.5-2.0} liters.",
        ),
        "clinic": ("Heart Failure Clinic", "Cardiology", "Device Clinic"),
    },
    ages=(45, 110),
)

_FIBRILLATION = Case(
    "atrial fibrillation",
    "chest film",
    {
        "complaint": ("palpitations", "irregular heart beat", "palpitations and lightheadedness"),
        "dx": ("atrial fibrillation with RVR", "new onset AF", "paroxysmal atrial fibrillation"),
        "also": ("Wolff-Parkinson-White excluded", "Graves disease excluded", "holiday heart"),
        "story": (
            "{He} noticed a racing heart <on {weekday}|since {weekday} morning|at work>.",
            "{His} watch showed a rate of {#118-176}.",
            "{He} had two <glasses of wine|espressos> at {his} {rel.word}'s birthday on {date.recent}.",
            "Holter in {date.month} at {oh} showed <frequent PACs|no AF>.",
            "Cardioversion was done {date.prior} by Dr. {con.last}.",
            "No history of Graves disease or other thyroid trouble.",
            "Denies syncope. No history of Wolff-Parkinson-White.",
        ),
        "findings": (
            "Irregularly irregular, no murmur.",
            "Thyroid not enlarged, no bruit.",
            "HR {#112-168}, BP stable.",
            "No focal neurologic deficit.",
        ),
        "study": ("CXR portable", "chest, one view", "chest, PA and lateral"),
        "imaging": (
            "Heart size is normal.",
            "The lungs are clear.",
            "No effusion or pneumothorax.",
            "The aorta is tortuous.",
            "No edema.",
            "The mediastinal contour is unchanged since {date.prior}.",
        ),
        "impression": ("No acute process.", "No cardiomegaly or edema.", "Clear lungs."),
        "course": (
            "Rate was controlled with diltiazem {#5-15} mg/hr.",
            "{He} converted to sinus rhythm on {date.stay} at {time}.",
            "TEE and cardioversion were performed by Dr. {con.last} without complication.",
            "CHADS-VASc score is {#1-6}; anticoagulation was discussed with {him} and {his} {rel.word}.",
            "TSH was {#0.4-4.8}.",
        ),
        "plan": (
            "Diltiazem gtt, change to PO in AM",
            "Coumadin 5 mg, INR goal 2-3",
            "TSH, Mg, CBC",
            "TEE/DCCV if still in AF on {weekday}",
            "Apixaban 5 mg BID, may start tonight",
        ),
        "drugs": (
            "Coumadin 5 mg PO qPM",
            "Diltiazem CD 240 mg PO daily",
            "Eliquis 5 mg PO BID",
            "Sotalol 80 mg PO BID",
        ),
        "nursing": (
            "tele AF {#84-132}, asymptomatic",
            "INR {#1.1-3.4}, Coumadin given at {time}",
            "converted to SR at {time}, strip in chart, Dr. {res.last} aware",
        ),
        "advice": (
            "Have your INR checked on {date.next}.",
            "Avoid alcohol and caffeine.",
            "Do not take ibuprofen or Motrin with Coumadin.",
        ),
        "clinic": ("Anticoagulation Clinic", "Cardiology", "Coumadin Clinic"),
    },
    ages=(40, 110),
)

CASES = (_INFARCTION, _FAILURE, _FIBRILLATION)
