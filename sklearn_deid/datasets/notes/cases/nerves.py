"""Cases of brain and mind."""

from __future__ import annotations

from .case import Case

__all__ = ["CASES"]

_STROKE = Case(
    "stroke",
    "head CT",
    {
        "complaint": (
            "{side} sided weakness",
            "slurred speech and {side} weakness",
            "{side} arm weakness and facial droop",
        ),
        "dx": ("ischemic stroke, {other.side} MCA", "TIA", "lacunar infarct"),
        "also": ("Bell's palsy excluded", "carotid stenosis", "Wallenberg syndrome unlikely"),
        "story": (
            "{He} was last seen well at {time} by {his} {rel.word} {rel.first}.",
            "The face was drooping on the {side} when {he} woke on {weekday}.",
            "NIHSS was {#2-18}, Glasgow coma scale {#12-15}.",
            "tPA was <given at {oh} at {time}|not given, out of window>.",
            "{He} had Bell's palsy in {date.year}.",
            "Carotid ultrasound at {cl} on {date.prior} showed {#40-80}% stenosis.",
            "{He} is right handed. Reading and naming were intact.",
        ),
        "findings": (
            "Babinski <upgoing|downgoing> on the {side}.",
            "Strength {#2-4}/5 in the {side} arm, 5/5 elsewhere. Pronator drift.",
            "Hoffman sign absent. Romberg not tested.",
            "Face: {side} lower droop, Horner syndrome absent.",
            "Names {#2-3}/3 objects, follows two-step commands.",
        ),
        "study": ("CT head without contrast", "head CT", "CT head, stroke protocol"),
        "imaging": (
            "Loss of gray-white differentiation in the {other.side} insula.",
            "No hemorrhage or midline shift.",
            "The circle of Willis is <patent|complete>. No aneurysm.",
            "Chronic small vessel disease, similar to {date.prior}.",
            "Virchow-Robin spaces are prominent.",
            "ASPECTS {#7-10}.",
        ),
        "impression": (
            "Early infarct in the {other.side} MCA territory.",
            "No acute intracranial hemorrhage.",
            "No hemorrhage; small vessel disease.",
        ),
        "course": (
            "MRI on {date.stay} confirmed an acute infarct in the {other.side} corona radiata.",
            "Swallow evaluation was passed on {date.stay}.",
            "Modified Rankin scale at discharge {#1-4}.",
            "PT recommended acute rehab; {he} was accepted at {oh}.",
            "Carotid endarterectomy with Dr. {sur.last} is planned for {date.next}.",
        ),
        "plan": (
            "ASA 325, Plavix load",
            "Permissive HTN to 220/120",
            "MRI/MRA, TTE with bubble",
            "Neuro checks q{#1-4}h",
            "PT/OT/speech",
            "Lipitor 80",
            "Holter as outpatient",
        ),
        "drugs": (
            "Aspirin 325 mg PO daily",
            "Atorvastatin 80 mg PO daily",
            "Aggrenox 1 cap PO BID",
            "Lisinopril 20 mg PO daily",
            "Plavix 75 mg daily",
        ),
        "nursing": (
            "neuro checks q2h unchanged, {side} grip weak",
            "passed bedside swallow, nectar thick",
            "GCS {#13-15}, speech <slurred|clear>",
        ),
        "advice": (
            "Call 911 for new weakness or trouble with speech.",
            "No driving until cleared by Dr. {con.last}.",
            "Check your blood pressure daily.",
        ),
        "clinic": ("Neurology", "Stroke Clinic", "Rehabilitation Medicine"),
    },
    ages=(40, 110),
)

_PARKINSON = Case(
    "parkinson",
    "head CT",
    {
        "complaint": ("falls", "increased tremor and falls", "slowness and freezing", "hallucinations"),
        "dx": (
            "Parkinson's disease",
            "Parkinson disease with dementia",
            "Parkinson's disease with orthostatic hypotension",
        ),
        "also": ("Lewy body dementia in question", "Wilson disease excluded", "Shy-Drager syndrome in question"),
        "story": (
            "Parkinson disease was diagnosed in {date.year} by Dr. {con.last}.",
            "{He} has fallen {#2-6} times since {date.recent}, once in the bath.",
            "{His} Sinemet wears off after {#2-4} hours.",
            "{He} sees <children|small dogs> in the room at night; {his} {rel.word} {rel.first} is worried.",
            "{He} walks with a walker<| and was followed by the VNA of {city}>.",
            "Ceruloplasmin was normal, no Wilson disease. No Huntington disease in the family.",
        ),
        "findings": (
            "Masked facies, cogwheel rigidity, Myerson sign.",
            "Resting tremor {#3-6} Hz, {side} more than {other.side}.",
            "Hoehn and Yahr stage {#2-4}.",
            "MMSE {#17-28}/30.",
            "Romberg positive, pull test positive.",
        ),
        "study": ("CT head", "head CT without contrast", "CT brain"),
        "imaging": (
            "No subdural hematoma.",
            "Generalized atrophy appropriate for age.",
            "No skull fracture.",
            "Ventricles are not enlarged.",
            "Old lacune, unchanged since {date.year}.",
            "Carotid siphon calcification.",
        ),
        "impression": ("No acute findings.", "Age-related atrophy, no bleed.", "No subdural hematoma."),
        "course": (
            "Sinemet was changed to 25/100 five times a day by Dr. {con.last}.",
            "Seroquel 12.5 mg at night helped with the hallucinations.",
            "{He} was found on the floor on {date.stay} at {time}, no injury.",
            "Family meeting with {rel.first} {rel.last} (HCP) took place on {date.stay}.",
        ),
        "plan": (
            "Fall precautions, walker",
            "Sinemet on time, no Haldol or Reglan",
            "Orthostatics BID",
            "Neuro c/s Dr. {con.last}",
            "PT eval, may need rehab",
        ),
        "drugs": (
            "Sinemet 25/100 1 tab PO 5x/day",
            "Seroquel 12.5 mg PO qHS",
            "Exelon patch 4.6 mg daily",
            "Mirapex 0.5 mg TID",
            "Florinef 0.1 mg daily",
        ),
        "nursing": (
            "unsteady w/ walker, assist x{#1-2}",
            "bed alarm on, fall precautions, Morse {#45-90}",
            "Sinemet given on time at {time}",
        ),
        "advice": ("Take Sinemet one hour before meals.", "Use your walker at all times.", "Stand up slowly."),
        "clinic": ("Movement Disorders", "Neurology", "Parkinson Center"),
    },
    ages=(55, 110),
)

_SEIZURE = Case(
    "seizure",
    "MRI",
    {
        "complaint": ("a seizure", "a witnessed convulsion", "loss of consciousness"),
        "dx": ("epilepsy", "breakthrough seizure", "complex partial seizures"),
        "also": ("post-ictal Todd paralysis", "Jacksonian seizures", "Lennox-Gastaut excluded"),
        "story": (
            "{His} coworker at {employer} saw {him} shake for {#1-5} minutes.",
            "Last Dilantin level was {#4.2-18.8} on {date.prior}.",
            "Todd paralysis of the {side} arm cleared within {#20-90} minutes.",
            "{He} has not slept well since {date.recent}.",
            "No Lennox-Gastaut in childhood; first seizure in {date.year} after a car accident in {city2}.",
            "{He} drives to work in {city2}; plate {plate} is registered to {him}, license {license}.",
        ),
        "findings": (
            "Tongue bitten on the side.",
            "Awake, oriented x{#1-3}, slow.",
            "No nystagmus. Reflexes {#1-3}+.",
            "Kernig and Brudzinski negative.",
        ),
        "study": ("MRI brain, epilepsy protocol", "brain MRI with and without contrast", "MRI head"),
        "imaging": (
            "{Side} mesial temporal sclerosis.",
            "No mass or bleed.",
            "Arnold-Chiari I, tonsils {#4-9} mm.",
            "Old encephalomalacia in the frontal lobe, see {date.year}.",
            "No abnormal enhancement.",
            "Virchow-Robin spaces are prominent.",
        ),
        "impression": (
            "No acute abnormality.",
            "Chiari I malformation, incidental.",
            "{Side} mesial temporal sclerosis.",
        ),
        "course": (
            "Keppra was loaded with {#1000-2000} mg.",
            "EEG on {date.stay} (read by Dr. {con.last}) showed <slowing|no epileptiform activity>.",
            "No further seizures during the stay.",
            "The Registry was informed, license {license}.",
        ),
        "plan": ("Keppra 1000 mg BID", "EEG in AM", "Ativan 2 mg IV prn sz", "CIWA scale q4h", "No driving x 6 months"),
        "drugs": (
            "Keppra 750 mg PO BID",
            "Dilantin 100 mg PO TID",
            "Lamictal 100 mg PO BID",
            "Folic acid 1 mg daily",
            "Thiamine 100 mg daily",
        ),
        "nursing": ("sz precautions, rails padded", "CIWA {#3-16}, Ativan 1 mg given", "A&O x{#2-3}, no sz activity"),
        "advice": (
            "No driving, swimming alone or bath for six months.",
            "Sleep regular hours.",
            "Do not drink alcohol.",
        ),
        "clinic": ("Epilepsy Clinic", "Neurology", "Seizure Clinic"),
    },
    ages=(18, 85),
)

_DEPRESSION = Case(
    "depression",
    "chest film",
    {
        "complaint": ("low mood", "suicidal thoughts", "low mood and insomnia"),
        "dx": ("major depression, recurrent", "depression with suicidal ideation", "bipolar disorder, depressed"),
        "also": ("generalized anxiety", "Tylenol ingestion", "insomnia"),
        "story": (
            "{He} lost {his} job as {a} {profession} at {employer} in {date.month}.",
            "{His} {rel.word} {rel.full} called the police on {date.recent}.",
            "{He} took {#8-30} tablets of <Tylenol PM|Benadryl|Klonopin>.",
            "Therapist is {con2.full}, LICSW, {con2.phone}.",
            "{He} says {he} has little hope and feels blue since {season}.",
            "No access to guns. No prior attempts before {date.year}.",
        ),
        "findings": (
            "Affect flat, speech slow, thought process linear.",
            "Denies SI/HI at present.",
            "Beck inventory {#18-44}, PHQ-9 {#12-25}.",
            "Well groomed, good eye contact.",
        ),
        "study": ("chest, PA", "CXR", "portable chest radiograph"),
        "imaging": (
            "Clear lungs.",
            "Normal heart size.",
            "No aspiration.",
            "No fracture.",
            "Unchanged from {date.prior}.",
        ),
        "impression": ("Normal examination.", "No acute process.", "No aspiration."),
        "course": (
            "Mucomyst was given for {#20-72} hours; LFTs stayed normal.",
            "Psychiatry (Dr. {con.last}) saw {him} daily; section 12 was <lifted|continued>.",
            "Zoloft was raised to {#100-200} mg on {date.stay}.",
            "{He} attended groups and slept {#5-8} hours.",
        ),
        "plan": (
            "1:1 sitter",
            "Tylenol level at 4 hours",
            "Psych c/s Dr. {con.last}",
            "EKG for QTc",
            "SW {con2.last} to see",
        ),
        "drugs": (
            "Zoloft 100 mg PO daily",
            "Trazodone 50 mg qHS",
            "Lithium 300 mg PO TID",
            "Ativan 0.5 mg prn",
            "Remeron 15 mg qHS",
        ),
        "nursing": ("1:1 maintained, safe", "visited by {rel.word} {rel.first}, tearful after", "slept {#3-7} hrs"),
        "advice": (
            "Call the crisis line at {cl.phone}.",
            "See {con2.full} every {weekday}.",
            "Take your medicine every day.",
        ),
        "clinic": ("Psychiatry", "Partial Program", "Mental Health Clinic"),
    },
    ages=(18, 88),
)

CASES = (_STROKE, _PARKINSON, _SEIZURE, _DEPRESSION)
